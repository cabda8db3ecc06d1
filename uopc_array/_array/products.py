"""Products of matrices and vectors in memory, small or large: computed at the line itself, with no node and no plan.

A product is no part of a kernel: what is computed of its operands comes before it, and what is computed of it after. So
nothing is lost by doing it at once, and what it takes to record and to plan it, some 50 us, is saved. The library or
loop that multiplies is the one that a plan has, and takes operands as they lie in memory.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from uopc_array._array.at_once import ALIGNED_BYTES, LARGEST, bound, quietly, quietly_apart, run_quietly
from uopc_array._array.extension import IN_C
from uopc_array._array.handle import Handle
from uopc_array._array.tracing import records
from uopc_array._array.view import View
from uopc_core import (
    ALONE_WORK,
    LIBRARY_WORK,
    SETTINGS,
    SHARED_CONTEXT_WORK,
    Buffer,
    Ops,
    UOp,
    current,
    is_for_library,
    loop_of_products,
    multiply_by_library,
)

__all__ = ["dot_at_once", "product_at_once"]

A = TypeVar("A", bound=Handle)
_NDARRAY = np.ndarray
_ARRAYS: Any = (Handle, np.ndarray)
_new = object.__new__

# the settings in force when there was last a product, and by the number of a dtype the loop that multiplies then
_ways: list[tuple[Any, dict[int, Any]]] = [(None, {})]


def product_at_once(cls: type[A], x: Any, y: Any) -> A | None:
    """``x @ y``, where both are in memory and floating-point or complex, of one dtype, and have one or two axes; else
    None.

    Args:
        cls: the class of the result.
        x, y: arrays of this class or of NumPy's.
    """
    a = x
    if type(x) is cls:
        a, alias = x._value, x._own_alias
        if a is None or (alias is not None and alias.memory is not None and alias.memory is not alias.base._value):
            a = _in_memory(x)
    b = y
    if type(y) is cls:
        b, alias = y._value, y._own_alias
        if b is None or (alias is not None and alias.memory is not None and alias.memory is not alias.base._value):
            b = _in_memory(y)
    if type(a) is not _NDARRAY or type(b) is not _NDARRAY or b.dtype is not a.dtype or records():
        return None
    settings, loops = _ways[0]
    if settings is not current():
        loops = _loops_now()
    loop = loops.get(a.dtype.num)
    if loop is None or len(a.shape) != 1 or a.shape != b.shape or a.size > SHARED_CONTEXT_WORK:
        return _product(cls, a, b, loops)
    try:
        return _new_handle(cls, run_quietly(loop, a, b))
    except RuntimeError:  # another thread is in there
        return _new_handle(cls, quietly(loop, a, b))


def _new_handle(cls: type[A], value: Any) -> A:
    """A handle of ours on a new value."""
    handle = _new(cls)
    handle._value = value
    handle._alias = None
    handle._weak = False
    return handle


def _loops_now() -> dict[int, Any]:
    loops: dict[int, Any] = {}
    _ways[0] = current(), loops
    return loops


def _way_of(dtype: Any, of_library: bool, loops: dict[int, Any]) -> Any:
    """What multiplies arrays of a dtype; None where it is for the graph, or nothing is to be done at once."""
    if dtype.kind not in "fc" or not bound():
        return None
    if of_library:
        return multiply_by_library
    loop = loop_of_products(dtype)
    if loop is not None:
        loops[dtype.num] = loop
        if IN_C is not None and isinstance(loop, np.ufunc):
            IN_C.note_product(current(), loop)
    return loop


def _product(cls: type[A], a: Any, b: Any, loops: dict[int, Any]) -> A | None:
    of_a, of_b = a.shape, b.shape
    if not (of_a and of_b and of_a[-1] == of_b[0] and len(of_a) <= 2 and len(of_b) <= 2):
        return None
    k = of_b[0]
    m = of_a[0] if len(of_a) == 2 else 1
    n = of_b[1] if len(of_b) == 2 else 1
    work = m * n * k
    of_library = m > 1 and n > 1 and is_for_library(m, n, k)
    function = None if of_library else loops.get(a.dtype.num)
    if function is None:
        function = _way_of(a.dtype, of_library, loops)
    if not m * n or function is None or (work > ALONE_WORK and not of_library and current().num_threads > 1):
        return None
    size = m * n
    if size <= LARGEST and (IN_C is not None or size * a.itemsize < ALIGNED_BYTES):  # the extension aligns memory
        return _new_handle(cls, (quietly if work <= SHARED_CONTEXT_WORK else quietly_apart)(function, a, b))
    out = Buffer.empty(a.shape[:-1] + b.shape[1:], a.dtype)
    value = quietly_apart(function, a, b, out.array)
    return cls._from_value(value) if size <= LARGEST else cls._from_uop(UOp.buffer(out))


def dot_at_once(cls: type[A], x: Any, y: Any) -> A | None:
    """The same of two vectors of real numbers; None of all else."""
    return product_at_once(cls, x, y) if _is_vector(x) and _is_vector(y) else None


def _is_vector(x: Any) -> bool:
    return isinstance(x, _ARRAYS) and x.ndim == 1 and x.dtype.kind == "f"


def _in_memory(x: Handle) -> Any:
    """The value of a handle on a node, or of a view, as it lies in memory, to be read only; None where it is to be
    computed first, or is of a trace or a derivative, or where other threads write to it.
    """
    alias = x._own_alias
    if x._is_shadowed or x._weak:
        return None
    if alias is not None and alias.is_view:
        return _part_in_memory(alias)
    return _leaf_in_memory(x)


def _part_in_memory(alias: View) -> Any:
    """The value of a view as part of that of its base, without a node of its own."""
    base = alias.base
    memory = None if alias.is_shared else _leaf_in_memory(base) if base._value is None else base._value
    if memory is None or alias.is_scattered():
        return None
    try:
        for lens in alias.steps():
            memory = lens.on_array(memory)
    except ValueError:  # a reshape that takes a copy
        return None
    return memory


def _leaf_in_memory(x: Handle) -> Any:
    node, alias = x._own_node, x._own_alias
    is_leaf = node.op is Ops.BUFFER and not node.flags and (alias is None or not alias.is_claim)
    return node.realized.array if is_leaf else None


if IN_C is not None:
    IN_C.connect_products(SETTINGS, SHARED_CONTEXT_WORK, LIBRARY_WORK, ALIGNED_BYTES)
    IN_C.connect_function("product_at_once", product_at_once)
    IN_C.connect_function("dot_at_once", dot_at_once)
    product_at_once, dot_at_once = IN_C.product_at_once, IN_C.dot_at_once
