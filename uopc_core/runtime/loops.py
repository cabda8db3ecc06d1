"""Loops of C of our own as functions on NumPy arrays, compiled at their first use and once on a machine.

A loop has NumPy's form, ``void symbol(char **args, const int64_t *dims, const int64_t *steps, void *unused)``: `args`
are operands, then results; `dims` is the number of elements, then the core dimensions; `steps` is in bytes, one for
each argument, then one for each core dimension of each argument. It must honour every step (NumPy copies only what is
misaligned), may find a result at the place of an operand of a plain ufunc, runs without the lock of Python's
interpreter, and must give an element what its operands alone decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from uopc_core.codegen.c_reduce_loop import render_reduction
from uopc_core.codegen.c_ufunc import render_loop
from uopc_core.dtype import DType
from uopc_core.errors import CompileError
from uopc_core.ir.op import Ops
from uopc_core.runtime.background import warn_once
from uopc_core.runtime.cache import compile_one
from uopc_core.runtime.toolchain import Toolchain, find_toolchain
from uopc_core.runtime.ufunc import as_ufunc
from uopc_core.settings import current

__all__ = ["loop_for", "make_gufunc", "make_ufunc"]


def loop_for(kind: str, op: Ops, dtype: DType) -> Any:
    """The loop of that kind for `op` on operands of `dtype`, or None where there is no compiler."""
    toolchain = find_toolchain()
    if toolchain is None:
        return None
    try:
        return _KINDS[kind](op, dtype, toolchain)
    except CompileError as error:
        if current().verify:
            raise
        warn_once(error)
        return None


def _elementwise(op: Ops, dtype: DType, toolchain: Toolchain) -> Any:
    source = render_loop(op, dtype, toolchain.has_libmvec)
    return make_ufunc(op.name.lower(), source.text, source.symbol, source.dtypes)


def _reduction(op: Ops, dtype: DType, toolchain: Toolchain) -> Any:
    source = render_reduction(op, dtype)
    return make_gufunc(f"reduce_{op.name.lower()}", source.text, source.symbol, source.dtypes, "(n)->()")


_KINDS: dict[str, Callable[[Ops, DType, Toolchain], Any]] = {"elementwise": _elementwise, "reduction": _reduction}


def make_ufunc(name: str, text: str, symbol: str, dtypes: Sequence[DType]) -> Any:
    """The ufunc whose loop is the function `symbol` of the C in `text`; `dtypes` are those of operands and result.

    Make each once and keep it: neither a ufunc nor its code is ever freed.

    Raises:
        CompileError: there is no compiler, or it refused the text.
    """
    return make_gufunc(name, text, symbol, dtypes, ",".join(["()"] * (len(dtypes) - 1)) + "->()")


def make_gufunc(name: str, text: str, symbol: str, dtypes: Sequence[DType], signature: str) -> Any:
    """The same with core dimensions: a ``"(n)->()"`` gets rows of n elements, ``steps[2]`` bytes apart.

    Callers name no axis: move the core axes to the end, which is a view.

    Raises:
        CompileError: there is no compiler, or it refused the text.
    """
    return as_ufunc(name, compile_one(text, symbol), dtypes, signature)
