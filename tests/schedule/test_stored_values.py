"""Which values become memory because several kernels read them."""

import random

import numpy as np
import pytest

from tests.support.graphs import leaf
from uopc_core.costs import CHEAP_TO_REDO_AT_MANY_PLACES
from uopc_core.ir.op import ELEMENTWISE, MOVEMENT, Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.schedule.kernelize import cost_of, materialised_nodes

UNARY = (Ops.EXP, Ops.SIN, Ops.SQRT, Ops.NEG, Ops.ABS, Ops.RECIP)
BINARY = (Ops.ADD, Ops.MUL, Ops.SUB, Ops.DIV, Ops.MAX)


def by_rows_and_by_columns(x: UOp) -> tuple[UOp, UOp]:
    """Two sums that are no kernel together."""
    return x.reduce(Ops.ADD, 1), x.permute((1, 0)).reduce(Ops.ADD, 1)


def test_of_a_logistic_function_that_is_read_with_its_parts_the_exponential_alone_is_stored() -> None:
    x = leaf(np.linspace(-1, 1, 600).reshape(20, 30))
    power = (-x).unary(Ops.EXP)
    base = power + 1
    value = base.recip()
    outputs = [out for node in (value, base * x, power * x) for out in by_rows_and_by_columns(node)]
    stored = {node for node in materialised_nodes(outputs) if node.op is not Ops.REDUCE}
    assert stored == {power}


def drawn(seed: int) -> list[UOp]:
    rng = random.Random(seed)
    nodes = [leaf(np.linspace(0.5, 1.5, 600).reshape(20, 30)), leaf(np.linspace(2.0, 1.0, 600).reshape(20, 30))]
    for _ in range(rng.randrange(4, 14)):
        a, b = rng.choice(nodes[-4:]), rng.choice(nodes)
        nodes.append(a.unary(rng.choice(UNARY)) if rng.random() < 0.5 else a.binary(rng.choice(BINARY), b))
    read = rng.sample(nodes[2:], min(4, len(nodes) - 2))
    return [out for node in {*read, nodes[-1]} for out in by_rows_and_by_columns(node)]


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_stored_that_costs_little_beside_what_is_stored_below_it(seed: int) -> None:
    outputs = drawn(seed)
    stored = materialised_nodes(outputs)
    costs: dict[UOp, float] = {}
    for node in walk(outputs):
        is_computed = node.op in ELEMENTWISE | MOVEMENT
        cost = sum([costs[s] for s in node.src], cost_of(node.op) if node.op in ELEMENTWISE else 0.0)
        if node in stored and node.op in ELEMENTWISE:
            assert cost >= CHEAP_TO_REDO_AT_MANY_PLACES, node
        costs[node] = cost if is_computed and node not in stored else 0.0


def test_some_of_these_graphs_store_a_value() -> None:
    assert sum(any(node.op in ELEMENTWISE for node in materialised_nodes(drawn(seed))) for seed in range(60)) > 20
