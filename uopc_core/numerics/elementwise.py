"""What the elementwise functions of the standard compute, as functions of nodes, for operators and functions of arrays.

Operands have been promoted and broadcast: one dtype, one shape. Where NumPy and the standard disagree, the standard
is followed.
"""

from collections.abc import Sequence
from functools import reduce

from uopc_core.dtype import dtypes, is_bool, is_complex, is_float, is_integer, is_unsigned, name_of
from uopc_core.errors import DTypeError
from uopc_core.ir import Ops, UOp, composite

__all__ = [
    "absolute",
    "add",
    "bitwise_invert",
    "ceil",
    "copysign",
    "divide",
    "equal",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "left_shift",
    "less",
    "less_equal",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "positive",
    "power",
    "power_by",
    "power_half",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "root_of_squares",
    "sign",
    "signbit",
    "square",
    "square_of_size",
    "subtract",
    "sum_of_products",
    "tan",
    "tanh",
    "trunc",
]

_INFINITY = float("inf")
_BITS_OF_FLOAT = {dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}


# ---------------------------------------------------------------------------------------------- arithmetic


def add(x: UOp, y: UOp) -> UOp:
    return x | y if is_bool(x.dtype) else x + y


def subtract(x: UOp, y: UOp) -> UOp:
    if is_bool(x.dtype):
        raise DTypeError("subtract: expected numbers, got two bool operands; use logical_xor or bitwise_xor for bool")
    return x - y


def multiply(x: UOp, y: UOp) -> UOp:
    return x & y if is_bool(x.dtype) else x * y


def divide(x: UOp, y: UOp) -> UOp:
    """Operands are real or complex floating."""
    return x / y


def _small_integer(x: UOp) -> UOp:
    """A bool takes part in integer arithmetic as int8, as in NumPy."""
    return x.cast(dtypes.int8) if is_bool(x.dtype) else x


def floor_divide(x: UOp, y: UOp) -> UOp:
    """NumPy's quotient; where an operand is infinite, the floor of the true one (NumPy has nan or -1 there)."""
    x, y = _small_integer(x), _small_integer(y)
    if not is_float(x.dtype):
        return x // y
    return (isinf(x) | isinf(y)).where((x / y).unary(Ops.FLOOR), x // y)


def remainder(x: UOp, y: UOp) -> UOp:
    return _small_integer(x) % _small_integer(y)


def power(x: UOp, y: UOp) -> UOp:
    return _small_integer(x) ** _small_integer(y)


def power_half(x: UOp) -> UOp:
    """``x ** 0.5`` by a square root, which differs from a power at -0.0 and at -inf."""
    if is_complex(x.dtype):
        return x.unary(Ops.SQRT)
    return x.eq(-_INFINITY).where(_INFINITY, (x + 0.0).unary(Ops.SQRT))


def power_by(x: UOp, number: float, exponent: UOp) -> UOp:
    """``x ** number``, where `exponent` is that number as a node; small ones become products, roots and reciprocals.

    Raises:
        ValueError: an integer to a negative integer power.
    """
    kind = x.dtype.kind
    if kind in "iu" and number < 0:
        raise ValueError(
            "pow: integers to negative integer powers are not allowed; convert the base to a floating dtype first"
        )
    if number == 2 and kind != "b":
        return x * x
    if number == 1 and kind != "b":
        return x
    if kind in "fc" and number in (0.5, -1):
        return power_half(x) if number == 0.5 else reciprocal(x)
    return power(x, exponent)


def negative(x: UOp) -> UOp:
    if is_bool(x.dtype):
        raise DTypeError("negative: expected numbers, got bool; use logical_not for bool")
    return -x


def positive(x: UOp) -> UOp:
    return x


def absolute(x: UOp) -> UOp:
    return x if is_bool(x.dtype) or is_unsigned(x.dtype) else x.unary(Ops.ABS)


def size_with_sign(x: UOp) -> UOp:
    """The absolute value; its slope at 0 is that of the side which the sign of the zero names, where `abs` has 0."""
    return signbit(x).where(-x, x) if is_float(x.dtype) else absolute(x)


def square(x: UOp) -> UOp:
    x = _small_integer(x)
    return x * x


def root_of_squares(total: UOp) -> UOp:
    """The square root of a real sum of squares: a length, whose slope at 0 is taken to be 0 as that of `hypot` is."""
    zero = total.eq(0)
    return zero.where(composite.zeros_like(total), zero.where(1, total).unary(Ops.SQRT))


def reciprocal(x: UOp) -> UOp:
    """1 / x, correctly rounded for real operands; of integers rounded towards 0, and at 0 what NumPy's cast gives."""
    x = _small_integer(x)
    if not is_integer(x.dtype):
        return 1 / x
    at_zero = -(2 ** (8 * x.dtype.itemsize - 1)) if x.dtype in (dtypes.int32, dtypes.int64) else 0
    one = x.eq(1) if is_unsigned(x.dtype) else x.eq(1) | x.eq(-1)
    return one.where(x, x.eq(0).where(UOp.const(at_zero, x.dtype, x.shape), 0))


def expm1(x: UOp) -> UOp:
    """``exp(x) - 1``; complex: +0 at -0 + 0j, and the standard's values where the real part is not finite."""
    if not is_complex(x.dtype):
        return x.unary(Ops.EXPM1)
    a, b = composite.real(x), composite.imag(x)
    sine = b.unary(Ops.SIN)
    grows, zero = a.eq(_INFINITY), composite.zeros_like(b)
    re = grows.where((isfinite(b) & b.ne(0)).where(a * b.unary(Ops.COS), a), a)
    re = a.eq(-_INFINITY).where(-1, re)
    im = a.eq(-_INFINITY).where(copysign(zero, isfinite(b).where(sine, b)), b.eq(0).where(b, a * sine))
    at_infinity = re.binary(Ops.COMPLEX, im).detach()
    return isfinite(a).where(x.unary(Ops.EXPM1) + complex(0.0, -0.0), at_infinity)


def _tanh_at_infinity(a: UOp, b: UOp) -> tuple[UOp, UOp]:
    """Real and imaginary part of ``tanh(a + bj)`` where `a` is infinite: +-1, and a zero with the sign of `b`."""
    return copysign(composite.ones_like(a), a), copysign(composite.zeros_like(b), b)


def tanh(x: UOp) -> UOp:
    """Hyperbolic tangent; complex: +-1 where the real part is infinite, with a zero of the sign of the imaginary."""
    if not is_complex(x.dtype):
        return x.unary(Ops.TANH)
    one, zero = _tanh_at_infinity(composite.real(x), composite.imag(x))
    return isinf(composite.real(x)).where(one.binary(Ops.COMPLEX, zero).detach(), x.unary(Ops.TANH))


def tan(x: UOp) -> UOp:
    """Tangent; complex: ``-1j * tanh(1j * x)`` where the imaginary part is infinite."""
    if not is_complex(x.dtype):
        return x.unary(Ops.TAN)
    one, zero = _tanh_at_infinity(composite.imag(x), composite.real(x))
    return isinf(composite.imag(x)).where(zero.binary(Ops.COMPLEX, one).detach(), x.unary(Ops.TAN))


def maximum(x: UOp, y: UOp) -> UOp:
    return x.binary(Ops.MAX, y)


def minimum(x: UOp, y: UOp) -> UOp:
    return x.binary(Ops.MIN, y)


def sum_of_products(factors: Sequence[UOp], n: int) -> UOp:
    """The sum of the factors' product over the `n` trailing axes; of bool, whether any product is true."""
    product = reduce(multiply, factors)
    return product.reduce(Ops.OR if is_bool(product.dtype) else Ops.ADD, n)


def matmul(x: UOp, y: UOp) -> UOp:
    """The product of (..., M, K) and (..., K, N); of bool, whether any pair is true."""
    if is_bool(x.dtype):
        return composite.matmul(x.cast(dtypes.int64), y.cast(dtypes.int64)).ne(0)
    return composite.matmul(x, y)


# ------------------------------------------------------------------------------------------ rounding, sign, parts


def _rounded(x: UOp, op: Ops) -> UOp:
    return x.unary(op) if is_float(x.dtype) else x


def floor(x: UOp) -> UOp:
    return _rounded(x, Ops.FLOOR)


def ceil(x: UOp) -> UOp:
    return _rounded(x, Ops.CEIL)


def trunc(x: UOp) -> UOp:
    return _rounded(x, Ops.TRUNC)


def rint(x: UOp) -> UOp:
    """Nearest integer, ties to even, each part of a complex number by itself; bool, which is no number, as float64."""
    if is_bool(x.dtype):
        return x.cast(dtypes.float64)
    return x if is_integer(x.dtype) else x.unary(Ops.RINT)


def sign(x: UOp) -> UOp:
    """-1, 0 or 1; of a complex number z / |z|, and 0 at 0."""
    if is_bool(x.dtype):
        return x
    if not is_complex(x.dtype):
        return x.unary(Ops.SIGN)
    zero, a, b = x.eq(0), x.unary(Ops.REAL), x.unary(Ops.IMAG)
    a, b = _of_infinities(a, b), _of_infinities(b, a)
    # an exact factor, with which the modulus neither overflows nor is subnormal
    scale = (maximum(absolute(a), absolute(b)) > 1).where(UOp.const(0.5, a.dtype, a.shape), 2.0**54)
    a, b = a * scale, b * scale
    size = zero.where(1, a.binary(Ops.COMPLEX, b).unary(Ops.ABS))
    return zero.where(composite.zeros_like(x), (a / size).binary(Ops.COMPLEX, b / size))


def _of_infinities(x: UOp, other: UOp) -> UOp:
    """`x`, one part of a complex number: beside an infinite part nothing, and 1 for an infinity beside a number."""
    nothing = x.unary(Ops.ABS) * 0.0  # nan where it is none
    single = isinf(x) & isfinite(other)
    return (isinf(other) & isfinite(x)).where(nothing, single.where(copysign(composite.ones_like(x), x), x))


def signbit(x: UOp) -> UOp:
    return (x.bitcast(_BITS_OF_FLOAT[x.dtype]) if is_float(x.dtype) else x) < 0


def copysign(x: UOp, y: UOp) -> UOp:
    return x.binary(Ops.COPYSIGN, y)


def square_of_size(x: UOp) -> UOp:
    """The square of the absolute value, real."""
    if not is_complex(x.dtype):
        return x * x
    re, im = x.unary(Ops.REAL), x.unary(Ops.IMAG)
    return re * re + im * im


# ---------------------------------------------------------------------------------------------- tests


def isnan(x: UOp) -> UOp:
    return x.ne(x)


def isinf(x: UOp) -> UOp:
    if is_complex(x.dtype):
        return isinf(composite.real(x)) | isinf(composite.imag(x))
    if is_float(x.dtype):
        return x.unary(Ops.ABS).eq(_INFINITY)
    return UOp.const(False, dtypes.bool, x.shape)


def isfinite(x: UOp) -> UOp:
    if is_complex(x.dtype):
        return isfinite(composite.real(x)) & isfinite(composite.imag(x))
    if is_float(x.dtype):
        return x.unary(Ops.ABS) < _INFINITY
    return UOp.const(True, dtypes.bool, x.shape)


def _mixed_sign(x: UOp, y: UOp) -> bool:
    """A signed and an unsigned integer operand, whose values no common dtype may hold."""
    return is_integer(x.dtype) and is_integer(y.dtype) and is_unsigned(x.dtype) is not is_unsigned(y.dtype)


def _compare_mixed(op: Ops, x: UOp, y: UOp) -> UOp:
    """Compare a signed with an unsigned integer by value: both as uint64 unless the signed one is negative."""
    signed = y if is_unsigned(x.dtype) else x
    by_value = x.cast(dtypes.uint64).binary(op, y.cast(dtypes.uint64))
    if op is Ops.CMPEQ:
        return (signed >= 0) & by_value
    if op is Ops.CMPNE:
        return (signed < 0) | by_value
    return (signed < 0) | by_value if signed is x else (signed >= 0) & by_value


def _compare(name: str, op: Ops, x: UOp, y: UOp) -> UOp:
    """Operands have one shape; a signed and an unsigned integer dtype may stand side by side."""
    if is_complex(x.dtype) and op in (Ops.CMPLT, Ops.CMPLE):
        raise DTypeError(f"{name}: expected real numbers, got {name_of(x.dtype)}; complex numbers have no order")
    return _compare_mixed(op, x, y) if _mixed_sign(x, y) else x.binary(op, y)


def less(x: UOp, y: UOp) -> UOp:
    return _compare("less", Ops.CMPLT, x, y)


def less_equal(x: UOp, y: UOp) -> UOp:
    return _compare("less_equal", Ops.CMPLE, x, y)


def greater(x: UOp, y: UOp) -> UOp:
    return _compare("greater", Ops.CMPLT, y, x)


def greater_equal(x: UOp, y: UOp) -> UOp:
    return _compare("greater_equal", Ops.CMPLE, y, x)


def equal(x: UOp, y: UOp) -> UOp:
    return _compare("equal", Ops.CMPEQ, x, y)


def not_equal(x: UOp, y: UOp) -> UOp:
    return _compare("not_equal", Ops.CMPNE, x, y)


# ---------------------------------------------------------------------------------------------- bitwise


def bitwise_invert(x: UOp) -> UOp:
    return ~x


def left_shift(x: UOp, y: UOp) -> UOp:
    return _small_integer(x) << _small_integer(y)


def right_shift(x: UOp, y: UOp) -> UOp:
    return _small_integer(x) >> _small_integer(y)
