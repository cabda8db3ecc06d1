"""Statistical functions of the standard: reductions and scans over any axes, lazy and differentiable."""

from __future__ import annotations

from math import nan
from math import prod as product
from typing import Any, cast

from uopc_array import _bodies
from uopc_array._arguments import (
    ArrayLike,
    AxisLike,
    as_floating,
    as_real,
    node_of,
    normalize_axes,
    normalize_axis,
    operand,
    wrap,
)
from uopc_array._nodes import cast_node, is_scalar
from uopc_array._promotion import promote_to
from uopc_array.array import Array
from uopc_core import DType, Ops, UOp, as_dtype, composite, dtypes, is_bool, is_complex, is_integer, is_unsigned
from uopc_core.errors import AxisError, ShapeError, shortened

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]


def accumulator(name: str, dtype: DType, wanted: Any) -> DType:
    """The dtype in which a sum or product is taken: small integers and bool in 64 bits, unless one is asked for."""
    if wanted is not None:
        try:
            return as_dtype(wanted, name)
        except Exception as error:
            raise shortened(error) from None
    if is_integer(dtype) or is_bool(dtype):
        return dtypes.uint64 if is_unsigned(dtype) else dtypes.int64
    return dtype


def _total(name: str, op: Ops, x: Array, axis: AxisLike, dtype: Any, keepdims: bool) -> Array:
    node = node_of(name, x)
    wanted = accumulator(name, node.dtype, dtype)
    axes = normalize_axes(name, axis, node.ndim)
    node = cast_node(node, wanted, name)
    if is_bool(wanted):
        op = Ops.OR if op is Ops.ADD else Ops.AND
    return wrap(composite.reduce_axes(node, op, axes, keepdims))


def sum(x: Array, /, axis: AxisLike = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """Sum of elements, 0 of none.

    Args:
        x: any dtype, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to add; None is int64 or uint64 for integers and bool, else that of ``x``.
        keepdims: keep reduced axes with extent 1.
    Returns:
        ``dtype``; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=0)
        Array([4, 6], dtype=int64)
    """
    return _total("sum", Ops.ADD, x, axis, dtype, keepdims)


def prod(x: Array, /, axis: AxisLike = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """Product of elements, 1 of none.

    Args:
        x: any dtype, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to multiply; None is int64 or uint64 for integers and bool, else that of ``x``.
        keepdims: keep reduced axes with extent 1.
    Returns:
        ``dtype``; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.prod(xp.asarray([[1, 2], [3, 4]]), axis=1)
        Array([ 2, 12], dtype=int64)
    """
    return _total("prod", Ops.MUL, x, axis, dtype, keepdims)


def extreme(name: str, op: Ops, x: Array, axis: AxisLike, keepdims: bool) -> Array:
    (node,) = as_real(name, node_of(name, x))
    axes = normalize_axes(name, axis, node.ndim)
    if any(node.shape[a] == 0 for a in axes):
        raise ShapeError(
            f"{name}: no elements have no {op.name.lower()}imum, got shape {node.shape} with axis={axis}; "
            f"x.{name}(initial=...) has one"
        )
    return wrap(composite.reduce_axes(node, op, axes, keepdims))


def max(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Largest element, nan if one is nan.

    Args:
        x: a real dtype or bool, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``x``; shape of ``x`` without ``axis``. Equal largest elements share the derivative evenly.
    Raises:
        AxisError: an axis is out of range or given twice.
        DTypeError: ``x`` is complex.
        ShapeError: a reduced axis is empty.
    Example:
        >>> import uopc_array as xp
        >>> xp.max(xp.asarray([[1, 5], [3, 4]]), axis=1)
        Array([5, 4], dtype=int64)
    """
    return extreme("max", Ops.MAX, x, axis, keepdims)


def min(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Smallest element, nan if one is nan.

    Args:
        x: a real dtype or bool, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``x``; shape of ``x`` without ``axis``. Equal smallest elements share the derivative evenly.
    Raises:
        AxisError: an axis is out of range or given twice.
        DTypeError: ``x`` is complex.
        ShapeError: a reduced axis is empty.
    Example:
        >>> import uopc_array as xp
        >>> xp.min(xp.asarray([[1, 5], [3, 4]]), axis=1)
        Array([1, 3], dtype=int64)
    """
    return extreme("min", Ops.MIN, x, axis, keepdims)


# ---------------------------------------------------------------------------------------------- moments


def _mean(node: UOp, axes: tuple[int, ...], keepdims: bool) -> UOp:
    total = composite.reduce_axes(node, Ops.ADD, axes, keepdims)
    return shared_among(total, product(node.shape[a] for a in axes))


def shared_among(total: UOp, n: int | UOp) -> UOp:
    """``total / n``, of complex numbers part by part: a nan or inf in one leaves the other alone."""
    if not is_complex(total.dtype):
        return total / n
    return (_bodies.real(total) / n).binary(Ops.COMPLEX, _bodies.imag(total) / n)


def squares(node: UOp) -> UOp:
    """The square of the absolute value, real."""
    return _bodies.real(node * node.unary(Ops.CONJ)) if is_complex(node.dtype) else node * node


def mean(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Arithmetic mean, nan of no elements.

    Args:
        x: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``x`` as converted; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.mean(xp.asarray([1.0, 2.0, 6.0]))
        Array(3., dtype=float64)
    """
    (node,) = as_floating("mean", node_of("mean", x))
    return wrap(_mean(node, normalize_axes("mean", axis, node.ndim), keepdims))


def _variance(name: str, x: Array, axis: AxisLike, correction: ArrayLike, keepdims: bool) -> UOp:
    """Mean square distance from the mean, which is taken off first: no cancellation however large the mean is."""
    (node,) = as_floating(name, node_of(name, x))
    axes = normalize_axes(name, axis, node.ndim)
    apart = node - composite.broadcast_to(_mean(node, axes, keepdims=True), node.shape)
    total = composite.reduce_axes(squares(apart), Ops.ADD, axes, keepdims)
    return per_degree_of_freedom(name, total, product(node.shape[a] for a in axes), correction)


def per_degree_of_freedom(
    name: str, total: UOp, count: int | UOp, correction: ArrayLike, overdrawn: float = nan
) -> UOp:
    """``total / (count - correction)``; the divisor is computed in float64, as in NumPy.

    Args:
        overdrawn: the divisor where that is not positive: nan for the standard, 0 for NumPy.
    """
    try:
        by = operand(name, "correction", correction)
    except Exception as error:
        raise shortened(error) from None
    if is_scalar(by) and isinstance(count, int):
        n = count - cast("float", by)
        return total / (n if n > 0 else overdrawn)
    taken, given = promote_to(name, dtypes.float64, by, count)
    degrees = (given - taken).cast(total.dtype)
    total, divisor = promote_to(name, total.dtype, total, (degrees > 0).where(degrees, overdrawn))
    return total / divisor


def var(x: Array, /, axis: AxisLike = None, *, correction: ArrayLike = 0.0, keepdims: bool = False) -> Array:
    """Variance: the mean square distance from the mean.

    Args:
        x: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced, negative ones from the end; None reduces all.
        correction: taken off the number of elements in the divisor; differentiable where it is an array; 1
            gives the unbiased estimate.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``x`` as converted, the real one for complex; shape of ``x`` without ``axis``. nan unless the divisor
        is positive.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.var(xp.asarray([1.0, 2.0, 3.0]), correction=1)
        Array(1., dtype=float64)
    """
    return wrap(_variance("var", x, axis, correction, keepdims))


def std(x: Array, /, axis: AxisLike = None, *, correction: ArrayLike = 0.0, keepdims: bool = False) -> Array:
    """Standard deviation: the square root of the variance.

    Args:
        x: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced, negative ones from the end; None reduces all.
        correction: taken off the number of elements in the divisor; differentiable where it is an array; 1
            gives the root of the unbiased variance.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``x`` as converted, the real one for complex; shape of ``x`` without ``axis``. nan unless the divisor
        is positive. Where all elements are equal, the gradient is 0.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.std(xp.asarray([1.0, 3.0]))
        Array(1., dtype=float64)
    """
    return wrap(_bodies.root_of_squares(_variance("std", x, axis, correction, keepdims)))


# ---------------------------------------------------------------------------------------------- scans


def _cumulative(name: str, op: Ops, x: Array, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    node = node_of(name, x)
    if node.ndim == 0:
        node = node.reshape((1,))
    if axis is None and node.ndim > 1:
        raise AxisError(f"{name}: expected an axis for an array of {node.ndim} axes, got axis=None")
    at = normalize_axis(name, 0 if axis is None else axis, node.ndim)
    node = cast_node(node, accumulator(name, node.dtype, dtype), name)
    out = composite.scan_axis(node, op, at)
    if include_initial:
        shape = [1 if i == at else n for i, n in enumerate(node.shape)]
        out = composite.concat([composite.full(shape, 0 if op is Ops.ADD else 1, node.dtype), out], at)
    return wrap(out)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Sums of the first elements along an axis.

    Args:
        x: any dtype, any shape.
        axis: axis along which to add; None for an array of one axis.
        dtype: dtype in which to add; None is int64 or uint64 for integers and bool, else that of ``x``.
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
    return _cumulative("cumulative_sum", Ops.ADD, x, axis, dtype, include_initial)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Products of the first elements along an axis.

    Args:
        x: any dtype, any shape.
        axis: axis along which to multiply; None for an array of one axis.
        dtype: dtype in which to multiply; None is int64 or uint64 for integers and bool, else that of ``x``.
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
    return _cumulative("cumulative_prod", Ops.MUL, x, axis, dtype, include_initial)
