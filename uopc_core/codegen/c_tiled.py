"""A call of the library that multiplies small matrices -> C source, with which it is part of a program of kernels."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.codegen.c_products import need_tiled_product
from uopc_core.codegen.c_source import CSource, source_of
from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.c_writer import Writer
from uopc_core.dtype import DType
from uopc_core.records import record

__all__ = ["Matrices", "render_tiled_product"]

_ROWS, _COLUMNS = 64, 1024  # of a single product, that one thread computes at a time
_PER_STEP = 8  # multiplications in the time of an operation of an element, roughly


@record(slots=True)
class Matrices:
    """Where matrices lie in a slot: bytes to the first, and from one matrix, row and column to the next."""

    slot: int
    start: int
    strides: tuple[int, int, int]


def render_tiled_product(dtype: DType, out: int, x: Matrices, y: Matrices, sizes: Sequence[int]) -> CSource:
    """The C that multiplies stacks of matrices into the slot `out`, one text for all sizes.

    Args:
        sizes: how many products, their rows, the elements of a sum, and columns.
    """
    count, m, k, n = sizes
    # the last block has the rest as well: there are no tiles of few rows or columns
    rows, columns = (_ROWS, n) if m >= 2 * _ROWS else (m, _COLUMNS)
    if count > 1:
        rows, columns = m, n
    down, across = max(1, m // rows), max(1, n // columns)
    writer = Writer()
    product = need_tiled_product(writer.need_typed, dtype)
    c = C_TYPES[dtype]
    writer.open("for (int64_t t = begin; t < end; t++)")
    writer.line("const int64_t stack = t / (n[0]*n[13]), block = t / n[13] % n[0], part = t % n[13];")
    writer.line("const int64_t row = block * n[12], rows = block == n[0] - 1 ? n[1] - row : n[12];")
    writer.line("const int64_t column = part * n[14], columns = part == n[13] - 1 ? n[3] - column : n[14];")
    writer.line("char *const out = (char *)(out0 + (stack*n[1] + row)*n[3] + column);")
    writer.line("const char *const x = (const char *)in0 + n[4] + stack*n[5] + row*n[6];")
    writer.line("const char *const y = (const char *)in1 + n[8] + stack*n[9] + column*n[11];")
    places = f"out, n[3]*sizeof({c}), x, n[6], n[7], y, n[10], n[11]"
    writer.line(f"{product}({places}, rows, n[2], columns);")
    writer.close()
    return source_of(
        writer,
        name="P_n_n_n",
        params=[f"{c} *restrict out0", f"const {c} *in0", f"const {c} *in1"],
        outputs=(out,),
        inputs=(x.slot, y.slot),
        dims=(down, m, k, n, x.start, *x.strides, y.start, *y.strides, rows, across, columns),
        extent=count * down * across,
        work=count * m * k * n // _PER_STEP,
    )
