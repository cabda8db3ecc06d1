"""A view by offset and strides: the normal form of any chain of slices, permutations, flips and reshapes that NumPy
takes without a copy, as movement ops and as an array.

Invariant: the number of ops depends on the number of axes, not on how the view came about. Where each axis of the view
runs along one axis of the base, the ops are a slice, a permutation and a flip, which rules and products know; else they
fold the row of all elements, one axis at a time.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from uopc_array._array.lens import Lens
from uopc_core import DType, Ops, UOp, as_dtype, composite
from uopc_core.records import record

__all__ = ["StridedLens", "layout_of", "strided_lens"]

NumPyArray = np.ndarray[Any, Any]
_Axis = tuple[int, int]  # extent above 1, and stride in elements


@record(slots=True)
class StridedLens(Lens):
    """A view of a row-major base.

    Attributes:
        shape: of the view.
        strides: in elements of `dtype`, one for each axis.
        offset: of the first element, in elements of `dtype`.
        dtype: of the view: that of the base or of the parts of its complex numbers, or one that has its bits.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: DType

    def on_array(self, x: NumPyArray) -> NumPyArray:
        """The view of this array, sharing its memory."""
        row = x.reshape(-1).view(self.dtype)
        strides = [stride * row.itemsize for stride in self.strides]
        return as_strided(row[self.offset :], self.shape, strides)

    def on_node(self, x: UOp) -> UOp:
        """The view of this node."""
        strides, offset = self.strides, self.offset
        if x.dtype.itemsize != self.dtype.itemsize:
            x = x.unary(Ops.IMAG if offset % 2 else Ops.REAL)
            strides, offset = tuple([stride // 2 for stride in strides]), offset // 2
        out = _strided(x, self.shape, strides, offset)
        return out if out.dtype is self.dtype else out.bitcast(self.dtype)


def layout_of(shape: tuple[int, ...], dtype: DType) -> NumPyArray:
    """An array with the strides of row-major order and the memory of one element: nothing else may be read."""
    strides = [dtype.itemsize * n for n in _row_major(shape)]
    return as_strided(np.zeros(1, dtype), shape, strides, writeable=False)


def strided_lens(base: NumPyArray, view: NumPyArray) -> StridedLens:
    """The step from `base`, which is row-major, to `view`; both may be layouts."""
    dtype = as_dtype(view.dtype)
    if not view.size:
        return StridedLens(view.shape, (0,) * view.ndim, 0, dtype)
    offset = view.ctypes.data - base.ctypes.data
    strides = tuple([stride // view.itemsize for stride in view.strides])
    return StridedLens(view.shape, strides, offset // view.itemsize, dtype)


def _row_major(shape: tuple[int, ...]) -> list[int]:
    """Strides in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _strided(x: UOp, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> UOp:
    """The elements ``offset + i * strides[0] + j * strides[1] + ...`` of the row of `x`."""
    if 0 in shape:
        return x.reshape((x.size,)).shrink([(0, 0)]).reshape(shape)
    axes = [(n, stride) for n, stride in zip(shape, strides, strict=True) if n > 1]
    flipped = [axis for axis, (_, stride) in enumerate(axes) if stride < 0]
    offset += sum([(n - 1) * stride for n, stride in axes if stride < 0])
    axes = [(n, abs(stride)) for n, stride in axes]
    out = _along_axes(x, axes, offset)
    if out is None:
        out = _folded(x, axes, offset)
    return out.flip(flipped).reshape(shape)


def _along_axes(x: UOp, axes: list[_Axis], offset: int) -> UOp | None:
    """One slice of each axis of `x`, in the order of `axes`; None where one of these runs across axes of `x`."""
    steps = _row_major(x.shape)
    starts = [offset // step % n if n else 0 for n, step in zip(x.shape, steps, strict=True)]
    slices = [slice(start, start + 1) for start in starts]
    order: list[int] = []
    for n, stride in axes:
        along = [axis for axis, step in enumerate(steps) if x.shape[axis] > 1 and step <= stride]
        if not along or stride % steps[along[0]] or along[0] in order:
            return None
        axis = along[0]
        step = stride // steps[axis]
        stop = starts[axis] + (n - 1) * step + 1
        if stop > x.shape[axis]:
            return None
        slices[axis] = slice(starts[axis], stop, step)
        order.append(axis)
    sliced = composite.slice_axes(x, slices)
    kept = sorted(order)
    return sliced.reshape([sliced.shape[axis] for axis in kept]).permute([kept.index(axis) for axis in order])


def _folded(x: UOp, axes: list[_Axis], offset: int) -> UOp:
    """The view by folding the row of `x`: the axes of the widest stride first, each within one step of that before."""
    order = sorted(range(len(axes)), key=lambda axis: -axes[axis][1])
    span = 1 + sum([(n - 1) * stride for n, stride in axes])
    out = x.reshape((x.size,)).shrink([(offset, offset + span)])
    done: list[int] = []
    for n, stride in [axes[axis] for axis in order]:
        inner = span - (n - 1) * stride
        assert 0 < inner <= stride, (x, axes, offset)  # what slices and folds of a row give
        keep = [(0, extent) for extent in done]
        folded = out.pad([*[(0, 0)] * len(done), (0, n * stride - span)]).reshape((*done, n, stride))
        out = folded.shrink([*keep, (0, n), (0, inner)])
        done.append(n)
        span = inner
    return out.reshape(done).permute([order.index(axis) for axis in range(len(axes))])
