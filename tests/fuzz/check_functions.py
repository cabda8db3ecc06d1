"""Programs as functions: compiled by `jit` and called five times, called as units within a trace, mapped by `vmap` and
compared with a loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import uopc_array as xp
from tests.fuzz.check_grad import UNITS
from tests.fuzz.judge import Failure, Judge, Refusal, same_bits
from tests.fuzz.program import Input, Outcome, Program
from uopc_core.errors import TraceError

__all__ = ["BATCH", "CALLS", "check_jit", "check_vmap", "mapped_axes"]

CALLS = ("first", "first", "other", "first", "first")
BATCH = 3


def _call(function: Any, given: list[Any], with_arguments: bool) -> Outcome:
    """The results of one call as NumPy arrays, and the arguments afterwards if the program writes."""
    try:
        results = [np.array(x) for x in function(*given)]
        after = [np.array(x) for x in given if not isinstance(x, (int, float, np.generic))] if with_arguments else []
        return Outcome(results + after)
    except TraceError as error:
        raise Refusal(str(error)) from error
    except Exception as error:
        return Outcome([], error)


def check_jit(program: Program, tier: str) -> Failure | None:
    """Five calls, the third with other values: NumPy's results, and the same bits from the same values."""
    values = {"first": program.arguments, "other": [x.value() for x in program.other_inputs]}
    judges = {name: Judge(program, arguments, late=True) for name, arguments in values.items()}
    if any(judge.expected.error is not None for judge in judges.values()):
        raise Refusal("NumPy raises an error")
    function = xp.jit(program.pure(xp))
    seen: Outcome | None = None
    for number, name in enumerate(CALLS):
        got = _call(function, program.given(xp, values[name]), program.writes)
        failure = judges[name].fault(got, f"jit, call {number + 1}")
        if failure is not None:
            return failure
        if name == "first" and tier != "auto" and seen is not None:
            for a, b in zip(seen.results, got.results, strict=True):
                if not same_bits(a, b):
                    return Failure(
                        "jit: bits", f"jit: call {number + 1} gave other bits than the first\n  {a!r}\n  {b!r}"
                    )
        seen = seen or got if name == "first" else seen
    return None if tier == "auto" or seen is None else _units(program, seen)


def _units(program: Program, wanted: Outcome) -> Failure | None:
    """The program called as a unit within a trace has the bits that it has by itself."""
    for name, wrap in UNITS.items():
        unit = wrap(program.pure(xp))
        around = xp.jit(lambda *given, unit=unit: unit(*given))
        got = _call(around, program.given(xp, program.arguments), program.writes)
        if got.error is not None:
            return Failure(f"jit: {name}", f"jit: {name} within jit raised {type(got.error).__name__}: {got.error}")
        for a, b in zip(wanted.results, got.results, strict=True):
            if not same_bits(a, b):
                return Failure(f"jit: {name}, bits", f"jit: {name} within jit has other bits\n  {a!r}\n  {b!r}")
    return None


def mapped_axes(program: Program) -> tuple[int | None, ...]:
    """Which axis of each argument is mapped over: most often the first, for some the last, for some none."""
    return tuple([_axis(x, place) for place, x in enumerate(program.inputs)])


def _axis(x: Input, place: int) -> int | None:
    """Which axis of an argument is mapped over: most often the first, for some the last, for some none."""
    if x.number or (place > 0 and x.seed % 4 == 0):
        return None
    return -1 if x.seed % 5 == 1 else 0


def check_vmap(program: Program, tier: str) -> Failure | None:
    """A batch of three at once: what NumPy has for each."""
    axes = mapped_axes(program)
    if all(axis is None for axis in axes):
        raise Refusal("no array to map over")
    elements = [
        [
            x.other(k).value()[()] if axis is not None else x.value()
            for x, axis in zip(program.inputs, axes, strict=True)
        ]
        for k in range(BATCH)  # of no axes, an element of what is mapped over is a number, as in a loop
    ]
    judges = [Judge(program, arguments, after=False, late=True) for arguments in elements]
    if any(judge.expected.error is not None for judge in judges):
        raise Refusal("NumPy raises an error")
    columns = zip(*elements, strict=True)
    stacked = [
        column[0] if axis is None else np.stack(column, axis=axis) for column, axis in zip(columns, axes, strict=True)
    ]
    given = [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in stacked]
    got = _call(xp.vmap(program.pure(xp), in_axes=axes), given, with_arguments=False)
    for k, judge in enumerate(judges):
        failure = judge.fault(Outcome([x[k] for x in got.results], got.error), "vmap")
        if failure is not None:
            return Failure(failure.kind, f"element {k} with in_axes={axes}: {failure.message}")
    return None
