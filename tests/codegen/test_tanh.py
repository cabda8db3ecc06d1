"""Our own hyperbolic tangents: values, signs and corners, wherever an element stands in its block."""

import numpy as np
import pytest

from tests.support.kernel_runs import bits, check, run
from tests.support.kernels import needs_compiler
from uopc_core.dtype import dtypes
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

ULPS = 2.5


def operands(dtype):
    info = np.finfo(dtype)
    rng = np.random.default_rng(2)
    sizes = 10.0 ** rng.uniform(np.log10(float(info.tiny)), np.log10(float(info.max)), 3000)
    every = np.concatenate([sizes, rng.uniform(0, 25, 20_000), rng.uniform(0, 0.5, 20_000)]).astype(dtype)
    corners = [0.0, float(info.smallest_subnormal), float(info.tiny), 1.0, 10.0, 22.0, float(info.max), np.inf]
    return np.concatenate([every, np.array(corners, dtype)])


def tanh(x):
    return run([UOp.param(0, x.shape, x.dtype).unary(Ops.TANH)], [x])[0]


@needs_compiler
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_values_are_near_and_odd(dtype):
    x = operands(dtype)
    got = tanh(x)
    true = np.tanh(x.astype(np.longdouble))
    unit = np.spacing(np.abs(true).astype(dtype)).astype(np.longdouble)
    assert np.max(np.abs(got - true) / unit) <= ULPS
    assert np.all(got <= 1)
    assert bits(tanh(-x)) == bits(-got)
    assert np.signbit(tanh(np.array([-0.0], dtype))[0])
    assert np.isnan(tanh(np.array([np.nan, -np.nan], dtype))).all()


@needs_compiler
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda dtype: dtype.name)
def test_bits_depend_on_nothing_but_the_operand(dtype):
    x = operands(dtype.type)[-1000:]
    whole = tanh(x)
    for start, stop in ((0, 1), (3, 19), (5, 260), (999, 1000)):
        assert bits(tanh(x[start:stop].copy())) == bits(whole[start:stop])
    check([UOp.param(0, x.shape, dtype).unary(Ops.TANH)], [x])
