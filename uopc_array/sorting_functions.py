"""Sorting functions of the standard: by the host library, lazy, and differentiable through the order that was found."""

from __future__ import annotations

from collections.abc import Callable

from uopc_array._array.array import Array
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import as_real, node_of, normalize_axis, wrap
from uopc_core import UOp, argsort_last_axis, sort_last_axis
from uopc_core.errors import AxisError

__all__ = ["argsort", "sort"]


def _sorted(
    name: str, rule: Callable[[UOp, bool, bool], UOp], x: Array, axis: int, descending: bool, stable: bool
) -> Array:
    (node,) = as_real(name, node_of(name, x))
    if node.ndim == 0:
        raise AxisError(f"{name}: expected one axis or more, got an array of shape ()")
    at = normalize_axis(name, axis, node.ndim)
    last = node.ndim - 1
    ordered = rule(along_axes.move_axis(node, at, last), bool(descending), bool(stable))
    return wrap(along_axes.move_axis(ordered, last, at))


def sort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """Elements in order along an axis.

    Args:
        x: a real dtype or bool, one axis or more; nan counts as largest.
        axis: axis along which to sort.
        descending: largest first.
        stable: keep equal elements in the order in which they stood.
    Returns:
        dtype and shape of ``x``. The derivative follows each element to its place.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.sort(xp.asarray([3, 1, 2]), descending=True)
        Array([3, 2, 1], dtype=int64)
    """
    return _sorted("sort", sort_last_axis, x, axis, descending, stable)


def argsort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """Places of the elements in order along an axis.

    Args:
        x: a real dtype or bool, one axis or more; nan counts as largest.
        axis: axis along which to sort.
        descending: largest first.
        stable: keep equal elements in the order in which they stood.
    Returns:
        int64; shape of ``x``. ``take_along_axis(x, argsort(x, axis=axis), axis=axis)`` is sorted.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.argsort(xp.asarray([3, 1, 2]))
        Array([1, 2, 0], dtype=int64)
    """
    return _sorted("argsort", argsort_last_axis, x, axis, descending, stable)
