"""Threads, handlers of signals and forked children that use one array at a time: no write is lost, and what was read
stays as it is. The kinds of parts and of writes are those of tests/support/writers.py.
"""

import os
import random
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.trial import value_of
from tests.support.writers import KINDS, NARROW, PARTS, WIDE, Round, kinds, run_together, switching_often, writes_to

LONG = [pytest.param(name, marks=pytest.mark.reliability) for name in KINDS if name != "tiles"]
PERIOD_S = 3e-4  # from one signal to the next
MAIN, HANDLER = range(PARTS // 2), range(PARTS // 2, PARTS)


def write_parts(name: str, first: int, rounds: int) -> int:
    written = 0
    with switching_often():
        for seed in range(first, first + rounds):
            kind = kinds(WIDE if seed % 4 == 3 else NARROW)[name]
            written += Round(seed, kind, writes_to(kind), per_part=4).check()
    return written


@pytest.mark.parametrize("name", ["tiles", *LONG])
def test_threads_that_write_to_different_parts_in_any_way(tries, name):
    tries.add(value_of(write_parts, name, 0, 24 if tries.is_full else 4, seconds=600))


def write_numbers(n_threads: int, n: int) -> int:
    """Elements and slices of one array, by threads that have every `n_threads`-th of them."""
    x = xp.asarray(np.zeros(n_threads * 50))
    rows = xp.asarray(np.zeros((n_threads * 5, 40)))
    x[0] = rows[0, 0] = 0.0

    def work(number: int) -> None:
        for i in range(n):
            place = number + n_threads * (i % 50)
            assert float(x[place]) == max(0, i - 50 + 1) % 1000, (number, i)
            x[place] = float((i + 1) % 1000)
            rows[number + n_threads * (i % 5), 3:30] = float(i)

    with switching_often():
        run_together([lambda k=k: work(k) for k in range(n_threads)])
    wanted = [(n - 50 + i % 50 + 1) % 1000 for i in range(50)]
    assert sorted(np.asarray(x).tolist()) == sorted(wanted * n_threads)
    found = np.asarray(rows)
    assert sorted(found[:, 3:30].ravel().tolist()) == sorted([float(n - 5 + i) for i in range(5)] * n_threads * 27)
    assert not found[:, :3].any()
    assert not found[:, 30:].any()
    return 2 * n * n_threads


@pytest.mark.parametrize("n_threads", [2, *[pytest.param(n, marks=pytest.mark.reliability) for n in (3, 8, 16)]])
def test_threads_that_write_numbers_to_elements_and_slices(tries, n_threads):
    tries.add(value_of(write_numbers, n_threads, 300_000 // n_threads // 2 if tries.is_full else 1000, seconds=600))


def count_up(n_threads: int, n: int) -> int:
    total = xp.zeros(7)

    def work() -> None:
        for _ in range(n):
            total.__iadd__(1)

    with switching_often():
        run_together([work] * n_threads)
    assert np.asarray(total).tolist() == [n * n_threads] * 7
    return n * n_threads


def test_threads_that_add_to_one_array(tries):
    tries.add(value_of(count_up, 8, 5000 if tries.is_full else 100, seconds=600))


def read_and_keep(n: int) -> int:
    """Values that are read while others write, looked at again and again."""
    x = xp.asarray(np.zeros((30, 400)))
    end = threading.Event()
    writes: list[Callable[[int], Any]] = [
        lambda i: x.__setitem__((i % 30, i % 400), float(i)),
        lambda i: x.__setitem__(slice(None), float(i)),
        lambda i: x[i % 30].__setitem__(..., float(i)),
        lambda i: x[:, i % 400].__iadd__(1.0),
        lambda i: np.add(x[i % 30], 1.0, out=x[i % 30]),  # pyright: ignore[reportCallIssue, reportArgumentType]
    ]
    reads: list[Callable[[], Any]] = [
        lambda: x.copy(),
        lambda: x * 1.0,
        lambda: x[3:20] * 1.0,
        lambda: x[7] + x[8],
        lambda: x.T[5] * 2.0,
        lambda: x.to_numpy(copy=False),
        lambda: x[2:].to_numpy(copy=False),
        lambda: np.from_dlpack(x),
    ]

    def write(number: int) -> None:
        rng = random.Random(number)
        i = 0
        while not end.is_set():
            i += 1
            rng.choice(writes)(i)

    def read() -> None:
        rng = random.Random(n)
        try:
            for _ in range(n):
                value = rng.choice(reads)()
                before = np.array(value)
                for _ in range(3):
                    assert np.array_equal(np.array(value), before)
        finally:
            end.set()

    with switching_often():
        run_together([*[lambda k=k: write(k) for k in range(3)], read])
    return n


def test_threads_that_keep_what_they_read(tries):
    tries.add(value_of(read_and_keep, 5000 if tries.is_full else 50, seconds=600))


def ask_for_outputs(n: int) -> int:
    """Outputs of one gradient, and values that share pending parts, asked for by many threads."""
    both = xp.value_and_grad(lambda x, y: xp.sum(xp.sin(x) * y), argnums=(0, 1))
    with switching_often():
        for i in range(n):
            x, y = xp.asarray(np.arange(5.0) + i), xp.asarray(np.ones(5))
            value, gradients = both(x, y)
            part = xp.cumsum(xp.exp(x * 0.01)) + 1.0
            asked = [value, *gradients, part, part * 2, xp.sum(part), part[::-1], xp.sort(-part)] * 2
            found: dict[int, Any] = {}
            run_together([lambda k=k, z=z, f=found: f.update({k: np.asarray(z)}) for k, z in enumerate(asked)])
            wanted = np.cumsum(np.exp((np.arange(5.0) + i) * 0.01)) + 1.0
            np.testing.assert_allclose(found[3], wanted, rtol=1e-12)
            np.testing.assert_allclose(found[1], np.cos(np.arange(5.0) + i), atol=1e-12)
            assert all(np.array_equal(found[k], found[k + 8]) for k in range(8))
    return n


def test_threads_that_ask_for_one_pending_value(tries):
    tries.add(value_of(ask_for_outputs, 500 if tries.is_full else 10, seconds=600))


def write_in_handlers(name: str, first: int, rounds: int) -> int:
    """The main program writes to one half of the parts; handlers that come in its midst write to the other half."""
    written = 0
    for seed in range(first, first + rounds):
        kind = kinds(WIDE if seed % 4 == 3 else NARROW)[name]
        rng = random.Random(seed)
        orders = {k: [(rng.choice(writes_to(kind)), rng.randrange(100)) for _ in range(6)] for k in range(PARTS)}
        start = np.arange(np.prod(kind.shape)).reshape(kind.shape).astype(kind.dtype)
        o, wanted = xp.asarray(start), start.copy()
        waiting = [(k, *order) for k in HANDLER for order in orders[k]]
        rng.shuffle(waiting)
        runs: list[bool] = []

        def handle(*_: Any) -> None:
            if waiting and not runs:
                runs.append(True)
                k, write, number = waiting.pop()
                write(xp, o, kind, k, number)
                write(np, wanted, kind, k, number)
                runs.pop()

        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, PERIOD_S, PERIOD_S)
        try:
            for k in MAIN:
                for write, number in orders[k]:
                    write(xp, o, kind, k, number)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        for k in MAIN:
            for write, number in orders[k]:
                write(np, wanted, kind, k, number)
        np.testing.assert_array_equal(np.asarray(o), wanted, f"round {seed} of {name}")
        written += PARTS * 6 - len(waiting)
    return written


@pytest.mark.parametrize("name", ["tiles", *LONG])
def test_handlers_of_signals_that_write_to_the_array_they_interrupt(tries, name):
    tries.add(value_of(write_in_handlers, name, 0, 12 if tries.is_full else 4, seconds=600))


def count_in_handlers(n: int) -> int:
    total, handled, runs = xp.zeros(5), [0], [False]

    def handle(*_: Any) -> None:
        if not runs[0]:  # computing takes longer than the next signal is away
            runs[0] = True
            handled[0] += 1
            total.__iadd__(1)
            runs[0] = False

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, PERIOD_S, PERIOD_S)
    added = 0
    while handled[0] < n:
        added += 1
        total += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert np.asarray(total).tolist() == [added + handled[0]] * 5
    return handled[0]


def test_handlers_of_signals_that_add_to_the_array_they_interrupt(tries):
    tries.add(value_of(count_in_handlers, 5000 if tries.is_full else 200, seconds=600))


def fork_beside_writers(n: int) -> int:
    """Children forked while threads store rows: each reads the array, and writes to it in every way there is."""
    x = xp.asarray(np.zeros((8, 100_000)))
    x[5] += 0.0  # what this needs is loaded once, and not in each child
    end = threading.Event()

    def write(k: int) -> None:
        i = 0
        while not end.is_set():
            i += 1
            x[k] = float(i)

    threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(n):
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            _use_in_child(x)
        assert os.waitpid(pid, 0)[1] == 0
    end.set()
    for thread in threads:
        thread.join()
    return n


def _use_in_child(x: Any) -> None:
    status = 1
    try:
        values = np.asarray(x)
        assert not values[4:].any()
        x[7, 5] = 2.0
        x[6] = np.ones(100_000)
        x[5] += 1.0
        row = x[4]
        row[...] = 3.0
        x += 1.0
        assert [float(v) for v in np.asarray(x)[4:, 5]] == [4.0, 2.0, 2.0, 3.0]
        status = 0
    finally:
        os._exit(status)


def test_children_forked_while_threads_write(tries):
    tries.add(value_of(fork_beside_writers, 100 if tries.is_full else 5, seconds=600))


def call_at_once(n: int) -> int:
    """Functions that are traced by many threads at once, that look at what is around them, and that write to arrays."""
    with switching_often():
        for i in range(n):
            steps, out = xp.asarray([2, 3]), xp.asarray(np.zeros((8, 20)))

            @xp.jit
            def f(x: Any, k: Any, steps: Any = steps, out: Any = out) -> Any:
                for _ in range(int(steps[0])):
                    x = x * 2
                out += xp.where(xp.arange(8)[:, None] == k, x, 0.0)
                return x + steps[1]

            slope, each = xp.grad(lambda t, i=i: t * t * (3.0 + i)), xp.vmap(lambda t, i=i: t * 2.0 + i)
            found: dict[int, float] = {}

            def work(
                k: int, f: Any = f, slope: Any = slope, each: Any = each, i: int = i, found: dict[int, float] = found
            ) -> None:
                for _ in range(3):
                    found[k] = float(f(xp.asarray(float(i + k)), k))
                    assert float(slope(xp.asarray(float(k)))) == 2.0 * k * (3 + i)
                    assert np.asarray(each(xp.asarray([float(k), 1.0]))).tolist() == [2.0 * k + i, 2.0 + i]

            run_together([lambda k=k, w=work: w(k) for k in range(8)])
            assert found == {k: 4.0 * (i + k) + 3 for k in range(8)}
            assert np.asarray(out).tolist() == [[12.0 * (i + k)] * 20 for k in range(8)]
    return 72 * n


def test_functions_first_called_by_many_threads(tries):
    tries.add(value_of(call_at_once, 60 if tries.is_full else 2, seconds=600))
