"""The same elements in another shape, in rows or in columns, and broadcast: views where NumPy's are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import known
from uopc_array._array.lenses import MoveLens, SpreadLens
from uopc_array._array.numbers import inferred_shape
from uopc_array._array.programs import view_of_known
from uopc_array._array.view import View
from uopc_array._functions.arguments import (
    ArrayLike,
    ShapeLike,
    array_of,
    check_shape,
    frame_of,
    seen,
    shape_of,
    wrap_array,
)
from uopc_array._functions.host import call_host
from uopc_array._functions.public import function, method
from uopc_core import TRACED, TRACKED, Ops, UOp
from uopc_core.errors import ShapeError
from uopc_core.numerics.axes import common_shape

__all__: list[str] = []

# ---------------------------------------------------------------------------------------------- rows and columns


@function("reshape(a, /, shape, order='C', *, copy=None)", method="reshape", of_method="*shape, order='C', copy=None")
def reshape(name: str, a: ArrayLike, shape: ShapeLike, order: str, copy: bool | None) -> Array:
    """The elements of ``a`` in another shape.

    Args:
        a: any dtype, any shape.
        shape: extents, an int or a sequence of them; one may be -1 and is inferred.
        order: "C" reads the elements and puts them in rows, "F" in columns; "A" is "F" where NumPy's array would lie
            in columns.
        copy: True for elements of its own; False where they are to be those of ``a``; None shares them where NumPy
            does.
    Returns:
        dtype of ``a``; ``shape``.
    Raises:
        ShapeError: the number of elements differs.
        ValueError: another order; or ``copy=False`` where there is no way without one.
    Example:
        >>> import uopc_array as xp
        >>> xp.reshape(xp.arange(4), (2, -1))
        Array([[0, 1],
               [2, 3]], dtype=int64)
        >>> xp.arange(4).reshape(2, 2, order="F")
        Array([[0, 2],
               [1, 3]], dtype=int64)
    """
    x = array_of(name, a)
    if type(order) is str and order == "C" and copy is None:
        view = view_of_known(x, _in_shape, name, (shape,))
        return x._seen(x._frame(), _in_shape(name, x._frame(), shape)) if view is None else view
    extents = _in_shape(name, x._frame(), shape).arg
    order = _order(name, order, "CFA")
    if copy:
        x = x._same_kind(x._uop)
    in_columns = order == "F" or (order == "A" and _read_order(x, order) != tuple(range(x.ndim)))
    before = _reversed(x) if in_columns else x
    lens = MoveLens(Ops.RESHAPE, extents[::-1] if in_columns else extents)
    if copy is False and not before._keeps_memory(lens):
        raise ValueError(f"{name}: shape {x.shape} cannot become {extents} without a copy; leave copy=False out")
    out = seen(before, before._frame(), lens)
    return _reversed(out) if in_columns else out


def _in_shape(name: str, node: UOp, shape: ShapeLike) -> MoveLens:
    extents = inferred_shape(name, node, shape)
    check_shape(name, extents)
    return MoveLens(Ops.RESHAPE, extents)


def _order(name: str, order: Any, choices: str) -> str:
    """One of these letters, large or small; the first for None.

    Raises:
        ValueError: it is another string.
        TypeError: it is no string.
    """
    if order is None:
        return choices[0]
    *first, last = [f'"{choice}"' for choice in choices]
    if not isinstance(order, str):
        raise TypeError(f"{name}: expected order {', '.join(first)} or {last}, got {order!r:.60}")
    if len(order) != 1 or order.upper() not in choices:
        raise ValueError(f"{name}: expected order {', '.join(first)} or {last}, got {order!r}")
    return order.upper()


def _reversed(x: Array) -> Array:
    return x._moved(x._frame(), Ops.PERMUTE, range(x.ndim)[::-1])


def _read_order(x: Array, order: str) -> tuple[int, ...]:
    """The axes from the slowest to the fastest when the elements are read in one row."""
    axes = tuple(range(x.ndim))
    if order == "F":
        return axes[::-1]
    if order == "C" or not isinstance(x._alias, View):
        return axes
    layout = x._layout()
    if layout.flags.c_contiguous or layout.flags.f_contiguous:
        return axes if layout.flags.c_contiguous else axes[::-1]
    return axes if order == "A" else tuple(sorted(axes, key=lambda i: -abs(layout.strides[i])))


def _lined_up(name: str, x: Array, order: str) -> Array:
    """`x` with its axes in the order in which the elements are read."""
    axes = _read_order(x, _order(name, order, "CFAK"))
    return x if axes == tuple(range(len(axes))) else x._moved(x._frame(), Ops.PERMUTE, axes)


@function("ravel(a, order='C')", method="ravel")
def ravel(name: str, a: ArrayLike, order: str) -> Array:
    """The elements of ``a`` in one row: a view where they lie in that order, else an array of its own.

    Args:
        a: any dtype, any shape.
        order: in which the elements are read: "C" by rows, "F" by columns, "A" by columns where NumPy's array would lie
            so, "K" as they lie.
    Returns:
        dtype of ``a``; shape ``(a.size,)``.
    Raises:
        ValueError: another order.
    Example:
        >>> import uopc_array as xp
        >>> xp.ravel(xp.asarray([[1, 2], [3, 4]]))
        Array([1, 2, 3, 4], dtype=int64)
    """
    if (
        type(order) is str
        and order == "C"
        and type(a) is Array
        and (values := known(a)) is not None
        and values.flags.c_contiguous
    ):
        view = view_of_known(a, _in_shape, name, (-1,))
        if view is not None:
            return view
    x = _lined_up(name, array_of(name, a), order)
    lens = MoveLens(Ops.RESHAPE, (x.size,))
    if isinstance(x._alias, View) and not x._layout().flags.c_contiguous:
        return wrap_array(lens.on_node(x._uop))
    return x._seen(x._frame(), lens)


@method("flatten(a, order='C')")
def flatten(name: str, a: ArrayLike, order: str) -> Array:
    """The elements in one row, in an array of its own; the order is that of `ravel`."""
    x = _lined_up(name, array_of(name, a), order)
    values = known(x)
    return wrap_array(x._uop.reshape((x.size,))) if values is None else Array._from_value(values.flatten())


# ---------------------------------------------------------------------------------------------- more axes


def _numpys_atleast(public: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's arrays for ours: SciPy's compiled optimisers convert what they are given with these three.

    What is traced or differentiated stays in the graph.
    """

    def route(*arys: Any) -> Any:
        if any([isinstance(x, Array) and x._uop.flags & (TRACED | TRACKED) for x in arys]):
            return public(*arys)
        native = getattr(np, public.__name__)
        return native(*[x.to_numpy() if isinstance(x, Array) else x for x in arys])

    return route


def _each(name: str, arrays: Sequence[ArrayLike], least: int) -> Any:
    out = tuple([at_least(name, x, least) for x in arrays])
    return out[0] if len(out) == 1 else out


def at_least(name: str, a: ArrayLike, least: int) -> Array:
    """Axes put in front, and for three of a matrix one behind, as NumPy does."""
    node = frame_of(name, a)
    if least == 3 and 0 < node.ndim < 3:
        return seen(a, node, MoveLens(Ops.RESHAPE, (1, node.size, 1) if node.ndim == 1 else (*node.shape, 1)))
    if node.ndim >= least:
        return array_of(name, a)
    return seen(a, node, MoveLens(Ops.RESHAPE, (1,) * (least - node.ndim) + node.shape))


@function("atleast_1d(*arys)", gives="view", route=_numpys_atleast)
def atleast_1d(name: str, arys: Sequence[ArrayLike]) -> Any:
    """Each array with one axis at least, itself or a view.

    Args:
        arys: any dtypes, any shapes.
    Returns:
        an array, or a tuple of several.
    Example:
        >>> import uopc_array as xp
        >>> xp.atleast_1d(2.0)
        Array([2.], dtype=float64)
    """
    return _each(name, arys, 1)


@function("atleast_2d(*arys)", gives="view", route=_numpys_atleast)
def atleast_2d(name: str, arys: Sequence[ArrayLike]) -> Any:
    """Each array with two axes at least, new ones in front; itself or a view.

    Args:
        arys: any dtypes, any shapes.
    Returns:
        an array, or a tuple of several.
    Example:
        >>> import uopc_array as xp
        >>> xp.atleast_2d(xp.arange(3)).shape
        (1, 3)
    """
    return _each(name, arys, 2)


@function("atleast_3d(*arys)", gives="view", route=_numpys_atleast)
def atleast_3d(name: str, arys: Sequence[ArrayLike]) -> Any:
    """Each array with three axes at least, itself or a view; a vector stands in the middle, a matrix in front.

    Args:
        arys: any dtypes, any shapes.
    Returns:
        an array, or a tuple of several.
    Example:
        >>> import uopc_array as xp
        >>> xp.atleast_3d(xp.arange(3)).shape
        (1, 3, 1)
    """
    return _each(name, arys, 3)


# ---------------------------------------------------------------------------------------------- broadcasting


@function("broadcast_shapes(*args)")
def broadcast_shapes(name: str, args: Sequence[ShapeLike]) -> tuple[int, ...]:
    """The shape to which these shapes are broadcast together.

    Args:
        args: any number of shapes.
    Returns:
        the common shape, () of none.
    Raises:
        ShapeError: two extents of an axis differ and neither is 1.
    Example:
        >>> import uopc_array as xp
        >>> xp.broadcast_shapes((3, 1), (4,))
        (3, 4)
    """
    return common_shape(name, *[shape_of(name, shape) for shape in args])


@function("broadcast_to(array, shape, subok=False)", gives="view")
def broadcast_to(name: str, array: ArrayLike, shape: ShapeLike) -> Array:
    """``array`` broadcast to a shape: a view, of which several elements may be one, so that it is read-only.

    Args:
        array: any dtype, any shape.
        shape: extents, an int or a sequence of them.
        subok: without effect.
    Returns:
        dtype of ``array``; ``shape``.
    Raises:
        ShapeError: ``array`` cannot be broadcast to it.
    Example:
        >>> import uopc_array as xp
        >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
        Array([[1, 2],
               [1, 2]], dtype=int64)
    """
    return _spread(name, array_of(name, array), shape)


def _spread(name: str, x: Array, wanted: ShapeLike) -> Array:
    """The read-only view of `x` that has the shape `wanted`, also of a number an array."""
    view = view_of_known(x, _spread_to, name, (wanted,))
    if view is not None:
        return view
    x = wrap_array(x._uop) if x._is_number else x
    return x._seen(x._frame(), _spread_to(name, x._frame(), wanted))


def _spread_to(name: str, node: UOp, shape: ShapeLike) -> SpreadLens:
    wanted, given = shape_of(name, shape), node.shape
    extents = wanted[max(len(wanted) - len(given), 0) :]
    if len(given) > len(wanted) or any([n not in (1, m) for n, m in zip(given, extents, strict=True)]):
        raise ShapeError(f"{name}: shape {given} cannot be broadcast to {wanted}; only axes of extent 1 grow")
    return SpreadLens(wanted)


def _numpys_broadcast_arrays(public: Callable[..., Any]) -> Callable[..., Any]:
    """In the graph, unless None or text takes part, as where matplotlib calls it."""

    def route(*args: Any, subok: bool = False) -> Any:
        if all([isinstance(x, Array | np.ndarray | np.number | int | float | complex) for x in args]):
            return public(*args)
        return call_host("numpy.broadcast_arrays", np.broadcast_arrays, args, {})

    return route


@function("broadcast_arrays(*args, subok=False)", gives="view", route=_numpys_broadcast_arrays)
def broadcast_arrays(name: str, args: Sequence[ArrayLike]) -> tuple[Array, ...]:
    """Arrays broadcast against each other: themselves where they have one shape, else read-only views.

    Args:
        args: any dtypes, any shapes.
        subok: without effect.
    Returns:
        each array in its dtype and the common shape.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> [x.shape for x in xp.broadcast_arrays(xp.zeros((2, 1)), xp.zeros(3))]
        [(2, 3), (2, 3)]
    """
    arrays = [array_of(name, x) for x in args]
    shape = common_shape(name, *[x.shape for x in arrays])
    if all([x.shape == shape for x in arrays]):
        return tuple([wrap_array(x._uop) if x._is_number else x for x in arrays])
    return tuple([_spread(name, x, shape) for x in arrays])
