"""Special values of the standard, in both executors, from tables; and where the two might differ."""

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import COMPLEX, FLOATS, INTEGERS, check, equal
from tests.support.special_cases import (
    NUMBERS,
    Case,
    complex_cases,
    complex_pair_cases,
    pair_cases,
    real_cases,
)
from uopc_core import context
from uopc_core.errors import ShapeError
from uopc_core.runtime.toolchain import find_toolchain

ULPS = 4
INF, NAN = math.inf, math.nan
TIERS = ["interpret", "compile"]

Values = np.ndarray[Any, Any]


class Group(NamedTuple):
    """Cases of functions of the same operands."""

    cases: Callable[[], Iterable[Case]]
    dtypes: list[str]


GROUPS = {
    "real": Group(real_cases, FLOATS),
    "two real": Group(pair_cases, FLOATS),
    "complex": Group(complex_cases, COMPLEX),
    "two complex": Group(complex_pair_cases, COMPLEX),
}


@pytest.fixture(params=TIERS, name="tier")
def _tier(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "compile" and find_toolchain() is None:
        pytest.skip("no C compiler")
    with context(tier=request.param):
        yield request.param


def is_value(got: float, wanted: float, open_sign: bool, eps: float) -> bool:
    """Whether it is the value, and a zero the zero of that sign."""
    if wanted != wanted:
        return got != got
    if open_sign:
        got, wanted = abs(got), abs(wanted)
    if wanted == 0:
        return got == 0 and math.copysign(1, got) == math.copysign(1, wanted)
    return got == wanted or abs(got - wanted) <= ULPS * eps * abs(wanted)


def is_result(got: complex, case: Case, wanted: Any, eps: float) -> bool:
    parts = ((got.real, wanted.real), (got.imag, wanted.imag))
    return all(is_value(float(x), float(y), sign, eps) for (x, y), sign in zip(parts, case.open_signs, strict=True))


def batches(n: int, shapes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Places of the operands that go into one call, and its shape: each by itself, inside of vectors and after them."""
    for shape in shapes:
        for i in range(n):
            yield [i], shape
    for i in range(0, n, 3):  # whatever 2 to 16 numbers a vector holds, each place is among the last 3 once
        yield [j % n for j in range(i, i + 19)], (19,)


@cache
def all_functions(group: str) -> Callable[..., dict[str, xp.Array]]:
    """The functions that have cases, as one function of one plan in all tests."""
    names = sorted({case.name for case in GROUPS[group].cases()})
    return xp.jit(lambda *operands: {name: getattr(xp, name)(*operands) for name in names})


@pytest.mark.parametrize(("group", "dtype"), [(name, dtype) for name in GROUPS for dtype in GROUPS[name].dtypes])
def test_special_cases_of_elementwise_functions(group: str, dtype: str, tier: str) -> None:
    at: dict[tuple[str, ...], list[Case]] = {}
    for case in GROUPS[group].cases():
        at.setdefault(tuple(map(repr, case.operands)), []).append(case)
    cases = list(at.values())
    operands = [np.array(x, dtype) for x in zip(*[same[0].operands for same in cases], strict=True)]
    functions = all_functions(group)
    eps, complex_dtype = float(np.finfo(dtype).eps), np.result_type(dtype, np.complex64).type
    wrong: list[str] = []
    # compiled, one element has the same kernel with an axis and without
    for places, shape in batches(len(cases), ((), (1,)) if tier == "interpret" else ((),)):
        out = functions(*[xp.asarray(x[places].reshape(shape)) for x in operands])
        values = {name: np.asarray(x).ravel().tolist() for name, x in out.items()}
        for i, place in enumerate(places):
            for case in cases[place]:
                wanted = complex_dtype(complex(case.real, case.imag))  # too large for the dtype is infinite
                if not is_result(values[case.name][i], case, wanted, eps):
                    wrong.append(f"{case} in {shape}: {values[case.name][i]}")
    assert not wrong, "\n".join(wrong)


MIRRORED = "exp expm1 log log1p sqrt sinh cosh tanh asinh acosh atanh sin cos tan asin acos atan".split()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_functions_commute_with_conjugation(dtype: str, tier: str) -> None:
    parts = [0.0, -0.0, 0.5, 1.0, -1.0, -2.0, 30.0]  # zeros are the sides of the branch cuts
    z = np.asarray([complex(a, b) for a in parts for b in parts], dtype)
    functions = all_functions("complex")
    direct, mirrored = functions(xp.asarray(z)), functions(xp.asarray(z.conj()))
    for name in MIRRORED:
        out, back = direct[name], xp.conj(mirrored[name])
        assert equal(out, back, ULPS), name
        for part in (xp.real, xp.imag):
            check(xp.signbit(part(out)), np.signbit(np.asarray(part(back))))


# ----------------------------------------------------------------------------------------- signs, scalars, operators


def test_sign_bits_of_nan(tier: str) -> None:
    both = np.asarray([math.copysign(NAN, sign) for sign in (1, -1)] * 10)
    check(xp.signbit(xp.asarray(both)), np.signbit(both))
    for nan in both[:2]:
        assert bool(xp.signbit(xp.asarray(nan))) == bool(np.signbit(nan))
        assert bool(xp.signbit(xp.full((2, 3), nan))[1, 2]) == bool(np.signbit(nan))
    magnitudes, signs = np.meshgrid([NAN, -NAN, 1.0, -0.0, INF], [NAN, -NAN, -0.0, 0.0, -1.0, INF])
    out = xp.copysign(xp.asarray(magnitudes), xp.asarray(signs))
    check(xp.signbit(out), np.signbit(signs))
    check(xp.abs(out), np.abs(magnitudes))


OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_and_python_scalars_have_the_special_values_of_the_function(name: str, dtype: str) -> None:
    numbers = np.array(NUMBERS, dtype)
    x, apply = xp.asarray(numbers), OPERATORS[name]
    with context(tier="interpret"):
        for y in NUMBERS:
            many = xp.full_like(x, y)
            right, left = getattr(xp, name)(x, many), getattr(xp, name)(many, x)
            for out, wanted in ((apply(x, y), right), (apply(y, x), left), (apply(x, many), right)):
                assert out.dtype == wanted.dtype
                assert equal(out, wanted, ULPS), y
                signs = np.signbit(np.asarray(out).astype(dtype)), np.signbit(np.asarray(wanted, dtype))
                assert (signs[0] == signs[1])[~np.isnan(np.asarray(wanted))].all(), y  # that of a nan means nothing


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_with_a_constant_exponent(dtype: str, tier: str) -> None:
    numbers = np.array(NUMBERS, dtype)
    exponents = [0.5, -0.5, 2.0, 3.0, -1.0, 1.0, 0.0]
    powers = xp.jit(lambda x: [x**y for y in exponents])
    eps = float(np.finfo(dtype).eps)
    for shape in ((15,), (15, 1)):
        for y, out in zip(exponents, powers(xp.asarray(numbers.reshape(shape))), strict=True):
            wanted = np.power(numbers, np.full(15, y, dtype))  # for each its own, since NumPy has a root for all of 0.5
            for x, value, power in zip(NUMBERS, np.ravel(out).tolist(), wanted.tolist(), strict=True):
                assert is_value(value, power, False, eps), f"{x} ** {y}: {value}"


# ----------------------------------------------------------------------------------------- along axes, conversions

SIZES = [1, 3, 70]  # nothing to combine, unrolled, in vectors with a rest


TO_NUMBERS = ("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin")
TO_ROWS = ("cumulative_sum", "cumulative_prod")


@pytest.mark.parametrize("n", SIZES)
def test_reductions_carry_nan(n: int, tier: str) -> None:
    functions = xp.jit(lambda x: {name: getattr(xp, name)(x, axis=1) for name in (*TO_NUMBERS, *TO_ROWS)})
    for place in {0, n // 2, n - 1}:
        row = np.ones((2, n))
        row[0, place] = NAN
        out = {name: np.asarray(x) for name, x in functions(xp.asarray(row)).items()}
        for name in TO_NUMBERS:
            wanted = [place, 0] if name.startswith("arg") else [True, False]
            assert (out[name] if name.startswith("arg") else np.isnan(out[name])).tolist() == wanted, name
        for name in TO_ROWS:
            assert np.isnan(out[name][0]).tolist() == [i >= place for i in range(n)], name


@pytest.mark.parametrize("dtype", COMPLEX)
def test_a_mean_is_that_of_each_part(dtype: str, tier: str) -> None:
    for special in (NAN, INF):
        z = np.array([1 + 2j, complex(special, 2), complex(1, special)], dtype)
        z = np.stack([np.repeat(z[i : i + 1], 19) for i in range(3)])
        z[1:, 1:] = 1 + 2j
        out = xp.mean(xp.asarray(z), axis=1)
        check(out, np.array([1 + 2j, complex(special, 2), complex(1, special)], dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_reductions_of_nothing(dtype: str, tier: str) -> None:
    names = ("sum", "prod", "mean", "var", "std", "all", "any", "count_nonzero")
    functions = xp.jit(lambda x: {name: getattr(xp, name)(x, axis=-1) for name in names})
    for shape in ((0,), (3, 0)):
        x, nothing = xp.zeros(shape, dtype=getattr(xp, dtype)), np.zeros(shape[:-1], dtype)
        out = functions(x)
        nan: Any = nothing + np.array(complex(NAN, NAN) if dtype in COMPLEX else NAN, dtype)
        for name, wanted in {"sum": nothing, "prod": nothing + nothing.dtype.type(1), "mean": nan}.items():
            check(out[name], wanted)
        check(out["var"], nan.real)
        check(out["std"], nan.real)
        check(out["all"], np.ones(shape[:-1], bool))
        check(out["any"], np.zeros(shape[:-1], bool))
        check(out["count_nonzero"], np.zeros(shape[:-1], np.int64))
        for name in ("max", "min", "argmax", "argmin") if dtype in FLOATS else ():
            with pytest.raises(ShapeError, match=name):
                getattr(xp, name)(x, axis=-1)


def test_a_variance_wants_more_numbers_than_its_correction(tier: str) -> None:
    wanted = {0: 2 / 3, 1: 1, 2: 2, 2.5: 4, 3: NAN, 3.5: NAN, 4: NAN, -1: 0.5}
    functions = xp.jit(lambda x: [(xp.var(x, correction=c), xp.std(x, correction=c)) for c in wanted])
    for (var, std), variance in zip(functions(xp.asarray([1.0, 2.0, 3.0])), wanted.values(), strict=True):
        check(var, np.asarray(variance, np.float64), ULPS)
        check(std, np.sqrt(np.asarray(variance, np.float64)), ULPS)


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_negative_zeros_start_from_zero(n: int, tier: str) -> None:
    zeros = np.full((2, n), -0.0)
    check(xp.sum(xp.asarray(zeros), axis=1), [0.0, 0.0])
    check(xp.sum(xp.asarray(zeros.T), axis=0), [0.0, 0.0])
    check(xp.mean(xp.asarray(zeros), axis=1), [0.0, 0.0])
    check(xp.cumulative_sum(xp.asarray(zeros), axis=1), zeros)


def test_clip_with_nan(tier: str) -> None:
    x, low, high = np.meshgrid([NAN, -INF, 0.0, 5.0, INF], [NAN, -INF, 1.0], [NAN, 2.0, INF])
    out = np.asarray(xp.clip(*map(xp.asarray, (x, low, high))))
    assert equal(out, np.minimum(np.maximum(x, low), high))
    assert np.isnan(np.asarray(xp.clip(xp.asarray(1.0), NAN, 2.0)))
    assert np.isnan(np.asarray(xp.clip(xp.asarray(1.0), 0.0, NAN)))


def test_of_equal_extremes_the_first_is_found(tier: str) -> None:
    rows = np.ones((6, 19))
    rows[0], rows[1], rows[2, 5:], rows[3, 7:] = INF, -INF, NAN, -0.0
    rows[4, :2], rows[5, :2] = (0.0, -0.0), (-0.0, 0.0)
    check(xp.argmax(xp.asarray(rows), axis=1), [0, 0, 5, 0, 2, 2])
    check(xp.argmin(xp.asarray(rows), axis=1), [0, 0, 5, 7, 0, 0])


@pytest.mark.parametrize("n", [2, 19])
def test_infinity_times_zero_is_seen_in_products_of_matrices(n: int, tier: str) -> None:
    a, b = np.zeros((n, n)), np.ones((n, n))
    a[0, 0], b[0] = INF, 0
    wanted = np.zeros((n, n))
    wanted[0] = NAN
    check(xp.matmul(xp.asarray(a), xp.asarray(b)), wanted)
    check(xp.tensordot(xp.asarray(a), xp.asarray(b), axes=1), wanted)
    check(xp.vecdot(xp.asarray(a), xp.asarray(b)), [NAN] + [0.0] * (n - 1))


def test_truth_of_special_values(tier: str) -> None:
    parts = [NAN, INF, -INF, 5e-324, 0.0, -0.0]
    real: Any = np.array(parts)
    pairs: Any = np.array([complex(a, b) for a in parts for b in parts])
    for values in (real, pairs):
        truth = (values.real != 0) | (values.imag != 0)
        check(xp.astype(xp.asarray(values), xp.bool), truth)
        check(xp.all(xp.asarray(values[:, None]), axis=1), truth)
        check(xp.any(xp.asarray(values[:, None]), axis=1), truth)
        assert [bool(xp.asarray(x)) for x in values] == truth.tolist()


def test_conversions_to_python_numbers() -> None:
    assert [complex(xp.asarray(x)) for x in (True, False, -INF, 2.5)] == [1, 0, -INF, 2.5]
    for nan in (complex(xp.asarray(NAN)), complex(xp.asarray(NAN, dtype=xp.float32))):
        assert nan.real != nan.real
        assert nan.imag != nan.imag
    assert repr(complex(xp.asarray(complex(NAN, 1)))) == "(nan+1j)"
    assert [float(xp.asarray(x)) for x in (True, False, INF)] == [1, 0, INF]
    assert [int(xp.asarray(x)) for x in (True, False, -0.0, 2.9, -2.9)] == [1, 0, 0, 2, -2]
    for infinite in (INF, -INF):
        with pytest.raises(OverflowError, match="infinity"):
            int(xp.asarray(infinite))
    with pytest.raises(ValueError, match="NaN"):
        int(xp.asarray(NAN))


def test_casts_of_truth_values(tier: str) -> None:
    truth, dtypes = np.asarray([True, False]), (*INTEGERS, *FLOATS, *COMPLEX)
    numbers = xp.jit(lambda x: [xp.astype(x, getattr(xp, dtype)) for dtype in dtypes])(xp.asarray(truth))
    for dtype, out in zip(dtypes, numbers, strict=True):
        check(out, truth.astype(dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_every_nan_is_unique_and_zeros_are_one(dtype: str) -> None:
    x = np.array([NAN, 1, NAN, -0.0, 0.0, complex(2, NAN).imag], dtype)
    values, indices, inverse, counts = xp.unique_all(xp.asarray(x))
    check(counts, [2, 1, 1, 1, 1])
    check(xp.isnan(values), [False, False, True, True, True])
    assert equal(np.asarray(values)[np.asarray(inverse)] + 0, x + 0)
    assert equal(x[np.asarray(indices)] + 0, np.asarray(values) + 0)


def test_linear_algebra_of_zeros_and_of_nothing() -> None:
    for dtype in (*FLOATS, *COMPLEX):
        sign, logarithm = xp.linalg.slogdet(xp.zeros((2, 2), dtype=getattr(xp, dtype)))
        check(sign, np.zeros((), dtype))
        check(logarithm, np.full((), -INF, np.finfo(dtype).dtype))
        check(xp.linalg.trace(xp.zeros((0, 0), dtype=getattr(xp, dtype))), np.zeros((), dtype))
    check(xp.linalg.trace(xp.asarray([[NAN, 1], [2, INF]])), np.asarray(NAN))


# ----------------------------------------------------------------------------------------- finite complex numbers


def spread(dtype: str, low: float, high: float, n: int = 200) -> Values:
    """Complex numbers in all quadrants, with parts from 10**low to 10**high."""
    random = np.random.default_rng(7)
    size, sign = 10 ** random.uniform(low, high, (2, n)), random.choice([-1, 1], (2, n))
    z = np.empty(n, dtype)
    z.real, z.imag = size * sign
    return z


def on_circle(dtype: str, n: int = 200) -> Values:
    """Complex numbers of modulus 1, nearly."""
    random = np.random.default_rng(8)
    angle = random.uniform(-np.pi, np.pi, n)
    return ((1 + random.normal(0, 1e-6, n)) * np.exp(1j * angle)).astype(dtype)


def regions(dtype: str) -> list[Values]:
    """Where complex functions lose digits or overflow in between: near 0, the limits of the dtype, the unit circle."""
    limits = np.finfo(dtype)
    low, high = float(np.log10(limits.tiny)), float(np.log10(limits.max))
    circle = on_circle(dtype)
    wide = [spread(dtype, a, b) for a, b in ((-2, 2), (-12, -3), (low, high), (high - 1, high), (low - 4, low))]
    return [*wide, circle, circle - 1, circle + 1]


def log1p_of(z: Values) -> Values:
    """``log(1 + z)``, of which NumPy's loses the real part near 0."""
    a, b = z.real, z.imag
    near = np.log1p(a * (2 + a) + b * b) / 2
    out: Any = np.log(1 + z)
    out.real = np.where((np.abs(a) < 0.5) & (np.abs(b) < 0.5), near, out.real)
    return out


def expm1_of(z: Values) -> Values:
    return np.where(z.real > 60, np.exp(z), np.expm1(z))


# compared with the same function in the longest floats; the names are NumPy's where they differ
FINITE: dict[str, Callable[[Values], Values]] = {
    "abs": np.absolute,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "expm1": expm1_of,
    "log": np.log,
    "log1p": log1p_of,
    "log2": np.log2,
    "log10": np.log10,
    "sign": lambda z: z / np.absolute(z),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
}


def error(got: Values, wanted: Values) -> float:
    """The largest error of a part, in units in the last place of the larger part; 0 where too large."""
    limits = np.finfo(got.dtype)
    size = np.maximum(np.abs(wanted.real), np.abs(wanted.imag))
    unit = np.maximum(size * limits.eps, limits.smallest_subnormal)
    apart = np.maximum(np.abs(got.real - wanted.real), np.abs(got.imag - wanted.imag)) / unit
    return float(np.max(np.where(size <= limits.max, apart, 0)))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_finite_complex_numbers(dtype: str, tier: str) -> None:
    functions = all_functions("complex")
    wide = np.clongdouble if dtype == "complex128" else np.complex128
    for z in regions(dtype):
        out = functions(xp.asarray(z))
        for name, function in FINITE.items():
            assert error(np.asarray(out[name]), function(z.astype(wide))) <= ULPS, name


@pytest.mark.parametrize("dtype", COMPLEX)
def test_quotients_and_powers_of_complex_numbers_are_those_of_numpy_in_a_wider_type(dtype: str, tier: str) -> None:
    functions = xp.jit(lambda x, y: [xp.divide(x, y), xp.pow(x, y), *[xp.pow(x, n) for n in (2, 3, -2, 7, 99, 100)]])
    for x, y in zip(regions(dtype), regions(dtype)[::-1], strict=True):
        quotient, power, *powers = functions(xp.asarray(x), xp.asarray(y))
        wide_x, wide_y = (z.astype(np.clongdouble if dtype == "complex128" else np.complex128) for z in (x, y))
        assert equal(quotient, (wide_x / wide_y).astype(dtype), 1)
        assert equal(power, (wide_x**wide_y).astype(dtype), 1)
        for n, out in zip((2, 3, -2, 7, 99, 100), powers, strict=True):
            assert equal(out, np.power(wide_x, n + 0j).astype(dtype), 1), n


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [-0.0, 0.0, -0.0], [2.0, 2.0, 5.0, 5.0, 5.0]])
def test_the_gradient_of_what_does_not_change_has_the_sign_of_numpys_zero(values: list[float], edge_order: Any) -> None:
    for x in (np.array(values), -np.array(values)):
        got, wanted = xp.gradient(xp.asarray(x), edge_order=edge_order), np.gradient(x, edge_order=edge_order)
        np.testing.assert_array_equal(np.asarray(got), wanted)
        np.testing.assert_array_equal(np.signbit(np.asarray(got)), np.signbit(wanted))
