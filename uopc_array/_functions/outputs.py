"""`out`: a result put into an array that is there already, of ours or of NumPy."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.assignment import assign
from uopc_array._array.at_once import assigned_at_once
from uopc_array._array.nodes import as_node, cast_node, mask_node
from uopc_array._array.operators import check_same_kind
from uopc_array._array.promotion import CASTINGS, check_cast
from uopc_array._array.view import View
from uopc_array._functions.host import to_host
from uopc_core import as_dtype, composite
from uopc_core.errors import ShapeError

__all__ = ["only", "store"]

_ARRAYS: Any = (Array, np.ndarray)


def store(
    name: str, x: Any, out: Any, casting: Any = "same_kind", where: Any = True, *, broadcasts: bool = False
) -> Any:
    """`x` in `out`, an array of ours or of NumPy of that shape and of a dtype that `casting` allows; returns `out`.

    Args:
        where: a mask of the elements to store, which other elements are not touched for, or True.
        broadcasts: whether `out` may have more axes and elements than `x`, as the outputs of ufuncs may.
    """
    if where is True and type(x) is type(out) is Array and casting in CASTINGS and _is_stored_at_once(x, out):
        return out
    if not isinstance(out, _ARRAYS):
        raise TypeError(f"{name}: expected an array for out, got {type(out).__name__}")
    if isinstance(out, Array):
        out._refuse_write(f"{name}: out")
    node = as_node(x)
    wanted = as_dtype(out.dtype)
    if casting == "same_kind":
        check_same_kind(name, node.dtype, wanted)
    else:
        check_cast(name, node.dtype, wanted, casting)
    mask = None if where is True else mask_node("where", where)
    if not isinstance(out, Array):
        host = True if mask is None else to_host(name, Array._array_from_uop(mask))
        np.copyto(out, to_host(name, Array._array_from_uop(node)), casting=casting, where=host)
        return out
    node = cast_node(node, wanted, name)
    if mask is not None:
        node, mask = composite.broadcast(node, mask)
    if node.shape != out.shape:
        if broadcasts and _fits(node.shape, out.shape):
            return store(name, composite.broadcast_to(node, out.shape), out, casting, where)
        raise ShapeError(f"{name}: the result of shape {node.shape} does not fit out of shape {out.shape}")
    if mask is not None:
        out._update(lambda before: mask.where(node, before))
    elif isinstance(out._alias, View):
        value = x if isinstance(x, Array) and x._node.dtype is wanted else Array._array_from_uop(node)
        del node  # what is held here is seen by others, says `write_in_memory`
        assign(out, ..., value)
    else:
        out._write(node)
    return out


def _is_stored_at_once(x: Array, out: Array) -> bool:
    """Whether both were known and small, and alike, and `out` has the values of `x` now."""
    value, target = x._value, out._value
    if value is None or type(target) is not np.ndarray or value.shape != target.shape:
        return False
    return value.dtype is target.dtype and assigned_at_once(out, ..., x)


def only(name: str, out: Any) -> Any:
    """`out`, which NumPy takes in a tuple as well."""
    if not isinstance(out, tuple):
        return out
    arrays = cast("tuple[Any, ...]", out)
    if len(arrays) != 1:
        raise ValueError(f"{name}: expected one array for out, got {len(arrays)}")
    return arrays[0]


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether `shape` can be broadcast to `wanted`."""
    return len(shape) <= len(wanted) and all(n in (1, m) for n, m in zip(shape[::-1], wanted[::-1], strict=False))
