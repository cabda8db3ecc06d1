"""Set functions of the standard. How many values are unique depends on the values, so they are computed.

nan differs from nan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import promote_dtypes
from uopc_array._array.realize import buffer_of_node
from uopc_array._functions.arguments import ArrayLike, as_real, from_memory, node_of, wrap, wrap_array
from uopc_core import TRACKED, Ops, UOp, composite, dtypes, searchsorted_vector, sort_last_axis

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]

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


def _found(name: str, node: UOp) -> tuple[Any, ...]:
    """Values, first places, inverse places and counts, as NumPy arrays."""
    memory = buffer_of_node(node, name).array
    return np.unique(memory, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)


def _places(values: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Array:
    return from_memory(values.astype(np.int64, copy=False).reshape(shape))


def _values(node: UOp, values: np.ndarray[Any, Any], first: np.ndarray[Any, Any]) -> Array:
    """The unique values; gathered from `node` where derivatives must flow back into it."""
    if not node.flags & TRACKED:
        return from_memory(values)
    return wrap(node.reshape((node.size,)).index(_places(first, first.shape)._uop))


def unique_all(x: Array, /) -> UniqueAll:
    """Unique values with their places and counts. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        values: dtype of ``x``, shape ``(K,)``, in ascending order.
        indices: int64, shape ``(K,)``, the first place of each in the flattened array.
        inverse_indices: int64, shape of ``x``, for each element the place of its value.
        counts: int64, shape ``(K,)``.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_all(xp.asarray([3, 1, 3])).counts
        Array([1, 2], dtype=int64)
    """
    return _unique("unique_all", x)


def _unique(name: str, x: Array) -> UniqueAll:
    node = node_of(name, x)
    values, first, inverse, counts = _found(name, node)
    return UniqueAll(
        _values(node, values, first),
        _places(first, first.shape),
        _places(inverse, node.shape),
        _places(counts, counts.shape),
    )


def unique_counts(x: Array, /) -> UniqueCounts:
    """Unique values and how often each occurs. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        values: dtype of ``x``, shape ``(K,)``, in ascending order.
        counts: int64, shape ``(K,)``.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_counts(xp.asarray([3, 1, 3])).values
        Array([1, 3], dtype=int64)
    """
    found = _unique("unique_counts", x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Unique values and, for each element, the place of its value. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        values: dtype of ``x``, shape ``(K,)``, in ascending order.
        inverse_indices: int64, shape of ``x``.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_inverse(xp.asarray([3, 1, 3])).inverse_indices
        Array([1, 0, 1], dtype=int64)
    """
    found = _unique("unique_inverse", x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Array:
    """Unique values. Computes the values of ``x``.

    Args:
        x: any dtype, any shape.
    Returns:
        dtype of ``x``; shape ``(K,)``, in ascending order.
    Raises:
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.unique_values(xp.asarray([3, 1, 3]))
        Array([1, 3], dtype=int64)
    """
    node = node_of("unique_values", x)
    if node.flags & TRACKED:
        return _unique("unique_values", x).values
    return from_memory(np.unique(buffer_of_node(node, "unique_values").array, equal_nan=False))


def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: bool = False) -> Array:
    """Whether each element occurs in another array.

    Args:
        x1: elements that are looked for, a real dtype or bool, or a Python scalar.
        x2: where they are looked for, likewise.
        invert: whether each does not occur.
    Returns:
        bool; shape of ``x1``.
    Raises:
        DTypeError: complex values, unless there are only a few to look among.
    Example:
        >>> import uopc_array as xp
        >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1]))
        Array([ True, False,  True], dtype=bool)
    """
    found = _among(node_of("isin", x1), node_of("isin", x2))
    return wrap_array(~found if invert else found)


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
    as_real("isin", node)
    ordered = sort_last_axis(among.reshape((n,)), False, False)
    place = searchsorted_vector(ordered, node, "left").binary(Ops.MIN, n - 1)
    return ordered.index(place).eq(node)
