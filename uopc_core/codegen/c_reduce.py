"""Helper functions of reductions.

The elements that a reduction combines are numbered in the order of its axes. Up to 16 are combined one after the other.
More go in blocks to 8 or 32 accumulators in turn; those of a block are combined in pairs, like the digits of a
bit-reversed number, and blocks like the digits of a binary counter carry, so that the error of a sum grows as in
pairwise summation (Higham 1993, "The accuracy of floating point summation"). This order depends on the number of
elements alone: not on where they are in memory, nor on the loops that compute them. The later of two operands comes
first in `combine`: where an extreme finds two alike, zeros of both signs, the earlier one stays.
"""

from __future__ import annotations

from uopc_core.codegen.c_ops import combine
from uopc_core.codegen.c_types import literal
from uopc_core.codegen.helpers import Combine, Need, helper
from uopc_core.dtype import DType, is_complex, is_float
from uopc_core.ir.op import SUM_BLOCK, Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import IN_TURN, identity_of, is_ordered

__all__ = [
    "EXTREMES",
    "SCAN_LEVELS",
    "SHORT",
    "block_of",
    "has_order_of_zeros",
    "lanes_of",
    "need_append",
    "need_clear",
    "need_extreme",
    "need_extreme_of_row",
    "need_flush",
    "need_fold",
    "need_gather",
    "need_lane_order",
    "need_push_row",
    "need_row",
    "need_rows",
    "need_running_sum",
    "need_total",
    "need_total_row",
    "need_united",
    "needs_tree",
    "reduction_helper",
    "sizes_of_rows",
]

SHORT = 128  # elements from which many accumulators pay
EXTREMES = frozenset({Ops.MAX, Ops.MIN})
SCAN_LEVELS = 10  # blocks of blocks of a cumulative sum; of more elements than there are addresses
_NOUNS = {Ops.ADD: "sum", Ops.MUL: "product", Ops.MAX: "maximum", Ops.MIN: "minimum", Ops.AND: "and", Ops.OR: "or"}


def lanes_of(n: int) -> int:
    """How many accumulators `n` elements go to: few where they cost more to combine than they save."""
    return 1 if n <= IN_TURN else 8 if n < SHORT else 32


def block_of(n: int) -> int:
    """Elements in a block: 16 for each accumulator."""
    return 16 * lanes_of(n)


def needs_tree(acc: Acc, n: int) -> bool:
    """Whether blocks of the `n` elements are combined apart, the order of which matters."""
    return is_ordered(acc) and n > block_of(n)


def has_order_of_zeros(acc: Acc) -> bool:
    """Whether the order can be seen only where the result is zero, by its sign."""
    return acc.op in EXTREMES and is_float(acc.dtype)


def reduction_helper(
    need: Need, name: str, acc: Acc, times: Combine | None = None, /, **numbers: DType | int | str
) -> str:
    """Have a definition of the header in the source, for the op and the dtype of `acc`; returns its name.

    Args:
        times: see `helper`.
    """

    def step(a: str, b: str) -> str:
        return combine(need, acc.op, acc.dtype, a, b)

    words = {"OP": acc.op.name.lower(), "NOUN": _NOUNS[acc.op], "BETTER": "<" if acc.op is Ops.MIN else ">"}
    words["UNORDERED"] = "__builtin_isunordered"
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    return helper(need, name, step, times, T=acc.dtype, FIRST=first, **words, **numbers)


def need_gather(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that accumulates a block; returns its name."""
    return reduction_helper(need, "OP_TxLANES", acc, LANES=lanes)


def need_clear(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that empties accumulators."""
    return reduction_helper(need, "clear_OP_TxLANES", acc, LANES=lanes)


def need_flush(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that combines the accumulators of a block, hands the result on, and starts anew."""
    return reduction_helper(need, "flush_OP_TxLANES", acc, LANES=lanes)


def need_total(need: Need, acc: Acc) -> str:
    """Define the function that combines what there is in a tree of one or more blocks."""
    return reduction_helper(need, "total_OP_T", acc)


def need_united(need: Need, acc: Acc) -> str:
    """Define the function that combines the results of parts of one reduction."""
    return reduction_helper(need, "united_OP_T", acc)


def need_extreme(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that ends the extreme of a row of memory, taken without its blocks. They only decide between
    zeros of both signs: where it is a zero, it is the first one that their order meets.
    """
    return reduction_helper(need, "extreme_OP_TxLANES", acc, LANES=lanes, BLOCK=16 * lanes)


def need_extreme_of_row(need: Need, acc: Acc) -> str:
    """Define the function that takes the extreme of a row of memory, of `SHORT` elements or more."""
    many = lanes_of(SHORT)
    need_gather(need, acc, many)
    need_fold(need, acc, many)
    reduction_helper(need, "first_zero_TxLANES", acc, LANES=many, BLOCK=block_of(SHORT))
    return reduction_helper(need, "extreme_OP_T", acc, MANY=many, BLOCK=block_of(SHORT))


def need_append(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that takes elements which are not whole blocks, from the middle of a block on."""
    beside = 0 if is_complex(acc.dtype) else 1  # the product of a complex number and 1 may be another
    return reduction_helper(need, "append_OP_TxLANES", acc, LANES=lanes, BLOCK=16 * lanes, SIDE_BY_SIDE=beside)


def need_fold(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that combines the accumulators in a tree; returns its name."""
    return reduction_helper(need, "fold_OP_TxLANES", acc, LANES=lanes)


def need_running_sum(need: Need, dtype: DType) -> str:
    """Define the function that takes the sum of a block of a cumulative sum, and gives what comes before the next."""
    return helper(need, "running_T", T=dtype, SUM_BLOCK=SUM_BLOCK)


# ------------------------------------------------------------------------------------- many reductions, side by side


def need_lane_order(need: Need, lanes: int) -> str:
    """Define the order in which accumulators are combined as a binary counter carries: their numbers, bits reversed."""
    return helper(need, f"lane{lanes}")


def need_push_row(need: Need, acc: Acc, tile: int) -> str:
    """Define the function that adds a row of values to a tree of rows."""
    return reduction_helper(need, "push_row_OP_TxTILE", acc, TILE=tile)


def need_total_row(need: Need, acc: Acc, tile: int) -> str:
    """Define the function that combines what there is in a tree of one or more rows."""
    return reduction_helper(need, "total_row_OP_TxTILE", acc, TILE=tile)


# --------------------------------------------------------------------------------------------- a reduction by itself


def need_row(need: Need, acc: Acc) -> str:
    """Define the function that reduces a row of any length; returns its name."""
    few, many = lanes_of(SHORT - 1), lanes_of(SHORT)
    if has_order_of_zeros(acc):
        need_extreme_of_row(need, acc)
        return reduction_helper(need, "extreme_row_OP_T", acc, **sizes_of_rows(need))
    for define, lanes in ((need_gather, few), (need_fold, few), (need_gather, many), (need_flush, many)):
        define(need, acc, lanes)
    return reduction_helper(need, "row_OP_T", acc, **sizes_of_rows(need))


def need_rows(need: Need, acc: Acc, tile: int) -> str:
    """Define the function that reduces up to `tile` rows side by side; returns its name."""
    name = "extreme_rows_OP_T" if has_order_of_zeros(acc) else "rows_OP_T"
    return reduction_helper(need, name, acc, TILE=tile, **sizes_of_rows(need))


def sizes_of_rows(need: Need) -> dict[str, int | str]:
    """The words that functions of whole rows share."""
    few, many = lanes_of(SHORT - 1), lanes_of(SHORT)
    order = need_lane_order(need, many)  # that of fewer is the same, of fewer bits
    levels = {"FEW_LEVELS": few.bit_length() - 1, "LEVELS": many.bit_length(), "ORDER": order}
    return {"FEW": few, "MANY": many, "BLOCK": block_of(SHORT), "SHORT": SHORT, "IN_TURN": IN_TURN, **levels}
