"""Reductions that pass over nan: the same with a mask of what is none."""

from __future__ import annotations

from math import inf, nan
from types import NotImplementedType
from typing import Any

from uopc_array._functions import reductions
from uopc_array._functions.arguments import ArrayLike, AxisLike, as_real, normalize_axes
from uopc_array._functions.moments import SPREAD, floating_in, variance
from uopc_array._functions.reductions import EVERY, MASKED, mask_on, reduced, reduction
from uopc_core import Ops, UOp, as_dtype, is_inexact
from uopc_core.numerics import elementwise
from uopc_core.numerics.statistics import mean_of

__all__: list[str] = []


def _numbers(name: str, a: UOp, where: ArrayLike) -> Any:
    """The mask of what is no nan, and is selected."""
    if not is_inexact(a.dtype):
        return where
    valid = a.eq(a)
    return valid if where is True else valid & mask_on(name, where, a.shape)


@reduction(f"nansum(a, axis=None, dtype=None, out=None, {EVERY})")
def nansum(
    name: str, a: UOp, axis: AxisLike, dtype: Any, keepdims: bool, initial: ArrayLike | None, where: ArrayLike
) -> UOp:
    """`sum` of what is not nan.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nansum(xp.asarray([2.0, xp.nan, 1.0]))
        Array(3., dtype=float64)
    """
    return reductions.sum(name, a, axis, dtype, keepdims, initial, _numbers(name, a, where))


@reduction(f"nanprod(a, axis=None, dtype=None, out=None, {EVERY})")
def nanprod(
    name: str, a: UOp, axis: AxisLike, dtype: Any, keepdims: bool, initial: ArrayLike | None, where: ArrayLike
) -> UOp:
    """`prod` of what is not nan.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanprod(xp.asarray([2.0, xp.nan, 3.0]))
        Array(6., dtype=float64)
    """
    return reductions.prod(name, a, axis, dtype, keepdims, initial, _numbers(name, a, where))


def _extreme(
    name: str, op: Ops, a: UOp, axis: AxisLike, keepdims: bool, initial: ArrayLike | None, where: ArrayLike
) -> UOp:
    """The extreme of the numbers; nan where there are none."""
    (a,) = as_real(name, a)
    if not is_inexact(a.dtype):
        return reduced(name, a, op, None, axis, keepdims, initial, where)
    valid = a.eq(a)
    worst = -inf if op is Ops.MAX else inf
    out = reduced(name, valid.where(a, worst), op, None, axis, keepdims, initial, where)
    some = reduced(name, valid, Ops.OR, 0, axis, keepdims, None, where)
    if initial is not None:
        some = some | out.ne(worst)
    return some.where(out, nan)


@reduction(f"nanmax(a, axis=None, out=None, {EVERY})")
def nanmax(name: str, a: UOp, axis: AxisLike, *how: Any) -> UOp:
    """`max` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, an empty axis.
    Example:
        >>> xp.nanmax(xp.asarray([2.0, xp.nan, 1.0]))
        Array(2., dtype=float64)
    """
    return _extreme(name, Ops.MAX, a, axis, *how)


@reduction(f"nanmin(a, axis=None, out=None, {EVERY})")
def nanmin(name: str, a: UOp, axis: AxisLike, *how: Any) -> UOp:
    """`min` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, an empty axis.
    Example:
        >>> xp.nanmin(xp.asarray([2.0, xp.nan, 1.0]))
        Array(1., dtype=float64)
    """
    return _extreme(name, Ops.MIN, a, axis, *how)


@reduction(f"nanmean(a, axis=None, dtype=None, out=None, {MASKED})")
def nanmean(
    name: str, a: UOp, axis: AxisLike, dtype: Any, keepdims: bool, where: ArrayLike
) -> UOp | NotImplementedType:
    """`mean` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanmean(xp.asarray([2.0, xp.nan, 1.0]))
        Array(1.5, dtype=float64)
    """
    if dtype is not None and not is_inexact(as_dtype(dtype, name)):
        return NotImplemented
    node = floating_in(name, a, dtype)
    mask = _numbers(name, node, where)
    return mean_of(node, mask, normalize_axes(name, axis, node.ndim), keepdims)


@reduction(f"nanvar({SPREAD})")
def nanvar(name: str, a: UOp, axis: AxisLike, dtype: Any, ddof: ArrayLike, *how: Any) -> UOp | NotImplementedType:
    """`var` of what is not nan, with ``ddof`` taken off the number of elements; nan where too few are left.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanvar(xp.asarray([2.0, xp.nan, 4.0]))
        Array(1., dtype=float64)
    """
    return variance(name, a, axis, dtype, ddof, *how, numbers=_numbers)


@reduction(f"nanstd({SPREAD})")
def nanstd(name: str, a: UOp, axis: AxisLike, dtype: Any, ddof: ArrayLike, *how: Any) -> UOp | NotImplementedType:
    """Square root of `nanvar`.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanstd(xp.asarray([2.0, xp.nan, 4.0]))
        Array(1., dtype=float64)
    """
    spread = variance(name, a, axis, dtype, ddof, *how, numbers=_numbers)
    return elementwise.root_of_squares(spread) if isinstance(spread, UOp) else spread
