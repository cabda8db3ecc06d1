"""Forward mode where it is more than the mirror image of reverse mode; each rule is checked in test_derivatives.py."""

import numpy as np

from tests.support.derivative_checks import leaf_like, value
from uopc_core.dtype import dtypes
from uopc_core.ir import Ops, UOp
from uopc_core.ir.composite import ones_like
from uopc_core.transform.gradient import gradient
from uopc_core.transform.jvp import jvp


def leaf(*shape: int) -> UOp:
    return leaf_like(np.empty(shape))


def test_a_root_that_does_not_vary_has_tangent_zero() -> None:
    x, y = leaf(2), leaf(3)
    (t,) = jvp([y * y], [x], [x])
    assert t.shape == (3,)
    assert value(t).tolist() == [0.0, 0.0, 0.0]


def test_a_target_that_depends_on_another_moves_with_it() -> None:
    x = leaf()
    y = x * x
    (t,) = jvp([y], [x, y], [ones_like(x), ones_like(y)])
    assert value(t, {x: 3.0}) == 7.0


def test_tangents_of_integers_are_zero() -> None:
    x = leaf(2)
    (t,) = jvp([x.cast(dtypes.int64)], [x], [x])
    assert t.dtype is dtypes.int64
    assert value(t).tolist() == [0, 0]


def test_a_tangent_passes_a_variable_and_stops_at_a_detach() -> None:
    x = leaf()
    (t,) = jvp([x.variable()], [x], [x])
    assert t is x
    (t,) = jvp([x.detach() * x], [x], [ones_like(x)])
    assert value(t, {x: 3.0}) == 3.0


def test_a_linear_op_passes_tangents_of_some_sources() -> None:
    x, y = leaf(2), leaf(2)
    env = {x: np.array([1.0, 2.0]), y: np.array([3.0, 4.0])}
    cond = x < 1.5
    wanted = {
        x + y: [1.0, 2.0],
        y + x: [1.0, 2.0],
        x - y: [1.0, 2.0],
        y - x: [-1.0, -2.0],
        cond.where(x, y): [1.0, 0.0],
        cond.where(y, x): [0.0, 2.0],
        UOp.new(Ops.CONCAT, (y, x), 0): [0.0, 0.0, 1.0, 2.0],
    }
    for root, tangent in wanted.items():
        assert value(jvp([root], [x], [x])[0], env).tolist() == tangent


def test_hessian_times_vector_by_forward_over_reverse() -> None:
    x, v = leaf(3), leaf(3)
    (g,) = gradient((x * x * x).reduce(Ops.ADD, 1), [x])
    (hv,) = jvp([g], [x], [v])
    env = {x: np.array([1.0, 2.0, 3.0]), v: np.array([1.0, 0.0, -1.0])}
    assert value(hv, env).tolist() == [6.0, 0.0, -18.0]
