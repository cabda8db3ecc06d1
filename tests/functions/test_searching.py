"""Searching functions against NumPy over dtypes, shapes and axes."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL, FLOATS, REAL, SHAPES, check, layouts, values
from uopc_core import context

FILLED = [shape for shape in SHAPES.values() if 0 not in shape]


@pytest.mark.parametrize("shape", FILLED, ids=str)
@pytest.mark.parametrize("dtype", ["bool", *REAL])
def test_indices_of_extremes_agree_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-2, high=2)):
        for axis in [None, *range(-theirs.ndim, theirs.ndim)]:
            for keepdims in (False, True):
                wanted = np.argmax(theirs, axis=axis, keepdims=keepdims)
                check(xp.argmax(ours, axis=axis, keepdims=keepdims), wanted)
                check(xp.argmin(ours, axis=axis, keepdims=keepdims), np.argmin(theirs, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_first_nan_is_the_extreme(dtype: str) -> None:
    x = np.asarray([[1.0, np.nan, np.nan], [np.inf, 2.0, np.inf], [-np.inf, np.nan, 0.0]], dtype)
    check(xp.argmax(xp.asarray(x), axis=1), np.argmax(x, axis=1))
    check(xp.argmin(xp.asarray(x), axis=1), np.argmin(x, axis=1))
    check(xp.argmin(xp.asarray(x)), np.argmin(x))


def test_an_empty_axis_has_no_place_of_an_extreme() -> None:
    check(xp.argmax(xp.zeros((0, 3)), axis=1), np.zeros(0, "int64"))
    with pytest.raises(ValueError, match=r"argmin: an empty axis has no extreme, got shape \(0, 3\)"):
        xp.argmin(xp.zeros((0, 3)), axis=0)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("dtype", ALL)
def test_what_is_not_zero_is_found_and_counted(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-1, high=1)):
        check(xp.count_nonzero(ours), np.count_nonzero(theirs))
        for axis in range(-theirs.ndim, theirs.ndim):
            check(xp.count_nonzero(ours, axis=axis, keepdims=True), np.count_nonzero(theirs, axis=axis, keepdims=True))
        if theirs.ndim:
            found = xp.nonzero(ours)
            assert isinstance(found, tuple)
            for x, y in zip(found, np.nonzero(theirs), strict=True):
                check(x, y)


def test_an_array_without_axes_has_no_places() -> None:
    with pytest.raises(ValueError, match="nonzero: expected one axis or more"):
        xp.nonzero(xp.asarray(1))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", REAL)
def test_searchsorted_agrees_with_numpy(dtype: str, side: Any) -> None:
    x, v = np.sort(values(dtype, (20,))), values(dtype, (3, 4), seed=1, low=-10, high=10)
    check(xp.searchsorted(xp.asarray(x), xp.asarray(v), side=side), np.searchsorted(x, v, side=side))
    order = np.random.default_rng(0).permutation(20)
    sorter = np.argsort(x[order])
    ours = xp.searchsorted(xp.asarray(x[order]), xp.asarray(v), side=side, sorter=xp.asarray(sorter))
    check(ours, np.searchsorted(x[order], v, side=side, sorter=sorter))


def test_searchsorted_takes_scalars_nan_and_nothing() -> None:
    x = np.asarray([1.0, 2.0, np.nan])
    check(xp.searchsorted(xp.asarray(x), 2), np.searchsorted(x, 2.0))
    check(xp.searchsorted(xp.asarray(x), xp.asarray(np.nan)), np.searchsorted(x, np.nan))
    check(xp.searchsorted(xp.zeros(0), xp.zeros((2, 0))), np.zeros((2, 0), "int64"))


def test_searchsorted_refuses_wrong_arguments() -> None:
    x = xp.asarray([1.0, 2.0])
    with pytest.raises(ValueError, match='searchsorted: expected side "left" or "right"'):
        xp.searchsorted(x, x, side="middle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"searchsorted: expected a to have one axis, got shape \(1, 2\)"):
        xp.searchsorted(xp.zeros((1, 2)), x)
    with pytest.raises(ValueError, match="searchsorted: sorter must have the shape of a"):
        xp.searchsorted(x, x, sorter=xp.asarray([0]))
    with pytest.raises(TypeError, match="searchsorted: expected a sorter of an integer dtype"):
        xp.searchsorted(x, x, sorter=x)


@pytest.mark.parametrize("first", ["compile", "interpret"])
@pytest.mark.parametrize("function", ["max", "min"])
def test_the_place_of_an_extreme_in_memory_is_found_by_whoever_computes(function: str, first: str) -> None:
    """Or else the gradient, which looks for it again, would find none."""
    x = np.random.default_rng(0).standard_normal((60, 20))
    places: list[Any] = []

    def search(t: xp.Array) -> xp.Array:
        extreme = getattr(xp, function)(xp.exp(t), axis=1)
        with context(tier=first):
            float(xp.stop_gradient(extreme[0]))
        for tier in ("compile", "interpret"):
            with context(tier=tier):
                places.append(np.asarray(xp.stop_gradient(getattr(xp, f"arg{function}")(xp.exp(t), axis=1))))
        return xp.sum(extreme)

    xp.grad(search)(xp.asarray(x))
    for found in places:
        np.testing.assert_array_equal(found, getattr(np, f"arg{function}")(x, axis=1))


@pytest.mark.parametrize("left", ALL)
@pytest.mark.parametrize("right", ["int8", "float32", "complex128"])
def test_where_promotes_and_broadcasts(left: str, right: str) -> None:
    condition, x, y = values("bool", (3, 1)), values(left, (4,)), values(right, (2, 3, 4))
    check(xp.where(xp.asarray(condition), xp.asarray(x), xp.asarray(y)), np.where(condition, x, y))


def test_where_takes_scalars() -> None:
    condition = np.asarray([True, False])
    x = np.asarray([1.0, 2.0], "float32")
    check(xp.where(xp.asarray(condition), xp.asarray(x), 0), np.where(condition, x, np.float32(0)))
    check(xp.where(xp.asarray(condition), 0.5, xp.asarray(x)), np.where(condition, np.float32(0.5), x))
    check(xp.where(xp.asarray(condition), 1, 0), np.where(condition, 1, 0))


def test_the_branch_not_taken_does_not_reach_the_derivative() -> None:
    x = xp.asarray([0.0, 4.0])
    check(xp.grad(lambda t: xp.sum(xp.where(t > 0, xp.sqrt(t), 0.0)))(x), np.asarray([0.0, 0.25]))


def test_a_condition_alone_gives_the_places_where_it_holds() -> None:
    x = values("int64", (3, 4))
    for ours, wanted in zip(xp.where(xp.asarray(x) > 0), np.where(x > 0), strict=True):
        check(ours, wanted)
    with pytest.raises(TypeError, match="where: expected both x and y, or neither"):
        xp.where(xp.asarray(x), 1)  # pyright: ignore[reportArgumentType, reportCallIssue]
