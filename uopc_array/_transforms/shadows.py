"""Handles older than a trace, while it runs and when it has ended.

Within a trace such a handle is a `ShadowedArray`: the thread that traces sees the node that the trace gave it, all
others see the node that it has. When the trace has ended, the handle is as it was. A handle that the trace made and
that somebody still holds becomes a `LeftOverArray`, of which any use is an error.
The three classes have one layout, so a handle changes its class and keeps its identity.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

from uopc_array._array.array import Array
from uopc_array._array.handle import Handle
from uopc_array._array.tracing import Record, Shadow, current_record, depends, enter, leave, records, user_line
from uopc_core import UOp, in_forked_child, name_of
from uopc_core.errors import TraceError
from uopc_core.frontend.cells import Root, alias_of, replace
from uopc_core.frontend.handle import NODE_SLOT

__all__ = ["LeftOverArray", "ShadowedArray", "close_record", "run_traced", "shadow"]

T = TypeVar("T")


def _shadow_of(handle: Handle) -> Shadow | None:
    for record in reversed(records()):
        found = record.shadows.get(id(handle))
        if found is not None:
            return found
    return None


class ShadowedArray(Array):
    """A handle that traces see differently than everybody else."""

    __slots__ = ()
    _is_shadowed = True

    @classmethod
    def _from_uop(cls, uop: UOp, weak: bool = False) -> Any:
        return Array._from_uop(uop, weak)

    def _cell(self) -> Any:
        return _shadow_of(self) or self

    @property
    def _uop(self) -> UOp:
        cell = self._cell()
        # one step
        alias, node = cell._own_alias, cell._own_node
        return self._follow() if alias is not None and alias.is_stale() else node

    def _frame(self) -> UOp:
        return self._uop

    @property
    def _node(self) -> UOp:
        return self._cell()._own_node

    @_node.setter
    def _node(self, node: UOp) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._cell()._own_node = node

    @property
    def _alias(self) -> Any:
        return self._cell()._own_alias

    @_alias.setter
    def _alias(self, alias: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._cell()._own_alias = alias


class _LeftOver:
    """What to say of a handle that outlived its trace, in words only when it is said."""

    __slots__ = ("dtype", "function", "shape", "transform")

    def __init__(self, record: Record, node: UOp) -> None:
        self.shape = node.shape
        self.dtype = node.dtype
        self.function = record.function
        self.transform = record.transform

    def __str__(self) -> str:
        return (
            f"an array of shape {self.shape}, {name_of(self.dtype)}, is left over from a trace of {self.function}: "
            f"inside {self.transform} it had no value, and it has none now; return it from the function, or keep it in "
            "an attribute of an object that the function is given."
        )


class LeftOverArray(Array):
    """A handle that outlived the trace that made it; its slot for the node holds what to say."""

    __slots__ = ()

    @property
    def _node(self) -> UOp:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise TraceError(f"{NODE_SLOT.__get__(self)} Line: {user_line()}")

    @property
    def _value(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._node

    @property
    def _alias(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise TraceError(f"{NODE_SLOT.__get__(self)} Line: {user_line()}")

    @property
    def _uop(self) -> UOp:
        return self._node

    def _cell(self) -> Any:
        return self._node

    def _frame(self) -> UOp:
        return self._node

    def __del__(self) -> None:
        """Nothing: the node has been counted down."""


for _class in (ShadowedArray, LeftOverArray):
    _class.__name__ = _class.__qualname__ = "Array"

_lock = threading.RLock()  # held for a few lines of this module, never while other code runs
_traces_of: dict[int, int] = {}  # of a shadowed handle, by its identity: how many traces see it


def _renew_after_fork() -> None:
    global _lock
    _lock = threading.RLock()


in_forked_child(_renew_after_fork)


def run_traced(record: Record, body: Callable[[], T], undo: Callable[[], object]) -> T:
    """What `body` returns, run as the innermost trace of this thread.

    Afterwards the handles that the trace has shadowed are as they were, and `undo` has been called, at the worst twice:
    again where Ctrl-C came into the midst of it.
    """
    try:
        enter(record, sys._getframe())
        result = body()  # bound within the `try`, so that nothing comes between the two
    finally:
        try:
            _end(record, undo)
        except BaseException:
            _end(record, undo)
            raise
    return result


def _end(record: Record, undo: Callable[[], object]) -> None:
    undo()
    leave(record)
    for item in list(record.shadows.values()):
        _unshadow(item)


def shadow(record: Record, handle: Array, node: UOp, alias: Any) -> None:
    """Let the trace see `handle` with these slots."""
    if handle._value is not None:
        handle._become_node()
    key, item = id(handle), Shadow(handle, node, alias)
    record.shadows[key] = item
    with _lock:
        # one step
        item.is_open = True
        node.held += 1
        if key in _traces_of:
            _traces_of[key] += 1
        else:
            _traces_of[key] = 1
        handle.__class__ = ShadowedArray


def _unshadow(item: Shadow) -> None:
    handle, key = item.handle, id(item.handle)
    with _lock:
        # one step
        if item.is_open:
            item.is_open = False
            item._own_node.held -= 1
            _traces_of[key] -= 1
            if _traces_of[key] == 0:
                del _traces_of[key]
                handle.__class__ = Array
    alias = alias_of(handle)
    if isinstance(alias, Root):
        alias.version += 1  # views made within the trace follow it back


def close_record(record: Record, params: set[UOp]) -> list[str]:
    """Take the nodes of a trace that has ended from the handles that still live.

    Returns:
        what handles that are older than the trace, and that it did not know of, were written to.
    """
    faults = _restore_written(record, params)
    for handle in _alive(record.created):
        node = NODE_SLOT.__get__(handle)
        if type(handle) is not LeftOverArray and depends(node, params):
            _leave_over(record, handle, node)
        elif (outer := current_record()) is not None:
            outer.created.append(ref(handle))
    return faults


def _leave_over(record: Record, handle: Any, node: UOp) -> None:
    node.held -= 1
    handle.__class__ = LeftOverArray
    NODE_SLOT.__set__(handle, _LeftOver(record, node))


def _restore_written(record: Record, params: set[UOp]) -> list[str]:
    if not _written(record, params):
        return []
    gc.collect()  # those in cycles of what the function made for itself are of no interest
    written = _written(record, params)
    for handle, node in reversed(written):
        replace(handle._cell(), None, node)
    return [f"an array of shape {node.shape}, {name_of(node.dtype)}" for _, node in reversed(written)]


def _written(record: Record, params: set[UOp]) -> list[tuple[Any, UOp]]:
    out: list[tuple[Any, UOp]] = []
    for item, node in record.written:
        handle = item()
        if handle is not None and type(handle) is not LeftOverArray and depends(handle._node, params):
            out.append((handle, node))
    return out


def _alive(refs: list[ref[Any]]) -> list[Any]:
    return [handle for item in refs if (handle := item()) is not None]
