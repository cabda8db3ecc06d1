"""Powers of lengths, from the square on, which are smooth where the length itself has a kink.

``abs(x)**2``, ``hypot(x, y)**2``, ``vector_norm(x)**2`` and ``sqrt(x)**2`` are differentiated as what they are, a power
of the sum of squares: by the chain rule they are ``0 * inf`` at 0, and their second derivative would lack all that
comes from the slope of the length.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import nan

from uopc_core.dtype import is_complex
from uopc_core.ir.composite import const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.records import record

__all__ = ["POWERS", "Power", "power_of_length"]

POWERS = frozenset({Ops.MUL, Ops.POW})  # what may be the power of a length
Tangents = tuple[UOp | None, ...]


@record
class Power:
    """A node as a function of what is below its length.

    Attributes:
        sources: what it is a smooth function of.
        rule: its tangent, linear in those of `sources`.
    """

    sources: tuple[UOp, ...]
    rule: Callable[[Tangents], UOp]


def power_of_length(node: UOp, targets: Collection[UOp]) -> Power | None:
    """The rule for a node that is a length to a power of 2 or more; None for others, and where the length itself is one
    of the `targets` that derivatives are taken by.
    """
    if node.op is Ops.MUL:
        if node.src[0] is not node.src[1]:
            return None
        exponent = 2.0
    elif node.op is Ops.POW and isinstance(number := const_of(node.src[1]), float | int) and number >= 2:
        exponent = float(number)
    else:
        return None
    length = node.src[0]
    found = None if length in targets else _half_square(length)
    if found is None:
        return None
    sources, half_square = found
    return Power(sources, lambda tangents: half_square(tangents) * _slope(length, exponent))


def _slope(length: UOp, exponent: float) -> UOp:
    """By half the square: ``d(l**k) = k * l**(k-2) * d(l**2 / 2)``. A length that is nan has no slope."""
    if exponent == 2:
        return length.eq(length).where(UOp.const(2, length.dtype, length.shape), nan)
    return length ** (exponent - 2) * exponent


def _half_square(length: UOp) -> tuple[tuple[UOp, ...], Callable[[Tangents], UOp]] | None:
    """What a length is made of, and the tangent of half its square."""
    square = _under_root(length)
    if square is not None:
        return (square,), lambda tangents: _sum(tangents, (0.5,))
    if length.op is Ops.HYPOT:
        return length.src, lambda tangents: _sum(tangents, length.src)
    if length.op is not Ops.ABS:
        return None
    (x,) = length.src
    if is_complex(x.dtype):
        return (x,), lambda tangents: _sum(tangents, (x.unary(Ops.CONJ),)).unary(Ops.REAL)
    return (x,), lambda tangents: _sum(tangents, (x,))


def _sum(tangents: Tangents, factors: tuple[UOp | float, ...]) -> UOp:
    terms = [t * factor for t, factor in zip(tangents, factors, strict=True) if t is not None]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def _under_root(x: UOp) -> UOp | None:
    """What `x` is the square root of, be it kept away from 0: ``where(s == 0, 0, sqrt(where(s == 0, 1, s)))``."""
    if x.op is Ops.SQRT:
        return x.src[0]
    if x.op is not Ops.WHERE or const_of(x.src[1]) != 0 or x.src[2].op is not Ops.SQRT:
        return None
    condition, (guarded,) = x.src[0], x.src[2].src
    if condition.op is not Ops.CMPEQ or const_of(condition.src[1]) != 0 or guarded.op is not Ops.WHERE:
        return None
    square = condition.src[0]
    return square if guarded.src[0] is condition and guarded.src[2] is square else None
