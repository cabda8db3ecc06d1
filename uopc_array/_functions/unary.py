"""The ufuncs of one operand. Where NumPy and the standard disagree, the standard is followed."""

from __future__ import annotations

import math
from collections.abc import Callable

from uopc_array._functions.elementwise import ANY, BITS, FLOATING, REAL, REAL_FLOATING, numpys_ufunc, unary
from uopc_array._functions.ufunc import HostUfunc, entered
from uopc_core import Ops, UOp, composite, dtypes, is_bool
from uopc_core.numerics import elementwise

__all__: list[str] = []


def _cbrt(x: UOp) -> UOp:
    size = elementwise.size_with_sign(x)
    guess = size ** (1 / 3)
    # one Newton step takes away the error of the exponent, which is no third; not where the root is 0 or not finite
    step = (size / guess / guess - guess) / 3  # no power of the guess: it may overflow
    usable = elementwise.isfinite(size) & size.ne(0)
    root = guess + usable.where(step, 0).detach()  # whose slope is nothing to that of the guess
    return root.binary(Ops.COPYSIGN, x)


def _conj(x: UOp) -> UOp:
    return x.cast(dtypes.int8) if is_bool(x.dtype) else composite.conj(x)


def _logical_not(x: UOp) -> UOp:
    return ~x.cast(dtypes.bool)


def _times(factor: float) -> Callable[[UOp], UOp]:
    return lambda x: x * factor


unary(
    "acos arccos",
    FLOATING,
    Ops.ACOS,
    "Inverse cosine in radians, principal value in [0, pi].",
    "xp.asarray([0.0, 0.5])",
    "[1.57079633, 1.04719755]",
)
unary(
    "acosh arccosh",
    FLOATING,
    Ops.ACOSH,
    "Inverse hyperbolic cosine, principal value.",
    "xp.asarray([1.0, 2.0])",
    "[0.       , 1.3169579]",
)
unary(
    "asin arcsin",
    FLOATING,
    Ops.ASIN,
    "Inverse sine in radians, principal value in [-pi/2, pi/2].",
    "xp.asarray([0.0, 0.5])",
    "[0.        , 0.52359878]",
)
unary(
    "asinh arcsinh",
    FLOATING,
    Ops.ASINH,
    "Inverse hyperbolic sine.",
    "xp.asarray([1.0, 2.0])",
    "[0.88137359, 1.44363548]",
)
unary(
    "atan arctan",
    FLOATING,
    Ops.ATAN,
    "Inverse tangent in radians, in [-pi/2, pi/2].",
    "xp.asarray([1.0, 2.0])",
    "[0.78539816, 1.10714872]",
)
unary(
    "atanh arctanh",
    FLOATING,
    Ops.ATANH,
    "Inverse hyperbolic tangent.",
    "xp.asarray([0.0, 0.5])",
    "[0.        , 0.54930614]",
)
unary("cos", FLOATING, Ops.COS, "Cosine of an angle in radians.", "xp.asarray([0.0, 0.5])", "[1.        , 0.87758256]")
unary("cosh", FLOATING, Ops.COSH, "Hyperbolic cosine.", "xp.asarray([0.0, 0.5])", "[1.        , 1.12762597]")
unary(
    "exp",
    FLOATING,
    Ops.EXP,
    "Exponential function, e to the power x.",
    "xp.asarray([0.0, 0.5])",
    "[1.        , 1.64872127]",
)
unary(
    "expm1",
    FLOATING,
    elementwise.expm1,
    "``exp(x) - 1`` without the cancellation near 0.",
    "xp.asarray([0.0, 0.5])",
    "[0.        , 0.64872127]",
)
unary("log", FLOATING, Ops.LOG, "Natural logarithm.", "xp.asarray([1.0, 2.0])", "[0.        , 0.69314718]")
unary("log10", FLOATING, Ops.LOG10, "Logarithm to base 10.", "xp.asarray([1.0, 2.0])", "[0.     , 0.30103]")
unary(
    "log1p",
    FLOATING,
    Ops.LOG1P,
    "``log(1 + x)`` without the loss of digits near 0.",
    "xp.asarray([0.0, 0.5])",
    "[0.        , 0.40546511]",
)
unary("log2", FLOATING, Ops.LOG2, "Logarithm to base 2.", "xp.asarray([1.0, 2.0])", "[0., 1.]")
unary("sin", FLOATING, Ops.SIN, "Sine of an angle in radians.", "xp.asarray([0.0, 0.5])", "[0.        , 0.47942554]")
unary("sinh", FLOATING, Ops.SINH, "Hyperbolic sine.", "xp.asarray([0.0, 0.5])", "[0.        , 0.52109531]")
unary(
    "sqrt",
    FLOATING,
    Ops.SQRT,
    "Square root, correctly rounded for real numbers.",
    "xp.asarray([1.0, 2.0])",
    "[1.        , 1.41421356]",
)
unary(
    "tan",
    FLOATING,
    elementwise.tan,
    "Tangent of an angle in radians.",
    "xp.asarray([0.0, 0.5])",
    "[0.        , 0.54630249]",
)
unary("tanh", FLOATING, elementwise.tanh, "Hyperbolic tangent.", "xp.asarray([0.0, 0.5])", "[0.        , 0.46211716]")
unary(
    "ceil",
    REAL,
    elementwise.ceil,
    "Least integer that is not less; integers as they are.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[-1.,  0.,  3.]",
)
unary(
    "floor",
    REAL,
    elementwise.floor,
    "Greatest integer that is not greater; integers as they are.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[-2.,  0.,  2.]",
)
unary(
    "trunc",
    REAL,
    elementwise.trunc,
    "Nearest integer towards 0; integers as they are.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[-1.,  0.,  2.]",
)
unary(
    "abs absolute",
    ANY,
    elementwise.absolute,
    "Absolute value; of a complex number its modulus.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[1.5, 0. , 2.5]",
    returns="real dtype of ``x``",
)
unary(
    "sign",
    ANY,
    elementwise.sign,
    "-1, 0 or 1 by the sign; of a complex number ``z / abs(z)``.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[-1.,  0.,  1.]",
)
unary(
    "signbit",
    REAL,
    elementwise.signbit,
    "Whether the sign bit is set: -0.0 has one.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[ True, False, False] bool",
    returns="bool",
)
unary(
    "square",
    ANY,
    elementwise.square,
    "``x * x``.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[2.25, 0.  , 6.25]",
    returns="dtype of ``x``, int8 for bool",
)
unary(
    "reciprocal",
    ANY,
    elementwise.reciprocal,
    "``1 / x``; of integers rounded towards 0.",
    "xp.asarray([1.0, 2.0])",
    "[1. , 0.5]",
    returns="dtype of ``x``, int8 for bool",
)
unary(
    "negative",
    ANY,
    elementwise.negative,
    "``-x``; unsigned integers wrap.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[ 1.5, -0. , -2.5]",
)
unary(
    "positive",
    ANY,
    elementwise.positive,
    "``+x``, the values as they are.",
    "xp.asarray([-1.5, 0.0, 2.5])",
    "[-1.5,  0. ,  2.5]",
)
unary(
    "conj conjugate",
    ANY,
    _conj,
    "Complex conjugate; real numbers as they are.",
    "xp.asarray([3.0 + 4.0j, -2.0j])",
    "[ 3.-4.j, -0.+2.j] complex128",
    returns="dtype of ``x``, int8 for bool",
)
unary(
    "isfinite",
    ANY,
    elementwise.isfinite,
    "Whether a number is neither infinite nor nan.",
    "xp.asarray([1.0, xp.inf, xp.nan])",
    "[ True, False, False] bool",
    returns="bool",
)
unary(
    "isinf",
    ANY,
    elementwise.isinf,
    "Whether a number, or a part of it, is infinite.",
    "xp.asarray([1.0, xp.inf, xp.nan])",
    "[False,  True, False] bool",
    returns="bool",
)
unary(
    "isnan",
    ANY,
    elementwise.isnan,
    "Whether a number, or a part of it, is nan.",
    "xp.asarray([1.0, xp.inf, xp.nan])",
    "[False, False,  True] bool",
    returns="bool",
)
unary(
    "bitwise_invert invert bitwise_not",
    BITS,
    elementwise.bitwise_invert,
    "Every bit inverted; logical not of bool.",
    "xp.asarray([0, 5])",
    "[-1, -6] int64",
)
unary(
    "logical_not",
    ANY,
    _logical_not,
    "Whether a value is zero or False.",
    "xp.asarray([True, False])",
    "[False,  True] bool",
    returns="bool",
)
unary("cbrt", REAL_FLOATING, _cbrt, "Cube root.", "xp.asarray([27.0, -8.0])", "[ 3., -2.]")
unary("exp2", FLOATING, Ops.EXP2, "2 to the power x.", "xp.asarray([3.0, -1.0])", "[8. , 0.5]")
unary("fabs", REAL_FLOATING, Ops.ABS, "Absolute value as a floating number.", "xp.asarray([-2, 3])", "[2., 3.]")
unary(
    "rint",
    FLOATING,
    elementwise.rint,
    "Nearest integer, ties to even, as a floating number; complex part by part.",
    "xp.asarray([1, 2])",
    "[1., 2.]",
)
unary(
    "deg2rad radians",
    REAL_FLOATING,
    _times(math.pi / 180),
    "Degrees as radians.",
    "xp.asarray([180.0])",
    "[3.14159265]",
)
unary("rad2deg degrees", REAL_FLOATING, _times(180 / math.pi), "Radians as degrees.", "xp.asarray([xp.pi])", "[180.]")


# ---------------------------------------------------------------------------------------------- NumPy's own

for _name in ("bitwise_count", "frexp", "isnat", "modf", "spacing"):
    entered(HostUfunc(_name, numpys_ufunc(_name), numpys_ufunc(_name).__doc__ or ""))
