"""From which size on a product of matrices is the library's; by itself, since small graphs are asked about without the
planner.
"""

from __future__ import annotations

from math import prod

from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["MIN_LIBRARY_WORK", "may_be_contraction"]

MIN_LIBRARY_WORK = 16384  # multiplications; below it generated code beats the call


def may_be_contraction(node: UOp) -> bool:
    """Whether a plan must decide about `node`: it may be a product that is large enough for the library."""
    return node.op is Ops.REDUCE and node.arg[0] is Ops.ADD and prod(node.src[0].shape) >= MIN_LIBRARY_WORK
