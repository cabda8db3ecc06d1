"""All functions of the standard on extreme values, in both executors: NumPy's result, or a Python exception.

Interpreted, a function meets many dtypes, shapes and layouts; compiled, few, because each makes a kernel. Sums and
products get extremes of small size, since the order of additions decides what the large ones come to.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uopc_array as xp
from tests.functions.test_inspection import SIGNATURES
from tests.support.extreme_judges import COMPLEX_UNARY, JUDGES, Judge
from tests.support.reference import COMPLEX, FLOATS, INTEGERS, check, equal, layouts
from uopc_core import context

Values = np.ndarray[Any, Any]
Call = Callable[..., Any]


class Function(NamedTuple):
    """How to call it with a namespace and arrays, on which dtypes, and how near to NumPy it comes, or its judge."""

    call: Call
    arity: int = 1
    dtypes: tuple[str, ...] = (*INTEGERS, *FLOATS)
    ulps: float = 0
    small: bool = False
    judge: Judge | None = None
    least_ndim: int = 0


REAL, WHOLE = tuple(INTEGERS + FLOATS), ("bool", *INTEGERS)
FLOATING, NUMBERS = tuple(FLOATS), (*INTEGERS, *FLOATS, *COMPLEX)
ANY = ("bool", *NUMBERS)


def named(names: str, arity: int = 1, dtypes: tuple[str, ...] = REAL, **more: Any) -> dict[str, Function]:
    """Functions that take arrays alone."""
    return {
        name: Function(lambda ns, *arrays, name=name: attrgetter(name)(ns)(*arrays), arity, dtypes, **more)
        for name in names.split()
    }


def along(names: str, dtypes: tuple[str, ...] = REAL, **more: Any) -> dict[str, Function]:
    """Functions that take an axis; NumPy finds one in a 0-d array."""
    return {
        name: Function(lambda ns, x, name=name: attrgetter(name)(ns)(x, axis=-1), 1, dtypes, least_ndim=1, **more)
        for name in names.split()
    }


def judged(case: str, name: str, arity: int, dtypes: Sequence[str], **more: Any) -> Function:
    """A function with the judge of that case."""
    return Function(lambda ns, *arrays: attrgetter(name)(ns)(*arrays), arity, tuple(dtypes), judge=JUDGES[case], **more)


FUNCTIONS: dict[str, Function] = {
    **named("abs ceil floor negative positive round sign square trunc"),
    **named("conj imag real", dtypes=(*FLOATS, *COMPLEX)),
    **named("isfinite isinf isnan", dtypes=NUMBERS),
    **named("signbit reciprocal", dtypes=FLOATING),
    **named("bitwise_invert logical_not", dtypes=("bool",)),
    **named("acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh",
            dtypes=FLOATING, ulps=8),
    **named("add multiply subtract maximum minimum remainder equal not_equal less less_equal greater greater_equal", 2),
    **named("floor_divide", 2, tuple(INTEGERS)),
    **named("divide copysign nextafter", 2, FLOATING),
    **named("atan2 hypot logaddexp pow", 2, FLOATING, ulps=8),
    **named("bitwise_and bitwise_or bitwise_xor", 2, WHOLE),
    **named("logical_and logical_or logical_xor", 2, ("bool",)),
    "bitwise_left_shift": Function(lambda ns, x: ns.bitwise_left_shift(x, ns.asarray(3, dtype=x.dtype)), 1,
                                   tuple(INTEGERS)),
    "bitwise_right_shift": Function(lambda ns, x: ns.bitwise_right_shift(x, ns.asarray(9, dtype=x.dtype)), 1,
                                    tuple(INTEGERS)),
    "clip": Function(lambda ns, x, low: ns.clip(x, low, low), 2),
    "where": Function(lambda ns, x, y: ns.where(x > y, x, y), 2),
    **named("all any count_nonzero", dtypes=ANY),
    **along("argmax argmin max min"),
    "argsort": Function(lambda ns, x: ns.argsort(x, axis=-1, stable=True), least_ndim=1),
    "sort": Function(lambda ns, x: ns.sort(x, axis=-1, stable=True), least_ndim=1),
    **along("mean std var", FLOATING, ulps=64, small=True),
    **along("sum prod", ulps=64, small=True),
    "cumulative_sum": Function(lambda ns, x: ns.cumulative_sum(x, axis=x.ndim - 1), ulps=64, small=True),
    "cumulative_prod": Function(lambda ns, x: ns.cumulative_prod(x, axis=x.ndim - 1), ulps=64, small=True),
    **along("diff flip", ulps=2),
    **named("nonzero", least_ndim=1),
    # NumPy gives unique values in any order, and of -0.0 and 0.0 either
    "unique_values": Function(lambda ns, x: ns.sort(ns.unique_values(x)) + 0),
    "unique_counts": Function(lambda ns, x: tuple(part + 0 for part in ns.unique_counts(x))),
    "unique_inverse": Function(lambda ns, x: tuple(part + 0 for part in ns.unique_inverse(x))),
    "searchsorted": Function(lambda ns, x, v: ns.searchsorted(ns.sort(ns.reshape(x, (-1,))), v), 2),
    "isin": Function(lambda ns, x, y: ns.isin(x, ns.reshape(y, (-1,))), 2, tuple(INTEGERS)),
    "concat": Function(lambda ns, x, y: ns.concat([x, y], axis=-1), 2, ANY),
    "stack": Function(lambda ns, x, y: ns.stack([x, y], axis=-1), 2, ANY),
    "unstack": Function(lambda ns, x: ns.unstack(x, axis=-1), 1, ANY),
    "roll": Function(lambda ns, x: ns.roll(x, 3), 1, ANY),
    "repeat": Function(lambda ns, x: ns.repeat(x, 2), 1, ANY),
    "tile": Function(lambda ns, x: ns.tile(x, (2, 1)), 1, ANY),
    "reshape": Function(lambda ns, x: ns.reshape(x, (-1,)), 1, ANY),
    "expand_dims": Function(lambda ns, x: ns.expand_dims(x, axis=-1), 1, ANY),
    "squeeze": Function(lambda ns, x: ns.squeeze(x[None], axis=0), 1, ANY),
    "moveaxis": Function(lambda ns, x: ns.moveaxis(x, 0, -1), 1, ANY),
    "permute_dims": Function(lambda ns, x: ns.permute_dims(x, tuple(range(x.ndim))[::-1]), 1, ANY),
    "broadcast_to": Function(lambda ns, x: ns.broadcast_to(x, (2, *x.shape)), 1, ANY),
    "broadcast_arrays": Function(lambda ns, x, y: ns.broadcast_arrays(x, y[None]), 2, ANY),
    "meshgrid": Function(lambda ns, x: ns.meshgrid(ns.reshape(x, (-1,)), ns.reshape(x, (-1,))), 1, NUMBERS),
    **named("tril triu", dtypes=ANY, least_ndim=2),
    **named("zeros_like ones_like", dtypes=ANY),
    "full_like": Function(lambda ns, x: ns.full_like(x, 1), 1, ANY),
    "take": Function(lambda ns, x: ns.take(x, ns.asarray([0, -1]), axis=-1), 1, ANY, least_ndim=1),
    "take_along_axis": Function(lambda ns, x: ns.take_along_axis(x, ns.argsort(x, axis=-1, stable=True), axis=-1),
                                least_ndim=1),
    "astype": Function(lambda ns, x: ns.astype(x, ns.complex128), 1, ANY),
    "astype bool": Function(lambda ns, x: ns.astype(x, ns.bool), 1, ANY),
    "astype narrow": Function(lambda ns, x: ns.astype(x, ns.int8), 1, WHOLE),
    "astype single": Function(lambda ns, x: ns.astype(x, ns.float32), 1, REAL),
    "matmul": Function(lambda ns, x, y: ns.matmul(x, ns.matrix_transpose(y)), 2, ulps=64, small=True),
    "tensordot": Function(lambda ns, x, y: ns.tensordot(x, y, axes=x.ndim), 2, ulps=64, small=True),
    "vecdot": Function(lambda ns, x, y: ns.vecdot(x, y), 2, ulps=64, small=True),
    "matrix_transpose": Function(lambda ns, x: ns.matrix_transpose(x), 1, ANY),
    **{f"complex {name}": judged(f"complex {name}", name, 1, COMPLEX) for name in COMPLEX_UNARY},
    "complex sort": judged("complex sort", "sort", 1, COMPLEX, least_ndim=1),
    **{f"complex {name}": judged(f"complex {name}", name, 2, COMPLEX)
       for name in "add subtract multiply divide pow floor_divide".split()},
    "complex prod": judged("complex prod", "prod", 1, COMPLEX, small=True),
    "float floor_divide": judged("float floor_divide", "floor_divide", 2, FLOATING),
    "integer pow": judged("integer pow", "pow", 2, INTEGERS),
    **{name: judged(name, name, 1, REAL, small=True, least_ndim=2) for name in JUDGES
       if name.startswith("linalg") and name not in ("linalg.solve", "linalg.cholesky")},
    **{name: judged(name, name, 1, REAL, small=True, least_ndim=1) for name in JUDGES if name.startswith("fft")},
    "linalg.cholesky": Function(
        lambda ns, x: ns.linalg.cholesky(x @ ns.matrix_transpose(x) + ns.eye(x.shape[-2], dtype=x.dtype)),
        1, FLOATING, small=True, judge=JUDGES["linalg.cholesky"], least_ndim=2),
    "linalg.solve": Function(lambda ns, x, y: ns.linalg.solve(x @ ns.matrix_transpose(x), y), 2, FLOATING, small=True,
                             judge=JUDGES["linalg.solve"], least_ndim=2),
}  # fmt: skip

SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (6,), (2, 0, 3), (3, 3), (2, 1, 4))


def extremes(dtype: str, small: bool) -> list[Any]:
    """Values at which something may happen."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [False, True]
    if kind in "iu":
        limits = np.iinfo(dtype)
        far = [] if small else [limits.min, limits.max, limits.max - 1, limits.max // 2]
        return [0, 1, 2, 7, *far] if kind == "u" else [0, 1, -1, 2, -7, *far]
    limits = np.finfo(np.float32 if dtype in ("float32", "complex64") else np.float64)
    near = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, float(limits.eps), np.nan, np.inf, -np.inf]
    far = [float(v) for v in (limits.max, limits.min, limits.smallest_normal, limits.smallest_subnormal, 1e15, -1e30)]
    return near if small else near + far


def draw(dtype: str, shape: tuple[int, ...], seed: int, small: bool, finite: bool = False) -> Values:
    random, pool = np.random.default_rng(seed), extremes(dtype, small)
    pool = [value for value in pool if np.isfinite(value)] if finite else pool
    if np.dtype(dtype).kind == "c":
        out: Any = np.empty(shape, dtype)
        out.real, out.imag = random.choice(pool, shape), random.choice(pool, shape)
        return out
    return np.asarray([pool[i] for i in random.integers(0, len(pool), int(np.prod(shape)))], dtype).reshape(shape)


def outcome(call: Call, *arguments: Any) -> tuple[Any, ...] | Exception:
    """All arrays that come out, computed, or the exception."""
    try:
        out = call(*arguments)
        parts = tuple(out) if isinstance(out, tuple | list) else (out,)
        for part in parts:
            np.asarray(part)
        return parts
    except Exception as error:  # any Python exception will do, a crash of the interpreter will not
        return error


def compare(function: Function, ours: Any, wanted: Any) -> None:
    if isinstance(ours, Exception):
        assert isinstance(wanted, Exception), f"{ours!r}, but NumPy gives {wanted}"
    elif not isinstance(wanted, Exception):
        for got, want in zip(ours, wanted, strict=True):
            want = np.asarray(want)
            atol = float(np.finfo(want.dtype).eps) * 64 if function.small and want.dtype.kind == "f" else 0.0
            check(got, want, function.ulps, atol)


def run(function: Function, dtype: str, shape: tuple[int, ...], layout: int, seed: int) -> None:
    finite = function.judge is not None and seed % 2 == 1  # matrices without nan and infinity are rare otherwise
    drawn = [list(layouts(draw(dtype, shape, seed + k, function.small, finite))) for k in range(function.arity)]
    chosen = [views[layout % len(views)] for views in drawn]
    ours = outcome(function.call, xp, *[pair[0] for pair in chosen])
    operands = [pair[1] for pair in chosen]
    if function.judge is None:
        compare(function, ours, outcome(function.call, np, *operands))
    else:
        function.judge(operands, ours if isinstance(ours, Exception) else [np.asarray(part) for part in ours])


def run_interpreted(function: Function, max_examples: int) -> None:
    """Examples of all its dtypes, shapes and layouts."""

    @settings(max_examples=max_examples)
    @given(st.sampled_from(function.dtypes), st.sampled_from(SHAPES), st.integers(0, 3), st.integers(0, 1000))
    def examine(dtype: str, shape: tuple[int, ...], layout: int, seed: int) -> None:
        if len(shape) >= function.least_ndim:
            with context(tier="interpret"):
                run(function, dtype, shape, layout, seed)

    examine()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_interpreted(function: Function) -> None:
    run_interpreted(function, 15)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_compiled(function: Function) -> None:
    @settings(max_examples=4)
    @given(st.integers(0, 1000))
    def examine(seed: int) -> None:
        with context(tier="compile"):
            run(function, function.dtypes[-1], (3, 3), 3, seed)
            run(function, function.dtypes[0], (2, 0, 3), 0, seed)

    examine()


def test_every_function_of_the_standard_is_examined_or_has_no_values() -> None:
    known = {name.rpartition(" ")[2] for name in FUNCTIONS} | {name.split()[0] for name in FUNCTIONS}
    of_shapes_and_dtypes = set(
        """
        arange asarray empty empty_like eye from_dlpack full linspace ones zeros can_cast finfo iinfo isdtype
        result_type broadcast_shapes unique_all
    """.split()
    )
    listed = {name for names in SIGNATURES.values() for name in names.split() if "." not in name}
    assert listed - known - of_shapes_and_dtypes == set()


NUMBERS_AT_LIMITS: list[float] = [0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, 2**62, -(2**63)]


@pytest.mark.parametrize("start", NUMBERS_AT_LIMITS, ids=str)
def test_ranges_and_fills_of_extreme_numbers(start: float) -> None:
    with context(tier="interpret"):
        assert equal(xp.full((2, 2), float(start)), np.full((2, 2), float(start)))
        compare(Function(xp.linspace, ulps=4), outcome(xp.linspace, start, 1.0, 3), outcome(np.linspace, start, 1.0, 3))
        ours = outcome(lambda: xp.arange(start, start, 1.0))
        assert isinstance(ours, Exception) or ours[0].size == 0
