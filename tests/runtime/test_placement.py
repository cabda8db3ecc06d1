"""Where the slots of a compiled plan live: what a library makes is not copied, and goes when nobody needs it."""

import tracemalloc

import numpy as np
import pytest

from uopc_core.dtype import dtypes
from uopc_core.extern.sorting import argsort_last_axis, sort_last_axis
from uopc_core.ir import Ops, UOp
from uopc_core.runtime import pool
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.execute import realize_all
from uopc_core.settings import context

N = 1 << 19  # of float64: 4 MiB
VALUES = np.random.default_rng(0).standard_normal(N)


def ascending(x):
    return sort_last_axis(x, False, True)


def places(x):
    return argsort_last_axis(x, False, True)


# graphs, the same in NumPy, and how many arrays of that size NumPy and the pool hold at most while they run
PROGRAMS = {
    "a result alone": (lambda x: [ascending(x)], lambda x: [np.sort(x)], 1),
    "of what a kernel makes": (lambda x: [ascending(x * 2.0)], lambda x: [np.sort(x * 2)], 2),
    "taken over by a kernel": (lambda x: [ascending(x) * 2.0], lambda x: [np.sort(x) * 2], 1),
    "taken over in another dtype": (
        lambda x: [places(x).cast(dtypes.float64)],
        lambda x: [np.argsort(x, kind="stable").astype(float)],
        2,  # NumPy's own half for the order
    ),
    "read twice": (
        lambda x: [ascending(x) + x, ascending(x) * x],
        lambda x: [np.sort(x) + x, np.sort(x) * x],
        3,
    ),
    "and handed out": (lambda x: [ascending(x), ascending(x) + 1.0], lambda x: [np.sort(x), np.sort(x) + 1], 2),
    "in a row": (
        lambda x: [ascending(ascending(-ascending(x)) * x) - 1.0],
        lambda x: [np.sort(np.sort(-np.sort(x)) * x) - 1],
        3,
    ),
    "in another shape": (
        lambda x: [ascending(x).reshape((2, N // 2)), ascending(x).reshape((N // 4, 4))],
        lambda x: [np.sort(x).reshape(2, -1), np.sort(x).reshape(-1, 4)],
        1,
    ),
    "reduced": (lambda x: [(ascending(x) * x).reduce(Ops.ADD, 1)], lambda x: [np.sum(np.sort(x) * x)], 1),
}


@pytest.mark.parametrize("tier", ["compile", "interpret"])
@pytest.mark.parametrize(("graph", "in_numpy", "most"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_libraries_make_is_used_where_it_is(graph, in_numpy, most, tier, monkeypatch):
    taken = counted_blocks(monkeypatch)
    want = in_numpy(VALUES)
    with context(tier=tier, verify=False):
        for _ in range(2):
            roots = graph(UOp.buffer(Buffer.from_numpy(VALUES, copy=False)))
            taken.clear()
            tracemalloc.start()
            got = realize_all(roots)
            peak = tracemalloc.get_traced_memory()[1] + sum(taken)
            tracemalloc.stop()
            for buffer, expected in zip(got, want, strict=True):
                np.testing.assert_allclose(buffer.array, expected, rtol=1e-12)
                assert buffer.dtype == expected.dtype
            assert len({id(buffer) for buffer in got}) == len(got)
            for node in roots:
                node.realized = None
    assert peak <= (most + 0.9) * 8 * N


def counted_blocks(monkeypatch):
    """The sizes of the large blocks that were taken."""
    taken = []
    take = pool._LargePool.take

    def counted(self, size_bytes):
        taken.append(size_bytes)
        return take(self, size_bytes)

    monkeypatch.setattr(pool._LargePool, "take", counted)
    return taken


def test_an_operand_that_a_library_hands_back_is_not_written_to():
    x = np.tile(np.linspace(0.0, 1.0, 300), 1)
    buffer = Buffer.from_numpy(x, copy=False)
    for tier in ("compile", "interpret"):
        with context(tier=tier):
            got = realize_all([ascending(UOp.buffer(buffer)) * 2.0 + 1.0])[0]
        assert got.array.tolist() == (x * 2 + 1).tolist()
        assert x[1] == 1.0 / 299
