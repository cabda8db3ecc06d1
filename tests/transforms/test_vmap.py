"""Mapping functions over axes, alone and composed with the other transforms, against loops in NumPy."""

import numpy as np
import pytest

import uopc_array as xp
from uopc_array import grad, hessian, jacfwd, jacrev, jit, vmap
from uopc_core.errors import AxisError, ShapeError, TraceError

X = np.random.default_rng(0).standard_normal((4, 3, 5))
FUNCTIONS = {
    "elementwise": lambda x: xp.sin(x) * 2 + x,
    "reduction": lambda x: xp.sum(x * x, axis=0),
    "softmax": lambda x: xp.exp(x - xp.max(x)) / xp.sum(xp.exp(x - xp.max(x))),
    "product": lambda x: x @ xp.matrix_transpose(x),
    "scan": lambda x: xp.cumulative_sum(x, axis=1),
    "gather": lambda x: xp.take(x, xp.asarray([0, -1]), axis=0),
    "sort": lambda x: xp.sort(x, axis=-1),
    "concat": lambda x: xp.concat([x, x + 1]),
    "flip and pad": lambda x: xp.flip(x[1:, ::2]),
    "inverse": lambda x: xp.linalg.inv(x @ x.mT + xp.eye(x.shape[0])),
    "fft": lambda x: xp.abs(xp.fft.fft(x)),
    "no dependence": lambda x: xp.ones(3),
}


def assigned(x):
    y = x + 0.0
    y[0] = y[1] * 2
    return y


FUNCTIONS["assignment"] = assigned


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_mapping_gives_what_a_loop_gives(name: str, axis: int):
    f = FUNCTIONS[name]
    expected = np.stack([np.asarray(f(xp.asarray(x))) for x in np.moveaxis(X, axis, 0)])
    np.testing.assert_allclose(np.asarray(vmap(f, in_axes=axis)(xp.asarray(X))), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        np.asarray(vmap(f, in_axes=axis, out_axes=-1)(xp.asarray(X))),
        np.moveaxis(expected, 0, -1),
        rtol=1e-12,
        atol=1e-12,
    )


def test_arguments_may_be_shared_and_containers():
    def f(p, y):
        return {"s": xp.sum(p["a"] * y), "d": p["b"] - y}

    a, b, y = X[:, 0], X[:, 1], X[0, 2]
    out = vmap(f, in_axes=({"a": 0, "b": 1}, None), out_axes={"s": 0, "d": 1})(
        {"a": xp.asarray(a), "b": xp.asarray(b.T)}, xp.asarray(y)
    )
    np.testing.assert_allclose(np.asarray(out["s"]), (a * y).sum(1))
    np.testing.assert_allclose(np.asarray(out["d"]), (b - y).T)


def test_nested_maps_make_an_outer_product():
    x, y = xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0, 5.0])
    outer = vmap(vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))(x, y)
    np.testing.assert_array_equal(np.asarray(outer), np.outer([1.0, 2.0], [3.0, 4.0, 5.0]))


def test_maps_compose_with_grad_and_jit_both_ways():
    x = xp.asarray(X[0])
    per_row = vmap(grad(lambda r: xp.sum(xp.sin(r) * r)))(x)
    expected = np.cos(X[0]) * X[0] + np.sin(X[0])
    np.testing.assert_allclose(np.asarray(per_row), expected, rtol=1e-12)
    whole = grad(lambda x: xp.sum(vmap(lambda r: xp.sum(xp.sin(r) * r))(x)))(x)
    np.testing.assert_allclose(np.asarray(whole), expected, rtol=1e-12)
    for f in (jit(vmap(lambda r: xp.max(r))), vmap(jit(lambda r: xp.max(r)))):
        np.testing.assert_array_equal(np.asarray(f(x)), X[0].max(1))


def test_per_example_gradients_by_a_closed_over_variable():
    w = xp.asarray([1.0, -2.0, 3.0, 0.5, 0.0])
    rows = vmap(lambda x: grad(lambda w: xp.sum(w * x) ** 2)(w))(xp.asarray(X[0]))
    expected = 2 * (X[0] @ np.asarray(w))[:, None] * X[0]
    np.testing.assert_allclose(np.asarray(rows), expected, rtol=1e-12)


def test_jacobians_and_hessians():
    def f(x):
        return xp.stack([x[0] * x[1], xp.sin(x[0]), x[1] ** 3])

    x = xp.asarray([1.0, 2.0])
    expected = [[2.0, 1.0], [np.cos(1.0), 0.0], [0.0, 12.0]]
    np.testing.assert_allclose(np.asarray(jacrev(f)(x)), expected, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(jacfwd(f)(x)), expected, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(hessian(lambda x: x[0] ** 2 * x[1])(x)), [[4.0, 2.0], [2.0, 0.0]], rtol=1e-12)


def test_jacobian_by_several_arguments_in_containers():
    def f(p, s):
        return {"a": p["w"] * s, "b": s**2}

    p, s = {"w": xp.asarray([1.0, 2.0])}, xp.asarray(3.0)
    for jacobian in (jacrev(f, argnums=(0, 1))(p, s), jacfwd(f, argnums=(0, 1))(p, s)):
        np.testing.assert_allclose(np.asarray(jacobian["a"][0]["w"]), 3 * np.eye(2))
        np.testing.assert_allclose(np.asarray(jacobian["a"][1]), [1.0, 2.0])
        np.testing.assert_allclose(np.asarray(jacobian["b"][0]["w"]), [0.0, 0.0])
        np.testing.assert_allclose(np.asarray(jacobian["b"][1]), 6.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: vmap(lambda a, b: a)(x, x[0]), ShapeError, "one extent, got 3 and 4"),
        (lambda x: vmap(lambda a: a, in_axes=7)(x), AxisError, r"axis 7 is out of bounds .* \(4, 3, 5\)"),
        (lambda x: vmap(lambda a, s: a * s)(x, 2.0), AxisError, "use None in in_axes"),
        (lambda x: vmap(lambda a: a, in_axes=None)(x), ShapeError, "one argument or more to map over"),
        (lambda x: vmap(lambda a: a, in_axes=(0, 0))(x), ShapeError, "got 2 for 1"),
        (lambda x: vmap(lambda a: a, out_axes=5)(x), AxisError, "axis 5 of out_axes"),
        (lambda x: vmap(lambda a: float(a[0, 0]))(x), TraceError, "float needs a value"),
    ],
)
def test_mistakes_are_named(call, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        call(xp.asarray(X))
