"""Sorting: by the host library, lazy, and differentiable through the order that was found; nan is largest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import integer_array, normalize_axis
from uopc_array._functions.public import function, method
from uopc_core import UOp, argsort_last_axis, name_of, sort_last_axis
from uopc_core.errors import AxisError, DTypeValueError, ShapeError

__all__: list[str] = []

_HOW = "kind=None, order=None, *, stable=None"
_KTH = "axis=-1, kind='introselect', order=None"


def _along(name: str, rule: Callable[[UOp], UOp], a: UOp, axis: int | None) -> UOp:
    """`rule`, which is of the last axis, along `axis`, or of the flattened array if it is None."""
    if axis is None:
        return rule(a.reshape((a.size,)))
    if a.ndim == 0:
        raise AxisError(f"{name}: expected one axis or more, got an array of shape (); axis=None takes it in a row")
    at, last = normalize_axis(name, axis, a.ndim), a.ndim - 1
    return along_axes.move_axis(rule(along_axes.move_axis(a, at, last)), last, at)


def _sorted(name: str, a: UOp, axis: int | None, kind: Any, order: Any, stable: Any, descending: bool) -> UOp:
    _check_how(name, kind, order, stable)
    down, is_stable = bool(descending), stable is None or bool(stable)
    return _along(name, lambda rows: sort_last_axis(rows, down, is_stable), a, axis)


def _indices(name: str, a: UOp, axis: int | None, kind: Any, order: Any, stable: Any, descending: bool) -> UOp:
    _check_how(name, kind, order, stable)
    down, is_stable = bool(descending), stable is None or bool(stable)
    row = a if a.ndim else a.reshape((1,))  # of no axes there is one index, as NumPy has it
    return _along(name, lambda rows: argsort_last_axis(rows, down, is_stable), row, axis)


def _check_how(name: str, kind: Any, order: Any, stable: Any) -> None:
    """
    Raises:
        ValueError, TypeError: what NumPy refuses: another kind, fields to sort by, a kind and `stable`.
    """
    if kind is None and order is None:
        return
    if order is not None:
        raise ValueError(f"{name}: expected order=None, got {order!r:.60}: arrays of numbers have no fields")
    if stable is not None:
        raise ValueError(f"{name}: expected one of kind and stable, got kind={kind!r:.60} and stable={stable!r:.60}")
    if not isinstance(kind, str):
        raise TypeError(f"{name}: expected a string for kind, got {kind!r:.60}")
    if kind[:1].lower() not in ("q", "h", "m", "s"):
        raise ValueError(f'{name}: expected kind "quicksort", "heapsort", "mergesort" or "stable", got {kind!r}')


@function(f"sort(a, axis=-1, {_HOW}, descending=False)", gives="array")
def sort(name: str, a: UOp, axis: int | None, kind: Any, order: Any, stable: Any, descending: bool) -> UOp:
    """Elements in order along an axis.

    Args:
        a: any dtype, one axis or more; nan counts as largest, complex numbers go by their real, then imaginary parts.
        axis: axis along which to sort; None sorts the flattened array.
        kind: a name of NumPy's: "quicksort", "heapsort", "mergesort" or "stable"; the sort is a stable one.
        order: None: it names fields, which there are none of.
        stable: False lets equal elements change places; they keep their order otherwise.
        descending: largest first.
    Returns:
        dtype and shape of ``a``, or flat. The derivative follows each element to where it goes.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: another ``kind``, an ``order``, or a ``kind`` and ``stable``.
    Example:
        >>> import uopc_array as xp
        >>> xp.sort(xp.asarray([3, 1, 2]), descending=True)
        Array([3, 2, 1], dtype=int64)
    """
    return _sorted(name, a, axis, kind, order, stable, descending)


@method(f"sort(a, axis=-1, {_HOW})")
def sort_array(name: str, a: Array, axis: int, kind: Any, order: Any, stable: Any) -> None:
    """Put the elements of this array in order along an axis; see `xp.sort`.

    Raises:
        AxisError: ``axis`` is out of range.
        TypeError: it is a number, or ``axis`` is no integer.
        ValueError: it is read-only; another ``kind``, an ``order``, or a ``kind`` and ``stable``.
    """
    a._refuse_write(name)
    at = normalize_axis(name, axis, a.ndim)
    a._update(lambda node: _sorted(name, node, at, kind, order, stable, False))


@function(f"argsort(a, axis=-1, {_HOW}, descending=False)", gives="array", method="argsort")
def argsort(name: str, a: UOp, axis: int | None, kind: Any, order: Any, stable: Any, descending: bool) -> UOp:
    """Indices of the elements in order along an axis.

    Args:
        a: any dtype; nan counts as largest, complex numbers go by their real, then imaginary parts.
        axis: axis along which to sort; None sorts the flattened array.
        kind: a name of NumPy's: "quicksort", "heapsort", "mergesort" or "stable"; the sort is a stable one.
        order: None: it names fields, which there are none of.
        stable: False lets equal elements change places; they keep their order otherwise.
        descending: largest first.
    Returns:
        int64; shape of ``a``, or flat. ``take_along_axis(a, argsort(a, axis=axis), axis=axis)`` is sorted.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: another ``kind``, an ``order``, or a ``kind`` and ``stable``.
    Example:
        >>> import uopc_array as xp
        >>> xp.argsort(xp.asarray([3, 1, 2]))
        Array([1, 2, 0], dtype=int64)
    """
    return _indices(name, a, axis, kind, order, stable, descending)


# ---------------------------------------------------------------------------------------------- partitions


def _check_kth(name: str, kth: Any, kind: Any, order: Any, a: UOp, axis: int | None) -> None:
    """
    Raises:
        ValueError, TypeError: what NumPy refuses: indices that are no integers or out of bounds, another kind, fields.
    """
    if kind != "introselect":
        raise ValueError(f'{name}: expected kind "introselect", got {kind!r:.60}')
    if order is not None:
        raise ValueError(f"{name}: expected order=None, got {order!r:.60}: arrays of numbers have no fields")
    indices = np.atleast_1d(integer_array(name, "kth", kth, bools=True))
    if indices.dtype.kind not in "iu":  # bool, or the float64 of no indices
        raise DTypeValueError(f"{name}: expected kth of an integer dtype, got {name_of(indices.dtype)}")
    if indices.ndim > 1:
        raise ShapeError(f"{name}: expected an integer or a sequence of them for kth, got shape {indices.shape}")
    n = a.size if axis is None else a.shape[normalize_axis(name, axis, a.ndim)] if a.ndim else 1
    outside = indices[(indices < -n) | (indices >= n)]
    if a.size and outside.size:
        raise ValueError(f"{name}: kth={outside[0]} is out of bounds for {n} elements along axis {axis}")


@function(f"partition(a, kth, {_KTH})", gives="array")
def partition(name: str, a: UOp, kth: Any, axis: int | None, kind: Any, order: Any) -> UOp:
    """Elements with those at the indices ``kth`` where they stand in order, smaller ones before and larger ones after.

    Args:
        a: any dtype, one axis or more; nan counts as largest.
        kth: an index, or several.
        axis: axis along which to partition; None takes the flattened array.
        kind: "introselect".
        order: None: it names fields, which there are none of.
    Returns:
        dtype and shape of ``a``, or flat. All elements are in order, as there is no cheaper way to it here.
    Raises:
        AxisError: ``axis`` is out of range.
        TypeError: indices that are no integers.
        ValueError: indices out of bounds, another ``kind``, an ``order``.
    Example:
        >>> import uopc_array as xp
        >>> xp.partition(xp.asarray([3, 1, 2]), 0)[0]
        Array(1, dtype=int64)
    """
    _check_kth(name, kth, kind, order, a, axis)
    return _sorted(name, a, axis, None, None, None, False)


@method(f"partition(a, kth, {_KTH})")
def partition_array(name: str, a: Array, kth: Any, axis: int, kind: Any, order: Any) -> None:
    """Partition this array along an axis; see `xp.partition`.

    Raises:
        AxisError: ``axis`` is out of range.
        TypeError: it is a number, or indices that are no integers.
        ValueError: it is read-only; indices out of bounds, another ``kind``, an ``order``.
    """
    a._refuse_write(name)
    at = normalize_axis(name, axis, a.ndim)
    a._update(lambda node: partition(name, node, kth, at, kind, order))


@function(f"argpartition(a, kth, {_KTH})", gives="array", method="argpartition")
def argpartition(name: str, a: UOp, kth: Any, axis: int | None, kind: Any, order: Any) -> UOp:
    """Indices of the elements of `partition`.

    Args:
        a: any dtype; nan counts as largest.
        kth: an index, or several.
        axis: axis along which to partition; None takes the flattened array.
        kind: "introselect".
        order: None: it names fields, which there are none of.
    Returns:
        int64; shape of ``a``, or flat.
    Raises:
        AxisError: ``axis`` is out of range.
        TypeError: indices that are no integers.
        ValueError: indices out of bounds, another ``kind``, an ``order``.
    Example:
        >>> import uopc_array as xp
        >>> xp.argpartition(xp.asarray([3, 1, 2]), 0)[0]
        Array(1, dtype=int64)
    """
    _check_kth(name, kth, kind, order, a, axis)
    return _indices(name, a, axis, None, None, None, False)
