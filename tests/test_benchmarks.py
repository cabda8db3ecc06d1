"""The machinery of the benchmarks; the times themselves stand in no test."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.contest import OURS, Contest, Disagreement, Times, installed, measure
from benchmarks.environment import READY, describe, measuring_environment


def test_results_that_differ_are_no_times() -> None:
    runs: dict[str, Callable[[], Any]] = {"numpy": lambda: np.ones(3), OURS: lambda: np.array([1, 1, 1.001])}
    with pytest.raises(Disagreement, match=r"uopc_array is off numpy by 0\.001"):
        measure(Contest(runs, rtol=1e-6))


def test_a_nan_is_a_difference() -> None:
    runs: dict[str, Callable[[], Any]] = {"numpy": lambda: np.ones(1), OURS: lambda: np.array([np.nan])}
    with pytest.raises(Disagreement, match="off numpy by nan"):
        measure(Contest(runs, rtol=1e-6))


def test_other_shapes_are_a_difference() -> None:
    runs: dict[str, Callable[[], Any]] = {"numpy": lambda: [np.ones(3)], OURS: lambda: [np.ones((3, 1))]}
    with pytest.raises(Disagreement, match="uopc_array gives other shapes than numpy"):
        measure(Contest(runs, rtol=1e-6))


def test_libraries_take_turns() -> None:
    turns: list[str] = []

    def contestant(name: str) -> Callable[[], Any]:
        def run() -> Any:
            turns.append(name)
            return np.zeros(2)

        return run

    times = measure(Contest({name: contestant(name) for name in "ab"}, rtol=0.0, rounds=4))
    assert [len(t.samples_s) for t in times.values()] == [4, 4]
    collapsed = "".join(name for i, name in enumerate(turns) if not i or turns[i - 1] != name)
    assert collapsed.endswith("abababab")


def test_times_are_summed_up() -> None:
    times = Times((3.0, 1.0, 2.0))
    assert times.median_s == 2.0
    assert times.best_s == 1.0


def test_the_measuring_process_has_one_thread_and_no_pinned_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    environment = measuring_environment()
    assert "OPENBLAS_CORETYPE" not in environment
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment[READY] == "1"
    assert os.environ["OPENBLAS_CORETYPE"] == "Haswell"


def test_missing_libraries_are_left_out() -> None:
    assert installed("no_such_library") is None
    assert describe()["numpy"] == np.__version__
