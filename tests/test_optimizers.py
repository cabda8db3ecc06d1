"""SciPy's optimisers, solvers and integrators with derivatives of ours, compiled code of theirs included."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.integrate import solve_ivp

import uopc_array as xp

START = np.asarray([-1.2, 1.0, 0.5])


def rosen(x: Any) -> Any:
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def residuals(x: Any) -> Any:
    return xp.concat([10.0 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


GRADIENT = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr"]
LONG = {method: {"maxfun" if method == "TNC" else "maxiter": 3000} for method in GRADIENT}
WITH_HESSIAN = ["Newton-CG", "dogleg", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"]


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("method", GRADIENT)
def test_minimize_with_value_and_gradient(method: str, jitted: bool) -> None:
    both = xp.value_and_grad(rosen)
    result = optimize.minimize(xp.jit(both) if jitted else both, START, jac=True, method=method, options=LONG[method])
    np.testing.assert_allclose(result.x, np.ones(3), atol=1e-2)


@pytest.mark.parametrize("method", GRADIENT)
def test_minimize_with_a_gradient_of_its_own(method: str) -> None:
    result = optimize.minimize(rosen, START, jac=xp.grad(rosen), method=method, options=LONG[method])
    np.testing.assert_allclose(result.x, np.ones(3), atol=1e-2)


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"])
def test_minimize_without_a_gradient(method: str) -> None:
    result = optimize.minimize(lambda x: xp.sum((x - 1.0) ** 2), START, method=method)
    np.testing.assert_allclose(result.x, np.ones(3), atol=1e-2)


@pytest.mark.parametrize("method", WITH_HESSIAN)
def test_minimize_with_a_hessian(method: str) -> None:
    near = np.asarray([0.8, 0.7, 0.5])  # dogleg wants a positive definite one
    function, hessian = (convex, xp.hessian(convex)) if method == "dogleg" else (rosen, xp.hessian(rosen))
    result = optimize.minimize(function, near, jac=xp.grad(function), hess=hessian, method=method)
    np.testing.assert_allclose(result.x, np.ones(3), atol=1e-2)


def convex(x: Any) -> Any:
    return xp.sum((x - 1.0) ** 2 + 0.1 * (x - 1.0) ** 4)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"])
def test_minimize_with_products_of_the_hessian(method: str) -> None:
    def product(x: Any, v: Any) -> Any:
        return xp.jvp(xp.grad(rosen), (x,), (v,))[1]

    result = optimize.minimize(
        rosen, START, jac=xp.grad(rosen), hessp=product, method=method, options={"maxiter": 2000}
    )
    np.testing.assert_allclose(result.x, np.ones(3), atol=1e-2)


@pytest.mark.parametrize("method", [None, "L-BFGS-B", "TNC", "SLSQP", "trust-constr"])
def test_bounds(method: str | None) -> None:
    bounds = [(xp.asarray(-2.0), xp.asarray(0.5))] * 3
    lower: Any = xp.full(3, -2.0)
    upper: Any = xp.full(3, 0.5)
    as_object = optimize.Bounds(lower, upper)
    for given in (bounds, as_object):
        options = LONG[method] if method else None
        result = optimize.minimize(
            xp.value_and_grad(rosen), START, jac=True, method=method, bounds=given, options=options
        )
        assert np.all(result.x <= 0.5 + 1e-6)
        np.testing.assert_allclose(result.x[0], 0.5, atol=1e-2)


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")  # SciPy's, of a constraint that is linear
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints(method: str) -> None:
    def on_a_plane(x: Any) -> Any:
        return xp.sum(x, keepdims=True) - 1.0

    constraint = {"type": "eq", "fun": on_a_plane, "jac": xp.jacfwd(on_a_plane)}
    result = optimize.minimize(
        lambda x: xp.sum(x**2), START, jac=xp.grad(lambda x: xp.sum(x**2)), method=method, constraints=[constraint]
    )
    np.testing.assert_allclose(result.x, np.full(3, 1 / 3), atol=1e-3)
    plane: Any = xp.asarray([1.0])
    linear = optimize.LinearConstraint(xp.ones((1, 3)), plane, plane)
    again = optimize.minimize(
        lambda x: xp.sum(x**2), START, jac=xp.grad(lambda x: xp.sum(x**2)), method=method, constraints=[linear]
    )
    np.testing.assert_allclose(again.x, np.full(3, 1 / 3), atol=1e-3)


@pytest.mark.parametrize("jac", [xp.jacfwd(residuals), xp.jacrev(residuals)], ids=["jacfwd", "jacrev"])
@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method: Any, jac: Any) -> None:
    result = optimize.least_squares(residuals, START, jac=jac, method=method)
    np.testing.assert_allclose(result.x, np.ones(3), atol=1e-6)
    if method != "lm":
        bounded = optimize.least_squares(
            residuals, np.full(3, -1.0), jac=jac, method=method, bounds=(xp.full(3, -2.0), xp.full(3, 0.5))
        )
        assert np.all(bounded.x <= 0.5 + 1e-9)


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_root(method: str) -> None:
    def system(x: Any) -> Any:
        return xp.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

    result = optimize.root(system, np.zeros(2), jac=xp.jacfwd(system), method=method)
    np.testing.assert_allclose(result.x, [0.8411639, 0.1588361], atol=1e-6)


@pytest.mark.parametrize("method", ["broyden1", "anderson", "krylov", "df-sane"])
def test_root_without_a_jacobian(method: str) -> None:
    result = optimize.root(lambda x: x - xp.cos(x) / 2, np.zeros(2), method=method)
    np.testing.assert_allclose(result.x, np.full(2, 0.450183611), atol=1e-4)


@pytest.mark.parametrize("method", ["newton", "halley", "brentq"])
def test_root_of_a_number(method: str) -> None:
    function = lambda x: x**3 - 2.0  # noqa: E731 (what users write)
    first = xp.grad(function)
    arguments = {"newton": {"fprime": first}, "halley": {"fprime": first, "fprime2": xp.grad(first)}}.get(method)
    if arguments is None:
        found: Any = optimize.brentq(function, 0.0, 2.0)
    else:
        found = optimize.root_scalar(function, x0=1.0, method=method, **arguments).root
    np.testing.assert_allclose(float(found), 2 ** (1 / 3), rtol=1e-8)


@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
def test_curve_fit(method: str) -> None:
    def model(t: Any, a: Any, b: Any) -> Any:
        return a * xp.exp(-b * xp.asarray(t))

    def jacobian(t: Any, a: Any, b: Any) -> Any:
        return xp.stack(xp.jacfwd(lambda a, b: model(t, a, b), (0, 1))(a, b), axis=-1)

    t = np.linspace(0, 4, 50)
    found, _ = optimize.curve_fit(model, t, 2.5 * np.exp(-1.3 * t), p0=[1.0, 1.0], jac=jacobian, method=method)
    np.testing.assert_allclose(found, [2.5, 1.3], rtol=1e-6)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_solve_ivp(method: str) -> None:
    def flow(t: Any, y: Any) -> Any:
        y = xp.asarray(y)
        return xp.stack([y[1], -y[0]])

    extra: dict[str, Any] = (
        {} if method in ("RK45", "DOP853") else {"jac": lambda t, y: xp.jacfwd(lambda y: flow(t, y))(xp.asarray(y))}
    )
    result = solve_ivp(flow, (0.0, 3.0), xp.asarray([1.0, 0.0]), method=method, rtol=1e-8, atol=1e-10, **extra)
    np.testing.assert_allclose(result.y[:, -1], [np.cos(3.0), -np.sin(3.0)], atol=1e-5)


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_numpy_makes_arrays_of_its_own_of_ours(name: str) -> None:
    function = getattr(np, name)
    for x in (xp.asarray(3.0), xp.ones(2), xp.ones((2, 3))):
        assert type(function(x)) is np.ndarray
        assert np.array_equal(function(x), function(np.asarray(x)))
        one, two = function(x, np.ones(2))
        assert type(one) is type(two) is np.ndarray
        assert isinstance(getattr(xp, name)(x), xp.Array)
    slope = xp.grad(lambda x: xp.sum(function(x) ** 2))(xp.ones(2))
    assert np.asarray(slope).tolist() == [2.0, 2.0]
