"""Arguments of the namespace's functions: arrays, axes, shapes, devices, and the errors that name the function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import handle_on
from uopc_array._array.lens import Lens
from uopc_array._array.nodes import as_node, is_scalar, node_from_numpy
from uopc_array._array.numbers import (
    filler,
    integer,
    integer_array,
    integers,
    is_sequence,
    known,
    number,
    number_or_node,
    operand,
)
from uopc_array._array.programs import of_known
from uopc_core import DType, UOp, as_dtype, dtypes, is_bool, is_complex, is_inexact, is_integer, name_of
from uopc_core.errors import DTypeError, ShapeError, shortened
from uopc_core.numerics.axes import axes_from_front, axis_from_front

__all__ = [
    "ArrayLike",
    "AxisLike",
    "ShapeLike",
    "array_of",
    "as_bits",
    "as_floating",
    "as_real",
    "as_real_floating",
    "check_choice",
    "check_device",
    "check_shape",
    "computed",
    "filler",
    "frame_of",
    "from_memory",
    "integer",
    "integer_array",
    "integers",
    "is_sequence",
    "known",
    "node_of",
    "normalize_axes",
    "normalize_axis",
    "number",
    "number_or_node",
    "operand",
    "optional_dtype",
    "seen",
    "shape_of",
    "wrap",
    "wrap_array",
    "wrap_like",
]

# what a function takes for an array: ours, or what `asarray` makes one of (NumPy arrays and scalars, Python numbers)
ArrayLike = Any
AxisLike = int | Sequence[int] | None
ShapeLike = int | Sequence[int]

MAX_AXES = 64  # of a NumPy array, which every array here can become
MAX_ELEMENTS = 2**63 - 1


def node_of(name: str, x: ArrayLike) -> UOp:
    """The node of an argument of the function `name`."""
    try:
        return x._uop if isinstance(x, Array) else as_node(x, name=name)
    except Exception as error:
        raise shortened(error) from None


def frame_of(name: str, x: ArrayLike) -> UOp:
    """A node of the shape and dtype of an argument, for functions that give views of it."""
    return x._frame() if isinstance(x, Array) else node_of(name, x)


def wrap(node: UOp) -> Array:
    """The result of a function: of no axes a number, as where NumPy gives a scalar."""
    return handle_on(Array, node, False)


def computed(name: str, native: Callable[..., UOp], *args: Any) -> Array:
    """The result of a function of nodes of operands and other arguments, for one that does more than that itself."""
    value = of_known(Array, native, name, (None,) * len(args), args, False)
    return wrap(native(name, *args)) if value is None else value


def wrap_array(node: UOp) -> Array:
    """The result of a function that is an array of no axes too, as where NumPy gives one."""
    return handle_on(Array, node, True)


def wrap_like(x: ArrayLike, node: UOp) -> Array:
    """The result of a function that, of no axes, gives a number for a number and an array for an array."""
    if isinstance(x, Array):
        return x._same_kind(node)
    return wrap(node) if is_scalar(x) or isinstance(x, np.generic) else wrap_array(node)


def seen(x: ArrayLike, node: UOp, lens: Lens) -> Array:
    """What a step gives of `x`, whose node or frame is `node`: a view where NumPy's is one."""
    if isinstance(x, Array):
        return x._seen(node, lens)
    return (wrap if isinstance(x, np.generic) else wrap_array)(lens.on_node(node))


def array_of(name: str, x: ArrayLike) -> Array:
    """An argument of the function `name` as an array of ours: itself, where it is one."""
    if isinstance(x, Array):
        return x
    return (wrap if isinstance(x, np.generic) else wrap_array)(node_of(name, x))


def from_memory(values: np.ndarray[Any, Any]) -> Array:
    """An array on fresh values of the host, which nobody else will write to: they are not copied."""
    return wrap_array(node_from_numpy(np.asarray(values, order="C"), None, False))


# ---------------------------------------------------------------------------------------------- names


def check_choice(name: str, what: str, value: object, choices: Iterable[str]) -> None:
    """
    Raises:
        ValueError: `value` is none of the strings that the argument `what` takes.
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        *first, last = [f'"{choice}"' for choice in known]
        raise ValueError(f"{name}: expected {what} {', '.join(first)} or {last}, got {value!r}")


# ---------------------------------------------------------------------------------------------- axes


def normalize_axis(name: str, axis: Any, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
        AxisError: it is out of range.
        TypeError: it is no integer, or a bool.
    """
    try:
        return axis_from_front(name, axis if type(axis) is int else _axis_number(name, axis), ndim)
    except Exception as error:
        raise shortened(error) from None


def _axis_number(name: str, axis: Any) -> int:
    if isinstance(axis, bool | np.bool_):
        raise TypeError(f"{name}: expected an integer for axis, got {axis!r}")
    return integer(name, "axis", axis)


def normalize_axes(name: str, axis: AxisLike, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` names, from the front, in the given order; None names all.

    Raises:
        AxisError: one is out of range or named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    try:
        named = axis if isinstance(axis, tuple | list) else (axis,)
        return axes_from_front(name, [a if type(a) is int else _axis_number(name, a) for a in named], ndim)
    except Exception as error:
        raise shortened(error) from None


# --------------------------------------------------------------------------------------------- shapes, dtypes, devices


def shape_of(name: str, shape: ShapeLike, what: str = "shape") -> tuple[int, ...]:
    """`shape` as a tuple of Python ints.

    Raises:
        ShapeError: an extent is negative, or there are too many axes or elements.
        TypeError: no integer, and no sequence of integers.
    """
    try:
        out = integers(name, what, shape)
    except Exception as error:
        raise shortened(error) from None
    if any(n < 0 for n in out):
        raise ShapeError(f"{name}: expected extents of 0 or more, got {what} {out}")
    check_shape(name, out)
    return out


def check_shape(name: str, shape: tuple[int, ...]) -> None:
    """
    Raises:
        ShapeError: more axes or elements than an array can have.
    """
    if len(shape) > MAX_AXES:
        raise ShapeError(f"{name}: expected {MAX_AXES} axes at most, got {len(shape)}")
    if prod(shape) > MAX_ELEMENTS:
        raise ShapeError(f"{name}: expected {MAX_ELEMENTS} elements at most, got shape {shape}")


def optional_dtype(name: str, dtype: Any) -> DType | None:
    try:
        return None if dtype is None else as_dtype(dtype, name)
    except Exception as error:
        raise shortened(error) from None


def check_device(name: str, device: object) -> None:
    """
    Raises:
        ValueError: `device` is not None and not the only one there is.
    """
    if device is not None and not (isinstance(device, str) and device == "cpu"):
        raise ValueError(f'{name}: expected device "cpu" or None, got {device!r}')


# ---------------------------------------------------------------------------------------------- dtype kinds


def as_floating(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    """Operands of one dtype as real or complex floating; integers and bool become float64."""
    if is_inexact(nodes[0].dtype):
        return nodes
    return tuple([node.cast(dtypes.float64) for node in nodes])


def as_real_floating(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    """Operands of one dtype as real floating.

    Raises:
        DTypeError: they are complex.
    """
    try:
        return as_floating(name, *as_real(name, *nodes))
    except Exception as error:
        raise shortened(error) from None


def as_real(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    """
    Raises:
        DTypeError: the operands are complex.
    """
    if is_complex(nodes[0].dtype):
        raise DTypeError(
            f"{name}: expected a real dtype, got {name_of(nodes[0].dtype)}; take real(x), imag(x) or abs(x) first"
        )
    return nodes


def as_bits(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    """
    Raises:
        DTypeError: the operands are neither bool nor integers.
    """
    if not (is_integer(nodes[0].dtype) or is_bool(nodes[0].dtype)):
        raise DTypeError(
            f"{name}: expected an integer dtype or bool, got {name_of(nodes[0].dtype)}; convert it with "
            "astype(xp.int64)"
        )
    return nodes
