"""Decompositions and solvers by LAPACK, through NumPy: batched over leading axes, with their derivatives.

Derivatives: Giles (2008), "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation"; Golub & Pereyra (1973) for the pseudo-inverse; Roberts & Roberts (2020), "QR and LQ decomposition
matrix backpropagation algorithms", for wide matrices; Wan & Zhang (2019) for the complex SVD. Where two eigenvalues or
singular values are equal, the basis of their space is arbitrary, and how it turns within that space is nan. What does
not ask for it has its true derivative: what is made of the values alone, or of vectors of other spaces.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np

from uopc_core.dtype import DType, is_complex
from uopc_core.errors import GradientError
from uopc_core.extern import linalg_types as rules
from uopc_core.ir.composite import (
    adjoint,
    broadcast_to,
    call_extern,
    conj,
    diagonal,
    identity,
    iota,
    matmul,
    on_diagonal,
    real,
    reduce_axes,
    swap,
    unsqueeze,
    zeros_like,
)
from uopc_core.ir.extern import Extern, Params, register_extern
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["batch_leading", "needs"]

_MOST_MOVES = 2.0**-4  # times 1 / eps: of what moves more, no digit of the slope is known

Sources = tuple[UOp, ...]
Tangents = tuple[UOp | None, ...]


# ------------------------------------------------------------------------------------------------------ pieces of rules


def _below_diagonal(shape: tuple[int, ...]) -> UOp:
    return iota(shape, len(shape) - 1) < iota(shape, len(shape) - 2)


def _trace(x: UOp) -> UOp:
    return reduce_axes(on_diagonal(x.shape).where(x, zeros_like(x)), Ops.ADD, [x.ndim - 2, x.ndim - 1])


def _rows(v: UOp, shape: tuple[int, ...]) -> UOp:
    """`v` (..., n) as (..., m, n), the same in every row."""
    return broadcast_to(unsqueeze(v, v.ndim - 1), shape)


def _columns(v: UOp, shape: tuple[int, ...]) -> UOp:
    return broadcast_to(unsqueeze(v, v.ndim), shape)


def _imaginary_part(x: UOp) -> UOp:
    """``i * imag(x)``."""
    imag = x.unary(Ops.IMAG)
    return zeros_like(imag).binary(Ops.COMPLEX, imag)


def _inverse_gaps(values: UOp, shape: tuple[int, ...], dtype: DType, moves: UOp | None = None) -> UOp:
    """``1 / (v_j - v_i)``, nan where the two are equal as far as they are known: to a rounding error of the largest, or
    to `moves` times as much, of each its own.
    """
    gaps = _rows(values, shape) - _columns(values, shape)
    if moves is None:
        return _safe_inverse(gaps, values).cast(dtype)
    errors = _of_each(_rounding_error(values), moves) * moves
    return _inverse_above(gaps, _rows(errors, shape).binary(Ops.MAX, _columns(errors, shape))).cast(dtype)


def _safe_inverse(x: UOp, values: UOp) -> UOp:
    """``1 / x``, nan where `x` is below the error that `values`, which it is made of, were computed with."""
    return _inverse_above(x, _of_each(_rounding_error(values), x))


def _of_each(error: UOp, x: UOp) -> UOp:
    """`error`, one number for each matrix, beside `x`, which has more axes."""
    return broadcast_to(error.reshape((*error.shape, *[1] * (x.ndim - error.ndim))), x.shape)


def _inverse_above(x: UOp, error: UOp) -> UOp:
    small = ~(x.unary(Ops.ABS) > error)
    return small.where(nan, small.where(1, x).recip())


def _rounding_error(values: UOp) -> UOp:
    """A bound of the error of each row of eigenvalues or singular values, that of the matrix they are of included: it
    is to 2.4 times eps times their number in matrices that were made of equal ones.
    """
    largest = values.unary(Ops.ABS).detach()
    eps = float(np.finfo(largest.dtype.type).eps)
    if not values.shape[-1]:
        return UOp.const(0, largest.dtype, values.shape[:-1])
    return reduce_axes(largest, Ops.MAX, [values.ndim - 1]) * (4 * eps * values.shape[-1])


def _off_diagonal(x: UOp) -> UOp:
    return on_diagonal(x.shape).where(zeros_like(x), x)


def needs(given: Tangents, k: int = 0) -> UOp:
    """Number `k` of the tangents, or cotangents, that a rule is given."""
    x = given[k]
    assert x is not None, "a rule is asked only where there is something to pass on"
    return x


# ------------------------------------------------------------------------------------------------------------
# derivatives


def _jvp_solve(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    a, _ = sources
    da, db = tangents
    right = db
    if da is not None:
        moved = -matmul(da, outputs[0])
        right = moved if right is None else right + moved
    assert right is not None, "one of the operands has a tangent"
    return (call_extern("solve", a, right),)


def _transpose_solve(params: Params, sources: Sources, cotangents: Tangents, which: int) -> UOp:
    return call_extern("solve", swap(sources[0]), needs(cotangents))


def _jvp_inv(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    return (-matmul(matmul(outputs[0], needs(tangents)), outputs[0]),)


def _jvp_det(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    product = call_extern("cofactor", sources[0]) * needs(tangents)
    return (reduce_axes(product, Ops.ADD, [product.ndim - 2, product.ndim - 1]),)


def _jvp_cofactor(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    return (call_extern("cofactor_tangent", sources[0], needs(tangents)),)


def _jvp_cofactor_tangent(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    """From ``cofactor = det * inv^T``; not defined where the matrix is singular."""
    (a, da), (moved_a, moved_da) = sources, tangents
    terms = [] if moved_da is None else [call_extern("cofactor_tangent", a, moved_da)]
    if moved_a is not None:
        inverse, cofactor = call_extern("inv", a), call_extern("cofactor", a)
        of_da, of_moved = matmul(inverse, da), matmul(inverse, moved_a)
        terms += [
            _times(_trace(of_da), call_extern("cofactor_tangent", a, moved_a)),
            _times(-_trace(matmul(of_moved, of_da)), cofactor),
            matmul(cofactor, swap(matmul(of_da, of_moved) + matmul(of_moved, of_da))),
            _times(-_trace(of_moved), matmul(cofactor, swap(of_da))),
        ]
    out = terms[0]
    for term in terms[1:]:
        out = out + term
    return (out,)


def _times(factor: UOp, matrices: UOp) -> UOp:
    return broadcast_to(factor.reshape((*factor.shape, 1, 1)), matrices.shape) * matrices


def _transpose_cofactor_tangent(params: Params, sources: Sources, cotangents: Tangents, which: int) -> UOp:
    """The second derivative of a determinant is symmetric."""
    return call_extern("cofactor_tangent", sources[0], needs(cotangents))


def _jvp_slogdet(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    a = sources[0]
    growth = _trace(call_extern("solve", _regular(a), needs(tangents))) * _known(_is_singular(a), a.dtype)
    if not is_complex(growth.dtype):
        return None, growth
    return outputs[0] * _imaginary_part(growth), growth.unary(Ops.REAL)


def _jvp_cholesky(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    lower, tangent = outputs[0], needs(tangents)
    symmetric = (tangent + adjoint(tangent)) * 0.5
    inner = call_extern("solve", lower, adjoint(call_extern("solve", lower, symmetric)))
    inner = adjoint(inner)
    half = _below_diagonal(inner.shape).where(inner, on_diagonal(inner.shape).where(inner * 0.5, zeros_like(inner)))
    return (matmul(lower, half),)


def _jvp_eigh(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    values, vectors = outputs
    tangent = needs(tangents)
    inner = matmul(adjoint(vectors), matmul((tangent + adjoint(tangent)) * 0.5, vectors))
    turn = _off_diagonal(inner * _inverse_gaps(values, inner.shape, inner.dtype))
    return real(diagonal(inner)), matmul(vectors, turn)


def _jvp_eigvalsh(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    vectors, tangent = call_extern("eigh", sources[0], output=1), needs(tangents)
    inner = matmul((tangent + adjoint(tangent)) * 0.5, vectors)
    return (real(reduce_axes(conj(vectors) * inner, Ops.ADD, [inner.ndim - 2])),)


def _is_singular(a: UOp) -> UOp:
    """Whether a pivot is 0, so that LAPACK refuses to solve; of each matrix."""
    return call_extern("slogdet", a, output=1).eq(-inf)


def _regular(a: UOp) -> UOp:
    """`a` with identities in the place of singular matrices, by factors: a selection would give these a slope of 0."""
    singular = _is_singular(a)
    kept = singular.where(0, UOp.const(1, a.dtype, singular.shape))
    kept = broadcast_to(kept.reshape((*kept.shape, 1, 1)), a.shape)
    return a * kept + identity(a.shape, a.dtype) * (1 - kept)


def _known(unknown: UOp, dtype: DType) -> UOp:
    """A factor of 1, and of nan where `unknown` holds: a selection would be hidden from reverse mode."""
    return unknown.where(nan, UOp.const(1, dtype, unknown.shape))


def _in_eigenbasis(vectors: UOp, tangent: UOp) -> tuple[UOp, UOp]:
    """``inv(vectors) @ tangent @ vectors``, and how much more than the matrix each eigenvalue moves: the length of its
    row of the inverse (Wilkinson 1965, "The algebraic eigenvalue problem", chapter 2).

    The eigenvalues of a defective matrix, which lack vectors of their own, move without bound: such rows are nan.
    """
    inverse = call_extern("inv", _regular(vectors))
    re, im = (inverse.unary(part).detach() for part in (Ops.REAL, Ops.IMAG))
    moves = reduce_axes(re * re + im * im, Ops.ADD, [inverse.ndim - 1]).unary(Ops.SQRT)
    singular = _is_singular(vectors)
    lost = ~(moves <= _MOST_MOVES / float(np.finfo(re.dtype.type).eps))
    lost = lost | broadcast_to(singular.reshape((*singular.shape, 1)), lost.shape)
    known = _columns(_known(lost, inverse.dtype), inverse.shape)
    return matmul(inverse, matmul(tangent.cast(vectors.dtype), vectors)) * known, moves


def _jvp_eig(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    values, vectors = outputs
    inner, moves = _in_eigenbasis(vectors, needs(tangents))
    turned = matmul(vectors, _off_diagonal(inner * _inverse_gaps(values, inner.shape, inner.dtype, moves)))
    # the columns keep their length
    along = reduce_axes((conj(vectors) * turned).unary(Ops.REAL), Ops.ADD, [vectors.ndim - 2])
    return diagonal(inner), turned - vectors * _rows(along.cast(vectors.dtype), vectors.shape)


def _jvp_eigvals(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    vectors = call_extern("eig", sources[0], output=1)
    inner, _ = _in_eigenbasis(vectors, needs(tangents))
    return (diagonal(inner),)


def _jvp_svdvals(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    u, vh = call_extern("svd", sources[0], params=(False,)), call_extern("svd", sources[0], params=(False,), output=2)
    inner = matmul(needs(tangents), adjoint(vh))
    return (real(reduce_axes(conj(u) * inner, Ops.ADD, [inner.ndim - 2])),)


def _jvp_svd(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    (u, s, vh), tangent = outputs, needs(tangents)
    m, n = tangent.shape[-2:]
    if params[0] and m != n:
        reason = "svd: with full_matrices=True the extra columns are an arbitrary basis and have no derivative; "
        reason += "pass full_matrices=False"
        of_values = _jvp_svdvals((), (s,), sources, tangents)
        return _undefined(tangent, u, reason), *of_values, _undefined(tangent, vh, reason)
    v = adjoint(vh)
    inner = matmul(adjoint(u), matmul(tangent, v))
    common, opposite = _turns_of_svd(inner, s)
    du, dv = matmul(u, common + opposite), matmul(v, common - opposite)
    inverse = _safe_inverse(s, s).cast(inner.dtype)
    if m > n:
        off = matmul(tangent, v) - matmul(u, inner)
        du = du + off * _rows(inverse, off.shape)
    if n > m:
        off = matmul(adjoint(tangent), u) - matmul(v, adjoint(inner))
        dv = dv + off * _rows(inverse, off.shape)
    return du, real(diagonal(inner)), adjoint(dv)


def _turns_of_svd(inner: UOp, s: UOp) -> tuple[UOp, UOp]:
    """What turns both bases alike, and what turns them against each other.

    They come from the Hermitian and the skew part of ``U^H dA V``. The first is divided by ``s_j - s_i``, the second by
    ``s_j + s_i``: it is known where the values are equal, too. On its diagonal stand the phases that the real singular
    values leave open, shared by both sides.
    """
    shape, dtype = inner.shape, inner.dtype
    common = (inner + adjoint(inner)) * 0.5 * _inverse_gaps(s, shape, dtype)
    sums = _safe_inverse(_rows(s, shape) + _columns(s, shape), s).cast(dtype)
    opposite = (inner - adjoint(inner)) * 0.5 * sums
    return _off_diagonal(common), opposite if is_complex(dtype) else _off_diagonal(opposite)


def _undefined(tangent: UOp, output: UOp, reason: str) -> UOp:
    """A tangent of `output` that nobody may ask for: GradientError with this reason where it is transposed or
    computed.
    """
    return call_extern("undefined_tangent", tangent, params=(reason, output.shape, output.dtype))


def _refuse(params: Params, *arguments: Any) -> Any:
    raise GradientError(str(params[0]))


def _jvp_qr(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    (q, r), tangent = outputs, needs(tangents)
    m, n = tangent.shape[-2:]
    if params[0] != "complete" or m <= n:
        return _tangents_of_qr(q, r, tangent)
    reason = 'qr: with mode="complete" the extra columns are an arbitrary basis and have no derivative; '
    reason += 'pass mode="reduced"'
    thin_q, thin_r = (call_extern("qr", sources[0], params=("reduced",), output=k) for k in range(2))
    dr = _tangents_of_qr(thin_q, thin_r, tangent)[1]
    return _undefined(tangent, q, reason), dr.pad([*[(0, 0)] * (dr.ndim - 2), (0, m - n), (0, 0)])


def _tangents_of_qr(q: UOp, r: UOp, tangent: UOp) -> tuple[UOp, UOp]:
    k = q.shape[-1]
    keep = [(0, size) for size in tangent.shape[:-2]]
    square_r = _nan_where_singular(r.shrink([*keep, (0, k), (0, k)]))
    part = tangent.shrink([*keep, (0, tangent.shape[-2]), (0, k)])
    right = swap(call_extern("solve", swap(square_r), swap(part)))  # part @ inv(R)
    inner = matmul(adjoint(q), right)
    below = _below_diagonal(inner.shape).where(inner, zeros_like(inner))
    turn = below - adjoint(below)
    if is_complex(inner.dtype):
        turn = turn + on_diagonal(inner.shape).where(_imaginary_part(inner), zeros_like(inner))
    return matmul(q, turn - inner) + right, matmul(adjoint(q), tangent) - matmul(turn, r)


def _nan_where_singular(r: UOp) -> UOp:
    """Triangular factors, with nan on the diagonal where a column depends on those before it as far as it is known: to
    a rounding error of its own length.
    """
    k = r.shape[-1]
    if not k:
        return r
    size = r.unary(Ops.ABS).detach()
    error = reduce_axes(size, Ops.MAX, [r.ndim - 2], keepdims=True) * (float(np.finfo(size.dtype.type).eps) * k)
    return (on_diagonal(r.shape) & (size <= broadcast_to(error, r.shape))).where(nan, r)


def _jvp_pinv(params: Params, outputs: Sources, sources: Sources, tangents: Tangents) -> Tangents:
    if tangents[0] is None:  # by the tolerance, which only chooses
        return (None,)
    a, p, da = sources[0], outputs[0], tangents[0]
    dah, ph = adjoint(da), adjoint(p)
    left = matmul(p, matmul(ph, dah))
    right = matmul(dah, matmul(ph, p))
    out = left - matmul(left, matmul(a, p)) + right - matmul(matmul(p, a), right)
    return (out - matmul(p, matmul(da, p)),)


# --------------------------------------------------------------------------------------------------------------
# evaluation


def _numpy_function(function: Any, n_outputs: int = 1) -> Callable[..., tuple[Any, ...]]:
    """`function` of one or more arrays as an evaluation."""

    def evaluate(params: Params, *arrays: Any) -> tuple[Any, ...]:
        result: Any = function(*arrays)
        return (*result,) if n_outputs > 1 else (result,)

    return evaluate


def _evaluate_eig(params: Params, a: Any) -> Any:
    wanted = rules.to_complex(a.dtype)
    values, vectors = np.linalg.eig(a)
    return values.astype(wanted), vectors.astype(wanted)


def _evaluate_eigvals(params: Params, a: Any) -> Any:
    return (np.asarray(np.linalg.eigvals(a), rules.to_complex(a.dtype)),)


def _evaluate_svd(params: Params, a: Any) -> Any:
    return _svd(a, bool(params[0]))


def _svd(a: Any, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    """As NumPy has it, with nan in all parts of a matrix that holds an infinity."""
    finite, infinite = _without_infinities(a)
    u, s, vh = np.linalg.svd(finite, full_matrices=full_matrices)
    if infinite is not None:
        u[infinite], s[infinite], vh[infinite] = np.nan, np.nan, np.nan
    return u, s, vh


def _without_infinities(a: Any) -> tuple[Any, Any]:
    """`a` with 0 for matrices that hold an infinity, and which these are, None for none: LAPACK may not come back from
    one. A nan is left to it, which is an error there.
    """
    infinite: Any = np.isinf(a).any((-2, -1))
    if not infinite.any():
        return a, None
    alone: Any = infinite & ~np.isnan(a).any((-2, -1))
    return np.where(alone[..., None, None], 0, a), alone


def _evaluate_svdvals(params: Params, a: Any) -> Any:
    finite, infinite = _without_infinities(a)
    svdvals: Any = np.linalg.svdvals
    values = svdvals(finite)
    if infinite is not None:
        values[infinite] = np.nan
    return (values,)


def _evaluate_qr(params: Params, a: Any) -> Any:
    mode: Any = params[0]
    return np.linalg.qr(a, mode=mode)


def _evaluate_cofactor(params: Params, a: Any) -> Any:
    """``det(U) det(V^H) conj(U) diag(products of all other singular values) conj(V)``, which needs no inverse."""
    u, s, vh = _svd(a)
    n = s.shape[-1]
    others = np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(-1)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    return ((phase[..., None, None] * (u.conj() * others[..., None, :].astype(a.dtype)) @ vh.conj()).astype(a.dtype),)


def _evaluate_cofactor_tangent(params: Params, a: Any, tangent: Any) -> Any:
    """The same for ``S + E`` in place of the diagonal ``S``, to first order in ``E``: ``E_ji`` times minus the product
    of all singular values but two off the diagonal, and on it the sum of such products times ``E_jj``.
    """
    u, s, vh = _svd(a)
    n = s.shape[-1]
    inner = u.conj().mT @ tangent @ vh.conj().mT
    others: Any = np.empty(inner.shape, s.dtype)
    same: Any = np.eye(n, dtype=bool)
    for i in range(n):
        others[..., i, :] = np.where(same | same[i], 1, s[..., None, :]).prod(-1)
    sums: Any = (np.where(same, 0, others) @ inner.diagonal(0, -2, -1)[..., None])[..., 0]
    middle: Any = -others * inner.mT
    middle[..., np.arange(n), np.arange(n)] = sums
    phase = np.linalg.det(u) * np.linalg.det(vh)
    return (np.asarray(phase[..., None, None] * u.conj() @ middle @ vh.conj(), a.dtype),)


def _evaluate_pinv(params: Params, a: Any, rtol: Any) -> Any:
    finite, infinite = _without_infinities(a)
    invert: Any = np.linalg.pinv
    out = invert(finite, rcond=rtol)
    if infinite is not None:
        out[np.broadcast_to(infinite, out.shape[:-2])] = np.nan
    return (out,)


def _nan_where_not_finite(evaluate: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """`evaluate` of finite matrices, and nan for others: where a determinant is nan, its slope is, too."""

    def guarded(params: Params, a: Any, *more: Any) -> tuple[Any, ...]:
        bad: Any = ~np.isfinite(a).all((-2, -1), keepdims=True)
        (out,) = evaluate(params, np.where(bad, 0, a), *more)
        return (np.where(bad, np.asarray(np.nan, out.dtype), out),)

    return guarded


def batch_leading(name: str, n_outputs: int) -> Any:
    """The batching rule of a function that already maps over leading axes: an operand without the new axis is repeated
    along it.
    """

    def batch(params: Params, sources: Sources, batched: tuple[bool, ...]) -> Sources:
        size = next(s.shape[0] for s, flag in zip(sources, batched, strict=True) if flag)
        full = [s if flag else broadcast_to(s, (size, *s.shape)) for s, flag in zip(sources, batched, strict=True)]
        return tuple([call_extern(name, *full, params=params, output=k) for k in range(n_outputs)])

    return batch


def _named(name: str, evaluate: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """`evaluate` with the name of the function before what LAPACK has to say."""

    def named(params: Params, *arrays: Any) -> tuple[Any, ...]:
        try:
            return evaluate(params, *arrays)
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(f"{name}: {error}") from None

    return named


def _register(name: str, infer: Any, evaluate: Any, jvp: Any, n_outputs: int = 1, **more: Any) -> None:
    batch = batch_leading(name, n_outputs)
    register_extern(Extern(name, infer, _named(name, evaluate), jvp=jvp, batch=batch, **more))


_register(
    "solve",
    rules.infer_solve,
    _numpy_function(np.linalg.solve),
    _jvp_solve,
    n_sources=2,
    transpose=_transpose_solve,
    linear=frozenset({1}),
    core=2,
)
_register("inv", rules.infer_square("inv", rules.same), _numpy_function(np.linalg.inv), _jvp_inv)
_register("det", rules.infer_square("det", rules.scalar), _numpy_function(np.linalg.det), _jvp_det)
_register(
    "cofactor", rules.infer_square("cofactor", rules.same), _nan_where_not_finite(_evaluate_cofactor), _jvp_cofactor
)
_register(
    "cofactor_tangent",
    rules.infer_pair,
    _nan_where_not_finite(_evaluate_cofactor_tangent),
    _jvp_cofactor_tangent,
    n_sources=2,
    transpose=_transpose_cofactor_tangent,
    linear=frozenset({1}),
    core=2,
)
_register(
    "undefined_tangent",
    rules.infer_undefined,
    _refuse,
    _refuse,
    params=rules.UNDEFINED,
    transpose=_refuse,
    linear=frozenset({0}),
)
_register(
    "slogdet",
    rules.infer_square("slogdet", rules.scalar, rules.real_scalar),
    _numpy_function(np.linalg.slogdet, 2),
    _jvp_slogdet,
    2,
)
_register("cholesky", rules.infer_square("cholesky", rules.same), _numpy_function(np.linalg.cholesky), _jvp_cholesky)
_register(
    "eigh", rules.infer_square("eigh", rules.values, rules.same), _numpy_function(np.linalg.eigh, 2), _jvp_eigh, 2
)
_register("eigvalsh", rules.infer_square("eigvalsh", rules.values), _numpy_function(np.linalg.eigvalsh), _jvp_eigvalsh)
_register("eig", rules.infer_square("eig", rules.complex_values, rules.complex_same), _evaluate_eig, _jvp_eig, 2)
_register("eigvals", rules.infer_square("eigvals", rules.complex_values), _evaluate_eigvals, _jvp_eigvals)
_register("svd", rules.infer_svd, _evaluate_svd, _jvp_svd, 3, params=rules.FULL)
_register("svdvals", rules.infer_svdvals, _evaluate_svdvals, _jvp_svdvals)
_register("qr", rules.infer_qr, _evaluate_qr, _jvp_qr, 2, params=rules.MODE)
_register("pinv", rules.infer_pinv, _evaluate_pinv, _jvp_pinv, n_sources=2)
