"""Linear equations: determinants, inverses, powers, ranks, solutions, least squares."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import NotImplementedType
from typing import Any, NamedTuple

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.promotion import promote, promote_dtypes
from uopc_array._functions.arguments import ArrayLike, as_floating, integer, node_of, normalize_axes
from uopc_array._functions.host import to_host
from uopc_array._functions.lapack import first_output, matrices, outputs
from uopc_array._functions.public import function
from uopc_core import Ops, UOp, composite, dtypes, real_dtype
from uopc_core.errors import MatrixError, ShapeError
from uopc_core.numerics import elementwise
from uopc_core.numerics.axes import common_shape

__all__ = ["SlogdetResult", "inv"]


class SlogdetResult(NamedTuple):
    """Sign (or phase) and logarithm of the absolute value of the determinants."""

    sign: Array
    logabsdet: Array


SlogdetResult.__module__ = "uopc_array.linalg"  # where pickle and help find it


@function("linalg.det(a)")
def det(name: str, a: UOp) -> UOp:
    """Determinants of square matrices.

    Args:
        a: floating, shape (..., M, M).
    Returns:
        dtype of ``a``; shape (...). The gradient is the cofactor matrix, for singular matrices too.
    Raises:
        ShapeError: the matrices are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.det(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
        Array(6., dtype=float64)
    """
    return first_output(name, "det", matrices(name, a, square=True))


@function("linalg.slogdet(a)", gives=SlogdetResult)
def slogdet(name: str, a: UOp) -> tuple[UOp, ...]:
    """Sign and logarithm of the absolute value of determinants, free of overflow.

    Args:
        a: floating, shape (..., M, M).
    Returns:
        sign (dtype of ``a``) and logabsdet (real), both of shape (...).
    Raises:
        ShapeError: the matrices are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.slogdet(xp.asarray([[-1.0, 0.0], [0.0, 1.0]])).sign
        Array(-1., dtype=float64)
    """
    return outputs(name, "slogdet", matrices(name, a, square=True), n=2)


@function("linalg.inv(a)")
def inv(name: str, a: UOp) -> UOp:
    """Inverses of square matrices.

    Args:
        a: floating, shape (..., M, M).
    Returns:
        dtype and shape of ``a``.
    Raises:
        ShapeError: the matrices are not square.
        numpy.linalg.LinAlgError: a matrix is singular; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.inv(xp.asarray([[2.0, 0.0], [0.0, 4.0]]))
        Array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float64)
    """
    return first_output(name, "inv", matrices(name, a, square=True))


@function("linalg.matrix_power(a, n)")
def matrix_power(name: str, a: UOp, n: int) -> UOp:
    """Square matrices raised to the integer power ``n``; negative powers invert first.

    Args:
        a: floating, shape (..., M, M).
        n: any integer; 0 gives identity matrices.
    Returns:
        dtype and shape of ``a``.
    Raises:
        ShapeError: the matrices are not square.
        TypeError: ``n`` is not an integer.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.matrix_power(xp.asarray([[1.0, 1.0], [0.0, 1.0]]), 3)
        Array([[1., 3.],
               [0., 1.]], dtype=float64)
    """
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise MatrixError(f"{name}: expected square matrices (..., M, M), got shape {a.shape}")
    n = integer(name, "n", n)
    if n == 0:
        return composite.iota(a.shape, a.ndim - 2).eq(composite.iota(a.shape, a.ndim - 1)).cast(a.dtype)
    square = inv(name, a) if n < 0 else a
    power: UOp | None = None
    left = abs(n)
    while left:
        if left & 1:
            power = square if power is None else elementwise.matmul(power, square)
        left >>= 1
        square = elementwise.matmul(square, square) if left else square
    assert power is not None, n
    return power


@function("linalg.solve(a, b)")
def solve(name: str, a: UOp, b: UOp) -> UOp:
    """Solutions of ``a @ x = b``.

    Args:
        a: floating, shape (..., M, M).
        b: floating, shape (M,) for one right-hand side, or (..., M, K).
    Returns:
        the common dtype; shape of ``b``, batch axes broadcast.
    Raises:
        ShapeError: the shapes do not fit.
        numpy.linalg.LinAlgError: a matrix is singular; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [0.0, 4.0]]), xp.asarray([2.0, 2.0]))
        Array([1. , 0.5], dtype=float64)
    """
    dtype = promote_dtypes(a.dtype, b.dtype)
    a, b = as_floating(name, cast_node(a, dtype), cast_node(b, dtype))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise MatrixError(f"{name}: expected (..., M, M) and (M,) or (..., M, K), got {a.shape} and {b.shape}")
    if b.ndim < 1 or b.shape[-2 if b.ndim > 1 else 0] != a.shape[-1]:
        raise ShapeError(f"{name}: expected (..., M, M) and (M,) or (..., M, K), got {a.shape} and {b.shape}")
    vector = b.ndim == 1
    right = composite.unsqueeze(b, 1) if vector else b
    batch = common_shape(name, a.shape[:-2], right.shape[:-2])
    a = composite.broadcast_to(a, (*batch, *a.shape[-2:]))
    right = composite.broadcast_to(right, (*batch, *right.shape[-2:]))
    out = first_output(name, "solve", a, right)
    return out.reshape(out.shape[:-1]) if vector else out


@function("linalg.tensorsolve(a, b, axes=None)")
def tensorsolve(name: str, a: UOp, b: UOp, axes: Sequence[int] | None) -> UOp:
    """Solutions of ``tensordot(a, x, x.ndim) = b``.

    Args:
        a: floating, shape (*b.shape, *Q), of a square number of elements.
        b: floating, any shape.
        axes: axes of ``a`` that are moved to its end first.
    Returns:
        the common floating dtype; shape Q.
    Raises:
        AxisError: an axis is out of range or named twice.
        numpy.linalg.LinAlgError: the shapes do not fit, or the matrix is singular.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.tensorsolve(xp.reshape(2 * xp.eye(4), (2, 2, 4)), xp.ones((2, 2)))
        Array([0.5, 0.5, 0.5, 0.5], dtype=float64)
    """
    if axes is not None:
        a = composite.move_axes_last(a, normalize_axes(name, axes, a.ndim))
    shape = a.shape[-(a.ndim - b.ndim) :]
    n = prod(shape)
    if a.size != n * n or b.size != n:
        raise MatrixError(f"{name}: expected a of shape b.shape + Q of as many elements, got {a.shape} and {b.shape}")
    return solve(name, a.reshape((n, n)), b.reshape((n,))).reshape(shape)


@function("linalg.tensorinv(a, ind=2)")
def tensorinv(name: str, a: UOp, ind: int) -> UOp:
    """Inverses for ``tensordot(tensorinv(a, ind), a, ind)``, which is the identity.

    Args:
        a: floating, shape (*P, *Q), of as many elements in P as in Q.
        ind: the number of axes in P, 1 or more.
    Returns:
        the floating dtype of ``a``; shape (*Q, *P).
    Raises:
        ValueError: ``ind`` is less than 1.
        ShapeError: P and Q differ.
        numpy.linalg.LinAlgError: the matrix is singular.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.tensorinv(xp.reshape(2 * xp.eye(4), (4, 2, 2)), ind=1).shape
        (2, 2, 4)
    """
    n = integer(name, "ind", ind)
    if n < 1:
        raise ValueError(f"{name}: expected ind of 1 or more, got {n}")
    before, after = a.shape[:n], a.shape[n:]
    if prod(before) != prod(after):
        raise MatrixError(f"{name}: expected as many elements in {before} as in {after}, of shape {a.shape}")
    return inv(name, a.reshape((prod(after), prod(before)))).reshape((*after, *before))


# ---------------------------------------------------------------------------------------------- up to a tolerance


@function("linalg.matrix_rank(A, tol=None, hermitian=False, *, rtol=None)")
def matrix_rank(name: str, A: UOp, tol: ArrayLike | None, rtol: ArrayLike | None) -> UOp:
    """Number of singular values above a tolerance; of a vector, whether it has an element that is not 0.

    Args:
        A: floating, shape (..., M, N), or a vector.
        tol: real, broadcast against (...): the tolerance.
        hermitian: NumPy's own way for Hermitian matrices, on the values.
        rtol: real, broadcast against (...): the tolerance divided by the largest singular value; None is
            ``max(M, N) * eps``.
    Returns:
        int64, shape (...).
    Raises:
        ValueError: both tolerances.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.matrix_rank(xp.asarray([[1.0, 2.0], [2.0, 4.0]]))
        Array(1, dtype=int64)
    """
    if tol is not None and rtol is not None:
        raise ValueError(f"{name}: expected one tolerance, got tol={tol!r:.60} and rtol={rtol!r:.60}")
    if A.ndim < 2:
        return A.reshape((A.size,)).ne(0).reduce(Ops.OR, 1).cast(dtypes.int64)
    node = matrices(name, A)
    values = first_output(name, "svdvals", node)
    if values.shape[-1] == 0:
        return UOp.const(0, dtypes.int64, values.shape[:-1])
    largest = composite.reduce_axes(values, Ops.MAX, [values.ndim - 1])
    if tol is not None:
        limit = node_of(name, tol)
    elif rtol is None:
        limit = largest * _default_tolerance(node)
    else:
        limit = elementwise.multiply(*promote(name, largest, node_of(name, rtol)))
    above = _above(name, values, limit)
    return composite.reduce_axes(above.cast(dtypes.int64), Ops.ADD, [above.ndim - 1])


def _default_tolerance(node: UOp) -> float:
    """The rounding error of singular values, by the largest of them."""
    return max(node.shape[-2:]) * float(np.finfo(node.dtype).eps)


def _above(name: str, values: UOp, limit: UOp) -> UOp:
    """Which singular values are larger than the limit of their matrix."""
    dtype = promote_dtypes(values.dtype, limit.dtype)
    shape = (*common_shape(name, values.shape[:-1], limit.shape), values.shape[-1])
    values, limit = cast_node(values, dtype, name), cast_node(composite.unsqueeze(limit, limit.ndim), dtype, name)
    return composite.broadcast_to(limit, shape) < composite.broadcast_to(values, shape)


@function("linalg.pinv(a, rcond=None, hermitian=False, *, rtol=None)")
def pinv(name: str, a: UOp, rcond: ArrayLike | None, rtol: ArrayLike | None) -> UOp:
    """Moore-Penrose pseudo-inverses.

    Args:
        a: floating, shape (..., M, N).
        rcond: NumPy's older name of ``rtol``.
        hermitian: NumPy's own way for Hermitian matrices, on the values.
        rtol: singular values up to ``rtol`` times the largest count as zero; broadcast against (...); None is
            ``max(M, N) * eps``.
    Returns:
        dtype of ``a``; shape (..., N, M).
    Raises:
        ShapeError: fewer than two axes.
        ValueError: both tolerances.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.pinv(xp.asarray([[2.0], [0.0]]))
        Array([[0.5, 0. ]], dtype=float64)
    """
    if rcond is not None and rtol is not None:
        raise ValueError(f"{name}: expected one tolerance, got rcond={rcond!r:.60} and rtol={rtol!r:.60}")
    node = matrices(name, a)
    real, given = real_dtype(node.dtype), rtol if rcond is None else rcond
    if given is None:
        tolerance = UOp.const(_default_tolerance(node), real, node.shape[:-2])
    else:
        tolerance = cast_node(node_of(name, given), real, name)
        tolerance = composite.broadcast_to(tolerance, common_shape(name, tolerance.shape, node.shape[:-2]))
    return first_output(name, "pinv", composite.broadcast_to(node, (*tolerance.shape, *node.shape[-2:])), tolerance)


# ---------------------------------------------------------------------------------------------- least squares, by NumPy


@function("linalg.lstsq(a, b, rcond=None)")
def lstsq(name: str, a: Any, b: Any, rcond: Any) -> tuple[Array, Array, Any, Array] | NotImplementedType:
    """Least-squares solutions of ``a @ x = b``, by NumPy on the values.

    Args:
        a: floating, shape (M, N).
        b: floating, shape (M,) or (M, K).
        rcond: singular values up to ``rcond`` times the largest count as zero; None is ``max(M, N) * eps``.
    Returns:
        the solution (N,) or (N, K), the sums of squared residuals, the rank, and the singular values.
    Raises:
        numpy.linalg.LinAlgError: shapes that do not fit, or an infinite matrix.
        GradientError, TraceError: under a derivative or `jit`.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.lstsq(xp.asarray([[1.0], [1.0]]), xp.asarray([1.0, 3.0]))[0].round(6)
        Array([2.], dtype=float64)
    """
    _refuse_infinities(name, a)
    return NotImplemented


@function("polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False)")
def polyfit(
    name: str, x: Any, y: Any, deg: Any, rcond: Any, full: bool, w: Any, cov: bool | str
) -> Any | NotImplementedType:
    """Coefficients, the highest power first, of the polynomial that fits points best, by NumPy on the values.

    Args:
        x: abscissas, shape (M,).
        y: values there, shape (M,) or (M, K).
        deg: degree of the polynomial.
        rcond: singular values up to ``rcond`` times the largest count as zero; None is ``M * eps``.
        full: return what `linalg.lstsq` does, and ``rcond``, as well.
        w: weights of the points.
        cov: return the covariances as well.
    Returns:
        shape (deg + 1,) or (deg + 1, K); with ``full`` or ``cov`` a tuple.
    Raises:
        numpy.linalg.LinAlgError: infinite numbers.
        GradientError, TraceError: under a derivative or `jit`.
    Example:
        >>> import uopc_array as xp
        >>> xp.polyfit(xp.asarray([0.0, 1.0, 2.0]), xp.asarray([1.0, 3.0, 5.0]), 1).round(6)
        Array([2., 1.], dtype=float64)
    """
    sizes = [np.abs(np.asarray(to_host(f"numpy.{name}", v))) for v in (x, 1.0 if w is None else w)]
    largest, weight = (np.max(size, initial=0) + 0.0 for size in sizes)
    _refuse_infinities(name, largest, weight, largest ** int(deg) * weight)
    return NotImplemented


def _refuse_infinities(name: str, *operands: Any) -> None:
    """LAPACK may not come back from the least squares of an infinite matrix."""
    if any([np.isinf(to_host(f"numpy.{name}", x)).any() for x in operands]):
        raise np.linalg.LinAlgError(f"{name}: SVD did not converge in Linear Least Squares, of an infinite matrix")
