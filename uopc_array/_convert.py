"""From whatever a caller passes to an `Array` or a weak Python scalar: the operands of the namespace's functions."""

from __future__ import annotations

from typing import Any

from uopc_array._nodes import as_node, is_scalar
from uopc_array.array import Array
from uopc_core import DType, Scalar

__all__ = ["as_array", "asarray_operand"]


def asarray_operand(x: Any) -> Array | Scalar:
    """`x` as an Array; a Python scalar stays one, because its dtype gives way to that of the other operand."""
    return x if isinstance(x, Array) or is_scalar(x) else Array._from_uop(as_node(x))


def as_array(x: Any, dtype: DType | None = None) -> Array:
    """`x` as an Array, Python scalars in their default dtype."""
    if isinstance(x, Array) and (dtype is None or x._uop.dtype is dtype):
        return x
    return Array._from_uop(as_node(x, dtype))
