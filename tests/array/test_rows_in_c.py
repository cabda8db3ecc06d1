"""Operators on few doubles, which the extension computes itself, have NumPy's bits, wherever operands lie."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_core import context

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv]
SPECIAL = [0.0, -0.0, 1.0, -3.5, 5e-324, 1e308, -1e308, np.inf, -np.inf, 1 / 3]
NUMBERS: list[Any] = [0, 3, -7, 2**53 + 1, True, 0.1, -0.0, np.inf, np.float64(0.3), np.int64(5), np.float32(0.7)]
# parts of a matrix of n rows and columns, of one shape each: they may be the same, overlap or lie apart
PARTS: list[Callable[[Any], list[Any]]] = [
    lambda x: [x[0], x[1], x[0], x[:, 0], x[:, 1], x[0, ::-1], x[::-1, 0], x[-1]],
    lambda x: [x[0, 1:], x[0, :-1], x[0, :0:-1], x[1:, 0], x[:-1, 0], x[-2::-1, -1]],
    lambda x: [x[0, ::2], x[::2, 0], x[1, ::2], x[0, ::2][::-1]],
    lambda x: [x, x, x.T, x[::-1], x[:, ::-1]],
    lambda x: [x[1:], x[:-1], x[1:, :]],
    lambda x: [x[:1], x[-1:]],
]


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    with context(at_once=1 << 15, tier="auto"):
        yield


def values(n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4, (n, n))
    places = rng.random((n, n)) < 0.1
    x[places] = rng.choice(SPECIAL, int(places.sum()))
    return x


def same(x: Any, y: Any) -> bool:
    x, y = np.asarray(x), np.asarray(y)
    is_nan = np.isnan(x)
    if x.shape != y.shape or x.dtype != y.dtype or not np.array_equal(is_nan, np.isnan(y)):
        return False
    return x[~is_nan].tobytes() == y[~is_nan].tobytes()


sizes = st.sampled_from([2, 3, 5, 16, 22, 23, 45, 46, 600])  # matrices on both sides of the bounds, and rows


@given(
    sizes, st.sampled_from(PARTS), st.sampled_from(OPERATORS), st.integers(0, 7), st.integers(0, 7), st.integers(0, 99)
)
def test_operators_on_rows(n: int, parts: Any, f: Any, i: int, j: int, seed: int) -> None:
    theirs, ours = values(n, seed), xp.asarray(values(n, seed))
    of_theirs, of_ours = parts(theirs), parts(ours)
    i, j = i % len(of_theirs), j % len(of_theirs)
    with np.errstate(all="ignore"):
        assert same(f(of_ours[i], of_ours[j]), f(of_theirs[i], of_theirs[j]))
        assert same(f(of_ours[i], of_theirs[j]), f(of_theirs[i], of_theirs[j]))
        for number in NUMBERS:
            assert same(f(of_ours[i], number), f(of_theirs[i], number)), number
            assert same(f(number, of_ours[i]), f(number, of_theirs[i])), number
    assert same(ours, theirs)


@given(
    sizes, st.sampled_from(PARTS), st.sampled_from(IN_PLACE), st.integers(0, 7), st.integers(0, 7), st.integers(0, 99)
)
def test_rows_change_in_place(n: int, parts: Any, f: Any, i: int, j: int, seed: int) -> None:
    theirs, ours = values(n, seed), xp.asarray(values(n, seed))
    for k in range(3):
        of_theirs, of_ours = parts(theirs), parts(ours)
        to, of = (i + k) % len(of_theirs), j % len(of_theirs)
        with np.errstate(all="ignore"):
            f(of_theirs[to], of_theirs[of])
            f(of_ours[to], of_ours[of])
            assert same(ours, theirs)
            number = NUMBERS[(seed + k) % len(NUMBERS)]
            f(of_theirs[to], number)
            f(of_ours[to], number)
            assert same(ours, theirs)


@given(
    sizes, st.sampled_from(PARTS), st.integers(0, 7), st.integers(0, 7), st.sampled_from(NUMBERS), st.integers(0, 99)
)
def test_rows_are_assigned(n: int, parts: Any, i: int, j: int, number: Any, seed: int) -> None:
    theirs, ours = values(n, seed), xp.asarray(values(n, seed))
    of_theirs, of_ours = parts(theirs), parts(ours)
    to, of = i % len(of_theirs), j % len(of_theirs)
    of_theirs[to][...] = of_theirs[of]
    of_ours[to][...] = of_ours[of]
    assert same(ours, theirs)
    of_theirs[of][1:] = of_theirs[to][:-1]
    of_ours[of][1:] = of_ours[to][:-1]
    assert same(ours, theirs)
    of_theirs[to][:] = number
    of_ours[to][:] = number
    assert same(ours, theirs)


def test_a_small_array_whose_memory_was_looked_at_stays_a_value() -> None:
    x = xp.asarray(np.ones((5, 3)))
    assert x.to_numpy(copy=False).sum() == 15
    x += 2.0 * xp.asarray(np.ones((5, 3)))
    assert x._value is not None
    seen = x.to_numpy(copy=False)
    x += 1
    assert seen.tolist() == [[3.0] * 3] * 5, "who holds a read-only view sees the values of then"
    assert np.asarray(x).tolist() == [[4.0] * 3] * 5


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("f", [*OPERATORS, *IN_PLACE])
def test_of_two_nans_the_result_is_the_one_that_numpy_takes(f: Any, n: int) -> None:
    # of more elements NumPy's own loops differ from each other
    positive = np.full(n, np.nan)
    a, b = positive.copy(), np.copysign(positive, -1.0)
    a[::3], b[1::3] = 2.0, -1.0
    for left, right in ((a, b), (b, a)):
        wanted = f(left.copy(), right)
        given_left = xp.asarray(left.copy())
        assert np.asarray(f(given_left, xp.asarray(right))).tobytes() == wanted.tobytes()
    for left, right in ((a, b[0]), (b, a[-1])):
        wanted = f(left.copy(), right)
        assert np.asarray(f(xp.asarray(left.copy()), right)).tobytes() == wanted.tobytes()
