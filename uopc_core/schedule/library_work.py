"""From which size on a product of matrices is the library's; by itself, since small graphs are asked about without the
planner.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from uopc_core.costs import LIBRARY_FACE, LIBRARY_WORK, MOST_TWICE, TILE_BYTES, TILE_ROWS, TILED_ROWS, TILED_WORK
from uopc_core.dtype import DType, is_float
from uopc_core.ir.op import VIEW_OPS, Ops
from uopc_core.ir.uop import UOp

__all__ = ["LIBRARY_WORK", "is_for_library", "is_tiled", "may_be_contraction"]


_LEAST_RESULT = 4  # elements of a product of which neither side is a vector, see below


def is_for_library(m: int, n: int, k: int) -> bool:
    """Whether the product of (m, k) and (k, n) is the library's."""
    work = m * n * k
    return work >= LIBRARY_WORK and m > 1 and n > 1 and work // max(m, n, k) >= LIBRARY_FACE


def is_tiled(dtype: DType, m: int, k: int, n: int) -> bool:
    """Whether a product that would be the library's is made in tiles of our own, if there is a compiler."""
    if not is_float(dtype) or (m * k * n > TILED_WORK and m > TILED_ROWS) or n * dtype.itemsize < 2 * TILE_BYTES:
        return False
    lanes = TILE_BYTES // dtype.itemsize
    in_tiles = -(-m // TILE_ROWS) * TILE_ROWS * -(-n // lanes) * lanes
    return m >= TILE_ROWS and in_tiles <= MOST_TWICE * m * n


def may_be_contraction(op: Ops, arg: Any, src: Sequence[UOp]) -> bool:
    """Whether a plan must decide about a node of these fields: it may be a product large enough for the library, or a
    call of a region, in which there may be one.
    """
    if op is not Ops.REDUCE:
        return op is Ops.CALL
    how, n_reduced = arg
    shape = src[0].shape
    if how is not Ops.ADD or prod(shape) < LIBRARY_WORK or prod(shape[: len(shape) - n_reduced]) < _LEAST_RESULT:
        return False
    return not _is_view_of_leaf(src[0])


def _is_view_of_leaf(node: UOp) -> bool:
    """Whether there is nothing to compute, and so nothing to multiply."""
    while True:
        src = node.src  # before the op, see `UOp.settle`
        if node.realized is not None or not src:
            return True
        if node.op not in VIEW_OPS:
            return False
        node = src[0]
