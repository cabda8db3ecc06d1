"""Which kernels run as one function."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from uopc_core.schedule.kernel import KernelCall

__all__ = ["fuse_rows"]


def fuse_rows(calls: Sequence[KernelCall], needed: AbstractSet[int]) -> list[tuple[KernelCall, ...]]:
    """Consecutive kernels that share their outer loops, in groups; a group of one is the plain case."""
    return [(call,) for call in calls]
