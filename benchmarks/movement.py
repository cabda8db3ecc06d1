"""Rows that put elements elsewhere: sorted, transposed, gathered, added where an index says."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import loops
from benchmarks.contest import OURS
from benchmarks.program import Array, Program, rows_of
from benchmarks.reductions import matrix

__all__ = ["PROGRAMS", "ROWS"]


def shuffled(rng: np.random.Generator, quick: bool) -> list[Array]:
    """All different, so that every right answer is the same."""
    return [rng.permutation(10_000 if quick else 1_000_000).astype(np.float32)]


def sums_by_place(rng: np.random.Generator, quick: bool) -> list[Array]:
    n, n_places = (10_000, 1_000) if quick else (1_000_000, 100_000)
    return [np.zeros(n_places), rng.integers(0, n_places, n), rng.standard_normal(n)]


def table_and_places(rng: np.random.Generator, quick: bool) -> list[Array]:
    n_rows, n = (1_000, 200) if quick else (50_000, 20_000)
    return [rng.standard_normal((n_rows, 64), np.float32), rng.integers(0, n_rows, n)]


def order(np_like: Any, x: Array) -> Array:
    return np_like.argsort(x)


def transposed(np_like: Any, x: Array) -> Array:
    return np_like.ascontiguousarray(x.T)


def scatter_add(np_like: Any, start: Array, where: Array, values: Array) -> Array:
    out = np_like.array(start)
    np_like.add.at(out, where, values)
    return out


def gathered(_: Any, table: Array, where: Array) -> Array:
    return table[where]


PROGRAMS = (
    Program(
        "argsort",
        "argsort, float32, 1e6",
        shuffled,
        order,
        rtol=0.0,
        numba=loops.order,
        torch=lambda torch, x: torch.argsort(x),
        rounds=7,
    ),
    Program(
        "transpose",
        "copy of the transpose, float32, 4096x1024",
        matrix(4096, 1024, "float32"),
        transposed,
        rtol=0.0,
        jax=lambda _, x: x.T,
        numba=loops.transposed,
        torch=lambda _, x: x.T.contiguous(),
        eager=(OURS,),  # from a compiled function it would be a view until somebody reads it
        moves=True,
        slopes=(0,),
    ),
    Program(
        "scatter-add",
        "out[where] += values, float64, 1e6 into 1e5",
        sums_by_place,
        scatter_add,
        rtol=1e-13,
        jax=lambda _, start, where, values: start.at[where].add(values),
        numba=loops.scatter_add,
        torch=lambda _, start, where, values: start.index_add(0, where, values),
        slopes=(0, 2),
    ),
    Program(
        "gather",
        "20000 rows of a table 50000x64, float32",
        table_and_places,
        gathered,
        rtol=0.0,
        numba=loops.rows_gathered,
        torch=gathered,
        slopes=(0,),
    ),
)
ROWS = rows_of("movement", PROGRAMS)
