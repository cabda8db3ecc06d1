"""A Python integer that an array's dtype does not hold: functions of NumPy that answer by value answer here too.

Under jit, where nobody knows whether the number fits, comparisons are by value as well.
"""

from typing import Any

# pyright: reportArgumentType=false, reportCallIssue=false
# NumPy's stubs do not know that other classes take part (NEP 13 and 18).
import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context

NUMBERS = {
    "uint8": (300, -1, 256, -300), "int8": (300, -300, 128, -129), "uint16": (-1, 2**16), "int16": (2**15, -(2**20)),
    "uint32": (2**40, -1), "int32": (2**31, -(2**40)), "uint64": (-1, -(2**40)), "int64": (2**63, 2**64 - 1),
    "bool": (300, -1),
}  # fmt: skip
BESIDE = [(dtype, number) for dtype, numbers in NUMBERS.items() for number in numbers]
ANSWERED = [
    "np.divide(x, k)", "np.divide(k, x)", "np.hypot(x, k)", "np.arctan2(k, x)", "np.copysign(x, k)",
    "np.logaddexp(x, k)", "np.logaddexp2(k, x)", "np.float_power(k, x)", "np.heaviside(x, k)", "np.logical_and(x, k)",
    "np.logical_or(k, x)", "np.logical_xor(x, k)", "np.isclose(x, k)", "np.isclose(k, x)", "np.allclose(x, k)",
    "np.array_equal(x, k)", "np.array_equiv(x, k)", "np.equal(x, k)", "np.not_equal(k, x)", "np.less(x, k)",
    "np.less_equal(k, x)", "np.greater(x, k)", "np.greater_equal(k, x)", "x < k", "k <= x", "x == k", "x != k",
    "x / k", "k / x", "np.isin(x, k)", "np.isin(k, x)", "np.isin(x, [k, 1])", "np.searchsorted(x, k)",
    "np.searchsorted(x, k, 'right')", "x.searchsorted(k)", "x.dot(k)", "np.dot(x, k)", "np.tensordot(x, k, 0)",
    "np.outer(x, k)", "np.kron(x, k)", "np.inner(k, x)", "np.convolve(x, k)", "np.append(x, k)",
    "np.multiply.outer(x, k)",
]  # fmt: skip
COMPARED = ["k == x", "x != k", "x < k", "k <= x", "x > k", "xp.equal(x, k)", "xp.less(k, x)", "xp.isin(x, k)"]


def run(text: str, x: Any, k: int) -> Any:
    return eval(text, {"np": np, "xp": xp, "x": x, "k": k})


def agree(got: Any, want: Any) -> None:
    want = np.asarray(want)
    if want.dtype != np.float16 and not (want.dtype == np.float32 and got.dtype == np.float64):
        assert np.asarray(got).dtype == want.dtype
    narrow = want.dtype == np.float16
    limit = {"rtol": 2e-3, "atol": 1e-7} if narrow else {"rtol": 1e-6, "atol": 0}
    np.testing.assert_allclose(np.asarray(got).astype(want.dtype), want, **limit)


@pytest.mark.parametrize("text", ANSWERED)
def test_the_answer_is_numpys(text):
    for dtype, number in BESIDE:
        x = np.asarray([0, 1, 44, 100]).astype(dtype)
        try:
            want = run(text, x, number)
        except OverflowError:
            continue
        agree(run(text, xp.asarray(x), number), want)


@pytest.mark.parametrize("text", ANSWERED)
def test_the_answer_is_numpys_when_compiled(text):
    x = np.asarray([0, 1, 44, 100]).astype("uint8")
    with context(tier="compile"):
        agree(run(text, xp.asarray(x), 300), run(text, x, 300))


@pytest.mark.parametrize(("dtype", "number"), [(d, k) for d, k in BESIDE if -(2**63) <= k < 2**63])
@pytest.mark.parametrize("text", COMPARED)
def test_traced_numbers_are_compared_by_value(text, dtype, number):
    x = xp.asarray(np.asarray([0, 1, 44, 255]).astype(dtype))
    want = run(text, x, number)
    np.testing.assert_array_equal(np.asarray(xp.jit(lambda x, k: run(text, x, k))(x, number)), np.asarray(want))


@pytest.mark.parametrize("dtype", [dtype for dtype in NUMBERS if dtype != "bool"])
def test_bounds_of_clip_may_lie_outside_of_the_dtype(dtype):
    info = np.iinfo(dtype)
    x = np.asarray([info.min, 0, 44, info.max]).astype(dtype)
    beyond = [None, 0, 44, info.min, info.max, info.min - 1, info.max + 1, info.min * 2 - 5, info.max * 2]
    for low in beyond:
        for high in beyond:
            try:
                want = np.clip(x, low, high)
            except OverflowError:
                with pytest.raises(OverflowError, match="clip: Python integer"):
                    xp.clip(xp.asarray(x), low, high)
                continue
            for got in (xp.clip(xp.asarray(x), low, high), xp.asarray(x).clip(low, high)):
                assert got.dtype == x.dtype
                np.testing.assert_array_equal(np.asarray(got), want)


def test_isin_compares_signed_with_unsigned_by_value():
    big = [2**63 - 1, 2**63, 2**60, 2**60 + 1, 0]
    unsigned, signed = np.asarray(big, np.uint64), np.asarray([-1, 2**63 - 1, 2**60, -(2**63), 0], np.int64)
    for repeats in (1, 5):  # few and many to look among
        for x, among in ((unsigned, signed), (signed, unsigned)):
            want = [int(a) in set(among.tolist()) for a in x]
            assert xp.isin(xp.asarray(x), xp.asarray(np.repeat(among, repeats))).tolist() == want


def test_values_are_compared_exactly():
    x, y = np.asarray([2**60 + 1]), np.asarray([2**60], np.uint64)
    for call in (xp.array_equal, xp.array_equiv, np.array_equal, np.array_equiv):
        assert call(xp.asarray(x), xp.asarray(y)) is False
        assert call(xp.asarray(x), xp.asarray(x.astype(np.uint64))) is True


TOLERANCES = [1e-5, 0.1, np.float64(1 - 2.3e-16), np.float32(0.1), 0, 1, [1e-3, 1e-1], np.asarray([[0.5], [0.0]])]


# each kind of one with each kind of the other: number, NumPy's scalar, zero, sequence, array
PAIRS = [(r, a) for i, r in enumerate(TOLERANCES) for j, a in enumerate(TOLERANCES) if (i + j) % 3 == 0]


@pytest.mark.parametrize(("rtol", "atol"), PAIRS, ids=repr)
@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_tolerances_of_isclose_are_numbers_or_arrays(rtol, atol, kind):
    a, b = np.asarray([1, 0]).astype(kind), np.asarray([0, 1]).astype(kind)
    others = [a, b, a + np.asarray(0.05, "float32"), np.float32(0), np.float64(1), 1, 0.5, True]
    for x, y in [(x, y) for x in others for y in others]:
        want = np.isclose(x, y, rtol=rtol, atol=atol)
        ours = [xp.asarray(v) if isinstance(v, np.ndarray) else v for v in (x, y)]
        tolerances = {"rtol": rtol, "atol": xp.asarray(atol) if isinstance(atol, np.ndarray) else atol}
        calls = [xp.isclose, np.isclose] if any(isinstance(v, xp.Array) for v in ours) else [xp.isclose]
        for call in calls:
            np.testing.assert_array_equal(np.asarray(call(*ours, **tolerances)), want)
