"""Norms of nodes, for the norms of vectors and matrices of `linalg`."""

from __future__ import annotations

from math import inf

from uopc_core import Ops, UOp, composite, is_complex
from uopc_core.errors import ShapeError
from uopc_core.numerics import elementwise

__all__ = ["extreme", "norm_of_any_order", "vector_norm"]


def extreme(name: str, sizes: UOp, ord: float | str | None, axes: tuple[int, ...], keepdims: bool = False) -> UOp:
    """The largest of `sizes`, 0 if there are none, or for negative `ord` the smallest."""
    if float(ord or 0) > 0:
        if 0 in [sizes.shape[axis] for axis in axes]:  # the sum of nothing is the 0 we need, in the right shape
            return composite.reduce_axes(sizes, Ops.ADD, axes, keepdims)
        return composite.reduce_axes(sizes, Ops.MAX, axes, keepdims)
    if 0 in [sizes.shape[axis] for axis in axes]:
        raise ShapeError(f"{name}: ord={ord} is the smallest of some sizes, and there is none in shape {sizes.shape}")
    return composite.reduce_axes(sizes, Ops.MIN, axes, keepdims)


def vector_norm(node: UOp, ord: float, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The norm of a known order, which decides what is computed."""
    if ord == 2:
        squares = node * node
        if is_complex(node.dtype):
            re, im = node.unary(Ops.REAL), node.unary(Ops.IMAG)
            squares = re * re + im * im
        total = composite.reduce_axes(squares, Ops.ADD, axes, keepdims)
        return elementwise.root_of_squares(total)
    size = node.unary(Ops.ABS)
    if ord in (inf, -inf):
        return extreme("vector_norm", size, ord, axes, keepdims)
    if ord == 0:
        return composite.reduce_axes(size.ne(0).cast(size.dtype), Ops.ADD, axes, keepdims)
    if ord == 1:
        return composite.reduce_axes(size, Ops.ADD, axes, keepdims)
    total = composite.reduce_axes(size**ord, Ops.ADD, axes, keepdims)
    if ord < 0:
        return total ** (1 / ord)
    zero = total.eq(0)  # as for the 2-norm, the slope at the zero vector is 0
    return zero.where(composite.zeros_like(total), zero.where(1, total) ** (1 / ord))


def norm_of_any_order(node: UOp, ord: UOp, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The norm of an order that is not known yet, or that is differentiated by: the one rule for all that has a slope,
    and the three others chosen by value.
    """
    size = node.unary(Ops.ABS)
    ord = ord.cast(size.dtype)
    special = ord.eq(0) | ord.unary(Ops.ABS).eq(inf)
    power = special.where(1, ord)
    total = composite.reduce_axes(size ** composite.broadcast_to(power, size.shape), Ops.ADD, axes, keepdims)
    each, power = (composite.broadcast_to(x, total.shape) for x in (ord, power))
    # at 0 a root has no slope, and the norm has 0, as that of order 2; so it has where one 0 decides a negative order
    zero, none = total.eq(0), composite.zeros_like(total)
    extreme_total = zero | total.eq(inf)
    at_extreme = zero.eq(power > 0).where(none, inf)
    out = extreme_total.where(at_extreme, extreme_total.where(1, total) ** (1 / power))
    for order in (0, inf, *([-inf] if size.size else [])):  # of nothing there is no smallest, and no error when it runs
        out = each.eq(order).where(vector_norm(node, order, axes, keepdims), out)
    return out
