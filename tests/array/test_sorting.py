"""Sorting against NumPy: every dtype and axis, nan, zeros of either sign, stability, and the derivative."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from tests.array.reference import FLOATS, REAL, check, layouts, values

SHAPES = [(0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)]


def reference(x: Any, axis: int, descending: bool) -> tuple[Any, Any]:
    """Stable order in both directions: the descending one of the reversed axis, read backwards."""
    if not descending:
        return np.sort(x, axis=axis, kind="stable"), np.argsort(x, axis=axis, kind="stable")
    places = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis=axis), axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(x, places, axis=axis), places


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["bool", *REAL])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_and_argsort_agree_with_numpy(dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-2, high=2)):
        for axis in range(-theirs.ndim, theirs.ndim):
            wanted, places = reference(theirs, axis, descending)
            check(xp.sort(ours, axis=axis, descending=descending), wanted)
            check(xp.argsort(ours, axis=axis, descending=descending), places)
            check(xp.sort(ours, axis=axis, descending=descending, stable=False), wanted)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("descending", [False, True])
def test_special_values_keep_their_order(dtype: str, descending: bool) -> None:
    x = np.asarray([0.0, np.nan, -0.0, np.inf, -0.0, 1.0, 0.0, -np.inf, np.nan], dtype)
    wanted, places = reference(x, 0, descending)
    check(xp.sort(xp.asarray(x), descending=descending), wanted)
    check(xp.argsort(xp.asarray(x), descending=descending), places)


@given(st.lists(st.floats(width=32), max_size=30), st.booleans())
def test_the_places_give_the_sorted_values(numbers: list[float], descending: bool) -> None:
    x = xp.asarray(np.asarray(numbers, "float32"))
    check(xp.take_along_axis(x, xp.argsort(x, descending=descending)), np.asarray(xp.sort(x, descending=descending)))


def test_the_derivative_follows_each_element() -> None:
    weights = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = xp.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]])
    check(xp.grad(lambda t: xp.sum(xp.sort(t, axis=1) * weights))(x), np.asarray([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]]))
    down = xp.grad(lambda t: xp.sum(xp.sort(t, axis=1, descending=True) * weights))(x)
    check(down, np.asarray([[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]]))


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_an_array_without_axes_is_refused(name: str) -> None:
    with pytest.raises(np.exceptions.AxisError, match=f"{name}: expected one axis or more"):
        getattr(xp, name)(xp.asarray(1.0))
    with pytest.raises(np.exceptions.AxisError, match=f"{name}: axis 3 is out of bounds for an array of 1 axes"):
        getattr(xp, name)(xp.asarray([1.0]), axis=3)
