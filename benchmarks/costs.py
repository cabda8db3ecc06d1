"""``python -m benchmarks.costs``: the quantities that the constants of `uopc_core/costs.py` are made of, measured here.

Beside each stands the constant that it is for. What compilers take is in the rows `first-*` of the benchmarks.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.environment import restart
from uopc_core import costs

__all__ = ["main", "measured"]

Line = tuple[str, str, str]  # what, how much, the constants that it is for
CACHED = 16384  # doubles: two arrays of them are in a second level of the cache
BUDGET_S = 0.05


def _best_s(run: Callable[[], Any]) -> float:
    for _ in range(3):
        run()
    best, until = float("inf"), time.perf_counter() + BUDGET_S
    while time.perf_counter() < until:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def _of_jitted(f: Callable[..., Any], *arrays: Any, n_threads: int = 1) -> float:
    compiled, moved = xp.jit(f), [xp.asarray(x) for x in arrays]
    with xp.context(num_threads=n_threads):
        return _best_s(lambda: compiled(*moved))


def _calls() -> Iterator[Line]:
    x, one = np.ones(10), np.ones(1)
    yield "a call of NumPy", f"{_best_s(lambda: np.add(one, one)) * 1e6:.2f} us", f"CALL_WORK {costs.CALL_WORK}"
    kernel_s = _of_jitted(lambda x: x + 1, x)
    yield "a call of a kernel", f"{kernel_s * 1e6:.2f} us", f"TOO_SMALL {costs.TOO_SMALL}"
    large = np.ones(costs.BLOCKWISE_ELEMENTS * 8)
    each_ns = _best_s(lambda: large + large) / large.size * 1e9
    yield "an element of NumPy's, from memory", f"{each_ns:.2f} ns", f"COMPILE_WORK {costs.COMPILE_WORK}"


def _elements() -> Iterator[Line]:
    x = np.random.default_rng(0).random(CACHED) + 0.5
    call_s = _of_jitted(lambda x: x + 1, x[:16])
    stored_s = _of_jitted(lambda x: x + 1, x)
    yield "an element read, added to and written", f"{(stored_s - call_s) / CACHED * 1e9:.3f} ns", "of the cache"
    # x + x * x * ... of 16 products more
    long_s = _of_jitted(lambda x: x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x + 1, x)
    ns = (long_s - stored_s) / CACHED / 16 * 1e9
    yield "an addition or a product in registers", f"{ns:.3f} ns", f"COST_OF_ELEMENTWISE {costs.COST_OF_ELEMENTWISE}"
    cases: tuple[tuple[str, Callable[..., Any], str], ...] = (
        ("a division", lambda x: 1.5 / x + 1, f"COST_OF_DIVISION {costs.COST_OF_DIVISION}"),
        ("a square root", lambda x: xp.sqrt(x) + 1, f"COST_OF_DIVISION {costs.COST_OF_DIVISION}"),
        *[(name, lambda x, name=name: getattr(xp, name)(x) + 1, f"COST_OF_FUNCTION {costs.COST_OF_FUNCTION}")
          for name in ("exp", "log", "sin", "tanh")],
    )  # fmt: skip
    for name, f, constant in cases:
        yield name, f"{(_of_jitted(f, x) - stored_s) / CACHED * 1e9:.3f} ns", constant
    places = np.random.default_rng(0).permutation(CACHED)
    ns = (_of_jitted(lambda x, i: x[i] + 1, x, places) - stored_s) / CACHED * 1e9
    yield "an element at an index", f"{ns:.3f} ns", f"COST_OF_INDEX {costs.COST_OF_INDEX}"


def _threads() -> Iterator[Line]:
    """The least work, in additions, for which two threads took less time than one."""
    for name, f, n_ops in (("additions", lambda x: (x + 1) * 2 + 3, 3), ("exponentials", xp.exp, 1)):
        for n in (2**k for k in range(12, 22)):
            x = np.ones(n)
            if _of_jitted(f, x, n_threads=2) < 0.95 * _of_jitted(f, x):
                yield (
                    f"work from which two threads gain, {name}",
                    f"{n * n_ops}",
                    f"WORK_OF_A_THREAD {costs.WORK_OF_A_THREAD}",
                )
                break


def _products() -> Iterator[Line]:
    """Around the bound between generated code and BLAS, what a multiplication takes: there is no step at a good one."""
    for n in (20, 24, 25, 26, 28, 32, 40):
        x = np.random.default_rng(0).random((n, n))
        ns = _of_jitted(lambda x: x @ x, x) / n**3 * 1e9
        by = "BLAS" if n**3 >= costs.LIBRARY_WORK else "a kernel"
        yield f"a multiplication of {n}x{n} @ {n}x{n}, by {by}", f"{ns:.3f} ns", f"LIBRARY_WORK {costs.LIBRARY_WORK}"


def measured() -> Iterator[Line]:
    """Each quantity with the constants that it is for."""
    for part in (_calls, _elements, _threads, _products):
        yield from part()


def main(arguments: list[str]) -> None:
    """Measure and print."""
    restart("benchmarks.costs", arguments, 2)
    for what, how_much, constants in measured():
        print(f"{what:<60} {how_much:>12}   {constants}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
