"""Memory of others, however it lies: through `asarray` and `from_dlpack`, copied or shared, with its owner gone."""

import gc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import uopc_array as xp
from tests.support.reference import equal
from uopc_core import context

Values = np.ndarray[Any, Any]
TIERS = ["interpret", "compile"]


def numbers(dtype: str) -> Values:
    return np.arange(24).astype(dtype)


def misaligned(dtype: str) -> Values:
    raw = np.zeros(24 * np.dtype(dtype).itemsize + 1, np.uint8)
    out: Values = raw[1:].view(dtype)
    out[:] = numbers(dtype)
    return out


def read_only(dtype: str) -> Values:
    out = numbers(dtype)
    out.flags.writeable = False
    return out


def far_apart(dtype: str) -> Values:
    """A few elements of 2 MB, of which only their pages are touched."""
    out: Values = np.ndarray((2, 3), dtype, np.zeros(1 << 21, np.uint8), strides=(1 << 20, 1 << 18))
    out[...] = np.arange(6).reshape(2, 3)
    return out


def within_records(dtype: str) -> Values:
    out = np.zeros(5, [("before", "i1"), ("value", dtype)])["value"]
    out[...] = np.arange(5)
    return out


class Layout(NamedTuple):
    """How an array is made for a dtype; whether its memory can be shared, and sent over DLPack."""

    make: Callable[[str], Values]
    shared: bool = False
    sent: bool = True


LAYOUTS: dict[str, Layout] = {
    "plain": Layout(numbers, shared=True),
    "read-only": Layout(read_only, shared=True),
    "bytes": Layout(lambda dtype: np.frombuffer(numbers(dtype).tobytes(), dtype), shared=True),
    "one element": Layout(lambda dtype: numbers(dtype)[3:4].reshape(()), shared=True),
    "any strides of extents 1": Layout(
        lambda dtype: as_strided(numbers(dtype), (1, 1, 3), (-(1 << 40), 12345, np.dtype(dtype).itemsize)), shared=True
    ),
    "any strides of nothing": Layout(lambda dtype: as_strided(numbers(dtype), (0, 4), (-64, 8)), shared=True),
    "misaligned": Layout(misaligned),
    "misaligned and transposed": Layout(lambda dtype: misaligned(dtype).reshape(4, 6).T),
    "byte-swapped": Layout(lambda dtype: numbers(dtype).astype(np.dtype(dtype).newbyteorder()), sent=False),
    "negative strides": Layout(lambda dtype: numbers(dtype).reshape(4, 6)[::-1, ::-2]),
    "huge strides": Layout(far_apart),
    "overlapping": Layout(lambda dtype: as_strided(numbers(dtype), (5, 4), (np.dtype(dtype).itemsize,) * 2)),
    "strides 0": Layout(lambda dtype: np.broadcast_to(numbers(dtype)[:3], (4, 3))),
    "Fortran order": Layout(lambda dtype: np.asfortranarray(numbers(dtype).reshape(4, 6))),
    "within records": Layout(within_records, sent=False),
}  # fmt: skip


def examine(x: xp.Array, wanted: Values) -> None:
    """Read as it is, moved, and in arithmetic, which loads vectors."""
    assert x.dtype == wanted.dtype
    assert equal(x, wanted)
    assert equal(xp.flip(x), np.flip(wanted))
    assert equal(x * x + x, wanted * wanted + wanted)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("take", [xp.asarray, xp.from_dlpack], ids=["asarray", "from_dlpack"])
def test_memory_of_any_layout_is_copied_shared_or_refused(layout: Layout, copy: bool | None, take: Any) -> None:
    over_dlpack = take is xp.from_dlpack
    for dtype in ("float64", "int16", "complex64"):
        memory = layout.make(dtype)
        wanted = memory.astype(memory.dtype.newbyteorder("="))
        if (over_dlpack and not layout.sent) or (copy is False and not layout.shared):
            with pytest.raises(BufferError if over_dlpack else ValueError):
                take(memory, copy=copy)
            continue
        x = take(memory, copy=copy)
        assert np.shares_memory(np.from_dlpack(x), memory) == (copy is False and memory.size > 0)
        del memory
        for tier in TIERS:
            with context(tier=tier):
                examine(x, wanted)


@pytest.mark.parametrize("take", [xp.asarray, xp.from_dlpack], ids=["asarray", "from_dlpack"])
@pytest.mark.parametrize("tier", TIERS)
def test_shared_memory_outlives_the_name_of_its_owner(take: Any, tier: Any) -> None:
    memory = np.arange(5000.0)
    alive = weakref.ref(memory)
    with context(tier=tier):
        late = take(memory, copy=False)[::-2] * 2
        del memory
        assert alive() is not None
        for k in range(8):  # whoever frees too early gets these
            np.full(5000, float(k))
        assert equal(late, np.arange(5000.0)[::-2] * 2)
    del late
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("name", ["plain", "read-only", "bytes", "overlapping", "negative strides", "strides 0"])
@pytest.mark.parametrize("take", [xp.asarray, xp.from_dlpack], ids=["asarray", "from_dlpack"])
def test_writing_to_an_array_of_ours_leaves_memory_that_is_not_shared_alone(name: str, take: Any) -> None:
    memory = LAYOUTS[name].make("float64")
    before = memory.copy()
    x = take(memory, copy=False if name in ("read-only", "bytes") else None)
    x[...] = -1.0
    assert equal(memory, before)
    assert equal(x, np.full(before.shape, -1.0))


def test_booleans_of_other_bytes_are_copied_or_refused() -> None:
    memory = np.asarray([2, 0, 255], np.uint8).view(bool)
    for take, error in ((xp.asarray, ValueError), (xp.from_dlpack, BufferError)):
        assert equal(xp.astype(take(memory), xp.int64), [1, 0, 1])
        with pytest.raises(error, match="bytes above 1"):
            take(memory, copy=False)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_values_of_any_layout_are_assigned_and_index(layout: Layout) -> None:
    memory = layout.make("int16")
    x = xp.zeros(memory.shape, dtype=xp.int16)
    x[...] = memory
    assert equal(x, memory.astype(np.int16))
    assert equal((xp.arange(40) * 3)[memory], np.arange(40)[memory] * 3)
