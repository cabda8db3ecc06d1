"""What `Tensor` composes of the primitives: promotion, activations, statistics, indexing, random numbers.

Functions from nodes to a node; nothing here computes. The derivatives follow from those of the primitives.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, prod, sqrt
from types import EllipsisType
from typing import Any, Literal

import numpy as np

from uopc_core.dtype import DType, as_dtype, dtypes, is_bool, is_complex, is_float, is_inexact, is_integer, name_of
from uopc_core.errors import AxisError, DTypeError, ShapeError
from uopc_core.ir import Ops, Scalar, UOp
from uopc_core.ir.composite import (
    as_places,
    broadcast,
    broadcast_shapes,
    broadcast_to,
    iota,
    matmul,
    reduce_axes,
    slice_axes,
    unsqueeze,
)

__all__ = [
    "Axis",
    "Key",
    "as_array",
    "as_inexact",
    "broadcast_all",
    "cross_entropy",
    "dtype_beside_scalar",
    "gelu",
    "getitem",
    "log_softmax",
    "matmul_any",
    "mean",
    "normal",
    "normalize_axes",
    "normalize_axis",
    "normalize_shape",
    "one_hot",
    "power",
    "promote",
    "relu",
    "sigmoid",
    "softmax",
    "squares_key",
    "total",
    "uniform",
    "variance",
]

Axis = int | Sequence[int] | None
Key = int | slice | EllipsisType | UOp | None

_DEFAULT_DTYPES: dict[DType, DType] = {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}

# ------------------------------------------------------------------------------------------------------ dtypes and axes


def _category(dtype: DType) -> int:
    return 0 if is_bool(dtype) else 1 if is_integer(dtype) else 2 if is_float(dtype) else 3


def promote(x: DType, y: DType) -> DType:
    """The common dtype: that of the higher category (bool, integer, floating, complex), the wider within one."""
    if x is y:
        return x
    low, high = sorted((x, y), key=_category)
    if _category(low) < 2 and _category(low) < _category(high):
        return high
    common = np.promote_types(x, y)
    if _category(common) > _category(high):
        raise DTypeError(f"no integer dtype holds both {x.name} and {y.name}; cast one of them")
    return common


def dtype_beside_scalar(dtype: DType, value: Scalar) -> DType:
    """The dtype of an operation with a Python scalar: a scalar never widens, it only lifts to its category."""
    if isinstance(value, bool):
        return dtype
    if isinstance(value, int):
        return dtypes.int32 if is_bool(dtype) else dtype
    if isinstance(value, float):
        return dtype if is_inexact(dtype) else dtypes.float32
    if is_complex(dtype):
        return dtype
    return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64


def as_inexact(x: UOp) -> UOp:
    """`x`, as float32 when it is bool or integer."""
    return x if is_inexact(x.dtype) else x.cast(dtypes.float32)


def broadcast_all(*operands: UOp) -> tuple[UOp, ...]:
    """All operands in their common shape and dtype."""
    dtype = operands[0].dtype
    for x in operands[1:]:
        dtype = promote(dtype, x.dtype)
    shape = broadcast_shapes(*[x.shape for x in operands])
    return tuple([broadcast_to(x.cast(dtype), shape) for x in operands])


def as_array(data: Any) -> np.ndarray[Any, Any]:
    """`data` as a NumPy array; a dtype is kept, Python numbers become float32, int32 if they fit, or complex64."""
    array = np.asarray(data)
    dtype = as_dtype(array.dtype.newbyteorder("="), "Tensor")
    if not hasattr(data, "dtype"):
        dtype = _DEFAULT_DTYPES.get(dtype, dtype)
        if dtype is dtypes.int64 and (not array.size or (array.min() >= -(2**31) and array.max() < 2**31)):
            dtype = dtypes.int32
    return np.asarray(array, dtype, order="C")


def normalize_axis(name: str, axis: int, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
        AxisError: it is out of range.
    """
    if not -ndim <= axis < ndim:
        raise AxisError(f"{name}: axis {axis} is out of bounds for an array of {ndim} dimensions")
    return axis % ndim


def normalize_axes(name: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """All axes for None, else `axis` as a tuple counted from the front, each once."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple([normalize_axis(name, a, ndim) for a in ([axis] if isinstance(axis, int) else axis)])
    if len(set(axes)) != len(axes):
        raise AxisError(f"{name}: an axis is named twice in {axis}")
    return axes


def normalize_shape(name: str, shape: Sequence[int], size: int) -> tuple[int, ...]:
    """`shape` with its one -1 replaced by what makes it hold `size` elements."""
    if -1 not in shape:
        return tuple(shape)
    known = prod([n for n in shape if n != -1])
    if list(shape).count(-1) > 1 or known == 0 or size % known:
        raise ShapeError(f"{name}: cannot fit {size} elements into shape {tuple(shape)}")
    return tuple([size // known if n == -1 else n for n in shape])


# ---------------------------------------------------------------------------------------------------------- elementwise


def power(x: UOp, y: UOp | Scalar) -> UOp:
    """``x ** y``; the small exponents that polynomials are made of become a product."""
    if isinstance(y, UOp):
        return x.binary(Ops.POW, y)
    if y == 2:
        return x * x
    if y == 0.5 and is_inexact(x.dtype):
        return x.unary(Ops.SQRT)
    if isinstance(y, int) and y < 0 and not is_inexact(x.dtype):
        raise ValueError(f"power: an integer Tensor has no power {y}; cast it to floating first")
    return x if y == 1 else x.binary(Ops.POW, y)


def sigmoid(x: UOp) -> UOp:
    """``1 / (1 + exp(-x))`` with negative numbers only under the exponential: it and its derivative do not overflow."""
    positive = x >= 0
    e = positive.where(-x, x).unary(Ops.EXP)
    return positive.where(1.0, e) / (e + 1)


def relu(x: UOp) -> UOp:
    """``where(x > 0, x, 0)``; the slope at 0 is 0."""
    return (x > 0).where(x, 0)


def gelu(x: UOp, approximate: Literal["none", "tanh"]) -> UOp:
    """``x`` times the standard normal distribution function at `x` (Hendrycks & Gimpel 2016, arXiv:1606.08415)."""
    if approximate == "none":
        return x * 0.5 * ((x * sqrt(0.5)).unary(Ops.ERF) + 1)
    if approximate == "tanh":
        return x * 0.5 * (((x + x * x * x * 0.044715) * sqrt(2 / pi)).unary(Ops.TANH) + 1)
    raise ValueError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}")


def matmul_any(x: UOp, y: UOp) -> UOp:
    """``x @ y`` as NumPy has it: a 1-d operand is a row on the left, a column on the right, and its axis is dropped."""
    if not x.shape or not y.shape:
        raise ShapeError(f"matmul: expected one axis or more, got {x.shape} and {y.shape}; use * with a scalar")
    left = unsqueeze(x, 0) if x.ndim == 1 else x
    right = unsqueeze(y, 1) if y.ndim == 1 else y
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(
            f"matmul: the last axis of x must equal the second-last axis of y, got x {x.shape} and y {y.shape} "
            f"({left.shape[-1]} != {right.shape[-2]})"
        )
    out = matmul(left, right)
    rows = () if x.ndim == 1 else (out.shape[-2],)
    columns = () if y.ndim == 1 else (out.shape[-1],)
    return out.reshape((*out.shape[:-2], *rows, *columns))


# ----------------------------------------------------------------------------------------------------------- statistics


def total(x: UOp, axes: Sequence[int], keepdim: bool) -> UOp:
    """The sum; of bool and integers in int64 (uint64 for unsigned), so that counting does not overflow."""
    if is_bool(x.dtype) or is_integer(x.dtype):
        x = x.cast(dtypes.uint64 if x.dtype.kind == "u" else dtypes.int64)
    return reduce_axes(x, Ops.ADD, axes, keepdim)


def _count(x: UOp, axes: Sequence[int]) -> int:
    return prod([x.shape[axis] for axis in axes])


def mean(x: UOp, axes: Sequence[int], keepdim: bool) -> UOp:
    """The mean, floating also for integers; nan over no elements."""
    x = as_inexact(x)
    return reduce_axes(x, Ops.ADD, axes, keepdim) / float(_count(x, axes))


def variance(x: UOp, axes: Sequence[int], keepdim: bool, correction: float) -> UOp:
    """The mean squared distance from the mean in two passes, divided by ``n - correction``."""
    x = as_inexact(x)
    distance = x - broadcast_to(mean(x, axes, True), x.shape)
    return reduce_axes(distance * distance, Ops.ADD, axes, keepdim) / max(float(_count(x, axes)) - correction, 0.0)


def _shifted(x: UOp, axis: int) -> UOp:
    """`x` minus its maximum along `axis`. Softmax does not depend on that shift, so it is no path of the derivative."""
    top = reduce_axes(x, Ops.MAX, [axis], True).stage("detach")
    return x - broadcast_to(top, x.shape)


def softmax(x: UOp, axis: int) -> UOp:
    e = _shifted(as_inexact(x), axis).unary(Ops.EXP)
    return e / broadcast_to(reduce_axes(e, Ops.ADD, [axis], True), e.shape)


def log_softmax(x: UOp, axis: int) -> UOp:
    """``log(softmax(x))`` without the overflow and without the logarithm of 0."""
    shifted = _shifted(as_inexact(x), axis)
    log_sum = reduce_axes(shifted.unary(Ops.EXP), Ops.ADD, [axis], True).unary(Ops.LOG)
    return shifted - broadcast_to(log_sum, shifted.shape)


def one_hot(labels: UOp, n_classes: int) -> UOp:
    """The bool mask ``[..., c] = labels[...] == c``."""
    if not is_integer(labels.dtype):
        raise DTypeError(f"one_hot: expected integer labels, got {name_of(labels.dtype)}")
    shape = (*labels.shape, n_classes)
    column = broadcast_to(unsqueeze(labels.cast(dtypes.int64), labels.ndim), shape)
    return iota(shape, labels.ndim).eq(column)


def cross_entropy(logits: UOp, labels: UOp) -> UOp:
    """The mean of ``-log_softmax(logits)[label]``, or for probabilities as labels of ``-sum(labels * log_softmax)``."""
    log_p = log_softmax(logits, logits.ndim - 1)
    if is_float(labels.dtype) and labels.shape == logits.shape:
        picked = labels.cast(log_p.dtype) * log_p
    elif is_integer(labels.dtype) and labels.shape == logits.shape[:-1]:
        picked = one_hot(labels, logits.shape[-1]).where(log_p, 0)
    else:
        raise ShapeError(
            f"cross_entropy: expected integer labels of shape {logits.shape[:-1]} or probabilities of shape "
            f"{logits.shape}, got {name_of(labels.dtype)} {labels.shape}"
        )
    return -picked.reduce(Ops.ADD, picked.ndim) / float(prod(logits.shape[:-1]))


# ------------------------------------------------------------------------------------------------------------- indexing


def _without_ellipsis(x: UOp, key: Sequence[Key]) -> list[Key]:
    """`key` with one entry per axis of `x`, and the None entries between them."""
    n_taken = sum(k is not None and k is not Ellipsis for k in key)
    n_ellipses = sum(k is Ellipsis for k in key)
    if n_taken > x.ndim:
        raise IndexError(f"too many indices for a Tensor of shape {x.shape}: {n_taken} were given")
    if n_ellipses > 1:
        raise IndexError("an index has one ellipsis ('...') at most")
    at = next((i for i, k in enumerate(key) if k is Ellipsis), len(key))
    fill: list[Key] = [slice(None)] * (x.ndim - n_taken)
    return [*key[:at], *fill, *key[at + 1 :]]


def _slice_of(k: Key, axis: int, n: int) -> slice:
    if isinstance(k, int):
        if not -n <= k < n:
            raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
        return slice(k % n, k % n + 1)
    return k if isinstance(k, slice) else slice(None)


def getitem(x: UOp, key: Sequence[Key]) -> UOp:
    """``x[key]`` by NumPy's rules for integers, slices, ``...``, None and integer nodes."""
    entries = _without_ellipsis(x, key)
    taken = [k for k in entries if k is not None]
    out = slice_axes(x, [_slice_of(k, i, n) for i, (k, n) in enumerate(zip(taken, x.shape, strict=True))])
    extents = iter(out.shape)
    sizes = [1 if k is None else next(extents) for k in entries]
    kept = [(k, n) for k, n in zip(entries, sizes, strict=True) if not isinstance(k, int)]
    out = out.reshape([n for _, n in kept])
    indices = [k for k in entries if isinstance(k, UOp)]
    if not indices:
        return out
    gathered = [i for i, (k, _) in enumerate(kept) if isinstance(k, UOp)]
    advanced = [i for i, k in enumerate(entries) if isinstance(k, (int, UOp))]
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    return _gather(out, indices, gathered, gathered[0] if together else 0)


def _gather(x: UOp, indices: Sequence[UOp], axes: Sequence[int], place: int) -> UOp:
    """`x` gathered along `axes`, with the axes of the indices at `place` of the result."""
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    common = broadcast(*[as_places(i) for i in indices])
    out = x.permute([*axes, *rest]).index(*common)
    n = common[0].ndim
    moved = list(range(n, n + len(rest)))
    return out.permute([*moved[:place], *range(n), *moved[place:]])


# ------------------------------------------------------------------------------------------------------- random numbers

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def squares_key(seed: int, number: int) -> int:
    """Key of draw `number` after ``manual_seed(seed)``: SplitMix64 (Steele, Lea & Flood 2014), made odd for Squares."""
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return (z ^ (z >> 31)) | 1


def _bits(key: int, shape: tuple[int, ...]) -> UOp:
    return UOp.new(Ops.RANDOM, (UOp.const(key, dtypes.uint64),), shape)


def _units(bits: UOp, shift: int) -> UOp:
    """24 bits of each word from bit `shift` on, as whole float32 numbers (through int32, which converts in vectors)."""
    return ((bits >> shift) & (2**24 - 1)).cast(dtypes.int32).cast(dtypes.float32)


def uniform(key: int, shape: tuple[int, ...]) -> UOp:
    """float32 uniform in [0, 1), on the grid of 2^-24."""
    return _units(_bits(key, shape), 40) * 2.0**-24


def normal(key: int, shape: tuple[int, ...]) -> UOp:
    """float32 standard normal by Box & Muller (1958); one word of random bits gives an element's radius and angle."""
    bits = _bits(key, shape)
    radius = (((_units(bits, 40) + 1) * 2.0**-24).unary(Ops.LOG) * -2.0).unary(Ops.SQRT)
    return radius * (_units(bits, 8) * (2 * pi * 2.0**-24)).unary(Ops.COS)
