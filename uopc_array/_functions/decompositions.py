"""Matrices as products of simpler ones: LAPACK through NumPy, lazy, batched over leading axes and differentiable.

Matrices stand in the last two axes. Integers and bool compute in float64. Derivatives are given where the function has
one; see docs/differentiation.md for repeated eigenvalues and singular values.
"""

from __future__ import annotations

from types import NotImplementedType
from typing import NamedTuple

from uopc_array._array.array import Array
from uopc_array._functions.arguments import check_choice
from uopc_array._functions.lapack import first_output, matrices, outputs
from uopc_array._functions.public import function
from uopc_core import UOp, composite

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult"]

_PUBLIC = "uopc_array.linalg"  # where pickle and help find the classes


class EigResult(NamedTuple):
    """Eigenvalues (..., M) and eigenvectors in the columns of (..., M, M), both complex."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues (..., M), real and ascending, and eigenvectors in the columns of (..., M, M)."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """Orthonormal columns (..., M, K) and an upper triangle (..., K, N)."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Left singular vectors in columns, singular values in descending order, right singular vectors in rows."""

    U: Array
    S: Array
    Vh: Array


for _result in (EigResult, EighResult, QRResult, SVDResult):
    _result.__module__ = _PUBLIC


@function("linalg.cholesky(a, /, *, upper=False)")
def cholesky(name: str, a: UOp, upper: bool) -> UOp:
    """Cholesky factor of Hermitian positive-definite matrices: ``a = L @ L.conj().mT``.

    Args:
        a: floating, shape (..., M, M); only its lower triangle is read.
        upper: return the adjoint of ``L`` instead.
    Returns:
        dtype and shape of ``a``.
    Raises:
        ShapeError: the matrices are not square.
        numpy.linalg.LinAlgError: a matrix is not positive definite; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.cholesky(xp.asarray([[4.0, 2.0], [2.0, 5.0]]))
        Array([[2., 0.],
               [1., 2.]], dtype=float64)
    """
    lower = first_output(name, "cholesky", matrices(name, a, square=True))
    return composite.adjoint(lower) if upper else lower


@function("linalg.eig(a)", gives=EigResult)
def eig(name: str, a: UOp) -> tuple[UOp, ...]:
    """Eigenvalues and right eigenvectors of square matrices.

    Args:
        a: floating, shape (..., M, M).
    Returns:
        eigenvalues (..., M) in no particular order and eigenvectors (..., M, M) of length 1 in columns, both complex.
    Raises:
        ShapeError: the matrices are not square.
        numpy.linalg.LinAlgError: a matrix holds inf or nan; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.eig(xp.asarray([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
        Array([2.+0.j, 3.+0.j], dtype=complex128)
    """
    return outputs(name, "eig", matrices(name, a, square=True), n=2)


@function("linalg.eigvals(a)")
def eigvals(name: str, a: UOp) -> UOp:
    """Eigenvalues of square matrices, complex, in no particular order; see `eig`.

    Args:
        a: floating, shape (..., M, M).
    Returns:
        complex, shape (..., M).
    Raises:
        ShapeError: the matrices are not square.
        numpy.linalg.LinAlgError: a matrix holds inf or nan; raised here, inside `jit` when computed.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.eigvals(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
        Array([2.+0.j, 3.+0.j], dtype=complex128)
    """
    return first_output(name, "eigvals", matrices(name, a, square=True))


@function("linalg.eigh(a, UPLO='L')", gives=EighResult)
def eigh(name: str, a: UOp, UPLO: str) -> tuple[UOp, ...]:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
        a: floating, shape (..., M, M); only one triangle of it is read.
        UPLO: "L" reads the lower triangle, "U" the upper one.
    Returns:
        eigenvalues (..., M), real and ascending, and orthonormal eigenvectors (..., M, M) in columns.
    Raises:
        ShapeError: the matrices are not square.
        ValueError: another triangle.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.eigh(xp.asarray([[3.0, 0.0], [0.0, 2.0]])).eigenvalues
        Array([2., 3.], dtype=float64)
    """
    return outputs(name, "eigh", _lower(name, a, UPLO), n=2)


@function("linalg.eigvalsh(a, UPLO='L')")
def eigvalsh(name: str, a: UOp, UPLO: str) -> UOp:
    """Eigenvalues of Hermitian matrices, real and ascending; see `eigh`.

    Args:
        a: floating, shape (..., M, M); only one triangle of it is read.
        UPLO: "L" reads the lower triangle, "U" the upper one.
    Returns:
        real, shape (..., M).
    Raises:
        ShapeError: the matrices are not square.
        ValueError: another triangle.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.eigvalsh(xp.asarray([[3.0, 0.0], [0.0, 2.0]]))
        Array([2., 3.], dtype=float64)
    """
    return first_output(name, "eigvalsh", _lower(name, a, UPLO))


def _lower(name: str, a: UOp, uplo: str) -> UOp:
    """The matrices with the triangle that is read below the diagonal."""
    check_choice(name, "UPLO", uplo.upper() if isinstance(uplo, str) else uplo, ("L", "U"))  # pyright: ignore[reportUnnecessaryIsInstance]
    node = matrices(name, a, square=True)
    return node if uplo in "Ll" else composite.adjoint(node)


_BY_MODE = {
    "mode: Literal['reduced', 'complete'] = ...": "QRResult",
    "mode: Literal['r']": "Array",
    "mode: Literal['raw']": "tuple[Array, Array]",
}


@function("linalg.qr(a, mode='reduced')", gives=QRResult, variants=_BY_MODE)
def qr(name: str, a: UOp, mode: str) -> UOp | tuple[UOp, ...] | NotImplementedType:
    """QR decompositions.

    Args:
        a: floating, shape (..., M, N).
        mode: "reduced" gives ``K = min(M, N)`` columns, "complete" gives ``K = M``; "r" gives the reduced R alone. The
            "raw" reflectors are NumPy's, computed on the values.
    Returns:
        Q (..., M, K) and R (..., K, N), or R alone.
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
    if mode in ("raw", "full", "f", "economic", "e"):
        return NotImplemented
    check_choice(name, "mode", mode, ("reduced", "complete", "r", "raw"))
    found = outputs(name, "qr", matrices(name, a), params=("reduced" if mode == "r" else mode,), n=2)
    return found[1] if mode == "r" else found


_WITH_VECTORS = {"compute_uv: Literal[True] = ...": "SVDResult", "*, compute_uv: Literal[False]": "Array"}


@function(
    "linalg.svd(a, full_matrices=True, compute_uv=True, hermitian=False)", gives=SVDResult, variants=_WITH_VECTORS
)
def svd(name: str, a: UOp, full_matrices: bool, compute_uv: bool) -> UOp | tuple[UOp, ...]:
    """Singular value decompositions: ``a = U @ diag(S) @ Vh``.

    Args:
        a: floating, shape (..., M, N).
        full_matrices: U (..., M, M) and Vh (..., N, N); otherwise (..., M, K) and (..., K, N) with ``K = min(M, N)``.
        compute_uv: False gives S alone.
        hermitian: NumPy's own way for Hermitian matrices, on the values.
    Returns:
        U, S (..., K) in descending order, and Vh; or S.
    Raises:
        ShapeError: fewer than two axes.
        GradientError: differentiated with ``full_matrices`` for matrices that are not square.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.svd(xp.asarray([[3.0, 0.0], [0.0, 4.0]])).S
        Array([4., 3.], dtype=float64)
        >>> xp.linalg.svd(xp.asarray([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
        Array([4., 3.], dtype=float64)
    """
    if not compute_uv:
        return svdvals(name, a)
    return outputs(name, "svd", matrices(name, a), params=(bool(full_matrices),), n=3)


@function("linalg.svdvals(x, /)")
def svdvals(name: str, x: UOp) -> UOp:
    """Singular values in descending order; see `svd`.

    Args:
        x: floating, shape (..., M, N).
    Returns:
        real, shape (..., min(M, N)).
    Raises:
        ShapeError: fewer than two axes.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.svdvals(xp.asarray([[3.0, 0.0], [0.0, 4.0]]))
        Array([4., 3.], dtype=float64)
    """
    return first_output(name, "svdvals", matrices(name, x))
