"""What it takes to plan a program of many statements: in proportion to their number, counted in steps of Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tests.support.graphs import softmax
from uopc_core.codegen.c_source import CSource
from uopc_core.dtype import dtypes
from uopc_core.ir import Ops, UOp
from uopc_core.ir.composite import matmul
from uopc_core.numerics.boxes import Box, box_of
from uopc_core.rewrite.pattern import Rule
from uopc_core.runtime import interpreted
from uopc_core.runtime.placement import Placement
from uopc_core.runtime.rendered import render_plan
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.plan import _build
from uopc_core.schedule.steps import Plan

N = 24  # statements of the shorter program
MORE = 4  # times as many in the longer one
SLACK = 1.25


def inputs(n: int, *shape: int) -> list[UOp]:
    return [UOp.param(i, shape, dtypes.float64) for i in range(n)]


def chain(n: int) -> UOp:
    x, y = inputs(2, 100)
    for k in range(4 * n):
        x, y = x * (k + 0.3) + y, x - y
    return x + y


def padded_stencils(n: int) -> UOp:
    (x,) = inputs(1, 100)
    for _ in range(n):
        x = (x.shrink([(0, 98)]) + x.shrink([(1, 99)]) + x.shrink([(2, 100)])).pad([(1, 1)])
    return x


def inner_part(x: UOp) -> UOp:
    return x.shrink([(0, 98)]) + x.shrink([(1, 99)]) + x.shrink([(2, 100)])


def box(x: UOp, key: Any) -> Box:
    found = box_of(x.shape, key)
    assert found is not None, key
    return found


def stencils_in_place(n: int) -> UOp:
    x, y = inputs(2, 100)
    inside = box(x, slice(1, -1))
    for _ in range(n):
        y = inside.write(y, inner_part(x))
        x = inside.write(x, inner_part(y))
    return x


def single_elements(n: int) -> UOp:
    (x,) = inputs(1, 1000)
    for i in range(2 * n):
        x = box(x, i + 1).write(x, box(x, i).read(x) * 0.5 + box(x, i + 2).read(x))
    return x


def products(n: int) -> UOp:
    a, b = inputs(2, 64, 64)
    for _ in range(n):
        a = matmul(a, b).unary(Ops.TANH)
    return a


def rows(n: int) -> UOp:
    (x,) = inputs(1, 40, 30)
    for _ in range(n):
        x = softmax(x)
    return x


def sums_that_are_all_read(n: int) -> UOp:
    (x,) = inputs(1, 40, 30)
    out = x
    for k in range(n):
        out = out + (x * (k + 0.3)).reduce(Ops.ADD, 1).reshape((40, 1)).expand((40, 30))
    return out


PROGRAMS = [chain, padded_stencils, stencils_in_place, single_elements, products, rows, sums_that_are_all_read]


class Counter:
    """Counts the lines that are run, those of loops on one line at each turn."""

    def __init__(self) -> None:
        self.lines = 0

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.lines += event == "line"
        return self.trace

    def of(self, function: Callable[[], object]) -> int:
        self.lines = 0
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            function()
        finally:
            sys.settrace(before)
        return self.lines


def prepare(plan: Plan) -> None:
    Placement(plan, render_plan(plan))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_takes_steps_in_proportion_to_its_statements(program: Callable[[int], UOp]) -> None:
    counts: list[list[int]] = []
    prepare(_build(canonicalise([program(N)])))  # what is made once
    for n in (N, MORE * N):
        root, plans = program(n), list[Plan]()
        counter = Counter()
        planning = counter.of(lambda root=root, plans=plans: plans.append(_build(canonicalise([root]))))
        counts.append([planning, counter.of(lambda plans=plans: prepare(plans[0]))])
    for short, long in zip(*counts, strict=True):
        assert long < MORE * SLACK * short + 1000, counts


def test_memory_that_is_taken_over_again_and_again_is_followed_once() -> None:
    """Each of these kernels writes over what the one before it has written."""

    def steps(n: int) -> int:
        (x,) = inputs(1, 100)
        for k in range(n):
            x = (x * (k + 0.3)).materialize()
        plan = _build(canonicalise([x]))
        rendered = render_plan(plan)
        return Counter().of(lambda: Placement(plan, rendered))

    assert steps(1200) < 4 * SLACK * steps(300)


@pytest.mark.parametrize("program", PROGRAMS)
def test_rules_are_tried_in_proportion_to_its_statements(
    program: Callable[[int], UOp], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Rule] = []
    apply = Rule.apply

    def counted(rule: Rule, x: UOp) -> UOp | None:
        tried.append(rule)
        return apply(rule, x)

    monkeypatch.setattr(Rule, "apply", counted)
    counts: list[int] = []
    for n in (N, MORE * N):
        tried.clear()
        _build(canonicalise([program(n)]))
        counts.append(len(tried))
    assert counts[1] <= MORE * counts[0] + 100, counts


@pytest.mark.parametrize("program", [padded_stencils, stencils_in_place, products, rows])
def test_statements_that_repeat_are_lowered_once_for_numpy(
    program: Callable[[int], UOp], monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered: list[object] = []
    lower = interpreted.lower_to_numpy
    monkeypatch.setattr(interpreted, "lower_to_numpy", lambda *given: lowered.append(given) or lower(*given))
    interpreted.InterpretedPlan(_build(canonicalise([program(N)])))
    assert 0 < len(lowered) <= 8


@pytest.mark.parametrize("program", [padded_stencils, stencils_in_place, products, rows])
def test_statements_that_repeat_have_few_kernels_and_texts(program: Callable[[int], UOp]) -> None:
    plan = _build(canonicalise([program(N)]))
    texts = {step.text for step in render_plan(plan) if isinstance(step, CSource)}
    assert len(plan.kernels) >= N // 2
    assert len({id(kernel) for kernel in plan.kernels}) <= 5
    assert len(texts) <= 4
