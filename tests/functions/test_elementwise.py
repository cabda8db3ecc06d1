"""Elementwise functions against NumPy over dtypes, shapes and layouts, on special values and on pairs of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.reference import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    SHAPES,
    check,
    layouts,
    values,
)

ULPS = 4  # of transcendental functions
INF, NAN = float("inf"), float("nan")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 5e-324, 1e-40, 1e300, -1e300, INF, -INF, NAN]


@dataclass(frozen=True)
class Unary:
    """A function of one argument: dtypes and range of arguments, NumPy's function where the name differs, tolerance."""

    name: str
    dtypes: list[str]
    low: float = -8
    high: float = 8
    numpy: Callable[..., Any] | None = None
    ulps: int = 0

    @property
    def reference(self) -> Callable[..., Any]:
        return self.numpy or getattr(np, self.name)


INEXACT = FLOATS + COMPLEX
UNARY = [
    *[Unary(name, INEXACT, low, high, ulps=ULPS) for name, low, high in [
        ("acos", -1, 1), ("acosh", 1, 8), ("asin", -1, 1), ("asinh", -8, 8), ("atan", -8, 8), ("atanh", -0.9, 0.9),
        ("cos", -8, 8), ("cosh", -8, 8), ("exp", -8, 8), ("expm1", -8, 8), ("log", 0.1, 8), ("log10", 0.1, 8),
        ("log1p", 0, 8), ("log2", 0.1, 8), ("sin", -8, 8), ("sinh", -8, 8), ("tan", -1, 1), ("tanh", -8, 8),
    ]],
    Unary("sqrt", FLOATS, 0, 8),
    Unary("sqrt", COMPLEX, -8, 8, ulps=ULPS),
    Unary("reciprocal", FLOATS, 1, 8),
    Unary("reciprocal", COMPLEX, 1, 8, ulps=ULPS),
    *[Unary(name, FLOATS) for name in ("ceil", "floor", "trunc")],
    *[Unary(name, INTEGERS, numpy=lambda x: +x) for name in ("ceil", "floor", "trunc", "round")],
    Unary("round", INEXACT, numpy=np.rint),
    Unary("abs", BOOL + REAL),
    Unary("abs", COMPLEX, ulps=ULPS),
    Unary("sign", REAL),
    Unary("sign", COMPLEX, numpy=lambda z: np.where(z == 0, 0, z / np.abs(z)).astype(z.dtype)[()], ulps=ULPS),
    Unary("signbit", REAL, numpy=lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0),
    Unary("square", BOOL + REAL),
    Unary("reciprocal", BOOL + INTEGERS),
    Unary("square", COMPLEX, ulps=ULPS),
    Unary("negative", NUMERIC),
    Unary("positive", NUMERIC),
    Unary("conj", ALL),
    *[Unary(name, NUMERIC) for name in ("real", "imag", "isfinite", "isinf", "isnan")],
    Unary("bitwise_invert", BOOL + INTEGERS, numpy=np.invert),
    Unary("logical_not", ALL),
]  # fmt: skip
IDS = [f"{case.name} {case.dtypes[0]}" for case in UNARY]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("case", UNARY, ids=IDS)
def test_a_function_of_one_argument_agrees_with_numpy(case: Unary, shape: tuple[int, ...]) -> None:
    for dtype in case.dtypes:
        for ours, theirs in layouts(values(dtype, shape, low=case.low, high=case.high)):
            check(getattr(xp, case.name)(ours), case.reference(theirs), case.ulps)


@pytest.mark.parametrize("case", [case for case in UNARY if "float64" in case.dtypes], ids=lambda case: case.name)
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_agree_with_numpy(case: Unary, dtype: str) -> None:
    x = np.asarray(SPECIAL).astype(dtype)
    check(getattr(xp, case.name)(xp.asarray(x)), case.reference(x), case.ulps)


@pytest.mark.parametrize("name", ["sin", "exp", "sqrt", "log", "tanh", "rint"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int32"])
def test_integers_become_float64(name: str, dtype: str) -> None:
    x = np.ones((2, 3), dtype)
    check(getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x.astype("float64")), ULPS)


# ------------------------------------------------------------------------------------------------------- two arguments


def _floor_divide(x: Any, y: Any) -> Any:
    """NumPy's, and the floor of the quotient where an operand is infinite."""
    out = np.floor_divide(x, y)
    if out.dtype.kind != "f":
        return out
    return np.where(np.isinf(x) | np.isinf(y), np.floor(np.divide(x, y)), out).astype(out.dtype)


@dataclass(frozen=True)
class Binary(Unary):
    """A function of two arguments."""


BINARY = [
    *[Binary(name, BOOL + REAL) for name in ("add", "multiply")],
    Binary("subtract", REAL),
    *[Binary(name, COMPLEX, ulps=ULPS) for name in ("add", "subtract", "multiply", "divide")],
    Binary("divide", FLOATS),
    Binary("floor_divide", REAL, 1, 8, numpy=_floor_divide),
    Binary("remainder", REAL, 1, 8),
    Binary("pow", FLOATS, 0.5, 4, ulps=ULPS),
    Binary("pow", COMPLEX, 0.5, 4, ulps=16),
    Binary("pow", INTEGERS, 0, 4),
    *[Binary(name, BOOL + REAL) for name in ("maximum", "minimum")],
    *[Binary(name, FLOATS, ulps=ULPS) for name in ("atan2", "hypot", "logaddexp")],
    *[Binary(name, FLOATS) for name in ("copysign", "nextafter")],
    *[Binary(f"bitwise_{name}", BOOL + INTEGERS) for name in ("and", "or", "xor")],
    Binary("bitwise_left_shift", INTEGERS, 0, 3, numpy=np.left_shift),
    Binary("bitwise_right_shift", INTEGERS, 0, 3, numpy=np.right_shift),
    *[Binary(f"logical_{name}", ALL) for name in ("and", "or", "xor")],
    *[Binary(name, BOOL + REAL) for name in ("less", "less_equal", "greater", "greater_equal")],
    *[Binary(name, ALL) for name in ("equal", "not_equal")],
]
BINARY_IDS = [f"{case.name} {case.dtypes[0]}" for case in BINARY]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("case", BINARY, ids=BINARY_IDS)
def test_a_function_of_two_arguments_agrees_with_numpy(case: Binary, shape: tuple[int, ...]) -> None:
    for dtype in case.dtypes:
        other = values(dtype, shape[-1:], seed=1, low=case.low, high=case.high)
        for ours, theirs in layouts(values(dtype, shape, low=case.low, high=case.high)):
            if theirs.shape[-1:] == other.shape:
                check(getattr(xp, case.name)(ours, xp.asarray(other)), case.reference(theirs, other), case.ulps)


@pytest.mark.parametrize("case", [case for case in BINARY if "float64" in case.dtypes], ids=lambda case: case.name)
@pytest.mark.parametrize("dtype", FLOATS)
def test_pairs_of_special_values_agree_with_numpy(case: Binary, dtype: str) -> None:
    x = np.asarray(SPECIAL).astype(dtype)
    out = getattr(xp, case.name)(xp.asarray(x[:, None]), xp.asarray(x))
    check(out, case.reference(x[:, None], x), case.ulps)


@pytest.mark.parametrize("left", ALL)
@pytest.mark.parametrize("right", ALL)
def test_mixed_dtypes_promote_as_in_numpy(left: str, right: str) -> None:
    x, y = values(left, (3,), low=1), values(right, (3,), seed=1, low=1)
    check(xp.add(xp.asarray(x), xp.asarray(y)), np.add(x, y), ULPS)
    check(xp.equal(xp.asarray(x), xp.asarray(y)), np.equal(x, y))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "pow", "less", "divide"])
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("scalar", [2, 2.5])
def test_a_python_scalar_is_weak(name: str, dtype: str, scalar: float) -> None:
    x = values(dtype, (4,), low=1, high=4)
    as_wide = x.astype("float64") if isinstance(scalar, float) and x.dtype.kind in "iu" else x
    as_float = as_wide.astype("float64") if name == "divide" and as_wide.dtype.kind in "iu" else as_wide
    check(getattr(xp, name)(xp.asarray(x), scalar), getattr(np, name)(as_float, scalar), ULPS)
    check(getattr(xp, name)(scalar, xp.asarray(x)), getattr(np, name)(scalar, as_float), ULPS)


def test_signed_and_unsigned_are_compared_by_value() -> None:
    x, y = xp.asarray([2**63 - 1, -1, 5]), xp.asarray([2**63, 0, 5], dtype=xp.uint64)
    check(xp.less(x, y), [True, True, False])
    check(xp.less_equal(x, y), [True, True, True])
    check(xp.greater(x, y), [False, False, False])
    check(xp.greater_equal(y, x), [True, True, True])
    check(xp.equal(x, y), [False, False, True])
    check(xp.not_equal(y, x), [True, True, False])


def test_a_python_int_beyond_the_dtype_is_compared_by_value() -> None:
    x = xp.asarray([0, 255], dtype=xp.uint8)
    check(xp.less(x, 300), [True, True])
    check(xp.greater(x, -1), [True, True])
    check(xp.equal(x, 256), [False, False])


@given(st.lists(st.floats(width=32), min_size=1, max_size=20), st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_exact_arithmetic_has_the_bits_of_numpy(left: list[float], right: list[float]) -> None:
    x, y = np.asarray(left, "float32")[:, None], np.asarray(right, "float32")
    for name in ("add", "subtract", "multiply", "divide", "remainder", "maximum", "copysign"):
        check(getattr(xp, name)(xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20), st.integers(-(2**63), 2**63 - 1))
def test_integer_extremes_wrap_as_in_numpy(left: list[int], right: int) -> None:
    x, y = np.asarray(left), np.asarray([right])
    for name in ("add", "subtract", "multiply", "floor_divide", "remainder", "maximum"):
        check(getattr(xp, name)(xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y))


# ---------------------------------------------------------------------------------------------------------------- clip

CLIP_BOUNDS: dict[str, tuple[Any, Any]] = {
    "both": (-1, 2), "low": (0, None), "high": (None, 1), "neither": (None, None), "crossed": (2, -1),
    "equal": (1, 1),
}  # fmt: skip


@pytest.mark.parametrize("bounds", CLIP_BOUNDS.values(), ids=CLIP_BOUNDS.keys())
@pytest.mark.parametrize("dtype", ["int8", "int64", *FLOATS])
def test_clip_by_scalars_agrees_with_numpy(dtype: str, bounds: tuple[Any, Any]) -> None:
    x = values(dtype, (3, 4))
    wanted = x if bounds == (None, None) else np.clip(x, *bounds)
    check(xp.clip(xp.asarray(x), *bounds), wanted)
    check(xp.clip(xp.asarray(x), min=bounds[0], max=bounds[1]), wanted)


def test_clip_by_arrays_broadcasts_and_propagates_nan() -> None:
    x, low, high = np.asarray([[-5.0, NAN], [0.5, 9.0]]), np.asarray([-1.0, 0.0]), np.asarray([[1.0], [NAN]])
    check(xp.clip(xp.asarray(x), xp.asarray(low), xp.asarray(high)), np.clip(x, low, high))


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "signbit"])
def test_complex_is_refused_where_there_is_no_order(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: expected a real dtype, got complex128"):
        getattr(xp, name)(xp.asarray([1j]))


@pytest.mark.parametrize("name", ["less", "maximum", "atan2", "hypot", "remainder"])
def test_two_complex_operands_are_refused_where_there_is_no_order(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: expected a real dtype"):
        getattr(xp, name)(xp.asarray([1j]), xp.asarray([1j]))


def test_bits_of_floats_are_refused() -> None:
    with pytest.raises(TypeError, match="bitwise_and: expected an integer dtype or bool, got float64"):
        xp.bitwise_and(xp.asarray([1.0]), xp.asarray([1.0]))


def test_bool_has_no_difference() -> None:
    with pytest.raises(TypeError, match="subtract: expected numbers, got two bool operands"):
        xp.subtract(xp.asarray([True]), xp.asarray([True]))


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(ValueError, match=r"add: shapes \(3,\) and \(4,\) cannot be broadcast together"):
        xp.add(xp.ones(3), xp.ones(4))


def test_a_python_int_out_of_range_is_refused() -> None:
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        xp.add(xp.asarray([1], dtype=xp.uint8), 300)


def test_integers_to_a_negative_power_are_refused() -> None:
    with pytest.raises(ValueError, match="pow: integers to the negative power -1"):
        xp.pow(xp.asarray([2]), -1)
