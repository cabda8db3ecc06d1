"""Loops have one order: what reads memory along another axis is a kernel of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import Ops, UOp, dtypes
from uopc_core.ir.composite import reduce_axes
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.plan import plan_for

N = 96
X = UOp.param(0, (N, N), dtypes.float64)
TURNED = X.permute((1, 0))


def _sums(*outputs: UOp) -> list[int]:
    """How many reductions each kernel of the plan has."""
    plan = plan_for(canonicalise(outputs, keep_held=False))
    return [sum(node.op is Ops.REDUCE for node in kernel.outputs) for kernel in plan.kernels]


def _sum(x: UOp) -> UOp:
    return reduce_axes(x, Ops.ADD, (1,))


@pytest.mark.parametrize(
    ("outputs", "wanted"),
    [
        pytest.param((_sum(X), _sum(X * X)), [2], id="rows twice"),
        pytest.param((_sum(TURNED), _sum(TURNED * 2.0)), [2], id="columns twice"),
        pytest.param((_sum(X), _sum(TURNED)), [1, 1], id="rows and columns"),
        pytest.param((_sum(X), _sum(TURNED.permute((1, 0)) * 2.0)), [2], id="turned back"),
        pytest.param((_sum(X), _sum((TURNED * 2.0).permute((1, 0)))), [2], id="turned back below"),
    ],
)
def test_sums_over_rows_and_over_columns_are_two_kernels(outputs: tuple[UOp, ...], wanted: list[int]) -> None:
    assert sorted(_sums(*outputs)) == wanted


ONES = np.ones(N)


@pytest.mark.parametrize(
    ("f", "slopes"),
    [
        pytest.param(lambda a, v: a @ v, lambda a, v: (np.outer(ONES, v), a.T @ ONES), id="matrix @ vector"),
        pytest.param(lambda a, v: v @ a, lambda a, v: (np.outer(v, ONES), a @ ONES), id="vector @ matrix"),
    ],
)
def test_a_product_and_its_slopes_agree(f: Callable[[Any, Any], Any], slopes: Callable[[Any, Any], Any]) -> None:
    rng = np.random.default_rng(0)
    matrix, vector = rng.standard_normal((N, N)), rng.standard_normal(N)
    both = xp.jit(xp.value_and_grad(lambda a, v: xp.sum(f(a, v)), (0, 1)))
    for _ in range(3):  # operation by operation first, by kernels later
        value, found = both(xp.asarray(matrix), xp.asarray(vector))
        np.testing.assert_allclose(value, f(matrix, vector).sum(), rtol=1e-12)
        for slope, wanted in zip(found, slopes(matrix, vector), strict=True):
            np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-12)
