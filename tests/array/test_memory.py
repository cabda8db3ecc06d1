"""What loops keep in memory: no more after many steps than after a few, and what NumPy would keep."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import uopc_array as xp
from tests.live_memory import live_bytes

N = 1 << 16
ARRAY_BYTES = 8 * N


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
