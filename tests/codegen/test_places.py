"""Statements of a loop in Python that differ in places alone: few texts, whose places are parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.kernels import needs_compiler
from uopc_core import Executable, UOp, context
from uopc_core.codegen.c_source import MANY_TEXTS, CSource, render, with_fewer_texts
from uopc_core.runtime.rendered import Fused, fused_steps, render_plan


def elements(a: Any, n: int) -> Any:
    for i in range(n):
        a[i + 1] = a[i] * 0.5 + a[i + 2]
    return a


def parts_that_grow(a: Any, n: int) -> Any:
    m = xp.reshape(a, (-1, 10))
    for i in range(1, n):
        m[i % m.shape[0], : i % 10 + 1] *= 1.5 + m[0, : i % 10 + 1]
    return m


def sums_of_more_and_more(a: Any, n: int) -> Any:
    for i in range(1, n):
        a[i] -= xp.sum(a[:i] * a[i : 2 * i])
    return a


def boxes(a: Any, n: int) -> Any:
    m = xp.reshape(a, (-1, 10))
    for i in range(n):
        m[i // 8 : i // 8 + 2, i % 8 : i % 8 + 2] = xp.maximum(m[i // 8, i % 8], m[i // 8 + 1, 1:3])
    return m


PROGRAMS: list[Callable[[Any, int], Any]] = [elements, parts_that_grow, sums_of_more_and_more, boxes]
N = 400  # elements


def traced(program: Callable[[Any, int], Any], n: int) -> UOp:
    """The graph of `program`, over a PARAM that stands for its argument."""
    found: list[UOp] = []

    def keep(a: Any) -> Any:
        out = program(xp.asarray(a, copy=True), n)
        found.append(out._uop)
        return out

    with context(tier="interpret"):
        xp.jit(keep)(xp.asarray(np.ones(N)))
    return found[0]


@pytest.mark.parametrize("program", [elements, parts_that_grow, sums_of_more_and_more])
def test_many_texts_become_few(program: Callable[[Any, int], Any]) -> None:
    plan = Executable([traced(program, 100)]).plan
    steps = [step for step in fused_steps(plan) if isinstance(step, Fused)]
    alone = {render(step.calls, step.needed).text for step in steps}
    together = {step.text for step in render_plan(plan) if isinstance(step, CSource)}
    assert len(together) <= max(MANY_TEXTS, 2 * len(alone) // 3), (len(together), len(alone))


@needs_compiler
@pytest.mark.parametrize("program", PROGRAMS)
def test_places_as_parameters_are_the_places(program: Callable[[Any, int], Any]) -> None:
    values = np.random.default_rng(0).standard_normal(N) / 8
    function = xp.jit(lambda a: program(xp.asarray(a, copy=True), 60))
    results: list[bytes] = []
    for tier in ("compile", "interpret"):
        with context(tier=tier):
            results.append(np.asarray(function(xp.asarray(values))).tobytes())
    assert results[0] == results[1]


def test_few_texts_stay_as_they_are() -> None:
    plan = Executable([traced(elements, 3)]).plan
    sources = [render(step.calls, step.needed) for step in fused_steps(plan) if isinstance(step, Fused)]
    assert with_fewer_texts(sources) == sources
