"""Derivatives of elementwise ops, one factor per operand.

Rules build UOps, so what they give can be differentiated again. Forward mode sums ``factor * tangent``, reverse mode
sends ``factor * cotangent`` to each operand; both take a strong product where the op is in SINGULAR, so that a zero
tangent or cotangent stays zero whatever the factor is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, sqrt

from uopc_core.dtype import is_complex
from uopc_core.ir.composite import ones_like, zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["ONE", "PARTIALS", "SINGULAR", "Factor", "PartialRule", "factors_of"]

Factor = UOp | None | float  # None: the op does not vary with this operand; 1.0: the factor is one
PartialRule = Callable[[UOp, UOp], tuple[Factor, ...]] | Callable[[UOp, UOp, UOp], tuple[Factor, ...]]

ONE = 1.0


def _exp(x: UOp) -> UOp:
    return x.unary(Ops.EXP)


def _partials_pow(out: UOp, x: UOp, y: UOp) -> tuple[Factor, ...]:
    """``y * x**(y-1)``, where y = 0 makes 0 even of x = 0; by the exponent, ``log(x) * x**y``, which is 0 at x = 0."""
    by_base = y.binary(Ops.STRONG_MUL, x ** (y - 1))
    zero = x.eq(0)
    return by_base, zero.where(zeros_like(x), zero.where(1, x).unary(Ops.LOG) * out)


def _partials_hypot(out: UOp, x: UOp, y: UOp) -> tuple[Factor, ...]:
    length = out.eq(0).where(1, out)  # the slope at the origin is 0
    return x / length, y / length


def _partials_atan2(out: UOp, y: UOp, x: UOp) -> tuple[Factor, ...]:
    """``x / (x**2 + y**2)``, with the squares never formed: they leave the range early."""
    length = x.binary(Ops.HYPOT, y)
    return x / length / length, -y / length / length


def _partials_logaddexp(out: UOp, x: UOp, y: UOp) -> tuple[Factor, ...]:
    """``exp(x - out)``; where the two are equal, be it at infinity, the weight is one."""
    return _weight(x, out), _weight(y, out)


def _weight(x: UOp, out: UOp) -> UOp:
    return _exp(x.eq(out).where(0, x - out))


def _partials_copysign(out: UOp, x: UOp, y: UOp) -> tuple[Factor, ...]:
    return ones_like(x).binary(Ops.COPYSIGN, x) * ones_like(x).binary(Ops.COPYSIGN, y), None


def _root_of_one_minus_square(x: UOp) -> UOp:
    return ((1 - x) * (1 + x)).unary(Ops.SQRT)  # 1 - x * x would cancel near 1


def _partials_asinh(out: UOp, x: UOp) -> tuple[Factor, ...]:
    if is_complex(x.dtype):
        return ((x * x + 1).unary(Ops.SQRT).recip(),)
    return (x.binary(Ops.HYPOT, 1).recip(),)  # a large square would overflow


def _partials_acosh(out: UOp, x: UOp) -> tuple[Factor, ...]:
    return (((x - 1).unary(Ops.SQRT) * (x + 1).unary(Ops.SQRT)).recip(),)


# d(out)/d(operand), one factor per operand; `out` is the result node.
# ADD, SUB, NEG and WHERE are linear: see transposes.py.
PARTIALS: dict[Ops, PartialRule] = {
    Ops.MUL: lambda out, x, y: (y, x),
    Ops.STRONG_MUL: lambda out, x, y: (y, x),
    Ops.DIV: lambda out, x, y: (y.recip(), -out / y),
    Ops.RECIP: lambda out, x: (-(out * out),),
    Ops.FLOORMOD: lambda out, x, y: (ONE, -x.binary(Ops.FLOORDIV, y)),
    Ops.SQRT: lambda out, x: ((out * 2).recip(),),
    Ops.EXP: lambda out, x: (out,),
    Ops.EXP2: lambda out, x: (out * log(2),),
    Ops.EXPM1: lambda out, x: (_exp(x),),  # out + 1 would lose the small values
    Ops.LOG: lambda out, x: (x.recip(),),
    Ops.LOG2: lambda out, x: ((x * log(2)).recip(),),
    Ops.LOG10: lambda out, x: ((x * log(10)).recip(),),
    Ops.LOG1P: lambda out, x: ((x + 1).recip(),),
    Ops.SIN: lambda out, x: (x.unary(Ops.COS),),
    Ops.COS: lambda out, x: (-x.unary(Ops.SIN),),
    Ops.TAN: lambda out, x: (out * out + 1,),
    Ops.ASIN: lambda out, x: (_root_of_one_minus_square(x).recip(),),
    Ops.ACOS: lambda out, x: (-_root_of_one_minus_square(x).recip(),),
    Ops.ATAN: lambda out, x: ((x * x + 1).recip(),),
    Ops.SINH: lambda out, x: (x.unary(Ops.COSH),),
    Ops.COSH: lambda out, x: (x.unary(Ops.SINH),),
    Ops.TANH: lambda out, x: (1 - out * out,),
    Ops.ASINH: _partials_asinh,
    Ops.ACOSH: _partials_acosh,
    Ops.ATANH: lambda out, x: (((1 - x) * (1 + x)).recip(),),
    Ops.ERF: lambda out, x: (_exp(-(x * x)) * (2 / sqrt(pi)),),
    Ops.ERFC: lambda out, x: (_exp(-(x * x)) * (-2 / sqrt(pi)),),
    Ops.POW: _partials_pow,
    Ops.ATAN2: _partials_atan2,
    Ops.HYPOT: _partials_hypot,
    Ops.COPYSIGN: _partials_copysign,
    Ops.NEXTAFTER: lambda out, x, y: (ONE, None),
    Ops.LOGADDEXP: _partials_logaddexp,
}


def factors_of(node: UOp) -> tuple[Factor, ...]:
    rule: Callable[..., tuple[Factor, ...]] = PARTIALS[node.op]
    return rule(node, *node.src)


# ops whose factors may be infinite or nan at finite operands
SINGULAR = frozenset(
    {
        *(Ops.STRONG_MUL, Ops.DIV, Ops.RECIP, Ops.FLOORMOD, Ops.SQRT, Ops.POW, Ops.ATAN2, Ops.HYPOT, Ops.LOGADDEXP),
        *(Ops.LOG, Ops.LOG2, Ops.LOG10, Ops.LOG1P, Ops.EXP, Ops.EXP2, Ops.EXPM1),
        *(Ops.TAN, Ops.ASIN, Ops.ACOS, Ops.ATAN, Ops.SINH, Ops.COSH, Ops.ASINH, Ops.ACOSH, Ops.ATANH),
    }
)
