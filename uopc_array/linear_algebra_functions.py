"""Products of the main namespace, as expand, multiply and reduce: the planner recognises a matrix product in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import broadcast, promote_dtypes
from uopc_array._functions.arguments import frame_of, integer, node_of, normalize_axis, view, wrap, wrap_array
from uopc_core import Ops, UOp, composite
from uopc_core.errors import AxisError, ShapeError, shortened
from uopc_core.numerics import elementwise

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]

Axes = int | tuple[int | Sequence[int], int | Sequence[int]]


def _promoted(name: str, x1: Any, x2: Any) -> tuple[UOp, UOp]:
    """Both operands in the promoted dtype, each in its own shape; a Python number counts as the array it would be."""
    left, right = node_of(name, x1), node_of(name, x2)
    dtype = promote_dtypes(left.dtype, right.dtype)
    return cast_node(left, dtype, name), cast_node(right, dtype, name)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product.

    Args:
        x1: any dtype; shape ``(..., M, K)`` or ``(K,)``, which counts as one row that the result leaves out.
        x2: any dtype; shape ``(..., K, N)`` or ``(K,)``, which counts as one column that the result leaves out.
    Returns:
        the promoted dtype; shape ``(..., M, N)``, with the leading axes broadcast.
    Raises:
        ShapeError: an operand has no axes, the K differ, or the leading axes cannot be broadcast.
    Example:
        >>> import uopc_array as xp
        >>> xp.matmul(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 1]))
        Array([3, 7], dtype=int64)
    """
    left, right = _promoted("matmul", x1, x2)
    if left.ndim == 0 or right.ndim == 0:
        raise ShapeError(
            f"matmul: expected one axis or more, got x1 {left.shape} and x2 {right.shape}; use * for scalars"
        )
    row, column = left.ndim == 1, right.ndim == 1
    k1, k2 = left.shape[-1], right.shape[0 if column else -2]
    if k1 != k2:
        raise ShapeError(
            f"matmul: the last axis of x1 must equal the second-last axis of x2, got x1 {left.shape} "
            f"and x2 {right.shape} ({k1} != {k2}); if x2 holds its vectors as rows, pass x2.mT"
        )
    left = left.reshape((1, k1)) if row else left
    right = right.reshape((k2, 1)) if column else right
    broadcast("matmul", left.shape[:-2], right.shape[:-2])
    out = elementwise.matmul(left, right)
    shape = [*out.shape[:-2], *([] if row else [out.shape[-2]]), *([] if column else [out.shape[-1]])]
    return wrap(out.reshape(shape))


def matrix_transpose(x: Array, /) -> Array:
    """The matrices in the last two axes transposed.

    Args:
        x: any dtype; shape ``(..., M, N)``.
    Returns:
        dtype of ``x``; shape ``(..., N, M)``.
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.matrix_transpose(xp.asarray([[1, 2], [3, 4]]))
        Array([[1, 3],
               [2, 4]], dtype=int64)
    """
    node = frame_of("matrix_transpose", x)
    if node.ndim < 2:
        raise ShapeError(f"matrix_transpose: expected two axes or more, got shape {node.shape}")
    n = node.ndim
    return view(x, node, Ops.PERMUTE, [*range(n - 2), n - 1, n - 2])


def tensordot(x1: Array, x2: Array, /, axes: Axes = 2) -> Array:
    """Sum of products over pairs of axes, one of each operand.

    Args:
        x1: any dtype, any shape.
        x2: any dtype, any shape.
        axes: an int n pairs the last n axes of ``x1`` with the first n of ``x2``; two sequences name the pairs.
    Returns:
        the promoted dtype; the other axes of ``x1``, then those of ``x2``.
    Raises:
        AxisError: an axis is out of range or named twice.
        ShapeError: paired extents differ, or the sequences have different lengths.
    Example:
        >>> import uopc_array as xp
        >>> xp.tensordot(xp.asarray([[1, 2], [3, 4]]), xp.asarray([10, 1]), axes=1)
        Array([12, 34], dtype=int64)
    """
    left, right = _promoted("tensordot", x1, x2)
    try:
        first, second = _paired_axes(left, right, axes)
    except Exception as error:
        raise shortened(error) from None
    shared = [left.shape[a] for a in first]
    if shared != [right.shape[a] for a in second]:
        raise ShapeError(
            f"tensordot: paired axes must have equal extents, got x1 {left.shape} at {tuple(first)} "
            f"and x2 {right.shape} at {tuple(second)}"
        )
    left, right = composite.move_axes_last(left, first), composite.move_axes_last(right, second)
    n = len(shared)
    rows, columns = left.shape[: left.ndim - n], right.shape[: right.ndim - n]
    shape = (*rows, *columns, *shared)
    left = left.reshape((*rows, *[1] * len(columns), *shared)).expand(shape)
    right = right.reshape((*[1] * len(rows), *columns, *shared)).expand(shape)
    return wrap_array(elementwise.sum_of_products((left, right), n))


def _paired_axes(left: UOp, right: UOp, axes: Axes) -> tuple[list[int], list[int]]:
    if not isinstance(axes, (tuple, list)):
        n = integer("tensordot", "axes", axes)
        if not 0 <= n <= min(left.ndim, right.ndim):
            raise AxisError(f"tensordot: axes={n} is out of range for shapes {left.shape} and {right.shape}")
        return list(range(left.ndim - n, left.ndim)), list(range(n))
    named = [list(side) if isinstance(side, tuple | list) else [side] for side in axes]
    if len(named) != 2 or len(named[0]) != len(named[1]):
        raise ShapeError(f"tensordot: expected an int or two sequences of equal length for axes, got {axes}")
    first, second = (
        [normalize_axis("tensordot", a, node.ndim) for a in side]
        for side, node in zip(named, (left, right), strict=True)
    )
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise AxisError(f"tensordot: every axis may be named once, got axes={axes}")
    return first, second


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Dot product of vectors, the first ones conjugated.

    Args:
        x1: any dtype, one axis or more.
        x2: any dtype, one axis or more; can be broadcast with ``x1`` on all axes but ``axis``.
        axis: axis of the vectors, counted from the end if the numbers of axes differ.
    Returns:
        the promoted dtype; the broadcast shape without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: the vectors differ in length, or the other axes cannot be broadcast.
    Example:
        >>> import uopc_array as xp
        >>> xp.vecdot(xp.asarray([1.0j, 2.0]), xp.asarray([1.0j, 1.0]))
        Array(3.+0.j, dtype=complex128)
    """
    left, right = _promoted("vecdot", x1, x2)
    if left.ndim == 0 or right.ndim == 0:
        raise ShapeError(f"vecdot: expected one axis or more, got x1 {left.shape} and x2 {right.shape}")
    first, second = (normalize_axis("vecdot", axis, node.ndim) for node in (left, right))
    if left.shape[first] != right.shape[second]:
        raise ShapeError(
            f"vecdot: the vectors must have one length, got x1 {left.shape} and x2 {right.shape} at axis {axis} "
            f"({left.shape[first]} != {right.shape[second]})"
        )
    left, right = composite.move_axes_last(elementwise.conj(left), [first]), composite.move_axes_last(right, [second])
    shape = broadcast("vecdot", left.shape, right.shape)
    factors = (composite.broadcast_to(left, shape), composite.broadcast_to(right, shape))
    return wrap(elementwise.sum_of_products(factors, 1))
