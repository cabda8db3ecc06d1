"""Axes and shapes as they are given -> axes counted from the front, the shape that operands have in common."""

from collections.abc import Iterable, Sequence
from math import prod

from uopc_core.errors import AxisError, ShapeError
from uopc_core.ir.composite import broadcast_shapes

__all__ = ["axes_from_front", "axis_from_front", "common_shape", "filled_shape"]


def axis_from_front(name: str, axis: int, ndim: int) -> int:
    """`axis` of an operand of `ndim` axes, for the function `name`.

    Raises:
        AxisError: it is out of range.
    """
    if not -ndim <= axis < ndim:
        none = ", which has none to name; use axis=None or another function"
        there = f"; expected {-ndim} to {ndim - 1}" if ndim else none
        raise AxisError(f"{name}: axis {axis} is out of bounds for an array of {ndim} axes{there}")
    return axis + ndim if axis < 0 else axis


def axes_from_front(name: str, axes: Iterable[int], ndim: int) -> tuple[int, ...]:
    """Several axes, in the given order.

    Raises:
        AxisError: one is out of range or named twice.
    """
    given = tuple(axes)
    found = tuple([axis_from_front(name, axis, ndim) for axis in given])
    if len(set(found)) != len(found):
        raise AxisError(f"{name}: every axis may be named once, got axis={given} for an array of {ndim} axes")
    return found


def common_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of `shapes`.

    Raises:
        ShapeError: two extents of an axis differ and neither is 1; names the operation and shows the shapes.
    """
    try:
        return broadcast_shapes(*shapes)
    except ShapeError:
        given = " and ".join(map(str, dict.fromkeys(shapes)))
        raise ShapeError(
            f"{name}: shapes {given} cannot be broadcast together; "
            "from the last axis backwards, extents must be equal or 1; reshape one, or add axes as in x[:, None]"
        ) from None


def filled_shape(name: str, shape: tuple[int, ...], given: Sequence[int]) -> tuple[int, ...]:
    """`given` for the elements of an operand of `shape`, with -1 replaced by what is left over.

    Raises:
        ShapeError: the number of elements differs.
    """
    out = list(given)
    size = prod(shape)
    if out.count(-1) > 1:
        raise ShapeError(f"{name}: expected one -1 at most, got shape {tuple(given)}")
    if out.count(-1) == 1:
        rest = prod([n for n in out if n != -1])
        out[out.index(-1)] = size // rest if rest else -1
    if any([n < 0 for n in out]) or prod(out) != size:
        raise ShapeError(
            f"{name}: {size} elements of shape {shape} cannot take the shape {tuple(given)}; "
            "-1 stands for the extent that is left"
        )
    return tuple(out)
