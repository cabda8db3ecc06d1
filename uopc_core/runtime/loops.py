"""Loops of C of our own as functions on NumPy arrays, compiled at their first use and once on a machine.

A loop has NumPy's form, ``void symbol(char **args, const int64_t *dims, const int64_t *steps, void *unused)``: `args`
are operands, then results; `dims` is the number of elements, then the core dimensions; `steps` is in bytes, one for
each argument, then one for each core dimension of each argument. It must honour every step (NumPy copies only what is
misaligned), may find a result at the place of an operand of a plain ufunc, runs without the lock of Python's
interpreter, and must give an element what its operands alone decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from uopc_core.codegen.c_reduce_loop import render_matmul, render_product, render_reduction, render_tiled
from uopc_core.codegen.c_sort_loop import render_argsort
from uopc_core.codegen.c_ufunc import LoopSource, join_loops, render_loop
from uopc_core.dtype import DType
from uopc_core.errors import CompileError
from uopc_core.interpret.loops import LoopKey
from uopc_core.runtime.background import warn_once
from uopc_core.runtime.cache import compile_ahead, compile_one, is_compiled
from uopc_core.runtime.toolchain import Toolchain, find_toolchain
from uopc_core.runtime.ufunc import as_ufunc
from uopc_core.settings import current

_SIGNATURES = {
    "reduction": "(n)->()",
    "product": "(n),(n)->()",
    "matmul": "(m?,k),(k,n?)->(m?,n?)",
    "tiled": "(m,k),(k,n)->(m,n)",
    "argsort": "(n),(n)->(n)",
}

__all__ = ["loops_for", "make_gufunc", "make_ufunc", "uncompiled"]


def loops_for(keys: Sequence[LoopKey]) -> list[Any]:
    """The loop of each kind, op and dtype of operands; None for all where there is no compiler.

    Those that have to be compiled are, in as few runs of the compiler as there are CPUs.
    """
    toolchain = find_toolchain()
    if toolchain is None:
        return [None] * len(keys)
    sources = [_source(key, toolchain) for key in keys]
    if len(keys) > 1:
        compile_ahead([(s.text, s.symbol) for s in sources], lambda chosen: join_loops([sources[i] for i in chosen]))
    return [_made(key, source) for key, source in zip(keys, sources, strict=True)]


def uncompiled(keys: Iterable[LoopKey]) -> list[str]:
    """The C of those loops that have never been compiled on this machine; none where there is no compiler."""
    toolchain = find_toolchain()
    if toolchain is None:
        return []
    sources = [_source(key, toolchain) for key in dict.fromkeys(keys)]
    return [source.text for source in sources if not is_compiled(source.text, source.symbol)]


def _source(key: LoopKey, toolchain: Toolchain) -> LoopSource:
    kind, op, dtype = key
    if kind == "argsort":
        return render_argsort(dtype)
    if kind == "reduction":
        return render_reduction(op, dtype)
    if kind == "product":
        return render_product(dtype)
    if kind == "matmul":
        return render_matmul(dtype)
    if kind == "tiled":
        return render_tiled(dtype)
    return render_loop(op, dtype, toolchain.has_libmvec)


def _made(key: LoopKey, source: LoopSource) -> Any:
    kind, op, _ = key
    name = op.name.lower()
    try:
        if kind in _SIGNATURES:
            return make_gufunc(f"{kind}_{name}", source.text, source.symbol, source.dtypes, _SIGNATURES[kind])
        return make_ufunc(name, source.text, source.symbol, source.dtypes)
    except CompileError as error:
        if current().verify:
            raise
        warn_once(error)
        return None


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
