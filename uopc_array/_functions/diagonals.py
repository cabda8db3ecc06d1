"""Diagonals: read-only views of what they are taken from, and matrices made of them."""

from __future__ import annotations

from uopc_array._array.array import Array
from uopc_array._array.lenses import DiagonalLens, Lens
from uopc_array._functions.arguments import ArrayLike, array_of, computed, integer, node_of, normalize_axis
from uopc_array._functions.public import function
from uopc_core import UOp, composite
from uopc_core.errors import ShapeError

__all__: list[str] = []


@function("diagonal(a, offset=0, axis1=0, axis2=1)", method="diagonal", gives="view")
def diagonal(name: str, a: UOp, offset: int, axis1: int, axis2: int) -> Lens:
    """Diagonals of ``a`` in the plane of two axes, a read-only view.

    Args:
        a: any dtype, two axes or more.
        offset: which diagonal: 0 the main one, positive above it, negative below.
        axis1: axis of the rows.
        axis2: axis of the columns.
    Returns:
        dtype of ``a``; the other axes, then the diagonal.
    Raises:
        AxisError: an axis is out of range.
        ShapeError: ``a`` has fewer axes, or the two axes are one.
    Example:
        >>> import uopc_array as xp
        >>> xp.diagonal(xp.asarray([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int64)
    """
    if a.ndim < 2:
        raise ShapeError(f"{name}: expected two axes or more, got shape {a.shape}")
    first, second = (normalize_axis(name, axis, a.ndim) for axis in (axis1, axis2))
    if first == second:
        raise ShapeError(f"{name}: expected two axes, got axis1={axis1} and axis2={axis2} for shape {a.shape}")
    return DiagonalLens(_within(integer(name, "offset", offset), a.shape[first], a.shape[second]), first, second)


def _within(offset: int, n_rows: int, n_columns: int) -> int:
    """The offset, or the first one of no elements."""
    return max(min(offset, n_columns), -n_rows)


@function("diag(v, k=0)")
def diag(name: str, v: ArrayLike, k: int) -> Array:
    """The diagonal of a matrix, a read-only view; or a matrix with a vector on its diagonal.

    Args:
        v: any dtype, one axis or two.
        k: which diagonal: 0 the main one, positive above it, negative below.
    Returns:
        dtype of ``v``; one axis for a matrix, two for a vector.
    Raises:
        ShapeError: another number of axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.diag(xp.asarray([1, 2]))
        Array([[1, 0],
               [0, 2]], dtype=int64)
    """
    x = array_of(name, v)
    offset = integer(name, "k", k)
    if x.ndim == 2:
        return x._seen(x._frame(), DiagonalLens(_within(offset, *x.shape), 0, 1))
    if x.ndim != 1:
        raise ShapeError(f"{name}: expected one axis or two, got shape {x.shape}")
    return computed(name, _matrix_of, x, offset)


def _matrix_of(name: str, v: ArrayLike, k: int) -> UOp:
    vector = node_of(name, v)
    n = vector.size + abs(k)
    rows = vector.pad([(max(-k, 0), max(k, 0))])
    square = rows.reshape((n, 1)).expand((n, n))
    return composite.on_diagonal((n, n), k).where(square, composite.zeros_like(square))
