"""Rows that stand for fusion: an elementwise expression, softmax, pairwise distances, a stencil by slicing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Contest, Row, Times, installed, measure
from benchmarks.loops import prange
from benchmarks.program import Program, rows_of
from benchmarks.reductions import matrix

__all__ = ["PROGRAMS", "ROWS", "softmax"]

Array = Any


def three_arrays(rng: np.random.Generator, quick: bool) -> list[Array]:
    return [rng.standard_normal(100_000 if quick else 10_000_000, np.float32) for _ in range(3)]


def relu_of_product(np_like: Any, a: Array, b: Array, c: Array) -> Array:
    return np_like.maximum(a * b + c, 0)


def relu_by_loop(a: Array, b: Array, c: Array) -> Array:
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = max(a[i] * b[i] + c[i], np.float32(0))
    return out


def softmax(np_like: Any, x: Array) -> Array:
    e = np_like.exp(x - np_like.max(x, axis=-1, keepdims=True))
    return e / np_like.sum(e, axis=-1, keepdims=True)


def points(rng: np.random.Generator, quick: bool) -> list[Array]:
    return [rng.standard_normal((100 if quick else 1000, 3))]


def distances(np_like: Any, x: Array) -> Array:
    difference = x[:, None, :] - x[None, :, :]
    return np_like.sqrt(np_like.sum(difference * difference, axis=-1))


def distances_by_loops(x: Array) -> Array:
    n, dimensions = x.shape
    out = np.empty((n, n))
    for i in prange(n):
        for j in range(n):
            total = 0.0
            for k in range(dimensions):
                d = x[i, k] - x[j, k]
                total += d * d
            out[i, j] = np.sqrt(total)
    return out


# --------------------------------------------------------------------------------------------------- the heat equation

DIFFUSION = 0.1


def heat_step(u: Array) -> Array:
    """One explicit step in place, as one writes it with slices; the border stays as it is."""
    u[1:-1, 1:-1] = u[1:-1, 1:-1] + DIFFUSION * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )
    return u


def heat_step_by_loops(u: Array, out: Array) -> None:
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            around = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
            out[i, j] = u[i, j] + DIFFUSION * (around - 4 * u[i, j])


def _heat_by_numpy(start: Array, n_steps: int) -> Array:
    u = start.copy()
    for _ in range(n_steps):
        heat_step(u)
    return u


def _heat_by_us(start: Array, n_steps: int) -> Callable[[], Array]:
    step = xp.jit(heat_step)
    first = xp.asarray(start)

    def run() -> Array:
        u = first
        for _ in range(n_steps):
            u = step(u)
        return u

    return run


def _heat_by_jax(jax: Any, start: Array, n_steps: int) -> Callable[[], Array]:
    @jax.jit
    def step(u: Array) -> Array:
        middle = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].set(middle + DIFFUSION * (around - 4 * middle))

    first = jax.numpy.asarray(start)

    def run() -> Array:
        u = first
        for _ in range(n_steps):
            u = step(u)
        return u.block_until_ready()

    return run


def _heat_by_numba(numba: Any, start: Array, n_steps: int) -> Callable[[], Array]:
    step = numba.njit(heat_step_by_loops)

    def run() -> Array:
        u, out = start.copy(), start.copy()
        for _ in range(n_steps):
            step(u, out)
            u, out = out, u
        return u

    return run


def _heat(quick: bool) -> Mapping[str, Times]:
    n, n_steps = (200, 10) if quick else (2000, 50)
    start = np.random.default_rng(0).standard_normal((n, n))
    runs: dict[str, Callable[[], Any]] = {
        "numpy": lambda: _heat_by_numpy(start, n_steps),
        OURS: _heat_by_us(start, n_steps),
    }
    if (jax := installed("jax")) is not None:
        runs["jax"] = _heat_by_jax(jax, start, n_steps)
    if (numba := installed("numba")) is not None:
        runs["numba"] = _heat_by_numba(numba, start, n_steps)
    return measure(Contest(runs, rtol=1e-13, rounds=3))


PROGRAMS = (
    Program(
        "relu",
        "relu(a*b+c), float32, 1e7",
        three_arrays,
        relu_of_product,
        rtol=1e-6,
        numba=relu_by_loop,
        numexpr="where(x0 * x1 + x2 > 0, x0 * x1 + x2, 0)",
        torch=lambda torch, a, b, c: torch.relu(a * b + c),
        eager=(OURS,),
        moves=True,
        to_reach={"numpy": 2.0, "best": 1.0},
        slopes=(0, 1, 2),
    ),
    Program(
        "softmax",
        "softmax, float32, 4096x1024, last axis",
        matrix(4096, 1024, "float32"),
        softmax,
        rtol=1e-5,
        torch=lambda torch, x: torch.softmax(x, -1),
        eager=(OURS,),
        moves=True,
        to_reach={"numpy": 3.0, "best": 1.0},
        slopes=(0,),
    ),
    Program(
        "pairwise",
        "pairwise distances, float64, 1000x1000x3",
        points,
        distances,
        rtol=1e-14,
        numba=distances_by_loops,
        torch=lambda torch, x: torch.linalg.vector_norm(x[:, None, :] - x[None, :, :], dim=-1),
        eager=(OURS,),
        moves=True,
        to_reach={"numpy": 8.0, "best": 1.0},
    ),
)
ROWS = (
    *rows_of("fusion", PROGRAMS),
    Row(
        "heat",
        "heat 2-D by slicing, float64, 2000x2000, 50 steps",
        {"numpy": 5.0, "best": 1.0},
        _heat,
        subject="fusion",
    ),
)
