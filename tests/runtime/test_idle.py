"""What lies idle for the next arrays: how much at most, for how long, and that nobody misses it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.reliability.trial import run_trial
from uopc_core.dtype import dtypes
from uopc_core.runtime import idle, pool
from uopc_core.runtime.buffer import Buffer, pool_stats, trim, with_room
from uopc_core.runtime.idle import idle_bound

MIB = 1 << 20
LINUX = sys.platform == "linux"


@pytest.fixture
def clock(monkeypatch):
    """The time of the pool, which a test sets."""
    now = [1000.0]
    monkeypatch.setattr(pool, "monotonic", lambda: now[0])
    trim()
    pool._large._look_s = 0.0
    yield now
    trim()
    pool._large._look_s = 0.0


def use(*sizes):
    """Take blocks of so many MiB at once and give them back."""
    [Buffer.empty((size * MIB,), dtypes.uint8) for size in sizes].clear()


def test_the_bound_follows_the_memory_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(idle, "address_space_limit", lambda: None)
    for gib, expected in ((2, 256 * MIB), (24, 3 * 1024 * MIB), (1000, 4 * 1024 * MIB)):
        monkeypatch.setattr(idle, "usable_memory", lambda gib=gib: gib << 30)
        assert idle_bound() == expected
    monkeypatch.setattr(idle, "address_space_limit", lambda: 4 << 30)
    assert idle_bound() == 64 * MIB


def test_a_bound_that_falls_is_kept_to(monkeypatch, clock):
    monkeypatch.setattr(pool, "idle_bound", lambda: 100 * MIB)
    use(20, 20, 20)
    assert pool_stats().idle_large_bytes == 60 * MIB
    monkeypatch.setattr(pool, "idle_bound", lambda: 30 * MIB)
    clock[0] += pool.LOOK_S + 0.1
    use(1)
    assert pool_stats().idle_large_bytes <= 30 * MIB


def test_a_bound_that_falls_is_kept_to_at_once_where_much_is_given_back(monkeypatch, clock):
    monkeypatch.setattr(pool, "idle_bound", lambda: 100 * MIB)
    use(1)
    monkeypatch.setattr(pool, "idle_bound", lambda: 30 * MIB)
    use(*[40] * (pool.LOOK_BYTES // (40 * MIB) + 1))
    assert pool_stats().idle_large_bytes <= 30 * MIB


def test_what_nobody_has_asked_for_in_a_while_is_given_back(clock):
    use(3, 5)
    for _ in range(20):
        clock[0] += 1.0
        use(3)
    assert pool_stats().idle_large_bytes == 3 * MIB  # 5 MiB were idle for too long
    assert trim() >= 3 * MIB


def test_a_block_that_is_asked_for_late_is_still_used(clock):
    use(3, 5)
    reused = pool_stats().reused
    clock[0] += 100.0
    use(5)
    assert pool_stats().reused == reused + 1
    assert pool_stats().idle_large_bytes == 5 * MIB


def _kept_for_others(n_bytes):
    """Pages of this process that the system may take, in bytes."""
    found = re.findall(r"^LazyFree:\s+(\d+) kB$", Path("/proc/self/smaps").read_text(), re.MULTILINE)
    return sum(map(int, found)) * 1024 >= n_bytes


@pytest.mark.skipif(not LINUX or not idle._has_huge_pages(), reason="needs huge pages")
def test_large_idle_blocks_are_offered_to_the_system():
    trim()
    buffer = Buffer.empty((64 * MIB,), dtypes.uint8)
    buffer.array[...] = 1
    assert not _kept_for_others(60 * MIB)
    del buffer
    use(9)  # the one given back last is not offered
    assert _kept_for_others(60 * MIB)
    again = Buffer.empty((64 * MIB,), dtypes.uint8)
    again.array[...] = 2
    assert int(again.array.sum(dtype=np.int64)) == 2 * 64 * MIB


@pytest.mark.skipif(not idle._has_huge_pages(), reason="needs huge pages")
def test_a_loop_that_takes_what_it_gave_back_asks_the_system_for_nothing(monkeypatch, clock):
    sizes = []
    monkeypatch.setattr(pool, "offer", lambda mapping, start, n_bytes: sizes.append(n_bytes) or True)
    monkeypatch.setattr(pool, "idle_bound", lambda: 800 * MIB)
    use(20)
    for _ in range(5):
        use(20)
    assert not sizes
    use(10)  # of several that are idle, all but one are offered
    assert sizes == [20 * MIB]
    use(10)
    assert sizes == [20 * MIB]
    use(208)  # too much to be kept back; so is the one before
    assert sizes == [20 * MIB, 10 * MIB, 208 * MIB]


def test_a_system_that_does_not_know_the_call_is_not_asked_again(monkeypatch):
    class Refusing:
        def madvise(self, *arguments):
            raise OSError(22, "Invalid argument")

    assert not idle.offer(Refusing(), 0, 64 * MIB)  # pyright: ignore[reportArgumentType]


ADDRESS_SPACE = """
import resource
import numpy as np
import uopc_array as xp
from uopc_core import Buffer, dtypes
from uopc_core.runtime.buffer import pool_stats

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (600 << 20), resource.RLIM_INFINITY))
x = [Buffer.empty((40 << 20,), dtypes.uint8) for _ in range(12)]  # pages that nobody touches
del x
y = np.empty(540 << 20, np.uint8)  # what NumPy asks for is not refused for what lies idle
del y
z = Buffer.empty((540 << 20,), dtypes.uint8)  # 544 MiB
value = pool_stats().idle_bytes
"""


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_numpy_gets_what_lay_idle_under_a_limit_on_address_space():
    assert run_trial(ADDRESS_SPACE, seconds=120).check().value < 64 * MIB


def test_a_function_of_numpy_gets_what_lies_idle():
    use(3)
    calls = []

    def greedy(x):
        calls.append(x)
        if pool_stats().idle_large_bytes:
            raise MemoryError
        return x

    assert with_room(greedy, 7) == 7
    assert calls == [7, 7]

    def never():
        raise MemoryError("gone")

    trim()
    with pytest.raises(MemoryError, match="gone"):
        with_room(never)
