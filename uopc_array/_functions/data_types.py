"""Data types: conversion, promotion, and what a dtype is and can hold. dtypes are NumPy's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import converted_at_once
from uopc_array._array.nodes import cast_node, is_scalar
from uopc_array._array.promotion import check_cast, check_casting, result_dtype
from uopc_array._functions.arguments import ArrayLike, node_of, wrap_like
from uopc_array._functions.public import function, method
from uopc_core import DType, as_dtype, is_complex, name_of, real_dtype
from uopc_core.errors import DTypeError, DTypeValueError

__all__ = ["FloatLimits", "IntegerLimits", "is_of_kind"]

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


@function("astype(x, dtype, /, *, copy=True, device=None)")
def astype(name: str, x: ArrayLike, dtype: Any, copy: bool) -> Array:
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
    wanted = as_dtype(dtype, name)
    if isinstance(x, Array) and not x._weak:
        if not copy and wanted is x.dtype:
            return x
        known = converted_at_once(x, wanted)
        if known is not None:
            return known
    node = node_of(name, x)
    return wrap_like(x, cast_node(node, wanted, name))


@method("astype(a, dtype, order='K', casting='unsafe', subok=True, copy=True, *, device=None)")
def astype_array(name: str, a: Array, dtype: Any, casting: str, copy: bool) -> Array:
    """This array converted to ``dtype``; see `xp.astype`.

    Args:
        dtype: the dtype wanted.
        order: how NumPy would lay it out; it changes nothing here.
        casting: which conversions are allowed: "no", "equiv", "safe", "same_kind" or "unsafe".
        subok: changes nothing: arrays have no subclasses here.
        copy: False returns this array itself if it has the dtype already.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of the array.
    Raises:
        DTypeError: a conversion that ``casting`` does not allow, or of a complex array to a real one.
        ValueError: another ``casting`` or ``order``.
    """
    if casting != "unsafe":
        check_casting(name, casting)
        check_cast(name, a.dtype, as_dtype(dtype, name), casting)
    return astype(name, a, dtype, copy)


@function("can_cast(from_, to, casting='safe')")
def can_cast(name: str, from_: Any, to: Any, casting: str) -> bool:
    """Whether one dtype may become another.

    Args:
        from_: a dtype or an array.
        to: a dtype.
        casting: the rule: "no", "equiv", "safe", "same_kind" or "unsafe".
    Returns:
        True if the rule allows it; "safe" is that every value of the first dtype is one of the second.
    Raises:
        DTypeError: what is no dtype.
        ValueError: another rule.
    Example:
        >>> import uopc_array as xp
        >>> xp.can_cast(xp.int8, xp.float64), xp.can_cast(xp.float64, xp.int8)
        (True, False)
    """
    check_casting(name, casting)
    rule: Any = casting
    return bool(np.can_cast(_dtype_of(name, from_), as_dtype(to, name), rule))


def _dtype_of(name: str, value: Any) -> DType:
    given = getattr(value, "dtype", value)
    return as_dtype(given if isinstance(given, np.dtype) else value, name)


def _dtype_with_limits(name: str, value: Any) -> DType:
    """The dtype of a number, an array or a dtype, for a function that raises ValueError where it has none."""
    try:
        return _dtype_of(name, type(value) if is_scalar(value) else value)
    except DTypeError as error:
        raise DTypeValueError(str(error)) from None


@function("finfo(dtype)")
def finfo(name: str, dtype: Any) -> FloatLimits:
    """Limits of a floating dtype; of a complex dtype those of its parts.

    Args:
        dtype: a real or complex floating dtype, or an array or a number of one.
    Returns:
        bits, eps, max, min, smallest_normal as Python numbers, and the real dtype.
    Raises:
        DTypeValueError: (a TypeError and a ValueError) a dtype that is not floating.
    Example:
        >>> import uopc_array as xp
        >>> xp.finfo(xp.float32).eps
        1.1920928955078125e-07
    """
    given = _dtype_with_limits(name, dtype)
    if given.kind not in "fc":
        raise DTypeValueError(
            f"{name}: expected a real or complex floating dtype, got {name_of(given)}; iinfo is for integers"
        )
    real = real_dtype(given) if is_complex(given) else given
    info = np.finfo(real)
    return FloatLimits(info.bits, float(info.eps), float(info.max), float(info.min), float(info.smallest_normal), real)


@function("iinfo(int_type)")
def iinfo(name: str, int_type: Any) -> IntegerLimits:
    """Limits of an integer dtype.

    Args:
        int_type: an integer dtype, or an array or a number of one.
    Returns:
        bits, max, min as Python ints, and the dtype.
    Raises:
        DTypeValueError: (a TypeError and a ValueError) a dtype that is not an integer one.
    Example:
        >>> import uopc_array as xp
        >>> xp.iinfo(xp.int8).max
        127
    """
    dtype = _dtype_with_limits(name, int_type)
    if dtype.kind not in "iu":
        raise DTypeValueError(f"{name}: expected an integer dtype, got {name_of(dtype)}; finfo is for floating dtypes")
    info = np.iinfo(dtype)
    return IntegerLimits(info.bits, int(info.max), int(info.min), dtype)


@function("isdtype(dtype, kind)")
def isdtype(name: str, dtype: Any, kind: Any) -> bool:
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
    return is_of_kind(name, as_dtype(dtype, name), kind)


def is_of_kind(name: str, given: DType, kind: Any) -> bool:
    """Whether a dtype is of a kind, or of one of a tuple of kinds, as `isdtype` takes them."""
    if isinstance(kind, tuple):
        return any([is_of_kind(name, given, one) for one in cast("tuple[Any, ...]", kind)])
    if not isinstance(kind, str):
        return given is as_dtype(kind, name)
    if kind not in _KINDS:
        raise ValueError(f"{name}: expected a dtype or one of {sorted(_KINDS)}, got {kind!r}")
    return given.kind in _KINDS[kind]


@function("result_type(*arrays_and_dtypes)")
def result_type(name: str, arrays_and_dtypes: tuple[Any, ...]) -> DType:
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
    return result_dtype(*arrays_and_dtypes, name=name)


@function("iscomplexobj(x)")
def iscomplexobj(name: str, x: Any) -> bool:
    """Whether an array, a number or a dtype is complex, whatever its imaginary parts are.

    Args:
        x: an array, a number, a sequence of them, or anything that has a dtype.
    Returns:
        True if its dtype is a complex one.
    Example:
        >>> import uopc_array as xp
        >>> xp.iscomplexobj(xp.asarray([1j])), xp.iscomplexobj(1.0)
        (True, False)
    """
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        try:
            dtype = node_of(name, x).dtype
        except (DTypeError, OverflowError):  # text, objects, integers beyond 64 bits
            return False
    return getattr(dtype, "kind", "") == "c"


@function("isrealobj(x)")
def isrealobj(name: str, x: Any) -> bool:
    """Whether an array, a number or a dtype is not complex.

    Args:
        x: as for `iscomplexobj`.
    Returns:
        True if its dtype is no complex one.
    Example:
        >>> import uopc_array as xp
        >>> xp.isrealobj(xp.asarray([1j])), xp.isrealobj(1.0)
        (False, True)
    """
    return not iscomplexobj(name, x)
