"""What is safe with NumPy under threads is safe here: threads that write to different parts of one array lose nothing,
and whoever has read a value keeps it.

Kinds of parts and of writes are drawn from all there are (`writers`); tests/reliability tries them a million times.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.writers import KINDS, NARROW, WIDE, Round, kinds, run_together, switching_often, writes_to
from uopc_core.frontend import cells


@pytest.fixture(autouse=True)
def _threads_take_turns() -> Iterator[None]:
    with switching_often():
        yield


@pytest.mark.parametrize("name", KINDS)
def test_writes_to_different_parts_are_not_lost(name: str) -> None:
    for seed, write in enumerate(writes_to(KINDS[name])):
        Round(seed, KINDS[name], [write]).check()
    for seed, width in enumerate((NARROW, NARROW, WIDE, WIDE)):
        kind = kinds(width)[name]
        Round(seed, kind, writes_to(kind)).check()


@pytest.mark.parametrize("n_threads", [2, 7, 16])
def test_whole_arrays_are_augmented_as_often_as_asked(n_threads: int) -> None:
    total, count = xp.zeros(5), xp.asarray(0)

    def work() -> None:
        nonlocal count
        for _ in range(30):
            total.__iadd__(2)
            count.__iadd__(1)

    run_together([work] * n_threads)
    assert np.asarray(total).tolist() == [60.0 * n_threads] * 5
    assert int(count) == 30 * n_threads


FILLS: dict[str, Callable[[Any, int], None]] = {
    "x[k] = i": lambda x, k: x.__setitem__(k, float(k)),
    "x[k] += i": lambda x, k: x.__setitem__(k, x[k] + float(k)),
    "through a view": lambda x, k: x[k].__setitem__(slice(None), xp.full(x.shape[1], float(k))),
}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
def test_threads_that_fill_parts_copy_the_whole_until_they_know_of_each_other(
    fill: Callable[[Any, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = xp.zeros((400, 1000))
    assert float(x[0, 0]) == 0.0
    copied: list[int] = []
    copy_of = cells._copy_of

    def counted(node: Any) -> Any:
        copied.append(node.size)
        return copy_of(node)

    monkeypatch.setattr(cells, "_copy_of", counted)

    def work(first: int) -> None:
        for k in range(first, 400, 4):
            fill(x, k)

    run_together([partial(work, first) for first in range(4)])
    assert copied.count(x.size) <= 16  # of 400 writes: each of four may read, hold and lose a race before it knows
    np.testing.assert_array_equal(np.asarray(x), np.arange(400.0)[:, None] + np.zeros(1000))


def _write_element(x: Any, i: int) -> None:
    x[i % 600] = float(i)


def _write_slice(x: Any, i: int) -> None:
    x[:] = float(i)


def _write_view(x: Any, i: int) -> None:
    x[10:][...] = float(i)


def _write_values(x: Any, i: int) -> None:
    x[...] = np.full(x.shape, float(i))


READS: dict[str, Callable[[Any], Any]] = {
    "copy": lambda x: x.copy(),
    "expression": lambda x: x + 0.0,
    "expression of a view": lambda x: x[5:] + 0.0,
    "memory": lambda x: x.to_numpy(copy=False),
    "exchange": lambda x: np.from_dlpack(x),
    "view of NumPy": lambda x: np.asarray(x)[::2],
}


@pytest.mark.parametrize("write", [_write_element, _write_slice, _write_view, _write_values])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_was_read_never_changes(read: Callable[[Any], Any], write: Callable[[Any, int], None]) -> None:
    x = xp.asarray(np.zeros(6000))
    ends = threading.Event()

    def writer() -> None:
        i = 0
        while not ends.is_set():
            i += 1
            write(x, i)

    def reader() -> None:
        try:
            for _ in range(30):
                value = read(x)
                before = np.array(value)
                for _ in range(3):
                    assert np.array_equal(np.array(value), before)
        finally:
            ends.set()

    run_together([writer, writer, reader])


def test_first_views_of_one_base_all_follow() -> None:
    for _ in range(200):
        x = xp.asarray(np.zeros((4, 3)))
        views: list[Any] = []
        run_together([lambda k=k, x=x, views=views: views.append((k, x[k])) for k in range(4)])
        x += np.arange(4.0)[:, None]
        assert all(float(view[0]) == k for k, view in views)


def test_views_are_read_while_their_base_changes() -> None:
    """A view shows what stood in its base at one time, and at the end what stands there."""
    x = xp.asarray(np.zeros((3, 4)))
    view = x[1]

    def writer() -> None:
        for i in range(1, 60):
            x[...] = float(i)

    def reader() -> None:
        last = 0.0
        for _ in range(60):
            seen = np.asarray(view)
            assert (seen >= last).all()
            last = float(seen.max())

    run_together([writer, reader, reader])
    assert np.asarray(view).tolist() == [59.0] * 4


def test_outputs_of_one_gradient_are_read_by_many() -> None:
    f = xp.value_and_grad(lambda x, y: xp.sum(xp.sin(x) * y), argnums=(0, 1))
    x, y = xp.asarray(np.arange(5.0)), xp.asarray(np.ones(5))
    expected = [np.asarray(part).tolist() for part in (f(x, y)[0], *f(x, y)[1])]
    for _ in range(30):
        value, gradients = f(x, y)
        found: dict[int, Any] = {}
        parts = [value, *gradients] * 3
        run_together(
            [lambda i=i, part=part, found=found: found.update({i: np.asarray(part)}) for i, part in enumerate(parts)]
        )
        assert [found[i].tolist() for i in range(9)] == expected * 3


def test_one_pending_value_is_computed_by_many() -> None:
    for i in range(30):
        x = xp.asarray(np.full(1000, float(i)))
        y = xp.exp(x * 0.01) + x
        found: list[Any] = []
        run_together([lambda y=y, found=found: found.append(np.asarray(y))] * 6)
        assert all(np.array_equal(value, found[0]) for value in found)


def test_a_function_is_traced_by_many_at_once() -> None:
    """The first calls of a function that looks at a small array around it, which is found out while it is traced."""
    for i in range(10):
        steps = xp.asarray([2, 3])

        @xp.jit
        def f(x: Any, steps: Any = steps) -> Any:
            for _ in range(int(steps[0])):
                x = x * 2
            return x

        found: list[Any] = []
        run_together([lambda f=f, i=i, found=found: found.append(float(f(xp.asarray(float(i)))))] * 6)
        assert found == [4.0 * i] * 6


def test_a_function_is_called_by_many_in_different_states() -> None:

    class State:
        pass

    def make(number: int) -> Any:
        state = State()
        state.factor = number  # pyright: ignore[reportAttributeAccessIssue]
        return xp.jit(lambda x: x * state.factor)  # pyright: ignore[reportAttributeAccessIssue]

    shared = xp.jit(lambda x, factor: x * factor, static_argnums=1)
    own = [make(number) for number in range(8)]
    x = xp.asarray(np.ones(3))

    def work(number: int) -> None:
        for _ in range(10):
            assert float(own[number](x)[0]) == number
            assert float(shared(x, number)[1]) == number

    run_together([lambda n=n: work(n) for n in range(8)])


def test_equal_nodes_made_by_many_compute_alike() -> None:
    x = xp.asarray(np.arange(50.0))

    def work() -> None:
        for i in range(100):
            assert float((x[i % 50 :] * 1.5)[0]) == (i % 50) * 1.5

    run_together([work] * 6)


def test_the_switch_interval_is_what_it_was() -> None:
    assert sys.getswitchinterval() < 1e-4
