"""Elements moved round the end, and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    AxisLike,
    ShapeLike,
    check_shape,
    from_memory,
    integer_array,
    integers,
    node_of,
    normalize_axis,
    shape_of,
)
from uopc_array._functions.public import function
from uopc_core import UOp, composite
from uopc_core.errors import ShapeError

__all__: list[str] = []


@function("roll(a, shift, axis=None)", gives="array")
def roll(name: str, a: UOp, shift: int | Sequence[int], axis: AxisLike) -> UOp:
    """``a`` with its elements moved along axes, round the end.

    Args:
        a: any dtype, any shape.
        shift: by how many elements towards larger indices; one for all axes or one for each.
        axis: axes along which to move, an axis may be named again; None moves the flattened elements.
    Returns:
        dtype and shape of ``a``.
    Raises:
        AxisError: an axis is out of range.
        ShapeError: the numbers of shifts and of axes differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.roll(xp.asarray([1, 2, 3]), 1)
        Array([3, 1, 2], dtype=int64)
    """
    shifts = list(integers(name, "shift", shift))
    if axis is None:
        return composite.roll(a.reshape((a.size,)), sum(shifts), 0).reshape(a.shape)
    axes = [normalize_axis(name, i, a.ndim) for i in (axis if isinstance(axis, tuple | list) else [axis])]
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(shifts) != len(axes):
        raise ShapeError(f"{name}: expected one shift or one for each axis, got shift={shift} and axis={axis}")
    for by, at in zip(shifts, axes, strict=True):
        a = composite.roll(a, by, at)
    return a


@function("tile(A, reps)", gives="array")
def tile(name: str, A: UOp, reps: ShapeLike) -> UOp:
    """``A`` repeated as a whole along its axes.

    Args:
        A: any dtype, any shape.
        reps: how often along each axis; the shorter of this and the shape is filled up with ones in front.
    Returns:
        dtype of ``A``; extents times repetitions.
    Raises:
        ShapeError: a negative number.
    Example:
        >>> import uopc_array as xp
        >>> xp.tile(xp.asarray([1, 2]), (2,))
        Array([1, 2, 1, 2], dtype=int64)
    """
    times = shape_of(name, reps, "reps")
    ndim = max(A.ndim, len(times))
    shape = (*[1] * (ndim - A.ndim), *A.shape)
    times = (*[1] * (ndim - len(times)), *times)
    extents = tuple([n * t for n, t in zip(shape, times, strict=True)])
    check_shape(name, extents)
    grown = A.reshape([m for n in shape for m in (1, n)])
    grown = grown.expand([m for pair in zip(times, shape, strict=True) for m in pair])
    return grown.reshape(extents)


@function("repeat(a, repeats, axis=None)", method="repeat", gives="array")
def repeat(name: str, a: UOp, repeats: Any, axis: int | None) -> UOp:
    """``a`` with each element repeated.

    Args:
        a: any dtype, any shape.
        repeats: how often, an int, or integers of shape ``(N,)`` or ``(1,)``, one for each index; these are computed,
            since the shape of the result depends on them.
        axis: axis along which to repeat; None repeats the flattened elements.
    Returns:
        dtype of ``a``; shape with the sum of the repeats at ``axis``.
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
    node = a.reshape((a.size,)) if axis is None or not a.ndim else a
    at = normalize_axis(name, 0 if axis is None else axis, node.ndim)
    if isinstance(repeats, int) and not isinstance(repeats, bool):
        return _repeated(name, node, repeats, at)
    counts = integer_array(name, "repeats", repeats, bools=True)
    n = node.shape[at]
    if counts.ndim > 1 or counts.size not in (1, n):
        raise ShapeError(f"{name}: expected repeats of shape ({n},) or (1,), got {counts.shape}")
    values = np.broadcast_to(counts.reshape(-1), (n,)).astype(np.int64)
    if np.any(values < 0):
        raise ValueError(f"{name}: expected repeats of 0 or more, got {int(values.min())}")
    total = int(values.sum(dtype=np.float64))  # as int64 the sum might wrap around
    check_shape(name, (*node.shape[:at], total, *node.shape[at + 1 :]))
    indices = from_memory(np.repeat(np.arange(n), values))
    return along_axes.take_on_axis(name, node, node_of(name, indices), at)


def _repeated(name: str, node: UOp, times: int, axis: int) -> UOp:
    if times < 0:
        raise ValueError(f"{name}: expected repeats of 0 or more, got {times}")
    shape = node.shape
    check_shape(name, (*shape[:axis], shape[axis] * times, *shape[axis + 1 :]))
    grown = node.reshape((*shape[: axis + 1], 1, *shape[axis + 1 :]))
    grown = grown.expand((*shape[: axis + 1], times, *shape[axis + 1 :]))
    return grown.reshape((*shape[:axis], shape[axis] * times, *shape[axis + 1 :]))
