"""NumPy evaluation of a graph of a few nodes, at once: each value by need, without making a program of the graph.

The functions, and so every bit, are those of `numpy_interp.Program`, which is for graphs that are large, deep
(this recurses) or run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.interpret.numpy_interp import BROADCASTS, Array, hand_out
from uopc_core.interpret.numpy_ops import NUMPY_OPS, VIEWS
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["evaluate_now"]

_CONST, _EXPAND, _RESHAPE, _EXTERN = Ops.CONST, Ops.EXPAND, Ops.RESHAPE, Ops.EXTERN


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
    elif op is _EXTERN:
        value = _outputs_of_extern(node, src, values)[node.arg[2]]
    else:
        sources = _unexpanded(node, src) if op in BROADCASTS else src
        try:
            function = NUMPY_OPS[op](node)
        except IndexError:  # it looked for the sources
            assert node.realized is not None, node  # another thread has computed the node since
            value = node.realized.array
        else:
            value = function(*[_value(s, values) for s in sources])
    values[node] = value
    return value


def _outputs_of_extern(node: UOp, src: Sequence[UOp], values: dict[Any, Any]) -> Any:
    """All that the call gives, of which there may be a node each."""
    key = (node.arg[:2], src)
    if key not in values:
        values[key] = NUMPY_OPS[_EXTERN](node)(*[_value(s, values) for s in src])
    return values[key]


def _unexpanded(node: UOp, src: Sequence[UOp]) -> Sequence[UOp]:
    """The sources of an elementwise node, EXPANDs left to NumPy's broadcasting where that still gives the shape."""
    sources = [_narrow(s) if s.op is _EXPAND else s for s in src]
    for s in sources:
        if s.shape == node.shape:
            return sources
    return src


def _narrow(node: UOp) -> UOp:
    """What the EXPAND `node` broadcasts: a scalar itself where it is one, since NumPy is fastest with those."""
    src = node.src
    if node.realized is not None:
        return node
    x = src[0]
    src = x.src
    return src[0] if x.op is _RESHAPE and x.realized is None and src[0].shape == () else x


def _owner(node: UOp) -> UOp | None:
    """The node whose value has the memory of this one's; None where that is not ours to hand out."""
    while True:
        src = node.src
        if node.op not in VIEWS or node.realized is not None:
            return None if node.realized is not None or node.op is _CONST else node
        node = src[0]
