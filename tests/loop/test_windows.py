"""Writes of boxes where the array is, and kernels over windows: every way in which statements read what they write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.kernels import needs_compiler
from uopc_core import Executable, context
from uopc_core.codegen.c_source import CSource
from uopc_core.runtime.placement import Placement
from uopc_core.runtime.rendered import render_plan
from uopc_core.schedule.steps import Plan

SHAPES = [(40,), (9, 14), (5, 6, 7)]
IN_PLACE = "B_"  # what names of functions begin with that write a box where the array is


def drawn_box(rng: np.random.Generator, shape: tuple[int, ...], size: tuple[int, ...]) -> tuple[slice, ...]:
    starts = [int(rng.integers(0, n - m + 1)) for n, m in zip(shape, size, strict=True)]
    return tuple([slice(start, start + m) for start, m in zip(starts, size, strict=True)])


def drawn_statements(seed: int, shape: tuple[int, ...], n: int) -> list[tuple[Any, ...]]:
    """Boxes that are written, and boxes of the same shape that are read for each: the same, shifted, apart, reversed or
    of another array.
    """
    rng = np.random.default_rng(seed)
    statements: list[tuple[Any, ...]] = []
    for _ in range(n):
        size = tuple([int(rng.integers(1, max(2, m * 3 // 4))) for m in shape])
        written = drawn_box(rng, shape, size)
        kinds = rng.choice(["same", "other", "flipped", "around", "sum"], size=int(rng.integers(1, 4)))
        reads = [(str(kind), written if kind == "same" else drawn_box(rng, shape, size)) for kind in kinds]
        statements.append((written, reads, float(rng.choice([0.5, -0.25, 0.75]))))
    return statements


def run(np_: Any, a: Any, b: Any, statements: list[tuple[Any, ...]]) -> Any:
    a = a * 1.0
    for number, (written, reads, factor) in enumerate(statements):
        value = factor
        for kind, box in reads:
            part = a[box]
            if kind == "around":
                part = b[box]
            elif kind == "flipped":
                part = np_.flip(part)
            elif kind == "sum":
                part = np_.sum(part)
            value = value + part * factor
        a[written] = value
        if number % 3 == 0:
            a[written] *= 0.5
        if number % 4 == 0:
            b = b + a
    return a, b


def plan_of(function: Any, *arrays: Any) -> Plan:
    found: list[Any] = []

    def keep(*given: Any) -> Any:
        out = function(*given)
        found.extend([x._uop for x in out])
        return out

    with context(tier="interpret"):
        xp.jit(keep)(*arrays)
    return Executable(found).plan


def functions(plan: Plan) -> list[CSource]:
    return [step for step in render_plan(plan) if isinstance(step, CSource)]


@needs_compiler
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_boxes_are_written_as_numpy_writes_them(shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    statements = drawn_statements(seed, shape, 24)
    function = xp.jit(lambda a, b: run(xp, a, b, statements))
    results: list[list[bytes]] = []
    for tier in ("compile", "interpret"):
        with context(tier=tier):
            results.append([np.asarray(x).tobytes() for x in function(xp.asarray(a), xp.asarray(b))])
    assert results[0] == results[1]
    for got, want in zip(results[0], run(np, a, b, statements), strict=True):
        np.testing.assert_allclose(np.frombuffer(got).reshape(shape), want, rtol=1e-9, atol=1e-12)


def rows(a: Any) -> Any:
    a = a * 2.0
    for i in range(1, 30):
        a[i, 1:-1] = a[i - 1, 1:-1] * 0.5 + a[i, 1:-1]
    return (a,)


def test_what_nobody_reads_any_more_is_written_in_place_by_one_text() -> None:
    plan = plan_of(rows, xp.asarray(np.ones((32, 50))))
    found = functions(plan)
    written = [source for source in found if source.name.startswith(IN_PLACE)]
    assert len(written) >= 28
    assert len({source.text for source in written}) == 1
    assert len({source.dims for source in written}) == len(written)
    steps = render_plan(plan)
    placement = Placement(plan, steps)
    assert placement.arena_bytes == 0, "all of it in the memory of the result"
    assert {placement.place[slot] for source in written for slot in source.outputs} == {plan.n_inputs}


def shifted(a: Any) -> Any:
    a = a * 2.0
    for i in range(12):
        a[i : i + 8] = a[i + 1 : i + 9] * 0.5
    return (a,)


def read_again(a: Any) -> Any:
    a = a * 2.0
    kept: list[Any] = []
    for i in range(12):
        kept.append(a + 1.0)
        a[i] = i * 2.0
    return (a, *kept)


@pytest.mark.parametrize("function", [shifted, read_again])
def test_what_is_read_besides_is_not_written_over(function: Callable[[Any], tuple[Any, ...]]) -> None:
    """At other elements of the box, or by somebody later."""
    values = np.random.default_rng(0).standard_normal(40)
    found = functions(plan_of(function, xp.asarray(values)))
    if function is shifted:
        assert not any(source.name.startswith(IN_PLACE) for source in found)
    with context(tier="compile"):
        results: Any = xp.jit(function)(xp.asarray(values))
    for got, want in zip(results, function(values), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def pictures(x: Any) -> Any:
    out = xp.zeros((4, 12, 12))
    for i in range(12):
        for j in range(12):
            out[:, i, j] = xp.sum(x[:, i : i + 3, j : j + 3], axis=(1, 2))
    return (out + 1.0,)


def test_many_writes_are_no_choice_for_each_element() -> None:
    """One by one, and as few texts as there are kinds of kernels."""
    plan = plan_of(pictures, xp.asarray(np.ones((4, 14, 14))))
    found = functions(plan)
    assert len([source for source in found if source.name.startswith(IN_PLACE)]) > 100
    assert len({source.text for source in found}) < 12
    assert max(source.text.count("\n") for source in found) < 300


def test_slots_that_begin_at_one_place_are_one_pointer() -> None:
    """A call packs a pointer for each, so those of a loop that is written out must not grow with it."""
    plan = plan_of(lambda a: (xp.sum(rows(a)[0]),), xp.asarray(np.ones((32, 50))))
    placement = Placement(plan, render_plan(plan))
    assert len(placement.offsets) >= 28
    assert placement.n_pointers <= plan.n_inputs + 4
    assert {placement.place[slot] for slot in placement.offsets} == {
        placement.n_pointers - len(placement.starts) + i for i in range(len(placement.starts))
    }
