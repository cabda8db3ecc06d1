"""Functions of NumPy that make, join, split and move arrays, beyond the standard: movement, lazy and differentiable."""

from __future__ import annotations

from typing import Any

from uopc_array._array.array import Array
from uopc_array._functions.arguments import (
    ArrayLike,
    check_device,
    integer,
    optional_dtype,
    wrap,
)
from uopc_array.creation_functions import asarray, eye, rows_and_columns
from uopc_core import composite, dtypes
from uopc_core.errors import speaks_for_itself

__all__ = ["array", "asanyarray", "copy", "identity", "tri"]


@speaks_for_itself
def asanyarray(obj: ArrayLike, /, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> Array:
    """Another name of `asarray`: arrays have no subclasses here."""
    return asarray(obj, dtype, device=device, copy=copy)


@speaks_for_itself
def array(
    object: ArrayLike, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0, device: Any = None
) -> Array:
    """A new array with the values of ``object``; see `asarray`.

    Args:
        object: what `asarray` takes.
        dtype: dtype wanted; None infers it.
        copy: as for `asarray`.
        ndmin: least number of axes; axes of extent 1 are put in front.
        device: "cpu" or None.
    Returns:
        ``dtype`` or the inferred one; shape of ``object``.
    Example:
        >>> import uopc_array as xp
        >>> xp.array([1, 2], ndmin=2)
        Array([[1, 2]], dtype=int64)
    """
    check_device("array", device)
    out = asarray(object, dtype=dtype, copy=copy)
    ndmin = integer("array", "ndmin", ndmin)
    return out if out.ndim >= ndmin else out.reshape((1,) * (ndmin - out.ndim) + out.shape)


@speaks_for_itself
def copy(a: ArrayLike, /) -> Array:
    """A new array with the values of ``a``.

    Args:
        a: any dtype, any shape.
    Returns:
        dtype and shape of ``a``.
    Example:
        >>> import uopc_array as xp
        >>> xp.copy(xp.asarray([1, 2]))
        Array([1, 2], dtype=int64)
    """
    return asarray(a, copy=True)


@speaks_for_itself
def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix.

    Args:
        n: number of rows.
        dtype: dtype wanted; None is float64.
    Returns:
        ``dtype``; shape ``(n, n)``.
    Example:
        >>> import uopc_array as xp
        >>> xp.identity(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float64)
    """
    return eye(integer("identity", "n", n), dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Ones on and below a diagonal, zeros above it.

    Args:
        N: number of rows.
        M: number of columns; None is as many as rows.
        k: which diagonal: 0 the main one, positive above it, negative below.
        dtype: dtype wanted; None is float64.
    Returns:
        ``dtype``; shape ``(N, M)``.
    Example:
        >>> import uopc_array as xp
        >>> xp.tri(2)
        Array([[1., 0.],
               [1., 1.]], dtype=float64)
    """
    extents = rows_and_columns("tri", {"N": N, "M": M})
    start = max(min(integer("tri", "k", k), extents[1]), -extents[0])
    below = composite.iota(extents, 1) <= composite.iota(extents, 0) + start
    return wrap(below.cast(optional_dtype("tri", dtype) or dtypes.float64))
