"""NumPy's `pad`: movement and concatenation, lazy and differentiable."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._functions import along_axes
from uopc_array._functions.arguments import ArrayLike, filler, from_memory, integer_array, node_of, wrap
from uopc_core import UOp, composite
from uopc_core.errors import speaks_for_itself

__all__ = ["pad"]

# places in the source of the places of a padded axis, for the modes that repeat what is there
_REPEATING = {"edge", "reflect", "symmetric", "wrap"}


@speaks_for_itself
def pad(array: ArrayLike, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Array:
    """``array`` with elements put around it.

    Args:
        array: any dtype, any shape.
        pad_width: how many before and after: one number, a pair, or a pair for every axis.
        mode: "constant" puts ``constant_values``; "edge" the last element; "reflect", "symmetric" and "wrap" repeat the
            array.
        constant_values: one number, a pair, or a pair for every axis; differentiable where they are arrays.
    Returns:
        dtype of ``array``; extents grown by both widths.
    Raises:
        ValueError: another mode, or a negative width.
    Example:
        >>> import uopc_array as xp
        >>> xp.pad(xp.asarray([1, 2]), (1, 2))
        Array([0, 1, 2, 0, 0], dtype=int64)
    """
    node = node_of("pad", array)
    given = integer_array("pad", "pad_width", pad_width)
    widths: list[list[int]] = np.broadcast_to(given, (node.ndim, 2)).tolist()
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"pad: expected widths of 0 or more, got pad_width={pad_width}")
    if mode == "constant":
        return wrap(_pad_constant(node, widths, constant_values))
    if mode not in _REPEATING:
        raise ValueError(f"pad: expected a mode of constant, {', '.join(sorted(_REPEATING))}, got {mode!r}")
    for axis, (before, after) in enumerate(widths):
        if before or after:
            places = np.pad(np.arange(node.shape[axis]), (before, after), cast("Any", mode))
            node = along_axes.take_on_axis("pad", node, node_of("pad", from_memory(places)), axis)
    return wrap(node)


def _pad_constant(node: UOp, widths: list[list[int]], values: Any) -> UOp:
    if isinstance(values, int | float) and values == 0 and math.copysign(1, values) > 0:
        return node.pad([(before, after) for before, after in widths])
    fills = filler("pad", "constant_values", values, node.dtype, (node.ndim, 2))
    for axis, (before, after) in enumerate(widths):
        first, last = (fills.index(axis).index(side) for side in (0, 1))
        parts = [_filled(node, axis, before, first), node, _filled(node, axis, after, last)]
        node = composite.concat([part for part in parts if part.shape[axis]] or [node], axis)
    return node


def _filled(node: UOp, axis: int, n: int, value: UOp) -> UOp:
    return composite.broadcast_to(value, (*node.shape[:axis], n, *node.shape[axis + 1 :]))
