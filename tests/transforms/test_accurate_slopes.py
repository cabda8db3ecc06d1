"""First and second derivatives keep their digits wherever they are numbers, in both modes and with both executors."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import uopc_array as xp
from benchmarks.slopes import BINARY, TERMS, UNARY, reference
from uopc_array._functions.describe import DESCRIPTIONS
from uopc_array._functions.ufunc import HostUfunc, ufunc
from uopc_array._functions.vector_ufunc import VectorUfunc
from uopc_core import context

mp: Any = mpmath.mp  # whose functions are made at run time
TOLERANCE = 1e-12
EPS = 2.0**-52
NORMAL, LARGEST = mpf(2) ** -1022, mpf(np.finfo(float).max)
Function = Callable[..., Any]

CASES = {**{name: (x,) for name, (_, x) in UNARY.items()}, **{name: pair for name, (_, pair) in BINARY.items()}}
# those that are linear in their operands, or in pieces, and compositions of functions that are here
OTHERS = {
    "abs", "absolute", "add", "around", "ceil", "clip", "conj", "conjugate", "copysign", "degrees", "divmod", "fabs",
    "float_power", "floor", "fmax", "fmin", "fmod", "heaviside", "imag", "maximum", "minimum", "mod", "nan_to_num",
    "negative", "nextafter", "positive", "power", "radians", "real", "remainder", "rint", "round", "sign", "subtract",
    "true_divide", "trunc", "angle", "floor_divide",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
}  # fmt: skip


def reverse(f: Function, k: int) -> Function:
    return xp.grad(lambda *x: xp.sum(f(*x)), argnums=k)


def forward(f: Function, k: int) -> Function:
    def slope(*x: Any) -> Any:
        return xp.jvp(f, x, tuple([xp.full_like(t, float(i == k)) for i, t in enumerate(x)]))[1]

    return slope


MODES = {"grad": reverse, "jvp": forward}


def check(name: str, row: int, found: Any, wanted: np.ndarray, operands: tuple[np.ndarray, ...]) -> None:
    """Where the derivative is beyond the range, `found` is not finite; where it is subnormal, an ulp is its measure."""
    for value, true, point in zip(np.asarray(found), wanted, zip(*operands, strict=True), strict=True):
        size = TERMS[name](*map(float, point))[row] if name in TERMS else 0.0
        if abs(true) > LARGEST or size == math.inf:
            assert abs(true) <= LARGEST or not np.isfinite(value), (point, value, true)
            continue
        assert np.isfinite(value), (point, value, true)
        error = abs(mpf(float(value)) - true)
        assert error <= TOLERANCE * max(abs(true), NORMAL) + 4 * EPS * size, (point, value, float(true))


def derivatives(name: str, paths: list[tuple[str, str]]) -> Iterator[tuple[int, Function]]:
    """All first and second derivatives with their places among the references; `paths` are the modes of the first and
    of the second one.
    """
    f, n = getattr(xp, name), len(CASES[name])
    for first in sorted({mode for mode, _ in paths}):
        yield from [(i, MODES[first](f, i)) for i in range(n)]
    for first, second in paths:
        yield from [(n + i + j, MODES[second](MODES[first](f, i), j)) for i in range(n) for j in range(n)]


@pytest.mark.parametrize(
    ("tier", "paths"),
    [("interpret", [(first, second) for first in MODES for second in MODES]), ("compile", [("grad", "jvp")])],
    ids=["interpret", "compile"],
)
@pytest.mark.parametrize("name", CASES)
def test_derivatives_keep_their_digits(name: str, tier: str, paths: list[tuple[str, str]]) -> None:
    operands = CASES[name]
    rows, functions = zip(*derivatives(name, paths), strict=True)
    wanted = reference(name)
    with context(tier=tier):
        found = xp.jit(lambda *x: [f(*x) for f in functions])(*map(xp.asarray, operands))
        for row, values in zip(rows, found, strict=True):
            check(name, row, values, wanted[row], operands)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_in_float32_are_those_of_float64(name: str) -> None:
    """Both are taken at numbers that float32 has, in its inner range."""
    inner = [(np.abs(x) > 1e-6) & (np.abs(x) < 1e6) for x in CASES[name]]
    chosen = [np.float32(x[np.all(inner, axis=0)]) for x in CASES[name]]
    for row, f in derivatives(name, [("grad", "jvp")]):
        wanted = np.asarray(f(*[xp.asarray(x, dtype=xp.float64) for x in chosen]))
        found = np.asarray(f(*map(xp.asarray, chosen)))
        assert found.dtype == np.float32
        terms = [TERMS[name](*map(float, point))[row] if name in TERMS else 0 for point in zip(*chosen, strict=True)]
        usual = (np.abs(wanted) < 1e30) & (np.abs(wanted) > 1e-30)
        bound = 2e-5 * np.abs(wanted) + 1e-6 * np.asarray(terms)
        assert np.all(np.abs(found - wanted)[usual] <= bound[usual])


HOLOMORPHIC: dict[str, tuple[Function, Function]] = {
    "tanh": (lambda z: mp.sech(z) ** 2, lambda z: -2 * mp.tanh(z) * mp.sech(z) ** 2),
    "tan": (lambda z: mp.sec(z) ** 2, lambda z: 2 * mp.tan(z) * mp.sec(z) ** 2),
    "asin": (lambda z: 1 / mp.sqrt(1 - z * z), lambda z: z / (1 - z * z) / mp.sqrt(1 - z * z)),
    "acos": (lambda z: -1 / mp.sqrt(1 - z * z), lambda z: -z / (1 - z * z) / mp.sqrt(1 - z * z)),
    "atan": (lambda z: 1 / (1 + z * z), lambda z: -2 * z / (1 + z * z) ** 2),
    "atanh": (lambda z: 1 / (1 - z * z), lambda z: 2 * z / (1 - z * z) ** 2),
    "asinh": (lambda z: 1 / mp.sqrt(1 + z * z), lambda z: -z / (1 + z * z) / mp.sqrt(1 + z * z)),
    "acosh": (lambda z: 1 / mp.sqrt(z - 1) / mp.sqrt(z + 1), lambda z: -z / (mp.sqrt(z - 1) * mp.sqrt(z + 1)) ** 3),
    "exp": (mp.exp, mp.exp),
    "expm1": (mp.exp, mp.exp),
    "log": (lambda z: 1 / z, lambda z: -1 / z**2),
    "log1p": (lambda z: 1 / (1 + z), lambda z: -1 / (1 + z) ** 2),
    "log2": (lambda z: 1 / z / mp.log(2), lambda z: -1 / z**2 / mp.log(2)),
    "log10": (lambda z: 1 / z / mp.log(10), lambda z: -1 / z**2 / mp.log(10)),
    "sqrt": (lambda z: 1 / (2 * mp.sqrt(z)), lambda z: -1 / (4 * z * mp.sqrt(z))),
    "sin": (mp.cos, lambda z: -mp.sin(z)),
    "cos": (lambda z: -mp.sin(z), lambda z: -mp.cos(z)),
    "sinh": (mp.cosh, mp.sinh),
    "cosh": (mp.sinh, mp.cosh),
    "reciprocal": (lambda z: -1 / z**2, lambda z: 2 / z**3),
}


def plane() -> np.ndarray:
    """Complex numbers with parts of all sizes, and such as are near the branch points and on the axes."""
    rng = np.random.default_rng(1)
    exponents = [-1000, -300, -40, -8, -1, 1, 6, 30, 300, 505]
    sizes = [(x, y) for x in exponents for y in exponents]
    anywhere = [complex(*(rng.uniform(1, 2, 2) * rng.choice([-1, 1], 2) * np.exp2(pair))) for pair in sizes]
    angles = rng.uniform(0, 2 * np.pi, 30)
    near = [
        c + 2.0**-k * np.exp(1j * t) for c, k, t in zip([1, -1, 1j, -1j, 0] * 6, range(1, 48), angles, strict=False)
    ]
    axes = [z for x in (0.25, 0.75, 3.0, 1e-9) for z in (complex(x, 0), complex(-x, 0), complex(0, x), complex(0, -x))]
    special = [25 + 1j, -300 - 2j, 0.3 + 40j, 1.2 - 25j, 0.01 + 1.57j, 1 + 1e-8j, 1e-8 + 1j]
    return np.asarray([*anywhere, *near, *axes, *special])


PLANE = plane()


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_complex_derivatives_keep_their_digits(name: str, tier: str) -> None:
    """To the size of the whole, where that is a normal number."""
    f, z = getattr(xp, name), xp.asarray(PLANE)
    for formula in HOLOMORPHIC[name]:
        f = forward(f, 0)
        with context(tier=tier):
            found = np.asarray(f(z))
        with mp.workprec(600):
            for value, point in zip(found.tolist(), PLANE.tolist(), strict=True):
                true = formula(mpmath.mpc(point))
                if NORMAL * 2**60 < abs(true) < LARGEST / 2:
                    assert abs(mpmath.mpc(value) - true) <= TOLERANCE * abs(true), (point, value, complex(true))


def test_every_smooth_function_is_here() -> None:
    others = HostUfunc, VectorUfunc  # products are sums, no functions of elements
    named = {name for name, f in vars(xp).items() if isinstance(f, ufunc) and not isinstance(f, others)}
    named |= {path for path, d in DESCRIPTIONS.items() if d.native.__module__.endswith(".numbers")}
    whole = {n for n in named if n.startswith(("is", "logical", "bitwise", "array_"))}
    compare = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "signbit", "allclose"}
    assert named - whole - compare - OTHERS - {"invert", "left_shift", "right_shift"} == set(CASES)
