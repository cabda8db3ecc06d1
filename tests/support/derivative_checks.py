"""Check derivatives of graphs: against central differences, and forward mode against reverse mode.

Complex numbers count as pairs: a directional derivative runs along any complex direction, and the pairing of a
cotangent with a tangent is the real part of their product, without a conjugate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from uopc_core.dtype import is_complex
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir import UOp
from uopc_core.transform.gradient import pull_back
from uopc_core.transform.jvp import jvp

__all__ = ["Function", "check", "check_first_order", "function_of", "gradients", "leaf_like", "slope", "value"]

STEP = np.finfo(np.float64).eps ** (1 / 3)
DIFFERENCE_TOLERANCE = 2e-7  # the truncation error is third derivative * STEP**2 / 6; rounding is near STEP**2
ADJOINT_TOLERANCE = 1e-11

Array = np.ndarray[Any, Any]

_numbers = count()


def leaf_like(array: Any) -> UOp:
    array = np.asarray(array)
    return UOp.param(next(_numbers), array.shape, array.dtype)


@dataclass(frozen=True)
class Function:
    """`roots` as a function of `leaves`; `given` has the values of the other leaves."""

    leaves: list[UOp]
    roots: list[UOp]
    given: dict[UOp, Array] = field(default_factory=dict[UOp, Array])

    def __call__(self, values: Sequence[Array]) -> list[Array]:
        return evaluate(self.roots, self.given | dict(zip(self.leaves, values, strict=True)))


def function_of(build: Callable[..., UOp | list[UOp]], values: Sequence[Array]) -> Function:
    leaves = [leaf_like(x) for x in values]
    roots = build(*leaves)
    return Function(leaves, roots if isinstance(roots, list) else [roots])


def value(node: UOp, env: dict[UOp, Any] | None = None) -> Any:
    return evaluate([node], env)[0]


def gradients(build: Callable[..., UOp], *arrays: Any) -> list[Any]:
    """The gradients of the sum of what `build` makes, as nested lists."""
    values = [np.asarray(x) for x in arrays]
    f = function_of(build, values)
    ones = [np.ones(root.shape, root.dtype) for root in f.roots]
    return [g.tolist() for g in pulled_back(f, ones)(values)]


def slope(build: Callable[..., UOp], *arrays: Any) -> Any:
    """The gradient by the first of `arrays`."""
    return gradients(build, *arrays)[0]


def random_like(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> Array:
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * rng.standard_normal(shape) if is_complex(dtype) else x, dtype)


def pushed_forward(f: Function, directions: Sequence[Array]) -> Function:
    tangents = [leaf_like(v) for v in directions]
    return replace(
        f, roots=jvp(f.roots, f.leaves, tangents), given=f.given | dict(zip(tangents, directions, strict=True))
    )


def pulled_back(f: Function, weights: Sequence[Array]) -> Function:
    cts = [leaf_like(w) for w in weights]
    return replace(f, roots=pull_back(f.roots, cts, f.leaves), given=f.given | dict(zip(cts, weights, strict=True)))


def central_difference(f: Function, values: Sequence[Array], directions: Sequence[Array]) -> list[Array]:
    ahead = f([x + STEP * v for x, v in zip(values, directions, strict=True)])
    behind = f([x - STEP * v for x, v in zip(values, directions, strict=True)])
    return [(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)]


def pairing(xs: Sequence[Array], ys: Sequence[Array]) -> tuple[float, float]:
    """The sum of the products and the sum of their absolute values."""
    products = [np.real(x * y) for x, y in zip(xs, ys, strict=True)]
    return sum(float(p.sum()) for p in products), sum(float(np.abs(p).sum()) for p in products)


def check_first_order(f: Function, values: Sequence[Array], rng: np.random.Generator) -> Function:
    """Check both modes on random directions; returns the gradient, weighted at random, as a function.

    Raises:
        AssertionError: a derivative is off.
    """
    directions = [random_like(x.shape, x.dtype, rng) for x in values]
    weights = [random_like(root.shape, root.dtype, rng) for root in f.roots]
    moved = pushed_forward(f, directions)(values)
    for exact, measured, y in zip(moved, central_difference(f, values, directions), f(values), strict=True):
        scale = 1 + np.abs(exact).max(initial=0) + np.abs(y).max(initial=0)
        np.testing.assert_allclose(exact, measured, rtol=0, atol=DIFFERENCE_TOLERANCE * scale)
    gradient = pulled_back(f, weights)
    forward, scale = pairing(weights, moved)
    backward, other_scale = pairing(gradient(values), directions)
    np.testing.assert_allclose(backward, forward, rtol=0, atol=ADJOINT_TOLERANCE * (1 + scale + other_scale))
    return gradient


def check(f: Function, values: Sequence[Array], order: int = 2) -> None:
    """Check derivatives up to `order`: each is the derivative of a gradient of the one before."""
    rng = np.random.default_rng(7)
    for _ in range(order):
        f = check_first_order(f, values, rng)
