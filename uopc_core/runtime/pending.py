"""Pending work is bounded: in depth, in the memory that nothing but pending work holds, and in the number of nodes.

Counted is memory that handles have left while nodes still read it: noted where a handle leaves a node, taken off where
the node goes. When that passes the bound, the next handle that is made has the oldest work computed. What NumPy would
hold instead, the values of handles that wait for this memory, is allowed on top.
Nodes over arrays that are held count for NODE_BYTES each. When they pass the bound, those are computed, the oldest
first, that take more than their value does: a list of sums of one array is a list of numbers then.
A graph that becomes too deep is cut below the handles that it was built on, the oldest first, not where it happens to
be deep. In a loop those stand for what one step hands to the next, so it is cut at the same place of its body each
time, and one plan serves.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from uopc_core.ir.op import VIEW_OPS
from uopc_core.ir.uop import TRACED, TRACKED, UOp, latest_nodes, node_count, walk, when_many
from uopc_core.runtime.execute import MAX_DEPTH
from uopc_core.schedule.canonical import WORTH_KEEPING
from uopc_core.schedule.shared import held_above
from uopc_core.settings import current

__all__ = ["is_due", "note_release", "relieve", "shorten", "when_due"]

NODE_BYTES = 1024  # what a leaf and the nodes above it take themselves, about
LEAST_NODES = 1 << 14  # that are nobody's concern, whatever the bound
_EVERYTHING = 1 << 30

Compute = Callable[[Sequence[UOp]], Any]


class _State:
    """Attributes:
    held: bytes by the weak reference to the node that refers to them, the node left first first.
    bytes: the sum.
    allowed: of it, what the last look found that NumPy would hold, or that nothing can be done about.
    are_many: whether there are more nodes than the bound.
    is_due: whether one of the bounds has been passed since.
    """

    __slots__ = ("allowed", "are_many", "bytes", "held", "is_due")

    def __init__(self) -> None:
        self.held: dict[Any, int] = {}
        self.bytes = 0
        self.allowed = 0
        self.are_many = False
        self.is_due = False


_state = _State()
_watchers: list[Callable[[], None]] = []


def when_due(callback: Callable[[], None]) -> None:
    """Have `callback` called whenever there is something to do for `relieve`; who makes handles need not ask else."""
    _watchers.append(callback)


def is_due() -> bool:
    return _state.is_due


def note_release(node: UOp) -> None:
    """Called where a handle has left a node that others refer to still."""
    memory = node.realized
    # None at exit, when modules are taken down
    if memory is None or node.held or node.flags & (TRACKED | TRACED) or _state is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    ref = weakref.ref(node, _note_end)
    if ref in _state.held:
        return
    n_bytes = memory.nbytes + NODE_BYTES
    _state.held[ref] = n_bytes
    _state.bytes += n_bytes
    if _state.bytes > _state.allowed + _due_bytes() and not _state.is_due:
        _call_watchers()


def _due_bytes() -> int:
    """When to look: early enough for what cannot be let go of at once to stay below the bound."""
    return current().pending_bytes // 4 * 3


def _call_watchers() -> None:
    _state.is_due = True
    for callback in _watchers:
        callback()


def _note_many() -> None:
    """Called where there are more nodes than when somebody last looked."""
    n, most = node_count(), _most_nodes()
    if n <= most:
        when_many(min(n + max(n // 2, LEAST_NODES), most), _note_many)
    else:
        _state.are_many = True
        _call_watchers()


def _most_nodes() -> int:
    return max(LEAST_NODES, current().pending_bytes // NODE_BYTES)


when_many(LEAST_NODES, _note_many)


def _note_end(ref: Any) -> None:
    if _state is not None:  # pyright: ignore[reportUnnecessaryComparison]
        _state.bytes -= _state.held.pop(ref, 0)


def relieve(compute: Compute) -> None:
    """Compute the oldest work that waits for memory which handles have left, until a quarter of the bound is left.

    An error of such work is told to whoever asks for its value.
    """
    _state.is_due = False
    if _state.are_many:
        _state.are_many = False
        _relieve_of_nodes(compute)
    bound = current().pending_bytes
    waiting = _waiting()
    instead = sum([_size(node) for node in waiting])
    if _state.bytes - instead > bound // 2:
        for node in waiting:
            if _state.bytes - instead <= bound // 4:
                break
            instead -= _size(node)
            if node.realized is None:
                try:
                    compute([node])
                except Exception:  # it stays pending
                    continue
    _state.allowed = max(instead, _state.bytes - bound // 2)


def _waiting() -> list[UOp]:
    """The handles' nodes that read memory which handles have left, the oldest first."""
    sources = [node for ref in list(_state.held) if (node := ref()) is not None and not node.held]
    return [node for node in held_above(sources, (), _EVERYTHING) if not node.flags & TRACKED]


def _size(node: UOp) -> int:
    return node.size * node.dtype.itemsize


def _relieve_of_nodes(compute: Compute) -> None:
    """Compute the oldest values that take less than their nodes, until there are half as many nodes as there may be."""
    most = _most_nodes()
    for ref in _dear_to_wait_for():
        if node_count() <= most // 2:
            break
        node = ref()
        if node is not None and node.realized is None:
            try:
                compute([node])
            except Exception:  # it stays pending
                continue
    n = node_count()
    when_many(n + max(n // 2, LEAST_NODES), _note_many)  # what is left is needed, or nothing is gained by it


def _dear_to_wait_for() -> list[weakref.ref[UOp]]:
    """What handles stand for that has a value smaller than its nodes, the oldest first."""
    found = [
        weakref.ref(node)
        for node in latest_nodes(_EVERYTHING)
        if node.held
        and not node.flags & (TRACKED | TRACED)
        and _size(node) <= NODE_BYTES * node.depth
        and not _is_view_of_memory(node)
    ]
    found.reverse()
    return found


def _is_view_of_memory(node: UOp) -> bool:
    while node.realized is None and node.op in VIEW_OPS:
        (node,) = node.src
    return node.realized is not None


def shorten(node: UOp, compute: Compute) -> None:
    """Compute what `node` was built on, the oldest handles' nodes first, until half of the depth is left; where there
    is no handle below it, `node` itself.
    """
    while True:
        below = _pending_below(node)
        for x in below:
            x.depth = 1 + max([s.depth for s in x.src], default=-1)
        if node.depth <= MAX_DEPTH // 2:
            return
        held = next((x for x in below if x.held and x.op in WORTH_KEEPING and x is not node), node)
        compute([held])


def _pending_below(root: UOp) -> list[UOp]:
    """What is to be computed for `root`, sources first."""
    return [node for node in walk([root], into_memory=False) if node.src and node.realized is None]
