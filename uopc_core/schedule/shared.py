"""Temporaries that pending work outside of a computation reads as well, and the handles that wait for that work.

A value is computed once, as by NumPy: what would compute a temporary again is computed along with whatever
computes it first. A graph points from results to operands only: that somebody else reads a node is told by the count of
its references, and who it is by looking through the nodes that were made since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import gt
from sys import getrefcount, maxsize

from uopc_core.ir import alike
from uopc_core.ir.op import MOVEMENT
from uopc_core.ir.uop import UOp, latest_nodes
from uopc_core.schedule.canonical import WORTH_KEEPING

__all__ = ["held_above", "most_references", "read_by_others", "read_elsewhere"]

_FIRST_LOOK, _NEXT_LOOKS = 256, 8  # nodes looked at first, and how many times more each time
_CHEAP = MOVEMENT - WORTH_KEEPING


def read_elsewhere(nodes: Sequence[UOp], sources: Iterable[tuple[UOp, ...]], outputs: Collection[UOp]) -> list[UOp]:
    """Those of `nodes` that somebody else would compute again.

    Args:
        nodes: all that is to be computed, each once; besides this list one other container refers to each.
        sources: of these nodes.
        outputs: those of them that will be kept.
    """
    counts = zip(nodes, _references(nodes), strict=True)
    suspects = [(node, n - _ALONE) for node, n in counts if n > _ALONE + 1]  # each is an output or has a consumer here
    suspects = [pair for pair in suspects if pair[0] not in outputs and _is_dear(pair[0])]
    if not suspects:
        return []
    uses = dict.fromkeys([node for node, _ in suspects], 0)
    for src in sources:
        for node in src:
            if node in uses:
                uses[node] += 1
    return [node for node, n in suspects if n > uses[node]]


def most_references(nodes: Sequence[UOp], sources: Iterable[tuple[UOp, ...]], outputs: Collection[UOp]) -> list[int]:
    """How many references there are to each of `nodes`, as `read_elsewhere` takes them, in a list that alone holds
    them, where nobody else would compute it again.
    """
    uses = dict.fromkeys(nodes, _ALONE - 1)
    for src in sources:
        for node in src:
            if node in uses:
                uses[node] += 1
    return [maxsize if node in outputs or not _is_dear(node) else n for node, n in uses.items()]


def read_by_others(nodes: list[UOp], most: Sequence[int]) -> list[UOp]:
    """Those of `nodes` to which there are more references than `most_references`, besides one for each handle that
    stands for it: somebody else may read them.
    """
    counts = _references(nodes)
    if True not in map(gt, counts, most):
        return []
    return [node for n, node, m in zip(counts, nodes, most, strict=True) if n - node.held > m]


def _references(nodes: Sequence[object]) -> list[int]:
    return list(map(getrefcount, nodes))  # no variable refers to any of them meanwhile


_ONE = (object(),)
_ALONE = _references([*_ONE])[0]  # of what two containers refer to


def _is_dear(node: UOp) -> bool:
    """Whether somebody who reads `node` has more to compute than movement."""
    src = node.src
    while src and node.op in _CHEAP:
        node = src[0]
        src = node.src
    return node.op in WORTH_KEEPING and not node.held


def held_above(below: Collection[UOp], inside: Collection[UOp], most: int) -> list[UOp]:
    """The nodes that handles stand for and that read one of `below`, directly or through nodes without a handle.

    Args:
        inside: nodes that do not count, nor does what reads them alone.
        most: how many nodes, of those made last, are looked at.
    Returns:
        the oldest first.
    """
    return alike.held_among(_made_since(below, most), below, inside)


def _made_since(nodes: Collection[UOp], most: int) -> list[UOp]:
    """At least the nodes made after the first of `nodes`, the last made first."""
    n = _FIRST_LOOK
    while True:
        latest = latest_nodes(n)
        if n >= most or len(latest) < n // 2 or not set(nodes).difference(latest):
            return latest
        n = min(n * _NEXT_LOOKS, most)
