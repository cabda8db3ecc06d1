"""One reduction on its own as a loop of NumPy's form ``(n)->()``, of the very functions that kernels call."""

from __future__ import annotations

from uopc_core.codegen.c_ops import combine
from uopc_core.codegen.c_reduce import (
    SHORT,
    block_of,
    has_order_of_zeros,
    lanes_of,
    need_flush,
    need_fold,
    need_gather,
    need_lane_order,
    need_push_row,
    need_total,
    need_total_row,
)
from uopc_core.codegen.c_types import C_TYPES, SUFFIXES, literal
from uopc_core.codegen.c_ufunc import LoopSource, loop_source
from uopc_core.codegen.c_writer import Writer
from uopc_core.dtype import DType
from uopc_core.ir.op import Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import IN_TURN, identity_of

__all__ = ["render_reduction"]

_ROWS = 256  # that are reduced side by side, where they are close to each other in memory
_ABREAST = 6  # rows from which that takes less time than one after the other
_FEW, _MANY = lanes_of(SHORT - 1), lanes_of(SHORT)


def render_reduction(op: Ops, dtype: DType) -> LoopSource:
    """The loop that reduces rows of floating-point numbers by `op`, in the order that kernels keep.

    It is compiled before a first value is known, so there is one function for rows of every length.
    """
    writer = Writer()
    acc = Acc("acc", op, dtype)
    zero = _need_first_zero(writer, acc) if has_order_of_zeros(acc) else None
    row = _row(writer, acc) if zero is None else _row_of_extreme(writer, acc, zero)
    rows = _rows(writer, acc) if zero is None else _rows_of_extremes(writer, acc, zero)
    c = C_TYPES[dtype]
    writer.line("const int64_t n = dims[1], apart = steps[0] < 0 ? -steps[0] : steps[0];")
    writer.line("const int64_t step = steps[2] < 0 ? -steps[2] : steps[2];")
    writer.line(f"const _Bool side_by_side = dims[0] >= {_ABREAST} && apart < step && n > {IN_TURN};")
    writer.open(f"for (int64_t i = 0; i < dims[0]; i += side_by_side ? {_ROWS} : 1)")
    writer.line("char *out = args[1] + i * steps[1];")
    writer.line("const char *x = args[0] + i * steps[0];")
    writer.line(f"const int64_t m = dims[0] - i < {_ROWS} ? dims[0] - i : {_ROWS};")
    writer.line(f"if (side_by_side) {rows}(out, steps[1], x, steps[0], n, steps[2], m);")
    writer.line(f"else *({c} *)out = {row}(x, n, steps[2]);")
    writer.close()
    return loop_source(writer, f"uopc_reduce_{op.name.lower()}_{SUFFIXES[dtype]}", (dtype, dtype))


def _row(writer: Writer, acc: Acc) -> str:
    """Define the function that reduces one row."""
    c, block, need = C_TYPES[acc.dtype], block_of(SHORT), writer.need_typed
    few, fold_few = need_gather(need, acc, _FEW), need_fold(need, acc, _FEW)
    many, flush, total = need_gather(need, acc, _MANY), need_flush(need, acc, _MANY), need_total(need, acc)
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    name = f"row_{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}"
    need(
        name,
        f"static {c} {name}(const char *x, int64_t n, int64_t step) {{\n"
        f"    {c} acc[{_MANY}], tree[48], copy[{block}];\n"
        "    int64_t blocks = 0;\n"
        f"    for (int k = 0; k < {_MANY}; k++) acc[k] = {first};\n"
        f"    for (int64_t i = 0; i < n; i += {block}, x += {block} * step) {{\n"
        f"        const int64_t m = n - i < {block} ? n - i : {block};\n"
        f"        const {c} *row = (const {c} *)x;\n"
        f"        if (step != sizeof({c})) {{\n"
        f"            for (int64_t k = 0; k < m; k++) copy[k] = *(const {c} *)(x + k * step);\n"
        "            row = copy;\n"
        "        }\n"
        f"        if (n <= {IN_TURN}) {{\n"
        f"            for (int64_t k = 0; k < n; k++) {{ acc[0] = "
        f"{combine(need, acc.op, acc.dtype, 'row[k]', 'acc[0]')}; SCALAR; }}\n"
        "            return acc[0];\n"
        "        }\n"
        f"        if (n < {SHORT}) {{\n"
        f"            {few}(acc, row, n);\n"
        f"            return {fold_few}(acc);\n"
        "        }\n"
        f"        {many}(acc, row, m);\n"
        f"        {flush}(tree, blocks++, acc);\n"
        "    }\n"
        f"    return n ? {total}(tree, blocks) : acc[0];\n}}",
    )
    return name


def _rows(writer: Writer, acc: Acc) -> str:
    """Define the function that reduces rows side by side, one accumulator of each after the other."""
    c, need, levels = C_TYPES[acc.dtype], writer.need_typed, _MANY.bit_length()
    push, total = need_push_row(need, acc, _ROWS), need_total_row(need, acc, _ROWS)
    order = need_lane_order(need, _MANY)  # that of fewer is the same, of fewer bits
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    step_in_order = combine(need, acc.op, acc.dtype, f"((const {c} *)row)[l]", "acc[l]")
    step_apart = combine(need, acc.op, acc.dtype, f"*(const {c} *)(row + l * apart)", "acc[l]")
    name = f"rows_{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}"
    need(
        name,
        f"static void {name}(char *out, int64_t out_step, const char *x, int64_t apart, int64_t n, int64_t step, "
        "int64_t m) {\n"
        f"    {c} acc[{_ROWS}], lanes[{levels}][{_ROWS}], tree[32][{_ROWS}];\n"
        f"    const int levels = n < {SHORT} ? {_FEW.bit_length() - 1} : {levels - 1}, n_lanes = 1 << levels;\n"
        "    int64_t blocks = 0;\n"
        "    for (int64_t block = 0; block < n; block += 16 * n_lanes, blocks++) {\n"
        "        const int64_t end = n - block < 16 * n_lanes ? n : block + 16 * n_lanes;\n"
        "        for (int k = 0; k < n_lanes; k++) {\n"
        f"            for (int64_t l = 0; l < m; l++) acc[l] = {first};\n"
        f"            for (int64_t r = block + ({order}[k] >> ({levels - 1} - levels)); r < end; r += n_lanes) {{\n"
        "                const char *row = x + r * step;\n"
        f"                if (apart == sizeof({c}))\n"
        "#pragma omp simd\n"
        f"                    for (int64_t l = 0; l < m; l++) acc[l] = {step_in_order};\n"
        "                else\n"
        f"                    for (int64_t l = 0; l < m; l++) acc[l] = {step_apart};\n"
        "            }\n"
        f"            {push}(lanes, k, acc, m);\n"
        "        }\n"
        f"        {push}(tree, blocks, lanes[levels], m);\n"
        "    }\n"
        f"    {total}(tree, blocks, acc, m);\n"
        f"    for (int64_t l = 0; l < m; l++) *({c} *)(out + l * out_step) = acc[l];\n}}",
    )
    return name


# Of extremes the order is seen only where they are zeros of both signs: so any order will do, and a zero is looked for.


def _need_first_zero(writer: Writer, acc: Acc) -> str:
    """Define the function that gives the zero which the order of reductions meets first."""
    c, need, bits = C_TYPES[acc.dtype], writer.need_typed, _MANY.bit_length() - 1
    order = need_lane_order(need, _MANY)
    name = f"first_zero_{SUFFIXES[acc.dtype]}"
    need(
        name,
        f"static {c} {name}(const char *x, int64_t n, int64_t step) {{\n"
        f"    const int levels = n <= {IN_TURN} ? 0 : n < {SHORT} ? {_FEW.bit_length() - 1} : {bits};\n"
        "    const int64_t block = 16 << levels;\n"
        "    for (int64_t i = 0; i < n; i += block)\n"
        "        for (int k = 0; k < 1 << levels; k++)\n"
        f"            for (int64_t j = i + ({order}[k] >> ({bits} - levels)); j < n && j < i + block; "
        "j += 1 << levels)\n"
        f"                if (*(const {c} *)(x + j * step) == 0) return *(const {c} *)(x + j * step);\n"
        "    return 0;\n}",
    )
    return name


def _row_of_extreme(writer: Writer, acc: Acc, zero: str) -> str:
    """Define the function that finds the extreme of one row."""
    c, block, need = C_TYPES[acc.dtype], block_of(SHORT), writer.need_typed
    gather, fold = need_gather(need, acc, _MANY), need_fold(need, acc, _MANY)
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    name = f"row_{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}"
    need(
        name,
        f"static {c} {name}(const char *x, int64_t n, int64_t step) {{\n"
        f"    {c} acc[{_MANY}], copy[{block}];\n"
        f"    for (int k = 0; k < {_MANY}; k++) acc[k] = {first};\n"
        f"    for (int64_t i = 0; i < n; i += {block}) {{\n"
        f"        const int64_t m = n - i < {block} ? n - i : {block};\n"
        f"        const {c} *row = (const {c} *)(x + i * step);\n"
        f"        if (step != sizeof({c})) {{\n"
        f"            for (int64_t k = 0; k < m; k++) copy[k] = *(const {c} *)(x + (i + k) * step);\n"
        "            row = copy;\n"
        "        }\n"
        f"        {gather}(acc, row, m);\n"
        "    }\n"
        f"    const {c} found = {fold}(acc);\n"
        f"    return found == 0 ? {zero}(x, n, step) : found;\n}}",
    )
    return name


def _rows_of_extremes(writer: Writer, acc: Acc, zero: str) -> str:
    """Define the function that finds the extremes of rows side by side."""
    c, need = C_TYPES[acc.dtype], writer.need_typed
    first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
    step_in_order = combine(need, acc.op, acc.dtype, f"((const {c} *)row)[l]", "acc[l]")
    step_apart = combine(need, acc.op, acc.dtype, f"*(const {c} *)(row + l * apart)", "acc[l]")
    name = f"rows_{acc.op.name.lower()}_{SUFFIXES[acc.dtype]}"
    need(
        name,
        f"static void {name}(char *out, int64_t out_step, const char *x, int64_t apart, int64_t n, int64_t step, "
        "int64_t m) {\n"
        f"    {c} acc[{_ROWS}];\n"
        f"    for (int64_t l = 0; l < m; l++) acc[l] = {first};\n"
        "    for (int64_t r = 0; r < n; r++) {\n"
        "        const char *row = x + r * step;\n"
        f"        if (apart == sizeof({c}))\n"
        "#pragma omp simd\n"
        f"            for (int64_t l = 0; l < m; l++) acc[l] = {step_in_order};\n"
        "        else\n"
        f"            for (int64_t l = 0; l < m; l++) acc[l] = {step_apart};\n"
        "    }\n"
        f"    for (int64_t l = 0; l < m; l++) *({c} *)(out + l * out_step) = acc[l] == 0 ? {zero}(x + l * apart, n, "
        "step) : acc[l];\n}",
    )
    return name
