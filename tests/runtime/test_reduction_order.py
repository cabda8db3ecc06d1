"""Sums, products and extremes of floats: one order, whoever computes, along whichever axes, however memory lies.

The order is that of `uopc_core.codegen.c_reduce`, written here a second time, plainly.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context
from uopc_core.costs import TILES
from uopc_core.runtime.toolchain import find_toolchain

Array = np.ndarray[Any, Any]

needs_compiler = pytest.mark.skipif(
    find_toolchain() is None, reason="without a compiler the order of sums is NumPy's, which depends on memory"
)


def product(a: Any, b: Any) -> Any:
    """NumPy may add one of the four products of a complex one without rounding it."""
    if not np.iscomplexobj(a):
        return a * b
    out = np.empty(np.shape(a), a.dtype)
    out.real = a.real * b.real - a.imag * b.imag
    out.imag = a.real * b.imag + a.imag * b.real
    return out


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "prod": product,
    "max": lambda a, b: np.where(b > a, b, a),
    "min": lambda a, b: np.where(b < a, b, a),
}
FIRST = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
SHAPES = [(3,), (7,), (8,), (2, 3), (16,), (17,), (128,), (1537,), (40, 33), (600, 7), (30, 5, 11)]
DTYPES = [np.float32, np.float64, np.complex64]


def push(tree: list[Any], count: int, value: Any, combine: Callable[[Any, Any], Any]) -> None:
    """Add a value to a binary counter of which `count` values have been added."""
    level = 0
    while count & 1:
        value, count, level = combine(tree[level], value), count >> 1, level + 1
    tree[level : level + 1] = [value]


def in_order(values: Array, how: str) -> Any:
    """The elements along axis 0, combined in the fixed order."""
    combine, n = COMBINE[how], len(values)
    first = np.full(values.shape[1:], FIRST[how], values.dtype)
    if n <= 16:
        out = first
        for value in values:
            out = combine(out, value)
        return out
    lanes = 8 if n < 128 else 32
    bits = lanes.bit_length() - 1
    tree: list[Any] = []
    n_blocks = 0
    for start in range(0, n, 16 * lanes):
        block = values[start : start + 16 * lanes]
        folded: list[Any] = []
        for i in range(lanes):
            lane = first
            for value in block[int(f"{i:0{bits}b}"[::-1], 2) :: lanes]:
                lane = combine(lane, value)
            push(folded, i, lane, combine)
        push(tree, n_blocks, folded[bits], combine)
        n_blocks += 1
    out = None
    for level, value in enumerate(tree):
        if n_blocks >> level & 1:
            out = value if out is None else combine(value, out)
    return out


def draw(shape: tuple[int, ...], dtype: Any) -> Array:
    """Numbers of which the order of a sum shows, and zeros of both signs, of which the order of an extreme does."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        return (x + 1j * rng.standard_normal(shape)).astype(dtype)
    zeros = rng.random(shape) < 0.3
    x[zeros] = np.where(rng.random(shape) < 0.5, 0.0, -0.0)[zeros]
    return x.astype(dtype)


def layouts(x: Array) -> dict[str, Callable[[], Any]]:
    """The same values in memory in other ways, or computed on the way."""
    wide = np.zeros([2 * n + 1 for n in x.shape], x.dtype)
    inside = tuple([slice(1, None, 2)] * x.ndim)
    wide[inside] = x
    return {
        "in order": lambda: xp.asarray(x),
        "transposed": lambda: xp.asarray(np.ascontiguousarray(x.T)).T,
        "backwards": lambda: xp.flip(xp.asarray(np.ascontiguousarray(np.flip(x)))),
        "strided": lambda: xp.asarray(wide)[inside],
        "computed": lambda: xp.negative(xp.negative(xp.asarray(x))),
    }


@needs_compiler
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_order_of_reductions_depends_on_nothing_but_their_elements(shape: tuple[int, ...], dtype: Any) -> None:
    x = draw(shape, dtype)
    extremes = () if np.iscomplexobj(x) else ("max", "min")
    for r in range(1, len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), r):
            kept = [axis for axis in range(len(shape)) if axis not in axes]
            rows = x.transpose([*axes, *kept]).reshape(-1, *[shape[axis] for axis in kept])
            for how in ("sum", "prod", *extremes):
                wanted = np.asarray(in_order(rows, how))
                for (layout, make), tier in itertools.product(layouts(x).items(), ("interpret", "compile")):
                    with context(tier=tier):
                        got = np.asarray(getattr(xp, how)(make(), axis=axes))
                    assert got.tobytes() == wanted.tobytes(), (how, axes, layout, tier)


@needs_compiler
@pytest.mark.parametrize("dtype", [*DTYPES, np.complex128], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("columns", [1, 20, 300, 4097])
def test_columns_weighted_by_their_rows_are_summed_in_the_order_of_all_sums(columns: int, dtype: Any) -> None:
    for rows in (17, 100, 1100):
        x, weights = draw((rows, columns), dtype), draw((rows,), dtype)
        wanted = np.asarray(in_order(product(np.broadcast_to(weights[:, None], x.shape), x), "sum"))
        for (layout, make), tier in itertools.product(layouts(x).items(), ("interpret", "compile")):
            with context(tier=tier):
                got = np.asarray(xp.sum(xp.asarray(weights)[:, None] * make(), axis=0))
            assert got.tobytes() == wanted.tobytes(), (rows, layout, tier)


WIDTHS = sorted({16, 17, 300, 5000} | {most + k for most, _ in TILES if most for k in (-1, 0, 1)})


@needs_compiler
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("columns", WIDTHS)
def test_functions_of_columns_are_summed_however_many_there_are(columns: int, dtype: Any) -> None:
    x = draw((19, columns), dtype)
    found = []
    for tier in ("interpret", "compile"):
        with context(tier=tier):
            a = xp.asarray(x)
            found.append([np.asarray(y) for y in (xp.sum(xp.exp(a) * xp.sin(a), axis=0), xp.max(xp.cos(a), axis=0))])
    for interpreted, compiled in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, interpreted)


@needs_compiler
@pytest.mark.parametrize("dtype", [*DTYPES, np.complex128], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("n", [16, 17, 20, 100, 127, 128, 300, 512, 1100])
def test_what_is_computed_is_accumulated_in_the_order_of_all_sums(n: int, dtype: Any) -> None:
    x, weights = draw((5, n), dtype), draw((n,), dtype)
    products = product(x, np.broadcast_to(weights, x.shape))
    extremes = () if np.iscomplexobj(x) else ("max", "min")
    for how in ("sum", *extremes):
        wanted = np.asarray(in_order(products.T, how))
        for (layout, make), tier in itertools.product(layouts(x).items(), ("interpret", "compile")):
            with context(tier=tier):
                y = make() * xp.asarray(weights)
                got, beside = getattr(xp, how)(y, axis=1), xp.sum(y + y, axis=1)  # alone, and beside another
            assert np.asarray(got).tobytes() == wanted.tobytes(), (how, layout, tier)
            assert np.asarray(beside).tobytes() == np.asarray(in_order((products + products).T, "sum")).tobytes()


@needs_compiler
@pytest.mark.parametrize("how", ["mean", "var", "std", "logsumexp"])
@pytest.mark.parametrize("shape", [(600, 7), (40, 33), (2, 1500)], ids=str)
def test_what_is_made_of_sums_has_the_same_bits_in_both_executors(how: str, shape: tuple[int, ...]) -> None:
    x = draw(shape, np.float32)
    function = {"logsumexp": lambda a, axis: xp.log(xp.sum(xp.exp(a), axis=axis))}.get(how) or getattr(xp, how)
    for axis in (0, 1, None):
        results = set()
        for make, tier in itertools.product(layouts(x).values(), ("interpret", "compile")):
            with context(tier=tier):
                results.add(np.asarray(function(make(), axis=axis)).tobytes())
        assert len(results) == 1, (how, axis)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("n", [1, 127, 128, 129, 16_384, 16_385, 128**2 * 3 + 77])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_cumulative_sums_in_blocks(n: int, dtype: Any, tier: str) -> None:
    x = np.stack([draw((n,), dtype), draw((n,), dtype)[::-1]])

    def running(row: Array) -> Array:
        inside = [np.add.accumulate(row[i : i + 128]) for i in range(0, len(row), 128)]
        before = running(np.stack([part[-1] for part in inside])) if len(inside) > 1 else []
        return np.concatenate([inside[0], *[before[i] + part for i, part in enumerate(inside[1:])]])

    if tier == "compile" and find_toolchain() is None:
        tier = "auto"
    with context(tier=tier):
        got = np.asarray(xp.cumulative_sum(xp.asarray(x), axis=1))
        columns = np.asarray(xp.cumulative_sum(xp.asarray(np.ascontiguousarray(x.T)), axis=0))
    wanted = np.stack([running(row) for row in x])
    assert got.tobytes() == wanted.tobytes()
    assert columns.tobytes() == np.ascontiguousarray(wanted.T).tobytes()


@needs_compiler
@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("axis", [0, 1])
def test_no_axis_adds_up_worse_than_pairwise_summation(axis: int, tier: str) -> None:
    n = 200_000
    x = (1e4 + np.random.default_rng(0).standard_normal((n, 3) if axis == 0 else (3, n))).astype(np.float32)
    exact = np.mean(x.astype(np.float64), axis=axis)
    with context(tier=tier):
        ours = xp.asarray(x)
        mean, variance = np.asarray(xp.mean(ours, axis=axis)), np.asarray(xp.var(ours, axis=axis))
        running = np.asarray(xp.cumulative_sum(ours, axis=axis))
    unit = np.finfo(np.float32).eps / 2
    assert np.all(np.abs(mean - exact) <= 8 * unit * 1e4)
    assert np.all(np.abs(variance - np.var(x.astype(np.float64), axis=axis)) < 1e-4)
    true = np.cumsum(x.astype(np.float64), axis=axis)
    assert np.all(np.abs(running - true) <= (128 + 16 + 3) * unit * true)


@needs_compiler
@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_many_ones_are_counted(tier: str) -> None:
    with context(tier=tier):
        ones = xp.ones((1 << 25, 2), dtype=xp.float32)[: (1 << 24) + 6]
        assert xp.sum(ones, axis=0).tolist() == [(1 << 24) + 6] * 2
