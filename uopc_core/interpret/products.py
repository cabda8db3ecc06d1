"""Small products of matrices and vectors as one call: the sum over a product of two operands, each with its axes moved.

A matrix product is expand, multiply, reduce in the graph. Where it is large it goes to BLAS or to blocks; of what is
small, most of the time is that of NumPy's calls, one for each step. A loop of ours multiplies two rows and sums them in
the order of `reductions`, so that a call has the bits of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from uopc_core.costs import PRODUCT_WORK
from uopc_core.dtype import DType, is_inexact, is_integer
from uopc_core.interpret.loops import LoopKey, loop_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.records import record

__all__ = ["LONGEST_ROW", "SmallProduct", "find_product"]

View = Callable[[Any], Any] | None
LONGEST_ROW = 1024  # elements of a row; a longer one is no small matter
_vecdot: Any = np.vecdot


@record
class SmallProduct:
    """``sum(x * y, -1)``, where axes of `x` and `y` are those of the product without those of extent 1.

    Attributes:
        operands: the nodes of x and y.
        views: what makes of the value of each what is multiplied, with leading axes missing; None: nothing.
        shape: of the result, without axes of extent 1.
    """

    operands: tuple[UOp, UOp]
    views: tuple[View, View]
    shape: tuple[int, ...]
    dtype: DType

    @property
    def loop(self) -> LoopKey | None:
        """The loop that multiplies and sums; None where that is NumPy's, since integers are exact."""
        return ("product", Ops.ADD, self.dtype) if is_inexact(self.dtype) else None

    def function(self) -> Callable[..., Any] | None:
        """The function of the values of the operands; None where nobody has the loop."""
        first, second = self.views
        loop = _vecdot if self.loop is None else loop_of(*self.loop)
        if loop is None:
            return None
        if second is None:
            return loop if first is None else _with_first(loop, first)
        return _with_second(loop, second) if first is None else _with_both(loop, first, second)


def find_product(node: UOp) -> SmallProduct | None:
    """The product that `node` is the sum of, where it is small and nothing else is summed."""
    if node.op is not Ops.REDUCE or node.realized is not None or node.arg != (Ops.ADD, 1):
        return None
    product = node.src[0]
    if product.op is not Ops.MUL or product.realized is not None or not (1 < product.shape[-1] <= LONGEST_ROW):
        return None
    if not (is_inexact(node.dtype) or is_integer(node.dtype)) or product.dtype is not node.dtype:
        return None
    extents = product.shape
    if prod(extents) > PRODUCT_WORK:
        return None
    (x, of_x), (y, of_y) = (_moved(s) for s in product.src)
    kept = [axis for axis in range(len(extents)) if extents[axis] != 1]
    if any(of_x[axis] is None and of_y[axis] is None for axis in kept) or None in (of_x[-1], of_y[-1]):
        return None
    views = (_view(x, [of_x[axis] for axis in kept]), _view(y, [of_y[axis] for axis in kept]))
    return SmallProduct((x, y), views, tuple([extents[axis] for axis in kept[:-1]]), node.dtype)


def _with_first(loop: Any, view: Callable[[Any], Any]) -> Callable[..., Any]:
    def product(x: Any, y: Any) -> Any:
        return loop(view(x), y)

    return product


def _with_second(loop: Any, view: Callable[[Any], Any]) -> Callable[..., Any]:
    def product(x: Any, y: Any) -> Any:
        return loop(x, view(y))

    return product


def _with_both(loop: Any, first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[..., Any]:
    def product(x: Any, y: Any) -> Any:
        return loop(first(x), second(y))

    return product


def _moved(node: UOp) -> tuple[UOp, list[int | None]]:
    """What `node` moves, and for each axis of `node` the one of that; None where it repeats or has extent 1."""
    axes: list[int | None] = [axis if n != 1 else None for axis, n in enumerate(node.shape)]
    while node.realized is None:
        if node.op is Ops.EXPAND:
            below = node.src[0]
            axes = [None if axis is None or below.shape[axis] == 1 else axis for axis in axes]
        elif node.op is Ops.PERMUTE:
            below, order = node.src[0], node.arg
            axes = [None if axis is None else order[axis] for axis in axes]
        elif node.op is Ops.RESHAPE:
            below = node.src[0]
            before = [axis for axis, n in enumerate(node.shape) if n != 1]
            after = [axis for axis, n in enumerate(below.shape) if n != 1]
            if [node.shape[axis] for axis in before] != [below.shape[axis] for axis in after]:
                break
            position = dict(zip(before, after, strict=True))
            axes = [None if axis is None else position[axis] for axis in axes]
        else:
            break
        node = below
    return node, axes


def _view(node: UOp, axes: Sequence[int | None]) -> View:
    """What gives a view of the value of `node` with these of its axes, None for one of extent 1; those in front are
    left out, for they are broadcast.
    """
    while axes[0] is None:
        axes = axes[1:]
    own = [axis for axis in axes if axis is not None]
    shape = tuple([1 if axis is None else node.shape[axis] for axis in axes])
    if own == sorted(own):
        return None if shape == node.shape else lambda x: x.reshape(shape)
    if own == [1, 0] and shape == node.shape[::-1]:
        return lambda x: x.T
    narrow = tuple([node.shape[axis] for axis in sorted(own)])
    order = tuple([sorted(own).index(axis) for axis in own])
    return lambda x: x.reshape(narrow).transpose(order).reshape(shape)
