"""Our own powers: values, corners, and bits that neither neighbours nor the place in a block decide."""

import platform

import numpy as np
import pytest

from tests.support.kernel_runs import bits, check, run
from tests.support.kernels import needs_compiler
from uopc_core import context
from uopc_core.dtype import dtypes
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.toolchain import find_toolchain

ULPS = 2.5
FLOATS = pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda dtype: dtype.name)


def power(a, b):
    operands = [UOp.param(i, x.shape, x.dtype) for i, x in enumerate((a, b))]
    return run([operands[0].binary(Ops.POW, operands[1])], [a, b])[0]


def ordinary(dtype):
    """Bases of all sizes and close to 1, exponents up to where powers leave the normal numbers, whole and broken."""
    info, rng, n = np.finfo(dtype), np.random.default_rng(5), 4000
    near = 1 + rng.choice([-1, 1], n) * 2.0 ** -rng.uniform(1, info.nmant, n)
    sizes = 2.0 ** rng.uniform(info.minexp - info.nmant, info.maxexp - 1, n)
    a = np.concatenate([rng.uniform(0.7, 1.45, n), near, sizes, rng.uniform(0.5, 3, n)]).astype(dtype)
    wide = np.log2(np.where(a == 1, 2, a).astype(float))
    b = rng.uniform(-1, 1, a.size) * info.maxexp / wide
    b[3 * n :] = rng.uniform(-3, 3, n)
    b[::5] = np.rint(b[::5])
    b[7::90] = rng.choice([-1.5, -0.5, 0.5, 1.5, 4], b[7::90].size)
    with np.errstate(over="ignore"):
        return a, b.astype(dtype)


def corners(dtype):
    """Every pair of numbers where something changes."""
    info = np.finfo(dtype)
    whole = 2.0 ** (info.nmant + 1)
    sizes = [0, info.smallest_subnormal, info.tiny / 3, info.tiny, 0.5, 1 - info.eps / 2, 1, 1 + info.eps, 1.5, 2, 3]
    sizes += [4, 5, 7.5, 127, 128, 149, 150, 1023, 1024, 1074, 1075, 1e6, 1e6 + 1, whole / 2 - 0.5, whole - 1, whole]
    x = np.array([*sizes, info.max, np.inf, np.nan], dtype)
    a, b = np.meshgrid(np.concatenate([x, -x]), np.concatenate([x, -x]))
    return a.ravel().copy(), b.ravel().copy()


@needs_compiler
@FLOATS
def test_values_are_near(dtype):
    a, b = ordinary(dtype.type)
    got = power(a, b)
    true = a.astype(np.longdouble) ** b.astype(np.longdouble)
    with np.errstate(over="ignore"):
        expected = true.astype(dtype.type)
    finite = np.isfinite(expected)
    unit = np.spacing(np.abs(expected[finite])).astype(np.longdouble)
    assert np.max(np.abs(got[finite] - true[finite]) / unit) <= ULPS
    assert np.all(got[~finite] >= np.finfo(dtype.type).max)


@needs_compiler
@FLOATS
def test_corners_are_numpys(dtype):
    a, b = corners(dtype.type)
    got = power(a, b)
    with np.errstate(all="ignore"):
        wanted = np.power(a, b)
        near = np.abs(got - wanted) <= 2 * np.spacing(np.abs(wanted))
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted)) | (np.isnan(got) & np.isnan(wanted))
    assert np.all(same | (near & (wanted != 0) & (np.sign(got) == np.sign(wanted))))


@needs_compiler
@FLOATS
def test_small_powers_are_products(dtype):
    a, _ = corners(dtype.type)
    for exponent, product in ((1, a), (2, a * a), (3, a * a * a), (-1, 1 / a)):
        assert bits(power(a, np.full_like(a, exponent))) == bits(product), exponent


@needs_compiler
@FLOATS
def test_bits_depend_on_nothing_but_the_operands(dtype):
    rng = np.random.default_rng(6)
    (a, b), (c, d) = ordinary(dtype.type), corners(dtype.type)
    whole = power(a, b)
    for start, stop in ((0, 1), (3, 19), (5, 260), (100, 1000)):
        assert bits(power(a[start:stop].copy(), b[start:stop].copy())) == bits(whole[start:stop])
    order = rng.permutation(a.size + c.size)  # the usual beside the rare
    mixed = power(np.concatenate([a, c])[order], np.concatenate([b, d])[order])
    assert bits(mixed) == bits(np.concatenate([whole, power(c, d)])[order])
    check([UOp.param(0, c.shape, dtype).binary(Ops.POW, UOp.param(1, d.shape, dtype))], [c, d])


@needs_compiler
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="vectors of other widths are x86's")
@FLOATS
def test_bits_do_not_depend_on_the_width_of_vectors(dtype):
    toolchain = find_toolchain()
    assert toolchain is not None
    (a, b), (c, d) = ordinary(dtype.type), corners(dtype.type)
    operands = np.concatenate([a, c]), np.concatenate([b, d])
    widest = power(*operands)
    with context(cc=f"{toolchain.command[0]} -mno-avx512f"):
        assert bits(power(*operands)) == bits(widest)
