"""Whether arrays are equal or nearly so."""

from __future__ import annotations

from typing import Any

from uopc_array._array.nodes import Operand, is_scalar
from uopc_array._array.promotion import promote, promote_comparison
from uopc_array._functions.arguments import ArrayLike, array_of, as_floating, computed, node_of, operand
from uopc_array._functions.public import function
from uopc_core import Ops, UOp, composite
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.numerics import elementwise

__all__: list[str] = []


@function("isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)")
def isclose(name: str, a: ArrayLike, b: ArrayLike, rtol: ArrayLike, atol: ArrayLike, equal_nan: bool) -> UOp:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)``.

    Args:
        a: any dtype.
        b: likewise; a shape that can be broadcast with that of ``a``.
        rtol: tolerance as a part of ``b``, a number or an array that can be broadcast with ``a`` and ``b``.
        atol: tolerance as a number, likewise.
        equal_nan: whether nan is close to nan.
    Returns:
        bool; the common shape. Infinities are close to themselves only.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.isclose(xp.asarray([1.0, 2.0]), xp.asarray([1.0 + 1e-9, 2.1]))
        Array([ True, False], dtype=bool)
    """
    center = _as_center(name, b)
    x = node_of(name, a) if is_scalar(center) or not is_scalar(a) else a
    if type(rtol) is float and type(atol) is float and isinstance(center, UOp) and isinstance(x, UOp):
        if x.dtype is center.dtype and x.shape == center.shape:
            limit = center.unary(Ops.ABS) * rtol + atol
            return _near(name, x, center, (x - center).unary(Ops.ABS) <= limit, equal_nan)
    size = center.unary(Ops.ABS) if isinstance(center, UOp) else abs(center)
    distance, limit = promote(name, _distance(name, x, center), _times_and_plus(name, size, rtol, atol))
    first, second = promote(name, x, center)
    return _near(name, first, second, distance <= limit, equal_nan)


def _near(name: str, x: UOp, y: UOp, near: UOp, equal_nan: bool) -> UOp:
    same, finite = x.eq(y), elementwise.isfinite(y)
    if equal_nan:
        same = same | (elementwise.isnan(x) & elementwise.isnan(y))
    if near.shape != same.shape:
        same, near, finite = promote(name, same, near, finite)
    return same | (near & finite)


def _as_center(name: str, b: ArrayLike) -> UOp | float | complex:
    """`b` as floating; a Python number stays one, which is weak."""
    if is_scalar(b):
        return float(b) if isinstance(b, int) else b
    return as_floating(name, node_of(name, b))[0]


def _distance(name: str, x: Operand, y: UOp | float | complex) -> UOp:
    first, second = promote(name, x, y)
    return (first - second).unary(Ops.ABS)


def _times_and_plus(name: str, size: UOp | float, rtol: ArrayLike, atol: ArrayLike) -> Any:
    """``size * rtol + atol`` for tolerances that may be arrays; of Python numbers one, which is weak."""
    relative, absolute = operand(name, "rtol", rtol), operand(name, "atol", atol)
    if is_scalar(size) and is_scalar(relative):
        scaled: Any = size * relative
    else:
        scaled = elementwise.multiply(*promote(name, size, relative))
    if is_scalar(scaled) and is_scalar(absolute):
        return scaled + absolute
    return elementwise.add(*promote(name, scaled, absolute))


@function("allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)")
def allclose(name: str, a: ArrayLike, b: ArrayLike, rtol: ArrayLike, atol: ArrayLike, equal_nan: bool) -> bool:
    """Whether all elements are close; see `isclose`. Computes the values.

    Args:
        a: any dtype.
        b: likewise; a shape that can be broadcast with that of ``a``.
        rtol: tolerance as a part of ``b``, a number or an array that can be broadcast with ``a`` and ``b``.
        atol: tolerance as a number, likewise.
        equal_nan: whether nan is close to nan.
    Returns:
        True or False.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.allclose(xp.ones(2), xp.ones(2) + 1e-9)
        True
    """
    return bool(computed(name, _all_close, a, b, rtol, atol, equal_nan))


def _all_close(name: str, a: ArrayLike, b: ArrayLike, rtol: ArrayLike, atol: ArrayLike, equal_nan: bool) -> UOp:
    close = isclose(name, a, b, rtol, atol, equal_nan)
    return close.reduce(Ops.AND, close.ndim)


@function("array_equal(a1, a2, equal_nan=False)")
def array_equal(name: str, a1: ArrayLike, a2: ArrayLike, equal_nan: bool) -> bool:
    """Whether two arrays have one shape and equal elements. Computes the values.

    Args:
        a1: any dtype, any shape.
        a2: any dtype, any shape.
        equal_nan: whether nan equals nan.
    Returns:
        True or False.
    Example:
        >>> import uopc_array as xp
        >>> xp.array_equal(xp.asarray([1, 2]), xp.asarray([1, 2]))
        True
    """
    x, y = array_of(name, a1), array_of(name, a2)
    return x.shape == y.shape and bool(computed(name, _all_equal, x, y, equal_nan))


def _all_equal(name: str, a1: ArrayLike, a2: ArrayLike, equal_nan: bool) -> UOp:
    x, y = node_of(name, a1), node_of(name, a2)
    same = elementwise.equal(*promote_comparison(name, x, y))
    if equal_nan:
        same = same | (composite.broadcast_to(elementwise.isnan(x), same.shape) & elementwise.isnan(y))
    return same.reduce(Ops.AND, same.ndim)


@function("array_equiv(a1, a2)")
def array_equiv(name: str, a1: ArrayLike, a2: ArrayLike) -> bool:
    """Whether two arrays have equal elements after broadcasting. Computes the values.

    Args:
        a1: any dtype, any shape.
        a2: any dtype, any shape.
    Returns:
        True or False; False if the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.array_equiv(xp.asarray([1, 1]), 1)
        True
    """
    try:
        return bool(computed(name, _all_equal, a1, a2, False))
    except (ShapeError, DTypeError):
        return False
