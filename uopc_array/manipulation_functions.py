"""Manipulation functions of the standard: movement of elements, which costs nothing until the result is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import as_node, to_operand
from uopc_array._array.promotion import broadcast, result_dtype
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    AxisLike,
    ShapeLike,
    check_shape,
    frame_of,
    from_memory,
    integer_array,
    integers,
    node_of,
    normalize_axes,
    normalize_axis,
    shape_of,
    view,
    wrap,
    wrap_array,
)
from uopc_core import Ops, UOp, composite
from uopc_core.errors import AxisError, ShapeError, shortened

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


# ---------------------------------------------------------------------------------------------- broadcasting


def broadcast_shapes(*shapes: ShapeLike) -> tuple[int, ...]:
    """The shape to which these shapes are broadcast together.

    Args:
        shapes: any number of shapes.
    Returns:
        the common shape, () of none.
    Raises:
        ShapeError: two extents of an axis differ and neither is 1.
    Example:
        >>> import uopc_array as xp
        >>> xp.broadcast_shapes((3, 1), (4,))
        (3, 4)
    """
    return broadcast("broadcast_shapes", *[shape_of("broadcast_shapes", shape) for shape in shapes])


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Arrays broadcast against each other.

    Args:
        arrays: any dtypes, any shapes.
    Returns:
        each array in its dtype and the common shape.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> [x.shape for x in xp.broadcast_arrays(xp.zeros((2, 1)), xp.zeros(3))]
        [(2, 3), (2, 3)]
    """
    nodes = [node_of("broadcast_arrays", x) for x in arrays]
    shape = broadcast("broadcast_arrays", *[node.shape for node in nodes])
    return tuple([wrap_array(composite.broadcast_to(node, shape)) for node in nodes])


def broadcast_to(x: Array, /, shape: ShapeLike) -> Array:
    """``x`` broadcast to a shape.

    Args:
        x: any dtype, any shape.
        shape: extents, an int or a sequence of them.
    Returns:
        dtype of ``x``; ``shape``.
    Raises:
        ShapeError: ``x`` cannot be broadcast to it.
    Example:
        >>> import uopc_array as xp
        >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
        Array([[1, 2],
               [1, 2]], dtype=int64)
    """
    node, wanted = node_of("broadcast_to", x), shape_of("broadcast_to", shape)
    try:
        return wrap_array(composite.broadcast_to(node, wanted))
    except ShapeError:
        raise ShapeError(
            f"broadcast_to: shape {node.shape} cannot be broadcast to {wanted}; only axes of extent 1 grow"
        ) from None


# ---------------------------------------------------------------------------------------------- joining


def check_joining_axis(name: str, axis: Any) -> None:
    """
    Raises:
        TypeError: `axis` is an array that should stand among those that are joined.
    """
    if axis is not None and getattr(axis, "ndim", 0):
        raise TypeError(
            f"{name}: expected an integer for axis, got an array of shape {axis.shape}; put the arrays that are joined "
            f"into a tuple, {name}((a, b))"
        )


def _joined(name: str, arrays: Sequence[Array], weak: bool) -> list[UOp]:
    """The nodes of `arrays` in their promoted dtype, to which Python numbers only give way if they are `weak`."""
    if not isinstance(arrays, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # concat(x, y) is easily written
        raise TypeError(f"{name}: expected a sequence of arrays, got {type(arrays).__name__}")
    if getattr(arrays, "ndim", 1) == 0:
        raise TypeError(f"{name}: expected a sequence of arrays, got one of shape ()")
    arrays = list(arrays)
    if len(arrays) == 0:
        raise ShapeError(f"{name}: expected one array or more, got none")
    try:
        operands = [to_operand(x, name) if weak else as_node(x, name=name) for x in arrays]
        dtype = result_dtype(*operands, name=name)
        return [as_node(x, dtype, name=name) for x in operands]
    except Exception as error:
        raise shortened(error) from None


def concat(arrays: Sequence[Array], /, axis: int | None = 0) -> Array:
    """Arrays joined along an axis that they have.

    Args:
        arrays: any dtypes; shapes that agree on every axis but ``axis``.
        axis: axis along which to join; None joins the flattened arrays.
    Returns:
        the promoted dtype; extents as given, added up at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: no arrays, or shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.concat([xp.asarray([1, 2]), xp.asarray([3])])
        Array([1, 2, 3], dtype=int64)
    """
    nodes = _joined("concat", arrays, weak=True)
    check_joining_axis("concat", axis)
    if axis is None:
        return wrap(composite.concat([node.reshape((node.size,)) for node in nodes], 0))
    at = normalize_axis("concat", axis, nodes[0].ndim)
    if len({(node.ndim, node.shape[:at], node.shape[at + 1 :]) for node in nodes}) > 1:
        shapes = ", ".join(str(node.shape) for node in nodes)
        remedy = "; x[None] has one axis more" if len({node.ndim for node in nodes}) > 1 else ""
        raise ShapeError(f"concat: shapes must agree on every axis but {at}, got {shapes}{remedy}")
    return wrap(composite.concat(nodes, at))


def stack(arrays: Sequence[Array], /, axis: int = 0) -> Array:
    """Arrays joined along a new axis.

    Args:
        arrays: any dtypes, one shape.
        axis: place of the new axis in the result.
    Returns:
        the promoted dtype; the shape with the number of arrays put in at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: no arrays, or different shapes.
    Example:
        >>> import uopc_array as xp
        >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=1)
        Array([[1, 3],
               [2, 4]], dtype=int64)
    """
    nodes = _joined("stack", arrays, weak=False)
    if len({node.shape for node in nodes}) > 1:
        shapes = ", ".join(str(node.shape) for node in nodes)
        raise ShapeError(f"stack: expected one shape, got {shapes}; concat joins arrays of different extents")
    return wrap(composite.stack(nodes, normalize_axis("stack", axis, nodes[0].ndim + 1)))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of ``x`` along an axis.

    Args:
        x: any dtype, one axis or more.
        axis: axis that is taken apart.
    Returns:
        as many arrays as the axis is long, in the dtype of ``x`` and its shape without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.unstack(xp.asarray([[1, 2], [3, 4]]))
        (Array([1, 2], dtype=int64), Array([3, 4], dtype=int64))
    """
    node = node_of("unstack", x)
    front = along_axes.move_axis(node, normalize_axis("unstack", axis, node.ndim), 0)
    return tuple([wrap(front.index(i)) for i in range(front.shape[0])])


# ---------------------------------------------------------------------------------------------- shape, axes


def reshape(x: Array, /, shape: ShapeLike, *, copy: bool | None = None) -> Array:
    """The elements of ``x`` in row-major order in another shape.

    Args:
        x: any dtype, any shape.
        shape: extents, an int or a sequence of them; one may be -1 and is inferred.
        copy: True for elements of its own; else the result shares those of ``x`` where NumPy's does.
    Returns:
        dtype of ``x``; ``shape``.
    Raises:
        ShapeError: the number of elements differs.
    Example:
        >>> import uopc_array as xp
        >>> xp.reshape(xp.arange(4), (2, -1))
        Array([[0, 1],
               [2, 3]], dtype=int64)
    """
    node = node_of("reshape", x) if copy else frame_of("reshape", x)
    extents = _inferred(node, shape)
    return wrap_array(node.reshape(extents)) if copy else view(x, node, Ops.RESHAPE, extents)


def _inferred(node: UOp, shape: ShapeLike) -> tuple[int, ...]:
    """`shape` with -1 replaced by what is left over."""
    given = integers("reshape", "shape", shape)
    out = list(given)
    if out.count(-1) > 1:
        raise ShapeError(f"reshape: expected one -1 at most, got shape {given}")
    if out.count(-1) == 1:
        rest = prod(n for n in out if n != -1)
        out[out.index(-1)] = node.size // rest if rest else -1
    if any(n < 0 for n in out) or prod(out) != node.size:
        raise ShapeError(
            f"reshape: {node.size} elements of shape {node.shape} cannot take the shape {given}; "
            "-1 stands for the extent that is left"
        )
    check_shape("reshape", tuple(out))
    return tuple(out)


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """``x`` with its axes in another order.

    Args:
        x: any dtype, any shape.
        axes: every axis of ``x`` once, negative ones from the end.
    Returns:
        dtype of ``x``; axis i of the result is axis ``axes[i]`` of ``x``.
    Raises:
        AxisError: an axis is out of range, missing or named twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.permute_dims(xp.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    node = frame_of("permute_dims", x)
    given = integers("permute_dims", "axes", axes)
    order = normalize_axes("permute_dims", given, node.ndim)
    if len(order) != node.ndim:
        raise AxisError(f"permute_dims: expected every one of {node.ndim} axes once, got axes={given}")
    return view(x, node, Ops.PERMUTE, order)


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """Axes moved to other places, the rest in their order.

    Args:
        x: any dtype, any shape.
        source: axes that move.
        destination: the place of each in the result.
    Returns:
        dtype of ``x``; the permuted shape.
    Raises:
        AxisError: an axis is out of range or named twice, or the numbers of axes differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    node = frame_of("moveaxis", x)
    moved = normalize_axes("moveaxis", integers("moveaxis", "source", source), node.ndim)
    places = normalize_axes("moveaxis", integers("moveaxis", "destination", destination), node.ndim)
    if len(moved) != len(places):
        raise AxisError(f"moveaxis: source and destination must be as many, got {source} and {destination}")
    order = [axis for axis in range(node.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return view(x, node, Ops.PERMUTE, order)


def expand_dims(x: Array, /, axis: int | Sequence[int]) -> Array:
    """``x`` with axes of extent 1 put in.

    Args:
        x: any dtype, any shape.
        axis: places of the new axes in the result.
    Returns:
        dtype of ``x``; shape with 1 at every ``axis``.
    Raises:
        AxisError: a place is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.expand_dims(xp.zeros((2, 3)), (0, -1)).shape
        (1, 2, 3, 1)
    """
    node = frame_of("expand_dims", x)
    added = len(axis) if isinstance(axis, tuple | list) else 1
    given: Any = axis if isinstance(axis, tuple | list) else (axis,)
    places = normalize_axes("expand_dims", given, node.ndim + added)
    check_shape("expand_dims", (1,) * (node.ndim + added))
    rest = iter(node.shape)
    return view(x, node, Ops.RESHAPE, [1 if i in places else next(rest) for i in range(node.ndim + added)])


def squeeze(x: Array, /, axis: AxisLike = None) -> Array:
    """``x`` without some axes of extent 1.

    Args:
        x: any dtype, any shape.
        axis: axes that are dropped; None drops all of extent 1.
    Returns:
        dtype of ``x``; shape without ``axis``.
    Raises:
        AxisError: an axis is out of range or named twice.
        ShapeError: an extent is not 1.
    Example:
        >>> import uopc_array as xp
        >>> xp.squeeze(xp.zeros((1, 3, 1)), axis=0).shape
        (3, 1)
    """
    node = frame_of("squeeze", x)
    ones = tuple([a for a, n in enumerate(node.shape) if n == 1])
    axes = normalize_axes("squeeze", ones if axis is None else axis, node.ndim)
    if any(node.shape[a] != 1 for a in axes):
        raise ShapeError(f"squeeze: only axes of extent 1 can be dropped, got shape {node.shape} with axis={axis}")
    return view(x, node, Ops.RESHAPE, [n for a, n in enumerate(node.shape) if a not in axes])


# ---------------------------------------------------------------------------------------------- order, repetition


def flip(x: Array, /, axis: AxisLike = None) -> Array:
    """``x`` with the order of elements along axes reversed.

    Args:
        x: any dtype, any shape.
        axis: axes that are reversed; None reverses all.
    Returns:
        dtype and shape of ``x``.
    Raises:
        AxisError: an axis is out of range or named twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.flip(xp.asarray([1, 2, 3]))
        Array([3, 2, 1], dtype=int64)
    """
    node = frame_of("flip", x)
    axes = normalize_axes("flip", axis, node.ndim)
    return view(x, node, Ops.FLIP, axes) if node.ndim else wrap(node_of("flip", x))


def roll(x: Array, /, shift: int | Sequence[int], axis: AxisLike = None) -> Array:
    """``x`` with its elements moved along axes, round the end.

    Args:
        x: any dtype, any shape.
        shift: by how many places towards larger indices; one for all axes or one for each.
        axis: axes along which to move, an axis may be named again; None moves the flattened elements.
    Returns:
        dtype and shape of ``x``.
    Raises:
        AxisError: an axis is out of range.
        ShapeError: the numbers of shifts and of axes differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.roll(xp.asarray([1, 2, 3]), 1)
        Array([3, 1, 2], dtype=int64)
    """
    node = node_of("roll", x)
    if axis is None:
        total = sum(integers("roll", "shift", shift))
        return wrap_array(_rolled(node.reshape((node.size,)), total, 0).reshape(node.shape))
    axes = [normalize_axis("roll", a, node.ndim) for a in (axis if isinstance(axis, tuple | list) else [axis])]
    shifts = list(integers("roll", "shift", shift))
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(shifts) != len(axes):
        raise ShapeError(f"roll: expected one shift or one for each axis, got shift={shift} and axis={axis}")
    for places, at in zip(shifts, axes, strict=True):
        node = _rolled(node, places, at)
    return wrap_array(node)


def _rolled(node: UOp, shift: int, axis: int) -> UOp:
    n = node.shape[axis]
    cut = -shift % n if n else 0
    if cut == 0:
        return node
    whole = [(0, m) for m in node.shape]
    head = node.shrink([*whole[:axis], (0, cut), *whole[axis + 1 :]])
    tail = node.shrink([*whole[:axis], (cut, n), *whole[axis + 1 :]])
    return composite.concat([tail, head], axis)


def tile(x: Array, repetitions: ShapeLike, /) -> Array:
    """``x`` repeated as a whole along its axes.

    Args:
        x: any dtype, any shape.
        repetitions: how often along each axis; the shorter of this and the shape is filled up with ones in front.
    Returns:
        dtype of ``x``; extents times repetitions.
    Raises:
        ShapeError: a negative number.
    Example:
        >>> import uopc_array as xp
        >>> xp.tile(xp.asarray([1, 2]), (2,))
        Array([1, 2, 1, 2], dtype=int64)
    """
    node, times = node_of("tile", x), shape_of("tile", repetitions, "repetitions")
    ndim = max(node.ndim, len(times))
    shape = (*[1] * (ndim - node.ndim), *node.shape)
    times = (*[1] * (ndim - len(times)), *times)
    check_shape("tile", tuple([n * t for n, t in zip(shape, times, strict=True)]))
    grown = node.reshape([m for n in shape for m in (1, n)])
    grown = grown.expand([m for pair in zip(times, shape, strict=True) for m in pair])
    return wrap_array(grown.reshape([n * t for n, t in zip(shape, times, strict=True)]))


def repeat(x: Array, repeats: int | Array, /, axis: int | None = None) -> Array:
    """``x`` with each element repeated.

    Args:
        x: any dtype, any shape.
        repeats: how often, an int, or integers of shape ``(N,)`` or ``(1,)``, one for each place; these are computed,
            since the shape of the result depends on them.
        axis: axis along which to repeat; None repeats the flattened elements.
    Returns:
        dtype of ``x``; shape with the sum of the repeats at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``repeats`` are no integers.
        ShapeError: ``repeats`` do not fit the axis.
        ValueError: a negative number.
    Example:
        >>> import uopc_array as xp
        >>> xp.repeat(xp.asarray([1, 2]), xp.asarray([2, 1]))
        Array([1, 1, 2], dtype=int64)
    """
    node = node_of("repeat", x)
    if axis is None:
        node, at = node.reshape((node.size,)), 0
    else:
        at = normalize_axis("repeat", axis, node.ndim)
    if isinstance(repeats, int) and not isinstance(repeats, bool):
        check_shape("repeat", (*node.shape[:at], node.shape[at] * repeats, *node.shape[at + 1 :]))
        return wrap(_repeated(node, repeats, at))
    counts = integer_array("repeat", "repeats", repeats, bools=True)
    n = node.shape[at]
    if counts.ndim > 1 or counts.size not in (1, n):
        raise ShapeError(f"repeat: expected repeats of shape ({n},) or (1,), got {counts.shape}")
    values = np.broadcast_to(counts.reshape(-1), (n,)).astype(np.int64)
    if np.any(values < 0):
        raise ValueError(f"repeat: expected repeats of 0 or more, got {int(values.min())}")
    total = int(values.sum(dtype=np.float64))  # as int64 the sum might wrap around
    check_shape("repeat", (*node.shape[:at], total, *node.shape[at + 1 :]))
    places = from_memory(np.repeat(np.arange(n), values))
    return wrap(along_axes.take_on_axis("repeat", node, node_of("repeat", places), at))


def _repeated(node: UOp, times: int, axis: int) -> UOp:
    if times < 0:
        raise ValueError(f"repeat: expected repeats of 0 or more, got {times}")
    shape = node.shape
    grown = node.reshape((*shape[: axis + 1], 1, *shape[axis + 1 :]))
    grown = grown.expand((*shape[: axis + 1], times, *shape[axis + 1 :]))
    return grown.reshape((*shape[:axis], shape[axis] * times, *shape[axis + 1 :]))
