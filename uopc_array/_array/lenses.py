"""Views: what a handle that shares another's elements reads them through, and how a write goes back.

A lens is applied to the present node of the base to read, and to its memory, as a NumPy array, to write in place. In
the graph a lens is a chain of movement ops (and REAL, IMAG, BITCAST), so a write is the inverse chain on the value:
``where(inverse(true), inverse(value), base)``.
Term: Foster et al. (2007), "Combinators for bidirectional tree transformations".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from uopc_array._array.lens import Lens
from uopc_array._array.strided import layout_of, strided_lens
from uopc_core import Buffer, DType, Ops, UOp, as_dtype, composite, dtypes, is_bool, is_inexact, is_integer
from uopc_core.records import record

__all__ = [
    "MOVES",
    "BitsLens",
    "DiagonalLens",
    "Lens",
    "MoveLens",
    "PartLens",
    "PickLens",
    "RowLens",
    "SpreadLens",
    "shortened_chain",
    "write_back",
]

NumPyArray = np.ndarray[Any, Any]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
_PARTS = frozenset({Ops.REAL, Ops.IMAG})
_ALL, _BACKWARDS = slice(None), slice(None, None, -1)
# the movement ops of which NumPy makes views; each gives the node itself where nothing moves
MOVES: dict[Ops, Callable[[UOp, Any], UOp]] = {
    Ops.RESHAPE: UOp.reshape,
    Ops.PERMUTE: UOp.permute,
    Ops.FLIP: UOp.flip,
}


@record(slots=True)
class MoveLens(Lens):
    """One of `MOVES`, made anew of whatever node the base has by now."""

    op: Ops
    arg: tuple[int, ...]

    @property
    def may_copy(self) -> bool:
        return self.op is Ops.RESHAPE

    def on_node(self, x: UOp) -> UOp:
        return MOVES[self.op](x, self.arg)

    def on_array(self, x: NumPyArray) -> NumPyArray:
        if self.op is Ops.RESHAPE:
            return x.reshape(self.arg, copy=False)
        if self.op is Ops.PERMUTE:
            return x.transpose(self.arg)
        return x[tuple([_BACKWARDS if axis in self.arg else _ALL for axis in range(x.ndim)])]


class PartLens(Lens):
    """The real or the imaginary part."""

    __slots__ = ("op",)

    def __init__(self, op: Ops) -> None:
        self.op = op

    def on_node(self, x: UOp) -> UOp:
        return x.unary(self.op) if x.dtype.kind == "c" else x

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return x.real if self.op is Ops.REAL else x.imag


@record(slots=True)
class BitsLens(Lens):
    """The bits as another dtype of the same size, or as the same one."""

    dtype: DType

    def on_node(self, x: UOp) -> UOp:
        return x if x.dtype is self.dtype else x.bitcast(self.dtype)

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return x.view(self.dtype)


@record(slots=True)
class RowLens(Lens):
    """All elements in one row, of an array whose strides have no row: a view in the graph alone.

    `on_array` gives the row of a layout; memory is never written through it, see `View.is_scattered`.
    """

    has_strides = False

    def on_node(self, x: UOp) -> UOp:
        return x.reshape((x.size,))

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return layout_of((x.size,), x.dtype)


@record(slots=True)
class SpreadLens(Lens):
    """Elements seen several times along axes.

    Attributes:
        has_strides: not so in a chain that has been shortened, where the next step counts in rows of this shape.
    """

    is_writable = False

    shape: tuple[int, ...]
    has_strides: bool = True

    def on_node(self, x: UOp) -> UOp:
        return composite.broadcast_to(x, self.shape)

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return np.broadcast_to(x, self.shape) if self.has_strides else layout_of(self.shape, x.dtype)


@record(slots=True)
class DiagonalLens(Lens):
    """A diagonal of two axes, as the last axis of what it gives."""

    is_writable = False

    offset: int
    axis1: int
    axis2: int

    def on_node(self, x: UOp) -> UOp:
        return composite.diagonal(composite.move_axes_last(x, (self.axis1, self.axis2)), self.offset)

    def on_array(self, x: NumPyArray) -> NumPyArray:
        out = np.diagonal(x, self.offset, self.axis1, self.axis2)
        if x.flags.writeable:
            out.setflags(write=True)
        return out


class PickLens(Lens):
    """Elements of a row-major base one by one, for a chain that keeps turning what no strides describe.

    Attributes:
        starts: the byte in the base at which each element begins, in the shape of the view.
        dtype: of the view, as in `StridedLens`.
    """

    __slots__ = ("_indices", "dtype", "starts")
    has_strides = False

    def __init__(self, starts: IntArray, base_itemsize: int, dtype: DType) -> None:
        self.starts = starts
        self.dtype = dtype
        self._indices = UOp.buffer(Buffer.from_numpy(starts // base_itemsize))

    def on_node(self, x: UOp) -> UOp:
        picked = x.reshape((x.size,)).index(self._indices)
        if x.dtype.itemsize != self.dtype.itemsize:
            is_second = bool(self.starts.size) and self.starts.flat[0] % x.dtype.itemsize
            picked = picked.unary(Ops.IMAG if is_second else Ops.REAL)
        return picked if picked.dtype is self.dtype else picked.bitcast(self.dtype)

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return layout_of(self.starts.shape, self.dtype)


def shortened_chain(lenses: Sequence[Lens], shape: tuple[int, ...], dtype: DType, n_most: int) -> tuple[Lens, ...]:
    """What `lenses` do to a base of `shape` and `dtype`: one step, and two more for each row that has no strides and
    each axis along which elements are seen several times; where that are more than `n_most`, one that picks elements.
    """
    out: list[Lens] = []
    base = view = layout_of(shape, dtype)
    for lens in lenses:
        if isinstance(lens, RowLens) and _has_row(view):
            view = np.reshape(view, -1, copy=False)
        elif isinstance(lens, RowLens | SpreadLens | PickLens):
            last = replace(lens, has_strides=False) if isinstance(lens, SpreadLens) else lens
            out += [strided_lens(base, view), last]
            base = view = last.on_array(view)
        else:
            view = lens.on_array(view)
    out.append(strided_lens(base, view))
    return tuple(out) if len(out) <= n_most else (_picking(out, shape, dtype),)


def _picking(lenses: Sequence[Lens], shape: tuple[int, ...], dtype: DType) -> PickLens:
    """The step of a chain that `shortened_chain` has made."""
    starts: IntArray | None = None  # of the elements of `base`
    base = layout_of(shape, dtype)
    for lens in lenses:
        view = lens.on_array(base)
        if lens.has_strides:
            within = _starts_of(view, base)
            starts = within if starts is None else _starts_in(starts, within, base.itemsize)
        elif isinstance(lens, PickLens):
            starts = lens.starts if starts is None else _starts_in(starts, lens.starts, base.itemsize)
        else:
            assert starts is not None, lens
            starts = starts.reshape(-1) if isinstance(lens, RowLens) else np.broadcast_to(starts, view.shape)
        base = layout_of(view.shape, as_dtype(view.dtype))
    assert starts is not None, lenses
    return PickLens(starts, dtype.itemsize, as_dtype(base.dtype))


def _starts_of(view: NumPyArray, base: NumPyArray) -> IntArray:
    """The byte of the memory of `base` at which each element of `view` begins."""
    out = np.full((1,) * view.ndim, view.ctypes.data - base.ctypes.data if view.size else 0, np.int64)
    for axis, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        along: IntArray = stride * np.arange(n, dtype=np.int64)
        out = out + along.reshape([-1 if other == axis else 1 for other in range(view.ndim)])
    return out


def _starts_in(starts: IntArray, within: IntArray, itemsize: int) -> IntArray:
    """Where elements begin that begin at `within` of a row of items, which themselves begin at `starts`."""
    return starts.reshape(-1)[within // itemsize] + within % itemsize


def _has_row(layout: NumPyArray) -> bool:
    """Whether all elements are a row without a copy; only strides decide."""
    try:
        np.reshape(layout, -1, copy=False)
    except ValueError:
        return False
    return True


def write_back(x: UOp, make_view: Callable[[UOp], UOp], make_value: Callable[[UOp], UOp]) -> UOp:
    """`x` with another value in the place of a view.

    Args:
        make_view: makes the view of `x`, by movement ops, REAL, IMAG, BITCAST, and INDEX that takes no element twice.
        make_value: makes the value from the view, in its shape and dtype.
    """
    view = make_view(x)
    value = make_value(view)
    if value is view:
        return x
    steps = _steps_between(x, view)
    while steps is None:
        steps = _steps_between(x, make_view(x))
    while steps:
        op, source = steps[-1].op, steps[-1].source
        if op in _PARTS:
            parts = (value, source.unary(Ops.IMAG)) if op is Ops.REAL else (source.unary(Ops.REAL), value)
            value = parts[0].binary(Ops.COMPLEX, parts[1])
            steps.pop()
        elif op is Ops.INDEX:
            value = UOp.new(Ops.SCATTER, (source, value, *steps.pop().indices), "set")
        else:
            value = _write_back_run(steps, value)
    return value


class _Step(NamedTuple):
    """One op between a base and a view: what a node was when somebody looked, for another thread may compute it."""

    op: Ops
    arg: Any
    source: UOp
    size: int
    indices: tuple[UOp, ...]  # of INDEX


def _steps_between(x: UOp, view: UOp) -> list[_Step] | None:
    """The ops that lead from `x` to `view`; None if another thread has computed a node between them, which has let go
    of its source then.
    """
    steps: list[_Step] = []
    while view is not x:
        src = view.src  # before the op, see `UOp.settle`
        op = view.op
        if op is Ops.BUFFER:
            return None
        steps.append(_Step(op, view.arg, src[0], view.size, src[1:]))
        view = src[0]
    return steps[::-1]


def _write_back_run(steps: list[_Step], value: UOp) -> UOp:
    """Go back over the ops at the end of `steps` that keep or move elements, taking them off: what the node before them
    is then.
    """
    chain: list[_Step] = []
    while steps and steps[-1].op not in _PARTS and steps[-1].op is not Ops.INDEX:
        chain.append(steps.pop())
    placed = _undo(chain, value)
    if all(step.op is not Ops.SHRINK or step.size == step.source.size for step in chain):
        return placed
    return _undo(chain, UOp.const(True, dtypes.bool, value.shape)).where(placed, chain[-1].source)


def _undo(chain: list[_Step], value: UOp) -> UOp:
    """Send `value`, of the shape that the chain leads to, back to where it starts; zeros where nothing came from."""
    for op, arg, node, *_ in chain:
        source = node.shape
        if op is Ops.SHRINK:
            value = composite.pad_to(value, [a for a, _ in arg], source)
        elif op is Ops.PAD:
            value = value.shrink([(a, a + n) for (a, _), n in zip(arg, source, strict=True)])
        elif op is Ops.PERMUTE:
            value = value.permute([arg.index(axis) for axis in range(len(arg))])
        elif op is Ops.FLIP:
            value = value.flip(arg)
        elif op is Ops.BITCAST:
            value = value if is_bool(value.dtype) else _with_bits(node, value)  # of bool is the mask alone
        else:
            assert op is Ops.RESHAPE, op
            value = value.reshape(source)
    return value


def _with_bits(x: UOp, bits: UOp) -> UOp:
    """`x` with these bits, which have no derivative; where they are those of `x`, it is `x`, which may have one."""
    given = bits.bitcast(x.dtype)
    if not (is_integer(bits.dtype) and is_inexact(x.dtype)):
        return given
    return bits.ne(x.bitcast(bits.dtype)).where(given, x)
