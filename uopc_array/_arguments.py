"""Arguments of the namespace's functions: arrays, axes, shapes, devices, and the errors that name the function."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from uopc_array._nodes import as_node, node_from_numpy
from uopc_array.array import Array
from uopc_core import DType, UOp, as_dtype, dtypes, is_bool, is_complex, is_inexact, is_integer
from uopc_core.errors import AxisError, DTypeError, ShapeError

__all__ = [
    "ArrayLike",
    "AxisLike",
    "ShapeLike",
    "as_bits",
    "as_floating",
    "as_real",
    "as_real_floating",
    "check_device",
    "from_memory",
    "node_of",
    "normalize_axes",
    "normalize_axis",
    "optional_dtype",
    "shape_of",
    "view",
    "wrap",
]

# what a function takes for an array: ours, or what `asarray` makes one of (NumPy arrays and scalars, Python numbers)
ArrayLike = Any
AxisLike = int | Sequence[int] | None
ShapeLike = int | Sequence[int]


def node_of(x: ArrayLike) -> UOp:
    """The node of an array."""
    return x._settled() if isinstance(x, Array) else as_node(x)


wrap: Callable[[UOp], Array] = Array._from_uop


def view(x: ArrayLike, node: UOp) -> Array:
    """An array of `node`, made from the node of `x` by movement ops: a view of `x` where NumPy's is one."""
    return x._moved(node) if isinstance(x, Array) else wrap(node)


def from_memory(values: np.ndarray[Any, Any]) -> Array:
    """An array on fresh values of the host, which nobody else will write to: they are not copied."""
    return wrap(node_from_numpy(np.asarray(values, order="C"), None, False))


# ---------------------------------------------------------------------------------------------- axes


def normalize_axis(name: str, axis: SupportsIndex, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
        AxisError: it is out of range.
    """
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise AxisError(f"{name}: axis {number} is out of bounds for an array of {ndim} axes")
    return number + ndim if number < 0 else number


def normalize_axes(name: str, axis: AxisLike, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` names, from the front, in the given order; None names all.

    Raises:
        AxisError: one is out of range or named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, Sequence):
        return (normalize_axis(name, axis, ndim),)
    axes = tuple([normalize_axis(name, a, ndim) for a in axis])
    if len(set(axes)) != len(axes):
        raise AxisError(f"{name}: every axis may be named once, got axis={tuple(axis)} for an array of {ndim} axes")
    return axes


# --------------------------------------------------------------------------------------------- shapes, dtypes, devices


def shape_of(name: str, shape: ShapeLike) -> tuple[int, ...]:
    """`shape` as a tuple of Python ints.

    Raises:
        ShapeError: an extent is negative.
    """
    given: Sequence[Any] = [shape] if isinstance(shape, SupportsIndex) else list(shape)
    out = tuple([operator.index(n) for n in given])
    if any(n < 0 for n in out):
        raise ShapeError(f"{name}: expected extents of 0 or more, got shape {out}")
    return out


def optional_dtype(dtype: Any) -> DType | None:
    return None if dtype is None else as_dtype(dtype)


def check_device(name: str, device: object) -> None:
    """
    Raises:
        ValueError: `device` is not None and not the only one there is.
    """
    if device is not None and device != "cpu":
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
    return as_floating(name, *as_real(name, *nodes))


def as_real(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    """
    Raises:
        DTypeError: the operands are complex.
    """
    if is_complex(nodes[0].dtype):
        raise DTypeError(
            f"{name}: expected a real dtype, got {nodes[0].dtype.name}; take real(x), imag(x) or abs(x) first"
        )
    return nodes


def as_bits(name: str, *nodes: UOp) -> tuple[UOp, ...]:
    """
    Raises:
        DTypeError: the operands are neither bool nor integers.
    """
    if not (is_integer(nodes[0].dtype) or is_bool(nodes[0].dtype)):
        raise DTypeError(f"{name}: expected an integer dtype or bool, got {nodes[0].dtype.name}")
    return nodes
