"""When a handle that is made on a graph has some of it computed: pending work is bounded, or evaluation is eager.

Whoever makes a handle compares the depth of its node with `lazy_depth`, which is all that most graphs cost, and asks
`computed_if_due` where it is more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uopc_core.ir import TRACED, UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.execute import MAX_DEPTH
from uopc_core.runtime.pending import is_due, relieve, shorten, when_due
from uopc_core.settings import current, when_eager

__all__ = ["computed_if_due"]

# of graphs that nobody needs to look at twice: -1 while pending work holds too much, and once eager evaluation has been
# asked for
lazy_depth = MAX_DEPTH
_is_ever_eager = False


def _look_twice() -> None:
    global lazy_depth
    lazy_depth = -1


def _look_always() -> None:
    global _is_ever_eager
    _is_ever_eager = True
    _look_twice()


when_due(_look_twice)
when_eager(_look_always)


def computed_if_due(node: UOp, compute: Callable[[Sequence[UOp]], Sequence[Buffer]]) -> UOp:
    """`node`, computed where evaluation is eager (for a constant a leaf with its value); what it was built on where it
    is too deep, and older work where that holds too much memory.

    Args:
        compute: nodes -> the memory of each.
    """
    global lazy_depth
    if is_due():
        lazy_depth = -1 if _is_ever_eager else MAX_DEPTH
        relieve(compute)
    if node.flags & TRACED:
        return node
    if current().eager:
        memory = compute([node])[0]
        return UOp.buffer(memory) if node.realized is None else node
    if node.depth > MAX_DEPTH:
        shorten(node, compute)
    return node
