"""optree, which takes nested containers apart, for as long as it can be called; from then on `plain_trees`.

optree lets other threads run in the midst of its C++. Before Python 3.14 a daemon thread that wants to go on while the
process ends is ended where it is, and C++ answers that by aborting the process; a little later optree has forgotten all
containers. So when functions of `atexit` run, right before optree's own, everybody is turned over to Python, and the
end waits for those who are still inside.
"""

from __future__ import annotations

import atexit
import sys
import time
from _thread import get_ident
from collections import namedtuple
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from uopc_core.endings import before_finalizers, when_main_ends
from uopc_core.lazy import LazyModule
from uopc_core.once import finish_what_is_short, has_other_threads

__all__ = ["NAMESPACE", "leave_optree", "pytrees", "same_structure"]

NAMESPACE = "uopc_array"  # in which optree knows classes that users register
_PATIENCE_S = 2.0  # for a user's own function inside optree that does not come back
_POLL_S = 0.0005
_ending: list[bool] = []
_left: list[bool] = []


def _leave_in_the_end() -> None:
    """optree has been loaded."""
    atexit.register(leave_optree)  # who registers later is called earlier: this comes right before optree's own end
    if _ending:  # optree's end may come before this was registered, and nobody may be called who registers now
        _turn_over()


def _begin_to_end() -> None:
    _ending.append(True)
    if "optree" in sys.modules or has_other_threads():
        assert pytrees.tree_flatten  # loaded, so that no other thread begins to load it later
        atexit.register(leave_optree)  # whoever has loaded it may not have come to that yet
    finish_what_is_short()  # who is loading it


def leave_optree() -> None:
    """Have `pytrees` be `plain_trees`, and wait until no other thread is in optree any more."""
    if _left:
        return
    _turn_over()
    inside = set(_frames_with_optree())  # those that come later find the new functions
    end = time.monotonic() + _PATIENCE_S
    while inside and time.monotonic() < end:
        time.sleep(_POLL_S)
        inside &= set(_frames_with_optree())
    _left.append(True)


def _turn_over() -> None:
    late: Any = plain_trees
    optree: Any = pytrees
    late.know(optree.register_pytree_node.get(namespace=NAMESPACE), namedtuple)
    _put(optree, late)


def _put(stand_in: Any, library: Any) -> None:
    for name in library.__all__:
        setattr(stand_in, name, getattr(library, name))


def same_structure(one: Any, other: Any) -> bool:
    """Whether two structures are equal, also where the end of the process came between them."""
    late: Any = plain_trees
    return one == other or (type(one) is not type(other) and late.structure_of(one) == late.structure_of(other))


def _frames_with_optree() -> Iterator[FrameType]:
    """Calls of functions that name `pytrees`, on all other threads: they may be in optree, or go there next."""
    frames_now = getattr(sys, "_current_frames", dict[int, FrameType])
    for thread, top in frames_now().items():
        frame: FrameType | None = top if thread != get_ident() else None
        while frame is not None:
            if frame.f_globals.get("pytrees") is pytrees:
                yield frame
            frame = frame.f_back


if TYPE_CHECKING:
    import optree as pytrees

    from uopc_core import plain_trees
else:
    pytrees = LazyModule("optree", computes=True, then=_leave_in_the_end)
    plain_trees = LazyModule("uopc_core.plain_trees", computes=True)
before_finalizers(leave_optree)
when_main_ends(_begin_to_end)
