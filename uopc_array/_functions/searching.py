"""Searching: lazy where the shape of the result does not depend on values."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from uopc_array._array.at_once import bound, known
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import cast_node, node_from_numpy
from uopc_array._array.origins import gather
from uopc_array._array.promotion import promote, promote_dtypes
from uopc_array._array.realize import buffer_of_node
from uopc_array._array.tracing import records
from uopc_array._functions.arguments import ArrayLike, as_real, check_choice
from uopc_array._functions.public import function
from uopc_core import UOp, composite, dtypes, is_integer, name_of, searchsorted_vector
from uopc_core.errors import DTypeError, ShapeError, SorterShapeError
from uopc_core.numerics.axes import common_shape

__all__: list[str] = []

A = TypeVar("A", bound=Handle)


def _places_at_once(cls: type[A], a: Any) -> tuple[A, ...] | None:
    """`Description.at_once` of `nonzero`."""
    value = known(a) if type(a) is cls else None
    if value is None or not value.ndim or not bound() or records():
        return None
    return tuple([cls._from_value(index.astype(np.int64, order="C")) for index in np.nonzero(value)])


@function("nonzero(a)", method="nonzero", gives="array", looks_at_values=True, at_once=_places_at_once)
def nonzero(name: str, a: UOp) -> tuple[UOp, ...]:
    """Indices of the elements that are not zero, in row-major order. Computes the values of ``a``.

    Args:
        a: any dtype, one axis or more.
    Returns:
        one int64 array of shape ``(K,)`` for each axis, K the number of elements that are not zero.
    Raises:
        ShapeError: ``a`` has no axes.
        TraceError: inside `jit`, where there are no values.
    Example:
        >>> import uopc_array as xp
        >>> xp.nonzero(xp.asarray([0, 3, 0, 5]))
        (Array([1, 3], dtype=int64),)
    """
    if a.ndim == 0:
        raise ShapeError(f"{name}: expected one axis or more, got an array of shape (); reshape it to (1,) first")
    indices = np.nonzero(buffer_of_node(a, name).array)
    return tuple([node_from_numpy(index.astype(np.int64, order="C", copy=False), None, False) for index in indices])


@function("searchsorted(a, v, side='left', sorter=None)", method="searchsorted")
def searchsorted(name: str, a: UOp, v: UOp, side: str, sorter: UOp | None) -> UOp:
    """Indices in a sorted vector before which values would be inserted to keep it sorted.

    Args:
        a: a real dtype, one axis, sorted in ascending order, nan last.
        v: values, an array or a Python scalar.
        side: "left" gives the first such index, "right" the last.
        sorter: integers that sort ``a``, as from `argsort`.
    Returns:
        int64; shape of ``v``.
    Raises:
        ShapeError: ``a`` or ``sorter`` is no vector of the same length.
        DTypeError: complex values, or a ``sorter`` of no integer dtype.
        SorterShapeError: (a TypeError and a ValueError) ``sorter`` is no vector.
        SorterBoundsError: (a ValueError and an IndexError) ``sorter`` names an index outside ``a``; found when the
            values are computed.
        ValueError: another ``side``.
    Example:
        >>> import uopc_array as xp
        >>> xp.searchsorted(xp.asarray([1, 3, 5]), xp.asarray([0, 3, 9]))
        Array([0, 1, 3], dtype=int64)
    """
    check_choice(name, "side", side, ("left", "right"))
    dtype = promote_dtypes(a.dtype, v.dtype)
    node, values = cast_node(a, dtype), cast_node(v, dtype)
    as_real(name, node)
    if node.ndim != 1:
        raise ShapeError(f"{name}: expected a to have one axis, got shape {node.shape}")
    if sorter is not None:
        node = gather(name, node, _sorter(name, sorter, node))
    return searchsorted_vector(node, values, side)


def _sorter(name: str, indices: UOp, node: UOp) -> UOp:
    if not is_integer(indices.dtype):
        raise DTypeError(f"{name}: expected a sorter of an integer dtype, got {name_of(indices.dtype)}")
    if indices.ndim != 1:
        raise SorterShapeError(f"{name}: expected a sorter of one axis, got shape {indices.shape}")
    if indices.shape != node.shape:
        raise ShapeError(f"{name}: sorter must have the shape of a, got {indices.shape} and {node.shape}")
    return composite.as_indices(indices) if indices.dtype is dtypes.uint64 else indices


@function("where(condition, x=None, y=None, /)", gives="array")
def where(name: str, condition: UOp, x: ArrayLike | None, y: ArrayLike | None) -> UOp | tuple[UOp, ...]:
    """``x`` where the condition holds, else ``y``; of a condition alone, where it holds, as `nonzero` does.

    Args:
        condition: bool, or any dtype of which what is not zero holds.
        x: values, an array or a Python scalar; the three shapes can be broadcast together.
        y: likewise.
    Returns:
        the promoted dtype of ``x`` and ``y``; the common shape. The branch not taken never reaches the derivative.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
        TypeError: one of ``x`` and ``y`` is missing.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.asarray([-1.0, 2.0])
        >>> xp.where(x > 0, x, 0.0)
        Array([0., 2.], dtype=float64)
    """
    if x is None and y is None:
        return nonzero(name, condition)
    if x is None or y is None:
        raise TypeError(f"{name}: expected both x and y, or neither")
    chosen = condition.cast(dtypes.bool)
    first, second = promote(name, x, y)
    if chosen.shape != first.shape:
        shape = common_shape(name, chosen.shape, first.shape)
        chosen, first, second = [composite.broadcast_to(node, shape) for node in (chosen, first, second)]
    return chosen.where(first, second)
