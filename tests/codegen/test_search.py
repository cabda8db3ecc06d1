"""The first place of an extreme: kernels look for it block by block, NumPy and the interpreter are asked as well."""

import numpy as np
import pytest

import uopc_array as xp
from tests.support.kernel_runs import bits, call_of, check, has_libmvec, run
from tests.support.kernels import needs_compiler
from uopc_core import context
from uopc_core.codegen.c_source import render
from uopc_core.dtype import DTYPES, dtypes, is_complex, is_float
from uopc_core.ir.composite import iota
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

REAL = [dtype for dtype in DTYPES if not is_complex(dtype)]
LENGTHS = (1, 17, 256, 1000)
BLOCKS = (63, 64, 65, 255, 256, 257, 320, 575, 576, 600)  # blocks are of 256, and of 64 what is left


def rows(dtype, n):
    """Rows with their extremes at either end, between, several times, and nowhere else than everywhere."""
    rng = np.random.default_rng(n)
    x = rng.integers(0, 2 if dtype is dtypes.bool else 100, (12, n)).astype(dtype)
    x[0] = 0
    for row, place in ((1, 0), (2, n - 1), (3, n // 2), (4, n // 3), (4, n // 2)):
        x[row, place] = 1 if dtype is dtypes.bool else 101
    if is_float(dtype):
        x[5, n // 2] = np.nan
        x[6, [n // 3, n - 1]] = np.nan
        x[7] = np.where(rng.random(n) < 0.5, -0.0, 0.0)
        x[8] = -np.inf
        x[9, -1] = np.inf
    return x


@needs_compiler
@pytest.mark.parametrize("dtype", REAL, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("how", ["argmax", "argmin"])
def test_the_place_is_numpys(how, dtype):
    for n in LENGTHS:
        x = rows(dtype, n)
        forms = {"rows": (x, 1), "columns": (np.ascontiguousarray(x.T), 0), "backwards": (x[:, ::-1], 1)}
        for name, (given, axis) in forms.items():
            wanted = getattr(np, how)(given, axis=axis)
            for tier in ("compile", "interpret"):
                with context(tier=tier):
                    got = getattr(xp, how)(xp.asarray(given), axis=axis)
                    np.testing.assert_array_equal(np.asarray(got), wanted, f"{name} of {n}, {tier}")
                    whole = getattr(xp, how)(xp.asarray(given))
                    assert int(whole) == getattr(np, how)(given), (name, n, tier)


@needs_compiler
@pytest.mark.parametrize("dtype", [dtypes.bool, dtypes.uint8, dtypes.int16, dtypes.float32, dtypes.float64], ids=str)
def test_each_place_of_a_block_is_found(dtype):
    for n in BLOCKS:
        x = np.zeros((n, n), dtype)
        x[np.tri(n, dtype=bool).T] = 1  # row i holds from place i on
        turned = x[::-1, ::-1]
        with context(tier="compile"):
            np.testing.assert_array_equal(np.asarray(xp.argmax(xp.asarray(x), axis=1)), np.arange(n))
            np.testing.assert_array_equal(np.asarray(xp.argmin(xp.asarray(turned), axis=1)), turned.argmin(1))


def search(shape, condition, op, otherwise, place=None):
    places = iota(shape, 1) if place is None else place
    return condition.where(places, otherwise).reduce(op, 1)


def is_search(node):
    call = call_of([node])
    return "found" in render((call,), set(call.outputs), has_libmvec()).text


@needs_compiler
def test_only_what_the_first_place_decides_is_a_search():
    shape = (5, 700)
    x = UOp.param(0, shape, dtypes.float64)
    found = x.eq(0)
    rising, falling = iota(shape, 1), iota(shape, 1).flip([1])
    below, above = UOp.const(-1, dtypes.int64).reshape((1, 1)), UOp.const(5000, dtypes.int64).reshape((1, 1))
    below, above = below.expand(shape), above.expand(shape)
    searches = [search(shape, found, Ops.MIN, above, rising), search(shape, found, Ops.MAX, below, falling)]
    searches += [(~found).where(above, rising).reduce(Ops.MIN, 1), (~found).where(below, falling).reduce(Ops.MAX, 1)]
    others = [
        search(shape, found, Ops.MAX, below, rising),  # the last one
        search(shape, found, Ops.MIN, below, rising),  # what holds nowhere is less than any
        search(shape, found, Ops.ADD, below, rising),
        search(shape, found, Ops.MIN, iota(shape, 0), rising),
    ]
    assert all(map(is_search, searches))
    assert not any(map(is_search, others))
    for chance in (0, 0.005, 0.5):
        rng = np.random.default_rng(3)
        values = np.where(rng.random(shape) < chance, 0, 1.0)
        for node in searches + others:
            check([node], [values])


FLOATING = [dtype for dtype in DTYPES if is_float(dtype)]


def extreme_rows(dtype, n):
    """Rows with nan at either end, with zeros of both signs as extremes, and with one sign of infinity alone."""
    x = rows(dtype, n)
    zeros = np.where(np.random.default_rng(n).random((2, n)) < 0.5, -0.0, 0.0)
    low = np.where(np.arange(n) % 3 == 0, zeros[0], -1.0)
    ends = np.full((2, n), 2.0)
    ends[0, 0] = ends[1, -1] = np.nan
    return np.concatenate([x, zeros, [low, -low], ends]).astype(dtype)


@needs_compiler
@pytest.mark.parametrize("dtype", FLOATING, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", [Ops.MAX, Ops.MIN], ids=lambda op: op.name)
def test_extremes_of_rows_are_those_of_their_order(op, dtype):
    """Also the sign of a zero, in rows of memory and where they lie across it."""
    for n in (127, 128, 129, 191, 256, 511, 512, 513, 1000, 2000):
        x = extreme_rows(dtype, n)
        node, turned = UOp.param(0, x.shape, dtype), UOp.param(0, x.shape[::-1], dtype)
        along, across = node.reduce(op, 1), turned.permute((1, 0)).reduce(op, 1)
        check([along], [x])
        check([node.reshape((x.size,)).reduce(op, 1)], [x])
        check([across], [np.ascontiguousarray(x.T)])
        wanted = (np.max if op is Ops.MAX else np.min)(x, axis=1)
        got = run([along], [x])[0]
        np.testing.assert_array_equal(got, wanted)
        number = ~np.isnan(wanted)
        assert bits(got[number]) == bits(run([across], [np.ascontiguousarray(x.T)])[0][number])


@needs_compiler
def test_a_long_row_is_searched_and_not_cut_into_parts():
    shape = (1, 400_000)
    x = UOp.param(0, shape, dtypes.float32)
    below = UOp.const(-1, dtypes.int64).reshape((1, 1)).expand(shape)
    node = search(shape, x.eq(1), Ops.MAX, below, iota(shape, 1).flip([1]))
    assert is_search(node)
    for place in (0, 399_999):
        check([node], [(np.arange(shape[1]) == place).astype(np.float32).reshape(shape)])
