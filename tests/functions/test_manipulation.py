"""Movement of elements against NumPy over dtypes, shapes, layouts and axes: bit for bit."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.reference import ALL, SHAPES, check, layouts, values

GIVEN = [values("int64", shape) for shape in SHAPES.values()]


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype_moves(dtype: str) -> None:
    x = values(dtype, (3, 4))
    ours = xp.asarray(x)
    check(xp.concat([ours, xp.flip(ours)]), np.concatenate([x, np.flip(x)]))
    check(xp.stack([ours, ours], axis=1), np.stack([x, x], axis=1))
    check(xp.repeat(ours, 2, axis=1), np.repeat(x, 2, axis=1))
    check(xp.roll(ours, (1, 2), axis=(0, 1)), np.roll(x, (1, 2), axis=(0, 1)))
    check(xp.take(ours, xp.asarray([2, -1]), axis=1), np.take(x, [2, -1], axis=1))


@pytest.mark.parametrize("x", GIVEN, ids=SHAPES.keys())
def test_axes_move_as_in_numpy(x: Any) -> None:
    for ours, theirs in layouts(x):
        for order in permutations(range(theirs.ndim)):
            check(xp.permute_dims(ours, order), np.transpose(theirs, order))
            check(xp.permute_dims(ours, tuple(a - theirs.ndim for a in order)), np.transpose(theirs, order))
        for source in range(-theirs.ndim, theirs.ndim):
            check(xp.moveaxis(ours, source, 0), np.moveaxis(theirs, source, 0))
            check(xp.moveaxis(ours, source, -1), np.moveaxis(theirs, source, -1))
            check(xp.flip(ours, axis=source), np.flip(theirs, axis=source))
        check(xp.flip(ours), np.flip(theirs))


@pytest.mark.parametrize("x", GIVEN, ids=SHAPES.keys())
def test_axes_of_extent_one_come_and_go(x: Any) -> None:
    ours = xp.asarray(x)
    for axis in range(-x.ndim - 1, x.ndim + 1):
        check(xp.expand_dims(ours, axis), np.expand_dims(x, axis))
        check(xp.squeeze(xp.expand_dims(ours, axis), axis), x)
    check(xp.expand_dims(ours, (0, -1)), np.expand_dims(x, (0, -1)))
    check(xp.squeeze(xp.expand_dims(ours, (0, -1)), (0, -1)), x)


RESHAPES = [
    ((6,), (2, 3)),
    ((2, 3), (3, -1)),
    ((2, 3), -1),
    ((), (1, 1)),
    ((1,), ()),
    ((0, 3), (3, 0)),
    ((2, 3, 4), [4, 6]),
]


@pytest.mark.parametrize(("shape", "wanted"), RESHAPES, ids=str)
def test_reshape_agrees_with_numpy(shape: tuple[int, ...], wanted: Any) -> None:
    for ours, theirs in layouts(values("float64", shape)):
        check(xp.reshape(ours, wanted), np.reshape(theirs, wanted))
        check(xp.reshape(ours, wanted, copy=True), np.reshape(theirs, wanted))


def test_reshape_refuses_another_number_of_elements() -> None:
    with pytest.raises(ValueError, match=r"reshape: 6 elements of shape \(2, 3\) cannot take the shape \(4, -1\)"):
        xp.reshape(xp.zeros((2, 3)), (4, -1))
    with pytest.raises(ValueError, match="reshape"):
        xp.reshape(xp.zeros((0, 3)), (-1, 0))


@given(st.data())
def test_broadcasting_agrees_with_numpy(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(0, 3), max_size=3))
    shapes = []
    for _ in range(data.draw(st.integers(1, 3))):
        keep = data.draw(st.lists(st.booleans(), min_size=len(extents), max_size=len(extents)))
        drop = data.draw(st.integers(0, len(extents)))
        shapes.append(tuple(n if kept else 1 for n, kept in zip(extents, keep, strict=True))[drop:])
    assert xp.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    arrays = [values("float32", shape) for shape in shapes]
    for ours, theirs in zip(xp.broadcast_arrays(*map(xp.asarray, arrays)), np.broadcast_arrays(*arrays), strict=True):
        check(ours, theirs)
    check(xp.broadcast_to(xp.asarray(arrays[0]), extents), np.broadcast_to(arrays[0], extents))


def test_broadcasting_refuses_what_does_not_fit() -> None:
    assert xp.broadcast_shapes() == ()
    with pytest.raises(ValueError, match=r"broadcast_to: shape \(2,\) cannot be broadcast to \(3,\)"):
        xp.broadcast_to(xp.zeros(2), (3,))
    with pytest.raises(ValueError, match=r"broadcast_arrays: shapes \(2,\) and \(3,\)"):
        xp.broadcast_arrays(xp.zeros(2), xp.zeros(3))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_joining_promotes(axis: int | None) -> None:
    x, y = values("int8", (2, 3)), values("float32", (2, 3))
    check(xp.concat((xp.asarray(x), xp.asarray(y)), axis=axis), np.concatenate((x, y), axis=axis))
    if axis is not None:
        check(xp.stack((xp.asarray(x), xp.asarray(y)), axis=axis), np.stack((x, y), axis=axis))


def test_joining_takes_empty_parts_and_refuses_wrong_ones() -> None:
    check(xp.concat([xp.zeros((0, 2)), xp.ones((1, 2))]), np.ones((1, 2)))
    with pytest.raises(ValueError, match=r"concat: shapes must agree on every axis but 0, got \(1, 2\), \(1, 3\)"):
        xp.concat([xp.zeros((1, 2)), xp.zeros((1, 3))])
    with pytest.raises(ValueError, match="stack: expected one shape"):
        xp.stack([xp.zeros(1), xp.zeros(2)])
    with pytest.raises(ValueError, match="concat: expected one array or more"):
        xp.concat([])
    with pytest.raises(np.exceptions.AxisError, match="concat: axis 1 is out of bounds"):
        xp.concat([xp.zeros(1)], axis=1)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unstack_is_the_inverse_of_stack(axis: int) -> None:
    x = values("int16", (3, 4))
    parts = xp.unstack(xp.asarray(x), axis=axis)
    assert isinstance(parts, tuple)
    check(xp.stack(parts, axis=axis), x)


@pytest.mark.parametrize("shift", [0, 1, -1, 7, -100])
@pytest.mark.parametrize("x", GIVEN, ids=SHAPES.keys())
def test_roll_agrees_with_numpy(x: Any, shift: int) -> None:
    ours = xp.asarray(x)
    check(xp.roll(ours, shift), np.roll(x, shift))
    for axis in range(-x.ndim, x.ndim):
        check(xp.roll(ours, shift, axis=axis), np.roll(x, shift, axis=axis))
        check(xp.roll(ours, (shift, 1), axis=(axis, 0)), np.roll(x, (shift, 1), axis=(axis, 0)))


@pytest.mark.parametrize("repetitions", [(), (2,), (2, 1), (1, 2, 3), (0,), (2, 0, 1)], ids=str)
@pytest.mark.parametrize("x", GIVEN, ids=SHAPES.keys())
def test_tile_agrees_with_numpy(x: Any, repetitions: tuple[int, ...]) -> None:
    check(xp.tile(xp.asarray(x), repetitions), np.tile(x, repetitions))


@pytest.mark.parametrize("repeats", [0, 1, 3])
@pytest.mark.parametrize("x", GIVEN, ids=SHAPES.keys())
def test_repeat_agrees_with_numpy(x: Any, repeats: int) -> None:
    ours = xp.asarray(x)
    check(xp.repeat(ours, repeats), np.repeat(x, repeats))
    for axis in range(-x.ndim, x.ndim):
        check(xp.repeat(ours, repeats, axis=axis), np.repeat(x, repeats, axis=axis))
        counts = np.arange(x.shape[axis])
        check(xp.repeat(ours, xp.asarray(counts), axis=axis), np.repeat(x, counts, axis=axis))
        check(xp.repeat(ours, xp.asarray([2]), axis=axis), np.repeat(x, [2], axis=axis))


def test_repeat_refuses_wrong_counts() -> None:
    with pytest.raises(TypeError, match="repeat: expected repeats of an integer dtype"):
        xp.repeat(xp.zeros(2), xp.asarray([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"repeat: expected repeats of shape \(2,\) or \(1,\), got \(3,\)"):
        xp.repeat(xp.zeros(2), xp.asarray([1, 2, 3]))
    with pytest.raises(ValueError, match="repeat: expected repeats of 0 or more, got -1"):
        xp.repeat(xp.zeros(2), -1)


@pytest.mark.parametrize("name", ["squeeze", "expand_dims", "flip", "unstack"])
def test_a_wrong_axis_is_an_index_error_too(name: str) -> None:
    with pytest.raises(IndexError, match=f"{name}: axis 5 is out of bounds"):
        getattr(xp, name)(xp.zeros((1, 2)), axis=5)


def test_squeeze_refuses_a_longer_axis() -> None:
    with pytest.raises(ValueError, match=r"squeeze: only axes of extent 1 can be dropped, got shape \(1, 2\)"):
        xp.squeeze(xp.zeros((1, 2)), axis=1)


# ------------------------------------------------------------------------------------------------------------- gathers


@pytest.mark.parametrize("indices", [[0], [2, -1, 0], [[0, 1], [2, -3]], [], 1], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_take_agrees_with_numpy(indices: Any, axis: int | None) -> None:
    places = np.asarray(indices, dtype="int64")
    for ours, theirs in layouts(values("float64", (3, 3, 3))):
        check(xp.take(ours, xp.asarray(places), axis=axis), np.take(theirs, places, axis=axis))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_take_along_axis_agrees_with_numpy(axis: int, dtype: str) -> None:
    x = values("float64", (3, 4))
    places = np.argsort(x, axis=axis).astype(dtype)
    check(
        xp.take_along_axis(xp.asarray(x), xp.asarray(places), axis=axis),
        np.take_along_axis(x, places.astype(int), axis=axis),
    )
    few = places[:1] if axis == 0 else places[:, :1]
    check(
        xp.take_along_axis(xp.asarray(x), xp.asarray(few), axis=axis), np.take_along_axis(x, few.astype(int), axis=axis)
    )


def test_take_along_axis_broadcasts_the_other_axes() -> None:
    x, places = values("float64", (3, 4)), np.asarray([[3, 0]])
    check(xp.take_along_axis(xp.asarray(x), xp.asarray(places), axis=1), np.take_along_axis(x, places, axis=1))


def test_gathers_refuse_wrong_indices() -> None:
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        np.asarray(xp.take(xp.zeros(3), xp.asarray([7])))
    with pytest.raises(TypeError, match="take: expected indices of an integer dtype, got float64"):
        xp.take(xp.zeros(3), xp.asarray([1.0]))
    with pytest.raises(ValueError, match="take_along_axis: expected indices of 2 axes"):
        xp.take_along_axis(xp.zeros((2, 2)), xp.asarray([0]))
