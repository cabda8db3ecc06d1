"""Products and sums of products: the planner recognises matrix products in them, however they are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from types import NotImplementedType
from typing import Any, cast

from uopc_array._array.nodes import cast_node
from uopc_array._array.operators import matmul_nodes
from uopc_array._array.products import dot_at_once, product_at_once
from uopc_array._array.promotion import promote, promote_dtypes
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import check_choice, integer, normalize_axis
from uopc_array._functions.public import function
from uopc_array._functions.vector_ufunc import dot_of_vectors
from uopc_core import UOp, composite, dtypes, is_bool
from uopc_core.errors import AxisError, DTypeError, ShapeError
from uopc_core.numerics import elementwise

__all__: list[str] = []


@function("linalg.matmul(x1, x2, /)", at_once=product_at_once)
def matmul(name: str, x1: UOp, x2: UOp) -> UOp:
    """Matrix product; as `uopc_array.matmul`, without the keywords of a ufunc.

    Args:
        x1: any dtype; shape (..., M, K) or (K,), which counts as one row that the result leaves out.
        x2: any dtype; shape (..., K, N) or (K,), which counts as one column that the result leaves out.
    Returns:
        the promoted dtype; shape (..., M, N), with the leading axes broadcast.
    Raises:
        ShapeError: an operand has no axes, the K differ, or the leading axes cannot be broadcast.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.matmul(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 1]))
        Array([3, 7], dtype=int64)
    """
    return matmul_nodes(name, x1, x2)


@function("linalg.vecdot(x1, x2, /, *, axis=-1)")
def vecdot(name: str, x1: UOp, x2: UOp, axis: int) -> UOp:
    """Dot products of vectors, the first ones conjugated; as `uopc_array.vecdot`.

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
        >>> xp.linalg.vecdot(xp.asarray([1.0j, 2.0]), xp.asarray([1.0j, 1.0]))
        Array(3.+0.j, dtype=complex128)
    """
    return dot_of_vectors(name, x1, x2, axis)


@function("linalg.tensordot(a, b, /, axes=2)", gives="array")
@function("tensordot(a, b, axes=2)", gives="array")
def tensordot(name: str, a: UOp, b: UOp, axes: int | Sequence[Any]) -> UOp:
    """Sum of products over pairs of axes, one of each operand.

    Args:
        a: any dtype, any shape.
        b: any dtype, any shape.
        axes: an int n pairs the last n axes of ``a`` with the first n of ``b``; two sequences name the pairs.
    Returns:
        the promoted dtype; the other axes of ``a``, then those of ``b``.
    Raises:
        AxisError: an axis is out of range or named twice.
        ShapeError: paired extents differ, or the sequences have different lengths.
    Example:
        >>> import uopc_array as xp
        >>> xp.tensordot(xp.asarray([[1, 2], [3, 4]]), xp.asarray([10, 1]), axes=1)
        Array([12, 34], dtype=int64)
    """
    if a.dtype is not b.dtype:
        a, b = _of_one_dtype(name, a, b)
    first, second = _paired_axes(name, a, b, axes)
    shared = [a.shape[i] for i in first]
    if shared != [b.shape[i] for i in second]:
        raise ShapeError(
            f"{name}: paired axes must have equal extents, got x1 {a.shape} at {tuple(first)} "
            f"and x2 {b.shape} at {tuple(second)}"
        )
    a, b = composite.move_axes_last(a, first), composite.move_axes_last(b, second)
    n = len(shared)
    rows, columns = a.shape[: a.ndim - n], b.shape[: b.ndim - n]
    shape = (*rows, *columns, *shared)
    a = a.reshape((*rows, *[1] * len(columns), *shared)).expand(shape)
    b = b.reshape((*[1] * len(rows), *columns, *shared)).expand(shape)
    return elementwise.sum_of_products((a, b), n)


def _of_one_dtype(name: str, a: UOp, b: UOp) -> tuple[UOp, UOp]:
    """Both operands in the promoted dtype, each in its own shape; a Python number counts as the array it would be."""
    dtype = promote_dtypes(a.dtype, b.dtype)
    return cast_node(a, dtype, name), cast_node(b, dtype, name)


def _paired_axes(name: str, a: UOp, b: UOp, axes: Any) -> tuple[list[int], list[int]]:
    if not isinstance(axes, (tuple, list)):
        n = integer(name, "axes", axes)
        if not 0 <= n <= min(a.ndim, b.ndim):
            raise AxisError(f"{name}: axes={n} is out of range for shapes {a.shape} and {b.shape}")
        return list(range(a.ndim - n, a.ndim)), list(range(n))
    sides = cast("Sequence[Any]", axes)
    named = [list(cast("Sequence[Any]", side)) if isinstance(side, tuple | list) else [side] for side in sides]
    if len(named) != 2 or len(named[0]) != len(named[1]):
        raise ShapeError(f"{name}: expected an int or two sequences of equal length for axes, got {axes}")
    first, second = (
        [normalize_axis(name, i, node.ndim) for i in side] for side, node in zip(named, (a, b), strict=True)
    )
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise AxisError(f"{name}: every axis may be named once, got axes={axes}")
    return first, second


@function("dot(a, b, out=None)", method="dot", casting="no", at_once=product_at_once)
def dot(name: str, a: UOp, b: UOp) -> UOp:
    """Product over the last axis of ``a`` and the second-last, or only, one of ``b``; with a scalar the plain product.

    Args:
        a: any dtype, any shape.
        b: any dtype, any shape.
        out: takes the result; of its dtype.
    Returns:
        the promoted dtype; the other axes of ``a``, then those of ``b``.
    Raises:
        ShapeError: the extents differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.dot(xp.asarray([1, 2]), xp.asarray([3, 4]))
        Array(11, dtype=int64)
    """
    if a.ndim == 0 or b.ndim == 0:
        return elementwise.multiply(*promote(name, a, b))
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul_nodes(name, a, b)
    return tensordot(name, a, b, ((-1,), (-2 if b.ndim > 1 else 0,)))


@function("inner(a, b, /)", at_once=dot_at_once)
def inner(name: str, a: UOp, b: UOp) -> UOp:
    """Product over the last axes; with a scalar the plain product.

    Args:
        a: any dtype, any shape.
        b: any dtype, any shape.
    Returns:
        the promoted dtype; the other axes of ``a``, then those of ``b``.
    Raises:
        ShapeError: the extents differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.inner(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 1]))
        Array([3, 7], dtype=int64)
    """
    if a.ndim == 0 or b.ndim == 0:
        return elementwise.multiply(*promote(name, a, b))
    return tensordot(name, a, b, ((-1,), (-1,)))


@function("vdot(a, b, /)", at_once=dot_at_once)
def vdot(name: str, a: UOp, b: UOp) -> UOp:
    """Dot product of the flattened arrays, the first one conjugated.

    Args:
        a: any dtype, any shape.
        b: any dtype, as many elements.
    Returns:
        the promoted dtype; no axes.
    Raises:
        ShapeError: the numbers of elements differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.vdot(xp.asarray([1.0j]), xp.asarray([1.0j]))
        Array(1.+0.j, dtype=complex128)
    """
    return dot_of_vectors(name, a.reshape((a.size,)), b.reshape((b.size,)))


@function("outer(a, b, out=None)")
def outer(name: str, a: UOp, b: UOp) -> UOp:
    """Product of every element of ``a`` with every element of ``b``.

    Args:
        a: any dtype, any shape; flattened.
        b: any dtype, any shape; flattened.
        out: takes the result.
    Returns:
        the promoted dtype; shape ``(a.size, b.size)``.
    Example:
        >>> import uopc_array as xp
        >>> xp.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int64)
    """
    return elementwise.multiply(*promote(name, a.reshape((a.size, 1)), b.reshape((1, b.size))))


@function("linalg.outer(x1, x2, /)")
def outer_of_vectors(name: str, x1: UOp, x2: UOp) -> UOp:
    """Outer product of two vectors.

    Args:
        x1: any dtype, shape (M,).
        x2: any dtype, shape (N,).
    Returns:
        the promoted dtype; shape (M, N).
    Raises:
        ShapeError: an operand is not a vector.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int64)
    """
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"{name}: expected two vectors, got shapes {x1.shape} and {x2.shape}; ravel them first")
    return outer(name, x1, x2)


@function("kron(a, b)")
def kron(name: str, a: UOp, b: UOp) -> UOp:
    """Kronecker product: blocks of ``b``, each times an element of ``a``.

    Args:
        a: any dtype, any shape.
        b: any dtype, any shape; the shorter shape is filled up with ones in front.
    Returns:
        the promoted dtype; the products of the extents.
    Example:
        >>> import uopc_array as xp
        >>> xp.kron(xp.asarray([1, 10]), xp.asarray([1, 2]))
        Array([ 1,  2, 10, 20], dtype=int64)
    """
    n = max(a.ndim, b.ndim)
    rows, columns = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    spread = a.reshape([m for extent in rows for m in (extent, 1)])
    inside = b.reshape([m for extent in columns for m in (1, extent)])
    product = elementwise.multiply(*promote(name, spread, inside))
    return product.reshape([x * y for x, y in zip(rows, columns, strict=True)])


# ------------------------------------------------------------------------------------------------------ cross products


@function("cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)")
def cross(name: str, a: UOp, b: UOp, axisa: int, axisb: int, axisc: int, axis: int | None) -> UOp | NotImplementedType:
    """Cross products of vectors with three components.

    Args:
        a: a number dtype; 3 elements along ``axisa``. Two, which NumPy means to give up, are computed by NumPy.
        b: likewise along ``axisb``; the other axes can be broadcast with those of ``a``.
        axisa, axisb: axes of the components of ``a`` and ``b``.
        axisc: axis of the components of the result.
        axis: all three in one.
    Returns:
        the promoted dtype; the broadcast other axes, and 3 along ``axisc``.
    Raises:
        AxisError: an axis is out of range.
        ShapeError: another number of components, or axes that cannot be broadcast.
        DTypeError: the operands are bool.
    Example:
        >>> import uopc_array as xp
        >>> xp.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
        Array([0, 0, 1], dtype=int64)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    at_a, at_b = normalize_axis(name, axisa, a.ndim), normalize_axis(name, axisb, b.ndim)
    m, n = a.shape[at_a], b.shape[at_b]
    if m == n == 3:
        return _crossed(name, a, b, at_a, at_b, axisc)
    if m in (2, 3) and n in (2, 3):
        return NotImplemented
    raise ShapeError(f"{name}: expected 3 elements along axis {axisa}, got shapes {a.shape} and {b.shape}")


@function("linalg.cross(x1, x2, /, *, axis=-1)")
def cross_of_three(name: str, x1: UOp, x2: UOp, axis: int) -> UOp:
    """Cross products of vectors with three components.

    Args:
        x1: a number dtype; 3 elements along ``axis``.
        x2: likewise; the other axes can be broadcast with those of ``x1``.
        axis: axis of the components.
    Returns:
        the promoted dtype; the broadcast shape.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: ``axis`` does not hold 3 elements, or the other axes cannot be broadcast.
        DTypeError: the operands are bool.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
        Array([0, 0, 1], dtype=int64)
    """
    at_1, at_2 = normalize_axis(name, axis, x1.ndim), normalize_axis(name, axis, x2.ndim)
    if x1.shape[at_1] != 3 or x2.shape[at_2] != 3:
        raise ShapeError(f"{name}: expected 3 elements along axis {axis}, got shapes {x1.shape} and {x2.shape}")
    return _crossed(name, x1, x2, at_1, at_2, axis)


def _crossed(name: str, a: UOp, b: UOp, at_a: int, at_b: int, axisc: int) -> UOp:
    """The cross products of vectors in one axis of each, in the axis `axisc` of the result."""
    a, b = promote(name, _with_last(a, at_a), _with_last(b, at_b))
    if is_bool(a.dtype):
        raise DTypeError(f"{name}: expected a numeric dtype, got bool; convert with astype first")
    last = a.ndim - 1
    position = normalize_axis(name, axisc, a.ndim)
    a0, a1, a2 = [_last(a, i) for i in range(3)]
    b0, b1, b2 = [_last(b, i) for i in range(3)]
    out = composite.concat([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], last)
    return out if position == last else along_axes.move_axis(out, last, position)


def _with_last(node: UOp, axis: int) -> UOp:
    return node if axis == node.ndim - 1 else composite.move_axes_last(node, [axis])


def _last(node: UOp, i: int) -> UOp:
    """Element `i` of the last axis, which stays with extent 1."""
    return node.shrink([*[(0, n) for n in node.shape[:-1]], (i, i + 1)])


# ------------------------------------------------------------------------------------------------------ sliding windows


@function("convolve(a, v, mode='full')")
def convolve(name: str, a: UOp, v: UOp, mode: str) -> UOp:
    """Convolution of two vectors.

    Args:
        a: any dtype, one axis, not empty; or a number.
        v: any dtype, one axis, not empty; or a number.
        mode: "full" has every overlap, "same" is as long as the longer vector, "valid" has the whole overlaps only.
    Returns:
        the promoted dtype; one axis.
    Raises:
        ShapeError: an operand is no vector or is empty.
        ValueError: another mode.
    Example:
        >>> import uopc_array as xp
        >>> xp.convolve(xp.asarray([1, 2, 3]), xp.asarray([1, 1]))
        Array([1, 3, 5, 3], dtype=int64)
    """
    left, right = _vectors(name, *[x if x.ndim else x.reshape((1,)) for x in (a, v)])
    if right.size > left.size:
        left, right = right, left
    return _slid(name, left, right.flip((0,)), mode)


@function("correlate(a, v, mode='valid')")
def correlate(name: str, a: UOp, v: UOp, mode: str) -> UOp:
    """Correlation of two vectors, the second one conjugated.

    Args:
        a: any dtype, one axis, not empty.
        v: any dtype, one axis, not empty.
        mode: as for `convolve`.
    Returns:
        the promoted dtype; one axis.
    Raises:
        ShapeError: an operand is no vector or is empty.
        ValueError: another mode.
    Example:
        >>> import uopc_array as xp
        >>> xp.correlate(xp.asarray([1, 2, 3]), xp.asarray([0, 1]))
        Array([2, 3], dtype=int64)
    """
    left, right = _vectors(name, a, v)
    right = composite.conj(right)
    if right.size > left.size:
        return _slid(name, right, left, mode).flip((0,))
    return _slid(name, left, right, mode)


def _vectors(name: str, a: UOp, v: UOp) -> tuple[UOp, UOp]:
    a, v = _of_one_dtype(name, a, v)
    if a.ndim != 1 or v.ndim != 1 or 0 in (a.size, v.size):
        raise ShapeError(f"{name}: expected two vectors that are not empty, got shapes {a.shape} and {v.shape}")
    return a, v


def _slid(name: str, long: UOp, short: UOp, mode: str) -> UOp:
    """Products of `short` with the windows of `long`; what stands beyond the ends counts as 0."""
    check_choice(name, "mode", mode, ("full", "same", "valid"))
    k = short.size
    widths = {"full": (k - 1, k - 1), "same": (k // 2, k - 1 - k // 2), "valid": (0, 0)}
    padded = long.pad([widths[mode]])
    windows = along_axes.windows(padded, k)
    factors = short.reshape((1, k)).expand(windows.shape)
    if mode != "valid":  # 0 beyond the ends times an infinite factor would be nan
        inside = along_axes.windows(UOp.const(True, dtypes.bool, long.shape).pad([widths[mode]]), k)
        factors = inside.where(factors, composite.zeros_like(factors))
    return elementwise.sum_of_products((windows, factors), 1)
