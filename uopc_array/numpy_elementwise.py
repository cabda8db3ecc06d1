"""Elementwise functions that NumPy has beyond the standard, and NumPy's names of those that the standard has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from uopc_array import _bodies
from uopc_array._arguments import (
    ArrayLike,
    as_floating,
    as_real,
    as_real_floating,
    filler,
    integer,
    node_of,
    wrap,
)
from uopc_array._nodes import to_operand
from uopc_array._promotion import promote, promote_floating, promote_to, result_dtype
from uopc_array.array import Array
from uopc_array.elementwise_functions import (
    abs,
    acos,
    acosh,
    also_named,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_right_shift,
    conj,
    divide,
    floor_divide,
    pow,
    remainder,
)
from uopc_core import Ops, UOp, composite, dtypes, is_bool, is_complex, is_float, is_inexact
from uopc_core.errors import shortened, speaks_for_itself

__all__ = [
    "absolute",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "bitwise_not",
    "cbrt",
    "conjugate",
    "deg2rad",
    "degrees",
    "divmod",
    "exp2",
    "fabs",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "invert",
    "isneginf",
    "isposinf",
    "left_shift",
    "logaddexp2",
    "mod",
    "nan_to_num",
    "power",
    "rad2deg",
    "radians",
    "right_shift",
    "rint",
    "sinc",
    "true_divide",
]

absolute = also_named("absolute", abs)
arccos = also_named("arccos", acos)
arccosh = also_named("arccosh", acosh)
arcsin = also_named("arcsin", asin)
arcsinh = also_named("arcsinh", asinh)
arctan = also_named("arctan", atan)
arctan2 = also_named("arctan2", atan2)
arctanh = also_named("arctanh", atanh)
bitwise_not = also_named("bitwise_not", bitwise_invert)
conjugate = also_named("conjugate", conj)
invert = also_named("invert", bitwise_invert)
left_shift = also_named("left_shift", bitwise_left_shift)
mod = also_named("mod", remainder)
power = also_named("power", pow)
right_shift = also_named("right_shift", bitwise_right_shift)
true_divide = also_named("true_divide", divide)


def _inexact(name: str, x: ArrayLike) -> UOp:
    return as_floating(name, node_of(name, x))[0]


def _real_inexact(name: str, x: ArrayLike) -> UOp:
    try:
        return as_real_floating(name, node_of(name, x))[0]
    except Exception as error:
        raise shortened(error) from None


# ------------------------------------------------------------------------------------------- one argument


def around(x: Array, /, decimals: int = 0) -> Array:
    """``x`` rounded to a number of decimals, ties to even.

    Args:
        x: any dtype, any shape.
        decimals: how many places behind the point are kept; negative ones count to its left.
    Returns:
        dtype of ``x``, float64 for bool; shape of ``x``.
    Raises:
        TypeError: ``decimals`` is no integer.
    Example:
        >>> import uopc_array as xp
        >>> xp.around(xp.asarray([1.25, 1.35]), 1)
        Array([1.2, 1.4], dtype=float64)
    """
    node, places = node_of("around", x), integer("around", "decimals", decimals)
    if places == 0 or is_bool(node.dtype):
        node = _bodies.rint(node)
    return wrap(_rounded(node, places) if places else node)


def _rounded(node: UOp, decimals: int) -> UOp:
    if is_complex(node.dtype):
        re, im = (_rounded(part, decimals) for part in (_bodies.real(node), _bodies.imag(node)))
        return re.binary(Ops.COMPLEX, im)
    size = math.fabs(decimals)
    scale = 10.0**size if size < 309 else math.inf  # as NumPy's power of floats
    if is_float(node.dtype):
        return (node * scale).unary(Ops.RINT) / scale if decimals > 0 else (node / scale).unary(Ops.RINT) * scale
    if decimals > 0:
        return node
    rounded = (node.cast(dtypes.float64) / scale).unary(Ops.RINT)
    return rounded.eq(0).where(rounded, rounded * scale).cast(node.dtype)


def rint(x: Array, /) -> Array:
    """Nearest integer, ties to even, as a floating number; complex part by part.

    Args:
        x: real or complex floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.rint(xp.asarray([1, 2]))
        Array([1., 2.], dtype=float64)
    """
    return wrap(_bodies.rint(_inexact("rint", x)))


def angle(z: Array, /, deg: bool = False) -> Array:
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
    node = _inexact("angle", z)
    out = _bodies.imag(node).binary(Ops.ATAN2, _bodies.real(node))
    return wrap(out * (180 / math.pi) if deg else out)


def cbrt(x: Array, /) -> Array:
    """Cube root.

    Args:
        x: real floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.cbrt(xp.asarray([27.0, -8.0]))
        Array([ 3., -2.], dtype=float64)
    """
    node = _real_inexact("cbrt", x)
    size = _size(node)
    guess = size ** (1 / 3)
    # one Newton step takes away the error of the exponent, which is no third; not where the root is 0 or not finite
    step = (size / guess / guess - guess) / 3  # no power of the guess: it may overflow
    usable = _bodies.isfinite(size) & size.ne(0)
    root = guess + usable.where(step, 0).stage("detach")  # whose slope is nothing to that of the guess
    return wrap(root.binary(Ops.COPYSIGN, node))


def exp2(x: Array, /) -> Array:
    """2 to the power x.

    Args:
        x: real or complex floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.exp2(xp.asarray([3.0, -1.0]))
        Array([8. , 0.5], dtype=float64)
    """
    return wrap(_inexact("exp2", x).unary(Ops.EXP2))


def deg2rad(x: Array, /) -> Array:
    """Degrees as radians.

    Args:
        x: real floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.deg2rad(xp.asarray([180.0]))
        Array([3.14159265], dtype=float64)
    """
    return _scaled("deg2rad", x, math.pi / 180)


def rad2deg(x: Array, /) -> Array:
    """Radians as degrees.

    Args:
        x: real floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Example:
        >>> import uopc_array as xp
        >>> xp.rad2deg(xp.asarray([xp.pi]))
        Array([180.], dtype=float64)
    """
    return _scaled("rad2deg", x, 180 / math.pi)


def radians(x: Array, /) -> Array:
    """Another name of `deg2rad`."""
    return _scaled("radians", x, math.pi / 180)


def degrees(x: Array, /) -> Array:
    """Another name of `rad2deg`."""
    return _scaled("degrees", x, 180 / math.pi)


def _scaled(name: str, x: Array, factor: float) -> Array:
    return wrap(_real_inexact(name, x) * factor)


def fabs(x: Array, /) -> Array:
    """Absolute value as a floating number.

    Args:
        x: real floating; integers and bool are converted to float64; any shape.
    Returns:
        dtype of ``x`` as converted; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.fabs(xp.asarray([-2, 3]))
        Array([2., 3.], dtype=float64)
    """
    return wrap(_real_inexact("fabs", x).unary(Ops.ABS))


def sinc(x: Array, /) -> Array:
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
    node = _inexact("sinc", x)
    whole = _bodies.real(node).unary(Ops.RINT)
    odd = (whole * 0.5).unary(Ops.FLOOR).ne(whole * 0.5)
    rest = node - whole.cast(node.dtype)  # exact, so that the sine is 0 at whole numbers
    sine = (rest * math.pi).unary(Ops.SIN)
    scaled = node * math.pi
    near = scaled.unary(Ops.ABS) < 0.5
    series = _even_series(near.where(scaled, 0), _SINC_SERIES)
    far = odd.where(-sine, sine) / near.where(1, node) * (1 / math.pi)
    return wrap(near.where(series, far) + 0.0)  # whole numbers have 0.0, whatever the signs


# (-1)**k / (2 * k + 1)!, as many as two derivatives need below 0.5
_SINC_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(9))


def _even_series(x: UOp, coefficients: Sequence[float]) -> UOp:
    square = x * x
    out = composite.full(x.shape, coefficients[-1], x.dtype)
    for c in reversed(coefficients[:-1]):
        out = out * square + c
    return out


def isposinf(x: Array, /) -> Array:
    """Whether a number is plus infinity.

    Args:
        x: a real dtype, any shape.
    Returns:
        bool; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.isposinf(xp.asarray([1.0, xp.inf]))
        Array([False,  True], dtype=bool)
    """
    (node,) = as_real("isposinf", node_of("isposinf", x))
    return wrap(_bodies.isinf(node) & ~_bodies.signbit(node))


def isneginf(x: Array, /) -> Array:
    """Whether a number is minus infinity.

    Args:
        x: a real dtype, any shape.
    Returns:
        bool; shape of ``x``.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.isneginf(xp.asarray([1.0, -xp.inf]))
        Array([False,  True], dtype=bool)
    """
    (node,) = as_real("isneginf", node_of("isneginf", x))
    return wrap(_bodies.isinf(node) & _bodies.signbit(node))


@speaks_for_itself
def nan_to_num(
    x: Array,
    /,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
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
            return _numbers(node, nan, posinf, neginf)
        parts = [_numbers(part, nan, posinf, neginf) for part in (_bodies.real(node), _bodies.imag(node))]
        return parts[0].binary(Ops.COMPLEX, parts[1])

    if copy or not isinstance(x, Array) or x._is_number:  # pyright: ignore[reportUnnecessaryIsInstance]  # lists as well
        return wrap(replaced(node_of("nan_to_num", x)))
    x._update(replaced)
    return x


def _numbers(node: UOp, nan: ArrayLike, posinf: ArrayLike | None, neginf: ArrayLike | None) -> UOp:
    largest = 3.4028234663852886e38 if node.dtype.itemsize == 4 else 1.7976931348623157e308

    def put(what: str, value: ArrayLike) -> UOp:
        return filler("nan_to_num", what, value, node.dtype, node.shape)

    out = node.eq(math.inf).where(put("posinf", largest if posinf is None else posinf), node)
    out = node.eq(-math.inf).where(put("neginf", -largest if neginf is None else neginf), out)
    return _bodies.isnan(node).where(put("nan", nan), out)


# ------------------------------------------------------------------------------------------- two arguments


@speaks_for_itself
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """Quotient rounded down, and remainder.

    Args:
        x1: a real dtype.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        ``floor_divide(x1, x2)`` and ``remainder(x1, x2)``.
    Raises:
        DTypeError, ShapeError: an operand is complex; shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.divmod(xp.asarray([7, -7]), 3)
        (Array([ 2, -3], dtype=int64), Array([1, 2], dtype=int64))
    """
    return floor_divide(x1, x2), remainder(x1, x2)


def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of ``x1``, as of C's function.

    Args:
        x1: a real dtype.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        the promoted dtype; the common shape.
    Raises:
        DTypeError, ShapeError: an operand is complex; shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.fmod(xp.asarray([7, -7]), 3)
        Array([ 1, -1], dtype=int64)
    """
    x, y = as_real("fmod", *promote("fmod", x1, x2))
    if is_bool(x.dtype):
        x, y = x.cast(dtypes.int8), y.cast(dtypes.int8)
    if not is_float(x.dtype):
        rest = x % y  # has the sign of y
        return wrap((rest.ne(0) & (_bodies.signbit(x).ne(_bodies.signbit(y)))).where(rest - y, rest))
    size = _size(x) % _size(y)
    return wrap(_bodies.signbit(x).where(-size, size))


def _size(x: UOp) -> UOp:
    """The absolute value; its slope at 0 is that of the side which the sign of the zero names, where `abs` has 0."""
    return _bodies.signbit(x).where(-x, x) if is_float(x.dtype) else _bodies.absolute(x)


def float_power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1`` to the power ``x2`` in float64 or complex128.

    Args:
        x1: any dtype.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        float64 or complex128; the common shape.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.float_power(xp.asarray([2, 4]), -1)
        Array([0.5 , 0.25], dtype=float64)
    """
    operands = [to_operand(x, "float_power") for x in (x1, x2)]
    wide = dtypes.complex128 if is_complex(result_dtype(*operands)) else dtypes.float64
    x, y = promote_to("float_power", wide, *operands)
    return wrap(x**y)


def _ignoring_nan(name: str, x1: ArrayLike, x2: ArrayLike, op: Ops) -> Array:
    x, y = as_real(name, *promote(name, x1, x2))
    return wrap(_bodies.isnan(x).where(y, _bodies.isnan(y).where(x, x.binary(op, y))))


def fmax(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The larger of the two; a nan gives way to a number.

    Args:
        x1: a real dtype or bool.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        the promoted dtype; the common shape.
    Raises:
        DTypeError, ShapeError: an operand is complex; shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.fmax(xp.asarray([1.0, xp.nan]), 0.5)
        Array([1. , 0.5], dtype=float64)
    """
    return _ignoring_nan("fmax", x1, x2, Ops.MAX)


def fmin(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The smaller of the two; a nan gives way to a number.

    Args:
        x1: a real dtype or bool.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        the promoted dtype; the common shape.
    Raises:
        DTypeError, ShapeError: an operand is complex; shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.fmin(xp.asarray([1.0, xp.nan]), 0.5)
        Array([0.5, 0.5], dtype=float64)
    """
    return _ignoring_nan("fmin", x1, x2, Ops.MIN)


def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 left of 0, 1 right of it, and ``x2`` at 0.

    Args:
        x1: real floating; integers and bool are converted to float64.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        the promoted dtype; the common shape.
    Raises:
        DTypeError, ShapeError: an operand is complex; shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.heaviside(xp.asarray([-1.0, 0.0, 2.0]), 0.5)
        Array([0. , 0.5, 1. ], dtype=float64)
    """
    x, y = as_real_floating("heaviside", *promote_floating("heaviside", x1, x2))
    step = (x > 0).where(1, composite.zeros_like(x))
    return wrap(_bodies.isnan(x).where(x, x.eq(0).where(y, step)))


def logaddexp2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``log2(2**x1 + 2**x2)`` without overflow.

    Args:
        x1: real floating; integers and bool are converted to float64.
        x2: likewise; a shape that can be broadcast with that of ``x1``.
    Returns:
        the promoted dtype; the common shape.
    Raises:
        DTypeError, ShapeError: an operand is complex; shapes cannot be broadcast together.
    Example:
        >>> import uopc_array as xp
        >>> xp.logaddexp2(xp.asarray([3.0]), 3.0)
        Array([4.], dtype=float64)
    """
    x, y = as_real_floating("logaddexp2", *promote_floating("logaddexp2", x1, x2))
    # near the root, where two terms cancel, float64 leaves digits to float32
    return wrap(_logaddexp2(x.cast("float64"), y.cast("float64")).cast(x.dtype))


def _logaddexp2(x: UOp, y: UOp) -> UOp:
    distance = x - y
    apart = (_bodies.isnan(distance) & x.eq(y)).where(composite.zeros_like(x), distance)  # equal infinities
    first = apart >= 0
    ratio = first.where(-apart, apart).unary(Ops.EXP2)  # of the smaller power to the larger
    return first.where(x, y) + ratio.unary(Ops.LOG1P) / math.log(2)
