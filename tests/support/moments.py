"""Let something happen in the midst of a function, at one moment after the other.

CPython looks for signals and for other threads where a function begins, after a call and where a loop begins again. So
these are the moments at which a handler may run, `KeyboardInterrupt` may be raised, or another thread may take over;
a tracing function stands in for all three, which makes every moment certain instead of rare.
"""

import dis
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

__all__ = ["count_moments", "happen_at", "moments_among"]

_ROOT = Path(__file__).parents[2]
_OURS = tuple(str(_ROOT / package) for package in ("uopc_core", "uopc_array"))


@cache
def _moments_of(code: CodeType) -> frozenset[int]:
    """Offsets of the instructions before which the interpreter looks around."""
    found: set[int] = set()
    before = ""
    for instruction in dis.get_instructions(code):
        if before.startswith("CALL"):
            found.add(instruction.offset)
        before = instruction.opname
        if before == "JUMP_BACKWARD":
            found.add(instruction.argval)
    return frozenset(found)


class _Tracer:
    def __init__(self, number: int, happening: Callable[[], object]) -> None:
        self.left = number
        self.happening = happening

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call" or (event == "opcode" and frame.f_lasti in _moments_of(frame.f_code)):
            self.left -= 1
            if self.left == -1:
                self.happening()
        return self


def happen_at(number: int, function: Callable[[], Any], happening: Callable[[], object]) -> Any:
    """``function()``, with ``happening()`` at the moment of this number within the packages; what that raises, the
    packages' code raises there.
    """
    before = sys.gettrace()
    sys.settrace(_Tracer(number, happening))
    try:
        return function()
    finally:
        sys.settrace(before)


def count_moments(function: Callable[[], Any]) -> int:
    """How many moments a call of `function` has."""
    tracer = _Tracer(-1, lambda: None)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        function()
    finally:
        sys.settrace(before)
    return -1 - tracer.left


def moments_among(function: Callable[[], Any], most: int) -> Iterator[int]:
    """The numbers of all moments of `function`, or of `most` of them, evenly spread and the ends among them."""
    n = count_moments(function)
    yield from sorted({round(i * (n - 1) / max(1, min(n, most) - 1)) for i in range(min(n, most))})
