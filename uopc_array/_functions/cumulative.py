"""Sums and products of the first elements along an axis."""

from __future__ import annotations

from typing import Any

from uopc_array._array.nodes import cast_node
from uopc_array._functions.arguments import normalize_axis
from uopc_array._functions.reductions import accumulator, reduction
from uopc_core import Ops, UOp, composite, is_inexact
from uopc_core.errors import AxisError

__all__: list[str] = []


def _scanned(name: str, op: Ops, node: UOp, axis: int, dtype: Any) -> UOp:
    return composite.scan_axis(cast_node(node, accumulator(name, node.dtype, dtype), name), op, axis)


def _of_all(name: str, op: Ops, a: UOp, axis: int | None, dtype: Any) -> UOp:
    """NumPy's scan, of the flattened array where no axis is named."""
    flat = a.reshape((a.size,)) if axis is None or not a.ndim else a
    return _scanned(name, op, flat, normalize_axis(name, 0 if axis is None else axis, flat.ndim), dtype)


def _replaced(a: UOp, value: float) -> UOp:
    """`a` with `value` in place of nan."""
    return a.eq(a).where(a, value) if is_inexact(a.dtype) else a


@reduction("cumsum(a, axis=None, dtype=None, out=None)", method="cumsum")
def cumsum(name: str, a: UOp, axis: int | None, dtype: Any) -> UOp:
    """Sums of the first elements along an axis, of the flattened array if it is None; see `cumulative_sum`.

    Args:
        a: any dtype, any shape.
        axis: axis along which to add.
        dtype: dtype in which to add.
        out: takes the result, converted to its dtype.
    Returns:
        ``dtype``; shape of ``a``, or flat.
    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.cumsum(xp.asarray([[1, 2], [3, 4]]))
        Array([ 1,  3,  6, 10], dtype=int64)
    """
    return _of_all(name, Ops.ADD, a, axis, dtype)


@reduction("cumprod(a, axis=None, dtype=None, out=None)", method="cumprod")
def cumprod(name: str, a: UOp, axis: int | None, dtype: Any) -> UOp:
    """Products of the first elements along an axis, of the flattened array if it is None; see `cumulative_prod`.

    Args:
        a: any dtype, any shape.
        axis: axis along which to multiply.
        dtype: dtype in which to multiply.
        out: takes the result, converted to its dtype.
    Returns:
        ``dtype``; shape of ``a``, or flat.
    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.cumprod(xp.asarray([1, 2, 3]))
        Array([1, 2, 6], dtype=int64)
    """
    return _of_all(name, Ops.MUL, a, axis, dtype)


@reduction("nancumsum(a, axis=None, dtype=None, out=None)")
def nancumsum(name: str, a: UOp, axis: int | None, dtype: Any) -> UOp:
    """`cumsum` that passes over nan.

    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> xp.nancumsum(xp.asarray([2.0, xp.nan, 1.0]))
        Array([2., 2., 3.], dtype=float64)
    """
    return _of_all(name, Ops.ADD, _replaced(a, 0), axis, dtype)


@reduction("nancumprod(a, axis=None, dtype=None, out=None)")
def nancumprod(name: str, a: UOp, axis: int | None, dtype: Any) -> UOp:
    """`cumprod` that passes over nan.

    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> xp.nancumprod(xp.asarray([2.0, xp.nan, 3.0]))
        Array([2., 2., 6.], dtype=float64)
    """
    return _of_all(name, Ops.MUL, _replaced(a, 1), axis, dtype)


def _cumulative(name: str, op: Ops, x: UOp, axis: int | None, dtype: Any, include_initial: bool) -> UOp:
    node = x if x.ndim else x.reshape((1,))
    if axis is None and node.ndim > 1:
        raise AxisError(f"{name}: expected an axis for an array of {node.ndim} axes, got axis=None")
    at = normalize_axis(name, 0 if axis is None else axis, node.ndim)
    out = _scanned(name, op, node, at, dtype)
    if include_initial:
        shape = tuple([1 if i == at else n for i, n in enumerate(node.shape)])
        out = composite.concat([UOp.const(0 if op is Ops.ADD else 1, out.dtype, shape), out], at)
    return out


@reduction("cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False)")
def cumulative_sum(name: str, x: UOp, axis: int | None, dtype: Any, include_initial: bool) -> UOp:
    """Sums of the first elements along an axis.

    Args:
        x: any dtype, any shape.
        axis: axis along which to add; None for an array of one axis.
        dtype: dtype in which to add; None is int64 or uint64 for integers and bool, else that of ``x``.
        out: takes the result, converted to its dtype.
        include_initial: put a 0 in front.
    Returns:
        ``dtype``; shape of ``x``, one longer at ``axis`` if ``include_initial``.
    Raises:
        AxisError: ``axis`` is out of range, or None for an array of several axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.cumulative_sum(xp.asarray([1, 2, 3]), include_initial=True)
        Array([0, 1, 3, 6], dtype=int64)
    """
    return _cumulative(name, Ops.ADD, x, axis, dtype, include_initial)


@reduction("cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False)")
def cumulative_prod(name: str, x: UOp, axis: int | None, dtype: Any, include_initial: bool) -> UOp:
    """Products of the first elements along an axis.

    Args:
        x: any dtype, any shape.
        axis: axis along which to multiply; None for an array of one axis.
        dtype: dtype in which to multiply; None is int64 or uint64 for integers and bool, else that of ``x``.
        out: takes the result, converted to its dtype.
        include_initial: put a 1 in front.
    Returns:
        ``dtype``; shape of ``x``, one longer at ``axis`` if ``include_initial``.
    Raises:
        AxisError: ``axis`` is out of range, or None for an array of several axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.cumulative_prod(xp.asarray([1, 2, 3]))
        Array([1, 2, 6], dtype=int64)
    """
    return _cumulative(name, Ops.MUL, x, axis, dtype, include_initial)
