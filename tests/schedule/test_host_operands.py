"""Operands of host calls that are no arrays in memory: constants, run-time scalars, and views of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from uopc_core.dtype import dtypes
from uopc_core.extern.sorting import sort_last_axis
from uopc_core.ir import UOp
from uopc_core.ir.composite import call_extern, concat
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.executable import Executable
from uopc_core.runtime.execute import realize_all
from uopc_core.settings import context

A = np.random.default_rng(0).standard_normal((3, 3))
VALUES = [0.0, 1.0, 2.5, 3.75]  # literals of the key and run-time scalars
pytestmark = pytest.mark.parametrize("tier", ["interpret", "compile"])


def _solve_a_constant(value: float) -> tuple[UOp, Any]:
    a = UOp.buffer(Buffer.from_numpy(A))
    return call_extern("solve", a, UOp.const(value, dtypes.float64, (3, 2))), np.linalg.solve(A, np.full((3, 2), value))


def _solve_a_view_of_a_constant(value: float) -> tuple[UOp, Any]:
    a = UOp.buffer(Buffer.from_numpy(A))
    column = concat([UOp.const(value, dtypes.float64, (1, 3)), UOp.const(value, dtypes.float64, (1, 3))], 0).permute(
        (1, 0)
    )
    return call_extern("solve", a, column), np.linalg.solve(A, np.full((3, 2), value))


def _sort_a_constant(value: float) -> tuple[UOp, Any]:
    return sort_last_axis(UOp.const(value, dtypes.float64, (4,)), False, True), np.full(4, value)


def _tolerance(value: float) -> tuple[UOp, Any]:
    a = UOp.buffer(Buffer.from_numpy(A))
    return call_extern("pinv", a, UOp.const(value / 100, dtypes.float64)), np.linalg.pinv(A, rcond=value / 100)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("build", [_solve_a_constant, _solve_a_view_of_a_constant, _sort_a_constant, _tolerance])
def test_constants_are_operands(build: Callable[[float], tuple[UOp, Any]], value: float, tier: Any) -> None:
    node, wanted = build(value)
    with context(tier=tier):
        np.testing.assert_allclose(realize_all([node])[0].array, wanted, rtol=1e-12)


def test_a_scalar_that_is_given_at_the_call_is_an_operand(tier: Any) -> None:
    a = UOp.param(0, (3, 3), dtypes.float64)
    s = UOp.param(1, (), dtypes.float64, "scalar")
    with context(tier=tier):
        solve = Executable([call_extern("solve", a, s.reshape((1, 1)).expand((3, 2)))])
        for value in VALUES:
            found = solve.run([Buffer.from_numpy(A), value])[0].array
            np.testing.assert_allclose(found, np.linalg.solve(A, np.full((3, 2), value)), rtol=1e-12)
