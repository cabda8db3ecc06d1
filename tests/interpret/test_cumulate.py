"""Cumulative sums of the extension: those of the interpreter, bit for bit."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from uopc_array._array.extension import IN_C
from uopc_core.interpret.numpy_ops import _cumulative_sum

pytestmark = pytest.mark.skipif(IN_C is None, reason="the extension is optional")
LENGTHS = [0, 1, 2, 127, 128, 129, 255, 256, 1024, 1025, 1151, 1152, 128 * 128, 128 * 128 + 1, 128 * 129 + 77, 140_001]


def numbers(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    draw = np.random.default_rng(seed)
    return (draw.standard_normal(shape) * 10.0 ** draw.integers(-6, 6, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", LENGTHS)
def test_sums_have_the_bits_of_the_interpreters(n: int, dtype: Any) -> None:
    for shape in [(n,), (1, n), (3, n), (2, 0, n)]:
        x = numbers(shape, dtype, n)
        if n > 3 and x.size:
            x[..., 0] = -0.0
            x.reshape(-1, n)[-1, n // 2] = np.inf
        with np.errstate(all="ignore"):
            given, wanted = IN_C.cumulate(x), _cumulative_sum(x)
        assert (given.dtype, given.shape, given.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
        assert given.flags.owndata
        assert given.flags.c_contiguous


def test_zeros_keep_their_sign() -> None:
    for n in (1, 5, 300):
        assert np.signbit(IN_C.cumulate(np.full(n, -0.0))).all()


def test_whatever_is_laid_out_otherwise_or_no_float_is_the_interpreters() -> None:
    x = numbers((300, 300), np.float64)
    cases = [x.T, x[:, ::2], x[::-1, ::-1], x + 1j, x.astype(x.dtype.newbyteorder())]
    for case in cases:
        given, wanted = IN_C.cumulate(case), _cumulative_sum(case)
        assert given.dtype == wanted.dtype
        assert given.tobytes() == wanted.tobytes()


def test_references_stay() -> None:
    x = numbers((5, 400), np.float64)
    before = sys.getrefcount(x), sys.getrefcount(x.dtype)
    for _ in range(100):
        IN_C.cumulate(x)
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype)) == before
