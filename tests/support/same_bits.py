"""Graphs drawn at random, and every way to compute one: node by node, as a plan, compiled, on more threads."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.support.leaf_values import bits_of, special_values
from uopc_core import Buffer, DType, Ops, UOp, context, dtypes, is_complex, is_float, is_integer, realize_all, walk
from uopc_core.dtype import DTYPES
from uopc_core.errors import DTypeError
from uopc_core.ir.op import BINARY, REDUCIBLE, SCANNABLE, UNARY

__all__ = ["CASTS", "ELEMENTWISE_CASES", "alone", "assert_same", "compute", "graphs", "over", "values_of"]

Array = np.ndarray[Any, Any]


def _takes(op: Ops, dtype: DType) -> bool:
    try:
        UOp.new(op, tuple([UOp.param(i, (2,), dtype) for i in range(2 if op in BINARY else 1)]))
    except DTypeError:
        return False
    return True


ELEMENTWISE_CASES = [
    (op, dtype) for op in sorted((UNARY | BINARY) - {Ops.CAST, Ops.BITCAST}) for dtype in DTYPES if _takes(op, dtype)
]
CASTS = [(a, b) for a, b in product(DTYPES, DTYPES) if not is_complex(a) or is_complex(b) or b is dtypes.bool]


def values_of(dtype: DType, shape: tuple[int, ...], seed: int) -> Array:
    """Special and ordinary values in a random order."""
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    special = rng.permutation(special_values(dtype))[: n // 2 + 1]
    if dtype.kind == "b":
        ordinary = rng.integers(0, 2, n).astype(bool)
    elif is_integer(dtype):
        info = np.iinfo(dtype)
        sizes = rng.integers(0, 8 * dtype.itemsize - 1, n).astype(dtype)
        ordinary = rng.integers(info.min, info.max, n, dtype, True) >> sizes
    else:
        ordinary = rng.standard_normal(n) * 10.0 ** rng.integers(-5, 5, n)
        if is_complex(dtype):
            ordinary = ordinary + 1j * rng.permutation(ordinary)
    mixed = np.concatenate([special, ordinary.astype(dtype)])[:n]
    return rng.permutation(mixed).reshape(shape)


# ------------------------------------------------------------------------------------------------------ ways to compute


def over(nodes: Sequence[UOp], leaves: Sequence[UOp]) -> list[UOp]:
    """`nodes` with `leaves` in the place of their PARAMs, by number."""
    made: dict[UOp, UOp] = {}
    for node in walk(nodes):
        made[node] = leaves[node.arg[0]] if node.op is Ops.PARAM else _remade(node, [made[s] for s in node.src])
    return [made[node] for node in nodes]


def _remade(node: UOp, sources: Sequence[UOp]) -> UOp:
    if not sources:
        return node
    return node.over(tuple(sources))


def _leaf(value: Array) -> UOp:
    return UOp.buffer(Buffer.from_numpy(value))


def compute(nodes: Sequence[UOp], values: Sequence[Array], **settings: Any) -> list[Array]:
    """The values of `nodes`, all in one graph."""
    with context(verify=False, **settings):
        return [buffer.array for buffer in realize_all(over(nodes, [_leaf(value) for value in values]))]


def alone(nodes: Sequence[UOp], values: Sequence[Array]) -> list[Array]:
    """The same, each operation by itself, of operands in memory."""
    made: dict[UOp, Array] = {}
    with context(verify=False, tier="interpret"):
        for node in walk(nodes):
            if node.op is Ops.PARAM:
                made[node] = values[node.arg[0]]
            else:
                made[node] = realize_all([_remade(node, [_leaf(made[s]) for s in node.src])])[0].array
    return [made[node] for node in nodes]


def assert_same(got: Sequence[Array], want: Sequence[Array], what: str, nodes: Sequence[UOp] = ()) -> None:
    """Equal bits; any nan is as good as any other."""
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), what
        if bits_of(a) == bits_of(b):
            continue
        wrong = [i for i in np.ndindex(a.shape) if bits_of(a[i].reshape(1)) != bits_of(b[i].reshape(1))]
        shown = f"at {wrong[0]}: {a[wrong[0]]!r} and {b[wrong[0]]!r}"
        raise AssertionError(f"{what}: {len(wrong)} of {a.size} elements of output {number} differ, {shown}\n{nodes}")


# --------------------------------------------------------------------------------------------------------------- graphs

_SOME_DTYPES = (dtypes.float64, dtypes.float32, dtypes.complex128, dtypes.complex64, dtypes.int32, dtypes.uint8)
_CONSTANTS = (0.0, 1.0, -1.0, 2.0, 3.0, 0.5, 0.1, -2.5, 1e30, float("inf"), float("nan"), -0.0, 17.0)


@st.composite
def graphs(draw: st.DrawFn, shape: tuple[int, int], n_steps: int = 8) -> list[UOp]:
    """A few outputs over four PARAMs of one dtype and `shape`."""
    dtype = draw(st.sampled_from(_SOME_DTYPES))
    known = [UOp.param(i, shape, dtype) for i in range(4)]
    for _ in range(draw(st.integers(1, n_steps))):
        made = draw(st.sampled_from(_STEPS))(draw, known, shape)
        if made is not None:
            known.append(made)
    fresh = known[4:] or [known[0] + known[1]]
    return [fresh[-1], *draw(st.lists(st.sampled_from(fresh), max_size=2))]


def _pick(draw: st.DrawFn, known: Sequence[UOp]) -> UOp:
    return draw(st.sampled_from(known[::-1]))  # shrinks to the latest


def _elementwise(draw: st.DrawFn, known: Sequence[UOp], shape: tuple[int, ...]) -> UOp | None:
    x = _pick(draw, known)
    op = draw(st.sampled_from([op for op, dtype in ELEMENTWISE_CASES if dtype is x.dtype]))
    if op not in BINARY:
        return x.unary(op)
    others = [y for y in known if y.dtype is x.dtype]
    y = _constant(draw, x, shape) if draw(st.booleans()) else _pick(draw, others)
    operands = (x, y) if draw(st.booleans()) else (y, x)
    return UOp.new(op, operands)


def _constant(draw: st.DrawFn, x: UOp, shape: tuple[int, ...]) -> UOp:
    value = draw(st.sampled_from(_CONSTANTS))
    if is_float(x.dtype) or is_complex(x.dtype):
        return UOp.const(complex(value, 0.0) if is_complex(x.dtype) else value, x.dtype, shape)
    return (
        UOp.const(int(value) if abs(value) < 100 else 7, x.dtype, shape) if value >= 0 else UOp.const(1, x.dtype, shape)
    )


def _cast(draw: st.DrawFn, known: Sequence[UOp], shape: tuple[int, ...]) -> UOp | None:
    x = _pick(draw, known)
    target = draw(st.sampled_from([b for a, b in CASTS if a is x.dtype]))
    return x.cast(target)


def _movement(draw: st.DrawFn, known: Sequence[UOp], shape: tuple[int, ...]) -> UOp | None:
    x = _pick(draw, known)
    rows, columns = shape
    moves: tuple[Callable[[], UOp], ...] = (
        lambda: x.flip((draw(st.integers(0, 1)),)),
        lambda: x.shrink([(0, rows), (1, columns)]).pad([(0, 0), (1, 0)]),
        lambda: x.shrink([(0, 1), (0, columns)]).expand(shape),
        lambda: x.shrink([(0, rows), (0, 1)]).expand(shape),
        lambda: x.reshape((columns, rows)).permute((1, 0)),
        lambda: UOp.new(Ops.CONCAT, (x.shrink([(0, rows), (0, 2)]), x.shrink([(0, rows), (2, columns)])), 1),
    )
    return draw(st.sampled_from(moves))()


def _selection(draw: st.DrawFn, known: Sequence[UOp], shape: tuple[int, ...]) -> UOp | None:
    x = _pick(draw, known)
    y = _pick(draw, [node for node in known if node.dtype is x.dtype])
    conditions = [node for node in known if node.dtype is dtypes.bool]
    return (_pick(draw, conditions) if conditions else x.eq(y)).where(x, y)


def _reduction(draw: st.DrawFn, known: Sequence[UOp], shape: tuple[int, ...]) -> UOp | None:
    x = _pick(draw, known)
    op = draw(st.sampled_from([op for op in sorted(REDUCIBLE) if _takes(op, x.dtype)]))
    way = draw(st.sampled_from(["rows", "columns", "all", "scan"]))
    if way == "rows":
        return x.reduce(op, 1).reshape((shape[0], 1)).expand(shape)
    if way == "columns":
        return x.permute((1, 0)).reduce(op, 1).reshape((1, shape[1])).expand(shape)
    if way == "all":
        return x.reduce(op, 2).reshape((1, 1)).expand(shape)
    return x.scan(op) if op in SCANNABLE and x.dtype.kind != "b" else None


_STEPS = (_elementwise, _elementwise, _elementwise, _elementwise, _cast, _movement, _selection, _reduction, _reduction)


def slices(n: int) -> Iterator[slice]:
    """Every offset of a few steps, up and down."""
    for step in (1, 2, 3, 5):
        for offset in range(min(n, 9)):
            yield slice(offset, None, step)
            yield slice(n - 1 - offset, None, -step)
