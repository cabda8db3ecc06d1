"""Rows of single functions and long expressions of elements, and of numbers drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import loops
from benchmarks.contest import OURS, installed
from benchmarks.program import Array, Inputs, Program, erf, rows_of

__all__ = ["PROGRAMS", "ROWS"]

SINGLE, DOUBLE = 2e-6, 1e-14  # to which functions of elements agree
MILLION = 1_000_000


def uniform(low: float, high: float, dtype: str, *, n: int = MILLION, count: int = 1) -> Inputs:
    """Arrays of one extent, evenly spread."""

    def draw(rng: np.random.Generator, quick: bool) -> list[Array]:
        return [rng.uniform(low, high, 10_000 if quick else n).astype(dtype) for _ in range(count)]

    return draw


def gelu(np_like: Any, x: Array) -> Array:
    return 0.5 * x * (1 + np_like.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


# ------------------------------------------------------------------------------------------- prices of options

RATE, DEVIATION = 0.02, 0.3


def options(rng: np.random.Generator, quick: bool) -> list[Array]:
    n = 10_000 if quick else MILLION
    return [rng.uniform(low, high, n) for low, high in ((10, 50), (10, 50), (1, 2))]


def black_scholes(np_like: Any, spot: Array, strike: Array, years: Array) -> tuple[Array, Array]:
    """Prices of European calls and puts by the formula of Black and Scholes (1973)."""
    spread = DEVIATION * np_like.sqrt(years)
    d1 = (np_like.log(spot / strike) + (RATE + DEVIATION**2 / 2) * years) / spread
    d2 = d1 - spread
    paid = strike * np_like.exp(-RATE * years)
    call = spot * 0.5 * (1 + erf(np_like, d1 / 2**0.5)) - paid * 0.5 * (1 + erf(np_like, d2 / 2**0.5))
    return call, call - spot + paid


def black_scholes_by_torch(torch: Any, spot: Array, strike: Array, years: Array) -> tuple[Array, Array]:
    spread = DEVIATION * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (RATE + DEVIATION**2 / 2) * years) / spread
    d2 = d1 - spread
    paid = strike * torch.exp(-RATE * years)
    call = spot * 0.5 * (1 + torch.erf(d1 / 2**0.5)) - paid * 0.5 * (1 + torch.erf(d2 / 2**0.5))
    return call, call - spot + paid


# ------------------------------------------------------------------------------------ an equation of state of water


def sea_water(rng: np.random.Generator, quick: bool) -> list[Array]:
    shape = (20, 20, 5) if quick else (204, 204, 26)
    return [
        rng.uniform(0.01, 40, shape),
        rng.uniform(-2, 30, shape),
        rng.uniform(0, 5000, (1, 1, shape[-1])),
    ]


def density(np_like: Any, s: Array, t: Array, p: Array) -> Array:
    """Density by salt, temperature and pressure: polynomials after UNESCO's EOS-80, rounded, a root and quotients."""
    root, bar = np_like.sqrt(s), p * 0.1
    top = 999.8 + t * (6.8e-2 + t * (-9.1e-3 + t * (1.0e-4 + t * -1.1e-6)))
    top = top + s * (0.82 + t * (-4.1e-3 + t * 7.6e-5) + root * (-5.7e-3 + t * (1.0e-4 + t * -1.6e-6)) + s * 4.8e-4)
    stiff = 19652.2 + t * (148.4 + t * (-2.33 + t * (1.36e-2 + t * -5.2e-5)))
    stiff = stiff + s * (54.7 + t * (-0.6 + t * (1.1e-2 + t * -6.2e-5)) + root * (7.9e-2 + t * (1.6e-2 + t * -5.3e-4)))
    linear = 3.24 + t * (1.4e-3 + t * (1.2e-4 + t * -5.8e-7)) + s * (2.3e-3 + t * (-1.1e-5 + t * -1.6e-6))
    linear = linear + 1.9e-4 * s * root
    square = 8.5e-5 + t * (-6.1e-6 + t * 5.3e-8) + s * (-9.9e-7 + t * (2.1e-8 + t * 9.2e-10))
    return top / (1 - bar / (stiff + bar * (linear + bar * square)))


DENSITY_BY_NUMEXPR = (
    "(999.8 + x1 * (6.8e-2 + x1 * (-9.1e-3 + x1 * (1.0e-4 + x1 * -1.1e-6)))"
    " + x0 * (0.82 + x1 * (-4.1e-3 + x1 * 7.6e-5) + sqrt(x0) * (-5.7e-3 + x1 * (1.0e-4 + x1 * -1.6e-6)) + x0 * 4.8e-4))"
    " / (1 - x2 * 0.1 / (19652.2 + x1 * (148.4 + x1 * (-2.33 + x1 * (1.36e-2 + x1 * -5.2e-5)))"
    " + x0 * (54.7 + x1 * (-0.6 + x1 * (1.1e-2 + x1 * -6.2e-5)) + sqrt(x0) * (7.9e-2 + x1 * (1.6e-2 + x1 * -5.3e-4)))"
    " + x2 * 0.1 * (3.24 + x1 * (1.4e-3 + x1 * (1.2e-4 + x1 * -5.8e-7)) + x0 * (2.3e-3 + x1 * (-1.1e-5 + x1 * -1.6e-6))"
    " + 1.9e-4 * x0 * sqrt(x0)"
    " + x2 * 0.1 * (8.5e-5 + x1 * (-6.1e-6 + x1 * 5.3e-8) + x0 * (-9.9e-7 + x1 * (2.1e-8 + x1 * 9.2e-10))))))"
)

# ------------------------------------------------------------------------------------------------- numbers drawn


def how_many(_: np.random.Generator, quick: bool) -> list[Array]:
    return [np.empty(100_000 if quick else 10_000_000, np.float32)]


def normal(np_like: Any, like: Array) -> Array:
    """The same draw each time, of a generator that is made anew, as is JAX's way with a key."""
    return np_like.random.default_rng(0).standard_normal(like.shape, np.float32)


def normal_by_jax(_: Any, like: Array) -> Array:
    random = installed("jax").random
    return random.normal(random.key(0), like.shape, np.float32)


def moments(x: Array) -> Array:
    """What draws of different generators have in common."""
    values = np.asarray(x)
    return np.array([1 + values.mean(dtype=np.float64), values.std(dtype=np.float64), np.mean(np.abs(values) < 1)])


PROGRAMS = (
    *[
        Program(
            f"{name}-{short}",
            f"{name}, {dtype}, 1e6",
            uniform(low, high, dtype),
            lambda np_like, x, name=name: getattr(np_like, name)(x),
            rtol=SINGLE if short == "f32" else DOUBLE,
            numba=loop,
            numexpr=f"{name}(x0)",
            torch=lambda torch, x, name=name: getattr(torch, name)(x),
            moves=True,
            slopes=(0,),
        )
        for name, loop, low, high in (
            ("tanh", loops.tanh_of_all, -5, 5),
            ("log", loops.log_of_all, 1e-3, 1e3),
            ("sin", loops.sin_of_all, -10, 10),
        )
        for short, dtype in (("f32", "float32"), ("f64", "float64"))
    ],
    *[
        Program(
            f"pow-{short}",
            f"x ** y, {dtype}, 1e6",
            uniform(0.5, 3, dtype, count=2),
            lambda _, x, y: x**y,
            rtol=SINGLE if short == "f32" else DOUBLE,
            numba=loops.pow_of_all,
            numexpr="x0 ** x1",
            torch=lambda _, x, y: x**y,
            moves=True,
            slopes=(0, 1),
        )
        for short, dtype in (("f32", "float32"), ("f64", "float64"))
    ],
    *[
        Program(
            f"erf-{short}",
            f"erf, {dtype}, 1e6",
            uniform(-3, 3, dtype),
            erf,
            rtol=SINGLE if short == "f32" else DOUBLE,
            numba=loops.erf_of_all,
            torch=lambda torch, x: torch.erf(x),
            moves=True,
            slopes=(0,),
        )
        for short, dtype in (("f32", "float32"), ("f64", "float64"))
    ],
    Program(
        "gelu",
        "gelu by tanh, float32, 4e6",
        uniform(-4, 4, "float32", n=4 * MILLION),
        gelu,
        rtol=1e-5,
        numba=loops.gelu,
        numexpr="0.5 * x0 * (1 + tanh(0.7978845608 * (x0 + 0.044715 * x0 * x0 * x0)))",
        torch=lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"),
        moves=True,
        slopes=(0,),
    ),
    Program(
        "black-scholes",
        "Black-Scholes with erf, float64, 1e6",
        options,
        black_scholes,
        rtol=1e-13,
        numba=loops.black_scholes,
        torch=black_scholes_by_torch,
        slopes=(0, 1, 2),
    ),
    Program(
        "density",
        "equation of state of sea water, float64, 204x204x26",
        sea_water,
        density,
        rtol=1e-13,
        numba=loops.density,
        numexpr=DENSITY_BY_NUMEXPR,
        torch=density,
        slopes=(0, 1),
    ),
    Program(
        "normal",
        "normal random numbers, float32, 1e7",
        how_many,
        normal,
        rtol=2e-2,
        jax=normal_by_jax,
        numba=None,
        torch=lambda torch, like: torch.randn(like.shape),
        eager=(OURS, "jax", "torch"),
        compared=moments,
    ),
)
ROWS = rows_of("elementwise", PROGRAMS)
