"""Python's collector while much is planned: it waits, and goes on as it was."""

import gc
import os
import threading

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context
from uopc_core.collector import without_collection
from uopc_core.rewrite.pattern import Rule
from uopc_core.schedule import canonical


@pytest.fixture(autouse=True)
def _as_before():
    was = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()


def test_it_waits_while_a_graph_is_planned_and_goes_on(monkeypatch):
    seen = []
    apply = Rule.apply
    monkeypatch.setattr(Rule, "apply", lambda rule, x: seen.append(gc.isenabled()) or apply(rule, x))
    with context(tier="compile", at_once=0):
        np.asarray(xp.jit(lambda x: xp.exp(x + 1.5)[1:] * 3.5)(xp.asarray(np.arange(7.0))))
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_it_waits_while_the_key_of_a_trace_is_made(monkeypatch):
    seen = []
    made = canonical.Key.__init__
    monkeypatch.setattr(canonical.Key, "__init__", lambda key, x: seen.append(gc.isenabled()) or made(key, x))
    with context(tier="interpret", at_once=0):
        np.asarray(xp.jit(lambda x: xp.exp(x + 2.5)[2:] * 4.5)(xp.asarray(np.arange(8.0))))
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_who_has_turned_it_off_finds_it_off():
    gc.disable()
    with without_collection(), without_collection():
        assert not gc.isenabled()
    assert not gc.isenabled()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_has_it_go_on(error):
    with pytest.raises(error), without_collection():
        raise error
    assert gc.isenabled()


def test_the_first_of_two_threads_has_it_go_on():
    inside, ended = threading.Event(), threading.Event()

    def second():
        with without_collection():
            inside.set()
            ended.wait(10)

    with without_collection():
        thread = threading.Thread(target=second)
        thread.start()
        inside.wait(10)
    assert gc.isenabled()
    ended.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_meanwhile_collects():
    with without_collection():
        pid = os.fork()
        if pid == 0:
            os._exit(0 if gc.isenabled() else 1)
        _, status = os.waitpid(pid, 0)
    assert status == 0
