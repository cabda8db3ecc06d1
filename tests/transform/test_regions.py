"""A call of a region has the values and the derivatives of the graph that it stands for, strong zeros included."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.derivative_records import RECORDS, Record
from uopc_core.dtype import dtypes
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.op import Ops
from uopc_core.ir.region import MAX_HEIGHT
from uopc_core.ir.uop import UOp, walk
from uopc_core.ir.verify import verify
from uopc_core.transform.checkpoint import checkpoint
from uopc_core.transform.gradient import gradient, pull_back
from uopc_core.transform.jvp import jvp
from uopc_core.transform.vmap import batch

Array = np.ndarray[Any, Any]
Transform = Callable[[list[UOp], list[UOp]], list[UOp]]


def seeds(nodes: Sequence[UOp], first: int) -> list[UOp]:
    """Cotangents or tangents for `nodes`: numbers of one digit."""
    made = [UOp.const(k + first + 0.5, x.dtype, x.shape) for k, x in enumerate(nodes)]
    return [x + x.unary(Ops.NEG) * 0.25 for x in made]


def reverse(roots: list[UOp], inputs: list[UOp]) -> list[UOp]:
    return pull_back(roots, seeds(roots, 1), inputs)


def forward(roots: list[UOp], inputs: list[UOp]) -> list[UOp]:
    return jvp(roots, inputs, seeds(inputs, 2))


def batched(roots: list[UOp], inputs: list[UOp]) -> list[UOp]:
    return batch(roots, {x: UOp.new(Ops.EXPAND, (x.reshape((1, *x.shape)),), (2, *x.shape)) * 0.75 for x in inputs[:1]})


TRANSFORMS: dict[str, Transform] = {
    "value": lambda roots, inputs: roots,
    "reverse": reverse,
    "forward": forward,
    "reverse of reverse": lambda roots, inputs: reverse(reverse(roots, inputs), inputs),
    "forward of reverse": lambda roots, inputs: forward(reverse(roots, inputs), inputs),
    "reverse of forward": lambda roots, inputs: reverse(forward(roots, inputs), inputs),
    "batch of reverse": lambda roots, inputs: batched(reverse(roots, inputs), inputs),
}


def compare(build: Callable[..., Any], values: Sequence[Array], transform: Transform, rtol: float = 1e-9) -> None:
    """The transform of the graph, and of the graph as a call, and as a call in a call."""
    inputs = [UOp.param(i, x.shape, x.dtype) for i, x in enumerate(values)]
    made = build(*inputs)
    roots: list[UOp] = made if isinstance(made, list) else [made]
    once = checkpoint(roots, inputs)
    twice = checkpoint(once, inputs)
    env = dict(zip(inputs, values, strict=True))
    wanted = evaluate(transform(roots, inputs), env)
    for called in (once, twice):
        nodes = transform(called, inputs)
        verify(nodes)
        for got, want in zip(evaluate(nodes, env), wanted, strict=True):
            np.testing.assert_allclose(
                got, want, rtol=rtol, atol=rtol * np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
            )


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_a_call_is_the_graph_that_it_stands_for(record: Record, transform: str) -> None:
    compare(record.build, record.values(), TRANSFORMS[transform])


def leaf(*shape: int, number: int = 0) -> UOp:
    return UOp.param(number, shape, dtypes.float64)


def root_of(x: UOp) -> UOp:
    return checkpoint([x.unary(Ops.SQRT)], [x])[0]


@pytest.mark.parametrize("transform", ["reverse", "forward", "reverse of reverse", "batch of reverse"])
def test_a_selection_before_and_behind_a_call_hides_an_infinite_slope(transform: str) -> None:
    """At 0, where it takes the other branch: the mask goes through the call, both ways."""

    def build(x: UOp) -> list[UOp]:
        behind = (x > 0).where(root_of(x), 0.0)
        before = root_of((x > 0).where(x, 0.0))
        inside = checkpoint([(x > 0).where(x.unary(Ops.LOG), 1.0) * 2.0], [x])[0]
        return [behind * behind * behind, behind.reduce(Ops.ADD, 1), inside, (x > 0).where(before, x)]

    values = np.array([0.0, 4.0, -1.0, 0.0])
    inputs = [leaf(4)]
    found = evaluate(TRANSFORMS[transform](build(*inputs), inputs), {inputs[0]: values})
    assert all(np.isfinite(x).all() for x in found), found


def test_a_zero_by_value_is_not_strong() -> None:
    x = leaf()
    (slope,) = gradient(root_of(x) * 0.0, [x])
    assert np.isnan(evaluate([slope], {x: np.array(0.0)})[0])


def test_a_mask_that_nobody_asks_for_is_not_built() -> None:
    x = leaf(3)
    (y,) = checkpoint([(x > 0).where(x * 2.0, 1.0)], [x])
    (slope,) = gradient(y.reduce(Ops.ADD, 1), [x])
    calls = [node for node in walk([slope]) if node.op is Ops.CALL]
    assert [node.arg[1] for node in calls] == [0]


def test_what_is_inside_is_computed_again_and_only_that() -> None:
    """The derivative takes the inputs, and nothing from within."""
    x, w = leaf(3), leaf(3, number=1)
    outside = w.unary(Ops.EXP)
    (y,) = checkpoint([(x * outside).unary(Ops.TANH)], [x])
    (slope,) = gradient(y.reduce(Ops.ADD, 1), [x])
    ops = [node.op for node in walk([slope])]
    assert Ops.TANH not in ops
    assert ops.count(Ops.EXP) == 1


def test_equal_layers_share_their_regions_and_the_regions_of_their_derivatives() -> None:
    x, *weights = (leaf(3, number=i) for i in range(9))
    y = x
    for w in weights:
        (y,) = checkpoint([(y * w).unary(Ops.TANH)], [y, w])
    regions = {node.arg[0] for node in walk(gradient(y.reduce(Ops.ADD, 1), weights)) if node.op is Ops.CALL}
    # forward; cotangents of both inputs; of the weight alone, in the first layer
    assert len(regions) == 3


def test_results_that_are_inputs_or_independent_are_left_as_they_are() -> None:
    x, w = leaf(2, 3), leaf(3, number=1)
    moved, other = x.permute((1, 0)), w.unary(Ops.EXP)
    results = checkpoint([x, moved, other, x * x, x * x], [x])
    assert results[:3] == [x, moved, other]
    assert results[3] is results[4]
    assert results[3].op is Ops.CALL


def test_calls_within_calls_beyond_the_bound_are_put_in_place() -> None:
    x = leaf(3)
    y = x * 1.5
    for _ in range(3 * MAX_HEIGHT):
        (y,) = checkpoint([y.unary(Ops.SIN) + y], [x])
    assert y.arg[0].height <= MAX_HEIGHT
    (slope,) = gradient(y.reduce(Ops.ADD, 1), [x])
    verify([slope])
    got, value = evaluate([slope, y], {x: np.array([0.1, 0.2, -0.3])})
    want, want_value = 1.5, np.array([0.1, 0.2, -0.3]) * 1.5
    for _ in range(3 * MAX_HEIGHT):
        want, want_value = want * (np.cos(want_value) + 1), np.sin(want_value) + want_value
    np.testing.assert_allclose(value, want_value, rtol=1e-13)
    np.testing.assert_allclose(got, want, rtol=1e-10)


def test_a_chain_of_5_000_calls_is_differentiated() -> None:
    x = leaf(2)
    y = x
    for _ in range(5_000):
        (y,) = checkpoint([y + y.unary(Ops.SIN) * 1e-4], [y])
    (slope,) = gradient(y.reduce(Ops.ADD, 1), [x])
    assert sum(node.op is Ops.CALL for node in walk([slope])) == 2 * 5_000 - 1
