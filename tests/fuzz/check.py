"""The checks, by mode: a program and a tier in, the first failure out.

`Refusal` is for programs that a transformation rightly refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import uopc_array
from tests.fuzz.check_functions import check_jit, check_vmap
from tests.fuzz.check_grad import check_grad
from tests.fuzz.check_state import check_state
from tests.fuzz.judge import Failure, Judge, same_bits
from tests.fuzz.program import Outcome, Program, quiet, run
from uopc_core import context

__all__ = ["CHECKS", "check"]


def check_values(program: Program, tier: str) -> Failure | None:
    """Twice: NumPy's values, and the same bits again."""
    judge = Judge(program, program.arguments)
    first = run(program, uopc_array, program.arguments)
    return judge.fault(first, "values") or _repeated(program, judge, first, 1, same=tier != "auto")


def check_auto(program: Program, tier: str) -> Failure | None:
    """Several runs, since who computes depends on how often something was computed."""
    judge = Judge(program, program.arguments)
    return _repeated(program, judge, None, 5, same=False)


def _repeated(program: Program, judge: Judge, first: Outcome | None, times: int, same: bool) -> Failure | None:
    for _ in range(times):
        again = run(program, uopc_array, program.arguments)
        failure = judge.fault(again, "again") or (_bits(first, again, "again") if first is not None and same else None)
        if failure is not None:
            return failure
    return None


def check_threads(program: Program, tier: str) -> Failure | None:
    """The same bits from any number of threads."""
    judge = Judge(program, program.arguments)
    first: Outcome | None = None
    for n in (1, 2, 3, 2):
        with context(num_threads=n):
            got = run(program, uopc_array, program.arguments)
        failure = judge.fault(got, "threads") or (_bits(first, got, "threads") if first is not None else None)
        if failure is not None:
            return failure
        first = first or got
    return None


def _bits(first: Outcome, other: Outcome, label: str) -> Failure | None:
    for place, (a, b) in enumerate(zip(first.results, other.results, strict=False)):
        if not same_bits(np.asarray(a), np.asarray(b)):
            return Failure(f"{label}: bits", f"{label}: read {place} has other bits than before\n  {a!r}\n  {b!r}")
    return None


CHECKS: dict[str, Callable[[Program, str], Failure | None]] = {
    "values": check_values,
    "auto": check_auto,
    "jit": check_jit,
    "state": check_state,
    "vmap": check_vmap,
    "grad": check_grad,
    "threads": check_threads,
}


def check(program: Program, mode: str, tier: str) -> Failure | None:
    """One program in one mode, computed by one tier; NumPy's warnings say nothing here."""
    settings: dict[str, Any] = {"tier": "auto" if mode == "auto" else tier}
    with context(**settings), quiet():
        return CHECKS[mode](program, tier)
