"""Items of an array: what a key selects, read and assigned to."""

from __future__ import annotations

from typing import Any, Self, cast

from uopc_array._array.assignment import assign, assigned_box
from uopc_array._array.at_once import (
    SMALL,
    assigned_at_once,
    holds_value_to_read,
    holds_value_to_write,
    item_at_once,
)
from uopc_array._array.handle import Handle
from uopc_array._array.index import ItemLens, concrete_key, is_basic, names_one_element, read, read_any
from uopc_core import Ops, UOp
from uopc_core.errors import shortened
from uopc_core.numerics.boxes import box_of
from uopc_core.numerics.indexing import moves_of

__all__ = ["Items"]

_BUFFER = Ops.BUFFER
_const = UOp.const


class Items(Handle):
    """The methods of `Array` that square brackets call."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Self:
        """What `key` selects: ints, slices, ``None``, ``...``, integer arrays and bool masks, combined as in NumPy.

        Raises:
            IndexError: an index that is out of bounds, or no index at all.
        """
        if self._value is None:
            item = self._part_of_node(key)
            if item is not None:
                return item
        if self._value is not None or (self._own_node.op is _BUFFER and holds_value_to_read(self, key)):
            item = item_at_once(self, key)
            if item is not None:
                return item
        alias = self._own_alias
        if alias is not None and alias.is_shared and not self._is_shadowed and is_basic(key):
            return self._item_of_shared(key)
        uop = self._uop
        if uop.op is _BUFFER and not uop.flags and names_one_element(key, uop.shape):
            return self._from_uop(_const(uop.realized.array[key].item(), uop.dtype))
        box = box_of(uop.shape, key)
        if box is not None:
            node = box.read(uop)
            return self._view(uop, node, ItemLens(key)) if box.kept else self._from_uop(node)
        try:
            key = concrete_key(key)
            node = read_any(uop, key)
        except Exception as error:
            raise shortened(error) from None
        if not node.shape and not _has_ellipsis(key):
            return self._from_uop(node)
        shares = is_basic(key) and not self._is_number
        return self._view(uop, node, ItemLens(key)) if shares else self._array_from_uop(node)

    def _part_of_node(self, key: Any) -> Self | None:
        """What a key of basic items selects of an array that is no view, and that no other thread writes to; None for
        other keys, and for what is small and in memory.
        """
        # one step
        node, alias = self._own_node, self._own_alias
        if self._is_shadowed or (alias is not None and (alias.is_view or alias.is_claim or alias.is_shared)):
            return None
        box = box_of(node.shape, key)
        if box is None:
            box = moves_of(node.shape, key)
            if box is None or not box.kept:  # after an ellipsis an array, which the long way makes
                return None
        if box.size <= SMALL and node.op is _BUFFER:
            return None
        uop = box.read(node)
        return self._view(node, uop, ItemLens(key)) if box.kept else self._from_uop(uop)

    def _item_of_shared(self, key: Any) -> Self:
        """An item of an array that several threads write to, without a hold on its memory."""
        frame = self._frame()
        try:
            key = concrete_key(key)
            node = read(frame, key)
        except Exception as error:
            raise shortened(error) from None
        if node.shape or _has_ellipsis(key):
            return self._view(frame, node, ItemLens(key))
        items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
        part = self._part((ItemLens((*items, Ellipsis)),))
        return self._from_uop(read(self._uop, key) if part is None else part)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to what `key` selects; the value is converted to the dtype of the array and broadcast.

        Raises:
            IndexError: an index that is out of bounds, or no index at all.
            ShapeError: a value that cannot be broadcast to what is selected.
        """
        try:
            if (
                self._value is None
                and type(value) is type(self)
                and value._value is None
                and assigned_box(self, key, value)
            ):
                return
        except Exception as error:
            raise shortened(error, "assignment") from error.__cause__
        is_known = self._value is not None or (self._own_node.op is _BUFFER and holds_value_to_write(self, key, value))
        if is_known and assigned_at_once(self, key, value):
            return
        try:
            assign(self, key, value)
        except Exception as error:
            raise shortened(error, "assignment") from error.__cause__

    def __delitem__(self, key: Any) -> None:
        """
        Raises:
            ValueError: always; the number of elements stays.
        """
        raise ValueError(
            "del: elements of an array cannot be deleted; xp.delete(x, index, axis) gives an array without"
        )


def _has_ellipsis(key: Any) -> bool:
    """Whether `key` asks for an array where no axes are left, rather than for a number."""
    items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
    return any(item is Ellipsis for item in items)
