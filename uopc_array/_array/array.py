"""The array: a handle on a lazy graph that behaves as NumPy's `ndarray` does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import FunctionType, GenericAlias
from typing import Any, Self, cast

from uopc_array._array.assignment import assign
from uopc_array._array.at_once import (
    assigned_at_once,
    holds_value_to_read,
    holds_value_to_write,
    item_at_once,
    view_at_once,
)
from uopc_array._array.described_methods import DescribedMethods
from uopc_array._array.index import ItemLens, concrete_key, is_basic, names_one_element, read, read_any
from uopc_array._array.lenses import Lens, MoveLens
from uopc_array._array.methods import Methods
from uopc_array._array.numbers import inferred_shape
from uopc_array._array.operators import Operators
from uopc_array._array.protocols import Protocols
from uopc_array._array.view import View
from uopc_core import Ops, UOp
from uopc_core.errors import ShapeError, shortened
from uopc_core.numerics.indexing import read_box

__all__ = ["Array"]

_BUFFER = Ops.BUFFER
_const = UOp.const


@cache
def _reversed_axes(n: int) -> MoveLens:
    return MoveLens(Ops.PERMUTE, tuple(range(n)[::-1]))


@dataclass(frozen=True)
class LayoutFlags:
    """NumPy's flags of an array; they cannot be set."""

    _layout: Any
    owndata: bool
    writeable: bool
    aligned: bool = True
    writebackifcopy: bool = False

    @property
    def c_contiguous(self) -> bool:
        return self._layout.c_contiguous

    @property
    def f_contiguous(self) -> bool:
        return self._layout.f_contiguous

    @property
    def contiguous(self) -> bool:
        return self._layout.contiguous

    def __getitem__(self, name: str) -> bool:
        known = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"}
        attribute = known.get(name, str(name).lower())
        if attribute not in (*known.values(), "contiguous", "writebackifcopy"):
            raise KeyError(f"flags: expected C_CONTIGUOUS, F_CONTIGUOUS, OWNDATA, WRITEABLE or ALIGNED, got {name!r}")
        return getattr(self, attribute)


class Array(Operators, DescribedMethods, Methods, Protocols):
    """An n-dimensional array of one dtype, computed when its values are asked for.

    Made by `uopc_array.asarray` and the other creation functions, never by calling the class. Where NumPy gives a
    scalar instead of an array of no axes, it is a number: its value never changes, and it hashes.

    Attributes:
        shape: extents, a tuple of int.
        dtype: a `numpy.dtype`.
    """

    __slots__ = ()
    __hash__ = Protocols.__hash__

    @Operators.shape.setter
    def shape(self, shape: Any) -> None:
        """The extents, a tuple of int; assigned to, the same elements in another shape, as far as they lie so."""
        try:
            self._take_shape("shape", inferred_shape("shape", self._node, shape))
        except Exception as error:
            raise shortened(error) from None

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an element to the next along each axis, where they would lie in NumPy."""
        return self._layout().strides

    @property
    def flags(self) -> LayoutFlags:
        """How the elements lie, as in NumPy: ``x.flags.c_contiguous``, ``x.flags["OWNDATA"]``."""
        return LayoutFlags(self._layout().flags, not isinstance(self._alias, View), self._is_writable)

    @property
    def device(self) -> str:
        """The device: "cpu"."""
        return "cpu"

    @property
    def T(self) -> Self:
        """The axes in reverse order."""
        if self._value is not None:
            view = view_at_once(self, _reversed_axes(len(self._value.shape)))
            if view is not None:
                return view
        node = self._frame()
        return self._moved(node, Ops.PERMUTE, range(node.ndim)[::-1])

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        n = self.ndim
        if n < 2:
            raise ShapeError(f"mT: expected two axes or more, got shape {self.shape}")
        return self._moved(self._frame(), Ops.PERMUTE, [*range(n - 2), n - 1, n - 2])

    def _seen(self, node: UOp, lens: Lens) -> Self:
        view = None if self._value is None else view_at_once(self, lens)
        return super()._seen(node, lens) if view is None else view

    def __getitem__(self, key: Any) -> Self:
        """What `key` selects: ints, slices, ``None``, ``...``, integer arrays and bool masks, combined as in NumPy.

        Raises:
            IndexError: an index that is out of bounds, or no index at all.
        """
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
        node = read_box(uop, key)
        if node is not None:
            return self._view(uop, node, ItemLens(key)) if node.shape else self._from_uop(node)
        try:
            key = concrete_key(key)
            node = read_any(uop, key)
        except Exception as error:
            raise shortened(error) from None
        if not node.shape and not _has_ellipsis(key):
            return self._from_uop(node)
        shares = is_basic(key) and not self._is_number
        return self._view(uop, node, ItemLens(key)) if shares else self._array_from_uop(node)

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
        is_known = self._value is not None or (self._own_node.op is _BUFFER and holds_value_to_write(self, key, value))
        if is_known and assigned_at_once(self, key, value):
            return
        try:
            assign(self, key, value)
        except Exception as error:
            raise shortened(error, "assignment") from error.__cause__

    _item_at = __getitem__  # without a frame between them

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        """``Array[shape, dtype]``, for annotations.

        Raises:
            TypeError: no parameters, or more than two.
        """
        n = len(cast("tuple[Any, ...]", item)) if isinstance(item, tuple) else 1
        if not 1 <= n <= 2:
            raise TypeError(f"Array: expected one parameter or two, Array[shape, dtype], got {n}")
        return GenericAlias(cls, item)


for _part in (Operators, Methods, Protocols):
    for _method in vars(_part).values():
        if isinstance(_method, FunctionType):  # where a call does not fit, Python's message has this name
            _method.__qualname__ = f"Array.{_method.__name__}"


def _has_ellipsis(key: Any) -> bool:
    """Whether `key` asks for an array where no axes are left, rather than for a number."""
    items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
    return any(item is Ellipsis for item in items)
