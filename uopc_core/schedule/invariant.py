"""Reductions of what does not vary along a kept axis: computed for one place of that axis, and broadcast.

A sum over a broadcast operand is one, and so are many gradients: the cotangent of a sum is one number, and what comes
back through a product with it is the other operand summed, once for all rows. Invariant: no bit is another, since the
order in which a reduction combines its elements depends on their number alone.
Method: code motion out of loops (Aho, Lam, Sethi & Ullman 2006, "Compilers", chapter 9.5), on axes in place of loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from uopc_core.ir.composite import axes_apart_from_ones
from uopc_core.ir.op import ELEMENTWISE, Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.schedule.kernelize import MAX_INLINE_REDUCE

__all__ = ["narrow_reductions", "still_axes"]

Axes = frozenset[int]
_NONE: Axes = frozenset()
_ALONG = frozenset({Ops.REDUCE, Ops.SCAN})


def narrow_reductions(outputs: list[UOp]) -> list[UOp]:
    """`outputs` with every reduction and cumulative sum over no axis more than it varies along."""
    made: dict[UOp, UOp] = {}
    still: dict[UOp, Axes] = {}
    narrow = _Narrow()
    for node in walk(outputs):
        new = node.over(tuple([made[s] for s in node.src]))
        axes = still[new] = _still(new, [still[s] for s in new.src])
        if axes and new.op in _ALONG and not _would_be_written_out(new, axes):
            new = narrow(new, axes).expand(new.shape)
            still[new] = axes
        made[node] = new
    return [made[root] for root in outputs]


def still_axes(root: UOp) -> Axes:
    """The axes longer than 1 along which `root` is seen not to vary."""
    still: dict[UOp, Axes] = {}
    for node in walk((root,)):
        still[node] = _still(node, [still[s] for s in node.src])
    return still[root]


def _still(node: UOp, of_sources: Sequence[Axes]) -> Axes:
    """The axes along which `node` does not vary, by those of its sources."""
    if (node.op is not Ops.EXPAND and not any(of_sources)) or 0 in node.shape:
        return _NONE
    return frozenset(_those_still(node, of_sources))


def _those_still(node: UOp, of_sources: Sequence[Axes]) -> Iterator[int]:
    shape = node.shape
    if node.op in ELEMENTWISE:
        yield from of_sources[0].intersection(*of_sources[1:])
    elif node.op is Ops.EXPAND:
        old = node.src[0].shape
        yield from [axis for axis in range(len(shape)) if axis in of_sources[0] or old[axis] != shape[axis]]
    elif node.op is Ops.PERMUTE:
        yield from [axis for axis in range(len(shape)) if node.arg[axis] in of_sources[0]]
    elif node.op is Ops.RESHAPE:
        moved = axes_apart_from_ones(node.src[0].shape, shape)
        yield from [] if moved is None else [axis for axis, a in enumerate(moved) if a in of_sources[0]]
    elif node.op is Ops.SHRINK:
        yield from [axis for axis in of_sources[0] if shape[axis] > 1]
    elif node.op is Ops.FLIP:
        yield from of_sources[0]
    elif node.op is Ops.PAD:
        yield from [axis for axis in of_sources[0] if node.arg[axis] == (0, 0)]
    elif node.op is Ops.CONCAT:
        yield from of_sources[0].intersection(*of_sources[1:]) - {node.arg}
    elif node.op is Ops.REDUCE:
        yield from [axis for axis in of_sources[0] if axis < node.ndim]
    elif node.op is Ops.SCAN:
        yield from [axis for axis in of_sources[0] if axis < node.ndim - 1]


def _would_be_written_out(node: UOp, axes: Axes) -> bool:
    """Whether a sum that is written out where it is used, and so begins with its first element, would be a loop, which
    begins with 0.
    """
    left = prod([n for axis, n in enumerate(node.shape) if axis not in axes])
    return node.op is Ops.REDUCE and left == 1 and prod(node.src[0].shape[node.ndim :]) <= MAX_INLINE_REDUCE


class _Narrow:
    """Nodes with extent 1 along axes along which they do not vary."""

    def __init__(self) -> None:
        self.made: dict[tuple[UOp, Axes], UOp] = {}

    def __call__(self, node: UOp, axes: Axes) -> UOp:
        stack = [(node, axes)]
        while stack:  # not over `walk`: a node may be narrowed along other axes for each of its consumers
            state = stack[-1]
            if state in self.made:
                stack.pop()
                continue
            below = list(zip(state[0].src, _axes_below(*state), strict=True)) if state[1] else []
            waiting = [s for s in below if s not in self.made]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            self.made[state] = _narrowed(*state, [self.made[s] for s in below]) if state[1] else state[0]
        return self.made[node, axes]


def _axes_below(node: UOp, axes: Axes) -> list[Axes]:
    """For each source the axes along which it is to be narrowed, so that `node` is along `axes`."""
    if node.op is Ops.EXPAND:
        old = node.src[0].shape
        return [frozenset([axis for axis in axes if old[axis] == node.shape[axis]])]
    if node.op is Ops.PERMUTE:
        return [frozenset([node.arg[axis] for axis in axes])]
    if node.op is Ops.RESHAPE:
        moved = axes_apart_from_ones(node.src[0].shape, node.shape)
        assert moved is not None, node
        return [frozenset([a for axis in axes if (a := moved[axis]) is not None])]
    return [axes] * len(node.src)


def _narrowed(node: UOp, axes: Axes, sources: Sequence[UOp]) -> UOp:
    shape = tuple([1 if axis in axes else n for axis, n in enumerate(node.shape)])
    if node.op is Ops.EXPAND:
        return sources[0].expand(shape)
    if node.op is Ops.RESHAPE:
        return sources[0].reshape(shape)
    if node.op is Ops.SHRINK:
        return sources[0].shrink([(0, 1) if axis in axes else bound for axis, bound in enumerate(node.arg)])
    if node.op is Ops.FLIP:
        return sources[0].flip([axis for axis in node.arg if axis not in axes])
    return node.over(tuple(sources))
