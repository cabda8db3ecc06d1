"""Many programs from a run of seeds: counts, and failures shrunk, each kind of them reported once."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.fuzz.check import check
from tests.fuzz.draw_program import draw_program
from tests.fuzz.judge import Failure, Refusal
from tests.fuzz.program import Program
from tests.fuzz.report import report
from tests.fuzz.shrink import shrink
from uopc_core import clear_plans

__all__ = ["Result", "fuzz", "fuzz_one"]

PLANS_KEPT = 500  # programs after which plans are dropped, so that memory does not grow


@dataclass
class Result:
    """What a campaign saw. `reports` has one entry for each kind of failure."""

    programs: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    reports: dict[str, str] = field(default_factory=dict)

    def add(self, other: Result) -> None:
        self.programs += other.programs
        self.refused += other.refused
        self.failures += other.failures
        self.reports = other.reports | self.reports


def _verdict(program: Program, mode: str, tier: str) -> Failure | None:
    try:
        return check(program, mode, tier)
    except Refusal:
        return None


def _signature(program: Program, failure: Failure) -> str:
    """Failures of one kind by the same functions are taken for one."""
    words = re.findall(r"[xn]p\.([a-z_0-9.]+)|\.([a-z]+)\(| (\*\*|//|%|@|[-+*/]=|<<|>>) |(\] = )", program.source)
    return failure.kind + " " + " ".join(sorted({"".join(word) for word in words}))


def fuzz_one(seed: int, mode: str, tier: str, only: tuple[str, ...], result: Result, shrinking: bool = True) -> None:
    """Draw, check and, if it fails, shrink and report the program of one seed."""
    program = draw_program(seed, mode, only)
    result.programs += 1
    try:
        failure = check(program, mode, tier)
    except Refusal as refusal:
        result.refused[str(refusal)[:60]] += 1
        return
    if failure is None:
        return
    result.failures += 1
    kind = failure.kind

    def fails(candidate: Program) -> bool:
        found = _verdict(candidate, mode, tier)
        return found is not None and found.kind == kind

    small = shrink(program, fails) if shrinking else program
    failure = _verdict(small, mode, tier) or failure
    result.reports.setdefault(_signature(small, failure), report(small, failure, mode, tier, seed))


def fuzz(
    seeds: Iterable[int],
    mode: str,
    tier: str,
    only: tuple[str, ...] = (),
    seconds: float = float("inf"),
    shrinking: bool = True,
    most: int = 50,
    started: Callable[[int], None] = lambda seed: None,
) -> Result:
    """All seeds, or as many as the time allows, up to so many failures; `started` is told each before it runs."""
    result, end = Result(), time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > end or result.failures >= most:
            break
        started(seed)
        fuzz_one(seed, mode, tier, only, result, shrinking)
        if result.programs % PLANS_KEPT == 0:
            clear_plans()
    return result
