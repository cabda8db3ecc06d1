"""What has no input, as a counter or a unit matrix, may be computed over and over: a plan keeps nodes of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import Ops, UOp, dtypes
from uopc_core.ir.composite import iota
from uopc_core.ir.uop import walk
from uopc_core.ir.verify import verify
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.canonical import canonicalise, rebuild

N = 251  # its square is beyond what NumPy computes at the line
WITHOUT_INPUTS: dict[str, Callable[[Any], Any]] = {
    "eye": lambda np_like: np_like.eye(N),
    "tri": lambda np_like: np_like.tri(N, k=1),
    "arange": lambda np_like: np_like.arange(N * N),
    "linspace": lambda np_like: np_like.linspace(0.0, 2.0, N * N),
    "indices": lambda np_like: np_like.indices((N, N)),
    "fromfunction": lambda np_like: np_like.fromfunction(lambda i, j: i * j, (N, N)),
    "full": lambda np_like: np_like.full((N, N), 0.3),
    "root of a number": lambda np_like: np_like.sqrt(np_like.full((N, N), 2.0)),
    "sum of a counter": lambda np_like: np_like.sum(np_like.arange(N * N)),
    "written to": lambda np_like: _written(np_like.eye(N)),
}


def _written(x: Any) -> Any:
    x[1:, 0] = x[0, 1:] = 2.0
    return x


@pytest.mark.parametrize("make", WITHOUT_INPUTS.values(), ids=WITHOUT_INPUTS.keys())
@pytest.mark.parametrize("tier", ["auto", "compile", "interpret"])
def test_what_has_no_input_is_computed_over_and_over(make: Callable[[Any], Any], tier: Any) -> None:
    if tier == "compile" and find_toolchain() is None:
        pytest.skip("needs a compiler")
    with xp.context(tier=tier):
        for _ in range(5):  # operation by operation first, by a kernel of the same plan later
            np.testing.assert_allclose(make(xp), make(np), rtol=1e-15)


def test_an_operand_without_inputs_may_be_computed_apart_meanwhile() -> None:
    x = np.linspace(0.0, 1.0, N * N).reshape(N, N)
    for _ in range(5):
        unit = xp.eye(N)
        y = xp.asarray(x) + unit
        np.testing.assert_array_equal(unit, np.eye(N))
        np.testing.assert_array_equal(y, x + np.eye(N))
        np.testing.assert_array_equal(xp.asarray(x) + xp.eye(N), x + np.eye(N))


def test_a_plan_shares_no_node_with_the_graph_it_is_made_from_except_constants() -> None:
    counter = iota((4, 5), 1).cast(dtypes.float64)
    root = counter * UOp.const(2.0, dtypes.float64, (4, 5)) + UOp.const(2.0, dtypes.float64, (4, 5)).unary(Ops.SQRT)
    rebuilt = rebuild(canonicalise([root]))
    verify(rebuilt)
    shared = set(walk([root])) & set(walk(rebuilt))
    assert {node.op.name for node in shared} <= {"CONST", "RESHAPE", "EXPAND"}
    assert rebuild(canonicalise([root])) == rebuilt  # plans share theirs
