"""Ctrl-C and handlers of signals at every moment of a call: what was there before is there afterwards, and is right."""

import signal

import numpy as np
import pytest

import uopc_array as xp
from tests.support.moments import happen_at, moments_among
from uopc_core.errors import TraceError


class Model:
    """An object that functions bind anew."""

    def __init__(self):
        self.weights = xp.asarray(np.arange(4.0))
        self.steps = [xp.asarray(0.0)]
        self.name = "before"


def train(model, x):
    model.weights = model.weights + x
    model.steps[0] = model.steps[0] + 1
    model.name = "after"
    return xp.sum(model.weights)


def write(x, y):
    x[1:] = y[:-1] * 2
    return xp.sum(x)


X = np.array([1.0, 2.0, 3.0, 4.0])


def by_jit():
    model = Model()
    return lambda: xp.jit(train)(model, xp.asarray(X)), [model]


def by_jit_in_place():
    x, y = xp.asarray(X), xp.asarray(X)
    view = x[2:]
    return lambda: xp.jit(write)(x, y), [x, y, view]


def by_grad():
    x = xp.asarray(X)
    return lambda: xp.grad(lambda a: xp.sum(a * a * x))(x).tolist(), [x]


def by_vmap():
    x = xp.asarray(X)
    return lambda: xp.vmap(lambda a: a * x[0] + x[1])(x).tolist(), [x]


def lazily():
    x = xp.asarray(X)
    y = x * 2.0
    return lambda: float(xp.sum(y + xp.flip(x) * y)), [x, y]


def state(things):
    return [[x.weights.tolist(), float(x.steps[0]), x.name] if isinstance(x, Model) else x.tolist() for x in things]


WAYS = [by_jit, by_jit_in_place, by_grad, by_vmap, lazily]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python prints an interrupted __del__
@pytest.mark.parametrize("make", WAYS)
def test_an_interrupted_call_has_been_made_or_not(make):
    call, things = make()
    before = state(things)
    call()
    after = state(things)
    for number in moments_among(lambda: make()[0](), 60):
        call, things = make()

        def interrupt():
            raise KeyboardInterrupt

        try:
            happen_at(number, call, interrupt)
        except KeyboardInterrupt:
            pass
        assert state(things) in (before, after), number
        call, things = make()
        call()
        assert state(things) == after, number


@pytest.fixture
def at_signals():
    """Installs a handler, until the end of the test."""
    before = signal.getsignal(signal.SIGTERM)
    yield lambda handler: signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("make", WAYS)
def test_a_handler_sees_what_everybody_sees(at_signals, make):
    """In the midst of a trace too, which sees its arrays without values."""
    call, things = make()
    before = state(things)
    result = call()
    after = state(things)
    n_seen = 0
    for number in moments_among(lambda: make()[0](), 60):
        call, things = make()
        seen = []

        def handler(*_, things=things, seen=seen):
            seen.append([x.tolist() for x in things if isinstance(x, xp.Array)])

        at_signals(handler)
        assert repr(happen_at(number, call, handler)) == repr(result)
        assert state(things) == after
        for found in seen:  # a call that finds what the last one made has fewer moments
            n_seen += 1
            assert not found or found in (before, after), number
    assert n_seen


def test_what_a_trace_has_put_into_an_object_has_no_value_for_a_handler(at_signals):
    model = Model()
    seen = []

    def handler(*_):
        with pytest.raises(TraceError) as caught:
            xp.sum(model.weights).tolist()
        seen.append(caught.value)

    @xp.jit
    def step(x):
        model.weights = x * 2.0
        signal.raise_signal(signal.SIGTERM)
        return x + 1.0

    at_signals(handler)
    for _ in range(2):
        assert step(xp.ones(3)).tolist() == [2.0, 2.0, 2.0]
        assert model.weights.tolist() == [2.0, 2.0, 2.0]
    assert seen
