"""What evaluation at once (`immediate.py`) and programs (`numpy_interp.py`) agree on: which NumPy function is called on
what, whose memory a value has, and what is handed out.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from uopc_core.interpret.numpy_ops import NUMPY_OPS, VIEWS, NumpyFunction
from uopc_core.interpret.ufuncs import UFUNCS
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["Array", "call_of", "hand_out", "viewed"]

Array = np.ndarray[Any, Any]

_EXPAND, _RESHAPE = Ops.EXPAND, Ops.RESHAPE
# ops whose function broadcasts its operands
_BROADCASTS = frozenset({*UFUNCS, Ops.WHERE, Ops.COMPLEX, Ops.POW})


def call_of(
    node: UOp, op: Ops, src: Sequence[UOp], known: Container[UOp] | None = None
) -> tuple[NumpyFunction, Sequence[UOp]]:
    """The function that computes `node`, which is no leaf, and the nodes whose values it takes.

    EXPANDs among the sources of an elementwise node are left to NumPy's broadcasting where that still gives the shape.

    Args:
        op, src: of the node, the sources read first (see `UOp.settle`).
        known: the nodes that have or get a value; None: all do.
    Raises:
        IndexError: another thread has computed the node meanwhile, which has no sources now.
    """
    function = NUMPY_OPS[op](node)
    if op in _BROADCASTS:
        narrow = [_narrow(s, known) if s.op is _EXPAND else s for s in src]
        if _have_shape(narrow, node.shape):
            return function, narrow
    return function, src


def _have_shape(nodes: Sequence[UOp], shape: tuple[int, ...]) -> bool:
    """Whether nodes, each of which can be broadcast to `shape`, give that where they are broadcast together."""
    shapes = [node.shape for node in nodes]
    if shape in shapes:
        return True
    full = [s for s in shapes if len(s) == len(shape)]
    return all([any([s[axis] == n for s in full]) for axis, n in enumerate(shape)])


def _narrow(node: UOp, known: Container[UOp] | None) -> UOp:
    """What the EXPAND `node` broadcasts: a scalar itself where it is one, since NumPy is fastest with those."""
    src = node.src
    if node.realized is not None:
        return node
    x = src[0]
    if known is not None and x not in known:
        return node
    src = x.src
    is_scalar = x.op is _RESHAPE and x.realized is None and src[0].shape == ()
    return src[0] if is_scalar and (known is None or src[0] in known) else x


def viewed(op: Ops, src: Sequence[UOp]) -> UOp | None:
    """The source whose memory, or part of it, is the value of a node that is computed; None where that has its own."""
    return src[0] if op in VIEWS else None


def hand_out(value: Any, root: UOp, aliased: bool) -> Array:
    """`value` as an array of its own; `aliased` says that somebody else has its memory."""
    if type(value) is not np.ndarray:
        return np.array(value, root.dtype)
    base = value.base
    # a part of a larger array is copied too, lest it keep the rest alive
    if aliased or (base is not None and base.nbytes != value.nbytes) or not value.flags.c_contiguous:
        return np.array(value, order="C")
    return value
