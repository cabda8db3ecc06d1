"""Reverse mode as a function from graph to graph: what it returns, for which targets, and what it refuses."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.derivative_checks import function_of, leaf_like, pulled_back, slope, value
from uopc_core.dtype import dtypes
from uopc_core.errors import GradientError, ShapeError
from uopc_core.ir import Ops, UOp, walk
from uopc_core.ir.composite import call_extern, matmul
from uopc_core.ir.extern import EXTERNS, Extern
from uopc_core.ir.text import to_uir
from uopc_core.rewrite.algebra import simplify
from uopc_core.transform.gradient import gradient, pull_back
from uopc_core.transform.jvp import jvp
from uopc_core.transform.partials import PARTIALS

X = np.array([1.0, 2.0, 3.0], np.float32)
Y = np.array([10.0, 20.0, 30.0], np.float32)


def leaf(*shape: int, dtype: Any = dtypes.float64) -> UOp:
    return leaf_like(np.empty(shape, dtype))


def total(x: UOp) -> UOp:
    return x.reduce(Ops.ADD, x.ndim)


# ------------------------------------------------------------------------------------------------------ what comes out


def test_gradient_of_a_product_and_a_sum_is_five_nodes() -> None:
    x, y = leaf_like(X), leaf_like(Y)
    dx, dy = gradient(total(x * y + x), [x, y])
    assert value(dx, {y: Y}).tolist() == [11.0, 21.0, 31.0]
    assert value(dy, {x: X}).tolist() == [1.0, 2.0, 3.0]
    nodes = [node for node in dx.walk() if node.op is not Ops.CONST]
    assert sorted(node.op for node in nodes) == sorted([Ops.RESHAPE, Ops.EXPAND, Ops.PARAM, Ops.MUL, Ops.ADD])
    assert x not in nodes
    assert len([line for line in to_uir(dx).splitlines() if line.startswith("%")]) == 5


def test_gradients_have_shape_and_dtype_of_their_targets() -> None:
    x, z, n = leaf(2, 3, dtype=dtypes.float32), leaf(2, 3, dtype=dtypes.complex64), leaf(2, 3, dtype=dtypes.int32)
    root = total((x.cast(dtypes.complex64) * z).unary(Ops.REAL))
    for target, g in zip([x, z, n], gradient(root, [x, z, n]), strict=True):
        assert (g.shape, g.dtype) == (target.shape, target.dtype)


def test_a_target_that_is_not_reached_gets_zeros() -> None:
    x, y = leaf(2), leaf(3)
    assert value(gradient(total(x), [y])[0]).tolist() == [0.0, 0.0, 0.0]


def test_a_root_with_axes_is_summed() -> None:
    assert slope(lambda x: x * x, [1.0, 2.0]) == [2.0, 4.0]


def test_the_root_can_be_a_target() -> None:
    x = leaf(2)
    assert value(gradient(x, [x])[0]).tolist() == [1.0, 1.0]


def test_a_seed_weights_the_root() -> None:
    x, w = leaf(2), leaf(2)
    (g,) = gradient(x * x, [x], w)
    assert value(g, {x: np.array([1.0, 2.0]), w: np.array([1.0, 10.0])}).tolist() == [2.0, 40.0]


def test_contributions_of_all_consumers_are_added() -> None:
    assert slope(lambda x: x * x + x.unary(Ops.EXP) + x, 0.0) == 2.0


def test_several_roots_add_up() -> None:
    x = leaf()
    one = UOp.const(1.0, dtypes.float64)
    (g,) = pull_back([x * 2.0, x * x], [one, one], [x])
    assert value(g, {x: 5.0}) == 12.0


def test_forward_nodes_are_shared_by_identity() -> None:
    x = leaf(3)
    y = x.unary(Ops.EXP)
    (g,) = gradient(total(y), [x])
    assert y in walk([g])


def test_interior_targets_are_passed_through() -> None:
    x = leaf()
    y = x * x
    dy, dx = gradient(y * y, [y, x])
    assert value(dy, {x: 3.0}) == 18.0
    assert value(dx, {x: 3.0}) == 108.0


def test_interior_targets_that_pass_nothing_on_are_targets_still() -> None:
    x = leaf()
    for y in (x.unary(Ops.FLOOR), x.detach()):
        dy, dx = gradient(y * y + x, [y, x])
        assert value(dy, {x: 3.0}) == 6.0
        assert value(dx, {x: 3.0}) == 1.0


def test_nothing_passes_a_detach() -> None:
    assert slope(lambda w: w * w.detach(), [1.0, 2.0]) == [1.0, 2.0]


def test_variables_and_materialized_stages_pass() -> None:
    assert slope(lambda w: w.materialize() * w.variable(), [1.0, 2.0]) == [2.0, 4.0]


def test_integers_carry_no_derivative() -> None:
    assert slope(lambda x: x.cast(dtypes.int64).cast(dtypes.float64) * x, [1.5, 2.5]) == [1.0, 2.0]


def test_no_rule_runs_where_nothing_depends_on_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PARTIALS, Ops.EXP)
    x, data = leaf(2), leaf(2)
    (g,) = gradient(total(data.unary(Ops.EXP) * x), [x])
    assert value(g, {data: np.zeros(2)}).tolist() == [1.0, 1.0]


def test_placeholders_of_rules_are_gone() -> None:
    x = leaf(3)
    y = x.binary(Ops.MAX, 0.0).reduce(Ops.MAX, 1) * x.reduce(Ops.MUL, 1)
    assert all(node.op is not Ops.VARIABLE for node in walk([*gradient(y, [x]), *jvp([y], [x], [x])]))


def test_outputs_of_one_call_are_transposed_together() -> None:
    a = leaf(3, 3)
    parts = [call_extern("svd", a, params=(False,), output=k) for k in range(3)]
    (g,) = gradient(total(matmul(parts[0], parts[2])), [a])
    x = np.random.default_rng(0).standard_normal((3, 3))
    assert np.isfinite(value(g, {a: x})).all()
    # U @ V^H does not change when the matrix is scaled
    assert abs((value(g, {a: x}) * x).sum()) < 1e-12


def test_three_derivatives_of_one_variable() -> None:
    x = leaf()
    y = x.unary(Ops.SIN)
    for _ in range(3):
        (y,) = gradient(y, [x])
    np.testing.assert_allclose(value(y, {x: 0.7}), -math.cos(0.7), rtol=1e-15)


def test_derivatives_of_different_variables_are_not_confused() -> None:
    """``d/dx (x * d/dy (x * y))`` at x = 3 is 2x, not 1."""
    x = leaf()
    y = x.variable()
    (inner,) = gradient(x * y, [y])
    (outer,) = gradient(x * inner, [x])
    assert value(outer, {x: 3.0}) == 6.0
    (inner,) = jvp([x * y], [y], [UOp.const(1.0, dtypes.float64)])
    (outer,) = jvp([x * inner], [x], [UOp.const(1.0, dtypes.float64)])
    assert value(outer, {x: 3.0}) == 6.0


# -------------------------------------------------------------------------------------------------- what costs how much


def test_a_chain_of_100_000_nodes() -> None:
    x = leaf()
    y = x
    for _ in range(100_000):
        y = y * 1.00001
    (g,) = gradient(y, [x])
    (t,) = jvp([y], [x], [UOp.const(1.0, dtypes.float64)])
    np.testing.assert_allclose(value(g), 1.00001**100_000, rtol=1e-9)
    np.testing.assert_allclose(value(t), 1.00001**100_000, rtol=1e-9)


def test_ten_thousand_uses_of_one_node() -> None:
    x = leaf()
    y = x
    for k in range(10_000):
        y = y + x * float(k)
    (g,) = gradient(y, [x])
    assert value(g) == 1 + 10_000 * 9_999 / 2


def test_a_rule_costs_what_it_adds_to_a_long_chain() -> None:
    """The tangent graph of each MAX refers to all that comes before; walking that again would be quadratic."""
    x = leaf()
    y = x
    for k in range(5_000):
        y = y.binary(Ops.MAX, -float(k))
    (g,) = gradient(y, [x])
    assert value(g, {x: 1.0}) == 1.0


def test_nodes_grow_with_the_graph_and_not_faster() -> None:
    def size(n: int) -> int:
        x = leaf(4)
        y = x
        for _ in range(n):
            y = (y * y).unary(Ops.SIN).reduce(Ops.MAX, 1).reshape((1,)).expand((4,)) + x
        return len(walk(gradient(total(y), [x])))

    assert size(40) - size(20) == size(20 + 40) - size(40)


# ------------------------------------------------------------------------------------------------------ what is refused


def test_an_op_without_a_rule_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PARTIALS, Ops.EXP)
    x = leaf(2)
    message = "no derivative rule for EXP; differentiation works on pure shape graphs only"
    with pytest.raises(NotImplementedError, match=f"gradient: {message}"):
        gradient(total(x.unary(Ops.EXP)), [x])
    with pytest.raises(NotImplementedError, match=f"jvp: {message}"):
        jvp([x.unary(Ops.EXP)], [x], [x])


def test_a_host_function_without_a_derivative_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTERNS, "median", Extern("median", lambda params, types: (((), types[0][1]),), lambda _, x: x))
    x = leaf(3)
    with pytest.raises(GradientError, match="median: this function has no derivative"):
        gradient(UOp.new(Ops.EXTERN, (x,), ("median", (), 0)), [x])


@pytest.mark.parametrize("wrong", [leaf(3), leaf(2, dtype=dtypes.float32)], ids=["shape", "dtype"])
def test_a_seed_unlike_the_root_is_refused(wrong: UOp) -> None:
    x = leaf(2)
    with pytest.raises(ShapeError, match="gradient: expected a cotangent like"):
        gradient(x * x, [x], wrong)
    with pytest.raises(ShapeError, match="jvp: expected a tangent like"):
        jvp([x * x], [x], [wrong])


# ------------------------------------------------------------------------------------------------------------- products


def test_a_matrix_that_is_used_twice_gets_a_sum_of_matrix_products() -> None:
    """The sum of the two products of three axes, reduced, would be none."""
    x, y, w = leaf(4, 3), leaf(4, 3), leaf(3, 5)
    (g,) = gradient(matmul(x, w).unary(Ops.TANH) + matmul(y, w), [w])
    sources = [node.src[0].op for node in walk([g]) if node.op is Ops.REDUCE and node.arg[0] is Ops.ADD]
    assert sources.count(Ops.ADD) == 0
    arrays = [np.random.default_rng(0).standard_normal(node.shape) for node in (x, y, w)]
    a, b, c = arrays
    wanted = a.T @ (1 - np.tanh(a @ c) ** 2) + b.T @ np.ones((4, 5))
    np.testing.assert_allclose(value(g, {x: a, y: b, w: c}), wanted, rtol=1e-12)


def test_a_broadcast_operand_can_be_a_target() -> None:
    x, w = leaf(4, 3), leaf(3, 5)
    wide = w.reshape((1, 3, 5)).expand((4, 3, 5))
    root = (x.reshape((4, 3, 1)).expand((4, 3, 5)) * wide).permute((0, 2, 1)).reduce(Ops.ADD, 1)
    g, h = gradient(root, [wide, w])
    ones = np.ones((4, 3))
    assert value(g, {x: ones}).tolist() == np.ones((4, 3, 5)).tolist()
    assert value(h, {x: ones}).tolist() == np.full((3, 5), 4.0).tolist()


@pytest.mark.parametrize("axis", [0, 1, None])
def test_a_broadcast_divisor_is_divided_by_once_for_all_its_elements(axis: int | None) -> None:
    x = leaf(40, 50)
    y = leaf(*[1 if axis in (k, None) else n for k, n in enumerate(x.shape)])
    quotient = x / y.expand(x.shape)
    found = gradient(total(quotient * x), [y])
    divided = [node for node in walk(found) if node.op in (Ops.DIV, Ops.RECIP) and node.size > y.size]
    assert divided == [quotient]
    numbers = np.linspace(1.0, 2.0, x.size).reshape(x.shape), np.linspace(-3.0, 3.0, y.size).reshape(y.shape) + 0.01
    expected = np.sum(-(numbers[0] ** 2) / numbers[1] ** 2, axis=axis, keepdims=True)
    np.testing.assert_allclose(value(found[0], {x: numbers[0], y: numbers[1]}), expected, rtol=1e-13)


def test_a_divisor_of_no_elements_has_slope_0() -> None:
    x, y = leaf(0, 3), leaf(1, 3)
    slopes = gradient(total(x / y.expand(x.shape)), [y])
    assert value(slopes[0], {x: np.zeros((0, 3)), y: np.zeros((1, 3))}).tolist() == [[0.0, 0.0, 0.0]]


def test_a_divisor_that_nothing_alive_reaches_has_slope_0() -> None:
    x, y = leaf(2, 3), leaf(1, 3)
    quotient = x / y.expand(x.shape)
    slopes = gradient(total(y.expand(x.shape).ne(0).where(quotient, x)), [y])
    assert value(slopes[0], {x: np.ones((2, 3)), y: np.array([[0.0, 2.0, 0.0]])}).tolist() == [[0.0, -0.5, 0.0]]


QUOTIENTS: dict[str, Callable[[UOp], UOp]] = {
    "exponential over a square": lambda x: x.unary(Ops.EXP) / (x * x + 1),
    "sine of an exponential": lambda x: x.unary(Ops.EXP).unary(Ops.SIN),
    "sine of an exponential over x": lambda x: x.unary(Ops.EXP).unary(Ops.SIN) / x,
    "polynomials": lambda x: (x * x + 1) / (x * x * x + 2),
    "logistic": lambda x: (1 + (-x).unary(Ops.EXP)).recip(),
    "root over a logarithm": lambda x: (x * x + 1).unary(Ops.SQRT) / (x + 2).unary(Ops.LOG),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_nodes_of_derivatives_of_quotients_grow_by_two_and_a_half_an_order(name: str) -> None:
    x = leaf(3)
    y, sizes = QUOTIENTS[name](x), list[int]()
    for _ in range(6):
        (y,) = gradient(y, [x])
        sizes.append(len(walk(simplify([y]))))
    assert sizes[-1] <= sizes[0] * 2.5**5, sizes
    assert sizes[-1] < 2000


def test_gradients_of_a_matrix_product() -> None:
    rng = np.random.default_rng(0)
    x, w, g = (rng.standard_normal(shape) for shape in ((4, 3), (3, 5), (4, 5)))
    dx, dw = pulled_back(function_of(matmul, [x, w]), [g])([x, w])
    np.testing.assert_allclose(dx, g @ w.T, rtol=1e-13)
    np.testing.assert_allclose(dw, x.T @ g, rtol=1e-13)
