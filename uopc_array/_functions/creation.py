"""Arrays made of what others have, and arrays of one value, which are nodes without memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import (
    ALIGNED_BYTES,
    converted_at_once,
    copied_at_once,
    handle_on_new,
    known,
    of_numpy,
    taken_at_once,
)
from uopc_array._array.nodes import as_node, const_node, default_dtype, is_scalar, node_from_numpy, plain_values
from uopc_array._functions.arguments import (
    ArrayLike,
    ShapeLike,
    check_shape,
    integer,
    optional_dtype,
    shape_of,
    wrap_array,
)
from uopc_array._functions.public import function, method
from uopc_core import DType, UOp, composite, dtypes, is_complex, name_of
from uopc_core.errors import DTypeError, ShapeError, shortened
from uopc_core.numerics.axes import common_shape

__all__ = ["array", "asarray", "ascontiguousarray", "copy", "empty", "full", "ones", "zeros"]

_NUMBERS = frozenset({bool, int, float, complex})

# ---------------------------------------------------------------------------------------------- of what others have


@function("asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None)", "asanyarray")
def asarray(name: str, a: ArrayLike, dtype: Any = None, copy: bool | None = None) -> Array:
    """``a`` as an array.

    Args:
        a: an array, a Python scalar, nested sequences of scalars and arrays (which are stacked, lazily and
            differentiably), or an object that knows the buffer protocol, ``__array__`` or DLPack.
        dtype: dtype wanted; None infers it.
        order: how NumPy would lay it out; it changes nothing here.
        device: "cpu" or None.
        copy: True always makes a new array; False never copies memory and raises if it had to; None copies what comes
            from outside, since later changes there must not be seen, and returns arrays as they are.
        like: an array, which changes nothing here.
    Returns:
        ``dtype`` or the inferred one; shape of ``a``.
    Raises:
        ShapeError: sequences of unequal lengths.
        DTypeError: values that are no numbers, or complex ones to become real.
        OverflowError: a Python int that the dtype cannot hold.
        ValueError: ``copy`` is False and a copy would be needed; another ``order`` or ``device``.
    Example:
        >>> import uopc_array as xp
        >>> xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)
        Array([[1., 2.],
               [3., 4.]], dtype=float32)
    """
    wanted = None if dtype is None else optional_dtype(name, dtype)
    if isinstance(a, Array) and not copy:
        if (wanted is None or wanted is a.dtype) and not a._is_number:
            return a
        if copy is False and wanted is not None and wanted is not a.dtype:
            raise ValueError(
                f"{name}: copy=False cannot convert {name_of(a.dtype)} to {name_of(wanted)}; leave copy out"
            )
    values = known(a) if isinstance(a, Array) else a
    if wanted is None and copy is not False:
        made = plain_values(name, a)
        if made is None and type(a) in (list, tuple):
            made = _stacked_values(cast("Sequence[Any]", a))
        array = None if made is None else taken_at_once(Array, made)
        if array is not None:
            return array
    if type(values) is np.ndarray and (wanted is None or wanted is values.dtype) and copy is not False:
        array = copied_at_once(Array, values)
        if array is not None:
            return array
    try:
        node = as_node(a, wanted, copy, name)
        return wrap_array(node) if copy is False or isinstance(a, Array) else handle_on_new(Array, node)
    except Exception as error:
        raise shortened(error) from None


def _stacked_values(x: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    """A sequence of arrays, numbers and such sequences as NumPy stacks them, where all are known and small, of one
    shape; None for all else.
    """
    parts: list[Any] = []
    for item in x:
        if type(item) is Array:
            part = known(item)
        elif type(item) in (list, tuple):
            part = _stacked_values(item)
        else:
            part = np.array(item) if type(item) in _NUMBERS else of_numpy(item)
        if part is None or part.dtype.kind not in "biufc" or (parts and part.shape != parts[0].shape):
            return None
        parts.append(part)
    if not parts or len(parts) * parts[0].nbytes >= ALIGNED_BYTES:
        return None
    return np.array(parts, np.result_type(*[part.dtype for part in parts]))


@function(
    "array(object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, ndmax=0, like=None, device=None)",
)
def array(name: str, object: ArrayLike, dtype: Any, copy: bool | None, ndmin: int) -> Array:
    """A new array with the values of ``object``; see `asarray`.

    Args:
        object: what `asarray` takes.
        dtype: dtype wanted; None infers it.
        copy: as for `asarray`.
        order: how NumPy would lay it out; it changes nothing here.
        subok: changes nothing: arrays have no subclasses here.
        ndmin: least number of axes; axes of extent 1 are put in front.
        ndmax: how many levels of nested sequences NumPy is to go into; what comes out is NumPy's.
        like: an array, which changes nothing here.
        device: "cpu" or None.
    Returns:
        ``dtype`` or the inferred one; shape of ``object``.
    Raises:
        as `asarray`.
        ShapeError: ``ndmin`` is more than an array can have.
    Example:
        >>> import uopc_array as xp
        >>> xp.array([1, 2], ndmin=2)
        Array([[1, 2]], dtype=int64)
    """
    ndmin = integer(name, "ndmin", ndmin)
    out = asarray(name, object, dtype, copy)
    if out.ndim >= ndmin:
        return out
    shape = (1,) * (ndmin - out.ndim) + out.shape
    check_shape(name, shape)
    return out.reshape(shape)


@function("copy(a, order='K', subok=False)")
def copy(name: str, a: ArrayLike) -> Array:
    """A new array with the values of ``a``.

    Args:
        a: any dtype, any shape.
        order: how NumPy would lay it out; it changes nothing here.
        subok: changes nothing: arrays have no subclasses here.
    Returns:
        dtype and shape of ``a``.
    Example:
        >>> import uopc_array as xp
        >>> xp.copy(xp.asarray([1, 2]))
        Array([1, 2], dtype=int64)
    """
    return asarray(name, a, None, True)


@method("copy(a, order='C')")
def copied(name: str, a: Array) -> Array:
    """An array with the same values that later assignments to this one do not change.

    Args:
        order: how NumPy would lay it out; it changes nothing here.
    Returns:
        dtype and shape of the array.
    """
    copied = converted_at_once(a)
    return a._same_kind(a._uop, a._weak) if copied is None else copied


@function("ascontiguousarray(a, dtype=None, *, like=None)")
def ascontiguousarray(name: str, a: ArrayLike, dtype: Any) -> Array:
    """``a`` as an array of one axis at least; every array here is laid out in rows.

    Args:
        a: what `asarray` takes.
        dtype: dtype wanted; None infers it.
        like: an array, which changes nothing here.
    Returns:
        ``dtype`` or the inferred one; shape of ``a``, or ``(1,)``.
    Raises:
        as `asarray`.
    Example:
        >>> import uopc_array as xp
        >>> xp.ascontiguousarray(2.0)
        Array([2.], dtype=float64)
    """
    out = asarray(name, a, dtype)
    return out if out.ndim else out.reshape(1)


@function("asfortranarray(a, dtype=None, *, like=None)")
def asfortranarray(name: str, a: ArrayLike, dtype: Any) -> Array:
    """``a`` as an array of one axis at least; how it lies in memory is no property of an array here.

    Args:
        a: what `asarray` takes.
        dtype: dtype wanted; None infers it.
        like: an array, which changes nothing here.
    Returns:
        ``dtype`` or the inferred one; shape of ``a``, or ``(1,)``.
    Raises:
        as `asarray`.
    Example:
        >>> import uopc_array as xp
        >>> xp.asfortranarray([[1, 2]])
        Array([[1, 2]], dtype=int64)
    """
    return ascontiguousarray(name, a, dtype)


@function("require(a, dtype=None, requirements=None, *, like=None)")
def require(name: str, a: ArrayLike, dtype: Any, requirements: Any) -> Array:
    """``a`` as an array; how it lies in memory is no property of an array here, and each can be written to.

    Args:
        a: what `asarray` takes.
        dtype: dtype wanted; None infers it.
        requirements: names that `numpy.require` knows.
        like: an array, which changes nothing here.
    Returns:
        ``dtype`` or the inferred one; shape of ``a``.
    Raises:
        KeyError, ValueError: requirements that NumPy does not know, or that exclude each other.
    Example:
        >>> import uopc_array as xp
        >>> xp.require([1, 2], requirements=["C", "W"])
        Array([1, 2], dtype=int64)
    """
    np.require(0, None, requirements)
    return asarray(name, a, dtype)


@function("from_dlpack(x, /, *, device=None, copy=None)")
def from_dlpack(name: str, x: Any, copy: bool | None) -> Array:
    """An array with the values of an object that knows DLPack.

    Args:
        x: an object with ``__dlpack__`` and ``__dlpack_device__``.
        device: "cpu" or None.
        copy: False shares the memory of ``x`` or raises; True and None copy.
    Returns:
        dtype and shape of ``x``.
    Raises:
        BufferError: ``x`` cannot be exported, or not be shared with ``copy=False``.
        AttributeError: ``x`` does not know DLPack.
    Example:
        >>> import numpy as np
        >>> import uopc_array as xp
        >>> xp.from_dlpack(np.asarray([1.0, 2.0]))
        Array([1., 2.], dtype=float64)
    """
    if isinstance(x, Array):
        return wrap_array(x._uop)
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(
            f"{name}: expected an object with __dlpack__, got {type(x).__name__}; asarray takes numbers and lists"
        )
    try:
        values: np.ndarray[Any, Any] = np.from_dlpack(x)
    except BufferError as error:
        raise BufferError(f"{name}: {error}") from None
    if copy is False and not (values.flags.c_contiguous and values.flags.aligned):
        raise BufferError(
            f"{name}: memory of shape {values.shape} with strides {values.strides} is not in C order, or not "
            "aligned, and cannot be shared; leave copy=False out"
        )
    try:
        return wrap_array(node_from_numpy(values, None, copy, name))
    except ValueError as error:
        raise BufferError(f"{name}: {error}") from None


# ---------------------------------------------------------------------------------------------- of one value


def _filled(name: str, shape: tuple[int, ...], value: ArrayLike, dtype: DType | None) -> UOp:
    if is_scalar(value):
        wanted = default_dtype(value) if dtype is None else dtype
        if isinstance(value, complex) and not is_complex(wanted):
            raise DTypeError(f"{name}: a complex fill value needs a complex dtype, got {name_of(wanted)}")
        return const_node(name, value, wanted, shape)
    node = as_node(value, dtype, name=name)
    if common_shape(name, node.shape, shape) != shape:
        raise ShapeError(f"{name}: a fill value of shape {node.shape} cannot be broadcast to {shape}")
    return composite.broadcast_to(node, shape)


def _constant(name: str, value: int, shape: ShapeLike, dtype: Any) -> UOp:
    return UOp.const(value, optional_dtype(name, dtype) or dtypes.float64, shape_of(name, shape))


@function("full(shape, fill_value, dtype=None, order='C', *, device=None, like=None)", gives="array")
def full(name: str, shape: ShapeLike, fill_value: ArrayLike, dtype: Any) -> UOp:
    """An array filled with one value.

    Args:
        shape: extents, an int or a sequence of them.
        fill_value: a Python scalar, or an array that can be broadcast to ``shape``.
        dtype: dtype wanted; None takes that of ``fill_value``.
        order: "C" or "F", how NumPy would lay it out; it changes nothing here.
        device: "cpu" or None.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent, or a value that cannot be broadcast.
        OverflowError: a Python int that the dtype cannot hold.
    Example:
        >>> import uopc_array as xp
        >>> xp.full((2, 2), 7)
        Array([[7, 7],
               [7, 7]], dtype=int64)
    """
    return _filled(name, shape_of(name, shape), fill_value, optional_dtype(name, dtype))


@function("zeros(shape, dtype=None, order='C', *, device=None, like=None)", gives="array")
def zeros(name: str, shape: ShapeLike, dtype: Any) -> UOp:
    """An array of zeros.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted; None is float64.
        order: "C" or "F", how NumPy would lay it out; it changes nothing here.
        device: "cpu" or None.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.zeros(3)
        Array([0., 0., 0.], dtype=float64)
    """
    return _constant(name, 0, shape, dtype)


@function("ones(shape, dtype=None, order='C', *, device=None, like=None)", gives="array")
def ones(name: str, shape: ShapeLike, dtype: Any) -> UOp:
    """An array of ones.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted; None is float64.
        order: "C" or "F", how NumPy would lay it out; it changes nothing here.
        device: "cpu" or None.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.ones((1, 2))
        Array([[1., 1.]], dtype=float64)
    """
    return _constant(name, 1, shape, dtype)


@function("empty(shape, dtype=None, order='C', *, device=None, like=None)", gives="array")
def empty(name: str, shape: ShapeLike, dtype: Any) -> UOp:
    """An array whose values do not matter; they are zeros, as memory is only taken when values are written.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted; None is float64.
        order: "C" or "F", how NumPy would lay it out; it changes nothing here.
        device: "cpu" or None.
        like: an array, which changes nothing here.
    Returns:
        ``dtype``; ``shape``.
    Raises:
        ShapeError: a negative extent.
    Example:
        >>> import uopc_array as xp
        >>> xp.empty((2, 3)).shape
        (2, 3)
    """
    return _constant(name, 0, shape, dtype)


# ---------------------------------------------------------------------------------------------- of the shape of another


def _constant_like(name: str, value: int, x: UOp, dtype: Any, shape: ShapeLike | None) -> UOp:
    wanted = optional_dtype(name, dtype) or x.dtype
    return UOp.const(value, wanted, x.shape if shape is None else shape_of(name, shape))


@function("full_like(a, fill_value, dtype=None, order='K', subok=True, shape=None, *, device=None)", gives="array")
def full_like(name: str, a: UOp, fill_value: ArrayLike, dtype: Any, shape: ShapeLike | None) -> UOp:
    """An array of the shape of ``a`` filled with one value.

    Args:
        a: any dtype, any shape.
        fill_value: a Python scalar, or an array that can be broadcast to the shape.
        dtype: dtype wanted; None takes that of ``a``.
        order: how NumPy would lay it out; it changes nothing here.
        subok: changes nothing: arrays have no subclasses here.
        shape: extents in place of those of ``a``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``a``, or ``shape``.
    Raises:
        ShapeError: a value that cannot be broadcast.
        OverflowError: a Python int that the dtype cannot hold.
    Example:
        >>> import uopc_array as xp
        >>> xp.full_like(xp.zeros(2), 5)
        Array([5., 5.], dtype=float64)
    """
    extents = a.shape if shape is None else shape_of(name, shape)
    return _filled(name, extents, fill_value, a.dtype if dtype is None else optional_dtype(name, dtype))


@function("zeros_like(a, dtype=None, order='K', subok=True, shape=None, *, device=None)", gives="array")
def zeros_like(name: str, a: UOp, dtype: Any, shape: ShapeLike | None) -> UOp:
    """Zeros of the shape of ``a``.

    Args:
        a: any dtype, any shape.
        dtype: dtype wanted; None takes that of ``a``.
        order: how NumPy would lay it out; it changes nothing here.
        subok: changes nothing: arrays have no subclasses here.
        shape: extents in place of those of ``a``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``a``, or ``shape``.
    Example:
        >>> import uopc_array as xp
        >>> xp.zeros_like(xp.asarray([1, 2]))
        Array([0, 0], dtype=int64)
    """
    return _constant_like(name, 0, a, dtype, shape)


@function("ones_like(a, dtype=None, order='K', subok=True, shape=None, *, device=None)", gives="array")
def ones_like(name: str, a: UOp, dtype: Any, shape: ShapeLike | None) -> UOp:
    """Ones of the shape of ``a``.

    Args:
        a: any dtype, any shape.
        dtype: dtype wanted; None takes that of ``a``.
        order: how NumPy would lay it out; it changes nothing here.
        subok: changes nothing: arrays have no subclasses here.
        shape: extents in place of those of ``a``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``a``, or ``shape``.
    Example:
        >>> import uopc_array as xp
        >>> xp.ones_like(xp.asarray([1, 2]))
        Array([1, 1], dtype=int64)
    """
    return _constant_like(name, 1, a, dtype, shape)


@function("empty_like(prototype, dtype=None, order='K', subok=True, shape=None, *, device=None)", gives="array")
def empty_like(name: str, prototype: UOp, dtype: Any, shape: ShapeLike | None) -> UOp:
    """An array of the shape of ``prototype`` whose values do not matter; see `empty`.

    Args:
        prototype: any dtype, any shape.
        dtype: dtype wanted; None takes that of ``prototype``.
        order: how NumPy would lay it out; it changes nothing here.
        subok: changes nothing: arrays have no subclasses here.
        shape: extents in place of those of ``prototype``.
        device: "cpu" or None.
    Returns:
        ``dtype``; shape of ``prototype``, or ``shape``.
    Example:
        >>> import uopc_array as xp
        >>> xp.empty_like(xp.asarray([1, 2])).dtype
        dtype('int64')
    """
    return _constant_like(name, 0, prototype, dtype, shape)
