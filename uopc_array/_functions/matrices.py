"""Parts of matrices: their transposes, diagonals and traces."""

from __future__ import annotations

from typing import Any

from uopc_array._array.lenses import Lens, MoveLens
from uopc_array._functions import reductions
from uopc_array._functions.diagonals import diagonal
from uopc_array._functions.public import function
from uopc_core import Ops, UOp
from uopc_core.errors import ShapeError

__all__: list[str] = []


@function("linalg.matrix_transpose(x, /)", gives="view")
@function("matrix_transpose(x, /)", gives="view")
def matrix_transpose(name: str, x: UOp) -> Lens:
    """The matrices in the last two axes transposed, a view.

    Args:
        x: any dtype; shape (..., M, N).
    Returns:
        dtype of ``x``; shape (..., N, M).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.matrix_transpose(xp.asarray([[1, 2], [3, 4]]))
        Array([[1, 3],
               [2, 4]], dtype=int64)
    """
    n = x.ndim
    if n < 2:
        raise ShapeError(f"{name}: expected two axes or more, got shape {x.shape}")
    return MoveLens(Ops.PERMUTE, (*range(n - 2), n - 1, n - 2))


@function("linalg.diagonal(x, /, *, offset=0)", gives="view")
def diagonals_of_matrices(name: str, x: UOp, offset: int) -> Lens:
    """Diagonals of the matrices in the last two axes, a read-only view.

    Args:
        x: any dtype, shape (..., M, N).
        offset: above the main diagonal when positive, below it when negative.
    Returns:
        dtype of ``x``; shape (..., number of elements on that diagonal).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.diagonal(xp.asarray([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int64)
    """
    return _diagonals(name, x, offset)


def _diagonals(name: str, x: UOp, offset: int) -> Lens:
    if x.ndim < 2:
        raise ShapeError(f"{name}: expected matrices (..., M, N), got shape {x.shape}")
    return diagonal(name, x, offset, -2, -1)


@function("trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)", method="trace", casting="unsafe")
def trace(name: str, a: UOp, offset: int, axis1: int, axis2: int, dtype: Any) -> UOp:
    """Sum along diagonals in the plane of two axes.

    Args:
        a: any dtype, two axes or more.
        offset: which diagonal.
        axis1: axis of the rows.
        axis2: axis of the columns.
        dtype: dtype in which to add; None is as for `sum`.
        out: takes the result, converted to its dtype.
    Returns:
        ``dtype``; the other axes.
    Raises:
        AxisError: an axis is out of range.
        ShapeError: ``a`` has fewer axes, or the two axes are one.
    Example:
        >>> import uopc_array as xp
        >>> xp.trace(xp.asarray([[1, 2], [3, 4]]))
        Array(5, dtype=int64)
    """
    return reductions.sum(name, diagonal(name, a, offset, axis1, axis2).on_node(a), -1, dtype)


@function("linalg.trace(x, /, *, offset=0, dtype=None)")
def trace_of_matrices(name: str, x: UOp, offset: int, dtype: Any) -> UOp:
    """Sums along the diagonals of the matrices in the last two axes.

    Args:
        x: any dtype, shape (..., M, N).
        offset: which diagonal; see `diagonal`.
        dtype: dtype in which to add; None is int64 or uint64 for integers, else that of ``x``.
    Returns:
        ``dtype``; shape (...).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]))
        Array(5, dtype=int64)
    """
    return reductions.sum(name, _diagonals(name, x, offset).on_node(x), -1, dtype)
