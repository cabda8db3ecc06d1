"""Index expressions: a key as Python hands it over -> a parsed form -> graph nodes that read.

Basic items (ints, slices, newaxis, ellipsis) become movement ops; integer arrays become a gather on leading axes;
boolean masks are computed and become integer arrays, since the shape of what they select depends on their values.
Source: https://numpy.org/doc/stable/user/basics.indexing.html
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from uopc_array._array.handle import Handle
from uopc_array._array.lens import Lens
from uopc_array._array.nodes import as_node
from uopc_array._array.numbers import integer
from uopc_array._array.origins import gather as gather_places
from uopc_array._array.realize import NumPyArray, buffer_from_numpy, buffer_of_node, view_in_memory
from uopc_array._array.tracing import trace_error
from uopc_core import TRACED, Ops, UOp, composite, dtypes, is_bool, is_integer, name_of
from uopc_core.errors import IndexBoundsError, ShapeError, TraceError

__all__ = [
    "ItemLens",
    "ParsedKey",
    "advanced_orders",
    "concrete_key",
    "gather",
    "is_basic",
    "is_plain_key",
    "names_one_element",
    "parse_key",
    "read",
    "read_any",
    "read_box",
    "view_of",
]

_FULL = slice(None)


@dataclass(frozen=True)
class ParsedKey:
    """A key with one entry for each axis of the operand.

    Attributes:
        slices: what is kept of each axis of the operand; ints are slices of extent 1, axes with an index array are kept
            whole.
        dims: the axes after slicing, in order: "keep", "drop" (an int), "new" (newaxis), "pick" (an index array picks
            from it), or "pick new" (a 0-d mask picks from an axis of its own).
        arrays: the index arrays, of one shape and int64, in the order of their axes.
        split: whether the index arrays stand apart in the key, so that their axes go first in the result.
    """

    slices: tuple[slice, ...]
    dims: tuple[str, ...]
    arrays: tuple[UOp, ...]
    split: bool


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
    return _Parser(shape, items).parse()


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


class _Parser:
    """Walks the items of a key along the axes of the operand."""

    def __init__(self, shape: tuple[int, ...], items: Sequence[Any]) -> None:
        self.shape = shape
        self.items = items
        self.slices: list[slice] = []
        self.dims: list[str] = []
        self.arrays: list[UOp] = []
        # an int joins the index arrays when there are any
        self.advanced = any(isinstance(item, UOp) for item in items)
        self.runs = 0
        self.inside_run = False

    def parse(self) -> ParsedKey:
        used = sum([_axes_of(item) for item in self.items])
        if used > len(self.shape):
            raise IndexError(
                f"index: too many indices, the array has {len(self.shape)} axes, shape {self.shape}, "
                f"but {used} were indexed"
            )
        if sum(item is Ellipsis for item in self.items) > 1:
            raise IndexError("index: expected one ellipsis (...) at most")
        missing = len(self.shape) - used
        for item in self.items:
            self._take(item, missing)
        if not any(item is Ellipsis for item in self.items):
            self._keep(missing)
        return ParsedKey(tuple(self.slices), tuple(self.dims), _broadcast_arrays(self.arrays), self.runs > 1)

    def _take(self, item: Any, missing: int) -> None:
        if isinstance(item, int | UOp):
            if not self.inside_run:
                self.runs += self.advanced
            self.inside_run = True
            self._take_index(item)
            return
        self.inside_run = False
        if item is None:
            self.dims.append("new")
        elif item is Ellipsis:
            self._keep(missing)
        else:
            self.slices.append(item)
            self.dims.append("keep")

    def _take_index(self, item: int | UOp) -> None:
        axis = len(self.slices)
        if isinstance(item, int):
            n = self.shape[axis]
            if not -n <= item < n:
                raise IndexBoundsError(f"index {item} is out of bounds for axis {axis} with size {n}")
            if not self.advanced:
                self.slices.append(slice(item % n, item % n + 1))
                self.dims.append("drop")
                return
            item = UOp.const(item % n, dtypes.int64)
        if is_bool(item.dtype):
            self._take_mask(item, axis)
        else:
            self.slices.append(_FULL)
            self.dims.append("pick")
            self.arrays.append(item)

    def _take_mask(self, mask: UOp, axis: int) -> None:
        for k, n in enumerate(mask.shape):
            if n not in (self.shape[axis + k], 0):  # an empty axis of a mask fits any axis
                raise IndexError(
                    f"index: the mask of shape {mask.shape} does not fit the array of shape {self.shape}: "
                    f"axis {axis + k} of the array has size {self.shape[axis + k]}, axis {k} of the mask {n}"
                )
        self.arrays.extend(positions_of_mask(mask))
        self.slices.extend([_FULL] * mask.ndim)
        self.dims.extend(["pick"] * mask.ndim if mask.shape else ["pick new"])

    def _keep(self, n: int) -> None:
        self.slices.extend([_FULL] * n)
        self.dims.extend(["keep"] * n)


def _axes_of(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, UOp) and is_bool(item.dtype) else 1


def _broadcast_arrays(arrays: Sequence[UOp]) -> tuple[UOp, ...]:
    try:
        return composite.broadcast(*[composite.as_places(array) for array in arrays])
    except ShapeError:
        given = " and ".join(str(array.shape) for array in arrays)
        raise IndexError(f"index: the index arrays of shapes {given} cannot be broadcast together") from None


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
    places = buffer_of_node(mask).array
    values = view_in_memory(x)
    return None if values is None else UOp.buffer(buffer_from_numpy(np.ascontiguousarray(values[places]), copy=False))


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
    if type(key) is slice:
        return _is_plain(key.start) and _is_plain(key.stop) and _is_plain(key.step)
    if type(key) is tuple:
        for item in cast("tuple[Any, ...]", key):
            if type(item) is not int and (type(item) is tuple or not is_plain_key(item)):
                return False
        return True
    return type(key) is int or key is None or key is Ellipsis


def read(x: UOp, key: Any) -> UOp:
    """``x[key]``."""
    node = read_box(x, key)
    return read_any(x, key) if node is None else node


def _is_plain(part: Any) -> bool:
    return part is None or type(part) is int


def read_any(x: UOp, key: Any) -> UOp:
    """``x[key]`` for keys of every kind."""
    picked = _picked_by_mask(x, key)
    if picked is not None:
        return picked
    parsed = parse_key(key, x.shape)
    view = view_of(x, parsed)
    return gather(view, parsed) if parsed.arrays else view


def read_box(x: UOp, key: Any) -> UOp | None:
    """The short way for leading ints in bounds and slices of step 1; None where the key has anything else."""
    items = cast("tuple[Any, ...]", key) if type(key) is tuple else (key,)
    shape = x.shape
    if len(items) > len(shape):
        return None
    bounds: list[tuple[int, int]] = []
    kept: list[int] = []
    for item, n in zip(items, shape, strict=False):
        if type(item) is int:
            if not -n <= item < n:
                return None
            item %= n
            bounds.append((item, item + 1))
        elif type(item) is slice:
            if not (_is_plain(item.start) and _is_plain(item.stop) and _is_plain(item.step)) or item.step not in (
                None,
                1,
            ):
                return None
            start, stop, _ = item.indices(n)
            stop = max(start, stop)
            bounds.append((start, stop))
            kept.append(stop - start)
        else:
            return None
    rest = shape[len(items) :]
    kept.extend(rest)
    if kept != list(shape):
        bounds.extend([(0, n) for n in rest])
        x = UOp.new(Ops.SHRINK, (x,), tuple(bounds))
    return x.reshape(tuple(kept))


def view_of(x: UOp, key: ParsedKey) -> UOp:
    """What the basic items of `key` select, axes with an index array left whole."""
    sliced = composite.slice_axes(x, key.slices) if any(s != _FULL for s in key.slices) else x
    extents = iter(sliced.shape)
    shape: list[int] = []
    for dim in key.dims:
        if dim in ("new", "pick new"):
            shape.append(1)
            continue
        n = next(extents)
        if dim != "drop":
            shape.append(n)
    return sliced.reshape(shape)


def gather(view: UOp, key: ParsedKey) -> UOp:
    """What the index arrays of `key` pick from the view of its basic items."""
    order, back = advanced_orders(key)
    return gather_places("index", view.permute(order), *key.arrays, axes=order).permute(back)


def advanced_orders(key: ParsedKey) -> tuple[list[int], list[int]]:
    """The order that brings the picked axes of the view to the front, and the one that puts them where NumPy does."""
    dims = [dim for dim in key.dims if dim != "drop"]
    picked = [axis for axis, dim in enumerate(dims) if dim.startswith("pick")]
    kept = [axis for axis in range(len(dims)) if axis not in picked]
    n_gathered = key.arrays[0].ndim
    before = 0 if key.split else picked[0]
    rest = range(n_gathered, n_gathered + len(kept))
    return picked + kept, [*rest[:before], *range(n_gathered), *rest[before:]]
