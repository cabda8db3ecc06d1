"""One reduction on its own as a loop of NumPy's form ``(n)->()``, of the very functions that kernels call."""

from __future__ import annotations

from uopc_core.codegen.c_ops import combine
from uopc_core.codegen.c_reduce import (
    block_of,
    lanes_of,
    need_flush,
    need_gather,
    need_lane_order,
    need_push_row,
    need_total,
    need_total_row,
)
from uopc_core.codegen.c_types import C_TYPES, SUFFIXES, literal
from uopc_core.codegen.c_ufunc import LoopSource
from uopc_core.codegen.c_writer import Writer
from uopc_core.dtype import DType
from uopc_core.ir.op import Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import IN_TURN, identity_of

__all__ = ["render_reduction"]

_ROWS = 256  # that are reduced side by side, where they are close to each other in memory
_REGIMES = (IN_TURN, 127, 2**62)  # most elements that go to as many accumulators


def render_reduction(op: Ops, dtype: DType) -> LoopSource:
    """The loop that reduces rows of floating-point numbers by `op`, in the order that kernels keep."""
    writer = Writer()
    acc = Acc("acc", op, dtype)
    symbol = f"uopc_reduce_{op.name.lower()}_{SUFFIXES[dtype]}"
    by_lanes = {lanes_of(n): (_row(writer, acc, n), _rows(writer, acc, n)) for n in _REGIMES}
    c = C_TYPES[dtype]
    first = literal(identity_of(op, dtype), dtype)
    head = f"void {symbol}(char **args, const int64_t *dims, const int64_t *steps, void *unused) {{"
    writer.line("const int64_t n = dims[1], apart = steps[0] < 0 ? -steps[0] : steps[0];")
    writer.line(f"const _Bool side_by_side = apart < (steps[2] < 0 ? -steps[2] : steps[2]) && n > {IN_TURN};")
    writer.open(f"for (int64_t i = 0; i < dims[0]; i += side_by_side ? {_ROWS} : 1)")
    writer.line("char *out = args[1] + i * steps[1];")
    writer.line("const char *x = args[0] + i * steps[0];")
    writer.line(f"const int64_t m = dims[0] - i < {_ROWS} ? dims[0] - i : {_ROWS};")
    writer.line(f"if (n == 0) *({c} *)out = {first};")
    for most, (row, rows) in zip(_REGIMES, by_lanes.values(), strict=True):
        writer.open(f"else if (n <= {most}LL)")
        writer.line(f"if (side_by_side) {rows}(out, steps[1], x, steps[0], n, steps[2], m);")
        writer.line(f"else *({c} *)out = {row}(x, n, steps[2]);")
        writer.close()
    writer.close()
    writer.need_types("\n".join((head, *writer.lines)))
    return LoopSource("\n".join((*writer.prelude.values(), "", head, *writer.lines, "}", "")), symbol, (dtype, dtype))


def _row(writer: Writer, acc: Acc, n: int) -> str:
    """Define the function that reduces one row, of about `n` elements."""
    c, lanes, block = C_TYPES[acc.dtype], lanes_of(n), block_of(n)
    need = writer.need_typed
    gather, flush, total = need_gather(need, acc, lanes), need_flush(need, acc, lanes), need_total(need, acc)
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    need(
        f"row{lanes}",
        f"static {c} row{lanes}(const char *x, int64_t n, int64_t step) {{\n"
        f"    {c} acc[{lanes}], tree[48], copy[{block}];\n"
        "    int64_t blocks = 0;\n"
        f"    for (int k = 0; k < {lanes}; k++) acc[k] = {first};\n"
        f"    for (int64_t i = 0; i < n; i += {block}, x += {block} * step) {{\n"
        f"        const int64_t m = n - i < {block} ? n - i : {block};\n"
        f"        const {c} *row = (const {c} *)x;\n"
        f"        if (step != sizeof({c})) {{\n"
        f"            for (int64_t k = 0; k < m; k++) copy[k] = *(const {c} *)(x + k * step);\n"
        "            row = copy;\n"
        "        }\n"
        f"        {gather}(acc, row, m);\n"
        f"        {flush}(tree, blocks++, acc);\n"
        "    }\n"
        f"    return {total}(tree, blocks);\n}}",
    )
    return f"row{lanes}"


def _rows(writer: Writer, acc: Acc, n: int) -> str:
    """Define the function that reduces rows side by side, one accumulator of each after the other."""
    c, lanes, block = C_TYPES[acc.dtype], lanes_of(n), block_of(n)
    need = writer.need_typed
    push, total, order = need_push_row(need, acc, _ROWS), need_total_row(need, acc, _ROWS), need_lane_order(need, lanes)
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    step_in_order = combine(need, acc.op, acc.dtype, f"((const {c} *)row)[l]", "acc[l]")
    step_apart = combine(need, acc.op, acc.dtype, f"*(const {c} *)(row + l * apart)", "acc[l]")
    need(
        f"rows{lanes}",
        f"static void rows{lanes}(char *out, int64_t out_step, const char *x, int64_t apart, int64_t n, int64_t step, "
        "int64_t m) {\n"
        f"    {c} acc[{_ROWS}], lanes[{lanes.bit_length()}][{_ROWS}], tree[32][{_ROWS}];\n"
        "    int64_t blocks = 0;\n"
        f"    for (int64_t block = 0; block < n; block += {block}, blocks++) {{\n"
        f"        const int64_t end = n - block < {block} ? n : block + {block};\n"
        f"        for (int k = 0; k < {lanes}; k++) {{\n"
        f"            for (int64_t l = 0; l < m; l++) acc[l] = {first};\n"
        f"            for (int64_t r = block + {order}[k]; r < end; r += {lanes}) {{\n"
        "                const char *row = x + r * step;\n"
        f"                if (apart == sizeof({c}))\n"
        "#pragma omp simd\n"
        f"                    for (int64_t l = 0; l < m; l++) acc[l] = {step_in_order};\n"
        "                else\n"
        f"                    for (int64_t l = 0; l < m; l++) acc[l] = {step_apart};\n"
        "            }\n"
        f"            {push}(lanes, k, acc, m);\n"
        "        }\n"
        f"        {push}(tree, blocks, lanes[{lanes.bit_length() - 1}], m);\n"
        "    }\n"
        f"    {total}(tree, blocks, acc, m);\n"
        f"    for (int64_t l = 0; l < m; l++) *({c} *)(out + l * out_step) = acc[l];\n}}",
    )
    return f"rows{lanes}"
