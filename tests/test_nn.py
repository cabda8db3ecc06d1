"""Layers against NumPy, optimizers against their textbook recurrences, and what a training step plans."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.tensor_checks import Case, assert_gradients_match
from uopc_core.errors import ShapeError
from uopc_core.ir import Ops
from uopc_core.nn import SGD, AdamW, Embedding, LayerNorm, Linear, Optimizer, parameters, zero_grad
from uopc_core.schedule.plan import plan_stats
from uopc_core.settings import context
from uopc_core.tensor import Tensor

Array = np.ndarray[Any, Any]
LARGE = 4096  # rows, so that a step is planned in every tier


def plans_asked_for() -> int:
    stats = plan_stats()
    return stats["made"] + stats["hits"]


# --------------------------------------------------------------------------------------------------------------- layers


def test_linear_is_a_product_and_a_shift() -> None:
    layer = Linear(3, 2)
    assert layer.weight.shape == (2, 3)
    assert layer.bias is not None
    x = np.random.default_rng(0).standard_normal((4, 5, 3)).astype(np.float32)
    wanted = x @ layer.weight.numpy().T + layer.bias.numpy()
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), wanted, rtol=1e-5, atol=1e-6)
    assert Linear(3, 2, bias=False).bias is None


def test_linear_starts_within_its_bound() -> None:
    Tensor.manual_seed(0)
    weight = Linear(400, 100).weight.numpy()
    assert np.abs(weight).max() <= 0.05
    np.testing.assert_allclose(weight.std(), 0.05 / np.sqrt(3), rtol=0.02)


def test_embedding_adds_up_over_a_row_read_twice() -> None:
    layer = Embedding(5, 2)
    out = layer([[1, 3], [1, -5]])
    np.testing.assert_array_equal(out.numpy(), layer.weight.numpy()[[[1, 3], [1, 0]]])
    (out * Tensor(np.arange(8, dtype=np.float32).reshape(2, 2, 2))).sum().backward([layer.weight])
    assert layer.weight.grad is not None
    assert layer.weight.grad.numpy().tolist() == [[6, 7], [4, 6], [0, 0], [2, 3], [0, 0]]


def test_embedding_refuses_a_row_that_is_not_there() -> None:
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        Embedding(5, 2)([1, 5]).realize()


def _layer_norm(x: Any, n: int, eps: float = 1e-5) -> Any:
    axes = tuple(range(-n, 0))
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize(
    "case",
    [
        Case("one-axis", lambda x: LayerNorm(4)(x), lambda x: _layer_norm(x, 1)),
        Case("two-axes", lambda x: LayerNorm((3, 4))(x), lambda x: _layer_norm(x, 2), ((2, 3, 4),)),
        Case("plain", lambda x: LayerNorm(4, eps=0.1, affine=False)(x), lambda x: _layer_norm(x, 1, 0.1)),
    ],
    ids=str,
)
def test_layer_norm_and_its_gradient(case: Case) -> None:
    x = np.random.default_rng(0).standard_normal(case.shapes[0]).astype(np.float32)
    np.testing.assert_allclose(case.ours(Tensor(x)).numpy(), case.reference(x.astype(float)), rtol=1e-5, atol=1e-5)
    assert_gradients_match(case)


def test_layer_norm_names_the_axes_it_wants() -> None:
    with pytest.raises(ShapeError, match=r"LayerNorm: expected the last axes to be \(3,\), got \(3, 4\)"):
        LayerNorm(3)(Tensor(np.ones((3, 4), np.float32)))


# ----------------------------------------------------------------------------------------------------------- parameters


class Pair(NamedTuple):
    first: Any
    second: Any


class Block:
    def __init__(self) -> None:
        self.layers = [Linear(2, 3), {"norm": LayerNorm(3), "none": None}]
        self.pair = Pair(Tensor([1.0], requires_grad=True), Tensor([1.0]))
        self.name = "block"
        self.me = self


def test_parameters_are_found_in_trees_and_objects_once_and_in_order() -> None:
    block = Block()
    linear, rest = block.layers
    assert isinstance(linear, Linear)
    assert isinstance(rest, dict)
    norm = rest["norm"]
    wanted = [linear.weight, linear.bias, norm.weight, norm.bias, block.pair.first]
    found = parameters([block, {"again": block.pair.first}])
    assert [id(p) for p in found] == [id(p) for p in wanted]
    assert parameters(Tensor([1.0])) == []


def test_zero_grad_clears_a_tree() -> None:
    layer = Linear(2, 1)
    layer(Tensor([[1.0, 2.0]])).sum().backward(parameters(layer))
    assert all(p.grad is not None for p in parameters(layer))
    zero_grad({"model": layer})
    assert all(p.grad is None for p in parameters(layer))


# ----------------------------------------------------------------------------------------------------------- optimizers


def test_sgd_without_momentum_goes_down_the_gradient() -> None:
    w = Tensor([1.0, -2.0], requires_grad=True)
    frozen = Tensor([3.0], requires_grad=True)
    optimizer = SGD([w, frozen], lr=0.25)
    (w * w).sum().backward([w])
    optimizer.step()
    assert w.numpy().tolist() == [0.5, -1.0]
    assert frozen.numpy().tolist() == [3.0]
    optimizer.zero_grad()
    assert w.grad is None


def test_adamw_follows_its_recurrence() -> None:
    lr, (b1, b2), eps, decay = 0.05, (0.8, 0.95), 1e-3, 0.1
    start = np.array([0.5, -1.5, 2.0])
    w = Tensor(start.astype(np.float32), requires_grad=True)
    optimizer = AdamW([w], lr=lr, betas=(b1, b2), eps=eps, weight_decay=decay)
    p, m, v = start.copy(), np.zeros(3), np.zeros(3)
    for t in range(1, 8):
        optimizer.zero_grad()
        (w * w * w).sum().backward([w])
        optimizer.step()
        g = 3 * p * p
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        p = p - lr * decay * p - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)
        np.testing.assert_allclose(w.numpy(), p, rtol=1e-5)


def test_a_step_leaves_leaves() -> None:
    layer = Linear(3, 2)
    optimizer = AdamW(layer)
    layer(Tensor([[1.0, 2.0, 3.0]])).square().sum().backward(optimizer.params)
    optimizer.step()
    for parameter in optimizer.params:
        assert parameter.uop.op is Ops.BUFFER
        assert parameter.requires_grad
        assert parameter.grad is not None
        assert parameter.grad.uop.op is Ops.BUFFER
        assert not parameter.grad.requires_grad


def _classifier_data(n: int = 64) -> tuple[Tensor, Tensor]:
    x = np.random.default_rng(0).standard_normal((n, 8)).astype(np.float32)
    return Tensor(x), Tensor((x.sum(1) > 0).astype(np.int32))


def _loss(model: list[Linear], x: Tensor, labels: Tensor) -> Tensor:
    return model[1](model[0](x).relu()).cross_entropy(labels)


def test_a_step_computes_loss_gradients_and_updates_in_one_plan() -> None:
    model = [Linear(8, 16), Linear(16, 2)]
    optimizer = AdamW(model)
    x, labels = _classifier_data(LARGE)
    with context(tier="interpret"):
        loss = _loss(model, x, labels)
        loss.backward(optimizer.params)
        before = plans_asked_for()
        optimizer.step()
        assert plans_asked_for() == before + 1
        assert loss.uop.realized is not None
        loss.item()
        [p.grad.numpy() for p in optimizer.params if p.grad is not None]
        [p.numpy() for p in optimizer.params]
        assert plans_asked_for() == before + 1


@pytest.mark.parametrize("make", [lambda w: SGD(w, lr=0.1), lambda w: SGD(w, lr=0.1, momentum=0.9), AdamW])
def test_a_step_computes_what_it_is_given_in_its_plan_at_the_parameters_before(
    make: Callable[[Tensor], Optimizer],
) -> None:
    n = 1 << 17
    x = np.linspace(-1, 1, n, dtype=np.float32)
    w = Tensor(np.ones(n, np.float32), requires_grad=True)
    optimizer = make(w)
    for _ in range(3):
        optimizer.zero_grad()
        before = w.numpy()
        predictions = w * Tensor(x)
        loss = predictions.square().sum()
        loss.backward(optimizer.params)
        assert w.grad is not None
        size = w.grad.square().sum().sqrt()
        plans = plans_asked_for()
        optimizer.step(predictions, size)
        np.testing.assert_allclose(predictions.numpy(), before * x, rtol=1e-6)
        np.testing.assert_allclose(size.item(), np.linalg.norm(2 * before * x**2), rtol=1e-5)
        np.testing.assert_allclose(loss.item(), np.sum((before * x) ** 2), rtol=1e-5)
        assert plans_asked_for() == plans + 1
        assert not np.array_equal(w.numpy(), before)


def test_a_changing_learning_rate_plans_nothing() -> None:
    model = [Linear(8, 16), Linear(16, 2)]
    optimizer = SGD(model, lr=0.1, momentum=0.9)
    x, labels = _classifier_data(LARGE)
    made: list[int] = []
    with context(tier="interpret"):
        for step in range(6):
            optimizer.lr = 0.1 / (1 + step)
            optimizer.zero_grad()
            loss = _loss(model, x, labels)
            loss.backward(optimizer.params)
            optimizer.step()
            loss.item()
            made.append(plan_stats()["made"])
    assert made[2:] == [made[1]] * 4


def test_gradients_of_several_batches_add_up_before_a_step() -> None:
    model = [Linear(8, 4), Linear(4, 2)]
    optimizer = SGD(model, lr=0.0)
    x, labels = _classifier_data()
    losses = [_loss(model, x[half], labels[half]) for half in (slice(0, 32), slice(32, 64))]
    for loss in losses:
        (loss * 0.5).backward(optimizer.params)
    parts = [p.grad.numpy() for p in optimizer.params if p.grad is not None]
    optimizer.zero_grad()
    _loss(model, x, labels).backward(optimizer.params)
    whole = [p.grad.numpy() for p in optimizer.params if p.grad is not None]
    assert len(parts) == len(whole) == 4
    for part, total in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, total, rtol=1e-4, atol=1e-7)
