"""Sets: unique values, and membership. How many values are unique depends on the values, so they are computed."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import bound, known
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import cast_node, node_from_numpy
from uopc_array._array.promotion import promote_dtypes
from uopc_array._array.realize import NumPyArray, buffer_of_node
from uopc_array._array.tracing import records
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import ArrayLike, check_choice, node_of, normalize_axis, wrap_array
from uopc_array._functions.public import function
from uopc_core import (
    TRACKED,
    Ops,
    UOp,
    composite,
    dtypes,
    is_bool,
    is_integer,
    name_of,
    searchsorted_vector,
    sort_last_axis,
)
from uopc_core.errors import DTypeValueError

__all__ = ["UniqueAll", "UniqueCounts", "UniqueInverse"]

A = TypeVar("A", bound=Handle)
# up to so many values a comparison with each is quicker than a sort
_FEW = 16


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


# ---------------------------------------------------------------------------------------------- unique values


def _unique(
    name: str,
    node: UOp,
    index: bool = False,
    inverse: bool = False,
    counts: bool = False,
    axis: int | None = None,
    equal_nan: bool = False,
) -> list[UOp]:
    """The unique values, and what else is asked for: their first indices, the indices of the values, and counts."""
    at = None if axis is None else normalize_axis(name, axis, node.ndim)
    is_tracked = bool(node.flags & TRACKED)
    memory = buffer_of_node(node, name).array
    found: Any = np.unique(memory, index or is_tracked, inverse, counts, axis=at, equal_nan=equal_nan)
    parts = cast("tuple[NumPyArray, ...]", found if type(found) is tuple else (found,))
    values, others = parts[0], list(parts[1:])
    out = [_values(node, at, others[0]) if is_tracked else _memory(values)]
    if is_tracked and not index:
        others = others[1:]
    if inverse and at is None:
        others[index] = others[index].reshape(node.shape)
    return out + [_memory(indices.astype(np.int64, copy=False)) for indices in others]


def _memory(values: NumPyArray) -> UOp:
    return node_from_numpy(np.asarray(values, order="C"), None, False)


def _values(node: UOp, axis: int | None, first: NumPyArray) -> UOp:
    """The unique values as gathered from `node`, so that derivatives flow back into it."""
    indices = _memory(first.astype(np.int64, copy=False))
    if axis is None:
        return node.reshape((node.size,)).index(indices)
    return along_axes.move_axis(along_axes.move_axis(node, axis, 0).index(indices), 0, axis)


def _unique_at_once(
    cls: type[A], ar: Any, index: Any, inverse: Any, counts: Any, axis: Any, equal_nan: Any
) -> A | None:
    """`Description.at_once` of `unique` that gives the values alone."""
    value = known(ar) if type(ar) is cls else None
    if value is None or index or inverse or counts or axis is not None or not bound() or records():
        return None
    return cls._from_value(np.unique(value, equal_nan=bool(equal_nan)))


@function(
    "unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, "
    "sorted=True)",
    gives="array",
    hints="sorted",
    at_once=_unique_at_once,
)
def unique(
    name: str,
    ar: UOp,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: int | None,
    equal_nan: bool,
) -> UOp | tuple[UOp, ...]:
    """Unique values, or unique slices along an axis, in ascending order. Computes the values of ``ar``.

    Args:
        ar: any dtype, any shape.
        return_index: whether to return the first index of each as well.
        return_inverse: whether to return, for each element or slice, the index of its value as well.
        return_counts: whether to return how often each occurs as well.
        axis: axis of the slices; None takes the elements of the flattened array.
        equal_nan: whether every nan is one value.
        sorted: changes nothing: they are in order.
    Returns:
        dtype of ``ar``; shape ``(K,)``, or that of ``ar`` with K slices at ``axis``. If more is asked for, a tuple of
        that and int64 arrays.
    Raises:
        AxisError: ``axis`` is out of range.
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique(xp.asarray([3, 1, 3]), return_counts=True)
        (Array([1, 3], dtype=int64), Array([1, 2], dtype=int64))
    """
    found = _unique(name, ar, bool(return_index), bool(return_inverse), bool(return_counts), axis, bool(equal_nan))
    return tuple(found) if len(found) > 1 else found[0]


@function("unique_all(x)")
def unique_all(name: str, x: ArrayLike) -> UniqueAll:
    """Unique values with their indices and counts. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        values: dtype of ``x``, shape ``(K,)``, in ascending order; every nan is a value of its own.
        indices: int64, shape ``(K,)``, the first index of each in the flattened array.
        inverse_indices: int64, shape of ``x``, for each element the index of its value.
        counts: int64, shape ``(K,)``.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_all(xp.asarray([3, 1, 3])).counts
        Array([1, 2], dtype=int64)
    """
    return UniqueAll(*map(wrap_array, _unique(name, node_of(name, x), index=True, inverse=True, counts=True)))


@function("unique_counts(x)")
def unique_counts(name: str, x: ArrayLike) -> UniqueCounts:
    """Unique values and how often each occurs. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        values: dtype of ``x``, shape ``(K,)``, in ascending order; every nan is a value of its own.
        counts: int64, shape ``(K,)``.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_counts(xp.asarray([3, 1, 3])).values
        Array([1, 3], dtype=int64)
    """
    return UniqueCounts(*map(wrap_array, _unique(name, node_of(name, x), counts=True)))


@function("unique_inverse(x)")
def unique_inverse(name: str, x: ArrayLike) -> UniqueInverse:
    """Unique values and, for each element, the index of its value. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        values: dtype of ``x``, shape ``(K,)``, in ascending order; every nan is a value of its own.
        inverse_indices: int64, shape of ``x``.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_inverse(xp.asarray([3, 1, 3])).inverse_indices
        Array([1, 0, 1], dtype=int64)
    """
    return UniqueInverse(*map(wrap_array, _unique(name, node_of(name, x), inverse=True)))


@function("unique_values(x)", gives="array")
def unique_values(name: str, x: UOp) -> UOp:
    """Unique values. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        dtype of ``x``; shape ``(K,)``, in ascending order; every nan is a value of its own.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_values(xp.asarray([3, 1, 3]))
        Array([1, 3], dtype=int64)
    """
    return _unique(name, x)[0]


# ---------------------------------------------------------------------------------------------- membership


@function(
    "isin(element, test_elements, assume_unique=False, invert=False, *, kind=None)",
    gives="array",
    hints="assume_unique",
)
def isin(name: str, element: UOp, test_elements: UOp, invert: bool, kind: Any) -> UOp:
    """Whether each element occurs in another array.

    Args:
        element: elements that are looked for, any dtype, or a Python scalar.
        test_elements: where they are looked for, likewise.
        assume_unique: changes nothing here.
        invert: whether each does not occur.
        kind: None, "sort", or of integers and bool "table"; it changes nothing here.
    Returns:
        bool; shape of ``element``.
    Raises:
        DTypeValueError: (a TypeError and a ValueError) "table" of floating numbers.
        ValueError: another ``kind``.
    Example:
        >>> import uopc_array as xp
        >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1]))
        Array([ True, False,  True], dtype=bool)
    """
    if kind is not None:
        check_choice(name, "kind", kind, ("sort", "table"))
        for x in (element, test_elements):
            if kind == "table" and not (is_integer(x.dtype) or is_bool(x.dtype)):
                raise DTypeValueError(f'{name}: kind "table" is for integers and bool, got {name_of(x.dtype)}')
    found = _among(element, test_elements)
    return ~found if invert else found


def _among(node: UOp, among: UOp) -> UOp:
    if dtypes.uint64 in (node.dtype, among.dtype) and {node.dtype.kind, among.dtype.kind} == {"i", "u"}:
        # by value: as uint64 both, where neither is negative
        small = node >= 0 if node.dtype.kind == "i" else node <= 2**63 - 1
        return small & _among(node.cast(dtypes.uint64), among.cast(dtypes.uint64))
    dtype = promote_dtypes(node.dtype, among.dtype)
    node, among, n = cast_node(node, dtype), cast_node(among, dtype), among.size
    return _among_few(node, among, n) if n <= _FEW else _among_many(node, among, n)


def _among_few(node: UOp, among: UOp, n: int) -> UOp:
    if n == 0:
        return UOp.const(False, dtypes.bool, node.shape)
    shape = (*node.shape, n)
    each = composite.broadcast_to(among.reshape((n,)), shape)
    return node.reshape((*node.shape, 1)).expand(shape).eq(each).reduce(Ops.OR, 1)


def _among_many(node: UOp, among: UOp, n: int) -> UOp:
    ordered = sort_last_axis(among.reshape((n,)), False, False)
    index = searchsorted_vector(ordered, node, "left").binary(Ops.MIN, n - 1)
    return ordered.index(index).eq(node)
