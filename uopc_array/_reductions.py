"""Reductions with what NumPy's have beyond the standard's: a mask, a first value, a mean that is known already.

The methods of arrays and the ufuncs take them; `_namespace.PROTOCOLS` tells them where they are.
"""

from __future__ import annotations

from math import prod
from typing import Any

from uopc_array import _bodies
from uopc_array._arguments import AxisLike, as_floating, as_real, filler, node_of, normalize_axes, wrap
from uopc_array._namespace import PROTOCOLS, call
from uopc_array._nodes import cast_node, is_scalar, mask_node
from uopc_array._promotion import promote, result_dtype
from uopc_array.array import Array
from uopc_array.statistical_functions import accumulator, per_degree_of_freedom, shared_among, squares
from uopc_core import Ops, UOp, composite, dtypes, is_bool, is_complex, real_dtype
from uopc_core.errors import DTypeError, ShapeError

__all__: list[str] = []

_OPS = {"sum": Ops.ADD, "prod": Ops.MUL, "max": Ops.MAX, "min": Ops.MIN, "any": Ops.OR, "all": Ops.AND}
_OF_NOTHING: dict[str, int] = {"sum": 0, "prod": 1, "any": 0, "all": 1}


def reduction(
    name: str, x: Array, axis: AxisLike, keepdims: bool, initial: Any, where: Any, dtype: Any = None
) -> Array:
    """The reduction `name` of what `where` selects, and of `initial`.

    Raises:
        ValueError: neither elements nor a first value, or a mask for an extreme without a first value.
    """
    more = {} if dtype is None else {"dtype": dtype}
    if initial is None and where is True:
        return call(name, x, axis=axis, keepdims=keepdims, **more)
    node, op = _prepared(name, x, dtype)
    mask = None if where is True else _mask(name, where, node.shape)
    first = None if initial is None else filler(name, "initial", initial, node.dtype, ())
    fill = composite.full((), _OF_NOTHING[name], node.dtype) if name in _OF_NOTHING else first
    if fill is None:
        raise ValueError(f"{name}: a mask needs initial=, the value of no elements; got where= alone")
    axes = normalize_axes(name, axis, node.ndim)
    if mask is not None:
        node = mask.where(node, composite.broadcast_to(fill, node.shape))
    if any(node.shape[i] == 0 for i in axes) and name in ("max", "min"):
        out = composite.broadcast_to(fill, composite.reduce_axes(node.ne(node), Ops.OR, axes, keepdims).shape)
    else:
        out = composite.reduce_axes(node, op, axes, keepdims)
    return wrap(out if first is None else out.binary(op, composite.broadcast_to(first, out.shape)))


def _prepared(name: str, x: Array, dtype: Any) -> tuple[UOp, Ops]:
    """The operand in the dtype in which it is reduced, and the op."""
    node, op = node_of(name, x), _OPS[name]
    if name in ("any", "all"):
        return node.cast(dtypes.bool), op
    if name in ("max", "min"):
        return as_real(name, node)[0], op
    node = cast_node(node, accumulator(name, node.dtype, dtype), name)
    return node, op if not is_bool(node.dtype) else Ops.OR if op is Ops.ADD else Ops.AND


def _mask(name: str, where: Any, shape: tuple[int, ...]) -> UOp:
    mask = mask_node(name, where)
    try:
        return composite.broadcast_to(mask, shape)
    except ShapeError:
        raise ShapeError(f"{name}: where of shape {mask.shape} cannot be broadcast to the shape {shape}") from None


def moment(name: str, x: Array, axis: AxisLike, keepdims: bool, where: Any, ddof: Any = 0, mean: Any = None) -> Array:
    """The mean, variance or standard deviation of what `where` selects, around `mean` where that is known.

    The divisor is that of NumPy: 0 where no degrees of freedom are left.
    """
    (node,) = as_floating(name, node_of(name, x))
    axes = normalize_axes(name, axis, node.ndim)
    if name == "mean" or not (where is True and mean is None and _leaves_some(node, axes, ddof)):
        return wrap(_moment(name, node, axes, keepdims, where, ddof, mean))
    return call(name, x, axis=axis, keepdims=keepdims, correction=ddof)


def _leaves_some(node: UOp, axes: tuple[int, ...], ddof: Any) -> bool:
    return not is_scalar(ddof) or isinstance(ddof, complex) or prod(node.shape[i] for i in axes) > ddof


def _moment(name: str, node: UOp, axes: tuple[int, ...], keepdims: bool, where: Any, ddof: Any, mean: Any) -> UOp:
    mask = None if where is True else _mask(name, where, node.shape)
    if name == "mean":
        return _mean(node, mask, axes, keepdims)
    center = _mean(node, mask, axes, keepdims=True) if mean is None else _given_mean(name, node, mean)
    node, center = promote(name, node, center)
    apart = _selected(node - center, mask)
    total = composite.reduce_axes(squares(apart), Ops.ADD, axes, keepdims)
    count = _count(node, mask, axes, keepdims)
    variance = per_degree_of_freedom(name, total, count, ddof, overdrawn=0.0)
    return variance if name == "var" else _bodies.root_of_squares(variance)


def _given_mean(name: str, node: UOp, mean: Any) -> UOp:
    given = node_of(name, mean)
    if is_complex(given.dtype) and not is_complex(node.dtype):
        raise DTypeError(f"{name}: expected a real mean of {node.dtype.name}, got {given.dtype.name}")
    return cast_node(given, result_dtype(mean, node))


def _selected(node: UOp, mask: UOp | None) -> UOp:
    return node if mask is None else mask.where(node, composite.zeros_like(node))


def _count(node: UOp, mask: UOp | None, axes: tuple[int, ...], keepdims: bool) -> int | UOp:
    if mask is None:
        return prod(node.shape[i] for i in axes)
    return composite.reduce_axes(mask.cast(dtypes.int64), Ops.ADD, axes, keepdims)


def _mean(node: UOp, mask: UOp | None, axes: tuple[int, ...], keepdims: bool) -> UOp:
    total = composite.reduce_axes(_selected(node, mask), Ops.ADD, axes, keepdims)
    count = _count(node, mask, axes, keepdims)
    return shared_among(total, count if isinstance(count, int) else count.cast(real_dtype(node.dtype)))


PROTOCOLS["reduction"] = reduction
PROTOCOLS["moment"] = moment
