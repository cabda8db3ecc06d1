"""Index expressions: the items of a key, along the axes of an operand -> a parsed form -> nodes that read.

Basic items (ints, slices, newaxis, ellipsis) become movement ops; integer nodes become a gather on leading axes; a bool
node becomes integer nodes, which whoever has its value makes of it.
Source: https://numpy.org/doc/stable/user/basics.indexing.html
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

from uopc_core.dtype import dtypes, is_bool
from uopc_core.errors import IndexBoundsError, ShapeError
from uopc_core.ir import Ops, UOp, composite
from uopc_core.numerics.boxes import box_of
from uopc_core.recent import Recent
from uopc_core.records import record

__all__ = ["Moves", "ParsedKey", "advanced_orders", "moves_of", "parse", "picked", "read", "view_of"]

_FULL = slice(None)


@record
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


def parse(shape: tuple[int, ...], items: Sequence[Any], positions_of_mask: Callable[[UOp], Sequence[UOp]]) -> ParsedKey:
    """The items of a key (ints, slices of ints, None, Ellipsis, integer and bool nodes) of an operand of `shape`.

    Args:
        positions_of_mask: a bool node -> integer nodes of one axis, the indices at which it holds, one for each axis;
            for no axes one node of an index or of none.
    Raises:
        IndexError: too many indices, an int out of bounds, a mask of another shape, a second ellipsis.
    """
    return _Parser(shape, items, positions_of_mask).parse()


class _Parser:
    """Walks the items of a key along the axes of the operand."""

    def __init__(
        self, shape: tuple[int, ...], items: Sequence[Any], positions_of_mask: Callable[[UOp], Sequence[UOp]]
    ) -> None:
        self.shape = shape
        self.items = items
        self.positions_of_mask = positions_of_mask
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
        self.arrays.extend(self.positions_of_mask(mask))
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
        return composite.broadcast(*[composite.as_indices(array) for array in arrays])
    except ShapeError:
        given = " and ".join(str(array.shape) for array in arrays)
        raise IndexError(f"index: the index arrays of shapes {given} cannot be broadcast together") from None


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


def advanced_orders(key: ParsedKey) -> tuple[list[int], list[int]]:
    """The order that brings the picked axes of the view to the front, and the one that puts them where NumPy does."""
    dims = [dim for dim in key.dims if dim != "drop"]
    picked = [axis for axis, dim in enumerate(dims) if dim.startswith("pick")]
    kept = [axis for axis in range(len(dims)) if axis not in picked]
    n_gathered = key.arrays[0].ndim
    before = 0 if key.split else picked[0]
    rest = range(n_gathered, n_gathered + len(kept))
    return picked + kept, [*rest[:before], *range(n_gathered), *rest[before:]]


def read(x: UOp, items: Sequence[Any], positions_of_mask: Callable[[UOp], Sequence[UOp]]) -> UOp:
    """``x[items]``; see `parse`. An index out of bounds in an integer node is found when the value is computed."""
    box = box_of(x.shape, tuple(items))
    if box is not None:
        return box.read(x)
    key = parse(x.shape, items, positions_of_mask)
    view = view_of(x, key)
    return picked(view, key, lambda moved, arrays, _: moved.index(*arrays)) if key.arrays else view


def picked(view: UOp, key: ParsedKey, index: Callable[[UOp, Sequence[UOp], Sequence[int]], UOp]) -> UOp:
    """What the index arrays of `key` pick from the view of its basic items.

    Args:
        index: a node, index arrays for its leading axes, what the user calls these axes -> what they pick.
    """
    order, back = advanced_orders(key)
    return index(view.permute(order), key.arrays, order).permute(back)


class Moves:
    """What a key of basic items selects of arrays of one shape, as the movement that `view_of` makes of it.

    Attributes:
        kept: the shape of what is read.
        size: number of its elements.
    """

    __slots__ = ("_steps", "kept", "size")

    def __init__(self, base: UOp, view: UOp) -> None:
        self.kept = view.shape
        self.size = view.size
        steps: list[tuple[Ops, Any, tuple[int, ...]]] = []
        while view is not base:
            steps.append((view.op, view.arg, view.shape))
            (view,) = view.src
        self._steps = steps[::-1]

    def read(self, x: UOp) -> UOp:
        """What is selected, a node of `x`."""
        for op, arg, shape in self._steps:
            x = UOp.of_type(op, (x,), arg, shape, x.dtype)
        return x


_moves: Recent[Hashable, Moves] = Recent(4096)


def moves_of(shape: tuple[int, ...], key: Any) -> Moves | None:
    """What `key` selects of an array of `shape`, found once and kept; None where it has anything but ints of Python's,
    slices of these, None and an ellipsis, or where it does not fit.
    """
    flat: list[Any] = []
    for item in cast("tuple[Any, ...]", key) if type(key) is tuple else (key,):
        if type(item) is slice:
            parts = (item.start, item.stop, item.step)
            for part in parts:
                if part is not None and type(part) is not int:
                    return None
            flat.append(parts)
        elif item is None or item is Ellipsis or type(item) is int:
            flat.append(item)
        else:
            return None
    known = _moves.get((shape, *flat))
    return _moves_made(shape, flat) if known is None else known


def _moves_made(shape: tuple[int, ...], flat: Sequence[Any]) -> Moves | None:
    items = [slice(*cast("tuple[Any, Any, Any]", item)) if type(item) is tuple else item for item in flat]
    base = UOp.param(0, shape, dtypes.bool)
    try:
        view = view_of(base, parse(shape, items, lambda mask: ()))
    except (IndexError, ValueError):  # the long way has words for it
        return None
    return _moves.add((shape, *flat), Moves(base, view))
