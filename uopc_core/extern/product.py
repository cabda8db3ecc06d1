"""Matrix products by NumPy's BLAS: what the planner makes of a large contraction.

Invariant: the bits depend on the matrices alone, not on how they lie in memory. BLAS has other kernels for transposed
matrices where they are small, so those are brought in order first; large ones are packed into panels before anything is
multiplied, and are handed over as they are.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.errors import DTypeError, ShapeError
from uopc_core.ir.extern import Extern, TensorType, register_extern

__all__ = ["MATMUL"]

Array = np.ndarray[Any, Any]
# multiplications in one product; OpenBLAS packs from 1,000,000 on
_SURELY_PACKED = 2_000_000


def _infer_matmul(params: tuple[Any, ...], types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    (x, x_dtype), (y, y_dtype) = types
    if x_dtype is not y_dtype:
        raise DTypeError(f"matmul: expected two operands of one dtype, got {x_dtype.name} and {y_dtype.name}")
    if len(x) != len(y) or len(x) < 2 or x[:-2] != y[:-2] or x[-1] != y[-2]:
        raise ShapeError(f"matmul: expected (..., M, K) and (..., K, N) with equal batch axes, got {x} and {y}")
    return (((*x[:-1], y[-1]), x_dtype),)


def _matmul_into(params: tuple[Any, ...], arrays: Sequence[Any], outputs: Sequence[Any]) -> None:
    np.matmul(*_in_order(*arrays), out=outputs[0])


def _evaluate_matmul(params: tuple[Any, ...], *arrays: Any) -> tuple[Any, ...]:
    return (np.matmul(*_in_order(*arrays)),)


def _in_order(x: Array, y: Array) -> tuple[Array, Array]:
    (m, k), n = x.shape[-2:], y.shape[-1]
    packed = m * k * n > _SURELY_PACKED and min(m, n) > 1
    return _laid_out(x, packed), _laid_out(y, packed)


def _laid_out(x: Array, packed: bool) -> Array:
    """`x` if each of its matrices is rows of memory (or columns, where that is as good), else a copy that is."""
    rows, columns = x.shape[-2:]
    down, across = x.strides[-2:]
    by_rows = across == x.itemsize and down >= columns * x.itemsize
    by_columns = down == x.itemsize and across >= rows * x.itemsize
    return x if by_rows or (packed and by_columns) else np.ascontiguousarray(x)


MATMUL = register_extern(Extern("matmul", _infer_matmul, _evaluate_matmul, into=_matmul_into))
