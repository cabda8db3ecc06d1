"""Differences of neighbours, slopes and areas, numerically; for derivatives of functions there is `grad`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from uopc_array._array.nodes import Operand, as_node, cast_node, is_scalar
from uopc_array._array.promotion import promote, promote_to, result_dtype
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    ArrayLike,
    AxisLike,
    as_floating,
    integer,
    normalize_axes,
    normalize_axis,
    operand,
)
from uopc_array._functions.public import function
from uopc_core import DType, Ops, UOp, composite, is_bool
from uopc_core.errors import ShapeError

__all__: list[str] = []


@function("diff(a, n=1, axis=-1, prepend=None, append=None)")
def diff(name: str, a: UOp, n: int, axis: int, prepend: UOp | None, append: UOp | None) -> UOp:
    """Differences of neighbours along an axis, taken ``n`` times.

    Args:
        a: any dtype, one axis or more; of bool, whether neighbours differ.
        n: how often, 0 or more.
        axis: axis along which to subtract.
        prepend: values put in front of ``a`` first, with its shape but for ``axis``, or a scalar.
        append: values put behind ``a`` first, likewise.
    Returns:
        dtype of ``a``; shape of ``a`` with its ``axis`` and what was added to it ``n`` shorter, or empty.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: ``a`` has no axes, or what is added has another shape.
        ValueError: ``n`` is negative.
    Example:
        >>> import uopc_array as xp
        >>> xp.diff(xp.asarray([1, 4, 9, 16]), n=2)
        Array([2, 2], dtype=int64)
    """
    times = integer(name, "n", n)
    if times < 0:
        raise ValueError(f"{name}: expected a number of times of 0 or more, got n={times}")
    node = a
    if node.ndim == 0:
        raise ShapeError(f"{name}: expected one axis or more, got an array of shape ()")
    at = normalize_axis(name, axis, node.ndim)
    node = _joined(name, node, prepend, append, at)
    for _ in range(min(times, node.shape[at])):  # after so many nothing is left
        node = _difference(node, at)
    return node


def _joined(name: str, node: UOp, prepend: UOp | None, append: UOp | None, axis: int) -> UOp:
    if prepend is None and append is None:
        return node
    parts = [part for part in (prepend, node, append) if part is not None]
    one = tuple([1 if i == axis else n for i, n in enumerate(node.shape)])
    parts = [composite.broadcast_to(part, one) if part.ndim == 0 else part for part in parts]
    if len({(*p.shape[:axis], *p.shape[axis + 1 :]) for p in parts}) > 1 or len({p.ndim for p in parts}) > 1:
        shapes = ", ".join(str(p.shape) for p in parts)
        raise ShapeError(f"{name}: what is added must agree with a on every axis but {axis}, got shapes {shapes}")
    dtype = result_dtype(*parts, name=name)
    return composite.concat([cast_node(part, dtype) for part in parts], axis)


def _difference(node: UOp, axis: int) -> UOp:
    n = node.shape[axis]
    whole = [(0, m) for m in node.shape]
    later = node.shrink([*whole[:axis], (min(1, n), n), *whole[axis + 1 :]])
    earlier = node.shrink([*whole[:axis], (0, max(n - 1, 0)), *whole[axis + 1 :]])
    return later.ne(earlier) if is_bool(node.dtype) else later - earlier


# ------------------------------------------------------------------------------------------- slopes and areas


def _gaps(name: str, spacing: ArrayLike, n: int, dtype: DType) -> UOp:
    """The distances of n points, from one step for all or from their coordinates."""
    (node,) = promote_to(name, dtype, spacing)
    if node.shape not in ((), (n,)):
        raise ShapeError(f"{name}: expected a step or {n} coordinates, got shape {node.shape}")
    return node.shrink([(1, n)]) - node.shrink([(0, n - 1)]) if node.ndim else composite.broadcast_to(node, (n - 1,))


@function("gradient(f, *varargs, axis=None, edge_order=1)")
def gradient(name: str, f: UOp, varargs: Sequence[ArrayLike], axis: AxisLike, edge_order: int) -> UOp | tuple[UOp, ...]:
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
    edge_order = integer(name, "edge_order", edge_order)
    if edge_order not in (1, 2):
        raise ValueError(f"{name}: expected edge_order 1 or 2, got {edge_order}")
    (node,) = as_floating(name, f)
    axes = normalize_axes(name, axis, node.ndim)
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    if len(steps) != len(axes):
        raise ShapeError(f"{name}: expected one spacing or one for each of {len(axes)} axes, got {len(steps)}")
    out = tuple([_slope(name, node, a, step, edge_order) for a, step in zip(axes, steps, strict=True)])
    return out[0] if (axis is not None and not isinstance(axis, Sequence)) or len(axes) == 1 else out


def _slope(name: str, node: UOp, axis: int, spacing: ArrayLike, edge_order: int) -> UOp:
    n = node.shape[axis]
    if n < edge_order + 1:
        raise ShapeError(f"{name}: expected {edge_order + 1} points or more at axis {axis}, got shape {node.shape}")
    rows = along_axes.move_axis(node, axis, 0)
    gaps = _gaps(name, spacing, n, node.dtype)
    uniform = as_node(spacing).ndim == 0
    gaps = gaps.reshape((n - 1, *[1] * (node.ndim - 1))).expand((n - 1, *rows.shape[1:]))
    ends = _first_slope(rows, gaps, edge_order), _last_slope(rows, gaps, edge_order)
    parts = [ends[0], *_inner_slopes(rows, gaps, uniform), ends[1]]
    return along_axes.move_axis(composite.concat(parts, 0), 0, axis)


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
    n = rows.shape[0]
    near = _part(gaps, n - 2, n - 1)
    slope = (_part(rows, n - 1, n) - _part(rows, n - 2, n - 1)) / near
    if edge_order == 1:
        return slope
    far = _part(gaps, n - 3, n - 2)
    slope_before = (_part(rows, n - 2, n - 1) - _part(rows, n - 3, n - 2)) / far
    return slope + (slope - slope_before) * near / (near + far)


@function("trapezoid(y, x=None, dx=1.0, axis=-1)")
def trapezoid(name: str, y: UOp, x: UOp | None, dx: ArrayLike, axis: int) -> UOp:
    """Area under a polygon.

    Args:
        y: heights, any dtype; integers and bool are converted to float64.
        x: coordinates, of the shape of ``y`` or one for each index of ``axis``; None takes steps of ``dx``.
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
    (node,) = as_floating(name, y)
    at = normalize_axis(name, axis, node.ndim)
    rows = along_axes.move_axis(node, at, node.ndim - 1)
    pairs = _neighbours(rows, Ops.ADD)
    if x is None:
        return _area(name, pairs, operand(name, "dx", dx), at, axis)
    points = x if x.ndim == 1 else along_axes.move_axis(x, at, x.ndim - 1)
    gaps = _neighbours(points, Ops.CMPNE if is_bool(points.dtype) else Ops.SUB)
    heights, widths = promote(name, pairs, gaps)
    return (heights * widths * 0.5).reduce(Ops.ADD, 1)


def _area(name: str, pairs: UOp, dx: Operand, at: int, axis: int) -> UOp:
    """Half the sum of `pairs`, which are along the last axis and belong at the axis `at`, times `dx`."""
    if is_scalar(dx):
        return (pairs * (cast("float", dx) / 2)).reduce(Ops.ADD, 1)
    heights, widths = promote(name, along_axes.move_axis(pairs, pairs.ndim - 1, at), dx)
    return composite.reduce_axes(heights * (widths * 0.5), Ops.ADD, [normalize_axis(name, axis, heights.ndim)])


def _neighbours(rows: UOp, op: Ops) -> UOp:
    n = rows.shape[-1]
    whole = [(0, m) for m in rows.shape[:-1]]
    later, earlier = (rows.shrink([*whole, bounds]) for bounds in ((min(n, 1), n), (0, max(n - 1, 0))))
    return later.binary(op, earlier)
