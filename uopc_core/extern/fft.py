"""Discrete Fourier transforms along one axis by NumPy's pocketfft, with their transposes.

Each is linear, so it is its own derivative; the transform matrix is symmetric, so a complex transform is its own
transpose. Transforms of several axes, other lengths and the Hermitian ones are compositions in the layers above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.dtype import dtypes, is_complex, is_float, name_of
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.extern.linalg import batch_leading, needs
from uopc_core.ir.arguments import Field, is_natural, is_tuple_of, one_of
from uopc_core.ir.composite import call_extern, iota
from uopc_core.ir.extern import Extern, Params, TensorType, register_extern
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["NORMS", "OPPOSITE_NORM", "fft", "ifft", "irfft", "rfft"]

OPPOSITE_NORM = {"backward": "forward", "ortho": "ortho", "forward": "backward"}  # that of the transform back
NORMS = tuple(OPPOSITE_NORM)
_NORM = Field("params", is_tuple_of(one_of(*NORMS)), f"(norm,) with one of {', '.join(NORMS)}")
_NORM_AND_LENGTH = Field(
    "params", is_tuple_of(one_of(*NORMS), is_natural), f"(norm, n) with one of {', '.join(NORMS)} and a length"
)


def fft(x: UOp, norm: str) -> UOp:
    """Forward transform of complex `x` along its last axis."""
    return call_extern("fft", x, params=(norm,))


def ifft(x: UOp, norm: str) -> UOp:
    """Inverse transform of complex `x` along its last axis."""
    return call_extern("ifft", x, params=(norm,))


def rfft(x: UOp, norm: str) -> UOp:
    """The ``n // 2 + 1`` non-negative frequencies of real `x` along its last axis."""
    return call_extern("rfft", x, params=(norm,))


def irfft(x: UOp, n: int, norm: str) -> UOp:
    """The `n` real values whose non-negative frequencies `x` holds along its last axis (``n // 2 + 1`` of them)."""
    return call_extern("irfft", x, params=(norm, n))


def _check(name: str, shape: tuple[int, ...], right_dtype: bool, wanted: str) -> None:
    if not right_dtype:
        raise DTypeError(f"{name}: expected {wanted}")
    if not shape or shape[-1] < 1:
        raise ShapeError(f"{name}: expected one element or more along the axis, got shape {shape}")


def _infer_complex(name: str) -> Any:
    def infer(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
        shape, dtype = types[0]
        _check(name, shape, is_complex(dtype), f"a complex dtype, got {name_of(dtype)}")
        return ((shape, dtype),)

    return infer


def _infer_rfft(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    shape, dtype = types[0]
    _check("rfft", shape, is_float(dtype), f"a real floating dtype, got {name_of(dtype)}")
    out = dtypes.complex64 if dtype is dtypes.float32 else dtypes.complex128
    return (((*shape[:-1], shape[-1] // 2 + 1), out),)


def _infer_irfft(params: Params, types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    shape, dtype = types[0]
    n: Any = params[1]
    _check("irfft", shape, is_complex(dtype), f"a complex dtype, got {name_of(dtype)}")
    if n < 1 or shape[-1] != n // 2 + 1:
        raise ShapeError(f"irfft: expected n // 2 + 1 elements along the last axis for n = {n}, got shape {shape}")
    return (((*shape[:-1], n), dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64),)


def _evaluation(function: Any) -> Any:
    def evaluate(params: Params, x: Any) -> tuple[Any, ...]:
        return (function(x, *params[1:], axis=-1, norm=params[0]),)

    return evaluate


def _linear(name: str) -> Any:
    def jvp(
        params: Params, outputs: tuple[UOp, ...], sources: tuple[UOp, ...], tangents: tuple[UOp | None, ...]
    ) -> tuple[UOp | None, ...]:
        tangent = tangents[0]
        return (None if tangent is None else call_extern(name, tangent, params=params),)

    return jvp


def _self_transpose(name: str) -> Any:
    def transpose(params: Params, sources: tuple[UOp, ...], cotangents: tuple[UOp | None, ...], which: int) -> UOp:
        return call_extern(name, needs(cotangents), params=params)

    return transpose


def _transpose_rfft(params: Params, sources: tuple[UOp, ...], cotangents: tuple[UOp | None, ...], which: int) -> UOp:
    """Frequencies that were left out are zero; the transform is of real numbers, so the real part is what comes
    back.
    """
    ct, n = needs(cotangents), sources[0].shape[-1]
    padded = ct.pad([*[(0, 0)] * (ct.ndim - 1), (0, n - ct.shape[-1])])
    return fft(padded, str(params[0])).unary(Ops.REAL)


def _transpose_irfft(params: Params, sources: tuple[UOp, ...], cotangents: tuple[UOp | None, ...], which: int) -> UOp:
    """All but the zeroth and, for even n, the last frequency stand for two terms of the sum."""
    ct = needs(cotangents)
    norm, n = str(params[0]), ct.shape[-1]
    back = rfft(ct, OPPOSITE_NORM[norm]).unary(Ops.CONJ)
    index = iota(back.shape, back.ndim - 1)
    single = index.eq(0) | index.eq(n // 2) if n % 2 == 0 else index.eq(0)
    return single.where(back, back * 2.0)


def _register(name: str, infer: Any, function: Any, transpose: Any, params: Field = _NORM) -> None:
    register_extern(
        Extern(
            name,
            infer,
            _evaluation(function),
            params=params,
            jvp=_linear(name),
            transpose=transpose,
            linear=frozenset({0}),
            core=1,
            batch=batch_leading(name, 1),
        )
    )


_register("fft", _infer_complex("fft"), np.fft.fft, _self_transpose("fft"))
_register("ifft", _infer_complex("ifft"), np.fft.ifft, _self_transpose("ifft"))
_register("rfft", _infer_rfft, np.fft.rfft, _transpose_rfft)
_register("irfft", _infer_irfft, np.fft.irfft, _transpose_irfft, _NORM_AND_LENGTH)
