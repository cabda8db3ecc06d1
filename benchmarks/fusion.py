"""Rows that stand for fusion: an elementwise expression, softmax, pairwise distances, a stencil by slicing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Contest, Row, Times, installed, measure

__all__ = ["ROWS"]

Array = Any
Runs = dict[str, Callable[[], Any]]


def in_memory(x: Array) -> Array:
    """Have our lazy array computed, without copying it; what `jit` returns is computed."""
    return x.to_numpy(copy=False)


def _jitted_by_jax(runs: Runs, f: Callable[..., Any], *arrays: Array) -> None:
    """Add JAX to `runs`, where it is installed; `f` takes the namespace first."""
    jax = installed("jax")
    if jax is None:
        return
    compiled = jax.jit(lambda *xs: f(jax.numpy, *xs))
    moved = [jax.numpy.asarray(x) for x in arrays]
    runs["jax"] = lambda: compiled(*moved).block_until_ready()


# ------------------------------------------------------------------------------------------------------ relu(a * b + c)


def relu_of_product(np_like: Any, a: Array, b: Array, c: Array) -> Array:
    return np_like.maximum(a * b + c, 0)


def _relu(quick: bool) -> Mapping[str, Times]:
    n = 100_000 if quick else 10_000_000
    rng = np.random.default_rng(0)
    a, b, c = [rng.standard_normal(n, np.float32) for _ in range(3)]
    ours = [xp.asarray(x) for x in (a, b, c)]
    runs: Runs = {
        "numpy": lambda: relu_of_product(np, a, b, c),
        OURS: lambda: in_memory(relu_of_product(xp, *ours)),
    }
    _jitted_by_jax(runs, relu_of_product, a, b, c)
    if (numexpr := installed("numexpr")) is not None:
        runs["numexpr"] = lambda: numexpr.evaluate("where(a * b + c > 0, a * b + c, 0)", {"a": a, "b": b, "c": c})
    if (torch := installed("torch")) is not None:
        theirs = [torch.from_numpy(x) for x in (a, b, c)]
        runs["torch"] = lambda: torch.relu(theirs[0] * theirs[1] + theirs[2]).numpy()
    return measure(Contest(runs, rtol=1e-6))


# -------------------------------------------------------------------------------------------------------------- softmax


def softmax(np_like: Any, x: Array) -> Array:
    e = np_like.exp(x - np_like.max(x, axis=-1, keepdims=True))
    return e / np_like.sum(e, axis=-1, keepdims=True)


def _softmax(quick: bool) -> Mapping[str, Times]:
    x = np.random.default_rng(0).standard_normal((256, 256) if quick else (4096, 1024), np.float32)
    ours = xp.asarray(x)
    runs: Runs = {"numpy": lambda: softmax(np, x), OURS: lambda: in_memory(softmax(xp, ours))}
    _jitted_by_jax(runs, softmax, x)
    if (torch := installed("torch")) is not None:
        theirs = torch.from_numpy(x)
        runs["torch"] = lambda: torch.softmax(theirs, -1).numpy()
    return measure(Contest(runs, rtol=1e-5))


# --------------------------------------------------------------------------------------------------- pairwise distances


def distances(np_like: Any, x: Array) -> Array:
    difference = x[:, None, :] - x[None, :, :]
    return np_like.sqrt(np_like.sum(difference * difference, axis=-1))


def distances_by_loops(x: Array) -> Array:
    n, dimensions = x.shape
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(dimensions):
                d = x[i, k] - x[j, k]
                total += d * d
            out[i, j] = np.sqrt(total)
    return out


def _pairwise(quick: bool) -> Mapping[str, Times]:
    x = np.random.default_rng(0).standard_normal((100 if quick else 1000, 3))
    ours = xp.asarray(x)
    runs: Runs = {"numpy": lambda: distances(np, x), OURS: lambda: in_memory(distances(xp, ours))}
    _jitted_by_jax(runs, distances, x)
    if (numba := installed("numba")) is not None:
        loops = numba.njit(distances_by_loops)
        runs["numba"] = lambda: loops(x)
    return measure(Contest(runs, rtol=1e-14))


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
    runs: Runs = {"numpy": lambda: _heat_by_numpy(start, n_steps), OURS: _heat_by_us(start, n_steps)}
    if (jax := installed("jax")) is not None:
        runs["jax"] = _heat_by_jax(jax, start, n_steps)
    if (numba := installed("numba")) is not None:
        runs["numba"] = _heat_by_numba(numba, start, n_steps)
    return measure(Contest(runs, rtol=1e-13, rounds=3))


ROWS = (
    Row("relu", "relu(a*b+c), float32, 1e7", {"numpy": 2.0, "jax": 1.0}, _relu),
    Row("softmax", "softmax, float32, 4096x1024, last axis", {"numpy": 3.0}, _softmax),
    Row("pairwise", "pairwise distances, float64, 1000x1000x3", {"numpy": 8.0}, _pairwise),
    Row("heat", "heat 2-D by slicing, float64, 2000x2000, 50 steps", {"numpy": 5.0}, _heat),
)
