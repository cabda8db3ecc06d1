"""Small parts of large arrays are read, written and computed with at their line, and seen wherever they are shared."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_array._array.at_once import LARGEST
from uopc_core import context
from uopc_core.frontend import cells

SHAPE = (190, 1400)


@pytest.fixture(autouse=True)
def _bound() -> Iterator[None]:
    with context(at_once=LARGEST, tier="auto"):
        yield


def in_memory(values: Any) -> Any:
    """An array on a node, as one that has been computed."""
    x = xp.asarray(values) + 0
    x.to_numpy(copy=False)
    return x


def is_known(x: Any) -> bool:
    return x._value is not None


# ------------------------------------------------------------------------------------------------- programs of any kind

# Each is done to `x`, what was made of it before (views, copies, results), and the numbers that are drawn.
READS: list[Callable[[Any, Any, int, int], Any]] = [
    lambda _, x, i, j: x[i, j],
    lambda _, x, i, j: x[i],
    lambda _, x, i, j: x[:, j],
    lambda _, x, i, j: x[i, : j + 1] * 2,
    lambda _, x, i, j: x[i][j],
    lambda _, x, i, j: x[i : i + 2, j:],
    lambda _, x, i, j: x[1:],  # large
    lambda _, x, i, j: x.T[j],
    lambda _, x, i, j: x.reshape(-1)[i],
    lambda _, x, i, j: x[i, ::3],
    lambda _, x, i, j: x[-1 - i, None, j],
    lambda m, x, i, j: x[m.asarray([i, j % 190])],
    lambda m, x, i, j: m.sum(x[i]) + m.max(x),
    lambda _, x, i, j: x + 1,
    lambda _, x, i, j: x[i] @ x[j % 190],
    lambda _, x, i, j: x,
]


def _set_one(_: Any, x: Any, i: int, j: int) -> None:
    x[i, j] = 7.5


def _set_row(_: Any, x: Any, i: int, j: int) -> None:
    x[i] = x[j % 190] * 0.5


def _set_large(_: Any, x: Any, i: int, j: int) -> None:
    x[1:] = x[:-1] * 0.5 + i


def _set_all(_: Any, x: Any, i: int, j: int) -> None:
    x[...] = j


def _add_in_row(_: Any, x: Any, i: int, j: int) -> None:
    x[i, j:] += x[i, :1]


def _add_to_all(_: Any, x: Any, i: int, j: int) -> None:
    x *= 0.75


def _set_through_view(_: Any, x: Any, i: int, j: int) -> None:
    row = x[i]
    row[j] = -1.0


def _set_under_mask(_: Any, x: Any, i: int, j: int) -> None:
    x[x > i] = j


def _set_at(m: Any, x: Any, i: int, j: int) -> None:
    x[m.asarray([i, i])] = m.asarray(2.0)


WRITES = [
    _set_one,
    _set_row,
    _set_large,
    _set_all,
    _add_in_row,
    _add_to_all,
    _set_through_view,
    _set_under_mask,
    _set_at,
]
STEPS = [*READS, *WRITES]


def outcomes(m: Any, x: Any, steps: list[tuple[int, int, int]], is_held: bool) -> list[Any]:
    """What each step gives, read when all are done, where it is held; and `x` in the end."""
    found: list[Any] = []
    for number, i, j in steps:
        result = STEPS[number](m, x, i, j)
        if result is not None:
            found.append(result if is_held else np.array(result))
    return [*[np.array(result) for result in found], np.array(x)]


@given(
    st.lists(st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 187), st.integers(0, 199)), max_size=12),
    st.booleans(),
)
def test_any_program_of_reads_and_writes_gives_what_numpy_gives(steps: Any, is_held: bool) -> None:
    values = np.arange(float(np.prod(SHAPE))).reshape(SHAPE) / 16
    wanted = outcomes(np, values.copy(), steps, is_held)
    found = outcomes(xp, in_memory(values), steps, is_held)
    for y, w in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(y, w)


# ------------------------------------------------------------------------------------------------------ what is at once


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x[2, 3],
        lambda x: x[2],
        lambda x: x[:, 3],
        lambda x: x[2, :5] + x[3, :5],
        lambda x: x[2] @ x[3],
        lambda x: x[xp.asarray([2, 9])[0], : xp.asarray([2, 9])[1]],
        lambda x: x[xp.asarray([2, 3])],
    ],
)
def test_small_parts_are_computed_at_the_line(read: Callable[[Any], Any]) -> None:
    x = in_memory(np.ones(SHAPE))
    assert is_known(read(x))
    assert is_known(x)
    assert not is_known(x + 1)
    assert not is_known(x), "what is done with all of it is the graph's"
    assert is_known(read(x)), "and again"


@pytest.mark.parametrize("function", [operator.add, operator.mul, operator.lt, operator.matmul, operator.iadd])
def test_nothing_large_is_computed_at_the_line(function: Any) -> None:
    others: list[Any] = [2.0, 2, np.float64(2), in_memory(np.ones(SHAPE)), xp.ones(SHAPE[1]), np.ones(SHAPE[1])]
    for other in others:
        if function is operator.matmul and not getattr(other, "ndim", 0):
            continue
        x = in_memory(np.ones(SHAPE))
        assert is_known(x[1])
        y = function(x, other.T if function is operator.matmul and other.ndim == 2 else other)
        assert y.size <= LARGEST or not is_known(y)


@pytest.mark.parametrize("name", ["sum", "sin", "abs", "sort", "copy", "ravel", "transpose", "exp", "round", "cumsum"])
def test_functions_of_all_of_it_are_the_graphs(name: str) -> None:
    x = in_memory(np.arange(float(np.prod(SHAPE))).reshape(SHAPE))
    assert is_known(x[1])
    y = getattr(xp, name)(x)
    assert not is_known(y)
    np.testing.assert_allclose(
        np.asarray(y), getattr(np, name)(np.arange(float(np.prod(SHAPE))).reshape(SHAPE)), rtol=1e-15
    )


# -------------------------------------------------------------------------------------------------------- who else sees


def test_pending_work_has_the_values_of_its_line() -> None:
    x = in_memory(np.ones(SHAPE))
    y = x * 2
    x[0, 0] = 5.0
    x[1] = 3.0
    z = x * 2
    x[0, 0] = 6.0
    assert np.asarray(y).max() == 2
    assert (float(z[0, 0]), float(z[1, 1]), float(x[0, 0])) == (10.0, 6.0, 6.0)


def test_memory_that_is_lent_stays_as_it_is() -> None:
    x = in_memory(np.ones(SHAPE))
    lent = x.to_numpy(copy=False)
    x[0, 0] = 5.0
    assert float(x[0, 0]) == 5.0
    assert lent[0, 0] == 1.0
    capsule = np.from_dlpack(x)
    x[0, 1] = 6.0
    assert (capsule[0, 1], float(x[0, 1])) == (1.0, 6.0)


def test_large_views_follow() -> None:
    x = in_memory(np.zeros(SHAPE))
    view, other = x[1:], x.reshape(-1)
    for k in range(3):
        x[1, 2] = float(k)
        assert float(view[0, 2]) == float(other[SHAPE[1] + 2]) == float(np.asarray(view)[0, 2]) == k
        view[0, 3] = 10.0 + k
        assert float(x[1, 3]) == 10 + k
        other[SHAPE[1] + 4] = 20.0 + k
        assert float(x[1, 4]) == 20 + k


@pytest.mark.parametrize("transform", [xp.jit, xp.grad, lambda f: lambda t: xp.vmap(f)(xp.stack([t, t]))])
def test_transforms_see_what_was_written(transform: Any) -> None:
    x = in_memory(np.ones(SHAPE))

    def f(t: Any) -> Any:
        return xp.sum(t * x[3]) + x[0, 0]

    compiled = transform(f)
    for k in (1.0, 2.0):
        x[3, 0] = k
        x[0, 0] = k
        t = xp.ones(SHAPE[1])
        ones = [1.0] * (SHAPE[1] - 1)
        wanted = np.array([k, *ones]) if transform is xp.grad else len(ones) + 2 * k
        np.testing.assert_array_equal(np.asarray(compiled(t)), np.broadcast_to(wanted, compiled(t).shape))


def test_a_leaf_of_a_derivative_is_read_as_one() -> None:
    slope = xp.grad(lambda x: xp.sum(x[3] * x[4, 0]) + x[0, 0] ** 2)(in_memory(np.full(SHAPE, 2.0)))
    assert (float(slope[3, 1]), float(slope[4, 0]), float(slope[0, 0])) == (2.0, 2.0 * SHAPE[1], 4.0)


def test_what_is_read_only_stays_so() -> None:
    x = in_memory(np.ones(SHAPE))
    x.setflags(write=False)
    assert float(x[1, 2]) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        x[1, 2] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        x[1][2] = 2.0


def test_threads_that_write_to_rows_lose_nothing() -> None:
    x = in_memory(np.zeros((8, 5000)))

    def fill(k: int) -> None:
        for round in range(200):
            x[k, round] = 1.0
            x[k, 500 + round : 502 + round] += x[k, round]

    threads = [threading.Thread(target=fill, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        float(xp.sum(x))  # as all of it, in the graph
    wanted = np.zeros(5000)
    for round in range(200):
        wanted[round] = 1.0
        wanted[500 + round : 502 + round] += 1.0
    np.testing.assert_array_equal(np.asarray(x), np.broadcast_to(wanted, (8, 5000)))


@pytest.mark.parametrize("ends", [True, False], ids=["in time", "never"])
def test_a_node_is_made_of_a_value_when_nobody_writes_to_it_any_more(ends: bool) -> None:
    """It shares the memory then; of memory that somebody seems to write to for ever it gets a copy."""
    x, writer = xp.asarray(np.zeros(1000)), object()
    value = x._value
    cells.writing.append(writer)
    end = threading.Timer(0.01, lambda: cells.writing.remove(writer))
    try:
        if ends:
            end.start()
        assert np.shares_memory(x._uop.realized.array, value) is ends
    finally:
        if ends:
            end.join()
        else:
            cells.writing.remove(writer)
