"""Kernel -> loop nest: the statements of a kernel inside the loops that suit them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from uopc_core.costs import (
    CROSSED_ELEMENTS,
    LEAST_CROSSED,
    MAX_COPIES,
    MAX_PARTS,
    MAX_SEGMENTS,
    MAX_STATEMENTS,
    PART_ELEMENTS,
    TILE_ROOMS,
    TILES,
)
from uopc_core.dtype import is_inexact
from uopc_core.ir.op import Ops
from uopc_core.loop.index import Index, Var, unflatten
from uopc_core.loop.loop_ir import (
    Acc,
    Accumulate,
    Block,
    CheckIndex,
    IndexValue,
    Item,
    Loop,
    RowReduce,
    Scan,
    Scope,
    Statement,
    TileReduce,
    Unless,
)
from uopc_core.loop.optimise import collapse, crossing_loop, depths_of, find_thresholds, order_loops, strided_accesses
from uopc_core.loop.rangeify import Coords
from uopc_core.loop.space import (
    IN_TURN,
    NO_AXES,
    Axes,
    BoundKernel,
    Lower,
    Lowered,
    Space,
    empty_accesses,
    is_ordered,
    lower_check,
    lower_copy,
    lower_kernel,
    lower_scan,
    lower_updates,
    settle,
    space_of,
)
from uopc_core.records import record

__all__ = [
    "CROSSED_ELEMENTS",
    "Nest",
    "build_nest",
    "mark_parallel",
    "order_reduced",
    "place_map",
    "place_rows",
    "tile_of",
    "tile_room",
    "tile_size",
    "wrap_loops",
]


@record(slots=True)
class Nest:
    """A kernel as loops: `extent` is that of the parallel loop, `letter` says which kind of kernel it is, `parts` are
    those of its function.
    """

    body: Block
    extent: int
    letter: str
    parts: tuple[Acc, ...] = ()


Placed = list[tuple[int, Item]]


def build_nest(call: BoundKernel) -> Nest:
    """The loops of one kernel, after those that check the indices of gathers and scatters of no elements."""
    nest = _nest_of(call)
    checks = _checks(call)
    if not checks:
        return nest
    return replace(nest, body=(*checks, *nest.body), extent=max(1, nest.extent))


def _checks(call: BoundKernel) -> Block:
    """Loops over indices that no loop over elements reads, since there are none: they may still be out of bounds."""
    block: Block = ()
    for number, (shape, indices) in enumerate(empty_accesses(call.kernel)):
        name = f"{call.prefix}c{number}_"
        lowered, axes, _ = settle(lower_check(call, shape, indices, name), Axes.of(indices[0].shape, name), NO_AXES)
        loops, (statements,) = collapse(axes.loops, 0, [lowered.statements])
        placed: Iterable[tuple[int, Item]] = depths_of(statements, loops, {})
        block = (*block, Scope(wrap_loops(loops, list(placed), 0, simd=False)))
    return block


def _nest_of(call: BoundKernel) -> Nest:
    root = call.kernel.outputs[0]
    if root.op is Ops.SCATTER:
        return _scatter_nest(call)
    if root.op is Ops.SCAN:
        return _scan_nest(call)
    space = space_of(call.kernel)
    lower = lower_kernel(call, space)
    if 0 in space.kept:
        return Nest((), 0, "E")
    if not space.reductions:
        return _map_nest(lower, Axes.of(space.kept, "i"))
    return _reduce_nest(lower, space)


def wrap_loops(order: Sequence[Var], placed: Placed, level: int = 0, simd: bool = True, tiled: bool = False) -> Block:
    """Statements with their depths -> the loops of `order` from number `level` on, around them.

    Args:
        simd: iterations of the innermost loop do not depend on each other.
        tiled: the last two run in blocks.
    """
    block: Block = ()
    for depth in range(len(order), level - 1, -1):
        here = tuple([item for d, item in placed if d == depth])
        block = here + block
        if depth > level:
            innermost = depth == len(order)
            vectorizable = simd and innermost and _is_vectorizable(here)
            block = (Loop(order[depth - 1], block, False, vectorizable, tiled and depth == len(order) - 1),)
    return block


def _is_vectorizable(block: Block) -> bool:
    return not any(isinstance(item, CheckIndex) for item in block)


def mark_parallel(block: Block, parallel: bool = True) -> Block:
    """With the outermost loops run by the caller's part of their range, or all of it by every caller."""
    out: list[Item] = []
    for item in block:
        if isinstance(item, Loop):
            item = replace(item, parallel=parallel)
        elif isinstance(item, TileReduce):
            item = replace(item, parallel=parallel)
        elif isinstance(item, Scope):
            item = Scope(mark_parallel(item.body, parallel))
        out.append(item)
    return tuple(out)


# ---------------------------------------------------------------------------------------------------------- elementwise


def _map_nest(lower: Lower, axes: Axes) -> Nest:
    lowered, axes, _ = settle(lower, axes, NO_AXES)
    builder = _MapBuilder(lower, axes, order_loops(axes.loops, lowered.statements))
    body = builder.build(lowered.statements)
    return Nest(mark_parallel(body), builder.extent, "E")


class _MapBuilder:
    """Builds the loops of an elementwise kernel, cutting them where a condition on their variable changes.

    Index-set splitting (Banerjee 1979): each piece has a body in which the condition is known.
    """

    def __init__(self, lower: Lower, axes: Axes, order: Sequence[Var]) -> None:
        self.lower = lower
        self.axes = axes
        self.original = tuple(order)
        self.copies = 1
        self.extent = order[0].extent if order else 1

    def build(self, statements: list[Statement]) -> Block:
        hoisted, block = self.piece(statements, self.original, 0, frozenset())
        assert not hoisted, hoisted
        return block

    def piece(
        self, statements: list[Statement], order: tuple[Var, ...], level: int, done: frozenset[int]
    ) -> tuple[Block, Block]:
        """What is inside of the first `level` loops, after what may stand outside of the last of them."""
        for position in range(level, len(order)):
            cuts = [] if position in done else find_thresholds(statements, order[position])
            if cuts:
                bounds, whole = self.segments(order[position], cuts, len(statements))
                if len(bounds) > 2:
                    block = self.cut(order, position, bounds, done | {position} if not whole else done)
                    for depth in range(position - 1, level - 1, -1):
                        block = (Loop(order[depth], block),)
                    return (), block
        return self.finish(statements, order, level)

    def segments(self, var: Var, cuts: list[int], n_statements: int) -> tuple[list[int], bool]:
        """Bounds of the pieces of a loop, and whether it is cut everywhere, not only around the widest piece."""
        bounds = [var.lo, *cuts, var.hi]
        n = len(bounds) - 1
        if self.copies + n > MAX_COPIES + 1 or n > MAX_SEGMENTS or n * n_statements > MAX_STATEMENTS:
            a, b = max(pairwise(bounds), key=lambda piece: piece[1] - piece[0])
            bounds = sorted({var.lo, a, b, var.hi})
            n = len(bounds) - 1
            if self.copies + n > MAX_COPIES + 1:
                return [var.lo, var.hi], False
            self.copies += n - 1
            return bounds, False
        self.copies += n - 1
        return bounds, True

    def cut(self, order: tuple[Var, ...], position: int, bounds: list[int], done: frozenset[int]) -> Block:
        items: list[Item] = []
        for lo, hi in pairwise(bounds):
            var = Var(order[position].name, lo, hi)
            narrowed = (*order[:position], var, *order[position + 1 :])
            statements = self.lower(self.at(narrowed), ()).statements
            hoisted, block = self.piece(statements, narrowed, position + 1, done)
            simd = position == len(order) - 1 and _is_vectorizable(block)
            loop = Loop(var, block, simd=simd)
            items.append(Scope((*hoisted, loop)) if hoisted else loop)
        return tuple(items)

    def at(self, order: tuple[Var, ...]) -> Coords:
        values = {old: Index.of(new) for old, new in zip(self.original, order, strict=True) if old != new}
        return tuple([index.substitute(values) for index in self.axes.at])

    def finish(self, statements: list[Statement], order: tuple[Var, ...], level: int) -> tuple[Block, Block]:
        loops, (merged,) = collapse(order, level, [statements])
        crossing = crossing_loop(loops[level:], merged)
        if crossing is not None:
            loops.remove(crossing)
            loops.insert(len(loops) - 1, crossing)
        if level == 0 and loops:
            self.extent = loops[0].extent
        placed = depths_of(merged, loops, {})
        hoisted = tuple([s for depth, s in placed if depth < level])
        return hoisted, wrap_loops(loops, list(placed), level, tiled=crossing is not None)


# ----------------------------------------------------------------------------------------------------------- reductions


def _reduce_nest(lower: Lower, space: Space) -> Nest:
    lowered, kept, reduced = settle(lower, Axes.of(space.kept, "i"), Axes.of(space.reduced, "r"))
    kept_loops, (pre, post) = collapse(kept.loops, 0, [lowered.statements, lowered.post])
    red_loops, (pre,) = collapse(order_reduced(reduced.loops, lowered.accs, pre), 0, [pre])
    tile = tile_of(kept_loops, red_loops, pre)
    if tile is None:
        body = row_reduce(kept_loops, red_loops, Lowered(pre, post, lowered.accs))
        return Nest(mark_parallel(body), kept_loops[0].extent, "R") if kept_loops else _in_parts(body, len(red_loops))
    n = prod(space.reduced)
    ordered = n > IN_TURN and any(map(is_ordered, lowered.accs))
    if ordered and len(red_loops) > 1:  # numbered in the order of the axes, by quotients, once for a row of columns
        whole = Var("r", 0, n)
        lowered = lower(kept.at, tuple(unflatten(Index.of(whole), space.reduced)))
        kept_loops, (pre, post) = collapse(kept.loops, 0, [lowered.statements, lowered.post])
        red_loops = [whole]
        tile = tile_of(kept_loops, red_loops, pre) or kept_loops[-1]
    kept_loops.remove(tile)
    body = tile_reduce(kept_loops, red_loops, tile, Lowered(pre, post, lowered.accs), ordered)
    return Nest(
        mark_parallel(body), kept_loops[0].extent if kept_loops else -(-tile.extent // tile_size(tile.extent)), "R"
    )


def _in_parts(body: Block, n_loops: int) -> Nest:
    """A reduction to one number: where it is long, of parts that any thread may take.

    A part has a power of two of the blocks that are combined as a binary counter carries, so parts are combined as
    their blocks would be, and no bit is another.
    """
    number = next((k for k, item in enumerate(body) if isinstance(item, RowReduce)), None)
    item = None if number is None else body[number]
    if not isinstance(item, RowReduce) or n_loops > 2 or item.crossed is not None or _may_stop_early(item):
        return Nest(body, 1, "R")
    n, part = item.extent * item.repeats, PART_ELEMENTS
    while -(-n // part) > MAX_PARTS:
        part *= 2
    if n <= part:
        return Nest(body, 1, "R")
    cut = (*body[:number], replace(item, part=part), *body[body.index(item) + 1 :])
    return Nest(cut, -(-n // part), "R", item.accs)


def _may_stop_early(item: RowReduce) -> bool:
    """Whether this may be a search for the first place where something holds: the extreme of places."""
    loops = [loop for loop in item.body if isinstance(loop, Loop)]
    is_extreme = all(acc.op in (Ops.MIN, Ops.MAX) and not is_inexact(acc.dtype) for acc in item.accs)
    return is_extreme and any(isinstance(s, IndexValue) for loop in loops for s in loop.body)


def order_reduced(loops: Sequence[Var], accs: Iterable[Acc], statements: Sequence[Statement]) -> list[Var]:
    """The reduced loops from the outside in: as memory wants it, unless the order of the elements matters."""
    return list(loops) if any(map(is_ordered, accs)) else order_loops(loops, statements, by_stride=True)


def tile_size(extent: int) -> int:
    """How many of `extent` columns are reduced side by side."""
    return next(tile for least, tile in TILES if extent >= least)


def tile_room(extent: int) -> int:
    """How many of `extent` columns there is memory for."""
    return extent if extent <= 16 else next(room for room in TILE_ROOMS if room >= tile_size(extent))


def tile_of(kept: Sequence[Var], reduced: Sequence[Var], statements: Sequence[Statement]) -> Var | None:
    """The kept axis to work along, where that goes through memory in order and the reduced ones do not."""
    if not kept or not reduced:
        return None
    costs = {var: strided_accesses(statements, var) for var in kept}
    best = min(reversed(kept), key=lambda var: costs[var])
    return best if costs[best] < strided_accesses(statements, reduced[-1]) else None


def row_reduce(kept: Sequence[Var], reduced: Sequence[Var], lowered: Lowered) -> Block:
    """Loops over `kept`; inside of them those over `reduced`, the last along memory."""
    return wrap_loops(kept, place_rows(kept, reduced, lowered, {}), simd=not lowered.accs)


def place_rows(
    kept: Sequence[Var], reduced: Sequence[Var], lowered: Lowered, known: dict[str, int], rows: Container[int] = ()
) -> Placed:
    """What `row_reduce` puts into the loops over `kept`.

    Args:
        known: depths of results that exist already; the accumulators are added.
        rows: buffers that are written inside of all those loops, so that reading them may not move out.
    """
    n = len(kept)
    ordered = any(map(is_ordered, lowered.accs))
    crossed = _crossed_loop(reduced, lowered.statements) if ordered else None
    order = [*kept, *reduced]
    if crossed is not None:
        order[-2:] = [order[-1], crossed]
    pre = depths_of(lowered.statements, order, known, rows, n)
    known.update({acc.name: n for acc in lowered.accs})
    post = depths_of(lowered.post, kept, known, rows, n)
    inner = [(d, s) for d, s in pre if d > n or isinstance(s, Accumulate)]
    placed: Placed = [(d, s) for d, s in pre if d <= n and not isinstance(s, Accumulate)]
    placed += [(d, s) for d, s in post if d < n]
    if lowered.accs:
        body = wrap_loops(order, list(inner), n)
        repeats = prod(var.extent for var in reduced[:-1])
        extent = reduced[-1].extent if reduced else 1
        placed.append((n, RowReduce(lowered.accs, body, extent, repeats, ordered, crossed)))
    placed += [(d, s) for d, s in post if d == n]
    return placed


def _crossed_loop(reduced: Sequence[Var], statements: Sequence[Statement]) -> Var | None:
    """The last but one of the loops, where memory is to be read along it, and elements come in order by a detour."""
    if (
        len(reduced) < 2
        or reduced[-1].extent > CROSSED_ELEMENTS
        or min(var.extent for var in reduced[-2:]) < LEAST_CROSSED
    ):
        return None
    outer, inner = reduced[-2:]
    return outer if strided_accesses(statements, outer) < strided_accesses(statements, inner) else None


def place_map(
    kept: Sequence[Var],
    inner: Sequence[Var],
    statements: Sequence[Statement],
    known: dict[str, int],
    rows: Container[int],
) -> Placed:
    """What an elementwise kernel puts into the loops over `kept`: its own loops over `inner`."""
    n = len(kept)
    placed: Placed = [*depths_of(statements, [*kept, *inner], known, rows, n)]
    if not inner:
        return placed
    here: Placed = [(d, s) for d, s in placed if d <= n]
    loops = wrap_loops([*kept, *inner], [(d, s) for d, s in placed if d > n], n)
    return [*here, *[(n, item) for item in loops]]


def tile_reduce(kept: Sequence[Var], reduced: Sequence[Var], tile: Var, lowered: Lowered, ordered: bool) -> Block:
    """Loops over `kept`; inside of them those over `reduced`, and innermost along the kept axis `tile`."""
    n = len(kept)
    order = [*kept, *reduced, tile]
    known: dict[str, int] = {}
    pre = depths_of(lowered.statements, order, known)
    known.update({acc.name: n + 1 for acc in lowered.accs})
    post = depths_of(lowered.post, [*kept, tile], known)
    placed: Placed = [(d, s) for d, s in (*pre, *post) if d <= n]
    body = wrap_loops(order, [(d, s) for d, s in pre if d > n], n)
    after = wrap_loops([*kept, tile], [(d, s) for d, s in post if d > n], n)
    placed.append((n, TileReduce(lowered.accs, tile, body, after, reduced[0] if ordered else None)))
    return wrap_loops(kept, placed, 0, simd=False)


# --------------------------------------------------------------------------------------------------- scans and scatters


def _scan_nest(call: BoundKernel) -> Nest:
    space = space_of(call.kernel)
    if 0 in space.full:
        return Nest((), 0, "S")
    lowered, kept, last = settle(lower_scan(call), Axes.of(space.kept, "i"), Axes.of(space.reduced, "r"))
    kept_loops, (statements,) = collapse(kept.loops, 0, [lowered.statements])
    last_loops, (statements,) = collapse(last.loops, 0, [statements])
    n = len(kept_loops)
    order = [*kept_loops, *last_loops]
    acc = lowered.accs[0]
    known = {acc.name: len(order)}
    pre = depths_of(statements, order, known)
    body = wrap_loops(order, [(d, s) for d, s in pre if d > n or d == len(order)], n, simd=False)
    placed: Placed = [(d, s) for d, s in pre if d <= n and d != len(order)]
    placed.append((n, Scan(acc, body)))
    block = wrap_loops(kept_loops, placed, 0, simd=False)
    if not kept_loops:
        return Nest(block, 1, "S")
    return Nest(mark_parallel(block), kept_loops[0].extent, "S")


def _scatter_nest(call: BoundKernel) -> Nest:
    node = call.kernel.outputs[0]
    base, value, first_index = node.src[0], node.src[1], node.src[2]
    copy: Block = ()
    if base.size:
        lowered, axes, _ = settle(lower_copy(call), Axes.of(base.shape, "i"), NO_AXES)
        copy = _MapBuilder(lower_copy(call), axes, axes.loops).build(lowered.statements)
    source = call.params[base.arg[0]] if base.op is Ops.PARAM else None
    if isinstance(source, int) and copy:
        assert call.targets[0] is not None, node
        copy = (Unless((call.targets[0], source), copy),)
    if not value.size:
        return Nest(copy, 1, "U")
    n = len(first_index.shape)
    axes = Axes.of(value.shape, "i")
    indexed = Axes(axes.loops[: sum(extent > 1 for extent in value.shape[:n])], ())
    statements = lower_updates(call)(axes.at, ()).statements
    loops, (statements,) = collapse(axes.loops, len(indexed.loops), [statements])
    placed: Iterable[tuple[int, Item]] = depths_of(statements, loops, {})
    updates = wrap_loops(loops, list(placed), 0, simd=len(loops) > len(indexed.loops))
    return Nest((*copy, Scope(updates)), 1, "U")
