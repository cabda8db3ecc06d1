"""Every op in every dtype, compiled, against the interpreter: bit for bit where the operation is exact."""

import numpy as np
import pytest

from tests.support.kernel_runs import check, param, run
from uopc_core.dtype import DTYPES, dtypes, is_complex, is_float, is_integer
from uopc_core.errors import DTypeError
from uopc_core.ir.op import BINARY, COMPLEX_FUNCTIONS, MATH_FUNCTIONS, UNARY, Ops
from uopc_core.ir.uop import UOp

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-310, -1e-310, 5e-324, 1e300, -1e300, 7.25, np.inf, -np.inf, np.nan]
FLOATS32 = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-40, -1e-40, 1e-45, 1e38, -1e38, 7.25, np.inf, -np.inf, np.nan]
pytestmark = pytest.mark.filterwarnings("ignore")


def values_of(dtype, n=53, seed=0):
    """Ordinary and extreme values."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if is_integer(dtype):
        info = np.iinfo(dtype)
        special = [
            v
            for v in (0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100, info.max, info.min, info.max - 1, -1, -2, -3)
            if info.min <= v <= info.max
        ]
        return np.array([*special, *rng.integers(info.min, info.max, n - len(special), dtype, True)], dtype)
    special = FLOATS32 if dtype in (dtypes.float32, dtypes.complex64) else FLOATS
    if is_float(dtype):
        return np.array([*special, *rng.standard_normal(n - len(special)) * 10], dtype)
    ordinary = rng.standard_normal((n - 16, 2)) * 3
    return np.array(
        [complex(a, b) for a, b in zip(rng.permutation(special), special, strict=True)]
        + [complex(*x) for x in ordinary],
        dtype,
    )


def pairs_of(dtype):
    """Every pair of special values, then random ones."""
    x = values_of(dtype)
    a, b = np.meshgrid(x[:20], x[:20])
    return np.concatenate([a.ravel(), x]), np.concatenate([b.ravel(), x[::-1]])


def accepted(op, *dtypes_):
    try:
        return UOp.new(op, tuple([UOp.param(i, (3,), d) for i, d in enumerate(dtypes_)]))
    except DTypeError:
        return None


def tolerance(op, dtype):
    exact = {Ops.RINT, Ops.NEG, Ops.REAL, Ops.IMAG, Ops.CONJ, Ops.ADD, Ops.SUB, Ops.CMPEQ, Ops.CMPNE}
    if op in MATH_FUNCTIONS and dtype.kind in "fc":
        return 8 if is_float(dtype) else 16  # NumPy may be off by 4 as well
    return 4 if is_complex(dtype) and op not in exact else 0


UNARY_CASES = [(op, d) for op in sorted(UNARY - {Ops.CAST, Ops.BITCAST}) for d in DTYPES if accepted(op, d) is not None]
BINARY_CASES = [(op, d) for op in sorted(BINARY) for d in DTYPES if accepted(op, d, d) is not None]
CASE_ID = lambda x: x.name if hasattr(x, "name") else str(x)  # noqa: E731


@pytest.mark.parametrize(("op", "dtype"), UNARY_CASES, ids=CASE_ID)
def test_unary_op_gives_what_numpy_gives(op, dtype):
    x = values_of(dtype)
    if is_complex(dtype) and op in COMPLEX_FUNCTIONS:
        x = x[16:]
    check([param(0, x).unary(op)], [x], tolerance(op, dtype))


@pytest.mark.parametrize(("op", "dtype"), BINARY_CASES, ids=CASE_ID)
def test_binary_op_gives_what_numpy_gives(op, dtype):
    a, b = pairs_of(dtype)
    if op is Ops.POW and dtype.kind in "iu":
        b = np.abs(b.astype(np.int64) % 9).astype(dtype)
    if op is Ops.POW and is_complex(dtype):
        a, b = a[416:], b[416:]
    if is_complex(dtype) and op in (Ops.DIV, Ops.MUL):
        ordinary = np.isfinite(a) & np.isfinite(b) & (np.abs(a) < 1e30) & (np.abs(b) < 1e30)
        a, b = a[ordinary], b[ordinary]
    node = UOp.new(op, (param(0, a), param(1, b)))
    if is_complex(dtype) and op is Ops.MUL:  # NumPy rounds once where the machine can
        error = np.abs(run([node], [a, b])[0] - a * b)
        assert np.all(error <= 2 * np.finfo(dtype).eps * np.abs(a) * np.abs(b) + np.finfo(dtype).smallest_subnormal)
        return
    check([node], [a, b], tolerance(op, dtype))


@pytest.mark.parametrize(
    ("of", "to"),
    # the graph takes the parts of a complex number before it converts them to a real dtype
    [(a, b) for a in DTYPES for b in DTYPES if not is_complex(a) or is_complex(b) or b is dtypes.bool],
    ids=CASE_ID,
)
def test_cast_gives_what_numpy_gives(of, to):
    x = values_of(of)
    if is_float(of) and to is dtypes.uint32:
        x = x[np.abs(x) < 4e9]  # NumPy gives one thing in the middle of an array and another at its end
    check([param(0, x).cast(to)], [x])


@pytest.mark.parametrize(
    ("of", "to"),
    [(a, b) for a in DTYPES for b in DTYPES if a.itemsize == b.itemsize and (a.kind == "b") == (b.kind == "b")],
    ids=CASE_ID,
)
def test_bitcast_keeps_the_bits(of, to):
    x = values_of(of)
    check([param(0, x).bitcast(to)], [x])


@pytest.mark.parametrize("dtype", DTYPES, ids=CASE_ID)
def test_where_picks_by_condition(dtype):
    a, b = pairs_of(dtype)
    cond = np.random.default_rng(1).integers(0, 2, a.size).astype(bool)
    check([param(0, cond).where(param(1, a), param(2, b))], [cond, a, b])


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=str)
def test_small_powers_of_complex_numbers_have_numpys_bits(dtype):
    parts = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan]
    bases = np.array([complex(a, b) for a in parts for b in parts if (a, b) != (0, 0)], dtype)
    for power in range(-5, 8):
        exponents = np.full_like(bases, power)
        check([UOp.new(Ops.POW, (param(0, bases), param(1, exponents)))], [bases, exponents])


def test_complex_power_of_zero():
    zero, exponents = np.zeros(5, complex), np.array([1.5 + 0.5j, -1.5 + 0.5j, 1.5, -1, 0])
    check([UOp.new(Ops.POW, (param(0, zero), param(1, exponents)))], [zero, exponents])


def test_random_bits_are_those_of_the_interpreter():
    key = np.array(0x9E3779B97F4A7C15, np.uint64)
    check([UOp.new(Ops.RANDOM, (UOp.param(0, (), dtypes.uint64, "scalar"),), (7, 9))], [key])


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_nan_constants_keep_their_sign(dtype):
    x = np.array([1.0, -2.0], dtype)
    signs = [param(0, x).binary(Ops.COPYSIGN, UOp.const(nan, dtype, (2,))) for nan in (np.nan, -np.nan, float("-nan"))]
    np.testing.assert_array_equal([np.signbit(got) for got in run(signs, [x])], [[False] * 2, [True] * 2, [True] * 2])
