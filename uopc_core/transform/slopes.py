"""Slopes that keep their digits, and those of whose own derivatives none cancels.

A formula may be exact and lose its digits where two terms of its value, or of the value of its derivative, are nearly
equal. Each function here is stated in the form, or in the forms for parts of the domain, that stays accurate for two
derivatives. A selection between forms is no kink: both are the same function.
"""

from __future__ import annotations

from uopc_core.dtype import is_complex
from uopc_core.ir.composite import zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = [
    "directions",
    "inverses",
    "one_minus_square",
    "one_over_one_minus_square",
    "one_over_one_plus_square",
    "sech_squared",
    "times_i",
    "weights",
]

_HUGE = 2.0**30  # beside its square, 1 is nothing


def times_i(z: UOp) -> UOp:
    """``1j * z``, of infinite parts too."""
    return (-z.unary(Ops.IMAG)).binary(Ops.COMPLEX, z.unary(Ops.REAL))


def one_minus_square(x: UOp) -> UOp:
    """``1 - x**2`` with the value of ``(1 - x) * (1 + x)``, which does not cancel near 1, and with the derivative
    ``-2 * x``, which does not cancel near 0: what the two values differ by is added as a number.
    """
    smooth = 1 - x * x
    return smooth + ((1 - x) * (1 + x) - smooth).detach()


def one_over_one_minus_square(x: UOp) -> UOp:
    """``1 / (1 - x**2)``, of which, for complex `x`, no power leaves the range before the result does."""
    if not is_complex(x.dtype):
        return one_minus_square(x).recip()
    re, im = x.unary(Ops.REAL), x.unary(Ops.IMAG)
    huge = (re.unary(Ops.ABS) > _HUGE) | (im.unary(Ops.ABS) > _HUGE)
    inverse = huge.where(x, 1).recip()
    return huge.where(-(inverse * inverse), one_minus_square(huge.where(zeros_like(x), x)).recip())


def one_over_one_plus_square(x: UOp) -> UOp:
    """``1 / (1 + x**2)`` of real `x`, of which no square leaves the range before the result does."""
    huge = x.unary(Ops.ABS) > _HUGE
    inverse = huge.where(x, 1).recip()
    near = huge.where(zeros_like(x), x)
    return huge.where(inverse * inverse, (near * near + 1).recip())


def sech_squared(x: UOp, tanh: UOp) -> UOp:
    """The slope of tanh: ``1 - tanh**2`` up to 1, where its derivative keeps its digits; from there on
    ``exp(-2|x|) * (1 + |tanh|)**2``, which keeps them in the tails. Of complex `x` the real part decides.
    """
    if is_complex(x.dtype):
        left = x.unary(Ops.REAL) < 0
        near = x.unary(Ops.REAL).unary(Ops.ABS) < 1
        away, limit = left.where(x, -x), left.where(-tanh, tanh)
    else:
        size = x.unary(Ops.ABS)
        near = size < 1
        away, limit = -size, tanh.unary(Ops.ABS)
    rest = limit + 1
    return near.where(1 - tanh * tanh, (away * 2).unary(Ops.EXP) * (rest * rest))


def weights(x: UOp, y: UOp, power: Ops) -> tuple[UOp, UOp]:
    """``p**x / (p**x + p**y)`` and ``p**y / (p**x + p**y)``, by the difference alone; `power` is that of base p. Half
    each where both are the same infinity.
    """
    distance = x - y
    apart = (distance.ne(distance) & x.eq(y)).where(zeros_like(x), distance)
    first = apart >= 0
    ratio = first.where(-apart, apart).unary(power)  # of the smaller power to the larger
    larger = (ratio + 1).recip()
    smaller = ratio * larger
    return first.where(larger, smaller), first.where(smaller, larger)


def _by_size(x: UOp, y: UOp) -> tuple[UOp, UOp, UOp]:
    """Whether `y` is the larger one, the larger and the smaller one."""
    steep = x.unary(Ops.ABS) < y.unary(Ops.ABS)
    return steep, steep.where(y, x), steep.where(x, y)


def directions(x: UOp, y: UOp) -> tuple[UOp, UOp]:
    """``x / hypot(x, y)`` and ``y / hypot(x, y)`` by the ratio of the smaller to the larger one; 0 at the origin."""
    steep, larger, smaller = _by_size(x, y)
    ratio = smaller / larger.eq(0).where(1, larger).unary(Ops.ABS)
    length = (ratio * ratio + 1).unary(Ops.SQRT)
    of_larger, of_smaller = larger.unary(Ops.SIGN) / length, ratio / length
    return steep.where(of_smaller, of_larger), steep.where(of_larger, of_smaller)


def inverses(x: UOp, y: UOp) -> tuple[UOp, UOp]:
    """``x / (x**2 + y**2)`` and ``y / (x**2 + y**2)``, likewise; the squares would leave the range early."""
    steep, larger, smaller = _by_size(x, y)
    ratio = smaller / larger
    rest = ratio * ratio + 1
    of_larger, of_smaller = larger.recip() / rest, ratio / larger / rest
    return steep.where(of_smaller, of_larger), steep.where(of_larger, of_smaller)
