"""What the extension gives in the place of NumPy's ``where``: the same elements, bit for bit, in like arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from uopc_array._array.extension import IN_C

pytestmark = pytest.mark.skipif(IN_C is None, reason="the extension is optional")
DTYPES = "?bBhHiIlLqQfdFD"
SIZES = [0, 1, 2, 7, 16, 33, 1000, 70_000]


@pytest.fixture
def choose() -> Iterator[Callable[..., Any]]:
    yield IN_C.choose
    IN_C.connect_choose(np.where)


def bits(n: int, dtype: str, draw: np.random.Generator) -> np.ndarray[Any, Any]:
    """Elements of all bits that there are, nan with whatever they carry among them."""
    drawn = draw.bytes(n * np.dtype(dtype).itemsize)
    values = np.frombuffer(drawn, dtype="u1" if dtype == "?" else dtype).copy()
    return values > 127 if dtype == "?" else values


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_those_that_numpy_chooses(dtype: str, choose: Callable[..., Any]) -> None:
    draw = np.random.default_rng(ord(dtype))
    for n in SIZES:
        condition, x, y = draw.random(n) < 0.5, bits(n, dtype, draw), bits(n, dtype, draw)
        one = bits(1, dtype, draw)
        for a in (x, one, one[0], one.reshape(())):
            for b in (y, one, one[0], one.reshape(())):
                with np.errstate(all="ignore"):
                    given, wanted = choose(condition, a, b), np.where(condition, a, b)
                assert type(given) is np.ndarray
                assert (given.dtype, given.shape, given.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
                assert given.flags.owndata
                assert given.flags.c_contiguous


def test_whatever_is_laid_out_otherwise_goes_to_numpy(choose: Callable[..., Any]) -> None:
    draw = np.random.default_rng(0)
    condition, x, y = draw.random((6, 8)) < 0.5, draw.random((6, 8)), draw.random((6, 8))
    swapped = x.astype(x.dtype.newbyteorder())
    unaligned = np.frombuffer(b"." + x.tobytes(), dtype="u1")[1:].view(x.dtype).reshape(x.shape)
    cases = [
        (condition.T, x.T, y.T),
        (condition, x[0], y),
        (condition, x[:, :1], y),
        (condition[0], x, y),
        (condition, x[None], y),
        (condition[:, ::2], x[:, ::2], y[:, 1::2]),
        (condition, swapped, y),
        (condition, unaligned, unaligned),
        (condition, x.astype("f4"), y),
        (condition, x, 1),
        (condition, 2.5, y),
        (condition.astype("i8"), x, y),
        (condition[0, 0], x, y),
        (np.asarray(condition[0, 0]), x, y),
        (np.asarray(True), np.float64(1), np.float64(2)),
        (condition[:0], x[:0], y[:0]),
        (condition, x[:1, :1], y),
    ]
    called: list[Any] = []
    IN_C.connect_choose(lambda *args: called.append(args) or np.where(*args))
    for case in cases:
        given, wanted = choose(*case), np.where(*case)
        assert (given.dtype, given.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(given, wanted)
    assert len(called) == len(cases) - 2  # the last two are as any other


def test_a_byte_of_a_condition_may_be_any(choose: Callable[..., Any]) -> None:
    condition = np.arange(256, dtype="u1").view(bool)
    for dtype in "bhidf":
        x, y = np.arange(256).astype(dtype), -np.arange(256).astype(dtype) - np.ones(256, dtype)
        np.testing.assert_array_equal(choose(condition, x, y), np.where(condition.view("u1") != 0, x, y))


def test_references_stay(choose: Callable[..., Any]) -> None:
    condition, x = np.array([True, False, True]), np.zeros(3)
    before = [sys.getrefcount(item) for item in (condition, x, x.dtype)]
    for _ in range(100):
        choose(condition, x, x)
        choose(condition, x, 1.0)
    assert [sys.getrefcount(item) for item in (condition, x, x.dtype)] == before
