"""The handle: what the user holds on to, one slot that points at an immutable node and moves when the value changes.

Invariant: a handle counts itself on its node (`uop.held`), so that what the user can see is computed once and kept.
"""

from __future__ import annotations

import weakref
from typing import Any, Self

from uopc_array._realize import buffer_of_node, realize_node
from uopc_core import MAX_DEPTH, TRACED, TRACKED, Buffer, Ops, UOp, realize_all

__all__ = ["Handle"]


class Handle:
    """The slots and the life cycle of `Array`; the layers below `Array` know it by this type.

    Attributes:
        _uop: the node that stands for the present value.
        _mates: handles to compute together with this one, set only where there are any.
        _weak: True for a traced Python scalar, whose dtype gives way to that of an array (NEP 50).
    """

    __slots__ = ("__weakref__", "_mates", "_uop", "_weak")

    _uop: UOp
    _weak: bool
    _mates: tuple[weakref.ref[Any], ...]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        raise TypeError("Array: not made by calling the class; use uopc_array.asarray(...)")

    @classmethod
    def _from_uop(cls, uop: UOp, weak: bool = False) -> Self:
        """A new handle on `uop`; a graph that has become too deep is computed first."""
        if uop.depth > MAX_DEPTH and not uop.flags & TRACED:
            uop = realize_node(uop)
        self = object.__new__(cls)
        uop.held += 1
        self._uop = uop
        self._weak = weak
        return self

    def _rebind(self, uop: UOp) -> None:
        """Let this handle stand for `uop` from now on."""
        if uop.depth > MAX_DEPTH and not uop.flags & TRACED:
            uop = realize_node(uop)
        uop.held += 1
        self._uop.held -= 1
        self._uop = uop

    def _write(self, uop: UOp) -> None:
        """Give this handle the value of `uop`, of its own shape and dtype, as an assignment to all of it."""
        self._rebind(uop)

    def _memory(self, what: str) -> Buffer:
        """The memory that holds the value, computed now if need be.

        Args:
            what: the operation that needs the value, for the message.
        Raises:
            TraceError: inside `jit`, where there is no value yet.
        """
        uop = self._uop
        if uop.op is Ops.BUFFER:
            return uop.arg
        if uop.realized is None and hasattr(self, "_mates") and not uop.flags & TRACED:
            realize_all([uop, *_pending(self._mates)])
            del self._mates
        memory = buffer_of_node(uop, what)
        if not uop.flags & TRACKED:
            self._rebind(UOp.buffer(memory))
        return memory

    def _settled(self) -> UOp:
        """The node to build on: memory, once the value has been computed as part of something else.

        Without this a loop that never reads its own variable would keep every value that it has had.
        """
        uop = self._uop
        if uop.realized is None or uop.flags & TRACKED:
            return uop
        self._rebind(UOp.buffer(uop.realized))
        return self._uop

    def __del__(self) -> None:
        self._uop.held -= 1


def _pending(mates: tuple[weakref.ref[Any], ...]) -> list[UOp]:
    """What the handles that still live stand for, where it can be computed."""
    alive = [handle for ref in mates if (handle := ref()) is not None]
    return [handle._uop for handle in alive if not handle._uop.flags & TRACED]
