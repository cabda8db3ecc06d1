"""Chains of movement ops, compiled, move every element to where the interpreter moves it."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.kernel_runs import check, param, render_one, run
from uopc_core.dtype import dtypes
from uopc_core.ir.composite import broadcast_to, concat, iota, slice_axes, stack, unsqueeze
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

MAX_SIZE = 3000
SLOW_TO_DRAW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)


def factorizations(draw, size):
    """A shape of `size` elements."""
    shape = []
    while size > 1 and len(shape) < 4:
        divisor = draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
        shape.append(divisor)
        size //= divisor
    return (*shape, size) if size > 1 or draw(st.booleans()) else tuple(shape)


def move(draw, x):
    """One random movement op on `x`."""
    op = draw(st.sampled_from(["reshape", "permute", "shrink", "pad", "flip", "expand", "concat", "slice"]))
    if op == "reshape":
        return x.reshape(factorizations(draw, x.size)) if x.size else x
    if op == "permute":
        return x.permute(draw(st.permutations(range(x.ndim))))
    if op == "shrink":
        return x.shrink([sorted(draw(st.lists(st.integers(0, n), min_size=2, max_size=2))) for n in x.shape])
    if op == "pad":
        widths = [draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in x.shape]
        padded = x.pad(widths)
        return padded if padded.size <= MAX_SIZE else x
    if op == "flip":
        return x.flip([axis for axis in range(x.ndim) if draw(st.booleans())])
    if op == "expand":
        axis = draw(st.integers(0, x.ndim))
        n = draw(st.integers(0, 4)) if x.size * 4 <= MAX_SIZE else 1
        y = unsqueeze(x, axis)
        return y.expand((*y.shape[:axis], n, *y.shape[axis + 1 :]))
    if op == "slice":
        bound = st.none() | st.integers(-5, 5)
        step = st.sampled_from([1, 2, 3, -1, -2])
        return slice_axes(x, [slice(draw(bound), draw(bound), draw(step)) for _ in x.shape])
    if not x.ndim or 3 * x.size > MAX_SIZE:
        return x
    axis = draw(st.integers(0, x.ndim - 1))
    return concat([x, x.flip([axis]), x * 2][: draw(st.integers(1, 3))], axis)


@st.composite
def chains(draw):
    shape = tuple(draw(st.lists(st.integers(0, 6), max_size=3)))
    array = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int64).reshape(shape)
    x = param(0, array)
    for _ in range(draw(st.integers(1, 6))):
        x = move(draw, x)
    if draw(st.booleans()):
        x = x + x.flip([0]) if x.ndim else x + 1
    return x, array


@settings(max_examples=120, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(chains())
def test_chain_of_movement_ops_reads_the_right_elements(chain):
    x, array = chain
    check([x], [array], pieces=2)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(chains(), st.integers(1, 3), st.sampled_from([Ops.ADD, Ops.MAX, Ops.MUL]))
def test_reduction_of_moved_elements_reads_the_right_ones(chain, n, op):
    x, array = chain
    n = min(n, x.ndim)
    if n == 0 or (op is Ops.MAX and 0 in x.shape[x.ndim - n :]):
        return
    check([x.reduce(op, n)], [array], pieces=2)


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(chains(), st.sampled_from([Ops.ADD, Ops.MAX]))
def test_scan_of_moved_elements_reads_the_right_ones(chain, op):
    x, array = chain
    if x.ndim:
        check([x.scan(op)], [array], pieces=2)


def test_reshape_of_aligned_groups_needs_no_quotients():
    x = np.arange(120.0).reshape(20, 6)
    source = render_one([param(0, x).reshape((4, 5, 6)).reshape((20, 6)) + 1.0])
    assert "/" not in source.text
    assert "%" not in source.text


def test_split_axes_become_loops_of_their_own():
    x = np.arange(20 * 36.0).reshape(20, 36)
    moved = param(0, x).reshape((20, 2, 18)).permute((1, 0, 2)).reshape((40, 18))
    assert "%" not in render_one([moved]).text
    check([moved], [x])


def test_contiguous_elementwise_kernel_is_one_loop():
    x = np.zeros((20, 30, 40))
    source = render_one([param(0, x) + param(1, x)])
    assert source.text.count("for (") == 1
    assert source.extent == x.size
    assert source.dims == ()


def test_padded_stencil_has_no_condition_in_its_inner_loop():
    x = np.random.default_rng(0).standard_normal((40, 50))
    u = param(0, x)
    inner = u.shrink([(1, 39), (1, 49)]) * 2.0
    mask = UOp.const(True, dtypes.bool, inner.shape).pad([(1, 1), (1, 1)])
    out = mask.where(inner.pad([(1, 1), (1, 1)]), u)
    assert "?" not in render_one([out]).text.split("int64_t E_")[1].replace("MAX(", "").split("int64_t uopc")[0]
    check([out], [x], pieces=3)


def test_comparison_of_coordinates_with_a_constant_splits_the_loop():
    x = np.random.default_rng(0).standard_normal((30, 50))
    column = iota((30, 50), 1)
    out = (column < 20).where(param(0, x), param(0, x) * 2.0)
    assert "?" not in render_one([out]).text.split("int64_t E_")[1].split("int64_t uopc")[0]
    check([out], [x])


def test_triangle_by_comparison_of_coordinates():
    x = np.random.default_rng(0).standard_normal((30, 30))
    lower = iota((30, 30), 1) <= iota((30, 30), 0)
    check([lower.where(param(0, x), UOp.const(0.0, dtypes.float64, (30, 30)))], [x])


def test_interleaving_by_stack():
    x = np.arange(40.0)
    check([stack([param(0, x), param(0, x) * -1.0], 1).reshape((80,))], [x], pieces=3)


def test_window_sums_by_shrinks():
    x = np.random.default_rng(0).standard_normal(100)
    padded = param(0, x).pad([(2, 2)])
    out = sum((padded.shrink([(i, i + 100)]) for i in range(1, 5)), padded.shrink([(0, 100)]))
    check([out], [x], pieces=2)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (3, 0), (1, 1, 1), (17, 1, 3)])
def test_odd_shapes(shape):
    x = np.ones(shape)
    check([param(0, x) + 1.0], [x])
    check([broadcast_to(param(0, x), (2, *shape))], [x])


def test_constants_and_coordinates_alone():
    assert run([UOp.const(3.5, dtypes.float32, (2, 3))])[0].tolist() == [[3.5] * 3] * 2
    assert run([iota((3, 4), 0, dtypes.int8)])[0].tolist() == [[0] * 4, [1] * 4, [2] * 4]
    assert run([UOp.new(Ops.IOTA, (), 300, dtypes.uint8)])[0].tolist() == [i % 256 for i in range(300)]


@pytest.mark.parametrize(("old", "new"), [((0, 2), (0,)), ((3, 0), (0, 4, 5)), ((0,), (2, 0, 1)), ((1, 0, 7), (0, 3))])
def test_reshape_of_nothing(old, new):
    x = param(0, np.zeros(old)).reshape(new)
    check([x.reduce(Ops.ADD, len(new))], [np.zeros(old)])
    check([x + 1.0], [np.zeros(old)])
