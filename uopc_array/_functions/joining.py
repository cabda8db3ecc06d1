"""Arrays joined along an axis that they have, or along a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from uopc_array._array.nodes import as_node, is_scalar, to_operand
from uopc_array._array.promotion import check_cast, check_casting, result_dtype
from uopc_array._functions.arguments import ArrayLike, known, normalize_axis
from uopc_array._functions.public import function
from uopc_core import UOp, as_dtype, composite
from uopc_core.errors import ShapeError, shortened

__all__: list[str] = []


def _nodes_in_one_dtype(name: str, arrays: Sequence[ArrayLike], dtype: Any, casting: str, weak: bool) -> list[UOp]:
    """The nodes of `arrays` in `dtype`, or in their promoted one, to which Python's numbers only give way if they are
    `weak`.
    """
    check_casting(name, casting)
    if not isinstance(arrays, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # concat(x, y) is easily written
        raise TypeError(f"{name}: expected a sequence of arrays, got {type(arrays).__name__}")
    if getattr(arrays, "ndim", 1) == 0:
        raise TypeError(f"{name}: expected a sequence of arrays, got one of shape ()")
    arrays = list(arrays)
    if len(arrays) == 0:
        raise ShapeError(f"{name}: expected one array or more, got none")
    try:
        operands = [to_operand(x, name) if weak else as_node(x, name=name) for x in arrays]
        if dtype is None:
            wanted = result_dtype(*operands, name=name)
        else:
            wanted = as_dtype(dtype, name)
            for x in operands:
                check_cast(name, result_dtype(x, wanted) if is_scalar(x) else as_node(x).dtype, wanted, casting)
        return [as_node(x, wanted, name=name) for x in operands]
    except Exception as error:
        raise shortened(error) from None


def _joining_axis(name: str, axis: Any) -> Any:
    """
    Raises:
        TypeError: `axis` is an array that should stand among those that are joined.
    """
    if axis is not None and getattr(axis, "ndim", 0):
        raise TypeError(
            f"{name}: expected an integer for axis, got an array of shape {axis.shape}; put the arrays that are joined "
            f"into a tuple, {name}((a, b))"
        )
    return known(name, "axis", axis)


def _joined(name: str, nodes: Sequence[UOp], axis: int | None) -> UOp:
    """Nodes of one dtype joined along an axis, or flattened if it is None."""
    if axis is None:
        return composite.concat([node.reshape((node.size,)) for node in nodes], 0)
    at = normalize_axis(name, axis, nodes[0].ndim)
    if len({(node.ndim, node.shape[:at], node.shape[at + 1 :]) for node in nodes}) > 1:
        shapes = ", ".join([str(node.shape) for node in nodes])
        remedy = "; x[None] has one axis more" if len({node.ndim for node in nodes}) > 1 else ""
        raise ShapeError(f"{name}: shapes must agree on every axis but {at}, got {shapes}{remedy}")
    return composite.concat(nodes, at)


@function("concat(arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind')", "concatenate")
def concat(name: str, arrays: Sequence[ArrayLike], axis: int | None, dtype: Any, casting: str) -> UOp:
    """Arrays joined along an axis that they have.

    Args:
        arrays: any dtypes; shapes that agree on every axis but ``axis``.
        axis: axis along which to join; None joins the flattened arrays.
        out: takes the result.
        dtype: dtype wanted; None is the promoted one.
        casting: which conversions to ``dtype`` and ``out`` are allowed: "no", "equiv", "safe", "same_kind" or "unsafe".
    Returns:
        ``dtype``; extents as given, added up at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: an array may not be converted to ``dtype``.
        ShapeError: no arrays, or shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.concat([xp.asarray([1, 2]), xp.asarray([3])])
        Array([1, 2, 3], dtype=int64)
    """
    along = _joining_axis(name, axis)
    return _joined(name, _nodes_in_one_dtype(name, arrays, dtype, casting, weak=True), along)


@function("append(arr, values, axis=None)")
def append(name: str, arr: ArrayLike, values: ArrayLike, axis: int | None) -> UOp:
    """``values`` put behind ``arr``.

    Args:
        arr: any dtype, any shape.
        values: any dtype; agrees with ``arr`` on every axis but ``axis``.
        axis: axis along which to join; None joins the flattened arrays.
    Returns:
        the promoted dtype; extents added up at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.append(xp.asarray([1, 2]), 3)
        Array([1, 2, 3], dtype=int64)
    """
    along = _joining_axis(name, axis)
    return _joined(name, _nodes_in_one_dtype(name, [arr, values], None, "same_kind", weak=False), along)


@function("stack(arrays, axis=0, out=None, *, dtype=None, casting='same_kind')")
def stack(name: str, arrays: Sequence[ArrayLike], axis: int, dtype: Any, casting: str) -> UOp:
    """Arrays joined along a new axis.

    Args:
        arrays: any dtypes, one shape.
        axis: position of the new axis in the result.
        out: takes the result.
        dtype: dtype wanted; None is the promoted one.
        casting: which conversions to ``dtype`` and ``out`` are allowed.
    Returns:
        ``dtype``; the shape with the number of arrays put in at ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: an array may not be converted to ``dtype``.
        ShapeError: no arrays, or different shapes.
    Example:
        >>> import uopc_array as xp
        >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=1)
        Array([[1, 3],
               [2, 4]], dtype=int64)
    """
    nodes = _nodes_in_one_dtype(name, arrays, dtype, casting, weak=False)
    if len({node.shape for node in nodes}) > 1:
        shapes = ", ".join([str(node.shape) for node in nodes])
        raise ShapeError(f"{name}: expected one shape, got {shapes}; concat joins arrays of different extents")
    return composite.stack(nodes, normalize_axis(name, axis, nodes[0].ndim + 1))


# ---------------------------------------------------------------------------------------------- by rows and columns


def _with_axes(name: str, tup: Sequence[ArrayLike], least: int, dtype: Any, casting: str) -> list[UOp]:
    nodes = _nodes_in_one_dtype(name, tup, dtype, casting, weak=False)
    return [with_axes(node, least) for node in nodes]


def with_axes(node: UOp, least: int) -> UOp:
    """Axes put in front, and for three of a matrix one behind, as NumPy does."""
    if least == 3 and 0 < node.ndim < 3:
        return node.reshape((1, node.size, 1) if node.ndim == 1 else (*node.shape, 1))
    return node.reshape((1,) * (least - node.ndim) + node.shape)


@function("vstack(tup, *, dtype=None, casting='same_kind')")
def vstack(name: str, tup: Sequence[ArrayLike], dtype: Any, casting: str) -> UOp:
    """Arrays joined along axis 0, vectors as rows.

    Args:
        tup: any dtypes; shapes that agree on every axis but the first.
        dtype: dtype wanted; None is the promoted one.
        casting: which conversions to ``dtype`` are allowed.
    Returns:
        ``dtype``; two axes or more.
    Raises:
        DTypeError: an array may not be converted to ``dtype``.
        ShapeError: no arrays, or shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.vstack(([1, 2], [3, 4]))
        Array([[1, 2],
               [3, 4]], dtype=int64)
    """
    return _joined(name, _with_axes(name, tup, 2, dtype, casting), 0)


@function("hstack(tup, *, dtype=None, casting='same_kind')")
def hstack(name: str, tup: Sequence[ArrayLike], dtype: Any, casting: str) -> UOp:
    """Arrays joined along axis 1, vectors along their only axis.

    Args:
        tup: any dtypes; shapes that agree on every other axis.
        dtype: dtype wanted; None is the promoted one.
        casting: which conversions to ``dtype`` are allowed.
    Returns:
        ``dtype``; one axis or more.
    Raises:
        DTypeError: an array may not be converted to ``dtype``.
        ShapeError: no arrays, or shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.hstack(([1, 2], [3]))
        Array([1, 2, 3], dtype=int64)
    """
    nodes = _with_axes(name, tup, 1, dtype, casting)
    return _joined(name, nodes, 0 if nodes[0].ndim == 1 else 1)


@function("dstack(tup)")
def dstack(name: str, tup: Sequence[ArrayLike]) -> UOp:
    """Arrays joined along axis 2.

    Args:
        tup: any dtypes; shapes that agree on every other axis.
    Returns:
        the promoted dtype; three axes or more.
    Raises:
        ShapeError: no arrays, or shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.dstack(([1, 2], [3, 4])).shape
        (1, 2, 2)
    """
    return _joined(name, _with_axes(name, tup, 3, None, "same_kind"), 2)


@function("column_stack(tup)")
def column_stack(name: str, tup: Sequence[ArrayLike]) -> UOp:
    """Vectors as the columns of a matrix.

    Args:
        tup: any dtypes; vectors of one length, or matrices with as many rows.
    Returns:
        the promoted dtype; two axes.
    Raises:
        ShapeError: no arrays, or shapes that do not agree.
    Example:
        >>> import uopc_array as xp
        >>> xp.column_stack(([1, 2], [3, 4]))
        Array([[1, 3],
               [2, 4]], dtype=int64)
    """
    nodes = _nodes_in_one_dtype(name, tup, None, "same_kind", weak=False)
    return _joined(name, [node.reshape((node.size, 1)) if node.ndim < 2 else node for node in nodes], 1)
