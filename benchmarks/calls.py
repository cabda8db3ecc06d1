"""Rows of overhead: what a call of a compiled function costs when there is next to nothing to compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Contest, Row, Times, installed, measure

__all__ = ["ROWS"]


def add_one(_: Any, x: Any) -> Any:
    return x + 1


def ten_operations(np_like: Any, x: Any) -> Any:
    y = np_like.exp(x * 0.5) + 1
    y = np_like.sin(y) * x - y
    y = np_like.sqrt(np_like.abs(y)) + x
    return y * y


def _calls(f: Callable[[Any, Any], Any], n: int) -> Mapping[str, Times]:
    x = np.linspace(0.1, 1.0, n)
    compiled, ours = xp.jit(lambda a: f(xp, a)), xp.asarray(x)
    runs: dict[str, Callable[[], Any]] = {"numpy": lambda: f(np, x), OURS: lambda: compiled(ours)}
    if (jax := installed("jax")) is not None:
        theirs, moved = jax.jit(lambda a: f(jax.numpy, a)), jax.numpy.asarray(x)
        runs["jax"] = lambda: theirs(moved).block_until_ready()
    return measure(Contest(runs, rtol=1e-12, rounds=41))


ROWS = (
    Row("call-1", "jit call of x + 1 on one element", {"jax": 1.0}, lambda _: _calls(add_one, 1), subject="calls"),
    Row(
        "call-10",
        "jit call of 10 operations on 10 elements",
        {"jax": 1.0},
        lambda _: _calls(ten_operations, 10),
        subject="calls",
    ),
)
