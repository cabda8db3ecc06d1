"""Elementwise functions of the standard: lazy, differentiable, with the standard's special cases.

The functions of one argument and those of two are made from a line each: a name, what it takes, its body, its text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from uopc_array import _bodies
from uopc_array._arguments import as_bits, as_floating, as_real, as_real_floating, node_of, wrap, wrap_like
from uopc_array._elementwise_examples import EXAMPLES
from uopc_array._promotion import promote, promote_comparison, promote_floating, promote_to
from uopc_array.array import Array
from uopc_core import Ops, Scalar, UOp, dtypes, is_bool, is_integer
from uopc_core.errors import shortened

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

Unary = Callable[[Array], Array]
Binary = Callable[[Array | Scalar, Array | Scalar], Array]
F = TypeVar("F", bound=Callable[..., Array])
Prepare = Callable[..., tuple[UOp, ...]]


def _named(function: Any, name: str, text: str) -> Any:
    """`function` under its name, with its docstring."""
    call, result = EXAMPLES[name]
    function.__name__ = function.__qualname__ = name
    example = f">>> import uopc_array as xp\n        >>> xp.{name}({call})\n        {result}"
    function.__doc__ = f"{text}\n    Example:\n        {example}\n    "
    return function


def also_named(name: str, function: F) -> F:
    """`function` of this module under another name, which its messages have: its code over a name of its own."""
    code, known = function.__code__, function.__closure__ or ()
    cells = [CellType(name) if what == "name" else cell for what, cell in zip(code.co_freevars, known, strict=True)]
    other = functools.update_wrapper(FunctionType(code, function.__globals__, name, None, tuple(cells)), function)
    other.__name__ = other.__qualname__ = name
    return cast("F", other)


# ---------------------------------------------------------------------------------------------- one argument


def _any(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    return nodes


# what a function takes: how its argument is converted, and the words for it
_ANY: tuple[Prepare, str] = (_any, "any dtype")
_FLOATING: tuple[Prepare, str] = (as_floating, "real or complex floating; integers and bool are converted to float64")
_REAL: tuple[Prepare, str] = (as_real, "a real dtype or bool")
_REAL_FLOATING: tuple[Prepare, str] = (as_real_floating, "real floating; integers and bool are converted to float64")
_BITS: tuple[Prepare, str] = (as_bits, "an integer dtype or bool")

_UNARY_TEXT = """{summary}

    Args:
        x: {takes}; any shape.
    Returns:
        {returns}; shape of ``x``.
    Raises:
        DTypeError: ``x`` has another dtype."""


def _unary(
    name: str,
    takes: tuple[Prepare, str],
    body: Ops | Callable[[UOp], UOp],
    summary: str,
    returns: str = "dtype of ``x`` as converted",
) -> Unary:
    prepare, words = takes
    rule: Callable[[UOp], UOp] = body if not isinstance(body, Ops) else lambda node: UOp.new(body, (node,))

    def function(x: Array, /) -> Array:
        try:
            return wrap(rule(prepare(name, node_of(name, x))[0]))
        except Exception as error:
            raise shortened(error) from None

    return _named(function, name, _UNARY_TEXT.format(summary=summary, takes=words, returns=returns))


def _part(name: str, body: Callable[[UOp], UOp], summary: str) -> Unary:
    def function(x: Array, /) -> Array:
        return wrap_like(x, body(node_of(name, x)))

    return _named(function, name, _UNARY_TEXT.format(summary=summary, takes=_ANY[1], returns="real dtype of ``x``"))


def _not_zero(node: UOp) -> UOp:
    return node.cast(dtypes.bool)


_BOOL_RESULT = "bool"

acos = _unary("acos", _FLOATING, Ops.ACOS, "Inverse cosine in radians, principal value in [0, pi].")
acosh = _unary("acosh", _FLOATING, Ops.ACOSH, "Inverse hyperbolic cosine, principal value.")
asin = _unary("asin", _FLOATING, Ops.ASIN, "Inverse sine in radians, principal value in [-pi/2, pi/2].")
asinh = _unary("asinh", _FLOATING, Ops.ASINH, "Inverse hyperbolic sine.")
atan = _unary("atan", _FLOATING, Ops.ATAN, "Inverse tangent in radians, in [-pi/2, pi/2].")
atanh = _unary("atanh", _FLOATING, Ops.ATANH, "Inverse hyperbolic tangent.")
cos = _unary("cos", _FLOATING, Ops.COS, "Cosine of an angle in radians.")
cosh = _unary("cosh", _FLOATING, Ops.COSH, "Hyperbolic cosine.")
exp = _unary("exp", _FLOATING, Ops.EXP, "Exponential function, e to the power x.")
expm1 = _unary("expm1", _FLOATING, _bodies.expm1, "``exp(x) - 1`` without the cancellation near 0.")
log = _unary("log", _FLOATING, Ops.LOG, "Natural logarithm.")
log10 = _unary("log10", _FLOATING, Ops.LOG10, "Logarithm to base 10.")
log1p = _unary("log1p", _FLOATING, Ops.LOG1P, "``log(1 + x)`` without the loss of digits near 0.")
log2 = _unary("log2", _FLOATING, Ops.LOG2, "Logarithm to base 2.")
sin = _unary("sin", _FLOATING, Ops.SIN, "Sine of an angle in radians.")
sinh = _unary("sinh", _FLOATING, Ops.SINH, "Hyperbolic sine.")
sqrt = _unary("sqrt", _FLOATING, Ops.SQRT, "Square root, correctly rounded for real numbers.")
tan = _unary("tan", _FLOATING, _bodies.tan, "Tangent of an angle in radians.")
tanh = _unary("tanh", _FLOATING, _bodies.tanh, "Hyperbolic tangent.")

ceil = _unary("ceil", _REAL, _bodies.ceil, "Least integer that is not less; integers as they are.")
floor = _unary("floor", _REAL, _bodies.floor, "Greatest integer that is not greater; integers as they are.")
trunc = _unary("trunc", _REAL, _bodies.trunc, "Nearest integer towards 0; integers as they are.")
round = _unary(
    "round",
    _ANY,
    _bodies.rint,
    "Nearest integer, ties to even; complex part by part.",
    "dtype of ``x``, float64 for bool",
)
abs = _unary("abs", _ANY, _bodies.absolute, "Absolute value; of a complex number its modulus.", "real dtype of ``x``")
sign = _unary("sign", _ANY, _bodies.sign, "-1, 0 or 1 by the sign; of a complex number ``z / abs(z)``.")
signbit = _unary("signbit", _REAL, _bodies.signbit, "Whether the sign bit is set: -0.0 has one.", _BOOL_RESULT)
square = _unary("square", _ANY, _bodies.square, "``x * x``.", "dtype of ``x``, int8 for bool")
reciprocal = _unary(
    "reciprocal", _ANY, _bodies.reciprocal, "``1 / x``; of integers rounded towards 0.", "dtype of ``x``, int8 for bool"
)
negative = _unary("negative", _ANY, _bodies.negative, "``-x``; unsigned integers wrap.")
positive = _unary("positive", _ANY, _bodies.positive, "``+x``, the values as they are.")

conj = _unary(
    "conj",
    _ANY,
    lambda x: x.cast(dtypes.int8) if is_bool(x.dtype) else _bodies.conj(x),
    "Complex conjugate; real numbers as they are.",
    "dtype of ``x``, int8 for bool",
)
real = _part("real", _bodies.real, "Real part.")
imag = _part("imag", _bodies.imag, "Imaginary part, 0 for real numbers.")

isfinite = _unary("isfinite", _ANY, _bodies.isfinite, "Whether a number is neither infinite nor nan.", _BOOL_RESULT)
isinf = _unary("isinf", _ANY, _bodies.isinf, "Whether a number, or a part of it, is infinite.", _BOOL_RESULT)
isnan = _unary("isnan", _ANY, _bodies.isnan, "Whether a number, or a part of it, is nan.", _BOOL_RESULT)
bitwise_invert = _unary("bitwise_invert", _BITS, _bodies.bitwise_invert, "Every bit inverted; logical not of bool.")
logical_not = _unary("logical_not", _ANY, lambda x: ~_not_zero(x), "Whether a value is zero or False.", "bool")


# ---------------------------------------------------------------------------------------------- two arguments

_BINARY_TEXT = """{summary}

    Args:
        x1: {takes}.
        x2: likewise; a shape that can be broadcast with that of ``x1``. One of the two may be a Python scalar.
    Returns:
        {returns}; the common shape.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
        DTypeError: the operands have another dtype."""


def _binary(
    name: str,
    takes: tuple[Prepare, str],
    body: Ops | Callable[[UOp, UOp], UOp],
    summary: str,
    returns: str = "the promoted dtype",
) -> Binary:
    prepare, words = takes
    promoted = promote_floating if prepare in (as_floating, as_real_floating) else promote
    rule: Callable[[UOp, UOp], UOp] = body if not isinstance(body, Ops) else lambda x, y: UOp.new(body, (x, y))

    def function(x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
        try:
            return wrap(rule(*prepare(name, *promoted(name, x1, x2))))
        except Exception as error:
            raise shortened(error) from None

    return _named(function, name, _BINARY_TEXT.format(summary=summary, takes=words, returns=returns))


add = _binary("add", _ANY, _bodies.add, "``x1 + x2``; logical or of bool.")
subtract = _binary("subtract", _ANY, _bodies.subtract, "``x1 - x2``.")
multiply = _binary("multiply", _ANY, _bodies.multiply, "``x1 * x2``; logical and of bool.")
divide = _binary("divide", _FLOATING, _bodies.divide, "``x1 / x2``, the true quotient.")
floor_divide = _binary("floor_divide", _REAL, _bodies.floor_divide, "``x1 // x2``, the quotient rounded down.")
remainder = _binary("remainder", _REAL, _bodies.remainder, "``x1 % x2``, with the sign of ``x2``.")
maximum = _binary("maximum", _REAL, _bodies.maximum, "The larger of the two, nan where either is nan.")
minimum = _binary("minimum", _REAL, _bodies.minimum, "The smaller of the two, nan where either is nan.")
atan2 = _binary("atan2", _REAL_FLOATING, Ops.ATAN2, "Angle of the point (x2, x1) in radians, in [-pi, pi].")
copysign = _binary("copysign", _REAL_FLOATING, Ops.COPYSIGN, "Magnitude of ``x1`` with the sign of ``x2``.")
hypot = _binary("hypot", _REAL_FLOATING, Ops.HYPOT, "``sqrt(x1**2 + x2**2)`` without overflow.")
logaddexp = _binary("logaddexp", _REAL_FLOATING, Ops.LOGADDEXP, "``log(exp(x1) + exp(x2))`` without overflow.")
nextafter = _binary("nextafter", _REAL_FLOATING, Ops.NEXTAFTER, "The number next to ``x1`` in the direction of ``x2``.")
bitwise_and = _binary("bitwise_and", _BITS, Ops.AND, "``x1 & x2``, bit by bit.")
bitwise_or = _binary("bitwise_or", _BITS, Ops.OR, "``x1 | x2``, bit by bit.")
bitwise_xor = _binary("bitwise_xor", _BITS, Ops.XOR, "``x1 ^ x2``, bit by bit.")
bitwise_left_shift = _binary(
    "bitwise_left_shift", _BITS, _bodies.left_shift, "``x1 << x2``; 0 where the shift passes the width."
)
bitwise_right_shift = _binary("bitwise_right_shift", _BITS, _bodies.right_shift, "``x1 >> x2``, keeping the sign.")


def _logical(name: str, op: Ops, summary: str) -> Binary:
    def function(x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
        try:
            return wrap(UOp.new(op, promote_to(name, dtypes.bool, x1, x2)))
        except Exception as error:
            raise shortened(error) from None

    return _named(function, name, _BINARY_TEXT.format(summary=summary, takes=_ANY[1], returns=_BOOL_RESULT))


logical_and = _logical("logical_and", Ops.AND, "Whether both are True (or not zero).")
logical_or = _logical("logical_or", Ops.OR, "Whether either is True (or not zero).")
logical_xor = _logical("logical_xor", Ops.XOR, "Whether exactly one is True (or not zero).")


# ---------------------------------------------------------------------------------------------- comparisons


def _comparison(name: str, takes: tuple[Prepare, str], body: Callable[[UOp, UOp], UOp], summary: str) -> Binary:
    prepare, words = takes

    def function(x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
        return wrap(body(*prepare(name, *promote_comparison(name, x1, x2))))

    text = _BINARY_TEXT.format(summary=summary, takes=words, returns=_BOOL_RESULT)
    return _named(function, name, text)


equal = _comparison("equal", _ANY, _bodies.equal, "``x1 == x2``, by value.")
not_equal = _comparison("not_equal", _ANY, _bodies.not_equal, "``x1 != x2``, by value.")
less = _comparison("less", _REAL, _bodies.less, "``x1 < x2``, by value.")
less_equal = _comparison("less_equal", _REAL, _bodies.less_equal, "``x1 <= x2``, by value.")
greater = _comparison("greater", _REAL, _bodies.greater, "``x1 > x2``, by value.")
greater_equal = _comparison("greater_equal", _REAL, _bodies.greater_equal, "``x1 >= x2``, by value.")


# ------------------------------------------------------------------------------------------------- power and clipping


def _power(name: str, summary: str) -> Binary:
    def function(x1: Array | Scalar, x2: Array | Scalar, /) -> Array:
        base, exponent = promote(name, x1, x2)
        if isinstance(x2, int) and x2 < 0 and (is_integer(base.dtype) or is_bool(base.dtype)):
            raise ValueError(
                f"{name}: integers to the negative power {x2} are not integers; convert x1 to a floating dtype first"
            )
        return wrap(_bodies.power(base, exponent))

    text = _BINARY_TEXT.format(summary=summary, takes="any dtype; bool counts as int8", returns="the promoted dtype")
    return _named(function, name, f"{text}\n        ValueError: integers to a negative Python int.")


pow = _power("pow", "``x1`` to the power ``x2``.")


def _kept_within(bound: Any, op: Ops, limit: int) -> Any:
    """A bound; a traced Python int is one that the dtype of what is clipped can hold, where it is on the far side."""
    if not isinstance(bound, Array) or not bound._weak or bound.dtype.kind != "i" or not -(2**63) <= limit < 2**63:
        return bound
    return bound._from_uop(bound._uop.binary(op, UOp.const(limit, bound.dtype)), weak=True)


def clip(x: Array, /, min: Array | Scalar | None = None, max: Array | Scalar | None = None) -> Array:
    """``x`` kept between two bounds: ``minimum(maximum(x, min), max)``.

    Args:
        x: a real dtype or bool; any shape.
        min: lower bound, a Python scalar or an array that can be broadcast with the others; None for no bound. A Python
            int may lie below every number of an integer dtype.
        max: upper bound, likewise; it wins where it is less than ``min``. A Python int may lie above every number.
    Returns:
        the promoted dtype, that of ``x`` beside Python scalars of its kind; the common shape. nan where an operand is.
    Raises:
        DTypeError: an operand is complex.
        OverflowError: a Python int between which and all numbers of the dtype nothing is left, as 300 for ``min`` of
            uint8.
        ShapeError: the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.clip(xp.asarray([-1.0, 0.5, 3.0]), 0.0, 1.0)
        Array([0. , 0.5, 1. ], dtype=float64)
    """
    node = node_of("clip", x)
    if is_integer(node.dtype):
        info = np.iinfo(node.dtype)
        min = None if type(min) is int and min <= info.min else _kept_within(min, Ops.MAX, int(info.min))
        max = None if type(max) is int and max >= info.max else _kept_within(max, Ops.MIN, int(info.max))
    bounds = [bound for bound in (min, max) if bound is not None]
    out, *limits = as_real("clip", *promote("clip", x, *bounds))
    if min is not None:
        out = _bodies.maximum(out, limits.pop(0))
    return wrap(_bodies.minimum(out, limits[0]) if max is not None else out)
