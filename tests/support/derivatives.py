"""Derivatives against central differences: first and second order, forward against reverse, real and complex."""

from collections.abc import Callable
from typing import Any

import numpy as np

import uopc_array as xp

Function = Callable[..., xp.Array]
STEP = float(np.finfo(np.float64).eps ** (1 / 3))


def weighted(f: Function, *arrays: Any) -> Callable[..., xp.Array]:
    """``f`` as a real number: its elements and, of complex ones, both parts, each with a weight of its own."""
    out = f(*map(xp.asarray, arrays))
    weights = np.linspace(0.5, 1.5, max(out.size, 1))[: out.size].reshape(out.shape)
    return lambda *args: weighted_sum(f(*args), weights)


def weighted_sum(y: xp.Array, weights: Any) -> xp.Array:
    if y.dtype.kind != "c":
        return xp.sum(y * xp.asarray(weights))
    of_imag = weights[..., ::-1] if y.ndim else weights
    return xp.sum(xp.real(y) * xp.asarray(weights)) + xp.sum(xp.imag(y) * xp.asarray(of_imag))


def central_difference(f: Callable[..., xp.Array], arrays: tuple[Any, ...], number: int) -> Any:
    """Of a real function, by one argument; of a complex argument dL/dx - i dL/dy, as `grad` gives it."""
    x = arrays[number]
    directions = [1.0] if x.dtype.kind == "f" else [1.0, 1j]
    out = np.zeros(x.shape, x.dtype)
    for place in np.ndindex(x.shape):
        for direction in directions:
            step = np.zeros(x.shape, x.dtype)
            step[place] = STEP * direction
            ends = [
                float(f(*[xp.asarray(a + s * step if i == number else a) for i, a in enumerate(arrays)]))
                for s in (1, -1)
            ]
            out[place] += np.conj(direction) * (ends[0] - ends[1]) / (2 * STEP)
    return out


def random_like(x: Any, random: np.random.Generator) -> Any:
    return random.normal(size=x.shape) + (1j * random.normal(size=x.shape) if x.dtype.kind == "c" else 0)


def check_first_order(f: Function, *arrays: Any, tolerance: float = 1e-6) -> None:
    scalar = weighted(f, *arrays)
    inputs = tuple(map(xp.asarray, arrays))
    for number in range(len(arrays)):
        got = np.asarray(xp.grad(scalar, argnums=number)(*inputs))
        wanted = central_difference(scalar, arrays, number)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg=f"argument {number}")


def check_forward_against_reverse(f: Function, *arrays: Any) -> None:
    """The sum of gradient times tangent is the derivative along the tangent."""
    scalar = weighted(f, *arrays)
    inputs = tuple(map(xp.asarray, arrays))
    random = np.random.default_rng(1)
    tangents = [random_like(a, random) for a in arrays]
    _, along = xp.jvp(scalar, inputs, tuple(map(xp.asarray, tangents)))
    gradients = xp.grad(scalar, argnums=tuple(range(len(arrays))))(*inputs)
    total = sum(np.sum(np.real(np.asarray(g) * t)) for g, t in zip(gradients, tangents, strict=True))
    np.testing.assert_allclose(float(along), total, rtol=1e-9, atol=1e-12)


def check_second_order(f: Function, *arrays: Any, tolerance: float = 1e-5) -> None:
    """The gradient's own gradient, along a direction that is drawn for each argument."""
    scalar = weighted(f, *arrays)

    def slope(*args: Any) -> xp.Array:
        gradients = xp.grad(scalar, argnums=tuple(range(len(args))))(*args)
        parts = [weighted_sum(g, np.linspace(1.0, 2.0, max(g.size, 1))[: g.size].reshape(g.shape)) for g in gradients]
        return xp.sum(xp.stack(parts))

    gradients = xp.grad(slope, argnums=tuple(range(len(arrays))))(*map(xp.asarray, arrays))
    for number, (x, g) in enumerate(zip(arrays, gradients, strict=True)):
        direction = random_like(x, np.random.default_rng(2))
        got = np.sum(np.real(np.asarray(g) * direction))
        ends = [
            float(slope(*[xp.asarray(a + s * STEP * direction if i == number else a) for i, a in enumerate(arrays)]))
            for s in (1, -1)
        ]
        wanted = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg=f"argument {number}")


def check_batching(f: Function, *arrays: Any) -> None:
    """Mapped over a new first axis of all arguments, and over a new last one of each alone, against a loop."""
    n = len(arrays)
    choices = [(0, *[0] * (n - 1))] + [tuple([-1 if k == j else None for k in range(n)]) for j in range(n)]
    for axes in choices if n > 1 else [(0,), (-1,)]:
        check_mapped(f, arrays, axes)


def check_mapped(f: Function, arrays: tuple[Any, ...], axes: tuple[int | None, ...]) -> None:
    several = [a if axis is None else np.stack([a, a * 1.04], axis=axis) for a, axis in zip(arrays, axes, strict=True)]
    mapped = xp.vmap(f, in_axes=axes)(*map(xp.asarray, several))
    for number in range(2):
        one = [a if axis is None else np.take(a, number, axis=axis) for a, axis in zip(several, axes, strict=True)]
        wanted = np.asarray(f(*map(xp.asarray, one)))
        np.testing.assert_allclose(np.asarray(mapped[number]), wanted, rtol=1e-9, atol=1e-11, err_msg=f"in_axes={axes}")
