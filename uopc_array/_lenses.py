"""Views: what a handle that shares another's elements reads them through, and how a write goes back.

A lens is applied to the present node of the base to read, and to its memory, as a NumPy array, to write in place. In
the graph a lens is a chain of movement ops (and REAL, IMAG), so a write is the inverse chain on the value:
``where(inverse(true), inverse(value), base)``.
Term: Foster et al. (2007), "Combinators for bidirectional tree transformations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from uopc_array._strided import layout_of, strided_lens
from uopc_core import DType, Ops, UOp, composite, dtypes

__all__ = ["ChainLens", "Lens", "PartLens", "RowLens", "chain_between", "shortened_chain", "write_back"]

NumPyArray = np.ndarray[Any, Any]
_INVERTIBLE = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP, Ops.SHRINK})


class Lens(Protocol):
    """One step from a base to a view."""

    def on_node(self, x: UOp) -> UOp:
        """The view of this node."""
        ...

    def on_array(self, x: NumPyArray) -> NumPyArray:
        """The view of this array, sharing its memory."""
        ...


class ChainLens:
    """Movement ops, replayed on whatever node the base has by now."""

    __slots__ = ("steps",)

    def __init__(self, steps: list[UOp]) -> None:
        self.steps = [(step.op, step.arg) for step in steps]

    def on_node(self, x: UOp) -> UOp:
        for op, arg in self.steps:
            x = UOp.new(op, (x,), arg)
        return x

    def on_array(self, x: NumPyArray) -> NumPyArray:
        for op, arg in self.steps:
            if op is Ops.RESHAPE:
                x = np.reshape(x, arg, copy=False)
            elif op is Ops.PERMUTE:
                x = x.transpose(arg)
            elif op is Ops.FLIP:
                x = np.flip(x, arg)
            else:
                x = x[tuple([slice(a, b) for a, b in arg])]
        return x


class PartLens:
    """The real or the imaginary part."""

    __slots__ = ("op",)

    def __init__(self, op: Ops) -> None:
        self.op = op

    def on_node(self, x: UOp) -> UOp:
        return x.unary(self.op) if x.dtype.kind == "c" else x

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return x.real if self.op is Ops.REAL else x.imag


class RowLens(ChainLens):
    """All elements in one row, of an array whose strides have no row: a view in the graph alone.

    `on_array` gives the row of a layout; memory is never written through it, see `View.is_scattered`.
    """

    __slots__ = ()

    def on_array(self, x: NumPyArray) -> NumPyArray:
        return layout_of((x.size,), x.dtype)


def shortened_chain(lenses: Sequence[Lens], shape: tuple[int, ...], dtype: DType) -> tuple[Lens, ...]:
    """What `lenses` do to a base of `shape` and `dtype`: one step, and two more for each row that has no strides."""
    out: list[Lens] = []
    base = view = layout_of(shape, dtype)
    for lens in lenses:
        if not isinstance(lens, RowLens):
            view = lens.on_array(view)
            continue
        try:
            view = np.reshape(view, -1, copy=False)
        except ValueError:
            out += [strided_lens(base, view), lens]
            base = view = lens.on_array(view)
    return (*out, strided_lens(base, view))


def chain_between(x: UOp, view: UOp) -> list[UOp] | None:
    """The movement ops that lead from `x` to `view`, in order; None where anything else does."""
    steps: list[UOp] = []
    while view is not x:
        if view.op not in _INVERTIBLE:
            return None
        steps.append(view)
        (view,) = view.src
    return steps[::-1]


def write_back(x: UOp, view: UOp, value: UOp) -> UOp:
    """`x` with `value` in the place of `view`, which movement ops, REAL and IMAG have made from `x`."""
    while view is not x:
        if view.op in (Ops.REAL, Ops.IMAG):
            source = view.src[0]
            parts = (value, source.unary(Ops.IMAG)) if view.op is Ops.REAL else (source.unary(Ops.REAL), value)
            view, value = source, parts[0].binary(Ops.COMPLEX, parts[1])
        else:
            view, value = _write_back_run(x, view, value)
    return value


def _write_back_run(x: UOp, view: UOp, value: UOp) -> tuple[UOp, UOp]:
    """Go back over a run of movement ops: the node where it starts, and what that is after the write."""
    chain: list[UOp] = []
    while view is not x and view.op not in (Ops.REAL, Ops.IMAG):
        chain.append(view)
        (view,) = view.src
    placed = _undo(chain, value)
    if all(step.op is not Ops.SHRINK or step.size == step.src[0].size for step in chain):
        return view, placed
    return view, _undo(chain, UOp.const(True, dtypes.bool, value.shape)).where(placed, view)


def _undo(chain: list[UOp], value: UOp) -> UOp:
    """Send `value`, of the shape that the chain leads to, back to where it starts; zeros where nothing came from."""
    for step in chain:
        source = step.src[0].shape
        if step.op is Ops.SHRINK:
            value = composite.pad_to(value, [a for a, _ in step.arg], source)
        elif step.op is Ops.PAD:
            value = value.shrink([(a, a + n) for (a, _), n in zip(step.arg, source, strict=True)])
        elif step.op is Ops.PERMUTE:
            value = value.permute([step.arg.index(axis) for axis in range(len(step.arg))])
        elif step.op is Ops.FLIP:
            value = value.flip(step.arg)
        else:
            assert step.op is Ops.RESHAPE, step
            value = value.reshape(source)
    return value
