"""Reductions, scans, gathers and scatters, compiled, against NumPy."""

import numpy as np
import pytest

from tests.support.kernel_runs import bits, call_of, check, execute, param, render_one, run
from uopc_core.dtype import DTYPES, dtypes, is_complex, is_inexact
from uopc_core.errors import DTypeError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.composite import broadcast_to, reduce_axes
from uopc_core.ir.op import REDUCIBLE, SCANNABLE, SCATTER_MODES, Ops
from uopc_core.ir.uop import UOp

EPS = {"float32": 2.0**-23, "complex64": 2.0**-23, "float64": 2.0**-52, "complex128": 2.0**-52}
CASE_ID = lambda x: x.name if hasattr(x, "name") else str(x)  # noqa: E731
pytestmark = pytest.mark.filterwarnings("ignore")


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, True)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.kind == "c" else x).astype(dtype)


def accepted(op, dtype, ndim=1):
    try:
        UOp.param(0, (3,) * ndim, dtype).reduce(op, 1)
    except DTypeError:
        return False
    return True


EXTREMES = (Ops.MAX, Ops.MIN)
REDUCTIONS = [(op, d) for op in sorted(REDUCIBLE) for d in DTYPES if accepted(op, d)]


@pytest.mark.parametrize(("op", "dtype"), REDUCTIONS, ids=CASE_ID)
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_reduction_gives_what_numpy_gives(op, dtype, axes):
    x = values((37, 41), dtype)
    if is_inexact(dtype) and op is Ops.MUL:
        x = x / np.abs(x) * (1 + np.abs(x) / 50)
        x = x.astype(dtype)
    node = reduce_axes(param(0, x), op, axes)
    (got,) = run([node], [x], pieces=3)
    if op is Ops.ADD and is_inexact(dtype):
        want = x.astype(np.clongdouble if is_complex(dtype) else np.longdouble).sum(axes)
        assert np.all(np.abs(got - want) <= EPS[dtype.name] * 8 * np.abs(x).sum(axes))
    elif op is Ops.MUL and is_inexact(dtype):
        want = np.prod(x.astype(np.clongdouble if is_complex(dtype) else np.longdouble), axes)
        np.testing.assert_allclose(got, want.astype(dtype), rtol=EPS[dtype.name] * x.size)
    else:
        check([node], [x])


SHAPES = [(1, 700), (2, 700), (5, 33), (6, 700), (9, 515), (600, 513), (1024, 2048)]
COLUMNS = [(16, 16), (17, 33), (70, 100), (65, 511), (130, 777), (33, 1000), (20, 8192), (64, 512)]


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX, Ops.MIN], ids=CASE_ID)
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("shape", COLUMNS, ids=str)
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=CASE_ID)
def test_columns_that_are_reduced_one_after_the_other_have_the_order_of_rows(dtype, shape, zeros, computed, op):
    """Blocks begin anywhere in a column; there are columns without a whole block, and few of them at the end."""
    x = values((3, *shape), dtype) if computed else values(shape, dtype)
    if zeros:
        x = -np.abs(x) if op is Ops.MAX else np.abs(x)
        x[..., ::7], x[..., 1::7] = 0.0, -0.0
    turned = np.ascontiguousarray(np.swapaxes(x, -1, -2))
    axes = (0, 2, 1) if computed else (1, 0)
    straight, crossed = param(0, x), param(0, turned).permute(axes)
    if computed:
        straight, crossed = (node * UOp.const(1.25, dtype, node.shape) for node in (straight, crossed))
    wanted = run([straight.reduce(op, x.ndim)], [x])[0]
    assert bits(run([crossed.reduce(op, x.ndim)], [turned])[0]) == bits(wanted)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if is_inexact(d)], ids=CASE_ID)
def test_sums_have_the_same_bits_however_the_elements_lie(shape, dtype):
    """Of few rows and of many, in rows of memory or across them, of each row and of all, whoever computes them."""
    x = values(shape, dtype)
    turned = np.ascontiguousarray(x.T)
    a, b = param(0, x), param(0, turned).permute((1, 0))
    for n in (1, 2):
        wanted = run([a.reduce(Ops.ADD, n)], [x])[0]
        for node, memory in ((a, x), (b, turned)):
            given = {node if node.op is Ops.PARAM else node.src[0]: memory}
            assert bits(evaluate([node.reduce(Ops.ADD, n)], given)[0]) == bits(wanted)
            assert bits(run([node.reduce(Ops.ADD, n)], [memory])[0]) == bits(wanted)


PARTS = [(40, 17), (9, 100), (6, 515), (3, 1020)]


@pytest.mark.parametrize("shape", PARTS, ids=str)
@pytest.mark.parametrize(
    ("op", "dtype"),
    [(op, d) for op, d in REDUCTIONS if is_inexact(d) and op in (Ops.ADD, Ops.MUL, *EXTREMES)],
    ids=CASE_ID,
)
def test_what_is_reduced_over_a_part_has_the_order_of_a_copy(op, dtype, shape):
    """Rows that are not whole blocks; the part begins or ends where the memory does."""
    at_end = shape[0] % 2 == 0
    x = values((shape[0] + 1, shape[1] + 1), dtype)
    x.reshape(-1)[::7], x.reshape(-1)[3::11] = 0.0, -0.0
    if op is Ops.MUL:
        x = np.where(x == 0, dtype.type(1.5), x / (1 + np.abs(x)) + dtype.type(0.75))
    if shape[0] % 3 == 0:
        x[1, 2], x[-2, -3] = np.inf, np.nan
    bounds = [(1, n) if at_end else (0, n - 1) for n in x.shape]
    part = x[1:, 1:] if at_end else x[:-1, :-1]
    for computed in (False, True):
        node, copy = param(0, x).shrink(bounds), param(0, part.copy())
        if computed:
            node, copy = (y * UOp.const(1.25, dtype, y.shape) for y in (node, copy))
        assert bits(run([node.reduce(op, 2)], [x])[0]) == bits(run([copy.reduce(op, 2)], [part.copy()])[0])


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 31, 32, 33, 511, 512, 513, 1024, 5000, 70001])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=CASE_ID)
def test_sum_is_no_worse_than_numpys(n, dtype):
    x = (np.random.default_rng(n).random(n) + 0.1).astype(dtype)
    want = x.astype(np.longdouble).sum()
    (got,) = run([param(0, x).reduce(Ops.ADD, 1)], [x])
    assert abs(got - want) <= max(abs(x.sum() - want), 2 * EPS[dtype.name] * want)


def test_sum_over_many_short_rows_is_as_accurate():
    x = (np.random.default_rng(0).random((3000, 5, 40)) + 0.1).astype(np.float32)
    node = param(0, x).permute((1, 0, 2)).reduce(Ops.ADD, 2)
    (got,) = run([node], [x])
    want = x.astype(np.float64).sum((0, 2))
    assert np.all(np.abs(got - want) <= 4 * EPS["float32"] * want)


@pytest.mark.parametrize("op", [Ops.MAX, Ops.MIN])
@pytest.mark.parametrize("place", [0, 5, 32, 39, 600, 699])
def test_extremum_finds_nan_anywhere(op, place):
    x = np.random.default_rng(0).standard_normal(700)
    x[place] = np.nan
    assert np.isnan(run([param(0, x).reduce(op, 1)], [x])[0])
    columns = np.stack([x, np.ones(700)], 1)
    got = run([param(0, columns).permute((1, 0)).reduce(op, 1)], [columns])[0]
    assert np.isnan(got[0])
    assert got[1] == 1


def test_extremum_of_infinities():
    x = np.full(40, -np.inf)
    assert run([param(0, x).reduce(Ops.MAX, 1)], [x])[0] == -np.inf
    assert run([param(0, -x).reduce(Ops.MIN, 1)], [-x])[0] == np.inf


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.AND, Ops.OR])
def test_reduction_of_no_elements_is_the_identity(op):
    dtype = dtypes.int32
    x = np.zeros((5, 0), dtype)
    check([param(0, x).reduce(op, 1)], [x])
    check([param(0, x.T.copy()).reduce(op, 1)], [x.T.copy()])


def test_several_reductions_and_an_elementwise_output_in_one_kernel():
    x = values((30, 200), dtypes.float64)
    p = param(0, x)
    doubled = p * 2.0
    outputs = [doubled, doubled.reduce(Ops.MAX, 1), p.reduce(Ops.MIN, 1), doubled.reduce(Ops.MAX, 1) * 3.0]
    check(outputs, [x], pieces=2)


def test_prologue_and_epilogue_with_functions():
    x = values((30, 70), dtypes.float64)
    e = param(0, x).unary(Ops.EXP)
    check([e, e.reduce(Ops.MAX, 1).unary(Ops.LOG)], [x], max_ulps=8)


def test_columns_with_prologue_and_epilogue():
    x = values((70, 300), dtypes.float64)
    e = param(0, x).unary(Ops.EXP).permute((1, 0))
    check([e.reduce(Ops.MAX, 1).unary(Ops.LOG)], [x], max_ulps=8, pieces=2)


def test_sum_of_a_constant():
    check([UOp.const(1.0, dtypes.float64, (3, 40)).reduce(Ops.ADD, 1)])


def test_small_reductions_are_written_out():
    x = values((50, 4), dtypes.float64)
    check([param(0, x).reduce(Ops.MAX, 1)], [x])
    assert render_one([param(0, x).reduce(Ops.MAX, 1)]).text.count("for (") == 1


def test_products_summed_along_the_outer_axis():
    a, b = values((30, 40), dtypes.int64), values((40, 50), dtypes.int64)
    left = broadcast_to(param(0, a).reshape((30, 1, 40)), (30, 50, 40))
    right = broadcast_to(param(1, b).permute((1, 0)).reshape((1, 50, 40)), (30, 50, 40))
    check([(left * right).reduce(Ops.ADD, 1)], [a, b], pieces=4)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int16, dtypes.complex128], ids=CASE_ID)
@pytest.mark.parametrize("op", sorted(SCANNABLE), ids=CASE_ID)
@pytest.mark.parametrize("shape", [(1,), (50,), (7, 33), (3, 4, 1)])
def test_scan_gives_numpys_bits(op, dtype, shape):
    if not accepted(op, dtype):
        return
    x = values(shape, dtype)
    check([param(0, x).scan(op)], [x], pieces=2, max_ulps=4 if op is Ops.MUL and is_complex(dtype) else 0)


def test_scan_with_its_source_fused_in():
    x = values((20, 300), dtypes.float64)
    check([param(0, x).unary(Ops.TANH).scan(Ops.MAX)], [x], max_ulps=4)


# ------------------------------------------------------------------------------------------------------ gather, scatter


@pytest.mark.parametrize("index_dtype", [d for d in DTYPES if d.kind in "iu"], ids=CASE_ID)
def test_gather_with_any_integers(index_dtype):
    x = values((20, 3), dtypes.float64)
    low = -20 if index_dtype.kind == "i" else 0
    i = np.random.default_rng(0).integers(low, 20, (5, 4)).astype(index_dtype)
    check([param(0, x).index(param(1, i))], [x, i], pieces=2)


def test_gather_on_two_axes_of_a_moved_array():
    x = values((20, 30, 4), dtypes.float32)
    i, j = np.random.default_rng(0).integers(-4, 4, (2, 50))
    moved = param(0, x).permute((2, 0, 1))
    check([moved.index(param(1, i), param(2, j))], [x, i, j])


def test_gather_inside_of_expressions_and_padding():
    x, i = values((20,), dtypes.float64), np.array([3, -1, 19, 0])
    check([param(0, x).index(param(1, i) * 1).pad([(2, 3)]) + 1.0], [x, i])


@pytest.mark.parametrize("bad", [6, -7, 2**40, -(2**63)])
def test_index_out_of_bounds_is_reported(bad):
    x, i = values((6, 2), dtypes.float64), np.array([0, bad])
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 6"):
        run([param(0, x).index(param(1, i))], [x, i])
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 1 with size 2"):
        run([param(0, x).index(param(2, np.array([0, 0])), param(1, i))], [x, i, np.array([0, 0])])
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 6"):
        run([UOp.new(Ops.SCATTER, (param(0, x), param(1, x[:2]), param(2, i)), "set")], [x, x[:2], i])


def test_unsigned_index_that_is_large_does_not_wrap():
    x, i = values((6,), dtypes.float64), np.array([2**64 - 1], np.uint64)
    with pytest.raises(IndexError, match="out of bounds"):
        run([param(0, x).index(param(1, i))], [x, i])


def test_gather_from_nothing_is_out_of_bounds():
    x, i = np.zeros((0,)), np.array([0])
    with pytest.raises(IndexError, match="with size 0"):
        run([param(0, x).index(param(1, i))], [x, i])
    check([param(0, x).index(param(1, np.zeros((0,), np.int64)))], [x, np.zeros((0,), np.int64)])


@pytest.mark.parametrize("mode", SCATTER_MODES)
@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.int8, dtypes.complex64], ids=CASE_ID)
def test_scatter_applies_duplicates_in_order(mode, dtype):
    if mode in ("max", "min") and is_complex(dtype):
        return
    base, value = values((10, 3), dtype), values((25, 3), dtype, 1)
    i = np.random.default_rng(0).integers(-10, 10, 25)
    node = UOp.new(Ops.SCATTER, (param(0, base), param(1, value), param(2, i)), mode)
    check([node], [base, value, i], atol=1e-4 if is_complex(dtype) else None)


def test_scatter_on_two_axes_with_computed_values_and_places():
    base, value = values((10, 12), dtypes.float64), values((7,), dtypes.float64)
    i, j = np.random.default_rng(0).integers(0, 10, (2, 7))
    node = UOp.new(Ops.SCATTER, (param(0, base), param(1, value) * 2.0, param(2, i), param(3, j) + 1), "add")
    check([node], [base, value, i, j])


def test_scatter_of_nothing_copies():
    base = values((10,), dtypes.float64)
    empty = np.zeros((0,), np.int64)
    node = UOp.new(Ops.SCATTER, (param(0, base), param(1, np.zeros(0)), param(2, empty)), "set")
    check([node], [base, np.zeros(0), empty])


def test_scatter_in_place_copies_nothing():
    base, i = values((10,), dtypes.float64), np.array([1, 3])
    node = UOp.new(Ops.SCATTER, (param(0, base), param(1, np.array([5.0, 6.0])), param(2, i)), "set")
    source = render_one([node])
    assert source.inplace == (100,)
    memory = base.copy()
    execute(source, {0: memory, 100: memory, 101: np.array([5.0, 6.0]), 102: i})
    base[i] = [5, 6]
    assert bits(memory) == bits(base)


def test_elementwise_in_place():
    x, y = values((1000,), dtypes.float64), values((1000,), dtypes.float64, 1)
    outputs = [(param(0, x).unary(Ops.EXP) + param(1, y)) * param(0, x)]
    source = render_one(outputs)
    assert source.inplace == (100, 101)
    (want,) = run(outputs, [x, y])
    memory = x.copy()
    execute(source, {0: memory, 100: memory, 101: y})
    assert bits(memory) == bits(want)


def test_what_is_read_elsewhere_is_not_in_place():
    x = values((1000,), dtypes.float64)
    assert render_one([param(0, x) + param(0, x).flip([0])]).inplace == ()
    assert render_one([param(0, x).reduce(Ops.ADD, 1)]).inplace == ()
    assert render_one([param(0, x).cast("float32")]).inplace == ()
    index = np.zeros(3, np.int64)
    p, i = param(0, x), param(1, index)
    assert render_one([UOp.new(Ops.SCATTER, (p, p.index(i), i), "add")]).inplace == ()
    assert call_of([param(0, x)]).inputs == (100,)
