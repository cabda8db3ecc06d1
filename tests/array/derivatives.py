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

    def scalar(*args: Any) -> xp.Array:
        y = f(*args)
        if y.dtype.kind == "c":
            return xp.sum(xp.real(y) * xp.asarray(weights)) + xp.sum(
                xp.imag(y) * xp.asarray(weights[..., ::-1] if y.ndim else weights)
            )
        return xp.sum(y * xp.asarray(weights))

    return scalar


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
    tangents = [
        random.normal(size=a.shape) + (1j * random.normal(size=a.shape) if a.dtype.kind == "c" else 0) for a in arrays
    ]
    _, along = xp.jvp(scalar, inputs, tuple(map(xp.asarray, tangents)))
    gradients = xp.grad(scalar, argnums=tuple(range(len(arrays))))(*inputs)
    total = sum(np.sum(np.real(np.asarray(g) * t)) for g, t in zip(gradients, tangents, strict=True))
    np.testing.assert_allclose(float(along), total, rtol=1e-9, atol=1e-12)


def check_second_order(f: Function, *arrays: Any, tolerance: float = 1e-5) -> None:
    """The gradient's own gradient, for real arguments."""
    scalar = weighted(f, *arrays)

    def slope(*args: Any) -> xp.Array:
        gradients = xp.grad(scalar, argnums=tuple(range(len(args))))(*args)
        parts = [
            xp.sum(g * xp.asarray(np.linspace(1.0, 2.0, max(g.size, 1))[: g.size].reshape(g.shape))) for g in gradients
        ]
        return xp.sum(xp.stack(parts))

    inputs = tuple(map(xp.asarray, arrays))
    for number in range(len(arrays)):
        got = np.asarray(xp.grad(slope, argnums=number)(*inputs))
        wanted = central_difference(slope, arrays, number)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg=f"argument {number}")
