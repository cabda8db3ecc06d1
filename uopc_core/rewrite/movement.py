"""Rules for movement and for ops along axes: compositions become one op, no-ops go, slices move towards the leaves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import prod

from uopc_core.dtype import DType, dtypes, is_complex, is_float, is_inexact, is_integer
from uopc_core.ir.composite import CONST_FORMS, const_of, zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.rewrite.pattern import Node, Rule, constant, node, variable

__all__ = ["MOVEMENT_RULES", "REDUCTION_RULES"]

Leaf = Callable[..., UOp]

x = variable("x")
c = constant("c")
# what moves a broadcast scalar, and what a broadcast may be there: of a scalar itself only a reshape makes anything
_MOVES_SCALAR = {Ops.RESHAPE: None, **dict.fromkeys((Ops.PERMUTE, Ops.SHRINK, Ops.FLIP), CONST_FORMS)}


def _over(op: Ops, inner: Ops) -> Node:
    return node(op, node(inner, x))


# ----------------------------------------------------------------------------------------------- broadcasts of scalars


def _scalar_of(x: UOp) -> UOp | None:
    """The node of shape () that `x` broadcasts, if it broadcasts one."""
    if x.op is Ops.EXPAND:
        x = x.src[0]
    if x.op is Ops.RESHAPE:
        x = x.src[0]
    return x if x.shape == () else None


def _broadcast_scalar(x: UOp, out: UOp) -> UOp | None:
    scalar = _scalar_of(x)
    if scalar is None:
        return None
    return scalar.reshape((1,) * out.ndim).expand(out.shape)


def _scalar_examples(op: Ops) -> Callable[[Leaf], list[UOp]]:
    moved: dict[Ops, Callable[[UOp], UOp]] = {
        Ops.RESHAPE: lambda row: row.reshape((3, 2)),
        Ops.PERMUTE: lambda row: UOp.const(2.5, row.dtype, (2, 3)).permute((1, 0)),
        Ops.SHRINK: lambda row: row.shrink([(1, 3)]),
        Ops.FLIP: lambda row: row.flip((0,)),
    }
    return lambda leaf: [
        moved[op](UOp.const(2.5, dtypes.float32, (6,))),
        moved[op](leaf(()).reshape((1,)).expand((6,))),
    ]


# ------------------------------------------------------------------------------------------------- reshape and permute


def _reshape(x: UOp, out: UOp) -> UOp:
    return x.reshape(out.shape)


def _permute_permute(x: UOp, out: UOp) -> UOp:
    inner = out.src[0].arg
    return x.permute([inner[axis] for axis in out.arg])


def _moves_unit_axes_only(x: UOp, out: UOp) -> bool:
    kept = [axis for axis in out.arg if x.shape[axis] != 1]
    return kept == sorted(kept)


def _permute_expand(x: UOp, out: UOp) -> UOp:
    return x.permute(out.arg).expand(out.shape)


# ---------------------------------------------------------------------------------------------- slices, padding, flips


def _shrink_shrink(x: UOp, out: UOp) -> UOp:
    inner = out.src[0].arg
    return x.shrink([(start + a, start + b) for (start, _), (a, b) in zip(inner, out.arg, strict=True)])


def _shrink_pad(x: UOp, out: UOp) -> UOp:
    """What the slice reads of `x`, in what it reads of the padding."""
    bounds: list[tuple[int, int]] = []
    widths: list[tuple[int, int]] = []
    for (a, b), (before, _), n in zip(out.arg, out.src[0].arg, x.shape, strict=True):
        start, stop = max(a - before, 0), min(b - before, n)
        if start >= stop:
            return zeros_like(out)
        bounds.append((start, stop))
        widths.append((start + before - a, b - before - stop))
    return x.shrink(bounds).pad(widths)


def _shrink_expand(x: UOp, out: UOp) -> UOp:
    bounds = [(0, 1) if n == 1 != m else ab for n, m, ab in zip(x.shape, out.src[0].shape, out.arg, strict=True)]
    return x.shrink(bounds).expand(out.shape)


def _shrink_permute(x: UOp, out: UOp) -> UOp:
    axes = out.src[0].arg
    return x.shrink([out.arg[axes.index(axis)] for axis in range(x.ndim)]).permute(axes)


def _shrink_flip(x: UOp, out: UOp) -> UOp:
    flipped = out.src[0].arg
    bounds = [
        (n - b, n - a) if axis in flipped else (a, b)
        for axis, (n, (a, b)) in enumerate(zip(x.shape, out.arg, strict=True))
    ]
    return x.shrink(bounds).flip(flipped)


def _shrink_concat(out: UOp) -> UOp | None:
    """The one part that the slice lies in, if it does."""
    joined = out.src[0]
    axis: int = joined.arg
    a, b = out.arg[axis]
    offsets = accumulate([part.shape[axis] for part in joined.src], initial=0)
    for part, (start, stop) in zip(joined.src, pairwise(offsets), strict=True):
        if start <= a <= b <= stop:
            bounds = list(out.arg)
            bounds[axis] = (a - start, b - start)
            return part.shrink(bounds)
    return None


def _shrink_concat_examples(leaf: Leaf) -> list[UOp]:
    joined = UOp.new(
        Ops.CONCAT, (leaf((2, 3), dtypes.float32), leaf((2, 1), dtypes.float32), leaf((2, 4), dtypes.float32)), 1
    )
    return [joined.shrink([(0, 2), ab]) for ab in ((0, 3), (1, 2), (3, 4), (5, 8), (4, 4))]


def _pad_pad(x: UOp, out: UOp) -> UOp:
    inner = out.src[0].arg
    return x.pad([(a + before, b + after) for (a, b), (before, after) in zip(out.arg, inner, strict=True)])


def _pad_zero(c: UOp, out: UOp) -> UOp | None:
    # == holds for -0.0 too, which the zeros around it are not
    return zeros_like(out) if repr(const_of(c)) in ("0", "0.0", "False", "0j") else None


def _flip_flip(x: UOp, out: UOp) -> UOp:
    twice: tuple[int, ...] = (*out.arg, *out.src[0].arg)
    return x.flip([axis for axis in set(twice) if twice.count(axis) == 1])


def _flip_of_units(x: UOp, out: UOp) -> UOp | None:
    axes = [axis for axis in out.arg if x.shape[axis] > 1]
    return x.flip(axes) if len(axes) < len(out.arg) else None


def _moves_nothing(x: UOp, out: UOp) -> bool:
    return x.shape == out.shape


MOVEMENT_RULES: tuple[Rule, ...] = (
    *[
        Rule(f"{op.name.lower()}-scalar", node(op, x), _broadcast_scalar, examples=_scalar_examples(op), of=of)
        for op, of in _MOVES_SCALAR.items()
    ],
    Rule(
        "reshape-same",
        node(Ops.RESHAPE, x),
        lambda x: x,
        when=_moves_nothing,
        examples=lambda leaf: [UOp.new(Ops.RESHAPE, (leaf((2, 3)),), (2, 3))],
    ),
    Rule(
        "reshape-reshape",
        _over(Ops.RESHAPE, Ops.RESHAPE),
        _reshape,
        examples=lambda leaf: [leaf((2, 3)).reshape((6,)).reshape((3, 2)), leaf((2, 3)).reshape((6,)).reshape((2, 3))],
    ),
    Rule(
        "permute-units",
        node(Ops.PERMUTE, x),
        _reshape,
        when=_moves_unit_axes_only,
        examples=lambda leaf: [
            leaf((1, 3, 1)).permute((2, 1, 0)),
            leaf((2, 1, 3)).permute((1, 0, 2)),
            UOp.new(Ops.PERMUTE, (leaf((2, 3)),), (0, 1)),
        ],
    ),
    Rule(
        "permute-permute",
        _over(Ops.PERMUTE, Ops.PERMUTE),
        _permute_permute,
        examples=lambda leaf: [
            leaf((2, 3, 4)).permute((1, 2, 0)).permute((2, 1, 0)),
            leaf((2, 3)).permute((1, 0)).permute((1, 0)),
        ],
    ),
    Rule(
        "permute-expand",
        _over(Ops.PERMUTE, Ops.EXPAND),
        _permute_expand,
        examples=lambda leaf: [leaf((2, 1, 4)).expand((2, 3, 4)).permute((1, 2, 0))],
    ),
    Rule(
        "expand-same",
        node(Ops.EXPAND, x),
        lambda x: x,
        when=_moves_nothing,
        examples=lambda leaf: [UOp.new(Ops.EXPAND, (leaf((2, 1)),), (2, 1))],
    ),
    Rule(
        "expand-expand",
        _over(Ops.EXPAND, Ops.EXPAND),
        lambda x, out: x.expand(out.shape),
        examples=lambda leaf: [leaf((2, 1, 1)).expand((2, 3, 1)).expand((2, 3, 4))],
    ),
    Rule(
        "shrink-all",
        node(Ops.SHRINK, x),
        lambda x: x,
        when=_moves_nothing,
        examples=lambda leaf: [UOp.new(Ops.SHRINK, (leaf((2, 3)),), ((0, 2), (0, 3)))],
    ),
    Rule(
        "shrink-shrink",
        _over(Ops.SHRINK, Ops.SHRINK),
        _shrink_shrink,
        examples=lambda leaf: [leaf((5, 6)).shrink([(1, 4), (0, 5)]).shrink([(1, 2), (2, 5)])],
    ),
    Rule(
        "shrink-pad",
        _over(Ops.SHRINK, Ops.PAD),
        _shrink_pad,
        examples=lambda leaf: [
            leaf((3, 2)).pad([(2, 1), (0, 4)]).shrink([rows, columns])
            for rows in ((0, 6), (2, 5), (3, 4), (1, 6), (0, 2), (5, 6), (3, 3))
            for columns in ((0, 6), (1, 3), (0, 1), (2, 6))
        ],
    ),
    Rule(
        "shrink-expand",
        _over(Ops.SHRINK, Ops.EXPAND),
        _shrink_expand,
        examples=lambda leaf: [
            leaf((4, 1)).expand((4, 5)).shrink([(1, 3), (2, 4)]),
            leaf((1, 1)).expand((1, 5)).shrink([(0, 0), (2, 2)]),
        ],
    ),
    Rule(
        "shrink-permute",
        _over(Ops.SHRINK, Ops.PERMUTE),
        _shrink_permute,
        examples=lambda leaf: [leaf((2, 3, 4)).permute((1, 2, 0)).shrink([(1, 3), (0, 2), (1, 2)])],
    ),
    Rule(
        "shrink-flip",
        _over(Ops.SHRINK, Ops.FLIP),
        _shrink_flip,
        examples=lambda leaf: [
            leaf((4, 5)).flip((1,)).shrink([(1, 3), (1, 5)]),
            leaf((4, 5)).flip((0, 1)).shrink([(1, 3), (4, 5)]),
        ],
    ),
    Rule("shrink-concat", node(Ops.SHRINK, x), _shrink_concat, examples=_shrink_concat_examples, of={Ops.CONCAT}),
    Rule(
        "pad-nothing",
        node(Ops.PAD, x),
        lambda x: x,
        when=_moves_nothing,
        examples=lambda leaf: [UOp.new(Ops.PAD, (leaf((2, 3)),), ((0, 0), (0, 0)))],
    ),
    Rule(
        "pad-pad",
        _over(Ops.PAD, Ops.PAD),
        _pad_pad,
        examples=lambda leaf: [leaf((2, 3)).pad([(1, 0), (0, 2)]).pad([(0, 2), (3, 0)])],
    ),
    Rule(
        "pad-zero",
        node(Ops.PAD, c),
        _pad_zero,
        examples=lambda leaf: [
            UOp.const(0, dtype, (2, 3)).pad([(1, 0), (0, 2)]) for dtype in (dtypes.float32, dtypes.int8)
        ],
    ),
    Rule(
        "flip-flip",
        _over(Ops.FLIP, Ops.FLIP),
        _flip_flip,
        examples=lambda leaf: [leaf((2, 3)).flip((0, 1)).flip((1,)), leaf((2, 3)).flip((1,)).flip((1,))],
    ),
    Rule(
        "flip-units",
        node(Ops.FLIP, x),
        _flip_of_units,
        examples=lambda leaf: [leaf((1, 3)).flip((0, 1)), leaf((1, 0, 3)).flip((0, 1))],
    ),
    Rule(
        "concat-one",
        node(Ops.CONCAT, x),
        lambda x: x,
        examples=lambda leaf: [UOp.new(Ops.CONCAT, (leaf((2, 3)),), 0)],
    ),
)

# ---------------------------------------------------------------------------------------------------------- along axes


def _reduces_units(x: UOp, out: UOp) -> bool:
    how, n = out.arg
    # a product starts from 1, and complex 1 * x may differ from x
    return prod(x.shape[x.ndim - n :]) == 1 and not (how is Ops.MUL and is_complex(x.dtype))


def _reduce_units(x: UOp, out: UOp) -> UOp:
    # a sum starts from 0, and 0.0 + -0.0 is 0.0
    same = x.reshape(out.shape)
    return same + 0 if out.arg[0] is Ops.ADD and is_inexact(x.dtype) else same


def _reduces_exactly_in_any_order(x: UOp, out: UOp) -> bool:
    how = out.arg[0]
    return out.src[0].arg[0] is how and (not (how is Ops.ADD or how is Ops.MUL) or is_integer(x.dtype))


def _reduce_reduce(x: UOp, out: UOp) -> UOp:
    how, n = out.arg
    return x.reduce(how, n + out.src[0].arg[1])


def _reduce_constant(c: UOp, out: UOp) -> UOp | None:
    """The sum or extreme of equal numbers, where exact: floats only if whole and small enough for each partial sum."""
    how, n = out.arg
    value = const_of(c)
    count = prod(c.shape[c.ndim - n :])
    if count == 0 or value is None:
        return None
    if how is Ops.ADD and is_float(c.dtype):
        assert isinstance(value, float), c
        exact = (
            value.is_integer() and bool(value) and abs(value) * count <= 2.0 ** (24 if c.dtype.itemsize == 4 else 53)
        )
        return UOp.const(value * count, out.dtype, out.shape) if exact else None
    if how is Ops.ADD and is_integer(c.dtype):
        return UOp.const(_wrap(int(value.real) * count, c.dtype), out.dtype, out.shape)
    return UOp.const(value, out.dtype, out.shape) if how in (Ops.MAX, Ops.MIN, Ops.AND, Ops.OR) else None


def _wrap(value: int, dtype: DType) -> int:
    bits = 8 * dtype.itemsize
    value %= 2**bits
    return value - 2**bits if dtype.kind == "i" and value >= 2 ** (bits - 1) else value


def _reduce_constant_examples(leaf: Leaf) -> list[UOp]:
    cases = (
        (1.0, dtypes.float32, Ops.ADD),
        (-3.0, dtypes.float64, Ops.ADD),
        (100, dtypes.int8, Ops.ADD),
        (200, dtypes.uint8, Ops.ADD),
        (float("nan"), dtypes.float32, Ops.MAX),
        (-0.0, dtypes.float64, Ops.MIN),
        (True, dtypes.bool, Ops.AND),
        (5, dtypes.int16, Ops.OR),
    )
    return [UOp.const(value, dtype, (2, 3, 4)).reduce(how, 2) for value, dtype, how in cases]


def _reduce_units_examples(leaf: Leaf) -> list[UOp]:
    cases = [(dtypes.float32, how) for how in (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN)]
    cases += [(dtypes.complex64, Ops.ADD), (dtypes.bool, Ops.AND), (dtypes.int8, Ops.ADD)]
    return [
        UOp.new(Ops.REDUCE, (leaf(shape, dtype),), (how, n))
        for shape, n in (((30, 1, 1), 2), ((2, 30), 0))
        for dtype, how in cases
    ]


def _reduce_reduce_examples(leaf: Leaf) -> list[UOp]:
    shape = (2, 3, 4)
    wholes = [leaf(shape, dtypes.int8).reduce(how, 1).reduce(how, 1) for how in (Ops.ADD, Ops.MUL, Ops.AND)]
    return [*wholes, *[leaf(shape, dtypes.float32).reduce(how, 1).reduce(how, 2) for how in (Ops.MAX, Ops.MIN)]]


def _scans_units(x: UOp) -> bool:
    return x.shape[-1] <= 1


def _scatter_nothing_example(leaf: Leaf) -> list[UOp]:
    return [UOp.new(Ops.SCATTER, (leaf((3,)), leaf((0,)), leaf((0,), dtypes.int64)), mode) for mode in ("set", "add")]


REDUCTION_RULES: tuple[Rule, ...] = (
    Rule("reduce-units", node(Ops.REDUCE, x), _reduce_units, when=_reduces_units, examples=_reduce_units_examples),
    Rule(
        "reduce-reduce",
        _over(Ops.REDUCE, Ops.REDUCE),
        _reduce_reduce,
        when=_reduces_exactly_in_any_order,
        examples=_reduce_reduce_examples,
    ),
    Rule("reduce-constant", node(Ops.REDUCE, c), _reduce_constant, examples=_reduce_constant_examples),
    Rule(
        "scan-units",
        node(Ops.SCAN, x),
        lambda x: x,
        when=_scans_units,
        examples=lambda leaf: [leaf((4, 1)).scan(Ops.ADD), leaf((4, 0)).scan(Ops.MUL)],
    ),
    Rule(
        "scatter-nothing",
        node(Ops.SCATTER, x, variable("value"), variable("i")),
        lambda x: x,
        when=lambda value: value.size == 0,
        examples=_scatter_nothing_example,
    ),
)
