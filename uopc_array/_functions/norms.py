"""Norms of vectors and matrices, of every order, and condition numbers."""

from __future__ import annotations

from math import inf
from types import NotImplementedType
from typing import Any

import numpy as np

from uopc_array._functions.arguments import ArrayLike, AxisLike, as_floating, normalize_axes, number, number_or_node
from uopc_array._functions.lapack import first_output, matrices
from uopc_array._functions.public import function
from uopc_core import Ops, UOp, composite
from uopc_core.errors import AxisError, ShapeError
from uopc_core.numerics import elementwise

__all__: list[str] = []


@function("linalg.norm(x, ord=None, axis=None, keepdims=False)")
def norm(name: str, x: UOp, ord: ArrayLike | None, axis: AxisLike, keepdims: bool) -> UOp:
    """Norms of vectors or of matrices, by how many axes there are.

    Args:
        x: floating, any shape.
        ord: None is the root of the sum of squares, of any number of axes; else an order of `vector_norm` for one
            axis, of `matrix_norm` for two.
        axis: one axis that holds vectors, or two that hold matrices; None is all.
        keepdims: keep reduced axes with extent 1.
    Returns:
        the real dtype of ``x``; shape of ``x`` without ``axis``.
    Raises:
        AxisError: an axis is out of range or given twice.
        ShapeError: the smallest of no elements.
        ValueError: an order of three axes or more, or one that vectors or matrices do not have.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.norm(xp.asarray([[3.0, 0.0], [4.0, 0.0]]), axis=0)
        Array([5., 0.], dtype=float64)
    """
    node = as_floating(name, x)[0]
    axes = normalize_axes(name, axis, node.ndim)
    if axis is None and ord is None:
        return _vector_norm(name, node, 2, axes, keepdims)
    if len(axes) == 1:
        return _of_vectors(name, node, 2 if ord is None else ord, axes, keepdims)
    if len(axes) == 2:
        return _of_matrices(name, node, ord, axes, keepdims)
    raise ValueError(
        f"{name}: expected one axis or two for an order, got axis={axis} of shape {node.shape}; ord=None takes all"
    )


@function("linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')")
def matrix_norm(name: str, x: UOp, keepdims: bool, ord: float | str | None) -> UOp:
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
    if x.ndim < 2:
        raise AxisError(f"{name}: expected matrices (..., M, N), got shape {x.shape}; vector_norm takes vectors")
    return _of_matrices(name, as_floating(name, x)[0], ord, (x.ndim - 2, x.ndim - 1), keepdims)


@function("linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)")
def vector_norm(name: str, x: UOp, axis: AxisLike, keepdims: bool, ord: ArrayLike) -> UOp:
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
    node = as_floating(name, x)[0]
    return _of_vectors(name, node, ord, normalize_axes(name, axis, node.ndim), keepdims)


@function("linalg.cond(x, p=None)")
def cond(name: str, x: UOp, p: Any) -> UOp | NotImplementedType:
    """Condition numbers of matrices: the norm times the norm of the inverse, inf where there is none.

    Args:
        x: floating, shape (..., M, N).
        p: None and 2 are of the largest by the smallest singular value, -2 the other way round; another order of
            `matrix_norm` is computed by NumPy on the values of square matrices.
    Returns:
        the real dtype of ``x``; shape (...).
    Raises:
        ShapeError: fewer than two axes.
        numpy.linalg.LinAlgError: matrices of no elements.
    Example:
        >>> import uopc_array as xp
        >>> xp.linalg.cond(xp.asarray([[4.0, 0.0], [0.0, 2.0]]))
        Array(2., dtype=float64)
    """
    if p is not None and not (isinstance(p, int | float) and p in (2, -2)):
        return NotImplemented
    node = matrices(name, x)
    if 0 in node.shape[-2:]:
        raise np.linalg.LinAlgError(f"{name}: matrices of no elements have no condition number, got {node.shape}")
    values = first_output(name, "svdvals", node)
    n = values.shape[-1]
    whole = [(0, k) for k in values.shape[:-1]]
    first, last = values.shrink([*whole, (0, 1)]), values.shrink([*whole, (n - 1, n)])
    ratio = composite.squeeze(last / first if p == -2 else first / last, [values.ndim - 1])
    no_number = composite.reduce_axes(elementwise.isnan(node), Ops.OR, [node.ndim - 2, node.ndim - 1])
    return (elementwise.isnan(ratio) & no_number.eq(False)).where(inf, ratio)


# ---------------------------------------------------------------------------------------------- of matrices


def _of_matrices(name: str, node: UOp, ord: Any, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The norm of the matrices whose rows and columns are the two `axes`."""
    ord = ord if ord is None or isinstance(ord, str) else number(name, "ord", ord)
    if ord in ("fro", "f", None):
        return _vector_norm(name, node, 2, axes, keepdims)
    moved = composite.move_axes_last(node, axes)
    if ord in ("nuc", 2, -2):
        values = first_output(name, "svdvals", moved)
        last = (values.ndim - 1,)
        out = composite.reduce_axes(values, Ops.ADD, last) if ord == "nuc" else _extreme(name, values, ord, last)
    elif ord in (1, -1, inf, -inf):
        summed = moved.ndim - (2 if ord in (1, -1) else 1)
        sums = composite.reduce_axes(moved.unary(Ops.ABS), Ops.ADD, [summed])
        out = _extreme(name, sums, ord, (moved.ndim - 2,))
    else:
        raise ValueError(f"{name}: expected ord to be 'fro', 'nuc', 1, 2, inf, -1, -2 or -inf, got {ord!r}")
    return out.reshape([1 if i in axes else n for i, n in enumerate(node.shape)]) if keepdims else out


def _extreme(name: str, sizes: UOp, ord: float | str | None, axes: tuple[int, ...], keepdims: bool = False) -> UOp:
    """The largest of `sizes`, 0 if there are none, or for negative `ord` the smallest."""
    none = 0 in [sizes.shape[axis] for axis in axes]
    if float(ord or 0) > 0:  # the sum of nothing is the 0 we need, in the right shape
        return composite.reduce_axes(sizes, Ops.ADD if none else Ops.MAX, axes, keepdims)
    if none:
        raise ShapeError(f"{name}: ord={ord} is the smallest of some sizes, and there is none in shape {sizes.shape}")
    return composite.reduce_axes(sizes, Ops.MIN, axes, keepdims)


# ---------------------------------------------------------------------------------------------- of vectors


def _of_vectors(name: str, node: UOp, ord: ArrayLike, axes: tuple[int, ...], keepdims: bool) -> UOp:
    if isinstance(ord, str):
        raise ValueError(f"{name}: expected a number for ord, got {ord!r}; matrix_norm knows names")
    given = number_or_node(name, "ord", ord)
    return (_norm_of_any_order if isinstance(given, UOp) else _vector_norm)(name, node, given, axes, keepdims)


def _vector_norm(name: str, node: UOp, ord: Any, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The norm of a known order, which decides what is computed."""
    if ord == 2:
        total = composite.reduce_axes(elementwise.square_of_size(node), Ops.ADD, axes, keepdims)
        return elementwise.root_of_squares(total)
    size = node.unary(Ops.ABS)
    if ord in (inf, -inf):
        return _extreme(name, size, ord, axes, keepdims)
    if ord == 0:
        return composite.reduce_axes(size.ne(0).cast(size.dtype), Ops.ADD, axes, keepdims)
    if ord == 1:
        return composite.reduce_axes(size, Ops.ADD, axes, keepdims)
    total = composite.reduce_axes(size**ord, Ops.ADD, axes, keepdims)
    if ord < 0:
        return total ** (1 / ord)
    zero = total.eq(0)  # as for the 2-norm, the slope at the zero vector is 0
    return zero.where(composite.zeros_like(total), zero.where(1, total) ** (1 / ord))


def _norm_of_any_order(name: str, node: UOp, ord: Any, axes: tuple[int, ...], keepdims: bool) -> UOp:
    """The norm of an order that is not known yet, or that is differentiated by: the one rule for all that has a slope,
    and the three others chosen by value.
    """
    size = node.unary(Ops.ABS)
    ord = ord.cast(size.dtype)
    special = ord.eq(0) | ord.unary(Ops.ABS).eq(inf)
    power = special.where(1, ord)
    total = composite.reduce_axes(size ** composite.broadcast_to(power, size.shape), Ops.ADD, axes, keepdims)
    each, power = (composite.broadcast_to(x, total.shape) for x in (ord, power))
    # at 0 a root has no slope, and the norm has 0, as that of order 2; so it has where one 0 decides a negative order
    zero, none = total.eq(0), composite.zeros_like(total)
    extreme_total = zero | total.eq(inf)
    at_extreme = zero.eq(power > 0).where(none, inf)
    out = extreme_total.where(at_extreme, extreme_total.where(1, total) ** (1 / power))
    for order in (0, inf, *([-inf] if size.size else [])):  # of nothing there is no smallest, and no error when it runs
        out = each.eq(order).where(_vector_norm(name, node, order, axes, keepdims), out)
    return out
