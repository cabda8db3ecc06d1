"""A call of the library that multiplies small matrices -> C source, with which it is part of a program of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from uopc_core.codegen.c_products import need_tiled_product
from uopc_core.codegen.c_source import CSource, source_of
from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.c_writer import Writer
from uopc_core.dtype import DType

__all__ = ["Matrices", "render_tiled_product"]

_ROWS = 64  # of a single product, that one thread computes at a time
_PER_STEP = 8  # multiplications in the time of an operation of an element, roughly


@dataclass(frozen=True, slots=True)
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
    rows = _ROWS if count == 1 else m
    blocks = max(1, m // rows)  # the last one has the rest as well: there are no tiles of few rows
    writer = Writer()
    product = need_tiled_product(writer.need_typed, dtype)
    c = C_TYPES[dtype]
    writer.open("for (int64_t t = begin; t < end; t++)")
    writer.line("const int64_t stack = t / n[0], block = t % n[0], row = block * n[12];")
    writer.line("const int64_t rows = block == n[0] - 1 ? n[1] - row : n[12];")
    writer.line("char *const out = (char *)(out0 + (stack*n[1] + row)*n[3]);")
    writer.line("const char *const x = (const char *)in0 + n[4] + stack*n[5] + row*n[6];")
    writer.line("const char *const y = (const char *)in1 + n[8] + stack*n[9];")
    places = f"out, n[3]*sizeof({c}), x, n[6], n[7], y, n[10], n[11]"
    writer.line(f"{product}({places}, rows, n[2], n[3]);")
    writer.close()
    return source_of(
        writer,
        name="P_n_n_n",
        params=[f"{c} *restrict out0", f"const {c} *in0", f"const {c} *in1"],
        outputs=(out,),
        inputs=(x.slot, y.slot),
        dims=(blocks, m, k, n, x.start, *x.strides, y.start, *y.strides, rows),
        extent=count * blocks,
        work=count * m * k * n // _PER_STEP,
    )
