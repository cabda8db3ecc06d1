"""Compare a graph with one that was seen, node by node, in the order in which nodes are met from its roots on.

A program that repeats makes the same graph over and over, on other memory. What was found out about it once serves
again where each node has the operation, the argument and the dtype of the one that stood there, on sources that stand
where its sources stood.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, Protocol

from uopc_core.dtype import DType
from uopc_core.ir.infer import Shape
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import TRACED, Scalar, UOp, make_in_c

__all__ = [
    "ANY",
    "Changing",
    "Made",
    "Row",
    "Source",
    "are_alike",
    "are_placed",
    "compare_in_c",
    "held_among",
    "make_again",
]

ANY: Any = object()  # in the place of an argument that means something to derivatives only


class Changing(Protocol):
    """A constant that may be another one the next time."""

    def number(self, node: UOp, /) -> Scalar | None:
        """The number that `node` repeats, if it may stand here."""
        ...


# what stands at a source: None a node that was not met before, an int the number of one that was, a constant that
# stays, or one that may change
Source = UOp | Changing | int | None
# op (None of memory), argument (the shape of memory), dtype, whether a handle stands for it where that matters, how
# many sources, and what stands there (None where all are new)
Row = tuple[Ops | None, Any, Any, bool | None, int, tuple[Source, ...] | None]
# a node that is made: op, argument, shape, dtype, and what it is made of, numbers of nodes and constants
Made = tuple[Ops, Any, Shape, DType, tuple[Any, ...]]


def _are_alike(rows: list[Row], nodes: list[UOp], start: int, memory: list[Any], numbers: list[Scalar]) -> bool:
    """Whether the graph of `nodes` from number `start` on is as `rows` say, which begin there too. Met nodes go to
    `nodes`, the memory of leaves to `memory`, and the constants that may change to `numbers`.
    """
    met: Iterator[UOp] = islice(nodes, start, None)  # which finds those that are added meanwhile
    for node, (op, arg, dtype, is_held, n_sources, places) in zip(met, rows, strict=False):
        src = node.src  # before the op, see `UOp.settle`
        if op is None:
            value = node.realized
            if value is None or node.shape != arg or node.dtype is not dtype:
                return False
            memory.append(value)
            continue
        if not (
            node.op is op
            and node.realized is None
            and node.dtype is dtype
            and len(src) == n_sources
            and (is_held is None or (node.held > 0) is is_held)
            and (arg is ANY or arg is node.arg or arg == node.arg)
        ):
            return False
        if places is None:
            nodes += src
        elif not are_placed(src, places, nodes, numbers):
            return False
    return len(nodes) - start == len(rows) and len(set(nodes)) == len(nodes)


def are_placed(sources: tuple[UOp, ...], places: tuple[Any, ...], nodes: list[UOp], numbers: list[Scalar]) -> bool:
    """Whether `sources` may stand at `places`; new ones go to `nodes`, constants that may change to `numbers`."""
    for s, place in zip(sources, places, strict=True):
        if place is None:
            nodes.append(s)
        elif type(place) is int:
            if s is not nodes[place]:
                return False
        elif type(place) is UOp:
            if s is not place:
                return False
        else:
            number = place.number(s)
            if number is None:
                return False
            numbers.append(number)
    return True


def _make_again(rows: list[Made], nodes: list[UOp]) -> None:
    """Add to `nodes` those that rows say how to make."""
    for op, arg, shape, dtype, places in rows:
        src = tuple([nodes[place] if type(place) is int else place for place in places])
        nodes.append(UOp.of_type(op, src, arg, shape, dtype))


def _held_among(nodes: list[UOp], below: Collection[UOp], inside: Collection[UOp]) -> list[UOp]:
    """Those of `nodes`, the last made first, that handles stand for and that read one of `below`, directly or through
    nodes without a handle; the oldest first. What is `inside`, traced or computed does not count.
    """
    marked = set(below)
    found: list[UOp] = []
    for node in reversed(nodes):
        if node.realized is not None or node.flags & TRACED or marked.isdisjoint(node.src) or node in inside:
            continue
        if node.held:
            found.append(node)
        else:
            marked.add(node)
    return found


are_alike: Callable[[list[Row], list[UOp], int, list[Any], list[Scalar]], bool] = _are_alike
make_again: Callable[[list[Made], list[UOp]], None] = _make_again
held_among: Callable[[list[UOp], Collection[UOp], Collection[UOp]], list[UOp]] = _held_among


def compare_in_c(module: Any) -> None:
    """Have nodes made and graphs compared by this module, an extension of whoever stands above, which does it as the
    functions in Python and may be missing.
    """
    global are_alike, make_again, held_among
    make_in_c(module, ANY)
    are_alike, make_again, held_among = module.are_alike, module.make_again, module.held_among
