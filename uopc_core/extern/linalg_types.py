"""Type rules of the functions of LAPACK: what they take, and the shapes and dtypes of what they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from uopc_core.dtype import DType, dtypes, is_float, is_inexact, name_of, real_dtype
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.ir.arguments import Field, is_dtype, is_flag, is_shape, is_text, is_tuple_of, one_of
from uopc_core.ir.extern import Params, TensorType

__all__ = ["FULL", "MODE", "UNDEFINED", "complex_same", "complex_values", "infer_pair", "infer_pinv", "infer_qr"]
__all__ += ["infer_solve", "infer_square", "infer_svd", "infer_svdvals", "infer_undefined", "real_scalar", "same"]
__all__ += ["scalar", "to_complex", "values"]

FULL = Field("params", is_tuple_of(is_flag), "(full_matrices,)")
MODE = Field("params", is_tuple_of(one_of("reduced", "complete")), '("reduced",) or ("complete",)')
UNDEFINED = Field("params", is_tuple_of(is_text, is_shape, is_dtype), "(reason, shape, dtype)")


def _check(name: str, shape: tuple[int, ...], dtype: DType, square: bool) -> None:
    if not is_inexact(dtype):
        raise DTypeError(f"{name}: expected a floating dtype, got {name_of(dtype)}")
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        wanted = "square matrices (..., M, M)" if square else "matrices (..., M, N)"
        raise ShapeError(f"{name}: expected {wanted}, got shape {shape}")


def infer_square(name: str, *outputs: Callable[[tuple[int, ...], DType], TensorType]) -> Any:
    def infer(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
        shape, dtype = types[0]
        _check(name, shape, dtype, square=True)
        return tuple([output(shape, dtype) for output in outputs])

    return infer


def to_complex(dtype: DType) -> DType:
    return dtypes.complex64 if dtype.itemsize == 4 or dtype is dtypes.complex64 else dtypes.complex128


def same(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return shape, dtype


def values(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return shape[:-1], real_dtype(dtype)


def complex_values(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return shape[:-1], to_complex(dtype)


def complex_same(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return shape, to_complex(dtype)


def scalar(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return shape[:-2], dtype


def real_scalar(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return shape[:-2], real_dtype(dtype)


def infer_solve(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    (a, dtype), (b, b_dtype) = types
    _check("solve", a, dtype, square=True)
    if b_dtype is not dtype or len(b) != len(a) or b[:-1] != a[:-1]:
        raise ShapeError(
            f"solve: expected (..., M, M) and (..., M, K) with equal batch axes and dtype, got {a} and {b}"
        )
    return ((b, dtype),)


def infer_svd(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    shape, dtype = types[0]
    _check("svd", shape, dtype, square=False)
    *batch, m, n = shape
    k = min(m, n)
    inner_u, inner_v = (m, n) if params[0] else (k, k)
    return ((*batch, m, inner_u), dtype), ((*batch, k), real_dtype(dtype)), ((*batch, inner_v, n), dtype)


def infer_svdvals(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    shape, dtype = types[0]
    _check("svdvals", shape, dtype, square=False)
    return (((*shape[:-2], min(shape[-2:])), real_dtype(dtype)),)


def infer_qr(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    shape, dtype = types[0]
    _check("qr", shape, dtype, square=False)
    *batch, m, n = shape
    k = m if params[0] == "complete" else min(m, n)
    return ((*batch, m, k), dtype), ((*batch, k, n), dtype)


def infer_pinv(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    shape, dtype = types[0]
    _check("pinv", shape, dtype, square=False)
    tolerance, tolerance_dtype = types[1]
    if tolerance != shape[:-2] or not is_float(tolerance_dtype):
        raise ShapeError(
            f"pinv: expected a floating tolerance of shape {shape[:-2]}, got "
            f"{name_of(tolerance_dtype)}{list(tolerance)}"
        )
    return (((*shape[:-2], shape[-1], shape[-2]), dtype),)


def infer_pair(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    _check("cofactor_tangent", *types[0], square=True)
    if types[1] != types[0]:
        raise ShapeError(f"cofactor_tangent: expected a tangent like the matrices, got {types[0]} and {types[1]}")
    return (types[0],)


def infer_undefined(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    _, shape, dtype = params
    return ((shape, dtype),)  # pyright: ignore[reportReturnType]  (as `_undefined` made them)
