"""The ufuncs of two operands. Where NumPy and the standard disagree, the standard is followed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from uopc_array._array.nodes import to_operand
from uopc_array._array.promotion import promote, promote_to, result_dtype
from uopc_array._functions.elementwise import (
    ANY,
    BITS,
    FLOATING,
    REAL,
    REAL_FLOATING,
    binary,
    comparison,
    logical,
    numpys_ufunc,
)
from uopc_array._functions.ufunc import HostUfunc, PairUfunc, entered
from uopc_core import Ops, UOp, composite, dtypes, is_bool, is_complex, is_float, is_integer
from uopc_core.numerics import elementwise

__all__: list[str] = []


def _fmod(x: UOp, y: UOp) -> UOp:
    if is_bool(x.dtype):
        x, y = x.cast(dtypes.int8), y.cast(dtypes.int8)
    if not is_float(x.dtype):
        rest = x % y  # has the sign of y
        return (rest.ne(0) & (elementwise.signbit(x).ne(elementwise.signbit(y)))).where(rest - y, rest)
    size = elementwise.size_with_sign(x) % elementwise.size_with_sign(y)
    return elementwise.signbit(x).where(-size, size)


def _ignoring_nan(op: Ops) -> Callable[[UOp, UOp], UOp]:
    return lambda x, y: elementwise.isnan(x).where(y, elementwise.isnan(y).where(x, x.binary(op, y)))


def _heaviside(x: UOp, y: UOp) -> UOp:
    step = (x > 0).where(1, composite.zeros_like(x))
    return elementwise.isnan(x).where(x, x.eq(0).where(y, step))


def _logaddexp2(x: UOp, y: UOp) -> UOp:
    """Near the root, where two terms cancel, float64 leaves digits to float32."""
    dtype = x.dtype
    x, y = x.cast(dtypes.float64), y.cast(dtypes.float64)
    distance = x - y
    apart = (elementwise.isnan(distance) & x.eq(y)).where(composite.zeros_like(x), distance)  # equal infinities
    first = apart >= 0
    ratio = first.where(-apart, apart).unary(Ops.EXP2)  # of the smaller power to the larger
    return (first.where(x, y) + ratio.unary(Ops.LOG1P) / math.log(2)).cast(dtype)


def _divmod(x: UOp, y: UOp) -> tuple[UOp, UOp]:
    return elementwise.floor_divide(x, y), elementwise.remainder(x, y)


def _promoted_wide(name: str, x1: Any, x2: Any) -> tuple[UOp, ...]:
    operands = [to_operand(x, name) for x in (x1, x2)]
    return promote_to(name, _wide(result_dtype(*operands)), *operands)


def _wide(dtype: Any) -> Any:
    return dtypes.complex128 if is_complex(dtype) else dtypes.float64


def _float_power(x: UOp, y: UOp) -> UOp:
    return x.cast(_wide(x.dtype)) ** y.cast(_wide(y.dtype))


def _promoted_for_power(name: str, x1: Any, x2: Any) -> tuple[UOp, ...]:
    base, exponent = promote(name, x1, x2)
    if isinstance(x2, int) and x2 < 0 and (is_integer(base.dtype) or is_bool(base.dtype)):
        raise ValueError(
            f"{name}: integers to the negative power {x2} are not integers; convert x1 to a floating dtype first"
        )
    return base, exponent


binary(
    "add",
    ANY,
    elementwise.add,
    "``x1 + x2``; logical or of bool.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[5., 5.]",
)
binary(
    "subtract",
    ANY,
    elementwise.subtract,
    "``x1 - x2``.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[-3., -1.]",
)
binary(
    "multiply",
    ANY,
    elementwise.multiply,
    "``x1 * x2``; logical and of bool.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[4., 6.]",
)
binary(
    "divide true_divide",
    FLOATING,
    elementwise.divide,
    "``x1 / x2``, the true quotient.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[0.25      , 0.66666667]",
)
binary(
    "floor_divide",
    REAL,
    elementwise.floor_divide,
    "``x1 // x2``, the quotient rounded down.",
    "xp.asarray([7, -7]), 3",
    "[ 2, -3] int64",
)
binary(
    "remainder mod",
    REAL,
    elementwise.remainder,
    "``x1 % x2``, with the sign of ``x2``.",
    "xp.asarray([7, -7]), 3",
    "[1, 2] int64",
)
binary(
    "maximum",
    REAL,
    elementwise.maximum,
    "The larger of the two, nan where either is nan.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[4., 3.]",
)
binary(
    "minimum",
    REAL,
    elementwise.minimum,
    "The smaller of the two, nan where either is nan.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[1., 2.]",
)
binary(
    "atan2 arctan2",
    REAL_FLOATING,
    Ops.ATAN2,
    "Angle of the point (x2, x1) in radians, in [-pi, pi].",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[0.24497866, 0.5880026 ]",
)
binary(
    "copysign",
    REAL_FLOATING,
    Ops.COPYSIGN,
    "Magnitude of ``x1`` with the sign of ``x2``.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[1., 2.]",
)
binary(
    "hypot",
    REAL_FLOATING,
    Ops.HYPOT,
    "``sqrt(x1**2 + x2**2)`` without overflow.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[4.12310563, 3.60555128]",
)
binary(
    "logaddexp",
    REAL_FLOATING,
    Ops.LOGADDEXP,
    "``log(exp(x1) + exp(x2))`` without overflow.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[4.04858735, 3.31326169]",
)
binary(
    "nextafter",
    REAL_FLOATING,
    Ops.NEXTAFTER,
    "The number next to ``x1`` in the direction of ``x2``.",
    "xp.asarray([1.0, 2.0]), xp.asarray([4.0, 3.0])",
    "[1., 2.]",
)
binary(
    "bitwise_and", BITS, Ops.AND, "``x1 & x2``, bit by bit.", "xp.asarray([6, 5]), xp.asarray([3, 1])", "[2, 1] int64"
)
binary("bitwise_or", BITS, Ops.OR, "``x1 | x2``, bit by bit.", "xp.asarray([6, 5]), xp.asarray([3, 1])", "[7, 5] int64")
binary(
    "bitwise_xor", BITS, Ops.XOR, "``x1 ^ x2``, bit by bit.", "xp.asarray([6, 5]), xp.asarray([3, 1])", "[5, 4] int64"
)
binary(
    "bitwise_left_shift left_shift",
    BITS,
    elementwise.left_shift,
    "``x1 << x2``; 0 where the shift passes the width.",
    "xp.asarray([6, 5]), xp.asarray([3, 1])",
    "[48, 10] int64",
)
binary(
    "bitwise_right_shift right_shift",
    BITS,
    elementwise.right_shift,
    "``x1 >> x2``, keeping the sign.",
    "xp.asarray([6, 5]), xp.asarray([3, 1])",
    "[0, 2] int64",
)
binary(
    "pow power",
    ANY,
    elementwise.power,
    "``x1`` to the power ``x2``; bool counts as int8.",
    "xp.asarray([1, 2, 3]), 2",
    "[1, 4, 9] int64",
    errors="\n        ValueError: integers to a negative Python int.",
    promoted=_promoted_for_power,
)
binary(
    "float_power",
    ANY,
    _float_power,
    "``x1`` to the power ``x2`` in float64 or complex128.",
    "xp.asarray([2, 4]), -1",
    "[0.5 , 0.25]",
    returns="float64 or complex128",
    promoted=_promoted_wide,
)
binary(
    "fmod",
    REAL,
    _fmod,
    "Remainder with the sign of ``x1``, as of C's function.",
    "xp.asarray([7, -7]), 3",
    "[ 1, -1] int64",
)
binary(
    "fmax",
    REAL,
    _ignoring_nan(Ops.MAX),
    "The larger of the two; a nan gives way to a number.",
    "xp.asarray([1.0, xp.nan]), 0.5",
    "[1. , 0.5]",
)
binary(
    "fmin",
    REAL,
    _ignoring_nan(Ops.MIN),
    "The smaller of the two; a nan gives way to a number.",
    "xp.asarray([1.0, xp.nan]), 0.5",
    "[0.5, 0.5]",
)
binary(
    "heaviside",
    REAL_FLOATING,
    _heaviside,
    "0 left of 0, 1 right of it, and ``x2`` at 0.",
    "xp.asarray([-1.0, 0.0, 2.0]), 0.5",
    "[0. , 0.5, 1. ]",
)
binary(
    "logaddexp2",
    REAL_FLOATING,
    _logaddexp2,
    "``log2(2**x1 + 2**x2)`` without overflow.",
    "xp.asarray([3.0]), 3.0",
    "[4.]",
)
binary(
    "divmod",
    REAL,
    _divmod,
    "Quotient rounded down, and remainder.",
    "xp.asarray([7, -7]), 3",
    "(Array([ 2, -3], dtype=int64), Array([1, 2], dtype=int64))",
    returns="two arrays of the promoted dtype",
    kind=PairUfunc,
)

comparison(
    "equal", ANY, elementwise.equal, "``x1 == x2``, by value.", "xp.asarray([1, 2, 3]), 2", "[False,  True, False] bool"
)
comparison(
    "not_equal",
    ANY,
    elementwise.not_equal,
    "``x1 != x2``, by value.",
    "xp.asarray([1, 2, 3]), 2",
    "[ True, False,  True] bool",
)
comparison(
    "less", REAL, elementwise.less, "``x1 < x2``, by value.", "xp.asarray([1, 2, 3]), 2", "[ True, False, False] bool"
)
comparison(
    "less_equal",
    REAL,
    elementwise.less_equal,
    "``x1 <= x2``, by value.",
    "xp.asarray([1, 2, 3]), 2",
    "[ True,  True, False] bool",
)
comparison(
    "greater",
    REAL,
    elementwise.greater,
    "``x1 > x2``, by value.",
    "xp.asarray([1, 2, 3]), 2",
    "[False, False,  True] bool",
)
comparison(
    "greater_equal",
    REAL,
    elementwise.greater_equal,
    "``x1 >= x2``, by value.",
    "xp.asarray([1, 2, 3]), 2",
    "[False,  True,  True] bool",
)

logical(
    "logical_and",
    ANY,
    Ops.AND,
    "Whether both are True (or not zero).",
    "xp.asarray([True, True, False]), xp.asarray([True, False, False])",
    "[ True, False, False] bool",
)
logical(
    "logical_or",
    ANY,
    Ops.OR,
    "Whether either is True (or not zero).",
    "xp.asarray([True, True, False]), xp.asarray([True, False, False])",
    "[ True,  True, False] bool",
)
logical(
    "logical_xor",
    ANY,
    Ops.XOR,
    "Whether exactly one is True (or not zero).",
    "xp.asarray([True, True, False]), xp.asarray([True, False, False])",
    "[False,  True, False] bool",
)


# ---------------------------------------------------------------------------------------------- NumPy's own

for _name in ("gcd", "lcm", "ldexp"):
    entered(HostUfunc(_name, numpys_ufunc(_name), numpys_ufunc(_name).__doc__ or ""))
