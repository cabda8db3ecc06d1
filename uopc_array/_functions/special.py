"""Functions of elements that NumPy lacks and SciPy has in `scipy.special`."""

from __future__ import annotations

from uopc_array._functions.elementwise import REAL_FLOATING
from uopc_array._functions.public import function
from uopc_core import Ops, UOp

__all__: list[str] = []


def _floating(name: str, x: UOp) -> UOp:
    prepare = REAL_FLOATING.prepare
    assert prepare is not None
    return prepare(name, x)


@function("special.erf(x, out=None)")
def erf(name: str, x: UOp) -> UOp:
    """Error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to `x`.

    Args:
        x: real, any shape; integers are converted to float64.
    Returns:
        dtype of ``x`` as converted, its shape.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.special.erf(xp.asarray([0.0, 0.5]))
        Array([0.        , 0.52049988], dtype=float64)
    """
    return _floating(name, x).unary(Ops.ERF)


@function("special.erfc(x, out=None)")
def erfc(name: str, x: UOp) -> UOp:
    """Complement of the error function, ``1 - erf(x)`` without the cancellation where `x` is large.

    Args:
        x: real, any shape; integers are converted to float64.
    Returns:
        dtype of ``x`` as converted, its shape.
    Raises:
        DTypeError: ``x`` is complex.
    Example:
        >>> import uopc_array as xp
        >>> xp.special.erfc(xp.asarray([0.0, 5.0]))
        Array([1.00000000e+00, 1.53745979e-12], dtype=float64)
    """
    return _floating(name, x).unary(Ops.ERFC)
