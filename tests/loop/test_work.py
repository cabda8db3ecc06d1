"""Whether a kernel pays for a thread is told by what its operations cost, not by how many there are."""

import pytest

from tests.support.kernel_runs import render_one
from uopc_core import costs, dtypes
from uopc_core.ir.op import BINARY, MATH_FUNCTIONS, Ops
from uopc_core.ir.uop import UOp
from uopc_core.schedule.kernelize import cost_of

N = 5000
X, Y = (UOp.param(i, (N,), dtypes.float64) for i in range(2))


@pytest.mark.parametrize("op", sorted(MATH_FUNCTIONS), ids=lambda op: op.name)
def test_a_function_counts_for_as_many_additions_as_it_costs(op: Ops) -> None:
    node = UOp.new(op, (X, Y) if op in BINARY else (X,))
    assert render_one([node]).work == N * costs.COST_OF_FUNCTION
    assert render_one([node + Y]).work == N * (costs.COST_OF_FUNCTION + costs.COST_OF_ELEMENTWISE)


@pytest.mark.parametrize("op", [Ops.DIV, Ops.ADD, Ops.MAX], ids=lambda op: op.name)
def test_work_adds_up(op: Ops) -> None:
    once = X.binary(op, Y)
    twice = once.binary(op, Y)
    assert render_one([once]).work == N * cost_of(op)
    assert render_one([twice]).work == 2 * render_one([once]).work
