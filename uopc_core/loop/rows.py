"""Several kernels over the same rows as one nest: each row goes through all of them while it is in the cache.

What one kernel hands to the next and nobody else needs never becomes memory of the plan: a number per row stays a local
variable, a whole row goes to scratch. Legal where every access to such a value is at the row that is being computed;
otherwise there is no such nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from math import prod

from uopc_core.costs import LEAST_ROWS, SCRATCH_BYTES, SMALL_ROWS_WORK
from uopc_core.ir.op import Ops
from uopc_core.loop.index import Index, Var, atoms_of, flatten
from uopc_core.loop.loop_ir import Acc, Load, LoopNest, LoopOperand, Statement, Store
from uopc_core.loop.lower import Parameters, finish_function, steps_of, work_of
from uopc_core.loop.nest import Nest, Placed, mark_parallel, order_reduced, place_map, place_rows, tile_of, wrap_loops
from uopc_core.loop.optimise import collapse, find_split, find_thresholds, order_loops, replace_operands
from uopc_core.loop.space import Axes, BoundKernel, Lowered, Space, empty_accesses, lower_kernel, space_of
from uopc_core.schedule.kernel import KernelCall

__all__ = ["lower_rows"]

_MAX_SPLITS = 8  # of a loop, each of which lowers the row again; a concatenation of more parts is no row


@dataclass(slots=True)
class _Phase:
    """One kernel inside of the loops over rows."""

    inner: tuple[Var, ...]
    statements: list[Statement]
    post: list[Statement]
    accs: tuple[Acc, ...]
    reduces: bool


def lower_rows(group: Sequence[KernelCall], needed: AbstractSet[int]) -> LoopNest | None:
    """The function that runs `group` row by row, or None where that is not possible or not worth it."""
    spaces = _spaces_of(group)
    if spaces is None:
        return None
    rows = next(space.kept for space in spaces if space.reductions)
    n_rows = prod(rows)
    roots = [(call.kernel.outputs[0], space.full) for call, space in zip(group, spaces, strict=True)]
    if n_rows == 0 or (n_rows < LEAST_ROWS and sum(steps_of(*root) for root in roots) > SMALL_ROWS_WORK):
        return None
    work = sum(work_of(*root) for root in roots)
    bind, calls = _bind(group, needed)
    outer = Axes.of(rows, "i")
    phases = [_lower_phase(call, space, outer) for call, space in zip(calls, spaces, strict=True)]
    lowered = [phase for phase in phases if phase is not None]
    if len(lowered) < len(phases):
        return None
    inside = _Inside(bind, outer, rows, needed)
    if not inside.rewrite(group, lowered):
        return None
    return _assemble(bind, outer, lowered, inside, work)


def _spaces_of(group: Sequence[KernelCall]) -> list[Space] | None:
    """The iteration spaces, elementwise ones divided at the rows as well; None where they do not share rows."""
    if any(call.kernel.outputs[0].op in (Ops.SCAN, Ops.SCATTER) for call in group):
        return None
    if any(list(empty_accesses(call.kernel)) for call in group):
        return None
    spaces = [space_of(call.kernel) for call in group]
    rows = next((space.kept for space in spaces if space.reductions), None)
    if rows is None or any(0 in space.full for space in spaces):
        return None
    out: list[Space] = []
    for space in spaces:
        if space.reductions:
            divided = space
        else:
            divided = Space(space.kept[: len(rows)], space.kept[len(rows) :], ())
        if divided.kept != rows:
            return None
        out.append(divided)
    return out


def _bind(group: Sequence[KernelCall], needed: AbstractSet[int]) -> tuple[Parameters, list[BoundKernel]]:
    bind = Parameters()
    read = {slot for call in group for slot in call.reads}
    targets: list[tuple[int | None, ...]] = []
    for call in group:
        outputs = zip(call.kernel.outputs, call.outputs, strict=True)
        targets.append(
            tuple(
                [
                    bind.buffer(slot, out.dtype, out.size, True) if slot in needed or slot in read else None
                    for out, slot in outputs
                ]
            )
        )
    prefixes = ["", *"bcdefgh"]
    calls = [
        BoundKernel(call.kernel, bind.params(call), target, prefixes[i] if i < len(prefixes) else f"z{i}")
        for i, (call, target) in enumerate(zip(group, targets, strict=True))
    ]
    return bind, calls


def _lower_phase(call: BoundKernel, space: Space, outer: Axes) -> _Phase | None:
    """The statements of one kernel, its inner loops split as far as that removes quotients."""
    whole = space if space.reductions else Space(space.full, (), ())
    lower = lower_kernel(call, whole)
    inner = Axes.of(space.reduced, f"{call.prefix}r")

    def at(inner: Axes) -> Lowered:
        if space.reductions:
            return lower(outer.at, inner.at)
        return lower((*outer.at, *inner.at), ())

    lowered = at(inner)
    for _ in range(_MAX_SPLITS):
        found = find_split([*lowered.statements, *lowered.post], [*outer.loops, *inner.loops])
        if found is None:
            break
        if found[0] in outer.loops:
            return None
        inner = inner.split(*found)
        lowered = at(inner)
    if not space.reductions and any(find_thresholds(lowered.statements, var) for var in (*outer.loops, *inner.loops)):
        return None  # cutting the loops is worth more
    return _Phase(inner.loops, lowered.statements, lowered.post, lowered.accs, bool(space.reductions))


class _Inside:
    """Rewrites accesses to what stays inside of the function."""

    def __init__(self, bind: Parameters, outer: Axes, rows: tuple[int, ...], needed: AbstractSet[int]) -> None:
        self.bind = bind
        self.needed = needed
        self.outer = outer
        self.n_rows = prod(rows)
        self.row = flatten(outer.at, rows)
        self.numbers: dict[int, LoopOperand] = {}  # buffer -> the number that stands for it
        self.buffers: set[int] = set()

    def rewrite(self, group: Sequence[KernelCall], phases: Sequence[_Phase]) -> bool:
        """Whether it is legal; the statements of `phases` are changed."""
        read = {slot for call in group for slot in call.reads}
        written = [slot for call in group for slot in call.outputs if slot in read and slot in self.bind.number]
        self.buffers = {self.bind.number[slot] for slot in written}
        for phase in phases:
            for part in (phase.statements, phase.post):
                changed = self._rewritten(part)
                if changed is None:
                    return False
                part[:] = changed
        return self._claim_scratch()

    def _claim_scratch(self) -> bool:
        total = 0
        for number in self.buffers - set(self.numbers):
            buffer = self.bind.buffers[number]
            if buffer.slot not in self.needed:
                size = buffer.size // self.n_rows
                total += size * buffer.dtype.itemsize
                self.bind.buffers[number] = replace(buffer, scratch=True, size=size)
        for number in self.numbers:
            buffer = self.bind.buffers[number]
            if buffer.slot not in self.needed:
                self.bind.buffers[number] = replace(buffer, scratch=True, size=0)
        return total <= SCRATCH_BYTES

    def _rewritten(self, statements: Sequence[Statement]) -> list[Statement] | None:
        out: list[Statement] = []
        names: dict[str, LoopOperand] = {}
        for s in statements:
            s = replace_operands(s, names)
            if not isinstance(s, Load | Store) or s.buffer not in self.buffers:
                out.append(s)
                continue
            buffer = self.bind.buffers[s.buffer]
            size = buffer.size // self.n_rows
            offset = self._offset_in_row(s.index, size)
            if offset is None:
                return None
            if isinstance(s, Load) and s.guard:
                return None
            if size == 1:
                self._number(s, names, out)
            elif buffer.slot in self.needed:
                out.append(s)
            else:
                out.append(replace(s, index=offset))
        return out

    def _number(self, s: Load | Store, names: dict[str, LoopOperand], out: list[Statement]) -> None:
        """A value that exists once per row needs no memory inside of the function."""
        if isinstance(s, Load):
            names[s.name] = self.numbers[s.buffer]
            return
        self.numbers[s.buffer] = s.value
        if self.bind.buffers[s.buffer].slot in self.needed:
            out.append(s)

    def _offset_in_row(self, index: Index, size: int) -> Index | None:
        """The offset inside of the current row, or None if the index leaves it."""
        rest = index - self.row * size
        if rest.lo < 0 or rest.hi >= size:
            return None
        return None if any(atom in self.outer.loops for atom in atoms_of(rest)) else rest


def _assemble(bind: Parameters, outer: Axes, phases: Sequence[_Phase], inside: _Inside, work: int) -> LoopNest | None:
    lists = [part for phase in phases for part in (phase.statements, phase.post)]
    kept, lists = collapse(outer.loops, 0, lists)
    placed: Placed = []
    known: dict[str, int] = {}
    for i, phase in enumerate(phases):
        statements, post = lists[2 * i], lists[2 * i + 1]
        order = (
            order_reduced(phase.inner, phase.accs, statements)
            if phase.reduces
            else order_loops(phase.inner, statements)
        )
        loops, (statements,) = collapse(order, 0, [statements])
        if phase.reduces:
            if tile_of(kept, loops, statements) is not None:
                return None
            placed += place_rows(kept, loops, Lowered(statements, post, phase.accs), known, inside.buffers)
        else:
            placed += place_map(kept, loops, statements, known, inside.buffers)
    block = wrap_loops(kept, placed, simd=False)
    if kept:
        return finish_function(bind, Nest(mark_parallel(block), kept[0].extent, "F"), work)
    return finish_function(bind, Nest(block, 1, "F"), work)
