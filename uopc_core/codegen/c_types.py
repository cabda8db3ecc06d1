"""C names of dtypes, and literals that give exactly the value they are made of."""

from __future__ import annotations

import math
from typing import Any

from uopc_core.dtype import DType, dtypes, is_complex, is_float, real_dtype

__all__ = ["C_TYPES", "TYPEDEFS", "WIDE", "element", "literal"]

C_TYPES: dict[DType, str] = {
    dtypes.bool: "_Bool",
    dtypes.int8: "int8_t",
    dtypes.int16: "int16_t",
    dtypes.int32: "int32_t",
    dtypes.int64: "int64_t",
    dtypes.uint8: "uint8_t",
    dtypes.uint16: "uint16_t",
    dtypes.uint32: "uint32_t",
    dtypes.uint64: "uint64_t",
    dtypes.float32: "float",
    dtypes.float64: "double",
    dtypes.complex64: "complex64",
    dtypes.complex128: "complex128",
}

# of what is computed with more digits than the parts of complex numbers have: the real type, and the letter that its
# functions end in
WIDE: dict[DType, tuple[str, str]] = {dtypes.complex64: ("double", ""), dtypes.complex128: ("long double", "l")}

TYPEDEFS: dict[str, str] = {
    **{
        f"{sign}int{bits}_t": f"typedef __{sign.upper()}INT{bits}_TYPE__ {sign}int{bits}_t;"
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "complex64": "typedef float _Complex complex64;",
    "complex128": "typedef double _Complex complex128;",
}

_INT_SUFFIXES = {dtypes.int64: "LL", dtypes.uint64: "ULL", dtypes.uint32: "U"}
_LONGEST_DECIMAL = 8


def element(place: str, dtype: DType) -> str:
    """What is read at `place`; a truth value as a byte, since gcc 12 vectorises no loop that reads a `_Bool`."""
    return f"(*(const unsigned char *)&{place} != 0)" if dtype is dtypes.bool else place


def literal(value: Any, dtype: DType) -> str:
    """C text of type `dtype` whose value is exactly `value`; an operand that needs no parentheses around it."""
    if is_complex(dtype):
        part = real_dtype(dtype)
        return f"__builtin_complex({literal(value.real, part)}, {literal(value.imag, part)})"
    if is_float(dtype):
        return _float_literal(float(value), "f" if dtype is dtypes.float32 else "")
    if dtype is dtypes.bool:
        return "1" if value else "0"
    if value == -(2**63):
        return "(-9223372036854775807LL - 1)"
    text = f"{int(value)}{_INT_SUFFIXES.get(dtype, '')}"
    return f"({text})" if value < 0 else text


def _float_literal(value: float, suffix: str) -> str:
    if math.isnan(value):
        sign = "-" if math.copysign(1.0, value) < 0 else ""
        return f'({sign}__builtin_nan{suffix}(""))'
    if math.isinf(value):
        return f"__builtin_inf{suffix}()" if value > 0 else f"(-__builtin_inf{suffix}())"
    text = repr(value)
    if len(text) > _LONGEST_DECIMAL:
        mantissa, exponent = value.hex().split("p")
        text = f"{mantissa.rstrip('0') if '.' in mantissa else mantissa}p{exponent}".replace(".p", "p")
    return f"({text}{suffix})" if text.startswith("-") else text + suffix
