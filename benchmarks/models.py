"""Rows of models: logistic regression, a block of a transformer, a step of an LSTM, a mixture of Gaussians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import installed
from benchmarks.program import Array, Program, rows_of

__all__ = ["PROGRAMS", "ROWS"]

Result = tuple[Array, ...]


def with_slopes(loss: Callable[..., Array], *numbers: int) -> Callable[..., Result]:
    """`loss` and its derivatives, with the namespace of any library that has them."""

    def run(np_like: Any, *arrays: Array) -> Result:
        if np_like is installed("torch"):
            slopes, value = np_like.func.grad_and_value(lambda *xs: loss(np_like, *xs), numbers)(*arrays)
        else:
            library = xp if np_like is xp else installed("jax")
            value, slopes = library.value_and_grad(lambda *xs: loss(np_like, *xs), numbers)(*arrays)
        return value, *slopes

    return run


# ----------------------------------------------------------------------------------------------- logistic regression


def samples(rng: np.random.Generator, quick: bool) -> list[Array]:
    n, n_features = (100, 10) if quick else (1000, 100)
    return [rng.standard_normal(n_features), rng.standard_normal((n, n_features)), rng.choice([-1.0, 1.0], n)]


def logistic_loss(np_like: Any, weights: Array, x: Array, labels: Array) -> Array:
    return np_like.mean(np_like.log1p(np_like.exp(-labels * (x @ weights))))


def logistic_by_hand(_: Any, weights: Array, x: Array, labels: Array) -> Result:
    e = np.exp(-labels * (x @ weights))
    return np.mean(np.log1p(e)), x.T @ (-labels * e / (1 + e)) / len(labels)


# ------------------------------------------------------------------------------------------- a block of a transformer


def block_inputs(rng: np.random.Generator, quick: bool) -> list[Array]:
    length, width = (16, 32) if quick else (128, 512)
    shapes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
    weights = [rng.standard_normal(shape, np.float32) / np.float32(shape[0] ** 0.5) for shape in shapes]
    return [rng.standard_normal((length, width), np.float32), *weights]


HEADS = 8


def _normalised(np_like: Any, x: Array) -> Array:
    mean = np_like.mean(x, axis=-1, keepdims=True)
    return (x - mean) / np_like.sqrt(np_like.mean((x - mean) ** 2, axis=-1, keepdims=True) + 1e-5)


def block(np_like: Any, x: Array, to_qkv: Array, to_out: Array, up: Array, down: Array) -> Array:
    """Causal attention of 8 heads and a network of two layers with gelu, each on what is normalised and added."""
    length, width = x.shape
    q, k, v = [
        part.reshape(length, HEADS, width // HEADS).transpose(1, 0, 2)
        for part in np_like.split(_normalised(np_like, x) @ to_qkv, 3, axis=-1)
    ]
    score = q @ k.transpose(0, 2, 1) / (width // HEADS) ** 0.5
    score = np_like.where(np_like.tri(length, dtype=bool), score, np.float32(-np.inf))
    e = np_like.exp(score - np_like.max(score, axis=-1, keepdims=True))
    attended = (e / np_like.sum(e, axis=-1, keepdims=True)) @ v
    x = x + attended.transpose(1, 0, 2).reshape(length, width) @ to_out
    h = _normalised(np_like, x) @ up
    return x + (0.5 * h * (1 + np_like.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))) @ down


def block_by_torch(torch: Any, x: Array, to_qkv: Array, to_out: Array, up: Array, down: Array) -> Array:
    functional = torch.nn.functional
    length, width = x.shape
    qkv = functional.layer_norm(x, (width,)) @ to_qkv
    q, k, v = [part.reshape(length, HEADS, -1).transpose(0, 1) for part in qkv.chunk(3, -1)]
    attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + attended.transpose(0, 1).reshape(length, width) @ to_out
    return x + functional.gelu(functional.layer_norm(x, (width,)) @ up, approximate="tanh") @ down


# --------------------------------------------------------------------------------------------------- a step of an LSTM


def lstm_inputs(rng: np.random.Generator, quick: bool) -> list[Array]:
    n, n_in, n_state = (4, 8, 16) if quick else (64, 128, 256)
    scale = np.float32((n_in + n_state) ** -0.5)
    return [
        rng.standard_normal((n, n_in), np.float32),
        rng.standard_normal((n, n_state), np.float32),
        rng.standard_normal((n, n_state), np.float32),
        rng.standard_normal((n_in + n_state, 4 * n_state), np.float32) * scale,
        rng.standard_normal(4 * n_state, np.float32),
    ]


def lstm_step(np_like: Any, x: Array, h: Array, c: Array, weights: Array, shift: Array) -> Result:
    """The state after an input (Hochreiter and Schmidhuber, 1997, with a gate to forget)."""
    gates = np_like.concatenate([x, h], axis=1) @ weights + shift
    n = h.shape[1]
    enter, forget, leave = [1 / (1 + np_like.exp(-gates[:, i * n : (i + 1) * n])) for i in range(3)]
    c = forget * c + enter * np_like.tanh(gates[:, 3 * n :])
    return leave * np_like.tanh(c), c


def lstm_by_torch(torch: Any, x: Array, h: Array, c: Array, weights: Array, shift: Array) -> Result:
    enter, forget, leave, new = (torch.cat([x, h], 1) @ weights + shift).chunk(4, 1)
    c = torch.sigmoid(forget) * c + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(c), c


# ----------------------------------------------------------------------------------------------- a mixture of Gaussians


def mixture_inputs(rng: np.random.Generator, quick: bool) -> list[Array]:
    n, n_parts, n_dimensions = (50, 3, 2) if quick else (1000, 25, 10)
    return [
        rng.standard_normal(n_parts),
        rng.standard_normal((n_parts, n_dimensions)),
        rng.standard_normal((n_parts, n_dimensions, n_dimensions)) * 0.2,
        rng.standard_normal((n, n_dimensions)),
    ]


def mixture_loss(np_like: Any, weights: Array, means: Array, roots: Array, x: Array) -> Array:
    """Minus the mean log likelihood; precisions are products of triangles whose diagonals are given as logarithms."""
    logs = np_like.diagonal(roots, 0, 1, 2)
    difference = x[:, None, :] - means
    turned = np_like.einsum("kij,nkj->nki", np_like.tril(roots, -1), difference) + np_like.exp(logs) * difference
    score = weights + np_like.sum(logs, -1) - 0.5 * np_like.sum(turned * turned, -1)
    return _logsumexp(np_like, weights) - np_like.mean(_logsumexp(np_like, score))


def _logsumexp(np_like: Any, x: Array) -> Array:
    top = np_like.amax(x, -1)
    return np_like.log(np_like.sum(np_like.exp(x - top[..., None]), -1)) + top


PROGRAMS = (
    Program(
        "logistic",
        "logistic regression 1000x100, value_and_grad, float64",
        samples,
        with_slopes(logistic_loss, 0),
        rtol=1e-11,
        numpy=logistic_by_hand,
        torch=with_slopes(logistic_loss, 0),
        rounds=31,
        value=logistic_loss,
        slopes=(0,),
    ),
    Program(
        "gpt-block",
        "transformer block, forward, float32, 128x512, 8 heads",
        block_inputs,
        block,
        rtol=1e-4,
        torch=block_by_torch,
        slopes=(0, 1, 2, 3, 4),
    ),
    Program(
        "lstm",
        "LSTM step, float32, batch 64, 128 inputs, 256 units",
        lstm_inputs,
        lstm_step,
        rtol=1e-5,
        torch=lstm_by_torch,
        slopes=(1, 2, 3, 4),
    ),
    Program(
        "gmm",
        "mixture of 25 Gaussians, 1000x10, value_and_grad, float64",
        mixture_inputs,
        with_slopes(mixture_loss, 0, 1, 2),
        rtol=1e-10,
        torch=with_slopes(mixture_loss, 0, 1, 2),
        without=("numpy",),
        value=mixture_loss,
        slopes=(0, 1, 2),
    ),
)
ROWS = rows_of("models", PROGRAMS)
