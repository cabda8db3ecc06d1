"""Operations take no more memory than NumPy does, beyond their result."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.peak_memory import peak_bytes
from uopc_core.frontend import cells

N = 1 << 22  # bytes of an operand
SLACK = 7 << 19  # blocks, and buffers of NumPy's


def small(dtype):
    return (np.arange(N) % 251).astype(dtype)


def floats():
    return np.random.default_rng(0).standard_normal(N // 8)


def add_at(x):
    np.add.at(x, [5, 5, -1], 3)
    return x


def subtract_at(x):
    np.subtract.at(x, np.asarray([5, 5, -1]), 3)
    return x


def maximum_at(x):
    every_second: Any = slice(1, None, 2)
    np.maximum.at(x, every_second, 200)
    return x


def assign_every_second(x):
    x[1::2] = x[1::2] * 2 + 1
    return x


def assign_a_part(x):
    x[1:-1] = x[:-2] + x[2:]
    return x


# an operand, an operation, and what it takes: the result, and what NumPy takes on the way
OPERATIONS = {
    "add.at of bytes": (small("u1"), add_at, 0),
    "add.at of floats": (floats(), add_at, 0),
    "add.at of rows": (small("u1").reshape(-1, 64), add_at, 0),
    "subtract.at": (floats(), subtract_at, 0),
    "add.at of a view": (floats(), lambda x: add_at(x[5:]), N),
    "maximum.at of a slice": (small("u1"), maximum_at, N),
    "an assignment to every second": (floats(), assign_every_second, N + N // 2),
    "an assignment to a part": (floats(), assign_a_part, 2 * N),
    "a slice with a step": (floats(), lambda x: x[1::3] + 1, N // 3),
    "a mask": (floats(), lambda x: x[x > 0.5], N // 8 + N),
    "a mask of rows": (floats().reshape(-1, 64), lambda x: x[x[:, 0] > 0.5], N),
    "a mask of all of a table": (floats().reshape(-1, 64), lambda x: x[x > 0.5], N // 8 + N),
    "a mask of a part": (floats(), lambda x: x[10:][x[10:] > 0.5], N // 8 + N),
    "a mask of columns": (floats().reshape(64, -1), lambda x: x.T[x.T > 0.5], N // 8 + N),
    "sort": (floats(), xp.sort, N),
    "argsort": (floats(), lambda x: xp.argsort(x, stable=False), 2 * N),  # by digits, from one row to another
    "fft": (floats(), lambda x: xp.fft.fft(x), 4 * N),
    "sum of bytes": (small("u1"), xp.sum, 0),
    "sum of bytes along columns": (small("u1").reshape(-1, 64), lambda x: xp.sum(x, axis=0), 0),
    "product of booleans": (small("u1") > 3, xp.prod, 0),
    "count of bytes": (small("u1"), xp.count_nonzero, 0),
    "count of booleans": (small("u1") > 3, xp.count_nonzero, 0),
    "mean of bytes": (small("u1"), xp.mean, 0),
    "sum of int32": (small("i4")[: N // 4], xp.sum, 0),
    "sum of int8 as int32": (small("i1"), lambda x: xp.sum(x, dtype=xp.int32), 0),
    "any": (small("u1"), xp.any, 0),
    "place of the largest": (small("u1"), xp.argmax, 0),
    "variance": (floats(), xp.var, 0),
    "sum of float32 in double": (small("f4")[: N // 4], lambda x: xp.sum(x, dtype=xp.float64), 0),
    "a chain": (floats(), lambda x: xp.sqrt(xp.abs((x * 2 + 1) * x - 3)) / 2, N),
    "distances": (
        floats()[:2172].reshape(724, 3),
        lambda x: xp.sqrt(xp.sum((x[:, None] - x) ** 2, axis=-1)),
        N,
    ),
    "cumulative sum": (floats(), xp.cumulative_sum, N),
}


@pytest.mark.parametrize("tier", ["auto", "interpret"])
@pytest.mark.parametrize(("values", "operation", "most"), OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_takes_its_result_and_what_numpy_takes(values, operation, most, tier, monkeypatch):
    # one waits for what is to be compiled for other tests
    monkeypatch.setattr(cells, "has_other_threads", lambda: False)
    with xp.context(tier=tier, verify=False):
        operation(xp.asarray(values[:1024]))  # modules are loaded, kernels compiled
        for _ in range(3):
            x = xp.asarray(values)
            assert peak_bytes(lambda x=x: operation(x)._memory("a test")) <= most + SLACK
