"""Products of matrices and vectors in memory, small or large: computed at the line itself, with no node and no plan.

A product is no part of a kernel: what is computed of its operands comes before it, and what is computed of it after. So
nothing is lost by doing it at once, and what it takes to record and to plan it, some 50 us, is saved. The library or
loop that multiplies is the one that a plan has, and takes operands as they lie in memory.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from uopc_array._array.at_once import ALIGNED_BYTES, LARGEST, bound, quietly
from uopc_array._array.handle import Handle
from uopc_array._array.tracing import records
from uopc_array._array.view import View
from uopc_core import Buffer, Ops, UOp, current, multiply_by_library, product_function

__all__ = ["dot_at_once", "product_at_once"]

A = TypeVar("A", bound=Handle)
_NDARRAY = np.ndarray
_ARRAYS: Any = (Handle, np.ndarray)
_LITTLE_WORK = 1 << 16  # multiplications that let no other thread wait
_MOST_ALONE = 1 << 20  # of what a kernel splits among threads, unlike the loops that are called here


def product_at_once(cls: type[A], x: Any, y: Any) -> A | None:
    """``x @ y``, where both are in memory and floating-point or complex, of one dtype, and have one or two axes; else
    None.

    Args:
        cls: the class of the result.
        x, y: arrays of this class or of NumPy's.
    """
    a = _in_memory(x) if type(x) is cls else x
    if type(a) is not _NDARRAY or a.dtype.kind not in "fc":
        return None
    b = _in_memory(y) if type(y) is cls else y
    if type(b) is not _NDARRAY or b.dtype is not a.dtype:
        return None
    extents = _extents(a.shape, b.shape)
    if extents is None or not bound() or records():
        return None
    function = product_function(*extents, a.dtype)
    m, n, k = extents
    work = m * n * k
    if function is None or (work > _MOST_ALONE and function is not multiply_by_library and current().num_threads > 1):
        return None
    if m * n * a.itemsize < ALIGNED_BYTES:
        return cls._from_value(_quietly(work, function, a, b))
    out = Buffer.empty(a.shape[:-1] + b.shape[1:], a.dtype)
    value = _quietly(work, function, a, b, out.array)
    return cls._from_value(value) if value.size <= LARGEST else cls._from_uop(UOp.buffer(out))


def _extents(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Rows and columns of the product, 1 where it lacks them, and what is summed over; None where there is none."""
    if not (0 < len(x) <= 2 and 0 < len(y) <= 2) or x[-1] != y[0]:
        return None
    return x[0] if len(x) == 2 else 1, y[1] if len(y) == 2 else 1, y[0]


def dot_at_once(cls: type[A], x: Any, y: Any) -> A | None:
    """The same of two vectors of real numbers; None of all else."""
    return product_at_once(cls, x, y) if _is_vector(x) and _is_vector(y) else None


def _is_vector(x: Any) -> bool:
    return isinstance(x, _ARRAYS) and x.ndim == 1 and x.dtype.kind == "f"


def _quietly(work: int, function: Any, *operands: Any) -> Any:
    """``function(*operands)`` where NumPy does not warn; threads share the context for that, for a moment each."""
    if work <= _LITTLE_WORK:
        return quietly(function, *operands)
    with np.errstate(all="ignore"):
        return function(*operands)


def _in_memory(x: Handle) -> Any:
    """The value of a handle as it lies in memory, to be read only; None where it is to be computed first, or is of a
    trace or a derivative, or where other threads write to it.
    """
    value, alias = x._value, x._own_alias
    if value is not None and (alias is None or alias.memory is None or alias.memory is alias.base._value):
        return value
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
