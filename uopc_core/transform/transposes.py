"""Transposes of linear ops: what a cotangent of the result is for each source.

A rule takes the node and its cotangent and returns one cotangent per source, None where nothing passes. Forward mode
needs no rule of its own: a linear op is applied to the tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from uopc_core.dtype import dtypes, is_complex, is_inexact
from uopc_core.ir.composite import iota, zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["TRANSPOSES", "Transpose", "is_linear", "last_writes", "sum_of_part", "written"]

Transpose = Callable[[UOp, UOp], tuple[UOp | None, ...]]


def is_linear(node: UOp) -> bool:
    """Whether this node, with its argument, is one of the linear ops of the table."""
    if node.op in (Ops.REDUCE, Ops.SCAN):
        return _combining(node) is Ops.ADD
    return node.op in TRANSPOSES and not (node.op is Ops.SCATTER and node.arg not in ("set", "add"))


def _combining(node: UOp) -> Ops:
    return node.arg[0] if node.op is Ops.REDUCE else node.arg


def _transpose_cast(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    source = node.src[0].dtype
    if not is_inexact(source):
        return (None,)
    if is_complex(ct.dtype) and not is_complex(source):
        ct = ct.unary(Ops.REAL)
    return (ct.cast(source),)


def _transpose_expand(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    old = node.src[0].shape
    grown = [axis for axis, (n, m) in enumerate(zip(old, node.shape, strict=True)) if n != m]
    rest = [axis for axis in range(len(old)) if axis not in grown]
    return (ct.permute([*rest, *grown]).reduce(Ops.ADD, len(grown)).reshape(old),)


def _total_of(ct: UOp) -> UOp | None:
    """The REDUCE that `ct` is, where it has not been computed yet."""
    total = ct
    while total.op is Ops.RESHAPE and total.realized is None:
        total = total.src[0]
    return total if total.op is Ops.REDUCE and total.shape == ct.shape and total.realized is None else None


def sum_of_part(part: UOp) -> UOp:
    """A part of a sum as the sum of the parts: of a product of matrices, which the sum may be, that is all there is to
    compute, where nobody asks for the rest.
    """
    total = _total_of(part.src[0]) if part.op is Ops.SHRINK else None
    if total is None:
        return part
    x = total.src[0]
    return _part_of_product(x, [*part.arg, *[(0, n) for n in x.shape[total.ndim :]]]).reduce(*total.arg)


def _part_of_product(x: UOp, bounds: list[tuple[int, int]]) -> UOp:
    """``x.shrink(bounds)``, of operands where `x` is a product."""
    if x.op is Ops.PERMUTE:
        return _part_of_product(x.src[0], [bounds[x.arg.index(axis)] for axis in range(x.ndim)]).permute(x.arg)
    return x.over(tuple([s.shrink(bounds) for s in x.src])) if x.op is Ops.MUL else x.shrink(bounds)


def _transpose_permute(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    axes = [node.arg.index(axis) for axis in range(len(node.arg))]
    total = _total_of(ct)
    if total is None:
        return (ct.permute(axes),)
    # A broadcast's transpose has just summed: it does so over axes that are in order already, since the sum may be a
    # product of matrices, and turning its result around would be a copy.
    x = total.src[0]
    return (x.permute([*axes, *range(len(axes), x.ndim)]).reduce(*total.arg),)


def _transpose_shrink(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    return (ct.pad([(a, n - b) for (a, b), n in zip(node.arg, node.src[0].shape, strict=True)]),)


def _transpose_pad(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    return (ct.shrink([(a, a + n) for (a, _), n in zip(node.arg, node.src[0].shape, strict=True)]),)


def _transpose_concat(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    parts: list[UOp] = []
    joined: int = node.arg
    start = 0
    for source in node.src:
        stop = start + source.shape[joined]
        parts.append(ct.shrink([(start, stop) if axis == joined else (0, n) for axis, n in enumerate(ct.shape)]))
        start = stop
    return tuple(parts)


def _transpose_reduce_add(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    shape = node.src[0].shape
    return (ct.reshape(ct.shape + (1,) * (len(shape) - ct.ndim)).expand(shape),)


def _transpose_scan_add(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    last = (ct.ndim - 1,)
    return (ct.flip(last).scan(Ops.ADD).flip(last),)


def _transpose_index(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    """An index that was picked twice gets both cotangents."""
    x, *indices = node.src
    return UOp.new(Ops.SCATTER, (zeros_like(x), ct, *indices), "add"), *[None] * len(indices)


def _transpose_scatter(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    base, value, *indices = node.src
    none = [None] * len(indices)
    picked = UOp.new(Ops.INDEX, (ct, *indices))
    if node.arg == "add":
        return ct, picked, *none
    kept = written(base, indices, value).where(zeros_like(ct), ct)
    return kept, last_writes(base, indices, value).where(picked, zeros_like(picked)), *none


def written(base: UOp, indices: list[UOp], value: UOp) -> UOp:
    """Where `value` comes to stand in `base`."""
    yes, no = UOp.const(True, dtypes.bool, value.shape), UOp.const(False, dtypes.bool, base.shape)
    return UOp.new(Ops.SCATTER, (no, yes, *indices), "set")


def last_writes(base: UOp, indices: list[UOp], value: UOp) -> UOp:
    """Where `value` was not overwritten by a later write to the same place."""
    places = indices[0].shape
    number = iota((prod(places),), 0).reshape(places)
    grid = base.shape[: len(indices)]
    last = UOp.new(Ops.SCATTER, (UOp.const(-1, number.dtype, grid), number, *indices), "set")
    won = UOp.new(Ops.INDEX, (last, *indices)).eq(number)
    return won.reshape((*places, *[1] * (value.ndim - len(places)))).expand(value.shape)


def _transpose_imag(node: UOp, ct: UOp) -> tuple[UOp | None, ...]:
    return (zeros_like(ct).binary(Ops.COMPLEX, -ct),)


# Complex numbers: the transpose is that of the complex-linear map, without a conjugate (JAX's convention).
TRANSPOSES: dict[Ops, Transpose] = {
    Ops.ADD: lambda node, ct: (ct, ct),
    Ops.SUB: lambda node, ct: (ct, -ct),
    Ops.NEG: lambda node, ct: (-ct,),
    Ops.CAST: _transpose_cast,
    Ops.WHERE: lambda node, ct: (None, ct, ct),  # which elements go where is told by the mask of the flow
    Ops.RESHAPE: lambda node, ct: (ct.reshape(node.src[0].shape),),
    Ops.EXPAND: _transpose_expand,
    Ops.PERMUTE: _transpose_permute,
    Ops.SHRINK: _transpose_shrink,
    Ops.PAD: _transpose_pad,
    Ops.FLIP: lambda node, ct: (ct.flip(node.arg),),
    Ops.CONCAT: _transpose_concat,
    Ops.REDUCE: _transpose_reduce_add,
    Ops.SCAN: _transpose_scan_add,
    Ops.INDEX: _transpose_index,
    Ops.SCATTER: _transpose_scatter,
    Ops.MATERIALIZE: lambda node, ct: (ct,),
    Ops.VARIABLE: lambda node, ct: (ct,),
    Ops.REAL: lambda node, ct: (ct.binary(Ops.COMPLEX, zeros_like(ct)),),
    Ops.IMAG: _transpose_imag,
    Ops.CONJ: lambda node, ct: (ct.unary(Ops.CONJ),),
    Ops.COMPLEX: lambda node, ct: (ct.unary(Ops.REAL), -ct.unary(Ops.IMAG)),
}
