"""Writes of boxes, ``x[i, :j] = value``, as graphs have them: where a mask holds the value, padded, elsewhere `x`."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.costs import MAX_BOX_ELEMENTS
from uopc_core.ir.composite import const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.records import record

__all__ = ["Bounds", "BoxWrite", "are_apart", "box_write", "is_inside"]

Bounds = tuple[tuple[int, int], ...]


@record(slots=True)
class BoxWrite:
    """What a node is that writes a box.

    Attributes:
        base: the array before, of which all is kept that is not in the box.
        bounds: first and last + 1 along each axis.
        value: what is in the box, of its shape.
    """

    base: UOp
    bounds: Bounds
    value: UOp

    @property
    def is_small(self) -> bool:
        """Whether one thread had better write it alone than all threads the whole array."""
        return self.value.size <= min(MAX_BOX_ELEMENTS, self.base.size // 2)


def box_write(node: UOp) -> BoxWrite | None:
    """The write that `node` is; None where it is something else."""
    if node.op is not Ops.WHERE:
        return None
    mask, padded, base = node.src
    if mask.op is not Ops.PAD or not mask.src[0].size or const_of(mask.src[0]) is not True:
        return None
    inner = mask.src[0].shape
    if padded.op is Ops.PAD and padded.arg == mask.arg:
        value = padded.src[0]
    else:
        number = const_of(padded)  # zeros around zeros are zeros
        if number is None:
            return None
        value = UOp.const(number, node.dtype, inner)
    bounds = tuple([(before, before + n) for (before, _), n in zip(mask.arg, inner, strict=True)])
    return BoxWrite(base, bounds, value)


def is_inside(inner: Sequence[tuple[int, int]], outer: Sequence[tuple[int, int]]) -> bool:
    """Whether a box lies in another one."""
    return all(a <= start and stop <= b for (start, stop), (a, b) in zip(inner, outer, strict=True))


def are_apart(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> bool:
    """Whether two boxes have no element in common."""
    return any(stop <= a or b <= start for (start, stop), (a, b) in zip(one, other, strict=True))
