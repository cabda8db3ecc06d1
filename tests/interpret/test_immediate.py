"""Evaluation at once gives what the program of the same graph gives, bit for bit, and memory of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.graph_samples import SAMPLES
from tests.support.leaf_values import environment
from uopc_core.dtype import dtypes
from uopc_core.interpret.immediate import evaluate_now
from uopc_core.interpret.numpy_interp import lower_to_numpy
from uopc_core.ir.composite import broadcast_to
from uopc_core.ir.extern import EXTERNS, Extern, register_extern
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.runtime.buffer import Buffer

F64 = dtypes.float64


def _leaf(values: Any, dtype: Any = None) -> UOp:
    return UOp.buffer(Buffer.from_numpy(np.asarray(values, dtype)))


def _on_memory(root: UOp) -> UOp:
    """`root` with memory in the place of its inputs."""
    given = environment([root])
    made: dict[UOp, UOp] = {}
    for node in walk([root]):
        if node in given:
            made[node] = _leaf(given[node], node.dtype)
        else:
            made[node] = node.over(tuple([made[s] for s in node.src]))
    return made[root]


@pytest.mark.parametrize("name", SAMPLES)
def test_values_are_those_of_the_program(name: str):
    root = _on_memory(SAMPLES[name])
    (value,) = evaluate_now([root])
    (expected,) = lower_to_numpy([root]).run()
    assert type(value) is np.ndarray
    assert (value.shape, value.dtype) == (root.shape, root.dtype)
    assert value.flags.c_contiguous
    assert value.flags.writeable
    assert value.tobytes() == expected.tobytes()


# what a broadcast meets: operands that have the full shape already, none that has, one of them a number
BROADCASTS: dict[str, Callable[[UOp, UOp], UOp]] = {
    "number": lambda row, column: row + 1.5,
    "number first": lambda row, column: 1.5 - row,
    "two numbers": lambda row, column: UOp.const(2.0, F64, (3,)) * UOp.const(4.0, F64, (3,)),
    "function of a number": lambda row, column: UOp.const(2.0, F64, (2, 3)).unary(Ops.SIN),
    "power of a number": lambda row, column: UOp.const(2.0, F64, (3,)).binary(Ops.POW, row),
    "row and column": lambda row, column: broadcast_to(row, (2, 3)) * broadcast_to(column, (2, 3)),
    "row and full": lambda row, column: broadcast_to(row, (2, 3)) + (broadcast_to(column, (2, 3)) + 1.0),
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcasts_have_the_shape_of_the_node(name: str):
    root = BROADCASTS[name](_leaf([1.0, 2.0, 3.0]), _leaf([[4.0], [5.0]]))
    (value,) = evaluate_now([root])
    assert value.shape == root.shape
    assert value.tobytes() == lower_to_numpy([root]).run()[0].tobytes()


def test_results_share_no_memory_with_leaves_or_with_each_other():
    x = _leaf(np.arange(6.0).reshape(2, 3))
    y = x + x
    roots = [x, x.reshape((3, 2)), y, y.reshape((6,)), y.permute((1, 0)), UOp.const(1.0, F64, (4,))]
    results = [*evaluate_now(roots), x.arg.array]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(results) for b in results[:i])


def test_a_realized_node_is_read_and_not_computed():
    node = _leaf([1.0, 2.0]) + 1.0
    node.settle(Buffer.from_numpy(np.asarray([10.0, 20.0])))
    assert evaluate_now([node * 2.0])[0].tolist() == [20.0, 40.0]


def test_a_function_of_several_outputs_runs_once():
    calls: list[int] = []

    def evaluate_both(params: Any, x: Any) -> Any:
        calls.append(1)
        return x + 1, x + 2

    register_extern(Extern("test_immediate", lambda params, types: (types[0], types[0]), evaluate_both))
    try:
        x = _leaf([1.0])
        first, second = [UOp.new(Ops.EXTERN, (x,), ("test_immediate", (), k)) for k in range(2)]
        assert evaluate_now([first - second])[0].tolist() == [-1.0]
        assert len(calls) == 1
    finally:
        del EXTERNS["test_immediate"]


def test_what_a_name_stands_for_below_a_small_value_is_computed_with_it():
    x = xp.asarray([1.0, 2.0])
    named = xp.sqrt(x)
    result = named + 1.0
    assert np.asarray(result).tolist() == (np.sqrt([1.0, 2.0]) + 1.0).tolist()
    assert named._uop.realized is not None
