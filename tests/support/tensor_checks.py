"""Check gradients of `Tensor` functions against central differences of a NumPy reference in float64."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uopc_core.tensor import Tensor

__all__ = ["Case", "assert_gradients_match", "central_differences", "inputs_of"]

EPS = 1e-3
RTOL = 2e-4

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A differentiable function of Tensors, with the same function written in NumPy.

    Attributes:
        shapes: of the inputs.
        low, high: the interval that inputs are drawn from, away from kinks.
    """

    name: str
    ours: Callable[..., Tensor]
    reference: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...] = ((3, 4),)
    low: float = -2.0
    high: float = 2.0

    def __str__(self) -> str:
        return self.name


def inputs_of(case: Case) -> list[Array]:
    """Distinct numbers of the case's interval, no two closer than the difference step needs."""
    rng = np.random.default_rng(len(case.name))
    sizes = [int(np.prod(shape)) for shape in case.shapes]
    grid = np.linspace(case.low, case.high, sum(sizes) + 2)[1:-1]
    drawn = np.split(rng.permutation(grid), np.cumsum(sizes)[:-1])
    return [x.reshape(shape).astype(np.float32) for x, shape in zip(drawn, case.shapes, strict=True)]


def central_differences(f: Callable[..., float], arrays: Sequence[Array], eps: float = EPS) -> list[Array]:
    """``(f(x + eps) - f(x - eps)) / (2 eps)`` for every element of every array, in float64."""
    points = [np.array(x, np.float64) for x in arrays]
    slopes = [np.zeros_like(x) for x in points]
    for x, slope in zip(points, slopes, strict=True):
        for i in np.ndindex(x.shape):
            middle = x[i]
            x[i] = middle + eps
            above = f(*points)
            x[i] = middle - eps
            slope[i] = (above - f(*points)) / (2 * eps)
            x[i] = middle
    return slopes


def assert_gradients_match(case: Case, scale: float = 1.0) -> None:
    """Compare the gradients of a weighted sum of the outputs; `scale` falsifies ours, to test this checker."""
    arrays = inputs_of(case)
    tensors = [Tensor(x, requires_grad=True) for x in arrays]
    out = case.ours(*tensors)
    weights = np.random.default_rng(7).uniform(0.5, 1.5, out.shape)
    (out * weights.astype(np.float32)).sum().backward(tensors)
    wanted = central_differences(lambda *xs: float((case.reference(*xs) * weights).sum()), arrays)
    for tensor, slope in zip(tensors, wanted, strict=True):
        assert tensor.grad is not None
        atol = RTOL * max(1e-2, float(np.abs(slope).max(initial=0)))
        np.testing.assert_allclose(tensor.grad.numpy() * scale, slope, rtol=RTOL, atol=atol)
