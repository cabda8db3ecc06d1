"""Transform a graph of a structure that has been seen: the graph that came out the last time, made of other leaves.

A derivative is a pure function of a graph: a program that repeats pays for the rules, for nodes with a history and for
taking that history out again once, and from then on for the nodes that are left.
Invariant: what is made here are the very nodes that the transformation would give. It depends on nothing of a graph but
what `are_alike` compares: on no memory, and on no constant that is not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import ref

from uopc_core.ir import alike
from uopc_core.ir.alike import ANY, Made, Row, Source, are_placed
from uopc_core.ir.composite import CONST_FORMS, const_of
from uopc_core.ir.op import CALLS, FOR_DERIVATIVES, Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.recent import Recent

__all__ = ["repeated"]

MAX_NODES = 4096  # of a graph whose result is kept
MAX_RESULTS = 256
_MOST_ALIKE = 8  # whose first root looks alike

_NEVER = CALLS | {Ops.PARAM, Ops.VARIABLE}  # in a graph whose result is kept


class _Result:
    """What a transformation gives of graphs of one structure.

    The nodes are numbered: the variables, the other nodes above them and beside them, the sources, and those that are
    made.

    Attributes:
        after: what was made next, last time.
        name: of the transformation.
    """

    __slots__ = ("__weakref__", "_leaves", "_made", "_results", "_roots", "_rows", "_types", "after", "name")

    def __init__(
        self, name: str, rows: list[Row], leaves: list[int], roots: tuple[Source, ...], variables: Sequence[UOp]
    ) -> None:
        self.after: ref[_Result] = ref(self)
        self.name = name
        self._rows = rows
        self._leaves = leaves
        self._roots = roots
        self._types = [(x.shape, x.dtype) for x in variables]
        self._made: list[Made] = []
        self._results: list[Any] = []

    def take(self, results: Sequence[UOp], numbers: dict[UOp, int], n: int) -> bool:
        """Note how `results` are made of the first `n` nodes, of which some have numbers; whether it can be told."""
        for node in walk(results, numbers):
            if node in numbers or _is_constant(node):
                continue
            if node.realized is not None or node.op in _NEVER:
                return False
            numbers[node] = n + len(self._made)
            self._made.append((node.op, node.arg, node.shape, node.dtype, _places(node.src, numbers)))
        self._results = [*_places(results, numbers)]
        return True

    def of(self, roots: Sequence[UOp], variables: Sequence[UOp], sources: Sequence[UOp]) -> list[UOp] | None:
        """The result for this graph, if it is of this structure."""
        if len(self._types) != len(variables) or len(self._roots) != len(roots):
            return None
        for x, (shape, dtype) in zip(variables, self._types, strict=True):
            if x.shape != shape or x.dtype is not dtype:
                return None
        nodes = [*variables]
        if not (
            are_placed(tuple(roots), self._roots, nodes, [])
            and alike.are_alike(self._rows, nodes, len(variables), [], [])
        ):
            return None
        for number in self._leaves:
            if nodes[number].flags:
                return None
        nodes += sources
        alike.make_again(self._made, nodes)
        return [nodes[place] if type(place) is int else place for place in self._results]


def _is_constant(node: UOp) -> bool:
    return node.op in CONST_FORMS and const_of(node) is not None


def _places(nodes: Sequence[UOp], numbers: dict[UOp, int]) -> tuple[Any, ...]:
    """Where nodes stand: the number of each, or a constant itself."""
    return tuple([numbers.get(node, node) for node in nodes])


def _kept(name: str, roots: Sequence[UOp], variables: Sequence[UOp], results: Sequence[UOp]) -> _Result | None:
    """`results` as what comes of graphs like that of `roots`; None where that depends on more than is compared: on
    other variables, or on what has been computed.
    """
    numbers = {x: i for i, x in enumerate(variables)}
    nodes = [*variables]
    places = _met(roots, numbers, nodes)
    rows: list[Row] = []
    leaves: list[int] = []
    i = len(variables)
    while i < len(nodes):
        node = nodes[i]
        src = node.src  # before the op, see `UOp.settle`
        op = node.op
        if not node.flags and node.realized is not None:
            leaves.append(i)
            rows.append((None, node.shape, node.dtype, None, 0, None))
        elif (
            node.realized is not None or op in CALLS or op is Ops.PARAM or op is Ops.VARIABLE or len(nodes) > MAX_NODES
        ):
            return None
        else:
            met = _met(src, numbers, nodes)
            new = None if met == (None,) * len(src) else met
            rows.append((op, ANY if op in FOR_DERIVATIVES else node.arg, node.dtype, None, len(src), new))
        i += 1
    result = _Result(name, rows, leaves, places, variables)
    known = {node: number for node, number in numbers.items() if not node.flags}
    known.update({x: number for number, x in enumerate(variables, len(nodes))})  # for which there will be the sources
    return result if result.take(results, known, len(nodes) + len(variables)) else None


def _met(sources: Sequence[UOp], numbers: dict[UOp, int], nodes: list[UOp]) -> tuple[Source, ...]:
    """What stands at `sources`; those that were not met before go to `nodes`."""
    places: list[Source] = []
    for s in sources:
        if s in numbers:
            places.append(numbers[s])
        elif _is_constant(s):
            places.append(s)
        else:
            places.append(None)
            numbers[s] = len(nodes)
            nodes.append(s)
    return tuple(places)


_results: Recent[Hashable, tuple[_Result, ...]] = Recent(MAX_RESULTS)  # the latest by what they are of
_missed: Recent[Hashable, int] = Recent(MAX_RESULTS)  # how often a graph of these operations was transformed
_latest: list[_Result | None] = [None]  # that was kept or made again


def repeated(
    name: str,
    roots: Sequence[UOp],
    variables: Sequence[UOp],
    sources: Sequence[UOp],
    transform: Callable[[], Sequence[UOp]],
    close: Callable[[Sequence[UOp]], Sequence[UOp]],
) -> Sequence[UOp]:
    """``close(transform())``, or the very same nodes without it, where it has been seen what it gives of such a graph.

    Args:
        name: of the transformation, a pure function of the graph of `roots` down to `variables`.
        roots: what is transformed.
        variables: of this transformation alone; it looks at nothing below them.
        sources: what stands for each of them in the end.
        close: puts `sources` in the place of `variables`.
    """
    if any([x.flags for x in sources]):  # of another trace or derivative, whose inputs are others each time
        return close(transform())
    before = _latest[0]
    guess = None if before is None else before.after()
    found = None if guess is None or guess.name != name else guess.of(roots, variables, sources)
    if found is not None:
        _latest[0] = guess
        return found
    root = roots[0]
    looks = (name, root.op, root.arg, root.shape, root.depth, len(roots), len(variables))
    for other in _results.get(looks) or ():
        found = None if other is guess else other.of(roots, variables, sources)
        if found is not None:
            _note(other)
            return found
    results = transform()
    more = (looks, *[node.op for node in walk(roots, variables)])
    missed = (_missed.get(more) or 0) + 1
    _missed.replace(more, missed)
    if missed & (missed - 1) == 0 and missed > 1:  # seldom, where they differ each time
        _keep(looks, _kept(name, roots, variables, results))
    return close(results)


def _keep(looks: Hashable, result: _Result | None) -> None:
    if result is not None:
        _results.replace(looks, (result, *(_results.get(looks) or ())[: _MOST_ALIKE - 1]))
        _note(result)


def _note(result: _Result) -> None:
    """What comes after the one before it."""
    before, _latest[0] = _latest[0], result
    if before is not None:
        before.after = ref(result)
