"""Elements by their position: gathers with integer arrays, lazy and differentiable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from uopc_array._array.nodes import node_from_numpy
from uopc_array._array.origins import gather
from uopc_array._array.promotion import promote
from uopc_array._array.realize import buffer_of_node, values_in_memory
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import ArrayLike, node_of, normalize_axis
from uopc_array._functions.public import function
from uopc_core import UOp, composite, dtypes, is_bool, is_integer, name_of
from uopc_core.errors import (
    ChoiceBoundsError,
    DTypeError,
    IndexBoundsError,
    IndexDTypeError,
    IndexShapeError,
    ShapeError,
    shortened,
)
from uopc_core.numerics import elementwise
from uopc_core.numerics.axes import common_shape

__all__ = ["indices_in", "indices_of"]

MODES = ("raise", "wrap", "clip")


def indices_of(name: str, indices: ArrayLike) -> UOp:
    """Indices as integers that gathers take.

    Raises:
        IndexDTypeError: they are no integers.
    """
    try:
        node = node_of(name, indices)
    except Exception as error:
        raise shortened(error) from None
    if node.size == 0 and not is_integer(node.dtype) and isinstance(indices, list | tuple):
        return UOp.const(0, dtypes.int64, node.shape)
    if is_bool(node.dtype):
        values = values_in_memory(node)
        return node.cast(dtypes.int64) if values is None else node_from_numpy(values.astype(np.int64), None, False)
    if not is_integer(node.dtype):
        raise IndexDTypeError(f"{name}: expected indices of an integer dtype, got {name_of(node.dtype)}")
    return composite.as_indices(node) if node.dtype is dtypes.uint64 else node


def check_mode(name: str, mode: Any) -> None:
    """
    Raises:
        TypeError, ValueError: it is none of what is done with an index out of bounds.
    """
    if not isinstance(mode, str):
        raise TypeError(f'{name}: expected a mode of "raise", "wrap" or "clip", got {mode!r:.60}')
    if mode not in MODES:
        raise ValueError(f'{name}: expected a mode of "raise", "wrap" or "clip", got {mode!r}')


def indices_in(name: str, positions: UOp, n: int, mode: str) -> UOp:
    """Indices into `n` positions; those out of bounds as `mode` says.

    Raises:
        IndexError: there are no positions, and `mode` knows none.
    """
    if mode == "raise":
        return positions
    check_mode(name, mode)
    wide = positions.cast(dtypes.int64)
    if n == 0:
        if wide.size:
            raise IndexBoundsError(f"{name}: there is nothing to take from an axis of extent 0")
        return wide
    if mode == "wrap":
        return wide % n
    first, last = (UOp.const(position, wide.dtype, wide.shape) for position in (0, n - 1))
    return elementwise.minimum(elementwise.maximum(wide, first), last)


@function("take(a, indices, axis=None, out=None, mode='raise')", method="take", casting="unsafe")
def take(name: str, a: UOp, indices: ArrayLike, axis: int | None, mode: str) -> UOp:
    """Elements of ``a`` at ``indices`` along an axis.

    Args:
        a: any dtype, any shape.
        indices: integers, any shape ``S``; negative ones count from the end.
        axis: axis that is indexed; None takes from the flattened array.
        out: takes the result.
        mode: what is done with an index out of bounds: "raise" an error, "wrap" it round, or "clip" it to the first or
            the last, negative ones to the first.
    Returns:
        dtype of ``a``; shape of ``a`` with ``S`` in the place of ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        IndexError: an index is out of range, found when the values are computed.
        IndexDTypeError: (a TypeError and an IndexError) ``indices`` are no integers.
        ValueError: another ``mode``.
    Example:
        >>> import uopc_array as xp
        >>> xp.take(xp.asarray([10, 20, 30]), xp.asarray([2, 0]))
        Array([30, 10], dtype=int64)
    """
    if axis is None or a.ndim < 2:
        row = a.reshape((a.size,))
        if axis is not None:
            normalize_axis(name, axis, 1)
        return gather(name, row, indices_in(name, indices_of(name, indices), a.size, mode))
    at = normalize_axis(name, axis, a.ndim)
    return along_axes.take_on_axis(name, a, indices_in(name, indices_of(name, indices), a.shape[at], mode), at)


@function("take_along_axis(arr, indices, axis=-1)")
def take_along_axis(name: str, arr: UOp, indices: ArrayLike, axis: int | None) -> UOp:
    """Elements of ``arr`` at indices along one axis that depend on the coordinates of the others.

    Args:
        arr: any dtype, any shape.
        indices: integers, as many axes as ``arr``; extents but that of ``axis`` can be broadcast with those of ``arr``.
        axis: axis that is indexed; None takes from the flattened array, with indices of one axis.
    Returns:
        dtype of ``arr``; the broadcast shape, with the extent of ``indices`` at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        IndexError: an index is out of range, found when the values are computed.
        ShapeError: the shapes do not fit.
        IndexDTypeError: (a TypeError and an IndexError) ``indices`` are no integers.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.asarray([[3, 1, 2], [4, 6, 5]])
        >>> xp.take_along_axis(x, xp.argsort(x), axis=-1)
        Array([[1, 2, 3],
               [4, 5, 6]], dtype=int64)
    """
    positions = indices_of(name, indices)
    node = arr.reshape((arr.size,)) if axis is None else arr
    at, rest = fitting(name, node.shape, positions.shape, 0 if axis is None else axis)
    node = composite.broadcast_to(node, (*rest[:at], node.shape[at], *rest[at + 1 :]))
    positions = composite.broadcast_to(positions, (*rest[:at], positions.shape[at], *rest[at + 1 :]))
    return along_axes.take_along_axis(name, node, positions, at)


def fitting(name: str, shape: tuple[int, ...], positions: tuple[int, ...], axis: int) -> tuple[int, tuple[int, ...]]:
    """The axis that indices of the shape `positions` pick from, and the common shape, of extent 1 there.

    Raises:
        AxisError: there is no such axis.
        ShapeError: the shapes do not fit on the other axes.
    """
    if len(shape) != len(positions):
        raise ShapeError(f"{name}: expected indices of {len(shape)} axes, got shapes {shape} and {positions}")
    at = normalize_axis(name, axis, len(shape))
    try:
        return at, common_shape(name, *[(*s[:at], 1, *s[at + 1 :]) for s in (shape, positions)])
    except ShapeError:
        raise IndexShapeError(
            f"{name}: x and indices must fit on every axis but {at}, got shapes {shape} and {positions}"
        ) from None


@function("compress(condition, a, axis=None, out=None)", method="compress", array="a", casting="unsafe")
def compress(name: str, condition: ArrayLike, a: UOp, axis: int | None) -> UOp:
    """The slices of ``a`` along an axis for which a condition holds. Computes the values of the condition.

    Args:
        condition: one axis, of any dtype: what is not zero holds; positions that it does not reach are left out.
        a: any dtype, any shape.
        axis: axis along which slices are taken; None takes elements of the flattened array.
        out: takes the result.
    Returns:
        dtype of ``a``; shape of ``a``, or one axis, with as many positions at ``axis`` as the condition holds for.
    Raises:
        AxisError: ``axis`` is out of range.
        IndexError: the condition holds for a position that there is not.
        ShapeError: the condition has another number of axes.
        TraceError: inside `jit`, where the condition has no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.compress([True, False, True], xp.asarray([[1, 2, 3], [4, 5, 6]]), axis=1)
        Array([[1, 3],
               [4, 6]], dtype=int64)
    """
    holds = node_of(name, condition)
    if holds.ndim != 1:
        raise ShapeError(f"{name}: expected a condition of one axis, got shape {holds.shape}")
    positions = node_from_numpy(np.flatnonzero(buffer_of_node(holds, name).array), None, False)
    node = a.reshape((a.size,)) if axis is None or not a.ndim else a
    return along_axes.take_on_axis(name, node, positions, normalize_axis(name, 0 if axis is None else axis, node.ndim))


@function("choose(a, choices, out=None, mode='raise')", method="choose", casting="unsafe")
def choose(name: str, a: UOp, choices: Sequence[ArrayLike], mode: str) -> UOp:
    """Of each position the element of the one among several arrays that ``a`` names there.

    Args:
        a: integers or bool.
        choices: arrays of any dtype; their shapes and that of ``a`` can be broadcast together.
        out: takes the result.
        mode: what is done with a number of no choice: "raise" an error, "wrap" it round, or "clip" it to the first or
            the last.
    Returns:
        the promoted dtype; the common shape.
    Raises:
        ChoiceBoundsError: (a ValueError and an IndexError) a number of no choice; found when the values are computed.
        DTypeError: ``a`` has another dtype.
        ShapeError: no choices, or shapes that cannot be broadcast together.
        ValueError: another ``mode``.
    Example:
        >>> import uopc_array as xp
        >>> xp.choose(xp.asarray([1, 0]), [[1, 2], [3, 4]])
        Array([3, 2], dtype=int64)
    """
    check_mode(name, mode)
    if not (is_integer(a.dtype) or is_bool(a.dtype)) or a.dtype is dtypes.uint64:
        raise DTypeError(f"{name}: expected integers that int64 can hold, or bool, got {name_of(a.dtype)}")
    if not isinstance(choices, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # choose(a, b) is easily written
        raise TypeError(f"{name}: expected a sequence of arrays for choices, got {type(choices).__name__}")
    given = list(choices)
    if not given:
        raise ShapeError(f"{name}: expected one choice or more, got none")
    nodes = promote(name, *given) if len(given) > 1 else (node_of(name, given[0]),)
    shape = common_shape(name, a.shape, *[node.shape for node in nodes])
    n = len(nodes)
    numbers = indices_in(name, a.cast(dtypes.int64), n, mode)
    if mode == "raise":
        _check_numbers(name, numbers, n)
        numbers = (numbers < 0).where(n, numbers)  # which is none, where -1 would be the last
    stacked = composite.stack([composite.broadcast_to(node, shape) for node in nodes], 0)
    numbers = composite.broadcast_to(numbers, shape).reshape((1, *shape))
    return along_axes.take_along_axis(name, stacked, numbers, 0).reshape(shape)


def _check_numbers(name: str, numbers: UOp, n: int) -> None:
    values = values_in_memory(numbers)
    if values is not None and values.size and (values.min() < 0 or values.max() >= n):
        found = int(values.min() if values.min() < 0 else values.max())
        raise ChoiceBoundsError(f"{name}: {found} is the number of no choice; there are {n}, from 0 on")
