"""Products of matrices and vectors, as functions of nodes of one dtype."""

from uopc_core.errors import ShapeError
from uopc_core.ir import UOp
from uopc_core.numerics import elementwise
from uopc_core.numerics.axes import common_shape

__all__ = ["matmul"]


def matmul(name: str, x: UOp, y: UOp) -> UOp:
    """The matrix product of (..., M, K) or (K,), a row, and (..., K, N) or (K,), a column, for the function `name`.

    Raises:
        ShapeError: an operand has no axes, the K differ, or the leading axes cannot be broadcast.
    """
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"{name}: expected one axis or more, got x1 {x.shape} and x2 {y.shape}; use * for scalars")
    row, column = x.ndim == 1, y.ndim == 1
    k1, k2 = x.shape[-1], y.shape[0 if column else -2]
    if k1 != k2:
        raise ShapeError(
            f"{name}: the last axis of x1 must equal the second-last axis of x2, got x1 {x.shape} "
            f"and x2 {y.shape} ({k1} != {k2}); if x2 holds its vectors as rows, pass x2.mT"
        )
    x = x.reshape((1, k1)) if row else x
    y = y.reshape((k2, 1)) if column else y
    common_shape(name, x.shape[:-2], y.shape[:-2])
    out = elementwise.matmul(x, y)
    if row or column:
        shape = out.shape
        out = out.reshape((*shape[:-2], *(() if row else shape[-2:-1]), *(() if column else shape[-1:])))
    return out
