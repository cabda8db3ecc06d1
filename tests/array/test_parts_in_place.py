"""``x[part] op= y`` on memory: without a graph where nobody else sees it, and as if nothing were shared where somebody
does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array import assignment
from uopc_core import context
from uopc_core.frontend import cells

N = 300_000  # large: nothing of it is held as a value
CHANGES = [operator.iadd, operator.isub, operator.imul, operator.itruediv]
PARTS = [np.s_[1:], np.s_[:-1], np.s_[::2], np.s_[::-1], np.s_[100:200_000], np.s_[:]]


@pytest.fixture(autouse=True)
def _as_users_have_it() -> Iterator[None]:
    with context(at_once=1 << 18, tier="auto"):
        yield


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each call, whether the memory has been changed in place."""
    given: list[bool] = []
    original = assignment.change_in_memory

    def change(*args: Any) -> bool:
        given.append(original(*args))
        return given[-1]

    monkeypatch.setattr(assignment, "change_in_memory", change)
    return given


def numbers(seed: int, dtype: Any = np.float64) -> Any:
    return (np.random.default_rng(seed).random(N) * 100).astype(dtype) + 1


@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("operand", ["memory", "number", "part of itself", "pending"])
def test_parts_change_as_numpys_do(part: slice, change: Callable[..., Any], operand: str):
    outcomes: list[Any] = []
    for made in (lambda x: x, xp.asarray):
        x, y = made(numbers(0)), made(numbers(1))
        n = np.arange(N)[part].size
        value = {"memory": y[:n], "number": 2.5, "part of itself": x[-n:], "pending": y[:n] * 2 + y[-n:]}[operand]
        for _ in range(3):
            x[part] = change(x[part], value)
        outcomes.append(np.asarray(x))
    assert outcomes[0].tobytes() == outcomes[1].tobytes()


@pytest.mark.parametrize("change", CHANGES)
def test_the_memory_stays_where_nobody_else_sees_it(
    change: Callable[..., Any], changed: list[bool], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cells, "has_other_threads", lambda: False)  # as those that earlier tests have left
    x, y = xp.asarray(numbers(0)) * 2 + 1, xp.asarray(numbers(1))
    address = x._memory("test").pointer
    for _ in range(3):
        x[1:] = change(x[1:], y[1:])
    assert changed == [True] * 3
    assert x._memory("test").pointer == address


@pytest.mark.parametrize("before", ["whole", "part", "computed"])
def test_what_is_pending_is_computed_and_changed_in_place(
    before: str, changed: list[bool], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cells, "has_other_threads", lambda: False)
    outcomes: list[Any] = []
    for made in (lambda x: x, xp.asarray):
        x, y = made(numbers(0)), made(numbers(1))
        if before == "whole":
            x += y
        elif before == "part":
            x[5:] = y[5:] * 2.0 + y[:-5]
        else:
            x = x + y
        x[1:] *= 3.0
        x[:-1] -= y[1:]
        outcomes.append(np.asarray(x))
    assert outcomes[0].tobytes() == outcomes[1].tobytes()
    assert changed == [True, True]


@pytest.mark.parametrize("target", [np.s_[1:], np.s_[:-1], np.s_[::-1]], ids=str)
def test_parts_that_are_in_memory_are_copied_once(target: slice, monkeypatch: pytest.MonkeyPatch):
    x, y, wanted = xp.asarray(numbers(0)), xp.asarray(numbers(1)), numbers(0)
    n = wanted[target].size
    written: list[Any] = []
    original = assignment.write_in_memory

    def write(*args: Any) -> bool:
        written.append(args[-1])
        return original(*args)

    monkeypatch.setattr(assignment, "write_in_memory", write)
    x[target] = y[-n:]
    wanted[target] = numbers(1)[-n:]
    assert [np.shares_memory(values, y._memory("test").array) for values in written] == [True]
    np.testing.assert_array_equal(np.asarray(x), wanted)
    x[target] = x[-n:]
    wanted[target] = wanted[-n:].copy()
    np.testing.assert_array_equal(np.asarray(x), wanted)


def test_what_was_read_before_keeps_its_value():
    x = xp.asarray(numbers(0))
    before = numbers(0)
    pending, copied, exported = x * 2 + x, x.copy(), np.asarray(x)
    view = x[10:]
    x[1:] -= 3.0
    after = before.copy()
    after[1:] -= 3.0
    np.testing.assert_array_equal(np.asarray(pending), before * 2 + before)
    np.testing.assert_array_equal(np.asarray(copied), before)
    np.testing.assert_array_equal(exported, before)
    np.testing.assert_array_equal(np.asarray(view), after[10:])
    np.testing.assert_array_equal(np.asarray(x), after)


def test_a_view_that_is_changed_is_the_base():
    x, wanted = xp.asarray(numbers(0)), numbers(0)
    view = x[5:].reshape(-1, 5)[:, 1:]
    view *= 2.0
    view /= xp.asarray([1.0, 2.0, 3.0, 4.0])
    part = wanted[5:].reshape(-1, 5)[:, 1:]
    part *= 2.0
    part /= np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(np.asarray(x), wanted)
    np.testing.assert_array_equal(np.asarray(view), part)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_what_does_not_fit_is_refused_and_changes_nothing(dtype: Any):
    x = xp.asarray(numbers(0, dtype))
    for value in (xp.asarray(numbers(1)) + 0j, xp.asarray(numbers(1))[: N // 2]):
        with pytest.raises((TypeError, ValueError), match="subtract"):
            x[:] -= value
    np.testing.assert_array_equal(np.asarray(x), numbers(0, dtype))


def test_nothing_is_changed_in_a_trace_or_a_derivative():
    x = xp.asarray(numbers(0))

    def loss(a: Any) -> Any:
        y = x.copy()
        part = y[1:]
        part *= a
        part -= x[1:]
        return xp.sum(y)

    wanted = float(np.sum(numbers(0)[1:]))
    assert float(xp.grad(loss)(2.0)) == pytest.approx(wanted)
    assert float(xp.jit(loss)(3.0)) == pytest.approx(float(np.sum(numbers(0)[1:] * 2) + numbers(0)[0]))
    np.testing.assert_array_equal(np.asarray(x), numbers(0))
