"""Loops over elements, as one writes them for Numba; it compiles them where a program names them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.contest import installed

__all__ = [
    "argmax_of_rows",
    "black_scholes",
    "density",
    "erf_of_all",
    "gelu",
    "layernorm",
    "log_of_all",
    "logsumexp_of_rows",
    "order",
    "pow_of_all",
    "prange",
    "rows_gathered",
    "scatter_add",
    "sin_of_all",
    "softmax_of_columns",
    "sum_of_all",
    "sum_of_columns",
    "tanh_of_all",
    "transposed",
    "variance_of_columns",
    "windows_filtered",
]

Array = Any
prange: Any = getattr(installed("numba"), "prange", range)  # one loop over threads, where there are several


def tanh_of_all(x: Array) -> Array:
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = math.tanh(x[i])
    return out


def sin_of_all(x: Array) -> Array:
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = math.sin(x[i])
    return out


def log_of_all(x: Array) -> Array:
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = math.log(x[i])
    return out


def pow_of_all(x: Array, y: Array) -> Array:
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = x[i] ** y[i]
    return out


def erf_of_all(x: Array) -> Array:
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = math.erf(x[i])
    return out


def gelu(x: Array) -> Array:
    out = np.empty_like(x)
    for i in prange(x.size):
        v = x[i]
        inner = np.float32(0.7978845608) * (v + np.float32(0.044715) * v * v * v)
        out[i] = np.float32(0.5) * v * (np.float32(1) + math.tanh(inner))
    return out


def black_scholes(spot: Array, strike: Array, years: Array) -> Array:
    call, put = np.empty_like(spot), np.empty_like(spot)
    for i in prange(spot.size):
        spread = 0.3 * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + (0.02 + 0.045) * years[i]) / spread
        d2 = d1 - spread
        paid = strike[i] * math.exp(-0.02 * years[i])
        value = spot[i] * 0.5 * (1 + math.erf(d1 / math.sqrt(2.0))) - paid * 0.5 * (1 + math.erf(d2 / math.sqrt(2.0)))
        call[i] = value
        put[i] = value - spot[i] + paid
    return call, put


def argmax_of_rows(x: Array) -> Array:
    out = np.empty(x.shape[0], np.int64)
    for i in prange(x.shape[0]):
        best = 0
        for j in range(1, x.shape[1]):
            if x[i, j] > x[i, best]:
                best = j
        out[i] = best
    return out


def sum_of_all(x: Array) -> Array:
    total = 0.0
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j]
    return total


def sum_of_columns(x: Array) -> Array:
    out = np.zeros(x.shape[1], x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += x[i, j]
    return out


def variance_of_columns(x: Array) -> Array:
    n = x.shape[0]
    mean, out = np.zeros(x.shape[1], x.dtype), np.zeros(x.shape[1], x.dtype)
    for i in range(n):
        for j in range(x.shape[1]):
            mean[j] += x[i, j]
    mean /= n
    for i in range(n):
        for j in range(x.shape[1]):
            d = x[i, j] - mean[j]
            out[j] += d * d
    return out / x.dtype.type(n)


def softmax_of_columns(x: Array) -> Array:
    out, top, total = np.empty_like(x), x[0].copy(), np.zeros(x.shape[1], x.dtype)
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            top[j] = max(top[j], x[i, j])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top[j])
            total[j] += out[i, j]
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] /= total[j]
    return out


def logsumexp_of_rows(x: Array) -> Array:
    out = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        top, total = x[i, 0], np.float32(0)
        for j in range(1, x.shape[1]):
            top = max(top, x[i, j])
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - top)
        out[i] = top + math.log(total)
    return out


def layernorm(x: Array, scale: Array, shift: Array) -> Array:
    out, n = np.empty_like(x), np.float32(x.shape[1])
    for i in prange(x.shape[0]):
        mean, square = np.float32(0), np.float32(0)
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= n
        for j in range(x.shape[1]):
            square += (x[i, j] - mean) ** 2
        by = np.float32(1) / math.sqrt(square / n + np.float32(1e-5))
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * by * scale[j] + shift[j]
    return out


def order(x: Array) -> Array:
    return np.argsort(x)


def transposed(x: Array) -> Array:
    out = np.empty((x.shape[1], x.shape[0]), x.dtype)
    for j in prange(x.shape[1]):
        for i in range(x.shape[0]):
            out[j, i] = x[i, j]
    return out


def scatter_add(start: Array, where: Array, values: Array) -> Array:
    out = start.copy()
    for k in range(where.size):
        out[where[k]] += values[k]
    return out


def rows_gathered(table: Array, where: Array) -> Array:
    out = np.empty((where.size, table.shape[1]), table.dtype)
    for k in prange(where.size):
        out[k] = table[where[k]]
    return out


def windows_filtered(x: Array, weights: Array) -> Array:
    rows, columns = x.shape[0] - weights.shape[0] + 1, x.shape[1] - weights.shape[1] + 1
    out = np.zeros((rows, columns), x.dtype)
    for i in prange(rows):
        for k in range(weights.shape[0]):
            for m in range(weights.shape[1]):
                for j in range(columns):
                    out[i, j] += x[i + k, j + m] * weights[k, m]
    return out


def density(salt: Array, heat: Array, pressure: Array) -> Array:
    out = np.empty_like(salt)
    for i in prange(salt.shape[0]):
        for j in range(salt.shape[1]):
            for k in range(salt.shape[2]):
                s, t, p = salt[i, j, k], heat[i, j, k], pressure[0, 0, k]
                root = math.sqrt(s)
                top = 999.8 + t * (6.8e-2 + t * (-9.1e-3 + t * (1.0e-4 + t * -1.1e-6)))
                top += s * (0.82 + t * (-4.1e-3 + t * 7.6e-5) + s * 4.8e-4)
                top += s * root * (-5.7e-3 + t * (1.0e-4 + t * -1.6e-6))
                stiff = 19652.2 + t * (148.4 + t * (-2.33 + t * (1.36e-2 + t * -5.2e-5)))
                stiff += s * (54.7 + t * (-0.6 + t * (1.1e-2 + t * -6.2e-5)))
                stiff += s * root * (7.9e-2 + t * (1.6e-2 + t * -5.3e-4))
                linear = 3.24 + t * (1.4e-3 + t * (1.2e-4 + t * -5.8e-7)) + s * (2.3e-3 + t * (-1.1e-5 + t * -1.6e-6))
                linear += 1.9e-4 * s * root
                square = 8.5e-5 + t * (-6.1e-6 + t * 5.3e-8) + s * (-9.9e-7 + t * (2.1e-8 + t * 9.2e-10))
                bar = p * 0.1
                out[i, j, k] = top / (1 - bar / (stiff + bar * (linear + bar * square)))
    return out
