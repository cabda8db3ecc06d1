"""Functions of each element that are no ufuncs of NumPy's: rounding to decimals, limits, parts of complex numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.promotion import promote
from uopc_array._functions.arguments import ArrayLike, as_floating, as_real, filler, integer, node_of, wrap
from uopc_array._functions.public import function
from uopc_core import Ops, UOp, composite, dtypes, is_bool, is_complex, is_float, is_inexact, is_integer
from uopc_core.numerics import elementwise

__all__: list[str] = []


@function("round(a, decimals=0, out=None)", "around", method="round")
def round_to(name: str, a: UOp, decimals: int) -> UOp:
    """``a`` rounded to a number of decimals, ties to even.

    Args:
        a: any dtype, any shape.
        decimals: how many places behind the point are kept; negative ones count to its left.
        out: takes the result.
    Returns:
        dtype of ``a``, float64 for bool; shape of ``a``.
    Raises:
        TypeError: ``decimals`` is no integer.
    Example:
        >>> import uopc_array as xp
        >>> xp.round(xp.asarray([1.25, 1.35]), 1)
        Array([1.2, 1.4], dtype=float64)
    """
    places = integer(name, "decimals", decimals)
    node = elementwise.rint(a) if places == 0 or is_bool(a.dtype) else a
    return _rounded(node, places) if places else node


def _rounded(node: UOp, decimals: int) -> UOp:
    if is_complex(node.dtype):
        re, im = (_rounded(part, decimals) for part in (composite.real(node), composite.imag(node)))
        return re.binary(Ops.COMPLEX, im)
    size = math.fabs(decimals)
    scale = 10.0**size if size < 309 else math.inf  # as NumPy's power of floats
    if is_float(node.dtype):
        return (node * scale).unary(Ops.RINT) / scale if decimals > 0 else (node / scale).unary(Ops.RINT) * scale
    if decimals > 0:
        return node
    rounded = (node.cast(dtypes.float64) / scale).unary(Ops.RINT)
    return rounded.eq(0).where(rounded, rounded * scale).cast(node.dtype)


def _kept_within(bound: Any, op: Ops, limit: int) -> Any:
    """A bound; a traced Python int is one that the dtype of what is clipped can hold, where it is on the far side."""
    if not isinstance(bound, Array) or not bound._weak or bound.dtype.kind != "i" or not -(2**63) <= limit < 2**63:
        return bound
    return bound._from_uop(bound._uop.binary(op, UOp.const(limit, bound.dtype)), weak=True)


def _numpys_clip(public: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy has ``a_min`` and ``a_max`` at the positions of ``min`` and ``max``."""

    def route(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **how: Any) -> Any:
        return public(a, out=out, a_min=a_min, a_max=a_max, **how)

    return route


@function(
    "clip(a, min=None, max=None, out=None, *, a_min=None, a_max=None, where=True, casting='same_kind', order='K', "
    "dtype=None, subok=True, signature=None)",
    method="clip",
    route=_numpys_clip,
)
def clip(
    name: str,
    a: ArrayLike,
    min: ArrayLike | None,
    max: ArrayLike | None,
    a_min: ArrayLike | None,
    a_max: ArrayLike | None,
) -> UOp:
    """``a`` kept between two bounds: ``minimum(maximum(x, min), max)``.

    Args:
        a: a real dtype or bool; any shape.
        min: lower bound, a Python scalar or an array that can be broadcast with the others; None for no bound. A Python
            int may lie below every number of an integer dtype.
        max: upper bound, likewise; it wins where it is less than ``min``. A Python int may lie above every number.
        out: takes the result.
        a_min, a_max: NumPy's names of ``min`` and ``max``.
        casting: the rule by which the result is converted for ``out``.
        where, order, dtype, subok, signature: as of NumPy's ufuncs.
    Returns:
        the promoted dtype, that of ``a`` beside Python scalars of its kind; the common shape. nan where an operand is.
    Raises:
        DTypeError: an operand is complex.
        OverflowError: a Python int between which and all numbers of the dtype nothing is left, as 300 for ``min`` of
            uint8.
        ShapeError: the shapes cannot be broadcast together.
        ValueError: a bound under both of its names.
    Example:
        >>> import uopc_array as xp
        >>> xp.clip(xp.asarray([-1.0, 0.5, 3.0]), 0.0, 1.0)
        Array([0. , 0.5, 1. ], dtype=float64)
    """
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise ValueError(f"{name}: expected a_min and a_max, or min and max, got some of both")
    min, max = (a_min, a_max) if min is None and max is None else (min, max)
    node = node_of(name, a)
    if is_integer(node.dtype):
        info = np.iinfo(node.dtype)
        min = None if type(min) is int and min <= info.min else _kept_within(min, Ops.MAX, int(info.min))
        max = None if type(max) is int and max >= info.max else _kept_within(max, Ops.MIN, int(info.max))
    bounds = [bound for bound in (min, max) if bound is not None]
    out, *limits = as_real(name, *promote(name, a, *bounds))
    if min is not None:
        out = elementwise.maximum(out, limits.pop(0))
    return elementwise.minimum(out, limits[0]) if max is not None else out


@function("real(val)", gives="like")
def real(name: str, val: UOp) -> UOp:
    """Real part.

    Args:
        val: any dtype; any shape.
    Returns:
        real dtype and shape of ``val``.
    Example:
        >>> import uopc_array as xp
        >>> xp.real(xp.asarray([3.0 + 4.0j, -2.0j]))
        Array([ 3., -0.], dtype=float64)
    """
    return composite.real(val)


@function("imag(val)", gives="like")
def imag(name: str, val: UOp) -> UOp:
    """Imaginary part, 0 for real numbers.

    Args:
        val: any dtype; any shape.
    Returns:
        real dtype and shape of ``val``.
    Example:
        >>> import uopc_array as xp
        >>> xp.imag(xp.asarray([3.0 + 4.0j, -2.0j]))
        Array([ 4., -2.], dtype=float64)
    """
    return composite.imag(val)


@function("angle(z, deg=False)")
def angle(name: str, z: UOp, deg: bool) -> UOp:
    """Angle of a complex number in the plane.

    Args:
        z: any dtype, any shape.
        deg: in degrees rather than radians.
    Returns:
        the real dtype of ``z``; shape of ``z``.
    Example:
        >>> import uopc_array as xp
        >>> xp.angle(xp.asarray([1.0j, -1.0]))
        Array([1.57079633, 3.14159265], dtype=float64)
    """
    (node,) = as_floating(name, z)
    out = composite.imag(node).binary(Ops.ATAN2, composite.real(node))
    return out * (180 / math.pi) if deg else out


@function("sinc(x)")
def sinc(name: str, x: UOp) -> UOp:
    """``sin(pi x) / (pi x)``, 1 at 0, smooth there.

    Args:
        x: real or complex floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.sinc(xp.asarray([0.0, 0.5]))
        Array([1.        , 0.63661977], dtype=float64)
    """
    (node,) = as_floating(name, x)
    whole = composite.real(node).unary(Ops.RINT)
    odd = (whole * 0.5).unary(Ops.FLOOR).ne(whole * 0.5)
    rest = node - whole.cast(node.dtype)  # exact, so that the sine is 0 at whole numbers
    sine = (rest * math.pi).unary(Ops.SIN)
    scaled = node * math.pi
    near = scaled.unary(Ops.ABS) < 0.5
    series = _even_series(near.where(scaled, 0), _SINC_SERIES)
    far = odd.where(-sine, sine) / near.where(1, node) * (1 / math.pi)
    return near.where(series, far) + 0.0  # whole numbers have 0.0, whatever the signs


# (-1)**k / (2 * k + 1)!, as many as two derivatives need below 0.5
_SINC_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(9))


def _even_series(x: UOp, coefficients: Sequence[float]) -> UOp:
    square = x * x
    out = UOp.const(coefficients[-1], x.dtype, x.shape)
    for c in reversed(coefficients[:-1]):
        out = out * square + c
    return out


@function("isposinf(x, out=None)")
def isposinf(name: str, x: UOp) -> UOp:
    """Whether a number is plus infinity.

    Args:
        x: a real dtype, any shape.
        out: takes the result.
    Returns:
        bool; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.isposinf(xp.asarray([1.0, xp.inf]))
        Array([False,  True], dtype=bool)
    """
    (node,) = as_real(name, x)
    return elementwise.isinf(node) & ~elementwise.signbit(node)


@function("isneginf(x, out=None)")
def isneginf(name: str, x: UOp) -> UOp:
    """Whether a number is minus infinity.

    Args:
        x: a real dtype, any shape.
        out: takes the result.
    Returns:
        bool; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.isneginf(xp.asarray([1.0, -xp.inf]))
        Array([False,  True], dtype=bool)
    """
    (node,) = as_real(name, x)
    return elementwise.isinf(node) & elementwise.signbit(node)


@function("nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)")
def nan_to_num(
    name: str, x: ArrayLike, copy: bool, nan: ArrayLike, posinf: ArrayLike | None, neginf: ArrayLike | None
) -> Array:
    """``x`` with nan and infinities replaced.

    Args:
        x: any dtype, any shape.
        copy: False assigns the result to ``x``, where that is an array, and returns it.
        nan: in place of nan: a number, or an array that can be broadcast to the shape of ``x``.
        posinf: in place of plus infinity, likewise; None is the largest number of the dtype.
        neginf: in place of minus infinity, likewise; None is the smallest.
    Returns:
        dtype and shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.nan_to_num(xp.asarray([1.0, xp.nan, xp.inf]), posinf=9.0)
        Array([1., 0., 9.], dtype=float64)
    """

    def replaced(node: UOp) -> UOp:
        if not is_inexact(node.dtype):
            return node
        if not is_complex(node.dtype):
            return _numbers(name, node, nan, posinf, neginf)
        parts = [_numbers(name, part, nan, posinf, neginf) for part in (composite.real(node), composite.imag(node))]
        return parts[0].binary(Ops.COMPLEX, parts[1])

    if copy or not isinstance(x, Array) or x._is_number:
        return wrap(replaced(node_of(name, x)))
    x._update(replaced)
    return x


def _numbers(name: str, node: UOp, nan: ArrayLike, posinf: ArrayLike | None, neginf: ArrayLike | None) -> UOp:
    largest = 3.4028234663852886e38 if node.dtype.itemsize == 4 else 1.7976931348623157e308

    def put(what: str, value: ArrayLike) -> UOp:
        return filler(name, what, value, node.dtype, node.shape)

    out = node.eq(math.inf).where(put("posinf", largest if posinf is None else posinf), node)
    out = node.eq(-math.inf).where(put("neginf", -largest if neginf is None else neginf), out)
    return elementwise.isnan(node).where(put("nan", nan), out)
