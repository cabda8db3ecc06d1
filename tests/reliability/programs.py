"""Programs that trials run in their children, and what they count there."""

import itertools
import random
import time
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import uopc_array as xp
from tests.reliability.trial import Outcome
from uopc_core.runtime.cache import stats

__all__ = ["CASES", "Values", "compute", "computes_by_numpy", "is_right", "new_function", "wrong_values"]

Values = Any  # what NumPy makes of the same


def _at_once() -> tuple[Any, Values]:
    n = np.linspace(0, 1, 12).reshape(3, 4)
    return xp.exp(xp.asarray(n)) @ xp.ones(4), np.exp(n) @ np.ones(4)


def _lazily() -> tuple[Any, Values]:
    n = np.linspace(0, 3, 300_000)
    x = xp.asarray(n)
    return xp.sum(xp.sqrt(x) * 2 + xp.flip(x), axis=0), np.sum(np.sqrt(n) * 2 + n[::-1])


def _again_and_again() -> tuple[Any, Values]:
    n = np.linspace(0, 3, 5000)
    function = xp.jit(lambda x, y: xp.cumulative_sum(xp.sin(x) * y) - xp.max(x))
    for _ in range(3):
        result = function(xp.asarray(n), xp.asarray(n))
    return result, np.cumsum(np.sin(n) * n) - 3


def _gradient() -> tuple[Any, Values]:
    n = np.linspace(1, 2, 3000)
    return xp.grad(lambda x: xp.sum(xp.log(x) * x))(xp.asarray(n)), np.log(n) + 1


def _in_place() -> tuple[Any, Values]:
    n = np.arange(60_000.0).reshape(300, 200)
    x = xp.asarray(n)
    x[::3] = x[1::3] * 2
    x[:, 5] += 1
    wanted = n.copy()
    wanted[::3] = wanted[1::3] * 2
    wanted[:, 5] += 1
    return x, wanted


def _by_numpy() -> tuple[Any, Values]:
    n = np.cos(np.arange(50_000.0))
    return xp.sort(xp.asarray(n) + 1), np.sort(n + 1)


CASES: dict[str, Callable[[], tuple[Any, Values]]] = {
    "at once": _at_once,
    "lazily": _lazily,
    "again and again": _again_and_again,
    "gradient": _gradient,
    "in place": _in_place,
    "by NumPy": _by_numpy,
}


_STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x * 0.5 + 1,
    lambda x: x * x / (x * x + 2),
    lambda x: abs(x - 2) + 0.25,
    lambda x: 1 / (abs(x) + 1),
    lambda x: x[::-1] - x * 0.25 + 1,
    lambda x: x + (x > 1),
    lambda x: (abs(x) + 0.5) ** 0.5,
)


def new_function(seed: int) -> Callable[[Any], Any]:
    """A function of a vector, for NumPy and for us, finite everywhere; few other seeds give one with its kernel."""
    steps = random.Random(seed).choices(_STEPS, k=9)
    return lambda x: reduce(lambda value, step: step(value), steps, x)


def is_right(seed: int, n: int = 3000) -> bool:
    """Whether the new function of `seed` has NumPy's values, lazily, compiled, and in its derivative."""
    function, values = new_function(seed), np.linspace(-0.7, 3, n)
    x, wanted = xp.asarray(values), function(values)
    compiled = xp.jit(function)
    found = [function(x), *[compiled(x) for _ in range(3)]]
    slope = xp.grad(lambda t: xp.sum(function(t)))(x)
    return all(np.allclose(np.asarray(y), wanted, rtol=1e-12) for y in found) and bool(xp.all(xp.isfinite(slope)))


def wrong_values() -> list[str]:
    """The ways of computing that now raise or differ from NumPy; none, all being well."""
    wrong: list[str] = []
    for name, case in CASES.items():
        try:
            found, wanted = case()
            if not np.allclose(np.asarray(found), wanted, rtol=1e-12, atol=0):
                wrong.append(f"{name}: other values")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return wrong


def compute(rounds: int = 2, until_warned_s: float = 0) -> dict[str, Any]:
    """Compute in each way, and tell what went wrong, what was warned of, and how many kernels were compiled.

    Args:
        until_warned_s: how long to go on with functions that are new, as long as nothing has been warned of.
    """
    end = time.monotonic() + until_warned_s
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        wrong = [text for _ in range(rounds) for text in wrong_values()]
        for seed in itertools.takewhile(lambda _: not seen and time.monotonic() < end, itertools.count()):
            wrong += [] if is_right(seed) else [f"new function {seed}"]
    return {"wrong": wrong, "warnings": [str(one.message) for one in seen], "compiled": stats().compiled}


def computes_by_numpy(outcome: Outcome, n_warnings: int = 1) -> None:
    """Every value is right, and one warning says why it is slow."""
    value = outcome.check().value
    assert value["wrong"] == []
    assert len(value["warnings"]) == n_warnings
    assert all("NumPy computes it from now on" in text for text in value["warnings"])
    assert outcome.left_behind == ()
