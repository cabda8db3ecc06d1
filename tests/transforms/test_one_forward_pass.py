"""What a derivative gives holds no variable of it, not even behind what no derivative passes: else that would be
computed twice, of the arguments and of the variables that stand for them.
"""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support import derivative_tables as tables
from tests.support.derivatives import Function, weighted
from uopc_core import Ops, UOp, walk
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.plan import plan_for
from uopc_core.schedule.steps import ExternCall

CASES = {**tables.REAL, **tables.COMPLEX, **tables.METHODS, **tables.NUMPY_NAMES}


def nodes_of(tree: Any) -> list[UOp]:
    if isinstance(tree, tuple):
        return [node for part in tree for node in nodes_of(part)]
    return [tree._uop]


@pytest.mark.parametrize("name", CASES)
def test_no_variable_is_left(name: str) -> None:
    f, arrays = CASES[name]
    with xp.context(at_once=0):
        scalar = weighted(f, *arrays)
        inputs = tuple(map(xp.asarray, arrays))
        numbers = [i for i, x in enumerate(inputs) if x.dtype.kind in "fc"]
        found = [xp.value_and_grad(scalar, numbers)(*inputs), xp.jvp(f, inputs, inputs)]
    assert not [node for node in walk(nodes_of(tuple(found))) if node.op is Ops.VARIABLE]


def detached(y: xp.Array) -> xp.Array:
    return y * xp.stop_gradient(y * 0.37)


def both_sides(y: xp.Array) -> xp.Array:
    return xp.where((y * 0.37 > 0.3) & (y < 0.7), y, 0.1 * y)


@pytest.mark.parametrize("f", [detached, both_sides, xp.tanh, lambda y: y / xp.max(y, axis=1, keepdims=True)])
def test_a_product_below_what_no_derivative_passes_is_computed_once(f: Function) -> None:
    def loss(x: xp.Array, weights: xp.Array) -> xp.Array:
        return xp.sum(f((x * 0.21) @ weights + 0.13))

    with xp.context(at_once=0):
        x, weights = xp.asarray(np.full((40, 50), 0.1)), xp.asarray(np.full((50, 60), 0.2))
        value, slopes = xp.value_and_grad(loss, (0, 1))(x, weights)
    assert _products([value._uop]) == 1
    assert _products(nodes_of((value, *slopes))) == 3


def _products(outputs: list[UOp]) -> int:
    plan = plan_for(canonicalise(outputs, keep_held=False))
    return sum(isinstance(step, ExternCall) and step.name == "matmul" for step in plan.steps)
