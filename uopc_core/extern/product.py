"""Matrix products by NumPy's BLAS: what the planner makes of a large contraction."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.errors import DTypeError, ShapeError
from uopc_core.ir.extern import Extern, TensorType, register_extern

__all__ = ["MATMUL"]


def _infer_matmul(params: tuple[Any, ...], types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    (x, x_dtype), (y, y_dtype) = types
    if x_dtype is not y_dtype:
        raise DTypeError(f"matmul: expected two operands of one dtype, got {x_dtype.name} and {y_dtype.name}")
    if len(x) != len(y) or len(x) < 2 or x[:-2] != y[:-2] or x[-1] != y[-2]:
        raise ShapeError(f"matmul: expected (..., M, K) and (..., K, N) with equal batch axes, got {x} and {y}")
    return (((*x[:-1], y[-1]), x_dtype),)


def _matmul_into(params: tuple[Any, ...], arrays: Sequence[Any], outputs: Sequence[Any]) -> None:
    np.matmul(arrays[0], arrays[1], out=outputs[0])


def _evaluate_matmul(params: tuple[Any, ...], *arrays: Any) -> tuple[Any, ...]:
    return (np.matmul(*arrays),)


MATMUL = register_extern(Extern("matmul", _infer_matmul, _evaluate_matmul, into=_matmul_into))
