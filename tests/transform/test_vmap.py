"""Batching against one evaluation an element, for every op and every choice of batched operands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.derivative_checks import Array, function_of, leaf_like, value
from tests.support.derivative_records import RECORDS, Record, scatter
from uopc_core.dtype import dtypes
from uopc_core.errors import ShapeError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir import Ops, UOp
from uopc_core.ir.composite import call_extern, matmul, stack
from uopc_core.ir.op import COMPARISONS, LEAVES, SCATTER_MODES, TENSOR_OPS
from uopc_core.transform.gradient import gradient
from uopc_core.transform.jvp import jvp
from uopc_core.transform.vmap import BATCHING, batch

N = 3


def leaf(*shape: int, dtype: Any = dtypes.float64) -> UOp:
    return leaf_like(np.empty(shape, dtype))


def elementwise_values(build: Callable[..., Any], rows: Sequence[Array], flags: Sequence[bool]) -> list[Array]:
    """`build` for one element of the batch after the other; `rows` all have the batch axis, `flags` tell which vary."""
    results: list[list[Array]] = []
    for k in range(N):
        values = [x[k] if flag else x[0] for x, flag in zip(rows, flags, strict=True)]
        results.append(function_of(build, values)(values))
    return [np.stack(parts) for parts in zip(*results, strict=True)]


def batched_values(build: Callable[..., Any], rows: Sequence[Array], flags: Sequence[bool]) -> list[Array]:
    f = function_of(build, [x[0] for x in rows])
    wide = {x: leaf_like(row) for x, row, flag in zip(f.leaves, rows, flags, strict=True) if flag}
    env = {wide.get(x, x): row if x in wide else row[0] for x, row in zip(f.leaves, rows, strict=True)}
    return evaluate(batch(f.roots, wide), env)


def compare(build: Callable[..., Any], rows: Sequence[Array]) -> None:
    for flags in product([True, False], repeat=len(rows)):
        if any(flags):
            pairs = zip(batched_values(build, rows, flags), elementwise_values(build, rows, flags), strict=True)
            for found, wanted in pairs:
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_every_op_has_a_batching_rule() -> None:
    assert BATCHING.keys() == TENSOR_OPS


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_batching_is_evaluation_of_every_element(record: Record) -> None:
    values = record.values()
    compare(record.build, [np.stack([x, x * 0.9, x[::-1] if x.ndim else x]) for x in values])


@dataclass(frozen=True)
class Case:
    """A graph with operands of any dtype; all have the batch axis."""

    build: Callable[..., UOp]
    rows: list[Array]
    name: str

    def __str__(self) -> str:
        return self.name


RNG = np.random.default_rng(5)
TABLE = RNG.standard_normal((N, 4, 5, 2))
PLACES = RNG.integers(-4, 4, (N, 3))
OTHERS = RNG.integers(-5, 5, (N, 3))
KEYS = RNG.integers(0, 2**63, N).astype(np.uint64)

CASES = [
    Case(lambda x, i: x.index(i), [TABLE, PLACES], "gather"),
    Case(lambda x, i, j: x.index(i, j), [TABLE, PLACES, OTHERS], "gather by two indices"),
    Case(lambda x, i: x.index(i), [TABLE, PLACES.reshape(N, 3, 1)], "gather by an index of two axes"),
    Case(lambda x, i: x.index(i), [TABLE, PLACES[:, 0]], "gather by a number"),
    Case(lambda x, i: x.index(i), [TABLE, PLACES.astype(np.int8)], "gather by small integers"),
    *[
        Case(
            lambda x, y, i, mode=mode: scatter(mode, x, y, i),
            [TABLE, RNG.standard_normal((N, 3, 5, 2)), PLACES],
            f"scatter {mode}",
        )
        for mode in SCATTER_MODES
    ],
    Case(
        lambda x, y, i, j: scatter("add", x, y, i, j),
        [TABLE, RNG.standard_normal((N, 3, 2)), PLACES, OTHERS],
        "scatter by two indices",
    ),
    Case(lambda key: UOp.new(Ops.RANDOM, (key,), (2, 3)), [KEYS], "random"),
    Case(lambda key: UOp.new(Ops.RANDOM, (key,), ()), [KEYS], "one random number"),
    Case(lambda x: x.bitcast(dtypes.int64), [TABLE], "bitcast"),
    Case(lambda x: x.cast(dtypes.int32), [TABLE], "cast"),
    Case(lambda x: x.detach().variable(7).materialize(), [TABLE], "identities"),
    *[Case(lambda x, y, op=op: x.binary(op, y), [PLACES, OTHERS], op.name) for op in sorted(COMPARISONS)],
    Case(lambda x: (x > 0).reduce(Ops.AND, 1), [PLACES], "all"),
    Case(lambda x: (x > 0).reduce(Ops.OR, 1), [PLACES], "any"),
    Case(
        lambda x, v: UOp.new(Ops.EXTERN, (x, v), ("searchsorted", ("left",), 0)),
        [np.sort(RNG.standard_normal((N, 6))), RNG.standard_normal((N, 4))],
        "a host function without a rule",
    ),
    Case(lambda x: UOp.new(Ops.EXTERN, (x,), ("argsort", (True, True), 0)), [TABLE], "argsort"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_batching_of_all_dtypes(case: Case) -> None:
    compare(case.build, case.rows)


def test_records_and_cases_cover_every_op() -> None:
    f = [function_of(case.build, [x[0] for x in case.rows]).roots[0] for case in CASES]
    covered = {record.op for record in RECORDS} | {node.op for root in f for node in root.walk()}
    assert covered | LEAVES == TENSOR_OPS
    assert Ops.RANDOM in covered


def test_small_indices_into_a_large_batch() -> None:
    n = 200
    x, i = leaf(3), leaf(2, dtype=np.dtype(np.int8))
    rows, places = np.arange(3.0 * n).reshape(n, 3), np.tile(np.array([-1, 0], np.int8), (n, 1))
    wide, picks = leaf_like(rows), leaf_like(places)
    (found,) = batch([x.index(i)], {x: wide, i: picks})
    assert value(found, {wide: rows, picks: places}).tolist() == rows[:, [2, 0]].tolist()


def test_a_batch_of_nothing() -> None:
    x, a = leaf(3), leaf(2, 2)
    none, no_matrices = leaf(0, 3), leaf(0, 2, 2)
    values = UOp.const(0.0, dtypes.float64, (4,))
    roots = [x * x, UOp.new(Ops.EXTERN, (x, values), ("searchsorted", ("left",), 0)), call_extern("inv", a)]
    found = batch(roots, {x: none, a: no_matrices})
    assert [node.shape for node in found] == [(0, 3), (0, 4), (0, 2, 2)]


def test_what_does_not_depend_on_the_batch_is_left_alone() -> None:
    x, w, wide = leaf(3), leaf(3), leaf(N, 3)
    outside = w.unary(Ops.EXP)
    found, alone = batch([x + outside, outside], {x: wide})
    assert outside in found.walk()
    assert alone.shape == (N, 3)
    assert value(alone, {w: np.zeros(3)}).tolist() == np.ones((N, 3)).tolist()


def test_an_inner_node_can_be_batched() -> None:
    x, wide = leaf(3), leaf(N, 3)
    inner = x.unary(Ops.EXP)
    (found,) = batch([inner * 2.0], {inner: wide})
    assert x not in found.walk()
    assert value(found, {wide: np.ones((N, 3))}).tolist() == np.full((N, 3), 2.0).tolist()


def test_constants_stay_constants() -> None:
    x, wide = leaf(3), leaf(N, 3)
    (found,) = batch([x * 1.0], {x: wide})
    assert found is wide * 1.0


def test_batches_of_batches() -> None:
    x, row, table = leaf(), leaf(2), leaf(N, 2)
    f = x.unary(Ops.SIN) * 2.0
    (inner,) = batch([f], {x: row})
    (outer,) = batch([inner], {row: table})
    rows = RNG.standard_normal((N, 2))
    np.testing.assert_allclose(value(outer, {table: rows}), 2 * np.sin(rows), rtol=1e-15)


def test_a_chain_of_20_000_nodes_is_batched() -> None:
    x, wide = leaf(), leaf(2)
    y = x
    for _ in range(20_000):
        y = y + 1.0
    (found,) = batch([y], {x: wide})
    assert found.shape == (2,)


def test_gradients_of_every_example() -> None:
    w, x, rows = leaf(3), leaf(3), leaf(N, 3)
    loss = (w * x).reduce(Ops.ADD, 1).unary(Ops.TANH)
    (per_example,) = batch(gradient(loss, [w]), {x: rows})
    data, weights = RNG.standard_normal((N, 3)), RNG.standard_normal(3)
    wanted = (1 - np.tanh(data @ weights) ** 2)[:, None] * data
    np.testing.assert_allclose(value(per_example, {w: weights, rows: data}), wanted, rtol=1e-12)


def test_gradient_of_a_batched_function() -> None:
    w, x, rows = leaf(3), leaf(3), leaf(N, 3)
    (values,) = batch([(w * x).reduce(Ops.ADD, 1).unary(Ops.TANH)], {x: rows})
    (g,) = gradient(values, [w])
    data, weights = RNG.standard_normal((N, 3)), RNG.standard_normal(3)
    wanted = (1 - np.tanh(data @ weights) ** 2) @ data
    np.testing.assert_allclose(value(g, {w: weights, rows: data}), wanted, rtol=1e-12)


def test_jacobian_by_a_batch_of_tangents() -> None:
    x, v, basis = leaf(3), leaf(3), leaf(3, 3)
    (t,) = jvp([x * x], [x], [v])
    (columns,) = batch([t], {v: basis})
    at = np.array([1.0, 2.0, 3.0])
    assert value(columns, {x: at, basis: np.eye(3)}).tolist() == np.diag(2 * at).tolist()


def test_a_row_for_each_batched_matrix_product() -> None:
    a, b = RNG.standard_normal((N, 2, 4)), RNG.standard_normal((N, 4, 3))
    compare(matmul, [a, b])


def test_stacking_batched_with_unbatched() -> None:
    compare(lambda x, y: stack([x, y], 1), [TABLE[..., 0], TABLE[..., 1]])


def test_extents_that_differ_are_refused() -> None:
    x, y = leaf(3), leaf(2)
    with pytest.raises(ShapeError, match=r"one extent of the batched axes, got \[3, 4\]"):
        batch([x.reduce(Ops.ADD, 1) * y.reduce(Ops.ADD, 1)], {x: leaf(3, 3), y: leaf(4, 2)})


@pytest.mark.parametrize(
    "wrong", [leaf(3), leaf(2, 4), leaf(2, 3, dtype=dtypes.float32)], ids=["axes", "shape", "dtype"]
)
def test_a_replacement_unlike_the_leaf_is_refused(wrong: UOp) -> None:
    x = leaf(3)
    with pytest.raises(ShapeError, match=r"vmap: expected .* with a leading axis, got"):
        batch([x], {x: wrong})
