"""What the functions of matrices share: their operands, and the outputs of LAPACK."""

from __future__ import annotations

from typing import Any

from uopc_array._array.origins import compute
from uopc_array._functions.arguments import as_floating
from uopc_core import TRACED, UOp, composite
from uopc_core.errors import MatrixError, shortened

__all__ = ["first_output", "matrices", "outputs"]


def outputs(name: str, kind: str, *sources: UOp, params: tuple[Any, ...] = (), n: int = 1) -> tuple[UOp, ...]:
    """The first `n` outputs of the function `kind` of LAPACK, computed here and now unless `jit` traces.

    Raises:
        numpy.linalg.LinAlgError: what LAPACK cannot do with these values.
    """
    nodes = tuple([composite.call_extern(kind, *sources, params=params, output=k) for k in range(n)])
    if not nodes[0].flags & TRACED:
        try:
            compute(nodes)
        except Exception as error:
            raise shortened(error, name) from None
    return nodes


def first_output(name: str, kind: str, *sources: UOp, params: tuple[Any, ...] = ()) -> UOp:
    """See `outputs`."""
    return outputs(name, kind, *sources, params=params)[0]


def matrices(name: str, x: UOp, square: bool = False) -> UOp:
    """`x` as floating matrices.

    Raises:
        MatrixError: (a ValueError) fewer than two axes, or not square where that is needed.
    """
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        wanted = "square matrices (..., M, M)" if square else "matrices (..., M, N)"
        remedy = "" if x.ndim != 1 or square else "; x[:, None] is a matrix of one column, x[None] of one row"
        raise MatrixError(f"{name}: expected {wanted}, got shape {x.shape}{remedy}")
    return as_floating(name, x)[0]
