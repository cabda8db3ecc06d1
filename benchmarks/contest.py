"""A row of the table: the same computation by several libraries, checked to agree, then timed in turns."""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.environment import threads_in_use

__all__ = ["OURS", "Contest", "Disagreement", "Row", "Times", "installed", "measure"]

OURS = "uopc_array"
MIN_SAMPLE_S = 2e-3
MAX_ROW_S, MIN_ROUNDS = 4.0, 3  # no further round after so many seconds, but so many in any case
CALM_S = 0.01  # with several threads: until those of the library whose turn it was are asleep


class Disagreement(AssertionError):
    """Two libraries computed different things, so that their times mean nothing."""


@dataclass(frozen=True)
class Times:
    """Seconds per call, from the samples of all rounds."""

    samples_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        return statistics.median(self.samples_s)

    @property
    def best_s(self) -> float:
        return min(self.samples_s)


@dataclass(frozen=True)
class Contest:
    """What is compared.

    Attributes:
        runs: a call by library; it returns when the numbers are in memory, one array or a list of them.
        rtol: to which the results agree with the first one's, relative to its largest element.
        rounds: how often each library has its turn; fewer where that takes long.
        compared: what of a result is compared, where that is not all of it.
    """

    runs: Mapping[str, Callable[[], Any]]
    rtol: float
    rounds: int = 15
    compared: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        title: what is computed.
        targets: by how much we are to be faster than which library.
        times: measures the row; the argument asks for small sizes.
        limits: seconds that the machine itself would take, by the name of a limit; filled when the row is measured.
        notes: what else is to be said, likewise.
        subject: under which it stands in the table.
    """

    name: str
    title: str
    targets: Mapping[str, float]
    times: Callable[[bool], Mapping[str, Times]]
    notes: list[str] = field(default_factory=list[str])
    limits: dict[str, float] = field(default_factory=dict[str, float])
    subject: str = ""


def installed(name: str) -> Any:
    """The module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _arrays(result: Any) -> list[Any]:
    return [np.asarray(x) for x in (result if isinstance(result, (list, tuple)) else [result])]


def _widest(x: Any) -> Any:
    return np.complex128 if np.iscomplexobj(x) else np.float64


def check_agreement(contest: Contest) -> None:
    """Compare every result with that of the first library.

    Raises:
        Disagreement: one differs by more than `contest.rtol`.
    """
    compared = contest.compared or (lambda x: x)
    results = {name: _arrays(compared(run())) for name, run in contest.runs.items()}
    reference_name = next(iter(results))
    for name, arrays in results.items():
        reference = results[reference_name]
        if [x.shape for x in arrays] != [x.shape for x in reference]:
            raise Disagreement(f"{name} gives other shapes than {reference_name}")
        for x, wanted in zip(arrays, reference, strict=True):
            error = np.abs(x.astype(_widest(x)) - wanted).max() if x.size else 0.0
            if not error <= contest.rtol * max(np.abs(wanted).max(), 1e-30):
                raise Disagreement(f"{name} is off {reference_name} by {error:.3g}")


def _sample(run: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def measure(contest: Contest) -> dict[str, Times]:
    """Check, warm up, then let the libraries alternate; a sample is as many calls as fill 2 ms."""
    check_agreement(contest)
    calls: dict[str, int] = {}
    for name, run in contest.runs.items():
        _sample(run, 2)
        calls[name] = max(1, round(MIN_SAMPLE_S / _sample(run, 1)))
    samples: dict[str, list[float]] = {name: [] for name in contest.runs}
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for done in range(contest.rounds):
            if done >= MIN_ROUNDS and time.perf_counter() - start > MAX_ROW_S:
                break
            for name, run in contest.runs.items():
                if threads_in_use() > 1:
                    time.sleep(CALM_S)
                    _sample(run, calls[name])  # until its own threads are awake
                samples[name].append(_sample(run, calls[name]))
    finally:
        gc.enable()
    return {name: Times(tuple(taken)) for name, taken in samples.items()}
