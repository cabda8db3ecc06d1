"""Rows of products: matrices of all forms, windows, and what is solved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import loops
from benchmarks.contest import OURS, installed
from benchmarks.program import Array, Inputs, Program, rows_of

__all__ = ["PROGRAMS", "ROWS"]

NUMBER_OF_POINTS = 32  # on the contour


def normal(dtype: str, *shapes: tuple[int, ...], small: Sequence[tuple[int, ...]] = ()) -> Inputs:
    """Arrays of normal numbers of these shapes, or of the small ones."""

    def draw(rng: np.random.Generator, quick: bool) -> list[Array]:
        return [rng.standard_normal(shape).astype(dtype) for shape in ((small or shapes) if quick else shapes)]

    return draw


def product(_: Any, x: Array, y: Array) -> Array:
    return x @ y


def operations_of_product(x: Array, y: Array) -> float:
    return 2.0 * x.size * (y.shape[1] if y.ndim == 2 and x.ndim == 2 else y.size // x.shape[-1] if x.ndim == 1 else 1)


def scores(np_like: Any, queries: Array, keys: Array) -> Array:
    """Of attention."""
    return np_like.einsum("bhqd,bhkd->bhqk", queries, keys)


def atax(_: Any, matrix: Array, x: Array) -> Array:
    return (matrix @ x) @ matrix


def bicg(_: Any, matrix: Array, p: Array, r: Array) -> tuple[Array, Array]:
    return r @ matrix, matrix @ p


def windows_filtered(_: Any, x: Array, weights: Array) -> Array:
    n_rows, n_columns = weights.shape
    rows, columns = x.shape[0] - n_rows + 1, x.shape[1] - n_columns + 1
    total = x[:rows, :columns] * weights[0, 0]
    for i in range(n_rows):
        for j in range(n_columns):
            if i or j:
                total = total + x[i : i + rows, j : j + columns] * weights[i, j]
    return total


def windows_by_jax(_: Any, x: Array, weights: Array) -> Array:
    return installed("jax").lax.conv(x[None, None], weights[None, None], (1, 1), "VALID")[0, 0]


def projected(np_like: Any, matrix: Array, start: Array) -> tuple[Array, Array]:
    """Two moments of a resolvent along a circle, as in eigensolvers by contour integrals."""
    unit = np_like.eye(matrix.shape[0])
    zeroth = np_like.zeros(start.shape, dtype=np_like.complex128)
    first = np_like.zeros(start.shape, dtype=np_like.complex128)
    for k in range(NUMBER_OF_POINTS):
        z = 2.0 * np.exp(2j * np.pi * (k + 0.5) / NUMBER_OF_POINTS)
        solved = np_like.linalg.solve(z * unit - matrix, start) * (z / NUMBER_OF_POINTS)
        zeroth = zeroth + solved
        first = first + z * solved
    return zeroth, first


PROGRAMS = (
    *[
        Program(
            f"matmul-64-{short}",
            f"64x64 @ 64x64, {dtype}",
            normal(dtype, (64, 64), (64, 64)),
            product,
            rtol=1e-5 if short == "f32" else 1e-13,
            torch=product,
            operations=operations_of_product,
            rounds=41,
            slopes=(0, 1),
        )
        for short, dtype in (("f32", "float32"), ("f64", "float64"))
    ],
    Program(
        "skinny",
        "8x4096 @ 4096x4096, float32",
        normal("float32", (8, 4096), (4096, 4096), small=((8, 256), (256, 256))),
        product,
        rtol=1e-4,
        torch=product,
        operations=operations_of_product,
        moves=True,
        slopes=(0, 1),
    ),
    Program(
        "vecmat",
        "vector @ matrix, float64, 4096",
        normal("float64", (4096,), (4096, 4096), small=((256,), (256, 256))),
        product,
        rtol=1e-11,
        torch=product,
        operations=operations_of_product,
        moves=True,
        slopes=(0, 1),
    ),
    Program(
        "matvec",
        "matrix @ vector, float32, 1024",
        normal("float32", (1024, 1024), (1024,), small=((256, 256), (256,))),
        product,
        rtol=1e-4,
        torch=product,
        operations=operations_of_product,
        moves=True,
        slopes=(0, 1),
    ),
    Program(
        "einsum",
        "einsum bhqd,bhkd->bhqk, float32, 4x8x128x64",
        normal("float32", (4, 8, 128, 64), (4, 8, 128, 64), small=((2, 2, 16, 8), (2, 2, 16, 8))),
        scores,
        rtol=1e-5,
        torch=lambda torch, queries, keys: torch.einsum("bhqd,bhkd->bhqk", queries, keys),
        operations=lambda queries, keys: 2.0 * queries.size * keys.shape[2],
        slopes=(0, 1),
    ),
    Program(
        "atax",
        "A.T @ (A @ x), float64, 4000x5000",
        normal("float64", (4000, 5000), (5000,), small=((100, 120), (120,))),
        atax,
        rtol=1e-11,
        torch=atax,
        operations=lambda matrix, _: 4.0 * matrix.size,
        slopes=(0, 1),
    ),
    Program(
        "bicg",
        "r @ A and A @ p, float64, 5000x4000",
        normal("float64", (5000, 4000), (4000,), (5000,), small=((120, 100), (100,), (120,))),
        bicg,
        rtol=1e-11,
        torch=bicg,
        operations=lambda matrix, *_: 4.0 * matrix.size,
    ),
    Program(
        "windows",
        "5x5 filter by windows, float32, 1024x1024",
        normal("float32", (1024, 1024), (5, 5), small=((64, 64), (5, 5))),
        windows_filtered,
        rtol=1e-4,
        jax=windows_by_jax,
        numba=loops.windows_filtered,
        torch=lambda torch, x, weights: torch.nn.functional.conv2d(x[None, None], weights[None, None])[0, 0],
        slopes=(0, 1),
    ),
    Program(
        "contour",
        "contour integral of a resolvent, eager, float64, 100x100, 32 points",
        normal("float64", (100, 100), (100, 100), small=((20, 20), (20, 20))),
        projected,
        rtol=1e-9,
        jax=projected,
        eager=(OURS, "jax", "torch"),
    ),
)
ROWS = rows_of("products", PROGRAMS)
