"""Indexing functions of the standard: gathers with integer arrays, lazy and differentiable."""

from __future__ import annotations

from uopc_array._array.array import Array
from uopc_array._array.origins import gather
from uopc_array._array.promotion import broadcast
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import ArrayLike, node_of, normalize_axis, wrap
from uopc_core import UOp, composite, dtypes, is_integer
from uopc_core.errors import IndexDTypeError, IndexShapeError, ShapeError

__all__ = ["take", "take_along_axis"]


def _places(name: str, indices: ArrayLike) -> UOp:
    node = node_of(name, indices)
    if node.size == 0 and not is_integer(node.dtype) and isinstance(indices, list | tuple):
        return node.cast("int64")
    if not is_integer(node.dtype):
        raise IndexDTypeError(f"{name}: expected indices of an integer dtype, got {node.dtype.name}")
    return composite.as_places(node) if node.dtype is dtypes.uint64 else node


def take(x: Array, indices: Array, /, axis: int | None = None) -> Array:
    """Elements of ``x`` at ``indices`` along an axis.

    Args:
        x: any dtype, any shape.
        indices: integers, any shape ``S``; negative ones count from the end.
        axis: axis that is indexed; None takes from the flattened array.
    Returns:
        dtype of ``x``; shape of ``x`` with ``S`` in the place of ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        IndexError: an index is out of range, found when the values are computed.
        IndexDTypeError: (a TypeError and an IndexError) ``indices`` are no integers.
    Example:
        >>> import uopc_array as xp
        >>> xp.take(xp.asarray([10, 20, 30]), xp.asarray([2, 0]))
        Array([30, 10], dtype=int64)
    """
    node, places = node_of("take", x), _places("take", indices)
    if axis is None:
        return wrap(gather("take", node.reshape((node.size,)), places))
    return wrap(along_axes.take_on_axis("take", node, places, normalize_axis("take", axis, node.ndim)))


def take_along_axis(x: Array, indices: Array, /, axis: int = -1) -> Array:
    """Elements of ``x`` at indices along one axis that depend on the coordinates of the others.

    Args:
        x: any dtype, any shape.
        indices: integers, as many axes as ``x``; extents but that of ``axis`` can be broadcast with those of ``x``.
        axis: axis that is indexed.
    Returns:
        dtype of ``x``; the broadcast shape, with the extent of ``indices`` at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        IndexError: an index is out of range, found when the values are computed.
        ShapeError: the shapes do not fit.
        IndexDTypeError: (a TypeError and an IndexError) ``indices`` are no integers.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.asarray([[3, 1, 2], [4, 6, 5]])
        >>> xp.take_along_axis(x, xp.argsort(x), axis=-1)
        Array([[1, 2, 3],
               [4, 5, 6]], dtype=int64)
    """
    node, places = node_of("take_along_axis", x), _places("take_along_axis", indices)
    if node.ndim != places.ndim:
        raise ShapeError(
            f"take_along_axis: expected indices of {node.ndim} axes, got shapes {node.shape} and {places.shape}"
        )
    at = normalize_axis("take_along_axis", axis, node.ndim)
    try:
        rest = broadcast("take_along_axis", _without(node.shape, at), _without(places.shape, at))
    except ShapeError:
        raise IndexShapeError(
            f"take_along_axis: x and indices must fit on every axis but {at}, "
            f"got shapes {node.shape} and {places.shape}"
        ) from None
    node = composite.broadcast_to(node, (*rest[:at], node.shape[at], *rest[at + 1 :]))
    places = composite.broadcast_to(places, (*rest[:at], places.shape[at], *rest[at + 1 :]))
    return wrap(along_axes.take_along_axis("take_along_axis", node, places, at))


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis + 1 :])
