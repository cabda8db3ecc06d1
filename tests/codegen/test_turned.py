"""What is read across memory goes through tiles that turn it: every element is where the interpreter has it."""

import numpy as np
import pytest

from tests.support.kernel_runs import check, render_one
from uopc_core.codegen import c_loops
from uopc_core.dtype import DTYPES, dtypes
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

REAL = (dtypes.float32, dtypes.float64)
# whole tiles and parts of them, along either side
SHAPES = [(32, 32), (33, 65), (64, 129), (200, 47), (40, 1000)]


def values(*shapes, dtype):
    rng = np.random.default_rng(5)
    drawn = [rng.integers(0, 100, shape) + rng.random(shape) for shape in shapes]
    return [x.astype(dtype) for x in drawn]


def is_turned(*outputs):
    return "_tile[" in render_one(outputs).text


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_a_transposed_copy(dtype, shape):
    x = UOp.param(0, shape, dtype)
    assert is_turned(x.permute((1, 0)))
    check([x.permute((1, 0))], values(shape, dtype=dtype))
    check([x.permute((1, 0))], values(shape, dtype=dtype), pieces=3)
    check([x.flip([0]).permute((1, 0)).flip([0])], values(shape, dtype=dtype))


@pytest.mark.parametrize("shape", [*SHAPES, (64, 48), (128, 96), (131, 192)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_a_large_transposed_copy_goes_past_the_caches(dtype, shape, monkeypatch):
    monkeypatch.setattr(c_loops, "STREAMED_BYTES", 1)
    x = UOp.param(0, shape, dtype)
    y = x.permute((1, 0))
    assert ("stream_" in render_one([y]).text) == (dtype.itemsize in (4, 8))
    check([y], values(shape, dtype=dtype))
    check([y], values(shape, dtype=dtype), pieces=3)
    check([y.pad([(3, 2), (16, 16)])], values(shape, dtype=dtype))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", REAL, ids=lambda dtype: dtype.name)
def test_beside_what_lies_in_order(dtype, shape):
    turned = shape[::-1]
    x, y, row, column = (
        UOp.param(0, shape, dtype),
        UOp.param(1, turned, dtype),
        UOp.param(2, shape, dtype),
        UOp.param(3, turned, dtype),
    )
    xt = x.permute((1, 0))
    given = values(shape, turned, shape, turned, dtype=dtype)
    assert is_turned(xt + y)
    check([xt + y], given[:2])
    check([xt.unary(Ops.EXP) + y], given[:2])  # in stages
    check([xt * y + row.permute((1, 0)), xt - column], given)


@pytest.mark.parametrize("order", [(2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1)], ids=str)
def test_more_axes(order):
    x = UOp.param(0, (35, 40, 66), dtypes.float32)
    check([x.permute(order)], values((35, 40, 66), dtype=dtypes.float32))
    check([x.permute(order).shrink([(1, n - 1) for n in x.permute(order).shape])], values(x.shape, dtype=x.dtype))


@pytest.mark.parametrize("pad", [(3, 0), (0, 5), (40, 40)], ids=str)
def test_what_is_guarded_is_read_where_it_is(pad):
    x, y = UOp.param(0, (70, 50), dtypes.float64), UOp.param(1, (50, 70), dtypes.float64)
    padded = x.permute((1, 0)).pad([pad, (1, 2)])
    check([padded], values((70, 50), dtype=dtypes.float64))
    check([padded + y.pad([pad, (1, 2)])], values((70, 50), (50, 70), dtype=dtypes.float64))


def test_rows_that_are_picked_are_turned():
    x, picked = UOp.param(0, (90, 64), dtypes.float64), UOp.param(1, (40,), dtypes.int64)
    places = np.random.default_rng(1).integers(-90, 90, 40)
    check([x.index(picked).permute((1, 0))], [*values((90, 64), dtype=dtypes.float64), places])
