"""The places of sorted elements, by a loop of ours: NumPy's stable order, for every dtype, layout and kind of keys."""

import numpy as np
import pytest

from tests.support.kernels import needs_compiler
from uopc_core.dtype import dtypes
from uopc_core.extern import sorting
from uopc_core.interpret.loops import loop_of
from uopc_core.ir.op import Ops

SIZES = (512, 513, 1000, 4096, 70_001)
FLOATS = (np.float32, np.float64)
INTEGERS = (np.int32, np.uint32, np.int64, np.uint64)


def floats(rng, n, dtype):
    info = np.finfo(dtype)
    wide = rng.standard_normal(n).astype(dtype) * (10.0 ** rng.integers(-30, 30, n)).astype(dtype)
    yield "normal", rng.standard_normal(n)
    yield "of all sizes", wide
    yield "few", rng.integers(-3, 3, n) * 0.5
    yield "all alike", np.ones(n)
    yield "zeros of both signs", np.where(rng.random(n) < 0.5, -0.0, 0.0)
    yield "nan and infinities", rng.choice([np.nan, -np.nan, np.inf, -np.inf, 1.0], n)
    yield "subnormal", rng.integers(-9, 9, n) * float(info.smallest_subnormal)
    # alike in all digits but the last: far more than there is room for, beside one that is large
    near = 1 + rng.integers(0, 50, n) * float(info.eps)
    near[n // 2] = -float(info.max)
    yield "alike up to the last digits", near


def integers(rng, n, dtype):
    info = np.iinfo(dtype)
    yield "all", rng.integers(info.min, info.max, n, dtype, endpoint=True)
    yield "few", rng.integers(0, 5, n)
    yield "extremes", rng.choice(np.array([info.min, info.max, 0], dtype), n)
    yield "falling, beside the largest", np.where(np.arange(n) == 7, info.max, np.arange(n)[::-1].astype(dtype))


def rows(dtype, n):
    rng = np.random.default_rng(n)
    draw = floats if np.dtype(dtype).kind == "f" else integers
    for name, x in draw(rng, n, dtype):
        yield name, x.astype(dtype)


def layouts(x):
    yield x
    yield x[::-1]
    yield np.repeat(x, 2)[::2]
    yield np.stack([x, x[::-1]])
    yield np.stack([x, x[::-1], np.sort(x)], axis=1).T


@needs_compiler
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=lambda dtype: dtype.__name__)
def test_places_are_those_of_a_stable_sort(dtype, n):
    for name, x in rows(dtype, n):
        for y in layouts(x):
            expected = np.argsort(y, axis=-1, kind="stable")
            for stable in (True, False):
                np.testing.assert_array_equal(sorting._argsort((False, stable), y)[0], expected, name)


@needs_compiler
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=lambda dtype: dtype.__name__)
def test_falling_places_keep_the_order_of_equal_elements(dtype):
    for name, x in rows(dtype, 600):
        (places,) = sorting._argsort((True, True), x)
        expected = np.argsort(x[::-1], kind="stable")[::-1]
        np.testing.assert_array_equal(places, 599 - expected, name)


@needs_compiler
def test_a_row_that_would_take_long_is_given_up_and_sorted_all_the_same():
    n = 20_000
    x = np.arange(n)[::-1] * np.finfo(float).eps / 2 + 0.5
    x[0] = -np.inf
    loop = loop_of("argsort", Ops.EXTERN, dtypes.float64)
    assert loop is not None
    assert loop(x, np.empty(n, np.int64))[0] == -1
    np.testing.assert_array_equal(sorting._argsort((False, True), x)[0], np.argsort(x, kind="stable"))
