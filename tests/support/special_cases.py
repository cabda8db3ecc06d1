"""The special cases of `special_case_tables` with numbers in place of the names, and what follows from them.

A line on complex numbers holds of their conjugates as well, and of the negatives if the function is odd or even; the
trigonometric functions have their cases from the hyperbolic ones, logarithms to other bases from the natural one.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.support.special_case_tables import COMPLEX, PAIRS, REAL

__all__ = [
    "NUMBERS",
    "Case",
    "complex_cases",
    "complex_pair_cases",
    "pair_cases",
    "real_cases",
]

INF, NAN = math.inf, math.nan

# what the sets are taken from; all of these have square roots, reciprocals or neighbours that differ in kind
NUMBERS = (NAN, INF, -INF, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0)
PARTS = (NAN, INF, -INF, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 2.0**100, -(2.0**100))
COMPLEX_OPERANDS = tuple(complex(a, b) for a in (NAN, 0.0, -0.0, 3.0) for b in (NAN, -INF, -0.0, 2.0))


def _finite(x: float) -> bool:
    return math.isfinite(x)


def _even(x: float) -> float:
    """The nearest integer, of two the even one, under the sign of `x`."""
    return math.copysign(round(x), x) if math.isfinite(x) else x


SETS: dict[str, Callable[[float], bool]] = {
    "any": lambda x: True,
    "number": lambda x: x == x,
    "finite": _finite,
    "positive": lambda x: _finite(x) and x > 0,
    "negative": lambda x: _finite(x) and x < 0,
    "nonzero": lambda x: _finite(x) and x != 0,
    "zero": lambda x: x == 0,
    "infinite": math.isinf,
    "not_zero": lambda x: x != 0,  # nan is not zero
    "not_infinite": lambda x: not math.isinf(x),
    "integer": lambda x: _finite(x) and x == math.floor(x),
    "fraction": lambda x: _finite(x) and x != math.floor(x),
    ">0": lambda x: x > 0,
    "<0": lambda x: x < 0,
    "<1": lambda x: x < 1,
    "<-1": lambda x: x < -1,
    "not_1": lambda x: x != 1,
    "|x|>1": lambda x: abs(x) > 1,
    "|x|=1": lambda x: abs(x) == 1,
    "|x|<1": lambda x: abs(x) < 1,
    ">0,odd": lambda x: _finite(x) and x > 0 and x % 2 == 1,
    "<0,odd": lambda x: _finite(x) and x < 0 and x % 2 == 1,
    ">0,not_odd": lambda x: x > 0 and not (_finite(x) and x % 2 == 1),
    "<0,not_odd": lambda x: x < 0 and not (_finite(x) and x % 2 == 1),
}
ANGLES = {"pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4}

# of the operands of a function of two real numbers; of the parts of a function of one complex number
RESULTS: dict[str, Callable[[float, float], float]] = {
    "x1": lambda x, y: x,
    "-x1": lambda x, y: -x,
    "|x1|": lambda x, y: abs(x),
    "-|x1|": lambda x, y: -abs(x),
    "x2": lambda x, y: y,
    "-x2": lambda x, y: -y,
    "|x2|": lambda x, y: abs(y),
    "x1+x2": lambda x, y: x + y,
    "x1*x2": lambda x, y: x * y,
    "x1/x2": lambda x, y: x / y,
    "x1%x2": lambda x, y: x % y,
    "floor": lambda x, y: math.floor(x / y),
    "round1": lambda x, y: _even(x),
    "round2": lambda x, y: _even(y),
    "0*cos": lambda x, y: math.copysign(0.0, math.cos(y)),
    "0*sin": lambda x, y: math.copysign(0.0, math.sin(y)),
    "inf*cos": lambda x, y: math.copysign(INF, math.cos(y)),
    "inf*sin": lambda x, y: math.copysign(INF, math.sin(y)),
}


class Case(NamedTuple):
    """A function at its operands; `open_signs`: of which parts of the result the sign is left open."""

    name: str
    operands: tuple[complex, ...]
    real: float
    imag: float = 0.0
    open_signs: tuple[bool, bool] = (False, False)


def _lines(text: str) -> Iterator[list[str]]:
    """The fields of each line; a line of several names stands for each of them."""
    for line in text.strip().splitlines():
        names, *fields = line.split()
        for name in names.split(","):
            yield [name, *fields]


def _members(field: str, of: tuple[float, ...]) -> tuple[float, ...]:
    if field in SETS:
        return tuple(x for x in of if SETS[field](x))
    return (float(field),)


def _result(field: str, x: float, y: float) -> float:
    field = field.removeprefix("~")
    if field.lstrip("-") in ANGLES:
        return ANGLES[field.lstrip("-")] * (-1 if field.startswith("-") else 1)
    return RESULTS[field](x, y) if field in RESULTS else float(field)


def real_cases() -> Iterator[Case]:
    """Functions of one real number."""
    for name, operand, result in _lines(REAL):
        for x in _members(operand, NUMBERS):
            yield Case(name, (x,), _result(result, x, 0.0), open_signs=(result.startswith("~"), False))


def pair_cases() -> Iterator[Case]:
    """Functions of two real numbers."""
    for name, first, second, result in _lines(PAIRS):
        for x in _members(first, NUMBERS):
            for y in _members(second, NUMBERS):
                yield Case(name, (x, y), _result(result, x, y), open_signs=(result.startswith("~"), False))


# stated for every sign, so that nothing is to be mirrored
PART_BY_PART = frozenset("abs sign isfinite isinf isnan round conj negative positive real imag".split())
ODD, EVEN = frozenset({"asinh", "atanh", "sinh", "tanh"}), frozenset({"cosh"})


def _conjugate(case: Case) -> Case:
    (z,) = case.operands
    return case._replace(operands=(z.conjugate(),), imag=-case.imag)


def _negated(case: Case) -> Case:
    (z,) = case.operands
    odd = case.name in ODD
    return case._replace(
        operands=(complex(-z.real, -z.imag),),
        real=-case.real if odd else case.real,
        imag=-case.imag if odd else case.imag,
    )


def _turned(case: Case) -> Case:
    """What ``cosh(x*1j)``, ``-1j*sinh(x*1j)`` and their like say of cos, sin, tan, asin and atan."""
    (z,) = case.operands
    name, operands = case.name.removesuffix("h"), (complex(z.imag, -z.real),)
    if case.name in EVEN:
        return case._replace(name=name, operands=operands)
    open_real, open_imag = case.open_signs
    return Case(name, operands, case.imag, -case.real, (open_imag, open_real))


def _other_base(case: Case) -> Iterator[Case]:
    for name, base in (("log2", 2.0), ("log10", 10.0)):
        yield case._replace(name=name, real=case.real / math.log(base), imag=case.imag / math.log(base))


def _stated_complex_cases() -> Iterator[Case]:
    for name, real, imag, result_real, result_imag in _lines(COMPLEX):
        opened = (result_real.startswith("~"), result_imag.startswith("~"))
        for a in _members(real, PARTS):
            for b in _members(imag, PARTS):
                yield Case(name, (complex(a, b),), _result(result_real, a, b), _result(result_imag, a, b), opened)


def complex_cases() -> Iterator[Case]:
    """Functions of one complex number."""
    for stated in _stated_complex_cases():
        if stated.name in PART_BY_PART:
            yield stated
            continue
        mirrored = [stated, _conjugate(stated)]
        if stated.name in ODD or stated.name in EVEN:
            mirrored += [_negated(case) for case in mirrored]
        for case in mirrored:
            yield case
            if case.name in ODD or case.name in EVEN:
                yield _turned(case)
            if case.name == "log":
                yield from _other_base(case)


def _parts_added(name: str, z: complex, w: complex) -> Case:
    sign = 1 if name == "add" else -1
    return Case(name, (z, w), z.real + sign * w.real, z.imag + sign * w.imag)


def _textbook(z: complex, w: complex) -> Iterator[Case]:
    """Products and quotients of finite numbers, which are the only ones that the standard settles, and of nan alone."""
    (a, b), (c, d) = (z.real, z.imag), (w.real, w.imag)
    if all(x != x for x in (a, b, c, d)):
        yield Case("multiply", (z, w), NAN, NAN)
        yield Case("divide", (z, w), NAN, NAN)
    if all(map(math.isfinite, (a, b, c, d))):
        yield Case("multiply", (z, w), a * c - b * d, b * c + a * d)
        if w:
            size = c * c + d * d
            yield Case("divide", (z, w), (a * c + b * d) / size, (b * c - a * d) / size, (True, True))


def complex_pair_cases() -> Iterator[Case]:
    """Functions of two complex numbers."""
    for z in COMPLEX_OPERANDS:
        for w in COMPLEX_OPERANDS:
            yield _parts_added("add", z, w)
            yield _parts_added("subtract", z, w)
            yield from _textbook(z, w)
            same = z.real == w.real and z.imag == w.imag
            yield Case("equal", (z, w), float(same))
            yield Case("not_equal", (z, w), float(not same))
