"""Rows of reductions: along the first axis, the last one and over all, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import loops
from benchmarks.program import Array, Inputs, Program, rows_of

__all__ = ["PROGRAMS", "ROWS", "matrix"]


def matrix(rows: int, columns: int, dtype: str) -> Inputs:
    """A matrix of normal numbers; an eighth of the extents where it is to be small."""

    def draw(rng: np.random.Generator, quick: bool) -> list[Array]:
        shape = (max(rows // 8, 1), max(columns // 8, 1)) if quick else (rows, columns)
        return [rng.standard_normal(shape).astype(dtype)]

    return draw


def total(np_like: Any, x: Array) -> Array:
    return np_like.sum(x)


def total_of_columns(np_like: Any, x: Array) -> Array:
    return np_like.sum(x, axis=0)


def variance_of_columns(np_like: Any, x: Array) -> Array:
    return np_like.var(x, axis=0)


def place_of_largest(np_like: Any, x: Array) -> Array:
    return np_like.argmax(x, axis=1)


def logsumexp(np_like: Any, x: Array) -> Array:
    top = np_like.max(x, axis=-1, keepdims=True)
    return np_like.log(np_like.sum(np_like.exp(x - top), axis=-1)) + top[:, 0]


def softmax_of_columns(np_like: Any, x: Array) -> Array:
    e = np_like.exp(x - np_like.max(x, axis=0))
    return e / np_like.sum(e, axis=0)


def layernorm(np_like: Any, x: Array, scale: Array, shift: Array) -> Array:
    mean = np_like.mean(x, axis=-1, keepdims=True)
    variance = np_like.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) / np_like.sqrt(variance + 1e-5) * scale + shift


def rows_and_scales(rng: np.random.Generator, quick: bool) -> list[Array]:
    x = matrix(4096, 1024, "float32")(rng, quick)[0]
    return [x, *[rng.standard_normal(x.shape[1]).astype(np.float32) for _ in range(2)]]


def _sums(short: str, dtype: str) -> list[Program]:
    def draw(rng: np.random.Generator, quick: bool) -> list[Array]:
        """Of one sign: nothing cancels, so that sums may be compared."""
        return [rng.random((512, 512) if quick else (4096, 4096)).astype(dtype)]

    is_single = dtype == "float32"
    rtol = 1e-4 if is_single else 1e-11
    return [
        Program(
            f"sum-all-{short}",
            f"sum over all, {dtype}, 4096x4096",
            draw,
            total,
            rtol=rtol,
            numba=loops.sum_of_all,
            numexpr="" if is_single else "sum(x0)",  # float32 it adds up with an error of a percent
            torch=lambda torch, x: torch.sum(x),
            moves=True,
            slopes=(0,),
        ),
        Program(
            f"sum-axis0-{short}",
            f"sum over axis 0, {dtype}, 4096x4096",
            draw,
            total_of_columns,
            rtol=rtol,
            numba=loops.sum_of_columns,
            torch=lambda torch, x: torch.sum(x, 0),
            moves=True,
            slopes=(0,),
        ),
    ]


PROGRAMS = (
    *_sums("f32", "float32"),
    *_sums("f64", "float64"),
    Program(
        "var-axis0",
        "variance over axis 0, float32, 4096x1024",
        matrix(4096, 1024, "float32"),
        variance_of_columns,
        rtol=1e-4,
        numba=loops.variance_of_columns,
        torch=lambda torch, x: torch.var(x, 0, unbiased=False),
        moves=True,
        slopes=(0,),
    ),
    Program(
        "argmax",
        "argmax over axis 1, float32, 4096x1024",
        matrix(4096, 1024, "float32"),
        place_of_largest,
        rtol=0.0,
        numba=loops.argmax_of_rows,
        torch=lambda torch, x: torch.argmax(x, 1),
        moves=True,
    ),
    Program(
        "logsumexp",
        "logsumexp, float32, 4096x1024, last axis",
        matrix(4096, 1024, "float32"),
        logsumexp,
        rtol=1e-5,
        numba=loops.logsumexp_of_rows,
        torch=lambda torch, x: torch.logsumexp(x, -1),
        moves=True,
        slopes=(0,),
    ),
    Program(
        "softmax-axis0",
        "softmax, float32, 4096x1024, first axis",
        matrix(4096, 1024, "float32"),
        softmax_of_columns,
        rtol=1e-5,
        numba=loops.softmax_of_columns,
        torch=lambda torch, x: torch.softmax(x, 0),
        moves=True,
        slopes=(0,),
    ),
    Program(
        "layernorm",
        "layernorm, float32, 4096x1024",
        rows_and_scales,
        layernorm,
        rtol=1e-4,
        numba=loops.layernorm,
        torch=lambda torch, x, scale, shift: torch.nn.functional.layer_norm(x, x.shape[1:], scale, shift),
        moves=True,
        slopes=(0, 1, 2),
    ),
)
ROWS = rows_of("reductions", PROGRAMS)
