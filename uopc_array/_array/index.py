"""Index expressions: a key as Python hands it over -> its items as `numerics.indexing` takes them -> nodes that read.

Boolean masks are computed and become integer arrays, since the shape of what they select depends on their values.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.handle import Handle
from uopc_array._array.lens import Lens
from uopc_array._array.nodes import as_node
from uopc_array._array.numbers import integer
from uopc_array._array.origins import gather as gather_indices
from uopc_array._array.realize import NumPyArray, buffer_from_numpy, buffer_of_node, view_in_memory
from uopc_array._array.tracing import trace_error
from uopc_core import TRACED, UOp, dtypes, is_bool, is_integer, name_of
from uopc_core.errors import TraceError
from uopc_core.numerics.boxes import box_of
from uopc_core.numerics.indexing import ParsedKey, moves_of, parse, picked, view_of

__all__ = [
    "ItemLens",
    "concrete_key",
    "gather",
    "is_basic",
    "is_plain_key",
    "names_one_element",
    "parse_key",
    "read",
    "read_any",
]


def is_basic(key: Any) -> bool:
    """Whether `key` holds only ints, slices, newaxis and ellipsis, so that NumPy would give a view."""
    items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
    return all(
        item is None
        or item is Ellipsis
        or isinstance(item, slice)
        or (isinstance(item, int | np.integer) and not isinstance(item, bool))
        for item in items
    )


def names_one_element(key: Any, shape: tuple[int, ...]) -> bool:
    """Whether `key` is one int for each axis, all in bounds."""
    if type(key) is int:
        return len(shape) == 1 and -shape[0] <= key < shape[0]
    if type(key) is not tuple:
        return False
    items = cast("tuple[Any, ...]", key)
    return len(items) == len(shape) and all([type(i) is int and -n <= i < n for i, n in zip(items, shape, strict=True)])


def parse_key(key: Any, shape: tuple[int, ...]) -> ParsedKey:
    """`key` of an operand of `shape`, checked and expanded.

    Raises:
        IndexError: too many indices, an int out of bounds, a mask of another shape, an item that is no index.
        TraceError: a mask without a value inside `jit`.
    """
    items = [_read_item(item) for item in (cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,))]
    return parse(shape, items, positions_of_mask)


def _read_item(item: Any) -> Any:
    """One item as an int, slice, None, Ellipsis or node."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return _concrete_slice(cast("slice[Any, Any, Any]", item)) if isinstance(item, slice) else item
    if isinstance(item, bool | np.bool_):
        return UOp.const(bool(cast("bool", item)), dtypes.bool)
    if isinstance(item, int | np.integer):
        return int(cast("int", item))
    if isinstance(item, list | tuple) and not len(cast("Sequence[Any]", item)):
        return as_node(item, dtypes.int64)
    if not isinstance(item, Handle | UOp | np.ndarray | list | tuple) and hasattr(item, "__index__"):
        return operator.index(item)
    node = _node_of_index(item)
    if not (is_integer(node.dtype) or is_bool(node.dtype)):
        raise IndexError(
            "index: expected ints, slices, None, ..., integer arrays or bool masks, got an array of "
            f"{name_of(node.dtype)}; convert floating numbers with int(i) or i.astype(xp.int64)"
        )
    return node


def _node_of_index(item: Any) -> UOp:
    try:
        return as_node(item)
    except TraceError:
        raise
    except (TypeError, ValueError):
        raise IndexError(
            f"index: expected ints, slices, None, ..., integer arrays or bool masks, got {type(item).__name__}"
        ) from None


def _concrete_slice(item: slice[Any, Any, Any]) -> slice[Any, Any, Any]:
    parts = (item.start, item.stop, item.step)
    start, stop, step = (part if part is None else integer("index", "a slice", part) for part in parts)
    if step == 0:
        raise ValueError("index: the step of a slice cannot be zero")
    return slice(start, stop, step)


def concrete_key(key: Any) -> Any:
    """`key` with Python ints in its slices: a view keeps it, and arrays in it might change."""
    if isinstance(key, slice):
        return _concrete_slice(cast("slice[Any, Any, Any]", key))
    return tuple([concrete_key(item) for item in cast("tuple[Any, ...]", key)]) if isinstance(key, tuple) else key


def positions_of_mask(mask: UOp) -> list[UOp]:
    """The indices at which `mask` holds, one node an axis (one of zeros for a 0-d mask); computes the mask.

    Raises:
        TraceError: the mask has no value yet.
    """
    if mask.flags & TRACED:
        raise trace_error(
            "indexing with a bool mask", mask, "how many elements it selects is not known; use xp.where(mask, x, other)"
        )
    values = buffer_of_node(mask).array
    parts = np.nonzero(values.reshape(values.shape or (1,)))
    return [UOp.buffer(buffer_from_numpy(np.ascontiguousarray(part), copy=False)) for part in parts]


def _picked_by_mask(x: UOp, key: Any) -> UOp | None:
    """``x[key]`` where `key` is a mask and `x` is in memory: by NumPy, which needs no list of positions."""
    if x.flags or not isinstance(key, Handle | np.ndarray) or not is_bool(cast("Any", key).dtype):
        return None
    mask = as_node(key)
    if mask.flags or not mask.shape or mask.shape != x.shape[: mask.ndim]:
        return None
    indices = buffer_of_node(mask).array
    values = view_in_memory(x)
    return None if values is None else UOp.buffer(buffer_from_numpy(np.ascontiguousarray(values[indices]), copy=False))


class ItemLens(Lens):
    """A key of basic items, as a step to a view."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def on_node(self, x: UOp) -> UOp:
        return read(x, self.key)

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return x[self.key]


def is_plain_key(key: Any) -> bool:
    """Whether a key is of plain ints, slices of those, None and an ellipsis, whatever the array."""
    if type(key) is slice:  # `is_plain` of its parts, spelled out
        start, stop, step = key.start, key.stop, key.step
        return (
            (start is None or type(start) is int)
            and (stop is None or type(stop) is int)
            and (step is None or type(step) is int)
        )
    if type(key) is tuple:
        for item in cast("tuple[Any, ...]", key):
            if type(item) is not int and (type(item) is tuple or not is_plain_key(item)):
                return False
        return True
    return type(key) is int or key is None or key is Ellipsis


def read(x: UOp, key: Any) -> UOp:
    """``x[key]``."""
    box = box_of(x.shape, key) or moves_of(x.shape, key)
    return read_any(x, key) if box is None else box.read(x)


def read_any(x: UOp, key: Any) -> UOp:
    """``x[key]`` for keys of every kind."""
    picked = _picked_by_mask(x, key)
    if picked is not None:
        return picked
    parsed = parse_key(key, x.shape)
    view = view_of(x, parsed)
    return gather(view, parsed) if parsed.arrays else view


def gather(view: UOp, key: ParsedKey) -> UOp:
    """What the index arrays of `key` pick from the view of its basic items."""
    return picked(view, key, lambda x, arrays, axes: gather_indices("index", x, *arrays, axes=axes))
