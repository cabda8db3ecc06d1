"""Products that NumPy has beyond the standard's main namespace; the planner recognises matrix products in them."""

from __future__ import annotations

from typing import Any

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import promote, promote_dtypes
from uopc_array._functions import along_axes, reductions
from uopc_array._functions.arguments import ArrayLike, check_choice, known, node_of, optional_dtype, wrap
from uopc_array._functions.diagonals import diagonal
from uopc_array.linalg import cross
from uopc_array.linear_algebra_functions import matmul, tensordot, vecdot
from uopc_core import UOp, composite, dtypes
from uopc_core.errors import ShapeError, speaks_for_itself
from uopc_core.numerics import elementwise

__all__ = ["convolve", "correlate", "cross", "dot", "inner", "kron", "matvec", "outer", "trace", "vdot", "vecmat"]


def _array(name: str, x: ArrayLike) -> Array:
    return x if isinstance(x, Array) else wrap(node_of(name, x))


def _multiplied(name: str, x: Any, y: Any) -> Array:
    return wrap(elementwise.multiply(*promote(name, x, y)))


@speaks_for_itself
def dot(a: ArrayLike, b: ArrayLike, /) -> Array:
    """Product over the last axis of ``a`` and the second-last, or only, one of ``b``; with a scalar the plain product.

    Args:
        a: any dtype, any shape.
        b: any dtype, any shape.
    Returns:
        the promoted dtype; the other axes of ``a``, then those of ``b``.
    Raises:
        ShapeError: the extents differ.
    Example:
        >>> import uopc_array as xp
        >>> xp.dot(xp.asarray([1, 2]), xp.asarray([3, 4]))
        Array(11, dtype=int64)
    """
    left, right = _array("dot", a), _array("dot", b)
    if left.ndim == 0 or right.ndim == 0:
        return _multiplied("dot", left, right)
    if left.ndim <= 2 and right.ndim <= 2:
        return matmul(left, right)
    return tensordot(left, right, axes=((-1,), (-2 if right.ndim > 1 else 0,)))


@speaks_for_itself
def inner(a: ArrayLike, b: ArrayLike, /) -> Array:
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
    left, right = _array("inner", a), _array("inner", b)
    if left.ndim == 0 or right.ndim == 0:
        return _multiplied("inner", left, right)
    return wrap(tensordot(left, right, axes=((-1,), (-1,)))._uop)


@speaks_for_itself
def outer(a: ArrayLike, b: ArrayLike, /) -> Array:
    """Product of every element of ``a`` with every element of ``b``.

    Args:
        a: any dtype, any shape; flattened.
        b: any dtype, any shape; flattened.
    Returns:
        the promoted dtype; shape ``(a.size, b.size)``.
    Example:
        >>> import uopc_array as xp
        >>> xp.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int64)
    """
    left, right = node_of("outer", a), node_of("outer", b)
    return _multiplied("outer", left.reshape((left.size, 1)), right.reshape((1, right.size)))


@speaks_for_itself
def vdot(a: ArrayLike, b: ArrayLike, /) -> Array:
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
    left, right = node_of("vdot", a), node_of("vdot", b)
    return vecdot(wrap(left.reshape((left.size,))), wrap(right.reshape((right.size,))))


@speaks_for_itself
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Product of matrices and vectors: (..., M, N) and (..., N) give (..., M).

    Raises:
        ShapeError: the extents do not match.
    Example:
        >>> xp.matvec(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 10]))
        Array([21, 43], dtype=int64)
    """
    right = node_of("matvec", x2)
    out = matmul(_array("matvec", x1), wrap(right.reshape((*right.shape, 1))))._uop
    return wrap(composite.squeeze(out, (out.ndim - 1,)))


@speaks_for_itself
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Product of conjugated vectors and matrices: (..., M) and (..., M, N) give (..., N).

    Raises:
        ShapeError: the extents do not match.
    Example:
        >>> xp.vecmat(xp.asarray([1, 10]), xp.asarray([[1, 2], [3, 4]]))
        Array([31, 42], dtype=int64)
    """
    left = elementwise.conj(node_of("vecmat", x1))
    out = matmul(wrap(left.reshape((*left.shape[:-1], 1, left.shape[-1]))), _array("vecmat", x2))._uop
    return wrap(composite.squeeze(out, (out.ndim - 2,)))


@speaks_for_itself
def trace(a: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    """Sum along diagonals in the plane of two axes.

    Args:
        a: any dtype, two axes or more.
        offset: which diagonal.
        axis1: axis of the rows.
        axis2: axis of the columns.
        dtype: dtype in which to add; None is as for `sum`.
    Returns:
        ``dtype``; the other axes.
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.trace(xp.asarray([[1, 2], [3, 4]]))
        Array(5, dtype=int64)
    """
    offset, axis1, axis2 = (
        known("trace", what, n) for what, n in (("offset", offset), ("axis1", axis1), ("axis2", axis2))
    )
    node = node_of("trace", a)
    along = diagonal("trace", node, offset, axis1, axis2).on_node(node)
    return wrap(reductions.sum("trace", along, -1, optional_dtype("trace", dtype)))


@speaks_for_itself
def kron(a: ArrayLike, b: ArrayLike, /) -> Array:
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
    left, right = node_of("kron", a), node_of("kron", b)
    n = max(left.ndim, right.ndim)
    rows, columns = (1,) * (n - left.ndim) + left.shape, (1,) * (n - right.ndim) + right.shape
    spread = left.reshape([m for extent in rows for m in (extent, 1)])
    inside = right.reshape([m for extent in columns for m in (1, extent)])
    product = elementwise.multiply(*promote("kron", spread, inside))
    return wrap(product.reshape([x * y for x, y in zip(rows, columns, strict=True)]))


# ------------------------------------------------------------------------------------------------------ sliding windows


def convolve(a: ArrayLike, v: ArrayLike, /, mode: str = "full") -> Array:
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
    vectors = [x if x.ndim else x.reshape((1,)) for x in (node_of("convolve", a), node_of("convolve", v))]
    left, right = _vectors("convolve", *vectors)
    if right.size > left.size:
        left, right = right, left
    return wrap(_slid("convolve", left, right.flip((0,)), mode))


def correlate(a: ArrayLike, v: ArrayLike, /, mode: str = "valid") -> Array:
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
    left, right = _vectors("correlate", a, v)
    right = elementwise.conj(right)
    if right.size > left.size:
        return wrap(_slid("correlate", right, left, mode).flip((0,)))
    return wrap(_slid("correlate", left, right, mode))


def _vectors(name: str, a: ArrayLike, v: ArrayLike) -> tuple[UOp, UOp]:
    left, right = node_of(name, a), node_of(name, v)
    dtype = promote_dtypes(left.dtype, right.dtype)
    left, right = cast_node(left, dtype), cast_node(right, dtype)
    if left.ndim != 1 or right.ndim != 1 or 0 in (left.size, right.size):
        raise ShapeError(f"{name}: expected two vectors that are not empty, got shapes {left.shape} and {right.shape}")
    return left, right


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
