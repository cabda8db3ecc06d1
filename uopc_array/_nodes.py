"""From whatever a caller passes as an array to a node: handles, NumPy arrays, nested sequences, DLPack exporters.

Invariant: a sequence with arrays inside is stacked in the graph, so derivatives and traces pass through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from uopc_array._handle import Handle
from uopc_array._realize import buffer_from_numpy
from uopc_core import DType, Scalar, UOp, as_dtype, composite, is_bool, is_complex, is_integer
from uopc_core.errors import DTypeError, ShapeError

__all__ = ["Operand", "as_node", "cast_node", "is_scalar", "node_from_numpy", "to_operand"]

Operand = UOp | Scalar | Handle
"""What promotion works on: a node, a weak Python scalar, or a handle."""

_SCALARS = frozenset({bool, int, float, complex})


def is_scalar(x: object) -> TypeGuard[Scalar]:
    """Whether `x` is a Python scalar, which is weak; NumPy's scalars are not, though some of them subclass Python's."""
    return type(x) in _SCALARS or (isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic))


def to_operand(x: Any) -> Operand:
    """`x` ready for promotion; Python scalars and handles are passed through, all else becomes a node."""
    return x if isinstance(x, Handle) or type(x) in _SCALARS or is_scalar(x) else as_node(x)


def as_node(x: Any, dtype: DType | None = None, copy: bool | None = None) -> UOp:
    """The node with the values of `x`, converted to `dtype` if that is given.

    Args:
        copy: False lets a NumPy array lend its own memory, or raises where values must be copied; None and True copy.
    Raises:
        DTypeError: values that no dtype of ours holds.
        ShapeError: a ragged sequence.
        ValueError: `copy` is False and `x` holds no memory to share.
    """
    if isinstance(x, Handle):
        return x._settled() if dtype is None else cast_node(x._settled(), dtype)
    if isinstance(x, UOp):
        return x if dtype is None else cast_node(x, dtype)
    if is_scalar(x):
        _refuse_without_copy(copy, x)
        return UOp.const(x, default_dtype(x) if dtype is None else _dtype_for_scalar(x, dtype))
    if isinstance(x, list | tuple):
        _refuse_without_copy(copy, cast("object", x))
        return _from_sequence(cast("Sequence[Any]", x), dtype)
    if isinstance(x, np.ndarray | np.generic):
        return node_from_numpy(cast("np.ndarray[Any, Any]", x), dtype, copy)
    return node_from_numpy(_foreign_to_numpy(x), dtype, copy)


def _refuse_without_copy(copy: bool | None, x: object) -> None:
    if copy is False:
        raise ValueError(
            f"asarray: copy=False needs an object with memory to share, got {type(x).__name__}; leave copy out"
        )


def default_dtype(x: Scalar) -> DType:
    """The dtype of a Python scalar on its own."""
    if isinstance(x, int) and not isinstance(x, bool) and not -(2**63) <= x < 2**63:
        return as_dtype(np.uint64)
    return as_dtype(type(x) if type(x) in _SCALARS else np.asarray(x).dtype)


def _dtype_for_scalar(x: Scalar, dtype: DType) -> DType:
    if isinstance(x, complex) and not (is_complex(dtype) or is_bool(dtype)):
        raise DTypeError(f"asarray: a complex number cannot be converted to {dtype.name}; take its real part first")
    return dtype


def cast_node(uop: UOp, dtype: DType) -> UOp:
    """`uop` converted to `dtype`; complex to real is refused, since it would drop the imaginary part."""
    if uop.dtype is dtype:
        return uop
    if is_complex(uop.dtype) and not (is_complex(dtype) or is_bool(dtype)):
        raise DTypeError(f"cast: {uop.dtype.name} cannot be converted to {dtype.name}; take the real part first")
    return uop.cast(dtype)


def node_from_numpy(x: np.ndarray[Any, Any] | np.generic, dtype: DType | None = None, copy: bool | None = None) -> UOp:
    """The node with the values of a NumPy array or scalar; values converted to `dtype` as by `ndarray.astype`."""
    array = np.asarray(x)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    given = as_dtype(array.dtype)
    if isinstance(x, np.generic):
        _refuse_without_copy(copy, x)
        return cast_node(UOp.const(x.item(), given), given if dtype is None else dtype)
    wanted = given if dtype is None else dtype
    if wanted is not given:
        _refuse_without_copy(copy, x)
        if is_complex(given) and not (is_complex(wanted) or is_bool(wanted)):
            raise DTypeError(f"asarray: {given.name} cannot be converted to {wanted.name}; take the real part first")
        array = array.astype(wanted)
    return UOp.buffer(buffer_from_numpy(array, copy is not False))


def _foreign_to_numpy(x: Any) -> np.ndarray[Any, Any]:
    """A NumPy array from an object that knows one of the exchange protocols, or from a sequence that is no list."""
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    array = np.asarray(x)
    if array.dtype.kind not in "biufc":
        raise DTypeError(f"asarray: expected numbers, an array or nested sequences of them, got {type(x).__name__}")
    return array


def _from_sequence(x: Sequence[Any], dtype: DType | None) -> UOp:
    if not _holds_array(x):
        return node_from_numpy(_numbers(x, dtype), dtype)
    parts = [
        _from_sequence(cast("Sequence[Any]", item), None) if isinstance(item, list | tuple) else as_node(item)
        for item in x
    ]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ShapeError(f"asarray: expected items of one shape, got {', '.join(map(str, sorted(shapes)))}")
    wanted = as_dtype(np.result_type(*[part.dtype for part in parts])) if dtype is None else dtype
    return composite.stack([cast_node(part, wanted) for part in parts])


def _holds_array(x: Sequence[Any]) -> bool:
    return any(
        isinstance(item, Handle) or (isinstance(item, list | tuple) and _holds_array(cast("Sequence[Any]", item)))
        for item in x
    )


def _numbers(x: Sequence[Any], dtype: DType | None) -> np.ndarray[Any, Any]:
    """Nested sequences of numbers as NumPy reads them, in `dtype` where NumPy alone would guess another."""
    try:
        array = np.asarray(x, None if dtype is None or not is_integer(dtype) else dtype)
    except ValueError as error:
        raise ShapeError(f"asarray: expected nested sequences of equal lengths; {error}") from None
    if array.dtype.kind == "O" and all(isinstance(item, int) for item in array.flat):
        raise OverflowError(f"asarray: Python integers beyond 64 bits, got {max(array.flat, key=abs)}")
    if array.dtype.kind not in "biufc":
        raise DTypeError(f"asarray: expected numbers or arrays in nested sequences, got {array.dtype}")
    return array
