"""Processes that are forked, with and without threads that compute beside them."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.compilers import fake_compiler
from tests.reliability.programs import CASES, wrong_values
from tests.reliability.trial import value_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


def fork_beside_threads(n_children, n_threads, warm):
    """Fork while threads compute: how many children computed rightly, and what the threads got wrong."""
    wrong = wrong_values() if warm else []
    running = True
    names = list(CASES)

    def work(number):
        x = xp.asarray(np.arange(3000.0))
        i = 0
        while running:
            i += 1
            found, wanted = CASES[names[(number + i) % len(names)]]()
            if not np.allclose(np.asarray(found), wanted, rtol=1e-12, atol=0):
                wrong.append(names[(number + i) % len(names)])
            float(xp.sum(x[: i % 3000] * 2.0))
            xp.jit(lambda a: xp.sum(a * i))(x)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    right = 0
    for _ in range(n_children):
        time.sleep(0.003)
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            os._exit(len(wrong_values()))
        right += os.waitpid(pid, 0)[1] == 0
    running = False
    for thread in threads:
        thread.join()
    return [right, wrong]


@pytest.mark.parametrize("warm", [True, pytest.param(False, marks=pytest.mark.reliability)])
def test_a_child_forked_beside_threads_that_compute_computes(tries, warm):
    for _ in tries(1, 1):
        n = 100 if tries.is_full else 5
        assert value_of(fork_beside_threads, n, 2, warm, seconds=300, flags=["-W", "ignore"]) == [n, []]
        tries.add(n)


def fork_beside_a_compiler():
    x = xp.ones(2000, dtype=xp.int64)
    f = xp.jit(lambda x: xp.sum(x * 3))
    f(x)  # from now on it is being compiled
    time.sleep(0.3)
    pid = os.fork()
    if pid == 0:
        signal.alarm(50)
        os._exit(int(f(x)) != 6000 or int(f(x)) != 6000)
    return [os.waitpid(pid, 0)[1], int(f(x))]


@pytest.mark.needs_compiler
def test_a_child_forked_beside_a_compiler_computes(tmp_path):
    compiler = fake_compiler(tmp_path, kernel='sleep 2; real "$@"')
    assert value_of(fork_beside_a_compiler, env={"CC": compiler}, flags=["-W", "ignore"]) == [0, 6000]


def square_sum(n):
    return float(xp.jit(lambda x: xp.sum(x * x))(xp.asarray(np.arange(float(n)))))


def share_out(method):
    """What a pool of processes makes of it; the parent has computed before."""
    before = [square_sum(n) for n in (10, 500)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        return [before, pool.map(square_sum, [10, 500, 10, 500])]


@pytest.mark.parametrize(
    "method", ["fork", *[pytest.param(name, marks=pytest.mark.reliability) for name in ("spawn", "forkserver")]]
)
def test_a_pool_of_processes_computes(method):
    before, after = value_of(share_out, method, seconds=200)
    assert before == [285.0, 41541750.0]
    assert after == [*before, *before]
