"""The first place of an extreme: kernels look for it block by block, NumPy and the interpreter are asked as well."""

import numpy as np
import pytest

import uopc_array as xp
from tests.support.kernel_runs import call_of, check, has_libmvec
from tests.support.kernels import needs_compiler
from uopc_core import context
from uopc_core.codegen.c_source import render
from uopc_core.dtype import DTYPES, dtypes, is_complex, is_float
from uopc_core.ir.composite import iota
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

REAL = [dtype for dtype in DTYPES if not is_complex(dtype)]
LENGTHS = (1, 17, 256, 1000)


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
