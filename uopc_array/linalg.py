"""The `linalg` extension of the standard: LAPACK through NumPy, lazy, batched over leading axes and differentiable.

Matrices stand in the last two axes. Integers and bool compute in float64. Derivatives are given where the function has
one; see docs/differentiation.md for repeated eigenvalues and singular values.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal

import numpy as np

from uopc_array import _norms
from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.origins import compute
from uopc_array._array.promotion import broadcast, promote, result_dtype
from uopc_array._functions.arguments import (
    ArrayLike,
    AxisLike,
    as_floating,
    check_choice,
    integer,
    node_of,
    normalize_axes,
    normalize_axis,
    number,
    number_or_node,
    optional_dtype,
    wrap,
)
from uopc_array._interop.numpy_names import numpy_dir, numpy_name
from uopc_array._linalg_results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult
from uopc_array.linear_algebra_functions import matmul, matrix_transpose, tensordot, vecdot
from uopc_core import TRACED, Ops, UOp, composite, dtypes, is_bool, is_complex, is_integer, is_unsigned, real_dtype
from uopc_core.errors import AxisError, DTypeError, MatrixError, ShapeError, shortened
from uopc_core.numerics import elementwise

__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def _outputs(name: str, *sources: UOp, params: tuple[Any, ...] = (), n: int = 1) -> list[UOp]:
    """The first `n` outputs of a function of LAPACK, computed here and now unless `jit` traces.

    Raises:
        numpy.linalg.LinAlgError: what LAPACK cannot do with these values.
    """
    outputs = [UOp.new(Ops.EXTERN, sources, (name, params, k)) for k in range(n)]
    if not outputs[0].flags & TRACED:
        compute(outputs)
    return outputs


def _call(name: str, *sources: UOp, params: tuple[Any, ...] = ()) -> Array:
    try:
        return wrap(_outputs(name, *sources, params=params)[0])
    except Exception as error:
        raise shortened(error) from None


def _matrices(name: str, x: ArrayLike, square: bool = False) -> UOp:
    """`x` as floating matrices.

    Raises:
        MatrixError: (a ValueError) fewer than two axes, or not square where that is needed.
    """
    node = as_floating(name, node_of(name, x))[0]
    if node.ndim < 2 or (square and node.shape[-1] != node.shape[-2]):
        wanted = "square matrices (..., M, M)" if square else "matrices (..., M, N)"
        remedy = "" if node.ndim != 1 or square else "; x[:, None] is a matrix of one column, x[None] of one row"
        raise MatrixError(f"{name}: expected {wanted}, got shape {node.shape}{remedy}")
    return node


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky factor of Hermitian positive-definite matrices: ``x = L @ L.conj().mT``.

    Args:
        x: floating, shape (..., M, M); only its lower triangle is read.
        upper: return the adjoint of ``L`` instead.
    Returns:
        dtype and shape of ``x``.
    Raises:
        ShapeError: the matrices are not square.
        numpy.linalg.LinAlgError: a matrix is not positive definite; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.cholesky(xp.asarray([[4.0, 2.0], [2.0, 5.0]]))
        Array([[2., 0.],
               [1., 2.]], dtype=float64)
    """
    node = _matrices("cholesky", x, square=True)
    (lower,) = _outputs("cholesky", node)
    return wrap(_adjoint(lower)) if upper else wrap(lower)


def _adjoint(node: UOp) -> UOp:
    swapped = node.permute([*range(node.ndim - 2), node.ndim - 1, node.ndim - 2])
    return swapped.unary(Ops.CONJ) if is_complex(node.dtype) else swapped


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross product of vectors with three components.

    Args:
        x1, x2: numeric; broadcast against each other, 3 elements along ``axis``.
        axis: axis of the components, counted in the broadcast shape.
    Returns:
        the common dtype and shape.
    Raises:
        AxisError: ``axis`` is out of range.
        ShapeError: ``axis`` does not hold 3 elements.
        DTypeError: the operands are bool.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
        Array([0, 0, 1], dtype=int64)
    """
    shapes = [node_of("cross", x).shape for x in (x1, x2)]
    if any(shape[normalize_axis("cross", axis, len(shape))] != 3 for shape in shapes):
        raise ShapeError(f"cross: expected 3 elements along axis {axis}, got shapes {shapes[0]} and {shapes[1]}")
    a, b = promote("cross", x1, x2)
    if is_bool(a.dtype):
        raise DTypeError("cross: expected a numeric dtype, got bool; convert with astype first")
    where = normalize_axis("cross", axis, a.ndim)
    a0, a1, a2 = (_at(a, where, i) for i in range(3))
    b0, b1, b2 = (_at(b, where, i) for i in range(3))
    return wrap(composite.concat([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], where))


def _at(node: UOp, axis: int, i: int) -> UOp:
    return node.shrink([(i, i + 1) if a == axis else (0, n) for a, n in enumerate(node.shape)])


def det(x: Array, /) -> Array:
    """Determinants of square matrices.

    Args:
        x: floating, shape (..., M, M).
    Returns:
        dtype of ``x``; shape (...). The gradient is the cofactor matrix, for singular matrices too.
    Raises:
        ShapeError: the matrices are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.det(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
        Array(6., dtype=float64)
    """
    return _call("det", _matrices("det", x, square=True))


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Diagonals of the matrices in the last two axes.

    Args:
        x: any dtype, shape (..., M, N).
        offset: above the main diagonal when positive, below it when negative.
    Returns:
        dtype of ``x``; shape (..., number of elements on that diagonal).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.diagonal(xp.asarray([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int64)
    """
    return wrap(_diagonal("diagonal", node_of("diagonal", x), offset))


def _diagonal(name: str, node: UOp, offset: int) -> UOp:
    """The diagonal as a slice: in the flattened matrix its elements are N + 1 apart."""
    if node.ndim < 2:
        raise ShapeError(f"{name}: expected matrices (..., M, N), got shape {node.shape}")
    offset = integer(name, "offset", offset)
    *batch, m, n = node.shape
    top, left = max(0, -offset), max(0, offset)
    length = max(0, min(m - top, n - left))
    if length == 0:
        return node.shrink([*[(0, k) for k in batch], (0, 0), (0, min(n, 1))]).reshape((*batch, 0))
    kept = [(0, k) for k in batch]
    part = node.shrink([*kept, (top, top + length), (left, left + length)])
    # a column more makes each row one element longer, so that the diagonal becomes the first column of rows of length
    # + 1
    flat = part.reshape((*batch, length * length)).pad([*[(0, 0)] * len(batch), (0, length)])
    return flat.reshape((*batch, length, length + 1)).shrink([*kept, (0, length), (0, 1)]).reshape((*batch, length))


def eig(x: Array, /) -> EigResult:
    """Eigenvalues and right eigenvectors of square matrices.

    Args:
        x: floating, shape (..., M, M).
    Returns:
        eigenvalues (..., M) in no particular order and eigenvectors (..., M, M) of length 1 in columns, both complex.
    Raises:
        ShapeError: the matrices are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.eig(xp.asarray([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
        Array([2.+0.j, 3.+0.j], dtype=complex128)
    """
    node = _matrices("eig", x, square=True)
    return EigResult(*map(wrap, _outputs("eig", node, n=2)))


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of square matrices, complex, in no particular order; see `eig`."""
    return _call("eigvals", _matrices("eigvals", x, square=True))


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
        x: floating, shape (..., M, M); only its lower triangle is read.
    Returns:
        eigenvalues (..., M), real and ascending, and orthonormal eigenvectors (..., M, M) in columns.
    Raises:
        ShapeError: the matrices are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.eigh(xp.asarray([[3.0, 0.0], [0.0, 2.0]])).eigenvalues
        Array([2., 3.], dtype=float64)
    """
    node = _matrices("eigh", x, square=True)
    return EighResult(*map(wrap, _outputs("eigh", node, n=2)))


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian matrices, real and ascending; see `eigh`."""
    return _call("eigvalsh", _matrices("eigvalsh", x, square=True))


def inv(x: Array, /) -> Array:
    """Inverses of square matrices.

    Args:
        x: floating, shape (..., M, M).
    Returns:
        dtype and shape of ``x``.
    Raises:
        ShapeError: the matrices are not square.
        numpy.linalg.LinAlgError: a matrix is singular; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.inv(xp.asarray([[2.0, 0.0], [0.0, 4.0]]))
        Array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float64)
    """
    return _call("inv", _matrices("inv", x, square=True))


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro") -> Array:
    """Norms of the matrices in the last two axes.

    Args:
        x: floating, shape (..., M, N).
        keepdims: keep the two axes with extent 1.
        ord: "fro" (root of the sum of squares), "nuc" (sum of singular values), 1 or inf (largest column or row sum),
            2 (largest singular value), or -1, -inf, -2 for the smallest.
    Returns:
        the real dtype of ``x``; shape (...).
    Raises:
        AxisError: fewer than two axes.
        ShapeError: a negative ``ord`` of no elements.
        ValueError: an unknown ``ord``.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.matrix_norm(xp.asarray([[3.0, 0.0], [0.0, 4.0]]))
        Array(5., dtype=float64)
    """
    ord = ord if ord is None or isinstance(ord, str) else number("matrix_norm", "ord", ord)
    node = as_floating("matrix_norm", node_of("matrix_norm", x))[0]
    if node.ndim < 2:
        raise AxisError(
            f"matrix_norm: expected matrices (..., M, N), got shape {node.shape}; vector_norm takes vectors"
        )
    if ord in ("fro", None):
        return vector_norm(wrap(node), axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        (values,) = _outputs("svdvals", node)
        last = (values.ndim - 1,)
        if ord == "nuc":
            out = composite.reduce_axes(values, Ops.ADD, last)
        else:
            out = _norms.extreme("matrix_norm", values, ord, last)
    elif ord in (1, -1, inf, -inf):
        summed, kept = (node.ndim - 2, node.ndim - 2) if ord in (1, -1) else (node.ndim - 1, node.ndim - 2)
        sums = composite.reduce_axes(node.unary(Ops.ABS), Ops.ADD, [summed])
        out = _norms.extreme("matrix_norm", sums, ord, (kept,))
    else:
        raise ValueError(f"matrix_norm: expected ord to be 'fro', 'nuc', 1, 2, inf, -1, -2 or -inf, got {ord!r}")
    return wrap(out.reshape((*out.shape, 1, 1)) if keepdims else out)


def matrix_power(x: Array, n: int, /) -> Array:
    """Square matrices raised to the integer power ``n``; negative powers invert first.

    Args:
        x: floating, shape (..., M, M).
        n: any integer; 0 gives identity matrices.
    Returns:
        dtype and shape of ``x``.
    Raises:
        ShapeError: the matrices are not square.
        TypeError: ``n`` is not an integer.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.matrix_power(xp.asarray([[1.0, 1.0], [0.0, 1.0]]), 3)
        Array([[1., 3.],
               [0., 1.]], dtype=float64)
    """
    node = node_of("matrix_power", x)
    if node.ndim < 2 or node.shape[-1] != node.shape[-2]:
        raise MatrixError(f"matrix_power: expected square matrices (..., M, M), got shape {node.shape}")
    n = integer("matrix_power", "n", n)
    if n == 0:
        here = composite.iota(node.shape, node.ndim - 2).eq(composite.iota(node.shape, node.ndim - 1))
        return wrap(here.cast(node.dtype))
    square = inv(wrap(node)) if n < 0 else wrap(node)
    power: Array | None = None
    left = abs(n)
    while left:
        if left & 1:
            power = square if power is None else matmul(power, square)
        left >>= 1
        square = matmul(square, square) if left else square
    assert power is not None, n
    return power


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Number of singular values above ``rtol`` times the largest.

    Args:
        x: floating, shape (..., M, N).
        rtol: real, broadcast against (...); None is ``max(M, N) * eps``.
    Returns:
        int64, shape (...).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.matrix_rank(xp.asarray([[1.0, 2.0], [2.0, 4.0]]))
        Array(1, dtype=int64)
    """
    node = _matrices("matrix_rank", x)
    (values,) = _outputs("svdvals", node)
    if values.shape[-1] == 0:
        return wrap(UOp.const(0, dtypes.int64, values.shape[:-1]))
    largest = composite.reduce_axes(values, Ops.MAX, [values.ndim - 1], keepdims=True)
    tolerance = _tolerance("matrix_rank", node, rtol)
    column = (*tolerance.shape, 1)
    limit = composite.broadcast_to(largest, column) * tolerance.reshape(column)
    values = composite.broadcast_to(values, (*tolerance.shape, values.shape[-1]))
    above = composite.broadcast_to(limit, values.shape) < values
    return wrap(composite.reduce_axes(above.cast(dtypes.int64), Ops.ADD, [values.ndim - 1]))


def _tolerance(name: str, node: UOp, rtol: float | Array | None) -> UOp:
    """`rtol` or its default, in the real dtype of the matrices and the shape of their batch axes."""
    real, batch = real_dtype(node.dtype), node.shape[:-2]
    if rtol is None:
        return UOp.const(max(node.shape[-2:]) * float(np.finfo(real).eps), real, batch)
    given = cast_node(node_of(name, rtol), real, name)
    return composite.broadcast_to(given, broadcast(name, given.shape, batch))


def outer(x1: Array, x2: Array, /) -> Array:
    """Outer product of two vectors.

    Args:
        x1: numeric, shape (M,).
        x2: numeric, shape (N,).
    Returns:
        the common dtype; shape (M, N).
    Raises:
        ShapeError: an operand is not a vector.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int64)
    """
    a, b = node_of("outer", x1), node_of("outer", x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(f"outer: expected two vectors, got shapes {a.shape} and {b.shape}; ravel them first")
    return wrap(elementwise.multiply(*promote("outer", composite.unsqueeze(a, 1), composite.unsqueeze(b, 0))))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Moore-Penrose pseudo-inverses.

    Args:
        x: floating, shape (..., M, N).
        rtol: singular values up to ``rtol`` times the largest count as zero; broadcast against (...); None is ``max(M,
            N) * eps``.
    Returns:
        dtype of ``x``; shape (..., N, M).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.pinv(xp.asarray([[2.0], [0.0]]))
        Array([[0.5, 0. ]], dtype=float64)
    """
    node = _matrices("pinv", x)
    tolerance = _tolerance("pinv", node, rtol)
    return _call("pinv", composite.broadcast_to(node, (*tolerance.shape, *node.shape[-2:])), tolerance)


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """QR decompositions.

    Args:
        x: floating, shape (..., M, N).
        mode: "reduced" gives ``K = min(M, N)`` columns, "complete" gives ``K = M``.
    Returns:
        Q (..., M, K) and R (..., K, N).
    Raises:
        ShapeError: fewer than two axes.
        ValueError: an unknown mode.
    Example:
        >>> import uopc_array as xp
        >>> q, r = xp.linalg.qr(xp.asarray([[3.0, 0.0], [0.0, 2.0]]))
        >>> q @ r
        Array([[3., 0.],
               [0., 2.]], dtype=float64)
    """
    check_choice("qr", "mode", mode, ("reduced", "complete"))
    node = _matrices("qr", x)
    return QRResult(*map(wrap, _outputs("qr", node, params=(mode,), n=2)))


def slogdet(x: Array, /) -> SlogdetResult:
    """Sign and logarithm of the absolute value of determinants, free of overflow.

    Args:
        x: floating, shape (..., M, M).
    Returns:
        sign (dtype of ``x``) and logabsdet (real), both of shape (...).
    Raises:
        ShapeError: the matrices are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.slogdet(xp.asarray([[-1.0, 0.0], [0.0, 1.0]])).sign
        Array(-1., dtype=float64)
    """
    node = _matrices("slogdet", x, square=True)
    return SlogdetResult(*map(wrap, _outputs("slogdet", node, n=2)))


def solve(x1: Array, x2: Array, /) -> Array:
    """Solutions of ``x1 @ x = x2``.

    Args:
        x1: floating, shape (..., M, M).
        x2: floating, shape (M,) for one right-hand side, or (..., M, K).
    Returns:
        the common dtype; shape of ``x2``, batch axes broadcast.
    Raises:
        ShapeError: the shapes do not fit.
        numpy.linalg.LinAlgError: a matrix is singular; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [0.0, 4.0]]), xp.asarray([2.0, 2.0]))
        Array([1. , 0.5], dtype=float64)
    """
    a, b = node_of("solve", x1), node_of("solve", x2)
    dtype = result_dtype(a, b, name="solve")
    a, b = as_floating("solve", cast_node(a, dtype), cast_node(b, dtype))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise MatrixError(f"solve: expected (..., M, M) and (M,) or (..., M, K), got {a.shape} and {b.shape}")
    if b.ndim < 1 or b.shape[-2 if b.ndim > 1 else 0] != a.shape[-1]:
        raise ShapeError(f"solve: expected (..., M, M) and (M,) or (..., M, K), got {a.shape} and {b.shape}")
    vector = b.ndim == 1
    right = composite.unsqueeze(b, 1) if vector else b
    batch = broadcast("solve", a.shape[:-2], right.shape[:-2])
    a = composite.broadcast_to(a, (*batch, *a.shape[-2:]))
    right = composite.broadcast_to(right, (*batch, *right.shape[-2:]))
    (out,) = _outputs("solve", a, right)
    return wrap(out.reshape(out.shape[:-1]) if vector else out)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decompositions: ``x = U @ diag(S) @ Vh``.

    Args:
        x: floating, shape (..., M, N).
        full_matrices: U (..., M, M) and Vh (..., N, N); otherwise (..., M, K) and (..., K, N) with ``K = min(M, N)``.
    Returns:
        U, S (..., K) in descending order, and Vh.
    Raises:
        ShapeError: fewer than two axes.
        GradientError: differentiated with ``full_matrices`` for matrices that are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.svd(xp.asarray([[3.0, 0.0], [0.0, 4.0]])).S
        Array([4., 3.], dtype=float64)
    """
    node = _matrices("svd", x)
    params = (bool(full_matrices),)
    return SVDResult(*map(wrap, _outputs("svd", node, params=params, n=3)))


def svdvals(x: Array, /) -> Array:
    """Singular values in descending order, shape (..., min(M, N)); see `svd`."""
    return _call("svdvals", _matrices("svdvals", x))


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sums along diagonals.

    Args:
        x: numeric, shape (..., M, N).
        offset: which diagonal; see `diagonal`.
        dtype: dtype in which to add; None is int64 or uint64 for integers, else that of ``x``.
    Returns:
        ``dtype``; shape (...).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]))
        Array(5, dtype=int64)
    """
    node = _diagonal("trace", node_of("trace", x), offset)
    wanted = optional_dtype("trace", dtype)
    if wanted is None and (is_integer(node.dtype) or is_bool(node.dtype)):
        wanted = dtypes.uint64 if is_unsigned(node.dtype) else dtypes.int64
    node = cast_node(node, wanted or node.dtype, "trace")
    return wrap(composite.reduce_axes(node, Ops.ADD, [node.ndim - 1]))


def vector_norm(x: Array, /, *, axis: AxisLike = None, keepdims: bool = False, ord: ArrayLike = 2) -> Array:
    """Norms of vectors: ``sum(abs(x) ** ord) ** (1 / ord)``.

    Args:
        x: floating, any shape.
        axis: axes that hold a vector; None takes all of ``x`` for one.
        keepdims: keep reduced axes with extent 1.
        ord: any number; inf and -inf are the largest and the smallest absolute value, 0 counts nonzero elements.
            Differentiable where it is an array, but for these three.
    Returns:
        the real dtype of ``x``; shape of ``x`` without ``axis``. At the zero vector, the gradient of the 2-norm is 0.
    Raises:
        AxisError: an axis is out of range or given twice.
        ShapeError: ``ord`` is -inf and there are no elements.
        ValueError: ``ord`` is not a number.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.vector_norm(xp.asarray([3.0, 4.0]))
        Array(5., dtype=float64)
    """
    if isinstance(ord, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (NumPy users try "fro")
        raise ValueError(f"vector_norm: expected a number for ord, got {ord!r}; matrix_norm knows names")
    given = number_or_node("vector_norm", "ord", ord)
    node = as_floating("vector_norm", node_of("vector_norm", x))[0]
    axes = normalize_axes("vector_norm", axis, node.ndim)
    if isinstance(given, UOp):
        return wrap(_norms.norm_of_any_order(node, given, axes, keepdims))
    return wrap(_norms.vector_norm(node, given, axes, keepdims))


def __getattr__(name: str) -> Any:
    """NumPy's other names (PEP 562)."""
    return numpy_name("linalg", name)


def __dir__() -> list[str]:
    return sorted({*__all__, *numpy_dir("linalg")})
