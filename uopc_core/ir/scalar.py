"""The numbers of constants: what a dtype makes of one, and what tells two apart."""

from __future__ import annotations

import struct
from collections.abc import Hashable
from typing import Any

import numpy as np

from uopc_core.dtype import DType, is_bool, is_complex, is_float, is_integer, name_of

__all__ = ["Scalar", "as_value_of", "bits_of"]

Scalar = bool | int | float | complex

_KEEPS_SIGN_BIT = struct.Struct("<d")
_KEEPS_SIGN_BITS = struct.Struct("<dd")


def as_value_of(value: Any, dtype: DType) -> Scalar:
    """`value` as the Python scalar that `dtype` would give back for it."""
    if is_float(dtype):
        return float(value) if dtype.itemsize == 8 else float(dtype.type(value))
    if is_integer(dtype):
        whole = int(value)
        bits = 8 * dtype.itemsize
        low, high = (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not low <= whole <= high:
            raise OverflowError(f"Python integer {whole} out of bounds for {name_of(dtype)}")
        return whole
    if is_bool(dtype):
        return bool(value)
    assert is_complex(dtype), dtype
    return complex(value) if dtype.itemsize == 16 else complex(dtype.type(value))


def bits_of(value: Scalar) -> Hashable:
    """What is equal for constants that are one: -0.0 is not 0.0, and nan is equal to itself."""
    if type(value) is float:
        return value if value == value and value != 0.0 else _KEEPS_SIGN_BIT.pack(value)
    if type(value) is int or type(value) is bool:
        return value
    if isinstance(value, complex | np.complexfloating):
        return _KEEPS_SIGN_BITS.pack(value.real, value.imag)
    return _KEEPS_SIGN_BIT.pack(value) if isinstance(value, float | np.floating) else value
