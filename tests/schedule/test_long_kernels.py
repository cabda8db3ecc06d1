"""How long a kernel may grow."""

import numpy as np
import pytest

from tests.support.graphs import leaf
from uopc_core.ir.uop import UOp
from uopc_core.schedule.kernelize import MAX_KERNEL_OPS
from uopc_core.schedule.plan import make_plan


def read_late(n: int) -> UOp:
    """A formula of some `n` operations each of whose values is read at once, and again at the end."""
    x = leaf(np.linspace(0, 1, 1000))
    values = [x]
    while len(values) < n // 2:
        values.append(values[-1] * values[len(values) // 2] + x)
    out = values[0]
    for value in values[1:]:
        out = out + value
    return out


def n_kernels(node: UOp) -> int:
    plan, _ = make_plan((node,))
    return len(plan.kernels)


@pytest.mark.parametrize("n", [40, 150, 300])
def test_a_formula_whose_values_are_read_late_is_one_kernel(n):
    assert n_kernels(read_late(2 * n // 3)) == 1


def test_a_longer_one_is_cut():
    assert n_kernels(read_late(4 * MAX_KERNEL_OPS)) > 1
