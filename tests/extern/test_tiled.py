"""Products of small matrices in tiles: right, and of the same bits wherever operands lie and whoever computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.kernels import needs_compiler
from uopc_core import Buffer, context
from uopc_core.codegen.c_source import CSource
from uopc_core.extern.product import multiply_by_library
from uopc_core.ir.composite import matmul
from uopc_core.ir.uop import UOp
from uopc_core.runtime.rendered import render_plan
from uopc_core.schedule.library_work import is_tiled
from uopc_core.schedule.plan import make_plan
from uopc_core.schedule.steps import ExternCall

pytestmark = needs_compiler
DTYPES = ("float32", "float64")
# m, k, n: whole tiles, one row or column more and less, a last vector of columns, short and long rows
SIZES = [(8, 64, 32), (33, 70, 48), (64, 64, 64), (65, 33, 79), (63, 17, 81), (127, 5, 80), (32, 600, 96)]
SIZES += [(200, 20, 104), (15, 530, 2100), (16, 1030, 130)]  # several threads, long rows, much memory


def laid_out(x: Any, how: str) -> Any:
    """`x`, in memory in another way."""
    if how == "columns":
        return np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2)
    if how == "apart":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if how == "backwards" else np.ascontiguousarray(x)


def exactly(x: Any, y: Any) -> Any:
    exact = np.zeros((*x.shape[:-1], y.shape[-1]), np.longdouble)
    for k in range(x.shape[-1]):
        exact += np.multiply(x[..., :, k, None], y[..., k, None, :], dtype=np.longdouble)
    return exact


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_right_and_of_one_value(dtype: str, size: tuple[int, int, int]) -> None:
    m, k, n = size
    assert is_tiled(np.dtype(dtype), m, k, n)
    rng = np.random.default_rng(m)
    x, y = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    wanted = multiply_by_library(x, y)
    bound = k * np.finfo(dtype).eps * (np.abs(x).astype(np.float64) @ np.abs(y))
    assert (np.abs(wanted - exactly(x, y)) <= bound).all()
    function = xp.jit(lambda x, y: x @ y)
    for how in ("rows", "columns", "apart", "backwards"):
        a, b = laid_out(x, how), laid_out(y, how)
        np.testing.assert_array_equal(multiply_by_library(a, b), wanted)
        if is_tiled(a.dtype, n, k, m):
            np.testing.assert_array_equal(multiply_by_library(b.T, a.T).T, wanted)
        for tier in ("compile", "interpret"):
            for threads in (1, 2):
                with context(tier=tier, num_threads=threads):
                    np.testing.assert_array_equal(np.asarray(function(xp.asarray(a), xp.asarray(b))), wanted)
    np.testing.assert_array_equal(np.asarray(xp.asarray(x) @ xp.asarray(y)), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_of_matrices_and_parts_of_arrays(dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal((3, 2, 40, 50)).astype(dtype) for _ in range(2))
    flat = zip(x.reshape(6, 40, 50), y.reshape(6, 40, 50), strict=True)
    wanted = np.stack([multiply_by_library(a, b.T) for a, b in flat]).reshape(3, 2, 40, 40)
    part = np.stack([multiply_by_library(a[4:36, 10:], b[:40, 1:41]) for a, b in zip(x[:, 1], y[:, 0], strict=True)])
    for tier in ("compile", "interpret"):
        with context(tier=tier):
            got = xp.jit(lambda x, y: xp.einsum("abij,abkj->abik", x, y))(xp.asarray(x), xp.asarray(y))
            np.testing.assert_array_equal(np.asarray(got), wanted)
            got = xp.jit(lambda x, y: x[:, 1, 4:36, 10:] @ y[:, 0, :40, 1:41])(xp.asarray(x), xp.asarray(y))
            np.testing.assert_array_equal(np.asarray(got), part)


def test_what_is_not_finite_stays_where_it_is() -> None:
    x, y = np.ones((16, 40)), np.ones((40, 24))
    x[3, 5], x[15, 0], y[7, 23] = np.inf, np.nan, -np.inf
    got = multiply_by_library(x, y)
    wanted = np.full((16, 24), 40.0)
    wanted[3], wanted[15], wanted[:, 23], wanted[3, 23], wanted[15, 23] = np.inf, np.nan, -np.inf, np.nan, np.nan
    np.testing.assert_array_equal(got, wanted)


def test_a_product_is_part_of_the_program_around_it() -> None:
    x, y = (UOp.buffer(Buffer.from_numpy(np.ones((64, 64)) * k)) for k in range(2))
    plan, _ = make_plan([matmul(x, y) + 1.0])
    assert any(isinstance(step, ExternCall) for step in plan.steps)
    steps = render_plan(plan)
    assert len(steps) == 2
    assert all(isinstance(step, CSource) for step in steps)


@pytest.mark.parametrize(
    ("size", "dtype"),
    [
        ((7, 64, 64), "float64"),  # fewer rows than a tile has
        ((64, 64, 15), "float64"),  # fewer columns
        ((9, 64, 64), "float64"),  # as good as two tiles of rows
        ((17, 512, 512), "float32"),
        ((512, 64, 512), "float32"),
        ((64, 64, 64), "complex128"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_the_librarys(size: tuple[int, int, int], dtype: str) -> None:
    assert not is_tiled(np.dtype(dtype), *size)
