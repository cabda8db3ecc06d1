"""What the decompositions return: named tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

from uopc_array._array.array import Array

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]


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


class SlogdetResult(NamedTuple):
    """Sign (or phase) and logarithm of the absolute value of the determinants."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Left singular vectors in columns, singular values in descending order, right singular vectors in rows."""

    U: Array
    S: Array
    Vh: Array
