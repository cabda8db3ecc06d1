"""NumPy evaluation of a graph of a few nodes, at once: each value by need, without making a program of the graph.

The rules, and so every bit, are those of `numpy_interp.NumPyProgram`, which is for graphs that are large, deep (this
recurses) or run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.interpret.rules import Array, call_of, hand_out, viewed
from uopc_core.ir.calls import key_of_call
from uopc_core.ir.op import CALLS, Ops
from uopc_core.ir.uop import UOp

__all__ = ["evaluate_now"]

_CONST = Ops.CONST


def evaluate_now(roots: Sequence[UOp]) -> list[Array]:
    """The values of `roots`, whose leaves are in memory.

    Returns:
        One array per root: C-contiguous, of exactly its shape and dtype, sharing memory with nothing else.
    Raises:
        IndexBoundsError: a gather or scatter met an index outside its axis.
    """
    values: dict[Any, Any] = {}
    with np.errstate(all="ignore"):
        for root in roots:
            _value(root, values)
    results: list[Array] = []
    given: set[UOp | None] = {None}
    for root in roots:
        owner = _owner(root)
        results.append(hand_out(values[root], root, owner in given))
        given.add(owner)
    return results


def _value(node: UOp, values: dict[Any, Any]) -> Any:
    value = values.get(node)
    if value is not None:
        return value
    src = node.src  # before the op, see `UOp.settle`
    op = node.op
    if node.realized is not None:
        value = node.realized.array
    elif op is _CONST:
        value = np.array(node.arg, node.dtype)
    elif op in CALLS:
        value = _outputs_of_call(node, op, src, values)[node.arg[-1]]
    else:
        try:
            function, sources = call_of(node, op, src)
        except IndexError:
            assert node.realized is not None, node  # another thread has computed the node since
            value = node.realized.array
        else:
            value = function(*[_value(s, values) for s in sources])
    values[node] = value
    return value


def _outputs_of_call(node: UOp, op: Ops, src: Sequence[UOp], values: dict[Any, Any]) -> Any:
    """All that the call gives, of which there may be a node each."""
    key = key_of_call(node, src)
    if key not in values:
        function, sources = call_of(node, op, src)
        values[key] = function(*[_value(s, values) for s in sources])
    return values[key]


def _owner(node: UOp) -> UOp | None:
    """The node whose value has the memory of this one's; None where that is not ours to hand out."""
    src = node.src  # before the op, see `UOp.settle`
    while (source := viewed(node.op, src)) is not None and node.realized is None:
        node, src = source, source.src
    return None if node.realized is not None or node.op is _CONST else node
