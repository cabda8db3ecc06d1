"""NumPy evaluation: exact types for every op, corners that compiled kernels must share, and whose the results are."""

import math
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_max_ulp as assert_max_ulp

from tests.support.graph_samples import SAMPLES
from tests.support.leaf_values import environment, special_values
from uopc_core.dtype import DTYPES, dtypes, is_integer
from uopc_core.errors import IndexBoundsError
from uopc_core.interpret.numpy_interp import NUMPY_OPS, evaluate, lower_to_numpy
from uopc_core.ir.composite import broadcast_to
from uopc_core.ir.extern import EXTERNS, Extern, register_extern
from uopc_core.ir.op import Ops
from uopc_core.ir.squares import squares64
from uopc_core.ir.uop import UOp
from uopc_core.runtime.buffer import Buffer

F32, F64, I8, I64, U64 = dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int64, dtypes.uint64


def _leaf(values: Any, dtype: Any = None) -> UOp:
    return UOp.buffer(Buffer.from_numpy(np.asarray(values, dtype)))


def _value(node: UOp) -> np.ndarray[Any, Any]:
    return evaluate([node])[0]


def _binary(op: Ops, x: Any, y: Any, dtype: Any) -> list[Any]:
    return _value(_leaf(x, dtype).binary(op, _leaf(y, dtype))).tolist()


def test_every_op_has_an_entry():
    assert set(NUMPY_OPS) == set(Ops)


@pytest.mark.parametrize("name", SAMPLES)
def test_values_have_exactly_the_type_of_the_node(name: str):
    root = SAMPLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (value,) = evaluate([root], environment([root]))
    assert type(value) is np.ndarray
    assert (value.shape, value.dtype) == (root.shape, root.dtype)
    assert value.flags.c_contiguous
    assert value.flags.writeable


@pytest.mark.parametrize("dtype", [d for d in DTYPES if is_integer(d)], ids=str)
def test_integers_wrap_and_never_trap(dtype: Any):
    info = np.iinfo(dtype)
    low, high, bits = info.min, info.max, 8 * dtype.itemsize
    assert _binary(Ops.ADD, [high], [1], dtype) == [low]
    assert _binary(Ops.FLOORDIV, [7], [0], dtype) == [0]
    assert _binary(Ops.FLOORMOD, [7], [0], dtype) == [0]
    assert _binary(Ops.SHL, [1], [bits], dtype) == [0]
    assert _binary(Ops.SHR, [low], [bits], dtype) == [-1 if low else 0]
    if low:
        assert _binary(Ops.FLOORDIV, [low], [-1], dtype) == [low]
        assert _binary(Ops.FLOORMOD, [low], [-1], dtype) == [0]
        assert _value(_leaf([low], dtype).unary(Ops.ABS)).tolist() == [low]


def test_integer_powers_of_negative_exponents_round_towards_zero():
    got = _binary(Ops.POW, [2, -1, -1, 1, 0, 3], [-1, -3, -2, -5, -1, 4], I64)
    assert got == [0, -1, 1, 1, 0, 81]


def test_extremes_and_signs_keep_nan():
    assert math.isnan(_binary(Ops.MAX, [np.nan], [1.0], F32)[0])
    assert math.isnan(_binary(Ops.MIN, [1.0], [np.nan], F32)[0])
    np.testing.assert_array_equal(_value(_leaf([np.nan, -2.0, -0.0, 5.0]).unary(Ops.SIGN)), [np.nan, -1, 0, 1])


def test_a_reciprocal_is_one_divided_by_x():
    x = special_values(dtypes.complex128)
    np.testing.assert_array_equal(_value(_leaf(x).recip()), (1 / x.astype(np.clongdouble)).astype(x.dtype))


def test_a_complex_number_keeps_its_parts():
    got: Any = _value(UOp.new(Ops.COMPLEX, (_leaf([1.0, np.inf, -0.0]), _leaf([np.inf, -0.0, np.nan]))))
    np.testing.assert_array_equal(got.real, [1.0, np.inf, -0.0])
    np.testing.assert_array_equal(got.imag, [np.inf, -0.0, np.nan])


@pytest.mark.parametrize(("op", "function"), [(Ops.ERF, math.erf), (Ops.ERFC, math.erfc)])
def test_error_functions(op: Ops, function: Callable[[float], float]):
    x = np.concatenate([special_values(F64), np.linspace(-6, 6, 101)]).reshape(-1, 1)
    expected = np.array([[function(v)] for v in x.ravel()])
    assert_max_ulp(_value(_leaf(x).unary(op)), expected, 4)
    narrow = np.array([[function(v)] for v in x.astype(np.float32).ravel().tolist()]).astype(np.float32)
    assert_max_ulp(_value(_leaf(x, np.float32).unary(op)), narrow, 4)


def test_random_bits_are_the_published_generator():
    key = 0xC8E4FD154CE32F6D

    def reference(counter: int) -> int:
        mask = 2**64 - 1
        x = y = counter * key & mask
        z = y + key & mask
        for term in (y, z, y):
            x = x * x + term & mask
            x = (x >> 32 | x << 32) & mask
        t = x * x + z & mask
        x = (t >> 32 | t << 32) & mask
        return t ^ ((x * x + y & mask) >> 32)

    bits = _value(UOp.new(Ops.RANDOM, (UOp.const(key, U64),), (2, 3)))
    assert bits.ravel().tolist() == [reference(i) for i in range(6)]
    assert squares64(np.uint64(key), np.array([2**40], np.uint64)).tolist() == [reference(2**40)]


def test_an_iota_wraps_in_its_dtype():
    assert _value(UOp.new(Ops.IOTA, (), 130, I8)).tolist()[-3:] == [127, -128, -127]


@pytest.mark.parametrize(("op", "empty"), [(Ops.ADD, 0), (Ops.MUL, 1), (Ops.AND, -1), (Ops.OR, 0)])
def test_a_reduction_of_nothing_is_the_identity(op: Ops, empty: int):
    assert _value(_leaf(np.zeros((2, 0)), I64).reduce(op, 1)).tolist() == [empty, empty]


def test_reductions_and_scans_keep_narrow_dtypes():
    x = _leaf([[100, 100, 100]], I8)
    assert _value(x.reduce(Ops.ADD, 1)).tolist() == [44]
    assert _value(x.scan(Ops.ADD)).tolist() == [[100, -56, 44]]


# ------------------------------------------------------------------------------------------------ gather and scatter


@pytest.mark.parametrize(("index", "shown"), [(7, 7), (-7, -7)])
def test_an_index_out_of_bounds_is_named(index: int, shown: int):
    x, value, i = _leaf(np.arange(6.0)), _leaf([1.0]), _leaf([index])
    message = f"index {shown} is out of bounds for axis 0 with size 6"
    for mode in ("set", "add"):
        with pytest.raises(IndexBoundsError, match=message):
            _value(UOp.new(Ops.SCATTER, (x, value, i), mode))
    with pytest.raises(IndexBoundsError, match=message):
        _value(x.index(i))


def test_the_axis_out_of_bounds_is_named():
    with pytest.raises(IndexBoundsError, match="index 3 is out of bounds for axis 1 with size 3"):
        _value(_leaf(np.zeros((2, 3))).index(_leaf([0]), _leaf([3])))


def test_negative_indices_wrap():
    x = np.arange(12.0).reshape(3, 4)
    i, j = np.array([[-1, 0], [2, -3]]), np.array([[-4, 3], [0, -1]])
    np.testing.assert_array_equal(_value(_leaf(x).index(_leaf(i), _leaf(j))), x[i, j])


@pytest.mark.parametrize("dtype", [np.int8, np.uint64], ids=str)
def test_indices_of_any_integer_dtype(dtype: Any):
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(_value(_leaf(x).index(_leaf([2, 0], dtype))), x[[2, 0]])


def test_a_gather_by_one_index_owns_its_memory():
    x = _leaf(np.arange(6.0).reshape(3, 2))
    (row,) = evaluate([x.index(_leaf(1))])
    row[:] = 0
    assert _value(x).tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("set", [7, 6, 1]), ("add", [13, 7, 1]), ("mul", [35, 6, 1]), ("max", [7, 6, 1]), ("min", [1, 1, 1])],
)
def test_scatter_takes_equal_indices_in_order(mode: str, expected: list[int]):
    base, value, i = _leaf(np.ones(3)), _leaf([5.0, 6.0, 7.0]), _leaf([0, 1, -3])
    assert _value(UOp.new(Ops.SCATTER, (base, value, i), mode)).tolist() == expected
    assert _value(base).tolist() == [1, 1, 1]


# -------------------------------------------------------------------------------------------- whose memory it is


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda x: x, id="leaf"),
        pytest.param(lambda x: x.reshape((6,)), id="reshape"),
        pytest.param(lambda x: x.permute((1, 0)), id="permute"),
        pytest.param(lambda x: x.shrink([(0, 1), (0, 3)]), id="shrink"),
        pytest.param(lambda x: x.flip((0,)), id="flip"),
        pytest.param(lambda x: x.detach(), id="detach"),
        pytest.param(lambda x: x.bitcast("int64"), id="bitcast"),
        pytest.param(lambda x: x.reshape((2, 3, 1)).expand((2, 3, 4)), id="expand"),
    ],
)
def test_results_never_share_the_memory_of_leaves(view: Callable[[UOp], UOp]):
    buffer = Buffer.from_numpy(np.arange(6.0).reshape(2, 3))
    (value,) = evaluate([view(UOp.buffer(buffer))])
    assert not np.shares_memory(value, buffer.array)
    assert value.flags.writeable


def test_results_never_share_memory_with_each_other():
    x = _leaf(np.arange(6.0)) * 2.0
    values = evaluate([x, x.reshape((2, 3)), x, x.shrink([(1, 3)])])
    for i, a in enumerate(values):
        assert not any(np.shares_memory(a, b) for b in values[:i])


def test_a_constant_result_is_the_callers_own():
    program = lower_to_numpy([UOp.const(1.5, F64, (3,)), UOp.const(2.5, F64)])
    first = program.run()
    for value in first:
        value[...] = 0
    assert [v.tolist() for v in program.run()] == [[1.5] * 3, 2.5]


def test_a_part_does_not_keep_the_whole_alive():
    x = _leaf(np.zeros((1000, 1000))) + 1.0
    (row,) = evaluate([x.shrink([(0, 1), (0, 1000)])])
    assert row.base is None


def test_intermediates_are_freed_when_the_last_reader_has_run():
    n = 1_000_000
    x = UOp.param(0, (n,), F64)
    y = x
    for _ in range(50):
        y = y + 1.0
    values = np.zeros(n)
    program = lower_to_numpy([y], [x])
    tracemalloc.start()
    try:
        program.run([values])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * values.nbytes


# -------------------------------------------------------------------------------------------------- what is given


def test_any_node_may_be_given_a_value():
    x = UOp.param(0, (3,), F64)
    inner = x.unary(Ops.EXP)
    assert evaluate([inner + 1.0], {inner: np.arange(3.0)})[0].tolist() == [1, 2, 3]


def test_scalars_are_converted_to_the_dtype_of_the_input():
    x = UOp.param(0, (), F32, "scalar")
    (value,) = lower_to_numpy([x * 2.0], [x]).run([0.1])
    assert value.dtype == np.float32
    assert value == np.float32(0.1) * 2


def test_a_missing_value_is_named():
    with pytest.raises(ValueError, match=r"input 3 \(float32 \(2,\)\) has no value"):
        evaluate([UOp.param(3, (2,), F32) + 1.0])


def test_a_value_of_another_shape_is_refused():
    x = UOp.param(0, (3,), F64)
    with pytest.raises(ValueError, match=r"expected a value of shape \(3,\)"):
        evaluate([x], {x: np.zeros(2)})


def test_a_realized_node_is_read_and_not_computed():
    x = UOp.param(77, (3,), F64)
    y = x + 1.0
    y.settle(Buffer.from_numpy(np.array([1.0, 2.0, 3.0])))
    assert _value(y * 2.0).tolist() == [2, 4, 6]


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 1, 0)])
def test_broadcasts_of_small_shapes(shape: tuple[int, ...]):
    one = UOp.const(1.0, F64, shape)
    row = broadcast_to(UOp.const(2.0, F64), shape)
    cond = UOp.const(True, dtypes.bool, shape)
    for node in (one + row, cond.where(one, row), UOp.new(Ops.COMPLEX, (one, row))):
        assert _value(node).shape == shape


def test_a_sum_of_a_row_and_a_column():
    row, column = np.arange(3.0), np.arange(2.0)[:, None]
    got = _value(broadcast_to(_leaf(row), (2, 3)) + broadcast_to(_leaf(column), (2, 3)))
    np.testing.assert_array_equal(got, row + column)


def test_a_function_of_several_outputs_runs_once():
    calls: list[int] = []

    def halves(params: Any, x: Any) -> tuple[Any, ...]:
        calls.append(1)
        return x, x[:2]  # an operand itself, and a part of it

    if "test-halves" not in EXTERNS:
        register_extern(Extern("test-halves", lambda params, types: (types[0], ((2,), types[0][1])), halves))
    x = _leaf(np.arange(4.0))
    first, second = (UOp.new(Ops.EXTERN, (x,), ("test-halves", (), k)) for k in range(2))
    values = evaluate([first, second, first + 1.0])
    assert [v.tolist() for v in values] == [[0, 1, 2, 3], [0, 1], [1, 2, 3, 4]]
    assert len(calls) == 1
    assert not np.shares_memory(values[0], values[1])
    del EXTERNS["test-halves"]


def test_a_chain_of_100_000_nodes():
    x = UOp.param(0, (2,), F64)
    y = x
    for _ in range(50_000):
        y = -(y + 1.0)
    np.testing.assert_array_equal(evaluate([y], {x: np.zeros(2)})[0], [0, 0])
