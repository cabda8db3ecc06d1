"""Loops of a hundred thousand rounds: what lives after half of them is what lives at their end."""

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.measure import live, resident_bytes
from tests.reliability.trial import value_of

MAX_GROWTH_BYTES = 4 << 20  # of memory, over half of the rounds: 80 bytes a round
MAX_GROWN = 300  # objects of one class: tables that are tidied up now and then

SMALL, LARGE = np.linspace(0, 1, 50), np.linspace(0, 1, 200_000)
jitted = xp.jit(lambda x, y: xp.sum(xp.sin(x) * y) - xp.max(x))
trained: list[Any] = [xp.asarray(SMALL)]


def graph(i: int) -> None:
    x = xp.asarray(SMALL)
    assert float(xp.sum(x * 0 + i)) == 50 * i


def large_graph(i: int) -> None:
    if i % 50 == 0:
        assert float(xp.max(xp.asarray(LARGE) * i)) == i


def dropped_unread(i: int) -> None:
    x = xp.asarray(LARGE if i % 100 == 0 else SMALL)
    y = x * i + 1
    xp.sum(y)
    del y


def warm_jit(i: int) -> None:
    jitted(xp.asarray(SMALL), xp.asarray(SMALL) + i)


def jitted_anew(i: int) -> None:
    if i % 40 == 0:
        assert float(xp.jit(lambda x: xp.sum(x * 0 + i))(xp.asarray(SMALL))) == 50 * i


def new_shapes(i: int) -> None:
    if i % 10 == 0:
        n = 1 + i // 10 % 3000
        assert float(xp.sum(xp.ones(n) * 2)) == 2 * n
        assert float(jitted(xp.ones(n), xp.zeros(n))) == -1


def new_constants(i: int) -> None:
    x = xp.asarray(LARGE[:3000])
    if i % 5 == 0:
        assert float(xp.min(x * 1e-3 + i * 1.25)) == i * 1.25


def gradients(i: int) -> None:
    if i % 10 == 0:
        value, slope = xp.value_and_grad(lambda x: xp.sum(x * x) + i)(xp.asarray(SMALL))
        assert float(value) > i
        del slope


def training(i: int) -> None:
    """A parameter that is always the result of the step before; its loss is read now and then."""
    loss, slope = xp.value_and_grad(lambda x: xp.sum((x - 0.5) ** 2))(trained[0])
    trained[0] = trained[0] - 0.01 * slope
    if i % 100 == 0:
        assert np.isfinite(float(loss))


def in_place(i: int) -> None:
    x = xp.asarray(SMALL) + 1
    row = x[10:20]
    x[::2] = i
    row += 1
    row[3] = -1.0
    assert float(x[13]) == -1


def views_of_views(i: int) -> None:
    if i % 10 == 0:
        x = xp.asarray(SMALL)
        for _ in range(20):
            x = xp.flip(x[1:-1])
        assert x.shape == (10,)


def cycles(i: int) -> None:
    ring: list[Any] = [xp.asarray(SMALL) * i, xp.asarray(LARGE[: i % 3000])]
    ring.append(ring)


def exchange(i: int) -> None:
    x = np.from_dlpack(xp.from_dlpack(SMALL) + i)
    y = np.asarray(xp.asarray(x, copy=False))
    assert np.add(xp.asarray(y), 1.0)[0] == i + 1


def errors(i: int) -> None:
    x = xp.asarray(SMALL)
    for wrong in (lambda: x + xp.ones(7), lambda: x[i + 50], lambda: xp.sum(x, axis=3), lambda: getattr(x, f"_{i}")):
        try:
            wrong()
        except (ValueError, IndexError, AttributeError):
            continue
        raise AssertionError("no error")
    if i % 100 == 0:
        try:
            float(xp.sum(xp.take(xp.asarray(LARGE), xp.asarray(np.arange(200_000)) + 1 + i)))
        except IndexError:
            return
        raise AssertionError("no error")


def threads(i: int) -> None:
    if i % 50 == 0:
        thread = threading.Thread(target=graph, args=(i,))
        thread.start()
        thread.join()


def settings(i: int) -> None:
    with xp.context(tier="interpret", num_threads=1 + i % 2):
        graph(i)


def copies(i: int) -> None:
    if i % 10 == 0:
        x = xp.asarray(SMALL) * i
        assert float(copy.deepcopy(x)[-1]) == float(pickle.loads(pickle.dumps(x))[-1]) == i


LOOPS: dict[str, Callable[[int], None]] = {
    name.replace("_", " "): globals()[name]
    for name in (
        *("graph", "large_graph", "dropped_unread", "warm_jit", "jitted_anew", "new_shapes", "new_constants"),
        *("gradients", "training", "in_place", "views_of_views", "cycles", "exchange", "errors", "threads"),
        *("settings", "copies"),
    )
}


def grown(name: str, n: int, n_different: int) -> tuple[dict[str, int], int]:
    """What there is more of after `n` rounds than after half of them: objects by their class, bytes."""
    body = LOOPS[name]
    for i in range(n // 2):
        body(i % n_different)
    before, bytes_before = live(), resident_bytes()
    for i in range(n // 2, n):
        body(i % n_different)
    more = live()
    more.subtract(before)
    return {name: k for name, k in more.items() if k > MAX_GROWN}, resident_bytes() - bytes_before


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.reliability
def test_a_long_loop_holds_no_more_at_its_end_than_in_its_middle(tries, name):
    n = 100_000
    more, more_bytes = value_of(grown, name, n, n, seconds=600)
    assert more == {}
    assert more_bytes < MAX_GROWTH_BYTES
    tries.add(n)


@pytest.mark.parametrize("names", [("graph", "in place", "cycles", "errors")], ids=["some"])
def test_a_short_loop_holds_no_more_at_its_end_than_in_its_middle(tries, names):
    for name in names:
        more, _ = value_of(grown, name, 2000, 200)
        assert more == {}
        tries.add(2000)
