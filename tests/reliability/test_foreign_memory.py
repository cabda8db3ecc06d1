"""Memory of others that is lent to us, and ours that is lent to others: described badly, given back early, or freed."""

import gc
import mmap
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.capsules import Producer
from tests.reliability.trial import value_of

READ_ONLY, COPIED = 1, 2  # flags of a capsule
ROW = np.arange(12.0)

# Producers, and the values that their memory means; None where it must be refused.
CAPSULES: dict[str, tuple[Callable[[], Producer], Any]] = {
    "plain": (lambda: Producer(ROW.copy()), ROW),
    "with strides": (lambda: Producer(ROW.copy(), (3, 4), (4, 1)), ROW.reshape(3, 4)),
    "transposed": (lambda: Producer(ROW.copy(), (4, 3), (1, 4)), ROW.reshape(3, 4).T),
    "every second": (lambda: Producer(ROW.copy(), (6,), (2,)), ROW[::2]),
    "backwards": (lambda: Producer(ROW.copy(), (12,), (-1,), byte_offset=88), ROW[::-1]),
    "one element again and again": (lambda: Producer(ROW.copy(), (5,), (0,), byte_offset=16), np.full(5, 2.0)),
    "with an offset": (lambda: Producer(ROW.copy(), (4,), byte_offset=64), ROW[8:]),
    "with a crooked offset": (lambda: Producer(np.zeros(100, "u1"), (3,), code=2, bits=64, byte_offset=3), np.zeros(3)),
    "empty": (lambda: Producer(ROW.copy(), (0, 4)), np.zeros((0, 4))),
    "empty and without memory": (lambda: Producer(ROW.copy(), (0,), null=True), np.zeros(0)),
    "without axes": (lambda: Producer(np.asarray(7.0)), np.asarray(7.0)),
    "of booleans": (lambda: Producer(np.asarray([True, False])), np.asarray([True, False])),
    "of other booleans": (lambda: Producer(np.asarray([2, 0, 255], "u1"), code=6), np.asarray([True, False, True])),
    "complex": (lambda: Producer(ROW + 1j), ROW + 1j),
    "with a version": (lambda: Producer(ROW.copy(), version=(1, 0)), ROW),
    "of a later minor version": (lambda: Producer(ROW.copy(), version=(1, 9)), ROW),
    "read-only": (lambda: Producer(ROW.copy(), version=(1, 0), flags=READ_ONLY), ROW),
    "copied": (lambda: Producer(ROW.copy(), version=(1, 0), flags=COPIED), ROW),
    "of a later version": (lambda: Producer(ROW.copy(), version=(2, 0)), None),
    "of vectors": (lambda: Producer(ROW.copy(), lanes=4), None),
    "of two bits": (lambda: Producer(ROW.copy(), code=0, bits=2), None),
    "of long doubles": (lambda: Producer(ROW.astype("g"), bits=128), None),
    "of half numbers": (lambda: Producer(ROW.astype("f2")), None),
    "of an unknown kind": (lambda: Producer(ROW.copy(), code=77), None),
    "of pointers": (lambda: Producer(ROW.copy(), code=3), None),
    "of brain floats": (lambda: Producer(ROW.astype("f2"), code=4), None),
    "on another device": (lambda: Producer(ROW.copy(), device=(2, 0)), None),
    "on an unknown device": (lambda: Producer(ROW.copy(), device=(999, -5)), None),
    "of seventy axes": (lambda: Producer(ROW.copy(), (1,) * 70), None),
    "of negative size": (lambda: Producer(ROW.copy(), (-3,)), None),
    "larger than any memory": (lambda: Producer(ROW.copy(), (2**40, 2**40)), None),
    "of another name": (lambda: Producer(ROW.copy(), name=b"tensor"), None),
    "used before": (lambda: Producer(ROW.copy(), name=b"used_dltensor"), None),
}

NEED_A_COPY = {
    *("transposed", "every second", "backwards", "one element again and again"),
    *("with a crooked offset", "of other booleans", "read-only"),
}


def take(name: str, copy: bool | None) -> dict[str, Any]:
    """Take a capsule, use what it gives, let it go; say what was raised, and whether the values were right."""
    make, wanted = CAPSULES[name]
    producer = make()
    try:
        x = xp.from_dlpack(producer, copy=copy)
    except (BufferError, ValueError, TypeError, NotImplementedError, RuntimeError, MemoryError) as error:
        gc.collect()
        return {"raised": type(error).__name__, "text": str(error), "made": producer.n_made, "gone": producer.n_deleted}
    values = [np.asarray(x), np.asarray(xp.asarray(x) + 0), np.asarray(xp.stack([x, x])[1])]
    right = wanted is not None and all(np.array_equal(v, wanted) and v.shape == np.shape(wanted) for v in values)
    del x, values
    gc.collect()
    return {"raised": None, "right": right, "made": producer.n_made, "gone": producer.n_deleted}


def take_all(copy: bool | None) -> dict[str, dict[str, Any]]:
    outcomes: dict[str, dict[str, Any]] = {}
    for name in CAPSULES:
        print(name, flush=True)
        outcomes[name] = take(name, copy)
    return outcomes


@pytest.mark.parametrize("copy", [None, False, True], ids=["copy=None", "copy=False", "copy=True"])
def test_capsules_of_every_description(tries, copy):
    for name, outcome in value_of(take_all, copy).items():
        described = f"{name}: {outcome}"
        if outcome["raised"]:
            assert CAPSULES[name][1] is None or (copy is False and name in NEED_A_COPY), described
            assert outcome["text"], described
        else:
            assert outcome["right"], described
            assert outcome["gone"] == outcome["made"], described
        tries.add(1)


def take_twice() -> list[str]:
    producer = Producer(ROW.copy(), same_capsule=True)
    x = xp.from_dlpack(producer)
    try:
        xp.from_dlpack(producer)
    except (BufferError, ValueError, TypeError) as error:
        raised = type(error).__name__
    else:
        raised = "nothing"
    assert np.array_equal(np.asarray(x), ROW)
    del x
    gc.collect()
    assert producer.n_deleted == 1
    return [raised]


def test_a_capsule_is_taken_once():
    assert value_of(take_twice) != ["nothing"]


def grow_what_is_lent() -> list[str]:
    owner = bytearray(ROW.tobytes())
    x = xp.asarray(np.frombuffer(owner), copy=False)
    try:
        owner.extend(b"more")
    except BufferError:
        refused = "BufferError"
    else:
        refused = "nothing"
    assert np.array_equal(np.asarray(x), ROW)
    del x
    gc.collect()
    owner.extend(b"more")
    return [refused]


def close_what_is_lent() -> list[str]:
    with tempfile.TemporaryFile() as file:
        file.write(bytes(1 << 16))
        file.flush()
        pages = mmap.mmap(file.fileno(), 1 << 16)
        x = xp.asarray(np.frombuffer(pages, np.float64), copy=False)
        y = x * 2 + 1  # not computed yet
        try:
            pages.close()
        except BufferError:
            refused = "BufferError"
        else:
            refused = "nothing"
        assert float(xp.sum(y)) == 1 << 13
        del x, y
        gc.collect()
        pages.close()
    return [refused]


def delete_what_is_lent() -> list[str]:
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "x")
    ROW.tofile(path)
    lent = np.memmap(path, np.float64, "r")
    x = xp.asarray(lent, copy=False)
    y = x + 1
    os.unlink(path)
    del lent
    gc.collect()
    x[0] = 50.0  # of memory that cannot be written to
    assert float(x[0]) == 50
    assert np.array_equal(np.asarray(y), ROW + 1)
    return ["copied"]


def free_what_was_lent() -> list[str]:
    """Views by NumPy of arrays of ours that are gone, in every order."""
    for kind in range(40):
        x = xp.asarray(ROW) * 2.0 if kind % 2 else xp.ones((300, 100)) * 2.0
        wanted = np.array(np.asarray(x))
        views = [np.from_dlpack(x), np.from_dlpack(x[1:]), memoryview_of(x), np.asarray(xp.reshape(x, (-1,)))]
        del x
        for i in range(20):
            xp.sum(xp.ones(wanted.size) * i)  # which would take the memory, were it free
        gc.collect()
        assert np.array_equal(views[0], wanted)
        assert np.array_equal(views[1], wanted[1:])
        assert np.array_equal(views[2], wanted)
        assert np.array_equal(views[3], wanted.reshape(-1))
        del views[kind % 4]
        assert np.array_equal(views[0].reshape(-1)[-1:], wanted.reshape(-1)[-1:])
    return ["kept"]


def memoryview_of(x: Any) -> Any:
    exported: Any = np.from_dlpack(x)
    return np.asarray(memoryview(exported))


def write_into_what_was_lent() -> list[str]:
    """Both see what either writes, as long as the memory is shared; what is pending has the old values."""
    x = xp.asarray(ROW) + 0
    view = np.from_dlpack(x)
    pending = x * 10
    if view.flags.writeable:
        view[3] = -1
        assert float(x[3]) == -1
    x[4] = -2.0
    assert float(x[4]) == -2
    assert float(pending[4]) == 40
    return ["written"]


LOANS: dict[str, tuple[Callable[[], list[str]], str]] = {
    "a bytearray that grows": (grow_what_is_lent, "BufferError"),
    "a mapping that is closed": (close_what_is_lent, "BufferError"),
    "a read-only file that is deleted": (delete_what_is_lent, "copied"),
    "arrays of ours that are gone": (free_what_was_lent, "kept"),
    "arrays of ours that are written to": (write_into_what_was_lent, "written"),
}


@pytest.mark.parametrize("name", LOANS)
def test_memory_that_is_lent_stays_what_it_is(name):
    program, wanted = LOANS[name]
    assert value_of(program) == [wanted]
