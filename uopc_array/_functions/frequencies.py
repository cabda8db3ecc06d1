"""Frequencies of the elements of Fourier transforms, and shifts of them to the middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uopc_array._array.nodes import node_from_numpy
from uopc_array._array.realize import buffer_of_node
from uopc_array._functions.arguments import (
    ArrayLike,
    AxisLike,
    check_device,
    check_shape,
    integer,
    normalize_axes,
    number_or_node,
    optional_dtype,
)
from uopc_array._functions.public import function
from uopc_core import TRACED, DType, UOp, composite, dtypes, is_float, name_of
from uopc_core.errors import DTypeError, IntegerError, ZeroStepError

__all__: list[str] = []

_LENGTH = "(n, d=1.0, device=None, *, dtype=None)"


@function(f"fft.fftfreq{_LENGTH}")
def fftfreq(name: str, n: int, d: ArrayLike, device: Any, dtype: Any) -> UOp:
    """Frequencies of the elements that `fft` gives, in cycles per unit of ``d``.

    Args:
        n: length of the transform.
        d: distance of two samples; differentiable where it is an array.
        device: "cpu" or None.
        dtype: real floating; None is float64.
    Returns:
        shape (n,): 0 and the positive frequencies, then the negative ones.
    Raises:
        DTypeError: ``dtype`` is not real floating.
        IntegerError: (a TypeError and a ValueError) ``n`` is no integer.
        ZeroStepError: (a ValueError and a ZeroDivisionError) ``n`` is less than 1, or ``d`` is 0.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fftfreq(4)
        Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float64)
    """
    return _frequencies(name, _counts_of_all, n, d, device, dtype)


@function(f"fft.rfftfreq{_LENGTH}")
def rfftfreq(name: str, n: int, d: ArrayLike, device: Any, dtype: Any) -> UOp:
    """Frequencies of the elements that `rfft` gives, in cycles per unit of ``d``; see `fftfreq`.

    Raises:
        DTypeError, ValueError: ``dtype`` is not real floating; an unknown device.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.rfftfreq(5, d=0.1)
        Array([0., 2., 4.], dtype=float64)
    """
    return _frequencies(name, lambda count: np.arange(count // 2 + 1), n, d, device, dtype)


def _counts_of_all(count: int) -> np.ndarray[Any, Any]:
    counts = np.empty(count, np.int64)  # `arange` of too many is empty, this is an error
    half = (count + 1) // 2
    counts[:half], counts[half:] = np.arange(half), np.arange(-(count // 2), 0)
    return counts


def _frequencies(
    name: str, counts_of: Callable[[int], np.ndarray[Any, Any]], n: Any, d: ArrayLike, device: Any, dtype: Any
) -> UOp:
    """``counts / (n * d)``, in NumPy's order."""
    check_device(name, device)
    count, distance = _spacing(name, n, d)
    counts, wanted = counts_of(count), _floating(name, dtype)
    if not isinstance(distance, UOp):
        return node_from_numpy((counts * (1.0 / (count * distance))).astype(wanted))
    unit = 1.0 / (distance.cast(dtypes.float64) * count)
    node = node_from_numpy(counts.astype(np.float64)) * composite.broadcast_to(unit, counts.shape)
    return node.cast(wanted)


def _floating(name: str, dtype: Any) -> DType:
    wanted = optional_dtype(name, dtype) or dtypes.float64
    if not is_float(wanted):
        raise DTypeError(f"{name}: expected a real floating dtype, got {name_of(wanted)}")
    return wanted


def _spacing(name: str, n: Any, d: ArrayLike) -> tuple[int, int | float | UOp]:
    """The number of samples and their distance, checked; a distance that is not known yet is a node."""
    count = integer(name, "n", n, IntegerError)
    distance = number_or_node(name, "d", d)
    check_shape(name, (max(count, 0),))
    if count < 1:
        raise ZeroStepError(f"{name}: expected n of 1 or more, got n={count}")
    if _is_zero(name, distance):
        raise ZeroStepError(f"{name}: expected a distance d other than 0, got d={d}")
    return count, distance


def _is_zero(name: str, x: int | float | UOp) -> bool:
    """Whether a number is 0, where its value can be known."""
    if not isinstance(x, UOp):
        return x == 0
    return not x.flags & TRACED and bool(buffer_of_node(x, name).array == 0)


# ---------------------------------------------------------------------------------------------- shifts


@function("fft.fftshift(x, axes=None)")
def fftshift(name: str, x: UOp, axes: AxisLike) -> UOp:
    """Move the zero frequency to the middle.

    Args:
        x: any dtype.
        axes: axes to shift; None is all.
    Returns:
        dtype and shape of ``x``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fftshift(xp.fft.fftfreq(4))
        Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float64)
    """
    for axis in normalize_axes(name, axes, x.ndim):
        x = composite.roll(x, x.shape[axis] // 2, axis)
    return x


@function("fft.ifftshift(x, axes=None)")
def ifftshift(name: str, x: UOp, axes: AxisLike) -> UOp:
    """Inverse of `fftshift`, from which it differs for odd lengths.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.ifftshift(xp.asarray([-2, -1, 0, 1, 2]))
        Array([ 0,  1,  2, -2, -1], dtype=int64)
    """
    for axis in normalize_axes(name, axes, x.ndim):
        x = composite.roll(x, -(x.shape[axis] // 2), axis)
    return x
