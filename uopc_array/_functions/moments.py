"""Means, variances and standard deviations, of what a mask selects."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from math import prod as product
from types import NotImplementedType
from typing import Any, TypeVar, cast

import numpy as np

from uopc_array._array.handle import Handle
from uopc_array._array.nodes import as_node, cast_node, is_scalar
from uopc_array._array.programs import of_known
from uopc_array._array.promotion import promote, promote_to, result_dtype
from uopc_array._array.realize import values_in_memory
from uopc_array._functions.arguments import ArrayLike, AxisLike, as_floating, normalize_axes, operand
from uopc_array._functions.reductions import MASKED, mask_on, reduction
from uopc_core import Ops, UOp, as_dtype, composite, dtypes, is_complex, is_inexact, name_of
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.numerics import elementwise
from uopc_core.numerics.statistics import count_of, mean_of, squares_around

__all__ = ["SPREAD", "floating_in", "variance"]

A = TypeVar("A", bound=Handle)
SPREAD = f"a, axis=None, dtype=None, out=None, ddof=0, {MASKED}, mean=None, correction=None"


def _with_numpys_divisor(public: Callable[..., Any]) -> Callable[..., Any]:
    """The same for `correction` as for `ddof`: 0 where no degrees of freedom are left."""

    def route(*args: Any, **kwargs: Any) -> Any:
        if "correction" in kwargs and "ddof" not in kwargs:
            kwargs["ddof"] = kwargs.pop("correction")
        return public(*args, **kwargs)

    return route


def _spread_of(
    name: str,
    node: UOp,
    mask: UOp | None,
    axes: tuple[int, ...],
    keepdims: bool,
    mean: ArrayLike | None,
    taken: ArrayLike,
    overdrawn: float,
) -> UOp:
    """The variance of floating numbers, where the mask selects them, around `mean` where that is known.

    Args:
        taken: degrees of freedom.
        overdrawn: the divisor where there are none left.
    """
    center = mean_of(node, mask, axes, keepdims=True) if mean is None else _given_mean(name, node, mean)
    node, center = promote(name, node, center)
    total = squares_around(node, center, mask, axes, keepdims)
    return _per_degree_of_freedom(name, total, count_of(node, mask, axes, keepdims), taken, overdrawn)


def _given_mean(name: str, node: UOp, mean: ArrayLike) -> UOp:
    given = as_node(mean, name=name)
    if is_complex(given.dtype) and not is_complex(node.dtype):
        raise DTypeError(f"{name}: expected a real mean of {name_of(node.dtype)}, got {name_of(given.dtype)}")
    return cast_node(given, result_dtype(mean, node))


def _per_degree_of_freedom(name: str, total: UOp, count: int | UOp, taken: ArrayLike, overdrawn: float) -> UOp:
    """``total / (count - taken)``; the divisor is computed in float64, as in NumPy."""
    by = operand(name, "correction", taken)
    if is_scalar(by) and isinstance(count, int):
        n = count - cast("float", by)
        return total / (n if n > 0 else overdrawn)
    off, given = promote_to(name, dtypes.float64, by, count)
    degrees = (given - off).cast(total.dtype)
    total, divisor = promote_to(name, total.dtype, total, (degrees > 0).where(degrees, overdrawn))
    return total / divisor


def floating_in(name: str, a: UOp, dtype: Any) -> UOp:
    """`a` in the dtype that is asked for, and in any case floating."""
    return as_floating(name, in_dtype(name, a, dtype))[0]


def in_dtype(name: str, a: UOp, dtype: Any) -> UOp:
    """`a` in the dtype that is asked for, if one is."""
    return a if dtype is None else cast_node(a, as_dtype(dtype, name), name)


@reduction(f"mean(a, axis=None, dtype=None, out=None, {MASKED})", method="mean")
def mean(name: str, a: UOp, axis: AxisLike, dtype: Any, keepdims: bool, where: ArrayLike) -> UOp:
    """Arithmetic mean, nan of no elements.

    Args:
        a: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to compute; None is that of ``a`` as converted.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
    Returns:
        ``dtype``; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.mean(xp.asarray([1.0, 2.0, 6.0]))
        Array(3., dtype=float64)
    """
    node = floating_in(name, a, dtype)
    mask = None if where is True else mask_on(name, where, node.shape)
    return in_dtype(name, mean_of(node, mask, normalize_axes(name, axis, node.ndim), keepdims), dtype)


def variance(
    name: str,
    a: UOp,
    axis: AxisLike,
    dtype: Any,
    ddof: ArrayLike,
    keepdims: bool,
    where: ArrayLike,
    mean: ArrayLike | None,
    correction: ArrayLike | None,
    numbers: Callable[[str, UOp, ArrayLike], ArrayLike] | None = None,
) -> UOp | NotImplementedType:
    """`var`, or, of what the mask that `numbers` makes of another leaves, `nanvar`."""
    if dtype is not None and not is_inexact(as_dtype(dtype, name)):
        return NotImplemented  # NumPy's mean and squares are integers then
    if correction is not None and not (type(ddof) is int and ddof == 0):
        raise ValueError(f"{name}: expected ddof or correction, two names of one number, got both")
    node = floating_in(name, a, dtype)
    # `nanvar` of integers is NumPy's `var`
    overdrawn = nan if correction is not None or (numbers is not None and is_inexact(a.dtype)) else 0.0
    taken = ddof if correction is None else correction
    mask = where if numbers is None else numbers(name, node, where)
    selected = None if mask is True else mask_on(name, mask, node.shape)
    axes = normalize_axes(name, axis, node.ndim)
    return in_dtype(name, _spread_of(name, node, selected, axes, keepdims, mean, taken, overdrawn), dtype)


@reduction(f"var({SPREAD})", method="var", route=_with_numpys_divisor)
def var(name: str, a: UOp, axis: AxisLike, dtype: Any, ddof: ArrayLike, *how: Any) -> UOp | NotImplementedType:
    """Variance: the mean square distance from the mean.

    Args:
        a: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to compute; None is that of ``a`` as converted.
        out: takes the result, converted to its dtype.
        ddof: taken off the number of elements in the divisor, which is 0 at least; 1 gives the unbiased estimate;
            differentiable where it is an array.
        keepdims: keep reduced axes with extent 1.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
        mean: the mean, where it is known, with the reduced axes of extent 1.
        correction: the standard's name of ``ddof``: the result is nan unless the divisor is positive.
    Returns:
        ``dtype``, the real one for complex; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
        ValueError: both ``ddof`` and ``correction``.
    Example:
        >>> import uopc_array as xp
        >>> xp.var(xp.asarray([1.0, 2.0, 3.0]), ddof=1)
        Array(1., dtype=float64)
    """
    return variance(name, a, axis, dtype, ddof, *how)


@reduction(f"std({SPREAD})", method="std", route=_with_numpys_divisor)
def std(name: str, a: UOp, axis: AxisLike, dtype: Any, ddof: ArrayLike, *how: Any) -> UOp | NotImplementedType:
    """Standard deviation: the square root of the variance.

    Args:
        a: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to compute; None is that of ``a`` as converted.
        out: takes the result, converted to its dtype.
        ddof: taken off the number of elements in the divisor, which is 0 at least; 1 gives the root of the unbiased
            variance; differentiable where it is an array.
        keepdims: keep reduced axes with extent 1.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
        mean: the mean, where it is known, with the reduced axes of extent 1.
        correction: the standard's name of ``ddof``: the result is nan unless the divisor is positive.
    Returns:
        ``dtype``, the real one for complex; shape of ``a`` without ``axis``. Where all elements are equal, the gradient
        is 0.
    Raises:
        AxisError: an axis is out of range or given twice.
        ValueError: both ``ddof`` and ``correction``.
    Example:
        >>> import uopc_array as xp
        >>> xp.std(xp.asarray([1.0, 3.0]))
        Array(1., dtype=float64)
    """
    spread = variance(name, a, axis, dtype, ddof, *how)
    return elementwise.root_of_squares(spread) if isinstance(spread, UOp) else spread


def _mean_at_once(cls: type[A], a: Any, axis: Any, weights: Any, returned: Any, keepdims: Any) -> A | None:
    """`Description.at_once` of `average` without weights, whose values there are to look at."""
    if weights is not None or returned:
        return None
    return of_known(cls, _unweighted, "average", (True, False, False), (a, axis, keepdims), bool(keepdims))


def _unweighted(name: str, a: UOp, axis: AxisLike, keepdims: bool) -> UOp:
    (x,) = as_floating(name, a)
    return mean_of(x, None, normalize_axes(name, axis, a.ndim), keepdims)


@reduction(
    "average(a, axis=None, weights=None, returned=False, *, keepdims=False)",
    looks_at_values=True,
    at_once=_mean_at_once,
)
def average(
    name: str, a: UOp, axis: AxisLike, weights: UOp | None, returned: bool, keepdims: bool
) -> UOp | tuple[UOp, ...]:
    """Weighted mean.

    Args:
        a: any dtype, any shape; integers and bool are converted to float64.
        axis: axes reduced; None reduces all.
        weights: of the shape of ``a``, or of its extents at the axes that ``axis`` names, in their order; None weighs
            all alike.
        returned: whether the sum of the weights comes as well.
        keepdims: keep reduced axes with extent 1.
    Returns:
        the promoted dtype; shape without ``axis``. With ``returned``, a tuple of it and the sums of the weights.
    Raises:
        ShapeError, TypeError: weights of another shape; without an axis it is a TypeError.
        ZeroDivisionError: weights in memory that sum to 0; of others the quotient is nan or infinite.
    Example:
        >>> import uopc_array as xp
        >>> xp.average(xp.asarray([1.0, 5.0]), weights=xp.asarray([3.0, 1.0]))
        Array(2., dtype=float64)
    """
    axes = normalize_axes(name, axis, a.ndim)
    if weights is None:
        out = _unweighted(name, a, axis, keepdims)
        whole = UOp.const(product(a.shape[i] for i in axes), out.dtype, out.shape)
        return (out, whole) if returned else out
    x, w = as_floating(name, *promote(name, a, _weights_on(name, a.shape, weights, axis, axes)))
    whole = composite.reduce_axes(w, Ops.ADD, axes, keepdims)
    if _sums_to_zero(weights, axes if weights.shape == a.shape else None):
        raise ZeroDivisionError(f"{name}: expected weights whose sum is not 0, got shape {weights.shape} that sum to 0")
    out = composite.reduce_axes(x * w, Ops.ADD, axes, keepdims) / whole
    return (out, whole) if returned else out


def _sums_to_zero(weight: UOp, axes: tuple[int, ...] | None) -> bool:
    """Whether weights, as far as they are known, sum to 0 somewhere."""
    values = values_in_memory(weight)
    return values is not None and bool(np.any(values.sum(axes) == 0))


def _weights_on(name: str, shape: tuple[int, ...], weight: UOp, axis: AxisLike, axes: tuple[int, ...]) -> UOp:
    """The weights with the axes of what they weigh."""
    if weight.shape == shape:
        return weight
    if axis is None:
        raise TypeError(f"{name}: weights of shape {weight.shape} need an axis of a, which has shape {shape}; got none")
    if weight.shape != tuple([shape[i] for i in axes]):
        raise ShapeError(f"{name}: weights of shape {weight.shape} do not fit a of shape {shape} at axis={axis}")
    in_order = weight.permute([axes.index(i) for i in sorted(axes)])
    return in_order.reshape([n if i in axes else 1 for i, n in enumerate(shape)])
