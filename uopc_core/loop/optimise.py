"""Loops around statements: which variables there are, in which order, what is merged and what is split.

Every function takes statements at given coordinates and says how to change the space; the caller lowers again until
nothing changes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from uopc_core.costs import CROSSING_ELEMENTS, JUMP_ELEMENTS
from uopc_core.loop.index import Div, Index, Mod, Value, Var, atoms_of
from uopc_core.loop.loop_ir import (
    Accumulate,
    CheckIndex,
    Compute,
    Effect,
    Load,
    LoopOperand,
    Random,
    Statement,
    Store,
    Update,
    indices_of,
    map_indices,
    operands_of,
)

__all__ = [
    "collapse",
    "crossing_loop",
    "depths_of",
    "find_split",
    "find_thresholds",
    "live_statements",
    "order_loops",
    "replace_operands",
    "strided_accesses",
]


def live_statements(statements: Sequence[Statement]) -> list[Statement]:
    """Those that something needs: stores, accumulations, index checks, and what they take."""
    needed: set[str] = set()
    live: list[Statement] = []
    for s in reversed(statements):
        if not isinstance(s, Effect | CheckIndex) and s.name not in needed:
            continue
        live.append(s)
        needed.update(used_names(s))
    return live[::-1]


def used_names(s: Statement) -> list[str]:
    """The results that a statement depends on."""
    names = [operand for operand in operands_of(s) if isinstance(operand, str)]
    for index in indices_of(s):
        if not index.is_of_loops:
            names += [atom.name for atom in atoms_of(index) if isinstance(atom, Value)]
    return names


def crossing_loop(loops: Sequence[Var], statements: Iterable[Statement]) -> Var | None:
    """A loop along which memory is read in order, where the innermost one makes long jumps, as in a transposition."""
    if len(loops) < 2 or loops[-1].extent < CROSSING_ELEMENTS:
        return None
    for s in statements:
        if isinstance(s, Load | Store) and abs(s.index.coef(loops[-1])) > JUMP_ELEMENTS:
            for var in loops[:-1]:
                if abs(s.index.coef(var)) == 1 and var.extent >= CROSSING_ELEMENTS:
                    return var
    return None


def replace_operands(s: Statement, values: Mapping[str, LoopOperand]) -> Statement:
    """The statement with other operands in the place of those named."""
    if not any(operand in values for operand in operands_of(s) if isinstance(operand, str)):
        return s
    new = tuple([values.get(operand, operand) if isinstance(operand, str) else operand for operand in operands_of(s)])
    if isinstance(s, Compute):
        return replace(s, args=new)
    if isinstance(s, Random):
        return replace(s, key=new[0])
    assert isinstance(s, CheckIndex | Store | Update | Accumulate), s
    return replace(s, value=new[0])


def find_split(statements: Iterable[Statement], candidates: Sequence[Var]) -> tuple[Var, int] | None:
    """A variable whose quotients and remainders vanish when it runs in two loops, the inner one of the given extent."""
    best: tuple[Var, int] | None = None
    for s in statements:
        for index in indices_of(s):
            for atom in atoms_of(index):
                if not isinstance(atom, Div | Mod) or len(atom.expr.terms) != 1 or atom.expr.const:
                    continue
                var, coef = atom.expr.terms[0]
                if coef != 1 or not isinstance(var, Var) or var not in candidates or var.extent % atom.by:
                    continue
                if best is None or atom.by < best[1]:
                    best = (var, atom.by)
    return best


def find_thresholds(statements: Iterable[Statement], var: Var) -> list[int]:
    """Values of `var` inside its range at which a condition on it alone changes."""
    found: set[int] = set()
    for s in statements:
        conds = s.guard if isinstance(s, Load | CheckIndex) else getattr(s, "conds", ())
        for cond in conds:
            threshold = cond.threshold()
            if threshold is not None and threshold[0] == var and var.lo < threshold[1] < var.hi:
                found.add(threshold[1])
    return sorted(found)


def collapse(
    order: Sequence[Var], fixed: int, statements: Sequence[Sequence[Statement]]
) -> tuple[list[Var], list[list[Statement]]]:
    """Merge neighbours of `order` (from number `fixed` on) that every access walks through as through one axis."""
    loops = list(order)
    lists = [list(part) for part in statements]
    i = len(loops) - 2
    while i >= fixed:
        u, v = loops[i], loops[i + 1]
        if u.lo == v.lo == 0 and all(
            _is_one_axis(index, u, v) for part in lists for s in part for index in indices_of(s)
        ):
            merged = Var(f"{u.name}.{v.name}", 0, u.hi * v.hi)
            lists = [[map_indices(s, _merger(u, v, merged)) for s in part] for part in lists]
            loops[i : i + 2] = [merged]
        i -= 1
    return loops, lists


def _is_one_axis(index: Index, u: Var, v: Var) -> bool:
    cu, cv = index.coef(u), index.coef(v)
    if cu != cv * v.extent:
        return False
    return not any(a in (u, v) for atom, _ in index.terms if isinstance(atom, Div | Mod) for a in atoms_of(atom.expr))


def _merger(u: Var, v: Var, merged: Var) -> object:
    def change(index: Index) -> Index:
        coef = index.coef(v)
        if not coef:
            return index
        terms = [(atom, c) for atom, c in index.terms if atom != u and atom != v]
        return Index((*terms, (merged, coef)), index.const)

    return change


def strided_accesses(statements: Iterable[Statement], var: Var) -> int:
    """How many accesses jump in memory when `var` is the innermost loop; a store counts twice."""
    cost = 0
    for s in statements:
        if isinstance(s, Load | Store | Update):
            coef = s.index.coef(var)
            inside = any(
                atom == var
                for outer, _ in s.index.terms
                if isinstance(outer, Div | Mod)
                for atom in atoms_of(outer.expr)
            )
            if abs(coef) > 1 or inside:
                cost += 2 if isinstance(s, Store) else 1
    return cost


def _total_stride(statements: Iterable[Statement], var: Var) -> int:
    return sum(abs(s.index.coef(var)) for s in statements if isinstance(s, Load | Store))


def order_loops(candidates: Sequence[Var], statements: Sequence[Statement], by_stride: bool = False) -> list[Var]:
    """The loops from the outside in; the innermost has the fewest strided accesses and is the last of those that tie.

    Args:
        by_stride: sort the others too, the largest jump outermost; else they keep their order.
    """
    if len(candidates) < 2:
        return list(candidates)
    costs = {var: strided_accesses(statements, var) for var in candidates}
    inner = min(reversed(candidates), key=lambda var: costs[var])
    others = [var for var in candidates if var is not inner]
    if by_stride:
        others.sort(key=lambda var: -_total_stride(statements, var))
    return [*others, inner]


def depths_of(
    statements: Sequence[Statement],
    order: Sequence[Var],
    known: dict[str, int],
    rows: Container[int] = (),
    row_depth: int = 0,
) -> list[tuple[int, Statement]]:
    """Each statement with the number of loops of `order` that must stand around it.

    Args:
        known: depth of results that exist already; those of `statements` are added.
        rows: buffers whose loads stand inside of `row_depth` loops at least.
    """
    level = {var: i + 1 for i, var in enumerate(order)}
    placed: list[tuple[int, Statement]] = []
    for s in statements:
        depth = max((known.get(name, 0) for name in used_names(s)), default=0)
        for index in indices_of(s):
            for atom in atoms_of(index):
                if isinstance(atom, Var):
                    depth = max(depth, level.get(atom, 0))
        if isinstance(s, Load) and s.buffer in rows:
            depth = max(depth, row_depth)
        if isinstance(s, Effect):
            depth = len(order)
        else:
            known[s.name] = depth
        placed.append((depth, s))
    return placed
