"""Reductions: NumPy's and the standard's, over any axes, of what a mask selects, from a first value on.

Each is one op over axes (`reduced`), or the index that one finds.
"""

from __future__ import annotations

from functools import partial
from math import inf, nan
from types import NotImplementedType
from typing import Any, TypeVar

import numpy as np

from uopc_array._array.at_once import bound, known
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import cast_node, mask_node
from uopc_array._array.tracing import records
from uopc_array._functions.arguments import ArrayLike, AxisLike, as_real, filler, normalize_axes, normalize_axis
from uopc_array._functions.public import function
from uopc_core import (
    DTYPES,
    DType,
    Ops,
    Scalar,
    UOp,
    as_dtype,
    composite,
    dtypes,
    is_float,
)
from uopc_core.errors import ShapeError, shortened

__all__ = [
    "EVERY",
    "MASKED",
    "accumulator",
    "mask_on",
    "max",
    "min",
    "prod",
    "reduced",
    "reduced_by",
    "reduction",
    "sum",
]

A = TypeVar("A", bound=Handle)
reduction = partial(function, casting="unsafe")  # as NumPy's reductions store in `out`

# what all reductions take; NumPy has the mask by keyword only where there is no first value
EVERY = "keepdims=False, initial=None, where=True"
MASKED = "keepdims=False, *, where=True"


# ---------------------------------------------------------------------------------------------- one op over axes


def reduced(
    name: str,
    x: UOp,
    op: Ops,
    nothing: Scalar | None,
    axis: AxisLike,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> UOp:
    """`op` over the elements that the mask `where` selects, and `initial`.

    Args:
        nothing: what there is of no elements; None where `initial` must say it.
    Raises:
        ShapeError: a mask that cannot be broadcast, or no elements, of which there is nothing.
        ValueError: a mask, of which there is nothing where it selects none.
    """
    if initial is None and where is True:
        if axis is None and nothing is not None and not keepdims:
            return x.reduce(op, x.ndim)
        axes = normalize_axes(name, axis, x.ndim)
        if nothing is None and any([x.shape[a] == 0 for a in axes]):
            raise ShapeError(
                f"{name}: no elements have no {op.name.lower()}imum, got shape {x.shape} with axis={axis}; "
                "initial=... is that of none"
            )
        return composite.reduce_axes(x, op, axes, keepdims)
    axes = normalize_axes(name, axis, x.ndim)
    mask = None if where is True else mask_on(name, where, x.shape)
    first = None if initial is None else filler(name, "initial", initial, x.dtype, ())
    fill = first if nothing is None else UOp.const(nothing, x.dtype)
    if fill is None:
        raise ValueError(f"{name}: a mask needs initial=, the value of no elements; got where= alone")
    if mask is not None:
        x = mask.where(x, composite.broadcast_to(fill, x.shape))
    if nothing is None and any([x.shape[a] == 0 for a in axes]):
        shape = composite.reduce_axes(x.ne(x), Ops.OR, axes, keepdims).shape
        return composite.broadcast_to(fill, shape)
    out = composite.reduce_axes(x, op, axes, keepdims)
    return out if first is None else out.binary(op, composite.broadcast_to(first, out.shape))


def mask_on(name: str, where: ArrayLike, shape: tuple[int, ...]) -> UOp:
    """The mask that `where` is, of this shape."""
    try:
        mask = mask_node(name, where)
    except Exception as error:
        raise shortened(error) from None
    try:
        return composite.broadcast_to(mask, shape)
    except ShapeError:
        raise ShapeError(f"{name}: where of shape {mask.shape} cannot be broadcast to the shape {shape}") from None


def accumulator(name: str, dtype: DType, wanted: Any) -> DType:
    """The dtype in which a sum or product is taken: small integers and bool in 64 bits, unless one is asked for."""
    if wanted is None:
        return _ACCUMULATOR[dtype]
    try:
        return as_dtype(wanted, name)
    except Exception as error:
        raise shortened(error) from None


_ACCUMULATOR = {x: dtypes.int64 if x.kind in "bi" else dtypes.uint64 if x.kind == "u" else x for x in DTYPES}


def _total(name: str, a: UOp, op: Ops, nothing: int, axis: AxisLike, dtype: Any, *how: Any) -> UOp:
    wanted = accumulator(name, a.dtype, dtype)
    if wanted is not a.dtype:
        a = cast_node(a, wanted, name)
    if wanted is dtypes.bool:
        op = Ops.OR if op is Ops.ADD else Ops.AND
    return reduced(name, a, op, nothing, axis, *how)


# the ufuncs whose reduction is native, with the op and what there is of no elements
_UFUNCS: dict[str, tuple[Ops, int | None]] = {
    "add": (Ops.ADD, 0),
    "multiply": (Ops.MUL, 1),
    "maximum": (Ops.MAX, None),
    "minimum": (Ops.MIN, None),
    "logical_and": (Ops.AND, 1),
    "logical_or": (Ops.OR, 0),
}


def reduced_by(name: str, ufunc: str, a: UOp, axis: AxisLike, dtype: Any, *how: Any) -> UOp | NotImplementedType:
    """What ``ufunc.reduce`` gives, as the function that has a name of its own."""
    if ufunc not in _UFUNCS:
        return NotImplemented
    op, nothing = _UFUNCS[ufunc]
    if op in (Ops.AND, Ops.OR):
        return reduced(name, a.cast(dtypes.bool), op, nothing, axis, *how)
    if nothing is not None:
        return _total(name, a, op, nothing, axis, dtype, *how)
    a = a if dtype is None else cast_node(a, as_dtype(dtype, name), name)
    return reduced(name, as_real(name, a)[0], op, None, axis, *how)


@reduction(f"sum(a, axis=None, dtype=None, out=None, {EVERY})", method="sum")
def sum(name: str, a: UOp, axis: AxisLike, dtype: Any, *how: Any) -> UOp:
    """Sum of elements, 0 of none.

    Args:
        a: any dtype, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to add; None is int64 or uint64 for integers and bool, else that of ``a``.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        initial: a number that is added.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
    Returns:
        ``dtype``; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
        ShapeError: a mask that does not fit.
    Example:
        >>> import uopc_array as xp
        >>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=0)
        Array([4, 6], dtype=int64)
        >>> xp.sum(xp.asarray([1.0, 2.0, 4.0]), where=[True, False, True], initial=10.0)
        Array(15., dtype=float64)
    """
    return _total(name, a, Ops.ADD, 0, axis, dtype, *how)


@reduction(f"prod(a, axis=None, dtype=None, out=None, {EVERY})", method="prod")
def prod(name: str, a: UOp, axis: AxisLike, dtype: Any, *how: Any) -> UOp:
    """Product of elements, 1 of none.

    Args:
        a: any dtype, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        dtype: dtype in which to multiply; None is int64 or uint64 for integers and bool, else that of ``a``.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        initial: a number by which is multiplied.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
    Returns:
        ``dtype``; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
        ShapeError: a mask that does not fit.
    Example:
        >>> import uopc_array as xp
        >>> xp.prod(xp.asarray([[1, 2], [3, 4]]), axis=1)
        Array([ 2, 12], dtype=int64)
    """
    return _total(name, a, Ops.MUL, 1, axis, dtype, *how)


@reduction(f"max(a, axis=None, out=None, {EVERY})", "amax", method="max")
def max(name: str, a: UOp, axis: AxisLike, *how: Any) -> UOp:
    """Largest element, nan if one is nan.

    Args:
        a: a real dtype or bool, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        initial: the least that the result can be; that of no elements.
        where: a mask that can be broadcast to ``a``: what it does not select is left out; needs ``initial``.
    Returns:
        dtype of ``a``; shape of ``a`` without ``axis``. Equal largest elements share the derivative evenly.
    Raises:
        AxisError: an axis is out of range or given twice.
        DTypeError: ``a`` is complex.
        ShapeError: a reduced axis is empty, and there is no ``initial``.
        ValueError: a mask without ``initial``.
    Example:
        >>> import uopc_array as xp
        >>> xp.max(xp.asarray([[1, 5], [3, 4]]), axis=1)
        Array([5, 4], dtype=int64)
    """
    return reduced(name, as_real(name, a)[0], Ops.MAX, None, axis, *how)


@reduction(f"min(a, axis=None, out=None, {EVERY})", "amin", method="min")
def min(name: str, a: UOp, axis: AxisLike, *how: Any) -> UOp:
    """Smallest element, nan if one is nan.

    Args:
        a: a real dtype or bool, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        initial: the most that the result can be; that of no elements.
        where: a mask that can be broadcast to ``a``: what it does not select is left out; needs ``initial``.
    Returns:
        dtype of ``a``; shape of ``a`` without ``axis``. Equal smallest elements share the derivative evenly.
    Raises:
        AxisError: an axis is out of range or given twice.
        DTypeError: ``a`` is complex.
        ShapeError: a reduced axis is empty, and there is no ``initial``.
        ValueError: a mask without ``initial``.
    Example:
        >>> import uopc_array as xp
        >>> xp.min(xp.asarray([[1, 5], [3, 4]]), axis=1)
        Array([1, 3], dtype=int64)
    """
    return reduced(name, as_real(name, a)[0], Ops.MIN, None, axis, *how)


@reduction("ptp(a, axis=None, out=None, keepdims=False)", method="ptp")
def ptp(name: str, a: UOp, axis: AxisLike, keepdims: bool) -> UOp:
    """Largest minus smallest element.

    Args:
        a: a real dtype, any shape.
        axis: axes reduced; None reduces all.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
    Returns:
        dtype of ``a``; shape without ``axis``.
    Raises:
        AxisError, DTypeError, ShapeError: a wrong axis, complex numbers, an empty axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.ptp(xp.asarray([3, 9, 5]))
        Array(6, dtype=int64)
    """
    return max(name, a, axis, keepdims) - min(name, a, axis, keepdims)


@reduction(f"any(a, axis=None, out=None, {MASKED})", method="any")
def any_true(name: str, a: UOp, axis: AxisLike, keepdims: bool, where: ArrayLike) -> UOp:
    """Whether any element is True or not zero; False of none.

    Args:
        a: any dtype, any shape; nan is not zero.
        axis: axes reduced, negative ones from the end; None reduces all.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
    Returns:
        bool; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.any(xp.asarray([[True, False], [False, False]]), axis=1)
        Array([ True, False], dtype=bool)
    """
    return reduced(name, a.cast(dtypes.bool), Ops.OR, 0, axis, keepdims, None, where)


@reduction(f"all(a, axis=None, out=None, {MASKED})", method="all")
def all_true(name: str, a: UOp, axis: AxisLike, keepdims: bool, where: ArrayLike) -> UOp:
    """Whether all elements are True or not zero; True of none.

    Args:
        a: any dtype, any shape; nan is not zero.
        axis: axes reduced, negative ones from the end; None reduces all.
        out: takes the result, converted to its dtype.
        keepdims: keep reduced axes with extent 1.
        where: a mask that can be broadcast to ``a``: what it does not select is left out.
    Returns:
        bool; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.all(xp.asarray([[True, False], [True, True]]), axis=1)
        Array([False,  True], dtype=bool)
    """
    return reduced(name, a.cast(dtypes.bool), Ops.AND, 1, axis, keepdims, None, where)


@reduction("count_nonzero(a, axis=None, *, keepdims=False)")
def count_nonzero(name: str, a: UOp, axis: AxisLike, keepdims: bool) -> UOp:
    """How many elements are not zero.

    Args:
        a: any dtype, any shape.
        axis: axes reduced, negative ones from the end; None reduces all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        int64; shape of ``a`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.count_nonzero(xp.asarray([0, 3, 0, 5]))
        Array(2, dtype=int64)
    """
    return reduced(name, a.cast(dtypes.bool).cast(dtypes.int64), Ops.ADD, 0, axis, keepdims)


def _arg_extreme(name: str, op: Ops, a: UOp, axis: int | None, keepdims: bool) -> UOp:
    """The least index that holds the extreme; a nan is the extreme, as in NumPy."""
    (given,) = as_real(name, a)
    node = given.reshape((given.size,)) if axis is None else given
    at = 0 if axis is None else normalize_axis(name, axis, node.ndim)
    n = node.shape[at]
    if n == 0:
        raise ShapeError(f"{name}: an empty axis has no extreme, got shape {given.shape} with axis={axis}")
    # of the operand as it is computed here: an extreme in memory may come from who computes with other last digits
    extreme = composite.reduce_axes(node.detach(), op, (at,), keepdims=True)
    found = _is_extreme(op, node, extreme) if is_float(node.dtype) else node.eq(extreme.expand(node.shape))
    # counted from the end and -1 elsewhere: so a kernel sees that what comes after one that is found is no better
    index = found.where(composite.iota(node.shape, at).flip((at,)), -1)
    out = n - 1 - composite.reduce_axes(index, Ops.MAX, (at,), keepdims)
    return out.reshape((1,) * given.ndim) if keepdims and axis is None else out


def _is_extreme(op: Ops, node: UOp, extreme: UOp) -> UOp:
    """Where elements are the extreme or nan, by one comparison each: with the next number that is worse. Where the
    extreme is nan all numbers are worse, and where there is no next number none is.
    """
    worst = -inf if op is Ops.MAX else inf
    after = extreme.eq(worst).where(nan, extreme.binary(Ops.NEXTAFTER, worst))
    after = extreme.ne(extreme).where(-worst, after).expand(node.shape)
    return ~(node <= after if op is Ops.MAX else node >= after)


def _place_at_once(numpys: Any) -> Any:
    """`Description.at_once` of a search by this function of NumPy's, whose places are those of the graph."""

    def place(cls: type[A], a: Any, axis: Any, keepdims: Any) -> A | None:
        value = known(a) if type(a) is cls else None
        if value is None or value.dtype.kind == "c" or not value.ndim or not bound() or records():
            return None
        try:
            place = numpys(value, axis, keepdims=keepdims)
        except Exception:  # the longer way says what is wrong
            return None
        return cls._from_value(place)

    return place


@function("argmax(a, axis=None, out=None, *, keepdims=False)", method="argmax", at_once=_place_at_once(np.argmax))
def argmax(name: str, a: UOp, axis: int | None, keepdims: bool) -> UOp:
    """Index of the first largest element.

    Args:
        a: a real dtype or bool, not empty; nan counts as largest.
        axis: axis that is searched; None searches the flattened array.
        out: takes the result; int64.
        keepdims: keep the reduced axes with extent 1.
    Returns:
        int64; shape of ``a`` without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``a`` is complex.
        ShapeError: the axis is empty.
    Example:
        >>> import uopc_array as xp
        >>> xp.argmax(xp.asarray([1.0, 5.0, 5.0]))
        Array(1, dtype=int64)
    """
    return _arg_extreme(name, Ops.MAX, a, axis, keepdims)


@function("argmin(a, axis=None, out=None, *, keepdims=False)", method="argmin", at_once=_place_at_once(np.argmin))
def argmin(name: str, a: UOp, axis: int | None, keepdims: bool) -> UOp:
    """Index of the first smallest element.

    Args:
        a: a real dtype or bool, not empty; nan counts as smallest.
        axis: axis that is searched; None searches the flattened array.
        out: takes the result; int64.
        keepdims: keep the reduced axes with extent 1.
    Returns:
        int64; shape of ``a`` without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        DTypeError: ``a`` is complex.
        ShapeError: the axis is empty.
    Example:
        >>> import uopc_array as xp
        >>> xp.argmin(xp.asarray([4.0, 2.0, 2.0]))
        Array(1, dtype=int64)
    """
    return _arg_extreme(name, Ops.MIN, a, axis, keepdims)
