"""What the transforms trace with: fresh numbers, substitution of nodes, the error for code that needs a value, and the
record of what a running trace does to handles.

Records stand in a stack of the thread; another thread sees none of them, and no lock is held while they do.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from uopc_core import TRACED, TRACKED, Ops, UOp, name_of, walk
from uopc_core.errors import GradientError, TraceError
from uopc_core.lazy import LazyModule

if TYPE_CHECKING:
    import signal
else:
    signal = LazyModule("signal", computes=True)

__all__ = [
    "RUNNING",
    "Record",
    "Shadow",
    "StateNeededError",
    "current_record",
    "depends",
    "enter",
    "leave",
    "note_new",
    "note_write",
    "records",
    "refuse_exit",
    "run_user",
    "substitute",
    "trace_error",
    "user_line",
]

_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 2))
_PACKAGES = tuple(
    folder + os.sep
    for folder in (
        *(os.path.join(_ROOT, name) for name in ("uopc_array", "uopc_core")),
        os.path.dirname(os.path.abspath(np.__file__)),
    )
)
RUNNING: set[int] = set()  # numbers of the variables whose function runs now
_REMEDIES = {
    "jit": "choose by value with xp.where, mark the argument static (static_argnums), "
    "or move this line out of the jitted function",
    "vmap": "choose by value with xp.where, leave the argument unmapped (None in in_axes), "
    "or move this line out of the mapped function",
}


@dataclass(eq=False)
class Shadow:
    """What a handle older than a trace is within it: the slots of the handle that the trace sees and changes.

    Attributes:
        handle: the handle, whose own slots stay as they are for everybody else.
        is_open: the trace sees it.
    """

    handle: Any
    _own_node: UOp
    _own_alias: Any
    is_open: bool = False


@dataclass(eq=False)
class Record:
    """A running trace.

    Attributes:
        transform: the name of what traces, for messages: jit, vmap.
        function: the name of the function that is traced.
        around: inputs that are no arguments: arrays around the function and in objects.
        shadows: the handles older than the trace that it knows, by their identity.
        created: handles made on nodes without a value.
        written: other handles that got such a node, with the node that they had.
        weak: nodes of Python integers, of the inputs and computed from them.
        frame: what calls the function.
        handlers: code that is no part of the function, though it may run in its midst.
        casts: integer nodes of such numbers that became another integer dtype, with that dtype and the operation.
    """

    transform: str
    function: str
    around: set[UOp] = field(default_factory=set[UOp])
    shadows: dict[int, Shadow] = field(default_factory=dict[int, Shadow])
    created: list[ref[Any]] = field(default_factory=list["ref[Any]"])
    written: list[tuple[ref[Any], UOp]] = field(default_factory=list["tuple[ref[Any], UOp]"])
    weak: list[UOp] = field(default_factory=list[UOp])
    frame: FrameType | None = None
    handlers: frozenset[CodeType] = frozenset()
    casts: list[tuple[UOp, Any, str]] = field(default_factory=list["tuple[UOp, Any, str]"])


class StateNeededError(TraceError):
    """What is asked for depends on arrays around the function alone: with their values it can be traced."""


class _Stack(threading.local):
    def __init__(self) -> None:
        self.records: list[Record] = []


_stack = _Stack()


def records() -> list[Record]:
    """The traces that run in this thread, the innermost last; not those in whose midst a handler of a signal runs."""
    stack = _stack.records
    return _within_handler(stack) if stack and stack[-1].handlers else stack


def current_record() -> Record | None:
    """The innermost trace that runs in this thread."""
    found = records()
    return found[-1] if found else None


def note_new(handle: Any, uop: UOp, is_weak: bool) -> None:
    """Tell the trace that runs of a new handle, on this node."""
    record = current_record()
    if record is not None and uop.flags & TRACED:
        record.created.append(ref(handle))
        if is_weak and uop.dtype.kind == "i":
            record.weak.append(uop)


def note_write(handle: Any, uop: UOp) -> list[Any] | None:
    """Tell the trace that runs of a handle, perhaps older than itself, that is to have another node; where it is told,
    what the note is the last item of.
    """
    record = current_record()
    if record is None or not uop.flags & TRACED or (handle._node.flags & TRACED and not handle._is_shadowed):
        return None
    record.written.append((ref(handle), handle._node))
    return record.written


def enter(record: Record, frame: FrameType) -> None:
    """`record` is the innermost trace of this thread, whose function `frame` calls."""
    record.frame = frame
    record.handlers = _handlers()
    _stack.records.append(record)


def leave(record: Record) -> None:
    """`record` is none of the traces that run any more."""
    if record in _stack.records:
        _stack.records.remove(record)
    record.frame = None


def _handlers() -> frozenset[CodeType]:
    """The code of all handlers of signals that are written in Python."""
    if get_ident() != threading.main_thread().ident:  # they run there alone
        return frozenset()
    found = [getattr(signal.getsignal(number), "__code__", None) for number in range(1, signal.NSIG)]
    return frozenset([code for code in found if code is not None])


def _within_handler(stack: list[Record]) -> list[Record]:
    """Those of the traces whose function has called what runs now, and no handler in its midst."""
    here: list[Record] = []
    handlers = stack[-1].handlers
    waiting = len(stack)
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and waiting and frame.f_code not in handlers:
        while waiting and stack[waiting - 1].frame is frame:
            waiting -= 1
            here.append(stack[waiting])
        frame = frame.f_back
    return here[::-1]


def user_line() -> str:
    """The innermost line of the caller's code, outside both packages and NumPy: ``file.py, line 7: if x > 0:``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGES):
        frame = frame.f_back
    path, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, number).strip()
    return f"{path}, line {number}" + (f": {text}" if text else "")


def trace_error(what: str, uop: UOp, remedy: str = "") -> TraceError:
    """The error for `what` asking for the value of `uop` while `jit` or `vmap` traces."""
    record = current_record()
    if record is None:
        return TraceError(
            f"{what} needs a value, and this array of shape {uop.shape}, {name_of(uop.dtype)}, is left over from a "
            f"trace that has ended and has none; return it from the traced function instead. Line: {user_line()}"
        )
    remedy = remedy or _REMEDIES[record.transform]
    around = {param for running in records() for param in running.around}
    inputs = {node for node in walk([uop]) if node.op is Ops.PARAM}
    return (StateNeededError if inputs <= around else TraceError)(
        f"{what} needs a value, and inside {record.transform} an array of shape {uop.shape}, {name_of(uop.dtype)}, "
        f"has none yet; {remedy}. Line: {user_line()}"
    )


def refuse_exit(what: str, uop: UOp, remedy: str) -> None:
    """Refuse to hand out the value of `uop`, in the course of `what`, as numbers that no derivative can follow.

    Raises:
        GradientError: `uop` depends on a variable of a derivative that is being computed.
    """
    if not uop.flags & TRACKED or not RUNNING:
        return
    if any(node.op is Ops.VARIABLE and node.arg in RUNNING for node in walk((uop,))):
        raise GradientError(
            f"{what}: the value depends on what is differentiated by, and what is computed from a plain number would "
            f"count as constant; {remedy}; where a constant is meant, take it of xp.stop_gradient(x). "
            f"Line: {user_line()}"
        )


def run_user(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], numbers: Sequence[int] = (), name: str = ""
) -> Any:
    """``f(*args, **kwargs)``, a function of the user's, on variables of these numbers.

    NumPy turns an error of ours into "setting an array element with a sequence" where it fills a buffer; the user gets
    ours. A call that does not fit the function is an error of the transform `name`.
    """
    try:
        RUNNING.update(numbers)
        return f(*args, **kwargs)
    except ValueError as error:
        cause = error.__cause__
        if isinstance(cause, GradientError | TraceError):
            raise cause.with_traceback(error.__traceback__) from None
        raise
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None and "() " in str(error):
            raise TypeError(f"{name}{': ' if name else ''}the function {error}") from None
        raise
    finally:
        RUNNING.difference_update(numbers)


def depends(node: UOp, params: Collection[UOp]) -> bool:
    """Whether `node` depends on an input of a trace."""
    return bool(node.flags & TRACED) and any(x.op is Ops.PARAM and x in params for x in walk([node]))


def substitute(roots: Sequence[UOp], replacements: Mapping[UOp, UOp], mask: int) -> list[UOp]:
    """`roots` with nodes replaced, in one pass over the graph.

    Args:
        mask: flags that a node must have for anything below it to be replaced; other parts are shared, not walked.
    """
    done: dict[UOp, UOp] = dict(replacements)
    for node in walk(roots, replacements, mask):
        if node not in done:
            done[node] = _rebuild(node, done)
    return [done.get(root, root) for root in roots]


def _rebuild(node: UOp, done: Mapping[UOp, UOp]) -> UOp:
    src = tuple([done.get(s, s) for s in node.src])
    if src == node.src:
        return node
    new = node.over(src)
    if node.realized is not None:
        new.settle(node.realized)
    return new
