"""A jitted function inside of another transformation is what the function itself is: nodes in the graph around it.

So a selection around it is seen by its derivative, and what stands on both of its sides is fused with it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import make_plan

X = np.array([0.3, 1.1, -0.7, 2.0])
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.25])


def several(x: Any) -> Any:
    parts = {"sine": xp.sin(x), "square": (x * x, x + 1.0)}
    return parts["sine"] * parts["square"][0] + parts["square"][1]


def captured() -> Callable[[Any], Any]:
    weights = xp.asarray(WEIGHTS)
    return lambda x: xp.exp(x * weights) + weights


def written(x: Any) -> Any:
    y = x * 1.0
    y[1:] = y[1:] * x[:-1]
    return y * y


def twice(x: Any) -> Any:
    inner = xp.jit(lambda y: xp.tanh(y) * y)
    return inner(inner(x))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "several parts": several,
    "captured array": captured(),
    "written to": written,
    "called twice": twice,
    "selection": lambda x: xp.where(x > 0, x**1.5, x * 3.0),
}


def tree(x: Any) -> Any:
    return {"sine": xp.sin(x), "rest": (xp.sum(x * x), x + 1.0)}


# each takes the function and gives a function of one array of 4
AROUND: dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], Any]]] = {
    "jit": lambda f: xp.jit(lambda x: f(x) + 1.0),
    "grad": lambda f: xp.grad(lambda x: xp.sum(f(x))),
    "second derivative": lambda f: xp.grad(lambda x: xp.sum(xp.grad(lambda y: xp.sum(f(y)))(x) ** 2)),
    "jit(grad)": lambda f: xp.jit(xp.grad(lambda x: xp.sum(f(x)))),
    "grad(jit)": lambda f: xp.grad(xp.jit(lambda x: xp.sum(f(x) * x))),
    "jit(grad(jit))": lambda f: xp.jit(xp.grad(xp.jit(lambda x: xp.sum(f(x) * x)))),
    "jvp": lambda f: lambda x: xp.jvp(f, (x,), (xp.asarray(WEIGHTS),))[1],
    "vmap": lambda f: lambda x: xp.vmap(f)(xp.stack([x, x * 0.5, x - 1.0])),
    "vmap(grad)": lambda f: lambda x: xp.vmap(xp.grad(lambda y: xp.sum(f(y))))(xp.stack([x, x * 0.5])),
    "jacobian": xp.jacrev,
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_jitted_function_is_the_function_inside_of_any_transformation(name: str, around: str) -> None:
    function = FUNCTIONS[name]
    wanted = np.asarray(AROUND[around](function)(xp.asarray(X)))
    transformed = AROUND[around](xp.jit(function))
    for _ in range(2):  # traced, and by the trace
        np.testing.assert_array_equal(np.asarray(transformed(xp.asarray(X))), wanted)


@pytest.mark.parametrize("around", [xp.jit, lambda f: f], ids=["jit", "plain"])
def test_several_results_come_in_their_containers(around: Callable[[Any], Any]) -> None:
    inner = xp.jit(tree)
    results = around(lambda x: {"inner": inner(x), "twice": [inner(x * 2.0)["rest"][0]]})(xp.asarray(X))
    np.testing.assert_array_equal(np.asarray(results["inner"]["sine"]), np.asarray(xp.sin(xp.asarray(X))))
    np.testing.assert_allclose(float(results["inner"]["rest"][0]), np.sum(X * X))
    np.testing.assert_allclose(float(results["twice"][0]), np.sum(4 * X * X))


@pytest.mark.parametrize("around", [xp.jit, xp.grad, lambda f: xp.jit(xp.grad(f))], ids=["jit", "grad", "jit(grad)"])
def test_what_it_writes_to_a_captured_array_is_written(around: Callable[[Any], Any]) -> None:
    seen = xp.zeros(4)

    @xp.jit
    def inner(x: Any) -> Any:
        seen[1] = seen[1] + 1.0
        return x * 2.0

    outer = around(lambda x: xp.sum(inner(x)))
    for turn in range(1, 4):
        outer(xp.asarray(X))
        assert np.asarray(seen).tolist() == [0.0, float(turn), 0.0, 0.0]


def test_a_selection_around_it_hides_what_its_derivative_has_no_value_of() -> None:
    logarithm = xp.jit(lambda x: xp.log(x))
    gradient = xp.grad(lambda x: xp.sum(xp.where(x > 0, logarithm(x), 0.0)))
    assert np.asarray(gradient(xp.asarray([0.0, 2.0]))).tolist() == [0.0, 0.5]


def test_it_is_fused_with_what_stands_around_it() -> None:
    scaled = xp.jit(lambda x: x * 2.0 + 1.0)
    counts: list[int] = []

    def outer(x: Any) -> Any:
        result = xp.sum(scaled(scaled(x)) ** 2)
        counts.append(len(make_plan([result._uop], keep_held=False)[0].kernels))
        return result

    with xp.context(at_once=0):
        xp.jit(outer)(xp.ones(1000))
    assert counts == [1]
