"""Truth of elements and differences of neighbours against NumPy."""

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_statistical import axes_of
from tests.support.reference import ALL, NUMERIC, SHAPES, check, layouts, values


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("dtype", ALL)
def test_all_and_any_agree_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-1, high=1)):
        for axis in axes_of(theirs.ndim):
            check(xp.all(ours, axis=axis), np.all(theirs, axis=axis))
            check(xp.any(ours, axis=axis, keepdims=True), np.any(theirs, axis=axis, keepdims=True))


def test_nan_is_true() -> None:
    check(xp.any(xp.asarray([np.nan, 0.0])), np.asarray(True))
    check(xp.all(xp.asarray([np.nan, -0.0])), np.asarray(False))


@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (3, 4), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", NUMERIC)
def test_diff_agrees_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape)):
        for axis in range(-theirs.ndim, theirs.ndim):
            for n in (0, 1, 2, 6):
                check(xp.diff(ours, axis=axis, n=n), np.diff(theirs, axis=axis, n=n))
            wanted = np.diff(theirs, axis=axis, prepend=theirs, append=theirs)
            check(xp.diff(ours, axis=axis, prepend=ours, append=ours), wanted)


def test_diff_of_bool_tells_where_neighbours_differ() -> None:
    x = np.asarray([True, True, False])
    check(xp.diff(xp.asarray(x)), np.diff(x))


def test_diff_takes_a_scalar_and_refuses_what_does_not_fit() -> None:
    x = np.asarray([1.0, 4.0])
    check(xp.diff(xp.asarray(x), prepend=0.0), np.diff(x, prepend=0.0))
    with pytest.raises(ValueError, match="diff: what is added must agree with a on every axis but 0"):
        xp.diff(xp.zeros((2, 2)), axis=0, append=xp.zeros((1, 3)))
    with pytest.raises(ValueError, match="diff: expected a number of times of 0 or more, got n=-1"):
        xp.diff(xp.asarray(x), n=-1)
    with pytest.raises(ValueError, match="diff: expected one axis or more"):
        xp.diff(xp.asarray(1.0))


def test_what_is_added_stays_where_diff_subtracts_no_times() -> None:
    x = xp.asarray([1.0, 4.0])
    check(xp.diff(x, n=0, prepend=x, append=xp.asarray([7.0])), np.asarray([1.0, 4.0, 1.0, 4.0, 7.0]))
