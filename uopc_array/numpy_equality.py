"""Whether arrays are equal or nearly so, as NumPy asks it, beyond the standard."""

from __future__ import annotations

from typing import Any

from uopc_array._array.array import Array
from uopc_array._array.nodes import Operand, is_scalar
from uopc_array._array.promotion import promote, promote_comparison
from uopc_array._functions.arguments import ArrayLike, as_floating, node_of, operand, wrap
from uopc_core import Ops, UOp, composite
from uopc_core.errors import DTypeError, ShapeError, speaks_for_itself
from uopc_core.numerics import elementwise

__all__ = ["allclose", "array_equal", "array_equiv", "isclose"]


@speaks_for_itself
def isclose(
    a: ArrayLike, b: ArrayLike, /, rtol: ArrayLike = 1e-5, atol: ArrayLike = 1e-8, equal_nan: bool = False
) -> Array:
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
    center = _as_center(b)
    x = node_of("isclose", a) if is_scalar(center) or not is_scalar(a) else a
    if type(rtol) is float and type(atol) is float and isinstance(center, UOp) and isinstance(x, UOp):
        if x.dtype is center.dtype and x.shape == center.shape:
            limit = center.unary(Ops.ABS) * rtol + atol
            return _near(x, center, (x - center).unary(Ops.ABS) <= limit, equal_nan)
    size = center.unary(Ops.ABS) if isinstance(center, UOp) else abs(center)
    distance, limit = promote("isclose", _distance(x, center), _times_and_plus(size, rtol, atol))
    first, second = promote("isclose", x, center)
    return _near(first, second, distance <= limit, equal_nan)


def _near(x: UOp, y: UOp, near: UOp, equal_nan: bool) -> Array:
    same, finite = x.eq(y), elementwise.isfinite(y)
    if equal_nan:
        same = same | (elementwise.isnan(x) & elementwise.isnan(y))
    if near.shape != same.shape:
        same, near, finite = promote("isclose", same, near, finite)
    return wrap(same | (near & finite))


def _as_center(b: ArrayLike) -> UOp | float | complex:
    """`b` as floating; a Python number stays one, which is weak."""
    if is_scalar(b):
        return float(b) if isinstance(b, int) else b
    return as_floating("isclose", node_of("isclose", b))[0]


def _distance(x: Operand, y: UOp | float | complex) -> UOp:
    first, second = promote("isclose", x, y)
    return (first - second).unary(Ops.ABS)


def _times_and_plus(size: UOp | float, rtol: ArrayLike, atol: ArrayLike) -> Any:
    """``size * rtol + atol`` for tolerances that may be arrays; of Python numbers one, which is weak."""
    relative, absolute = operand("isclose", "rtol", rtol), operand("isclose", "atol", atol)
    if is_scalar(size) and is_scalar(relative):
        scaled: Any = size * relative
    else:
        scaled = elementwise.multiply(*promote("isclose", size, relative))
    if is_scalar(scaled) and is_scalar(absolute):
        return scaled + absolute
    return elementwise.add(*promote("isclose", scaled, absolute))


@speaks_for_itself
def allclose(
    a: ArrayLike, b: ArrayLike, /, rtol: ArrayLike = 1e-5, atol: ArrayLike = 1e-8, equal_nan: bool = False
) -> bool:
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
    close = isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)._uop
    return bool(wrap(close.reduce(Ops.AND, close.ndim)))


@speaks_for_itself
def array_equal(a1: ArrayLike, a2: ArrayLike, /, equal_nan: bool = False) -> bool:
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
    x, y = node_of("array_equal", a1), node_of("array_equal", a2)
    return x.shape == y.shape and _all_equal("array_equal", x, y, equal_nan)


def _all_equal(name: str, x: UOp, y: UOp, equal_nan: bool) -> bool:
    same = elementwise.equal(*promote_comparison(name, x, y))
    if equal_nan:
        same = same | (composite.broadcast_to(elementwise.isnan(x), same.shape) & elementwise.isnan(y))
    return bool(wrap(same.reduce(Ops.AND, same.ndim)))


@speaks_for_itself
def array_equiv(a1: ArrayLike, a2: ArrayLike, /) -> bool:
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
        x, y = node_of("array_equiv", a1), node_of("array_equiv", a2)
        return _all_equal("array_equiv", x, y, equal_nan=False)
    except (ShapeError, DTypeError):
        return False
