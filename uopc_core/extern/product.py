"""Matrix products by NumPy's BLAS: what the planner makes of a large contraction.

Small ones of real numbers are not the library's, which has more to do around such a product than in it: they are made
in tiles of our own, by one loop whoever computes.

Invariant: the bits depend on the matrices alone, not on how they lie in memory. BLAS has other kernels for transposed
matrices where they are small, so those are brought in order first; large ones are packed into panels before anything is
multiplied, and are handed over as they are.

A product of derivatives may have an operand with marks: negative zeros, where a selection has it that the product of
the two numbers counts nothing. BLAS computes them like any other, and only a result that is not finite, where an
infinity or a nan met a mark, is computed anew with what is marked left out.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from uopc_core.dtype import DType, name_of
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.interpret.loops import loop_of
from uopc_core.interpret.rows import in_rows
from uopc_core.ir.arguments import Field, one_of
from uopc_core.ir.extern import Extern, TensorType, register_extern
from uopc_core.ir.op import Ops
from uopc_core.schedule.library_work import is_tiled

__all__ = ["MATMUL", "loop_of_products", "multiply_by_library"]

Array = np.ndarray[Any, Any]
# multiplications in one product; OpenBLAS packs from 1,000,000 on
_SURELY_PACKED = 2_000_000


def _infer_matmul(params: tuple[Any, ...], types: Sequence[TensorType]) -> tuple[TensorType, ...]:
    (x, x_dtype), (y, y_dtype) = types
    if x_dtype is not y_dtype:
        raise DTypeError(f"matmul: expected two operands of one dtype, got {name_of(x_dtype)} and {name_of(y_dtype)}")
    if len(x) != len(y) or len(x) < 2 or x[:-2] != y[:-2] or x[-1] != y[-2]:
        raise ShapeError(f"matmul: expected (..., M, K) and (..., K, N) with equal batch axes, got {x} and {y}")
    return (((*x[:-1], y[-1]), x_dtype),)


def _matmul_into(params: tuple[Any, ...], arrays: Sequence[Any], outputs: Sequence[Any]) -> None:
    (x, y), (out,) = arrays, outputs
    if not params:
        multiply_by_library(x, y, out)
        return
    # what the numbers with marks meet
    others = [other for side, other in zip(("right", "left"), arrays, strict=True) if side in params]
    with np.errstate(invalid="ignore", over="ignore"):
        np.matmul(*_in_order(*arrays), out=out)
        # no harm was done if all of that is finite, or the result is: the smaller one is looked at
        looked_at = others if sum([x.size for x in others]) < out.size else [out]
        if not all([_is_finite(x) for x in looked_at]):
            out[...] = _without_the_dead(params, *arrays)


def loop_of_products(dtype: DType) -> Callable[..., Any] | None:
    """What multiplies the matrices, or vectors, of a floating-point or complex dtype that are not the library's, of any
    strides, with the bits of a kernel: ``f(x, y)``, or ``f(x, y, out)``. None where there is no compiler.
    """
    return loop_of("matmul", Ops.ADD, dtype)


def multiply_by_library(x: Array, y: Array, out: Array | None = None) -> Array:
    """The product of two matrices, or stacks of them, as in a plan: by BLAS, or in our own tiles where it is small."""
    m, k = x.shape[-2:]
    if is_tiled(x.dtype, m, k, y.shape[-1]):
        loop = loop_of("tiled", Ops.ADD, x.dtype)
        if loop is not None:
            return loop(x, y, out)
    product: Any = np.matmul
    return product(*_in_order(x, y), out=out)


def _evaluate_matmul(params: tuple[Any, ...], *arrays: Any) -> tuple[Any, ...]:
    out: Any = np.empty((*arrays[0].shape[:-1], arrays[1].shape[-1]), arrays[0].dtype)
    _matmul_into(params, arrays, (out,))
    return (out,)


def _in_order(x: Array, y: Array) -> tuple[Array, Array]:
    if x.flags.c_contiguous and y.flags.c_contiguous:
        return x, y
    (m, k), n = x.shape[-2:], y.shape[-1]
    packed = m * k * n > _SURELY_PACKED and min(m, n) > 1
    if packed and _is_mirrored(x, y):  # NumPy computes half of such a product, so it stays one however it lies
        x = _laid_out(x, packed)
        return x, x.swapaxes(-1, -2)
    return _laid_out(x, packed), _laid_out(y, packed)


def _is_mirrored(x: Array, y: Array) -> bool:
    """Whether `y` is `x` transposed, in the same memory."""
    mirrored = x.swapaxes(-1, -2)
    if y.shape != mirrored.shape or y.strides != mirrored.strides:
        return False
    return y.__array_interface__["data"] == x.__array_interface__["data"]


def _laid_out(x: Array, packed: bool) -> Array:
    """`x` if each of its matrices is rows of memory (or columns, where that is as good), else a copy that is."""
    rows, columns = x.shape[-2:]
    down, across = x.strides[-2:]
    by_rows = across == x.itemsize and down >= columns * x.itemsize
    by_columns = down == x.itemsize and across >= rows * x.itemsize
    return x if by_rows or (packed and by_columns) else in_rows(x)


def _is_finite(x: Any) -> bool:
    """Whether all of `x` is finite, in one pass; False, too, where the sum of the squares overflows."""
    flat = x.ravel(order="K")
    product: Any = np.vdot
    return bool(np.isfinite(product(flat, flat)))


def _without_the_dead(params: Sequence[Any], x: Any, y: Any) -> Any:
    """``x @ y`` where the marks of operands, negative zeros, make 0 also of what is infinite or nan."""
    alive_x = ~_is_marked(x) if "left" in params else np.ones(x.shape, bool)
    alive_y = ~_is_marked(y) if "right" in params else np.ones(y.shape, bool)
    bad = np.zeros(x.shape[-1], bool)  # the terms of the sum in which a mark may meet what is not finite
    if "left" in params:
        bad |= ~np.isfinite(y).all(tuple([axis for axis in range(y.ndim) if axis != y.ndim - 2]))
    if "right" in params:
        bad |= ~np.isfinite(x).all(tuple(range(x.ndim - 1)))
    out: Any = np.matmul(*_in_order(x[..., ~bad], y[..., ~bad, :]))
    for k in np.flatnonzero(bad):
        alive = alive_x[..., k, None] & alive_y[..., k, None, :]
        out += np.where(alive, x[..., k, None] * y[..., k, None, :], 0)
    return out


def _is_marked(x: Any) -> Any:
    if x.dtype.kind == "c":
        return _is_marked(x.real) & _is_marked(x.imag)
    return (x == 0) & np.signbit(x)


_MARKED = Field(
    "params",
    one_of((), ("left",), ("right",), ("left", "right")),
    'the operands with marks: (), ("left",), ("right",) or both',
)

MATMUL = register_extern(Extern("matmul", _infer_matmul, _evaluate_matmul, _MARKED, n_sources=2, into=_matmul_into))
