"""Reductions in NumPy, of whole rows and of rows that come in pieces.

Floating-point numbers are combined in the order of `codegen/c_reduce.py`, by a loop of that very code. There blocks of
512 elements are combined as a binary counter carries, so rows may be cut into runs of a power of two of blocks, and
the results of runs combined likewise: no bit depends on it. Where there is no such loop, NumPy's pairwise sums of runs
of BLOCK_ELEMENTS elements, side by side in memory, take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from uopc_core.costs import BLOCK_ELEMENTS
from uopc_core.dtype import DType, is_float, is_inexact
from uopc_core.interpret.loops import ONE_BY_ONE, Loop, loop_of
from uopc_core.interpret.rows import in_rows
from uopc_core.interpret.ufuncs import UFUNCS
from uopc_core.ir.op import Ops

__all__ = ["BLOCK_ELEMENTS", "Runs", "can_be_cut", "pieces", "reduction"]

Array = np.ndarray[Any, Any]

_MANY = 128  # elements from which the order is that of many: of fewer it is another
_NEUTRAL = {Ops.ADD: 0.0, Ops.MUL: 1.0, Ops.MAX: -np.inf, Ops.MIN: np.inf}


def reduction(how: Ops, n: int, dtype: DType) -> Callable[[Any], Any]:
    """The function that reduces the `n` trailing axes of an array of `dtype` (or less, where integers are exact)."""
    reduce = UFUNCS[how].reduce
    axes = tuple(range(-n, 0))
    if not is_inexact(dtype):
        return lambda x: reduce(x, axes, dtype)
    few = ONE_BY_ONE if how is Ops.ADD and is_float(dtype) else 0
    known: list[Loop | None] = []  # the loop, once somebody has asked for it

    def evaluate(x: Any) -> Any:
        if n == 1:
            kept, size = x.shape[:-1], x.shape[-1]
        else:
            kept, size = x.shape[: x.ndim - n], prod(x.shape[x.ndim - n :])
        if size >= few:
            if not known:
                known.append(loop_of("reduction", how, dtype))
            (loop,) = known
            if loop is not None:
                if n == 1:
                    return loop(x)
                in_columns = n > 1 and x.ndim == 2 and x.flags.f_contiguous
                return loop((in_rows(x) if in_columns else x).reshape((*kept, size)))
        return _of_rows(how, dtype, x, kept, size)

    return evaluate


def _of_rows(how: Ops, dtype: DType, x: Array, kept: tuple[int, ...], size: int) -> Any:
    """By NumPy, whose order depends on where elements are in memory: so they are put side by side, a part at a time."""
    if size > BLOCK_ELEMENTS:
        runs = Runs(how, dtype, BLOCK_ELEMENTS)
        row = x.reshape((*kept, size))
        for start in range(0, size, BLOCK_ELEMENTS):
            runs.push(row[..., start : start + BLOCK_ELEMENTS])
        return runs.total()
    if x.flags.c_contiguous or x.size <= BLOCK_ELEMENTS:
        return UFUNCS[how].reduce(np.ascontiguousarray(x).reshape((*kept, size)), -1, dtype)
    out = np.empty(kept, dtype)
    for part in pieces(kept, BLOCK_ELEMENTS // size):
        out[part] = _of_rows(how, dtype, x[part], x[part].shape[: len(kept)], size)
    return out


def pieces(shape: tuple[int, ...], most: int) -> Iterator[tuple[slice, ...]]:
    """Boxes that cover `shape` in the order of the elements, of at most `most` elements where an axis can be cut."""
    axis, inner = len(shape), 1
    while axis > 0 and inner * shape[axis - 1] <= most:
        axis -= 1
        inner *= shape[axis]
    rest = tuple([slice(0, n) for n in shape[axis:]])
    if axis == 0:
        yield rest
        return
    step = max(1, most // max(inner, 1))
    for index in np.ndindex(shape[: axis - 1]):
        before = tuple([slice(i, i + 1) for i in index])
        for start in range(0, shape[axis - 1], step):
            yield (*before, slice(start, min(start + step, shape[axis - 1])), *rest)


def can_be_cut(how: Ops, dtype: DType, n: int) -> bool:
    """Whether runs of `n` elements, a power of two of blocks, are as good as any."""
    return n == BLOCK_ELEMENTS or not is_inexact(dtype) or loop_of("reduction", how, dtype) is not None


class Runs:
    """The reduction of rows longer than a run, of which more and more elements are handed in.

    Args:
        n: elements of a run, a power of two of blocks of 512.
    """

    __slots__ = ("_count", "_dtype", "_filled", "_how", "_levels", "_loop", "_n", "_part")

    def __init__(self, how: Ops, dtype: DType, n: int) -> None:
        self._how = how
        self._dtype = dtype
        self._n = n
        self._loop: Loop | None = loop_of("reduction", how, dtype) if is_inexact(dtype) else None
        self._levels: list[Any] = []  # [k]: the result of 2**k runs
        self._count = 0
        self._part: Array | None = None  # of a run, filled up to an index
        self._filled = 0

    def push(self, rows: Array) -> None:
        """The next elements of each row, at most a run of them."""
        n = rows.shape[-1]
        if not is_inexact(self._dtype):
            self._push_exact(UFUNCS[self._how].reduce(rows, -1, self._dtype))
        elif n == self._n and not self._filled:
            self._push_run(self._reduce(rows))
        else:
            self._fill(rows)

    def total(self) -> Any:
        if self._filled:
            assert self._part is not None
            n = self._filled
            if n < _MANY and self._loop is not None:
                self._part[..., n:_MANY] = _NEUTRAL[self._how]
                n = _MANY
            self._push_run(self._reduce(self._part[..., :n]))
            self._filled = 0
        level = (self._count & -self._count).bit_length() - 1
        out = self._levels[level]
        for higher in range(level + 1, self._count.bit_length()):
            if self._count >> higher & 1:
                out = self._combine(self._levels[higher], out)
        return out

    def _fill(self, rows: Array) -> None:
        if self._part is None:
            self._part = np.empty((*rows.shape[:-1], self._n), self._dtype)
        fitting = min(rows.shape[-1], self._n - self._filled)
        self._part[..., self._filled : self._filled + fitting] = rows[..., :fitting]
        self._filled += fitting
        if self._filled == self._n:
            self._push_run(self._reduce(self._part))
            self._filled = 0
            if fitting < rows.shape[-1]:
                self._fill(rows[..., fitting:])

    def _push_exact(self, result: Any) -> None:
        self._levels = [UFUNCS[self._how](self._levels[0], result) if self._levels else result]
        self._count = 1

    def _push_run(self, result: Any) -> None:
        level, carry = 0, self._count
        while carry & 1:
            result = self._combine(self._levels[level], result)
            level, carry = level + 1, carry >> 1
        self._levels[level : level + 1] = [result]
        self._count += 1

    def _reduce(self, rows: Any) -> Any:
        if self._loop is not None:
            return self._loop(rows)
        return UFUNCS[self._how].reduce(np.ascontiguousarray(rows), -1, self._dtype)

    def _combine(self, earlier: Any, later: Any) -> Any:
        """As the counter does; a loop combines two in turn."""
        if self._loop is None:
            return UFUNCS[self._how](later, earlier)
        return self._loop(np.stack([earlier, later], -1))
