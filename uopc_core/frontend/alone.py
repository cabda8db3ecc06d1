"""How many references there are to memory that only one handle sees: what tells who may write to it in place."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from uopc_core.ir import UOp
from uopc_core.runtime.buffer import Buffer

__all__ = ["ALONE", "HAS_GLOBAL_LOCK", "export"]

NumPyArray = np.ndarray[Any, Any]
Cell = Any  # a handle, or what a trace sees of one: `_own_node` is a slot, no property
_count = sys.getrefcount
HAS_GLOBAL_LOCK: bool = getattr(sys, "_is_gil_enabled", lambda: True)()


def export(cell: Cell) -> NumPyArray:
    """The array over the memory of a cell, made now if need be."""
    return cell._own_node.realized.array


def _references(cell: Cell) -> tuple[int, int, int, int]:
    """How many references there are to the node of a handle, its memory, the array over that, and the owner of the
    bytes; spelled as where they are compared, since they depend on that.
    """
    return (
        _count(cell._own_node),
        _count(cell._own_node.realized),
        _count(cell._own_node.realized._array),
        _count(cell._own_node.realized._array.base),
    )


class _Alone:
    """A cell whose memory nobody else sees."""

    def __init__(self) -> None:
        self._own_node = UOp.buffer(Buffer.from_numpy(np.zeros(1)))


def _measure() -> tuple[int, int, int, int]:
    cell = _Alone()
    export(cell)
    return _references(cell)


# Nobody is told when a view of an array is made or goes, by NumPy or by the buffer protocol of what owns the bytes:
# every view, memoryview and DLPack capsule holds a reference to one of these four objects, and nothing else is left of
# it. So their counts are the one record of who sees the memory that is complete. They are compared with the counts of a
# cell that is seen by nobody, measured in this very process by the same expression: what an interpreter adds while it
# evaluates one (CPython 3.14 borrows what 3.11 counts) is in both. Whatever is counted too much means a copy, never a
# write that somebody sees.
# Without the global lock, a count says nothing of what others are about to take.
ALONE = _measure() if HAS_GLOBAL_LOCK else (-1, -1, -1, -1)
