"""One reduction on its own as a loop of NumPy's form ``(n)->()``, of the very functions that kernels call; and those of
products, of rows, ``(n),(n)->()``, and of matrices.
"""

from __future__ import annotations

from uopc_core.codegen.c_products import need_product, need_product_row, need_tiled_product
from uopc_core.codegen.c_reduce import need_row, need_rows
from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.c_ufunc import LoopSource, loop_source
from uopc_core.codegen.c_writer import Writer
from uopc_core.costs import ROWS_ABREAST
from uopc_core.dtype import SHORT_NAMES, DType
from uopc_core.ir.op import Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.loop.space import IN_TURN

__all__ = ["render_matmul", "render_product", "render_reduction", "render_tiled"]

_ROWS = 256  # that are reduced side by side, where they are close to each other in memory


def render_reduction(op: Ops, dtype: DType) -> LoopSource:
    """The loop that reduces rows of floating-point numbers by `op`, in the order that kernels keep.

    It is compiled before a first value is known, so there is one function for rows of every length.
    """
    writer = Writer()
    acc = Acc("acc", op, dtype)
    row, rows = need_row(writer.need_typed, acc), need_rows(writer.need_typed, acc, _ROWS)
    c = C_TYPES[dtype]
    writer.line("const int64_t n = dims[1], apart = steps[0] < 0 ? -steps[0] : steps[0];")
    writer.line("const int64_t step = steps[2] < 0 ? -steps[2] : steps[2];")
    writer.line(f"const _Bool side_by_side = dims[0] >= {ROWS_ABREAST} && apart < step && n > {IN_TURN};")
    writer.open(f"for (int64_t i = 0; i < dims[0]; i += side_by_side ? {_ROWS} : 1)")
    writer.line("char *out = args[1] + i * steps[1];")
    writer.line("const char *x = args[0] + i * steps[0];")
    writer.line(f"const int64_t m = dims[0] - i < {_ROWS} ? dims[0] - i : {_ROWS};")
    writer.line(f"if (side_by_side) {rows}(out, steps[1], x, steps[0], n, steps[2], m);")
    writer.line(f"else *({c} *)out = {row}(x, n, steps[2]);")
    writer.close()
    return loop_source(writer, f"uopc_reduce_{op.name.lower()}_{SHORT_NAMES[dtype]}", (dtype, dtype))


def render_product(dtype: DType) -> LoopSource:
    """The loop that sums products of two rows, as `render_reduction` sums a row."""
    writer = Writer()
    row = need_product_row(writer.need_typed, dtype)
    writer.open("for (int64_t i = 0; i < dims[0]; i++)")
    writer.line("const char *x = args[0] + i * steps[0], *y = args[1] + i * steps[1];")
    writer.line(f"*({C_TYPES[dtype]} *)(args[2] + i * steps[2]) = {row}(x, steps[3], y, steps[4], dims[1]);")
    writer.close()
    return loop_source(writer, f"uopc_product_{SHORT_NAMES[dtype]}", (dtype, dtype, dtype))


def render_matmul(dtype: DType) -> LoopSource:
    """The loop that multiplies matrices, or vectors, so that a sum has the bits that `render_product` gives it."""
    writer = Writer()
    product = need_product(writer.need_typed, dtype)
    writer.open("for (int64_t i = 0; i < dims[0]; i++)")
    writer.line("char *out = args[2] + i * steps[2];")
    writer.line("const char *x = args[0] + i * steps[0], *y = args[1] + i * steps[1];")
    places = "out, steps[7], steps[8], x, steps[3], steps[4], y, steps[5], steps[6]"
    writer.line(f"{product}({places}, dims[1], dims[2], dims[3]);")
    writer.close()
    return loop_source(writer, f"uopc_matmul_{SHORT_NAMES[dtype]}", (dtype, dtype, dtype))


def render_tiled(dtype: DType) -> LoopSource:
    """The loop that multiplies small matrices in tiles; rows of the result are in order."""
    writer = Writer()
    product = need_tiled_product(writer.need_typed, dtype)
    writer.open("for (int64_t i = 0; i < dims[0]; i++)")
    writer.line("char *out = args[2] + i * steps[2];")
    writer.line("const char *x = args[0] + i * steps[0], *y = args[1] + i * steps[1];")
    places = "out, steps[7], x, steps[3], steps[4], y, steps[5], steps[6]"
    writer.line(f"{product}({places}, dims[1], dims[2], dims[3]);")
    writer.close()
    return loop_source(writer, f"uopc_tiled_{SHORT_NAMES[dtype]}", (dtype, dtype, dtype))
