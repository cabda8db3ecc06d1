"""Reads of memory that a condition guards, and the pieces of a loop in which such a condition is known.

What a guard keeps from being read may lie outside of the buffer. In C it is not read; but compilers make vectors of
conditional loads with a mask, and gcc 12 reads all of the vector where it knows the mask while it compiles, as in short
loops. So the index of no load needs its condition to be inside of the buffer:

- an innermost loop is cut where a condition on its variable changes, and written once for each range of the variables
  around it, so that each piece reads always or never;
- what is left, as conditions on several variables, is read at an index that is moved into the buffer. Its bounds are
  run-time parameters: no compiler can tell the moved index from one that needed no moving.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from uopc_core.codegen.c_types import element
from uopc_core.codegen.c_writer import Writer
from uopc_core.codegen.helpers import helper
from uopc_core.costs import MAX_PIECES, MAX_STATEMENTS
from uopc_core.loop.index import Cond, Index, Value, Var, atoms_of
from uopc_core.loop.loop_ir import Load, Loop, LoopNest, Statement
from uopc_core.loop.optimise import find_thresholds

__all__ = ["AccessWriter"]


class AccessWriter(Writer):
    """Knows the buffers of a function, and what the conditions are where it writes.

    Attributes:
        known: loop variables that are written inside of a piece of their loop, and that piece.
        along: the variable of the innermost loop, where it runs along memory.
    """

    def __init__(self, function: LoopNest) -> None:
        super().__init__()
        self.function = function
        self.pointers = _pointer_names(function)
        self.known: dict[Var, Index] = {}
        self.along: Var | None = None

    def windows(self) -> None:
        """Have the pointers to windows point to where they begin: the first of the lifted integers."""
        for buffer, pointer in zip(self.function.buffers, self.pointers, strict=True):
            if buffer.offset is not None:
                self.line(f"{pointer} += {self.lift(buffer.offset)};")

    def need_clip(self) -> None:
        """Have MIN and MAX."""
        helper(self.need, "MIN")

    # --- conditions ---

    def unknown(self, conds: Sequence[Cond]) -> list[Cond] | None:
        """Those of `conds` that may or may not hold here; None where one does not hold."""
        truths = [Cond(self._here(cond.expr)).truth for cond in conds]
        if False in truths:
            return None
        return [cond for cond, truth in zip(conds, truths, strict=True) if truth is None]

    def holds(self, conds: Sequence[Cond]) -> str:
        """Whether all of `conds` hold."""
        unknown = self.unknown(conds)
        return "0" if unknown is None else self.condition(unknown) if unknown else "1"

    def _here(self, index: Index) -> Index:
        return index.substitute(self.known) if self.known else index

    # --- loads ---

    def load(self, s: Load) -> str:
        """The element that a load asks for, or 0."""
        unknown = self.unknown(s.guard)
        if unknown is None:
            return "0"
        pointer = self.pointers[s.buffer]
        if not unknown:
            return element(f"{pointer}[{self.index(s.index)}]", s.dtype)
        return f"{self.condition(unknown)} ? {element(f'{pointer}[{self._index_inside(s, unknown)}]', s.dtype)} : 0"

    def _is_inside(self, s: Load) -> bool:
        """Whether the index is inside of the buffer whatever the guard."""
        index = self._here(s.index)
        return index.lo >= 0 and index.hi < self.function.buffers[s.buffer].size

    def _index_inside(self, s: Load, unknown: Sequence[Cond]) -> str:
        """The index of a load, inside of the buffer also where its guard does not hold.

        Where it does hold the index is inside, so moving it there changes nothing. If no condition that is left speaks
        of the loop over memory, that is so at both of its ends: it is enough then to move what stands still in the
        loop, and the load stays a run of memory.
        """
        if self._is_inside(s):
            return self.index(s.index)
        helper(self.need, "within")
        last = self.function.buffers[s.buffer].size - 1
        step = s.index.coef(self.along) if self.along is not None else 0
        if step and self.along is not None:
            run = Index(((self.along, step),), 0)
            still, ends = s.index - run, self._here(run)
            stands = not any(self._varies(expr) for expr in (still, *[cond.expr for cond in unknown]))
            if stands and ends.hi - ends.lo <= last:
                first, last = self.lift(-ends.lo), self.lift(last - ends.hi)
                return f"{self.index(run)} + within({self.index(still)}, {first}, {last})"
        return f"within({self.index(s.index)}, {self.lift(0)}, {self.lift(last)})"

    def _varies(self, expr: Index) -> bool:
        """Whether an expression may change from one iteration of the innermost loop to the next."""
        return any(atom == self.along or isinstance(atom, Value) for atom in atoms_of(expr))

    # --- pieces ---

    def pieces(self, statements: Sequence[Statement], loop: Loop) -> Iterator[Var]:
        """The pieces of an innermost loop; what is written before the next is asked for is inside of one.

        All of them are there once for each range of the variables of outer loops in which a condition is known.
        """
        cuts = self._cuts(statements, loop.var)
        inner = cuts.pop(loop.var, [])
        self.along = loop.var
        for _ in self._ranges(list(cuts.items())):
            for piece in _cut(loop.var, inner):
                if inner:
                    self.known[loop.var] = Index.of(piece)
                yield piece
                self.known.pop(loop.var, None)
        self.along = None

    def _cuts(self, statements: Sequence[Statement], var: Var) -> dict[Var, list[int]]:
        """Where conditions change that keep `statements` from reading too far: of an innermost loop, and around it."""
        guarded = [s for s in statements if isinstance(s, Load) and s.guard and not self._is_inside(s)]
        outer = [other for other in reversed(self.loop_names) if other != var]
        cuts = {v: thresholds for v in (var, *outer) if (thresholds := find_thresholds(guarded, v))}
        while cuts:
            n = prod(len(thresholds) + 1 for thresholds in cuts.values())
            if n <= MAX_PIECES and n * len(statements) <= MAX_STATEMENTS:
                break
            cuts.popitem()
        return cuts

    def _ranges(self, cuts: Sequence[tuple[Var, list[int]]]) -> Iterator[None]:
        """Inside of each combination of ranges that variables are cut into."""
        if not cuts:
            yield
            return
        (var, thresholds), *others = cuts
        for piece in _cut(var, thresholds):
            test = f"if ({self.loop_names[var]} < {self.place(piece.hi)})" if piece.hi < var.hi else ""
            self.open(test if piece.lo == var.lo else f"else {test}".rstrip())
            self.known[var] = Index.of(piece)
            yield from self._ranges(others)
            del self.known[var]
            self.close()

    def piece_bounds(self, loop: Loop, piece: Var, lo: str, hi: str, start: str = "") -> tuple[str, str]:
        """The bounds of a piece of a loop.

        Args:
            lo, hi: of the part of the loop that is run; "" for the whole.
            start: where counting starts.
        """
        less = f" - {start}" if start else ""
        if not hi:
            return self.place(piece.lo), self.place(piece.hi)
        if piece.lo != loop.var.lo:
            self.need_clip()
            lo = f"MAX({lo}, {self.place(piece.lo)}{less})"
        if piece.hi != loop.var.hi:
            self.need_clip()
            hi = f"MIN({hi}, {self.place(piece.hi)}{less})"
        return lo, hi


def _cut(var: Var, thresholds: Sequence[int]) -> list[Var]:
    return [Var(var.name, lo, hi) for lo, hi in pairwise([var.lo, *thresholds, var.hi])]


def _pointer_names(function: LoopNest) -> list[str]:
    counts = {"row": 0, "out": 0, "in": 0}
    names: list[str] = []
    for buffer in function.buffers:
        kind = "row" if buffer.scratch else "out" if buffer.written else "in"
        names.append(f"{kind}{counts[kind]}")
        counts[kind] += not buffer.scratch or buffer.size > 0
    return names
