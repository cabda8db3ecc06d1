"""Numbers in order, the coordinates of grids, and matrices told by their diagonals: nodes without memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import promote_floating
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    ArrayLike,
    check_choice,
    check_shape,
    integer,
    normalize_axis,
    number,
    optional_dtype,
    shape_of,
    wrap,
)
from uopc_array._functions.public import function
from uopc_core import DType, Ops, UOp, composite, dtypes, is_bool, is_complex, is_integer, name_of
from uopc_core.errors import DTypeError, ShapeError, ZeroStepError, shortened

__all__ = ["arange", "eye", "linspace", "meshgrid", "tri", "tril", "triu"]

# what has a derivative in place of `arange`, whose length depends on its arguments
_RAMP = ", or compute start + step * xp.arange(n)"


@function("arange(start=None, stop=None, step=1, dtype=None, *, device=None, like=None)", gives="array")
def arange(name: str, start: ArrayLike, stop: ArrayLike, step: ArrayLike, dtype: Any) -> UOp:
    """Numbers from ``start`` up to but without ``stop``, ``step`` apart.

    Args:
        start: first number, 0 if it is None; the end of the range, from 0, if ``stop`` is None.
        stop: end of the range, excluded up to rounding.
        step: distance, not 0; may be negative.
        dtype: dtype wanted; None is int64 if all three are ints, else float64.
        device: "cpu" or None.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; shape ``(ceil((stop - start) / step),)``, or ``(0,)`` where that is negative.
    Raises:
        ZeroStepError: (a ValueError and a ZeroDivisionError) ``step`` is 0.
        DTypeError: more than two numbers of bool.
        TypeError: neither ``start`` nor ``stop``.
    Example:
        >>> import uopc_array as xp
        >>> xp.arange(1, 10, 3)
        Array([1, 4, 7], dtype=int64)
    """
    if stop is None:
        if start is None:
            raise TypeError(f"{name}: expected the end of the range, got neither start nor stop")
        start, stop = None, start
    given = {"start": 0 if start is None else start, "stop": stop, "step": 1 if step is None else step}
    first, last, gap = [number(name, what, value, _RAMP) for what, value in given.items()]
    whole = all(isinstance(value, int) for value in (first, last, gap))
    wanted = optional_dtype(name, dtype) or (dtypes.int64 if whole else dtypes.float64)
    if gap == 0:
        raise ZeroStepError(f"{name}: expected a step other than 0, got start={first}, stop={last}, step={gap}")
    n = max(int(-((first - last) // gap)) if whole else _count(name, first, last, gap), 0)
    check_shape(name, (n,))
    if is_bool(wanted) and n > 2:
        raise DTypeError(f"{name}: expected two numbers at most for bool, got {n}")
    real = dtypes.float64 if is_complex(wanted) else dtypes.int64 if is_bool(wanted) else wanted
    return _ramp(name, n, first, gap if n > 1 else 0, real).cast(wanted)


def _count(name: str, first: float, last: float, gap: float) -> int:
    """How many numbers there are.

    Raises:
        ShapeError: a number is nan or infinite.
    """
    distance = last - first
    n = distance / gap
    if not math.isfinite(n):
        raise ShapeError(f"{name}: expected finite numbers, got start={first}, stop={last}, step={gap}")
    if n == 0 and distance != 0:  # less than the least number, such as any distance over an infinite gap
        return int((distance > 0) == (gap > 0))
    return math.ceil(n)


def _ramp(name: str, n: int, first: int | float, gap: int | float, dtype: DType) -> UOp:
    """``first + i * gap`` for n numbers; floats are computed in float64 and rounded once."""
    if is_integer(dtype):
        return _integer_ramp(name, n, int(first), int(first + gap) - int(first), dtype)
    row = composite.iota((n,), 0).cast(dtypes.float64)
    return (row * float((first + gap) - first) + float(first)).cast(dtype)


def _integer_ramp(name: str, n: int, first: int, gap: int, dtype: DType) -> UOp:
    """Arithmetic modulo 2**64 gives every number that `dtype` holds, whatever the gap."""
    limits = np.iinfo(dtype)
    for value in (first, first + (n - 1) * gap) if n else ():
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"{name}: Python integer {value} out of bounds for {name_of(dtype)}")
    wide, low = (dtypes.uint64, 0) if dtype is dtypes.uint64 else (dtypes.int64, -(2**63))
    row = composite.iota((n,), 0, wide)
    if gap != 1:
        row = row * ((gap - low) % 2**64 + low)
    if first != 0:
        row = row + ((first - low) % 2**64 + low)
    return row.cast(dtype)


@function("linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None)")
def linspace(
    name: str, start: ArrayLike, stop: ArrayLike, num: int, endpoint: bool, retstep: bool, dtype: Any, axis: int
) -> UOp | tuple[UOp, ...]:
    """``num`` numbers from ``start`` to ``stop``, equally far apart.

    Args:
        start: first number, a Python scalar or an array.
        stop: last number, likewise; left out of the result unless ``endpoint``.
        num: how many.
        endpoint: whether ``stop`` is one of the numbers; the last one is then exact.
        retstep: whether to return the distance of neighbours as well, nan where there are none.
        dtype: dtype wanted; None is the promoted one of the ends, float64 for integers and bool.
        axis: where the axis of the numbers stands in the result, among those of the ends.
        device: "cpu" or None.
    Returns:
        ``dtype``; the common shape of the ends with ``num`` put in at ``axis``. Differentiable in ``start`` and
        ``stop`` where they are arrays. With ``retstep`` that and the distance, a number or of the shape of the ends.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: the ends cannot be broadcast together.
        ValueError: ``num`` is negative.
    Example:
        >>> import uopc_array as xp
        >>> xp.linspace(0.0, 1.0, 5)
        Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64)
        >>> xp.linspace(0, 1, 4, endpoint=False, retstep=True)[1]
        Array(0.25, dtype=float64)
    """
    n = integer(name, "num", num)
    if n < 0:
        raise ValueError(f"{name}: expected a number of samples of 0 or more, got num={n}")
    first, last = promote_floating(name, start, stop)
    at = normalize_axis(name, axis, first.ndim + 1)
    check_shape(name, (n, *first.shape))
    out = along_axes.move_axis(_spaced(first, last, n, endpoint), 0, at)
    wanted = optional_dtype(name, dtype) or out.dtype
    out = cast_node(out.unary(Ops.FLOOR) if is_integer(wanted) else out, wanted, name)
    if not retstep:
        return out
    parts = n - 1 if endpoint else n
    return out, (last - first) / parts if parts > 0 else UOp.const(math.nan, dtypes.float64)


# Python numbers and what is computed from them alone
_NUMBERS = frozenset({Ops.CONST, Ops.SUB, Ops.DIV, Ops.CAST})


def _spaced(first: UOp, last: UOp, n: int, endpoint: bool) -> UOp:
    """NumPy's order of operations: ``i * ((last - first) / parts) + first``, and `last` itself at the end."""
    parts = n - 1 if endpoint else n
    shape = (n, *first.shape)
    index = composite.iota(shape, 0)
    ramp, distance = index.cast(first.dtype), last - first
    gap = distance / parts if parts > 0 else distance
    # where the gap is below the least number, its multiples are not
    if parts > 0 and _is_zero(gap) and not _is_zero(distance):
        ramp = ramp / parts * composite.broadcast_to(distance, shape)
    else:
        ramp = ramp * composite.broadcast_to(gap, shape)
    out = ramp + composite.broadcast_to(first, shape)
    if endpoint and n > 1:
        out = index.eq(n - 1).where(composite.broadcast_to(last, shape), out)
    return out


def _is_zero(node: UOp) -> bool:
    """Whether a node is made of Python numbers only and is 0."""
    return node.size == 1 and all(source.op in _NUMBERS for source in node.walk()) and wrap(node).item() == 0


def _rows_and_columns(name: str, N: int, M: int | None) -> tuple[int, ...]:
    """The shape of a matrix from the arguments for its extents."""
    n_rows = integer(name, "N", N)
    return shape_of(name, (n_rows, n_rows if M is None else integer(name, "M", M)))


def _within(name: str, k: int, shape: tuple[int, ...]) -> int:
    """The number of a diagonal, or of one just outside where it is further out, so that positions do not overflow."""
    try:
        return max(min(integer(name, "k", k), shape[-1]), -shape[-2])
    except Exception as error:
        raise shortened(error) from None


@function("eye(N, M=None, k=0, dtype=None, order='C', *, device=None, like=None)", gives="array")
def eye(name: str, N: int, M: int | None, k: int, dtype: Any) -> UOp:
    """Ones on a diagonal and zeros elsewhere.

    Args:
        N: number of rows.
        M: number of columns; None is as many as rows.
        k: which diagonal: 0 the main one, positive above it, negative below.
        dtype: dtype wanted; None is float64.
        order: "C" or "F", how NumPy would lay it out; it changes nothing here.
        device: "cpu" or None.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; shape ``(N, M)``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.eye(2, 3, k=1)
        Array([[0., 1., 0.],
               [0., 0., 1.]], dtype=float64)
    """
    shape = _rows_and_columns(name, N, M)
    return composite.identity(shape, optional_dtype(name, dtype) or dtypes.float64, _within(name, k, shape))


@function("identity(n, dtype=None, *, like=None)", gives="array")
def identity(name: str, n: int, dtype: Any) -> UOp:
    """The identity matrix.

    Args:
        n: number of rows.
        dtype: dtype wanted; None is float64.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; shape ``(n, n)``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.identity(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float64)
    """
    return eye(name, integer(name, "n", n), None, 0, dtype)


@function("tri(N, M=None, k=0, dtype=None, *, like=None)", gives="array")
def tri(name: str, N: int, M: int | None, k: int, dtype: Any) -> UOp:
    """Ones on and below a diagonal, zeros above it.

    Args:
        N: number of rows.
        M: number of columns; None is as many as rows.
        k: which diagonal: 0 the main one, positive above it, negative below.
        dtype: dtype wanted; None is float64.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; shape ``(N, M)``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.tri(2)
        Array([[1., 0.],
               [1., 1.]], dtype=float64)
    """
    shape = _rows_and_columns(name, N, M)
    below = composite.iota(shape, 1) <= composite.iota(shape, 0) + _within(name, k, shape)
    return below.cast(optional_dtype(name, dtype) or dtypes.float64)


@function("meshgrid(*xi, copy=True, sparse=False, indexing='xy')", gives="array", hints="copy")
def meshgrid(name: str, xi: Sequence[UOp], sparse: bool, indexing: str) -> tuple[UOp, ...]:
    """Coordinates of the points of a grid.

    Args:
        xi: coordinates along each axis, without axes or with one; of more axes they are taken in a row.
        copy: changes nothing: each is an array of its own.
        sparse: leave the extents 1 along which a coordinate does not change.
        indexing: "ij" gives axis i to array i; "xy" swaps the first two.
    Returns:
        one array for each, in its dtype; their shape is that of the grid, or can be broadcast to it.
    Raises:
        ValueError: another ``indexing``.
    Example:
        >>> import uopc_array as xp
        >>> x, y = xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3, 4, 5]))
        >>> y
        Array([[3, 3],
               [4, 4],
               [5, 5]], dtype=int64)
        >>> xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3, 4, 5]), sparse=True)[0]
        Array([[1, 2]], dtype=int64)
    """
    check_choice(name, "indexing", indexing, ("xy", "ij"))
    n = len(xi)
    positions = list(range(n))
    if indexing == "xy" and n > 1:
        positions[:2] = [1, 0]
    lines = [x.reshape([x.size if a == at else 1 for a in range(n)]) for at, x in zip(positions, xi, strict=True)]
    if sparse:
        return tuple(lines)
    shape = [xi[positions[a]].size for a in range(n)]  # to swap two axes twice changes nothing
    check_shape(name, tuple(shape))
    return tuple([line.expand(shape) for line in lines])


def _triangle(name: str, x: UOp, k: int, upper: bool) -> UOp:
    if x.ndim < 2:
        raise ShapeError(f"{name}: expected two axes or more, got shape {x.shape}")
    row, column = composite.iota(x.shape, x.ndim - 2), composite.iota(x.shape, x.ndim - 1)
    start = row + _within(name, k, x.shape)
    kept = column >= start if upper else column <= start
    return kept.where(x, composite.zeros_like(x))


@function("tril(m, k=0)", gives="array")
def tril(name: str, m: UOp, k: int) -> UOp:
    """The lower triangle of the matrices in the last two axes, zeros above it.

    Args:
        m: any dtype; shape ``(..., M, N)``.
        k: the diagonal above which all is zero: 0 the main one, positive above it, negative below.
    Returns:
        dtype and shape of ``m``.
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.tril(xp.ones((2, 2)))
        Array([[1., 0.],
               [1., 1.]], dtype=float64)
    """
    return _triangle(name, m, k, upper=False)


@function("triu(m, k=0)", gives="array")
def triu(name: str, m: UOp, k: int) -> UOp:
    """The upper triangle of the matrices in the last two axes, zeros below it.

    Args:
        m: any dtype; shape ``(..., M, N)``.
        k: the diagonal below which all is zero: 0 the main one, positive above it, negative below.
    Returns:
        dtype and shape of ``m``.
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.triu(xp.ones((2, 2)))
        Array([[1., 1.],
               [0., 1.]], dtype=float64)
    """
    return _triangle(name, m, k, upper=True)
