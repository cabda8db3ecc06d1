"""Derivatives of functions of the namespace: structure of arguments, nesting, what is refused, and what stays lazy."""

import gc

import numpy as np
import pytest
from scipy.optimize import minimize

import uopc_array as xp
from uopc_array import grad, jit, jvp, stop_gradient, value_and_grad, vjp
from uopc_core import TRACKED


def close(got, want, rtol=1e-12):
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=1e-12)


def test_arguments_by_number_and_by_name_of_a_tree():
    def f(params, x, scale=1.0):
        return xp.sum((params["w"] * x + params["b"][0]) * scale)

    params = {"w": xp.asarray([1.0, 2.0]), "b": [xp.asarray(0.5)]}
    x = xp.asarray([3.0, 4.0])
    value, (d_params, d_x) = value_and_grad(f, argnums=(0, 1))(params, x, scale=2.0)
    assert float(value) == 24.0
    close(d_params["w"], [6.0, 8.0])
    close(d_params["b"][0], 4.0)
    close(d_x, [2.0, 4.0])
    close(grad(f, argnums=1)(params, x), [1.0, 2.0])
    close(grad(f, argnums=-1)(params, x), [1.0, 2.0])
    (only,) = grad(f, argnums=(1,))(params, x)
    close(only, [1.0, 2.0])


def test_auxiliary_results_come_back_as_they_are():
    def f(x):
        y = x * x
        return xp.sum(y), {"y": y, "n": 3, "none": None}

    (value, aux), d = value_and_grad(f, has_aux=True)(xp.asarray([1.0, 2.0]))
    assert (float(value), aux["y"].tolist(), aux["n"], aux["none"]) == (5.0, [1.0, 4.0], 3, None)
    close(d, [2.0, 4.0])
    d, aux = grad(f, has_aux=True)(xp.asarray([1.0, 2.0]))
    assert aux["y"].tolist() == [1.0, 4.0]
    with pytest.raises(TypeError, match="pair"):
        grad(lambda x: xp.sum(x), has_aux=True)(xp.ones(2))


def test_python_floats_and_numpy_arrays_are_fine_arguments():
    close(grad(lambda x: x**3)(2.0), 12.0)
    close(grad(lambda x: xp.sum(x * x))(np.array([1.0, 2.0])), [2.0, 4.0])
    close(grad(lambda x: xp.sum(xp.asarray([1.0, 2.0], dtype=xp.float32) * x))(3.0), 3.0)
    assert grad(lambda x: x * x)(np.float32(3)).dtype == np.float32


def test_scipy_minimizes_with_the_gradient():
    def rosen(x):
        return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2

    result = minimize(value_and_grad(rosen), np.asarray([-1.2, 1.0]), jac=True, method="BFGS")
    close(result.x, [1.0, 1.0], rtol=1e-4)


def test_higher_derivatives():
    d = f = xp.sin
    x = xp.asarray(0.7)
    for want in (np.cos, lambda v: -np.sin(v), lambda v: -np.cos(v), np.sin):
        d = grad(d)
        close(d(x), want(0.7))
    close(grad(lambda x: xp.sum(grad(lambda y: xp.sum(y**3))(x)))(xp.asarray([1.0, 2.0])), [6.0, 12.0])
    assert f is xp.sin


def test_nested_derivatives_do_not_confuse_their_variables():
    close(grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0), 1.0)
    close(grad(lambda x: x * grad(lambda y: x * y * y)(x))(3.0), 3 * 2 * 9.0)
    x = xp.asarray(3.0)
    close(grad(lambda y: x * y)(x), 3.0)
    _, inner = jvp(lambda x: grad(lambda y: x * y * y)(2.0), (5.0,), (1.0,))
    close(inner, 4.0)


def test_a_function_may_look_at_values():
    def f(x):
        y = x * x
        if bool(xp.all(y < 100.0)) and y[0] < 50 and 1.0 in y:
            return xp.sum(y * x)
        return xp.sum(x)

    close(grad(f)(xp.asarray([1.0, 2.0])), [3.0, 12.0])


def test_what_the_function_does_not_depend_on_has_gradient_zero():
    d_x, d_y = grad(lambda x, y: xp.sum(x), argnums=(0, 1))(xp.ones(2), xp.ones(3))
    close(d_x, [1.0, 1.0])
    close(d_y, [0.0, 0.0, 0.0])
    close(grad(lambda x: 3.0)(xp.ones(2)), [0.0, 0.0])


def test_stop_gradient_makes_constants():
    w = xp.asarray([1.0, 2.0])
    close(grad(lambda w: xp.sum(w * stop_gradient(w)))(w), [1.0, 2.0])
    close(grad(lambda w: xp.sum(w * stop_gradient({"a": w})["a"]))(w), [1.0, 2.0])


def test_gradient_of_a_real_function_of_complex_numbers():
    z = xp.asarray([1.0 + 2.0j])
    close(grad(lambda z: xp.sum(xp.real(z * xp.conj(z))))(z), [2.0 - 4.0j])


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (lambda x: x * x, (xp.asarray([1.0, 2.0]),), r"must return a number, shape \(\), got shape \(2,\)"),
        (lambda x: xp.sum(x), (xp.asarray([1, 2]),), "argument 0 must be floating"),
        (lambda x: xp.sum(x["a"]), ({"a": 1},), r"argument 0\['a'\] must be floating"),
        (lambda x: xp.sum(x), ("text",), "argument 0 must be a floating array"),
        (lambda x: xp.sum(x) > 0, (xp.ones(2),), "real floating number, got bool"),
        (lambda x: xp.sum(x) * 1j, (xp.ones(2),), "real floating number, got complex128; take its real part"),
        (lambda x: np.sum(np.asarray(x)), (xp.ones(2),), "returned a NumPy array"),
        (lambda x: (xp.sum(x), 1), (xp.ones(2),), "has_aux=True"),
        (lambda: 1.0, (), "argument 0 was asked for"),
    ],
    ids=["vector", "integer", "integer-leaf", "text", "bool", "complex", "numpy", "tuple", "missing"],
)
def test_refusals_are_type_errors_that_say_why(f, args, text):
    with pytest.raises(TypeError, match=text):
        grad(f)(*args)


def test_results_carry_no_history():
    x = xp.asarray([1.0, 2.0])
    (value, y), d = value_and_grad(lambda x: (xp.sum(x * x), x * 2), has_aux=True)(x)
    for result in (value, y, d):
        assert not result._uop.flags & TRACKED
    for _ in range(200):
        x = x - 0.01 * grad(lambda x: xp.sum(x * x))(x)
        float(x[0])
    assert x._uop.depth <= 10


def test_value_and_gradient_are_computed_together():
    value, d = value_and_grad(lambda x: xp.sum(xp.exp(x)))(xp.asarray([1.0, 2.0]))
    assert d._uop.realized is None
    float(value)
    assert d._uop.realized is not None
    close(d, np.exp([1.0, 2.0]))


def test_a_gradient_that_nobody_wants_is_not_computed():
    value, d = value_and_grad(lambda x: xp.sum(xp.exp(x)))(xp.asarray([1.0, 2.0]))
    del d
    gc.collect()
    close(value, np.exp([1.0, 2.0]).sum())


def test_a_loop_of_2000_steps():
    def f(x):
        for _ in range(2000):
            x = x * 1.0001
        return x

    close(grad(f)(xp.asarray(1.0)), 1.0001**2000, rtol=1e-9)


def test_vjp_pulls_cotangents_back():
    x, y = xp.asarray([1.0, 2.0]), xp.asarray(3.0)
    value, pull = vjp(lambda x, y: {"p": x * y, "s": xp.sum(x)}, x, y)
    close(value["p"], [3.0, 6.0])
    d_x, d_y = pull({"p": xp.asarray([1.0, 10.0]), "s": 2.0})
    close(d_x, [5.0, 32.0])
    close(d_y, 21.0)
    with pytest.raises(ValueError, match="shape"):
        pull({"p": xp.ones(3), "s": 1.0})
    with pytest.raises(TypeError, match="structure"):
        pull([1.0])


def test_jvp_pushes_tangents_forward():
    x = xp.asarray([1.0, 2.0])
    value, tangent = jvp(lambda x, s: (xp.sin(x) * s, xp.sum(x)), (x, 2.0), (xp.asarray([1.0, 0.5]), 1.0))
    close(value[0], 2 * np.sin([1.0, 2.0]))
    close(tangent[0], 2 * np.cos([1.0, 2.0]) * [1.0, 0.5] + np.sin([1.0, 2.0]))
    close(tangent[1], 1.5)
    with pytest.raises(TypeError, match="structure"):
        jvp(xp.sin, (x,), (x, x))


def test_forward_and_reverse_agree():
    random = np.random.default_rng(0)
    a = xp.asarray(random.standard_normal((3, 3)))

    def f(x):
        y = xp.tanh(a @ x)
        y[0] = xp.sum(x[x > 0]) * y[1]
        return xp.cumulative_sum(y) / (1 + xp.max(xp.abs(y)))

    x, dx, ct = (xp.asarray(random.standard_normal(3)) for _ in range(3))
    _, tangent = jvp(f, (x,), (dx,))
    _, pull = vjp(f, x)
    close(xp.sum(tangent * ct), np.asarray(xp.sum(pull(ct)[0] * dx)))


@pytest.mark.parametrize("outer", [jit, lambda f: f], ids=["jit", "eager"])
@pytest.mark.parametrize("inner", [jit, lambda f: f], ids=["jit", "eager"])
def test_grad_over_and_under_jit(outer, inner):
    f = inner(lambda x, k: xp.sum(xp.sin(x) * k))
    close(outer(grad(f))(xp.asarray([1.0, 2.0]), 3.0), 3 * np.cos([1.0, 2.0]))
    second = outer(grad(lambda x: xp.sum(grad(f)(x, 2.0) ** 2)))
    close(second(xp.asarray([1.0])), [-8 * np.cos(1.0) * np.sin(1.0)])
