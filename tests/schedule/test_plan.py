"""What graphs are planned to: how many kernels, which products go to the library, and when a plan is found again."""

import numpy as np
import pytest

from tests.support.graphs import heat_step, layer_norm, leaf, random_leaf, softmax
from uopc_core.codegen.c_source import CSource
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.composite import broadcast_to, matmul, reduce_axes, unsqueeze
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.executors import INTERPRET
from uopc_core.runtime.rendered import render_plan
from uopc_core.schedule.kernelize import MAX_FOLDS
from uopc_core.schedule.plan import make_plan, plan_stats
from uopc_core.schedule.steps import ExternCall, Plan


def planned(*roots: UOp) -> Plan:
    """The plan of `roots`, after a check that running it kernel by kernel gives what the graph gives."""
    plan, bindings = make_plan(roots)
    results = INTERPRET.prepared(plan).run(bindings.buffers, bindings.scalars)
    for result, expected in zip(results, evaluate(roots), strict=True):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result.array, expected, rtol=2e-5, atol=1e-6)
    return plan


def host_calls(plan: Plan) -> list[ExternCall]:
    return [step for step in plan.steps if isinstance(step, ExternCall)]


def test_a_chain_of_elementwise_ops_is_one_kernel():
    x = random_leaf(50, 20)
    for _ in range(30):
        x = (x * 1.1 + 0.3).unary(Ops.SIN)
    assert len(planned(x).kernels) == 1


@pytest.mark.parametrize("n_turns", [8, 40, 200])
def test_rows_of_turned_rows_are_cut_into_kernels_whose_text_grows_no_more(n_turns):
    """Each turn splits and joins the index of the one before it, and twice as much text where nothing simplifies."""
    x = random_leaf(5000)
    y = x * 2.0
    for i in range(n_turns):
        rows = (2, y.size // 2) if i % 2 else (y.size // 4, 4)
        y = y.reshape(rows).permute((1, 0)).flip((0,)).reshape((y.size,))
    plan = planned(y + 1.0)
    assert len(plan.kernels) == 1 + (n_turns - 1) // (MAX_FOLDS + 1)
    assert max(len(source.text) for source in render_plan(plan) if isinstance(source, CSource)) < 40_000


def test_softmax_is_three_kernels_and_the_exponentials_are_kept():
    plan = planned(softmax(random_leaf(64, 64, dtype="float32")))
    assert [[out.op for out in kernel.outputs] for kernel in plan.kernels] == [
        [Ops.REDUCE],
        [Ops.EXP, Ops.REDUCE],
        [Ops.DIV],
    ]


def test_layer_norm_is_three_kernels():
    assert len(planned(layer_norm(random_leaf(32, 48))).kernels) == 3


def test_pairwise_distances_are_one_kernel():
    p, q = random_leaf(50, 3), random_leaf(60, 3, seed=1)
    difference = broadcast_to(unsqueeze(p, 1), (50, 60, 3)) - broadcast_to(unsqueeze(q, 0), (50, 60, 3))
    assert len(planned((difference * difference).reduce(Ops.ADD, 1).unary(Ops.SQRT)).kernels) == 1


@pytest.mark.parametrize("op", [None, Ops.SIN, Ops.EXP])
def test_what_is_needed_here_and_elsewhere_is_computed_once(op: Ops | None):
    """The value itself is not moved, but what is made of it; computed at each place anew, it would double each time."""

    def length(steps: int) -> int:
        x = random_leaf(50)
        for k in range(steps):
            here, there = x * 0.5, x * (0.25 + k)
            x = here + there.shrink([(0, 50 - k - 1)]).pad([(k + 1, 0)])
            x = x.unary(op) if op is not None else x
        plan = planned(x)
        return sum([len(source.text) for source in render_plan(plan) if isinstance(source, CSource)])

    assert length(12) < 3 * length(6)


def test_a_stencil_is_stored_once_a_step():
    u = random_leaf(20, 24)
    for _ in range(5):
        u = heat_step(u)
    plan = planned(u)
    assert len(plan.kernels) == 5
    assert len({kernel.outputs for kernel in plan.kernels[1:]}) == 1


def test_an_epilogue_joins_its_reduction():
    x = random_leaf(30, 40)
    plan = planned(reduce_axes(x, Ops.ADD, [0, 1]) * 0.5 + 1.0)
    assert len(plan.kernels) == 1
    assert len(plan.slots) == 2


def test_siblings_over_one_space_share_a_kernel():
    x = random_leaf(30, 40)
    plan = planned(x * 2.0, x + 1.0, x.reduce(Ops.ADD, 1), x.reduce(Ops.MAX, 1))
    assert len(plan.kernels) == 1
    assert len(plan.kernels[0].outputs) == 4


def test_a_reshape_of_a_result_takes_no_kernel():
    x = random_leaf(30, 40)
    plan = planned(reduce_axes(x, Ops.ADD, [1], keepdims=True), x.reshape((1200,)))
    assert len(plan.kernels) == 1


def test_an_unused_input_does_not_shift_the_arguments():
    x = leaf(np.array([1, 2, 3], np.int32))
    assert planned(x * 0, x).outputs[1][0] == 0


SPELLINGS = {
    "matmul": lambda a, b: matmul(a, b),
    "transposed result": lambda a, b: matmul(a, b).permute((1, 0)),
    "reduced axis first": lambda a, b: reduce_axes(
        broadcast_to(unsqueeze(a.permute((1, 0)), 2), (80, 100, 50)) * broadcast_to(unsqueeze(b, 1), (80, 100, 50)),
        Ops.ADD,
        [0],
    ),
    "right operand first": lambda a, b: reduce_axes(
        broadcast_to(unsqueeze(b, 0), (100, 80, 50)) * broadcast_to(unsqueeze(a, 2), (100, 80, 50)), Ops.ADD, [1]
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_product_is_recognised_however_it_is_spelled(spelling: str):
    a, b = random_leaf(100, 80), random_leaf(80, 50, seed=1)
    plan = planned(SPELLINGS[spelling](a, b))
    assert [call.name for call in host_calls(plan)] == ["matmul"]


def test_batched_products_and_kept_axes_that_nothing_varies_along():
    a, b = random_leaf(4, 30, 40), random_leaf(4, 40, 50, seed=1)
    assert len(host_calls(planned(matmul(a, b)))) == 1
    a, b = random_leaf(1, 30, 40), random_leaf(40, 50, seed=1)
    plan = planned(broadcast_to(matmul(a, b), (3, 30, 50)))
    assert len(host_calls(plan)) == 1


def test_a_product_of_sums_is_not_a_library_product_of_the_wrong_kind():
    a, b = random_leaf(200, 8), random_leaf(200, 9, seed=1)
    x = broadcast_to(unsqueeze(a, 2), (200, 8, 9)) * broadcast_to(unsqueeze(b, 1), (200, 8, 9))
    planned(x.reduce(Ops.ADD, 2), x.reduce(Ops.ADD, 1), reduce_axes(x, Ops.ADD, [0]))


def test_a_changing_number_makes_no_new_plan():
    x = random_leaf(10)
    planned(x * 0.1 + 0.7)
    made = plan_stats()["made"]
    for rate in (0.3, 0.7, 1e-3, 123.456):
        planned(x * rate + 0.7)
    assert plan_stats()["made"] == made


def test_a_small_constant_is_part_of_the_key():
    x = random_leaf(10)
    planned(x * 0.1)
    made = plan_stats()["made"]
    planned(x * 2.0)
    assert plan_stats()["made"] == made + 1


def test_equal_graphs_on_other_memory_share_a_plan():
    first, _ = make_plan([softmax(random_leaf(8, 9))])
    second, _ = make_plan([softmax(random_leaf(8, 9, seed=1))])
    assert first is second


def test_what_a_handle_holds_is_materialised_with_the_rest():
    x = random_leaf(10)
    y = x * 0.3
    z = y + 0.4
    y.held = 1
    plan, _ = make_plan([z])
    assert len(plan.outputs) == 2
    assert len(plan.kernels) == 1


def test_a_chain_of_100_000_ops_is_planned_in_bounded_kernels():
    x = random_leaf(4)
    for _ in range(50_000):
        x = x * 0.999 + 1.0
    plan, bindings = make_plan([x])
    assert len({kernel.outputs for kernel in plan.kernels}) <= 3
    value = bindings.buffers[0].array
    for _ in range(50_000):
        value = value * 0.999 + 1.0
    np.testing.assert_array_equal(INTERPRET.prepared(plan).run(bindings.buffers, bindings.scalars)[0].array, value)
