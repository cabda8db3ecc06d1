"""Reductions to one number run in parts, by any thread, and have the bits that they have as a whole."""

import numpy as np
import pytest

from tests.support.kernel_runs import bits, param, render_one, run
from uopc_core import costs
from uopc_core.codegen.c_reduce import SHORT, block_of
from uopc_core.dtype import DTYPES, dtypes, is_inexact
from uopc_core.errors import DTypeError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.op import REDUCIBLE, Ops
from uopc_core.ir.uop import UOp

E = costs.PART_ELEMENTS
# of one axis and of two that are not one in memory; whole parts and not, powers of two of them and not, tails of less
# than a block, rows that are whole blocks and not
LENGTHS = [E + 1, 2 * E, 2 * E + 37, 3 * E + 700, 7 * E + 511, costs.MAX_PARTS * E, costs.MAX_PARTS * E + 5]
PARTS = [(70, 1000), (129, 512), (131, 1024), (37, 1536), (5000, 17), (3, 40_000), (66_000, 2)]


def _accepted(op, dtype):
    try:
        UOp.param(0, (3,), dtype).reduce(op, 1)
    except DTypeError:
        return False
    return True


CASES = [(op, d) for op in sorted(REDUCIBLE) for d in DTYPES if _accepted(op, d)]
IDS = [f"{op.name}-{d.name}" for op, d in CASES]


def _values(shape, op, dtype):
    rng = np.random.default_rng(sum(shape))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, True)
    x = rng.standard_normal(shape)
    x = np.exp(x / 100) if op is Ops.MUL else x
    if op in (Ops.MAX, Ops.MIN):  # zeros of both signs, and none that is larger, or smaller
        x = np.where(x > 1, 0.0, np.where(x > 0.5, -0.0, -np.abs(x) if op is Ops.MAX else np.abs(x)))
    return (x + 1j * x[::-1] if dtype.kind == "c" else x).astype(dtype)


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=IDS)
def test_the_parts_of_a_row_combine_to_its_bits(op, dtype):
    x = _values((LENGTHS[-1],), op, dtype)
    for n in LENGTHS if dtype.itemsize >= 4 else LENGTHS[:3]:
        part = x[:n].copy()
        node = param(0, part).reduce(op, 1)
        (wanted,) = evaluate([node], {node.src[0]: part})
        for pieces in (1, 3):
            assert bits(run([node], [part], pieces=pieces)[0]) == bits(wanted), (n, pieces)


@pytest.mark.parametrize(("op", "dtype"), [c for c in CASES if c[1] in (dtypes.float32, dtypes.complex128)])
@pytest.mark.parametrize("shape", PARTS, ids=str)
def test_the_parts_of_rows_combine_to_their_bits(op, dtype, shape):
    """Parts that begin and end in the middle of a row."""
    x = _values((shape[0] + 1, shape[1] + 1), op, dtype)
    inside = x[:-1, 1:].copy()
    node = param(0, x).shrink([(0, shape[0]), (1, shape[1] + 1)])
    if is_inexact(dtype):
        node, inside = node * UOp.const(1.25, dtype, node.shape), inside * dtype.type(1.25)
    whole = param(0, inside).reduce(op, 2)
    (wanted,) = evaluate([whole], {whole.src[0]: inside})
    for pieces in (1, 4):
        assert bits(run([node.reduce(op, 2)], [x], pieces=pieces)[0]) == bits(wanted), pieces


def test_what_is_computed_beside_the_sum_and_after_it_is_there():
    x = _values((3 * E + 11,), Ops.ADD, dtypes.float64)
    node = param(0, x)
    y = node * UOp.const(1.25, node.dtype, node.shape)
    outputs = [y, y.reduce(Ops.ADD, 1), y.reduce(Ops.MAX, 1).unary(Ops.SQRT) + node.reduce(Ops.ADD, 1)]
    for got, want in zip(run(outputs, [x], pieces=2), evaluate(outputs, {node: x}), strict=True):
        assert bits(got) == bits(want)


def test_a_part_is_a_power_of_two_of_blocks():
    n_blocks = E // block_of(SHORT)
    assert n_blocks * block_of(SHORT) == E
    assert n_blocks.bit_count() == 1
    assert render_one([param(0, np.zeros(2 * E)).reduce(Ops.ADD, 1)]).extent == 2
