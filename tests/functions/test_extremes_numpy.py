"""NumPy's other functions, operators, methods and keys on extreme values; both executors, any number of threads.

The machinery, and the functions of the standard, are in test_extremes.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uopc_array as xp
from tests.functions.test_extremes import (
    ANY,
    FLOATING,
    FUNCTIONS,
    NUMBERS,
    REAL,
    WHOLE,
    Function,
    along,
    draw,
    extremes,
    judged,
    named,
    outcome,
    run,
    run_interpreted,
)
from tests.support.extreme_keys import KEYS, build
from tests.support.reference import INTEGERS, equal
from uopc_core import context

SIGNED = ("int8", "int16", "int32", "int64")

EXTRAS: dict[str, Function] = {
    **named("absolute around array conjugate copy fliplr flipud ravel atleast_1d atleast_2d atleast_3d transpose",
            dtypes=NUMBERS, least_ndim=2),
    **named("angle cbrt deg2rad degrees exp2 rad2deg radians arccos arccosh arcsin arcsinh arctan arctanh",
            dtypes=FLOATING, ulps=8),
    "sinc": judged("sinc", "sinc", 1, FLOATING),
    **named("rint fabs isneginf isposinf nan_to_num", dtypes=FLOATING),
    **named("bitwise_not invert", dtypes=WHOLE),
    **named("mod append", 2),
    # of -0.0 and 0.0 either may be the extreme
    **{name: Function(lambda ns, x, y, name=name: getattr(ns, name)(x, y) + 0, 2) for name in ("fmax", "fmin")},
    **{name: Function(lambda ns, x, y, name=name: ns.asarray(getattr(ns, name)(x, y)), 2, REAL)
       for name in ("array_equal", "array_equiv", "allclose")},
    **named("fmod divmod", 2, tuple(INTEGERS)),
    **named("heaviside true_divide isclose", 2, FLOATING),
    **named("float_power power arctan2 logaddexp2", 2, FLOATING, ulps=8),
    **along("amax amin cumsum cumprod ptp", ulps=64, small=True),
    # NumPy has nan for the median of nothing
    **{name: Function(lambda ns, x, name=name: getattr(ns, name)(ns.append(x, ns.ones(1, x.dtype))), 1, FLOATING,
                      ulps=64, small=True) for name in ("median", "nanmedian")},
    **along("nanmax nanmin nanmean nanstd nanvar nansum nanprod average", FLOATING, ulps=64,
            small=True),
    "quantile": Function(lambda ns, x: ns.quantile(x, 0.3, axis=-1), 1, FLOATING, ulps=64, small=True, least_ndim=1),
    "gradient": Function(lambda ns, x: ns.gradient(x, axis=-1), 1, FLOATING, ulps=8, small=True, least_ndim=1),
    "trapezoid": Function(lambda ns, x: ns.trapezoid(x, axis=-1), 1, FLOATING, ulps=64, small=True, least_ndim=1),
    **{name: Function(lambda ns, x, y, name=name: getattr(ns, name)([x, y]), 2, ANY, least_ndim=2)
       for name in ("vstack", "hstack", "dstack", "column_stack", "concatenate")},
    **{name: Function(lambda ns, x, y, name=name: getattr(ns, name)(ns.ravel(x), ns.ravel(y)), 2, ulps=64, small=True,
                      least_ndim=1) for name in ("inner", "dot", "outer", "vdot", "kron")},
    "convolve": Function(lambda ns, x, y: ns.convolve(ns.ravel(x), ns.ravel(y)[:2]), 2, FLOATING, ulps=64, small=True),
    "correlate": Function(lambda ns, x, y: ns.correlate(ns.ravel(x), ns.ravel(y)[:2], "same"), 2, FLOATING, ulps=64,
                          small=True),
    **named("diag diagonal trace rot90", dtypes=NUMBERS, least_ndim=2, small=True),
    "swapaxes": Function(lambda ns, x: ns.swapaxes(x, 0, -1), 1, ANY, least_ndim=1),
    "array_split": Function(lambda ns, x: ns.array_split(x, 4), 1, ANY, least_ndim=1),
    **{f"pad {mode}": Function(lambda ns, x, mode=mode: ns.pad(x, 3, mode=mode), 1, NUMBERS, least_ndim=1)
       for mode in ("constant", "edge", "reflect", "symmetric", "wrap")},
    "einsum": Function(lambda ns, x, y: ns.einsum("...,...->...", x, y) + 0, 2),
}  # fmt: skip


def in_place(name: str) -> Callable[[Any, Any, Any], Any]:
    def call(ns: Any, x: Any, y: Any) -> Any:
        out = x.copy()
        return getattr(operator, "i" + name)(out, y)

    return call


OPERATORS: dict[str, Function] = {
    name: Function(lambda ns, x, y, name=name: getattr(operator, name)(x, y), 2, dtypes, small=small)
    for names, dtypes, small in (
        ("add sub mul mod lt le eq ne gt ge", REAL, False),
        ("truediv", FLOATING, False),
        ("floordiv", tuple(INTEGERS), False),
        ("and_ or_ xor", WHOLE, False),
    )
    for name in names.split()
} | {
    f"i{name}": Function(in_place(name), 2, dtypes)
    for names, dtypes in (("add sub mul mod", REAL), ("truediv", FLOATING), ("floordiv", tuple(INTEGERS)))
    for name in names.split()
}

METHODS: dict[str, Function] = {
    f"x.{name}": Function(lambda ns, x, name=name, args=args: getattr(x, name)(*args), 1, dtypes, ulps=64, small=True,
                          least_ndim=ndim)
    for names, args, dtypes, ndim in (
        ("all any conj flatten ravel copy nonzero", (), NUMBERS, 1),
        ("max min ptp argmax argmin sum prod cumsum cumprod round", (), REAL, 1),
        ("mean std var", (-1,), FLOATING, 1), ("argsort sum", (-1,), tuple(INTEGERS), 1),
        ("repeat", (3,), NUMBERS, 0), ("clip", (1, 5), REAL, 0), ("transpose", (), ANY, 0), ("diagonal", (), ANY, 2),
        ("trace", (), REAL, 2), ("swapaxes", (0, -1), ANY, 1), ("reshape", (-1,), ANY, 0), ("squeeze", (), ANY, 0),
    ) for name in names.split() if name != "argsort"
}  # fmt: skip

ALL = EXTRAS | OPERATORS | METHODS


@pytest.mark.parametrize("function", ALL.values(), ids=ALL.keys())
def test_interpreted(function: Function) -> None:
    run_interpreted(function, 6)


# the others are made of movement and of what the functions of the standard compile already
MADE_OF_THEIR_OWN = (
    "cbrt fmod divmod heaviside nan_to_num sinc exp2 logaddexp2 float_power nanvar quantile gradient fmax"
)
COMPILED = [*MADE_OF_THEIR_OWN.split(), "convolve", "correlate", "trapezoid", "array_equal", "isclose", "ifloordiv"]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    function = ALL[name]
    with context(tier="compile"):
        run(function, function.dtypes[-1], (3, 3), 3, 1)


def whole(function: Function, tier: Any, arrays: list[Any]) -> Any:
    """The results as NumPy arrays, or the class of the exception."""
    with context(tier=tier):
        out = outcome(function.call, xp, *[xp.asarray(array) for array in arrays])
        return type(out) if isinstance(out, Exception) else [np.asarray(part) for part in out]


JUDGED = {name: function for name, function in FUNCTIONS.items() if function.judge is not None}


def operands_of(name: str, function: Function) -> list[Any]:
    """Every two extremes as parts of a complex number, or a draw for functions of several operands or of matrices."""
    dtype = function.dtypes[-1]
    if dtype == "complex128" and function.arity == 1 and not function.small:
        parts = np.asarray(extremes(dtype, False))
        out = np.empty((parts.size, parts.size), dtype)
        out.real, out.imag = parts[:, None], parts
        return [out]
    shape = (3, 3) if name.startswith("linalg") else (20, 20)
    near = name == "complex multiply"  # of the largest numbers, products are finite where the processor rounds once
    return [draw(dtype, shape, seed, near) for seed in range(function.arity)]


@pytest.mark.parametrize("name", JUDGED)
def test_where_numpy_is_not_the_reference_both_executors_agree(name: str) -> None:
    function = JUDGED[name]
    arrays = operands_of(name, function)
    ours, compiled = whole(function, "interpret", arrays), whole(function, "compile", arrays)
    if isinstance(ours, type):
        assert compiled is ours
        return
    for got, want in zip(compiled, ours, strict=True):
        assert got.dtype == want.dtype
        assert equal(got, want, ulps=16), f"compiled\n{got!r}\ninterpreted\n{want!r}"


THREADED = "exp sum mean max matmul vecdot cumulative_sum argmax sort roll".split()


@pytest.mark.parametrize("name", THREADED)
@pytest.mark.parametrize("shape", [(1 << 9, 1 << 9), (3, 1 << 17)], ids=str)
def test_results_do_not_depend_on_the_number_of_threads(name: str, shape: tuple[int, ...]) -> None:
    function = (FUNCTIONS | ALL)[name]
    arrays = [xp.asarray(draw("float64", shape, seed, True)) for seed in range(function.arity)]
    results = []
    for num_threads in (1, 2):
        with context(tier="compile", num_threads=num_threads):
            out = function.call(xp, *[array * 1.5 for array in arrays])
            results.append(np.asarray(out).tobytes())
    assert results[0] == results[1]


def assigned(ns: Any, x: Any, key: Any, value: Any) -> Any:
    out = ns.asarray(x).copy()
    out[key] = value
    return out


KEYED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "read": lambda ns, x, key: ns.asarray(x)[key],
    "written": lambda ns, x, key: assigned(ns, x, key, 9),
    "written an array": lambda ns, x, key: assigned(ns, x, key, ns.asarray([5])),
    "written what was read": lambda ns, x, key: assigned(ns, x, key, ns.asarray(x)[key]),
}


@pytest.mark.parametrize("call", KEYED.values(), ids=KEYED.keys())
@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_any_key_does_what_numpy_does(call: Callable[[Any, Any, Any], Any], tier: Any) -> None:
    shapes = [(3, 4), (4, 3, 2), (0, 4), (3,), ()] if tier == "interpret" else [(3, 4)]

    @settings(max_examples=30 if tier == "interpret" else 4)
    @given(KEYS, st.sampled_from(shapes))
    def examine(recipe: list[tuple[Any, ...]], shape: tuple[int, ...]) -> None:
        x = np.arange(int(np.prod(shape))).reshape(shape)
        wanted = outcome(lambda: call(np, x, build(np, recipe)))
        with context(tier=tier):
            ours = outcome(lambda: call(xp, x, build(xp, recipe)))
        if isinstance(ours, Exception):
            assert isinstance(ours, IndexError | ValueError | TypeError)
            assert isinstance(wanted, Exception), f"{ours!r}, but NumPy gives {wanted}"
        elif isinstance(wanted, Exception):  # NumPy looks at indices that select nothing as well
            assert np.asarray(ours[0]).size == 0
        else:
            assert equal(ours[0], wanted[0])

    examine()
