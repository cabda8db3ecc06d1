"""A further back end is a class and a row of the table of executors: here one that counts operations.

Whatever is computed under its tier comes to it as plans: jitted functions, values that are asked for, derivatives, and
arrays that are small.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import EXECUTORS, Executor, Ops, UOp, explain, realize_all, register_executor, unregister_executor
from uopc_core.errors import IndexBoundsError, SettingsError
from uopc_core.interpret.externs import call_extern
from uopc_core.interpret.numpy_ops import NUMPY_OPS
from uopc_core.ir.uop import walk
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.interpreted import HostInputs
from uopc_core.runtime.region_calls import run_region
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.steps import ExternCall, RegionCall
from uopc_core.transform.checkpoint import checkpoint

COUNTS: Counter[Ops] = Counter()  # operations that have been run
PLANS: list[object] = []  # that have been prepared


class CountingPlan:
    """Runs the kernels of a plan operation by operation, and counts those."""

    def __init__(self, plan):
        self.plan = plan
        PLANS.append(plan)

    def run(self, buffers, scalars):
        memory = dict(enumerate(buffer.array for buffer in buffers))
        with np.errstate(all="ignore"):
            for step in self.plan.steps:
                if isinstance(step, ExternCall):
                    self._call(step, memory)
                elif isinstance(step, RegionCall):
                    self._call_region(step, memory, scalars)
                else:
                    self._evaluate(step, memory, scalars)
        results = []
        for slot, shape in self.plan.outputs:
            own = slot < self.plan.n_inputs and buffers[slot].shape == shape
            results.append(buffers[slot] if own else Buffer.from_numpy(memory[slot].reshape(shape)))
        return results

    def _call(self, step, memory):
        COUNTS[Ops.EXTERN] += 1
        results = call_extern(step.name, step.params, HostInputs(step).of(memory))
        memory.update({slot: results[number].reshape(self.plan.slots[slot].shape) for number, slot in step.outputs})

    def _call_region(self, step, memory, scalars):
        COUNTS[Ops.CALL] += 1
        prepared = EXECUTORS["count"].prepared(step.plan)
        results = run_region(step, prepared, [memory[slot] for slot in step.inputs], scalars)
        memory.update({slot: buffer.array for slot, buffer in zip(step.writes, results, strict=True)})

    def _evaluate(self, step: KernelCall, memory, scalars):
        values = {}
        for node in walk(step.kernel.outputs):
            if node.op is Ops.PARAM:
                number = step.inputs[node.arg[0]]
                values[node] = memory[number] if node.arg[2] == "buffer" else np.array(scalars[number], node.dtype)
            elif node.op is Ops.CONST:
                values[node] = np.array(node.arg, node.dtype)
            else:
                COUNTS[node.op] += 1
                values[node] = NUMPY_OPS[node.op](node)(*[values[s] for s in node.src])
        memory.update(zip(step.outputs, [values[node] for node in step.kernel.outputs], strict=True))


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register_executor("count", Executor(CountingPlan))
    COUNTS.clear(), PLANS.clear()
    try:
        with xp.context(tier="count", at_once=32768):
            yield
    finally:
        unregister_executor("count")


def counted(*ops: Ops) -> list[int]:
    """How often each has run since the last look."""
    counts = [COUNTS[op] for op in ops]
    COUNTS.clear()
    return counts


def test_a_value_that_is_asked_for_is_counted_however_small():
    x = xp.asarray([1.0, 2.0, 3.0])
    assert np.asarray(x * x + xp.sin(x)).tolist() == (np.array([1.0, 4.0, 9.0]) + np.sin([1.0, 2.0, 3.0])).tolist()
    assert counted(Ops.MUL, Ops.SIN, Ops.ADD) == [1, 1, 1]


def test_a_jitted_function_is_prepared_once_and_counted_at_each_call():
    f = xp.jit(lambda x, y: xp.sum(xp.exp(x) * y))
    x, y = np.linspace(0, 1, 50), np.linspace(1, 2, 50)
    for _ in range(3):
        np.testing.assert_allclose(float(f(xp.asarray(x), xp.asarray(y))), np.sum(np.exp(x) * y))
        assert counted(Ops.EXP, Ops.MUL, Ops.REDUCE) == [1, 1, 1]
    assert len(PLANS) == 1


@pytest.mark.parametrize("wrap", [lambda f: f, xp.jit], ids=["plain", "jit"])
def test_a_gradient_is_run_by_it(wrap):
    x = np.linspace(0.1, 1, 20)
    gradient = wrap(xp.grad(lambda x: xp.sum(xp.sin(x) * x)))
    np.testing.assert_allclose(np.asarray(gradient(xp.asarray(x))), np.cos(x) * x + np.sin(x))
    sines, cosines = counted(Ops.SIN, Ops.COS)
    assert sines + cosines >= 2


def test_functions_of_libraries_are_steps_of_the_plan():
    a = np.random.default_rng(0).standard_normal((40, 40)) + 8 * np.eye(40)
    np.testing.assert_allclose(np.asarray(xp.linalg.inv(xp.asarray(a)) @ xp.asarray(a)), np.eye(40), atol=1e-12)
    assert counted(Ops.EXTERN) == [2]  # the inverse and the product
    assert np.asarray(xp.sort(xp.asarray([3.0, 1.0, 2.0]) * 2)).tolist() == [2.0, 4.0, 6.0]


def test_a_region_is_a_plan_of_its_own_run_by_it_as_well():
    x = UOp.buffer(Buffer.from_numpy(np.linspace(0.1, 1, 20)))
    y = x
    for _ in range(3):
        (y,) = checkpoint([y.unary(Ops.SIN) * y], [y])
    (value,) = realize_all([y])
    wanted = x.realized.array
    for _ in range(3):
        wanted = np.sin(wanted) * wanted
    np.testing.assert_allclose(value.array, wanted)
    assert counted(Ops.CALL, Ops.SIN) == [3, 3]
    assert len(PLANS) == 2


def test_several_results_changing_numbers_and_an_input_as_output():
    f = xp.jit(lambda x, rate: (x, x * rate, xp.sum(x)))
    for rate in (0.3, 0.7):
        x, scaled, total = f(xp.asarray([1.0, 2.0]), rate)
        assert [np.asarray(part).tolist() for part in (x, scaled, total)] == [[1.0, 2.0], [rate, 2 * rate], 3.0]
    assert len(PLANS) == 1


def test_what_it_raises_the_caller_gets():
    index = UOp.buffer(Buffer.from_numpy(np.array([5])))
    with pytest.raises(IndexBoundsError):
        realize_all([UOp.buffer(Buffer.from_numpy(np.arange(3.0))).index(index)])


def test_each_executor_keeps_what_it_made_of_a_plan():
    f = xp.jit(lambda x: x * 2.0)
    x = xp.asarray([1.0, 2.0, 3.0, 4.0])
    for tier in ("count", "interpret", "count", "auto", "count"):
        with xp.context(tier=tier):
            assert np.asarray(f(x)).tolist() == [2.0, 4.0, 6.0, 8.0]
    assert counted(Ops.MUL) == [3]
    assert len(PLANS) == 1


def test_explain_shows_what_the_executor_in_force_makes_of_the_plan():
    x = UOp.buffer(Buffer.from_numpy(np.arange(4.0))) * 2.0
    assert "# plan" in explain(x)
    assert "# C of" not in explain(x)
    with xp.context(tier="compile"):
        assert "# C of the kernel" in explain(x)


def test_a_name_that_is_not_in_the_table_is_refused():
    with pytest.raises(SettingsError, match="expected auto, compile, interpret, count, got 'counts'"):
        with xp.context(tier="counts"):
            pass
    register_executor("twice", EXECUTORS["count"])
    unregister_executor("twice")
    with pytest.raises(SettingsError, match="expected auto, compile, interpret, count, got 'twice'"):
        with xp.context(tier="twice"):
            pass
