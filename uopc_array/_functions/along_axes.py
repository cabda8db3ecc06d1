"""Compositions over axes that several chapters need: moved axes, gathers along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_array._array.origins import gather
from uopc_core import UOp, composite

__all__ = ["move_axis", "take_along_axis", "take_on_axis", "windows"]


def move_axis(x: UOp, source: int, destination: int) -> UOp:
    """The axis `source` moved to the position `destination`, both counted from the front."""
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(destination, source)
    return x.permute(order)


def windows(x: UOp, k: int) -> UOp:
    """The windows of `k` neighbours of a vector, as movement alone: (N,) -> (N - k + 1, k).

    The vector again and again, cut into rows of N + 1: each row starts one position further than the row before.
    """
    n = x.size
    again = x.reshape((1, n)).expand((k + 1, n)).reshape(((k + 1) * n,))
    rows = again.shrink([(0, k * (n + 1))]).reshape((k, n + 1))
    return rows.shrink([(0, k), (0, n - k + 1)]).permute((1, 0))


def take_on_axis(name: str, x: UOp, indices: UOp, axis: int) -> UOp:
    """``x`` gathered at `indices` on one axis, whose position in the shape the axes of `indices` take; for `name`."""
    gathered = gather(name, move_axis(x, axis, 0), indices)
    order = [
        *range(indices.ndim, indices.ndim + axis),
        *range(indices.ndim),
        *range(indices.ndim + axis, gathered.ndim),
    ]
    return gathered.permute(order)


def take_along_axis(name: str, x: UOp, indices: UOp, axis: int) -> UOp:
    """``x`` gathered on `axis` at indices that depend on the other coordinates; the other extents agree."""
    coordinates: Sequence[UOp] = [
        indices if i == axis else composite.iota(indices.shape, i, indices.dtype) for i in range(x.ndim)
    ]
    return gather(name, x, *coordinates)
