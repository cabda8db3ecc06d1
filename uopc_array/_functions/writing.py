"""Functions that assign to elements of an array of ours in place; into arrays of NumPy its own functions write."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import NotImplementedType
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.assignment import assign, operand_for, value_node
from uopc_array._array.at_once import assigned_at_once
from uopc_array._array.nodes import as_node, default_dtype, is_scalar, mask_node
from uopc_array._array.origins import gather
from uopc_array._array.promotion import CASTINGS, check_cast, check_casting, result_dtype
from uopc_array._array.realize import buffer_of_node
from uopc_array._functions.arguments import ArrayLike, node_of, wrap_array
from uopc_array._functions.indexing import check_mode, fitting, indices_in, indices_of
from uopc_array._functions.public import function, method
from uopc_core import DType, Ops, UOp, composite, dtypes
from uopc_core.errors import IndexBoundsError, ShapeError, shortened

__all__: list[str] = []


def _named(name: str, write: Callable[[], None]) -> None:
    """`write`, an assignment, with errors that name what the user called."""
    try:
        write()
    except Exception as error:
        raise shortened(error, name) from None


def _row(name: str, values: ArrayLike, dtype: DType) -> UOp:
    """Values in a row, converted for an array of `dtype` as those of an assignment are."""
    try:
        operand = operand_for(dtype, values)
        shape = () if is_scalar(operand) else as_node(operand).shape
        node = value_node(operand, dtype, shape)
    except Exception as error:
        raise shortened(error, name) from None
    return node.reshape((node.size,))


def _cycled(row: UOp, n: int) -> UOp:
    """The first n of a row, which starts again where it is too short."""
    rounds = -(-n // row.size)
    again = row.reshape((1, row.size)).expand((rounds, row.size)).reshape((rounds * row.size,))
    return again.shrink([(0, n)])


def _mask_over(name: str, mask: ArrayLike, shape: tuple[int, ...]) -> UOp:
    node = node_of(name, mask).cast(dtypes.bool)
    if node.size != prod(shape):
        raise ShapeError(f"{name}: mask and array must be of one size, got shapes {node.shape} and {shape}")
    return node.reshape(shape)


# ---------------------------------------------------------------------------------------------- all, or where a mask is


@function("copyto(dst, src, casting='same_kind', where=True)")
def copyto(name: str, dst: ArrayLike, src: ArrayLike, casting: str, where: ArrayLike) -> NotImplementedType | None:
    """Values assigned to all of an array, or where a mask selects.

    Args:
        dst: the array that is written to, of ours or of NumPy.
        src: values that can be broadcast to its shape.
        casting: which conversions are allowed: "no", "equiv", "safe", "same_kind" or "unsafe".
        where: a mask that can be broadcast to its shape.
    Raises:
        DTypeError: ``casting`` does not allow the conversion.
        ShapeError: shapes that cannot be broadcast to that of ``dst``.
        ValueError: ``dst`` is read-only.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.zeros(3)
        >>> xp.copyto(x, [1.0, 2.0, 3.0], where=[True, False, True])
        >>> x
        Array([1., 0., 3.], dtype=float64)
    """
    if not isinstance(dst, Array):
        return NotImplemented
    if where is True and type(src) is type(dst) is Array and casting in CASTINGS and _are_alike(src, dst):
        if assigned_at_once(dst, ..., src):
            return None
    dst._refuse_write(name)
    check_casting(name, casting)
    _check_source(name, dst.dtype, src, casting)
    if where is True:
        _named(name, lambda: assign(dst, ..., src))
        return None
    mask = mask_node(name, where)
    values = value_node(src if is_scalar(src) else as_node(src, name=name), dst.dtype, dst.shape)
    dst._update(lambda node: composite.broadcast_to(mask, node.shape).where(values, node))
    return None


def _check_source(name: str, dtype: DType, src: Any, casting: str) -> None:
    """A Python number but a bool is of any dtype that holds its kind, though of one only in the sense of "equiv"."""
    if is_scalar(src) and not isinstance(src, bool) and casting != "equiv" and result_dtype(src, dtype) is dtype:
        return
    check_cast(name, default_dtype(src) if is_scalar(src) else as_node(src, name=name).dtype, dtype, casting)


def _are_alike(x: Array, y: Array) -> bool:
    """Whether both are known, and of one dtype."""
    return x._value is not None and y._value is not None and x._value.dtype is y._value.dtype


@function("putmask(a, /, mask, values)")
def putmask(name: str, a: ArrayLike, mask: ArrayLike, values: ArrayLike) -> NotImplementedType | None:
    """Of values, repeated to the size of an array, those assigned that a mask selects.

    Args:
        a: the array that is written to, of ours or of NumPy.
        mask: as many elements as ``a``; what is not zero selects.
        values: of any shape, read in a row.
    Raises:
        ShapeError: a mask of another size.
        ValueError: ``a`` is read-only.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.arange(5)
        >>> xp.putmask(x, x > 2, [10, 20])
        >>> x
        Array([ 0,  1,  2, 20, 10], dtype=int64)
    """
    if not isinstance(a, Array):
        return NotImplemented
    a._refuse_write(name)
    chosen = _mask_over(name, mask, a.shape)
    row = _row(name, values, a.dtype)
    if row.size and a.size:
        spread = _cycled(row, a.size).reshape(a.shape)
        a._update(lambda node: chosen.where(spread, node))
    return None


@function("place(arr, mask, vals)")
def place(name: str, arr: ArrayLike, mask: ArrayLike, vals: ArrayLike) -> NotImplementedType | None:
    """Values assigned one after the other to the elements that a mask selects; they start again where they are too few.

    Args:
        arr: the array that is written to, of ours or of NumPy.
        mask: as many elements as ``arr``; what is not zero selects.
        vals: of any shape, read in a row.
    Raises:
        ShapeError: a mask of another size.
        ValueError: ``arr`` is read-only; or there are no values for what is selected.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.arange(5)
        >>> xp.place(x, x > 1, [10, 20])
        >>> x
        Array([ 0,  1, 10, 20, 10], dtype=int64)
    """
    if not isinstance(arr, Array):
        return NotImplemented
    arr._refuse_write(name)
    chosen = _mask_over(name, mask, arr.shape)
    row = _row(name, vals, arr.dtype)
    if not row.size:
        if buffer_of_node(chosen, name).array.any():
            raise ValueError(f"{name}: expected one value or more for the elements that the mask selects, got none")
    elif arr.size:
        selected = chosen.reshape((arr.size,)).cast(dtypes.int64)
        numbers = composite.scan_axis(selected, Ops.ADD, 0) - 1
        spread = _cycled(row, arr.size) if row.size == 1 else gather(name, row, numbers % row.size)
        arr._update(lambda node: chosen.where(spread.reshape(node.shape), node))
    return None


# ---------------------------------------------------------------------------------------------- by indices


@function("put(a, ind, v, mode='raise')")
def put(name: str, a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str) -> NotImplementedType | None:
    """Values assigned to elements by their index in the flattened array.

    Args:
        a: the array that is written to, of ours or of NumPy.
        ind: integers, of any shape; negative ones count from the end.
        v: values; those that are too few start again.
        mode: what is done with an index out of bounds: "raise" an error, "wrap" it round, or "clip" it to the first or
            the last, negative ones to the first.
    Raises:
        IndexError: an index is out of bounds.
        IndexDTypeError: (a TypeError and an IndexError) ``ind`` are no integers.
        ValueError: ``a`` is read-only; or another ``mode``.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.zeros((2, 2))
        >>> xp.put(x, [0, 3], [1.0, 2.0])
        >>> x
        Array([[1., 0.],
               [0., 2.]], dtype=float64)
    """
    if not isinstance(a, Array):
        return NotImplemented
    a._refuse_write(name)
    check_mode(name, mode)
    positions = indices_of(name, ind)
    if positions.size and not a.size:
        raise IndexBoundsError(f"{name}: an array of shape {a.shape} has no elements to put values at")
    positions = indices_in(name, positions.reshape((positions.size,)), a.size, mode)
    row = _row(name, v, a.dtype)
    if row.size and positions.size:
        _named(name, lambda: assign(a.flat, wrap_array(positions), wrap_array(_cycled(row, positions.size))))
    return None


@method("put(a, indices, values, mode='raise')")
def put_method(name: str, a: ArrayLike, indices: ArrayLike, values: ArrayLike, mode: str) -> None:
    """Assign to elements by their index in the flattened array; see `xp.put`."""
    put(name, a, indices, values, mode)


@function("put_along_axis(arr, indices, values, axis)")
def put_along_axis(
    name: str, arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None
) -> NotImplementedType | None:
    """Values assigned at indices along one axis that depend on the coordinates of the others; see `take_along_axis`.

    Args:
        arr: the array that is written to, of ours or of NumPy.
        indices: integers, as many axes as ``arr``; extents but that of ``axis`` can be broadcast with those of ``arr``.
        values: can be broadcast to the shape that `take_along_axis` gives.
        axis: axis that is indexed; None writes to the flattened array, with indices of one axis.
    Raises:
        AxisError: ``axis`` is out of range.
        IndexError: an index is out of bounds.
        IndexDTypeError: (a TypeError and an IndexError) ``indices`` are no integers.
        ShapeError: the shapes do not fit.
        ValueError: ``arr`` is read-only.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.asarray([[3, 1, 2], [4, 6, 5]])
        >>> xp.put_along_axis(x, xp.argmax(x, axis=1, keepdims=True), 0, axis=1)
        >>> x
        Array([[0, 1, 2],
               [4, 0, 5]], dtype=int64)
    """
    if not isinstance(arr, Array):
        return NotImplemented
    arr._refuse_write(name)
    positions = indices_of(name, indices)
    target = arr.flat if axis is None else arr
    at, _ = fitting(name, target.shape, positions.shape, 0 if axis is None else axis)
    key: list[Any] = [
        np.arange(n).reshape((1,) * i + (n,) + (1,) * (target.ndim - i - 1)) for i, n in enumerate(target.shape)
    ]
    key[at] = wrap_array(positions)
    _named(name, lambda: assign(target, tuple(key), values))
    return None


@function("fill_diagonal(a, val, wrap=False)")
def fill_diagonal(name: str, a: ArrayLike, val: ArrayLike, wrap: bool) -> NotImplementedType | None:
    """Values assigned to the main diagonal.

    Args:
        a: the array that is written to, of ours or of NumPy: a matrix, or more axes of one extent.
        val: values, read in a row; those that are too few start again.
        wrap: whether the diagonal of a matrix with more rows than columns starts again below.
    Raises:
        ShapeError: fewer than two axes, or more than two that differ.
        ValueError: ``a`` is read-only.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.zeros((2, 3))
        >>> xp.fill_diagonal(x, 5.0)
        >>> x
        Array([[5., 0., 0.],
               [0., 5., 0.]], dtype=float64)
    """
    if not isinstance(a, Array):
        return NotImplemented
    a._refuse_write(name)
    if a.ndim < 2:
        raise ShapeError(f"{name}: expected two axes or more, got shape {a.shape}")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ShapeError(f"{name}: expected axes of one extent where there are more than two, got shape {a.shape}")
    columns = a.shape[-1]
    stop = columns * columns if a.ndim == 2 and not wrap else None
    along = slice(None, stop, sum([columns**i for i in range(a.ndim)]))
    row = _row(name, val, a.dtype)
    n = len(range(*along.indices(a.size)))
    if row.size and n:
        _named(name, lambda: assign(a.flat, along, wrap_array(_cycled(row, n))))
    return None
