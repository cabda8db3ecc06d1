"""What several threads may do to one array at a time: the two slots of a handle change together or not at all, and only
from what the one who changes them has seen.

A new value is built on a node that somebody has read, and takes its place by compare and exchange; where another thread
came between, the work is done again on what stands there now. Memory is written to in place where nobody else can see
it. Meanwhile a claim stands in the place of the alias: those who write join in, as with NumPy; those who read get a
copy, so that what they hold never changes.
No thread waits for one that writes, so it does not matter where that is stopped for good: by a fork, by an exception,
or by the end of the process.

CPython with its global lock lets other threads, finalizers and handlers of signals run at calls and at jumps back
alone. Lines between two calls are one step then, and those that have to be are marked "one step". Without that lock a
lock of this module is held for those that change a handle; references cannot be counted, and nothing is written to in
place.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Protocol

import numpy as np

from uopc_core.dtype import DType
from uopc_core.frontend.alone import ALONE, HAS_GLOBAL_LOCK, export
from uopc_core.ir import Ops, UOp
from uopc_core.once import has_other_threads
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.pending import note_release

__all__ = [
    "Cell",
    "Root",
    "alias_of",
    "change_in_memory",
    "detach",
    "exchange",
    "is_leaf",
    "make_leaf",
    "node_apart",
    "part_of",
    "put",
    "replace",
    "replace_all",
    "root_of",
    "stand_in",
    "take_value",
    "wait_for_writers",
    "write_element",
    "write_in_memory",
    "writing",
]

NumPyArray = np.ndarray[Any, Any]
Cell = Any  # a handle, or what a trace sees of one: `_own_node` and `_own_alias` are slots, not properties
Store = Callable[[NumPyArray, Any, Any], object]
Change = Callable[..., object]

_BUFFER = Ops.BUFFER
_NOTHING: Any = None  # of which a checker of types does not remember that something was not it
_count = sys.getrefcount

_lock = threading.RLock()
# not empty while the lock is to be taken: always without CPython's global lock, else as long as several handles change
_guards: list[object] = [] if HAS_GLOBAL_LOCK else [None]
_copying = threading.RLock()  # held by who copies what several threads write to; others wait a while, for his copy
_PATIENCE_S = 1.0
# those who write to a known value so that NumPy lets other threads run meanwhile: until they are done, nobody makes a
# node of it
writing: list[object] = []
_PATIENCE_FOR_WRITERS_S = 0.1
_era = 0  # of the process: how often it has been forked


def _renew_after_fork() -> None:
    global _lock, _copying, _era
    _lock, _copying = threading.RLock(), threading.RLock()
    del _guards[0 if HAS_GLOBAL_LOCK else 1 :]
    writing.clear()
    _era += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)


class Lens(Protocol):
    """A step from an array to a view of it."""

    def on_array(self, x: NumPyArray, /) -> NumPyArray:
        """The view of this array, sharing its memory."""
        ...


class Root:
    """The alias of a handle with views.

    Attributes:
        version: how often the handle has changed since the first view.
        is_writable: whether the handle may be changed.
        is_shared: whether several threads write to its memory. Then views hold nothing of that, and what is computed
            with them gets copies of their elements, since whoever writes copies all of it where others hold it.
    """

    __slots__ = ("_writer", "is_shared", "is_writable", "version")
    is_claim = False
    is_view = False
    memory = None

    def __init__(self) -> None:
        self.version = 0
        self.is_writable = True
        self.is_shared = False
        self._writer = 0

    def is_stale(self) -> bool:
        return False

    def note_writer(self) -> None:
        """Called by who has written to the memory."""
        thread = get_ident()
        if self._writer != thread:
            if self._writer:
                self.is_shared = True
            self._writer = thread

    def is_still_shared(self) -> bool:
        """`is_shared`, unless there is one thread alone by now."""
        if not has_other_threads():
            self.is_shared = False
            self._writer = 0
        return self.is_shared


class _Glance:
    """The alias of a handle without views while somebody looks whether he may write one element to its memory. The
    write itself is one step, so whoever comes may take it away.
    """

    __slots__ = ()
    is_claim = True
    is_view = False
    is_shared = False
    is_writable = True
    memory = None
    root = None
    writers = 0

    def is_stale(self) -> bool:
        return True


class _Claim:
    """The alias of a handle whose memory is about to be written to in place, or is being.

    Attributes:
        root: the alias that stands there otherwise.
        writers: how many write; until one does, whoever comes may take the claim away.
        is_broken: whether the handle got another node, so that what is written now is written in vain.
        memory: what is written to; None before, and when the last is done.
        era: of the process in which the writers live.
    """

    __slots__ = ("era", "is_broken", "memory", "root", "writers")
    is_claim = True
    is_view = False
    is_shared = True
    is_writable = True  # else nobody would write
    root: Root | None
    writers: int
    is_broken: bool
    memory: NumPyArray | None
    era: int

    def is_stale(self) -> bool:
        return True


# ------------------------------------------------------------------------------------------------------- the two slots


# Each change below is one step from the look at `_guards` on, or is made under the lock.


def put(cell: Cell, node: UOp, alias: Any, is_guarded: bool = False) -> None:
    """Let a view have this node, which belongs to the count of changes in this alias."""
    if _guards and not is_guarded:
        with _lock:
            put(cell, node, alias, True)
            return
    node.held += 1
    cell._own_node, node = node, cell._own_node
    cell._own_alias = alias
    node.held -= 1
    if not node.depth:
        note_release(node)


def exchange(cell: Cell, before: UOp, node: UOp, is_guarded: bool = False) -> None:
    """Let a handle that still has the node `before` have `node`, which has the same value."""
    if _guards and not is_guarded:
        with _lock:
            exchange(cell, before, node, True)
            return
    if cell._own_node is before:
        node.held += 1
        cell._own_node = node
        before.held -= 1
        if not before.depth:
            note_release(before)


def replace(cell: Cell, before: UOp | None, node: UOp, is_guarded: bool = False) -> bool:
    """Give a handle, no view, another value, if it still has the node `before`; None stands for whatever it has.

    Returns:
        whether it had.
    """
    if _guards and not is_guarded:
        with _lock:
            return replace(cell, before, node, True)
    found = cell._own_node
    if before is not None and found is not before:
        return False
    alias = cell._own_alias
    if alias is not None:
        if alias.is_claim:
            if alias.writers:
                alias.is_broken = True
            alias = cell._own_alias = alias.root
        if alias is not None:
            alias.version += 1
    node.held += 1
    cell._own_node = node
    found.held -= 1
    if not found.depth:
        note_release(found)
    return True


def replace_all(changes: Sequence[tuple[Cell, UOp, UOp]]) -> bool:
    """As `replace`, for several handles: all get their node, or none does."""
    guard = object()
    with _lock:
        _guards.append(guard)
        try:
            if any([cell._own_node is not before for cell, before, _ in changes]):
                return False
            for i, (cell, before, node) in enumerate(changes):
                if not replace(cell, before, node, True):  # the handler of a signal came between
                    for done, old, new in reversed(changes[:i]):
                        replace(done, new, old, True)
                    return False
        finally:
            if guard in _guards:
                _guards.remove(guard)
    return True


def root_of(cell: Cell, is_guarded: bool = False) -> Root:
    """What counts the changes of a handle that is no view, made now if need be: one for all threads."""
    made = Root()
    if _guards and not is_guarded:
        with _lock:
            return root_of(cell, True)
    alias = cell._own_alias
    if alias is None:
        cell._own_alias = made
    elif not alias.is_claim:
        made = alias
    elif alias.root is not None:
        made = alias.root
    elif alias.writers:
        alias.root = made
    else:
        cell._own_alias = made
    return made


# --------------------------------------------------------------------------------------- while memory is written to


def alias_of(cell: Cell) -> Any:
    """The alias of a handle, also while its memory is being written to."""
    alias = cell._own_alias
    return alias.root if alias is not None and alias.is_claim else alias


def node_apart(cell: Cell) -> UOp:
    """The node of a handle, no view, for those who read: of memory that is being written to, a copy."""
    # one step, from the node on: a known value becomes one
    node, alias = cell._own_node, cell._own_alias
    if alias is None or not alias.is_claim:
        return node
    root = alias.root
    if not alias.writers or alias.era != _era:
        cell._own_alias = root
        return node
    if root is not None:  # the writer has not noted itself yet, and may be stopped for long
        root.is_shared = True
    return _copy_of(node)


def detach(cell: Cell) -> None:
    """Give a handle whose memory is being written to memory of its own. Those who write find out, and write again."""
    # one step, from the node on
    node, claim = cell._own_node, cell._own_alias
    if claim is None or not claim.is_claim:
        return
    if not claim.writers:
        cell._own_alias = claim.root
        return
    claim.is_broken = True  # whoever is done by now is in the copy
    copy = _copy_of(node)
    # one step
    if cell._own_alias is claim:
        cell._own_alias = claim.root
        cell._own_node = copy
        copy.held += 1
        node.held -= 1
        note_release(node)


@functools.lru_cache(1024)
def stand_in(shape: tuple[int, ...], dtype: DType) -> UOp:
    """A node without memory for a handle that does not use its node."""
    return UOp.const(0, dtype, shape)


def _copy_of(node: UOp) -> UOp:
    return UOp.buffer(Buffer.from_numpy(node.realized.array, copy=True))


def is_leaf(cell: Cell) -> bool:
    """Whether the node of a handle is the leaf of memory: such nodes only may be written to, since to others there are
    other numbers of references.
    """
    return cell._own_node.op is _BUFFER and cell._own_node.arg is cell._own_node.realized


def make_leaf(cell: Cell) -> None:
    """Let a handle whose node has been computed have the leaf of its memory."""
    node = cell._own_node
    if node.op is _BUFFER:
        exchange(cell, node, UOp.buffer(node.realized))


def write_element(cell: Cell, key: Any, value: Any) -> bool:
    """``memory[key] = value`` for one number and ints, where nobody else sees the memory of a handle without views;
    whether it has been done.
    """
    claim = _Glance()
    # one step, from the node on
    if cell._own_node.op is not _BUFFER or cell._own_node.flags or cell._own_alias is not None:
        return False
    if cell._own_node.arg is not cell._own_node.realized:
        return False
    cell._own_alias = claim
    try:
        if (
            cell._own_node.realized._array.flags.writeable
            and _count(cell._own_node) <= ALONE[0]
            and _count(cell._own_node.realized) <= ALONE[1]
            and _count(cell._own_node.realized._array) <= ALONE[2]
            and (cell._own_node.realized._array.base is None or _count(cell._own_node.realized._array.base) <= ALONE[3])
            # one step
            and cell._own_alias is claim
        ):
            cell._own_node.realized._array[key] = value
            return True
    except (AttributeError, OverflowError, ValueError):  # it has no memory; who writes next has words for the others
        pass
    finally:
        # one step
        if cell._own_alias is claim:
            cell._own_alias = None
    return False


def part_of(cell: Cell, lenses: Sequence[Lens]) -> UOp | None:
    """A copy of part of the memory of a handle, no view, which others may be writing to; None where it has no leaf."""
    claim = _enter(cell)
    if claim is None or claim.memory is None:
        node = cell._own_node
        return None if node.op is not _BUFFER or node.flags else _copy_of_part(node.realized.array, lenses)
    try:
        return _copy_of_part(claim.memory, lenses)
    finally:
        # one step
        claim.writers -= 1
        if not claim.writers:
            claim.memory = None
            if cell._own_alias is claim:
                cell._own_alias = claim.root


def _copy_of_part(memory: NumPyArray, lenses: Sequence[Lens]) -> UOp:
    for lens in lenses:
        memory = lens.on_array(memory)
    return UOp.buffer(Buffer.from_numpy(memory, copy=True))


def write_in_memory(cell: Cell, lenses: Sequence[Lens], store: Store, key: Any, value: Any) -> bool:
    """Do ``store(target, key, value)`` on the memory of a handle, or on a copy that it gets if others see the memory.

    Args:
        lenses: the steps from the handle, no view, to what is the target.
    Returns:
        whether it has been done: not so where the handle had no leaf, or another thread came between.
    """
    claim = _enter(cell)
    if claim is None:
        return False
    if claim.memory is None:
        return _write_in_copy(cell, claim.root, lenses, store, key, value)
    try:
        target = claim.memory
        for lens in lenses:
            target = lens.on_array(target)
        store(target, key, value)
    finally:
        target = None
        # one step
        claim.writers -= 1
        root = claim.root
        if root is not None:
            root.version += 1
        if not claim.writers:
            claim.memory = None
            if cell._own_alias is claim:
                cell._own_alias = root
    if root is not None:
        root.note_writer()
    return not claim.is_broken


def wait_for_writers() -> bool:
    """Whether nobody is writing any more; who does may be a thread that has ended, or this one under a handler."""
    end = time.monotonic() + _PATIENCE_FOR_WRITERS_S
    while writing and time.monotonic() < end:
        time.sleep(0)
    return not writing


def take_value(handle: Any) -> None:
    """Let a handle whose memory nobody else sees hold what is in it as a known value, in the place of a node. Views
    that have nodes of their own follow it when they are read.
    """
    if not is_leaf(handle):
        make_leaf(handle)
    claim = _enter(handle)
    if claim is None or claim.memory is None:
        return
    node = handle._own_node
    # one step
    claim.writers -= 1
    if claim.writers:  # others have come to write
        return
    value, claim.memory = claim.memory, None
    if handle._own_alias is not claim:
        return
    handle._own_alias = claim.root
    if claim.is_broken or handle._own_node is not node:
        return
    if claim.root is not None:
        claim.root.version += 1
    handle._value = value
    node.held -= 1
    del handle._own_node


def change_in_memory(cell: Cell, lenses: Sequence[Lens], change: Change, arguments: Sequence[Any]) -> bool:
    """Do ``change(target, *arguments)``, a function in C that makes new values of the old ones, on memory as
    `write_in_memory` does.

    Returns:
        whether it has been done, once: not so beside other threads, whose copies might have half of it.
    """
    if has_other_threads():
        return False
    claim = _enter(cell)
    if claim is None:
        return False
    if claim.memory is None:
        return _write_in_copy(cell, claim.root, lenses, lambda target, _, __: change(target, *arguments), None, None)
    is_done = False
    try:
        target = claim.memory
        for lens in lenses:
            target = lens.on_array(target)
        given = (target, *arguments)
        # one step: a handler that comes before it takes the memory away, one that comes after copies what was done
        if not claim.is_broken:
            is_done = change(*given) is not given  # whatever it gives
    finally:
        target = given = None
        _leave(cell, claim)
    return is_done


def _leave(cell: Cell, claim: _Claim) -> None:
    """No longer write to the memory that is claimed, which has changed; `write_in_memory` spares itself the call."""
    # one step
    claim.writers -= 1
    root = claim.root
    if root is not None:
        root.version += 1
    if not claim.writers:
        claim.memory = None
        if cell._own_alias is claim:
            cell._own_alias = root
    if root is not None:
        root.note_writer()


def _enter(cell: Cell) -> _Claim | None:
    """A claim on the memory of a handle, new or that of others, with us among those who use it. It has no memory where
    others see that. None where there is none to claim, or another thread came between.

    No reference is held from one call to the next: another thread may be counting.
    """
    claim = _Claim()
    claim.writers, claim.memory = 0, None
    if cell._own_node is _NOTHING:  # never: a known value becomes a node here, and not in the midst of what follows
        return None
    # one step
    alias = cell._own_alias
    if alias is not None and alias.is_claim:
        if alias.writers and alias.era == _era:
            if alias.is_broken:
                detach(cell)
                return None
            alias.writers += 1
            if alias.root is not None:
                alias.root.is_shared = True
            return alias
        alias = alias.root
    if cell._own_node.op is not _BUFFER or cell._own_node.flags or cell._own_node.arg is not cell._own_node.realized:
        return None
    claim.root = alias
    cell._own_alias = claim
    try:
        is_alone = (
            (cell._own_node.realized._array is not _NOTHING or export(cell) is not _NOTHING)
            and cell._own_node.realized._array.flags.writeable
            and _count(cell._own_node) <= ALONE[0]
            and _count(cell._own_node.realized) <= ALONE[1]
            and _count(cell._own_node.realized._array) <= ALONE[2]
            and (cell._own_node.realized._array.base is None or _count(cell._own_node.realized._array.base) <= ALONE[3])
        )
    except AttributeError:  # it has no memory any more
        return None
    # one step
    if cell._own_alias is not claim:
        return None
    if is_alone:
        claim.writers, claim.era, claim.is_broken = 1, _era, False
        claim.memory = cell._own_node.realized._array
    else:
        cell._own_alias = claim.root
    return claim


def _write_in_copy(cell: Cell, root: Root | None, lenses: Sequence[Lens], store: Store, key: Any, value: Any) -> bool:
    """As `write_in_memory`, on a copy that nobody sees before it is done."""
    node = node_apart(cell)
    if node.op is not _BUFFER or node.flags:
        return False
    if root is not None:
        root.note_writer()
    if root is None or not root.is_shared or not _copying.acquire(timeout=_PATIENCE_S):
        return _replace_by_copy(cell, node, lenses, store, key, value)
    try:
        if cell._own_node is not node:
            return False  # another thread has made a copy meanwhile, which we may write to as well
        return _replace_by_copy(cell, node, lenses, store, key, value)
    finally:
        _copying.release()


def _replace_by_copy(cell: Cell, node: UOp, lenses: Sequence[Lens], store: Store, key: Any, value: Any) -> bool:
    copy = _copy_of(node)
    target = copy.realized.array
    for lens in lenses:
        target = lens.on_array(target)
    store(target, key, value)
    return replace(cell, node, copy)
