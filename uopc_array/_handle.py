"""The handle: what the user holds on to, a slot that points at an immutable node and moves when the value changes.

A view is a handle with the steps from the handle whose elements it shares. It follows its base when that changes (each
base counts its changes), and what is written to it is written to the base.
A number, what NumPy has a scalar for, is a handle of no axes that neither is a view nor can have views: its value never
changes. An array of no axes knows from the start that it may be viewed and written to.
Invariant: a handle counts itself on its node (`uop.held`), so that what the user can see is computed once and kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Self

from uopc_array._lenses import Lens, MoveLens, RowLens, shortened_chain, write_back
from uopc_array._origins import compute
from uopc_array._realize import NumPyArray, buffer_of_node, realize_node
from uopc_array._strided import layout_of
from uopc_array._tracing import current_record
from uopc_core import MAX_DEPTH, TRACED, TRACKED, Buffer, Ops, UOp, current, when_eager
from uopc_core.errors import shortened

__all__ = ["Handle", "Root", "View"]

_BUFFER = Ops.BUFFER
MOST_LENSES = 16  # steps from a base to a view, before they are made one

_lazy_depth = MAX_DEPTH  # of graphs that nobody needs to look at twice: all, until eager evaluation is asked for


def _look_twice() -> None:
    global _lazy_depth
    _lazy_depth = -1


when_eager(_look_twice)


def _computed_if_due(uop: UOp) -> UOp:
    """`uop`, computed where it is too deep, or evaluation is eager."""
    if uop.flags & TRACED or not (uop.depth > MAX_DEPTH or current().eager):
        return uop
    return realize_node(uop)


class Root:
    """What a handle with views of it knows: how often it has changed since the first."""

    __slots__ = ("version",)

    def __init__(self) -> None:
        self.version = 0

    def is_stale(self) -> bool:
        return False


class View:
    """What a view knows.

    Attributes:
        base: the handle whose elements these are, no view itself.
        lenses: the steps from there.
        root: the count of changes of `base`.
        version: the count that the node of the view belongs to.
    """

    __slots__ = ("base", "lenses", "root", "version")

    def __init__(self, base: Handle, lenses: tuple[Lens, ...], root: Root) -> None:
        self.base = base
        self.lenses = lenses
        self.root = root
        self.version = root.version

    def is_stale(self) -> bool:
        return self.version != self.root.version

    def is_scattered(self) -> bool:
        """Whether no strides describe the view, so that only the graph can write through it."""
        return any(isinstance(lens, RowLens) for lens in self.lenses)

    def on_node(self, base: UOp) -> UOp:
        """The view of this node of the base."""
        for lens in self.lenses:
            base = lens.on_node(base)
        return base

    def present(self) -> UOp:
        """The view of the present node of the base."""
        return self.on_node(self.base._uop)

    def shorten(self) -> None:
        """Make one step of the steps from the base, so that neither they nor the nodes of views of views pile up."""
        node = self.base._node
        self.lenses = shortened_chain(self.lenses, node.shape, node.dtype)


class Handle:
    """The slots and the life cycle of `Array`; the layers below `Array` know it by this type.

    Attributes:
        _uop: the node that stands for the present value.
        _node: the node that stood for it when somebody last looked.
        _alias: what it knows as a view, or as an array of which there are views; of no axes any array knows something,
            and a number nothing.
        _mates: handles to compute together with this one, set only where there are any.
        _weak: True for a traced Python scalar, whose dtype gives way to that of an array (NEP 50).
    """

    __slots__ = ("__weakref__", "_alias", "_mates", "_node", "_weak")
    _is_shadowed = False  # True of the class for handles that a trace sees differently than everybody else

    _alias: Root | View | None
    _mates: tuple[weakref.ref[Any], ...]
    _node: UOp
    _weak: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        raise TypeError("Array: not made by calling the class; use uopc_array.asarray(...)")

    @classmethod
    def _from_uop(cls, uop: UOp, weak: bool = False) -> Self:
        """A new handle on `uop`; a graph that has become too deep is computed first."""
        if uop.depth > _lazy_depth:
            uop = _computed_if_due(uop)
        self = object.__new__(cls)
        if uop.flags:
            _note(self, uop, weak)
        uop.held += 1
        self._node = uop
        self._weak = weak
        self._alias = None
        return self

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
        return self._alias is None and not self._node.shape

    @property
    def _uop(self) -> UOp:
        alias = self._alias
        if alias is not None and alias.is_stale():
            self._follow()
        return self._node

    def _rebind(self, uop: UOp) -> None:
        """Let this handle point at `uop` from now on; views of it do not follow."""
        if uop.depth > _lazy_depth:
            uop = _computed_if_due(uop)
        if uop.flags:
            _note_write(self, uop)
        uop.held += 1
        self._node.held -= 1
        self._node = uop

    def _write(self, uop: UOp) -> None:
        """Give this handle the value of `uop`, of its own shape and dtype, as an assignment to all of it.

        Raises:
            TypeError: it is a number.
        """
        self._refuse_number("assignment")
        alias = self._alias
        if isinstance(alias, View):
            alias.base._write(write_back(alias.base._uop, alias.on_node, lambda _: uop))
            return
        self._rebind(uop)
        if alias is not None:
            alias.version += 1

    def _refuse_number(self, name: str) -> None:
        """
        Raises:
            TypeError: this is a number, whose value never changes.
        """
        if self._alias is None and not self._node.shape:
            raise TypeError(
                f"{name}: a number ({self._node.dtype.name}) cannot be changed in place; bind the name to a new value "
                "(t = ...), or make an array of no axes of it: xp.asarray(t)"
            )

    def _view(self, uop: UOp, lens: Lens) -> Self:
        """A handle on `uop`, which is what `lens` gives of this one: a view of its elements; of a number, a value."""
        alias = self._alias
        if isinstance(alias, View) and len(alias.lenses) >= MOST_LENSES:
            alias.shorten()
            uop = lens.on_node(alias.present())
        view = self._from_uop(uop)
        if alias is None:
            if not self._node.shape:
                return view
            alias = self._alias = Root()
        if isinstance(alias, View):
            view._alias = View(alias.base, (*alias.lenses, lens), alias.root)
        else:
            view._alias = View(self, (lens,), alias)
        return view

    def _moved(self, node: UOp, op: Ops, arg: Sequence[int]) -> Self:
        """What one of `MOVES` gives of this handle, whose node is `node`: a view where NumPy's is one."""
        lens = MoveLens(op, tuple(arg))
        uop = lens.on_node(node)
        if op is Ops.RESHAPE and uop is not node and not self._keeps_memory(lens):
            return self._same_kind(uop)
        return self._view(uop, lens)

    def _in_a_row(self) -> Self:
        """All elements in the order of their indices, a view however they lie."""
        lens = RowLens()
        return self._view(lens.on_node(self._uop), lens)

    def _keeps_memory(self, lens: Lens) -> bool:
        """Whether NumPy could take this step, which has a reshape in it, without a copy; only strides decide."""
        try:
            lens.on_array(self._layout())
        except ValueError:
            return False
        return True

    def _layout(self) -> NumPyArray:
        """An array of the strides that this one has in NumPy; its elements must not be read."""
        alias = self._alias
        if not isinstance(alias, View):
            return layout_of(self._uop.shape, self._uop.dtype)
        layout = layout_of(alias.base._uop.shape, alias.base._uop.dtype)
        for lens in alias.lenses:
            layout = lens.on_array(layout)
        return layout

    def _follow(self) -> None:
        """Point at the elements that the base has by now."""
        alias = self._alias
        assert isinstance(alias, View)
        self._rebind(alias.present())
        alias.version = alias.root.version

    def _memory(self, what: str) -> Buffer:
        """The memory that holds the value, computed now if need be.

        Args:
            what: the operation that needs the value, for the message.
        Raises:
            TraceError: inside `jit`, where there is no value yet.
        """
        uop = self._uop
        if uop.op is _BUFFER:
            return uop.realized
        try:
            if uop.realized is None and hasattr(self, "_mates") and not uop.flags & TRACED:
                compute([uop, *_pending(self._mates)])
                del self._mates
            memory = buffer_of_node(uop, what)
        except Exception as error:
            raise shortened(error) from None
        if uop.op is not _BUFFER and not uop.flags & TRACKED:  # a constant, or a bool that differentiation looks behind
            self._rebind(UOp.buffer(memory))
        return memory

    def __del__(self) -> None:
        self._node.held -= 1


def _note(handle: Handle, uop: UOp, weak: bool) -> None:
    """Tell the trace that runs of a new handle."""
    record = current_record()
    if record is not None and uop.flags & TRACED:
        record.created.append(weakref.ref(handle))
        if weak and uop.dtype.kind == "i":
            record.weak.append(uop)


def _note_write(handle: Handle, uop: UOp) -> None:
    """Tell the trace that runs of a handle, perhaps older than itself, that is to have another node."""
    record = current_record()
    if record is not None and uop.flags & TRACED and (handle._is_shadowed or not handle._node.flags & TRACED):
        record.written.append((weakref.ref(handle), handle._node))


def _pending(mates: tuple[weakref.ref[Any], ...]) -> list[UOp]:
    """What the handles that still live stand for, where it can be computed."""
    alive = [handle for ref in mates if (handle := ref()) is not None]
    return [handle._uop for handle in alive if not handle._uop.flags & TRACED]
