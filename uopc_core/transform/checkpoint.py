"""Checkpoints: graph -> the same graph as calls of regions, whose derivatives compute again what they need.

Nothing of what is inside is stored for a derivative: it takes the inputs, and repeats the computation (Griewank &
Walther 2000, "Revolve"; Chen et al. 2016, "Training deep nets with sublinear memory cost").
"""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.ir.calls import close
from uopc_core.ir.op import VIEW_OPS
from uopc_core.ir.uop import UOp

__all__ = ["checkpoint"]


def checkpoint(roots: Sequence[UOp], inputs: Sequence[UOp]) -> list[UOp]:
    """What `roots` compute of `inputs`, nodes below them, as one call of a region.

    Returns:
        a node for each root, of the same value and the same derivatives. One that does not depend on an input, or only
        moves one, is the root itself.
    Example:
        >>> from uopc_core.dtype import dtypes
        >>> x = UOp.param(0, (3,), dtypes.float64)
        >>> [node.op.name for node in checkpoint([x * x, x], [x])]
        ['CALL', 'PARAM']
    """
    stop = set(inputs)
    inside = [root for root in dict.fromkeys(roots) if not _only_moves(root, stop)]
    made = dict(zip(inside, close(inside, inputs).over(inputs.__getitem__), strict=True))
    return [made.get(root, root) for root in roots]


def _only_moves(node: UOp, stop: set[UOp]) -> bool:
    while node not in stop and node.op in VIEW_OPS and node.src:
        node = node.src[0]
    return node in stop
