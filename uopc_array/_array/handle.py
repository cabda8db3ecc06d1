"""The handle of an array: what any handle is (`uopc_core.frontend.handle`), with views and writes.

A view is a handle with the steps from the handle whose elements it shares. It follows its base when that changes (each
base counts its changes), and what is written to it is written to the base.
A number, what NumPy has a scalar for, is a handle of no axes that neither is a view nor can have views: its value never
changes. An array of no axes knows from the start that it may be viewed and written to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from uopc_array._array.lenses import Lens, MoveLens, RowLens, SpreadLens, write_back
from uopc_array._array.origins import compute
from uopc_array._array.realize import NumPyArray, buffer_of_node
from uopc_array._array.strided import layout_of
from uopc_array._array.tracing import note_new, note_write
from uopc_array._array.view import View
from uopc_core import TRACED, Buffer, Ops, UOp, dtypes, name_of
from uopc_core.errors import TraceError, shortened
from uopc_core.frontend import bounds
from uopc_core.frontend.bounds import computed_if_due
from uopc_core.frontend.cells import Root, alias_of, node_apart, part_of, put, root_of, stand_in
from uopc_core.frontend.handle import LazyHandle

__all__ = ["MOST_LENSES", "Handle"]

_BUFFER = Ops.BUFFER
_NDARRAY = np.ndarray
_count = sys.getrefcount
MOST_LENSES = 16  # steps from a base to a view, before they are made one


class Handle(LazyHandle):
    """The layers below `Array` know it by this type.

    Attributes:
        _chain: of a value of middle size, which operators made it, in the words of `in_c/chains.h`, else empty.
    """

    __slots__ = ("_chain",)
    _chain: bytes
    _compute = staticmethod(compute)
    # functions are methods, whatever their first parameter is called
    _note_new = note_new  # pyright: ignore[reportAssignmentType]
    _note_write = note_write  # pyright: ignore[reportAssignmentType]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        raise TypeError("Array: not made by calling the class; use uopc_array.asarray(...)")

    @classmethod
    def _array_from_uop(cls, uop: UOp) -> Self:
        """A new handle on `uop` that is an array where it has no axes too, and no number."""
        self = cls._from_uop(uop)
        if not uop.shape:
            self._alias = Root()
        return self

    def _same_kind(self, uop: UOp, weak: bool = False) -> Self:
        """A new handle on `uop`, of no axes a number if this is one, else an array."""
        other = self._from_uop(uop, weak)
        if self._alias is not None and not uop.shape:
            other._alias = Root()
        return other

    @property
    def _is_number(self) -> bool:
        """Whether this is what NumPy has a scalar for."""
        value = self._value
        return self._alias is None and not (self._node if value is None else value).shape

    @property
    def _is_writable(self) -> bool:
        """Whether the value may be changed."""
        alias = self._alias
        return bool(self._node.shape) if alias is None else alias.is_writable

    def _base(self) -> Handle:
        """What is written to when this handle is: itself, where it is no view."""
        alias = self._alias
        return alias.base if isinstance(alias, View) else self

    def _written(self, base: UOp, uop: UOp) -> UOp:
        """The node of the base after `uop` has been written to this handle, made of the node of the base before."""
        alias = self._alias
        return write_back(base, alias.on_node, lambda _: uop) if isinstance(alias, View) else uop

    def _update(self, make: Callable[[UOp], UOp]) -> None:
        """Give this handle the value that `make` makes of its node, as an assignment; `make` is called again where
        another thread assigned meanwhile.

        Raises:
            TypeError: it is a number.
            ValueError: it is read-only.
        """
        self._refuse_write("assignment")
        alias = self._alias
        if isinstance(alias, View):
            owner: Handle = alias.base
            owner._update(lambda base: _write_through(alias, base, make))
            return
        while True:
            node = self._node_to_change()
            if self._replace(node, make(node)):
                return

    def _write(self, uop: UOp) -> None:
        """Give this handle the value of `uop`, of its own shape and dtype, as an assignment to all of it.

        Raises:
            TypeError: it is a number.
            ValueError: it is read-only.
        """
        self._refuse_write("assignment")
        if isinstance(self._alias, View):
            self._update(lambda _: uop)
        else:
            self._replace(None, uop)

    def _refuse_write(self, name: str) -> None:
        """
        Raises:
            TypeError: this is a number, whose value never changes.
            ValueError: it is read-only.
        """
        alias = self._alias
        if alias is None:
            if not self._node.shape:
                raise TypeError(
                    f"{name}: a number ({name_of(self._node.dtype)}) cannot be changed in place; bind the name to a "
                    "new value (t = ...), or make an array of no axes of it: xp.asarray(t)"
                )
        elif not alias.is_writable:
            raise ValueError(
                f"{name}: the destination is read-only; assign to a copy, x.copy(), or to what it is a view of"
            )

    def _take_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Give this handle another shape, of as many elements.

        Raises:
            AttributeError: it is a number, or a view whose elements do not lie so that it could have that shape.
            TraceError: it is older than the trace that runs.
        """
        alias = self._alias
        if alias is None and not self._node.shape:
            raise AttributeError(f"{name}: the shape of a number cannot be changed; x.reshape(...) gives an array")
        self._refuse_shadow(name)
        if not isinstance(alias, View):
            while True:
                node = self._node_to_change()
                if self._replace(node, node.reshape(shape)):
                    return
        lens = MoveLens(Ops.RESHAPE, shape)
        if not self._keeps_memory(lens):
            raise AttributeError(
                f"{name}: a view of shape {self._node.shape} whose elements lie apart cannot take the shape {shape} in "
                "place; x.reshape(...) gives a copy"
            )
        view = self._view(self._frame(), lens.on_node(self._frame()), lens)
        put(self, view._node, view._own_alias)

    def _refuse_shadow(self, name: str) -> None:
        """
        Raises:
            TraceError: this is older than the trace that runs, so that its shape, dtype and flags stay.
        """
        if self._is_shadowed:
            raise TraceError(
                f"{name}: inside a traced function an array from outside of it keeps its shape, dtype and flags; bind "
                "the name to a new array, x = x.reshape(...)"
            )

    def _replace_whole(self, name: str, make: Callable[[UOp], UOp]) -> None:
        """Give this handle the value that `make` makes of its node, which may have another shape and dtype.

        Raises:
            ValueError: it is a view, or has views.
            TraceError: it is older than the trace that runs.
        """
        self._refuse_shadow(name)
        root = alias_of(self)
        if isinstance(root, View):
            raise ValueError(f"{name}: a view cannot change its size, for its elements belong to another array")
        if (root is not None and _count(root) > _UNSEEN) or self._is_value_seen():
            raise ValueError(
                f"{name}: an array of which there are views cannot change its size; xp.resize(x, shape) gives a new one"
            )
        while True:
            node = self._node_to_change()
            if self._replace(node, make(node)):
                return

    def _is_value_seen(self) -> bool:
        """Whether there are views of a value that is known, or was."""
        value = self._value
        if value is None and self._own_node.op is _BUFFER and self._own_node.realized is not None:
            value = self._own_node.realized._array  # which it was before there was a node
        return value is not None and _count(value) > _UNSEEN_VALUE

    def _set_writable(self, name: str, is_writable: bool) -> None:
        """
        Raises:
            ValueError: it is a number, or what it is a view of may not be changed.
            TraceError: it is older than the trace that runs.
        """
        self._refuse_shadow(name)
        alias = self._alias
        if alias is None and not self._node.shape:
            if is_writable:
                raise ValueError(f"{name}: a number cannot be changed in place")
            return
        if not isinstance(alias, View):
            root_of(self._cell()).is_writable = is_writable
            return
        base = root_of(alias.base._cell())
        if is_writable and not (base.is_writable and not any([isinstance(lens, SpreadLens) for lens in alias.lenses])):
            raise ValueError(
                f"{name}: this view cannot be changed, since what it is a view of cannot, or since several of its "
                "elements are one; make a copy of it, x.copy()"
            )
        alias.is_writable = is_writable

    def _view(self, source: UOp, uop: UOp, lens: Lens) -> Self:
        """A handle on `uop`, which is what `lens` gives of `source`, the node that this one had when somebody looked:
        a view of its elements; of a number, a value.
        """
        alias = self._alias
        if alias is None and not self._node.shape:
            return self._from_uop(uop)
        cell = self._cell() if self._is_shadowed else self
        if isinstance(alias, View):
            if len(alias.lenses) >= MOST_LENSES:
                alias.shorten(MOST_LENSES // 2)
                source = self._follow()
                uop = lens.on_node(source)
            # one step
            alias = cell._own_alias
            version = alias.version if cell._own_node is source else None
            is_writable = alias.is_writable and lens.is_writable
            known = View(alias.base, alias.shape, (*alias.lenses, lens), alias.root, version, is_writable)
        else:
            root = alias if isinstance(alias, Root) else root_of(cell)
            # one step
            version = root.version if cell._own_node is source else None
            known = View(self, source.shape, (lens,), root, version, root.is_writable and lens.is_writable)
        if known.root.is_shared and not uop.flags and known.root.is_still_shared():
            known.version, uop = None, stand_in(uop.shape, uop.dtype)
        view = self._from_uop(uop)
        view._alias = known
        return view

    def _seen(self, node: UOp, lens: Lens) -> Self:
        """What a step gives of this handle, whose node or frame is `node`: a view where NumPy's is one."""
        uop = lens.on_node(node)
        if lens.may_copy and uop is not node and not self._keeps_memory(lens):
            return self._same_kind(lens.on_node(self._uop))
        return self._view(node, uop, lens)

    def _moved(self, node: UOp, op: Ops, arg: Sequence[int]) -> Self:
        """What one of `MOVES` gives of this handle; see `_seen`."""
        lens = MoveLens(op, tuple(arg))
        if op is Ops.RESHAPE or self._value is not None:
            return self._seen(node, lens)
        return self._view(node, lens.on_node(node), lens)

    def _in_a_row(self) -> Self:
        """All elements in the order of their indices, a view however they lie."""
        lens = RowLens()
        node = self._frame()
        return self._view(node, lens.on_node(node), lens)

    def _keeps_memory(self, lens: Lens) -> bool:
        """Whether NumPy could take this step, which has a reshape in it, without a copy; only strides decide."""
        if type(lens) is MoveLens and not isinstance(self._alias, View):
            return True  # the elements lie in rows
        try:
            lens.on_array(self._layout())
        except ValueError:
            return False
        return True

    def _layout(self) -> NumPyArray:
        """An array of the strides that this one has in NumPy; its elements must not be read."""
        alias = self._alias
        if not isinstance(alias, View):
            return layout_of(self._node.shape, self._node.dtype)
        layout = layout_of(alias.shape, alias.base._node.dtype)
        for lens in alias.lenses:
            layout = lens.on_array(layout)
        return layout

    def _follow(self) -> UOp:
        """The present node of a view, or of an array that is written to in place."""
        cell = self._cell()
        alias = cell._own_alias
        if not isinstance(alias, View):
            return node_apart(cell)
        version = alias.root.version
        uop = alias.base._part(alias.steps()) if alias.root.is_shared else None
        if uop is None:
            uop = alias.on_node(alias.base._uop)
        if uop.depth > bounds.lazy_depth:
            uop = computed_if_due(uop, compute)
        if not uop.flags & TRACED or self._node.flags & TRACED:  # else it is older than the trace, and stays as it is
            put(cell, uop, alias.at(version))
        return uop

    def _part(self, lenses: tuple[Lens, ...]) -> UOp | None:
        """A copy of the elements behind these steps from here, where they are in memory and strides describe them."""
        alias = self._alias
        if isinstance(alias, View):
            return alias.base._part((*alias.steps(), *lenses))
        return part_of(self._cell(), lenses) if all([lens.has_strides for lens in lenses]) else None

    def _frame(self) -> UOp:
        """A node to make views of: of an array that several threads write to not the present one, whose memory is not
        to be held, but another of its shape, which is not to be computed.
        """
        value = self._value
        if type(value) is _NDARRAY:
            return stand_in(value.shape, value.dtype)
        # one step
        node, alias = self._own_node, self._own_alias
        if alias is None:
            return node
        if alias.is_shared:
            return stand_in(node.shape, node.dtype)
        return self._follow() if alias.is_stale() else node

    def _let_go(self) -> None:
        """Hold nothing of the memory of the base, which is to be written to; this view follows when it is read."""
        cell = self._cell() if self._is_shadowed else self
        alias = cell._own_alias
        if alias.version is not None:
            node = cell._own_node
            put(cell, stand_in(node.shape, node.dtype), alias.at(None))

    def _memory(self, what: str) -> Buffer:
        uop = self._uop
        if uop.op is _BUFFER:
            return uop.realized
        try:
            return super()._memory(what)
        except Exception as error:
            raise shortened(error) from None

    def _memory_of(self, uop: UOp, what: str) -> Buffer:
        return buffer_of_node(uop, what)


def _measure_root() -> int:
    """The references to the root of a handle that has no views; spelled as where they are compared."""
    handle = Handle._array_from_uop(UOp.buffer(Buffer.empty((), dtypes.float64)))
    root = alias_of(handle)
    return _count(root)


def _measure_value() -> int:
    """The references to a known value of which there are no views; spelled as where they are compared."""
    handle = Handle._from_value(np.zeros(1))
    value = handle._value
    return _count(value)


_UNSEEN = _measure_root()
_UNSEEN_VALUE = _measure_value()


def _write_through(alias: View, base: UOp, make: Callable[[UOp], UOp]) -> UOp:
    """`base` with what `make` makes of the view in the place of the view."""
    return write_back(base, alias.on_node, make)
