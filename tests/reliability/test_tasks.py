"""Tasks of asyncio, and what the collector finds, compute."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.programs import is_right, wrong_values
from tests.reliability.trial import value_of


class Ring:
    """Computes when a collection finds it."""

    def __init__(self, array: object) -> None:
        self.array, self.ring = array, self

    def __del__(self, ones: Callable[[int], object] = xp.ones, total: Callable[[Any], object] = xp.sum) -> None:
        assert float(total(ones(3000))) == 3000  # pyright: ignore[reportArgumentType]


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
