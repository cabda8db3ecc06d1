"""Derivatives: reverse against forward mode, central differences of NumPy's run, under jit, through functions that are
called as units, and the second order.

The function is the sum of all floating results, each with weights of its own. Where it has a kink at the point, where
its value is not finite, or where it is too sensitive for differences to mean anything, nothing is compared. Whether a
derivative is right is found out interpreted; compiled it must have the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import uopc_array as xp
from tests.fuzz.judge import Failure, Refusal, same_bits
from tests.fuzz.program import Program
from uopc_core import context
from uopc_core.errors import GradientError, TraceError

__all__ = ["check_grad"]

STEP = 1e-5
NEAR, MODES_AGREE = 2e-5, 1e-8  # relative to the sum of magnitudes: of differences, of two modes of one derivative
NOISE = 1e-5  # what a value of 1 adds to the magnitudes: differences lose its last digits

UNITS: dict[str, Callable[[Any], Any]] = {
    "checkpoint": xp.checkpoint,
    "jit(inline=False)": functools.partial(xp.jit, inline=False),
}

Values = np.ndarray[Any, Any]


def _weights(results: Sequence[Values]) -> list[Values | None]:
    draw = np.random.default_rng(17)
    return [draw.uniform(0.5, 1.5, x.shape) if x.dtype.kind == "f" else None for x in results]


class _Problem:
    """A program as a real function of its floating arrays, ours and NumPy's.

    Args:
        wrap: what ours is made of the program by; by default nothing.
    """

    def __init__(self, program: Program, wrap: Callable[[Any], Any] = lambda f: f) -> None:
        self.program = program
        self.wrap = wrap
        self.arguments = program.arguments
        self.places = [k for k, x in enumerate(self.arguments) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
        self.point = [self.arguments[k] for k in self.places]
        try:
            results = [np.asarray(x) for x in program.pure(np)(*self._all(self.point, np))]
        except Exception as error:
            raise Refusal("NumPy raises an error") from error
        self.weights = _weights(results)
        if not self.places or all(w is None for w in self.weights):
            raise Refusal("nothing floating")

    def _all(self, floats: Sequence[Any], ns: Any) -> list[Any]:
        full = [x.copy() if isinstance(x, np.ndarray) else x for x in self.arguments]
        for place, x in zip(self.places, floats, strict=True):
            full[place] = x.copy() if ns is xp else np.array(x)  # of its own: the program may write into it
        return full

    def _total(self, ns: Any, floats: Sequence[Any]) -> Any:
        function = self.program.pure(ns)
        results = (self.wrap(function) if ns is xp else function)(*self._all(floats, ns))
        terms = [ns.sum(x * w) for x, w in zip(results, self.weights, strict=True) if w is not None]
        return sum(terms[1:], terms[0])

    def ours(self, *floats: Any) -> Any:
        return self._total(xp, floats)

    def numpys(self, floats: Sequence[Any]) -> float:
        return float(self._total(np, floats))

    def direction(self, seed: int) -> list[Values]:
        draw = np.random.default_rng(seed)
        return [draw.uniform(-1, 1, x.shape) for x in self.point]


def _dot(a: Sequence[Any], b: Sequence[Any]) -> tuple[float, float]:
    """The inner product, and the sum of its terms' magnitudes."""
    terms = [np.asarray(x) * y for x, y in zip(a, b, strict=True)]
    return float(sum(np.sum(t) for t in terms)), float(sum(np.sum(np.abs(t)) for t in terms))


def _arrays(values: Sequence[Values]) -> list[Any]:
    return [xp.asarray(x) for x in values]


def _moved(point: Sequence[Values], direction: Sequence[Values], step: float) -> list[Values]:
    return [x + step * v for x, v in zip(point, direction, strict=True)]


def _difference(
    f: Callable[[list[Values]], float], point: Sequence[Values], v: Sequence[Values], size: float
) -> float | None:
    """The directional derivative by central differences, None where two steps or two sides disagree."""
    estimates = []
    for step in (STEP, STEP / 4):
        ahead, here, behind = f(_moved(point, v, step)), f(list(point)), f(_moved(point, v, -step))
        estimates += [(ahead - behind) / (2 * step), (ahead - here) / step, (here - behind) / step]
    if not np.isfinite(estimates).all() or np.ptp(estimates) > 1e-3 * (size + abs(estimates[0])):
        return None
    return estimates[0] if abs(estimates[0] - estimates[3]) < NEAR / 10 * (size + abs(estimates[0])) else None


def check_grad(program: Program, tier: str) -> Failure | None:
    """Each derivative in two ways."""
    problem = _Problem(program)
    try:
        with context(tier="interpret"):
            failure = _first_order(problem) or _second_order(problem)
        return failure or (None if tier == "interpret" else _bits(problem))
    except (GradientError, TraceError, np.linalg.LinAlgError) as error:
        raise Refusal(str(error)) from error  # the last where a matrix is singular, and its factors have no derivative
    except Refusal:
        raise
    except Exception as error:
        return Failure(f"grad: {type(error).__name__}", f"grad: raised {type(error).__name__}: {str(error)[:600]}")


def _gradient(problem: _Problem) -> Callable[..., Any]:
    return xp.grad(problem.ours, argnums=tuple(range(len(problem.places))))


def _first_order(problem: _Problem) -> Failure | None:
    point, v = problem.point, problem.direction(1)
    gradient = _gradient(problem)
    reverse = [np.asarray(x) for x in gradient(*_arrays(point))]
    value, tangent = xp.jvp(problem.ours, tuple(_arrays(point)), tuple(_arrays(v)))
    forward, (backward, size) = float(tangent), _dot(reverse, v)
    size += NOISE * (1 + abs(float(value)))
    if not np.isfinite([float(value), forward, backward]).all():
        raise Refusal("not finite")
    if abs(forward - backward) > MODES_AGREE * (size + abs(forward)) and not _sensitive(
        problem, gradient, v, backward, abs(forward - backward)
    ):
        return Failure("grad: modes", f"grad: reverse {backward!r}, forward {forward!r}")
    estimate = _difference(problem.numpys, point, v, size)
    if estimate is not None and abs(estimate - backward) > NEAR * (size + abs(estimate)):
        return Failure(
            "grad: differences", f"grad: along a direction {backward!r}, by differences of NumPy's run {estimate!r}"
        )
    compiled = xp.jit(gradient)
    for number in range(3):
        for a, b in zip(reverse, compiled(*_arrays(point)), strict=True):
            if not np.allclose(a, np.asarray(b), rtol=1e-7, atol=1e-9 * size + 1e-12):
                return Failure("grad: jit", f"grad: jit(grad) call {number + 1} gives {np.asarray(b)!r}, grad {a!r}")
    return _units(problem, reverse, size)


def _units(problem: _Problem, reverse: Sequence[Values], size: float) -> Failure | None:
    """The program called as a unit has the derivatives of the program, in both modes."""
    v = problem.direction(1)
    for name, wrap in UNITS.items():
        unit = _Problem(problem.program, wrap)
        found = [np.asarray(x) for x in _gradient(unit)(*_arrays(unit.point))]
        for a, b in zip(reverse, found, strict=True):
            if not np.allclose(a, b, rtol=1e-7, atol=1e-9 * size + 1e-12):
                return Failure(f"grad: {name}", f"grad: {name} has the gradient {b!r}, the program itself {a!r}")
        _, tangent = xp.jvp(unit.ours, tuple(_arrays(unit.point)), tuple(_arrays(v)))
        backward, _ = _dot(found, v)
        if abs(float(tangent) - backward) > MODES_AGREE * (size + abs(backward)) and not _sensitive(
            unit, _gradient(unit), v, backward, abs(float(tangent) - backward)
        ):
            return Failure(f"grad: {name}, modes", f"grad: {name}: reverse {backward!r}, forward {float(tangent)!r}")
    return None


def _derivatives(problem: _Problem) -> list[Values]:
    """Of the first and the second order, backward and forward."""
    point, u = problem.point, problem.direction(1)
    gradient, along = _gradient(problem), _along(problem)
    value, tangent = xp.jvp(problem.ours, tuple(_arrays(point)), tuple(_arrays(u)))
    twice = xp.grad(along, argnums=tuple(range(len(point))))(*_arrays(point))
    return [np.asarray(x) for x in (*gradient(*_arrays(point)), value, tangent, *twice)]


def _bits(problem: _Problem) -> Failure | None:
    """Compiled, every derivative has the bits that it has interpreted, under `jit` too.

    Of the same graph: what is computed at its line twice is two leaves, where a graph has one node, through which a
    derivative is added up in another order.
    """
    with context(tier="interpret", at_once=0):
        wanted = _derivatives(problem)
    runs = {"compiled": _derivatives(problem)}
    jitted = xp.jit(_gradient(problem))
    for number in (1, 2):
        runs[f"jit(grad), call {number}"] = [np.asarray(x) for x in jitted(*_arrays(problem.point))]
    for name, found in runs.items():
        for place, (a, b) in enumerate(zip(wanted, found, strict=False)):
            if not same_bits(a, b):
                return Failure("grad: bits", f"grad: {name}, derivative {place}: {b!r}, interpreted {a!r}")
    return None


def _sensitive(problem: _Problem, gradient: Callable[..., Any], v: list[Values], backward: float, gap: float) -> bool:
    """Whether moving the point by rounding moves the derivative as much as the two modes differ."""
    moved = [x * (1 + 1e-13 * np.sign(w)) for x, w in zip(problem.point, problem.direction(3), strict=True)]
    other, _ = _dot([np.asarray(x) for x in gradient(*_arrays(moved))], v)
    return gap < 100 * abs(other - backward)


def _along(problem: _Problem) -> Callable[..., Any]:
    """The derivative along a direction, as a function of the point."""
    gradient, v = _gradient(problem), problem.direction(2)

    def along(*floats: Any) -> Any:
        terms = [xp.sum(g * w) for g, w in zip(gradient(*floats), v, strict=True)]
        return sum(terms[1:], terms[0])

    return along


def _second_order(problem: _Problem) -> Failure | None:
    point, u, along = problem.point, problem.direction(1), _along(problem)

    def along_numpys(floats: list[Values]) -> float:
        return float(along(*_arrays(floats)))

    value, tangent = xp.jvp(along, tuple(_arrays(point)), tuple(_arrays(u)))
    twice = xp.grad(along, argnums=tuple(range(len(point))))(*_arrays(point))
    forward, (backward, size) = float(tangent), _dot([np.asarray(x) for x in twice], u)
    size += NOISE * (1 + abs(float(value)))
    if not np.isfinite([forward, backward]).all():
        return None
    moved = _moved(point, u, 1e-9)
    if abs(forward - backward) > 10 * MODES_AGREE * (size + abs(forward)):
        other, _ = _dot([np.asarray(x) for x in xp.grad(along, argnums=tuple(range(len(point))))(*_arrays(moved))], u)
        if abs(forward - backward) > abs(other - backward):
            return Failure("grad: second modes", f"grad: second derivative, reverse {backward!r}, forward {forward!r}")
    estimate = _difference(along_numpys, point, u, size)
    if estimate is not None and abs(estimate - forward) > NEAR * (size + abs(estimate)):
        return Failure("grad: second differences", f"grad: second derivative {forward!r}, by differences {estimate!r}")
    return None
