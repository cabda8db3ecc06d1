"""Utility functions of the standard: truth of elements, and differences of neighbours."""

from __future__ import annotations

from uopc_array._arguments import ArrayLike, AxisLike, integer, node_of, normalize_axes, normalize_axis, wrap
from uopc_array._nodes import cast_node
from uopc_array._promotion import result_dtype
from uopc_array.array import Array
from uopc_core import Ops, UOp, composite, dtypes, is_bool
from uopc_core.errors import ShapeError

__all__ = ["all", "any", "diff"]


def _truth(name: str, op: Ops, x: Array, axis: AxisLike, keepdims: bool) -> Array:
    node = node_of(name, x)
    axes = normalize_axes(name, axis, node.ndim)
    return wrap(composite.reduce_axes(node.cast(dtypes.bool), op, axes, keepdims))


def all(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Whether all elements are True or not zero; True of none.

    Args:
        x: any dtype, any shape; nan is not zero.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        bool; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.all(xp.asarray([[True, False], [True, True]]), axis=1)
        Array([False,  True], dtype=bool)
    """
    return _truth("all", Ops.AND, x, axis, keepdims)


def any(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """Whether any element is True or not zero; False of none.

    Args:
        x: any dtype, any shape; nan is not zero.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        bool; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.any(xp.asarray([[True, False], [False, False]]), axis=1)
        Array([ True, False], dtype=bool)
    """
    return _truth("any", Ops.OR, x, axis, keepdims)


def diff(
    x: Array, /, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Array:
    """Differences of neighbours along an axis, taken ``n`` times.

    Args:
        x: any dtype, one axis or more; of bool, whether neighbours differ.
        n: how often, 0 or more.
        axis: axis along which to subtract.
        prepend: values put in front of ``x`` first, with its shape but for ``axis``, or a scalar.
        append: values put behind ``x`` first, likewise.
    Returns:
        dtype of ``x``; shape of ``x`` with its ``axis`` and what was added to it ``n`` shorter, or empty.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: ``x`` has no axes, or what is added has another shape.
        ValueError: ``n`` is negative.
    Example:
        >>> import uopc_array as xp
        >>> xp.diff(xp.asarray([1, 4, 9, 16]), n=2)
        Array([2, 2], dtype=int64)
    """
    times = integer("diff", "n", n)
    if times < 0:
        raise ValueError(f"diff: expected a number of times of 0 or more, got n={times}")
    node = node_of("diff", x)
    if node.ndim == 0:
        raise ShapeError("diff: expected one axis or more, got an array of shape ()")
    at = normalize_axis("diff", axis, node.ndim)
    node = _joined(node, prepend, append, at)
    for _ in range(min(times, node.shape[at])):  # after so many nothing is left
        node = _difference(node, at)
    return wrap(node)


def _joined(node: UOp, prepend: ArrayLike | None, append: ArrayLike | None, axis: int) -> UOp:
    if prepend is None and append is None:
        return node
    parts = [part if part is node else node_of("diff", part) for part in (prepend, node, append) if part is not None]
    one = tuple([1 if i == axis else n for i, n in enumerate(node.shape)])
    parts = [composite.broadcast_to(part, one) if part.ndim == 0 else part for part in parts]
    if len({(*p.shape[:axis], *p.shape[axis + 1 :]) for p in parts}) > 1 or len({p.ndim for p in parts}) > 1:
        shapes = ", ".join(str(p.shape) for p in parts)
        raise ShapeError(f"diff: what is added must agree with x on every axis but {axis}, got shapes {shapes}")
    dtype = result_dtype(*parts, name="diff")
    return composite.concat([cast_node(part, dtype) for part in parts], axis)


def _difference(node: UOp, axis: int) -> UOp:
    n = node.shape[axis]
    whole = [(0, m) for m in node.shape]
    later = node.shrink([*whole[:axis], (min(1, n), n), *whole[axis + 1 :]])
    earlier = node.shrink([*whole[:axis], (0, max(n - 1, 0)), *whole[axis + 1 :]])
    return later.ne(earlier) if is_bool(node.dtype) else later - earlier
