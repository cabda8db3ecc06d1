"""What `jit` traces with: fresh numbers, substitution of nodes, and the error for code that needs a value."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
from collections.abc import Mapping, Sequence

from uopc_core import Ops, UOp
from uopc_core.errors import TraceError

__all__ = ["fresh_number", "substitute", "trace_error", "user_line"]

_PACKAGES = tuple(
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), name) + os.sep
    for name in ("uopc_array", "uopc_core")
)
_counter = itertools.count(1)
_WITH_DTYPE = frozenset({Ops.CAST, Ops.BITCAST})


def fresh_number() -> int:
    """A number that no variable of differentiation and no input of a trace has had."""
    return next(_counter)


def user_line() -> str:
    """The innermost line of the caller's code, outside both packages: ``file.py, line 7: if x > 0:``."""
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
