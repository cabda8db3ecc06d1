"""Calls as NumPy's users write them, on our arrays and on NumPy's: values, dtypes, shapes and classes of errors.

Each list is drawn from all of a kind: every reduction with every keyword, every casting, every order.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.numpy_version import NUMPY
from uopc_core import context

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of no elements
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64".split()
ERRORS = (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError)


def _copyto(target: Any, source: Any, **more: Any) -> Any:
    np.copyto(target, source, **more)
    return target


def _at(ufunc: Any, x: Any, *args: Any) -> Any:
    ufunc.at(x, *args)
    return x


def _after(x: Any, change: Callable[[Any], Any]) -> Any:
    change(x)
    return x


def run(text: str, array: Callable[..., Any]) -> Any:
    """The value of `text`, in which A makes arrays; or the class of the error, of those that NumPy has names for."""
    try:
        return eval(text, {"np": np, "A": array, "copyto": _copyto, "at": _at, "after": _after})
    except ERRORS as error:
        return next(kind for kind in ERRORS if isinstance(error, kind)) if array is np.array else error


def agree(text: str) -> None:
    want, got = run(text, np.array), run(text, xp.array)
    if isinstance(want, type):
        assert isinstance(got, want), (text, got)
        return
    assert not isinstance(got, Exception), (text, got)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple | list) else [(got, want)]
    for ours, numpys in pairs:
        found, wanted = np.asarray(ours), np.asarray(numpys)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), (text, found, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=text)


def keywords(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


X = "A([[1.5, 0, 3], [4, 5, 6]])"
AXES = ("", "axis=0", "axis=1, keepdims=True", "axis=(0, 1)")
MASKS = ("where=[True, False, True]", "where=A([[True], [False]])", "where=A([[1], [0]])", "where=[False] * 3")
INITIAL = ("initial=10.5", "initial=-2, where=A([[True], [False]])", "initial=A(7.0)", "initial=None")
DEGREES = ("ddof=2", "ddof=10", "mean=2.0", "mean=A([[1.0], [2.0]])", "where=[True, False, True], ddof=1")
OF = {
    **dict.fromkeys(["sum", "prod", "max", "min"], (*MASKS, *INITIAL, "out=A(0)")),
    **dict.fromkeys(["any", "all"], (*MASKS, "out=A(0)")),
    "mean": (*MASKS, "out=A(0)"),
    **dict.fromkeys(["var", "std"], (*MASKS, *DEGREES)),
}


@pytest.mark.parametrize("name", OF)
@pytest.mark.parametrize("axis", AXES)
def test_reductions_take_masks_and_first_values(name, axis):
    for more in OF[name]:
        agree(f"np.{name}({keywords(X, axis, more)})")
        agree(f"{X}.{name}({keywords(axis, more)})")


@pytest.mark.parametrize("name", OF)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_every_dtype_take_masks(name, dtype):
    if dtype == "complex64" and name in ("max", "min"):
        return  # refused, since complex numbers have no order
    x = f"A([1, 2, 3], dtype='{dtype}')"
    more = "ddof=3" if name in ("var", "std") else "initial=1, where=[True, False, True]"
    if name in ("any", "all", "mean"):
        more = "where=[True, False, False]"
    agree(f"{x}.{name}({more})")
    agree(f"np.{name}({x}, {more})")


NO_ELEMENTS = [
    "A([], dtype='f8').max(initial=3)",
    "A([], dtype='f8').min(initial=3)",
    "A([]).sum(initial=3)",
    "A([]).max()",
    "np.max(A(np.zeros((0, 2))), axis=0, initial=3)",
    "np.max(A(np.uint8([1])), initial=300)",
    "np.add.reduce(A([1.5, 2]), initial=10, where=[True, False])",
    "np.maximum.reduce(A([1.5, 2]), initial=10)",
    "np.add.reduce(A([1.5, 2]), dtype=int)",
    "np.sum(A([1.5, 2]), initial=A([1.0, 2.0]))",
    "np.var(A([1., 2]), ddof=1, correction=0)",
    "np.var(A([1., 2]), correction=2)",
    "np.var(A([]))",
]


MASKED_SLOPES = {
    "sum": ([1, 0, 1], {"initial": 3.0}),
    "prod": ([12, 0, 3], {"initial": 3.0}),
    "max": ([0, 0, 1], {"initial": 0}),
    "mean": ([0.5, 0, 0.5], {}),
    "var": ([-1.5, 0, 1.5], {}),
    "std": ([-0.5, 0, 0.5], {}),
}


@pytest.mark.parametrize("name", MASKED_SLOPES)
@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_masked_reductions_differentiate_and_compile(name, tier):
    want, more = MASKED_SLOPES[name]
    x, mask = xp.asarray([1.0, -2.0, 4.0]), xp.asarray([True, False, True])
    with context(tier=tier):
        for function in (getattr(np, name), getattr(xp.Array, name)):
            slope = xp.grad(lambda t: function(t, where=mask, **more))
            np.testing.assert_allclose(np.asarray(slope(x)), want)
            np.testing.assert_allclose(np.asarray(xp.jit(slope)(x)), want)


UFUNCS = "add multiply maximum minimum logical_and subtract".split()
VALUES = ("2", "2.5", "[1.5, 2.5, -3.0]", "np.float32(0.5)", "A([1, 2, 3])", "-0.5", "300")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UFUNCS)
def test_methods_of_ufuncs_give_numpys_dtypes(name, dtype):
    if dtype == "complex64" and name in ("maximum", "minimum"):
        return  # refused, since complex numbers have no order
    x = f"A([100, 100, 2], dtype='{dtype}')"
    for method in (f"accumulate({x})", f"reduce({x})", f"reduceat({x}, [0, 1])", f"outer({x}, A([1, 2]))"):
        agree(f"np.{name}.{method}")
    for value in VALUES:
        agree(f"at(np.{name}, A([1, 2, 3], dtype='{dtype}'), [0, 0, 1], {value})")


SOURCES = (
    *("2", "2.7", "True", "1j", "np.int64(5)", "np.float64(1.5)", "np.uint8(2)", "[1, 2, 3]", "A([1.5, 2, 3])"),
    *("A([1, 2, 3], dtype='int8')", "A([1, 2, 3], dtype='uint64')", "A([[1], [2]])"),
)
HOW = (
    *("", "casting='no'", "casting='safe'", "casting='unsafe'", "casting='same_kind'", "where=[True, False, True]"),
    *("where=A([True, False, True])", "where=A([1, 0, 1])", "where=A(True)", "where=True, casting='safe'"),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("source", SOURCES)
def test_copyto_casts_as_it_is_told(source, dtype):
    for how in HOW:
        if source != "1j" or "unsafe" not in how:  # the imaginary part is never dropped
            agree(f"copyto(A([7, 8, 9], dtype='{dtype}'), {keywords(source, how)})")


BIG = "A([2**60 + 1, 3], dtype='uint64'), where=A([True, False]), casting='unsafe')"
COPIES = [
    f"copyto(A([1, 2]), {BIG}",
    f"copyto(A([1, 2], dtype='int32'), {BIG}",
    "copyto(A([1, 2]), 5, casting='x')",
    "copyto(A([[1, 2], [3, 4]]), A([9, 8]), where=A([[True], [False]]))",
    "copyto(A([1, 2]), A([9]), where=A(False))",
]

PARTS = (
    *("0", "1", "0.25", "np.float64(.5)", "[0, 1]", "[0.25, 1]", "[-0.25]", "[0.5, 2.0]", "A([0.5, 200.])", "np.nan"),
    *(
        "[np.nan]",
        "A([1, 0])",
        "A([[1], [0]])",
        "-1",
        "np.float64(101)",
        "A(0.5)",
        "np.float32(.5)",
        "A([0.5, np.nan])",
    ),
)
SAMPLES = ("A([1, 2, 3])", "A([1., np.nan, 3])", "A(np.float32([1, 2, 5]))", "A([[1, 2, 3], [4, 5, 7]])")


@pytest.mark.parametrize("q", PARTS)
@pytest.mark.parametrize("name", ["quantile", "percentile"])
def test_quantiles_of_any_part(name, q):
    for x, more in product(SAMPLES, ("", "axis=0", "axis=-1, keepdims=True")):
        if NUMPY < (2, 4) and q.startswith("np.float64(.") and "float32" in x:
            continue  # where NumPy's scalars were as weak as Python's
        agree(f"np.{name}({keywords(x, q, more)})")


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "complex64"])
def test_quantiles_of_whole_parts_keep_the_dtype(dtype):
    for q in ("0", "1", "True", "[0, 1]"):
        agree(f"np.quantile(A([3, 1, 2], dtype='{dtype}'), {q})")


@pytest.mark.parametrize("q", [-0.25, 1.5, 2, -1, float("nan")])
def test_a_part_that_only_the_run_knows_is_an_index_out_of_bounds(q):
    for n in (1, 4):
        with pytest.raises(IndexError, match="quantile"):
            print(xp.jit(lambda x, q: xp.quantile(x, q))(xp.arange(n) * 1.0, xp.asarray(q)))
    assert float(xp.jit(lambda x, q: xp.quantile(x, q))(xp.arange(3) * 1.0, xp.asarray(0.25))) == 0.5


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("more", ["", "axis=0", "axis=-1, keepdims=True", "axis=(0, -1)"])
def test_medians_over_any_axes(name, more):
    samples = (
        *("A([])", "A(np.zeros((0, 2)))", "A(np.zeros((2, 0)))", "A([[1, np.nan, 3], [4, 5, 6]])", "A([1.7e308])"),
        *("A([np.nan])", "A([True, False])", "A(np.ones((2, 3, 4)))", "A([[np.nan, np.nan], [1, np.nan]])"),
    )
    for x in samples:
        agree(f"np.{name}({keywords(x, more)})")


@pytest.mark.parametrize("name", ["nanvar", "nanstd", "nanmean"])
def test_moments_without_nan_of_every_kind(name):
    samples = ("A([1+1j, np.nan, 2])", "A([1., 2])", "A([1, 2])", "A([[1, np.nan], [3, 4]])", "A([np.nan])")
    for x, more in product(
        samples, ("", "axis=0") if name == "nanmean" else ("", "axis=0", "ddof=1", "ddof=2", "ddof=5")
    ):
        agree(f"np.{name}({keywords(x, more)})")


AVERAGES = [
    "np.average(A([1, 2]), weights=[0, 0])",
    "np.average(A([1., 2]), weights=A([1, -1]))",
    "np.average(A(np.ones((2, 3))), axis=0, weights=A(np.zeros((2, 3))))",
    "np.average(A([]), weights=[])",
    "np.average(A(np.ones((2, 3))), weights=[1, 2])",
    "np.average(A(np.ones((2, 3))), axis=(0, 1), weights=[1, 2])",
    "np.average(A(np.arange(24.).reshape(2, 3, 4)), axis=(2, 0), weights=A(np.arange(8.).reshape(4, 2)))",
    "np.average(A(np.arange(24.).reshape(2, 3, 4)), axis=(0, 2), weights=np.arange(8.).reshape(2, 4))",
    "np.average(A(np.arange(24.).reshape(2, 3, 4)), axis=(0, -1), weights=np.arange(8.).reshape(2, 4), keepdims=True)",
    "np.average(A(np.arange(6.).reshape(2, 3)), axis=1, weights=[1, 2, 3])",
    "np.average(A([1., 2]), weights=3)",
    "np.average(A([1., 2]), weights=[1, 3], returned=True)",
]


@pytest.mark.parametrize("at_once", [0, 32_768])
@pytest.mark.parametrize("text", AVERAGES)
def test_averages_of_what_is_known_and_of_what_is_not(text, at_once):
    """The function of ours, also where it is computed at its line."""
    ours, numpys = text.replace("np.average", "xp.average"), {"np": np, "A": np.asarray}
    try:
        wanted = eval(text, numpys)
    except ERRORS as error:
        with context(at_once=at_once), pytest.raises(type(error)):
            eval(ours, {"np": np, "xp": xp, "A": xp.asarray})
        return
    with context(at_once=at_once):
        for got, value in zip(
            *map(np.atleast_1d, (eval(ours, {"np": np, "xp": xp, "A": xp.asarray}), wanted)), strict=True
        ):
            np.testing.assert_allclose(np.asarray(got), value, 1e-14)


def test_an_average_that_has_no_elements_is_one():
    for shape, axis in (((3, 0), 0), ((0, 0), 1), ((2, 0, 4), 2)):
        left = tuple(n for i, n in enumerate(shape) if i != axis)
        assert xp.average(xp.zeros(shape), axis=axis).shape == left
        with pytest.raises(ZeroDivisionError):
            np.average(np.zeros(shape), axis=axis)
    assert np.isnan(float(xp.average(xp.zeros(0))))


def test_zero_weights_are_a_quotient_by_zero_under_jit():
    got = xp.jit(lambda x, w: xp.average(x, weights=w))(xp.asarray([1.0, 2.0]), xp.asarray([1.0, -1.0]))
    assert float(got) == float("-inf")


SETS = ("A([1., np.nan, np.nan])", "A([np.nan])", "A([3, 1, 3])", "A([1+np.nan*1j, complex(np.nan, 1), 2])", "A([])")


@pytest.mark.parametrize("x", SETS)
def test_sets_have_one_nan_where_numpys_have(x):
    for more in ("", "equal_nan=False", "return_counts=True", "return_index=True, return_inverse=True"):
        agree(f"np.unique({keywords(x, more)})")
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        agree(f"np.{name}({x}, {x})")
        agree(f"np.{name}({x}, A([1.]))")
    agree(f"np.unique_values({x})")
    agree(f"np.isin({x}, {x})")


IN_PLACE = [
    "after(A([np.nan, 1, np.inf]), lambda x: np.nan_to_num(x, copy=False))",
    "after(A([np.nan, 1, np.inf]), lambda x: np.nan_to_num(x, False, 5))",
    "np.nan_to_num(A([np.nan, 1]), True, 2., 3.)",
    "after(A([[np.nan, 1], [2, 3]]), lambda x: np.nan_to_num(x[:, 0], copy=False))",
    "after(A([1, 2]), lambda x: np.nan_to_num(x, copy=False))",
    "after(A([1, 2, 3]), lambda x: x.put([0, 1, 2], [9, 8]))",
    "after(A([1, 2, 3]), lambda x: x.put([0], []))",
    "after(A([1, 2, 3]), lambda x: x.put([0, 5], [9, 8], mode='wrap'))",
    "after(A([1, 2, 3]), lambda x: x.put(1, 7))",
    "after(A([1, 2, 3]), lambda x: x.put([0, 5], [9, 8], mode='clip'))",
    "after(A([[1, 2], [3, 4]]), lambda x: x.put([0, 3], [9, 8, 7]))",
    "after(A([1, 2, 3]), lambda x: x.put([5], [1]))",
    "after(A([1, 2, 3]), lambda x: x.__setitem__(0, x[0] / 2))",
]

CUBE = "A(np.arange(24.).reshape(2, 3, 4))"
VIEWS = (
    *("", ".T", ".transpose(1, 0, 2)", ".transpose(2, 0, 1)[::-1]", "[:, 1:]", "[:, ::-1]", "[0].T", "[:, :, 1].T"),
    *(".transpose(0, 2, 1)[:, :, ::2]", "[:1].transpose(1, 2, 0)", "[::-1, :, ::-2].transpose(1, 2, 0)"),
)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("order", ["C", "F", "A", "K", "x"])
def test_elements_are_read_in_numpys_order(view, order):
    x = CUBE + view
    for call in ("{}.ravel('{}')", "np.ravel({}, '{}')", "{}.flatten('{}')", "{}.reshape(-1, order='{}')"):
        agree(call.format(x, order))
    agree(f"np.reshape({x}, (-1, 2), order='{order}')")
    if order != "x":
        agree(f"after({x}, lambda x: x.ravel('{order}').__setitem__(0, 99))")
        agree(f"after({x}, lambda x: x.flatten('{order}').__setitem__(0, 99))")


SQUARE = "A([[1., 5], [3, 9]])"
PADS = [
    *[f"np.pad({SQUARE}, 1, '{mode}')" for mode in "edge reflect symmetric wrap linear_ramp maximum minimum".split()],
    *[f"np.pad({SQUARE}, 1, '{mode}')" for mode in "mean median constant bogus".split()],
    f"np.pad({SQUARE}, 1, 'empty')[1:3, 1:3]",
    f"np.pad({SQUARE}, 1, mode='linear_ramp', end_values=4)",
    *([f"np.pad({SQUARE}, {{0: 1}})", f"np.pad({SQUARE}, {{-1: (1, 2)}}, mode='edge')"] if NUMPY >= (2, 4) else []),
    f"np.pad({SQUARE}, 1, mode='edge', constant_values=3)",
    f"np.pad({SQUARE}, 1, mode='maximum', stat_length=1)",
    f"np.pad({SQUARE}, 1, lambda v, w, i, k: v.__setitem__(0, 7))",
    f"np.pad({SQUARE}, 1, 'reflect', reflect_type='odd')",
    f"np.pad({SQUARE}, ((1, 2), (0, 1)), constant_values=((1, 2), (3, 4)))",
]
LINALG = [
    "np.abs(np.linalg.qr(A([[1., 2], [3, 4]]), mode='r'))",
    "np.linalg.qr(A([[1., 2], [3, 4]]), mode='raw')[1]",
    "np.linalg.qr(A([[1., 2], [3, 4]]), mode='bogus')",
    "np.linalg.matrix_rank(A([1., 2]))",
    "np.linalg.matrix_rank(A([0., 0]))",
    "np.linalg.matrix_rank(A([[1., 0], [0, 0]]))",
    "np.linalg.matrix_rank(A([[1., 0], [0, 1e-9]]), tol=1e-6)",
    "np.linalg.matrix_rank(A([[1., 0], [0, 1e-9]]), rtol=1e-6)",
    "np.fft.fft(A([1., 2, 3]), norm=None)",
    "np.fft.fftn(A([[1., 2, 3]]), norm=None)",
    "np.cross(A([1., 2, 3]), A([3., 4, 5]))",
    "np.cross(A([[1., 2, 3]]), A([[3., 4, 5]]), axis=1)",
    "np.cross(A([[1.], [2], [3]]), A([[3.], [4], [5]]), axis=0)",
    "np.cross(A([[1.], [2], [3]]), A([3., 4, 5]), axisa=0)",
    "np.cross(A([1., 2, 3, 4]), A([3., 4, 5, 6]))",
]
CALLS = [
    "np.take_along_axis(A([[3, 1], [4, 6]]), A([2, 0]), axis=None)",
    "np.clip(A([1, 2]), 1, 3, min=0)",
    "np.take_along_axis(A([[3, 1], [4, 6]]), A([[0], [1]]), axis=1)",
    "np.clip(A([1, 2, 5]), min=2)",
    "np.clip(A([1.5, 2.5]), 0, 2, out=A([0, 0]), casting='unsafe')",
    "np.clip(A([1.5, 2.5]), 0, 2, out=A([0, 0]))",
    "np.clip(A([1, 2, 5]), 2, None)",
    "np.add(A([1.5]), 1, out=A([0]), casting='unsafe')",
    "np.add(A([1.5]), 1, out=A([0]))",
    "np.add(A([1.5]), 1, dtype=int)",
    "np.add(A([1.5]), 1, dtype=int, casting='unsafe')",
    "np.add(A([1]), 2.5, dtype=int)",
    "np.add(A([1]), 2, dtype=float)",
    "np.less(A([1., 2]), 1.5, dtype=bool)",
    "np.less(A([1, 300]), 256, dtype=bool)",
    "np.isfinite(A([1., np.inf]), dtype=bool)",
    "np.add(A(np.int8([1])), 1, dtype='f4')",
    "np.add(A([1, 2]), 1, where=A([1, 0]), out=A([7, 7]))",
    "np.sum(A([1.5, 2.5]), out=A(0))",
    "np.cumsum(A([1.5, 2.5]), out=A([0, 0]))",
    "np.mean(A([1.5, 2.5]), out=A(0))",
    "np.prod(A([1.5, 2.5]), out=A(0))",
    "A([1.5, 2.5]).cumsum(out=A([0, 0]))",
    "A([1.5, 2.5]).cumprod(out=A([0, 0]))",
    "np.add.accumulate(A([1.5, 2.5]), out=A([0, 0]))",
    "np.argsort(A(3))",
    "A(3).argsort()",
    "np.argsort(A(3), axis=1)",
    "A([[3, 1], [2, 0]]).argsort(axis=None)",
    "np.argsort(A([[3, 1], [2, 0]]), axis=None)",
    "np.take(A([1, 2]), A([0]), axis=9, mode='wrap')",
    "np.take(A([1, 2]), A([5]), mode='wrap')",
    "np.piecewise(A(3), A(3) > 4, [4, 0])",
    "np.piecewise(A([1, 5]), A([1, 5]) > 4, [4, 0])",
    "np.convolve(A(2), A([1, 2, 3]))",
    "A([True, False]).view('u1')",
    "A([1, 0], dtype='u1').view(bool)",
    "A([1, 0], dtype='i1').view(bool)",
    "A([True]).view('i1')",
    "np.fmod(A([True, False]), A([True, True]))",
    "np.rollaxis(A(np.ones((2, 3, 4))), 0, -4)",
    "np.rollaxis(A(np.ones((2, 3, 4))), 0, -3)",
    "np.rollaxis(A(np.ones((2, 3, 4))), 0, 4)",
    "np.rollaxis(A(np.ones((2, 3, 4))), 2, 3)",
    "np.rollaxis(A(np.ones((2, 3, 4))), 0, 5)",
    "np.vsplit(A([1, 2]), 2)",
    "np.hsplit(A(1), 1)",
    "np.dsplit(A([[1, 2]]), 1)",
    "np.hsplit(A([1, 2]), 2)",
    "np.vsplit(A([[1], [2]]), 2)",
    "np.trapezoid(A([1., 2, 3]), A([True, False, True]))",
    "np.arange(3, dtype='c8', like=A(1))",
    "np.arange(2, dtype=bool, like=A(1))",
    "np.arange(3, dtype=bool, like=A(1))",
]


@pytest.mark.parametrize("text", [*NO_ELEMENTS, *COPIES, *AVERAGES, *IN_PLACE, *PADS, *LINALG, *CALLS])
def test_call(text):
    agree(text)
