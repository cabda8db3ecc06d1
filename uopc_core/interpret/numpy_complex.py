"""Functions of complex numbers in NumPy, with more digits than the parts have, and what else NumPy's own lose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from uopc_core.dtype import DType, dtypes, is_complex
from uopc_core.ir.uop import UOp

__all__ = ["exp2", "expm1", "log1p", "logaddexp", "recip", "wide"]

Array = np.ndarray[Any, Any]
_WIDE: dict[DType, type[np.complexfloating[Any]]] = {dtypes.complex64: np.complex128, dtypes.complex128: np.clongdouble}


def recip(node: UOp) -> Callable[..., Any]:
    # complex: reciprocal and division round differently and disagree at 0; 1 / x is what is meant
    return partial(wide(np.divide)(node), node.dtype.type(1)) if is_complex(node.dtype) else np.reciprocal


def wide(ufunc: np.ufunc) -> Callable[[UOp], Callable[..., Any]]:
    """The entry of an op that on complex numbers is computed with more digits than they have."""

    def entry(node: UOp) -> Callable[..., Any]:
        dtype = node.dtype
        if not is_complex(dtype):
            return ufunc
        wide = _WIDE[dtype]
        return lambda *operands: ufunc(*[x.astype(wide) for x in operands]).astype(dtype)

    return entry


def exp2(node: UOp) -> Callable[[Any], Any]:
    if not is_complex(node.dtype):
        return np.exp2
    dtype, wide = node.dtype, _WIDE[node.dtype]
    ln2 = np.log(wide(2).real)
    return lambda x: np.exp(x.astype(wide) * ln2).astype(dtype)


def logaddexp(node: UOp) -> Callable[[Any, Any], Any]:
    """Of float32 in float64: near the root, where two terms cancel, that is what leaves digits."""
    if node.dtype is dtypes.float64:
        return np.logaddexp
    return lambda x, y: np.logaddexp(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)


def expm1(node: UOp) -> Callable[[Any], Any]:
    return partial(_expm1_complex, _WIDE[node.dtype]) if is_complex(node.dtype) else np.expm1


def _expm1_complex(wide: type[Any], x: Any) -> Any:
    """NumPy's product ``expm1(a) * cos(b)`` overflows before ``exp(x)``, which is the same where 1 is nothing to it.
    Where the terms of the real part cancel, the digits come from the wider type.
    """
    large: Any = x.real > 40
    out: Array = np.expm1(x.astype(wide)).astype(x.dtype)
    return np.where(large, np.exp(x), out) if large.any() else out


def log1p(node: UOp) -> Callable[[Any], Any]:
    return _log1p_complex if is_complex(node.dtype) else np.log1p


def _log1p_complex(x: Any) -> Any:
    """``log(1 + x)``, the real part near 0 by ``|1 + x|**2 - 1``: NumPy's logarithm near 1 has lost the digits."""
    a, b = x.real.astype(np.float64), x.imag.astype(np.float64)
    out: Any = x.astype(np.complex128)
    out.real += 1  # the sign of an imaginary zero stays
    np.log(out, out)
    total = _sum_of_squares_beside_one(a, b)
    near = (np.absolute(a) < 4) & (np.absolute(b) < 4) & (total > -0.5)
    out.real = np.where(near, np.log1p(total) / 2, out.real)
    return out.astype(x.dtype)


def _sum_of_squares_beside_one(a: Any, b: Any) -> Any:
    """``2 * a + a * a + b * b`` with what each sum and product has rounded away (Ogita, Rump & Oishi, 2005)."""
    p, p_rest = _square(a)
    q, q_rest = _square(b)
    t = 2 * a + q
    s = t + p
    u, v = t - 2 * a, s - t
    return s + (((2 * a - (t - u)) + (q - u)) + ((t - (s - v)) + (p - v)) + (p_rest + q_rest))


def _square(x: Any) -> tuple[Any, Any]:
    """The square of a number below 4, and what its rounding has taken away (Dekker, 1971)."""
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    low, square = x - high, x * x
    return square, ((high * high - square) + 2 * high * low) + low * low
