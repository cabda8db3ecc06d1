"""`pad`: elements put around an array, movement and concatenation, lazy and differentiable."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import NotImplementedType
from typing import Any, TypeVar, cast

import numpy as np

from uopc_array._array.at_once import bound, known
from uopc_array._array.handle import Handle
from uopc_array._array.tracing import records
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import (
    ArrayLike,
    check_choice,
    check_shape,
    filler,
    from_memory,
    integer_array,
    node_of,
    normalize_axis,
)
from uopc_array._functions.public import function
from uopc_array._functions.quantiles import median
from uopc_core import Ops, UOp, composite, dtypes, is_bool, is_complex, is_inexact, is_integer
from uopc_core.errors import ShapeError
from uopc_core.numerics import elementwise
from uopc_core.numerics.statistics import mean_of

__all__: list[str] = []

A = TypeVar("A", bound=Handle)
Pair = tuple[int, int]  # before and after
Ends = tuple[UOp, UOp]  # what is put before and after, of extent 1 at the axis where it is the same for all indices

_KEYWORDS = {
    "constant": {"constant_values"},
    "edge": set[str](),
    "empty": set[str](),
    "linear_ramp": {"end_values"},
    "maximum": {"stat_length"},
    "mean": {"stat_length"},
    "median": {"stat_length"},
    "minimum": {"stat_length"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set[str](),
}
_ORDERED = {"maximum", "median", "minimum"}


def _zeros_around(cls: type[A], array: Any, pad_width: Any, mode: Any, *values: Any) -> A | None:
    """`Description.at_once` of `pad` with zeros."""
    value = known(array) if type(array) is cls else None
    if value is None or not value.ndim or not bound() or records():
        return None
    *others, kwargs = values
    if type(mode) is not str or mode != "constant" or kwargs or any([x is not None for x in others]):
        return None
    try:
        n = value.ndim
        widths = [(pad_width, pad_width)] * n if type(pad_width) is int else _widths("pad", pad_width, n)
    except Exception:  # the longer way has words for it
        return None
    shape = tuple([before + m + after for m, (before, after) in zip(value.shape, widths, strict=True)])
    if min(map(min, widths)) < 0 or math.prod(shape) > bound():
        return None
    out = np.zeros(shape, value.dtype)
    out[tuple([slice(before, before + m) for m, (before, _) in zip(value.shape, widths, strict=True)])] = value
    return cls._from_value(out)


@function(
    "pad(array, pad_width, mode='constant', *, constant_values=None, end_values=None, stat_length=None, "
    "reflect_type=None, **kwargs)",
    gives="array",
    at_once=_zeros_around,
)
def pad(
    name: str,
    array: UOp,
    pad_width: Any,
    mode: str | Callable[..., Any],
    constant_values: ArrayLike | None,
    end_values: ArrayLike | None,
    stat_length: Any,
    reflect_type: str | None,
    kwargs: Mapping[str, Any],
) -> UOp | NotImplementedType:
    """``array`` with elements put around it.

    Args:
        array: any dtype, any shape.
        pad_width: how many before and after: one number, a pair, a pair for every axis, or a dict of numbers and pairs
            by axis.
        mode: "constant" puts ``constant_values``, "edge" the last element, "linear_ramp" numbers from the edge to
            ``end_values``; "maximum", "mean", "median" and "minimum" those of the ``stat_length`` elements next to it;
            "reflect", "symmetric" and "wrap" repeat the array; "empty" puts anything. Or a function, which NumPy calls
            with each vector of the array with zeros around it, its widths, its axis and ``kwargs``.
        constant_values: of mode "constant": one number, a pair, or a pair for every axis; 0 if None; differentiable
            where they are arrays.
        end_values: of mode "linear_ramp", likewise.
        stat_length: of "maximum", "mean", "median" and "minimum": one integer, a pair, or a pair for every axis; None
            takes all elements.
        reflect_type: of "reflect" and "symmetric": "odd" reflects in the point at the edge, "even" or None in the edge.
        kwargs: what a function for ``mode`` is given.
    Returns:
        dtype of ``array``; extents grown by both widths.
    Raises:
        DTypeError: widths that are no integers.
        ShapeError: widths that do not fit the axes; or nothing to repeat along an axis of extent 0.
        ValueError: another mode, keywords of another mode, or a negative width.
    Example:
        >>> import uopc_array as xp
        >>> xp.pad(xp.asarray([1, 2]), (1, 2))
        Array([0, 1, 2, 0, 0], dtype=int64)
        >>> xp.pad(xp.asarray([1, 2, 6]), 1, mode="mean")
        Array([3, 1, 2, 6, 3], dtype=int64)
    """
    if callable(mode) or (mode in _ORDERED and is_complex(array.dtype)):
        return NotImplemented
    widths = _widths(name, pad_width, array.ndim)
    check_choice(name, "mode", mode, _KEYWORDS)
    given = {
        "constant_values": constant_values,
        "end_values": end_values,
        "stat_length": stat_length,
        "reflect_type": reflect_type,
        **kwargs,
    }
    unknown = [keyword for keyword, value in given.items() if value is not None and keyword not in _KEYWORDS[mode]]
    if unknown:
        known = ", ".join(_KEYWORDS[mode]) or "none"
        raise ValueError(f"{name}: expected keywords of mode {mode!r} ({known}), got {', '.join(unknown)}")
    check_shape(name, tuple([before + n + after for n, (before, after) in zip(array.shape, widths, strict=True)]))
    if mode == "constant":
        return _pad_constant(name, array, widths, 0 if constant_values is None else constant_values)
    if mode == "empty":
        return array.pad(widths)
    for axis, (n, pair) in enumerate(zip(array.shape, widths, strict=True)):
        if n == 0 and any(pair):
            raise ShapeError(
                f'{name}: there is nothing to repeat along axis {axis} of extent 0; mode "constant" puts numbers there'
            )
    if not array.size:
        return array.pad(widths)
    # along one axis after the other, each with what the axes before it got
    if mode == "linear_ramp":
        return _pad_ramps(name, array, widths, 0 if end_values is None else end_values)
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        return _pad_repeated(name, array, widths, mode, "even" if reflect_type is None else reflect_type)
    return _pad_stats(name, array, widths, mode, stat_length)


# ---------------------------------------------------------------------------------------------- arguments


def _widths(name: str, pad_width: Any, ndim: int) -> list[Pair]:
    if isinstance(pad_width, Mapping):
        pairs: list[Any] = [(0, 0)] * ndim
        for axis, width in cast("Mapping[int, Any]", pad_width).items():
            pairs[normalize_axis(name, axis, ndim)] = _pairs(name, "pad_width", width, 1)[0]
        return pairs
    return _pairs(name, "pad_width", pad_width, ndim)


def _pairs(name: str, what: str, value: Any, ndim: int) -> list[Pair]:
    given = integer_array(name, what, value)
    try:
        pairs: list[list[int]] = np.broadcast_to(given, (ndim, 2)).tolist()
    except ValueError:
        raise ShapeError(
            f"{name}: expected {what} to be a number, a pair, or a pair for each of {ndim} axes, got {value!r:.60}"
        ) from None
    if given.size and given.min() < 0:
        raise ValueError(f"{name}: expected {what} of 0 or more, got {value!r:.60}")
    return [(before, after) for before, after in pairs]


def _lengths(name: str, value: Any, ndim: int) -> list[tuple[int | None, int | None]]:
    return [(None, None)] * ndim if value is None else [*_pairs(name, "stat_length", value, ndim)]


# ---------------------------------------------------------------------------------------------- what is put there


def _part(node: UOp, axis: int, start: int, stop: int) -> UOp:
    whole = [(0, n) for n in node.shape]
    return node.shrink([*whole[:axis], (start, stop), *whole[axis + 1 :]])


def _between(node: UOp, axis: int, ends: Ends) -> UOp:
    parts = [ends[0], node, ends[1]]
    return composite.concat([part for part in parts if part.shape[axis]], axis)


def _spread(value: UOp, axis: int, n: int) -> UOp:
    """A value of extent 1, or a number, as often as there are indices."""
    return composite.broadcast_to(value, (*value.shape[:axis], n, *value.shape[axis + 1 :]))


def _pad_constant(name: str, node: UOp, widths: list[Pair], values: Any) -> UOp:
    if isinstance(values, int | float) and values == 0 and math.copysign(1, values) > 0:
        return node.pad(widths)
    fills = filler(name, "constant_values", values, node.dtype, (node.ndim, 2))
    for axis, pair in enumerate(widths):
        shape = (*node.shape[:axis], 1, *node.shape[axis + 1 :])
        first, last = (composite.broadcast_to(fills.index(axis, side), shape) for side in (0, 1))
        if any(pair):
            node = _between(node, axis, (_spread(first, axis, pair[0]), _spread(last, axis, pair[1])))
    return node


def _pad_repeated(name: str, node: UOp, widths: list[Pair], mode: str, kind: str) -> UOp:
    check_choice(name, "reflect_type", kind, ("even", "odd"))
    for axis, pair in enumerate(widths):
        if any(pair) and kind == "odd" and node.shape[axis] > 1:
            node = _reflected_in_points(node, axis, pair, mode == "symmetric")
        elif any(pair):
            node = _repeated(name, node, axis, pair, "edge" if node.shape[axis] == 1 else mode)
    return node


def _repeated(name: str, node: UOp, axis: int, pair: Pair, mode: str) -> UOp:
    indices = np.pad(np.arange(node.shape[axis]), pair, cast("Any", mode))
    return along_axes.take_on_axis(name, node, node_of(name, from_memory(indices)), axis)


def _reflected_in_points(node: UOp, axis: int, pair: Pair, with_edge: bool) -> UOp:
    """Reflected in the points at both ends, as often as it takes: what is beyond an end is as much below its element
    as what is before it is above.
    """
    n = node.shape[axis]
    left, right = pair
    skipped = 0 if with_edge else 1  # elements at an end that are no part of what is reflected there
    while left or right:
        extent = node.shape[axis]
        period = n - skipped
        most = (extent - skipped) // period * period
        before, after = min(left, most), min(right, most)
        ends = (
            _reflected(node, axis, 0, skipped, skipped + before),
            _reflected(node, axis, extent - 1, extent - skipped - after, extent - skipped),
        )
        node = _between(node, axis, ends)
        left, right = left - before, right - after
    return node


def _reflected(node: UOp, axis: int, point: int, start: int, stop: int) -> UOp:
    part = _part(node, axis, start, stop).flip((axis,))
    edge = _spread(_part(node, axis, point, point + 1), axis, stop - start)
    if is_bool(node.dtype):
        part, edge = part.cast(dtypes.int64), edge.cast(dtypes.int64)
    return (edge + edge - part).cast(node.dtype)


def _pad_ramps(name: str, node: UOp, widths: list[Pair], end_values: Any) -> UOp:
    dtype = node.dtype if is_inexact(node.dtype) else dtypes.float64
    last = filler(name, "end_values", end_values, dtype, (node.ndim, 2))
    for axis, pair in enumerate(widths):
        if any(pair):
            node = _between(node, axis, _ramps(node, axis, pair, (last.index(axis, 0), last.index(axis, 1))))
    return node


def _ramps(node: UOp, axis: int, pair: Pair, last: Ends) -> Ends:
    """From the numbers at the ends of the result, which are part of it, to the edges, which are not."""
    n = node.shape[axis]
    first = _ramp(_part(node, axis, 0, 1), axis, pair[0], last[0])
    return first, _ramp(_part(node, axis, n - 1, n), axis, pair[1], last[1]).flip((axis,))


def _ramp(edge: UOp, axis: int, n: int, start: UOp) -> UOp:
    shape = (*edge.shape[:axis], n, *edge.shape[axis + 1 :])
    if n == 0:
        return UOp.const(0, edge.dtype, shape)
    dtype = start.dtype
    start = composite.broadcast_to(start, edge.shape)
    step = (edge.cast(dtype) - start) / n
    out = composite.iota(shape, axis).cast(dtype) * _spread(step, axis, n) + _spread(start, axis, n)
    return (out.unary(Ops.FLOOR) if is_integer(edge.dtype) else out).cast(edge.dtype)


def _pad_stats(name: str, node: UOp, widths: list[Pair], mode: str, stat_length: Any) -> UOp:
    lengths = _lengths(name, stat_length, node.ndim)
    for axis, pair in enumerate(widths):
        if any(pair):
            first, last = _stats(name, node, axis, mode, lengths[axis])
            node = _between(node, axis, (_spread(first, axis, pair[0]), _spread(last, axis, pair[1])))
    return node


def _stats(name: str, node: UOp, axis: int, mode: str, lengths: tuple[int | None, int | None]) -> Ends:
    """The statistic of the elements next to each end."""
    n = node.shape[axis]
    before, after = (n if length is None else min(length, n) for length in lengths)
    if mode in ("maximum", "minimum") and not (before and after):
        raise ValueError(f"{name}: no elements have no {mode}, got stat_length {lengths} at axis {axis}")
    first = _stat(name, _part(node, axis, 0, before), axis, mode)
    return first, first if before == after == n else _stat(name, _part(node, axis, n - after, n), axis, mode)


def _stat(name: str, part: UOp, axis: int, mode: str) -> UOp:
    if mode in ("maximum", "minimum"):
        return composite.reduce_axes(part, Ops.MAX if mode == "maximum" else Ops.MIN, (axis,), True)
    floating = part if is_inexact(part.dtype) else part.cast(dtypes.float64)
    out = mean_of(floating, None, (axis,), True) if mode == "mean" else median(name, floating, axis, True)
    return (elementwise.rint(out) if is_integer(part.dtype) else out).cast(part.dtype)
