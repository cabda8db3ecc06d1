"""``python -m benchmarks.accuracy``: measure the errors of values, derivatives and sums, for docs/accuracy.md.

Errors of values are in units in the last place of the true value, which mpmath computes; those of complex numbers in
units of the larger part. The operands are of all sizes, and stand close around roots and poles.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import uopc_array as xp
from benchmarks.slopes import BINARY, TERMS, UNARY, reference
from uopc_core import context

__all__ = ["EXECUTORS", "FUNCTIONS", "PAGE", "Function", "bounds_on_page", "measure", "operands"]

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
mp: Any = mpmath.mp  # whose functions are made at run time
EXECUTORS: dict[str, dict[str, str]] = {"compiled": {"tier": "compile"}, "NumPy": {"tier": "interpret", "cc": "none"}}
INF = math.inf


@dataclass(frozen=True, slots=True)
class Function:
    """A function and its true value; `around`: roots, poles and branch points, `limit`: of the size of the operands."""

    true: Callable[..., Any]
    low: float = -INF
    high: float = INF
    around: tuple[float, ...] = ()
    limit: float = INF
    arity: int = 1
    real: bool = True
    plane: bool = False  # complex operands, too
    cancels: bool = False  # near the roots the error is that of a number of size 1


TURNS = tuple(k * math.pi / 2 for k in (1, 2, 3, 20, 1e5))
FUNCTIONS: dict[str, Function] = {
    "exp": Function(lambda x: mp.exp(x), limit=760.0, plane=True),
    "exp2": Function(lambda x: mp.power(2, x), limit=1080.0, plane=True),
    "expm1": Function(lambda x: mp.expm1(x), limit=760.0, plane=True),
    "log": Function(lambda x: mp.log(x), 0.0, around=(1.0,), plane=True),
    "log2": Function(lambda x: mp.log(x) / mp.ln2, 0.0, around=(1.0,), plane=True),
    "log10": Function(lambda x: mp.log(x) / mp.ln10, 0.0, around=(1.0,), plane=True),
    "log1p": Function(lambda x: mp.log1p(x), -1.0, plane=True),
    "sin": Function(lambda x: mp.sin(x), around=TURNS, plane=True),
    "cos": Function(lambda x: mp.cos(x), around=TURNS, plane=True),
    "tan": Function(lambda x: mp.tan(x), around=TURNS, plane=True),
    "asin": Function(lambda x: mp.asin(x), -1.0, 1.0, plane=True),
    "acos": Function(lambda x: mp.acos(x), -1.0, 1.0, plane=True),
    "atan": Function(lambda x: mp.atan(x), plane=True),
    "sinh": Function(lambda x: mp.sinh(x), limit=711.0, plane=True),
    "cosh": Function(lambda x: mp.cosh(x), limit=711.0, plane=True),
    "tanh": Function(lambda x: mp.tanh(x), plane=True),
    "asinh": Function(lambda x: mp.asinh(x), plane=True),
    "acosh": Function(lambda x: mp.acosh(x), 1.0, plane=True),
    "atanh": Function(lambda x: mp.atanh(x), -1.0, 1.0, plane=True),
    "sqrt": Function(lambda x: mp.sqrt(x), 0.0, plane=True),
    "cbrt": Function(lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    "sinc": Function(lambda x: mp.sincpi(x), around=(0.5, 1.0, 1.5, 2.0, 1e6), limit=1e300),
    "reciprocal": Function(lambda x: 1 / x, plane=True),
    "square": Function(lambda x: x * x, plane=True),
    "deg2rad": Function(lambda x: x * mp.pi / 180),
    "rad2deg": Function(lambda x: x * 180 / mp.pi),
    "abs": Function(lambda x: abs(x), real=False, plane=True),
    "sign": Function(lambda x: x / abs(x), real=False, plane=True),
    "multiply": Function(lambda x, y: x * y, arity=2, plane=True),
    "divide": Function(lambda x, y: x / y, arity=2, plane=True),
    "pow": Function(lambda x, y: mp.power(x, y), 0.0, arity=2, plane=True),
    "hypot": Function(lambda x, y: mp.hypot(x, y), arity=2),
    "atan2": Function(lambda x, y: mp.atan2(x, y), arity=2),
    "logaddexp": Function(lambda x, y: _log_of_sum(x, y, mp.e), arity=2, limit=1e6, cancels=True),
    "logaddexp2": Function(lambda x, y: _log_of_sum(x, y, mpmath.mpf(2)), arity=2, limit=1e6, cancels=True),
}
DTYPES = {"real": ("float32", "float64"), "plane": ("complex64", "complex128")}


def _log_of_sum(x: Any, y: Any, base: Any) -> Any:
    larger, apart = max(x, y), min(abs(x - y), 3000)
    return larger + mp.log1p(base**-apart) / mp.log(base)


# ------------------------------------------------------------------------------------------------------------- operands


def _line(function: Function, dtype: Any, rng: np.random.Generator, many: int) -> np.ndarray:
    info = np.finfo(dtype)
    exponents = np.linspace(info.minexp - info.nmant, info.maxexp, many, endpoint=False).astype(int)
    sizes = np.ldexp(rng.uniform(1, 2, many), exponents)
    ordinary = rng.uniform(max(function.low, -40.0), min(function.high, 40.0), many)
    steps = 2.0 ** -np.arange(1, info.nmant + 1, dtype=float)
    centres = [*function.around, *[c for c in (function.low, function.high, 1.0, -1.0) if math.isfinite(c)]]
    close = [c + sign * step * (abs(c) or 1.0) for c in centres for step in steps for sign in (1, -1)]
    with np.errstate(over="ignore"):
        x = np.concatenate([sizes, -sizes, ordinary, np.asarray(close), np.asarray(centres)]).astype(dtype)
    return x[(x > function.low) & (x < function.high) & (np.abs(x.astype(float)) <= function.limit) & (x != 0)]


def _pairs(name: str, function: Function, dtype: Any, rng: np.random.Generator, many: int) -> list[np.ndarray]:
    x = rng.permutation(_line(function, dtype, rng, many))
    if name == "pow":
        exponent = rng.uniform(-1, 1, x.size) * np.finfo(dtype).maxexp / np.maximum(np.abs(np.log2(x)), 1e-30)
        return [x, exponent.astype(dtype)]
    if function.cancels:
        x = np.concatenate([x, rng.uniform(-1, 0, many).astype(dtype)])
        return [x, np.where(rng.random(x.size) < 0.5, rng.uniform(-3, 3, x.size), rng.permutation(x)).astype(dtype)]
    with np.errstate(over="ignore"):
        near = (x * np.exp2(rng.uniform(-30, 30, x.size))).astype(dtype)
    return [x, np.where((rng.random(x.size) < 0.5) & np.isfinite(near), near, rng.permutation(x)).astype(dtype)]


def _plane(name: str, function: Function, dtype: Any, rng: np.random.Generator, many: int) -> list[np.ndarray]:
    """Numbers around 0, on the circle around -1, where the logarithm of 1 + z has no real part, and about 1 and 1j."""
    parts = rng.standard_normal((2, 2 * many)) * 2.0 ** np.concatenate([np.zeros(many), rng.uniform(-30, 4, many)])
    circle = np.exp(1j * rng.uniform(-math.pi, math.pi, many // 2)) - 1
    close = rng.standard_normal(many // 2) + 1j * rng.standard_normal(many // 2)
    close = np.where(rng.random(close.size) < 0.5, 1, 1j) + close * 2.0 ** rng.uniform(-20, 0, close.size)
    z = np.concatenate([parts[0] + 1j * parts[1], circle, close]).astype(dtype)
    if function.arity == 1:
        return [z]
    w = rng.permutation(z)
    if name == "pow":
        w = np.where(rng.random(z.size) < 0.5, w, rng.integers(-60, 60, z.size)).astype(dtype)
        inside = np.abs(w * np.log(z)) < 0.9 * np.log(np.finfo(dtype).max)
        z, w = z[inside], w[inside]
    return [z, w]


def operands(name: str, dtype: str, many: int) -> list[np.ndarray]:
    function, rng = FUNCTIONS[name], np.random.default_rng(11)
    kind = np.dtype(dtype)
    if kind.kind == "c":
        return _plane(name, function, kind, rng, many)
    if function.arity == 1:
        return [_line(function, kind, rng, many)]
    return _pairs(name, function, kind, rng, many)


# --------------------------------------------------------------------------------------------------------------- values


def _unit(value: Any, info: Any, least: Any = 0) -> Any:
    """The unit in the last place of `value`, or of `least` if that is larger."""
    size = max(abs(value), least)
    exponent = int(mp.mag(size)) - 1 if size else info.minexp
    return mpmath.mpf(2) ** (max(exponent, info.minexp) - info.nmant)


def _errors(value: Any, true: Any, info: Any, least: Any) -> tuple[float, float]:
    """In units of the larger part, and the larger of those in units of each part."""
    parts = [(value.real, mp.re(true)), (value.imag, mp.im(true))]
    off = [abs(mpmath.mpf(float(got)) - want) for got, want in parts]
    whole = _unit(max(abs(want) for _, want in parts), info, least)
    single = [error / _unit(want, info, least) for error, (_, want) in zip(off, parts, strict=True)]
    return float(max(off) / whole), float(max(single))


def _true(function: Function, point: Sequence[Any]) -> Any:
    try:
        return function.true(*point)
    except (ZeroDivisionError, ValueError):  # a pole
        return mp.inf


def measure(name: str, dtype: str, executors: Iterable[str], many: int) -> dict[str, tuple[float, float]]:
    """The largest errors of a function, of whole numbers and of their parts, for each of the executors."""
    function, arrays = FUNCTIONS[name], operands(name, dtype, many)
    info = np.finfo(dtype)
    with mp.workprec(400):
        numbers = [[mpmath.mpmathify(v) for v in x.astype(np.result_type(x, float)).tolist()] for x in arrays]
        true = [_true(function, point) for point in zip(*numbers, strict=True)]
        inside = [k for k, t in enumerate(true) if abs(t) < float(info.max)]
        worst: dict[str, tuple[float, float]] = {}
        for executor in executors:
            with context(**EXECUTORS[executor]):
                found = np.asarray(getattr(xp, name)(*map(xp.asarray, arrays)))
            errors = [_errors(found[k], true[k], info, 1 if function.cancels else 0) for k in inside]
            worst[executor] = (max(e for e, _ in errors), max(e for _, e in errors))
    return worst


def _bound(error: float) -> str:
    """`error` rounded up to a half, or to two digits."""
    if error <= 20:
        return f"{math.ceil(2 * error) / 2:g}"
    digits = 10 ** (math.floor(math.log10(error)) - 1)
    return f"{math.ceil(error / digits) * digits:.1e}"


def _rows_of_values(kind: str, many: int) -> Iterable[list[str]]:
    for name, function in FUNCTIONS.items():
        if not getattr(function, kind):
            continue
        cells: list[str] = []
        for dtype in DTYPES[kind]:
            for whole, parts in measure(name, dtype, EXECUTORS, many).values():
                cells.append(_bound(whole) + (f" ({_bound(parts)})" if kind == "plane" and name != "abs" else ""))
        yield [f"`{name}`", *cells]


# ---------------------------------------------------------------------------------------------------------- derivatives


def _reverse(f: Callable[..., Any], k: int) -> Callable[..., Any]:
    return xp.grad(lambda *x: xp.sum(f(*x)), argnums=k)


def _forward(f: Callable[..., Any], k: int) -> Callable[..., Any]:
    return lambda *x: xp.jvp(f, x, tuple([xp.full_like(t, float(i == k)) for i, t in enumerate(x)]))[1]


def _worst_slope(name: str, row: int, slope: Callable[..., Any], arrays: Sequence[np.ndarray]) -> float:
    """The largest relative error; away from roots that no float64 is, and where the true value is a normal number."""
    found, worst = np.asarray(slope(*map(xp.asarray, arrays))), 0.0
    for value, true, point in zip(found, reference(name)[row], zip(*arrays, strict=True), strict=True):
        terms = TERMS[name](*map(float, point))[row] if name in TERMS else 0.0
        if np.finfo(float).tiny <= abs(true) <= np.finfo(float).max and abs(true) > terms / 100:
            worst = max(worst, float(abs(mpmath.mpf(float(value)) - true) / abs(true)))
    return worst


def _rows_of_slopes() -> Iterable[list[str]]:
    points = {**{name: (x,) for name, (_, x) in UNARY.items()}, **{name: pair for name, (_, pair) in BINARY.items()}}
    for name, arrays in points.items():
        f, n = getattr(xp, name), len(arrays)
        cells: list[str] = []
        for mode in (_reverse, _forward):
            first = [_worst_slope(name, i, mode(f, i), arrays) for i in range(n)]
            second = [
                _worst_slope(name, n + i + j, _forward(mode(f, i), j), arrays) for i in range(n) for j in range(n)
            ]
            cells += [f"{max(first):.0e}".replace("0e+00", "0"), f"{max(second):.0e}".replace("0e+00", "0")]
        yield [f"`{name}`", *cells]


# ----------------------------------------------------------------------------------------------------------------- sums


def _rows_of_sums(many: int) -> Iterable[list[str]]:
    """Errors in units of half an eps of the sum of the absolute values; of means in those of their mean."""
    rng = np.random.default_rng(12)
    draws = {"normal": rng.standard_normal((many, 3)), "of one sign": rng.uniform(0, 1, (many, 3))}
    for name in ("sum", "mean", "cumulative_sum"):
        cells: list[str] = []
        for dtype in DTYPES["real"]:
            for axis in (0, 1):
                worst = 0.0
                for draw in draws.values():
                    x = draw.astype(dtype)
                    x = x if axis == 0 else np.ascontiguousarray(x.T)
                    found = np.asarray(getattr(xp, name)(xp.asarray(x), axis=axis))
                    lanes = x.T if axis == 0 else x
                    last = found[-1] if name == "cumulative_sum" and axis == 0 else found.reshape(3, -1)[:, -1]
                    scale = many if name == "mean" else 1
                    for lane, value in zip(lanes.astype(float), last, strict=True):
                        unit = np.finfo(dtype).eps / 2 * np.abs(lane).sum() / scale
                        worst = max(worst, abs(math.fsum(lane) / scale - float(value)) / float(unit))
                cells.append(_bound(worst))
        yield [f"`{name}`", *cells]


# ----------------------------------------------------------------------------------------------------------------- page


def bounds_on_page(heading: str) -> dict[str, list[float]]:
    """The numbers of the table below a marker; of what is in parentheses none."""
    table = re.search(rf"<!-- {heading} -->\n(.*?)<!-- end -->", PAGE.read_text(), re.DOTALL)
    assert table, heading
    rows = [re.sub(r" \([^)]*\)", "", line).strip("| ").split(" | ") for line in table[1].splitlines()[2:]]
    return {name.strip("`"): [float(cell) for cell in cells] for name, *cells in rows}


def _write(heading: str, columns: Sequence[str], rows: Iterable[list[str]]) -> None:
    lines = [columns, ["---"] * len(columns), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    text, found = re.subn(
        rf"(<!-- {heading} -->\n).*?(<!-- end -->)", rf"\g<1>{table}\n\g<2>", PAGE.read_text(), flags=re.DOTALL
    )
    assert found == 1, f"no table {heading} in {PAGE}"
    PAGE.write_text(text)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=800, help="how many operands of each kind")
    many = parser.parse_args(arguments).points
    for kind, dtypes in DTYPES.items():
        columns = [f"{dtype}, {executor}" for dtype in dtypes for executor in EXECUTORS]
        _write(kind, ["function", *columns], _rows_of_values(kind, many))
    slopes = [f"{mode}, {order}" for mode in ("reverse", "forward") for order in ("first", "second")]
    _write("slopes", ["function", *slopes], _rows_of_slopes())
    axes = [f"{dtype}, axis {axis}" for dtype in DTYPES["real"] for axis in ("0 of (n, 3)", "1 of (3, n)")]
    _write("sums", ["function", *axes], _rows_of_sums(250 * many))


if __name__ == "__main__":
    main(sys.argv[1:])
