"""Recognise products: REDUCE(ADD) over a MUL whose operands each miss some axes -> EXTERN "matmul" on views of the
operands.

It does not matter how the product was spelled (matmul, einsum, tensordot, or what differentiation made of them): each
operand of the MUL is followed through its movement ops to the node it is a view of, which tells the axes it varies
along. Axes of both operands that are kept are batch, those of one operand M or N, those of both that are reduced K.
The M x N x K array is never built. A STRONG_MUL counts as a MUL here: its zeros are exact in a product of finite
operands, and a library product cannot skip the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from uopc_core.dtype import DType
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, toposort

__all__ = ["lower_contractions", "may_be_contraction"]

MIN_LIBRARY_WORK = 16384  # multiplications; below it generated code beats the call
_LIBRARY_KINDS = "iufc"
_View = tuple[UOp, list[int | None]]  # a node, and for each axis of what is a view of it the axis it runs along


def may_be_contraction(node: UOp) -> bool:
    """Whether `lower_contractions` has to see the graph that this is a node of: its product may be the library's."""
    return node.op is Ops.REDUCE and node.arg[0] is Ops.ADD and prod(node.src[0].shape) >= MIN_LIBRARY_WORK


def lower_contractions(outputs: list[UOp]) -> list[UOp]:
    """`outputs` with every large product given to the library."""
    order = toposort(outputs)
    if not any(node.op is Ops.REDUCE for node in order):
        return outputs
    made: dict[UOp, UOp] = {}
    for node in order:
        sources = tuple([made[s] for s in node.src])
        if node.op is Ops.REDUCE:
            made[node] = _lower_reduce(node, sources[0])
        else:
            made[node] = node if sources == node.src else UOp.new(node.op, sources, node.arg, _explicit_dtype(node))
    return [made[node] for node in outputs]


def _explicit_dtype(node: UOp) -> DType | None:
    return node.dtype if node.op in (Ops.CAST, Ops.BITCAST) else None


def _lower_reduce(node: UOp, source: UOp) -> UOp:
    how, n = node.arg
    if how is Ops.ADD and node.dtype.kind in _LIBRARY_KINDS:
        factors, axes = _axes_of(source)
        if factors.op in (Ops.MUL, Ops.STRONG_MUL):
            x, y = (_through(_axes_of(operand), axes) for operand in factors.src)
            product = _contract(x, y, source.shape, n)
            if product is not None:
                return product
    return source.reduce(how, n)


def _through(operand: _View, axes: list[int | None]) -> _View:
    """The axes of an operand of the product, seen from the node that is reduced."""
    node, inner = operand
    return node, [None if a is None else inner[a] for a in axes]


def _axes_of(operand: UOp) -> _View:
    """The node `operand` is a view of, and for each axis of `operand` the axis of that node it runs along, or None."""
    axes: list[int | None] = list(range(operand.ndim))
    node = operand
    while True:
        if node.op is Ops.PERMUTE:
            axes = [None if a is None else node.arg[a] for a in axes]
        elif node.op is Ops.EXPAND:
            old = node.src[0].shape
            axes = [None if a is None or old[a] != node.shape[a] or old[a] == 1 else a for a in axes]
        elif node.op is Ops.RESHAPE:
            moved = _same_axes_apart_from_ones(node.src[0].shape, node.shape)
            if moved is None:
                return node, axes
            axes = [None if a is None else moved[a] for a in axes]
        else:
            return node, axes
        node = node.src[0]


def _same_axes_apart_from_ones(old: tuple[int, ...], new: tuple[int, ...]) -> list[int | None] | None:
    """For each axis of `new` its axis in `old`, when the two differ only by axes of extent 1."""
    wide = [axis for axis, n in enumerate(old) if n != 1]
    if [old[axis] for axis in wide] != [n for n in new if n != 1]:
        return None
    left = iter(wide)
    return [None if n == 1 else next(left) for n in new]


def _contract(x: _View, y: _View, shape: tuple[int, ...], n_reduced: int) -> UOp | None:
    """``(x * y).reduce(ADD, n_reduced)`` as a library product, or None when it is not one, or too small."""
    n_kept = len(shape) - n_reduced
    (a, a_axes), (b, b_axes) = x, y
    wide = [axis for axis in range(len(shape)) if shape[axis] != 1]
    in_a = [axis for axis in wide if a_axes[axis] is not None]
    in_b = [axis for axis in wide if b_axes[axis] is not None]
    both = set(in_a) & set(in_b)
    summed = [axis for axis in both if axis >= n_kept]
    only_a = [axis for axis in in_a if axis not in both and axis < n_kept]
    only_b = [axis for axis in in_b if axis not in both and axis < n_kept]
    covered = set(in_a) | set(in_b)
    if not summed or any(axis >= n_kept and axis not in both for axis in wide) or 0 in shape:
        return None
    batch = sorted(both - set(summed))
    m, n, k = (prod(shape[axis] for axis in group) for group in (only_a, only_b, summed))
    if m * n * k < MIN_LIBRARY_WORK or min(m, n) == 1 or (m * n * k) // max(m, n, k) < 64:
        return None
    if only_b[0] < only_a[0]:  # the order of the result decides which operand is the left one
        a, b, a_axes, b_axes, only_a, only_b, m, n = b, a, b_axes, a_axes, only_b, only_a, n, m
    summed.sort(key=lambda axis: a_axes[axis] or 0)
    left = _as_matrix(a, a_axes, [batch, only_a, summed], shape)
    right = _as_matrix(b, b_axes, [batch, summed, only_b], shape)
    product = UOp.new(Ops.EXTERN, (left, right), ("matmul", (), 0))
    return _in_order(product, [*batch, *only_a, *only_b], [axis for axis in range(n_kept)], shape, covered)


def _as_matrix(node: UOp, axes: Sequence[int | None], groups: list[list[int]], shape: tuple[int, ...]) -> UOp:
    """`node` as (batch,) rows, columns; a stack of matrices only where there are batch axes."""
    wanted = [a for group in groups for axis in group if (a := axes[axis]) is not None]
    unused = [axis for axis in range(node.ndim) if axis not in wanted]
    assert all(node.shape[axis] == 1 for axis in unused), (node, axes)
    sizes = [prod(shape[axis] for axis in group) for group in groups]
    return node.permute([*unused, *wanted]).reshape(sizes if groups[0] else sizes[1:])


def _in_order(product: UOp, have: list[int], kept: list[int], shape: tuple[int, ...], covered: set[int]) -> UOp:
    """The product with its axes in the order of the reduction's result, axes that neither operand has put back."""
    apart = product.reshape([shape[axis] for axis in have])
    wide_kept = [axis for axis in kept if axis in have]
    ordered = apart.permute([have.index(axis) for axis in wide_kept])
    ones = ordered.reshape([shape[axis] if axis in covered else 1 for axis in kept])
    return ones.expand([shape[axis] for axis in kept])
