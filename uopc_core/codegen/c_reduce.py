"""Helper functions of reductions along memory.

A block of values goes to 8 or 32 accumulators in turn; sums of floats start anew with every block, and blocks are added
like the digits of a binary counter carry, so that the error grows as in pairwise summation (Higham 1993, "The accuracy
of floating point summation"). The order is fixed: it depends on the number of elements alone.
"""

from __future__ import annotations

from uopc_core.codegen.c_ops import Need, combine
from uopc_core.codegen.c_types import C_TYPES, SUFFIXES
from uopc_core.dtype import DType, is_inexact
from uopc_core.ir.op import Ops
from uopc_core.loop.loop_ir import Acc, RowReduce

__all__ = ["SCALAR", "block_of", "lanes_of", "need_carry", "need_fold", "need_gather", "needs_tree"]

# Loops of few iterations are not worth the time that the compiler takes to vectorise them.
SCALAR = '#define SCALAR __asm__ volatile("") /* keeps the few iterations of a rest from being vectorised */'
_ABOUT_CARRY = (
    "/* blocks are added as a binary counter carries: tree[k] is the sum of 2^k of them, last adds up what there is */"
)
_SHORT_ROW = 128
_NOUNS = {Ops.ADD: "sum", Ops.MUL: "product", Ops.MAX: "maximum", Ops.MIN: "minimum", Ops.AND: "and", Ops.OR: "or"}


def lanes_of(item: RowReduce) -> int:
    """How many accumulators: few for short rows, which they cost more to combine than they save."""
    return 8 if item.extent < _SHORT_ROW else 32


def block_of(item: RowReduce) -> int:
    """Elements in a block: 16 for each accumulator."""
    return 16 * lanes_of(item)


def needs_tree(acc: Acc, item: RowReduce) -> bool:
    """Whether it is a sum of so many floats that blocks of them are added pairwise."""
    return acc.op is Ops.ADD and is_inexact(acc.dtype) and item.extent * item.repeats > block_of(item)


def need_gather(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that accumulates a block; returns its name."""
    t, name = C_TYPES[acc.dtype], f"{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}x{lanes}"
    step = combine(need, acc.op, acc.dtype, "x[k]", "acc[k]")
    need("SCALAR", SCALAR)
    need(
        f"{name}",
        f"/* {lanes} accumulators take the {_NOUNS[acc.op]} of m elements in turn */\n"
        f"static inline void {name}({t} *restrict acc, const {t} *restrict x, int64_t m) {{\n"
        f"    for (; m >= {lanes}; m -= {lanes}, x += {lanes})\n"
        "#pragma omp simd\n"
        f"        for (int k = 0; k < {lanes}; k++) acc[k] = {step};\n"
        f"    for (int64_t k = 0; k < m; k++) {{ acc[k] = {step}; SCALAR; }}\n}}",
    )
    return f"{name}"


def need_carry(need: Need, dtype: DType, lanes: int) -> str:
    """Define the function that adds a block to the sums of 1, 2, 4, ... blocks, and in the end adds these up."""
    t, name = C_TYPES[dtype], f"carry_{SUFFIXES[dtype]}x{lanes}"
    need(
        name,
        f"{_ABOUT_CARRY}\n"
        f"static void {name}({t} (*tree)[{lanes}], int64_t blocks, {t} *restrict acc, _Bool last) {{\n"
        "    int level = 0;\n"
        "    for (; blocks && (last || blocks & 1); blocks >>= 1, level++)\n"
        "        if (blocks & 1)\n"
        "#pragma omp simd\n"
        f"            for (int k = 0; k < {lanes}; k++) acc[k] = tree[level][k] + acc[k];\n"
        "    if (last) return;\n"
        "#pragma omp simd\n"
        f"    for (int k = 0; k < {lanes}; k++) tree[level][k] = acc[k], acc[k] = 0;\n}}",
    )
    return name


def need_fold(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that combines the accumulators in a tree; returns its name."""
    t, name = C_TYPES[acc.dtype], f"fold_{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}x{lanes}"

    def pair(a: str, b: str) -> str:
        return combine(need, acc.op, acc.dtype, a, b)

    halvings = [
        f"#pragma omp simd\n    for (int k = 0; k < {w}; k++) acc[k] = {pair('acc[k]', f'acc[k + {w}]')};\n"
        for w in (lanes // 2, lanes // 4)
        if w >= 8
    ]
    need(
        name,
        "/* the accumulators, combined in pairs */\n"
        f"static inline {t} {name}({t} *restrict acc) {{\n{''.join(halvings)}"
        f"    const {t} a = {pair('acc[0]', 'acc[4]')}, b = {pair('acc[1]', 'acc[5]')};\n"
        f"    const {t} c = {pair('acc[2]', 'acc[6]')}, d = {pair('acc[3]', 'acc[7]')};\n"
        f"    const {t} e = {pair('a', 'c')}, f = {pair('b', 'd')};\n"
        f"    return {pair('e', 'f')};\n}}",
    )
    return name
