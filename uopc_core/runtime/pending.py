"""Pending work is bounded: in depth, and in the memory that nothing but pending work holds.

Counted is memory that handles have left while nodes still read it: noted where a handle leaves a node, taken off where
the node goes. When that passes the bound, the next handle that is made has the oldest work computed. What NumPy would
hold instead, the values of handles that wait for this memory, is allowed on top.
A graph that becomes too deep is cut below the handles that it was built on, the oldest first, not where it happens to
be deep. In a loop those stand for what one step hands to the next, so it is cut at the same place of its body each
time, and one plan serves.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from uopc_core.ir.uop import TRACKED, UOp
from uopc_core.runtime.execute import MAX_DEPTH
from uopc_core.schedule.canonical import WORTH_KEEPING
from uopc_core.schedule.shared import held_above
from uopc_core.settings import current

__all__ = ["is_due", "note_release", "relieve", "shorten", "when_due"]

NODE_BYTES = 1024  # what a leaf and the nodes above it take themselves, about
_EVERYTHING = 1 << 30

Compute = Callable[[Sequence[UOp]], Any]


class _State:
    """Attributes:
    held: bytes by the weak reference to the node that refers to them, the node left first first.
    bytes: the sum.
    allowed: of it, what the last look found that NumPy would hold, or that nothing can be done about.
    is_due: whether the bound has been passed since.
    """

    __slots__ = ("allowed", "bytes", "held", "is_due")

    def __init__(self) -> None:
        self.held: dict[Any, int] = {}
        self.bytes = 0
        self.allowed = 0
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
    if memory is None or node.held or node.flags:
        return
    ref = weakref.ref(node, _note_end)
    if ref in _state.held:
        return
    n_bytes = memory.nbytes + NODE_BYTES
    _state.held[ref] = n_bytes
    _state.bytes += n_bytes
    if _state.bytes > _state.allowed + current().pending_bytes and not _state.is_due:
        _state.is_due = True
        for callback in _watchers:
            callback()


def _note_end(ref: Any) -> None:
    _state.bytes -= _state.held.pop(ref, 0)


def relieve(compute: Compute) -> None:
    """Compute the oldest work that waits for memory which handles have left, until half of the bound is left.

    An error of such work is told to whoever asks for its value.
    """
    _state.is_due = False
    bound = current().pending_bytes
    waiting = _waiting()
    instead = sum([_size(node) for node in waiting])
    if _state.bytes - instead > bound:
        for node in waiting:
            if _state.bytes - instead <= bound // 2:
                break
            instead -= _size(node)
            if node.realized is None:
                try:
                    compute([node])
                except Exception:  # it stays pending
                    continue
    _state.allowed = max(instead, _state.bytes - bound + bound // 4)


def _waiting() -> list[UOp]:
    """The handles' nodes that read memory which handles have left, the oldest first."""
    sources = [node for ref in list(_state.held) if (node := ref()) is not None and not node.held]
    return [node for node in held_above(sources, (), _EVERYTHING) if not node.flags & TRACKED]


def _size(node: UOp) -> int:
    return node.size * node.dtype.itemsize


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
    order: list[UOp] = []
    seen: set[UOp] = set()
    stack: list[tuple[UOp, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif node not in seen and node.realized is None and (src := node.src):
            seen.add(node)
            stack.append((node, True))
            stack.extend([(s, False) for s in reversed(src)])
    return order
