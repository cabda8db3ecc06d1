"""The function that appends columns, read row by row, to a reduction which takes one column after the other.

A block of the order in `c_reduce.py` mostly lies in one column. What comes before its first whole block belongs to a
block that an earlier column has begun, so it waits until that is done; of all else the accumulators of all columns are
filled side by side, a row of memory at a time, and the results of blocks are combined in their order afterwards.
"""

from __future__ import annotations

from uopc_core.codegen.c_ops import Need, combine
from uopc_core.codegen.c_reduce import need_flush, need_fold, type_and_name
from uopc_core.codegen.c_types import literal
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import identity_of

__all__ = ["LINE_BYTES", "need_append_columns"]

LINE_BYTES = 64  # of the cache, that come and go together
_AHEAD = 16  # rows, of which the machine does not see by itself that they will be read


def need_append_columns(need: Need, acc: Acc, lanes: int, columns: int) -> str:
    """Define the function that appends `m` columns, at most `columns`, of `n` elements each; they lie in rows that are
    `apart` from each other.
    """
    t, name = type_and_name(acc, lanes)
    fold, flush, rows = need_fold(need, acc, lanes), need_flush(need, acc, lanes), _need_rows(need, acc, lanes, columns)
    first, block = literal(identity_of(acc.op, acc.dtype), acc.dtype), 16 * lanes
    name = f"append_{columns}_columns_{name}"
    need(
        name,
        f"/* accumulator r of a column takes rows r + {lanes} i; in the order of all it is number begin + r */\n"
        f"static void {name}({t} *restrict tree, int64_t *blocks, {t} *restrict acc, int64_t *at, "
        f"const {t} *restrict x, int64_t apart, int64_t n, int64_t m) {{\n"
        f"    {t} lane[{lanes}][{columns}], total[n / {block} + 1][{columns}], whole[{lanes}];\n"
        f"    int64_t begin[{columns}], head[{columns}], row = 0;\n"
        f"    int order[{columns}];\n"
        "    for (int c = 0; c < m; c++) {\n"
        f"        begin[c] = (*at + c * n) % {block}, head[c] = ({block} - begin[c]) % {block};\n"
        "        int i = c;\n"
        "        for (; i && head[order[i - 1]] > head[c]; i--) order[i] = order[i - 1];\n"
        "        order[i] = c;\n"
        "    }\n"
        f"    for (int r = 0; r < {lanes}; r++)\n"
        f"        for (int c = 0; c < {columns}; c++) lane[r][c] = {first};\n"
        f"    for (int64_t done = 0; done <= n; done += {block})\n"
        "        for (int i = 0; i < m; i++) {\n"
        "            const int c = order[i];\n"
        "            if (done + head[c] > n) break;\n"
        f"            {rows}(lane, x, apart, row, done + head[c], m);\n"
        "            row = done + head[c];\n"
        f"            for (int r = 0; r < {lanes}; r++) {{\n"
        f"                whole[(begin[c] + r) % {lanes}] = lane[r][c];\n"
        f"                lane[r][c] = {first};\n"
        "            }\n"
        f"            if (done) total[done / {block} - 1][c] = {fold}(whole);\n"
        "        }\n"
        f"    {rows}(lane, x, apart, row, n, m);\n"
        "    for (int c = 0; c < m; c++) {\n"
        "        const int64_t h = head[c] < n ? head[c] : n;\n"
        f"        for (int64_t j = 0; j < h; j++) {{ {t} *const a = &acc[(*at + j) % {lanes}]; "
        f"*a = {combine(need, acc.op, acc.dtype, 'x[j * apart + c]', '*a')}; }}\n"
        "        *at += h;\n"
        f"        if (*at == {block}) {flush}(tree, (*blocks)++, acc), *at = 0;\n"
        "        if (head[c] > n) continue;\n"
        f"        for (int64_t b = 0; b < (n - h) / {block}; b++) {{\n"
        f"            {t} x = total[b][c];\n"
        "            int level = 0;\n"
        "            for (int64_t k = (*blocks)++; k & 1; k >>= 1, level++) "
        f"x = {combine(need, acc.op, acc.dtype, 'x', 'tree[level]')};\n"
        "            tree[level] = x;\n"
        "        }\n"
        f"        *at = (n - h) % {block};\n"
        f"        if (*at) for (int r = 0; r < {lanes}; r++) acc[(begin[c] + r) % {lanes}] = lane[r][c];\n"
        "    }\n}",
    )
    return name


def _need_rows(need: Need, acc: Acc, lanes: int, columns: int) -> str:
    """Define the function that gives rows to the accumulators of their columns."""
    t, name = type_and_name(acc, lanes)
    name = f"rows_{name}_{columns}"
    per_line = LINE_BYTES // acc.dtype.itemsize
    step = combine(need, acc.op, acc.dtype, "v[c]", "a[c]")
    need(
        name,
        f"static void {name}({t} (*restrict lane)[{columns}], const {t} *restrict x, int64_t apart, int64_t row, "
        "int64_t end, int64_t m) {\n"
        "    for (; row < end; row++) {\n"
        f"        {t} *restrict a = lane[row % {lanes}];\n"
        f"        const {t} *restrict v = x + row * apart;\n"
        f"        for (int c = 0; c < {columns}; c += {per_line}) __builtin_prefetch(v + {_AHEAD} * apart + c);\n"
        f"        if (m == {columns})\n"
        "#pragma omp simd\n"
        f"            for (int c = 0; c < {columns}; c++) a[c] = {step};\n"
        "        else\n"
        f"            for (int64_t c = 0; c < m; c++) a[c] = {step};\n"
        "    }\n}",
    )
    return name
