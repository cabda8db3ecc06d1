"""From whatever a caller passes as an array to a node: handles, NumPy arrays, nested sequences, DLPack exporters.

Invariant: a sequence with arrays inside is stacked in the graph, so derivatives and traces pass through it.
"""

from __future__ import annotations

from array import array as FlatArray
from collections.abc import Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from uopc_array._array.foreign import numbers_of
from uopc_array._array.handle import Handle
from uopc_array._array.realize import buffer_from_numpy
from uopc_array._array.tracing import current_record
from uopc_core import DType, Scalar, UOp, as_dtype, composite, converted, is_bool, is_complex, is_integer, name_of
from uopc_core.errors import DTypeError, ShapeError, shortened

__all__ = [
    "Operand",
    "as_node",
    "cast_handle",
    "cast_node",
    "const_node",
    "is_scalar",
    "mask_node",
    "node_from_numpy",
    "plain_values",
    "to_operand",
]

Operand = UOp | Scalar | Handle
"""What promotion works on: a node, a weak Python scalar, or a handle."""

_SCALARS = frozenset({bool, int, float, complex})
_FLAT = (str, bytes, bytearray, memoryview, range, FlatArray)  # sequences of Python that hold no arrays


def is_scalar(x: object) -> TypeGuard[Scalar]:
    """Whether `x` is a Python scalar, which is weak; NumPy's scalars are not, though some of them subclass Python's."""
    return type(x) in _SCALARS or (isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic))


def to_operand(x: Any, name: str = "asarray") -> Operand:
    """`x` ready for promotion; Python scalars and handles are passed through, all else becomes a node."""
    try:
        return x if isinstance(x, Handle) or type(x) in _SCALARS or is_scalar(x) else as_node(x, name=name)
    except Exception as error:
        raise shortened(error) from None


def as_node(x: Any, dtype: DType | None = None, copy: bool | None = None, name: str = "asarray") -> UOp:
    """The node with the values of `x`, converted to `dtype` if that is given.

    Args:
        copy: False lets a NumPy array lend its own memory, or raises where values must be copied; None and True copy.
        name: the operation as the user called it, for messages.
    Raises:
        DTypeError: values that no dtype of ours holds.
        ShapeError: a ragged sequence.
        ValueError: `copy` is False and `x` holds no memory to share.
    """
    if isinstance(x, Handle):
        return x._uop if dtype is None else cast_handle(x, dtype, name)
    if isinstance(x, UOp):
        return x if dtype is None else cast_node(x, dtype, name)
    if is_scalar(x):
        _refuse_without_copy(name, copy, x)
        return const_node(name, x, default_dtype(x) if dtype is None else _dtype_for_scalar(name, x, dtype))
    if isinstance(x, list | tuple):
        _refuse_without_copy(name, copy, cast("object", x))
        return _from_sequence(name, cast("Sequence[Any]", x), dtype)
    if isinstance(x, np.ndarray | np.generic):
        return node_from_numpy(cast("np.ndarray[Any, Any]", x), dtype, copy, name)
    if _is_nested(x):
        _refuse_without_copy(name, copy, x)
        return _from_sequence(name, list(x), dtype)
    return node_from_numpy(numbers_of(name, x), dtype, copy, name)


def const_node(name: str, x: Scalar, dtype: DType, shape: tuple[int, ...] = ()) -> UOp:
    """A Python scalar as a node.

    Raises:
        OverflowError: an int that `dtype` cannot hold.
    """
    try:
        return UOp.const(x, dtype, shape)
    except OverflowError as error:
        raise OverflowError(f"{name}: {error}; convert the array, or the int with asarray, to a wider dtype") from None


def mask_node(name: str, where: Any) -> UOp:
    """The mask that `where` is: an array of bool, or a list, whose items are taken for True or False.

    Raises:
        DTypeError: an array of another dtype.
    """
    if isinstance(where, list | tuple) or is_scalar(where):
        return as_node(where, as_dtype(bool), name=name)
    mask = as_node(where, name=name)
    if not is_bool(mask.dtype):
        raise DTypeError(f"{name}: expected where of dtype bool, got {name_of(mask.dtype)}")
    return mask


def _refuse_without_copy(name: str, copy: bool | None, x: object) -> None:
    if copy is False:
        raise ValueError(
            f"{name}: copy=False needs an object with memory to share, got {type(x).__name__}; leave copy out"
        )


def default_dtype(x: Scalar) -> DType:
    """The dtype of a Python scalar on its own."""
    if isinstance(x, int) and not isinstance(x, bool) and not -(2**63) <= x < 2**63:
        return as_dtype(np.uint64)
    return as_dtype(type(x) if type(x) in _SCALARS else np.asarray(x).dtype)


def _dtype_for_scalar(name: str, x: Scalar, dtype: DType) -> DType:
    if isinstance(x, complex) and not (is_complex(dtype) or is_bool(dtype)):
        raise DTypeError(f"{name}: a complex number cannot be converted to {name_of(dtype)}; take its real part first")
    return dtype


def cast_node(uop: UOp, dtype: DType, name: str = "cast") -> UOp:
    """`uop` converted to `dtype`; complex to real is refused, since it would drop the imaginary part."""
    if uop.dtype is dtype:
        return uop
    if is_complex(uop.dtype) and not (is_complex(dtype) or is_bool(dtype)):
        raise DTypeError(
            f"{name}: {name_of(uop.dtype)} cannot be converted to {name_of(dtype)}; take the real part first"
        )
    return uop.cast(dtype)


def cast_handle(x: Handle, dtype: DType, name: str = "cast") -> UOp:
    """The node of `x` converted to `dtype`; a traced Python int must fit, which is found out when the trace is run."""
    node = x._uop
    if x._weak and node.dtype.kind == "i" and is_integer(dtype) and dtype is not node.dtype:
        record = current_record()
        if record is not None:
            record.casts.append((node, dtype, name))
    return cast_node(node, dtype, name)


def node_from_numpy(
    x: np.ndarray[Any, Any] | np.generic, dtype: DType | None = None, copy: bool | None = None, name: str = "asarray"
) -> UOp:
    """The node with the values of a NumPy array or scalar; values converted to `dtype` as by `ndarray.astype`."""
    array = np.asarray(x)
    if not array.dtype.isnative:
        if copy is False:
            raise ValueError(f"{name}: copy=False needs memory in native byte order, got {array.dtype.str}")
        array = array.astype(array.dtype.newbyteorder("="))
    try:
        given = as_dtype(array.dtype, name)
    except Exception as error:
        raise shortened(error) from None
    if isinstance(x, np.generic):
        _refuse_without_copy(name, copy, x)
        return cast_node(UOp.const(x.item(), given), given if dtype is None else dtype, name)
    wanted = given if dtype is None else dtype
    if wanted is not given:
        _refuse_without_copy(name, copy, x)
        if is_complex(given) and not (is_complex(wanted) or is_bool(wanted)):
            raise DTypeError(
                f"{name}: {name_of(given)} cannot be converted to {name_of(wanted)}; take the real part first"
            )
        array = converted(array, wanted)
    return UOp.buffer(buffer_from_numpy(array, copy is not False))


def _from_sequence(name: str, x: Sequence[Any], dtype: DType | None) -> UOp:
    try:
        if not _holds_array(x):
            return node_from_numpy(_numbers(name, x, dtype), dtype, name=name)
        parts = [as_node(item, name=name) for item in x]
    except Exception as error:
        raise shortened(error) from None
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ShapeError(f"{name}: expected items of one shape, got {', '.join(map(str, sorted(shapes)))}")
    wanted = as_dtype(np.result_type(*[part.dtype for part in parts])) if dtype is None else dtype
    return composite.stack([cast_node(part, wanted, name) for part in parts])


def plain_values(name: str, x: Any) -> np.ndarray[Any, Any] | None:
    """A number of Python's, or a sequence of nothing but those, as NumPy has it; None for all else.

    Raises:
        OverflowError: Python integers beyond 64 bits.
    """
    if type(x) in _SCALARS:
        values = np.array(x)
        return values if values.dtype.kind in "biufc" else None
    if type(x) in (list, tuple):
        return _numbers(name, x, None) if _is_plain(x) else None
    return None


def _is_plain(x: Sequence[Any]) -> bool:
    """Whether a sequence holds nothing but numbers of Python's, and lists and tuples of those."""
    return all([type(item) in _SCALARS or (type(item) in (list, tuple) and _is_plain(item)) for item in x])


def _holds_array(x: Sequence[Any]) -> bool:
    return any(
        type(item) not in _SCALARS and (isinstance(item, Handle) or (_is_nested(item) and _holds_array(item)))
        for item in x
    )


def _is_nested(x: Any) -> TypeGuard[Sequence[Any]]:
    """Whether `x` is a sequence that may hold arrays of ours: a list, or any other that is neither memory nor text."""
    if isinstance(x, list | tuple):
        return True
    return isinstance(x, Sequence) and not isinstance(x, _FLAT) and not hasattr(cast("object", x), "__array__")


def _numbers(name: str, x: Sequence[Any], dtype: DType | None) -> np.ndarray[Any, Any]:
    """Nested sequences of numbers as NumPy reads them, in `dtype` where NumPy alone would guess another."""
    try:
        array = np.asarray(x, None if dtype is None or not is_integer(dtype) else dtype)
    except ValueError as error:
        raise ShapeError(f"{name}: expected nested sequences of equal lengths with numbers; {error}") from None
    except TypeError as error:
        raise DTypeError(f"{name}: expected numbers in nested sequences, got {x!r:.60}; {error}") from None
    except OverflowError as error:
        raise OverflowError(f"{name}: {error}; choose a wider dtype") from None
    if array.dtype.kind == "O" and all(isinstance(item, int) for item in array.flat):
        raise OverflowError(f"{name}: Python integers beyond 64 bits, got {max(array.flat, key=abs)}")
    if array.dtype.kind not in "biufc":
        raise DTypeError(f"{name}: expected numbers or arrays in nested sequences, got {x!r:.60} ({array.dtype})")
    return array
