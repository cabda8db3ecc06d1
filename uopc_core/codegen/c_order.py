"""What a loop meets in the order in which it lies in memory, so that it can be handed over as a row or as columns."""

from __future__ import annotations

from collections.abc import Container, Sequence

from uopc_core.codegen.c_columns import LINE_BYTES
from uopc_core.codegen.c_reduce import EXTREMES, has_order_of_zeros
from uopc_core.codegen.c_stages import is_math_call
from uopc_core.costs import TURNED_SIDES
from uopc_core.dtype import is_bool
from uopc_core.ir.op import Ops
from uopc_core.loop.index import Index, Value, Var, atoms_of
from uopc_core.loop.loop_ir import (
    Acc,
    Accumulate,
    Compute,
    Const,
    IndexValue,
    Load,
    Loop,
    Result,
    RowReduce,
    Statement,
    Store,
)
from uopc_core.loop.optimise import used_names
from uopc_core.records import record

__all__ = [
    "TURNED_ROWS",
    "Search",
    "accumulated_at_once",
    "is_in_order",
    "is_of_any_order",
    "load_of_columns",
    "row_of_extreme",
    "search_of",
    "turned_columns",
    "turned_loads",
    "written_of_turned",
]

TURNED_ROWS, _TURNED_COLUMNS = TURNED_SIDES


def is_in_order(access: Load | Store, loop: Loop) -> bool:
    """Whether the elements that an access meets along a loop are one run of memory, which begins where it begins."""
    if access.index.coef(loop.var) != 1 or (isinstance(access, Load) and access.guard):
        return False
    inside = {s.name for s in loop.body if isinstance(s, Result)}
    rest = access.index - Index.of(loop.var)
    return not any(atom == loop.var or (isinstance(atom, Value) and atom.name in inside) for atom in atoms_of(rest))


def row_of_extreme(acc: Acc, item: RowReduce) -> tuple[Loop, Load] | None:
    """The loop and what it reads in order of memory, where that is a row of which `acc` is the extreme."""
    loop = item.body[0] if len(item.body) == 1 else None
    if not isinstance(loop, Loop) or item.repeats != 1 or not has_order_of_zeros(acc):
        return None
    values = {s.value for s in loop.body if isinstance(s, Accumulate) and s.acc == acc.name}
    loads = [s for s in loop.body if isinstance(s, Load) and s.name in values and is_in_order(s, loop)]
    is_read_only = not any(isinstance(s, Store) for s in loop.body)
    return (loop, loads[0]) if len(values) == len(loads) == 1 and is_read_only else None


def load_of_columns(item: RowReduce, inner: Loop, outer: Var) -> Load | None:
    """What is reduced, where that is memory as it is, read in order along `outer`."""
    along = inner.body[0] if len(inner.body) == 1 else None
    if not isinstance(along, Loop) or along.var != outer or len(along.body) != 2:
        return None
    load, into = along.body
    if not (isinstance(load, Load) and isinstance(into, Accumulate) and into.value == load.name):
        return None
    apart = load.index.coef(inner.var)
    is_plain = is_in_order(load, along) and load.dtype is item.accs[0].dtype and apart > 0
    return load if is_plain and inner.var not in atoms_of(load.index - Index.of(inner.var) * apart) else None


def is_of_any_order(acc: Acc, item: RowReduce) -> bool:
    """Whether `acc` is the extreme of a matrix in memory and of nothing else, which is found without its order."""
    inner = item.body[0] if len(item.body) == 1 else None
    if item.crossed is None or not isinstance(inner, Loop) or len(item.accs) != 1 or not has_order_of_zeros(acc):
        return False
    return load_of_columns(item, inner, item.crossed) is not None


def turned_loads(loop: Loop, inner: Loop) -> list[Load]:
    """What is read along `loop` as it lies in memory, a line apart and more along `inner`, which is inside of it."""
    inside = {s.name for s in (*loop.body, *inner.body) if isinstance(s, Result)}
    return [s for s in inner.body if isinstance(s, Load) and not s.guard and _is_turned(s.index, loop, inner, inside)]


def _is_turned(index: Index, loop: Loop, inner: Loop, inside: Container[str]) -> bool:
    along, apart = index.coef(loop.var), index.coef(inner.var)
    rest = index - Index.of(loop.var) * along - Index.of(inner.var) * apart
    moves = any(
        atom in (loop.var, inner.var) or (isinstance(atom, Value) and atom.name in inside) for atom in atoms_of(rest)
    )
    return abs(along) == 1 and abs(apart) > 1 and not moves


def turned_columns(inner: Loop, loads: Sequence[Load]) -> int:
    """How many iterations of `inner` to do at a time: of what is stored a line of the cache, and where functions are
    called on blocks more.
    """
    if any(is_math_call(s) for s in inner.body):
        return TURNED_ROWS
    return max(_TURNED_COLUMNS, LINE_BYTES // max(s.dtype.itemsize for s in loads))


def written_of_turned(loop: Loop, inner: Loop, loads: Sequence[Load]) -> Store | None:
    """The store, where all that is done with what is turned is to write it in order along `inner`."""
    if len(loop.body) != 1 or len(inner.body) != 2 or len(loads) != 1:
        return None
    store = inner.body[1]
    if inner.body[0] is not loads[0] or not isinstance(store, Store) or store.value != loads[0].name:
        return None
    return store if is_in_order(store, inner) and store.index.coef(loop.var) > 1 else None


@record(slots=True)
class Search:
    """A row of which the first place is wanted where a condition holds.

    Attributes:
        loop: over the row.
        condition: the name of what must hold, or must not where it is `negated`; `statements` compute it.
        place: what counts where it does; `otherwise` where it holds nowhere.
    """

    loop: Loop
    condition: str
    negated: bool
    statements: list[Load | Compute | IndexValue]
    place: IndexValue
    otherwise: Const


def search_of(item: RowReduce) -> Search | None:
    """The search that a reduction is: its extreme is the first of its places for which a condition holds, as no later
    one, nor what stands for the others, is better.
    """
    loop = item.body[0] if len(item.body) == 1 else None
    if not isinstance(loop, Loop) or len(item.accs) != 1 or item.repeats != 1 or item.accs[0].op not in EXTREMES:
        return None
    *before, last = loop.body
    statements = [s for s in before if isinstance(s, Load | Compute | IndexValue) and not is_math_call(s)]
    guarded = any(isinstance(s, Load) and s.guard for s in statements)
    if not isinstance(last, Accumulate) or len(statements) < len(before) or guarded:
        return None
    made = {s.name: s for s in statements}
    chosen = made.get(str(last.value))
    if not isinstance(chosen, Compute) or chosen.op is not Ops.WHERE:
        return None
    condition, first, otherwise = chosen.args
    negated = isinstance(first, Const)
    if negated:
        first, otherwise = otherwise, first
    place = made.get(str(first))
    if condition not in made or not isinstance(place, IndexValue) or not isinstance(otherwise, Const):
        return None
    if not _first_is_best(item.accs[0].op, place.index, loop.var, otherwise.value):
        return None
    needed, kept = {str(condition)}, list[Load | Compute | IndexValue]()
    for s in reversed(statements):
        if s.name in needed:
            kept.append(s)
            needed.update(used_names(s))
    return Search(loop, str(condition), negated, kept[::-1], place, otherwise)


def _first_is_best(op: Ops, place: Index, var: Var, otherwise: int) -> bool:
    """Whether `place` gets worse along a loop, and what stands for others is worse than all of it."""
    step = place.coef(var)
    if place.terms != ((var, step),):
        return False
    return step < 0 and otherwise < place.lo if op is Ops.MAX else step > 0 and otherwise > place.hi


def _is_truth(s: Statement) -> bool:
    """Whether a statement makes a truth value: gcc up to 12 vectorises those only where blocks keep them as numbers."""
    return isinstance(s, Load | Compute) and is_bool(s.dtype)


def accumulated_at_once(loop: Loop) -> Sequence[Statement]:
    """The statements of a loop that can be run for some elements side by side and accumulated there, if something has
    to be computed for that: no functions on blocks, nothing that is read under a condition.
    """
    statements = [s for s in loop.body if isinstance(s, Load | Compute | IndexValue | Store | Accumulate)]
    values = {s.value for s in statements if isinstance(s, Accumulate)}
    computed = [s for s in statements if isinstance(s, Compute) and s.name in values]
    refused = any(is_math_call(s) or (isinstance(s, Load) and s.guard) or _is_truth(s) for s in statements)
    if not loop.simd or refused or not computed or len(statements) < len(loop.body):
        return []
    return [s for s in statements if not isinstance(s, Store)] + [s for s in statements if isinstance(s, Store)]
