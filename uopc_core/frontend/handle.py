"""The handle: what the user holds on to, a slot that points at an immutable node and moves when the value changes.

`Tensor` and `Array` are both this. What is here is what a handle is whatever its face: it stands for a node or for a
value that is known, is bounded in what it lets wait, changes by compare and exchange, and has its value computed when
that is asked for. A face adds which operations there are, how it names them in messages, and whether there are views.
Invariant: a handle counts itself on its node (`UOp.held`), so that what the user can see is computed once and kept.
The two slots that change stand in `cells`, which knows how threads share them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from uopc_core.dtype import DType, dtypes
from uopc_core.frontend import bounds
from uopc_core.frontend.bounds import computed_if_due
from uopc_core.frontend.cells import (
    Cell,
    Root,
    detach,
    exchange,
    node_apart,
    replace,
    replace_all,
    stand_in,
    wait_for_writers,
    writing,
)
from uopc_core.ir import TRACKED, Ops, UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.execute import realize_all
from uopc_core.runtime.pending import note_release

__all__ = ["NODE_SLOT", "LazyHandle", "change_all"]

_BUFFER = Ops.BUFFER
_NDARRAY = np.ndarray
_NODE_NAMES = ("_node", "_own_node")
_ASKED_BY_NUMPY = ("__array_struct__", "__array_interface__")  # whenever it converts, so there are no words for them
_count = sys.getrefcount
_alone = sys.maxsize  # until it has been measured, see below


class LazyHandle:
    """The slots and the life cycle of `Tensor` and of `Array`.

    Attributes:
        _uop: the node that stands for the present value.
        _node: the node that stood for it when somebody last looked; its dtype never changes, its shape where that is
            assigned to. Of a handle that neither is a view nor has any it is the present one.
        _alias: what it knows as a view, or as an array of which there are views; None of a handle of neither kind, as
            all Tensors are. Of no axes any array knows something, and a number nothing.
        _weak: True for a traced Python scalar, whose dtype gives way to that of an array (NEP 50).
        _value: the value as NumPy has it, known, while there is no node yet, else None: a Tensor
            has its node from the start. The slot for the node is empty then, and filled when somebody looks at it.
    """

    __slots__ = ("__weakref__", "_alias", "_node", "_value", "_weak")
    _is_shadowed = False  # True of the class for handles that a trace sees differently than everybody else

    _alias: Any  # Root | a view | a claim | None
    _node: UOp
    _own_alias: Any  # these two are the slots themselves, where a trace puts properties in the place of their names
    _own_node: UOp
    _value: Any  # NumPyArray | np.generic | None
    _weak: bool

    @classmethod
    def _from_uop(cls, uop: UOp, weak: bool = False) -> Self:
        """A new handle on `uop`, of which some is computed now where the graph has grown too far; see `bounds`."""
        if uop.depth > bounds.lazy_depth:
            uop = computed_if_due(uop, cls._compute)
        self = object.__new__(cls)
        uop.held += 1
        self._value = None
        self._node = uop
        self._weak = weak
        self._alias = None
        if uop.flags:
            self._note_new(uop, weak)
        return self

    @classmethod
    def _from_value(cls, value: Any) -> Self:
        """A new handle on a known value, which nobody else holds; a scalar of NumPy's is a number."""
        self = object.__new__(cls)
        self._value = value
        self._weak = False
        self._alias = Root() if type(value) is _NDARRAY and not value.ndim else None
        return self

    @staticmethod
    def _compute(nodes: Sequence[UOp]) -> list[Buffer]:
        """The memory of each node, computed now if it is not there yet; a face may say more of what fails."""
        return realize_all(nodes)

    def _note_new(self, uop: UOp, is_weak: bool) -> None:
        """Called of a new handle on a node that has flags."""

    def _note_write(self, uop: UOp) -> list[Any] | None:
        """Called of a handle that is to have another node, which has flags; where that is noted, what the note is the
        last item of.
        """

    def __getattr__(self, name: str) -> Any:
        if name in _NODE_NAMES:  # the slot is empty
            return self._become_node()
        if name in _ASKED_BY_NUMPY:
            raise AttributeError(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def _become_node(self) -> UOp:
        """Hold a node in the place of a known value. A view follows its base, which has a node from now on too."""
        value = self._value
        is_free = True  # of those who write to it
        while value is not None:
            alias, is_shared = self._own_alias, False
            if alias is not None and alias.is_view:
                node = stand_in(value.shape, value.dtype)
            elif type(value) is _NDARRAY:
                is_shared = is_free and value.flags.carray
                node = UOp.buffer(Buffer.from_numpy(value, copy=not is_shared))
            else:
                node = UOp.const(value.item(), value.dtype)
            # one step
            if self._value is not value:
                break
            if not (writing and is_shared):
                node.held += 1
                self._own_node = node  # pyright: ignore[reportGeneralTypeIssues]  # another name of a slot
                self._value = None
                return node
            is_free = wait_for_writers()
        try:
            return NODE_SLOT.__get__(self)
        except AttributeError:
            if self._value is None:
                raise
            return self._become_node()  # another thread has taken the value back

    # --- what it is ---

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, a tuple of int."""
        value = self._value
        return (self._node if value is None else value).shape

    @property
    def dtype(self) -> DType:
        """The data type, a `numpy.dtype`."""
        value = self._value
        return (self._node if value is None else value).dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        value = self._value
        return len((self._node if value is None else value).shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        value = self._value
        return (self._node if value is None else value).size

    # --- the present value ---

    @property
    def _uop(self) -> UOp:
        # one step, see `cells`; the node first, which a known value becomes
        node = self._own_node
        alias = self._own_alias
        return node if alias is None or not alias.is_stale() else self._follow()

    def _follow(self) -> UOp:
        """The present node of a handle whose memory is being written to, or that has views."""
        return node_apart(self._cell())

    def _cell(self) -> Cell:
        """What holds the slots that this thread sees."""
        return self

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
        memory = self._memory_of(uop, what)
        if uop.op is not _BUFFER and not uop.flags & TRACKED:  # a constant, or a bool that differentiation looks behind
            exchange(self._cell(), uop, UOp.buffer(memory))
        return memory

    def _memory_of(self, uop: UOp, what: str) -> Buffer:
        """The memory of this node of the handle, computed if need be; a face may say more of what fails."""
        del what
        return self._compute([uop])[0]

    # --- changes ---

    def _replace(self, before: UOp | None, uop: UOp) -> bool:
        """Give this handle, no view, the value of `uop`, if its node is still `before`; None is whatever it is."""
        if uop.depth > bounds.lazy_depth:
            uop = computed_if_due(uop, self._compute)
        note = self._note_write(uop) if uop.flags else None
        is_done = replace(self._cell() if self._is_shadowed else self, before, uop)
        if note is not None and not is_done:
            note.pop()
        return is_done

    def _node_to_change(self) -> UOp:
        """The node of this handle, no view; nobody writes into its memory as long as it is held."""
        while True:
            cell = self._cell() if self._is_shadowed else self
            uop = self._uop
            if cell._own_node is uop:
                return uop
            detach(cell)

    def __del__(self) -> None:
        try:
            if self._value is not None:
                return
            node = self._own_node
        except AttributeError:  # interrupted before it had one
            return
        node.held -= 1
        # None at exit, when modules are taken down
        if not node.depth and _count is not None and _count(node) > _alone:  # pyright: ignore[reportUnnecessaryComparison]
            note_release(node)


def change_all(changes: Sequence[tuple[LazyHandle, UOp, UOp]]) -> bool:
    """Give handles, no views, other values, all or none: of each the handle, the node that it should still have, and
    the one that it gets.
    """
    if len(changes) == 1:
        return changes[0][0]._replace(*changes[0][1:])
    cells: list[tuple[Cell, UOp, UOp]] = []
    notes: list[list[Any]] = []
    for handle, before, uop in changes:
        node = computed_if_due(uop, handle._compute)
        note = handle._note_write(node) if node.flags else None
        notes += [] if note is None else [note]
        cells.append((handle._cell(), before, node))
    is_done = replace_all(cells)
    if not is_done:
        for note in notes:
            note.pop()
    return is_done


NODE_SLOT: Any = LazyHandle.__dict__["_node"]
LazyHandle._own_node, LazyHandle._own_alias = NODE_SLOT, LazyHandle.__dict__["_alias"]


def _measure(handle: LazyHandle) -> int:
    """The references to a node that only a handle refers to; spelled as where they are compared."""
    node = handle._own_node
    return _count(node)


_alone = _measure(LazyHandle._from_uop(UOp.buffer(Buffer.empty((), dtypes.float64))))
