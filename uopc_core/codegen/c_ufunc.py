"""One operation on its own as a loop of NumPy's form, of the very functions that kernels call.

Operands that are not in memory as a kernel has them go through blocks, so that an element has the same value at every
stride and place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uopc_core.codegen.c_math import COMPLEX_MATH, is_math, need_block_function, render_complex_math
from uopc_core.codegen.c_ops import C_OPS
from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.c_writer import Writer
from uopc_core.costs import LOOP_BLOCK
from uopc_core.dtype import SHORT_NAMES, DType, is_complex, real_dtype
from uopc_core.ir.op import BINARY, Ops
from uopc_core.records import record

__all__ = ["LoopSource", "join_loops", "loop_source", "render_loop"]


@record(slots=True)
class LoopSource:
    """C of one loop.

    Attributes:
        prelude: what the function needs before it, by name; of one name there is one text, whichever loop needs it.
        body: the function itself.
        symbol: what it is called.
        dtypes: of its operands and its result.
    """

    prelude: Mapping[str, str]
    body: str
    symbol: str
    dtypes: tuple[DType, ...]

    @property
    def text(self) -> str:
        return join_loops([self])


def join_loops(loops: Sequence[LoopSource]) -> str:
    """One text with all these functions."""
    prelude = {name: text for loop in loops for name, text in loop.prelude.items()}
    return "\n".join((*prelude.values(), "", *[loop.body for loop in loops]))


def loop_source(writer: Writer, symbol: str, dtypes: tuple[DType, ...]) -> LoopSource:
    """The function `symbol` whose statements are the lines of `writer`."""
    head = f"void {symbol}(char **args, const int64_t *dims, const int64_t *steps, void *unused) {{"
    body = "\n".join((head, *writer.lines, "}", ""))
    writer.need_types(body)
    return LoopSource(dict(writer.prelude), body, symbol, dtypes)


def render_loop(op: Ops, dtype: DType, has_libmvec: bool) -> LoopSource:
    """The loop of an elementwise operation with operands of one dtype."""
    out = real_dtype(dtype) if op is Ops.ABS else dtype
    dtypes = (dtype, dtype, out) if op in BINARY else (dtype, out)
    writer = Writer()
    if is_math(op, dtype):
        _blocks(writer, need_block_function(writer.need_typed, op, dtype, has_libmvec), dtypes)
    else:
        _elements(writer, op, dtypes)
    return loop_source(writer, f"uopc_{op.name.lower()}_{SHORT_NAMES[dtype]}", dtypes)


def _elements(writer: Writer, op: Ops, dtypes: tuple[DType, ...]) -> None:
    *of, out = dtypes
    names = ("a", "b")[: len(of)]
    writer.open("for (int64_t i = 0; i < dims[0]; i++)")
    for k, (name, dtype) in enumerate(zip(names, of, strict=True)):
        writer.line(f"const {C_TYPES[dtype]} {name} = {_element(dtype, k, 'i', 'const ')};")
    if is_complex(of[0]) and op in COMPLEX_MATH:
        value = render_complex_math(writer.need_typed, op, of[0], *names)
    else:
        value = C_OPS[op](writer.need_typed, names, of[0], out)
    writer.line(f"{_element(out, len(of), 'i')} = {value};")
    writer.close()


def _blocks(writer: Writer, function: str, dtypes: tuple[DType, ...]) -> None:
    c, n = C_TYPES[dtypes[0]], len(dtypes)
    dense = " && ".join(f"steps[{k}] == sizeof({c})" for k in range(n))
    order = (n - 1, *range(n - 1))  # such functions take the result first
    writer.open(f"if ({dense})")
    writer.line(f"{function}({', '.join(f'({c} *)args[{k}]' for k in order)}, dims[0]);")
    writer.line("return;")
    writer.close()
    writer.line(f"{c} {', '.join(f't{k}[{LOOP_BLOCK}]' for k in range(n))};")
    writer.open(f"for (int64_t start = 0; start < dims[0]; start += {LOOP_BLOCK})")
    writer.line(f"const int64_t m = dims[0] - start < {LOOP_BLOCK} ? dims[0] - start : {LOOP_BLOCK};")
    for k in range(n - 1):
        writer.line(f"for (int64_t i = 0; i < m; i++) t{k}[i] = {_element(dtypes[k], k, '(start + i)', 'const ')};")
    writer.line(f"{function}({', '.join(f't{k}' for k in order)}, m);")
    writer.line(f"for (int64_t i = 0; i < m; i++) {_element(dtypes[-1], n - 1, '(start + i)')} = t{n - 1}[i];")
    writer.close()


def _element(dtype: DType, k: int, i: str, qualifier: str = "") -> str:
    """Element `i` of argument `k`."""
    return f"*({qualifier}{C_TYPES[dtype]} *)(args[{k}] + {i} * steps[{k}])"
