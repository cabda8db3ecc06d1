"""Evaluation in blocks: the same bits as node by node, whatever the blocks, and no memory for what is in between."""

import random
import tracemalloc

import numpy as np
import pytest

from uopc_core.dtype import dtypes
from uopc_core.errors import DTypeError
from uopc_core.interpret import blockwise, numpy_interp, reductions
from uopc_core.interpret.numpy_interp import evaluate, lower_to_numpy
from uopc_core.ir.composite import iota
from uopc_core.ir.op import BINARY, ELEMENTWISE, Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.settings import context

WHOLE = 1 << 60
SHAPES = ((5000,), (4, 1500), (1500, 4), (70, 80), (3, 7, 300), (300, 7, 3), (2, 2500, 2), (1, 6000), (6000, 1))
KINDS = {
    "float32": (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN),
    "float64": (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN),
    "complex128": (Ops.ADD, Ops.MUL),
    "uint8": (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN, Ops.AND, Ops.OR),
    "int32": (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN, Ops.AND, Ops.OR),
    "bool": (Ops.AND, Ops.OR),
}
COMPILERS = {"with a compiler": None, "without": "/nonexistent/cc"}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of two blocks of the sum order, so that graphs of a few thousand elements have many."""
    monkeypatch.setattr(blockwise, "BLOCKWISE_ELEMENTS", 1000)
    monkeypatch.setattr(blockwise, "BLOCK", 1024)
    monkeypatch.setattr(reductions, "BLOCK_ELEMENTS", 1024)


def leaf(values):
    return UOp.buffer(Buffer.from_numpy(values))


def drawn(rng, shape, dtype):
    """Numbers with many orders of magnitude, signs and zeros of both, and a nan now and then."""
    n = int(np.prod(shape))
    if dtype == "bool":
        return (rng.random(n) < 0.99).reshape(shape)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 250, n).astype(dtype).reshape(shape)
    x = (rng.standard_normal(n) * 10.0 ** rng.integers(-9, 9, n)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x = x * (1 + 0.5j * rng.standard_normal(n)).astype(dtype)
    x[rng.integers(0, n, n // 10)] = -0.0
    x[rng.integers(0, n, n // 10)] = 0.0
    if rng.random() < 0.2:
        x[rng.integers(n)] = np.nan
    return x.reshape(shape)


def random_expression(draw, rng, shape, dtype):
    """A graph of elementwise nodes over leaves of every kind: full, broadcast, transposed, counters, numbers."""
    full = leaf(drawn(rng, shape, dtype))
    backwards = tuple(range(len(shape)))[::-1]
    turned = leaf(drawn(rng, shape[::-1], dtype)).permute(backwards)
    narrow = tuple([n if draw.random() < 0.5 else 1 for n in shape])
    spread = leaf(drawn(rng, narrow, dtype)).expand(shape)
    counter = iota(shape, draw.randrange(len(shape))).cast(getattr(dtypes, dtype))
    pool = [full, turned, spread, counter, UOp.const(1, full.dtype, shape)]
    for _ in range(draw.randint(1, 6)):
        x, y = draw.choice(pool), draw.choice(pool)
        kind = draw.choice(["two", "two", "where", "cast", "one"])
        if dtype == "bool":
            pool.append(x & y if kind == "two" else x | y)
        elif kind == "where":
            pool.append(x.eq(y).where(x, y))
        elif kind == "cast" and dtype in ("uint8", "int32"):
            pool.append(x.cast(dtypes.float64).cast(x.dtype))
        elif kind == "one":
            pool.append(-x)
        else:
            pool.append(draw.choice([x + y, x - y, x * y]))
    return pool[-1], pool


def outputs(draw, rng):
    """Roots over one space: reductions in any order of the axes, elementwise ones, and nodes that both kinds share."""
    dtype = draw.choice([*KINDS])
    shape = draw.choice(SHAPES)
    top, pool = random_expression(draw, rng, shape, dtype)
    n = draw.randint(1, len(shape))
    axes = draw.sample(range(len(shape)), len(shape))
    wide = top.cast(draw.choice([dtypes.int64, dtypes.float64])) if dtype in ("uint8", "int32", "bool") else top
    how = draw.choice(KINDS[dtype if wide is top or wide.dtype is dtypes.int64 else "float64"])
    how = Ops.ADD if wide.dtype is dtypes.int64 else how
    roots = [wide.permute(axes).reduce(how, n)]
    roots += draw.choice([[], [top], [draw.choice(pool)], [wide.reduce(how, len(shape)), top]])
    return roots


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
@pytest.mark.parametrize("seed", range(150))
def test_blocks_change_no_bit(seed, compiler, small_blocks, monkeypatch):
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    roots = outputs(draw, rng)
    with context(cc=compiler):
        in_blocks = evaluate(roots)
        monkeypatch.setattr(blockwise, "BLOCKWISE_ELEMENTS", WHOLE)
        node_by_node = evaluate(roots)
    for got, want in zip(in_blocks, node_by_node, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got, want)
        if got.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
@pytest.mark.parametrize("n", [1023, 1024, 1025, 1100, 2048, 3071, 3072 + 127, 3072 + 128, 5120, 7777])
@pytest.mark.parametrize("how", [Ops.ADD, Ops.MUL, Ops.MAX])
def test_long_rows_are_summed_in_one_order_however_they_are_cut(how, n, compiler, small_blocks, monkeypatch):
    rng = np.random.default_rng(n)
    x = leaf(1 + rng.standard_normal((3, n)) * 0.01)
    columns = leaf(np.ascontiguousarray(x.arg.array.T)).permute((1, 0))
    with context(cc=compiler):
        rows = evaluate([(x + 0.5).reduce(how, 1)])[0]
        across = evaluate([(columns + 0.5).reduce(how, 1)])[0]
        monkeypatch.setattr(blockwise, "BLOCKWISE_ELEMENTS", WHOLE)
        whole = evaluate([(x + 0.5).reduce(how, 1)])[0]
    assert rows.tolist() == whole.tolist() == across.tolist()


N = 1 << 21
MEMORY = {
    "sum of bytes": (lambda x: x.cast(dtypes.uint64).reduce(Ops.ADD, 1), 0),
    "sum of bytes as float": (lambda x: x.cast(dtypes.float64).reduce(Ops.ADD, 1), 0),
    "how many": (lambda x: x.ne(7).cast(dtypes.int64).reduce(Ops.ADD, 1), 0),
    "any": (lambda x: x.cast(dtypes.bool).reduce(Ops.OR, 1), 0),
    "sum of columns": (
        lambda x: x.reshape((N // 1024, 1024)).cast(dtypes.uint64).permute((1, 0)).reduce(Ops.ADD, 1),
        0,
    ),
    "place": (lambda x: x.eq(7).where(iota((N,), 0), UOp.const(N, dtypes.int64, (N,))).reduce(Ops.MIN, 1), 0),
    "of many copies": (lambda x: x.reshape((1, N)).expand((9, N)).cast(dtypes.float64).reduce(Ops.ADD, 2), 0),
    "a chain": (lambda x: (x.cast(dtypes.float64) * 2.0 + 1.0) * 3.0, 8 * N),
    "cumulative": (lambda x: x.cast(dtypes.float64).scan(Ops.ADD), 16 * N),
}


@pytest.mark.parametrize(("graph", "result_bytes"), MEMORY.values(), ids=MEMORY)
def test_what_is_in_between_takes_a_few_blocks(graph, result_bytes):
    x = leaf((np.arange(N) % 251).astype(np.uint8))
    program = lower_to_numpy([graph(x)])
    program.run()
    tracemalloc.start()
    kept = program.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept
    assert peak <= result_bytes + 6 * 8 * blockwise.BLOCK


# ------------------------------------------------------------------------------------------- writing over what is dying


def given(seed, n):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(N // 8) for _ in range(n)]


X, Y = (UOp.param(i, (N // 8,), dtypes.float64) for i in range(2))
HALF = X.reshape((2, N // 16)).shrink([(0, 1), (0, N // 16)]).reshape((N // 16,))
TWICE = X.reshape((1, N // 8)).expand((2, N // 8))
# roots of two arrays that are given away, and how many arrays are made
OVER = {
    "an operation": ([X + Y], 0),
    "a chain": ([(X + Y) * X - Y], 0),
    "twice the same": ([X * X], 0),
    "a choice": ([(X < Y).where(X, Y)], 1 / 8),
    "a scatter": ([UOp.new(Ops.SCATTER, (X, Y, iota((N // 8,), 0).flip((0,))), "add")], 2),
    "a scatter of what dies": (
        [UOp.new(Ops.SCATTER, (UOp.const(0, dtypes.float64, X.shape), X, iota((N // 8,), 0)), "set")],
        2,
    ),
    "a power": ([UOp.new(Ops.POW, (X, Y))], 0),
    "read again": ([X + Y, X - Y], 1),
    "read again as a view": ([X + Y, X.flip((0,)) * Y], 2),
    "turned": ([X + X.flip((0,))], 1),
    "a part of it": ([HALF + 1.0, Y * 2.0], 1 / 2),
    "two copies of it": ([TWICE + 1.0], 2),
    "handed out": ([X, X + Y], 1),
    "handed out as a view": ([X.reshape((2, N // 16)), X + 1.0, Y], 1),
    "another dtype": ([X.cast(dtypes.int32)], 1 / 2),
}


@pytest.mark.parametrize(("roots", "made"), OVER.values(), ids=OVER)
def test_a_dying_operand_is_written_over_and_no_other(roots, made, monkeypatch):
    monkeypatch.setattr(blockwise, "BLOCKWISE_ELEMENTS", N // 32)
    monkeypatch.setattr(numpy_interp, "BLOCKWISE_ELEMENTS", N // 32)
    arrays = given(len(roots), 2)
    want = [value.copy() for value in lower_to_numpy(roots, [X, Y]).run([x.copy() for x in arrays])]
    program = lower_to_numpy(roots, [X, Y], [X, Y])
    program.run([x.copy() for x in arrays])
    tracemalloc.start()
    got = program.run(arrays)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    for value, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(value, expected)
    assert not any(np.may_share_memory(x, y) for i, x in enumerate(got) for y in got[:i])
    assert peak <= made * N + 3 * 8 * blockwise.BLOCK


@pytest.mark.parametrize(("roots", "made"), OVER.values(), ids=OVER)
def test_what_is_not_given_away_stays_as_it_is(roots, made, monkeypatch):
    monkeypatch.setattr(numpy_interp, "BLOCKWISE_ELEMENTS", N // 32)
    arrays = given(7, 2)
    before = [x.copy() for x in arrays]
    got = lower_to_numpy(roots, [X, Y]).run((*arrays,))
    assert all((x == y).all() for x, y in zip(arrays, before, strict=True))
    assert not any(np.may_share_memory(x, y) for x in got for y in arrays)


OF_EVERY_KIND = [
    (op, dtype)
    for op in sorted(ELEMENTWISE - {Ops.CAST, Ops.BITCAST})
    for dtype in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.int8, dtypes.uint32, dtypes.bool)
]


def node_of(op, sources):
    """The node of `op` on these, None where their dtype is none that it takes."""
    if op is Ops.WHERE:
        return UOp.new(op, (sources[0].ne(sources[1]), *sources))
    try:
        return UOp.new(op, tuple(sources[: 2 if op in BINARY else 1]))
    except DTypeError:
        return None


@pytest.mark.parametrize(("op", "dtype"), OF_EVERY_KIND, ids=lambda x: getattr(x, "name", str(x)))
def test_every_operation_takes_numbers_that_are_spread_out(op, dtype, small_blocks, monkeypatch):
    n = 3000
    rng = np.random.default_rng(0)
    monkeypatch.setattr(blockwise, "_is_worth_it", lambda group: True)
    full = leaf((rng.random(n) * 3).astype(dtype))
    number = leaf(np.array([0.75]).astype(dtype)).expand((n,))
    for sources in ((full, number), (number, full), (number, number)):
        node = node_of(op, sources)
        if node is None:
            return
        for root in (node, node.cast(dtypes.uint32) if node.dtype.kind != "c" else node):
            monkeypatch.setattr(blockwise, "BLOCKWISE_ELEMENTS", 1000)
            in_blocks = evaluate([root])[0]
            monkeypatch.setattr(blockwise, "BLOCKWISE_ELEMENTS", WHOLE)
            np.testing.assert_array_equal(in_blocks, evaluate([root])[0], strict=True)
