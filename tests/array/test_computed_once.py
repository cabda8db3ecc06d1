"""What handles wait for is computed once, in whatever order they are read: as many operations as NumPy does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.live_memory import live_bytes
from uopc_core import plan_stats, walk
from uopc_core.interpret import immediate
from uopc_core.runtime import execute
from uopc_core.runtime.executors import Executor
from uopc_core.schedule.canonical import Canonical, canonicalise
from uopc_core.schedule.structure import Recognised
from uopc_core.tensor import Tensor


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes each computation so far was of."""
    sizes: list[int] = []
    run, run_again, evaluate_now = execute._run, execute._run_again, immediate.evaluate_now

    def counting_run(canonical: Canonical, executor: Executor) -> Any:
        sizes.append(len(canonical.order))
        return run(canonical, executor)

    def counting_run_again(known: Recognised, executor: Executor) -> Any:
        size = len(canonicalise(known.outputs).order)
        results = run_again(known, executor)
        sizes.extend([] if results is None else [size])
        return results

    def counting_evaluate(roots: Any) -> Any:
        sizes.append(len(walk(roots)))
        return evaluate_now(roots)

    monkeypatch.setattr(execute, "_run", counting_run)
    monkeypatch.setattr(execute, "_run_again", counting_run_again)
    monkeypatch.setattr(execute, "evaluate_now", counting_evaluate)
    return sizes


def is_computed(*arrays: xp.Array) -> bool:
    return all(x._uop.realized is not None for x in arrays)


def _sum_and_max(x: xp.Array) -> tuple[xp.Array, xp.Array]:
    temporary = xp.exp(x) + 1.0
    return xp.sum(temporary), xp.max(temporary)


def _views(x: xp.Array) -> tuple[xp.Array, xp.Array]:
    temporary = xp.exp(x) + 1.0
    return temporary[::2] * 2.0, temporary[1::2].sum()


def _in_steps(x: xp.Array) -> tuple[xp.Array, xp.Array, xp.Array]:
    first = xp.exp(x) + 1.0
    second = xp.sin(first) * 3.0
    return xp.sum(first), second * first, xp.min(second)


SHARED: dict[str, Callable[[xp.Array], tuple[xp.Array, ...]]] = {
    "sum and max": _sum_and_max,
    "views": _views,
    "in steps": _in_steps,
    "value and gradient": lambda x: xp.value_and_grad(lambda x: xp.sum(xp.exp(x) * x))(x),
}


@pytest.mark.parametrize("n", [3, 4000])
@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.parametrize("name", SHARED)
def test_who_waits_for_the_temporaries_of_another_is_computed_along(name: str, which: int, n: int) -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, n))
    results = SHARED[name](x)
    want = [np.asarray(result) for result in SHARED[name](x * 1.0)]
    np.asarray(results[which])
    assert is_computed(*results)
    for result, value in zip(results, want, strict=True):
        assert np.asarray(result).tobytes() == value.tobytes()


def test_who_waits_for_something_else_is_not_computed() -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, 4000))
    held = xp.exp(x)
    other, reading = xp.sin(x) * 2.0, held * 3.0
    float(xp.sum(held * 2.0))
    assert is_computed(held)
    assert not is_computed(other)
    assert not is_computed(reading)


def test_what_nobody_waits_for_is_not_computed(computed: list[int]) -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, 4000))
    total, largest = _sum_and_max(x)
    del largest
    float(total)
    alone = computed.pop()
    total, largest = _sum_and_max(x)
    float(total)
    assert computed.pop() == alone + 1
    assert is_computed(largest)


def _loss(w: xp.Array, b: xp.Array, x: xp.Array) -> xp.Array:
    return xp.mean(xp.tanh(x @ w + b) ** 2)


def _train(n: int, shape: tuple[int, int], read: str, after_step: Callable[[], object]) -> tuple[xp.Array, xp.Array]:
    draw = np.random.default_rng(3)
    w, b = xp.asarray(draw.standard_normal((shape[1], 8))), xp.zeros(8)
    for _ in range(n):
        x = xp.asarray(draw.standard_normal(shape))
        loss, (dw, db) = xp.value_and_grad(_loss, argnums=(0, 1))(w, b, x)
        if read == "before":
            float(loss)
        w = w - 1e-3 * dw
        b = b - 1e-3 * db
        if read == "after":
            float(loss)
        after_step()
    return w, b


@pytest.mark.parametrize("shape", [(2, 1), (300, 100)])
def test_a_training_loop_does_the_same_work_whether_it_reads_its_loss_before_or_after_the_update(
    computed: list[int], shape: tuple[int, int]
) -> None:
    work: dict[str, list[int]] = {"before": [], "after": []}
    for read, steps in work.items():
        _train(40, shape, read, lambda steps=steps: (steps.append(sum(computed)), computed.clear()))
        assert steps[4:] == 18 * steps[-2:]  # after an update every other step finds the parameters computed
    assert sum(work["after"]) <= 1.05 * sum(work["before"])


def test_a_training_loop_that_reads_its_loss_after_the_update_keeps_nothing_and_needs_one_plan() -> None:
    kept: list[int] = []
    plans: list[int] = []
    w, b = _train(30, (300, 100), "after", lambda: (kept.append(live_bytes()), plans.append(plan_stats()["made"])))
    assert len(set(kept[4:])) <= 2
    assert len(set(plans[4:])) == 1
    same = _train(30, (300, 100), "before", lambda: None)
    assert [np.asarray(x).tobytes() for x in same] == [np.asarray(x).tobytes() for x in (w, b)]


def test_where_very_many_wait_the_oldest_are_computed_first_and_no_temporary_is_kept() -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, 4000))
    start = live_bytes()
    sums: list[xp.Array] = []
    for _ in range(5 * execute.MAX_ALONG):
        x = x * 0.5
        sums.append(xp.sum(x))
    before = plan_stats()["made"]
    float(sums[-1])
    assert is_computed(*sums)
    assert plan_stats()["made"] - before <= 3
    assert live_bytes() - start < 3 * x.nbytes
    assert float(sums[3]) == float(np.sum(np.linspace(0.0, 1.0, 4000))) / 16


def test_an_error_of_what_is_computed_along_is_told_to_who_asks_for_that() -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, 4000))

    def results() -> tuple[xp.Array, xp.Array]:
        places = xp.astype(x * 0 + 4000, xp.int64)
        return xp.sum(places), xp.take(x, places)

    total, taken = results()
    assert float(total) == 4000.0 * 4000
    with pytest.raises(IndexError, match="index 4000 is out of bounds"):
        np.asarray(taken)


def test_an_error_of_what_is_computed_along_is_told_to_who_asks_for_that_where_the_structure_is_known() -> None:
    x = xp.asarray(np.linspace(0.0, 1.0, 4000))

    def results(place: float) -> tuple[xp.Array, xp.Array]:
        places = xp.astype(x * 0 + place, xp.int64)
        return xp.sum(places), xp.take(x, places)

    with xp.context(at_once=0, tier="compile"):
        for place in (17.0, 18.0, 19.0, 20.0, 21.0):
            total, taken = results(place)
            assert float(total) == place * 4000
            assert is_computed(taken)
        total, taken = results(4000.0)
        assert float(total) == 4000.0 * 4000
        with pytest.raises(IndexError, match="index 4000 is out of bounds"):
            np.asarray(taken)


def test_a_tensor_is_computed_along_as_well() -> None:
    temporary = (Tensor(np.linspace(0, 1, 4000)) * 2).exp()
    total, largest = temporary.sum(), temporary.max()
    del temporary
    total.item()
    assert largest.uop.realized is not None
