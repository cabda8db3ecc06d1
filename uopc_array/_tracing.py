"""What `jit` traces with: fresh numbers, substitution of nodes, and the error for code that needs a value."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from uopc_core import TRACKED, Ops, UOp, toposort
from uopc_core.errors import GradientError, TraceError

__all__ = ["RUNNING", "fresh_number", "refuse_exit", "run_user", "substitute", "trace_error", "user_line"]

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGES = tuple(
    folder + os.sep
    for folder in (
        *(os.path.join(_HERE, name) for name in ("uopc_array", "uopc_core")),
        os.path.dirname(os.path.abspath(np.__file__)),
    )
)
_counter = itertools.count(1)
RUNNING: set[int] = set()  # numbers of the variables whose function runs now
_WITH_DTYPE = frozenset({Ops.CAST, Ops.BITCAST})


def fresh_number() -> int:
    """A number that no variable of differentiation and no input of a trace has had."""
    return next(_counter)


def user_line() -> str:
    """The innermost line of the caller's code, outside both packages and NumPy: ``file.py, line 7: if x > 0:``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGES):
        frame = frame.f_back
    path, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, number).strip()
    return f"{path}, line {number}" + (f": {text}" if text else "")


def trace_error(what: str, uop: UOp, remedy: str = "") -> TraceError:
    """The error for `what` asking for the value of `uop` while `jit` traces."""
    remedy = remedy or (
        "choose by value with xp.where, mark the argument static (static_argnums), "
        "or move this line out of the jitted function"
    )
    return TraceError(
        f"{what} needs a value, and inside jit an array of shape {uop.shape}, {uop.dtype.name}, has none yet; "
        f"{remedy}. Line: {user_line()}"
    )


def refuse_exit(what: str, uop: UOp, remedy: str) -> None:
    """Refuse to hand out the value of `uop`, in the course of `what`, as numbers that no derivative can follow.

    Raises:
        GradientError: `uop` depends on a variable of a derivative that is being computed.
    """
    if not uop.flags & TRACKED or not RUNNING:
        return
    if any(node.op is Ops.STAGE and node.arg[0] == "variable" and node.arg[1] in RUNNING for node in toposort((uop,))):
        raise GradientError(
            f"{what}: the value depends on what is differentiated by, and what is computed from a plain number would "
            f"count as constant; {remedy}; where a constant is meant, take it of xp.stop_gradient(x). "
            f"Line: {user_line()}"
        )


def run_user(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], numbers: Sequence[int] = ()) -> Any:
    """``f(*args, **kwargs)``, a function of the user's, on variables of these numbers.

    NumPy turns an error of ours into "setting an array element with a sequence" where it fills a buffer; the user gets
    ours.
    """
    RUNNING.update(numbers)
    try:
        return f(*args, **kwargs)
    except ValueError as error:
        cause = error.__cause__
        if isinstance(cause, GradientError | TraceError):
            raise cause.with_traceback(error.__traceback__) from None
        raise
    finally:
        RUNNING.difference_update(numbers)


def substitute(roots: Sequence[UOp], replacements: Mapping[UOp, UOp], mask: int) -> list[UOp]:
    """`roots` with nodes replaced, in one pass over the graph.

    Args:
        mask: flags that a node must have for anything below it to be replaced; other parts are shared, not walked.
    """
    done: dict[UOp, UOp] = dict(replacements)
    stack = list(roots)
    while stack:
        node = stack[-1]
        if node in done or not node.flags & mask:
            stack.pop()
            continue
        waiting = [s for s in node.src if s.flags & mask and s not in done]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        done[node] = _rebuild(node, done)
    return [done.get(root, root) for root in roots]


def _rebuild(node: UOp, done: Mapping[UOp, UOp]) -> UOp:
    src = tuple([done.get(s, s) for s in node.src])
    if src == node.src:
        return node
    new = UOp.new(node.op, src, node.arg, node.dtype if node.op in _WITH_DTYPE else None)
    if node.realized is not None and new.realized is None:
        new.realized = node.realized
    return new
