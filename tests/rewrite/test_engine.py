"""The rewriter and its patterns: what matches, in which order nodes are rewritten, and that it ends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.graph_samples import SAMPLES
from tests.support.leaf_values import bits_of, environment
from uopc_core.dtype import dtypes, is_float
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.composite import const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.ir.verify import verify
from uopc_core.rewrite.algebra import simplify
from uopc_core.rewrite.engine import Rewriter, rewrite
from uopc_core.rewrite.pattern import Rule, constant, node, variable
from uopc_core.runtime.buffer import Buffer

F32, F64, I64 = dtypes.float32, dtypes.float64, dtypes.int64
x, y, c = variable("x"), variable("y"), constant("c")
X, Y = UOp.param(0, (2, 3), F64), UOp.param(1, (2, 3), F64)


def _matches(pattern: Any, graph: UOp) -> dict[str, UOp] | None:
    captures: dict[str, UOp] = {}
    return captures if pattern.match(graph, captures) else None


# --------------------------------------------------------------------------------------------------------- patterns


def test_a_variable_is_one_node_throughout():
    assert _matches(x - x, X - X) == {"x": X}
    assert _matches(x - x, X - Y) is None


def test_operands_of_a_commutative_op_match_in_either_order():
    assert _matches(x * 2, X * 2.0) == _matches(x * 2, 2.0 * X) == {"x": X}
    assert _matches(x - 2, 2.0 - X) is None


def test_a_failed_order_leaves_nothing_captured():
    assert _matches(x + (x * y), (X * Y) + X) == {"x": X, "y": Y}


@pytest.mark.parametrize(
    ("value", "graph", "found"),
    [
        (0, UOp.const(0.0, F64), True),
        (0, UOp.const(-0.0, F64), False),
        (-0.0, UOp.const(-0.0, F64), True),
        (0, UOp.const(complex(0.0, -0.0), dtypes.complex128), False),
        (1, UOp.const(True, dtypes.bool), True),
        (2, UOp.const(2, I64, (3, 4)), True),
        (2, UOp.const(2, I64, (1, 1)), True),
        (2, X, False),
    ],
)
def test_a_literal_is_a_value_in_any_shape_and_dtype(value: Any, graph: UOp, found: bool):
    assert (_matches(node(Ops.NEG, value).src[0], graph) is not None) == found


def test_a_constant_matches_constants_only():
    assert _matches(x * c, X * 2.5) == {"x": X, "c": UOp.const(2.5, F64, (2, 3))}
    assert _matches(x * c, X * Y) is None


@pytest.mark.parametrize("shape", [(), (1,), (2, 1), (2, 3)])
def test_the_value_of_a_constant_in_any_shape(shape: tuple[int, ...]):
    assert const_of(UOp.const(2.5, F32, shape)) == 2.5


def test_what_is_no_constant_has_no_value():
    assert const_of(X) is None
    assert const_of(UOp.param(5, (), F32, "scalar").reshape((1, 1)).expand((2, 3))) is None


@pytest.mark.parametrize(
    ("pattern", "graph"),
    [
        (x + y, X + Y),
        (x - y, X - Y),
        (1 - x, 1.0 - X),
        (x / y, X / Y),
        (x // y, X // Y),
        (x % y, X % Y),
        (x**y, X**Y),
        (-x, -X),
        (~x, ~X.cast("int64")),
        (x & y, X.cast("int64") & Y.cast("int64")),
        (x | y, X.cast("int64") | Y.cast("int64")),
        (x ^ y, X.cast("int64") ^ Y.cast("int64")),
        (x << y, X.cast("int64") << Y.cast("int64")),
        (x >> y, X.cast("int64") >> Y.cast("int64")),
    ],
    ids=lambda value: value.op.name,
)
def test_an_operator_builds_the_pattern_of_the_same_op(pattern: Any, graph: UOp):
    assert _matches(pattern, graph) is not None


# ----------------------------------------------------------------------------------------------------------- engine

DOUBLE = Rule("double", x + x, lambda x: x * 2)
HALVE = Rule("halve", x * 2, lambda x: x + x)


def test_a_rule_may_look_at_the_node_and_refuse_it():
    rule = Rule("once", node(Ops.NEG, x), lambda x, out: None if out.ndim else x)
    assert rewrite([-X], [rule]) == [-X]
    assert rewrite([-UOp.param(0, (), F64)], [rule]) == [UOp.param(0, (), F64)]


def test_conditions_on_dtype_and_on_what_matched():
    rule = Rule("sum", x + c, lambda x, c: x, where=is_float, when=lambda c: const_of(c) == 3)
    whole = X.cast("int64")
    assert rewrite([X + 3.0, X + 4.0, whole + 3], [rule]) == [X, X + 4.0, whole + 3]


def test_the_first_rule_of_a_table_wins():
    first, second = Rule("a", -x, lambda x: x), Rule("b", -x, lambda x: x * 2)
    assert Rewriter([first, second]).rewrite([-X]) == [X]
    assert Rewriter([second, first]).rewrite([-X]) == [X * 2.0]


def test_what_a_rule_returns_is_rewritten_too():
    rules = [
        Rule("sub", x - y, lambda x, y: x.unary(Ops.NEG).unary(Ops.NEG)),
        Rule("neg-neg", node(Ops.NEG, -x), lambda x: x),
    ]
    assert rewrite([(X - Y) - Y], rules) == [X]


def test_shared_nodes_are_rewritten_once():
    seen: list[UOp] = []

    def note(x: UOp) -> None:
        seen.append(x)

    shared = X.unary(Ops.EXP)
    rewrite([shared + Y, shared * Y, shared], [Rule("note", node(Ops.EXP, x), note)])
    assert seen == [X]


def test_untouched_graphs_come_back_as_they_are():
    roots = list(SAMPLES.values())
    assert rewrite(roots, []) == roots
    assert rewrite([], []) == []


def test_nodes_with_a_value_are_leaves():
    memory = Buffer.from_numpy(np.ones(3))
    memory.requires_grad = True
    inner = UOp.buffer(memory) * 1.0
    inner.settle(Buffer.from_numpy(np.ones(3)))
    assert inner.src
    negated = -(inner + 0.5)
    assert simplify([-negated]) == [inner + 0.5]


def test_rules_that_go_in_circles_are_stopped_and_named():
    with pytest.raises(RecursionError, match="the rules do not come to an end; the last ones made UOp"):
        rewrite([X + X], [DOUBLE, HALVE])


def test_a_rule_may_not_change_the_type():
    with pytest.raises(AssertionError, match="Rule"):
        rewrite([-X], [Rule("wrong", -x, lambda x: x.cast("float32"))])


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(lambda x: -x, id="pairs vanish"),
        pytest.param(lambda x: x.unary(Ops.EXP), id="nothing to do"),
        pytest.param(lambda x: x * 1.0, id="all vanish"),
    ],
)
def test_a_chain_of_100_000_nodes(step: Callable[[UOp], UOp]):
    start = UOp.param(0, (2,), F64)
    graph = start
    for _ in range(100_000):
        graph = step(graph)
    (new,) = simplify([graph])
    assert new in (start, graph)


# ------------------------------------------------------------------------------------------------ whole graphs


def test_every_sample_keeps_its_value_and_its_type():
    for name, root in SAMPLES.items():
        (new,) = simplify([root])
        verify([new])
        before, after = evaluate([root, new], environment([root]))
        assert bits_of(before) == bits_of(after), name


def _movements(draw: st.DrawFn, graph: UOp) -> UOp:
    axes = range(graph.ndim)
    match draw(st.integers(0, 7)):
        case 0:
            return graph.permute(draw(st.permutations(axes)))
        case 1:
            starts = [draw(st.integers(0, n)) for n in graph.shape]
            return graph.shrink([(a, draw(st.integers(a, n))) for a, n in zip(starts, graph.shape, strict=True)])
        case 2:
            return graph.pad([(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in axes])
        case 3:
            return graph.flip(draw(st.lists(st.sampled_from(axes), unique=True)) if axes else ())
        case 4:
            return graph.reshape((1, *graph.shape, 1)).expand((2, *graph.shape, 1))
        case 5:
            return graph.reshape((graph.size,))
        case 6:
            return UOp.new(Ops.CONCAT, (graph, graph), 0) if axes else graph
        case _:
            return graph.reshape([n for n in graph.shape if n != 1])


@st.composite
def _graphs(draw: st.DrawFn) -> UOp:
    dtype = draw(st.sampled_from([F32, F64, I64, dtypes.int8]))
    graph = UOp.param(0, (2, 1, 3), dtype)
    for _ in range(draw(st.integers(0, 10))):
        other = UOp.param(1, graph.shape, dtype) if draw(st.booleans()) else draw(st.sampled_from([0, 1, 2, -1]))
        match draw(st.integers(0, 5)):
            case 0:
                graph = graph + other
            case 1:
                graph = graph * other
            case 2:
                graph = -graph
            case 3:
                graph = (graph < other).where(graph, graph - other)
            case _:
                graph = _movements(draw, graph)
        if graph.size > 200:
            break
    return graph


@given(_graphs())
def test_random_graphs_keep_every_bit(graph: UOp):
    (new,) = simplify([graph])
    verify([new])
    assert simplify([new]) == [new]
    before, after = evaluate([graph, new], environment([graph]))
    assert bits_of(before) == bits_of(after)
    assert len(walk([new])) <= 3 * len(walk([graph]))
