"""The end of a process: what still computes then does, and nobody waits for a compiler."""

import asyncio
import atexit
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.compilers import fake_compiler
from tests.reliability.programs import is_right, wrong_values
from tests.reliability.trial import run_trial, value_of


def say(seed: int) -> None:
    """Whether a new function is right, on stdout; each caller has a seed of its own."""
    print(seed, is_right(seed), flush=True)


class Ring:
    """Computes when a collection finds it."""

    def __init__(self, array: object) -> None:
        self.array, self.ring = array, self

    def __del__(self, ones: Callable[[int], object] = xp.ones, total: Callable[[object], object] = xp.sum) -> None:
        assert float(total(ones(3000))) == 3000  # pyright: ignore[reportArgumentType]


ENDS: dict[str, Callable[[int], object]] = {
    "atexit": lambda seed: atexit.register(say, seed),
    "a thread that goes on": lambda seed: threading.Thread(target=say_later, args=(seed,)).start(),
}


def say_later(seed: int) -> None:
    threading.main_thread().join()
    say(seed)


def end_with(name: str, seed: int, warm: bool) -> None:
    if warm:
        assert is_right(seed + 1)
    ENDS[name](seed)


@pytest.mark.parametrize("warm", [True, pytest.param(False, marks=pytest.mark.reliability)], ids=["warm", "cold"])
@pytest.mark.parametrize("name", ENDS)
def test_what_outlives_the_main_program_computes(name, warm):
    outcome = run_trial(end_with, name, 7, warm).check()
    assert (outcome.stdout, outcome.stderr) == ("7 True\n", "")


def end_while_compiling(how: str) -> None:
    f = xp.jit(lambda x: xp.sum(x * 3) - xp.max(x))
    assert float(f(xp.ones(1000, dtype=xp.int64))) == 2999  # compiled from now on, in the background
    time.sleep(0.3)
    if how == "sys.exit":
        sys.exit(3)
    elif how == "os._exit":
        os._exit(3)
    elif how == "an error":
        raise SystemError
    elif how == "SIGTERM":
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.needs_compiler
@pytest.mark.parametrize(
    "how",
    [
        "its last line",
        *[pytest.param(h, marks=pytest.mark.reliability) for h in ("sys.exit", "os._exit", "an error", "SIGTERM")],
    ],
)
def test_a_process_does_not_wait_for_a_compiler_at_its_end(tmp_path, how):
    compiler = fake_compiler(tmp_path, kernel="sleep 1000")
    outcome = run_trial(end_while_compiling, how, env={"CC": compiler}, seconds=50)
    assert not outcome.timed_out
    codes = {"its last line": 0, "sys.exit": 3, "os._exit": 3, "an error": 1, "SIGTERM": -signal.SIGTERM}
    assert outcome.returncode == codes[how]
    if how not in ("os._exit", "SIGTERM"):  # which leave Python no time
        assert outcome.left_behind == ()


def daemons_compute(n_threads: int) -> None:
    def work(seed: int) -> None:
        while True:
            is_right(seed)

    for seed in range(n_threads):
        threading.Thread(target=work, args=(seed,), daemon=True).start()
    time.sleep(1)


def test_daemon_threads_that_compute_do_not_disturb_the_end(tries):
    for _ in tries(short=1, full=20):
        outcome = run_trial(daemons_compute, 4).check()
        assert outcome.stderr == ""


def collect(n: int) -> int:
    """Collections at any allocation, each of which may compute."""
    gc.set_threshold(50)
    for i in range(n):
        Ring(xp.asarray(np.ones(300 + i % 7)) * 2 + 1)
        xp.sum(xp.ones(100 + i % 5) * 2.0 + float(i))
    return n


def test_what_is_collected_may_compute(tries):
    tries.add(value_of(collect, 30_000 if tries.is_full else 1000))


def many_tasks(n: int) -> int:
    async def task(number: int) -> bool:
        x = xp.asarray(np.arange(2000.0)) + number
        y = xp.sum(x * 2)
        await asyncio.sleep(0)
        settings = xp.context(tier="interpret" if number % 2 else "auto")
        with settings:
            await asyncio.sleep(0)
            z = float(y)
            await asyncio.sleep(0)
        in_thread = await asyncio.to_thread(is_right, number % 7)
        return in_thread and z == 2 * (1999 * 1000.0 + 2000 * number)

    async def run() -> list[bool]:
        return await asyncio.gather(*map(task, range(n)))

    return sum(asyncio.run(run()))


def test_tasks_of_asyncio_and_their_threads(tries):
    n = 200 if tries.is_full else 20
    assert value_of(many_tasks, n) == n
    tries.add(n)


def cancel_tasks(n: int) -> list[str]:
    async def task(number: int) -> bool:
        return await asyncio.to_thread(is_right, number)

    async def run() -> None:
        for number in range(n):
            running = asyncio.create_task(task(number))
            await asyncio.sleep(0.002 * number)
            running.cancel()

    asyncio.run(run())
    return wrong_values()


@pytest.mark.reliability
def test_tasks_that_are_cancelled_leave_everything_right(tries):
    assert value_of(cancel_tasks, 50) == []
    tries.add(50)
