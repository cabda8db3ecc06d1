"""Derivatives of elementwise ops, one factor per operand.

Rules build UOps, so what they give can be differentiated again. Forward mode sums ``factor * tangent``, reverse mode
sends ``factor * cotangent`` to each operand.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, sqrt

from uopc_core.dtype import is_complex
from uopc_core.ir.composite import const_of, ones_like, zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.transform.slopes import (
    directions,
    inverses,
    one_minus_square,
    one_over_one_minus_square,
    one_over_one_plus_square,
    sech_squared,
    times_i,
    weights,
)

__all__ = ["PARTIALS", "Factor", "PartialRule", "factors_of"]

Factor = UOp | None | float  # None: the op does not vary with this operand; 1.0: the factor is one
PartialRule = Callable[[UOp, UOp], tuple[Factor, ...]] | Callable[[UOp, UOp, UOp], tuple[Factor, ...]]

ONE = 1.0
_TINY = 2.0**-64


def _exp(x: UOp) -> UOp:
    return x.unary(Ops.EXP)


def _partials_pow(out: UOp, x: UOp, y: UOp) -> tuple[Factor, ...]:
    """``y * x**(y-1)``, where y = 0 makes 0 even of x = 0 and of nan; by the exponent, ``log(x) * x**y``, which is 0 at
    x = 0.
    """
    base = x if const_of(y) else (y.eq(0) & ~(x.ne(0) & x.eq(x))).where(1, x)
    by_base = y * base ** (y - 1)
    zero = x.eq(0)
    if not is_complex(x.dtype) and _may_be_small(y):
        # the powers of numbers near 0 with exponents below 0 leave the range, which the product with y need not do
        lost = ~zero & (x.unary(Ops.ABS) < _TINY) & (y.unary(Ops.ABS) < 0.5)
        by_base = lost.where(y * out / lost.where(x, 1), by_base)
    return by_base, zero.where(zeros_like(x), zero.where(1, x).unary(Ops.LOG) * out)


def _may_be_small(exponent: UOp) -> bool:
    value = const_of(exponent)
    return value is None or 0 < abs(value) < 0.5


def _partials_atan2(out: UOp, y: UOp, x: UOp) -> tuple[Factor, ...]:
    across, along = inverses(x, y)
    return across, -along


def _partials_copysign(out: UOp, x: UOp, y: UOp) -> tuple[Factor, ...]:
    return ones_like(x).binary(Ops.COPYSIGN, x) * ones_like(x).binary(Ops.COPYSIGN, y), None


def _partials_tan(out: UOp, x: UOp) -> tuple[Factor, ...]:
    return (sech_squared(times_i(x), times_i(out)) if is_complex(x.dtype) else out * out + 1,)


def _partials_atan(out: UOp, x: UOp) -> tuple[Factor, ...]:
    return (one_over_one_minus_square(times_i(x)) if is_complex(x.dtype) else one_over_one_plus_square(x),)


def _partials_asinh(out: UOp, x: UOp) -> tuple[Factor, ...]:
    if is_complex(x.dtype):
        return (one_minus_square(times_i(x)).unary(Ops.SQRT).recip(),)
    return (x.binary(Ops.HYPOT, 1).recip(),)  # a large square would overflow


def _partials_acosh(out: UOp, x: UOp) -> tuple[Factor, ...]:
    slope = ((x - 1).unary(Ops.SQRT) * (x + 1).unary(Ops.SQRT)).recip()
    return (_acosh_slope_in_the_plane(x, slope) if is_complex(x.dtype) else slope,)


def _acosh_slope_in_the_plane(x: UOp, away: UOp) -> UOp:
    """`away`, but near 0, where the derivatives of its two roots cancel, ``-1j / sqrt(1 - x**2)`` above the cut and
    ``1j / sqrt(1 - x**2)`` below it.
    """
    re, im = x.unary(Ops.REAL), x.unary(Ops.IMAG)
    near = (re.unary(Ops.ABS) < 0.5) & (im.unary(Ops.ABS) < 0.5)
    turned = times_i(one_minus_square(near.where(x, 0)).unary(Ops.SQRT).recip())
    below = ones_like(im).binary(Ops.COPYSIGN, im) < 0
    return near.where(below.where(turned, -turned), away)


# d(out)/d(operand), one factor per operand; `out` is the result node.
# ADD, SUB, NEG and WHERE are linear: see transposes.py.
PARTIALS: dict[Ops, PartialRule] = {
    Ops.MUL: lambda out, x, y: (y, x),
    Ops.DIV: lambda out, x, y: (y.recip(), -out / y),
    Ops.RECIP: lambda out, x: (-(out * out),),
    Ops.FLOORMOD: lambda out, x, y: (ONE, -x.binary(Ops.FLOORDIV, y)),
    Ops.SQRT: lambda out, x: ((out * 2).recip(),),
    Ops.EXP: lambda out, x: (out,),
    Ops.EXP2: lambda out, x: (out * log(2),),
    Ops.EXPM1: lambda out, x: (_exp(x),),  # out + 1 would lose the small values
    Ops.LOG: lambda out, x: (x.recip(),),
    Ops.LOG2: lambda out, x: ((1 / log(2)) / x,),
    Ops.LOG10: lambda out, x: ((1 / log(10)) / x,),
    Ops.LOG1P: lambda out, x: ((x + 1).recip(),),
    Ops.SIN: lambda out, x: (x.unary(Ops.COS),),
    Ops.COS: lambda out, x: (-x.unary(Ops.SIN),),
    Ops.TAN: _partials_tan,
    Ops.ASIN: lambda out, x: (one_minus_square(x).unary(Ops.SQRT).recip(),),
    Ops.ACOS: lambda out, x: (-one_minus_square(x).unary(Ops.SQRT).recip(),),
    Ops.ATAN: _partials_atan,
    Ops.SINH: lambda out, x: (x.unary(Ops.COSH),),
    Ops.COSH: lambda out, x: (x.unary(Ops.SINH),),
    Ops.TANH: lambda out, x: (sech_squared(x, out),),
    Ops.ASINH: _partials_asinh,
    Ops.ACOSH: _partials_acosh,
    Ops.ATANH: lambda out, x: (one_over_one_minus_square(x),),
    Ops.ERF: lambda out, x: (_exp(-(x * x)) * (2 / sqrt(pi)),),
    Ops.ERFC: lambda out, x: (_exp(-(x * x)) * (-2 / sqrt(pi)),),
    Ops.POW: _partials_pow,
    Ops.ATAN2: _partials_atan2,
    Ops.HYPOT: lambda out, x, y: directions(x, y),
    Ops.COPYSIGN: _partials_copysign,
    Ops.NEXTAFTER: lambda out, x, y: (ONE, None),
    Ops.LOGADDEXP: lambda out, x, y: weights(x, y, Ops.EXP),
}


def factors_of(node: UOp) -> tuple[Factor, ...]:
    rule: Callable[..., tuple[Factor, ...]] = PARTIALS[node.op]
    return rule(node, *node.src)
