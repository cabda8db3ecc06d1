"""Every differentiable function of the main namespace, and of arrays, against central differences."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.derivative_tables import COMPLEX, METHODS, NUMPY_NAMES, REAL, X
from tests.support.derivatives import (
    Function,
    check_batching,
    check_first_order,
    check_forward_against_reverse,
    check_second_order,
)

REAL_CASES = {
    **REAL,
    **{f"numpy {name}": case for name, case in NUMPY_NAMES.items()},
    **{f"array {name}": case for name, case in METHODS.items()},
}
CASES = {**REAL_CASES, **{f"complex {name}": case for name, case in COMPLEX.items()}}


def table(cases: dict[str, tuple[Function, tuple[Any, ...]]]) -> Any:
    return pytest.mark.parametrize(("f", "arrays"), cases.values(), ids=cases.keys())


@table(CASES)
def test_a_derivative_agrees_with_central_differences(f: Function, arrays: tuple[Any, ...]) -> None:
    check_first_order(f, *arrays)


@table(CASES)
def test_forward_and_reverse_agree(f: Function, arrays: tuple[Any, ...]) -> None:
    check_forward_against_reverse(f, *arrays)


@table(CASES)
def test_a_second_derivative_agrees_with_central_differences(f: Function, arrays: tuple[Any, ...]) -> None:
    check_second_order(f, *arrays)


# how many elements these have, or their values, must be known to go on
BY_VALUE = ("unique", "numpy unique", "x[x > 0]", "x[nonzero]")


@table({name: case for name, case in CASES.items() if not name.startswith(BY_VALUE)})
def test_a_batched_function_agrees_with_a_loop(f: Function, arrays: tuple[Any, ...]) -> None:
    check_batching(f, *arrays)


def test_a_rule_off_by_a_thousandth_is_found() -> None:
    def wrong(x: xp.Array) -> xp.Array:
        return xp.sin(x) + 0.001 * (xp.sin(x) - xp.stop_gradient(xp.sin(x)))

    def wrong_in_second_order(x: xp.Array) -> xp.Array:
        return xp.sin(x) + 0.0005 * (x - xp.stop_gradient(x)) ** 2

    with pytest.raises(AssertionError):
        check_first_order(wrong, X)
    check_first_order(wrong_in_second_order, X)
    with pytest.raises(AssertionError):
        check_second_order(wrong_in_second_order, X)


def test_floor_divide_has_slope_0_and_remainder_slope_1() -> None:
    x, y = xp.asarray(np.asarray([7.3, np.inf])), xp.asarray(np.asarray([2.0, 2.0]))
    np.testing.assert_array_equal(np.asarray(xp.grad(lambda t: xp.sum(xp.floor_divide(t, y)))(x)), [0.0, 0.0])
    np.testing.assert_array_equal(np.asarray(xp.grad(lambda t: xp.sum(xp.remainder(t, y)))(x))[0], 1.0)


AT_KINKS: dict[str, tuple[Function, Any, Any]] = {
    "std of equal elements": (xp.std, [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]),
    "std of one element": (xp.std, [2.0], [0.0]),
    "std of one number": (xp.std, 2.0, 0.0),
    "std of equal complex elements": (xp.std, [2j, 2j], [0j, 0j]),
    "nanstd of equal elements": (xp.nanstd, [2.0, np.nan, 2.0], [0.0, 0.0, 0.0]),
    "var of equal elements": (xp.var, [2.0, 2.0], [0.0, 0.0]),
    "max": (xp.max, [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
    "min": (xp.min, [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
    "fmod at 0": (lambda x: xp.fmod(x, 2.0), [0.0, -0.0, 3.0], [1.0, 1.0, 1.0]),
    "cbrt at 0": (xp.cbrt, [0.0, 8.0], [np.inf, 1 / 12]),
    "clip at its ends": (lambda x: xp.clip(x, 0.0, 1.0), [0.0, 0.5, 1.0], [0.5, 1.0, 0.5]),
    "stable sort": (lambda x: xp.sort(x) * xp.arange(4.0), [1.0, 0.0, 1.0, 0.0], [2.0, 0.0, 3.0, 1.0]),
    "descending sort": (
        lambda x: xp.sort(x, descending=True) * xp.arange(4.0), [1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 1.0, 3.0]
    ),
    "vector_norm of zeros": (xp.linalg.vector_norm, [0.0, 0.0], [0.0, 0.0]),
    "vector_norm 3 of zeros": (lambda x: xp.linalg.vector_norm(x, ord=3), [0.0, 0.0], [0.0, 0.0]),
    "vector_norm 0.5 beside a zero": (
        lambda x: xp.linalg.vector_norm(x, ord=0.5), [0.0, 4.0, 1.0], [np.nan, 1.5, 3.0]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wanted"), AT_KINKS.values(), ids=AT_KINKS.keys())
def test_the_slope_that_is_chosen_at_a_kink(f: Function, x: Any, wanted: Any) -> None:
    got = xp.grad(lambda t: xp.sum(f(t)))(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12)


@pytest.mark.parametrize("f", [xp.sum, xp.prod, xp.mean, xp.var, xp.cumulative_sum, xp.sort, lambda x: x[x > 0]])
@pytest.mark.parametrize("shape", [(0,), (2, 0)], ids=str)
def test_gradients_of_no_elements_are_empty(f: Function, shape: tuple[int, ...]) -> None:
    got = xp.grad(lambda x: xp.sum(f(xp.reshape(x, (-1,)))))(xp.zeros(shape, dtype=xp.float32))
    assert (got.shape, got.dtype) == (shape, np.float32)


@table({name: case for name, case in REAL_CASES.items() if case[1][0].dtype.kind == "f"})
def test_gradients_keep_single_precision(f: Function, arrays: tuple[Any, ...]) -> None:
    operands = [xp.asarray(a.astype(np.float32)) for a in arrays]
    gradients = xp.grad(lambda *x: xp.sum(xp.real(f(*x))), argnums=tuple(range(len(arrays))))(*operands)
    assert {g.dtype for g in gradients} == {np.dtype(np.float32)}
