"""Cut the body of an innermost loop into stages: plain loops, with calls of functions on whole blocks in between.

A value that a later stage needs is kept in an array of the block's length, or computed again where that is one load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from uopc_core.codegen.c_math import is_math
from uopc_core.dtype import DType
from uopc_core.loop.loop_ir import CheckIndex, Compute, Effect, Holds, IndexValue, Load, LoopOperand, Result, Statement
from uopc_core.loop.optimise import used_names

__all__ = ["MathCall", "Stage", "Stages", "cut_stages", "drop_unused", "is_math_call"]


@dataclass(slots=True)
class MathCall:
    """A function of a block; operands are arrays."""

    result: str
    statement: Compute
    arrays: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Stage:
    """A loop, then calls.

    Attributes:
        takes, gives: names that come from arrays, and that go to arrays.
        fills: operands of the calls that are the same in the whole loop: array, operand, dtype.
    """

    statements: list[Statement] = field(default_factory=list[Statement])
    takes: list[str] = field(default_factory=list[str])
    gives: list[str] = field(default_factory=list[str])
    fills: list[tuple[str, LoopOperand, DType]] = field(default_factory=list[tuple[str, LoopOperand, DType]])
    calls: list[MathCall] = field(default_factory=list[MathCall])


@dataclass(slots=True)
class Stages:
    """A loop body in stages.

    Attributes:
        stages: in order.
        dtypes: of the results that are kept in arrays, under their own names.
        homes: result -> array; results that never live together share one.
        physical: array -> dtype.
    """

    stages: list[Stage]
    dtypes: dict[str, DType]
    homes: dict[str, str] = field(default_factory=dict[str, str])
    physical: dict[str, DType] = field(default_factory=dict[str, DType])


def is_math_call(s: object) -> bool:
    return isinstance(s, Compute) and is_math(s.op, s.of)


def cut_stages(statements: Sequence[Statement], arrays_for: Sequence[LoopOperand] = ()) -> Stages:
    """The stages of a loop body; accumulated values named in `arrays_for` end up in arrays."""
    stage_of: dict[str, int] = {}
    made_by: dict[str, Result] = {}
    for s in statements:
        level = max((stage_of[name] for name in used_names(s) if name in stage_of), default=0)
        if not isinstance(s, Effect):
            stage_of[s.name] = level + 1 if is_math_call(s) else level
            made_by[s.name] = s
    n = max(stage_of.values(), default=0) + 1
    out = Stages([Stage() for _ in range(n)], {})
    for s in statements:
        if is_math_call(s):
            assert isinstance(s, Compute), s
            _add_call(out, s, stage_of, made_by)
            continue
        level = n - 1 if isinstance(s, Effect) else stage_of[s.name]
        _add_statement(out, s, level, stage_of, made_by)
    for stage in out.stages:  # stores last: an output may be the memory of an input that is read at the same place
        stage.statements.sort(key=lambda s: isinstance(s, Effect))
    for operand in arrays_for:
        if isinstance(operand, str) and operand in stage_of:
            _give(out, operand, stage_of, made_by)
    for stage in out.stages:
        drop_unused(stage)
    _place_arrays(out, [x for x in arrays_for if isinstance(x, str)])
    return out


def _add_statement(out: Stages, s: Statement, level: int, stage_of: dict[str, int], made_by: dict[str, Result]) -> None:
    stage = out.stages[level]
    for name in used_names(s):
        if name not in stage_of or (stage_of[name] == level and not is_math_call(made_by[name])):
            continue
        maker = made_by[name]
        if isinstance(maker, Load | IndexValue | Holds) and not used_names(maker):
            if maker not in stage.statements:
                stage.statements.append(maker)
        else:
            if not is_math_call(maker):
                _give(out, name, stage_of, made_by)
            if name not in stage.takes:
                stage.takes.append(name)
    stage.statements.append(s)


def _give(out: Stages, name: str, stage_of: dict[str, int], made_by: dict[str, Result]) -> None:
    maker = made_by[name]
    if not is_math_call(maker):
        stage = out.stages[stage_of[name]]
        if name not in stage.gives:
            stage.gives.append(name)
    out.dtypes[name] = maker.dtype


def _add_call(out: Stages, s: Compute, stage_of: dict[str, int], made_by: dict[str, Result]) -> None:
    level = stage_of[s.name] - 1
    stage = out.stages[level]
    call = MathCall(s.name, s)
    for i, arg in enumerate(s.args):
        if isinstance(arg, str) and arg in stage_of:
            maker = made_by[arg]
            if stage_of[arg] < level and isinstance(maker, Load | IndexValue | Holds) and not used_names(maker):
                if maker not in stage.statements:
                    stage.statements.append(maker)
                if arg not in stage.gives:
                    stage.gives.append(arg)
                out.dtypes[arg] = maker.dtype
            else:
                _give(out, arg, stage_of, made_by)
            call.arrays.append(arg)
        else:
            name = f"{s.name}_{i}"
            stage.fills.append((name, arg, s.of))
            out.dtypes[name] = s.of
            call.arrays.append(name)
    out.dtypes[s.name] = s.dtype
    stage.calls.append(call)


def drop_unused(stage: Stage) -> None:
    """Without the loads that only a later stage, which does them again, has a use for."""
    used = set(stage.gives)
    kept: list[Statement] = []
    for s in reversed(stage.statements):
        if isinstance(s, Effect | CheckIndex) or s.name in used:
            used.update(used_names(s))
            kept.append(s)
    stage.statements = kept[::-1]


def _place_arrays(out: Stages, kept: Sequence[str]) -> None:
    """Arrays in the order of their birth, each in the first free memory of its dtype."""
    last: dict[str, int] = {}
    births: list[tuple[int, str]] = []
    time = 0
    for stage in out.stages:
        for name in stage.takes:
            last[name] = time
        births += [(time, name) for name in (*stage.gives, *[fill[0] for fill in stage.fills])]
        for call in stage.calls:
            time += 1
            for name in call.arrays:
                last[name] = time
            births.append((time, call.result))
        time += 1
    last.update(dict.fromkeys(kept, time))
    busy: list[tuple[int, str]] = []
    for time, name in births:
        if name in out.homes:
            last_home = out.homes[name]
            busy = [(end, home) for end, home in busy if home != last_home]
            busy.append((last.get(name, time), last_home))
            continue
        # a call may write over its own operand, but a loop not over an array that it still reads
        reusable = {home for end, home in busy if end < time or (end == time and _is_operand(out, name, home))}
        free = [h for h, d in out.physical.items() if d is out.dtypes[name] and not _is_busy(h, busy, reusable)]
        home = free[0] if free else f"t{len(out.physical)}"
        out.physical.setdefault(home, out.dtypes[name])
        out.homes[name] = home
        busy = [(end, h) for end, h in busy if h != home]
        busy.append((last.get(name, time), home))


def _is_busy(home: str, busy: Sequence[tuple[int, str]], reusable: set[str]) -> bool:
    return any(h == home for _, h in busy) and home not in reusable


def _is_operand(out: Stages, result: str, home: str) -> bool:
    for stage in out.stages:
        for call in stage.calls:
            if call.result == result:
                return any(out.homes.get(name) == home for name in call.arrays)
    return False
