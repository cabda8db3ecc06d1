"""What `benchmarks.memory` measures: programs as NumPy's users write them, and loops that run for long.

A program takes a namespace that is like NumPy's and arrays, and makes no array that it does not need in NumPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.network import by_hand, loss

__all__ = ["LOOPS", "NUMPY", "PROGRAMS", "Loop", "Program"]

Array = Any
NUMPY = "numpy"
# of a namespace, transformations, and one array, two or three
Run = Callable[[Any, Any, Any], Any] | Callable[[Any, Any, Any, Any], Any] | Callable[[Any, Any, Any, Any, Any], Any]


@dataclass(frozen=True)
class Program:
    """A computation whose peak is measured.

    Attributes:
        inputs: NumPy arrays of about so many elements in all.
        run: the namespace, the transformations (`grad`, `value_and_grad`), the arrays -> what stays.
        by_numpy: the same where NumPy has to do it by hand.
        by_jax: the same where JAX has no assignment; None where `run` serves.
        is_pure: whether `jit` takes it: its shapes do not depend on values, and it writes to no input.
    """

    inputs: Callable[[int], list[Any]]
    run: Run
    by_numpy: Run | None = None
    by_jax: Run | None = None
    is_pure: bool = True


def _floats(n: int) -> list[Any]:
    return [np.random.default_rng(0).standard_normal(n)]


def _bytes(n: int) -> list[Any]:
    return [(np.arange(8 * n) % 251).astype(np.uint8)]


def _table(n: int, columns: int = 1024) -> list[Any]:
    return [np.random.default_rng(0).standard_normal((max(2, n // columns), columns))]


def _single_table(n: int) -> list[Any]:
    return [np.random.default_rng(0).standard_normal((max(2, n // 512), 1024), np.float32)]


def _square(n: int) -> list[Any]:
    side = max(8, int(n**0.5))
    return [np.random.default_rng(0).standard_normal((side, side))]


def _points(n: int) -> list[Any]:
    return [np.random.default_rng(0).standard_normal((int(n**0.5), 3))]


def _in_halves(n: int) -> list[Any]:
    return [x.copy() for x in np.split(_floats(n // 2 * 2)[0], 2)]


def _values_and_places(n: int) -> list[Any]:
    return [_floats(n)[0], np.random.default_rng(1).integers(0, n, n // 4)]


def _batch(n: int) -> list[Any]:
    rng = np.random.default_rng(0)
    sizes, n_rows = (784, 512, 512, 10), max(8, n // 784)
    params: list[Any] = []
    for n_in, n_out in itertools.pairwise(sizes):
        params += [rng.standard_normal((n_in, n_out)) / np.sqrt(n_in), np.zeros(n_out)]
    labels = np.eye(10)[rng.integers(10, size=n_rows)]
    return [params, rng.standard_normal((n_rows, 784)), labels]


def chain(xp: Any, _: Any, x: Array) -> Array:
    y = xp.abs(x * 2 + 1)
    y = xp.sqrt(y * y + 3) / 2
    return xp.maximum(y - 1, 0) * 0.5 + 4


def quotients(xp: Any, _: Any, x: Array) -> Array:
    return xp.sin(x) * xp.exp(-x * x) / (1 + x * x)


def normalise(xp: Any, _: Any, x: Array) -> Array:
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def softmax(xp: Any, _: Any, x: Array) -> Array:
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def distances(xp: Any, _: Any, x: Array) -> Array:
    return xp.sqrt(xp.sum((x[:, None] - x[None]) ** 2, axis=-1))


def blur(xp: Any, _: Any, x: Array) -> Array:
    height, width = x.shape[0] - 4, x.shape[1] - 4
    total = x[:height, :width] * 0.04
    for i in range(25):
        if i:
            total = total + x[i // 5 : i // 5 + height, i % 5 : i % 5 + width] * 0.04
    return total


def heat_in_place(xp: Any, _: Any, x: Array) -> Array:
    for _ in range(30):
        x[1:-1, 1:-1] += 0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1])
    return x


def heat_by_jax(xp: Any, _: Any, x: Array) -> Array:
    for _ in range(30):
        step = 0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1])
        x = x.at[1:-1, 1:-1].add(step)
    return x


def add_at(xp: Any, _: Any, x: Array, places: Array) -> Array:
    np.add.at(x, places, 1.0)
    return x


def train_step(xp: Any, transforms: Any, params: list[Array], x: Array, labels: Array) -> Array:
    def loss_of(p: list[Array]) -> Array:
        return loss(xp, p, x, labels)

    value, slopes = transforms.value_and_grad(loss_of)(params)
    return [value, *[p - 1e-3 * slope for p, slope in zip(params, slopes, strict=True)]]


def train_step_by_hand(xp: Any, _: Any, params: list[Array], x: Array, labels: Array) -> Array:
    value, *slopes = by_hand(params, x, labels)
    return [value, *[p - 1e-3 * slope for p, slope in zip(params, slopes, strict=True)]]


STEPS = 6


def _recurrence(xp: Any, x: Array) -> Array:
    for _ in range(STEPS):
        x = xp.sin(x) * 1.1
    return xp.sum(x)


def slope_of_steps(xp: Any, transforms: Any, x: Array) -> Array:
    return transforms.grad(lambda t: _recurrence(xp, t))(x)


def slope_of_steps_by_hand(xp: Any, _: Any, x: Array) -> Array:
    kept = [x]
    for _ in range(STEPS - 1):
        kept.append(np.sin(kept[-1]) * 1.1)
    slope = np.full_like(x, 1.0)
    while kept:
        slope *= 1.1 * np.cos(kept.pop())
    return slope


def filter_by_fft(xp: Any, _: Any, x: Array) -> Array:
    spectrum = xp.fft.rfft(x)
    return xp.fft.irfft(spectrum * (xp.arange(spectrum.shape[0]) < 1000), n=x.shape[0])


PROGRAMS: dict[str, Program] = {
    "sum of bytes": Program(_bytes, lambda xp, _, x: xp.sum(x)),
    "how many are positive": Program(_floats, lambda xp, _, x: xp.sum(x > 0)),
    "mean and deviation": Program(_floats, lambda xp, _, x: [xp.mean(x), xp.std(x)]),
    "variance of columns": Program(_table, lambda xp, _, x: xp.var(x, axis=0)),
    "ten operations": Program(_floats, chain),
    "sin, exp, a quotient": Program(_floats, quotients),
    "sum of a choice": Program(_floats, lambda xp, _, x: xp.sum(xp.where(x > 0.5, 2 * x, xp.sqrt(xp.abs(x))))),
    "columns normalised": Program(_table, normalise),
    "softmax, float32": Program(_single_table, softmax),
    "distances": Program(_points, distances),
    "x[x > 0.5]": Program(_floats, lambda xp, _, x: x[x > 0.5], is_pure=False),
    "sort": Program(_floats, lambda xp, _, x: xp.sort(x)),
    "argsort": Program(_floats, lambda xp, _, x: xp.argsort(x)),
    "take": Program(_values_and_places, lambda xp, _, x, places: x[places]),
    "np.add.at": Program(
        _values_and_places, add_at, by_jax=lambda xp, _, x, places: x.at[places].add(1.0), is_pure=False
    ),
    "cumulative sum": Program(_floats, lambda xp, _, x: xp.cumsum(x)),
    "concatenate": Program(_in_halves, lambda xp, _, x, y: xp.concatenate([x, y])),
    "filter by rfft": Program(_floats, filter_by_fft),
    "blur by 25 slices": Program(_square, blur),
    "heat in place, 30 steps": Program(_square, heat_in_place, by_jax=heat_by_jax, is_pure=False),
    "product of matrices": Program(_square, lambda xp, _, x: x @ x.T),
    "slope of 6 steps": Program(_floats, slope_of_steps, by_numpy=slope_of_steps_by_hand),
    "step of a network": Program(_batch, train_step, by_numpy=train_step_by_hand),
}


@dataclass(frozen=True)
class Loop:
    """A body that is run for long.

    Attributes:
        start: the namespace, transformations, a number of elements -> what the steps share.
        step: what a step does with that and with its number.
        finish: what asks for what is left at the end.
    """

    start: Callable[[Any, Any, int], SimpleNamespace]
    step: Callable[[SimpleNamespace, int], Any]
    finish: Callable[[SimpleNamespace], Any] = lambda s: s.u


def _vectors(xp: Any, transforms: Any, n: int) -> SimpleNamespace:
    """An array, another, a square one, places, a list, and the means to make a new array."""
    side = int(n**0.5)
    values = np.linspace(0.0, 1.0, n)
    return SimpleNamespace(
        xp=xp,
        u=xp.asarray(values.copy()),
        v=xp.asarray(values[::-1].copy()),
        square=xp.asarray(values[: side * side].reshape(side, side).copy()),
        places=xp.asarray(np.random.default_rng(0).integers(0, n, n // 8)),
        kept=[],
        values=values,
        frame=lambda i: xp.asarray(values + i),
    )


def _heat(s: SimpleNamespace, _: int) -> None:
    w = s.square
    w[1:-1, 1:-1] += 0.1 * (w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4 * w[1:-1, 1:-1])


def _running_sum(s: SimpleNamespace, i: int) -> None:
    s.u = s.u + s.frame(i)


def _moving_average(s: SimpleNamespace, i: int) -> None:
    s.u = 0.9 * s.u + 0.1 * s.frame(i)


def _unread_reductions(s: SimpleNamespace, i: int) -> None:
    s.kept.append(s.xp.sum(s.frame(i) * 2.0))


def _of_chunks(s: SimpleNamespace, i: int) -> None:
    """As dask reduces: each chunk to a triple, combined now and then."""
    x = s.frame(i)
    s.kept.append((s.xp.sum(x), s.xp.sum(x * x), x.shape[0]))
    if len(s.kept) == 16:
        totals = [s.xp.sum(s.xp.stack([part[k] for part in s.kept])) for k in range(2)]
        s.kept = [(*totals, sum([part[2] for part in s.kept]))]


def _histogram(s: SimpleNamespace, i: int) -> None:
    counts, _ = s.xp.histogram(s.frame(i), bins=64, range=(0.0, 5001.0))
    s.kept = [counts if not s.kept else s.kept[0] + counts]


def _views_in_chains(s: SimpleNamespace, i: int) -> None:
    """A view of the view before, and something written through it; begun anew when little is left."""
    s.v = s.v[1:-1] if s.v.shape[0] > 3 * s.u.shape[0] // 4 else s.u[:]
    s.v[i % 7] = i


def _add_at(s: SimpleNamespace, i: int) -> None:
    np.add.at(s.u, s.places, 1.0)


def _masks(s: SimpleNamespace, i: int) -> None:
    s.u[s.u > 0.9] *= 0.5
    s.u[s.u < 0.5] += 0.25
    s.kept = [s.u[s.u > 0.7]]


N_IN, N_HIDDEN = 64, 32


def _model(xp: Any, transforms: Any, n: int) -> SimpleNamespace:
    rng = np.random.default_rng(0)
    n_rows = max(4, n // N_IN)
    params = [rng.standard_normal((N_IN, N_HIDDEN)) / 8, np.zeros(N_HIDDEN), rng.standard_normal((N_HIDDEN, 10)) / 6]
    params.append(np.zeros(10))
    data, labels = rng.standard_normal((n_rows, N_IN)), np.eye(10)[rng.integers(10, size=n_rows)]

    def step(p: Sequence[Array], i: int) -> tuple[Array, Iterable[Array]]:
        x, y = xp.asarray(data + 1e-5 * i), xp.asarray(labels)  # a new batch in each step
        if transforms is None:
            value, *slopes = by_hand(list(p), x, y)
            return value, slopes

        def loss_of(p: list[Array]) -> Array:
            return loss(xp, p, x, y)

        return transforms.value_and_grad(loss_of)(list(p))

    return SimpleNamespace(params=[xp.asarray(p) for p in params], step=step, value=None, read=[])


def _train(s: SimpleNamespace, i: int) -> None:
    s.value, slopes = s.step(s.params, i)
    s.params = [p - 1e-3 * slope for p, slope in zip(s.params, slopes, strict=True)]


def _train_and_read(s: SimpleNamespace, i: int) -> None:
    _train(s, i)
    s.read = [float(s.value)]


LOOPS: dict[str, Loop] = {
    "heat equation in place": Loop(_vectors, _heat, lambda s: s.square),
    "running sum": Loop(_vectors, _running_sum),
    "moving average": Loop(_vectors, _moving_average),
    "list of unread sums": Loop(_vectors, _unread_reductions, lambda s: s.kept),
    "training, loss read after the update": Loop(_model, _train_and_read, lambda s: s.params),
    "training, loss never read": Loop(_model, _train, lambda s: s.params),
    "histogram": Loop(_vectors, _histogram, lambda s: s.kept),
    "reductions of chunks": Loop(_vectors, _of_chunks, lambda s: [list(part[:2]) for part in s.kept]),
    "views in chains": Loop(_vectors, _views_in_chains),
    "np.add.at": Loop(_vectors, _add_at),
    "masks": Loop(_vectors, _masks),
}
