"""Random numbers as functions of a key: the Squares generator (op RANDOM), and the distributions made of its bits."""

from __future__ import annotations

from math import pi

from uopc_core.dtype import dtypes
from uopc_core.ir import Ops, UOp

__all__ = ["normal", "squares_key", "uniform"]

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def squares_key(seed: int, number: int) -> int:
    """Key of draw `number` after ``manual_seed(seed)``: SplitMix64 (Steele, Lea & Flood 2014), made odd for Squares."""
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) | 1


def _bits(key: int, shape: tuple[int, ...]) -> UOp:
    return UOp.new(Ops.RANDOM, (UOp.const(key, dtypes.uint64),), shape)


def _units(bits: UOp, shift: int) -> UOp:
    """24 bits of each word from bit `shift` on, as whole float32 numbers (through int32, which converts in vectors)."""
    return ((bits >> shift) & (2**24 - 1)).cast(dtypes.int32).cast(dtypes.float32)


def uniform(key: int, shape: tuple[int, ...]) -> UOp:
    """float32 uniform in [0, 1), on the grid of 2^-24."""
    return _units(_bits(key, shape), 40) * 2.0**-24


def normal(key: int, shape: tuple[int, ...]) -> UOp:
    """float32 standard normal by Box & Muller (1958); one word of random bits gives an element's radius and angle."""
    bits = _bits(key, shape)
    radius = (((_units(bits, 40) + 1) * 2.0**-24).unary(Ops.LOG) * -2.0).unary(Ops.SQRT)
    return radius * (_units(bits, 8) * (2 * pi * 2.0**-24)).unary(Ops.COS)
