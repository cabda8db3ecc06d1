"""Decide which nodes become memory, and join what can run as one kernel: graph -> groups of materialised nodes in
execution order.

Invariant: a node that stands for memory is computed by exactly one group; everything else is computed where it is
used. A node is materialised when it must be (outputs, reductions, calls), when it is read at several places or by
several kernels and costs more to redo than to store, or when a kernel would grow past a bound. Then groups over one
iteration space are joined: a producer whose consumer reads it at the very element that is being computed, an
elementwise epilogue to its reduction, siblings that share an input.
Method: greedy fusion in post-order; legality as in Kennedy & McKinley (1993), "Maximizing loop parallelism and
improving data locality via loop fusion and distribution".
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import prod

from uopc_core.costs import (
    CHEAP_TO_REDO_AT_MANY_PLACES,
    CHEAP_TO_REDO_IN_MANY_KERNELS,
    COST_OF_DIVISION,
    COST_OF_ELEMENTWISE,
    COST_OF_FUNCTION,
    COST_OF_INDEX,
    COST_OF_RANDOM,
    MAX_BOXES,
    MAX_FOLDS,
    MAX_INLINE_REDUCE,
    MAX_KERNEL_OPS,
    MAX_KERNEL_OUTPUTS,
)
from uopc_core.ir.calls import key_of_call
from uopc_core.ir.op import CALLS, ELEMENTWISE, LEAVES, MATH_FUNCTIONS, MOVEMENT, VIEW_OPS, Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.schedule.boxes import box_write

__all__ = [
    "MAX_INLINE_REDUCE",
    "Group",
    "cost_of",
    "group_nodes",
    "is_inline_reduce",
    "materialised_nodes",
    "peel_movement",
    "peel_reshape",
    "view_over",
]

# of an element, see there
_COSTS: dict[Ops, float] = {
    **dict.fromkeys(ELEMENTWISE, COST_OF_ELEMENTWISE),
    **dict.fromkeys(MATH_FUNCTIONS, COST_OF_FUNCTION),
    **dict.fromkeys((Ops.DIV, Ops.RECIP, Ops.SQRT, Ops.FLOORDIV, Ops.FLOORMOD), COST_OF_DIVISION),
    Ops.RANDOM: COST_OF_RANDOM,
    Ops.INDEX: COST_OF_INDEX,
}
_CHEAP_TO_REDO = VIEW_OPS | {Ops.PAD}
_ALONE = CALLS | {Ops.SCAN, Ops.SCATTER}
_ALWAYS_MEMORY = _ALONE | {Ops.MATERIALIZE}
_FORCE = _ALWAYS_MEMORY | {Ops.REDUCE, Ops.INDEX}
_CHANGES_PLACE = MOVEMENT - {Ops.RESHAPE}  # which leaves the elements in their order
_MANY = -1  # places


def cost_of(op: Ops) -> float:
    """What an element of a node of this op costs beside those of its sources, in additions, roughly."""
    return _COSTS.get(op, COST_OF_ELEMENTWISE)


def peel_reshape(node: UOp) -> UOp:
    """The node that `node` is a mere reshape of: the same elements in the same order."""
    while node.op is Ops.RESHAPE:
        node = node.src[0]
    return node


def peel_movement(node: UOp) -> UOp:
    """The node that `node` is a view of: the same memory under other strides, as far as movement ops go."""
    while node.op in VIEW_OPS:
        node = node.src[0]
    return node


def view_over(x: UOp, core: UOp, view: UOp) -> UOp:
    """`x` in the place of `core`, moved as `view` moves that."""
    chain: list[UOp] = []
    while view is not core:
        chain.append(view)
        view = view.src[0]
    for node in reversed(chain):
        x = node.over((x,))
    return x


def is_inline_reduce(node: UOp) -> bool:
    """Whether this REDUCE is so short that it is unrolled where it is used, like an elementwise op."""
    source = node.src[0]
    extent = prod(source.shape[len(node.shape) :])
    return 0 < extent <= MAX_INLINE_REDUCE and node.size > 1


# ------------------------------------------------------------------------------------------------- what becomes memory


def materialised_nodes(outputs: list[UOp], order: list[UOp] | None = None) -> set[UOp]:
    """The nodes below `outputs`, themselves included, whose value is stored.

    Args:
        order: all of them, sources first, where that is known.
    """
    order = walk(outputs) if order is None else order
    consumers: dict[UOp, list[UOp]] = {}
    for node in order:
        consumers[node] = []
        for s in node.src:
            consumers[s].append(node)
    stored = {peel_reshape(node) for node in outputs} | _forced(order) | _links_of_long_chains(order, consumers)
    costs = _store_what_is_dear(order, consumers, stored)
    _redo_what_is_cheap_by_now(order, stored, _store_what_is_computed_twice(order, consumers, stored, costs))
    return {node for node in stored if node.op is not Ops.PARAM}


def _forced(order: list[UOp]) -> set[UOp]:
    """What an op needs as memory, by its nature: its own result, or a source that is read at computed places."""
    stored: set[UOp] = set()
    for node in order:
        op = node.op
        if op not in _FORCE:
            continue
        if op in _ALWAYS_MEMORY or (op is Ops.REDUCE and not is_inline_reduce(node)):
            stored.add(node)
        if op in CALLS:
            stored.update([peel_movement(s) for s in node.src])
        elif op is Ops.INDEX or op is Ops.SCATTER:
            stored.add(node.src[0])
    return stored


def _links_of_long_chains(order: list[UOp], consumers: dict[UOp, list[UOp]]) -> set[UOp]:
    """Arrays between writes of boxes that nobody reads after the next write, in chains of more than `MAX_BOXES`."""
    lengths: dict[UOp, int] = {}  # of the chain up to a write
    before: dict[UOp, UOp] = {}  # a write -> the link that it is made on
    positions: dict[UOp, int] = {}
    for position, node in enumerate(order):
        positions[node] = position
        write = box_write(node)
        if write is None or not write.is_small:
            continue
        lengths[node] = 1 + lengths.get(write.base, 0)
        if write.base in lengths:
            before[node] = write.base
    stored: set[UOp] = set()
    in_long_chains: set[UOp] = set()
    for node, n in reversed(lengths.items()):
        if node in before and (n > MAX_BOXES or node in in_long_chains):
            in_long_chains.add(before[node])
            if _is_read_until(positions[node], before[node], consumers, positions):
                stored.add(before[node])
    return stored


def _is_read_until(last: int, node: UOp, consumers: dict[UOp, list[UOp]], positions: dict[UOp, int]) -> bool:
    """Whether all that reads `node`, through movement too, comes no later than the node of position `last`."""
    stack = [node]
    while stack:
        for reader in consumers[stack.pop()]:
            if positions.get(reader, last + 1) > last:
                return False
            if reader.op in MOVEMENT:
                stack.append(reader)
    return True


def _store_what_is_dear(order: list[UOp], consumers: dict[UOp, list[UOp]], stored: set[UOp]) -> dict[UOp, float]:
    """Forward pass. Adds to `stored`; returns what it costs to compute an element of each node from memory."""
    costs: dict[UOp, float] = {}
    sizes: dict[UOp, float] = {}
    folds: dict[UOp, int] = {}
    for node in order:
        op = node.op
        if op in LEAVES and op is not Ops.RANDOM:
            costs[node] = sizes[node] = 0.0
            folds[node] = 0
            continue
        cost = _cost_from_sources(node, costs, stored)
        # each consumer counts its share of a source, which is exact when all of them end in one kernel
        size = 0.0 if op in MOVEMENT else 1.0
        n_folds = 0
        for s in node.src:
            size += sizes[s] / len(consumers[s])
            n_folds = max(n_folds, folds[s])
        is_dear = cost >= CHEAP_TO_REDO_AT_MANY_PLACES
        if size > MAX_KERNEL_OPS or (is_dear and _n_moved(consumers[node]) > 1):
            stored.add(node)
        if op is Ops.EXPAND and cost:
            if _grows_inside(node):
                cost = _cost_of_broadcast(node, cost)
            elif is_dear:
                stored.add(peel_reshape(node.src[0]))
                cost = 0.0
        n_folds += op is Ops.RESHAPE and _folds_what_moved(node)
        if n_folds > MAX_FOLDS:
            stored.add(peel_reshape(node))
            cost, size, n_folds = 0.0, 0.0, 0
        if node in stored:
            cost, size, n_folds = 0.0, 0.0, 0
        costs[node], sizes[node], folds[node] = cost, size, n_folds
    return costs


def _cost_from_sources(node: UOp, costs: dict[UOp, float], stored: set[UOp]) -> float:
    """What an element of `node` costs, by the costs of its sources."""
    cost = _COSTS.get(node.op, 0.0)
    for s in node.src:
        cost += costs[s]
    if node.op is Ops.REDUCE and node not in stored:
        return (cost + 1.0) * prod(node.src[0].shape[len(node.shape) :])
    return cost


def _cost_of_broadcast(node: UOp, cost: float) -> float:
    """Of an EXPAND that grows inside: its source is computed once for all of these elements."""
    return cost * node.src[0].size / max(node.size, 1)


def _n_moved(consumers: list[UOp]) -> int:
    return sum([c.op in MOVEMENT for c in consumers])


def _folds_what_moved(node: UOp) -> bool:
    """Whether this RESHAPE joins or splits axes that another movement op has changed."""
    return peel_reshape(node).op in MOVEMENT


def _grows_inside(expand: UOp) -> bool:
    """Whether only trailing axes grow: then the value stands still in the inner loops and is computed once."""
    old, new = expand.src[0].shape, expand.shape
    grown = [axis for axis in range(len(new)) if old[axis] != new[axis]]
    return not grown or all(n == 1 for n in old[grown[0] :])


def _store_what_is_computed_twice(
    order: list[UOp], consumers: dict[UOp, list[UOp]], stored: set[UOp], costs: dict[UOp, float]
) -> dict[UOp, float]:
    """Backward pass: a node that two kernels would compute, or one kernel at two places, is stored when that costs more
    than reading it. Adds to `stored`; returns what has been added, with the least cost that is one.

    The second may be far apart from the movement that is the reason: of ``y * a + roll(y * b)`` it is `y`.
    """
    added: dict[UOp, float] = {}
    homes: dict[UOp, UOp | None] = {}  # the one kernel a node is computed in; None: several, or none
    places = _Places()
    for node in reversed(order):
        if node in stored:
            homes[node] = node
            continue
        users = consumers[node]
        home = homes[users[0]] if users else None
        for c in users:
            if homes[c] is not home:
                home = None
                break
        many = places.are_many(node, users, stored)
        homes[node] = home
        if many or home is None:
            enough = CHEAP_TO_REDO_IN_MANY_KERNELS if home is None else CHEAP_TO_REDO_AT_MANY_PLACES
            if costs[node] >= enough and node.op not in _CHEAP_TO_REDO:
                stored.add(node)
                added[node] = enough
                homes[node] = node
    return added


def _redo_what_is_cheap_by_now(order: list[UOp], stored: set[UOp], added: dict[UOp, float]) -> None:
    """Forward pass: of the nodes that were `added` those are not stored that cost little beside what is stored below
    them. Of ``1 / (1 + exp(-x))``, all of which a gradient reads, the exponential alone becomes memory.
    """
    if len(added) < 2:
        return
    costs: dict[UOp, float] = {}
    for node in order:
        if node.op in LEAVES and node.op is not Ops.RANDOM:
            costs[node] = 0.0
            continue
        cost = _cost_from_sources(node, costs, stored)
        if node in added and cost < added[node]:
            stored.remove(node)
        if node.op is Ops.EXPAND and _grows_inside(node):
            cost = _cost_of_broadcast(node, cost)
        costs[node] = 0.0 if node in stored else cost


class _Places:
    """Where nodes are computed, seen from the element that their kernel computes: the movement ops on the way down."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, UOp], int] = {}  # of the place that an op leads to from another
        self.of: dict[UOp, int | None] = {}  # 0 is the element itself; None where nothing is computed

    def are_many(self, node: UOp, consumers: list[UOp], stored: set[UOp]) -> bool:
        """Whether a node that is not stored is computed at more than one place; its consumers have been asked for."""
        found: int | None = None
        for c in consumers:
            place = 0 if c in stored else self.of[c]
            if place is not None and place != _MANY and c.op in _CHANGES_PLACE:
                place = self.numbers.setdefault((place, c), len(self.numbers) + 1)
            if found is None:
                found = place
            elif place is not None and place != found:
                found = _MANY  # and so are those of what it is made of: an op leads from two places to two
        self.of[node] = found
        return found == _MANY


# --------------------------------------------------------------------------------------------- what runs as one kernel


@dataclass(eq=False)
class Group:
    """Stored nodes that are computed together.

    Attributes:
        roots: the stored nodes, sources before consumers.
        full: the iteration space; the shape of elementwise roots, and of what reductions reduce.
        n_reduced: trailing axes of `full` that its reductions reduce; 0 while all roots are elementwise.
        reads: stored nodes and PARAMs that it takes from memory.
        size: ops in its kernel.
        is_turned: see `_Reads`; loops have one order, so a sum over rows and one over columns are two kernels.
    """

    roots: list[UOp]
    full: tuple[int, ...]
    n_reduced: int
    reads: set[UOp]
    size: float
    is_turned: bool = False
    alone: bool = False  # nothing may join it

    @property
    def kept(self) -> tuple[int, ...]:
        return self.full[: len(self.full) - self.n_reduced]


@dataclass
class _Reads:
    """What the kernel of one root reads: `at_element` only at the element that is being computed, `elsewhere` at
    others too. `is_turned`: something lies in memory along another axis than the last one.
    """

    at_element: set[UOp] = field(default_factory=set[UOp])
    elsewhere: set[UOp] = field(default_factory=set[UOp])
    size: int = 0
    is_turned: bool = False


def _reads_of(root: UOp, stored: set[UOp]) -> _Reads:
    reads = _Reads()
    seen: set[tuple[UOp, bool, bool]] = set()
    starts_at_element = root.op in ELEMENTWISE or root.op is Ops.REDUCE or root.op is Ops.MATERIALIZE
    inside = starts_at_element and not (root.op is Ops.REDUCE and is_inline_reduce(root))
    stack = [(s, inside, False) for s in root.src]
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        node, at_element, turned = state
        if node in stored or node.op is Ops.PARAM:
            (reads.at_element if at_element else reads.elsewhere).add(node)
            reads.is_turned = reads.is_turned or turned
            continue
        if (node, at_element, not turned) not in seen:
            reads.size += node.op not in MOVEMENT
        turned ^= node.op is Ops.PERMUTE and _moves_last(node)  # twice is not at all
        inside = at_element and node.op in ELEMENTWISE
        stack.extend([(s, inside, turned) for s in node.src])
    return reads


def _moves_last(permute: UOp) -> bool:
    """Whether the last axis longer than 1 is another one afterwards."""
    shape, axes = permute.src[0].shape, permute.arg
    long_ones = [axis for axis in axes if shape[axis] != 1]
    return bool(long_ones) and long_ones[-1] != max(long_ones)


def group_nodes(stored: set[UOp], order: list[UOp]) -> list[Group]:
    """Groups of `stored` in an order in which they can run."""
    groups: list[Group] = []
    home: dict[UOp, int] = {}
    last_reader: dict[UOp, int] = {}
    calls: dict[Hashable, int] = {}
    for node in order:
        if node not in stored:
            continue
        if node.op in CALLS:
            call = key_of_call(node, node.src)
            if call in calls:
                groups[calls[call]].roots.append(node)
                home[node] = calls[call]
                continue
            calls[call] = len(groups)
        reads = _reads_of(node, stored)
        alone = node.op in _ALONE or _writes_box(node, stored)
        where = None if alone else _joinable(node, reads, groups, home, last_reader)
        if where is None:
            where = len(groups)
            groups.append(_group_of(node, reads, alone))
        else:
            _join(groups[where], node, reads)
        home[node] = where
        for read in reads.at_element | reads.elsewhere:
            last_reader[read] = max(where, last_reader.get(read, 0))
    return groups


def _writes_box(node: UOp, stored: set[UOp]) -> bool:
    """Whether this is a kernel that may write a box of an array that is there, see `loop/windows.py`."""
    write = box_write(node)
    return write is not None and write.is_small and (write.base in stored or write.base.op is Ops.PARAM)


def _group_of(node: UOp, reads: _Reads, alone: bool) -> Group:
    everything = reads.at_element | reads.elsewhere
    if node.op is Ops.REDUCE and not is_inline_reduce(node):
        return Group([node], node.src[0].shape, node.arg[1], everything, reads.size + 1, reads.is_turned)
    return Group([node], node.shape, 0, everything, reads.size + 1, reads.is_turned, alone)


def _joinable(
    node: UOp, reads: _Reads, groups: list[Group], home: dict[UOp, int], last_reader: dict[UOp, int]
) -> int | None:
    """The group that `node` can be computed in, besides what is there already."""
    everything = reads.at_element | reads.elsewhere
    producers = {home[read] for read in everything if read in home}
    neighbours = {last_reader[read] for read in everything if read in last_reader}
    for candidate in sorted(producers | neighbours, reverse=True):
        group = groups[candidate]
        others = producers - {candidate}
        if others and max(others) >= candidate:
            continue
        if any(read in reads.elsewhere for read in group.roots):
            continue
        if _fits(node, reads, group):
            return candidate
    return None


def _fits(node: UOp, reads: _Reads, group: Group) -> bool:
    if group.alone or len(group.roots) >= MAX_KERNEL_OUTPUTS or group.size + reads.size > MAX_KERNEL_OPS:
        return False
    one_order = reads.is_turned == group.is_turned
    if node.op is Ops.REDUCE and not is_inline_reduce(node):
        return one_order and node.src[0].shape == group.full and group.n_reduced in (0, node.arg[1])
    if group.n_reduced and node.shape == group.kept:
        return any(root in reads.at_element for root in group.roots)
    return (one_order or not group.n_reduced) and node.shape == group.full


def _join(group: Group, node: UOp, reads: _Reads) -> None:
    if node.op is Ops.REDUCE and not is_inline_reduce(node):
        group.n_reduced = node.arg[1]
    group.roots.append(node)
    group.reads |= reads.at_element | reads.elsewhere
    group.size += reads.size + 1
