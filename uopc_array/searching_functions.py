"""Searching functions of the standard: lazy where the shape of the result does not depend on values."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from uopc_array._arguments import (
    ArrayLike,
    AxisLike,
    as_real,
    check_choice,
    from_memory,
    node_of,
    normalize_axes,
    normalize_axis,
    wrap,
    wrap_array,
)
from uopc_array._nodes import cast_node
from uopc_array._origins import gather
from uopc_array._promotion import broadcast, promote, promote_dtypes
from uopc_array._realize import buffer_of_node
from uopc_array.array import Array
from uopc_core import Ops, UOp, composite, dtypes, is_float, is_integer, searchsorted_vector
from uopc_core.errors import DTypeError, ShapeError, SorterShapeError

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


def _arg_extreme(name: str, op: Ops, x: Array, axis: int | None, keepdims: bool) -> Array:
    """The least place that holds the extreme; a nan is the extreme, as in NumPy."""
    (given,) = as_real(name, node_of(name, x))
    node = given.reshape((given.size,)) if axis is None else given
    at = 0 if axis is None else normalize_axis(name, axis, node.ndim)
    n = node.shape[at]
    if n == 0:
        raise ShapeError(f"{name}: an empty axis has no extreme, got shape {given.shape} with axis={axis}")
    # of the operand as it is computed here: an extreme in memory may come from who computes with other last digits
    extreme = composite.reduce_axes(node.stage("detach"), op, (at,), keepdims=True).expand(node.shape)
    found = node.eq(extreme) | node.ne(node) if is_float(node.dtype) else node.eq(extreme)
    place = found.where(composite.iota(node.shape, at), n)
    out = composite.reduce_axes(place, Ops.MIN, (at,), keepdims)
    return wrap(out.reshape((1,) * given.ndim) if keepdims and axis is None else out)


def argmax(x: Array, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Place of the first largest element.

    Args:
        x: a real dtype or bool, not empty; nan counts as largest.
        axis: axis that is searched; None searches the flattened array.
        keepdims: keep the reduced axes with extent 1.
    Returns:
        int64; shape of ``x`` without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``x`` is complex.
        ShapeError: the axis is empty.
    Example:
        >>> import uopc_array as xp
        >>> xp.argmax(xp.asarray([1.0, 5.0, 5.0]))
        Array(1, dtype=int64)
    """
    return _arg_extreme("argmax", Ops.MAX, x, axis, keepdims)


def argmin(x: Array, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Place of the first smallest element.

    Args:
        x: a real dtype or bool, not empty; nan counts as smallest.
        axis: axis that is searched; None searches the flattened array.
        keepdims: keep the reduced axes with extent 1.
    Returns:
        int64; shape of ``x`` without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``x`` is complex.
        ShapeError: the axis is empty.
    Example:
        >>> import uopc_array as xp
        >>> xp.argmin(xp.asarray([4.0, 2.0, 2.0]))
        Array(1, dtype=int64)
    """
    return _arg_extreme("argmin", Ops.MIN, x, axis, keepdims)


def count_nonzero(x: Array, /, axis: AxisLike = None, *, keepdims: bool = False) -> Array:
    """How many elements are not zero.

    Args:
        x: any dtype, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        int64; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.count_nonzero(xp.asarray([0, 3, 0, 5]))
        Array(2, dtype=int64)
    """
    node = node_of("count_nonzero", x)
    axes = normalize_axes("count_nonzero", axis, node.ndim)
    ones = node.cast(dtypes.bool).cast(dtypes.int64)
    return wrap(composite.reduce_axes(ones, Ops.ADD, axes, keepdims))


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Places of the elements that are not zero, in row-major order. Computes the values of ``x``.

    Args:
        x: any dtype, one axis or more.
    Returns:
        one int64 array of shape ``(K,)`` for each axis, K the number of elements that are not zero.
    Raises:
        ShapeError: ``x`` has no axes.
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.nonzero(xp.asarray([0, 3, 0, 5]))
        (Array([1, 3], dtype=int64),)
    """
    node = node_of("nonzero", x)
    if node.ndim == 0:
        raise ShapeError("nonzero: expected one axis or more, got an array of shape (); reshape it to (1,) first")
    places = np.nonzero(buffer_of_node(node, "nonzero").array)
    return tuple([from_memory(place.astype(np.int64, copy=False)) for place in places])


def searchsorted(
    x1: Array, x2: ArrayLike, /, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Array:
    """Places in a sorted vector before which values would be inserted to keep it sorted.

    Args:
        x1: a real dtype, one axis, sorted in ascending order, nan last.
        x2: values, an array or a Python scalar.
        side: "left" gives the first such place, "right" the last.
        sorter: integers that sort ``x1``, as from `argsort`.
    Returns:
        int64; shape of ``x2``.
    Raises:
        ShapeError: ``x1`` or ``sorter`` is no vector of the same length.
        DTypeError: complex values, or a ``sorter`` of no integer dtype.
        SorterShapeError: (a TypeError and a ValueError) ``sorter`` is no vector.
        SorterBoundsError: (a ValueError and an IndexError) ``sorter`` names a place outside ``x1``; found when the
            values are computed.
        ValueError: another ``side``.
    Example:
        >>> import uopc_array as xp
        >>> xp.searchsorted(xp.asarray([1, 3, 5]), xp.asarray([0, 3, 9]))
        Array([0, 1, 3], dtype=int64)
    """
    check_choice("searchsorted", "side", side, ("left", "right"))
    node, values = node_of("searchsorted", x1), node_of("searchsorted", x2)
    dtype = promote_dtypes(node.dtype, values.dtype)
    node, values = cast_node(node, dtype), cast_node(values, dtype)
    as_real("searchsorted", node)
    if node.ndim != 1:
        raise ShapeError(f"searchsorted: expected x1 to have one axis, got shape {node.shape}")
    if sorter is not None:
        node = gather("searchsorted", node, _sorter(sorter, node))
    return wrap(searchsorted_vector(node, values, side))


def _sorter(sorter: Array, node: UOp) -> UOp:
    places = node_of("searchsorted", sorter)
    if not is_integer(places.dtype):
        raise DTypeError(f"searchsorted: expected a sorter of an integer dtype, got {places.dtype.name}")
    if places.ndim != 1:
        raise SorterShapeError(f"searchsorted: expected a sorter of one axis, got shape {places.shape}")
    if places.shape != node.shape:
        raise ShapeError(f"searchsorted: sorter must have the shape of x1, got {places.shape} and {node.shape}")
    return composite.as_places(places) if places.dtype is dtypes.uint64 else places


@overload
def where(condition: Array, /) -> tuple[Array, ...]: ...
@overload
def where(condition: Array, x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def where(condition: Array, x1: ArrayLike | None = None, x2: ArrayLike | None = None, /) -> Any:
    """``x1`` where the condition holds, else ``x2``; of a condition alone, where it holds, as `nonzero` does.

    Args:
        condition: bool, or any dtype of which what is not zero holds.
        x1: values, an array or a Python scalar; the three shapes can be broadcast together.
        x2: likewise.
    Returns:
        the promoted dtype of ``x1`` and ``x2``; the common shape. The branch not taken never reaches the derivative.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
        TypeError: one of ``x1`` and ``x2`` is missing.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.asarray([-1.0, 2.0])
        >>> xp.where(x > 0, x, 0.0)
        Array([0., 2.], dtype=float64)
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise TypeError("where: expected both x1 and x2, or neither")
    chosen = node_of("where", condition).cast(dtypes.bool)
    x, y = promote("where", x1, x2)
    shape = broadcast("where", chosen.shape, x.shape)
    chosen, x, y = (composite.broadcast_to(node, shape) for node in (chosen, x, y))
    return wrap_array(chosen.where(x, y))
