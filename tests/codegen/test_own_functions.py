"""Our own functions of one operand: values, signs and corners, wherever an element stands in its block."""

import math
import platform

import numpy as np
import pytest

from tests.support.kernel_runs import bits, check, run
from tests.support.kernels import needs_compiler
from uopc_core import context
from uopc_core.codegen.c_math import OWN_MATH, REAL_MATH
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.toolchain import find_toolchain

ULPS = 2.5
ODD = {Ops.TANH, Ops.ERF}
CASES = [(op, dtype) for op, dtype in OWN_MATH if REAL_MATH[op].arity == 1]
EACH = pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda case: case.name.lower())


def sizes(dtype):
    """Positive numbers of all sizes, dense where functions bend and around 1, the ends of what there is among them."""
    info, rng = np.finfo(dtype), np.random.default_rng(2)
    every = 2.0 ** rng.uniform(info.minexp - info.nmant, info.maxexp - 1e-9, 6000)
    near = 1 + rng.choice([-1, 1], 4000) * 2.0 ** -rng.uniform(1, info.nmant, 4000)
    bends = [rng.uniform(0, high, 20_000) for high in (25, 4, 0.5)]
    ends = [float(info.smallest_subnormal), float(info.tiny) / 3, float(info.tiny), float(info.max)]
    at = [2.0**0.5, 0.5**0.5, 0.8, 1.0, 3.92, 4.0, 10.0, 22.0]
    return np.concatenate([every, near, *bends, ends, at]).astype(dtype)


def apply(op, x):
    return run([UOp.param(0, x.shape, x.dtype).unary(op)], [x])[0]


def truth(op, x):
    if op is Ops.ERF:
        return np.array([math.erf(float(v)) for v in x])
    return {Ops.LOG: np.log, Ops.TANH: np.tanh}[op](x.astype(np.longdouble))


@needs_compiler
@EACH
def test_values_are_near(op, dtype):
    x = sizes(dtype.type)
    x = x[x > 0]
    got, true = apply(op, x), truth(op, x)
    unit = np.spacing(np.maximum(np.abs(true).astype(dtype.type), np.finfo(dtype.type).smallest_subnormal))
    assert np.max(np.abs(got - true) / unit.astype(true.dtype)) <= ULPS
    if op in ODD:
        assert np.all(got <= 1)
        assert bits(apply(op, -x)) == bits(-got)


@needs_compiler
@EACH
def test_corners(op, dtype):
    x = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, -np.nan, -1.0, -np.finfo(dtype.type).tiny / 2], dtype.type)
    got = apply(op, x)
    with np.errstate(all="ignore"):
        wanted = np.array([math.erf(v) for v in x], dtype.type) if op is Ops.ERF else truth(op, x).astype(dtype.type)
    zeros_and_infinities = (wanted == 0) | np.isinf(wanted)
    assert bits(got[zeros_and_infinities]) == bits(wanted[zeros_and_infinities])
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_allclose(got, wanted, 4 * np.finfo(dtype.type).eps)


@needs_compiler
@EACH
def test_bits_depend_on_nothing_but_the_operand(op, dtype):
    x = np.random.default_rng(3).permutation(sizes(dtype.type))[:2000]
    corners = np.array([0.0, -0.0, -1.5, np.inf, -np.inf, np.nan], dtype.type)
    whole = apply(op, x)
    for start, stop in ((0, 1), (3, 19), (5, 260), (99, 1000)):
        assert bits(apply(op, x[start:stop].copy())) == bits(whole[start:stop])
    for at in (0, 15, 16, 255, 1999):  # the usual beside the rare
        beside = np.where(np.arange(x.size) == at, corners[at % 6], x)
        assert bits(np.delete(apply(op, beside), at)) == bits(np.delete(whole, at))
    ordinary = x[(x > np.finfo(dtype.type).tiny) & (x < np.inf)]
    assert bits(apply(op, ordinary)) == bits(whole[(x > np.finfo(dtype.type).tiny) & (x < np.inf)])
    node = UOp.param(0, (x.size + 6,), dtype).unary(op)
    check([node], [np.concatenate([x, corners])])


@needs_compiler
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="vectors of other widths are x86's")
@EACH
def test_bits_do_not_depend_on_the_width_of_vectors(op, dtype):
    toolchain = find_toolchain()
    assert toolchain is not None
    x = sizes(dtype.type)
    widest = apply(op, x)
    with context(cc=f"{toolchain.command[0]} -mno-avx512f"):
        assert bits(apply(op, x)) == bits(widest)
