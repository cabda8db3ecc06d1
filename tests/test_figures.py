"""The figures that differentiation, planning and the Tensor layer must reproduce, one test a figure."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from uopc_core.ir import Ops, UOp
from uopc_core.ir.text import from_uir, to_uir
from uopc_core.nn import SGD, AdamW, Linear, parameters
from uopc_core.runtime.explain import explain_nodes
from uopc_core.schedule.plan import make_plan, plan_stats
from uopc_core.schedule.steps import ExternCall
from uopc_core.settings import context
from uopc_core.tensor import Tensor
from uopc_core.transform.gradient import gradient

pytestmark = pytest.mark.every_op


def leaf(*values: Any) -> Tensor:
    return Tensor(list(values), requires_grad=True)


def slope(f: Callable[[Tensor], Tensor], *values: float) -> list[float]:
    """The gradient of ``sum(f(x))`` at `values`."""
    x = leaf(*values)
    f(x).sum().backward([x])
    assert x.grad is not None
    return x.grad.numpy().tolist()


def c_prototypes(text: str) -> list[str]:
    """Parameter lists of the plain functions in the C text of an explanation."""
    return re.findall(r"^static inline int64_t \w+\((.*)\) {$", text, re.MULTILINE)


# --------------------------------------------------------------------------------------- L = sum(x*y + x), from one end


@pytest.fixture
def product_and_sum() -> tuple[Tensor, Tensor, Tensor]:
    x, y = leaf(1.0, 2.0, 3.0), leaf(10.0, 20.0, 30.0)
    return x, y, (x * y + x).sum()


def test_gradients_of_a_product_and_a_sum(product_and_sum: tuple[Tensor, Tensor, Tensor]) -> None:
    x, y, loss = product_and_sum
    loss.backward([x, y])
    assert x.grad is not None
    assert y.grad is not None
    assert loss.item() == 146.0
    assert x.grad.numpy().tolist() == [11.0, 21.0, 31.0]
    assert y.grad.numpy().tolist() == [1.0, 2.0, 3.0]


def test_graph_of_a_gradient_has_five_nodes(product_and_sum: tuple[Tensor, Tensor, Tensor]) -> None:
    x, y, loss = product_and_sum
    (dx,) = gradient(loss.uop, [x.uop])
    ops = [node.op for node in dx.walk() if node.op is not Ops.CONST]
    assert sorted(ops) == sorted([Ops.RESHAPE, Ops.EXPAND, Ops.BUFFER, Ops.MUL, Ops.ADD])
    lines = [line for line in to_uir(dx).splitlines() if re.match(r"%\d+:", line)]
    assert len(lines) == 5
    assert [re.split(r"[=(]", line)[1].strip() for line in lines] == ["reshape", "expand", "buffer", "mul", "add"]
    assert y.uop in dx.walk()
    assert x.uop not in dx.walk()


def test_kernel_of_a_gradient_reads_one_array(product_and_sum: tuple[Tensor, Tensor, Tensor]) -> None:
    x, y, loss = product_and_sum
    (dx,) = gradient(loss.uop, [x.uop])
    plan, bindings = make_plan([dx])
    assert len(plan.kernels) == 1
    assert plan.kernels[0].n_params == 1
    assert bindings.buffers == (y.uop.realized,)


def test_multiplication_by_one_is_gone_from_the_c(product_and_sum: tuple[Tensor, Tensor, Tensor]) -> None:
    x, _, loss = product_and_sum
    (dx,) = gradient(loss.uop, [x.uop])
    text = explain_nodes([dx])
    code = text[text.index("# C of the kernel") :]
    (parameters_of_the_kernel,) = c_prototypes(code)
    assert parameters_of_the_kernel.count("*") == 2
    assert not re.search(r"\b1(\.0*)?f?\s*\*\s*[a-z]|[a-z0-9_\])]\s*\*\s*1(\.0*)?f?\s*[;+)]", code)


# -------------------------------------------------------------------------------------------------------------- kinks


def test_abs_has_slope_zero_at_zero() -> None:
    assert slope(lambda x: x.abs(), -2.0, 0.0, 3.0) == [-1.0, 0.0, 1.0]
    assert slope(lambda x: x.maximum(-x), -2.0, 0.0, 3.0) == [-1.0, 0.0, 1.0]


def test_relu_has_slope_zero_at_zero() -> None:
    assert slope(lambda x: x.relu(), -2.0, 0.0, 3.0) == [0.0, 0.0, 1.0]
    assert slope(lambda x: (x > 0).where(x, 0.0), -2.0, 0.0, 3.0) == [0.0, 0.0, 1.0]


def test_maximum_splits_a_tie_with_a_constant() -> None:
    assert slope(lambda x: x.maximum(0), -2.0, 0.0, 3.0) == [0.0, 0.5, 1.0]


def test_maximum_splits_a_tie_of_two() -> None:
    x, y = leaf(3.0, 2.0, 1.0), leaf(1.0, 2.0, 3.0)
    x.maximum(y).sum().backward([x, y])
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.numpy().tolist() == [1.0, 0.5, 0.0]
    assert y.grad.numpy().tolist() == [0.0, 0.5, 1.0]


def test_max_splits_evenly_among_the_largest() -> None:
    assert slope(lambda x: x.max(), 1.0, 3.0, 3.0) == [0.0, 0.5, 0.5]


def test_a_branch_not_taken_has_no_say_in_the_slope() -> None:
    assert slope(lambda x: (x > 0).where(x.sqrt(), 0), 0.0, 4.0) == [0.0, 0.25]
    assert slope(lambda x: (x > 0).where(x.log(), 0), 0.0, 4.0) == [0.0, 0.25]


def test_remainder_has_slope_one() -> None:
    assert slope(lambda x: x % 2.0, 0.5, 3.5) == [1.0, 1.0]
    assert slope(lambda x: x // 2.0, 0.5, 3.5) == [0.0, 0.0]


# -------------------------------------------------------------------------------------------------------- other figures


def test_gradient_of_a_slice_is_a_constant_without_input() -> None:
    v = leaf(1.0, 2.0, 3.0, 4.0, 5.0)
    v[1:3].sum().backward([v])
    assert v.grad is not None
    plan, bindings = make_plan([v.grad])
    assert [kernel.n_params for kernel in plan.kernels] == [0]
    assert bindings.buffers == ()
    assert v.grad.numpy().tolist() == [0.0, 1.0, 1.0, 0.0, 0.0]


def test_nothing_passes_a_detach() -> None:
    assert slope(lambda w: w * w.detach(), 1.0, 2.0) == [1.0, 2.0]


def test_gradient_of_cross_entropy() -> None:
    logits = Tensor([[2.0, 1.0, 0.1], [0.5, 2.5, 0.3]], requires_grad=True)
    logits.cross_entropy(Tensor([0, 1])).backward([logits])
    assert logits.grad is not None
    wanted = [[-0.17049944, 0.12121649, 0.04928295], [0.05430186, -0.09876046, 0.0444586]]
    np.testing.assert_allclose(logits.grad.numpy(), wanted, rtol=1e-6)
    half = (logits.softmax(1) - Tensor([0, 1]).one_hot(3)) / 2
    np.testing.assert_allclose(logits.grad.numpy(), half.numpy(), rtol=0, atol=3e-8)


def test_gradient_through_a_stack() -> None:
    t = Tensor(np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32), requires_grad=True)
    (t.stack_with(t * t)[1].sum(0) * Tensor([1.0, 2.0, 3.0])).sum().backward([t])
    assert t.grad is not None
    wanted = [[0.25146043, -0.52841944, 3.842536], [0.20980023, -2.1426775, 2.1695704]]
    np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=1e-7)


def test_second_derivative_of_a_cube() -> None:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    (x**3).sum().backward([x])
    first = x.grad
    assert first is not None
    assert first.numpy().tolist() == [3.0, 12.0, 27.0, 48.0]
    x.zero_grad()
    first.sum().backward([x])
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [6.0, 12.0, 18.0, 24.0]


def test_backward_after_item() -> None:
    w = leaf(1.0, 2.0)
    loss = (w * w).sum()
    assert loss.item() == 5.0
    loss.backward([w])
    assert w.grad is not None
    assert w.grad.numpy().tolist() == [2.0, 4.0]


def test_backward_after_item_computes_only_what_is_missing() -> None:
    w = leaf(1.0, 2.0)
    h = w.exp()
    (h * h).sum().item()
    assert h.uop.realized is not None
    loss = (h * h).sum()
    loss.backward([w])
    assert w.grad is not None
    plan, bindings = make_plan([w.grad])
    assert bindings.buffers == (h.uop.realized,)
    assert all(node.op is not Ops.EXP for kernel in plan.kernels for out in kernel.outputs for node in out.walk())


def test_gradients_of_a_product_of_matrices_are_products_of_matrices() -> None:
    rng = np.random.default_rng(0)
    a, b, g = [rng.standard_normal(shape).astype(np.float32) for shape in ((64, 48), (48, 32), (64, 32))]
    x, w = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)
    (x @ w * Tensor(g)).sum().backward([x, w])
    assert x.grad is not None
    assert w.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), g @ b.T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(w.grad.numpy(), a.T @ g, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("which", [0, 1])
def test_gradient_of_a_large_product_is_planned_as_one_product(which: int) -> None:
    x = Tensor(np.ones((256, 256), np.float32), requires_grad=True)
    w = Tensor(np.ones((256, 256), np.float32), requires_grad=True)
    g = Tensor(np.ones((256, 256), np.float32))
    (x @ w * g).sum().backward([x, w])
    grad = (x, w)[which].grad
    assert grad is not None
    plan, bindings = make_plan([grad])
    assert [type(step) for step in plan.steps] == [ExternCall]
    assert set(bindings.buffers) == {g.uop.realized, (w, x)[which].uop.realized}


def test_two_steps_of_sgd_with_momentum() -> None:
    w = leaf(1.0, -2.0)
    optimizer = SGD([w], lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        (w * w).sum().backward([w])
        optimizer.step()
    np.testing.assert_allclose(w.numpy(), [0.46, -0.92], rtol=1e-6)


@pytest.mark.parametrize("tier", ["interpret", "auto"])
def test_forty_steps_of_adamw_learn_and_plan_nothing_from_the_third_on(tier: Any) -> None:
    rows = np.random.default_rng(0).standard_normal((64, 8)).astype(np.float32)
    x, labels = Tensor(rows), Tensor((rows.sum(1) > 0).astype(np.int32))
    Tensor.manual_seed(0)
    first, second = Linear(8, 16), Linear(16, 2)
    optimizer = AdamW(parameters([first, second]), lr=1e-2)
    losses: list[float] = []
    made: list[int] = []
    with context(tier=tier):
        for _ in range(40):
            optimizer.zero_grad()
            loss = second(first(x).relu()).cross_entropy(labels)
            loss.backward(optimizer.params)
            optimizer.step()
            losses.append(loss.item())
            made.append(plan_stats()["made"])
    assert losses[-1] < 0.3 * losses[0]
    assert made[2:] == [made[1]] * 38


def test_a_chain_of_elementwise_operations_is_one_kernel() -> None:
    x = Tensor(np.ones((30, 40), np.float32))
    y = ((x * 2 + 1).exp() - x).tanh().relu().maximum(x / 3)
    plan, _ = make_plan([y])
    assert len(plan.kernels) == len(plan.steps) == 1


def test_softmax_is_three_kernels() -> None:
    x = Tensor(np.ones((64, 64), np.float32))
    plan, _ = make_plan([x.softmax()])
    assert len(plan.kernels) == len(plan.steps) == 3


def test_an_explanation_says_which_kernels_run_as_one_function() -> None:
    text = explain_nodes([Tensor(np.ones((64, 512), np.float32)).softmax().uop])
    assert "# C of the kernel that writes slots [4] (steps 0 to 2 in one)" in text
    alone = explain_nodes([(Tensor(np.ones(64, np.float32)) + 1).uop])
    assert re.findall("# C of the kernel.*", alone) == ["# C of the kernel that writes slots [1]"]


def test_an_input_that_vanishes_does_not_shift_the_others() -> None:
    x = Tensor(np.array([1, 2, 3], np.int32))
    assert (x * 0).numpy().tolist() == [0, 0, 0]
    assert x.numpy().tolist() == [1, 2, 3]
    y = Tensor(np.array([4, 5, 6], np.int32))
    assert (x * 0 + y).numpy().tolist() == [4, 5, 6]
    half = x * 0.5
    assert half.numpy().tolist() == [0.5, 1.0, 1.5]
    assert half.dtype.name == "float32"
    assert x.mean().item() == 2.0


def test_printed_gradient_parses_to_the_same_graph() -> None:
    x = UOp.param(0, (3,), np.dtype(np.float32))
    (dx,) = gradient((x * x).reduce(Ops.ADD, 1), [x])
    assert from_uir(to_uir(dx)) is dx
