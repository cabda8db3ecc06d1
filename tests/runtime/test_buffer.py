"""Buffers: alignment, sharing with NumPy, and when their memory is free for others."""

import gc
import itertools
import threading
import tracemalloc
import weakref
from contextlib import suppress

import numpy as np
import pytest

from tests.support.kernels import run_python
from tests.support.moments import happen_at, moments_among
from uopc_core.dtype import DTYPES, dtypes
from uopc_core.errors import DTypeError
from uopc_core.runtime import pool
from uopc_core.runtime.buffer import Buffer, pool_stats, trim

LARGE = (1 << 17,)  # 1 MiB of float64
EXPORTS = {
    "array": lambda buffer: buffer.array,
    "slice": lambda buffer: buffer.array[1:].T,
    "readonly": lambda buffer: buffer.readonly(),
    "memoryview": lambda buffer: memoryview(buffer.array),
}
SHAPES = [(), (0,), (3, 0, 2), (1,), (7,), (5, 3), (64, 8), (513,), (100, 100), (256, 129), LARGE, (3 << 17,)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_memory_is_aligned_and_seen_by_numpy(shape, dtype):
    buffer = Buffer.empty(shape, dtype)
    array = buffer.array
    assert buffer.pointer % 64 == 0
    assert buffer.pointer == array.ctypes.data or array.size == 0
    assert (array.shape, array.dtype, buffer.nbytes) == (shape, dtype, array.nbytes)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert buffer.array is array


def test_buffers_do_not_overlap():
    buffers = [Buffer.empty((n,), dtypes.uint8) for n in range(0, 3000, 7)]
    for i, buffer in enumerate(buffers):
        buffer.array[...] = i % 251
    assert all((buffer.array == i % 251).all() for i, buffer in enumerate(buffers))


def test_a_buffer_is_equal_only_to_itself():
    a, b = (Buffer.from_numpy(np.ones(3)) for _ in range(2))
    assert a != b
    assert len({a, b, a}) == 2
    assert weakref.ref(a)() is a


@pytest.mark.parametrize("index", [..., slice(None, None, -2), 1], ids=str)
def test_a_copied_boolean_is_0_or_1_whatever_byte_stood_for_it(index):
    array = np.arange(256, dtype=np.uint8).view(bool)[index]
    np.testing.assert_array_equal(Buffer.from_numpy(array).array.view(np.uint8), array != 0)


@pytest.mark.parametrize(
    "array",
    [np.arange(6.0).reshape(2, 3).T, np.arange(10)[::-2], np.float32(3.0).reshape(()), np.arange(3, dtype=">i4")],
    ids=["transposed", "reversed", "scalar", "big-endian"],
)
def test_copies_take_any_layout(array):
    buffer = Buffer.from_numpy(array)
    np.testing.assert_array_equal(buffer.array, array)
    assert buffer.dtype is array.dtype.newbyteorder("=") or buffer.dtype == array.dtype.newbyteorder("=")
    assert not np.shares_memory(buffer.array, array)


def test_memory_is_shared_without_a_copy_and_kept_alive():
    array = np.arange(4.0)
    buffer = Buffer.from_numpy(array, copy=False)
    array[1] = 7.0
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is not None
    assert buffer.array.tolist() == [0.0, 7.0, 2.0, 3.0]
    assert buffer.pointer == buffer.array.ctypes.data


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.zeros(()), np.broadcast_to(1.0, (1,))], ids=str)
def test_empty_scalar_and_readonly_memory_can_be_shared(array):
    assert Buffer.from_numpy(array, copy=False).array.shape == array.shape


@pytest.mark.parametrize(
    "array",
    [np.arange(6)[::2], np.arange(3, dtype=">i4"), np.frombuffer(bytes(17), np.uint8)[1:].view(np.float64)],
    ids=["strided", "big-endian", "unaligned"],
)
def test_what_a_kernel_cannot_read_in_place_is_not_shared(array):
    with pytest.raises(ValueError, match="copy=False"):
        Buffer.from_numpy(array, copy=False)


def test_a_subclass_of_ndarray_is_shared_as_a_plain_array():
    assert type(Buffer.from_numpy(np.ma.array([1.0, 2.0]), copy=False).array) is np.ndarray


def test_a_dtype_outside_the_graph_is_refused():
    with pytest.raises(DTypeError, match="float16"):
        Buffer.from_numpy(np.zeros(2, np.float16))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)], ids=str)
def test_a_readonly_view_stays_readonly(shape, dtype):
    buffer = Buffer.from_numpy(np.ones(shape, dtype))
    view = buffer.readonly()
    assert (view.shape, view.dtype) == (shape, dtype)
    assert view.size == 0 or np.shares_memory(view, buffer.array)
    for array in (view, view[...], view.T):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    assert buffer.array.flags.writeable


@pytest.mark.parametrize("shape", [(3,), LARGE], ids=str)
def test_memory_is_used_again_when_the_buffer_is_gone(shape):
    trim()
    first = Buffer.empty(shape, dtypes.float64).pointer
    assert Buffer.empty(shape, dtypes.float64).pointer == first


@pytest.mark.parametrize("shape", [(3,), LARGE], ids=str)
@pytest.mark.parametrize("export", EXPORTS)
def test_memory_is_not_used_again_while_an_array_shows_it(shape, export):
    trim()
    buffer = Buffer.from_numpy(np.full(shape, 5.0))
    kept, first = EXPORTS[export](buffer), buffer.pointer
    del buffer
    others = [Buffer.from_numpy(np.zeros(shape)) for _ in range(3)]
    assert first not in [other.pointer for other in others]
    assert np.asarray(kept).min() == 5.0
    del kept, others
    pointers = [b.pointer for b in [Buffer.empty(shape, dtypes.float64) for _ in range(4)]]
    assert first in pointers


def test_memory_in_a_cycle_is_used_again_after_a_collection():
    trim()
    buffer = Buffer.empty(LARGE, dtypes.float64)
    cycle = [buffer, buffer.array]
    cycle.append(cycle)
    first = buffer.pointer
    del buffer, cycle
    gc.collect()
    assert Buffer.empty(LARGE, dtypes.float64).pointer == first


def bound_idle_memory(monkeypatch, n_bytes):
    """From now on; small blocks go by it as soon as more of them lie idle than ever before."""
    monkeypatch.setattr(pool, "idle_bound", lambda: n_bytes)
    pool._large._look_s = 0.0
    for home in pool._small.values():
        home.max_idle = 0


def test_idle_memory_is_bounded_and_the_oldest_goes_first(monkeypatch):
    trim()
    bound_idle_memory(monkeypatch, 4 << 20)
    sizes = [n << 20 for n in (1, 2, 3)]
    for size in sizes:
        Buffer.empty((size,), dtypes.uint8)
    assert pool_stats().idle_large_bytes == 3 << 20
    reused = pool_stats().reused
    Buffer.empty((3 << 20,), dtypes.uint8)
    assert pool_stats().reused == reused + 1
    Buffer.empty((1 << 20,), dtypes.uint8)
    assert pool_stats().reused == reused + 1


def test_trim_gives_everything_idle_back():
    kept = Buffer.from_numpy(np.arange(3))
    [Buffer.empty((n,), dtypes.uint8) for n in (1, 100, 5000, 1 << 18, 1 << 22)].clear()
    assert pool_stats().idle_bytes > 0
    assert trim() > 0
    assert pool_stats().idle_large_bytes == 0
    assert kept.array.tolist() == [0, 1, 2]


def test_many_small_buffers_do_not_hold_memory_for_ever(monkeypatch):
    trim()
    home = pool._TABLE[1]
    bound_idle_memory(monkeypatch, 8 * 1000 * home.size_bytes)
    buffers = [Buffer.empty((), dtypes.float64) for _ in range(50_000)]
    del buffers[:]
    assert len(home.idle) < 20_000


# eight blocks of this size are cut from one mapping, so a few of them meet every path
SIZES = [100 << 10, 1 << 20]


def churn(sizes):
    """Memory taken, exported, given back and taken again; what is still in use at the end."""
    kept = []
    for n in range(1, 13):
        for size in sizes:
            buffer = Buffer.empty((size,), dtypes.uint8)
            if n % 3:
                kept.append(buffer.array if n % 2 else buffer)
    return kept


def places(kept):
    """Where each begins and ends."""
    starts = [x.pointer if isinstance(x, Buffer) else x.ctypes.data for x in kept]
    return sorted((start, start + x.nbytes) for start, x in zip(starts, kept, strict=True))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python prints an interrupted __del__
@pytest.mark.parametrize("how", ["computed in the midst", "interrupted", "given back in the midst"])
def test_whatever_happens_in_the_midst_of_it_every_block_has_one_owner(monkeypatch, how):
    """A handler that computes, Ctrl-C, a collection."""
    bound_idle_memory(monkeypatch, 2 << 20)
    meanwhile = []

    def happening():
        if how == "interrupted":
            raise KeyboardInterrupt
        meanwhile.extend(churn(SIZES))
        if how == "given back in the midst":
            meanwhile.clear()

    for number in moments_among(lambda: churn(SIZES), 300):
        trim()
        kept = []
        with suppress(KeyboardInterrupt):
            kept = happen_at(number, lambda: churn(SIZES), happening)
        kept += churn(SIZES) + meanwhile
        held = places(kept)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(held)), number
        meanwhile.clear()
        del kept
    trim()
    assert pool_stats().idle_large_bytes == 0


def test_what_the_system_does_not_have_is_a_memory_error():
    with pytest.raises(MemoryError, match=r"shape \(1000000000, 1000000\) and dtype float64"):
        Buffer.empty((10**9, 10**6), dtypes.float64)
    with pytest.raises(MemoryError):
        Buffer.empty((10**30,), dtypes.float64)


def test_threads_get_memory_of_their_own():
    failures = []

    def churn(number):
        rng = np.random.default_rng(number)
        held = []
        for i in range(300):
            buffer = Buffer.empty((int(rng.integers(1, 1 << rng.integers(3, 17))),), dtypes.float64)
            buffer.array[...] = mark = number * 1000 + i
            held.append((buffer if i % 2 else buffer.array, mark))
            if len(held) > 20:
                del held[int(rng.integers(20))]
            for kept, expected in held[::5]:
                array = kept.array if isinstance(kept, Buffer) else kept
                if not (array == expected).all():
                    failures.append(expected)

    threads = [threading.Thread(target=churn, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_two_threads_export_one_array():
    for _ in range(50):
        buffer = Buffer.empty((4,), dtypes.float64)
        barrier = threading.Barrier(2)
        seen = []

        def look(barrier=barrier, buffer=buffer, seen=seen):
            barrier.wait()
            seen.append(buffer.array)

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen[0] is seen[1]


def test_nothing_leaks_when_buffers_come_and_go():
    def churn():
        for _ in range(2000):
            assert Buffer.empty((3,), dtypes.float64).array.shape == (3,)

    churn()
    tracemalloc.start()
    churn()
    before = tracemalloc.get_traced_memory()[0]
    churn()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 10_000


def test_a_forked_child_has_memory_of_its_own_and_the_process_ends_cleanly():
    code = """
import os, numpy as np
from uopc_core.runtime.buffer import Buffer, trim
from uopc_core.dtype import dtypes
kept = [Buffer.from_numpy(np.ones(n)) for n in (3, 1 << 20)]
exported = [buffer.array for buffer in kept]
child = os.fork()
if child == 0:
    for array in exported:
        array[...] = 2.0
    del kept
    Buffer.empty((1 << 20,), dtypes.float64)
    trim()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print([float(array.sum()) for array in exported])
everlasting = np.broadcast_to(exported[0], (2, 3))
"""
    assert run_python(code) == "[3.0, 1048576.0]"
