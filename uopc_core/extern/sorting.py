"""Sorting: sort, argsort and searchsorted, on the last axis, with nan last in ascending order, by the host library; the
indices of long rows by a loop of ours.

The descending order is the ascending one of the reversed axis, reversed, so equal values keep their order on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.dtype import dtypes, name_of
from uopc_core.errors import ShapeError
from uopc_core.interpret.loops import loop_of
from uopc_core.ir import Extern, TensorType, UOp, composite, register_extern
from uopc_core.ir.arguments import Field, is_flag, is_tuple_of, one_of
from uopc_core.ir.op import Ops

__all__ = ["argsort_last_axis", "searchsorted_vector", "sort_last_axis", "take_along_last_axis"]

Array = np.ndarray[Any, Any]
Nodes = tuple[UOp, ...]
# elements of a row: of fewer the digits take longer to count than NumPy to sort, and more would take 16 MiB to work in
_SORTED_HERE = range(512, (1 << 21) + 1)
_LEAST_SORTED_BYTES = 4  # of an element; what has fewer NumPy sorts by its digits as well


def sort_last_axis(x: UOp, descending: bool, stable: bool) -> UOp:
    """`x` sorted along its last axis."""
    return composite.call_extern("sort", x, params=(descending, stable))


def argsort_last_axis(x: UOp, descending: bool, stable: bool) -> UOp:
    """The int64 indices in the last axis of `x` of its sorted elements."""
    return composite.call_extern("argsort", x, params=(descending, stable))


def searchsorted_vector(x: UOp, values: UOp, side: str) -> UOp:
    """The int64 indices in the sorted vector `x` before which `values` would be put."""
    return composite.call_extern("searchsorted", x, values, params=(side,))


def take_along_last_axis(x: UOp, indices: UOp) -> UOp:
    """``x[..., indices]`` with the same leading coordinates on both sides; the shapes agree on the leading axes."""
    leading = [composite.iota(indices.shape, axis, indices.dtype) for axis in range(x.ndim - 1)]
    return x.index(*leading, indices)


def _infer_same(params: Any, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    _check_axis(types[0])
    return (types[0],)


def _infer_indices(params: Any, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    _check_axis(types[0])
    return ((types[0][0], dtypes.int64),)


def _check_axis(given: TensorType) -> None:
    if not given[0]:
        raise ShapeError("sort: expected one axis or more, got shape ()")


def _infer_searchsorted(params: Any, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    (shape, dtype), (values_shape, values_dtype) = types
    if len(shape) != 1 or dtype is not values_dtype:
        raise ShapeError(f"searchsorted: expected a vector and values of its dtype, got {name_of(dtype)}{list(shape)}")
    return ((values_shape, dtypes.int64),)


def _shows_order(x: Array) -> bool:
    """Whether equal values can be told apart: only zeros of either sign can."""
    return x.dtype.kind == "c" or (x.dtype.kind == "f" and bool((np.signbit(x) & (x == 0)).any()))


def _sort(params: tuple[bool, bool], x: Array) -> tuple[Array]:
    descending, stable = params
    kind = "stable" if stable and _shows_order(x) else None
    ascending = (x[..., ::-1] if descending else x).copy()
    ascending.sort(axis=-1, kind=kind)
    return (np.ascontiguousarray(ascending[..., ::-1]) if descending else ascending,)


def _argsort(params: tuple[bool, bool], x: Array) -> tuple[Array]:
    descending, stable = params
    if not descending:
        return (_ascending_indices(x, stable),)
    indices = _ascending_indices(x[..., ::-1], stable)
    return (np.ascontiguousarray(x.shape[-1] - 1 - indices[..., ::-1]),)


def _ascending_indices(x: Array, stable: bool) -> Array:
    """The indices of the elements in order. Where a loop of ours sorts, equal ones keep theirs in any case, so that
    which one does makes no difference.
    """
    is_sorted_here = x.dtype.kind in "iuf" and x.itemsize >= _LEAST_SORTED_BYTES and x.shape[-1] in _SORTED_HERE
    loop = loop_of("argsort", Ops.EXTERN, x.dtype) if is_sorted_here and x.size else None
    if loop is not None:
        indices: Array = loop(x, np.empty(x.shape[-1], np.int64))
        if indices[..., 0].min() >= 0:
            return indices
    kind = "stable" if stable or is_sorted_here else None
    return np.argsort(x, axis=-1, kind=kind).astype(np.int64, copy=False)


def _searchsorted(params: tuple[str], x: Array, values: Array) -> tuple[Array]:
    side: Any = params[0]
    return (np.asarray(np.searchsorted(x, values, side), dtype=np.int64),)


def _jvp_sort(params: Any, outputs: Nodes, sources: Nodes, tangents: tuple[UOp | None, ...]) -> tuple[UOp | None, ...]:
    (tangent,) = tangents
    if tangent is None:
        return (None,)
    descending, stable = params
    return (take_along_last_axis(tangent, argsort_last_axis(sources[0], descending, stable)),)


def _batch_same(name: str) -> Any:
    def batch(params: Any, sources: Nodes, batched: tuple[bool, ...]) -> Nodes:
        return (composite.call_extern(name, *sources, params=params),)

    return batch


_ORDER = Field("params", is_tuple_of(is_flag, is_flag), "(descending, stable)")
_SIDE = Field("params", is_tuple_of(one_of("left", "right")), '("left",) or ("right",)')

register_extern(Extern("sort", _infer_same, _sort, _ORDER, jvp=_jvp_sort, batch=_batch_same("sort")))
register_extern(Extern("argsort", _infer_indices, _argsort, _ORDER, batch=_batch_same("argsort")))
register_extern(Extern("searchsorted", _infer_searchsorted, _searchsorted, _SIDE, n_sources=2))
