"""Ctrl-C at any moment: it ends what runs, is never swallowed, and everything is right afterwards."""

import os
import random
import signal
import time
from collections.abc import Callable

import pytest

import uopc_array as xp
from tests.reliability.compilers import fake_compiler
from tests.reliability.programs import is_right, wrong_values
from tests.reliability.trial import started

pytestmark = pytest.mark.needs_compiler

WORK: dict[str, Callable[[int], object]] = {
    "new kernels": is_right,
    "known kernels": lambda seed: [is_right(i % 3) for i in range(seed % 20)],
    "large arrays": lambda seed: is_right(seed % 3, 1_000_000),
    "linear algebra": lambda seed: float(xp.sum(xp.linalg.inv(xp.eye(300) * 2 + seed))),
}


def be_interrupted(n: int, first_seed: int) -> int:
    """Say that work begins, work, wait for Ctrl-C, say that it came, and look whether everything is right; n times."""
    names = list(WORK)
    for seed in range(first_seed, first_seed + n):
        caught = False
        try:
            print("working", seed, flush=True)
            WORK[names[seed % len(names)]](seed)
            time.sleep(1000)
        except KeyboardInterrupt:
            caught = True
        print("caught", seed, flush=True)
        assert caught
        assert is_right(seed)
    assert wrong_values() == []
    return n


def interrupt(tries, n: int, first: int, send: Callable[[int, int], None], **how) -> None:
    """Start one child and interrupt it at `n` random moments."""
    with started(be_interrupted, n, first, seconds=60 + 20 * n, **how) as child:
        for seed in range(first, first + n):
            child.wait_for(f"working {seed}\n")
            time.sleep(random.Random(seed).choice((0.01, 0.1, 0.4)) * random.Random(seed).random())
            if not child.is_running():
                break
            send(child.pid, signal.SIGINT)
            while not child.wait_for(f"caught {seed}\n", within_s=10):  # Python drops one that comes in a `__del__`
                send(child.pid, signal.SIGINT)
        tries.add(child.wait().check().value)


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to the process", "to the group"])
def test_an_interrupt_at_any_moment(tries, send):
    for number in range(5 if tries.is_full else 1):
        interrupt(tries, 40 if tries.is_full else 5, number * 40, send)


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to the process", "to the group"])
@pytest.mark.reliability
def test_an_interrupt_while_the_compiler_is_looked_for(tries, send):
    for number in tries(short=1, full=12):
        with started(be_interrupted, 1, number) as child:
            child.wait_for("working")
            time.sleep(0.3 * random.Random(number).random())
            send(child.pid, signal.SIGINT)
            child.wait().check()


@pytest.mark.reliability
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to the process", "to the group"])
def test_an_interrupt_while_a_slow_compiler_works(tmp_path, tries, send):
    compiler = fake_compiler(tmp_path, kernel='sleep 0.2; real "$@"')
    interrupt(tries, 20, 0, send, env={"CC": compiler, "UOPC_TIER": "auto"})
