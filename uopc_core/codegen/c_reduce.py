"""Helper functions of reductions.

The elements that a reduction combines are numbered in the order of its axes. Up to 16 are combined one after the other.
More go in blocks to 8 or 32 accumulators in turn; those of a block are combined in pairs, like the digits of a
bit-reversed number, and blocks like the digits of a binary counter carry, so that the error of a sum grows as in
pairwise summation (Higham 1993, "The accuracy of floating point summation"). This order depends on the number of
elements alone: not on where they are in memory, nor on the loops that compute them. The later of two operands comes
first in `combine`: where an extreme finds two alike, zeros of both signs, the earlier one stays.
"""

from __future__ import annotations

from uopc_core.codegen.c_ops import Need, combine
from uopc_core.codegen.c_types import C_TYPES, SUFFIXES, literal
from uopc_core.dtype import DType, is_float
from uopc_core.ir.op import SUM_BLOCK, Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import IN_TURN, identity_of, is_ordered

__all__ = [
    "SCALAR",
    "SCAN_LEVELS",
    "SHORT",
    "block_of",
    "has_order_of_zeros",
    "lanes_of",
    "need_append",
    "need_extreme",
    "need_flush",
    "need_fold",
    "need_gather",
    "need_lane_order",
    "need_push_row",
    "need_running_sum",
    "need_total",
    "need_total_row",
    "needs_tree",
    "type_and_name",
]

# Loops of few iterations are not worth the time that the compiler takes to vectorise them.
SCALAR = '#define SCALAR __asm__ volatile("") /* keeps the few iterations of a rest from being vectorised */'
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


def type_and_name(acc: Acc, lanes: int = 0) -> tuple[str, str]:
    """The C type of an accumulator, and what the names of its functions end in."""
    return C_TYPES[acc.dtype], f"{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}{f'x{lanes}' if lanes else ''}"


def need_gather(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that accumulates a block; returns its name."""
    t, name = type_and_name(acc, lanes)
    step = combine(need, acc.op, acc.dtype, "x[k]", "acc[k]")
    need("SCALAR", SCALAR)
    need(
        f"{name}",
        f"/* {lanes} accumulators take the {_NOUNS[acc.op]} of m elements in turn */\n"
        f"static inline void {name}({t} *restrict acc, const {t} *restrict x, int64_t m) {{\n"
        f"    for (; m >= {lanes}; m -= {lanes}, x += {lanes})\n"
        "#pragma omp simd\n"
        f"        for (int k = 0; k < {lanes}; k++) acc[k] = {step};\n"
        f"    for (int64_t k = 0; k < m; k++) {{ acc[k] = {step}; SCALAR; }}\n}}"
        if lanes > 1
        else f"static inline void {name}({t} *restrict acc, const {t} *restrict x, int64_t m) {{\n"
        f"    for (int k = 0; m > 0; m--, x++) acc[k] = {step};\n}}",
    )
    return f"{name}"


def need_flush(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that combines the accumulators of a block, hands the result on, and starts anew."""
    t, name = type_and_name(acc, lanes)
    name = f"flush_{name}"
    fold = need_fold(need, acc, lanes)
    step = combine(need, acc.op, acc.dtype, "x", "tree[level]")
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    need(
        name,
        "/* blocks are combined as a binary counter carries: tree[k] is the result of 2^k of them */\n"
        f"static void {name}({t} *restrict tree, int64_t blocks, {t} *restrict acc) {{\n"
        f"    {t} x = {fold}(acc);\n"
        "    int level = 0;\n"
        f"    for (; blocks & 1; blocks >>= 1, level++) x = {step};\n"
        "    tree[level] = x;\n"
        "#pragma omp simd\n"
        f"    for (int k = 0; k < {lanes}; k++) acc[k] = {first};\n}}",
    )
    return name


def need_total(need: Need, acc: Acc) -> str:
    """Define the function that combines what there is in a tree of one or more blocks."""
    t, name = type_and_name(acc)
    name = f"total_{name}"
    step = combine(need, acc.op, acc.dtype, "x", "tree[level]")
    need(
        name,
        f"static {t} {name}(const {t} *restrict tree, int64_t blocks) {{\n"
        "    int level = __builtin_ctzll((uint64_t)blocks);\n"
        f"    {t} x = tree[level++];\n"
        f"    for (blocks >>= level; blocks; blocks >>= 1, level++)\n"
        f"        if (blocks & 1) x = {step};\n"
        "    return x;\n}",
    )
    return name


def need_extreme(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that ends the extreme of a row of memory, taken without its blocks. They only decide between
    zeros of both signs: where it is a zero, it is the first one that their order meets.
    """
    t, name = type_and_name(acc, lanes)
    suffix, block, order = SUFFIXES[acc.dtype], 16 * lanes, need_lane_order(need, lanes)
    need(
        f"first_zero_{suffix}",
        f"static __attribute__((noinline)) {t} first_zero_{suffix}(const {t} *restrict x, int64_t n) {{\n"
        f"    for (int64_t i = 0; i < n; i += {block})\n"
        f"        for (int k = 0; k < {lanes}; k++)\n"
        f"            for (int64_t j = i + {order}[k]; j < i + {block} && j < n; j += {lanes})\n"
        "                if (x[j] == 0) return x[j];\n"
        "    return 0;\n}",
    )
    name = f"extreme_{name}"
    need(  # not part of its caller, whose loops would suffer
        name,
        f"static __attribute__((noinline)) {t} {name}({t} *restrict acc, const {t} *restrict x, int64_t n) {{\n"
        f"    const {t} found = {need_fold(need, acc, lanes)}(acc);\n"
        f"    return found == 0 ? first_zero_{suffix}(x, n) : found;\n}}",
    )
    return name


def need_append(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that takes elements which are not whole blocks, from the middle of a block on."""
    t, name = type_and_name(acc, lanes)
    block = 16 * lanes
    gather, flush = need_gather(need, acc, lanes), need_flush(need, acc, lanes)
    step = combine(need, acc.op, acc.dtype, "*x", "acc[lane]")
    name = f"append_{name}"
    need(
        name,
        "/* m more elements, of which the first is number `at` of its block */\n"
        f"static void {name}({t} *restrict tree, int64_t *blocks, {t} *restrict acc, int64_t *at, "
        f"const {t} *restrict x, int64_t m) {{\n"
        "    while (m > 0) {\n"
        f"        int64_t k = {block} - *at;\n"
        "        if (k > m) k = m;\n"
        f"        int64_t lane = *at % {lanes};\n"
        "        *at += k, m -= k;\n"
        f"        for (; lane && k; lane = (lane + 1) % {lanes}, x++, k--) {{ acc[lane] = {step}; SCALAR; }}\n"
        f"        {gather}(acc, x, k);\n"
        "        x += k;\n"
        f"        if (*at < {block}) return;\n"
        f"        {flush}(tree, (*blocks)++, acc);\n"
        "        *at = 0;\n"
        "    }\n}",
    )
    return name


def need_running_sum(need: Need, dtype: DType) -> str:
    """Define the function that takes the sum of a block of a cumulative sum, and gives what comes before the next."""
    t, name = C_TYPES[dtype], f"running_{SUFFIXES[dtype]}"
    need(
        name,
        f"/* the cumulative sum of blocks is one in blocks of {SUM_BLOCK} itself */\n"
        f"static __attribute__((noinline)) {t} {name}({t} *restrict inside, {t} *restrict before, int64_t *restrict n, "
        f"{t} x) {{\n"
        f"    {t} out = 0;\n"
        "    for (int level = 0;; level++) {\n"
        "        inside[level] = n[level] ? inside[level] + x : x;\n"
        f"        const {t} sum = before[level] + inside[level];\n"
        "        if (level) before[level - 1] = sum;\n"
        "        else out = sum;\n"
        f"        if (++n[level] < {SUM_BLOCK}) return out;\n"
        "        n[level] = 0, x = inside[level];\n"
        "    }\n}",
    )
    return name


# ------------------------------------------------------------------------------------- many reductions, side by side


def need_lane_order(need: Need, lanes: int) -> str:
    """Define the order in which accumulators are combined as a binary counter carries: their numbers, bits reversed."""
    bits = lanes.bit_length() - 1
    numbers = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(lanes)]
    need(f"lane{lanes}", f"static const unsigned char lane{lanes}[{lanes}] = {{{', '.join(map(str, numbers))}}};")
    return f"lane{lanes}"


def need_push_row(need: Need, acc: Acc, tile: int) -> str:
    """Define the function that adds a row of values to a tree of rows."""
    t, name = type_and_name(acc)
    name = f"push_row_{name}"
    step = combine(need, acc.op, acc.dtype, "x[l]", "tree[level][l]")
    need(
        name,
        "/* rows are combined as a binary counter carries: tree[k] is the result of 2^k of them */\n"
        f"static void {name}({t} (*restrict tree)[{tile}], int64_t rows, {t} *restrict x, int64_t m) {{\n"
        "    int level = 0;\n"
        "    for (; rows & 1; rows >>= 1, level++)\n"
        "#pragma omp simd\n"
        f"        for (int64_t l = 0; l < m; l++) x[l] = {step};\n"
        f"    __builtin_memcpy(tree[level], x, m * sizeof({t}));\n}}",
    )
    return name


def need_total_row(need: Need, acc: Acc, tile: int) -> str:
    """Define the function that combines what there is in a tree of one or more rows."""
    t, name = type_and_name(acc)
    name = f"total_row_{name}"
    step = combine(need, acc.op, acc.dtype, "x[l]", "tree[level][l]")
    need(
        name,
        f"static void {name}({t} (*restrict tree)[{tile}], int64_t rows, {t} *restrict x, int64_t m) {{\n"
        "    int level = __builtin_ctzll((uint64_t)rows);\n"
        f"    __builtin_memcpy(x, tree[level++], m * sizeof({t}));\n"
        "    for (rows >>= level; rows; rows >>= 1, level++)\n"
        "        if (rows & 1)\n"
        "#pragma omp simd\n"
        f"            for (int64_t l = 0; l < m; l++) x[l] = {step};\n}}",
    )
    return name


def need_fold(need: Need, acc: Acc, lanes: int) -> str:
    """Define the function that combines the accumulators in a tree; returns its name."""
    t, name = type_and_name(acc, lanes)
    name = f"fold_{name}"
    if lanes == 1:
        need(name, f"static inline {t} {name}({t} *restrict acc) {{ return acc[0]; }}")
        return name

    def pair(a: str, b: str) -> str:
        return combine(need, acc.op, acc.dtype, b, a)

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
