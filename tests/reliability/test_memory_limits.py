"""Processes that may not have more memory than this: a MemoryError, and everything works afterwards."""

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.programs import compute, wrong_values
from tests.reliability.trial import value_of

MIB = 1 << 20


def exhaust(tier: str, limit: int) -> dict[str, Any]:
    """Make arrays until there is no memory, in several ways, again and again; then compute as always."""
    n = limit // 8 // 6
    n_errors = 0
    ways = (
        lambda x: x * 2 + 1,
        lambda x: xp.sort(x),
        lambda x: xp.cumulative_sum(x) + xp.flip(x),
        lambda x: x[::-1].copy(),
        lambda x: xp.reshape(xp.stack([x, x]), (-1,)),
        lambda x: xp.grad(lambda t: xp.sum(xp.sin(t) * t))(x),
        lambda x: xp.jit(lambda t: t * t - 1)(x),
    )
    for way in ways:
        kept: list[Any] = []
        with xp.context(tier=tier):
            try:
                for k in range(30):
                    kept.append(way(xp.full(n, 1.5 + k)))
                    np.asarray(kept[-1])
            except MemoryError:
                n_errors += 1
            kept.clear()
    return {"errors": n_errors, "of": len(ways), "wrong": wrong_values()}


def cases() -> list[Any]:
    found = [(mib, tier) for mib in (400, 600, 900, 1200) for tier in ("interpret", "compile", "auto")]
    return [pytest.param(*case, marks=[pytest.mark.reliability] * (case != (400, "auto"))) for case in found]


@pytest.mark.needs_compiler
@pytest.mark.parametrize(("mib", "tier"), cases())
def test_a_limit_on_memory_is_a_memory_error_and_no_more(tries, mib, tier):
    value = value_of(exhaust, tier, mib * MIB, limits={"AS": mib * MIB}, seconds=200)
    assert value["wrong"] == []
    assert value["errors"] == value["of"]
    tries.add(value["of"])


@pytest.mark.reliability
@pytest.mark.parametrize(
    "limits", [{"STACK": 256 << 10}, {"DATA": 300 * MIB}, {"AS": 250 * MIB}, {"CPU": 300}, {"MEMLOCK": 0}], ids=str
)
def test_other_limits_disturb_nothing(limits):
    value = value_of(compute, limits=limits, seconds=200)
    assert value["wrong"] == []
    assert len(value["warnings"]) <= 1


N = 32 * MIB  # bytes of an operand
SLACK = 24 * MIB  # blocks, and what the allocators of C and Python ask for at once

# what NumPy computes beside an operand of bytes, and how often the operand fits into the memory that is left
WITHIN: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "sum": (lambda xp, x: xp.sum(x), 0),
    "sum of columns": (lambda xp, x: xp.sum(xp.reshape(x, (-1, 64)), axis=0), 0),
    "sum of rows": (lambda xp, x: xp.sum(xp.reshape(x, (64, -1)), axis=1), 0),
    "sum as int32": (lambda xp, x: xp.sum(x, dtype=xp.int32), 0),
    "prod": (lambda xp, x: xp.prod(x), 0),
    "mean": (lambda xp, x: xp.mean(x), 0),
    "count_nonzero": (lambda xp, x: xp.count_nonzero(x), 0),
    "any and all": (lambda xp, x: (xp.any(x), xp.all(x)), 0),
    "max and min": (lambda xp, x: (xp.max(x), xp.min(x)), 0),
    "argmax": (lambda xp, x: xp.argmax(x), 0),
    "argmin of rows": (lambda xp, x: xp.argmin(xp.reshape(x, (64, -1)), axis=1), 0),
    "sum of a comparison": (lambda xp, x: xp.sum(x > 7), 1),
    "sum of a broadcast": (lambda xp, x: xp.sum(xp.broadcast_to(x, (3, *x.shape))), 0),
    "outer xor": (lambda xp, x: xp.sum(x[:8000, None] ^ x[None, :8000], dtype=xp.int64), 1),
    "cumsum": (lambda xp, x: xp.cumsum(x, dtype=xp.uint8)[-5:], 1),
    "a mask": (lambda xp, x: x[x == 7], 1.1),
    "nonzero": (lambda xp, x: xp.nonzero(x == 7)[0][-3:], 1.1),
    "sort": (lambda xp, x: xp.sort(x)[1000], 1),
    "roll": (lambda xp, x: xp.roll(x, 1000)[:5], 1),
    "where": (lambda xp, x: xp.where(x > 7, x, x // 2)[:5], 3),
    "diff": (lambda xp, x: xp.diff(x)[:5], 1),
    "take": (lambda xp, x: xp.take(x, xp.asarray([5, 1000])), 0),
    "every third": (lambda xp, x: xp.sum(x[1::3]), 0),
}


def without_eight_bytes_an_element() -> list[str]:
    """Which of the programs fail by NumPy's executor, or have another value than in NumPy."""
    values = (np.arange(N) % 251).astype(np.uint8)
    wrong: list[str] = []
    x = xp.asarray(values)
    with xp.context(tier="interpret"):
        for name, (program, share) in WITHIN.items():
            expected = np.asarray(program(np, values))
            np.asarray(program(xp, xp.asarray(values[: 1 << 20])))  # modules are loaded, and loops compiled
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + int(share * N) + SLACK, resource.RLIM_INFINITY))
            try:
                if not np.allclose(np.asarray(program(xp, x)), expected):
                    wrong.append(name)
            except MemoryError as error:
                wrong.append(f"{name}: {error}")
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return wrong


@pytest.mark.reliability
def test_bytes_and_booleans_take_no_eight_bytes_an_element(tries):
    assert value_of(without_eight_bytes_an_element, seconds=200) == []
    tries.add(len(WITHIN))
