"""Sorting against NumPy: every dtype and axis, nan, zeros of either sign, stability, and the derivative."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.reference import COMPLEX, FLOATS, NUMERIC, REAL, check, layouts, values

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


def test_an_axis_that_is_not_there_is_refused() -> None:
    for name in ("sort", "argsort"):
        with pytest.raises(np.exceptions.AxisError, match=f"{name}: axis 3 is out of bounds for an array of 1 axes"):
            getattr(xp, name)(xp.asarray([1.0]), axis=3)
    with pytest.raises(np.exceptions.AxisError, match=r"sort: expected one axis or more.*axis=None takes it in a row"):
        xp.sort(xp.asarray(1.0))


@pytest.mark.parametrize("dtype", ["bool", *NUMERIC])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 4), (2, 0, 3)], ids=str)
def test_none_sorts_the_flattened_array_and_a_number_has_one_place(dtype: str, shape: tuple[int, ...]) -> None:
    x = values(dtype, shape, low=-2, high=2)
    check(xp.sort(xp.asarray(x), axis=None), np.sort(x, axis=None))
    for axis in (None, -1):
        wanted = np.argsort(x, axis=axis, kind="stable")
        for found in (xp.argsort(xp.asarray(x), axis=axis), xp.asarray(x).argsort(axis, "stable")):
            check(found, wanted)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("descending", [False, True])
def test_complex_numbers_go_by_their_real_then_imaginary_parts(dtype: str, descending: bool) -> None:
    parts = np.asarray([1.0, -1.0, 0.0, -0.0, np.inf, np.nan])
    x = (parts[:, None] + 1j * parts).reshape(-1).astype(dtype)
    wanted, places = reference(x, 0, descending)
    check(xp.argsort(xp.asarray(x), descending=descending), places)
    check(xp.sort(xp.asarray(x), descending=descending), wanted)
    weights = np.arange(3.0)
    slopes = xp.grad(lambda t: xp.sum(xp.real(xp.sort(t)) * weights))(
        xp.asarray([2.0 + 1j, 2.0 - 1j, 0.0], dtype=dtype)
    )
    check(xp.real(slopes), np.asarray([2.0, 1.0, 0.0], "float32" if dtype == "complex64" else "float64"))


# ---------------------------------------------------------------------------------------------- partitions


@pytest.mark.parametrize("dtype", ["bool", *NUMERIC])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 0, 3)], ids=str)
def test_a_partition_has_its_places_in_order(dtype: str, shape: tuple[int, ...]) -> None:
    x = values(dtype, shape, low=-2, high=2)
    for axis in (None, *range(-x.ndim, x.ndim)):
        n = x.size if axis is None else x.shape[axis]
        for kth in (0, -1, n // 2, [0, n // 2]):
            rows = xp.partition(xp.asarray(x), kth, axis=axis)
            places = xp.argpartition(xp.asarray(x), kth, axis)
            if not x.size:
                check(rows, np.partition(x, kth, axis))
                check(places, np.argpartition(x, kth, axis))
                continue
            ordered, at = np.sort(x, axis=axis), kth if isinstance(kth, list) else [kth]
            along = 0 if axis is None else axis
            check(rows.take(at, along), ordered.take(at, along))
            flat = x.reshape(-1) if axis is None else x
            check(xp.take_along_axis(xp.asarray(flat), places, axis=along).take(at, along), ordered.take(at, along))
            check(xp.sort(places, axis=along), np.sort(np.argsort(flat, along), along))


@pytest.mark.parametrize("kth", [3, -4, 1.0, True, [], [[0]], None, [0, 5]], ids=str)
def test_indices_of_partitions_are_those_that_numpy_takes(kth: Any) -> None:
    x = np.asarray([3.0, 1.0, 2.0])
    for call in (np.partition, np.argpartition, np.ndarray.partition, np.ndarray.argpartition):
        with pytest.raises((TypeError, ValueError)) as wanted:
            call(x.copy(), kth)
        ours = getattr(xp.Array if call.__qualname__.startswith("ndarray") else xp, call.__name__)
        with pytest.raises(TypeError if wanted.errisinstance(TypeError) else ValueError, match=f"{call.__name__}: "):
            ours(xp.asarray(x), kth)


def test_partitions_and_sorts_in_place_write_to_what_the_array_is_a_view_of() -> None:
    for name, args in (("sort", ()), ("sort", (0,)), ("partition", (1,)), ("partition", (0, 0))):
        theirs = np.asarray([[3.0, 1.0, 2.0, 9.0], [0.0, 5.0, -1.0, 8.0]])
        x = xp.asarray(theirs)
        assert getattr(x[:, :2], name)(*args) is None
        getattr(theirs[:, :2], name)(*args)
        check(x, theirs)


def test_what_changes_itself_is_differentiated_and_compiled() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y.sort()
        z = x * 2.0
        z.partition(1)
        return xp.sum(y * xp.asarray([1.0, 2.0, 3.0])) + z[0]

    x = xp.asarray([3.0, 1.0, 2.0])
    for call in (xp.grad(f), xp.jit(xp.grad(f))):
        check(call(x), np.asarray([3.0, 3.0, 2.0]))
    check(xp.vmap(f)(xp.stack([x, -x])), np.asarray([float(f(x)), float(f(-x))]))


def test_a_number_is_not_sorted_in_place() -> None:
    for call in (xp.Array.sort, lambda x: x.partition(0)):
        with pytest.raises(TypeError, match=r"(sort|partition): a number \(float64\) cannot be changed in place"):
            call(xp.sum(xp.ones(2)))


@pytest.mark.parametrize("order", ["f", ["f"]], ids=str)
def test_numbers_have_no_fields_to_sort_by(order: Any) -> None:
    x = xp.asarray([2.0, 1.0])
    calls = [xp.sort, xp.argsort, xp.Array.sort, xp.Array.argsort]
    for call in [*calls, lambda x, **k: xp.partition(x, 0, **k), lambda x, **k: x.argpartition(0, **k)]:
        with pytest.raises(ValueError, match=r"expected order=None, got .*: arrays of numbers have no fields"):
            call(x, order=order)


def test_one_of_kind_and_stable_is_given() -> None:
    x = xp.asarray([2.0, 1.0])
    with pytest.raises(ValueError, match="sort: expected one of kind and stable, got kind='stable' and stable=True"):
        xp.sort(x, kind="stable", stable=True)
    check(xp.sort(x, kind="stable", stable=None), np.asarray([1.0, 2.0]))
