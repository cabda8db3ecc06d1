"""``python -m benchmarks.growth [--most N] [--quick]``: time against the number of elements, from 1 on, as a picture.

Eight functions, by NumPy and by this package, eager and jitted. Steps of more than `STEP` are printed: each is a bound
between two ways to compute that is not where it belongs.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, installed
from benchmarks.environment import describe, restart
from benchmarks.results import RESULTS, save, write_result

__all__ = ["FUNCTIONS", "draw", "main", "sizes", "steps"]

STEP = 1.5
PER_DECADE = 4
POINT_S = 0.05  # that one point of one curve is tried for
NUMPY, EAGER, JITTED = "numpy", OURS, f"{OURS}, jit"

FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x + y": lambda _, x, y: x + y,
    "x * y + 2 * x - y": lambda _, x, y: x * y + 2.0 * x - y,
    "sin(x) * exp(y)": lambda np_like, x, y: np_like.sin(x) * np_like.exp(y),
    "sum(x * y)": lambda np_like, x, y: np_like.sum(x * y),
    "standardised": lambda np_like, x, _: (x - np_like.mean(x)) / (np_like.std(x) + 1e-3),
    "three-point mean": lambda _, x, __: (x[:-2] + x[1:-1] + x[2:]) / 3,
    "where(x > y, x, 0)": lambda np_like, x, y: np_like.where(x > y, x, 0.0),
    "cumsum(x)": lambda np_like, x, _: np_like.cumsum(x),
}


def sizes(most: int) -> list[int]:
    """Numbers of elements, evenly spread on a logarithmic scale."""
    n = round(PER_DECADE * math.log10(most))
    return sorted({round(10 ** (i / PER_DECADE)) for i in range(n + 1)})


def _best_s(run: Callable[[], Any]) -> float:
    """Seconds of the best call, of many where a call is short."""
    taken, end = 0.0, time.perf_counter() + POINT_S
    while time.perf_counter() < end:  # a kernel is compiled meanwhile
        start = time.perf_counter()
        run()
        taken = time.perf_counter() - start
    calls = max(1, min(1000, round(2e-4 / max(taken, 1e-9))))
    best, end, rounds = math.inf, time.perf_counter() + POINT_S, 0
    while rounds < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        best = min(best, (time.perf_counter() - start) / calls)
        rounds += 1
    return best


def _runs(f: Callable[[Any, Any, Any], Any], x: Any, y: Any) -> dict[str, Callable[[], Any]]:
    ours, compiled = (xp.asarray(x), xp.asarray(y)), xp.jit(lambda a, b: f(xp, a, b))
    return {
        NUMPY: lambda: f(np, x, y),
        EAGER: lambda: f(xp, *ours).to_numpy(copy=False),
        JITTED: lambda: compiled(*ours),
    }


def _curves(most: int) -> dict[str, dict[str, list[float]]]:
    """Seconds by function and contestant, a number for each of `sizes`."""
    curves = {name: {contestant: [] for contestant in (NUMPY, EAGER, JITTED)} for name in FUNCTIONS}
    for n in sizes(most):
        rng = np.random.default_rng(0)
        x, y = rng.uniform(0.5, 1, n), rng.uniform(0.5, 1, n)
        for name, f in FUNCTIONS.items():
            for contestant, run in _runs(f, x, y).items():
                curves[name][contestant].append(_best_s(run))
        print(f"{n} elements", flush=True)
    return curves


def steps(ns: Sequence[int], seconds: Sequence[float]) -> list[tuple[int, float]]:
    """Where a curve jumps: a size, and by how much.

    Up: from one size to the next it grows by more than the growths before and after it let expect, so that a curve that
    bends from what a call costs to what elements cost has no step. Down: the smaller size takes longer.
    """
    growths = [1.0, *[after / before for before, after in itertools.pairwise(seconds)], 1.0]
    found: list[tuple[int, float]] = []
    for n, (before, growth, after) in zip(ns[1:], zip(growths, growths[1:], growths[2:], strict=False), strict=True):
        excess = max(growth / max(before, after, 1.0), 1 / growth)
        if excess > STEP:
            found.append((n, excess))
    return found


def draw(ns: Sequence[int], curves: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """The picture: a panel for each function, time against size on logarithmic scales."""
    figure: Any = installed("matplotlib.figure").Figure(figsize=(16, 8), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True).flat
    for panel, (name, by_contestant) in zip(panels, curves.items(), strict=True):
        for (contestant, seconds), style in zip(by_contestant.items(), ("k--", "C0-", "C1-"), strict=True):
            panel.loglog(ns, seconds, style, label=contestant, linewidth=1.2)
        panel.set_title(name, fontsize=10)
        panel.grid(alpha=0.3)
        panel.minorticks_off()
    figure.supxlabel("elements (float64)")
    figure.supylabel("seconds")
    figure.axes[0].legend()
    save(figure, path)


def main(arguments: Sequence[str]) -> None:
    """Measure, draw, and print the steps."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=10_000_000, help="elements, up to 100000000 where there are 4 GB")
    parser.add_argument("--quick", action="store_true", help="up to 10000 elements: does everything run?")
    options = parser.parse_args(arguments)
    restart("benchmarks.growth", list(arguments))
    started, most = time.time(), 10_000 if options.quick else options.most
    ns, curves = sizes(most), _curves(most)
    for name, by_contestant in curves.items():
        for contestant, seconds in by_contestant.items():
            for n, excess in steps(ns, seconds):
                print(f"step: {name}, {contestant}, {n} elements: {excess:.2f}x")
    seconds = round(time.time() - started)
    result = {"machine": describe(), "quick": options.quick, "seconds": seconds, "sizes": ns, "curves": curves}
    path = write_result("growth", result)
    if installed("matplotlib.figure") is not None:
        RESULTS.mkdir(exist_ok=True)
        draw(ns, curves, path.with_suffix(".svg"))


if __name__ == "__main__":
    main(sys.argv[1:])
