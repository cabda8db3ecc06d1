"""Data types: conversion, promotion, and what a dtype is and can hold. dtypes are NumPy's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node, is_scalar
from uopc_array._array.promotion import result_dtype
from uopc_array._functions.arguments import check_device, node_of, wrap_like
from uopc_core import DType, as_dtype, is_complex, real_dtype
from uopc_core.errors import DTypeError, DTypeValueError, shortened

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


@dataclass(frozen=True)
class FloatLimits:
    """Limits of a real floating dtype, as Python floats."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType

    @property
    def tiny(self) -> float:
        """NumPy's other name of `smallest_normal`."""
        return self.smallest_normal

    @property
    def resolution(self) -> float:
        """Ten to the minus the number of decimal digits that survive."""
        return float(np.finfo(self.dtype).resolution)


@dataclass(frozen=True)
class IntegerLimits:
    """Limits of an integer dtype, as Python ints."""

    bits: int
    max: int
    min: int
    dtype: DType


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The values of ``x`` converted to ``dtype``.

    Args:
        x: any dtype, any shape.
        dtype: the dtype wanted.
        copy: False returns ``x`` itself if it has the dtype already.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``x``.
    Raises:
        DTypeError: a complex array is to become real; take its real part first.
    Example:
        >>> import uopc_array as xp
        >>> xp.astype(xp.asarray([1.7, -1.7]), xp.int64)
        Array([ 1, -1], dtype=int64)
    """
    check_device("astype", device)
    wanted, node = as_dtype(dtype, "astype"), node_of("astype", x)
    if not copy and wanted is node.dtype and not x._weak:
        return x
    return wrap_like(x, cast_node(node, wanted, "astype"))


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion can lead from one dtype to another.

    Args:
        from_: a dtype or an array.
        to: a dtype.
    Returns:
        True if every value of the first dtype's kind can become one of the second without changing its kind downwards.
    Example:
        >>> import uopc_array as xp
        >>> xp.can_cast(xp.int8, xp.float64), xp.can_cast(xp.float64, xp.int8)
        (True, False)
    """
    return bool(np.can_cast(_dtype_of("can_cast", from_), as_dtype(to, "can_cast")))


def _dtype_of(name: str, value: Any) -> DType:
    given = getattr(value, "dtype", value)
    return as_dtype(given if isinstance(given, np.dtype) else value, name)


def _dtype_with_limits(name: str, value: Any) -> DType:
    """The dtype of a number, an array or a dtype, for a function that raises ValueError where it has none."""
    try:
        return _dtype_of(name, type(value) if is_scalar(value) else value)
    except DTypeError as error:
        raise DTypeValueError(str(error)) from None


def finfo(type: Any, /) -> FloatLimits:
    """Limits of a floating dtype; of a complex dtype those of its parts.

    Args:
        type: a real or complex floating dtype, or an array of one.
    Returns:
        bits, eps, max, min, smallest_normal as Python numbers, and the real dtype.
    Raises:
        DTypeValueError: (a TypeError and a ValueError) a dtype that is not floating.
    Example:
        >>> import uopc_array as xp
        >>> xp.finfo(xp.float32).eps
        1.1920928955078125e-07
    """
    dtype = _dtype_with_limits("finfo", type)
    if dtype.kind not in "fc":
        raise DTypeValueError(
            f"finfo: expected a real or complex floating dtype, got {dtype.name}; iinfo is for integers"
        )
    real = real_dtype(dtype) if is_complex(dtype) else dtype
    info = np.finfo(real)
    return FloatLimits(info.bits, float(info.eps), float(info.max), float(info.min), float(info.smallest_normal), real)


def iinfo(type: Any, /) -> IntegerLimits:
    """Limits of an integer dtype.

    Args:
        type: an integer dtype, or an array of one.
    Returns:
        bits, max, min as Python ints, and the dtype.
    Raises:
        DTypeValueError: (a TypeError and a ValueError) a dtype that is not an integer one.
    Example:
        >>> import uopc_array as xp
        >>> xp.iinfo(xp.int8).max
        127
    """
    dtype = _dtype_with_limits("iinfo", type)
    if dtype.kind not in "iu":
        raise DTypeValueError(f"iinfo: expected an integer dtype, got {dtype.name}; finfo is for floating dtypes")
    info = np.iinfo(dtype)
    return IntegerLimits(info.bits, int(info.max), int(info.min), dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind.

    Args:
        dtype: a dtype.
        kind: a dtype, one of "bool", "signed integer", "unsigned integer", "integral", "real floating",
            "complex floating" and "numeric", or a tuple of those.
    Returns:
        True if ``dtype`` is of one of the kinds.
    Raises:
        ValueError: a kind of another name.
        DTypeError: a kind that is neither a dtype nor a name.
    Example:
        >>> import uopc_array as xp
        >>> xp.isdtype(xp.float32, ("real floating", "complex floating"))
        True
    """
    given = as_dtype(dtype, "isdtype")
    try:
        return _is_of_kind(given, kind)
    except Exception as error:
        raise shortened(error) from None


def _is_of_kind(given: DType, kind: Any) -> bool:
    if isinstance(kind, tuple):
        return any(_is_of_kind(given, one) for one in cast("tuple[Any, ...]", kind))
    if not isinstance(kind, str):
        return given is as_dtype(kind, "isdtype")
    if kind not in _KINDS:
        raise ValueError(f"isdtype: expected a dtype or one of {sorted(_KINDS)}, got {kind!r}")
    return given.kind in _KINDS[kind]


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype of an operation on these operands.

    Args:
        arrays_and_dtypes: arrays, dtypes and Python scalars, of which the last only decide the kind.
    Returns:
        the promoted dtype.
    Raises:
        DTypeError: no operand, or one that has no dtype of ours.
    Example:
        >>> import uopc_array as xp
        >>> xp.result_type(xp.int8, xp.uint8, 3)
        dtype('int16')
    """
    return result_dtype(*arrays_and_dtypes)
