"""Slices with steps and writes to a part of an array, which the graph composes, as NumPy has them.

The graph reads every s-th element by padding to a multiple of s, folding, and keeping a column; it writes to a part by
``where(pad(true), pad(value), base)`` with such movement in between. In NumPy the one is a view, and the other an
assignment to a part of a copy, or of the array itself where nobody needs it any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from uopc_core.ir.composite import const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.records import record

__all__ = ["StridedSlice", "Write", "find_writes", "strided_slice"]

Array = np.ndarray[Any, Any]
_MOVES = frozenset({Ops.PAD, Ops.SHRINK, Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP})


@record
class StridedSlice:
    """Every `steps[axis]`-th element of `source` from the first on, each axis with one of extent 1 behind it."""

    source: UOp
    steps: tuple[int, ...]

    def of(self, x: Any) -> Any:
        """The slice of an array, a view."""
        return x[_with_columns(self.steps)]


def strided_slice(node: UOp) -> StridedSlice | None:
    """The slice that `node` is the last op of; see `composite.slice_axes`."""
    if node.op is not Ops.SHRINK or node.src[0].op is not Ops.RESHAPE or node.src[0].src[0].op is not Ops.PAD:
        return None
    folded, padded = node.src[0], node.src[0].src[0]
    source = padded.src[0]
    steps = folded.shape[1::2]
    rows = folded.shape[::2]
    is_one = (
        folded.realized is None
        and padded.realized is None
        and all(before == 0 for before, _ in padded.arg)
        and _are_folded(source.shape, rows, steps, folded.shape, padded.shape)
        and node.arg == tuple([bounds for n in rows for bounds in ((0, n), (0, 1))])
    )
    return StridedSlice(source, steps) if is_one else None


def _are_folded(
    shape: Sequence[int], rows: Sequence[int], steps: Sequence[int], folded: Sequence[int], padded: Sequence[int]
) -> bool:
    """Whether axes of `shape`, padded to whole rows, are folded to these rows of these steps, the last one begun."""
    return (
        len(rows) == len(steps) == len(shape)
        and len(folded) == 2 * len(shape)
        and all(m * s == p and (m - 1) * s < n <= p for n, m, s, p in zip(shape, rows, steps, padded, strict=True))
    )


def _with_columns(steps: Iterable[int]) -> tuple[Any, ...]:
    return tuple([part for step in steps for part in (slice(None, None, step), None)])


@record
class Write:
    """`value` in a part of `base`.

    Attributes:
        steps: the movement from the value to its position in the base, last one first.
    """

    value: UOp
    base: UOp
    steps: tuple[UOp, ...]

    def function(self, value: Any, base: Any, out: Array | None = None) -> Array:
        """The base after the write; `out` is `base`, to be written to."""
        out = np.array(base) if out is None else out
        part = _part(out, self.steps)
        assert part is not None
        part[...] = value
        return out


def find_writes(nodes: Iterable[UOp]) -> dict[UOp, Write]:
    """The nodes that write to a part of an array."""
    found = {node: _write(node) for node in nodes if node.op is Ops.WHERE and node.realized is None}
    return {node: write for node, write in found.items() if write is not None}


def _write(node: UOp) -> Write | None:
    where, value, base = node.src
    steps: list[UOp] = []
    while where.op is value.op and where.op in _MOVES and where.arg == value.arg and value.realized is None:
        steps.append(value)
        (where,), (value,) = where.src, value.src
    if const_of(where) is not True or not any(step.op is Ops.PAD for step in steps):
        return None
    shape = base.shape
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]  # which alone decide whether there is a view
    layout = as_strided(np.zeros(1, np.int8), shape, strides, writeable=False)
    return None if _part(layout, steps) is None else Write(value, base, tuple(steps))


def _part(x: Array, steps: Sequence[UOp]) -> Array | None:
    """The part of `x` to which the steps lead, last one first; None where it is no view."""
    k = 0
    while k < len(steps):
        step = steps[k]
        shape = step.src[0].shape
        if step.op is Ops.SHRINK:
            every = _steps_undone(steps[k : k + 3])
            if every is None:
                return None
            x = x[_with_columns(every)]
            k += 2
        elif step.op is Ops.PAD:
            x = x[(*[slice(before, before + n) for (before, _), n in zip(step.arg, shape, strict=True)], ...)]
        elif step.op is Ops.PERMUTE:
            x = x.transpose([step.arg.index(axis) for axis in range(len(step.arg))])
        elif step.op is Ops.FLIP:
            x = np.flip(x, step.arg)
        else:
            try:
                x = np.reshape(x, shape, copy=False)
            except ValueError:
                return None
        k += 1
    return x


def _steps_undone(moves: Sequence[UOp]) -> tuple[int, ...] | None:
    """The steps of the slice of which these three moves are the way back: columns, unfolded, cut to length."""
    if [move.op for move in moves] != [Ops.SHRINK, Ops.RESHAPE, Ops.PAD]:
        return None
    cut, unfolded, columns = moves
    steps, rows = columns.shape[1::2], columns.shape[::2]
    is_one = (
        cut.arg == tuple([(0, n) for n in cut.shape])
        and _are_folded(cut.shape, rows, steps, columns.shape, unfolded.shape)
        and columns.arg == tuple([widths for s in steps for widths in ((0, 0), (0, s - 1))])
    )
    return steps if is_one else None
