"""Helper functions of products that are summed: of two rows, and of matrices that no library multiplies.

The order of a sum is that of `c_reduce.py`, whoever computes it. Where the elements of many sums lie side by side in
memory, these are computed side by side, one accumulator of each after the other, in vectors; else one sum is computed
after another.
"""

from __future__ import annotations

from uopc_core.codegen.c_ops import C_OPS
from uopc_core.codegen.c_reduce import (
    SHORT,
    lanes_of,
    need_flush,
    need_fold,
    reduction_helper,
    sizes_of_rows,
)
from uopc_core.codegen.helpers import Combine, Need, helper
from uopc_core.costs import TILE, TILE_DEPTHS
from uopc_core.dtype import DType, is_float
from uopc_core.ir.op import Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import IN_TURN

__all__ = ["need_product", "need_product_row", "need_tiled_product"]


def need_product_row(need: Need, dtype: DType) -> str:
    """Define the function that sums the products of two rows of any length; returns its name."""
    return reduction_helper(need, "product_row_T", _sum(dtype), _times(need, dtype), **_words(need, dtype))


def need_product(need: Need, dtype: DType) -> str:
    """Define the function that multiplies two matrices of any strides; returns its name."""
    words, times = _words(need, dtype), _times(need, dtype)
    if is_float(dtype):
        names = ("vector_lane_FLOAT", "vector_few_lanes_FLOAT")
        lane, few = [helper(need, name, FLOAT=dtype, BYTES=dtype.itemsize, IN_TURN=IN_TURN) for name in names]
    else:
        lane = helper(need, "near_lane_T", None, times, T=dtype)
        few = reduction_helper(need, "few_lanes_T", _sum(dtype), times, TILE=TILE, **words)
    words |= {"LANE": lane, "FEW_LANES": few, "TILE": TILE}
    return reduction_helper(need, "product_T", _sum(dtype), times, **words)


def need_tiled_product(need: Need, dtype: DType) -> str:
    """Define the function that multiplies small matrices of real numbers in tiles; returns its name."""
    deep, runs, much = TILE_DEPTHS
    words: dict[str, int] = {"BYTES": dtype.itemsize, "DEEP": deep, "RUNS": runs, "MUCH": much}
    return helper(need, "tiled_product_FLOAT", FLOAT=dtype, **words)


def _words(need: Need, dtype: DType) -> dict[str, int | str]:
    """What stands for the words of `product_row_T`, with what it calls defined."""
    few, many = lanes_of(SHORT - 1), lanes_of(SHORT)
    need_fold(need, _sum(dtype), few)
    need_flush(need, _sum(dtype), many)
    words = sizes_of_rows(need)
    for word, lanes in (("PRODUCTS_OF_FEW", few), ("PRODUCTS_OF_MANY", many)):
        if is_float(dtype):
            words[word] = helper(need, f"vector_products_FLOATx{lanes}", FLOAT=dtype, BYTES=dtype.itemsize)
        else:
            words[word] = helper(need, "products_TxLANES", None, _times(need, dtype), T=dtype, LANES=lanes)
    return words


def _sum(dtype: DType) -> Acc:
    return Acc("acc", Ops.ADD, dtype)


def _times(need: Need, dtype: DType) -> Combine:
    return lambda a, b: C_OPS[Ops.MUL](need, (a, b), dtype, dtype)
