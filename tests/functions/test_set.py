"""Set functions against NumPy: every dtype, nan, and the derivative of unique values."""

import itertools
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL, COMPLEX, FLOATS, INTEGERS, REAL, SHAPES, check, layouts, values
from uopc_core.errors import TraceError

NUMPY: Any = np  # its stubs know no bool for `return_index` and no str for `kind`


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("dtype", ALL)
def test_unique_values_agree_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-1, high=1)):
        wanted = np.unique_all(theirs)
        found = xp.unique_all(ours)
        assert found._fields == ("values", "indices", "inverse_indices", "counts")
        check(found.values, wanted.values)
        check(found.indices, wanted.indices)
        check(found.inverse_indices, np.reshape(wanted.inverse_indices, theirs.shape))
        check(found.counts, wanted.counts)
        check(xp.unique_values(ours), wanted.values)
        check(xp.unique_counts(ours).counts, wanted.counts)
        check(xp.unique_inverse(ours).inverse_indices, np.reshape(wanted.inverse_indices, theirs.shape))


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_nan_is_a_value_of_its_own(dtype: str) -> None:
    x = xp.asarray(np.asarray([np.nan, 1.0, np.nan, 0.0, -0.0], dtype))
    found = xp.unique_counts(x)
    check(found.counts, [2, 1, 1, 1])
    assert found.values.shape == (4,)


def test_derivatives_flow_into_unique_values() -> None:
    x = xp.asarray([3.0, 1.0, 3.0])
    check(xp.grad(lambda t: xp.sum(xp.unique_values(t) ** 2))(x), np.asarray([6.0, 2.0, 0.0]))


@pytest.mark.parametrize("n", [0, 1, 5, 40], ids=str)
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("invert", [False, True])
def test_isin_agrees_with_numpy(dtype: str, n: int, invert: bool) -> None:
    x, among = values(dtype, (3, 4)), values(dtype, (n,), seed=1)
    among[: n // 4] = x.reshape(-1)[: n // 4]
    check(xp.isin(xp.asarray(x), xp.asarray(among), invert=invert), np.isin(x, among, invert=invert))


@pytest.mark.parametrize("n", [3, 40])
def test_nan_is_in_nothing(n: int) -> None:
    x = np.asarray([np.nan, 1.0])
    check(xp.isin(xp.asarray(x), xp.asarray(np.resize(x, n))), [False, True])


def test_isin_takes_scalars_on_either_side() -> None:
    x = xp.asarray([1, 2, 3])
    check(xp.isin(x, 2), [False, True, False])
    check(xp.isin(2, x), np.asarray(True))


# ---------------------------------------------------------------------------------------------- NumPy's unique


@pytest.mark.parametrize("shape", [(0,), (1,), (6,), (3, 4), (4, 2, 2)], ids=str)
@pytest.mark.parametrize("dtype", ALL)
def test_unique_agrees_with_numpy_whatever_is_asked_for(dtype: str, shape: tuple[int, ...]) -> None:
    theirs = values(dtype, shape, low=-1, high=1)
    for axis in (None, *range(-theirs.ndim, theirs.ndim)):
        for asked in itertools.product([False, True], repeat=3):
            wanted = NUMPY.unique(theirs, *asked, axis=axis)
            found = xp.unique(xp.asarray(theirs), *asked, axis=axis)
            assert isinstance(found, tuple) is isinstance(wanted, tuple) is any(asked)
            for x, y in zip(*((x if any(asked) else (x,)) for x in (found, wanted)), strict=True):
                check(x, y)


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_is_one_value_or_each_its_own(dtype: str, equal_nan: bool) -> None:
    theirs = np.asarray([np.nan, 1.0, np.nan, -0.0, 0.0, np.inf], dtype)
    wanted = np.unique(theirs, True, True, True, equal_nan=equal_nan)
    for x, y in zip(xp.unique(xp.asarray(theirs), True, True, True, equal_nan=equal_nan), wanted, strict=True):
        check(x, y)


def test_derivatives_flow_into_unique_rows_and_columns() -> None:
    x = xp.asarray([[3.0, 1.0, 3.0], [2.0, 0.0, 2.0], [3.0, 1.0, 3.0]])
    for axis, weights in ((0, [[1.0], [2.0]]), (1, [[1.0, 2.0]]), (None, [[1.0, 2.0, 3.0, 4.0]])):
        for asked in ({}, {"return_index": True}, {"return_counts": True}):

            def f(t: Any, axis: Any = axis, weights: Any = weights, asked: Any = asked) -> Any:
                found = xp.unique(t, axis=axis, **asked)
                return xp.sum((found[0] if asked else found) * xp.asarray(weights))

            first = np.unique(np.asarray(x), axis=axis, return_index=True)[1]
            wanted = np.zeros((3, 3))
            rows = wanted.reshape(-1) if axis is None else np.moveaxis(wanted, axis, 0)
            rows[first] = np.asarray(weights).reshape(-1) if axis is None else np.moveaxis(np.asarray(weights), axis, 0)
            check(xp.grad(f)(x), wanted)


def test_there_is_no_unique_of_what_has_no_value_yet() -> None:
    for name in ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"):
        with pytest.raises(TraceError, match=f"{name} needs a value"):
            xp.jit(lambda x, name=name: getattr(xp, name)(x))(xp.ones(3))


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, *COMPLEX])
def test_isin_takes_numpys_words_for_how_it_looks(dtype: str, n: int) -> None:
    x, among = values(dtype, (3, 4)), values(dtype, (n,), seed=1)
    for kind in (None, "sort", *(["table"] if np.dtype(dtype).kind in "biu" else [])):
        check(xp.isin(xp.asarray(x), xp.asarray(among), kind=kind), NUMPY.isin(x, among, kind=kind))
