"""What loops keep in memory: no more after many steps than after a few, and what NumPy would keep."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import uopc_array as xp
from tests.support.live_memory import leave_out_what_is_there, live_bytes
from uopc_core import context, plan_stats
from uopc_core.ir.uop import node_count
from uopc_core.runtime import pending
from uopc_core.runtime.execute import MAX_DEPTH

N = 1 << 16
ARRAY_BYTES = 8 * N


@pytest.fixture(autouse=True, scope="module")
def _only_what_is_new() -> None:
    leave_out_what_is_there()


def _state() -> SimpleNamespace:
    return SimpleNamespace(
        u=xp.asarray(np.linspace(0.0, 1.0, N)),
        v=xp.asarray(np.linspace(1.0, 2.0, N)),
        square=xp.asarray(np.linspace(0.0, 1.0, N).reshape(256, 256)),
        places=xp.arange(0, N, 2),
        kept=[],
    )


def _leapfrog(s: SimpleNamespace) -> None:
    s.v[1:-1] += 0.1 * (s.u[2:] - s.u[:-2])
    s.u[1:-1] += 0.1 * (s.v[2:] - s.v[:-2])


def _heat(s: SimpleNamespace) -> None:
    w = s.square
    w[1:-1, 1:-1] += 0.1 * (w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4 * w[1:-1, 1:-1])


def _swap(s: SimpleNamespace) -> None:
    s.u, s.v = s.v * 0.5 + s.u, s.u


def _out(s: SimpleNamespace) -> None:
    np.add(s.u, 0.5, out=s.v)
    s.u, s.v = s.v, s.u


def _where_and_read(s: SimpleNamespace) -> None:
    s.u = xp.where(s.u > 0.2, s.u * 0.5, 1.0)
    assert bool(xp.all(s.u > 0))


def _slice_and_read(s: SimpleNamespace) -> None:
    s.u[1:-1] *= 0.5
    float(xp.max(s.u * 2))


def _rebound(s: SimpleNamespace) -> None:
    s.u = s.u * 0.5


def _rebound_and_kept(s: SimpleNamespace) -> None:
    s.u = s.u * 0.5
    s.kept.append(xp.sum(s.u))


def _store(name: str, key: object, value: Callable[[SimpleNamespace], object]) -> Callable[[SimpleNamespace], None]:
    return lambda s: getattr(s, name).__setitem__(key, value(s))


LOOPS: dict[str, Callable[[SimpleNamespace], object]] = {
    "a slice times a number": lambda s: s.u[1:-1].__imul__(0.5),
    "a slice plus a slice": lambda s: s.u[1:-1].__iadd__(s.v[1:-1]),
    "all of it": _store("u", slice(None), lambda s: s.u * 0.5),
    "every other from the others": _store("u", slice(None, None, 2), lambda s: s.u[1::2] * 0.5),
    "shifted": _store("u", slice(None, -1), lambda s: s.u[1:]),
    "shifted the other way": _store("u", slice(1, None), lambda s: s.u[:-1] * 0.5),
    "rows of another shape": lambda s: s.u.reshape(256, 256)[1:-1].__iadd__(0.5),
    "leapfrog": _leapfrog,
    "heat": _heat,
    "in place": lambda s: s.u.__imul__(0.5),
    "one element": _store("u", 0, lambda s: 3.0),
    "a mask": lambda s: s.u.__setitem__(s.u > 0.5, 0),
    "places": lambda s: s.u.__setitem__(s.places, s.u[s.places] * 0.5),
    "two that swap": _swap,
    "out=": _out,
    "where, and a look at it": _where_and_read,
    "a slice, and a look at another value": _slice_and_read,
    "rebound": _rebound,
    "rebound, and a sum of it kept": _rebound_and_kept,
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_keeps_no_more_after_many_steps_than_after_a_few(name: str) -> None:
    state, body = _state(), LOOPS[name]
    for _ in range(3):
        body(state)
    few = live_bytes()
    for _ in range(9):
        body(state)
    assert live_bytes() <= few + ARRAY_BYTES // 2


def test_the_heat_equation_in_place_holds_at_most_two_arrays_between_steps() -> None:
    state = _state()
    start = live_bytes()
    for _ in range(5):
        _heat(state)
        assert live_bytes() <= start + ARRAY_BYTES + ARRAY_BYTES // 2
    want = np.linspace(0.0, 1.0, N).reshape(256, 256)
    for _ in range(5):
        want[1:-1, 1:-1] += 0.1 * (
            want[2:, 1:-1] + want[:-2, 1:-1] + want[1:-1, 2:] + want[1:-1, :-2] - 4 * want[1:-1, 1:-1]
        )
    np.testing.assert_allclose(np.asarray(state.square), want, rtol=1e-13)


BOUND = 5 * ARRAY_BYTES


def _frame() -> xp.Array:
    return xp.asarray(np.ones(N))


def _add(s: SimpleNamespace) -> None:
    s.v = s.v + _frame()


def _add_in_place(s: SimpleNamespace) -> None:
    s.v += _frame()


def _moving_average(s: SimpleNamespace) -> None:
    s.v = 0.9 * s.v + 0.1 * _frame()


def _element_kept(s: SimpleNamespace) -> None:
    s.u[1:-1] *= 0.5
    s.kept.append(s.u[5])


def _large_kept_for_a_while(s: SimpleNamespace) -> None:
    s.v = _frame() * 2.0
    s.kept.append(xp.max(s.v))


UNREAD: dict[str, Callable[[SimpleNamespace], object]] = {
    "a sum": _add,
    "a sum in place": _add_in_place,
    "a moving average": _moving_average,
    "sums kept": lambda s: s.kept.append(xp.sum(_frame() * 2.0)),
    "elements kept": _element_kept,
    "maxima kept of what is rebound": _large_kept_for_a_while,
}


@pytest.mark.parametrize("name", UNREAD)
def test_work_that_nobody_asks_for_holds_no_more_than_the_bound(name: str) -> None:
    state, body = _state(), UNREAD[name]
    with context(pending_bytes=BOUND):
        body(state)
        start = live_bytes()
        for _ in range(20):
            body(state)
            assert live_bytes() <= start + BOUND + 2 * ARRAY_BYTES
    assert np.isfinite([float(x) for x in state.kept]).all()


@pytest.mark.parametrize("name", ["a sum", "a moving average", "sums kept"])
def test_a_loop_is_cut_at_the_same_place_each_time_so_that_one_plan_serves(name: str) -> None:
    state, body = _state(), UNREAD[name]
    made: list[int] = []
    with context(pending_bytes=BOUND):
        for steps in (15, 30, 30):
            before = plan_stats()["made"]
            for _ in range(steps):
                body(state)
            made.append(plan_stats()["made"] - before)
    assert 0 in made[1:]  # what others have left to be done is done once


def test_what_handles_wait_for_instead_of_values_of_that_size_is_left_alone() -> None:
    with context(pending_bytes=BOUND):
        kept = [_frame() * 2.0 for _ in range(12)]
        assert all(x._uop.realized is None for x in kept)
        assert [float(x[0]) for x in kept] == [2.0] * 12


def test_an_error_of_work_that_is_computed_for_its_memory_is_told_to_who_asks_for_it() -> None:
    with context(pending_bytes=BOUND):
        places = xp.astype(_frame() + N, xp.int64)
        wrong = xp.sum(xp.take(_frame(), places))
        del places
        sums = [xp.sum(_frame()) for _ in range(20)]
        assert float(sums[3]) == N
        with pytest.raises(IndexError, match="out of bounds"):
            float(wrong)


def test_a_deep_loop_is_cut_where_a_step_begins() -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, 5000))
    for step in range(2000):
        x = xp.sin(x * 0.5) + x * 0.25
        assert x._uop.depth <= MAX_DEPTH + 1
        if step == 1000:
            before = plan_stats()["made"]
    assert plan_stats()["made"] == before


def test_a_training_loop_that_never_reads_its_loss_needs_one_plan_and_keeps_a_bounded_graph() -> None:
    draw = np.random.default_rng(3)
    w, b = xp.asarray(draw.standard_normal((20, 8))), xp.zeros(8)
    sizes: list[int] = []
    plans: list[int] = []
    for step in range(190):
        x = xp.asarray(draw.standard_normal((64, 20)))
        _, (dw, db) = xp.value_and_grad(lambda w, b, x: xp.mean(xp.tanh(x @ w + b) ** 2), argnums=(0, 1))(w, b, x)
        w, b = w - 1e-3 * dw, b - 1e-3 * db
        if step % 9 == 0:
            sizes.append(live_bytes())
        plans.append(plan_stats()["made"])
    assert max(sizes[11:]) <= 1.05 * max(sizes[:11])
    assert plans[-1] == plans[100]


def _chain(x: xp.Array) -> xp.Array:
    for _ in range(20):
        x = xp.sin(x) + 0.5
    return x


OVER_A_HELD_ARRAY: dict[str, Callable[[xp.Array, int], xp.Array]] = {
    "sums": lambda x, i: xp.sum(x * i),
    "elements": lambda x, i: (x + i)[i % 7],
    "a few elements": lambda x, i: xp.sqrt(x[:50] * i),
    "chains": lambda x, i: _chain(x + i)[:9],
    "comparisons": lambda x, i: xp.any(x > i + 0.5),
    "places of the largest": lambda x, i: xp.argmax(abs(x - i)),
    "products": lambda x, i: (x + i) @ x,
}


@pytest.mark.parametrize("name", OVER_A_HELD_ARRAY)
def test_a_list_of_values_of_one_array_holds_a_bounded_number_of_nodes(name: str) -> None:
    x, function = xp.asarray(np.linspace(0.0, 9.0, 10_000)), OVER_A_HELD_ARRAY[name]
    kept: list[xp.Array] = []
    with context(pending_bytes=1 << 20, tier="interpret"):
        pending.when_many(pending.LEAST_NODES, pending._note_many)  # as at the start of a process
        start, n_nodes = node_count(), 0
        # after a look, the next one is half as many nodes later, of all that other tests have left in this process too
        most = max(start + 2 * pending.LEAST_NODES, 3 * (start + pending.LEAST_NODES) // 2)
        while n_nodes < 5 * pending.LEAST_NODES:
            before = node_count()
            kept.append(function(x, len(kept)))
            n_nodes += max(0, node_count() - before)
            assert node_count() <= most + 256  # of the last call
    for i in (0, 7, len(kept) // 2, len(kept) - 1):
        np.testing.assert_allclose(np.asarray(kept[i]), np.asarray(function(xp.asarray(np.asarray(x)), i)))


def test_nodes_that_take_less_than_their_values_are_left_alone() -> None:
    x = xp.asarray(np.linspace(0.0, 9.0, 10_000))
    with context(pending_bytes=0):
        pending.when_many(0, pending._note_many)
        kept = [x * i for i in range(pending.LEAST_NODES)]
        assert all(y._uop.realized is None for y in kept)
