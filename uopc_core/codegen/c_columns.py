"""The function that appends columns, read row by row, to a reduction which takes one column after the other.

A block of the order in `c_reduce.py` mostly lies in one column. What comes before its first whole block belongs to a
block that an earlier column has begun, so it waits until that is done; of all else the accumulators of all columns are
filled side by side, a row of memory at a time, and the results of blocks are combined in their order afterwards.
"""

from __future__ import annotations

from uopc_core.codegen.c_reduce import reduction_helper
from uopc_core.codegen.helpers import Need
from uopc_core.costs import AHEAD_ROWS, LINE_BYTES
from uopc_core.loop.loop_ir import Acc

__all__ = ["LINE_BYTES", "need_append_columns"]


def need_append_columns(need: Need, acc: Acc, lanes: int, columns: int) -> str:
    """Define the function that appends `m` columns, at most `columns`, of `n` elements each; they lie in rows that are
    `apart` from each other.
    """
    numbers = {"LANES": lanes, "BLOCK": 16 * lanes, "COLUMNS": columns, "AHEAD": AHEAD_ROWS}
    per_line = LINE_BYTES // acc.dtype.itemsize
    return reduction_helper(need, "append_COLUMNS_columns_OP_TxLANES", acc, **numbers, PER_LINE=per_line)
