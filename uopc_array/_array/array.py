"""The array: a handle on a lazy graph that behaves as NumPy's `ndarray` does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import FunctionType, GenericAlias
from typing import Any, Self, cast

from uopc_array._array.at_once import connect_operators, view_at_once
from uopc_array._array.described_methods import DescribedMethods
from uopc_array._array.extension import Quick
from uopc_array._array.items import Items
from uopc_array._array.lenses import Lens, MoveLens
from uopc_array._array.methods import Methods
from uopc_array._array.numbers import inferred_shape
from uopc_array._array.operators import DIRECT, Operators
from uopc_array._array.protocols import Protocols
from uopc_array._array.view import View
from uopc_core import Ops, UOp
from uopc_core.errors import ShapeError, shortened
from uopc_core.frontend.handle import LazyHandle

__all__ = ["Array"]


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


class Array(Quick, Operators, Items, DescribedMethods, Methods, Protocols):
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

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        """``Array[shape, dtype]``, for annotations.

        Raises:
            TypeError: no parameters, or more than two.
        """
        n = len(cast("tuple[Any, ...]", item)) if isinstance(item, tuple) else 1
        if not 1 <= n <= 2:
            raise TypeError(f"Array: expected one parameter or two, Array[shape, dtype], got {n}")
        return GenericAlias(cls, item)


for _part in (Operators, Items, Methods, Protocols):
    for _method in vars(_part).values():
        if isinstance(_method, FunctionType):  # where a call does not fit, Python's message has this name
            _method.__qualname__ = f"Array.{_method.__name__}"

connect_operators(Array, {**vars(LazyHandle), **vars(Protocols), **vars(Items), **vars(Operators)}, DIRECT)
