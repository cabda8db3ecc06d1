"""Quantiles and medians, beyond the standard: a sort and a gather, lazy and differentiable."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from uopc_array._array.nodes import Operand, as_node, is_scalar
from uopc_array._array.origins import gather
from uopc_array._array.promotion import result_dtype
from uopc_array._array.realize import values_in_memory
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    ArrayLike,
    AxisLike,
    as_real,
    as_real_floating,
    normalize_axes,
    operand,
    wrap,
)
from uopc_array._functions.reductions import reduction
from uopc_core import DType, Ops, UOp, composite, dtypes, is_float, sort_last_axis
from uopc_core.errors import IndexShapeError
from uopc_core.numerics import elementwise

__all__: list[str] = []

_QUANTILE = "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None"
_MEDIAN = "a, axis=None, out=None, overwrite_input=False, keepdims=False"


@reduction(f"quantile({_QUANTILE})", gives="kept")
def quantile(name: str, a: UOp, q: ArrayLike, axis: AxisLike, keepdims: bool) -> UOp:
    """Quantiles, interpolated linearly between the two nearest elements.

    Args:
        a: a real dtype, any shape; integers and bool are converted to float64 unless ``q`` is 0 or 1 as an integer.
        q: between 0 and 1; a Python number or an array, whose axes come first in the result.
        axis: axes reduced; None reduces all.
        out: takes the result, converted to its dtype.
        overwrite_input: has no meaning here.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``a`` as converted, or the wider one of an array ``q``; axes of ``q``, then those of ``a`` without
        ``axis``. nan where an element is.
    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, no elements.
        ValueError: ``q`` is not between 0 and 1. Of an array that is not in memory yet it is an IndexError, when
            the values are computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.quantile(xp.asarray([1.0, 2.0, 4.0]), 0.75)
        Array(3., dtype=float64)
    """
    return _quantile(name, a, _within(name, operand(name, "q", q), 1), axis, keepdims)


@reduction(f"percentile({_QUANTILE})", gives="kept")
def percentile(name: str, a: UOp, q: ArrayLike, axis: AxisLike, keepdims: bool) -> UOp:
    """Quantiles by percent; see `quantile`.

    Args:
        a: a real dtype, any shape; integers and bool are converted to float64.
        q: between 0 and 100.
        axis: axes reduced; None reduces all.
        out: takes the result, converted to its dtype.
        overwrite_input: has no meaning here.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``a`` as converted, or the wider one of an array ``q``; axes of ``q``, then those of ``a`` without
        ``axis``.
    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, no elements.
        ValueError: ``q`` is not between 0 and 100; see `quantile`.
    Example:
        >>> import uopc_array as xp
        >>> xp.percentile(xp.asarray([1.0, 2.0, 4.0]), 50)
        Array(2., dtype=float64)
    """
    percent = _within(name, operand(name, "q", q), 100)
    part: Any = wrap(percent) if isinstance(percent, UOp) else percent
    return _quantile(name, a, part / 100, axis, keepdims)


def _within(name: str, q: Operand, whole: int) -> Operand:
    """
    Raises:
        ValueError: a part of `q` that is known is not between 0 and `whole`.
    """
    values = np.asarray(q) if is_scalar(q) else values_in_memory(as_node(q))
    if values is None:
        return q
    outside = ~((values >= 0) & (values <= whole))
    if outside.any():
        raise ValueError(f"{name}: expected q between 0 and {whole}, got {values[outside].reshape(-1)[0].item()}")
    return q


def _quantile(name: str, a: UOp, q: Any, axis: AxisLike, keepdims: bool) -> UOp:
    parts = as_node(q)
    (given,) = as_real(name, a)
    (node,) = as_real_floating(name, given) if is_float(parts.dtype) else (given,)
    axes = normalize_axes(name, axis, node.ndim)
    rows = _sorted_rows(node, axes)
    n = rows.shape[0]
    if n == 0 and prod(rows.shape[1:]):
        raise IndexShapeError(f"{name}: no elements have no quantile, got shape {node.shape} with axis={axis}")
    last = max(n - 1, 0)
    # an index that is out of bounds, where the part is
    position = ((parts >= 0) & (parts <= 1)).where(parts.cast(dtypes.float64) * last, float(n))
    if is_float(parts.dtype):
        out = _interpolated(name, rows, position, result_dtype(node, q))
    else:
        out = _with_nan(rows, gather(name, rows, position.cast(dtypes.int64)))
    return out.reshape((*parts.shape, *_kept(node.shape, axes))) if keepdims else out


def _sorted_rows(node: UOp, axes: tuple[int, ...]) -> UOp:
    """The elements of `axes` in order, along axis 0, before the other axes."""
    rest = [m for i, m in enumerate(node.shape) if i not in axes]
    n = prod(node.shape[i] for i in axes)
    ordered = sort_last_axis(composite.move_axes_last(node, axes).reshape((*rest, n)), False, False)
    return along_axes.move_axis(ordered, len(rest), 0)


def _kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[int]:
    return [1 if i in axes else n for i, n in enumerate(shape)]


def _with_nan(rows: UOp, out: UOp) -> UOp:
    """`out`, or nan where the rows hold one: it is the last then."""
    if not is_float(rows.dtype):
        return out
    last = composite.broadcast_to(rows.index(rows.shape[0] - 1), out.shape)
    return elementwise.isnan(last).where(last.cast(out.dtype), out)


def _interpolated(name: str, rows: UOp, position: UOp, dtype: DType) -> UOp:
    """Rows at a position between two, in `dtype`."""
    below = position.unary(Ops.FLOOR)
    low = below.cast(dtypes.int64)
    first, second = gather(name, rows, low), rows.index((low + 1).binary(Ops.MIN, rows.shape[0] - 1))
    part = (position - below).cast(dtype).reshape((*position.shape, *[1] * (rows.ndim - 1))).expand(first.shape)
    distance = (second - first).cast(dtype)
    first, second = first.cast(dtype), second.cast(dtype)
    between = (part < 0.5).where(first + distance * part, second - distance * (1 - part))  # from the nearer one
    return _with_nan(rows, between)


@reduction(f"median({_MEDIAN})", gives="kept")
def median(name: str, a: UOp, axis: AxisLike, keepdims: bool) -> UOp:
    """The element in the middle, or the mean of the two there; nan of none.

    Args:
        a: a real dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced; None reduces all.
        out: takes the result, converted to its dtype.
        overwrite_input: has no meaning here.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``a`` as converted; shape without ``axis``. nan where an element is.
    Raises:
        AxisError, DTypeError: a wrong axis, complex numbers.
    Example:
        >>> import uopc_array as xp
        >>> xp.median(xp.asarray([3.0, 1.0, 9.0]))
        Array(3., dtype=float64)
    """
    (node,) = as_real_floating(name, a)
    axes = normalize_axes(name, axis, node.ndim)
    rows = _sorted_rows(node, axes)
    n = rows.shape[0]
    if n == 0:
        out = UOp.const(float("nan"), node.dtype, rows.shape[1:])
    else:
        low, high = rows.index((n - 1) // 2), rows.index(n // 2)
        out = _with_nan(rows, low if n % 2 else (low + high) * 0.5)
    return out.reshape(_kept(node.shape, axes)) if keepdims else out


@reduction(f"nanmedian({_MEDIAN})", gives="kept")
def nanmedian(name: str, a: UOp, axis: AxisLike, keepdims: bool) -> UOp:
    """`median` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError, DTypeError: a wrong axis, complex numbers.
    Example:
        >>> xp.nanmedian(xp.asarray([2.0, xp.nan, 1.0]))
        Array(1.5, dtype=float64)
    """
    (node,) = as_real_floating(name, a)
    axes = normalize_axes(name, axis, node.ndim)
    rows = _sorted_rows(node, axes)
    if rows.shape[0] == 0:
        out = UOp.const(float("nan"), node.dtype, rows.shape[1:])
    else:
        out = _middle_of_numbers(name, rows)
    return out.reshape(_kept(node.shape, axes)) if keepdims else out


def _middle_of_numbers(name: str, rows: UOp) -> UOp:
    """The median of sorted rows, which have their nan behind the numbers."""
    count = composite.reduce_axes(rows.eq(rows).cast(dtypes.int64), Ops.ADD, (0,))
    low = (count - 1).binary(Ops.MAX, 0) // 2
    positions = [position.reshape((1, *position.shape)) for position in (low, count // 2)]
    first, second = (along_axes.take_along_axis(name, rows, position, 0).reshape(count.shape) for position in positions)
    middle = (count % 2).eq(1).where(first, (first + second) * 0.5)
    return count.eq(0).where(float("nan"), middle)
