"""Compositions of the primitive ops against NumPy, by the interpreter."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uopc_core.dtype import dtypes
from uopc_core.errors import ShapeError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir import composite
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.ir.verify import verify
from uopc_core.rewrite.algebra import simplify
from uopc_core.runtime.buffer import Buffer
from uopc_core.schedule.canonical import canonicalise
from uopc_core.transform.vmap import batch

Array = np.ndarray[Any, Any]

shapes = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)
full_shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def _leaf(values: Any) -> UOp:
    return UOp.buffer(Buffer.from_numpy(np.asarray(values)))


def _counted(shape: tuple[int, ...]) -> Array:
    """Different whole numbers, so that an element in a wrong place shows."""
    return np.arange(1.0, prod(shape) + 1).reshape(shape)


def _assert_is(node: UOp, expected: Array) -> None:
    """The node is well formed and has this value, simplified or not."""
    verify([node])
    for form in (node, *simplify([node])):
        (got,) = evaluate([form])
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)


# ------------------------------------------------------------------------------------------------------------ slices


@st.composite
def _sliced(draw: st.DrawFn) -> tuple[tuple[int, ...], list[slice]]:
    shape = draw(shapes)
    bounds = st.one_of(st.none(), st.integers(-8, 8))
    steps = st.one_of(st.none(), st.sampled_from([-7, -3, -2, -1, 1, 2, 3, 7]))
    return shape, [slice(draw(bounds), draw(bounds), draw(steps)) for _ in shape]


@given(_sliced())
def test_slices_of_any_step(case: tuple[tuple[int, ...], list[slice]]):
    shape, slices = case
    x = _counted(shape)
    _assert_is(composite.slice_axes(_leaf(x), slices), x[tuple(slices)])


@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("step", [-4, -3, -2, -1, 1, 2, 3, 4])
def test_every_slice_of_a_short_row(n: int, step: int):
    x = _counted((n,))
    for start in (None, *range(-n - 1, n + 2)):
        for stop in (None, *range(-n - 1, n + 2)):
            part = slice(start, stop, step)
            np.testing.assert_array_equal(evaluate([composite.slice_axes(_leaf(x), [part])])[0], x[part])


# ------------------------------------------------------------------------------------------------------ broadcasting


@st.composite
def _broadcastable(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(shapes)
    both: list[tuple[int, ...]] = []
    for _ in range(2):
        narrowed = [1 if draw(st.booleans()) else n for n in shape]
        both.append(tuple(narrowed[draw(st.integers(0, len(shape))) :]))
    return both[0], both[1]


@given(_broadcastable())
def test_broadcasting_is_that_of_numpy(case: tuple[tuple[int, ...], tuple[int, ...]]):
    x, y = (_counted(shape) for shape in case)
    left, right = composite.broadcast(_leaf(x), _leaf(y))
    assert left.shape == right.shape == composite.broadcast_shapes(*case) == np.broadcast_shapes(*case)
    _assert_is(left - right, x - y)


def test_the_common_shape_of_nothing_is_a_scalar():
    assert composite.broadcast_shapes() == ()


def test_shapes_that_do_not_fit_are_shown():
    with pytest.raises(ShapeError, match=r"shapes \(2, 3\) and \(2,\) cannot be broadcast together"):
        composite.broadcast_shapes((2, 3), (2,))
    with pytest.raises(ShapeError, match=r"shape \(2, 3\) cannot be broadcast to \(3,\)"):
        composite.broadcast_to(_leaf(_counted((2, 3))), (3,))
    with pytest.raises(ShapeError, match=r"shape \(2,\) cannot be broadcast to \(3,\)"):
        composite.broadcast_to(_leaf(_counted((2,))), (3,))


@given(_broadcastable())
def test_summing_to_a_shape_is_the_transpose_of_broadcasting(case: tuple[tuple[int, ...], tuple[int, ...]]):
    """<broadcast(x), y> = <x, sum_to(y)>, and whole numbers make it exact."""
    shape, other = case
    common = np.broadcast_shapes(shape, other)
    x, y = _counted(shape), _counted(common)
    (summed,) = evaluate([composite.sum_to(_leaf(y), shape)])
    assert summed.shape == shape
    assert np.sum(x * summed) == np.sum(np.broadcast_to(x, common) * y)


# ------------------------------------------------------------------------------------------- along axes, joining


@st.composite
def _with_axes(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    shape = draw(full_shapes)
    return shape, draw(st.lists(st.integers(0, len(shape) - 1), unique=True))


@given(_with_axes(), st.booleans(), st.sampled_from([(Ops.ADD, np.sum), (Ops.MAX, np.max), (Ops.MIN, np.min)]))
def test_reductions_over_any_axes(case: tuple[tuple[int, ...], list[int]], keepdims: bool, how: tuple[Ops, Any]):
    shape, axes = case
    x = _counted(shape)
    node = composite.reduce_axes(_leaf(x), how[0], axes, keepdims)
    _assert_is(node, np.asarray(how[1](x, axis=tuple(axes), keepdims=keepdims)))


@given(full_shapes, st.integers(0, 3), st.booleans())
def test_scans_along_any_axis(shape: tuple[int, ...], axis: int, reverse: bool):
    axis %= len(shape)
    x = _counted(shape)
    expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)
    _assert_is(composite.scan_axis(_leaf(x), Ops.ADD, axis, reverse), expected)


@given(_with_axes())
def test_axes_moved_last(case: tuple[tuple[int, ...], list[int]]):
    shape, axes = case
    x = _counted(shape)
    _assert_is(composite.move_axes_last(_leaf(x), axes), np.moveaxis(x, axes, range(-len(axes), 0)))


@given(shapes, st.integers(0, 3), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_parts_joined_along_an_axis(shape: tuple[int, ...], axis: int, extents: list[int]):
    axis %= len(shape)
    parts = [_counted((*shape[:axis], n, *shape[axis + 1 :])) + 100 * i for i, n in enumerate(extents)]
    _assert_is(composite.concat([_leaf(part) for part in parts], axis), np.concatenate(parts, axis))


@given(shapes, st.integers(0, 4), st.integers(1, 3))
def test_parts_joined_along_a_new_axis(shape: tuple[int, ...], axis: int, n: int):
    axis %= len(shape) + 1
    parts = [_counted(shape) + 100 * i for i in range(n)]
    _assert_is(composite.stack([_leaf(part) for part in parts], axis), np.stack(parts, axis))


@given(full_shapes)
def test_axes_of_extent_one_come_and_go(shape: tuple[int, ...]):
    x = _counted(shape)
    for axis in range(len(shape) + 1):
        longer = composite.unsqueeze(_leaf(x), axis)
        _assert_is(longer, np.expand_dims(x, axis))
        assert composite.squeeze(longer, [axis]).shape == shape


@given(_sliced())
def test_placing_is_the_transpose_of_a_contiguous_slice(case: tuple[tuple[int, ...], list[slice]]):
    shape, slices = case
    ranges = [range(*slice(s.start, s.stop).indices(n)) for s, n in zip(slices, shape, strict=True)]
    expected = np.zeros(shape)
    value = _counted(tuple(len(r) for r in ranges))
    expected[tuple(slice(r.start, r.start + len(r)) for r in ranges)] = value
    _assert_is(composite.pad_to(_leaf(value), [r.start if len(r) else 0 for r in ranges], shape), expected)


# ------------------------------------------------------------------------------------------------- products, leaves


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((2, 3), (3, 4)),
        ((1, 1), (1, 1)),
        ((2, 0), (0, 3)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
    ],
)
def test_matrix_products(left: tuple[int, ...], right: tuple[int, ...]):
    x, y = _counted(left), _counted(right)
    _assert_is(composite.matmul(_leaf(x), _leaf(y)), x @ y)


@pytest.mark.parametrize(("left", "right"), [((2, 3), (2, 3)), ((3,), (3, 2)), ((2, 3), (3,))])
def test_products_of_what_does_not_fit(left: tuple[int, ...], right: tuple[int, ...]):
    with pytest.raises(ShapeError, match=r"matmul: expected \(..., M, K\) and \(..., K, N\), got"):
        composite.matmul(_leaf(_counted(left)), _leaf(_counted(right)))


def test_coordinates():
    for axis in range(3):
        _assert_is(composite.iota((2, 3, 4), axis), np.indices((2, 3, 4))[axis])


def test_constants_of_a_shape():
    x = _leaf(np.zeros((2, 3), np.float32))
    _assert_is(UOp.const(2.5, dtypes.float32, (2, 3)), np.full((2, 3), 2.5, np.float32))
    _assert_is(composite.zeros_like(x), np.zeros((2, 3), np.float32))
    _assert_is(composite.ones_like(x), np.ones((2, 3), np.float32))


# -------------------------------------------------------------------------------------------------- parts of matrices


@given(shapes.filter(lambda shape: len(shape) > 1), st.integers(-7, 7))
def test_diagonals_are_numpys(shape: tuple[int, ...], offset: int):
    x = _counted(shape)
    _assert_is(composite.diagonal(_leaf(x), offset), np.diagonal(x, offset, -2, -1))
    expected = np.broadcast_to(np.eye(shape[-2], shape[-1], offset), shape)
    _assert_is(composite.identity(shape, dtypes.float64, offset), expected)
    _assert_is(composite.on_diagonal(shape, offset), expected != 0)


@given(shapes, st.integers(-12, 12), st.data())
def test_what_leaves_at_one_end_enters_at_the_other(shape: tuple[int, ...], shift: int, data: st.DataObject):
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = _counted(shape)
    _assert_is(composite.roll(_leaf(x), shift, axis), np.roll(x, shift, axis))


@given(shapes.filter(lambda shape: len(shape) > 1), st.booleans())
def test_adjoints_are_conjugated_and_transposed(shape: tuple[int, ...], of_complex: bool):
    x = _counted(shape) * (1 + 2j) if of_complex else _counted(shape)
    _assert_is(composite.swap(_leaf(x)), np.swapaxes(x, -1, -2))
    _assert_is(composite.adjoint(_leaf(x)), np.swapaxes(x, -1, -2).conj())


def test_outputs_of_a_host_function_are_told_by_number():
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    for k, expected in enumerate(np.linalg.eigh(x)):
        _assert_is(composite.call_extern("eigh", _leaf(x), output=k), expected)
    _assert_is(composite.call_extern("sort", _leaf(x), params=(True, True)), np.sort(x)[:, ::-1])


# ------------------------------------------------------------------------------------------------------- constants


def _spelled(number: UOp, steps: list[tuple[int, ...]]) -> UOp:
    """`number` in the shapes of `steps`, each grown from ones, and flat in between."""
    for shape in steps:
        number = number.reshape((*number.shape, *[1] * len(shape))).expand((*number.shape, *shape))
        number = number.reshape((number.size,))
    return number


@given(st.sampled_from([0, 1, -3, 2.5, -0.0, float("nan"), True]), st.lists(full_shapes, max_size=3))
def test_a_constant_is_one_in_whatever_shape_it_was_spelled(value: bool | int | float, steps: list[tuple[int, ...]]):
    dtype = dtypes.bool if value is True else dtypes.int8 if isinstance(value, int) else dtypes.float32
    number = _spelled(UOp.const(value, dtype), steps)
    assert repr(composite.const_of(number)) == repr(value)
    leaf = UOp.param(0, (), dtypes.float64)
    (repeated,) = batch([number], {leaf: UOp.param(1, (2,), dtypes.float64)})
    assert repeated is UOp.const(value, dtype, (2, *number.shape))
    same = UOp.const(value, dtype, number.shape)
    assert canonicalise([number.eq(number)]).key == canonicalise([same.eq(same)]).key


@given(st.lists(full_shapes, max_size=3))
def test_what_repeats_memory_or_a_counter_is_no_constant(steps: list[tuple[int, ...]]):
    for leaf in (_leaf(2.0), UOp.param(0, (), dtypes.int8), UOp.new(Ops.IOTA, (), 1, dtypes.int64)):
        assert composite.const_of(_spelled(leaf, steps)) is None


@pytest.mark.parametrize("m", [0, 1, 3])
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_a_product_of_matrices_is_made_of_the_nodes_that_one_with_more_axes_is_made_of(m: int, n: int, k: int) -> None:
    x, y = _leaf(np.ones((m, k))), _leaf(np.ones((k, n)))
    left = composite.broadcast_to(composite.unsqueeze(x, 1), (m, n, k))
    right = composite.broadcast_to(composite.unsqueeze(composite.swap(y), 0), (m, n, k))
    assert composite.matmul(x, y) is (left * right).reduce(Ops.ADD, 1)
