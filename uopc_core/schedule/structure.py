"""Recognise a graph of a structure that has been seen: roots -> its memory, its numbers and the key of its plan, in one
walk that compares, without a key that is made and hashed again.

A program that repeats makes the same graph over and over, on other memory and with other numbers. So what
`canonicalise` found out about one is kept, and a later one is compared with it node by node.
Invariant: what is recognised has the very canonical form that `canonicalise` gives it, up to the numbers of its nodes;
whatever this module does not know is not recognised.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any
from weakref import ref

from uopc_core.ir import alike
from uopc_core.ir.alike import ANY, Row, Source
from uopc_core.ir.composite import const_of, unbroadcast
from uopc_core.ir.op import CALLS, FOR_DERIVATIVES, Ops
from uopc_core.ir.uop import TRACED, Scalar, UOp
from uopc_core.recent import Recent
from uopc_core.schedule.canonical import WORTH_KEEPING, Bindings, Canonical, Key, is_literal
from uopc_core.schedule.shared import most_references, read_by_others

__all__ = ["Recognised", "Structure", "keep_structure", "recognise"]

_CONST = Ops.CONST
MAX_NODES = 1024  # of a graph that is kept
MAX_STRUCTURES = 1024
_MOST_ALIKE = 8  # structures whose roots look alike that are looked at


class _Slot:
    """A constant that may change, where a node uses it.

    Attributes:
        latest: the node that was found here last, with its number: that of most constants stays.
    """

    __slots__ = ("dtype", "latest", "shape")

    def __init__(self, node: UOp) -> None:
        self.dtype = node.dtype
        self.shape = node.shape
        self.latest: tuple[UOp, Scalar] = (node, unbroadcast(node).arg)

    def number(self, node: UOp) -> Scalar | None:
        """The number that `node` repeats, if it may stand here."""
        latest, number = self.latest
        if node is latest:
            return number
        constant = unbroadcast(node)
        if constant.op is not _CONST or node.dtype is not self.dtype or node.shape != self.shape:
            return None
        number = constant.arg
        if is_literal(number):
            return None
        self.latest = (node, number)
        return number


class Recognised:
    """A graph of a known structure.

    Attributes:
        key: of its canonical form.
        outputs: as in its canonical form.
        bindings: the memory and the numbers of this very graph.
        nodes: all of it.
        shared: of these, what others may read and would compute again.
    """

    __slots__ = ("bindings", "key", "nodes", "outputs", "shared")

    def __init__(self, key: Key, nodes: list[UOp], shared: list[UOp], outputs: list[UOp], bindings: Bindings) -> None:
        self.key = key
        self.nodes = nodes
        self.shared = shared
        self.outputs = outputs
        self.bindings = bindings


class Structure:
    """What graphs of one key have in common, row by row, in the order in which nodes are met from the roots on.

    Attributes:
        key: of their canonical form.
        n_roots: how many of the rows are roots.
        after: what was recognised next, last time.
    """

    __slots__ = ("__weakref__", "_buffers", "_most", "_outputs", "_rows", "_scalars", "after", "key", "n_roots")

    def __init__(self, canonical: Canonical) -> None:
        sources = {node: (op, src) for node, op, src in canonical.order}
        met = {*sources, *canonical.leaves}  # all but the constants that may change
        self.after: ref[Structure] = ref(self)
        self.key = canonical.key
        self.n_roots = canonical.n_roots
        roots = canonical.outputs[: self.n_roots]
        numbers = {root: i for i, root in enumerate(roots)}
        nodes = [*roots]
        rows: list[Row] = []
        slots: list[tuple[UOp, int]] = []
        for node in nodes:
            if node in canonical.leaves:
                rows.append((None, node.shape, node.dtype, None, 0, None))
                continue
            op, src = sources[node]
            places: list[Source] = []
            for i, s in enumerate(src):
                if s in numbers:
                    places.append(numbers[s])
                elif s not in met:
                    places.append(_Slot(s))
                    slots.append((node, i))
                elif s in sources and const_of(s) is not None:
                    places.append(s)
                else:
                    places.append(None)
                    numbers[s] = len(nodes)
                    nodes.append(s)
            is_held = node in canonical.outputs if op in WORTH_KEEPING and node not in roots else None
            arg = ANY if op in FOR_DERIVATIVES else node.arg
            new = None if places == [None] * len(src) else tuple(places)
            rows.append((op, arg, node.dtype, is_held, len(src), new))
        self._rows = rows
        self._outputs = [numbers[node] for node in canonical.outputs]
        self._buffers = _order([node for node in nodes if node in canonical.leaves], canonical.leaves)
        bound = [
            (node, i) for node in sources if node in numbers for i, s in enumerate(sources[node][1]) if s not in met
        ]
        self._scalars = _order(slots, bound)
        self._most = most_references(nodes, [src for _, src in sources.values()], canonical.outputs)

    @classmethod
    def of(cls, canonical: Canonical) -> Structure | None:
        """The structure of a graph of which nothing has been computed since; None of one that is not for this module:
        long, with calls in it, traced, or of a constant itself.
        """
        if len(canonical.order) > MAX_NODES or any([op in CALLS for _, op, _ in canonical.order]):
            return None
        roots = canonical.outputs[: canonical.n_roots]
        if any([node.flags & TRACED or const_of(node) is not None for node in roots]):
            return None
        return cls(canonical)

    def recognised(self, roots: Sequence[UOp]) -> Recognised | None:
        """The graph of `roots`, if it is one of these."""
        nodes = [*roots]
        buffers: list[Any] = []
        scalars: list[Scalar] = []
        if not alike.are_alike(self._rows, nodes, 0, buffers, scalars):
            return None
        shared = read_by_others(nodes, self._most)
        outputs = [nodes[i] for i in self._outputs]
        bindings = Bindings(tuple([buffers[i] for i in self._buffers]), tuple([scalars[i] for i in self._scalars]))
        return Recognised(self.key, nodes, shared, outputs, bindings)


def _order(found: Sequence[Hashable], wanted: Iterable[Hashable]) -> list[int]:
    """Where each of `wanted` stands in `found`."""
    numbers = {x: i for i, x in enumerate(found)}
    return [numbers[x] for x in wanted]


_structures: Recent[Key, Structure] = Recent(MAX_STRUCTURES)
_alike: Recent[Hashable, tuple[ref[Structure], ...]] = Recent(
    MAX_STRUCTURES
)  # the latest by what their roots look like
_latest: list[Structure | None] = [None]  # that was recognised or kept


def recognise(roots: Sequence[UOp]) -> Recognised | None:
    """The graph of `roots`, distinct nodes of no trace, if its structure has been kept. What came next last time is
    looked at first.
    """
    before = _latest[0]
    if before is None:
        return None
    guess = before.after()
    if guess is not None and guess.n_roots == len(roots):
        found = guess.recognised(roots)
        if found is not None:
            _note_latest(guess)
            return found
    for other in _alike.get(_looks_of(roots)) or ():
        structure = other()
        found = structure.recognised(roots) if structure is not None and structure is not guess else None
        if structure is not None and found is not None:
            before.after = other
            _note_latest(structure)
            return found
    return None


def _note_latest(structure: Structure) -> None:
    _latest[0] = structure
    _structures.get(structure.key)  # it is in use


def keep_structure(canonical: Canonical) -> None:
    """Have graphs of this structure recognised from now on, if that is possible; none of its nodes has been computed
    since.
    """
    structure = Structure.of(canonical)
    if structure is None:
        return
    _structures.replace(structure.key, structure)
    looks = _looks_of(canonical.outputs[: canonical.n_roots])
    found = [other for other in _alike.get(looks) or () if other() is not None]
    _alike.replace(looks, (ref(structure), *found[: _MOST_ALIKE - 1]))
    before, _latest[0] = _latest[0], structure
    if before is not None:
        before.after = ref(structure)


def _looks_of(roots: Sequence[UOp]) -> Hashable:
    root = roots[0]
    return len(roots), root.op, root.arg, root.shape, root.depth
