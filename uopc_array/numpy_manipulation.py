"""Functions of NumPy that make, join, split and move arrays, beyond the standard: movement, lazy and differentiable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_array._array.array import Array
from uopc_array._array.nodes import as_node, is_scalar
from uopc_array._array.promotion import check_cast, check_casting, result_dtype
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    ArrayLike,
    check_device,
    integer,
    integers,
    is_sequence,
    known,
    node_of,
    normalize_axes,
    normalize_axis,
    optional_dtype,
    wrap,
)
from uopc_array.creation_functions import asarray, eye, rows_and_columns
from uopc_array.manipulation_functions import check_joining_axis, concat, flip, moveaxis, permute_dims, reshape
from uopc_core import UOp, as_dtype, composite, dtypes
from uopc_core.errors import AxisError, ShapeError, shortened, speaks_for_itself

__all__ = [
    "append",
    "array",
    "array_split",
    "asanyarray",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "column_stack",
    "concatenate",
    "copy",
    "diag",
    "diagonal",
    "dsplit",
    "dstack",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "identity",
    "ndim",
    "ravel",
    "rollaxis",
    "rot90",
    "shape",
    "size",
    "split",
    "swapaxes",
    "transpose",
    "tri",
    "vsplit",
    "vstack",
]


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
    return out if out.ndim >= ndmin else reshape(out, (1,) * (ndmin - out.ndim) + out.shape)


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


def shape(a: ArrayLike, /) -> tuple[int, ...]:
    """The extents of ``a``."""
    return node_of("shape", a).shape


def ndim(a: ArrayLike, /) -> int:
    """The number of axes of ``a``."""
    return node_of("ndim", a).ndim


def size(a: ArrayLike, /, axis: int | None = None) -> int:
    """The number of elements of ``a``, or its extent at ``axis``."""
    node = node_of("size", a)
    return node.size if axis is None else node.shape[normalize_axis("size", axis, node.ndim)]


# ------------------------------------------------------------------------------------------- axes


def transpose(a: ArrayLike, /, axes: Sequence[int] | None = None) -> Array:
    """``a`` with its axes in another order.

    Args:
        a: any dtype, any shape.
        axes: every axis once; None reverses them.
    Returns:
        dtype of ``a``; the permuted shape.
    Example:
        >>> import uopc_array as xp
        >>> xp.transpose(xp.zeros((2, 3))).shape
        (3, 2)
    """
    try:
        x = asarray(a)
        return permute_dims(x, tuple(range(x.ndim))[::-1] if axes is None else known("transpose", "axes", axes))
    except Exception as error:
        raise shortened(error, "transpose") from None


def swapaxes(a: ArrayLike, axis1: int, axis2: int, /) -> Array:
    """``a`` with two axes exchanged.

    Args:
        a: any dtype, any shape.
        axis1: one axis.
        axis2: the other.
    Returns:
        dtype of ``a``; the permuted shape.
    Raises:
        AxisError: an axis is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.swapaxes(xp.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    try:
        x = asarray(a)
        first, second = (normalize_axis("swapaxes", axis, x.ndim) for axis in (axis1, axis2))
        order = list(range(x.ndim))
        order[first], order[second] = order[second], order[first]
        return permute_dims(x, order)
    except Exception as error:
        raise shortened(error, "swapaxes") from None


@speaks_for_itself
def rollaxis(a: ArrayLike, axis: int, start: int = 0, /) -> Array:
    """``a`` with an axis moved to before another; `moveaxis` is easier to read.

    Args:
        a: any dtype, any shape.
        axis: axis that moves.
        start: axis before which it comes.
    Returns:
        dtype of ``a``; the permuted shape.
    Raises:
        AxisError: an axis is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.rollaxis(xp.zeros((2, 3, 4)), 2).shape
        (4, 2, 3)
    """
    x = asarray(a)
    source = normalize_axis("rollaxis", axis, x.ndim)
    start = integer("rollaxis", "start", start)
    place = start + x.ndim if start < 0 else start
    if not 0 <= place <= x.ndim:
        raise AxisError(f"rollaxis: expected start between {-x.ndim} and {x.ndim}, got {start}")
    return moveaxis(x, source, place - 1 if source < place else place)


@speaks_for_itself
def ravel(a: ArrayLike, /) -> Array:
    """The elements of ``a`` in one row, in row-major order.

    Args:
        a: any dtype, any shape.
    Returns:
        dtype of ``a``; shape ``(a.size,)``.
    Example:
        >>> import uopc_array as xp
        >>> xp.ravel(xp.asarray([[1, 2], [3, 4]]))
        Array([1, 2, 3, 4], dtype=int64)
    """
    return asarray(a).ravel()


def _at_least(a: ArrayLike, n: int) -> Array:
    """Axes put in front, and for three of a matrix one behind, as NumPy does."""
    x = asarray(a)
    if n == 3 and 0 < x.ndim < 3:
        return reshape(x, (1, *x.shape, 1) if x.ndim == 1 else (*x.shape, 1))
    return x if x.ndim >= n else reshape(x, (1,) * (n - x.ndim) + x.shape)


def _each(arrays: tuple[ArrayLike, ...], n: int) -> Any:
    out = tuple([_at_least(a, n) for a in arrays])
    return out[0] if len(out) == 1 else out


@speaks_for_itself
def atleast_1d(*arrays: ArrayLike) -> Any:
    """Each array with one axis at least: an array, or a tuple of several."""
    return _each(arrays, 1)


@speaks_for_itself
def atleast_2d(*arrays: ArrayLike) -> Any:
    """Each array with two axes at least, new ones in front: an array, or a tuple of several."""
    return _each(arrays, 2)


@speaks_for_itself
def atleast_3d(*arrays: ArrayLike) -> Any:
    """Each array with three axes at least: an array, or a tuple of several."""
    return _each(arrays, 3)


# ------------------------------------------------------------------------------------------- joining


@speaks_for_itself
def concatenate(
    arrays: Sequence[ArrayLike], axis: int | None = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Array:
    """NumPy's name of `concat`, with a dtype.

    Args:
        arrays: any dtypes; shapes that agree on every axis but ``axis``.
        axis: axis along which to join; None joins the flattened arrays.
        dtype: dtype wanted; None is the promoted one.
        casting: which conversions to ``dtype`` are allowed: "no", "equiv", "safe", "same_kind" or "unsafe".
    Returns:
        ``dtype``; extents as given, added up at ``axis``.
    Raises:
        DTypeError: an array may not be converted to ``dtype``.
    Example:
        >>> import uopc_array as xp
        >>> xp.concatenate(([1, 2], [3.5]))
        Array([1. , 2. , 3.5], dtype=float64)
    """
    check_casting("concatenate", casting)
    check_joining_axis("concatenate", axis)
    along = known("concatenate", "axis", axis)
    if dtype is None:
        return concat(arrays, axis=along)
    wanted = as_dtype(dtype, "concatenate")
    for a in arrays:
        check_cast("concatenate", result_dtype(a, wanted) if is_scalar(a) else as_node(a).dtype, wanted, casting)
    return concat([wrap(as_node(a, wanted, name="concatenate")) for a in arrays], axis=along)


@speaks_for_itself
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """``values`` put behind ``arr``.

    Args:
        arr: any dtype, any shape.
        values: any dtype; agrees with ``arr`` on every axis but ``axis``.
        axis: axis along which to join; None joins the flattened arrays.
    Returns:
        the promoted dtype; extents added up at ``axis``.
    Example:
        >>> import uopc_array as xp
        >>> xp.append(xp.asarray([1, 2]), 3)
        Array([1, 2, 3], dtype=int64)
    """
    return concat([asarray(arr), asarray(values)], axis=known("append", "axis", axis))


@speaks_for_itself
def vstack(tup: Sequence[ArrayLike]) -> Array:
    """Arrays joined along axis 0, vectors as rows.

    Args:
        tup: any dtypes; shapes that agree on every axis but the first.
    Returns:
        the promoted dtype; two axes or more.
    Example:
        >>> import uopc_array as xp
        >>> xp.vstack(([1, 2], [3, 4]))
        Array([[1, 2],
               [3, 4]], dtype=int64)
    """
    return concat([_at_least(a, 2) for a in tup], axis=0)


@speaks_for_itself
def hstack(tup: Sequence[ArrayLike]) -> Array:
    """Arrays joined along axis 1, vectors along their only axis.

    Args:
        tup: any dtypes; shapes that agree on every other axis.
    Returns:
        the promoted dtype; one axis or more.
    Example:
        >>> import uopc_array as xp
        >>> xp.hstack(([1, 2], [3]))
        Array([1, 2, 3], dtype=int64)
    """
    arrays = [_at_least(a, 1) for a in tup]
    return concat(arrays, axis=0 if arrays and arrays[0].ndim == 1 else 1)


@speaks_for_itself
def dstack(tup: Sequence[ArrayLike]) -> Array:
    """Arrays joined along axis 2.

    Args:
        tup: any dtypes; shapes that agree on every other axis.
    Returns:
        the promoted dtype; three axes or more.
    Example:
        >>> import uopc_array as xp
        >>> xp.dstack(([1, 2], [3, 4])).shape
        (1, 2, 2)
    """
    return concat([_at_least(a, 3) for a in tup], axis=2)


@speaks_for_itself
def column_stack(tup: Sequence[ArrayLike]) -> Array:
    """Vectors as the columns of a matrix.

    Args:
        tup: any dtypes; vectors of one length, or matrices with as many rows.
    Returns:
        the promoted dtype; two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.column_stack(([1, 2], [3, 4]))
        Array([[1, 3],
               [2, 4]], dtype=int64)
    """
    arrays = [asarray(a) for a in tup]
    return concat([reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in arrays], axis=1)


# ------------------------------------------------------------------------------------------- splitting


@speaks_for_itself
def array_split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]:
    """``ary`` cut into parts along an axis.

    Args:
        ary: any dtype, one axis or more.
        indices_or_sections: a number of parts as equal as may be, or the places where to cut.
        axis: axis that is cut.
    Returns:
        the parts, in the dtype of ``ary``.
    Raises:
        ValueError: no parts are asked for.
    Example:
        >>> import uopc_array as xp
        >>> xp.array_split(xp.arange(5), 2)
        [Array([0, 1, 2], dtype=int64), Array([3, 4], dtype=int64)]
    """
    return _cut("array_split", asarray(ary)._uop, indices_or_sections, axis, equal=False)


def _cut(name: str, node: UOp, how: int | Sequence[int], axis: int, equal: bool) -> list[Array]:
    at = normalize_axis(name, axis, node.ndim)
    n = node.shape[at]
    if not is_sequence(how):
        parts = integer(name, "indices_or_sections", how)
        if parts < 1 or (equal and n % parts):
            raise ValueError(
                f"{name}: an axis of extent {n} cannot be cut into {parts} parts"
                + (
                    " of one extent; array_split makes parts of different extents"
                    if parts > 0
                    else ", expected 1 or more"
                )
            )
        long = n % parts
        places = [n] * (parts - 1)  # at once, so that too many for the memory fail here
        for i in range(1, min(parts, n)):
            places[i - 1] = i * (n // parts) + min(i, long)
    else:
        places = [
            min(max(place + n if place < 0 else place, 0), n) for place in integers(name, "indices_or_sections", how)
        ]
    whole = [slice(None)] * node.ndim
    bounds = zip([0, *places], [*places, n], strict=True)
    return [wrap(composite.slice_axes(node, [*whole[:at], slice(a, b), *whole[at + 1 :]])) for a, b in bounds]


@speaks_for_itself
def split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]:
    """``ary`` cut into parts along an axis, all of one extent where a number is given.

    Args:
        ary: any dtype, one axis or more.
        indices_or_sections: a number of parts, or the places where to cut.
        axis: axis that is cut.
    Returns:
        the parts, in the dtype of ``ary``.
    Raises:
        ValueError: the extent is no multiple of the number of parts.
    Example:
        >>> import uopc_array as xp
        >>> xp.split(xp.arange(4), 2)
        [Array([0, 1], dtype=int64), Array([2, 3], dtype=int64)]
    """
    return _cut("split", asarray(ary)._uop, indices_or_sections, axis, equal=True)


def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[Array]:
    """`split` along axis 0, of two axes or more."""
    return _cut("vsplit", _of_axes("vsplit", ary, 2), indices_or_sections, 0, equal=True)


def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[Array]:
    """`split` along axis 1, or the only axis of a vector."""
    node = _of_axes("hsplit", ary, 1)
    return _cut("hsplit", node, indices_or_sections, 0 if node.ndim == 1 else 1, equal=True)


def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[Array]:
    """`split` along axis 2."""
    return _cut("dsplit", _of_axes("dsplit", ary, 3), indices_or_sections, 2, equal=True)


def _of_axes(name: str, x: ArrayLike, least: int) -> UOp:
    node = node_of(name, x)
    if node.ndim < least:
        raise ShapeError(f"{name}: expected {least} axes or more, got shape {node.shape}")
    return node


# ------------------------------------------------------------------------------------------- order and diagonals


@speaks_for_itself
def flipud(m: ArrayLike) -> Array:
    """``m`` with the order along axis 0 reversed."""
    return flip(asarray(m), axis=0)


@speaks_for_itself
def fliplr(m: ArrayLike) -> Array:
    """``m`` with the order along axis 1 reversed."""
    return flip(asarray(m), axis=1)


@speaks_for_itself
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """``m`` turned by quarters in the plane of two axes, from the first towards the second.

    Args:
        m: any dtype, two axes or more.
        k: number of quarters.
        axes: the plane.
    Returns:
        dtype of ``m``; the turned shape.
    Example:
        >>> import uopc_array as xp
        >>> xp.rot90(xp.asarray([[1, 2], [3, 4]]))
        Array([[2, 4],
               [1, 3]], dtype=int64)
    """
    x = asarray(m)
    quarters = integer("rot90", "k", k) % 4
    plane = normalize_axes("rot90", axes, x.ndim)
    if len(plane) != 2:
        raise ValueError(f"rot90: expected two axes, got axes={axes}")
    if quarters == 2:
        return flip(x, axis=plane)
    if quarters == 1:
        return swapaxes(flip(x, axis=plane[1]), *plane)
    return flip(swapaxes(x, *plane), axis=plane[1]) if quarters else x


def diagonal(a: ArrayLike, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Diagonals of ``a`` in the plane of two axes.

    Args:
        a: any dtype, two axes or more.
        offset: which diagonal: 0 the main one, positive above it, negative below.
        axis1: axis of the rows.
        axis2: axis of the columns.
    Returns:
        dtype of ``a``; the other axes, then the diagonal.
    Raises:
        AxisError: an axis is out of range.
        ShapeError: the two axes are one.
    Example:
        >>> import uopc_array as xp
        >>> xp.diagonal(xp.asarray([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int64)
    """
    node = node_of("diagonal", a)
    first, second = (normalize_axis("diagonal", axis, node.ndim) for axis in (axis1, axis2))
    if first == second:
        raise ShapeError(f"diagonal: expected two axes, got axis1={axis1} and axis2={axis2} for shape {node.shape}")
    return wrap(
        along_axes.diagonal(composite.move_axes_last(node, (first, second)), integer("diagonal", "offset", offset))
    )


@speaks_for_itself
def diag(v: ArrayLike, k: int = 0) -> Array:
    """The diagonal of a matrix, or a matrix with a vector on its diagonal.

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
    node = node_of("diag", v)
    k = integer("diag", "k", k)
    if node.ndim == 2:
        return diagonal(v, k)
    if node.ndim != 1:
        raise ShapeError(f"diag: expected one axis or two, got shape {node.shape}")
    n = node.size + abs(k)
    rows = node.pad([(max(-k, 0), max(k, 0))])
    square = rows.reshape((n, 1)).expand((n, n))
    on_diagonal = composite.iota((n, n), 1).eq(composite.iota((n, n), 0) + k)
    return wrap(on_diagonal.where(square, composite.zeros_like(square)))
