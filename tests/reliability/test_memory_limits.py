"""Processes that may not have more memory than this: a MemoryError, and everything works afterwards."""

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
