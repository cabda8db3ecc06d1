"""Creation functions of the standard; ranges and constants are nodes without memory that fuse into what uses them."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import as_node, cast_node, const_node, default_dtype, is_scalar, node_from_numpy
from uopc_array._array.promotion import broadcast as broadcast_shape
from uopc_array._array.promotion import promote_floating
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    ArrayLike,
    ShapeLike,
    check_choice,
    check_device,
    check_shape,
    integer,
    node_of,
    normalize_axis,
    number,
    optional_dtype,
    shape_of,
    wrap,
    wrap_array,
)
from uopc_core import DType, Ops, UOp, composite, dtypes, is_bool, is_complex, is_integer
from uopc_core.errors import DTypeError, ShapeError, ZeroStepError, shortened

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def asarray(obj: ArrayLike, /, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> Array:
    """``obj`` as an array.

    Args:
        obj: an array, a Python scalar, nested sequences of scalars and arrays (which are stacked, lazily and
            differentiably), or an object that knows the buffer protocol, ``__array__`` or DLPack.
        dtype: dtype wanted; None infers it.
        device: "cpu" or None.
        copy: True always makes a new array; False never copies memory and raises if it had to; None copies what comes
            from outside, since later changes there must not be seen, and returns arrays as they are.
    Returns:
        ``dtype`` or the inferred one; shape of ``obj``.
    Raises:
        ShapeError: sequences of unequal lengths.
        DTypeError: values that are no numbers, or complex ones to become real.
        OverflowError: a Python int that the dtype cannot hold.
        ValueError: ``copy`` is False and a copy would be needed.
    Example:
        >>> import uopc_array as xp
        >>> xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)
        Array([[1., 2.],
               [3., 4.]], dtype=float32)
    """
    check_device("asarray", device)
    wanted = optional_dtype("asarray", dtype)
    if isinstance(obj, Array) and not copy:
        if (wanted is None or wanted is obj.dtype) and not obj._is_number:
            return obj
        if copy is False and wanted not in (None, obj.dtype):
            raise ValueError(f"asarray: copy=False cannot convert {obj.dtype.name} to {wanted.name}; leave copy out")
    try:
        return wrap_array(as_node(obj, wanted, copy))
    except Exception as error:
        raise shortened(error) from None


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array with the values of an object that knows DLPack.

    Args:
        x: an object with ``__dlpack__`` and ``__dlpack_device__``.
        device: "cpu" or None.
        copy: False shares the memory of ``x`` or raises; True and None copy.
    Returns:
        dtype and shape of ``x``.
    Raises:
        BufferError: ``x`` cannot be exported, or not be shared with ``copy=False``.
        AttributeError: ``x`` does not know DLPack.
    Example:
        >>> import numpy as np
        >>> import uopc_array as xp
        >>> xp.from_dlpack(np.asarray([1.0, 2.0]))
        Array([1., 2.], dtype=float64)
    """
    check_device("from_dlpack", device)
    if isinstance(x, Array):
        return wrap_array(x._uop)
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(
            f"from_dlpack: expected an object with __dlpack__, got {type(x).__name__}; asarray takes numbers and lists"
        )
    try:
        values: np.ndarray[Any, Any] = np.from_dlpack(x)
    except BufferError as error:
        raise BufferError(f"from_dlpack: {error}") from None
    if copy is False and not (values.flags.c_contiguous and values.flags.aligned):
        raise BufferError(
            f"from_dlpack: memory of shape {values.shape} with strides {values.strides} is not in C order, or not "
            "aligned, and cannot be shared; leave copy=False out"
        )
    try:
        return wrap_array(node_from_numpy(values, None, copy, "from_dlpack"))
    except ValueError as error:
        raise BufferError(f"from_dlpack: {error}") from None


# ---------------------------------------------------------------------------------------------- constants


def full(shape: ShapeLike, fill_value: ArrayLike, dtype: Any = None, *, device: Any = None) -> Array:
    """An array filled with one value.

    Args:
        shape: extents, an int or a sequence of them.
        fill_value: a Python scalar, or an array that can be broadcast to ``shape``.
        dtype: dtype wanted; None takes that of ``fill_value``.
        device: "cpu" or None.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent, or a value that cannot be broadcast.
        OverflowError: a Python int that the dtype cannot hold.
    Example:
        >>> import uopc_array as xp
        >>> xp.full((2, 2), 7)
        Array([[7, 7],
               [7, 7]], dtype=int64)
    """
    check_device("full", device)
    return _full("full", shape_of("full", shape), fill_value, optional_dtype("full", dtype))


def _full(name: str, shape: tuple[int, ...], value: ArrayLike, dtype: DType | None) -> Array:
    if is_scalar(value):
        wanted = default_dtype(value) if dtype is None else dtype
        if isinstance(value, complex) and not is_complex(wanted):
            raise DTypeError(f"{name}: a complex fill value needs a complex dtype, got {wanted.name}")
        return wrap_array(const_node(name, value, wanted, shape))
    try:
        node = as_node(value, dtype, name=name)
    except Exception as error:
        raise shortened(error) from None
    if broadcast_shape(name, node.shape, shape) != shape:
        raise ShapeError(f"{name}: a fill value of shape {node.shape} cannot be broadcast to {shape}")
    return wrap_array(composite.broadcast_to(node, shape))


def zeros(shape: ShapeLike, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of zeros.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted; None is float64.
        device: "cpu" or None.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.zeros(3)
        Array([0., 0., 0.], dtype=float64)
    """
    check_device("zeros", device)
    return wrap_array(UOp.const(0, optional_dtype("zeros", dtype) or dtypes.float64, shape_of("zeros", shape)))


def ones(shape: ShapeLike, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of ones.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted; None is float64.
        device: "cpu" or None.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.ones((1, 2))
        Array([[1., 1.]], dtype=float64)
    """
    check_device("ones", device)
    return wrap_array(UOp.const(1, optional_dtype("ones", dtype) or dtypes.float64, shape_of("ones", shape)))


def empty(shape: ShapeLike, dtype: Any = None, *, device: Any = None) -> Array:
    """An array whose values do not matter; they are zeros, as memory is only taken when values are written.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted; None is float64.
        device: "cpu" or None.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.empty((2, 3)).shape
        (2, 3)
    """
    check_device("empty", device)
    return wrap_array(UOp.const(0, optional_dtype("empty", dtype) or dtypes.float64, shape_of("empty", shape)))


def full_like(x: Array, /, fill_value: ArrayLike, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of the shape of ``x`` filled with one value.

    Args:
        x: any dtype, any shape.
        fill_value: a Python scalar, or an array that can be broadcast to the shape.
        dtype: dtype wanted; None takes that of ``x``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``x``.
    Raises:
        ShapeError: a value that cannot be broadcast.
        OverflowError: a Python int that the dtype cannot hold.
    Example:
        >>> import uopc_array as xp
        >>> xp.full_like(xp.zeros(2), 5)
        Array([5., 5.], dtype=float64)
    """
    check_device("full_like", device)
    node = node_of("full_like", x)
    return _full("full_like", node.shape, fill_value, optional_dtype("full_like", dtype) or node.dtype)


def zeros_like(x: Array, /, dtype: Any = None, *, device: Any = None) -> Array:
    """Zeros of the shape of ``x``.

    Args:
        x: any dtype, any shape.
        dtype: dtype wanted; None takes that of ``x``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.zeros_like(xp.asarray([1, 2]))
        Array([0, 0], dtype=int64)
    """
    check_device("zeros_like", device)
    node = node_of("zeros_like", x)
    return wrap_array(UOp.const(0, optional_dtype("zeros_like", dtype) or node.dtype, node.shape))


def ones_like(x: Array, /, dtype: Any = None, *, device: Any = None) -> Array:
    """Ones of the shape of ``x``.

    Args:
        x: any dtype, any shape.
        dtype: dtype wanted; None takes that of ``x``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.ones_like(xp.asarray([1, 2]))
        Array([1, 1], dtype=int64)
    """
    check_device("ones_like", device)
    node = node_of("ones_like", x)
    return wrap_array(UOp.const(1, optional_dtype("ones_like", dtype) or node.dtype, node.shape))


def empty_like(x: Array, /, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of the shape of ``x`` whose values do not matter; see `empty`.

    Args:
        x: any dtype, any shape.
        dtype: dtype wanted; None takes that of ``x``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.empty_like(xp.asarray([1, 2])).dtype
        dtype('int64')
    """
    check_device("empty_like", device)
    node = node_of("empty_like", x)
    return wrap_array(UOp.const(0, optional_dtype("empty_like", dtype) or node.dtype, node.shape))


# ---------------------------------------------------------------------------------------------- ranges


# what has a derivative in place of `arange`, whose length depends on its arguments
_RAMP = ", or compute start + step * xp.arange(n)"


def arange(
    start: ArrayLike,
    /,
    stop: ArrayLike | None = None,
    step: ArrayLike = 1,
    dtype: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Numbers from ``start`` up to but without ``stop``, ``step`` apart.

    Args:
        start: first number; the end of the range, from 0, if ``stop`` is None.
        stop: end of the range, excluded up to rounding.
        step: distance, not 0; may be negative.
        dtype: dtype wanted; None is int64 if all three are ints, else float64.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape ``(ceil((stop - start) / step),)``, or ``(0,)`` where that is negative.
    Raises:
        ZeroStepError: (a ValueError and a ZeroDivisionError) ``step`` is 0.
        DTypeError: more than two numbers of bool.
    Example:
        >>> import uopc_array as xp
        >>> xp.arange(1, 10, 3)
        Array([1, 4, 7], dtype=int64)
    """
    check_device("arange", device)
    given = {"start": start, "stop": stop, "step": step}
    if stop is None:
        given |= {"start": 0, "stop": start}
    first, last, gap = [number("arange", what, value, _RAMP) for what, value in given.items()]
    whole = all(isinstance(value, int) for value in (first, last, gap))
    wanted = optional_dtype("arange", dtype) or (dtypes.int64 if whole else dtypes.float64)
    if gap == 0:
        raise ZeroStepError(f"arange: expected a step other than 0, got start={first}, stop={last}, step={gap}")
    n = max(int(-((first - last) // gap)) if whole else _count(first, last, gap), 0)
    check_shape("arange", (n,))
    if is_bool(wanted) and n > 2:
        raise DTypeError(f"arange: expected two numbers at most for bool, got {n}")
    real = dtypes.float64 if is_complex(wanted) else dtypes.int64 if is_bool(wanted) else wanted
    return wrap(_ramp(n, first, gap if n > 1 else 0, real).cast(wanted))


def _count(first: float, last: float, gap: float) -> int:
    """How many numbers `arange` gives.

    Raises:
        ShapeError: a number is nan or infinite.
    """
    distance = last - first
    n = distance / gap
    if not math.isfinite(n):
        raise ShapeError(f"arange: expected finite numbers, got start={first}, stop={last}, step={gap}")
    if n == 0 and distance != 0:  # less than the least number, such as any distance over an infinite gap
        return int((distance > 0) == (gap > 0))
    return math.ceil(n)


def _ramp(n: int, first: int | float, gap: int | float, dtype: DType) -> UOp:
    """``first + i * gap`` for n numbers; floats are computed in float64 and rounded once."""
    if is_integer(dtype):
        return _integer_ramp(n, int(first), int(first + gap) - int(first), dtype)
    row = composite.iota((n,), 0).cast(dtypes.float64)
    return (row * float((first + gap) - first) + float(first)).cast(dtype)


def _integer_ramp(n: int, first: int, gap: int, dtype: DType) -> UOp:
    """Arithmetic modulo 2**64 gives every number that `dtype` holds, whatever the gap."""
    limits = np.iinfo(dtype)
    for value in (first, first + (n - 1) * gap) if n else ():
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"arange: Python integer {value} out of bounds for {dtype.name}")
    wide, low = (dtypes.uint64, 0) if dtype is dtypes.uint64 else (dtypes.int64, -(2**63))
    row = composite.iota((n,), 0, wide)
    if gap != 1:
        row = row * ((gap - low) % 2**64 + low)
    if first != 0:
        row = row + ((first - low) % 2**64 + low)
    return row.cast(dtype)


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    /,
    num: int = 50,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
    axis: int = 0,
) -> Array:
    """``num`` numbers from ``start`` to ``stop``, equally far apart.

    Args:
        start: first number, a Python scalar or an array.
        stop: last number, likewise; left out of the result unless ``endpoint``.
        num: how many.
        dtype: dtype wanted; None is the promoted one of the ends, float64 for integers and bool.
        device: "cpu" or None.
        endpoint: whether ``stop`` is one of the numbers; the last one is then exact.
        axis: where the axis of the numbers stands in the result, among those of the ends.
    Returns:
        ``dtype``; the common shape of the ends with ``num`` put in at ``axis``. Differentiable in ``start`` and
        ``stop`` where they are arrays.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: the ends cannot be broadcast together.
        ValueError: ``num`` is negative.
    Example:
        >>> import uopc_array as xp
        >>> xp.linspace(0.0, 1.0, 5)
        Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64)
    """
    check_device("linspace", device)
    n = integer("linspace", "num", num)
    if n < 0:
        raise ValueError(f"linspace: expected a number of samples of 0 or more, got num={n}")
    first, last = promote_floating("linspace", start, stop)
    at = normalize_axis("linspace", axis, first.ndim + 1)
    check_shape("linspace", (n, *first.shape))
    out = along_axes.move_axis(_spaced(first, last, n, endpoint), 0, at)
    wanted = optional_dtype("linspace", dtype) or out.dtype
    return wrap(cast_node(out.unary(Ops.FLOOR) if is_integer(wanted) else out, wanted, "linspace"))


# Python numbers and what is computed from them alone
_NUMBERS = frozenset({Ops.CONST, Ops.SUB, Ops.DIV, Ops.CAST})


def _spaced(first: UOp, last: UOp, n: int, endpoint: bool) -> UOp:
    """NumPy's order of operations: ``i * ((last - first) / parts) + first``, and `last` itself at the end."""
    parts = n - 1 if endpoint else n
    shape = (n, *first.shape)
    place = composite.iota(shape, 0)
    ramp, distance = place.cast(first.dtype), last - first
    gap = distance / parts if parts > 0 else distance
    # where the gap is below the least number, its multiples are not
    if parts > 0 and _is_zero(gap) and not _is_zero(distance):
        ramp = ramp / parts * composite.broadcast_to(distance, shape)
    else:
        ramp = ramp * composite.broadcast_to(gap, shape)
    out = ramp + composite.broadcast_to(first, shape)
    if endpoint and n > 1:
        out = place.eq(n - 1).where(composite.broadcast_to(last, shape), out)
    return out


def _is_zero(node: UOp) -> bool:
    """Whether a node is made of Python numbers only and is 0."""
    return node.size == 1 and all(source.op in _NUMBERS for source in node.toposort()) and wrap(node).item() == 0


def rows_and_columns(name: str, given: dict[str, int | None]) -> tuple[int, ...]:
    """The shape of a matrix from the arguments for its extents, of which the second may be None."""
    (first, rows), (second, columns) = given.items()
    n_rows = integer(name, first, rows)
    return shape_of(name, (n_rows, n_rows if columns is None else integer(name, second, columns)))


def _within(name: str, k: int, shape: tuple[int, ...]) -> int:
    """The number of a diagonal, or of one just outside where it is further out, so that places do not overflow."""
    try:
        return max(min(integer(name, "k", k), shape[-1]), -shape[-2])
    except Exception as error:
        raise shortened(error) from None


def eye(n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: Any = None, *, device: Any = None) -> Array:
    """Ones on a diagonal and zeros elsewhere.

    Args:
        n_rows: number of rows.
        n_cols: number of columns; None is as many as rows.
        k: which diagonal: 0 the main one, positive above it, negative below.
        dtype: dtype wanted; None is float64.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape ``(n_rows, n_cols)``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.eye(2, 3, k=1)
        Array([[0., 1., 0.],
               [0., 0., 1.]], dtype=float64)
    """
    check_device("eye", device)
    shape = rows_and_columns("eye", {"n_rows": n_rows, "n_cols": n_cols})
    on_diagonal = composite.iota(shape, 1).eq(composite.iota(shape, 0) + _within("eye", k, shape))
    return wrap(on_diagonal.cast(optional_dtype("eye", dtype) or dtypes.float64))


# ---------------------------------------------------------------------------------------------- from other arrays


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Coordinates of the points of a grid.

    Args:
        arrays: coordinates along each axis, without axes or with one.
        indexing: "ij" gives axis i to array i; "xy" swaps the first two.
    Returns:
        one array for each, in its dtype; their shape is that of the grid.
    Raises:
        ShapeError: an array of two axes or more.
        ValueError: another ``indexing``.
    Example:
        >>> import uopc_array as xp
        >>> x, y = xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3, 4, 5]))
        >>> y
        Array([[3, 3],
               [4, 4],
               [5, 5]], dtype=int64)
    """
    check_choice("meshgrid", "indexing", indexing, ("xy", "ij"))
    nodes = [node_of("meshgrid", x) for x in arrays]
    if any(node.ndim > 1 for node in nodes):
        raise ShapeError(f"meshgrid: expected arrays of one axis, got shapes {', '.join(str(n.shape) for n in nodes)}")
    places = list(range(len(nodes)))
    if indexing == "xy" and len(nodes) > 1:
        places[:2] = [1, 0]
    shape = [1] * len(nodes)
    for place, node in zip(places, nodes, strict=True):
        shape[place] = node.size
    return tuple(
        [
            wrap(node.reshape([node.size if axis == place else 1 for axis in range(len(nodes))]).expand(shape))
            for place, node in zip(places, nodes, strict=True)
        ]
    )


def _triangle(name: str, x: Array, k: int, upper: bool) -> Array:
    node = node_of(name, x)
    if node.ndim < 2:
        raise ShapeError(f"{name}: expected two axes or more, got shape {node.shape}")
    row, column = composite.iota(node.shape, node.ndim - 2), composite.iota(node.shape, node.ndim - 1)
    start = row + _within(name, k, node.shape)
    kept = column >= start if upper else column <= start
    return wrap(kept.where(node, composite.zeros_like(node)))


def tril(x: Array, /, k: int = 0) -> Array:
    """The lower triangle of the matrices in the last two axes, zeros above it.

    Args:
        x: any dtype; shape ``(..., M, N)``.
        k: the diagonal above which all is zero: 0 the main one, positive above it, negative below.
    Returns:
        dtype and shape of ``x``.
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.tril(xp.ones((2, 2)))
        Array([[1., 0.],
               [1., 1.]], dtype=float64)
    """
    return _triangle("tril", x, k, upper=False)


def triu(x: Array, /, k: int = 0) -> Array:
    """The upper triangle of the matrices in the last two axes, zeros below it.

    Args:
        x: any dtype; shape ``(..., M, N)``.
        k: the diagonal below which all is zero: 0 the main one, positive above it, negative below.
    Returns:
        dtype and shape of ``x``.
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.triu(xp.ones((2, 2)))
        Array([[1., 1.],
               [0., 1.]], dtype=float64)
    """
    return _triangle("triu", x, k, upper=True)
