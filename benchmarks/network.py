"""The row of a network: loss and gradients of an MLP 784-512-512-10 batch 128, against NumPy by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Contest, Row, Times, installed, measure

__all__ = ["ROWS", "example", "loss"]

Array = Any
SIZES = (784, 512, 512, 10)
BATCH = 128


def example(sizes: tuple[int, ...], batch: int) -> tuple[list[Array], Array, Array]:
    """Parameters (weight, shift, weight, shift, ...), inputs, and labels as rows of 0 and 1."""
    rng = np.random.default_rng(0)
    params: list[Array] = []
    for n_in, n_out in itertools.pairwise(sizes):
        params += [
            rng.standard_normal((n_in, n_out), np.float32) / np.float32(np.sqrt(n_in)),
            np.zeros(n_out, np.float32),
        ]
    x = rng.standard_normal((batch, sizes[0]), np.float32)
    return params, x, np.eye(sizes[-1], dtype=np.float32)[rng.integers(sizes[-1], size=batch)]


def loss(np_like: Any, params: list[Array], x: Array, labels: Array) -> Array:
    """The mean cross entropy of a relu network."""
    for i in range(0, len(params) - 2, 2):
        x = np_like.maximum(x @ params[i] + params[i + 1], 0)
    logits = x @ params[-2] + params[-1]
    shifted = logits - np_like.max(logits, axis=-1, keepdims=True)
    log_sum = np_like.log(np_like.sum(np_like.exp(shifted), axis=-1, keepdims=True))
    return -np_like.sum(labels * (shifted - log_sum)) / x.shape[0]


def by_hand(params: list[Array], x: Array, labels: Array) -> list[Array]:
    """Loss and gradients as one writes them in NumPy."""
    layers = [x]
    for i in range(0, len(params) - 2, 2):
        layers.append(np.maximum(layers[-1] @ params[i] + params[i + 1], 0))
    logits = layers[-1] @ params[-2] + params[-1]
    shifted = logits - logits.max(-1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(-1, keepdims=True)
    value = -(labels * (shifted - np.log(total))).sum() / len(x)
    slope = (e / total - labels) / np.float32(len(x))
    slopes: list[Array] = []
    for i in range(len(params) - 2, -1, -2):
        slopes += [slope.sum(0), layers[i // 2].T @ slope]
        if i:
            slope = (slope @ params[i].T) * (layers[i // 2] > 0)
    return [value, *slopes[::-1]]


def by_torch(torch: Any, params: list[Array], x: Array, labels: Array) -> Callable[[], list[Array]]:
    leaves = [torch.from_numpy(p).requires_grad_() for p in params]
    data, target = torch.from_numpy(x), torch.from_numpy(labels)

    def run() -> list[Array]:
        h = data
        for i in range(0, len(leaves) - 2, 2):
            h = torch.relu(h @ leaves[i] + leaves[i + 1])
        value = torch.nn.functional.cross_entropy(h @ leaves[-2] + leaves[-1], target)
        return [value.detach().numpy(), *[g.numpy() for g in torch.autograd.grad(value, leaves)]]

    return run


def _network(quick: bool) -> Mapping[str, Times]:
    params, x, labels = example((64, 32, 32, 10) if quick else SIZES, BATCH)
    step = xp.jit(xp.value_and_grad(lambda p, a, b: loss(xp, p, a, b)))
    ours, a, b = [xp.asarray(p) for p in params], xp.asarray(x), xp.asarray(labels)

    def by_us() -> list[Array]:
        value, slopes = step(ours, a, b)
        return [value, *slopes]

    runs: dict[str, Callable[[], Any]] = {"numpy": lambda: by_hand(params, x, labels), OURS: by_us}
    if (jax := installed("jax")) is not None:
        theirs, c, d = [jax.numpy.asarray(p) for p in params], jax.numpy.asarray(x), jax.numpy.asarray(labels)
        compiled = jax.jit(jax.value_and_grad(lambda p, a, b: loss(jax.numpy, p, a, b)))

        def by_jax() -> list[Array]:
            value, slopes = jax.block_until_ready(compiled(theirs, c, d))
            return [value, *slopes]

        runs["jax"] = by_jax
    if (torch := installed("torch")) is not None:
        runs["torch"] = by_torch(torch, params, x, labels)
    return measure(Contest(runs, rtol=1e-4))


ROWS = (
    Row(
        "mlp",
        "MLP 784-512-512-10 value_and_grad, batch 128, jit",
        {"numpy": 1.0, "best": 1.0},
        _network,
        subject="models",
    ),
)
