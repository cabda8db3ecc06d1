"""Helper functions of reductions along memory.

A block of values goes to 32 accumulators in turn; sums of floats start anew with every block, and blocks are added like the digits of a
binary counter carry, so that the error grows as in pairwise summation (Higham 1993, "The accuracy of floating point summation"). The order is fixed:
it depends on the number of elements alone.
"""

from __future__ import annotations

from uopc_core.codegen.c_ops import Need, combine
from uopc_core.codegen.c_types import C_TYPES, SUFFIXES
from uopc_core.dtype import DType, is_inexact
from uopc_core.ir.op import Ops
from uopc_core.loop.loop_ir import Acc, RowReduce

__all__ = ["BLOCK", "LANES", "need_fold", "need_gather", "need_push", "needs_tree"]

LANES = 32
BLOCK = 512


def needs_tree(acc: Acc, item: RowReduce) -> bool:
    """Whether it is a sum of so many floats that blocks of them are added pairwise."""
    return acc.op is Ops.ADD and is_inexact(acc.dtype) and item.extent * item.repeats > BLOCK


def need_gather(need: Need, acc: Acc) -> str:
    """Define the function that accumulates a block; returns its name."""
    t, name = C_TYPES[acc.dtype], f"{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}"
    step = combine(need, acc.op, acc.dtype, "acc[k]", "x[l + k]")
    need(
        f"{name}_lanes",
        f"static inline void {name}_lanes({t} *restrict acc, const {t} *restrict x, int64_t m) {{\n"
        "    int64_t l = 0;\n"
        f"    for (; l + {LANES} <= m; l += {LANES})\n"
        "#pragma omp simd\n"
        f"        for (int k = 0; k < {LANES}; k++) acc[k] = {step};\n"
        f"    for (int64_t k = 0; l + k < m; k++) acc[k] = {step};\n}}",
    )
    return f"{name}_lanes"


def need_push(need: Need, dtype: DType) -> str:
    """Define the functions that put a finished block among the sums of 1, 2, 4, ... blocks, and that add up what is there."""
    t, name = C_TYPES[dtype], f"push_{SUFFIXES[dtype]}"
    need(
        name,
        f"static __attribute__((noinline)) void {name}({t} (*tree)[{LANES}], int64_t blocks, {t} *restrict acc) {{\n"
        "    int level = 0;\n"
        "    for (; blocks & 1; blocks >>= 1, level++)\n"
        f"        for (int k = 0; k < {LANES}; k++) acc[k] = tree[level][k] + acc[k];\n"
        f"    for (int k = 0; k < {LANES}; k++) tree[level][k] = acc[k], acc[k] = 0;\n}}\n"
        f"static __attribute__((noinline)) void merge_{SUFFIXES[dtype]}({t} (*tree)[{LANES}], int64_t blocks, {t} *restrict acc) {{\n"
        "    for (int level = 0; blocks; blocks >>= 1, level++)\n"
        "        if (blocks & 1)\n"
        f"            for (int k = 0; k < {LANES}; k++) acc[k] = tree[level][k] + acc[k];\n}}",
    )
    return name


def need_fold(need: Need, acc: Acc) -> str:
    """Define the function that combines the accumulators in a tree; returns its name."""
    t, name = C_TYPES[acc.dtype], f"fold_{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}"
    step = combine(need, acc.op, acc.dtype, "acc[k]", "acc[k + w]")
    need(
        name,
        f"static inline {t} {name}({t} *restrict acc) {{\n"
        f"    for (int w = {LANES // 2}; w; w >>= 1)\n"
        f"        for (int k = 0; k < w; k++) acc[k] = {step};\n"
        "    return acc[0];\n}",
    )
    return name
