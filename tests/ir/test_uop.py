"""Nodes: equal ones are one object, they know what they depend on, and depth is no limit."""

import gc
import math
import pickle
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.graph_samples import SAMPLES
from uopc_core.dtype import dtypes
from uopc_core.errors import DTypeError
from uopc_core.ir.op import ALONG_AXES, BINARY, CALLS, IDENTITIES, LEAVES, MOVEMENT, TENSOR_OPS, TERNARY, UNARY, Ops
from uopc_core.ir.uop import HIDDEN, TRACED, TRACKED, UOp, walk
from uopc_core.ir.verify import verify
from uopc_core.runtime.buffer import Buffer

F32, F64, I8, I64, BOOL, C128 = (
    dtypes.float32,
    dtypes.float64,
    dtypes.int8,
    dtypes.int64,
    dtypes.bool,
    dtypes.complex128,
)


def _leaf(requires_grad: bool = False) -> UOp:
    buffer = Buffer.from_numpy(np.ones(3))
    buffer.requires_grad = requires_grad
    return UOp.buffer(buffer)


# ------------------------------------------------------------------------------------------------------- interning


def test_equal_nodes_are_one_object():
    x, y = UOp.param(0, (3,), F32), UOp.param(1, (3,), F32)
    assert x * y + 1.0 is x * y + 1.0
    assert x * y is not y * x


def test_the_same_op_to_two_dtypes_is_two_nodes():
    x = UOp.param(0, (3,), F32)
    assert x.cast(F64) is not x.cast(I64)
    assert UOp.new(Ops.IOTA, (), 3, I64) is not UOp.new(Ops.IOTA, (), 3, I8)


def test_constants_are_told_apart_by_their_bits():
    assert UOp.const(0.0, F64) is not UOp.const(-0.0, F64)
    assert UOp.const(math.nan, F64) is UOp.const(float("nan"), F64)
    assert UOp.const(math.nan, F64) is not UOp.const(-math.nan, F64)  # copysign can tell
    assert UOp.const(complex(0.0, -0.0), C128) is not UOp.const(0j, C128)
    assert UOp.const(1, F64) is UOp.const(1.0, F64) is UOp.const(True, F64)
    assert UOp.const(1, I64) is not UOp.const(True, BOOL)
    assert UOp.const(0.1, F32) is UOp.const(float(np.float32(0.1)), F32)
    assert UOp.const(1.0, F32) is not UOp.const(1.0, F64)


def test_a_constant_is_rounded_to_its_dtype():
    assert UOp.const(0.1, F32).arg == float(np.float32(0.1))
    assert UOp.const(1e300, F32).arg == math.inf


@pytest.mark.parametrize(("value", "dtype"), [(128, I8), (-129, I8), (-1, dtypes.uint64), (2**63, I64)])
def test_an_integer_that_does_not_fit_is_refused(value: int, dtype: np.dtype):
    with pytest.raises(OverflowError, match=f"Python integer {value} out of bounds for {dtype.name}"):
        UOp.const(value, dtype)


def test_a_node_nobody_holds_is_forgotten():
    node = UOp.param(1234, (3,), F32) + UOp.param(1235, (3,), F32)
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None


def test_memory_is_freed_with_the_last_node_over_it():
    x = _leaf()
    gone = weakref.ref(x.arg)
    y = x * 2.0
    del x
    assert gone() is not None
    del y
    gc.collect()
    assert gone() is None


def test_a_node_is_not_pickled():
    with pytest.raises(TypeError, match="write it with to_uir"):
        pickle.dumps(UOp.param(0, (3,), F32))


# ------------------------------------------------------------------------------------------------- flags and depth


def test_what_depends_on_a_differentiable_leaf_is_tracked():
    x, other = _leaf(requires_grad=True), _leaf()
    assert (x * other).flags == TRACKED
    assert other.flags == 0
    assert (x < 1.0).where(x, 0.0).flags & TRACKED


def test_behind_what_no_derivative_passes_a_differentiable_leaf_is_hidden():
    x, other = _leaf(requires_grad=True), _leaf()
    for node in (x < other, x.cast("int64"), x.detach()):
        assert node.flags == HIDDEN
        assert (node.cast("float64") + other).flags == HIDDEN
    assert (x.detach() + x).flags == HIDDEN | TRACKED
    assert other.detach().flags == 0


def test_detaching_ends_tracking_and_a_variable_begins_it():
    x, other = _leaf(requires_grad=True), _leaf()
    assert not x.detach().flags & TRACKED
    assert x.materialize().flags == TRACKED
    assert other.variable().flags == TRACKED


def test_what_depends_on_a_parameter_is_traced():
    assert (UOp.param(0, (3,), F64) + _leaf()).flags == TRACED


def test_depth_counts_what_is_still_to_be_computed():
    x = _leaf()
    y = (x + 1.0) * x
    assert (x.depth, y.depth) == (0, 4)  # 1.0 is a constant, reshaped and expanded
    assert (-y).depth == 5
    (-y).settle(x.arg)
    assert (-y).depth == 5  # the node that was computed is in nobody's hands
    y.settle(x.arg)
    assert (y.depth, (-y).depth) == (0, 1)


# ------------------------------------------------------------------------------------------------------- a value


def test_a_computed_node_is_the_leaf_of_its_memory_and_keeps_nothing_that_it_was_computed_from():
    x = _leaf()
    y = x * 2.0 + 1.0
    above = y * 3.0
    history = [weakref.ref(y.src[0]), weakref.ref(x)]
    memory = Buffer.from_numpy(np.full(3, 3.0))
    y.settle(memory)
    del x
    assert [ref() for ref in history] == [None, None]
    assert (y.op, y.src, y.realized) == (Ops.BUFFER, (), memory)
    assert above.src[0] is y
    verify([above])
    y.settle(Buffer.from_numpy(np.zeros(3)))  # a second thread was late
    assert y.realized is memory


def test_what_is_made_of_the_same_sources_later_is_another_node():
    x = _leaf()
    y = x * 2.0
    y.settle(Buffer.from_numpy(np.full(3, 2.0)))
    again = x * 2.0
    assert again is not y
    assert again.realized is None
    assert x * 2.0 is again


KEEPS_SOURCES: dict[str, Callable[[UOp], UOp]] = {
    "tracked": lambda x: x * 2.0,
    "a condition on what is tracked": lambda x: x < 2.0,
    "an integer of what is tracked": lambda x: x.cast(I64),
}
LETS_GO: dict[str, Callable[[UOp], UOp]] = {
    "detached": lambda x: x.detach(),
    "made of a condition on what is tracked": lambda x: ~(x < 2.0),
}


@pytest.mark.parametrize("name", [*KEEPS_SOURCES, *LETS_GO])
def test_what_a_derivative_may_look_at_keeps_its_sources(name: str):
    node = (KEEPS_SOURCES | LETS_GO)[name](_leaf(requires_grad=True))
    op, src = node.op, node.src
    memory = Buffer.empty(node.shape, node.dtype)
    node.settle(memory)
    assert (node.realized, node.depth) == (memory, 0)
    assert (node.op, node.src) == ((op, src) if name in KEEPS_SOURCES else (Ops.BUFFER, ()))


# ------------------------------------------------------------------------------------------------------- operators


def test_movement_that_moves_nothing_is_the_node_itself():
    x = UOp.param(0, (2, 3), F32)
    same = [
        x.reshape((2, 3)),
        x.expand([2, 3]),
        x.permute((0, 1)),
        x.shrink([(0, 2), (0, 3)]),
        x.pad([(0, 0), (0, 0)]),
        x.flip(()),
        x.cast("float32"),
        x.bitcast(F32),
        x.reduce(Ops.ADD, 0),
    ]
    assert all(node is x for node in same)


def test_integer_indices_are_a_slice_of_the_graph():
    x = UOp.param(0, (2, 3), F32)
    node = x.index(1, -1)
    assert node.shape == ()
    assert [s.op for s in node.walk()] == [Ops.PARAM, Ops.SHRINK, Ops.RESHAPE]
    with pytest.raises(IndexError, match=r"index: \(2,\) is out of bounds for shape \(2, 3\)"):
        x.index(2)


def test_where_needs_a_node_among_its_branches():
    with pytest.raises(DTypeError, match="got two Python scalars"):
        UOp.param(0, (2,), BOOL).where(1.0, 2.0)


def test_scalars_take_the_type_of_the_node():
    x = UOp.param(0, (2, 3), I8)
    assert 1 - x is UOp.const(1, I8, (2, 3)) - x
    assert (x > 0) is UOp.new(Ops.CMPLT, (UOp.const(0, I8, (2, 3)), x))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_node_over_other_sources_is_the_same_op_of_them(name: str):
    for node in walk([SAMPLES[name]]):
        others = tuple([UOp.param(1000 + k, s.shape, s.dtype) for k, s in enumerate(node.src)])
        new = node.over(others)
        assert (new.op, new.src, new.arg, new.shape, new.dtype) == (node.op, others, node.arg, node.shape, node.dtype)
        assert node.over(node.src) is new.over(node.src) is node


def test_a_node_that_another_thread_computes_meanwhile_is_put_over_other_sources_as_it_was():
    x, y = _leaf(), _leaf()
    node = x.cast(F32)
    op = node.op
    node.settle(Buffer.from_numpy(np.ones(3, np.float32)))
    assert node.over((y,), op) is y.cast(F32)


def test_every_op_is_in_exactly_one_group():
    groups = (LEAVES, UNARY, BINARY, TERNARY, MOVEMENT, ALONG_AXES, IDENTITIES, CALLS)
    assert Counter(op for group in groups for op in group) == Counter(TENSOR_OPS)


# ----------------------------------------------------------------------------------------------------------- order


def test_sources_come_before_their_consumers_and_once():
    x = UOp.param(0, (3,), F32)
    y = x * x + x
    order = walk([y, x, y])
    assert len(order) == len(set(order)) == 3
    places = {node: i for i, node in enumerate(order)}
    assert all(places[s] < places[node] for node in order for s in node.src)


def _recursive(roots: list[UOp], goes_below: Callable[[UOp], bool], flags: int, last_first: bool) -> list[UOp]:
    order: dict[UOp, None] = {}

    def visit(node: UOp) -> None:
        if node not in order and (not flags or node.flags & flags):
            below = node.src if goes_below(node) else ()
            for s in reversed(below) if last_first else below:
                visit(s)
            order.setdefault(node)

    for root in reversed(roots) if last_first else roots:
        visit(root)
    return [*order]


@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_walk_goes_where_it_is_told_to(seed: int, last_first: bool):
    rng = np.random.default_rng(seed)
    nodes = [_leaf(), _leaf(requires_grad=True), UOp.param(0, (3,), F64)]
    for _ in range(30):
        x, y = (nodes[rng.integers(max(0, len(nodes) - 8), len(nodes))] for _ in range(2))
        nodes.append(x * y if rng.random() < 0.7 else -x)
    for k in rng.permutation(len(nodes))[:6]:
        if not nodes[k].flags & TRACED:
            nodes[k].settle(Buffer.from_numpy(np.ones(3)))
    roots = [nodes[k] for k in rng.permutation(len(nodes))[:3]]
    stop = {nodes[k] for k in rng.permutation(len(nodes))[:5]}
    cases: list[tuple[dict[str, Any], Callable[[UOp], bool], int]] = [
        ({}, lambda node: True, 0),
        ({"stop": stop}, lambda node: node not in stop, 0),
        ({"flags": TRACED}, lambda node: True, TRACED),
        ({"into_memory": False}, lambda node: node.realized is None, 0),
        ({"stop": stop, "flags": TRACKED, "into_memory": False}, lambda x: x.realized is None and x not in stop, 1),
    ]
    for arguments, goes_below, flags in cases:
        expected = _recursive(roots, goes_below, flags, last_first)
        assert walk(roots, last_first=last_first, **arguments) == expected


def test_a_chain_of_100_000_nodes_is_built_sorted_and_freed():
    x = UOp.param(0, (3,), F32)
    y = x
    for _ in range(100_000):
        y = -y
    assert y.depth == 100_000
    assert len(walk([y])) == 100_001
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None
