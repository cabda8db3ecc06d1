"""Comparisons of products, of the `linalg` and of the `fft` extension; part of the table of comparisons.py."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tests.support.case import Arguments, Comparison, given, listed, one
from tests.support.drawing import Draws, Operand
from tests.support.reference import ALL, COMPLEX, FLOATS, NUMERIC, values

__all__ = ["FOURIER", "LINALG", "PRODUCTS"]

INEXACT = FLOATS + COMPLEX


# ------------------------------------------------------------------------------------------------------ linear algebra


def draw_matmul(d: Draws) -> Arguments:
    m, k, n = (d.integer(0, 3) for _ in range(3))
    left, right = d.one_of(
        ((k,), (k,)), ((m, k), (k,)), ((k,), (k, n)), ((m, k), (k, n)), ((2, m, k), (k, n)), ((k,), (2, k, n)),
        ((2, 1, m, k), (3, k, n)),
    )  # fmt: skip
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype, "complex128"], right))


def draw_tensordot(d: Draws) -> Arguments:
    left, right, axes = d.one_of(
        ((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2,), (3,), 0), ((), (2,), 0), ((2, 0), (0, 3), 1),
        ((2, 3, 4), (4, 3, 5), ((1, 2), (1, 0))), ((2, 3, 4), (3,), ((-2,), (-1,))), ((3, 4), (4,), ((1,), (0,))),
    )  # fmt: skip
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype], right), axes=axes)


def draw_vecdot(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1)
    axis = d.integer(-x.ndim, -1)
    shape = [n if d.flag() else 1 for n in x.shape]
    shape[axis] = x.shape[axis]
    drop = d.integer(0, x.ndim + axis)
    return given(x, d.array([x.dtype], tuple(shape[drop:])), axis=axis)


BATCHES: tuple[tuple[int, ...], ...] = ((), (), (2,), (0,), (2, 1))


def matrices(d: Draws, least: int = 0, square: bool = False, definite: bool = False) -> Operand:
    """Matrices with a heavy diagonal, which is to say well conditioned."""
    rows = d.integer(least, 4)
    columns = rows if square or definite else d.integer(least, 4)
    dtype = d.one_of(*INEXACT)
    batch = d.one_of(*[b for b in BATCHES if not (least and 0 in b)])
    x = values(dtype, (*batch, rows, columns), d.integer(0, 99), -1, 1)
    x = (x + 4 * np.eye(rows, columns)).astype(dtype)
    return d.like((x @ np.conj(np.matrix_transpose(x))).astype(dtype) if definite else x)


def square(d: Draws) -> Arguments:
    return given(matrices(d, square=True))


def draw_solve(d: Draws) -> Arguments:
    a = matrices(d, square=True)
    n, columns = a.shape[-1], d.integer(0, 2)
    return given(a, d.array([a.dtype], d.one_of((n,), (n, columns), (*a.shape[:-2], n, columns))))


def draw_cross(d: Draws) -> Arguments:
    left, right, axis = d.one_of(
        ((3,), (3,), -1), ((2, 3), (3,), -1), ((3, 2), (3, 1), 0), ((0, 3), (3,), -1), ((2, 3, 1), (3, 4), -2)
    )
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype], right), axis=axis)


def draw_matrix_norm(d: Draws) -> Arguments:
    orders = ("fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf)
    return given(matrices(d, least=1), **d.options(ord=orders, keepdims=(True, False)))


def draw_vector_norm(d: Draws) -> Arguments:
    x = d.array(INEXACT, full=True)
    orders = (2, 1, 0, np.inf, -np.inf, 3, 0.5, -1)
    return given(x, **d.options(axis=(d.axes(x.ndim),), ord=orders, keepdims=(True, False)))


def vector_norm(x: Any, axis: Any = None, **how: Any) -> Any:
    """NumPy's, which takes no empty tuple for "along no axis"."""
    return np.linalg.vector_norm(x[..., None], axis=-1, **{**how, "keepdims": False}) if axis == () else (
        np.linalg.vector_norm(x, axis=axis, **how)
    )  # fmt: skip


def draw_norm(d: Draws) -> Arguments:
    x = d.array(INEXACT, d.one_of((3,), (2, 3), (2, 3, 4)))
    if d.flag():
        return given(x, **d.options(keepdims=(True, False)))
    if x.ndim > 1 and d.flag():
        axes = d.order(x.ndim)[:2]
        return given(x, axis=axes, **d.options(ord=("fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf), keepdims=(True,)))
    return given(x, axis=d.integer(-x.ndim, x.ndim - 1), **d.options(ord=(2, 1, 0, np.inf, 3, -1), keepdims=(True,)))


def draw_multi_dot(d: Draws) -> Arguments:
    extents = [d.integer(1, 4) for _ in range(d.integer(3, 5))]
    first = d.array(INEXACT, (extents[0], extents[1]))
    return given([first, *[d.array([first.dtype], (m, n)) for m, n in pairwise(extents[1:])]])


def draw_tensors(d: Draws) -> Operand:
    """Two axes and one of as many elements, as a well conditioned matrix."""
    m, n = d.integer(1, 3), d.integer(1, 3)
    x = values(d.one_of(*INEXACT), (m * n, m * n), d.integer(0, 99), -1, 1)
    return d.like((x + 4 * np.eye(m * n)).astype(x.dtype).reshape(m, n, m * n))


def draw_tensorsolve(d: Draws) -> Arguments:
    a = draw_tensors(d)
    return given(a, d.array([a.dtype], a.shape[:2]))


def rank_one(d: Draws) -> Arguments:
    x = matrices(d, least=1).numpys
    if d.flag():
        x = x * 0 + x[..., :1, :]
    return given(d.like(x), **d.options(rtol=(0.3,)))


def rank(x: Any, rtol: Any = None) -> Any:
    return np.asarray(np.linalg.matrix_rank(x, rtol=rtol), np.int64)[()]


def draw_trace(d: Draws) -> Arguments:
    return given(d.array(NUMERIC, least=2), **d.options(offset=(0, 1, -1, 9), dtype=("complex128",)))


PRODUCTS = {
    "cross": Comparison(draw_cross, eps=256),
    "matmul": Comparison(draw_matmul, eps=2048),
    "tensordot": Comparison(draw_tensordot, eps=4096),
    "vecdot": Comparison(draw_vecdot, eps=2048),
    "matrix_transpose": Comparison(one(ALL, least=2)),
}
_LINALG = {
    "outer": Comparison(lambda d: given(*[d.array(NUMERIC, most=1, least=1)] * 2), ulps=4),
    "diagonal": Comparison(lambda d: given(d.array(ALL, least=2), **d.options(offset=(0, 1, -2, 9, -9)))),
    "trace": Comparison(draw_trace, eps=256),
    "cholesky": Comparison(lambda d: given(matrices(d, definite=True), **d.options(upper=(True, False))), eps=256),
    **listed("det inv slogdet", square, eps=4096),
    "eigh": Comparison(lambda d: given(matrices(d, definite=True)), eps=4096),
    "eigvalsh": Comparison(lambda d: given(matrices(d, definite=True)), eps=4096),
    **{
        name: Comparison(square, numpy=lambda x, name=name: _complex(getattr(np.linalg, name)(x), x), eps=4096)
        for name in ("eig", "eigvals")
    },
    "cond": Comparison(lambda d: given(matrices(d, least=1), **d.options(p=(2, -2))), eps=1 << 14),
    "norm": Comparison(draw_norm, eps=256),
    "multi_dot": Comparison(draw_multi_dot, eps=1 << 14),
    "tensorsolve": Comparison(draw_tensorsolve, eps=4096),
    "tensorinv": Comparison(lambda d: given(draw_tensors(d)), eps=4096),
    "matrix_norm": Comparison(draw_matrix_norm, eps=256),
    "matrix_power": Comparison(lambda d: given(matrices(d, square=True), d.one_of(0, 1, 2, 5, -1, -2)), eps=1 << 16),
    "matrix_rank": Comparison(rank_one, numpy=rank),
    "pinv": Comparison(rank_one, numpy=lambda x, rtol=None: np.linalg.pinv(x, rtol=_default(x, rtol)), eps=4096),
    "qr": Comparison(lambda d: given(matrices(d), **d.options(mode=("reduced", "complete"))), eps=256),
    "svd": Comparison(lambda d: given(matrices(d), **d.options(full_matrices=(True, False))), eps=256),
    "svdvals": Comparison(lambda d: given(matrices(d)), eps=256),
    "solve": Comparison(draw_solve, eps=4096),
    "vector_norm": Comparison(draw_vector_norm, numpy=vector_norm, eps=256),
}
LINALG = {f"linalg.{name}": case for name, case in {**_LINALG, **PRODUCTS}.items()}


def _complex(result: Any, x: Any) -> Any:
    parts = result if isinstance(result, tuple) else (result,)
    cast = [part.astype(np.result_type(x.dtype, np.complex64)) for part in parts]
    return tuple(cast) if isinstance(result, tuple) else cast[0]


def _default(x: Any, rtol: Any) -> Any:
    return max(x.shape[-2:]) * np.finfo(x.dtype).eps if rtol is None else rtol


# ------------------------------------------------------------------------------------------------------------- Fourier

NORMS = ("backward", "ortho", "forward")


def transform(dtypes: Sequence[str]) -> Callable[[Draws], Arguments]:
    def draw(d: Draws) -> Arguments:
        x = d.array(dtypes, d.one_of((2,), (5,), (3, 4), (2, 3, 4), (0, 3, 2)))
        axis = d.one_of(*[a for a in range(-x.ndim, x.ndim) if x.shape[a] > 1])
        return given(x, axis=axis, **d.options(n=(2, 3, 4, 7), norm=NORMS))

    return draw


def transforms(dtypes: Sequence[str]) -> Callable[[Draws], Arguments]:
    def draw(d: Draws) -> Arguments:
        x = d.array(dtypes, d.one_of((2,), (3, 4), (2, 3, 4)))
        axes = d.order(x.ndim)[: d.integer(1, x.ndim)]
        how = d.options(s=(tuple([d.integer(2, 5) for _ in axes]),), norm=NORMS)
        return given(x, axes=axes, **how) if "s" in how or d.flag() else given(x, **how)

    return draw


def draw_shift(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    return given(x, **d.options(axes=(d.axes(x.ndim),)))


def shifted(name: str) -> Comparison:
    """NumPy has no shift along no axes."""
    return Comparison(draw_shift, numpy=lambda x, axes=None: x if axes == () else getattr(np.fft, name)(x, axes=axes))


def frequencies(name: str) -> Comparison:
    draw = lambda d: given(d.integer(1, 9), **d.options(d=(0.1, 2.0), dtype=("float32", "float64")))  # noqa: E731
    reference = getattr(np.fft, name)
    return Comparison(draw, numpy=lambda n, dtype="float64", **how: reference(n, **how).astype(dtype))


FOURIER = {
    **{f"fft.{name}": Comparison(transform(INEXACT), eps=1024) for name in ("fft", "ifft", "irfft", "hfft")},
    **{f"fft.{name}": Comparison(transform(FLOATS), eps=1024) for name in ("rfft", "ihfft")},
    **{f"fft.{name}": Comparison(transforms(INEXACT), eps=2048) for name in ("fftn", "ifftn", "irfftn")},
    "fft.rfftn": Comparison(transforms(FLOATS), eps=2048),
    **{f"fft.{name}": shifted(name) for name in ("fftshift", "ifftshift")},
    **{f"fft.{name}": frequencies(name) for name in ("fftfreq", "rfftfreq")},
}
