"""Arguments beyond all bounds, sizes beyond any memory, indices above int64, and LAPACK on what is not finite.

A result or a Python exception, in both executors; no crash, and no call that does not come back.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_extremes import outcome
from tests.support.reference import equal
from uopc_core import Ops, Tensor, UOp, context, dtypes, realize_all
from uopc_core.errors import GradientError

TIERS = ["interpret", "compile"]

HUGE = (2**31, -(2**31), 2**62, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, -(10**30), np.uint64(2**64 - 1), np.int8(-1))
# the extents fail for their size or have nothing in them, so that no case takes memory
ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda n, name=name: getattr(xp, name)(xp.ones((3, 4)), axis=n)
       for name in "max sum argmax sort argsort cumulative_sum diff flip all expand_dims unstack var".split()},
    "concat": lambda n: xp.concat([xp.ones((3, 4))] * 2, axis=n), "stack": lambda n: xp.stack([xp.ones(3)], axis=n),
    "take": lambda n: xp.take(xp.arange(6), xp.asarray([n])),
    "moveaxis": lambda n: xp.moveaxis(xp.ones((3, 4)), 0, n),
    "roll": lambda n: xp.roll(xp.arange(6), n), "roll empty": lambda n: xp.roll(xp.ones((0, 3)), n, axis=0),
    "repeats": lambda n: xp.repeat(xp.arange(3), xp.asarray([n, n, n])),
    "tril": lambda n: xp.tril(xp.ones((3, 4)), k=n), "eye": lambda n: xp.eye(3, k=n),
    "diagonal": lambda n: xp.linalg.diagonal(xp.ones((3, 4)), offset=n),
    "trace": lambda n: xp.trace(xp.ones((3, 4)), n),
    "diff n": lambda n: xp.diff(xp.arange(6), n=n), "reshape": lambda n: xp.reshape(xp.arange(6), (n, -1)),
    "split at": lambda n: xp.split(xp.arange(6), [n, 2]), "rot90": lambda n: xp.rot90(xp.ones((3, 4)), n),
    "fft axis": lambda n: xp.fft.fft(xp.ones((3, 4)), axis=n),
    "pad value": lambda n: xp.pad(xp.arange(3), 1, constant_values=n),
    "fill": lambda n: xp.full((2,), n, dtype=xp.int8), "clip": lambda n: xp.clip(xp.arange(3, dtype=xp.int8), 0, n),
    "searchsorted": lambda n: xp.searchsorted(xp.arange(6), n), "shift": lambda n: xp.arange(3) << n,
    "power": lambda n: xp.arange(3) ** n, "floor": lambda n: xp.arange(3) // n, "rest": lambda n: xp.arange(3) % n,
}  # fmt: skip


KNOWN = (ValueError, TypeError, IndexError, OverflowError, MemoryError)


@pytest.mark.parametrize("n", HUGE, ids=str)
@pytest.mark.parametrize("call", ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_an_argument_beyond_all_bounds_gives_a_result_or_a_python_error(call: Callable[[Any], Any], n: int) -> None:
    out = outcome(call, n)
    assert isinstance(out, tuple) or isinstance(out, KNOWN), repr(out)


@pytest.mark.parametrize("call", ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_both_executors_do_the_same_with_arguments_beyond_all_bounds(call: Callable[[Any], Any]) -> None:
    for n in (2**31, 2**63 - 1, -(2**63), 2**64 - 1):
        ours, compiled = (computed(tier, call, n) for tier in TIERS)
        assert type(compiled) is type(ours)
        if isinstance(ours, list):
            assert all(equal(got, want) for got, want in zip(compiled, ours, strict=True))


def computed(tier: Any, call: Callable[..., Any], *arguments: Any) -> Any:
    """The results as NumPy arrays, or the exception."""
    with context(tier=tier):
        out = outcome(call, *arguments)
        return out if isinstance(out, Exception) else [np.asarray(part) for part in out]


SIZES: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda n: xp.zeros(n), "ones": lambda n: xp.ones((n, n)), "full": lambda n: xp.full((n,), 1),
    "arange": lambda n: xp.arange(0, n), "linspace": lambda n: xp.linspace(0, 1, n), "eye": lambda n: xp.eye(n),
    "identity": lambda n: xp.identity(n), "broadcast_to": lambda n: xp.broadcast_to(xp.ones(()), (n,)) + 1,
    "repeat": lambda n: xp.repeat(xp.ones(3), n), "tile": lambda n: xp.tile(xp.ones(3), (n,)),
    "pad": lambda n: xp.pad(xp.ones(3), n), "pad edge": lambda n: xp.pad(xp.ones(3), n, mode="edge"),
    "repeats": lambda n: xp.repeat(xp.ones(3), xp.asarray([n, n, n])), "fft": lambda n: xp.fft.fft(xp.ones(3), n=n),
    "irfft": lambda n: xp.fft.irfft(xp.ones(3), n=n), "fftfreq": lambda n: xp.fft.fftfreq(n),
    "array_split": lambda n: xp.array_split(xp.ones(3), n),
}  # fmt: skip


@pytest.mark.parametrize("n", [2**61, 2**63 - 1, 10**30], ids=str)
@pytest.mark.parametrize("call", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("tier", TIERS)
def test_sizes_beyond_any_memory_are_a_python_error(call: Callable[[Any], Any], n: int, tier: Any) -> None:
    with context(tier=tier):
        out = outcome(call, n)
    assert isinstance(out, ValueError | OverflowError | MemoryError), repr(out)


@pytest.mark.parametrize("tier", TIERS)
def test_singular_values_of_infinite_matrices_are_nan_rather_than_awaited(tier: Any) -> None:
    wanting = [[-np.inf, -2.5, 1.0], [0.0, np.inf, 1.0], [1.0, 2.0, 3.0]]
    x = xp.asarray([wanting, [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    with context(tier=tier):
        assert equal(xp.linalg.svd(x).S, np.asarray([[np.nan] * 3, [2.0, 1.0, 1.0]]))
        assert equal(xp.linalg.svdvals(x), np.asarray([[np.nan] * 3, [2.0, 1.0, 1.0]]))
        assert equal(xp.linalg.matrix_norm(x, ord=2), np.asarray([np.nan, 2.0]))
        assert bool(xp.all(xp.isnan(xp.linalg.svd(x).U[0])))
        assert bool(xp.all(xp.isnan(xp.linalg.pinv(x)[0])))
        assert bool(xp.all(xp.isfinite(xp.linalg.pinv(x)[1])))


def test_arguments_of_numpy_lead_to_the_same_singular_values() -> None:
    infinite = xp.asarray([[1.0, 0.5, 0.0], [2.0, np.inf, 1.0], [1.0, 2.0, 3.0]])
    x = xp.asarray([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    for call, wanted in (
        (lambda x: np.linalg.svd(x, compute_uv=False), [2.0, 1.0]),
        (lambda x: np.linalg.svd(x, False, True, hermitian=False).S, [2.0, 1.0]),
        (lambda x: np.linalg.pinv(x, 0.6), [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        (lambda x: np.linalg.pinv(x, rtol=0.4), [[0.5, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    ):
        assert equal(call(x) + 0, np.asarray(wanted), ulps=8)
        assert np.isnan(np.asarray(call(infinite))).all()
    whole: Any = np.linalg.pinv(xp.asarray([[2.0, 1.0], [1.0, 2.0]]), hermitian=True)
    assert equal(whole, np.asarray([[2.0, -1.0], [-1.0, 2.0]]) / 3, ulps=16)
    with pytest.raises(ValueError, match="expected one tolerance"):
        np.linalg.pinv(x, 0.6, rtol=0.4)


def test_least_squares_of_infinite_matrices_are_an_error_rather_than_awaited() -> None:
    x, y = xp.asarray([[1.0, 2.0], [np.inf, 1.0]]), xp.asarray([1.0, 2.0])
    for call in (
        lambda: np.linalg.lstsq(x, y),
        lambda: np.polyfit(x[1], y, 1),
        lambda: np.polyfit(xp.asarray([1e200, 1.0, 2.0]), xp.ones(3), 2),
        lambda: np.polyfit(xp.asarray([1e25, 1.0, 2.0], dtype=xp.float32), xp.ones(3), 2),
        lambda: np.polyfit(y, y, 1, w=xp.asarray([1.0, np.inf])),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="of an infinite matrix"):
            call()
    line: Any = np.polyfit(y, 3 * y + 1, 1, w=xp.asarray([1.0, 2.0]))
    assert equal(line, np.asarray([3.0, 1.0]), ulps=64)
    assert equal(np.linalg.lstsq(xp.eye(2) * 2, y)[0], np.asarray([0.5, 1.0]), ulps=4)


EMPTY: dict[str, Callable[[int], Any]] = {
    "eye": lambda n: xp.eye(n, 0), "eye of no rows": lambda n: xp.eye(0, n, k=3),
    "tril": lambda n: xp.tril(xp.zeros((n, 0))), "triu": lambda n: xp.triu(xp.zeros((0, n))),
    "argmax": lambda n: xp.argmax(xp.zeros((n, 0)), axis=0), "argsort": lambda n: xp.argsort(xp.zeros((0, n))),
    "take_along_axis": lambda n: xp.take_along_axis(xp.zeros((0, n)), xp.zeros((0, 3), dtype=xp.int64)),
    "matmul": lambda n: xp.zeros((n, 2)) @ xp.zeros((2, 0)), "roll": lambda n: xp.roll(xp.zeros((n, 0)), 3),
    "fft": lambda n: xp.fft.fft(xp.zeros((n, 0)), axis=0), "svdvals": lambda n: xp.linalg.svdvals(xp.zeros((n, 0))),
    "outer": lambda n: xp.linalg.outer(xp.zeros(0), xp.zeros(n)),
    "pad": lambda n: xp.pad(xp.zeros((n, 0)), ((3, 3), (0, 0))),
    "masked": lambda n: xp.zeros((n, 0))[xp.zeros((n, 0), dtype=xp.bool)],
}  # fmt: skip


@pytest.mark.parametrize("call", EMPTY.values(), ids=EMPTY.keys())
@pytest.mark.parametrize("tier", TIERS)
def test_what_holds_nothing_takes_no_memory_however_long_its_other_axes(call: Callable[[int], Any], tier: Any) -> None:
    with context(tier=tier):
        out = call(2**40)
        assert np.asarray(out).shape == out.shape
        assert out.size == 0


UNSIGNED = np.asarray([0, 2**64 - 1], np.uint64)


def written(ns: Any, places: Any) -> Any:
    out = ns.arange(6)
    out[places] = 9
    return out


def added_at(places: Any) -> Any:
    out = xp.arange(6)
    np.add.at(out, places, 1)
    return out


INDEXED: dict[str, Callable[[Any], Any]] = {
    "key": lambda i: xp.arange(6)[i], "key of a row": lambda i: xp.ones((3, 4))[i, 0],
    "beside others": lambda i: xp.ones((3, 4))[i, xp.asarray([-1, 0])], "element": lambda i: xp.arange(6)[i[1]],
    "take": lambda i: xp.take(xp.arange(6), i), "taken from rows": lambda i: xp.take(xp.ones((3, 4)), i, axis=1),
    "take_along_axis": lambda i: xp.take_along_axis(xp.arange(6), i), "written": lambda i: written(xp, i),
    "written by a row": lambda i: written(xp, (i, ...)), "added": added_at, "computed": lambda i: xp.arange(6)[i + i],
    "in jit": lambda i: xp.jit(lambda x, i: x[i])(xp.arange(6), i),
    "written in jit": lambda i: xp.jit(lambda i: written(xp, i))(i),
    "sorter": lambda i: xp.searchsorted(xp.arange(2), 1, sorter=i),
    "NumPy's array": lambda i: xp.arange(6)[UNSIGNED], "written by NumPy's": lambda i: written(xp, UNSIGNED),
    "list": lambda i: xp.arange(6)[[2**64 - 1]], "written by a list": lambda i: written(xp, [2**64 - 1]),
}  # fmt: skip


@pytest.mark.parametrize("call", INDEXED.values(), ids=INDEXED.keys())
@pytest.mark.parametrize("tier", TIERS)
def test_an_index_above_int64_is_out_of_bounds_rather_than_negative(call: Callable[[Any], Any], tier: Any) -> None:
    with context(tier=tier), pytest.raises(IndexError, match="out of bounds"):
        np.asarray(call(xp.asarray(UNSIGNED)))


@pytest.mark.parametrize("tier", TIERS)
def test_nor_is_it_negative_for_a_tensor_or_a_gather_of_the_graph(tier: Any) -> None:
    x, places = Tensor(np.arange(6.0)), Tensor(UNSIGNED)
    nodes = UOp.new(Ops.IOTA, (), 6, dtypes.int64), UOp.new(Ops.IOTA, (), 2, dtypes.uint64) - 1
    gathered = nodes[0].index(nodes[1])
    scattered = UOp.new(Ops.SCATTER, (nodes[0], gathered, nodes[1]), "add")
    with context(tier=tier):
        for call in (x[places].numpy, lambda: realize_all([gathered]), lambda: realize_all([scattered])):
            with pytest.raises(IndexError, match="out of bounds"):
                call()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", ["uint8", "uint64"])
def test_unsigned_indices_within_bounds_read_and_write(tier: Any, dtype: str) -> None:
    places = np.asarray([5, 0, 3], dtype)
    with context(tier=tier):
        assert equal(xp.take(xp.arange(6) * 2, xp.asarray(places)), [10, 0, 6])
        assert equal((xp.arange(6) * 2)[xp.asarray(places)], [10, 0, 6])
        assert equal(written(xp, xp.asarray(places)), written(np, places))


NOT_FINITE = {
    "inf": [[-np.inf, -2.5, 1.0], [0.0, np.inf, 1.0], [1.0, 2.0, 3.0]],
    "one inf": [[1.0, 0.5, 0.0], [2.0, np.inf, 1.0], [1.0, 2.0, 3.0]],
    "all inf": [[np.inf] * 3] * 3, "nan": [[1.0, np.nan, 0.0], [0.0, 1.0, 2.0], [3.0, 0.0, 1.0]],
    "inf and nan": [[np.inf, np.nan, 1.0], [0.0, 1.0, 2.0], [3.0, 0.0, 1.0]],
    "largest": [[1.7e308, -1.7e308, 1.0], [1.7e308, 1.7e308, 0.0], [0.0, 1.0, 1.7e308]],
    "smallest": [[5e-324, 0.0, 5e-324], [0.0, 5e-324, 0.0], [-5e-324, 0.0, 0.0]], "nothing": [[0.0] * 3] * 3,
}  # fmt: skip
DECOMPOSITIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(xp.linalg, name) for name in (
        "cholesky det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals".split())},
    **{f"norm {ord}": lambda x, ord=ord: xp.linalg.matrix_norm(x, ord=ord) for ord in ("nuc", 2, -2)},
    "solve": lambda x: xp.linalg.solve(x, x), "power": lambda x: xp.linalg.matrix_power(x, -3),
    "lstsq": lambda x: np.linalg.lstsq(x, x), "cond": np.linalg.cond,
    "polyfit": lambda x: np.polyfit(x[0, :], x[1, :], 2),
}  # fmt: skip


def slope(call: Callable[[Any], Any], x: Any) -> Any:
    def total(x: Any) -> Any:
        out = call(x)
        parts = [part for part in (out if isinstance(out, tuple) else (out,)) if part.dtype.kind != "i"]
        return sum(xp.sum(xp.real(part)) for part in parts)

    return xp.grad(total)(x)


@pytest.mark.parametrize("values", NOT_FINITE.values(), ids=NOT_FINITE.keys())
@pytest.mark.parametrize("call", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS.keys())
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_lapack_comes_back_from_any_matrix(call: Callable[[Any], Any], values: Any, dtype: str) -> None:
    x = xp.asarray(np.asarray(values).astype(dtype))
    out = outcome(call, x)
    assert not isinstance(out, Exception) or isinstance(out, np.linalg.LinAlgError), repr(out)
    out = outcome(slope, call, x)  # of some there is no derivative
    assert not isinstance(out, Exception) or isinstance(out, np.linalg.LinAlgError | GradientError), repr(out)
