"""The dtypes of `Tensor`, as PyTorch has them: 32 bits by default, the higher category wins, a number never widens
(`uopc_core.numerics.promotion`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from uopc_core.dtype import DType, as_dtype, dtypes, is_bool, is_integer, name_of
from uopc_core.errors import DTypeError
from uopc_core.ir import Scalar, UOp
from uopc_core.ir.composite import broadcast_shapes, broadcast_to
from uopc_core.numerics.promotion import Promotion, kind_of_scalar

__all__ = ["as_array", "as_inexact", "broadcast_all", "dtype_beside_scalar", "promote", "summed_dtype"]

PYTORCH = Promotion(dtypes.int32, dtypes.float32, dtypes.complex64, integers_give_way=True)
_DEFAULT_DTYPES: dict[DType, DType] = {dtypes.float64: PYTORCH.floating, dtypes.complex128: PYTORCH.complex}


def promote(x: DType, y: DType) -> DType:
    """The common dtype: that of the higher category (bool, integer, floating, complex), the wider within one.

    Raises:
        DTypeError: integers of which no integer dtype holds both.
    """
    common = PYTORCH.together.get((x, y))
    if common is None:
        raise DTypeError(f"no integer dtype holds both {name_of(x)} and {name_of(y)}; cast one of them")
    return common


def dtype_beside_scalar(dtype: DType, value: Scalar) -> DType:
    """The dtype of an operation with a Python scalar: a scalar never widens, it only lifts to its category."""
    return PYTORCH.beside[kind_of_scalar(value)][dtype]


def summed_dtype(dtype: DType) -> DType:
    """The dtype of a sum: 64 bits for bool and integers, so that counting does not overflow."""
    if is_bool(dtype) or is_integer(dtype):
        return dtypes.uint64 if dtype.kind == "u" else dtypes.int64
    return dtype


def as_inexact(x: UOp) -> UOp:
    """`x`, as float32 when it is bool or integer."""
    return x.cast(PYTORCH.inexact[x.dtype])


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
            dtype = PYTORCH.integer
    return np.asarray(array, dtype, order="C")
