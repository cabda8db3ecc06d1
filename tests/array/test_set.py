"""Set functions against NumPy: every dtype, nan, and the derivative of unique values."""

import numpy as np
import pytest

import uopc_array as xp
from tests.array.reference import ALL, FLOATS, REAL, SHAPES, check, layouts, values


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
