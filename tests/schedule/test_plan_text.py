"""Plans as text, and the verifier of plans: every rule is broken once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from uopc_core import Tensor, clear_plans, context, make_plan
from uopc_core.errors import VerifyError
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.plan_text import print_plan, verify_plan
from uopc_core.schedule.steps import Plan


def softmax_plan() -> Plan:
    return make_plan([Tensor(np.ones((64, 32), np.float32)).softmax()])[0]


def test_a_plan_prints_its_memory_its_steps_and_its_results() -> None:
    lines = print_plan(softmax_plan()).splitlines()
    assert lines[:3] == ["# plan", "slot 0: f32[64, 32] input", "slot 1: f32[64] temporary"]
    assert [line for line in lines if line.startswith("# step")] == [
        "# step 0: kernel, slots [0] -> [1]",
        "# step 1: kernel, slots [0, 1] -> [2, 3]",
        "# step 2: kernel, slots [2, 3] -> [4]",
    ]
    assert lines[-1] == "return slot 4 as [64, 32]"


def kernel(plan: Plan, number: int) -> KernelCall:
    step = plan.steps[number]
    assert isinstance(step, KernelCall)
    return step


def with_step(plan: Plan, number: int, step: KernelCall) -> Plan:
    return replace(plan, steps=(*plan.steps[:number], step, *plan.steps[number + 1 :]))


BREAKS: dict[str, tuple[Callable[[Plan], Plan], str]] = {
    "a step too early": (lambda p: replace(p, steps=p.steps[::-1]), "inputs that have been written"),
    "a step missing": (lambda p: replace(p, steps=p.steps[:-1]), "results that have been written"),
    "written twice": (lambda p: replace(p, steps=(*p.steps, p.steps[0])), "each slot to be written once"),
    "an input overwritten": (
        lambda p: with_step(p, 0, replace(kernel(p, 0), outputs=(0,))),
        "a slot of the plan's own|memory for",
    ),
    "inputs exchanged": (lambda p: with_step(p, 1, replace(kernel(p, 1), inputs=(1, 0))), "memory for"),
    "an input missing": (lambda p: with_step(p, 1, replace(kernel(p, 1), inputs=(0,))), "2 inputs"),
    "an output missing": (lambda p: with_step(p, 1, replace(kernel(p, 1), outputs=(2,))), "2 outputs"),
    "a slot too small": (
        lambda p: replace(p, slots=(*p.slots[:1], replace(p.slots[1], shape=(3,)), *p.slots[2:])),
        "memory for",
    ),
    "a slot that nobody writes": (lambda p: replace(p, slots=(*p.slots, p.slots[0])), "every slot to be written"),
    "a result of another size": (lambda p: replace(p, outputs=((4, (64, 33)),)), "2112 elements"),
}


def test_a_plan_as_it_is_made_passes() -> None:
    verify_plan(softmax_plan())
    matrix = Tensor(np.eye(3, dtype=np.float32))
    verify_plan(make_plan([matrix @ matrix + 1])[0])


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_plan_is_found_out(name: str) -> None:
    damage, message = BREAKS[name]
    with pytest.raises(VerifyError, match=message):
        verify_plan(damage(softmax_plan()))


def test_debug_prints_each_form(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    seen: dict[int, str] = {}
    for level in (1, 2, 3, 4):
        clear_plans()
        with context(debug=level, verify=True, tier="compile", cache_dir=tmp_path):
            (Tensor(x) * 2.5 + level).sum(1).exp().numpy()
        seen[level] = capfd.readouterr().err
    assert "# graph after simplification" not in seen[1]
    assert "# graph after simplification" in seen[2]
    assert "# plan" in seen[2]
    assert "# loops: " not in seen[2]
    assert "# loops: " in seen[3]
    assert "int64_t uopc_kernel_" in seen[4]
