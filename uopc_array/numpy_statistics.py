"""Functions of NumPy that reduce, scan and differentiate numerically, beyond the standard; lazy and differentiable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from uopc_array import _axes, _bodies
from uopc_array._arguments import (
    ArrayLike,
    AxisLike,
    as_floating,
    as_real,
    integer,
    known,
    node_of,
    normalize_axes,
    normalize_axis,
    operand,
    wrap,
)
from uopc_array._nodes import Operand, as_node, is_scalar
from uopc_array._promotion import promote, promote_to
from uopc_array._realize import values_in_memory
from uopc_array.array import Array
from uopc_array.statistical_functions import (
    cumulative_prod,
    cumulative_sum,
    extreme,
    max,
    mean,
    min,
    per_degree_of_freedom,
    squares,
    sum,
)
from uopc_array.statistical_functions import prod as prod_of
from uopc_core import DType, Ops, UOp, composite, dtypes, is_bool, is_inexact
from uopc_core.errors import ShapeError, speaks_for_itself

__all__ = [
    "amax",
    "amin",
    "average",
    "cumprod",
    "cumsum",
    "gradient",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "ptp",
    "trapezoid",
]


def amax(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Another name of `max`."""
    return extreme("amax", Ops.MAX, x, axis, keepdims)


def amin(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Another name of `min`."""
    return extreme("amin", Ops.MIN, x, axis, keepdims)


# ------------------------------------------------------------------------------------------- scans and spreads


def _flat(name: str, x: ArrayLike, axis: int | None) -> tuple[Array, int]:
    node = node_of(name, x)
    return (wrap(node.reshape((node.size,))), 0) if axis is None else (wrap(node), known(name, "axis", axis))


@speaks_for_itself
def cumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Array:
    """Sums of the first elements along an axis, of the flattened array if it is None; see `cumulative_sum`.

    Args:
        a: any dtype, any shape.
        axis: axis along which to add.
        dtype: dtype in which to add.
    Returns:
        ``dtype``; shape of ``a``, or flat.
    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.cumsum(xp.asarray([[1, 2], [3, 4]]))
        Array([ 1,  3,  6, 10], dtype=int64)
    """
    x, at = _flat("cumsum", a, axis)
    return cumulative_sum(x, axis=at, dtype=dtype)


@speaks_for_itself
def cumprod(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Array:
    """Products of the first elements along an axis, of the flattened array if it is None; see `cumulative_prod`.

    Args:
        a: any dtype, any shape.
        axis: axis along which to multiply.
        dtype: dtype in which to multiply.
    Returns:
        ``dtype``; shape of ``a``, or flat.
    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.cumprod(xp.asarray([1, 2, 3]))
        Array([1, 2, 6], dtype=int64)
    """
    x, at = _flat("cumprod", a, axis)
    return cumulative_prod(x, axis=at, dtype=dtype)


@speaks_for_itself
def ptp(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Largest minus smallest element.

    Args:
        a: a real dtype, any shape.
        axis: axes reduced; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``a``; shape without ``axis``.
    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, an empty axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.ptp(xp.asarray([3, 9, 5]))
        Array(6, dtype=int64)
    """
    x, axis = wrap(node_of("ptp", a)), known("ptp", "axis", axis)
    return wrap(max(x, axis=axis, keepdims=keepdims)._uop - min(x, axis=axis, keepdims=keepdims)._uop)


@speaks_for_itself
def average(a: ArrayLike, axis: AxisLike = None, weights: ArrayLike | None = None, *, keepdims: bool = False) -> Array:
    """Weighted mean.

    Args:
        a: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced; None reduces all.
        weights: of the shape of ``a``, or of its extents at the axes that ``axis`` names, in their order; None weighs
            all alike.
        keepdims: keep reduced axes with extent 1.
    Returns:
        the promoted dtype; shape without ``axis``.
    Raises:
        ShapeError, TypeError: weights of another shape; without an axis it is a TypeError.
        ZeroDivisionError: weights in memory that sum to 0; of others the quotient is nan or infinite.
    Example:
        >>> import uopc_array as xp
        >>> xp.average(xp.asarray([1.0, 5.0]), weights=xp.asarray([3.0, 1.0]))
        Array(2., dtype=float64)
    """
    axis = known("average", "axis", axis)
    if weights is None:
        return mean(wrap(node_of("average", a)), axis=axis, keepdims=keepdims)
    node, weight = node_of("average", a), node_of("average", weights)
    axes = normalize_axes("average", axis, node.ndim)
    x, w = as_floating("average", *promote("average", node, _weights_on(node.shape, weight, axis, axes)))
    whole = composite.reduce_axes(w, Ops.ADD, axes, keepdims)
    if _sums_to_zero(weight, axes if weight.shape == node.shape else None):
        raise ZeroDivisionError(f"average: expected weights whose sum is not 0, got shape {weight.shape} that sum to 0")
    return wrap(composite.reduce_axes(x * w, Ops.ADD, axes, keepdims) / whole)


def _sums_to_zero(weight: UOp, axes: tuple[int, ...] | None) -> bool:
    """Whether weights, as far as they are known, sum to 0 somewhere."""
    values = values_in_memory(weight)
    return values is not None and bool(np.any(values.sum(axes) == 0))


def _weights_on(shape: tuple[int, ...], weight: UOp, axis: AxisLike, axes: tuple[int, ...]) -> UOp:
    """The weights with the axes of what they weigh."""
    if weight.shape == shape:
        return weight
    if axis is None:
        raise TypeError(
            f"average: weights of shape {weight.shape} need an axis of a, which has shape {shape}; got none"
        )
    if weight.shape != tuple([shape[i] for i in axes]):
        raise ShapeError(f"average: weights of shape {weight.shape} do not fit a of shape {shape} at axis={axis}")
    in_order = weight.permute([axes.index(i) for i in sorted(axes)])
    return in_order.reshape([n if i in axes else 1 for i, n in enumerate(shape)])


# ------------------------------------------------------------------------------------------- without nan


def _replaced(name: str, x: ArrayLike, value: float) -> tuple[Array, UOp]:
    """`x` with `value` in place of nan, and where there was none."""
    node = node_of(name, x)
    if not is_inexact(node.dtype):
        return wrap(node), UOp.const(True, dtypes.bool, node.shape)
    valid = node.eq(node)
    return wrap(valid.where(node, value)), valid


@speaks_for_itself
def nansum(a: ArrayLike, axis: AxisLike = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """`sum` of what is not nan.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nansum(xp.asarray([2.0, xp.nan, 1.0]))
        Array(3., dtype=float64)
    """
    return sum(_replaced("nansum", a, 0)[0], axis=known("nansum", "axis", axis), dtype=dtype, keepdims=keepdims)


@speaks_for_itself
def nanprod(a: ArrayLike, axis: AxisLike = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """`prod` of what is not nan.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanprod(xp.asarray([2.0, xp.nan, 3.0]))
        Array(6., dtype=float64)
    """
    return prod_of(_replaced("nanprod", a, 1)[0], axis=known("nanprod", "axis", axis), dtype=dtype, keepdims=keepdims)


@speaks_for_itself
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Array:
    """`cumsum` that passes over nan.

    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> xp.nancumsum(xp.asarray([2.0, xp.nan, 1.0]))
        Array([2., 2., 3.], dtype=float64)
    """
    return cumsum(_replaced("nancumsum", a, 0)[0], known("nancumsum", "axis", axis), dtype)


def _nan_extreme(name: str, a: ArrayLike, op: Ops, axis: AxisLike, keepdims: bool) -> Array:
    (node,) = as_real(name, node_of(name, a))
    axes = normalize_axes(name, axis, node.ndim)
    if any(node.shape[i] == 0 for i in axes):
        raise ShapeError(f"{name}: no elements have no extreme, got shape {node.shape} with axis={axis}")
    if not is_inexact(node.dtype):
        return wrap(composite.reduce_axes(node, op, axes, keepdims))
    valid = node.eq(node)
    worst = float("-inf") if op is Ops.MAX else float("inf")
    out = composite.reduce_axes(valid.where(node, worst), op, axes, keepdims)
    return wrap(composite.reduce_axes(valid, Ops.OR, axes, keepdims).where(out, float("nan")))


@speaks_for_itself
def nanmax(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """`max` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, an empty axis.
    Example:
        >>> xp.nanmax(xp.asarray([2.0, xp.nan, 1.0]))
        Array(2., dtype=float64)
    """
    return _nan_extreme("nanmax", a, Ops.MAX, axis, keepdims)


@speaks_for_itself
def nanmin(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """`min` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, an empty axis.
    Example:
        >>> xp.nanmin(xp.asarray([2.0, xp.nan, 1.0]))
        Array(1., dtype=float64)
    """
    return _nan_extreme("nanmin", a, Ops.MIN, axis, keepdims)


@speaks_for_itself
def nanmean(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """`mean` of what is not nan; nan where there is nothing else.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanmean(xp.asarray([2.0, xp.nan, 1.0]))
        Array(1.5, dtype=float64)
    """
    total, count = _sum_and_count(a, axis, keepdims)
    return wrap(total / count)


def _sum_and_count(a: ArrayLike, axis: AxisLike, keepdims: bool) -> tuple[UOp, UOp]:
    (node,) = as_floating("nanmean", node_of("nanmean", a))
    axes = normalize_axes("nanmean", axis, node.ndim)
    x, valid = _replaced("nanmean", node, 0)
    total = composite.reduce_axes(x._uop, Ops.ADD, axes, keepdims)
    return total, composite.reduce_axes(valid.cast(node.dtype), Ops.ADD, axes, keepdims)


@speaks_for_itself
def nanvar(a: ArrayLike, axis: AxisLike = None, *, ddof: ArrayLike = 0, keepdims: bool = False) -> Array:
    """`var` of what is not nan, with ``ddof`` taken off the number of elements; nan where too few are left.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanvar(xp.asarray([2.0, xp.nan, 4.0]))
        Array(1., dtype=float64)
    """
    return wrap(_nan_variance("nanvar", a, axis, ddof, keepdims))


def _nan_variance(name: str, a: ArrayLike, axis: AxisLike, ddof: ArrayLike, keepdims: bool) -> UOp:
    given = node_of(name, a)
    (node,) = as_floating(name, given)
    axes = normalize_axes(name, axis, node.ndim)
    center = composite.broadcast_to(nanmean(node, axes, keepdims=True)._uop, node.shape)
    valid = node.eq(node)
    apart = valid.where(node - center, 0)  # nan where the center is infinite
    total = composite.reduce_axes(squares(apart), Ops.ADD, axes, keepdims)
    number = composite.reduce_axes(valid.cast(total.dtype), Ops.ADD, axes, keepdims)
    overdrawn = float("nan") if is_inexact(given.dtype) else 0.0  # of integers it is what `var` gives in NumPy
    return per_degree_of_freedom(name, total, number, operand(name, "ddof", ddof), overdrawn)


@speaks_for_itself
def nanstd(a: ArrayLike, axis: AxisLike = None, *, ddof: ArrayLike = 0, keepdims: bool = False) -> Array:
    """Square root of `nanvar`.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.nanstd(xp.asarray([2.0, xp.nan, 4.0]))
        Array(1., dtype=float64)
    """
    return wrap(_bodies.root_of_squares(_nan_variance("nanstd", a, axis, ddof, keepdims)))


# ------------------------------------------------------------------------------------------- slopes and areas


def _gaps(spacing: ArrayLike, n: int, dtype: DType) -> UOp:
    """The distances of n points, from one step for all or from their coordinates."""
    (node,) = promote_to("gradient", dtype, spacing)
    if node.shape not in ((), (n,)):
        raise ShapeError(f"gradient: expected a step or {n} coordinates, got shape {node.shape}")
    return node.shrink([(1, n)]) - node.shrink([(0, n - 1)]) if node.ndim else composite.broadcast_to(node, (n - 1,))


@speaks_for_itself
def gradient(f: ArrayLike, *varargs: ArrayLike, axis: AxisLike = None, edge_order: int = 1) -> Any:
    """Slopes by central differences, second order inside; for derivatives of functions see `grad`.

    Args:
        f: any dtype, one axis or more; integers and bool are converted to float64.
        varargs: nothing for steps of 1, one step, or a step or the coordinates for every axis.
        axis: axes along which to differentiate; None takes all.
        edge_order: 1 or 2, the order at the ends.
    Returns:
        an array like ``f`` for one axis, a tuple of them for several.
    Raises:
        ShapeError: too few points along an axis, or spacings that do not fit.
        ValueError: another ``edge_order``.
    Example:
        >>> import uopc_array as xp
        >>> xp.gradient(xp.asarray([1.0, 2.0, 4.0, 7.0]))
        Array([1. , 1.5, 2.5, 3. ], dtype=float64)
    """
    edge_order = integer("gradient", "edge_order", edge_order)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: expected edge_order 1 or 2, got {edge_order}")
    (node,) = as_floating("gradient", node_of("gradient", f))
    axes = normalize_axes("gradient", axis, node.ndim)
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    if len(steps) != len(axes):
        raise ShapeError(f"gradient: expected one spacing or one for each of {len(axes)} axes, got {len(steps)}")
    out = tuple([wrap(_slope(node, a, step, edge_order)) for a, step in zip(axes, steps, strict=True)])
    return out[0] if (axis is not None and not isinstance(axis, Sequence)) or len(axes) == 1 else out


def _slope(node: UOp, axis: int, spacing: ArrayLike, edge_order: int) -> UOp:
    n = node.shape[axis]
    if n < edge_order + 1:
        raise ShapeError(f"gradient: expected {edge_order + 1} points or more at axis {axis}, got shape {node.shape}")
    rows = _axes.move_axis(node, axis, 0)
    gaps = _gaps(spacing, n, node.dtype)
    uniform = as_node(spacing).ndim == 0
    gaps = gaps.reshape((n - 1, *[1] * (node.ndim - 1))).expand((n - 1, *rows.shape[1:]))
    ends = _first_slope(rows, gaps, edge_order), _last_slope(rows, gaps, edge_order)
    parts = [ends[0], *_inner_slopes(rows, gaps, uniform), ends[1]]
    return _axes.move_axis(composite.concat(parts, 0), 0, axis)


def _part(rows: UOp, start: int, stop: int) -> UOp:
    whole = [(0, n) for n in rows.shape[1:]]
    return rows.shrink([(start % (rows.shape[0] + 1), stop % (rows.shape[0] + 1)), *whole])


def _inner_slopes(rows: UOp, gaps: UOp, uniform: bool) -> list[UOp]:
    n = rows.shape[0]
    if n < 3:
        return []
    before, after = _part(gaps, 0, n - 2), _part(gaps, 1, n - 1)
    left, middle, right = _part(rows, 0, n - 2), _part(rows, 1, n - 1), _part(rows, 2, n)
    if uniform:  # the middle has no weight, be it infinite
        return [(right - left) / (before + after)]
    slope_before, slope_after = (middle - left) / before, (right - middle) / after
    return [(slope_before * after + slope_after * before) / (before + after)]


def _first_slope(rows: UOp, gaps: UOp, edge_order: int) -> UOp:
    slope = (_part(rows, 1, 2) - _part(rows, 0, 1)) / _part(gaps, 0, 1)
    if edge_order == 1:
        return slope
    near, far = _part(gaps, 0, 1), _part(gaps, 1, 2)
    next_slope = (_part(rows, 2, 3) - _part(rows, 1, 2)) / far
    return slope - (next_slope - slope) * near / (near + far)


def _last_slope(rows: UOp, gaps: UOp, edge_order: int) -> UOp:
    flipped = _first_slope(rows.flip((0,)), gaps.flip((0,)), edge_order)
    return -flipped


@speaks_for_itself
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Area under a polygon.

    Args:
        y: heights, any dtype; integers and bool are converted to float64.
        x: coordinates, of the shape of ``y`` or one for each place of ``axis``; None takes steps of ``dx``.
        dx: distance of neighbours where ``x`` is None: a number, or an array that can be broadcast to the distances.
        axis: axis along which to integrate.
    Returns:
        the promoted dtype; shape of ``y`` without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: coordinates that do not fit.
    Example:
        >>> import uopc_array as xp
        >>> xp.trapezoid(xp.asarray([1.0, 2.0, 3.0]))
        Array(4., dtype=float64)
    """
    (node,) = as_floating("trapezoid", node_of("trapezoid", y))
    at = normalize_axis("trapezoid", axis, node.ndim)
    rows = _axes.move_axis(node, at, node.ndim - 1)
    pairs = _neighbours(rows, Ops.ADD)
    if x is None:
        return wrap(_area(pairs, operand("trapezoid", "dx", dx), at, axis))
    points = node_of("trapezoid", x)
    points = points if points.ndim == 1 else _axes.move_axis(points, at, points.ndim - 1)
    gaps = _neighbours(points, Ops.CMPNE if is_bool(points.dtype) else Ops.SUB)
    heights, widths = promote("trapezoid", pairs, gaps)
    return wrap((heights * widths * 0.5).reduce(Ops.ADD, 1))


def _area(pairs: UOp, dx: Operand, at: int, axis: int) -> UOp:
    """Half the sum of `pairs`, which are along the last axis and belong at the axis `at`, times `dx`."""
    if is_scalar(dx):
        return (pairs * (cast("float", dx) / 2)).reduce(Ops.ADD, 1)
    heights, widths = promote("trapezoid", _axes.move_axis(pairs, pairs.ndim - 1, at), dx)
    return composite.reduce_axes(heights * (widths * 0.5), Ops.ADD, [normalize_axis("trapezoid", axis, heights.ndim)])


def _neighbours(rows: UOp, op: Ops) -> UOp:
    n = rows.shape[-1]
    whole = [(0, m) for m in rows.shape[:-1]]
    later, earlier = (rows.shrink([*whole, bounds]) for bounds in ((n > 0, n), (0, n - (n > 0))))
    return later.binary(op, earlier)
