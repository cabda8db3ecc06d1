"""The indices of sorted elements as a loop of NumPy's form ``(n),(n)->(n)``: a row, memory to work in, the indices."""

from __future__ import annotations

from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.c_ufunc import LoopSource, loop_source
from uopc_core.codegen.c_writer import Writer
from uopc_core.codegen.helpers import Need, helper
from uopc_core.dtype import SHORT_NAMES, DType, dtypes, is_float, is_unsigned

__all__ = ["need_argsort", "render_argsort"]


def render_argsort(dtype: DType) -> LoopSource:
    """The loop that sorts rows of real numbers of 4 or 8 bytes, stable, nan last; results lie in a row of memory.

    Where a row would take it long, its first index is -1, and the others mean nothing.
    """
    writer = Writer()
    sort = need_argsort(writer.need_typed, dtype)
    writer.open("for (int64_t i = 0; i < dims[0]; i++)")
    writer.line("uint64_t *const out = (uint64_t *)(args[2] + i * steps[2]);")
    writer.line("uint64_t *const other = (uint64_t *)(args[1] + i * steps[1]);")
    top = f"({_key_of(dtype)})1 << {8 * dtype.itemsize - 1}"
    writer.line(f"if (!{sort}(out, other, args[0] + i * steps[0], dims[1], steps[3], {top})) *out = -1;")
    writer.close()
    return loop_source(writer, f"uopc_argsort_{SHORT_NAMES[dtype]}", (dtype, dtypes.int64, dtypes.int64))


def need_argsort(need: Need, dtype: DType) -> str:
    """Define the function that sorts one row, and what it compares; returns its name."""
    kind = "FLOAT" if is_float(dtype) else "UINT" if is_unsigned(dtype) else "INT"
    helper(need, f"key_{kind}", KEY=_key_of(dtype), **{kind: dtype})
    return helper(need, "argsort_T", T=dtype, KEY=_key_of(dtype))


def _key_of(dtype: DType) -> str:
    return C_TYPES[dtypes.uint32 if dtype.itemsize == 4 else dtypes.uint64]
