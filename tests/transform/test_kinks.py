"""Where there is no derivative: the conventions."""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest

from tests.support.derivative_checks import gradients, slope
from tests.support.derivative_records import integers, scatter
from uopc_core.ir import Ops, UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.execute import realize_all
from uopc_core.settings import context
from uopc_core.transform.gradient import gradient


def test_abs_has_slope_zero_at_zero() -> None:
    assert slope(lambda x: x.unary(Ops.ABS), [-2.0, 0.0, 3.0]) == [-1.0, 0.0, 1.0]
    assert slope(lambda x: x.binary(Ops.MAX, -x), [-2.0, 0.0, 3.0]) == [-1.0, 0.0, 1.0]


def test_abs_of_a_complex_number_has_slope_zero_at_zero() -> None:
    assert slope(lambda z: z.unary(Ops.ABS), [0j, 3 + 4j]) == [0, 0.6 - 0.8j]


def test_relu_has_slope_zero_at_zero() -> None:
    assert slope(lambda x: (x > 0).where(x, 0.0), [-2.0, 0.0, 3.0]) == [0.0, 0.0, 1.0]


def test_a_tie_of_two_gives_half_to_each() -> None:
    assert slope(lambda x: x.binary(Ops.MAX, 0.0), [-2.0, 0.0, 3.0]) == [0.0, 0.5, 1.0]
    for op, first in ((Ops.MAX, [1.0, 0.5, 0.0]), (Ops.MIN, [0.0, 0.5, 1.0])):
        found = gradients(lambda x, y, op=op: x.binary(op, y), [3.0, 2.0, 1.0], [1.0, 2.0, 3.0])
        assert found == [first, first[::-1]]


def test_the_larger_of_one_and_the_same_has_slope_one() -> None:
    assert slope(lambda x: x.binary(Ops.MAX, x), [2.0]) == [1.0]


def test_an_extreme_is_split_evenly_among_ties() -> None:
    assert slope(lambda x: x.reduce(Ops.MAX, 1), [1.0, 3.0, 3.0]) == [0.0, 0.5, 0.5]
    assert slope(lambda x: x.reduce(Ops.MIN, 1), [1.0, 1.0, 3.0]) == [0.5, 0.5, 0.0]
    assert slope(lambda x: x.reduce(Ops.MAX, 2), [[5.0, 1.0], [5.0, 5.0]]) == [[1 / 3, 0.0], [1 / 3, 1 / 3]]


def test_a_running_extreme_belongs_to_the_first_that_attains_it() -> None:
    assert slope(lambda x: x.scan(Ops.MAX), [1.0, 3.0, 3.0, 2.0, 4.0]) == [1.0, 3.0, 0.0, 0.0, 1.0]
    assert slope(lambda x: x.scan(Ops.MIN), [2.0, 2.0, 1.0, 1.0]) == [2.0, 0.0, 2.0, 0.0]


def test_a_scattered_extreme_is_split_evenly_among_ties() -> None:
    index = integers(0, 0, 1)
    base, value = gradients(lambda x, y: scatter("max", x, y, index), [5.0, 1.0, 2.0], [5.0, 5.0, 7.0])
    np.testing.assert_allclose(base, [1 / 3, 0.0, 1.0])
    np.testing.assert_allclose(value, [1 / 3, 1 / 3, 1.0])


ROWS = np.random.default_rng(0).standard_normal((60, 20))
ROW_OF = integers(*np.arange(ROWS.size) % 60)
EXTREMES: dict[str, Callable[[UOp], UOp]] = {
    "reduce max": lambda x: x.reduce(Ops.MAX, 1),
    "scan max": lambda x: x.scan(Ops.MAX),
    "scatter min": lambda x: scatter(
        "min", x.shrink([(0, 60), (0, 1)]).reshape((60,)), x.reshape((ROWS.size,)), ROW_OF
    ),
}


@pytest.mark.parametrize("first", ["compile", "interpret"])
@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_in_memory_has_the_slope_of_one_that_is_not(name: str, first: str) -> None:
    """Compiled code and NumPy give exponentials with other last digits, none of which equals the other's extreme."""
    slopes: list[np.ndarray] = []
    for tier in ("compile", "interpret"):
        x = UOp.buffer(Buffer.from_numpy(ROWS)).variable()
        out = EXTREMES[name](x.unary(Ops.EXP))
        with context(tier=first):
            realize_all([out])
        with context(tier=tier):
            slopes.append(realize_all(gradient(out.reduce(Ops.ADD, out.ndim), [x]))[0].array)
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-12)


def test_the_last_of_several_writes_to_a_place_counts() -> None:
    index = integers(1, -2, 0, 1)  # -2 is 1
    found = gradients(lambda x, y: scatter("set", x, y, index), [1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0])
    assert found == [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]


def test_an_index_picked_twice_counts_twice() -> None:
    assert slope(lambda x: x.index(integers(1, 1, -1)), [1.0, 2.0, 3.0]) == [0.0, 2.0, 1.0]


def test_gradient_of_a_slice() -> None:
    assert slope(lambda v: v.shrink(((1, 3),)), [1.0, 2.0, 3.0, 4.0, 5.0]) == [0.0, 1.0, 1.0, 0.0, 0.0]
    assert slope(lambda v: v.index(2) * 3.0, [1.0, 2.0, 3.0]) == [0.0, 0.0, 3.0]


def test_steps_have_slope_zero_on_the_step() -> None:
    for op in (Ops.FLOOR, Ops.CEIL, Ops.TRUNC, Ops.RINT, Ops.SIGN):
        assert slope(lambda x, op=op: x.unary(op) + x, [-1.0, 0.0, 0.5]) == [1.0, 1.0, 1.0]


def test_remainder_follows_calculus() -> None:
    found = gradients(lambda x, y: x % y, [5.5, -5.5, 7.0], [2.0, 2.0, 3.0])
    assert found == [[1.0, 1.0, 1.0], [-2.0, 3.0, -2.0]]
    assert gradients(lambda x, y: x // y, [5.5, -5.5], [2.0, 2.0]) == [[0.0, 0.0], [0.0, 0.0]]


def test_lengths_have_slope_zero_at_the_origin() -> None:
    assert gradients(lambda x, y: x.binary(Ops.HYPOT, y), [0.0, 3.0], [0.0, 4.0]) == [[0.0, 0.6], [0.0, 0.8]]


def test_the_sign_of_the_second_operand_is_no_variable() -> None:
    found = gradients(lambda x, y: x.binary(Ops.COPYSIGN, y), [2.0, -2.0, 2.0], [1.0, 1.0, -1.0])
    assert found == [[1.0, -1.0, -1.0], [0.0, 0.0, 0.0]]


def test_the_neutral_element_of_logaddexp() -> None:
    def nested(x, c):
        return c.binary(Ops.LOGADDEXP, x.binary(Ops.LOGADDEXP, -inf))

    assert gradients(nested, -inf, -1.5) == [0.0, 1.0]
    assert gradients(lambda x, y: x.binary(Ops.LOGADDEXP, y), [2.0, -inf, inf], [-inf, 2.0, 1.0]) == [
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
    ]
