"""First and second derivatives of the elementwise functions by mpmath, and numbers of all sizes to compare them at.

A function of one operand has ``(f', f'')``, one of two ``(f_x, f_y, f_xx, f_xy, f_yy)``; each formula is free of
cancellation, or computed with as many bits as its operands span.

Left out are numbers where nothing better can be had from operations on float64: where the function itself overflows or
is subnormal (a power), and operands that are subnormal of functions of two (their ratios and reciprocals overflow).
"""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

__all__ = ["BINARY", "TERMS", "UNARY", "reference"]

Formula = Callable[..., tuple[Any, ...]]
mp: Any = mpmath.mp  # whose functions are made at run time
_SPAN = 2300  # bits between the largest and the smallest number
_NORMAL = np.finfo(float).smallest_normal


def _exp2(x: Any) -> tuple[Any, ...]:
    return mp.ln2 * mpf(2) ** x, mp.ln2**2 * mpf(2) ** x


def _power(factor: Any, exponent: Any) -> Formula:
    """Of ``x**exponent`` times a factor."""
    e = exponent

    def derivatives(x: Any) -> tuple[Any, ...]:
        sign, size = mp.sign(x), abs(x)
        return factor * e() * size ** (e() - 1), factor * e() * (e() - 1) * sign * size ** (e() - 2)

    return derivatives


def _logarithm(base: Callable[[], Any], shift: int = 0) -> Formula:
    return lambda x: (1 / ((x + shift) * base()), -1 / ((x + shift) ** 2 * base()))


def _tan(x: Any) -> tuple[Any, ...]:
    return mp.sec(x) ** 2, 2 * mp.tan(x) * mp.sec(x) ** 2


def _tanh(x: Any) -> tuple[Any, ...]:
    return mp.sech(x) ** 2, -2 * mp.tanh(x) * mp.sech(x) ** 2


def _asin(x: Any) -> tuple[Any, ...]:
    s = (1 - x) * (1 + x)
    return 1 / mp.sqrt(s), x / (s * mp.sqrt(s))


def _acos(x: Any) -> tuple[Any, ...]:
    first, second = _asin(x)
    return -first, -second


def _atan(x: Any) -> tuple[Any, ...]:
    s = 1 + x * x
    return 1 / s, -2 * x / s**2


def _asinh(x: Any) -> tuple[Any, ...]:
    s = 1 + x * x
    return 1 / mp.sqrt(s), -x / (s * mp.sqrt(s))


def _acosh(x: Any) -> tuple[Any, ...]:
    s = (x - 1) * (x + 1)
    return 1 / mp.sqrt(s), -x / (s * mp.sqrt(s))


def _atanh(x: Any) -> tuple[Any, ...]:
    s = (1 - x) * (1 + x)
    return 1 / s, 2 * x / s**2


def _sinc(x: Any) -> tuple[Any, ...]:
    if x == 0:
        return mpf(0), -(mp.pi**2) / 3
    with mp.workprec(250 + 4 * max(0, -math.frexp(x)[1])):
        p, sine, cosine = mp.pi * x, mp.sinpi(x), mp.cospi(x)
        first = (cosine - sine / p) / x
        return first, -(mp.pi**2) * sine / p - 2 * first / x


def _hypot(x: Any, y: Any) -> tuple[Any, ...]:
    h = mp.hypot(x, y)
    return x / h, y / h, y * y / h**3, -x * y / h**3, x * x / h**3


def _atan2(y: Any, x: Any) -> tuple[Any, ...]:
    s = x * x + y * y
    return x / s, -y / s, -2 * x * y / s**2, (y - x) * (y + x) / s**2, 2 * x * y / s**2


def _pow(x: Any, y: Any) -> tuple[Any, ...]:
    p, log = x**y, mp.log(x)
    return y * p / x, p * log, y * (y - 1) * p / x**2, p / x * (1 + y * log), p * log * log


def _weights(base: Callable[[], Any]) -> Formula:
    def derivatives(x: Any, y: Any) -> tuple[Any, ...]:
        with mp.workprec(_SPAN):
            apart = min(max(x - y, -3000), 3000)  # beyond, both the weight and what lacks it to 1 are out of range
        first, second = 1 / (1 + base() ** -apart), 1 / (1 + base() ** apart)
        curvature = first * second * mp.log(base())
        return first, second, curvature, -curvature, curvature

    return derivatives


def _divide(x: Any, y: Any) -> tuple[Any, ...]:
    return 1 / y, -x / y**2, mpf(0), -1 / y**2, 2 * x / y**3


# ------------------------------------------------------------------------------------------------------------- numbers


@cache
def _sizes() -> np.ndarray:
    """Numbers of every eighth binade, subnormal ones included, each with a random mantissa, and powers of two."""
    rng = np.random.default_rng(20)
    exponents = np.arange(-1074, 1024, 8)
    mantissas = np.where(np.arange(exponents.size) % 3 == 0, 1.0, rng.uniform(1, 2, exponents.size))
    return np.concatenate([np.ldexp(mantissas, exponents), [5e-324, 2.0**-1022, np.finfo(float).max]])


def _around(*centres: float) -> np.ndarray:
    """Numbers next to `centres` at distances of all sizes down to one place."""
    steps = 2.0 ** -np.arange(1, 54, 3)
    return np.unique([c + s * (abs(c) or 1.0) for c in centres for s in (*steps, *-steps, 0.0)])


def _numbers(low: float = -math.inf, high: float = math.inf, around: Iterable[float] = (), *more: float) -> np.ndarray:
    """Numbers of all sizes and both signs within the bounds, which are left out."""
    rng = np.random.default_rng(21)
    ends = [b for b in (low, high) if math.isfinite(b)]
    spread = rng.uniform(max(low, -30.0), min(high, 30.0), 100)
    points = np.unique(np.concatenate([_sizes(), -_sizes(), _around(1.0, -1.0, *around, *ends), spread, more]))
    return points[(points > low) & (points < high)]


_TURNS = [k * math.pi / 2 for k in (1, -1, 2, 3, 20, 1e5)]
_EXP = _numbers(-746.0, 709.5, [708.0, -708.0])
UNARY: dict[str, tuple[Formula, np.ndarray]] = {
    "exp": (lambda x: (mp.exp(x),) * 2, _EXP),
    "exp2": (_exp2, _numbers(-1075.0, 1023.9, [-1022.0])),
    "expm1": (lambda x: (mp.exp(x),) * 2, _EXP),
    "log": (_logarithm(lambda: 1), _numbers(0)),
    "log2": (_logarithm(lambda: mp.ln2), _numbers(0)),
    "log10": (_logarithm(lambda: mp.ln10), _numbers(0)),
    "log1p": (_logarithm(lambda: 1, 1), _numbers(-1)),
    "sin": (lambda x: (mp.cos(x), -mp.sin(x)), _numbers(around=_TURNS)),
    "cos": (lambda x: (-mp.sin(x), -mp.cos(x)), _numbers(around=_TURNS)),
    "tan": (_tan, _numbers(around=_TURNS)),
    "asin": (_asin, _numbers(-1, 1, [0.5, -0.5])),
    "acos": (_acos, _numbers(-1, 1, [0.5, -0.5])),
    "atan": (_atan, _numbers(around=[2.0**30, -(2.0**30)])),
    "sinh": (lambda x: (mp.cosh(x), mp.sinh(x)), _numbers(-710.0, 710.0)),
    "cosh": (lambda x: (mp.sinh(x), mp.cosh(x)), _numbers(-710.0, 710.0)),
    "tanh": (_tanh, _numbers(-1000.0, 1000.0, [5.0, 19.0, 22.0, 372.0, -354.0])),
    "asinh": (_asinh, _numbers()),
    "acosh": (_acosh, _numbers(1)),
    "atanh": (_atanh, _numbers(-1, 1, [0.5, -0.5])),
    "sqrt": (_power(1, lambda: mpf(1) / 2), _numbers(0)),
    "cbrt": (_power(1, lambda: mpf(1) / 3), _numbers()[_numbers() != 0]),
    "sinc": (_sinc, _numbers(around=[0.15915494309189535, 2.0, 0.5, 1.5, 1e6 + 1])),
    "square": (lambda x: (2 * x, mpf(2)), _numbers()),
    "reciprocal": (lambda x: (-1 / x**2, 2 / x**3), _numbers()[_numbers() != 0]),
    "deg2rad": (lambda x: (mp.pi / 180, mpf(0)), _numbers()),
    "rad2deg": (lambda x: (180 / mp.pi, mpf(0)), _numbers()),
}


def _pairs(low: float = -math.inf, high: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of all sizes, pairs of comparable sizes, pairs of neighbours, and ties."""
    rng = np.random.default_rng(22)
    numbers = _numbers()
    numbers = numbers[(numbers > low) & (numbers < high) & (np.abs(numbers) >= _NORMAL)]
    x, y = rng.permutation(numbers), rng.permutation(numbers)
    with np.errstate(over="ignore"):
        ratios = np.where(rng.random(x.size) < 0.5, 1.0, -1.0) * np.exp2(rng.uniform(-60, 60, x.size))
        near = x * (1 + 2.0 ** -rng.uniform(1, 52, x.size))
        xs, ys = np.concatenate([x, x, x, x]), np.concatenate([y, x * ratios, near, x])
    inside = np.isfinite(ys) & (np.abs(ys) >= _NORMAL) & (ys > low) & (ys < high)
    return xs[inside], ys[inside]


def _moderate() -> tuple[np.ndarray, np.ndarray]:
    """Pairs of exponents of a few hundred at most, with differences of all sizes."""
    rng = np.random.default_rng(23)
    x = np.concatenate([rng.uniform(-40, 40, 300), rng.uniform(-700, 700, 200), rng.uniform(-1e4, 1e4, 100)])
    apart = np.where(rng.random(x.size) < 0.5, 1.0, -1.0) * 2.0 ** rng.uniform(-50, 9.4, x.size)
    large = _pairs()
    return np.concatenate([x, x, large[0]]), np.concatenate([x + apart, x, large[1]])


def _powers() -> tuple[np.ndarray, np.ndarray]:
    """Bases of all sizes with exponents that keep the power in the range."""
    rng = np.random.default_rng(24)
    positive = _numbers(0)
    x = np.tile(rng.permutation(positive[(positive >= _NORMAL) & (positive != 1)]), 3)
    limit = np.minimum(1000 / np.abs(np.log2(x)), 1e300)
    y = np.where(rng.random(x.size) < 0.4, rng.uniform(-3, 3, x.size), rng.uniform(-1, 1, x.size) * limit)
    y = np.where(rng.random(x.size) < 0.2, y * 2.0 ** -rng.uniform(0, 300, x.size), y)
    inside = (np.abs(y) <= limit) & (np.abs(y) >= _NORMAL)
    return x[inside], y[inside]


BINARY: dict[str, tuple[Formula, tuple[np.ndarray, np.ndarray]]] = {
    "hypot": (_hypot, _pairs()),
    "atan2": (_atan2, _pairs()),
    "pow": (_pow, _powers()),
    "logaddexp": (_weights(lambda: mp.e), _moderate()),
    "logaddexp2": (_weights(lambda: mpf(2)), _moderate()),
    "multiply": (lambda x, y: (y, x, mpf(0), mpf(1), mpf(0)), _pairs()),
    "divide": (_divide, _pairs()),
}


# The size of the terms whose sum has a root that is no float64: near it the error is relative to them. One number for
# each derivative; 0 where there is no such root.
TERMS: dict[str, Callable[..., tuple[float, ...]]] = {
    "sinc": lambda x: (1 / max(abs(x), 1.0), 10 / max(abs(x), 1.0)),
    "atan2": lambda y, x: (0, 0, 0, 1 / max(x * x, y * y) if max(abs(x), abs(y)) > 1e-150 else math.inf, 0),
}


@cache
def reference(name: str) -> np.ndarray:
    """Each derivative at each of the function's points as a number of mpmath: an array with a row a derivative."""
    formula, points = {**UNARY, **BINARY}[name]
    operands = points if isinstance(points, tuple) else (points,)
    with mp.workprec(250):
        rows = [[+d for d in formula(*map(mpf, map(float, point)))] for point in zip(*operands, strict=True)]
    return np.asarray(rows, dtype=object).T
