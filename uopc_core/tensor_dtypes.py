"""The dtypes of `Tensor`, as PyTorch has them: 32 bits by default, the higher category wins, a number never widens."""

from __future__ import annotations

from typing import Any

import numpy as np

from uopc_core.dtype import DType, as_dtype, dtypes, is_bool, is_complex, is_float, is_inexact, is_integer
from uopc_core.errors import DTypeError
from uopc_core.ir import Scalar, UOp
from uopc_core.ir.composite import broadcast_shapes, broadcast_to

__all__ = ["as_array", "as_inexact", "broadcast_all", "dtype_beside_scalar", "promote", "summed_dtype"]

_DEFAULT_DTYPES: dict[DType, DType] = {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}


def _category(dtype: DType) -> int:
    return 0 if is_bool(dtype) else 1 if is_integer(dtype) else 2 if is_float(dtype) else 3


def promote(x: DType, y: DType) -> DType:
    """The common dtype: that of the higher category (bool, integer, floating, complex), the wider within one."""
    if x is y:
        return x
    low, high = sorted((x, y), key=_category)
    if _category(low) < 2 and _category(low) < _category(high):
        return high
    common = np.promote_types(x, y)
    if _category(common) > _category(high):
        raise DTypeError(f"no integer dtype holds both {x.name} and {y.name}; cast one of them")
    return common


def dtype_beside_scalar(dtype: DType, value: Scalar) -> DType:
    """The dtype of an operation with a Python scalar: a scalar never widens, it only lifts to its category."""
    if isinstance(value, bool):
        return dtype
    if isinstance(value, int):
        return dtypes.int32 if is_bool(dtype) else dtype
    if isinstance(value, float):
        return dtype if is_inexact(dtype) else dtypes.float32
    if is_complex(dtype):
        return dtype
    return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64


def summed_dtype(dtype: DType) -> DType:
    """The dtype of a sum: 64 bits for bool and integers, so that counting does not overflow."""
    if is_bool(dtype) or is_integer(dtype):
        return dtypes.uint64 if dtype.kind == "u" else dtypes.int64
    return dtype


def as_inexact(x: UOp) -> UOp:
    """`x`, as float32 when it is bool or integer."""
    return x if is_inexact(x.dtype) else x.cast(dtypes.float32)


def broadcast_all(*operands: UOp) -> tuple[UOp, ...]:
    """All operands in their common shape and dtype."""
    dtype = operands[0].dtype
    for x in operands[1:]:
        dtype = promote(dtype, x.dtype)
    shape = broadcast_shapes(*[x.shape for x in operands])
    return tuple([broadcast_to(x.cast(dtype), shape) for x in operands])


def as_array(data: Any) -> np.ndarray[Any, Any]:
    """`data` as a NumPy array; a dtype is kept, Python numbers become float32, int32 if they fit, or complex64."""
    array = np.asarray(data)
    dtype = as_dtype(array.dtype.newbyteorder("="), "Tensor")
    if not hasattr(data, "dtype"):
        dtype = _DEFAULT_DTYPES.get(dtype, dtype)
        if dtype is dtypes.int64 and (not array.size or (array.min() >= -(2**31) and array.max() < 2**31)):
            dtype = dtypes.int32
    return np.asarray(array, dtype, order="C")
