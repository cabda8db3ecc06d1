"""Means and sums of squares, of what a mask selects, as functions of floating nodes."""

from __future__ import annotations

from math import prod

from uopc_core.dtype import dtypes, is_complex, real_dtype
from uopc_core.ir import Ops, UOp, composite
from uopc_core.numerics import elementwise

__all__ = ["count_of", "mean_of", "squares_around"]


def _shared_among(total: UOp, n: int | UOp) -> UOp:
    """``total / n``, of complex numbers part by part: a nan or inf in one leaves the other alone."""
    if not is_complex(total.dtype):
        return total / n
    return (composite.real(total) / n).binary(Ops.COMPLEX, composite.imag(total) / n)


def _selected(x: UOp, mask: UOp | None) -> UOp:
    return x if mask is None else mask.where(x, composite.zeros_like(x))


def count_of(x: UOp, mask: UOp | None, axes: tuple[int, ...], keepdims: bool) -> int | UOp:
    """How many elements along the axes the mask selects; None selects all."""
    if mask is None:
        return prod([x.shape[i] for i in axes])
    return composite.reduce_axes(mask.cast(dtypes.int64), Ops.ADD, axes, keepdims)


def mean_of(x: UOp, mask: UOp | None, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The mean of floating numbers, where the mask selects them."""
    total = composite.reduce_axes(_selected(x, mask), Ops.ADD, axes, keepdims)
    count = count_of(x, mask, axes, keepdims)
    return _shared_among(total, count if isinstance(count, int) else count.cast(real_dtype(x.dtype)))


def squares_around(x: UOp, center: UOp, mask: UOp | None, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The sum of the squared distances from `center`, of one dtype and shape with `x`, where the mask selects them.

    The center is taken off first: no cancellation however large it is.
    """
    return composite.reduce_axes(elementwise.square_of_size(_selected(x - center, mask)), Ops.ADD, axes, keepdims)
