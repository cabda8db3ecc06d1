"""Which kernels run as one function, and that function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from uopc_core.costs import MAX_GROUP
from uopc_core.loop.loop_ir import LoopNest
from uopc_core.loop.lower import lower_call
from uopc_core.loop.rows import lower_rows
from uopc_core.loop.space import space_of
from uopc_core.schedule.kernel import Alike, KernelCall, alike

__all__ = ["fuse_rows", "lower_group", "needed_outside"]

FusedCalls = tuple[KernelCall, ...]


def fuse_rows(calls: Sequence[KernelCall], needed: AbstractSet[int]) -> list[FusedCalls]:
    """Consecutive kernels that share their rows, in groups; a group of one is the plain case.

    Args:
        needed: slots that somebody reads besides these calls.
    """
    groups: list[FusedCalls] = []
    readers = Counter(slot for call in calls for slot in set(call.reads))
    tried: dict[Alike, bool] = {}  # a program that repeats itself has the same neighbours a thousand times
    reduces = [bool(space_of(call.kernel).reductions) for call in calls]
    start = 0
    while start < len(calls):
        stop = start + 1
        for end in range(start + 2, min(len(calls), start + MAX_GROUP) + 1):
            if not any(reduces[start:end]) or not _depends(calls[end - 1], calls[start : end - 1]):
                break
            candidate = tuple(calls[start:end])
            form, _, _ = alike(candidate, needed_outside(candidate, needed, readers))
            if form not in tried:
                tried[form] = lower_rows(form.calls, form.needed) is not None
            if not tried[form]:
                break
            stop = end
        groups.append(tuple(calls[start:stop]))
        start = stop
    return groups


def needed_outside(group: Sequence[KernelCall], needed: AbstractSet[int], readers: Counter[int]) -> frozenset[int]:
    """What `group` writes and somebody else reads: what is `needed` anyway, and what has more `readers` among the
    kernels than there are in the group.
    """
    own: dict[int, int] = {}
    for call in group:
        for slot in set(call.reads):
            own[slot] = own.get(slot, 0) + 1
    written = [slot for call in group for slot in call.outputs]
    return frozenset([slot for slot in written if slot in needed or readers[slot] > own.get(slot, 0)])


def lower_group(group: FusedCalls, needed: AbstractSet[int]) -> LoopNest:
    """The function of a group that `fuse_rows` made."""
    if len(group) == 1:
        return lower_call(group[0], needed)
    function = lower_rows(group, needed)
    assert function is not None, "kernels that do not share their rows"
    return function


def _depends(call: KernelCall, before: Sequence[KernelCall]) -> bool:
    written = {slot for other in before for slot in other.outputs}
    return any(slot in written for slot in call.reads)
