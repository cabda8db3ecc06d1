"""Rows of small arrays, computed eagerly: a statement, a stencil written in place, an item and a question about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Contest, Row, Times, installed, measure

__all__ = ["ROWS"]

SUBJECT = "small arrays, eager"
MANY = 100  # statements on one array, or items, that are timed as one


def _statement(n: int) -> Mapping[str, Times]:
    x, y = np.linspace(0.1, 1.0, n), np.linspace(1.0, 2.0, n)

    def run(a: Any, b: Any) -> Any:
        return a * b + a * 2.0 - b

    ours = xp.asarray(x), xp.asarray(y)
    runs: dict[str, Callable[[], Any]] = {"numpy": lambda: run(x, y), OURS: lambda: run(*ours)}
    if (jax := installed("jax")) is not None:
        theirs = jax.numpy.asarray(x), jax.numpy.asarray(y)
        runs["jax"] = lambda: run(*theirs).block_until_ready()
    return measure(Contest(runs, rtol=1e-12, rounds=41))


def _stencil(n: int) -> Mapping[str, Times]:
    start = np.linspace(0.0, 1.0, n)

    def smoothed(make: Callable[[Any], Any]) -> Callable[[], Any]:
        def run() -> Any:
            a = make(start)
            for _ in range(MANY):
                a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
            return a

        return run

    return measure(Contest({"numpy": smoothed(np.array), OURS: smoothed(xp.asarray)}, rtol=1e-12, rounds=41))


def _items(_: bool) -> Mapping[str, Times]:
    x = np.linspace(0.0, 1.0, 10)
    ours = xp.asarray(x)

    def counted(a: Any) -> Callable[[], Any]:
        return lambda: sum(1 for i in range(MANY) if a[i % 10] > 0.5)

    return measure(Contest({"numpy": counted(x), OURS: counted(ours)}, rtol=0.0, rounds=41))


def _rows(n: int) -> tuple[Row, Row]:
    return (
        Row(
            f"small-{n}",
            f"eager a * b + a * 2 - b, {n} elements",
            {"numpy": 0.4},
            lambda _: _statement(n),
            subject=SUBJECT,
        ),
        Row(
            f"stencil-{n}",
            f"eager a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3, {n} elements, {MANY} times",
            {"numpy": 0.33},
            lambda _: _stencil(n),
            subject=SUBJECT,
        ),
    )


ROWS = (
    *[row for n in (10, 1000, 10_000) for row in _rows(n)],
    Row("items", f"a[i] > 0.5 of 10 elements, {MANY} times", {"numpy": 0.1}, _items, subject=SUBJECT),
)
