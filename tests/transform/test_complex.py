"""Derivatives of complex functions: the convention, seen from outside."""

import numpy as np
import pytest

from tests.support.derivative_checks import leaf_like, slope, value
from uopc_core.dtype import dtypes
from uopc_core.ir import Ops, UOp
from uopc_core.ir.op import COMPLEX_FUNCTIONS
from uopc_core.transform.gradient import gradient
from uopc_core.transform.jvp import jvp

Z = np.array([0.3 + 0.4j, -1.2 + 0.7j, 0.9 - 1.1j])
STEP = 1e-6


def modulus_squared(z: UOp) -> UOp:
    return (z * z.unary(Ops.CONJ)).unary(Ops.REAL)


LOSSES = {
    "modulus squared": modulus_squared,
    "real part of exp": lambda z: z.unary(Ops.EXP).unary(Ops.REAL),
    "imaginary part of a product with the conjugate of a sine": lambda z: (z * z.unary(Ops.SIN).unary(Ops.CONJ)).unary(
        Ops.IMAG
    ),
    "modulus": lambda z: z.unary(Ops.ABS),
    "polar form": lambda z: z.unary(Ops.IMAG).binary(Ops.ATAN2, z.unary(Ops.REAL)) * z.unary(Ops.ABS),
    "power": lambda z: (z ** (0.5 + 2j)).unary(Ops.REAL),
    "swapped parts": lambda z: modulus_squared(z.unary(Ops.IMAG).binary(Ops.COMPLEX, z.unary(Ops.REAL)) * (1 + 2j)),
}


def _loss_at(loss, z: np.ndarray) -> float:
    leaf = leaf_like(z)
    return value(loss(leaf).reduce(Ops.ADD, 1), {leaf: z})


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
def test_gradient_of_a_real_loss_is_the_conjugate_of_its_steepest_ascent(loss) -> None:
    found = np.array(slope(loss, Z))
    for k in range(len(Z)):
        unit = np.eye(len(Z))[k] * STEP
        by_real = (_loss_at(loss, Z + unit) - _loss_at(loss, Z - unit)) / (2 * STEP)
        by_imag = (_loss_at(loss, Z + 1j * unit) - _loss_at(loss, Z - 1j * unit)) / (2 * STEP)
        np.testing.assert_allclose(found[k], by_real - 1j * by_imag, rtol=1e-7, atol=1e-8)


def test_gradient_of_the_modulus_squared() -> None:
    assert slope(modulus_squared, [3 + 4j]) == [6 - 8j]


def test_a_step_against_the_conjugate_of_the_gradient_lowers_the_loss() -> None:
    def loss(z: UOp) -> UOp:
        return modulus_squared(z - (1 + 2j))

    g = np.array(slope(loss, Z))
    assert _loss_at(loss, Z - 0.25 * g.conj()) < _loss_at(loss, Z) / 3


@pytest.mark.parametrize("op", sorted(COMPLEX_FUNCTIONS), ids=lambda op: op.name)
def test_gradient_of_a_holomorphic_function_is_its_complex_derivative(op: Ops) -> None:
    """It agrees with the real derivative where the argument is real, and does not depend on the direction."""
    z = leaf_like(np.complex128(0))
    at = 0.4 + 0.3j
    (g,) = gradient(z.unary(op), [z])
    along = [value(jvp([z.unary(op)], [z], [UOp.const(d, dtypes.complex128)])[0], {z: at}) / d for d in (1.0, 1j)]
    np.testing.assert_allclose(along, value(g, {z: at}), rtol=1e-13)


def test_tangent_of_the_modulus_squared() -> None:
    z = leaf_like(np.complex128(0))
    (t,) = jvp([modulus_squared(z)], [z], [UOp.const(1 + 1j, dtypes.complex128)])
    assert value(t, {z: 5 - 2j}) == 6.0


def test_gradient_by_a_real_number_that_turns_complex_is_real() -> None:
    x = leaf_like(np.float32(0))
    (g,) = gradient((x.cast(dtypes.complex64) * 1j).unary(Ops.EXP).unary(Ops.REAL), [x])
    assert g.dtype is dtypes.float32
    np.testing.assert_allclose(value(g, {x: 0.5}), -np.sin(0.5), rtol=1e-6)
