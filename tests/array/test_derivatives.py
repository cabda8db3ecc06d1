"""Every differentiable function of the main namespace against central differences."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.array.derivatives import Function, check_first_order, check_forward_against_reverse, check_second_order

# Distinct, away from 0, from 1 and from each other, so that no kink is near.
X = np.asarray([[0.7, -1.3, 2.1], [0.31, 1.7, -0.45]])
Y = np.asarray([[1.9, 0.6, -0.8], [-1.5, 0.23, 2.7]])
SMALL, POSITIVE, OVER = X / 4, np.abs(X) + 0.2, np.abs(X) + 1.1
V = np.asarray([0.9, -0.4, 1.6])
Z = np.asarray([0.6 + 0.8j, -1.1 + 0.3j, 0.4 - 1.2j])
W = np.asarray([1.3 - 0.2j, 0.5 + 0.9j, -0.7 + 0.6j])
PLACES = np.asarray([2, 0, 2])
MASK = X > 0.5

REAL: dict[str, tuple[Function, tuple[Any, ...]]] = {
    **{name: (getattr(xp, name), (X,)) for name in (
        "abs asinh atan cos cosh exp expm1 negative positive reciprocal sin sinh square tanh conj real"
    ).split()},
    **{name: (getattr(xp, name), (SMALL,)) for name in ("acos", "asin", "atanh", "log1p", "tan")},
    **{name: (getattr(xp, name), (POSITIVE,)) for name in ("log", "log2", "log10", "sqrt")},
    "acosh": (xp.acosh, (OVER,)),
    **{name: (getattr(xp, name), (X, Y)) for name in (
        "add atan2 copysign divide hypot logaddexp maximum minimum multiply remainder subtract"
    ).split()},
    "add broadcast": (xp.add, (X, V)),
    "multiply broadcast": (xp.multiply, (V, X)),
    "pow": (xp.pow, (POSITIVE, Y)),
    "pow of a negative base": (lambda x: xp.pow(x, 3), (X,)),
    "clip": (lambda x: xp.clip(x, -0.5, 1.0), (X,)),
    "clip by arrays": (xp.clip, (X, np.asarray(-0.6), V + 0.05)),
    "where": (lambda x, y: xp.where(xp.asarray(MASK), x, y), (X, Y)),
    "sum": (lambda x: xp.sum(x, axis=0), (X,)),
    "mean": (lambda x: xp.mean(x, axis=1, keepdims=True), (X,)),
    "prod": (lambda x: xp.prod(x, axis=1), (X,)),
    "prod with a zero": (lambda x: xp.prod(x, axis=1), (X * (X != 2.1),)),
    "prod with two zeros": (xp.prod, (np.asarray([0.0, 2.0, 0.0, 3.0]),)),
    "max": (lambda x: xp.max(x, axis=1), (X,)),
    "min": (xp.min, (X,)),
    "var": (lambda x: xp.var(x, axis=0), (X,)),
    "std": (lambda x: xp.std(x, axis=1, correction=1), (X,)),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=1, include_initial=True), (X,)),
    "cumulative_prod": (lambda x: xp.cumulative_prod(x, axis=0), (X,)),
    "cumulative_prod with zeros": (xp.cumulative_prod, (np.asarray([4.0, 0.0, 5.0, 0.0]),)),
    "diff": (lambda x: xp.diff(x, axis=1, n=2), (X,)),
    "sort": (lambda x: xp.sort(x, axis=1), (X,)),
    "sort descending": (lambda x: xp.sort(x, axis=0, descending=True), (X,)),
    "take": (lambda x: xp.take(x, xp.asarray(PLACES), axis=1), (X,)),
    "take_along_axis": (lambda x: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1), (X,)),
    "matmul": (xp.matmul, (X, Y.T)),
    "matmul with a vector": (xp.matmul, (X, V)),
    "matmul batched": (xp.matmul, (X[:, None, :], np.stack([Y.T, X.T]))),
    "tensordot": (xp.tensordot, (X, Y)),
    "vecdot": (xp.vecdot, (X, V)),
    "matrix_transpose": (xp.matrix_transpose, (X,)),
    "einsum": (lambda x, y, v: xp.einsum("ij,kj,j->ik", x, y, v), (X, Y, V)),
    "einsum diagonal": (lambda x: xp.einsum("ii->i", x), (X[:, :2],)),
    "concat": (lambda x, y: xp.concat([x, y], axis=1), (X, Y)),
    "stack": (lambda x, y: xp.stack([x, y, x], axis=-1), (X, Y)),
    "unstack": (lambda x: xp.unstack(x)[1], (X,)),
    "broadcast_to": (lambda v: xp.broadcast_to(v, (2, 3)), (V,)),
    "broadcast_arrays": (lambda v, x: xp.multiply(*xp.broadcast_arrays(v, x)), (V, X)),
    "expand_dims": (lambda x: xp.expand_dims(x, (0, 2)), (X,)),
    "squeeze": (lambda x: xp.squeeze(xp.reshape(x, (2, 1, 3)), 1), (X,)),
    "flip": (lambda x: xp.flip(x, axis=1), (X,)),
    "moveaxis": (lambda x: xp.moveaxis(x, 0, 1), (X,)),
    "permute_dims": (lambda x: xp.permute_dims(xp.reshape(x, (1, 2, 3)), (2, 0, 1)), (X,)),
    "repeat": (lambda x: xp.repeat(x, 2, axis=0), (X,)),
    "repeat by an array": (lambda x: xp.repeat(x, xp.asarray([0, 2, 1]), axis=1), (X,)),
    "roll": (lambda x: xp.roll(x, 4), (X,)),
    "tile": (lambda x: xp.tile(x, (2, 1, 2)), (X,)),
    "tril": (lambda x: xp.tril(x, k=-1), (X,)),
    "triu": (xp.triu, (X,)),
    "meshgrid": (lambda v: xp.meshgrid(v, v)[1], (V,)),
    "linspace": (lambda a, b: xp.linspace(a, b, 4), (np.asarray(0.3), np.asarray(1.9))),
    "astype": (lambda x: xp.astype(xp.astype(x, xp.complex128) * 2.0, xp.complex128), (X,)),
    "unique_values": (xp.unique_values, (X,)),
    "asarray of a list": (lambda x: xp.asarray([x[0, 0], 2.0, x[1, 2]]), (X,)),
}  # fmt: skip

COMPLEX: dict[str, tuple[Function, tuple[Any, ...]]] = {
    **{name: (getattr(xp, name), (Z,)) for name in (
        "abs acos acosh asin asinh atan atanh conj cos cosh exp expm1 imag log log10 log1p log2 negative real "
        "reciprocal sign sin sinh sqrt square tan tanh sum prod mean cumulative_sum cumulative_prod var"
    ).split()},
    **{name: (getattr(xp, name), (Z, W)) for name in "add divide multiply pow subtract vecdot matmul".split()},
    "abs squared": (lambda z: xp.real(z * xp.conj(z)), (Z,)),
    "a real argument beside a complex one": (lambda x, z: x * z, (V, Z)),
    "where": (lambda z, w: xp.where(xp.asarray([True, False, True]), z, w), (Z, W)),
    "take": (lambda z: xp.take(z, xp.asarray(PLACES)), (Z,)),
}  # fmt: skip


@pytest.mark.parametrize(("f", "arrays"), REAL.values(), ids=REAL.keys())
def test_a_real_derivative_agrees_with_central_differences(f: Function, arrays: tuple[Any, ...]) -> None:
    check_first_order(f, *arrays)


@pytest.mark.parametrize(("f", "arrays"), COMPLEX.values(), ids=COMPLEX.keys())
def test_a_complex_derivative_agrees_with_central_differences(f: Function, arrays: tuple[Any, ...]) -> None:
    check_first_order(f, *arrays)


BOTH = {**REAL, **{f"complex {name}": case for name, case in COMPLEX.items()}}


@pytest.mark.parametrize(("f", "arrays"), BOTH.values(), ids=BOTH.keys())
def test_forward_and_reverse_agree(f: Function, arrays: tuple[Any, ...]) -> None:
    check_forward_against_reverse(f, *arrays)


@pytest.mark.parametrize(("f", "arrays"), REAL.values(), ids=REAL.keys())
def test_a_second_derivative_agrees_with_central_differences(f: Function, arrays: tuple[Any, ...]) -> None:
    check_second_order(f, *arrays)


def test_a_rule_off_by_a_thousandth_is_found() -> None:
    def wrong(x: xp.Array) -> xp.Array:
        return xp.sin(x) + 0.001 * (xp.sin(x) - xp.stop_gradient(xp.sin(x)))

    with pytest.raises(AssertionError):
        check_first_order(wrong, X)


FLAT = ["ceil", "floor", "round", "sign", "trunc", "signbit", "isnan", "logical_not"]


@pytest.mark.parametrize("name", FLAT)
def test_a_function_of_steps_has_slope_0(name: str) -> None:
    out = xp.grad(lambda x: xp.sum(xp.astype(getattr(xp, name)(x), xp.float64) + x))(xp.asarray(X))
    np.testing.assert_array_equal(np.asarray(out), np.ones_like(X))


def test_floor_divide_has_slope_0_and_remainder_slope_1() -> None:
    x, y = xp.asarray(np.asarray([7.3, np.inf])), xp.asarray(np.asarray([2.0, 2.0]))
    np.testing.assert_array_equal(np.asarray(xp.grad(lambda t: xp.sum(xp.floor_divide(t, y)))(x)), [0.0, 0.0])
    np.testing.assert_array_equal(np.asarray(xp.grad(lambda t: xp.sum(xp.remainder(t, y)))(x))[0], 1.0)
