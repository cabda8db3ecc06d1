"""Derivatives are finite and exact wherever the function is smooth: at zeros, at the ends of the range, under a zero
cotangent.
"""

from collections.abc import Callable
from math import cosh, exp, inf, log, nan

import numpy as np
import pytest

from tests.support.derivative_checks import Function, gradients, leaf_like, slope, value
from tests.support.derivative_records import integers, scatter
from uopc_core.dtype import dtypes
from uopc_core.ir import Ops, UOp
from uopc_core.ir.composite import ones_like
from uopc_core.transform.gradient import gradient
from uopc_core.transform.jvp import jvp


def norm(x: UOp) -> UOp:
    return (x * x).reduce(Ops.ADD, 1).unary(Ops.SQRT)


def derivatives(build: Callable[[UOp], UOp], at: float, order: int) -> list[float]:
    """The value of derivative 1, 2, ... at one number."""
    x = leaf_like(np.float64(at))
    nodes = [build(x)]
    for _ in range(order):
        nodes.append(gradient(nodes[-1], [x])[0])
    return [float(y) for y in Function([x], nodes[1:])([np.array(at)])]


def directional(build: Callable[[UOp], UOp], at: float | list[float]) -> float:
    x = leaf_like(np.asarray(at))
    (t,) = jvp([build(x)], [x], [ones_like(x)])
    return value(t, {x: at}).tolist()


# -------------------------------------------------------------------------------------------------------- strong zeros

UNSELECTED = {
    "sqrt": lambda x: x.unary(Ops.SQRT),
    "log": lambda x: x.unary(Ops.LOG),
    "reciprocal": lambda x: x.recip(),
    "sin(x) / x": lambda x: x.unary(Ops.SIN) / x,
    "power": lambda x: x**0.5,
    "root of a root": lambda x: x.unary(Ops.SQRT).unary(Ops.SQRT),
    "arcsine, beyond its domain": lambda x: (x + 2.0).unary(Ops.ASIN),
    "product with infinity": lambda x: x * (x * 0.0).recip(),
    "largest of a product with infinity": lambda x: (x * inf).binary(Ops.MAX, x),
    "product of a column with infinity": lambda x: (x * inf).reshape((2, 1)).expand((2, 2)).reduce(Ops.MUL, 1),
}


@pytest.mark.parametrize("branch", UNSELECTED.values(), ids=UNSELECTED.keys())
def test_a_branch_not_taken_has_no_say(branch: Callable[[UOp], UOp]) -> None:
    def f(x: UOp) -> UOp:
        return (x > 0.5).where(branch(x), 0.0)

    (found,) = gradients(f, [0.0, 0.0])
    assert found == [0.0, 0.0]
    assert directional(f, [0.0, 0.0]) == [0.0, 0.0]


@pytest.mark.parametrize("branch", UNSELECTED.values(), ids=UNSELECTED.keys())
def test_a_branch_not_taken_has_no_say_in_second_derivatives(branch: Callable[[UOp], UOp]) -> None:
    x = leaf_like(np.zeros(2))
    f = (x > 0.5).where(branch(x), x * x)
    (g,) = gradient(f, [x])
    for second in (gradient(g, [x])[0], jvp([g], [x], [ones_like(x)])[0]):
        assert value(second, {x: np.zeros(2)}).tolist() == [2.0, 2.0]


def test_selection_among_gradients() -> None:
    x = leaf_like(np.zeros(2))
    (g,) = gradient(x.unary(Ops.SQRT).unary(Ops.SQRT), [x])
    (found,) = gradient((x > 0).where(g, 0.0), [x])
    np.testing.assert_allclose(value(found, {x: [0.0, 1.0]}), [0.0, -3 / 16])


def test_removable_singularity() -> None:
    f = slope(lambda x: x.eq(0).where(1.0, x.unary(Ops.SIN) / x), [0.0, 1.0])
    np.testing.assert_allclose(f, [0.0, -0.30116867893975674], rtol=1e-14)


def test_elements_cut_away_or_not_picked_have_no_say() -> None:
    x = [0.0, 4.0]
    assert slope(lambda x: x.unary(Ops.SQRT).shrink(((1, 2),)), x) == [0.0, 0.25]
    assert slope(lambda x: x.unary(Ops.LOG).index(integers(1, 1)), x) == [0.0, 0.5]
    assert slope(lambda x: (x * (x * 0.0).recip()).shrink(((1, 1),)), x) == [0.0, 0.0]
    assert slope(lambda x: scatter("set", x.unary(Ops.SQRT), x.shrink(((1, 2),)), integers(0)), x) == [0.0, 1.25]


def test_a_zero_by_value_times_an_infinite_slope_is_nan() -> None:
    for f in (lambda x: x.unary(Ops.SQRT) * 0.0, lambda x: (x * 0.0).unary(Ops.SQRT)):
        assert np.isnan(slope(f, [0.0])).all()
        assert np.isnan(directional(f, [0.0])).all()


def test_the_square_of_a_norm_is_smooth() -> None:
    assert slope(lambda x: norm(x) ** 2.0, [0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0]
    assert directional(lambda x: norm(x) ** 2.0, [0.0, 0.0]) == 0.0


def test_a_zero_that_is_passed_through_keeps_its_slope() -> None:
    """The second derivative of ``log(x)**2`` at 1, where the first is a strong product with the zero ``log(1)``."""
    assert derivatives(lambda x: x.unary(Ops.LOG) * x.unary(Ops.LOG), 1.0, 3) == [0.0, 2.0, -6.0]


def test_masks_of_long_chains_are_built_without_recursion() -> None:
    """Every step moves the mask, or joins two."""
    x = leaf_like(np.zeros((2, 3)))
    y = (x > 0.5).where(x.unary(Ops.SQRT), x)
    for k in range(3000):
        y = y.permute((1, 0)).flip((0,))
        y = (y > k).where(y * 1.0, y.unary(Ops.SIN))
    for derivative in (gradient(y.reduce(Ops.ADD, 2), [x])[0], jvp([y], [x], [ones_like(x)])[0]):
        assert len(derivative.walk()) < 3000 * 40
        assert value(derivative, {x: np.zeros((2, 3))}).tolist() == np.ones((2, 3)).tolist()


# --------------------------------------------------------------------------------------------------------------- powers


def test_derivatives_of_the_cosine_of_a_square_at_zero() -> None:
    assert derivatives(lambda x: (x**2.0).unary(Ops.COS), 0.0, 4) == [0.0, 0.0, 0.0, -12.0]


@pytest.mark.parametrize(("exponent", "wanted"), [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.0, 0.0), (2.5, 0.0)])
def test_powers_of_zero_with_the_exponent_in_memory(exponent: float, wanted: float) -> None:
    assert gradients(lambda x, y: x**y, 0.0, exponent) == [wanted, 0.0]


def test_all_derivatives_of_integer_powers_at_zero() -> None:
    for exponent, factorial in ((1, 1.0), (2, 2.0), (3, 6.0)):
        wanted = [factorial if k == exponent else 0.0 for k in range(1, 5)]
        assert derivatives(lambda x, y=float(exponent): x**y, 0.0, 4) == wanted


def test_powers_of_negative_numbers() -> None:
    assert slope(lambda x: x**3.0, [-2.0]) == [12.0]
    assert np.isnan(gradients(lambda x, y: x**y, [-2.0], [3.0])[1][0])


def test_mixed_derivative_of_a_power_at_exponent_zero() -> None:
    """``d/dy (y * x**(y-1))`` is ``1/x`` at y = 0."""
    x, y = leaf_like(np.float64(0)), leaf_like(np.float64(0))
    (by_base,) = gradient(x**y, [x])
    (mixed,) = gradient(by_base, [y])
    assert value(mixed, {x: 4.0, y: 0.0}) == 0.25


def test_complex_powers_at_zero() -> None:
    assert slope(lambda z: z**2.0, [0j, 1 + 1j]) == [0, 2 + 2j]


# ------------------------------------------------------------------------------------------------------------- products


def test_products_of_zeros() -> None:
    assert slope(lambda x: x.reduce(Ops.MUL, 1), [2.0, 3.0, 4.0]) == [12.0, 8.0, 6.0]
    assert slope(lambda x: x.reduce(Ops.MUL, 1), [2.0, 0.0, 4.0]) == [0.0, 8.0, 0.0]
    assert slope(lambda x: x.reduce(Ops.MUL, 1), [2.0, 0.0, 0.0]) == [0.0, 0.0, 0.0]


def test_second_derivative_of_a_product_of_two_zeros() -> None:
    x = leaf_like(np.zeros(3))
    (g,) = gradient(x.reduce(Ops.MUL, 1), [x])
    (h,) = jvp([g], [x], [UOp.const(1.0, dtypes.float64, (3,))])
    assert value(h, {x: np.array([0.0, 5.0, 0.0])}).tolist() == [5.0, 0.0, 5.0]


def test_running_products_of_zeros() -> None:
    assert slope(lambda x: x.scan(Ops.MUL), [4.0, 0.0, 5.0, 0.0]) == [1.0, 24.0, 0.0, 0.0]


def test_products_in_place_of_zeros() -> None:
    def f(x: UOp, y: UOp) -> UOp:
        return scatter("mul", x, y, integers(0, 0, 1, 1, 2))

    found = gradients(f, [3.0, 2.0, 0.0], [0.0, 5.0, 0.0, 0.0, 7.0])
    assert found == [[0.0, 0.0, 7.0], [15.0, 0.0, 0.0, 0.0, 0.0]]


# ---------------------------------------------------------------------------------------------------- ends of the range


def test_the_tail_of_expm1() -> None:
    assert slope(lambda x: x.unary(Ops.EXPM1), -45.0) == pytest.approx(exp(-45.0), rel=1e-15)


def test_angles_of_very_long_and_very_short_vectors() -> None:
    for scale in (1e-300, 1e300):
        dy, dx = gradients(lambda y, x: y.binary(Ops.ATAN2, x), 3 * scale, 4 * scale)
        np.testing.assert_allclose([dy * scale, dx * scale], [4 / 25, -3 / 25], rtol=1e-14)


def test_lengths_of_very_long_and_very_short_vectors() -> None:
    for scale in (1e-300, 1e300):
        found = gradients(lambda x, y: x.binary(Ops.HYPOT, y), 3 * scale, 4 * scale)
        np.testing.assert_allclose(found, [0.6, 0.8], rtol=1e-14)


def test_arcsine_close_to_one() -> None:
    x = 1 - 2.0**-40
    wanted = 2.0**20 / (2 - 2.0**-40) ** 0.5
    np.testing.assert_allclose(slope(lambda x: x.unary(Ops.ASIN), x), wanted, rtol=1e-15)
    np.testing.assert_allclose(slope(lambda x: x.unary(Ops.ACOS), x), -wanted, rtol=1e-15)
    np.testing.assert_allclose(slope(lambda x: x.unary(Ops.ATANH), x), wanted * wanted, rtol=1e-15)


def test_hyperbolic_inverse_of_large_numbers() -> None:
    assert slope(lambda x: x.unary(Ops.ASINH), 1e200) == 1e-200
    assert slope(lambda x: x.unary(Ops.ACOSH), 1e200) == 1e-200


def test_saturated_functions_have_slope_zero() -> None:
    for op in (Ops.TANH, Ops.ERF, Ops.ERFC, Ops.ATAN):
        assert slope(lambda x, op=op: x.unary(op), [-inf, inf]) == [0.0, 0.0]
    assert slope(lambda x: x.unary(Ops.COSH).recip(), 700.0) == pytest.approx(-1 / cosh(700.0), rel=1e-12)


def test_nan_is_passed_on() -> None:
    assert np.isnan(slope(lambda x: x.unary(Ops.SIN), [nan])).all()


def test_log_of_a_subnormal() -> None:
    assert slope(lambda x: x.unary(Ops.LOG2), 2.0**-1022) == pytest.approx(2.0**1022 / log(2), rel=1e-15)
