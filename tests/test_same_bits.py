"""A value is a function of the operation and its operands: not of who computes it, what it is fused with, which run it
is, how many threads there are, where in memory an operand lies, or whether a number is a constant.

Everything is compared with each operation by itself, interpreted, on arrays in order. Any nan is as good as any other;
zeros have a sign. HYPOTHESIS_PROFILE=search draws twenty times as much.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.graph_samples import SAMPLES
from tests.support.same_bits import (
    CASTS,
    ELEMENTWISE_CASES,
    alone,
    assert_same,
    compute,
    graphs,
    over,
    slices,
    values_of,
)
from uopc_core import DTYPES, Buffer, DType, Executable, Ops, UOp, context, dtypes, walk
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.op import BINARY, ELEMENTWISE, MATH_FUNCTIONS

SHARE = settings().max_examples / 50  # of the usual number of examples
N = 331
dtype_id = operator.attrgetter("name")


def examples(n: int) -> Any:
    return settings(max_examples=max(1, int(n * SHARE)))


def every_op(dtype: DType, shape: tuple[int, ...]) -> list[UOp]:
    """Each elementwise op that takes `dtype`, each cast of it, of the same two PARAMs."""
    x, y = (UOp.param(i, shape, dtype) for i in range(2))
    made = [UOp.new(op, (x, y) if op in BINARY else (x,)) for op, of in ELEMENTWISE_CASES if of is dtype]
    return made + [x.cast(b) for a, b in CASTS if a is dtype and b is not a] + [x.eq(y).where(y, x)]


def math_ops(dtype: DType, shape: tuple[int, ...]) -> list[UOp]:
    return [node for node in every_op(dtype, shape) if node.op in MATH_FUNCTIONS]


def two(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> list[Any]:
    return [values_of(dtype, shape, seed), values_of(dtype, shape, seed + 1)]


# ------------------------------------------------------------------------------------------------- who, and beside whom


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_id)
def test_every_op_fused_with_every_other(dtype: DType) -> None:
    nodes, values = every_op(dtype, (N,)), two(dtype, (N,))
    wanted = alone(nodes, values)
    for tier in ("interpret", "compile"):
        assert_same(compute(nodes, values, tier=tier), wanted, tier, nodes)


@pytest.mark.parametrize(("dtype", "order"), [(dtypes.float32, 1), (dtypes.float64, -1)], ids=str)
def test_real_and_complex_functions_in_one_kernel(dtype: DType, order: int) -> None:
    """Vector functions and scalar ones have the same names in C."""
    x, y = (UOp.param(i, (N,), dtype) for i in range(2))
    z = x.binary(Ops.COMPLEX, y)
    unary = [op for op, of in ELEMENTWISE_CASES if of is z.dtype and op not in BINARY]
    nodes = [*math_ops(dtype, (N,)), *map(z.unary, unary)][::order]
    values = two(dtype, (N,), seed=7)
    assert_same(compute(nodes, values, tier="compile"), alone(nodes, values), "compile", nodes)


OTHERS = {name: node for name, node in SAMPLES.items() if node.op not in ELEMENTWISE}


def test_every_op_has_a_sample() -> None:
    assert {node.op for sample in SAMPLES.values() for node in walk([sample])} >= set(Ops) - {Ops.BUFFER}


@pytest.mark.parametrize("name", OTHERS)
def test_movement_and_ops_along_axes(name: str) -> None:
    params = {x.arg[0]: x for x in walk([OTHERS[name]]) if x.op is Ops.PARAM}
    missing = UOp.const(0, dtypes.int32)
    types = [params.get(i, missing) for i in range(max(params, default=-1) + 1)]
    values = [values_of(x.dtype, x.shape, i) for i, x in enumerate(types)]
    if OTHERS[name].op is Ops.EXTERN:
        values[5] = np.eye(3) + 1 / (1 + np.arange(9.0).reshape(3, 3))
    wanted = alone([OTHERS[name]], values)
    for tier in ("interpret", "compile", "auto"):
        assert_same(compute([OTHERS[name]], values, tier=tier), wanted, tier)


@examples(30)
@given(st.data(), st.integers(0, 1000), st.sampled_from([(3, 7), (6, 40), (64, 70)]))
def test_random_graphs(data: st.DataObject, seed: int, shape: tuple[int, int]) -> None:
    nodes = data.draw(graphs(shape))
    values = values_for(nodes, shape, seed)
    wanted = alone(nodes, values)
    for tier in ("interpret", "compile", "auto"):
        assert_same(compute(nodes, values, tier=tier), wanted, tier, nodes)


def values_for(nodes: list[UOp], shape: tuple[int, ...], seed: int) -> list[Any]:
    dtype = next((x.dtype for x in walk(nodes) if x.op is Ops.PARAM), dtypes.float64)
    return [values_of(dtype, shape, seed + i) for i in range(4)]


# ------------------------------------------------------------------------------------------------------ where in memory


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_id)
def test_slices_of_every_length_offset_and_stride_interpreted(dtype: DType) -> None:
    values = two(dtype, (N,), seed=3)
    params = [UOp.param(i, (N,), dtype) for i in range(2)]
    nodes = every_op(dtype, (N,))
    wholes = evaluate(nodes, dict(zip(params, values, strict=True)))
    cuts = [*slices(N), *[slice(n % 5, n % 5 + n) for n in range(1, 71)]]
    for number, (node, whole) in enumerate(zip(nodes, wholes, strict=True)):
        for cut in cuts[number % 3 :: 3] if SHARE <= 1 else cuts:
            parts = [value[cut] for value in values]
            small = [UOp.param(i, parts[0].shape, dtype) for i in range(2)]
            (found,) = evaluate(over([node], small), dict(zip(small, parts, strict=True)))
            assert_same([found], [whole[cut]], f"{node.op.name} {cut}")


@examples(3)
@given(st.sampled_from([d for d in DTYPES if d.kind in "fc"]), st.integers(1, 70), st.integers(0, 20), st.booleans())
def test_slices_compiled(dtype: DType, n: int, offset: int, flipped: bool) -> None:
    values = two(dtype, (N,), seed=4)
    cut = slice(offset, offset + n)
    parts = [UOp.param(i, (N,), dtype).shrink([(cut.start, cut.stop)]) for i in range(2)]
    if flipped:
        parts = [part.flip((0,)) for part in parts]
    wholes = alone(every_op(dtype, (N,)), values)
    found = compute(over(every_op(dtype, (n,)), parts), values, tier="compile")
    assert_same(found, [whole[cut][:: -1 if flipped else 1] for whole in wholes], f"{dtype} {cut}")


@pytest.mark.parametrize("shape", [(3, 100, 101), (26, 26, 26), (33, 65, 129), (99, 99, 99), (130, 131, 132)], ids=str)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind in "fc"], ids=dtype_id)
def test_a_product_of_matrices_does_not_depend_on_how_they_lie(dtype: DType, shape: tuple[int, ...]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)

    def product(x: UOp, y: UOp) -> UOp:
        left, right = x.reshape((m, 1, k)).expand((m, n, k)), y.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
        return (left * right).reduce(Ops.ADD, 1)

    x, y = UOp.param(0, (m, k), dtype), UOp.param(1, (k, n), dtype)
    turned_x, turned_y = (UOp.param(i, (s, r), dtype).permute((1, 0)) for i, (r, s) in enumerate(((m, k), (k, n))))
    whole = [product(x, y), product(x, y).permute((1, 0))]
    wanted = compute(whole[:1], [a, b], tier="compile")
    for tier in ("interpret", "compile", "auto"):
        assert_same(compute(whole, [a, b], tier=tier), [*wanted, wanted[0].T], tier)
        assert_same(compute(whole[1:], [a, b], tier=tier), [wanted[0].T], tier)
        assert_same(compute([product(turned_x, y)], [a.T, b], tier=tier), wanted, tier)
        assert_same(compute([product(x, turned_y)], [a, b.T], tier=tier), wanted, tier)


@examples(8)
@given(
    st.sampled_from([Ops.MAX, Ops.MIN]),
    st.sampled_from([dtypes.float32, dtypes.float64]),
    st.sampled_from([(3, 513), (600, 4), (2, 1700), (40, 30), (9, 128), (12, 16), (300, 300)]),
    st.sampled_from(["rows", "columns", "all", "all, turned"]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_the_sign_of_a_zero_that_is_an_extreme(
    how: Ops, dtype: DType, shape: tuple[int, int], over_what: str, computed: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    sign = -1 if how is Ops.MAX else 1
    values = np.abs(rng.standard_normal(shape)).astype(dtype) * sign
    places = rng.random(shape) < rng.choice([0.001, 0.01, 0.5, 1.0])
    values[places] = rng.choice(np.array([0.0, -0.0], dtype), int(places.sum()))
    x = UOp.param(0, shape, dtype)
    x = x * UOp.const(1.5, dtype, shape) if computed else x
    whole = {"rows": (x, 1), "columns": (x.permute((1, 0)), 1), "all": (x, 2), "all, turned": (x.permute((1, 0)), 2)}
    node, n = whole[over_what]
    nodes = [node.reduce(how, n)]
    wanted = alone(nodes, [values])
    for tier in ("interpret", "compile"):
        assert_same(compute(nodes, [values], tier=tier), wanted, f"{tier} {over_what}", nodes)


# ------------------------------------------------------------------------------------------ which run, how many threads

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "sin": xp.sin,
    "fixed point": lambda x: xp.cos(x) == x,
    "nested": lambda x: xp.exp(xp.sin(x) * 3) / (xp.tanh(x) ** 2 + x**3) - xp.log1p(x * x) ** 0.3,
    "complex": lambda x: abs(xp.exp(x * 1j) * (2 + x * 1j) / (x - 1j)) + xp.max(xp.sqrt(x + 0j).real),
    "largest": lambda x: xp.max(xp.sinh(x[::-1]) * x),
    "sum": lambda x: xp.sum(xp.sin(x) * 2),
    "softmax": lambda x: xp.exp(x - xp.max(x)) / xp.sum(xp.exp(x - xp.max(x))),
    "spread": lambda x: xp.std(x) + xp.mean(xp.cumulative_sum(x * 0.1) ** 2) + xp.prod(x * 0.01),
    "powers": lambda x: x**-1 + x**2.0 + x ** xp.round(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_of_an_eager_loop_and_of_jit(name: str) -> None:
    """From the first, which is interpreted, past those after which the loop is compiled."""
    program = PROGRAMS[name]
    compiled = xp.jit(program)
    for n, runs in ((40, 5), (1000, 1100), (30_000, 30), (300_000, 4)):
        values = values_of(dtypes.float64, (n,), n)
        with context(verify=False, tier="interpret"):
            wanted = np.asarray(program(xp.asarray(values)))
        with context(verify=False, tier="auto"):
            for run in range(runs):
                x = xp.asarray(values)
                assert_same([np.asarray(program(x))], [wanted], f"eager run {run} of {n}")
                if run < 30:
                    assert_same([np.asarray(compiled(x))], [wanted], f"run {run} of jit, {n}")


@examples(4)
@given(st.data(), st.integers(0, 1000), st.sampled_from([(700, 310), (3, 70_001)]))
def test_threads(data: st.DataObject, seed: int, shape: tuple[int, int]) -> None:
    nodes = data.draw(graphs(shape))
    values = values_for(nodes, shape, seed)
    wanted = compute(nodes, values, tier="interpret")
    for threads in (1, 2, 3):
        assert_same(compute(nodes, values, tier="compile", num_threads=threads), wanted, f"{threads} threads", nodes)


# ---------------------------------------------------------------------------------------------------------- constants

NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 4.0, 0.5, -0.5, 0.1, 17.0, 1e30, float("inf"), float("nan"))


@examples(6)
@given(st.data(), st.sampled_from([d for d in DTYPES if d.kind in "fc"]))
def test_a_number_is_the_same_as_a_constant_an_argument_and_an_array(data: st.DataObject, dtype: DType) -> None:
    ops = [op for op, of in ELEMENTWISE_CASES if of is dtype and op in BINARY]
    chosen = data.draw(st.lists(st.tuples(st.sampled_from(ops), st.sampled_from(NUMBERS), st.booleans()), max_size=6))
    values = values_of(dtype, (N,), 5)
    x = UOp.param(0, (N,), dtype)
    for op, value, first in [*chosen, (Ops.POW, 2.0, False), (Ops.POW, 3.0, False), (Ops.POW, -1.0, False)]:
        number = dtype.type(value).item()
        operands: list[tuple[UOp, Any]] = [
            (UOp.const(number, dtype, (N,)), None),
            (UOp.param(1, (), dtype, "scalar").reshape((1,)).expand((N,)), number),
            (UOp.param(1, (N,), dtype), Buffer.from_numpy(np.full(N, number, dtype))),
        ]
        nodes = [UOp.new(op, (y, x) if first else (x, y)) for y, _ in operands]
        wanted = alone(nodes[2:], [values, np.full(N, number, dtype)])
        for node, (_, argument) in zip(nodes, operands, strict=True):
            for tier in ("interpret", "compile"):
                with context(verify=False, tier=tier):
                    found = Executable([node]).run([Buffer.from_numpy(values), argument])
                assert_same([found[0].array], wanted, f"{op.name} {value} {tier}", [node])
