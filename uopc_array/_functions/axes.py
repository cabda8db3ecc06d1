"""Axes in another order, put in, taken out and turned round: steps to views, which cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_array._array.array import Array
from uopc_array._array.lenses import Lens, MoveLens
from uopc_array._array.programs import view_of_known
from uopc_array._functions.arguments import (
    ArrayLike,
    AxisLike,
    array_of,
    check_shape,
    frame_of,
    integer,
    integers,
    normalize_axes,
    normalize_axis,
    seen,
)
from uopc_array._functions.public import function
from uopc_core import Ops, UOp
from uopc_core.errors import AxisError, ShapeError

__all__: list[str] = []


# ---------------------------------------------------------------------------------------------- order


@function("transpose(a, axes=None)", "permute_dims", method="transpose", of_method="*axes", gives="view")
def transpose(name: str, a: UOp, axes: Sequence[int] | None) -> Lens:
    """``a`` with its axes in another order, a view.

    Args:
        a: any dtype, any shape.
        axes: every axis of ``a`` once, negative ones from the end; None reverses them.
    Returns:
        dtype of ``a``; axis i of the result is axis ``axes[i]`` of ``a``.
    Raises:
        AxisError: an axis is out of range, missing or named twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.transpose(xp.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    if axes is None:
        return MoveLens(Ops.PERMUTE, tuple(range(a.ndim))[::-1])
    given = integers(name, "axes", axes)
    order = normalize_axes(name, given, a.ndim)
    if len(order) != a.ndim:
        raise AxisError(f"{name}: expected every one of {a.ndim} axes once, got axes={given}")
    return MoveLens(Ops.PERMUTE, order)


@function("swapaxes(a, axis1, axis2)", method="swapaxes", gives="view")
def swapaxes(name: str, a: UOp, axis1: int, axis2: int) -> Lens:
    """``a`` with two axes exchanged, a view.

    Args:
        a: any dtype, any shape.
        axis1: one axis.
        axis2: the other.
    Returns:
        dtype of ``a``; the permuted shape.
    Raises:
        AxisError: an axis is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.swapaxes(xp.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    first, second = (normalize_axis(name, axis, a.ndim) for axis in (axis1, axis2))
    return _swapped(a.ndim, first, second)


def _swapped(ndim: int, first: int, second: int) -> Lens:
    order = list(range(ndim))
    order[first], order[second] = order[second], order[first]
    return MoveLens(Ops.PERMUTE, tuple(order))


@function("moveaxis(a, source, destination)", gives="view")
def moveaxis(name: str, a: UOp, source: int | Sequence[int], destination: int | Sequence[int]) -> Lens:
    """Axes moved to other positions, the rest in their order; a view.

    Args:
        a: any dtype, any shape.
        source: axes that move.
        destination: the position of each in the result.
    Returns:
        dtype of ``a``; the permuted shape.
    Raises:
        AxisError: an axis is out of range or named twice, or the numbers of axes differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    moved = normalize_axes(name, integers(name, "source", source), a.ndim)
    positions = normalize_axes(name, integers(name, "destination", destination), a.ndim)
    if len(moved) != len(positions):
        raise AxisError(f"{name}: source and destination must be as many, got {source} and {destination}")
    order = [axis for axis in range(a.ndim) if axis not in moved]
    for position, axis in sorted(zip(positions, moved, strict=True)):
        order.insert(position, axis)
    return MoveLens(Ops.PERMUTE, tuple(order))


@function("rollaxis(a, axis, start=0)", gives="view")
def rollaxis(name: str, a: UOp, axis: int, start: int) -> Lens:
    """``a`` with an axis moved to before another, a view; `moveaxis` is easier to read.

    Args:
        a: any dtype, any shape.
        axis: axis that moves.
        start: axis before which it comes.
    Returns:
        dtype of ``a``; the permuted shape.
    Raises:
        AxisError: an axis is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.rollaxis(xp.zeros((2, 3, 4)), 2).shape
        (4, 2, 3)
    """
    source = normalize_axis(name, axis, a.ndim)
    start = integer(name, "start", start)
    position = start + a.ndim if start < 0 else start
    if not 0 <= position <= a.ndim:
        raise AxisError(f"{name}: expected start between {-a.ndim} and {a.ndim}, got {start}")
    order = [i for i in range(a.ndim) if i != source]
    order.insert(position - 1 if source < position else position, source)
    return MoveLens(Ops.PERMUTE, tuple(order))


# ---------------------------------------------------------------------------------------------- axes of extent 1


@function("expand_dims(a, axis)", gives="view")
def expand_dims(name: str, a: UOp, axis: int | Sequence[int]) -> Lens:
    """``a`` with axes of extent 1 put in, a view.

    Args:
        a: any dtype, any shape.
        axis: positions of the new axes in the result.
    Returns:
        dtype of ``a``; shape with 1 at every ``axis``.
    Raises:
        AxisError: a position is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.expand_dims(xp.zeros((2, 3)), (0, -1)).shape
        (1, 2, 3, 1)
    """
    given: Any = axis if isinstance(axis, tuple | list) else (axis,)
    ndim = a.ndim + len(given)
    positions = normalize_axes(name, given, ndim)
    check_shape(name, (1,) * ndim)
    rest = iter(a.shape)
    return MoveLens(Ops.RESHAPE, tuple([1 if i in positions else next(rest) for i in range(ndim)]))


@function("squeeze(a, axis=None)", method="squeeze", gives="view")
def squeeze(name: str, a: UOp, axis: AxisLike) -> Lens:
    """``a`` without some axes of extent 1, a view.

    Args:
        a: any dtype, any shape.
        axis: axes that are dropped; None drops all of extent 1.
    Returns:
        dtype of ``a``; shape without ``axis``.
    Raises:
        AxisError: an axis is out of range or named twice.
        ShapeError: an extent is not 1.
    Example:
        >>> import uopc_array as xp
        >>> xp.squeeze(xp.zeros((1, 3, 1)), axis=0).shape
        (3, 1)
    """
    ones = tuple([i for i, n in enumerate(a.shape) if n == 1])
    if not a.ndim and axis in (0, -1):
        axis = None  # as NumPy has it
    axes = normalize_axes(name, ones if axis is None else axis, a.ndim)
    if any([a.shape[i] != 1 for i in axes]):
        raise ShapeError(f"{name}: only axes of extent 1 can be dropped, got shape {a.shape} with axis={axis}")
    return MoveLens(Ops.RESHAPE, tuple([n for i, n in enumerate(a.shape) if i not in axes]))


# ---------------------------------------------------------------------------------------------- direction


@function("flip(m, axis=None)")
def flip(name: str, m: ArrayLike, axis: AxisLike) -> Array:
    """``m`` with the order of elements along axes reversed, a view.

    Args:
        m: any dtype, any shape.
        axis: axes that are reversed; None reverses all.
    Returns:
        dtype and shape of ``m``.
    Raises:
        AxisError: an axis is out of range or named twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.flip(xp.asarray([1, 2, 3]))
        Array([3, 2, 1], dtype=int64)
    """
    x = array_of(name, m)
    if not x.ndim:
        normalize_axes(name, axis, 0)
        return x[()]
    view = view_of_known(x, _flip_of, name, (axis,), True)
    return _flipped(x, normalize_axes(name, axis, x.ndim)) if view is None else view


def _flip_of(name: str, node: UOp, axis: AxisLike) -> Lens:
    return MoveLens(Ops.FLIP, normalize_axes(name, axis, node.ndim))


def _flipped(x: Array, axes: Sequence[int]) -> Array:
    return x._moved(x._frame(), Ops.FLIP, axes)


@function("flipud(m)", gives="view")
def flipud(name: str, m: UOp) -> Lens:
    """``m`` with the order along axis 0 reversed, a view.

    Args:
        m: any dtype, one axis or more.
    Returns:
        dtype and shape of ``m``.
    Raises:
        ShapeError: ``m`` has no axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.flipud(xp.asarray([[1, 2], [3, 4]]))
        Array([[3, 4],
               [1, 2]], dtype=int64)
    """
    return _flipped_on(name, m, 0)


@function("fliplr(m)", gives="view")
def fliplr(name: str, m: UOp) -> Lens:
    """``m`` with the order along axis 1 reversed, a view.

    Args:
        m: any dtype, two axes or more.
    Returns:
        dtype and shape of ``m``.
    Raises:
        ShapeError: ``m`` has fewer axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.fliplr(xp.asarray([[1, 2], [3, 4]]))
        Array([[2, 1],
               [4, 3]], dtype=int64)
    """
    return _flipped_on(name, m, 1)


def _flipped_on(name: str, m: UOp, axis: int) -> Lens:
    if m.ndim <= axis:
        raise ShapeError(f"{name}: expected {axis + 1} axes or more, got shape {m.shape}")
    return MoveLens(Ops.FLIP, (axis,))


@function("rot90(m, k=1, axes=(0, 1))")
def rot90(name: str, m: ArrayLike, k: int, axes: Sequence[int]) -> Array:
    """``m`` turned by quarters in the plane of two axes, from the first towards the second; a view.

    Args:
        m: any dtype, two axes or more.
        k: number of quarters.
        axes: the plane.
    Returns:
        dtype of ``m``; the turned shape.
    Raises:
        AxisError: an axis is out of range or named twice.
        ValueError: another number of axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.rot90(xp.asarray([[1, 2], [3, 4]]))
        Array([[2, 4],
               [1, 3]], dtype=int64)
    """
    x = array_of(name, m)
    quarters = integer(name, "k", k) % 4
    plane = normalize_axes(name, integers(name, "axes", axes), x.ndim)
    if len(plane) != 2:
        raise ValueError(f"{name}: expected two axes, got axes={axes}")
    if quarters == 0:
        return seen(x, x._frame(), MoveLens(Ops.RESHAPE, x.shape))
    if quarters == 2:
        return _flipped(x, plane)
    turned = _flipped(x, plane[1:]) if quarters == 1 else x
    turned = seen(turned, frame_of(name, turned), _swapped(x.ndim, *plane))
    return turned if quarters == 1 else _flipped(turned, plane[1:])


# ---------------------------------------------------------------------------------------------- facts


@function("shape(a)")
def shape(name: str, a: ArrayLike) -> tuple[int, ...]:
    """The extents of ``a``.

    Args:
        a: any dtype, any shape.
    Returns:
        a tuple of int.
    Example:
        >>> import uopc_array as xp
        >>> xp.shape([[1, 2]])
        (1, 2)
    """
    return frame_of(name, a).shape


@function("ndim(a)")
def ndim(name: str, a: ArrayLike) -> int:
    """The number of axes of ``a``.

    Args:
        a: any dtype, any shape.
    Example:
        >>> import uopc_array as xp
        >>> xp.ndim([[1, 2]])
        2
    """
    return frame_of(name, a).ndim


@function("size(a, axis=None)")
def size(name: str, a: ArrayLike, axis: AxisLike) -> int:
    """The number of elements of ``a``, or of those along axes.

    Args:
        a: any dtype, any shape.
        axis: axes whose extents are multiplied; None takes all.
    Raises:
        AxisError: an axis is out of range or named twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.size([[1, 2, 3]], axis=1)
        3
    """
    node = frame_of(name, a)
    out = 1
    for i in normalize_axes(name, axis, node.ndim):
        out *= node.shape[i]
    return out
