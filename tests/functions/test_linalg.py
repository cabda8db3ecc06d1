"""The `linalg` extension against NumPy: dtypes, shapes, arguments, errors, laziness, jit and both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import COMPLEX, FLOATS, check, equal, values
from uopc_core import context
from uopc_core.errors import AxisError, DTypeError, ShapeError

linalg, reference = xp.linalg, np.linalg
INEXACT = FLOATS + COMPLEX
Matrices = np.ndarray[Any, Any]

SQUARE: dict[str, tuple[int, ...]] = {
    "3": (3, 3), "1": (1, 1), "0": (0, 0), "batch": (2, 3, 3), "batches": (2, 1, 2, 2), "no batch": (0, 2, 2),
    "batch of 0": (2, 0, 0),
}  # fmt: skip
ANY: dict[str, tuple[int, ...]] = {
    **SQUARE, "wide": (2, 4), "tall": (4, 2), "row": (1, 3), "column": (3, 1), "wide batch": (3, 2, 3),
    "tall batch": (2, 2, 3, 2), "no rows": (0, 3), "no columns": (3, 0),
}  # fmt: skip


def tolerance(dtype: Any) -> float:
    return 2e-4 if np.dtype(dtype) in (np.float32, np.complex64) else 1e-11


def matrices(dtype: str, shape: tuple[int, ...]) -> Matrices:
    """Well conditioned: with a heavy diagonal."""
    x = values(dtype, shape, low=-1, high=1)
    return x + (np.eye(shape[-2], shape[-1]) * 4).astype(dtype)


def definite(dtype: str, shape: tuple[int, ...]) -> Matrices:
    x = matrices(dtype, shape)
    return (x @ x.conj().mT + np.eye(shape[-1])).astype(dtype)


def near(ours: xp.Array, wanted: Any) -> None:
    want = np.asarray(wanted)
    size = float(np.abs(want).max()) if want.size else 0.0
    check(ours, want, atol=tolerance(want.dtype) * max(1.0, size))


def near_all(ours: Any, wanted: Any) -> None:
    """`near`, of one array or of a named tuple."""
    pairs = zip(ours, wanted, strict=True) if isinstance(ours, tuple) else [(ours, wanted)]
    for got, want in pairs:
        near(got, want)


# ---------------------------------------------------------------------------------------------- values

OF_SQUARE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "det": (linalg.det, reference.det),
    "inv": (linalg.inv, reference.inv),
    "slogdet": (linalg.slogdet, reference.slogdet),
    "matrix_power 0": (lambda x: linalg.matrix_power(x, 0), lambda x: reference.matrix_power(x, 0)),
    "matrix_power 1": (lambda x: linalg.matrix_power(x, 1), lambda x: reference.matrix_power(x, 1)),
    "matrix_power 5": (lambda x: linalg.matrix_power(x, 5), lambda x: reference.matrix_power(x, 5)),
    "matrix_power -2": (lambda x: linalg.matrix_power(x, -2), lambda x: reference.matrix_power(x, -2)),
}
ORDERS: list[Any] = ["fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf]
OF_ANY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "svdvals": (linalg.svdvals, reference.svdvals),
    "pinv": (linalg.pinv, lambda x: reference.pinv(x, rtol=max(x.shape[-2:]) * np.finfo(x.dtype).eps)),
    "pinv rtol": (lambda x: linalg.pinv(x, rtol=0.3), lambda x: reference.pinv(x, rcond=0.3)),
    "trace": (linalg.trace, reference.trace),
    "trace offset": (lambda x: linalg.trace(x, offset=-1), lambda x: reference.trace(x, offset=-1)),
    "diagonal": (linalg.diagonal, reference.diagonal),
    **{f"diagonal {k}": (lambda x, k=k: linalg.diagonal(x, offset=k), lambda x, k=k: reference.diagonal(x, offset=k))
       for k in (-9, -1, 1, 2, 9)},
    "matrix_transpose": (linalg.matrix_transpose, reference.matrix_transpose),
}  # fmt: skip


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE.values(), ids=SQUARE.keys())
@pytest.mark.parametrize("name", OF_SQUARE)
def test_of_square_matrices_agrees_with_numpy(name: str, shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(dtype, shape)
    ours, numpys = OF_SQUARE[name]
    near_all(ours(xp.asarray(x)), numpys(x))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", ANY.values(), ids=ANY.keys())
@pytest.mark.parametrize("name", OF_ANY)
def test_of_any_matrices_agrees_with_numpy(name: str, shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(dtype, shape)
    ours, numpys = OF_ANY[name]
    near_all(ours(xp.asarray(x)), numpys(x))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE.values(), ids=SQUARE.keys())
def test_cholesky_and_the_symmetric_eigenvalue_problem_agree_with_numpy(shape: tuple[int, ...], dtype: str) -> None:
    x = definite(dtype, shape)
    ours = xp.asarray(x)
    near(linalg.cholesky(ours), reference.cholesky(x))
    near(linalg.cholesky(ours, upper=True), reference.cholesky(x, upper=True))
    near(linalg.eigvalsh(ours), reference.eigvalsh(x))
    found = linalg.eigh(ours)
    near(found.eigenvalues, reference.eigh(x).eigenvalues)
    vectors = np.asarray(found.eigenvectors)
    near(xp.asarray((vectors * np.asarray(found.eigenvalues)[..., None, :]) @ vectors.conj().mT), x)


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", SQUARE.values(), ids=SQUARE.keys())
def test_eig_satisfies_its_equation(shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(dtype, shape)
    found = linalg.eig(xp.asarray(x))
    assert found.eigenvalues.dtype == found.eigenvectors.dtype == np.result_type(x.dtype, np.complex64)
    vectors, eigenvalues = np.asarray(found.eigenvectors), np.asarray(found.eigenvalues)
    near(xp.asarray(x @ vectors), vectors * eigenvalues[..., None, :])
    near(linalg.eigvals(xp.asarray(x)), reference.eigvals(x).astype(vectors.dtype))
    near(found.eigenvalues, reference.eig(x).eigenvalues.astype(vectors.dtype))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", ANY.values(), ids=ANY.keys())
@pytest.mark.parametrize("full", [True, False])
def test_svd_agrees_with_numpy(shape: tuple[int, ...], dtype: str, full: bool) -> None:
    x = matrices(dtype, shape)
    near_all(linalg.svd(xp.asarray(x), full_matrices=full), reference.svd(x, full_matrices=full))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", ANY.values(), ids=ANY.keys())
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr_agrees_with_numpy(shape: tuple[int, ...], dtype: str, mode: Any) -> None:
    x = matrices(dtype, shape)
    near_all(linalg.qr(xp.asarray(x), mode=mode), reference.qr(x, mode=mode))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", ANY.values(), ids=ANY.keys())
@pytest.mark.parametrize("ord", ORDERS, ids=str)
def test_matrix_norm_agrees_with_numpy(shape: tuple[int, ...], dtype: str, ord: Any) -> None:
    x = matrices(dtype, shape)
    lost = {-1: shape[-1], -2: min(shape[-2:]), -np.inf: shape[-2]}.get(ord, 1)
    if lost == 0 and 0 not in shape[:-2]:
        with pytest.raises(ShapeError, match="is the smallest of some sizes, and there is none"):
            linalg.matrix_norm(xp.asarray(x), ord=ord)
        return
    for keepdims in (False, True):
        wanted = reference.matrix_norm(x, ord=ord, keepdims=keepdims)
        near(linalg.matrix_norm(xp.asarray(x), ord=ord, keepdims=keepdims), wanted)


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0, 1), ()], ids=str)
@pytest.mark.parametrize("ord", [2, 1, 0, np.inf, -np.inf, 3, 0.5, -1, -2.5], ids=str)
def test_vector_norm_agrees_with_numpy(dtype: str, axis: Any, ord: float) -> None:
    x = values(dtype, (2, 3, 4))
    for keepdims in (False, True):
        wanted = reference.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
        near(linalg.vector_norm(xp.asarray(x), axis=axis, keepdims=keepdims, ord=ord), wanted)


@pytest.mark.parametrize("ord", [2, 1, 0, np.inf, 3], ids=str)
def test_the_norm_of_nothing_is_0(ord: float) -> None:
    check(linalg.vector_norm(xp.zeros(0), ord=ord), 0.0)
    check(linalg.vector_norm(xp.zeros((2, 0)), axis=1, ord=ord), np.zeros(2))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((3, 3), (3, 0)),
        ((0, 0), (0, 2)),
        ((0, 0), (0,)),
        ((2, 3, 3), (2, 3, 1)),
        ((2, 3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((3, 3), (2, 3, 2)),
        ((4, 1, 2, 2), (3, 2, 2)),
        ((1, 1), (1, 1)),
    ],
    ids=str,
)
def test_solve_agrees_with_numpy(left: tuple[int, ...], right: tuple[int, ...], dtype: str) -> None:
    a, b = matrices(dtype, left), values(dtype, right, seed=1)
    near(linalg.solve(xp.asarray(a), xp.asarray(b)), reference.solve(a, b))


def test_solve_promotes() -> None:
    a, b = matrices("float32", (2, 2)), values("complex128", (2, 2))
    near(linalg.solve(xp.asarray(a), xp.asarray(b)), reference.solve(a, b))


SINGULAR = np.asarray([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])


@pytest.mark.parametrize("dtype", INEXACT)
def test_singular_matrices(dtype: str) -> None:
    x = SINGULAR.astype(dtype)
    near(linalg.det(xp.asarray(x)), np.zeros((), dtype))
    near(linalg.pinv(xp.asarray(x)), reference.pinv(x, rtol=3 * np.finfo(dtype).eps))
    check(linalg.matrix_rank(xp.asarray(x)), np.int64(2))
    near_all(linalg.slogdet(xp.zeros((2, 2), dtype=dtype)), reference.slogdet(np.zeros((2, 2), dtype)))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", ANY.values(), ids=ANY.keys())
def test_matrix_rank_agrees_with_numpy(shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(dtype, shape)
    if not 0 < np.prod(shape):
        check(linalg.matrix_rank(xp.asarray(x)), np.zeros(shape[:-2], np.int64))
        return
    x[..., -1, :] = x[..., 0, :]
    check(linalg.matrix_rank(xp.asarray(x)), np.asarray(reference.matrix_rank(x), np.int64))
    check(linalg.matrix_rank(xp.asarray(x), rtol=0.5), np.asarray(reference.matrix_rank(x, rtol=0.5), np.int64))


def test_rtol_may_differ_for_each_matrix() -> None:
    x = np.stack([np.diag([4.0, 2.0, 1.0])] * 2)
    check(linalg.matrix_rank(xp.asarray(x), rtol=xp.asarray([0.3, 0.6])), np.asarray([2, 1]))
    wanted = reference.pinv(x, rcond=np.asarray([0.3, 0.6]))
    near(linalg.pinv(xp.asarray(x), rtol=xp.asarray([0.3, 0.6])), wanted)
    near(linalg.pinv(xp.asarray(x[0]), rtol=xp.asarray([0.3, 0.6])), wanted)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16"])
def test_integers_compute_in_float64(dtype: str) -> None:
    x = np.asarray([[2, 1], [0, 3]], dtype)
    for name in ("det", "inv", "svdvals", "pinv", "matrix_norm", "slogdet", "qr", "svd"):
        near_all(getattr(linalg, name)(xp.asarray(x)), getattr(reference, name)(x.astype(float)))
    near(linalg.solve(xp.asarray(x), xp.asarray(x[0])), reference.solve(x.astype(float), x[0]))
    near(linalg.vector_norm(xp.asarray(x)), reference.vector_norm(x.astype(float)))


def test_integer_products_stay_integers() -> None:
    x, y = values("int16", (3, 3)), values("int16", (3,), seed=1)
    check(linalg.matrix_power(xp.asarray(x), 3), reference.matrix_power(x, 3))
    check(linalg.cross(xp.asarray(x), xp.asarray(y)), reference.cross(x, y))
    check(linalg.outer(xp.asarray(y), xp.asarray(y)), reference.outer(y, y))
    check(linalg.trace(xp.asarray(x)), reference.trace(x))
    check(linalg.trace(xp.asarray(x.astype("uint8"))), reference.trace(x.astype("uint8")))
    check(linalg.trace(xp.asarray(x), dtype=xp.float32), reference.trace(x, dtype=np.float32))
    check(linalg.diagonal(xp.asarray(x > 0)), reference.diagonal(x > 0))


@pytest.mark.parametrize("dtype", ["int32", *INEXACT])
@pytest.mark.parametrize(
    ("left", "right", "axis"), [((3,), (3,), -1), ((2, 3), (3,), -1), ((3, 2), (3, 1), 0), ((0, 3), (3,), -1)], ids=str
)
def test_cross_agrees_with_numpy(left: tuple[int, ...], right: tuple[int, ...], axis: int, dtype: str) -> None:
    x, y = values(dtype, left), values(dtype, right, seed=1)
    near(linalg.cross(xp.asarray(x), xp.asarray(y), axis=axis), reference.cross(x, y, axis=axis))


@pytest.mark.parametrize("name", ["matmul", "tensordot", "vecdot"])
def test_what_the_main_namespace_has_too_gives_the_same(name: str) -> None:
    x, y = xp.asarray(values("complex128", (3, 3))), xp.asarray(values("complex128", (3, 3), seed=1))
    check(getattr(linalg, name)(x, y), np.asarray(getattr(xp, name)(x, y)))


def test_nan_and_inf_do_what_they_do_in_numpy() -> None:
    x = np.asarray([[np.nan, 1.0], [1.0, np.inf]])
    for name in ("det", "inv", "matrix_norm", "slogdet"):
        ours, wanted = getattr(linalg, name)(xp.asarray(x)), getattr(reference, name)(x)
        pairs = zip(ours, wanted, strict=True) if isinstance(ours, tuple) else [(ours, wanted)]
        assert all(equal(got, want) for got, want in pairs), name
    with pytest.raises(np.linalg.LinAlgError, match="svd: SVD did not converge"):
        np.asarray(linalg.svd(xp.asarray(x)).S)
    with pytest.raises(np.linalg.LinAlgError, match="eigvals: Array must not contain infs or NaNs"):
        np.asarray(linalg.eigvals(xp.asarray(x)))


# ---------------------------------------------------------------------------------------------- errors

LINE, WIDE = xp.ones(3), xp.ones((2, 3))
ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    **{f"{name} of a vector": (lambda name=name: getattr(linalg, name)(LINE), ShapeError,
                               rf"{name}: expected matrices \(\.\.\., M, N\), got shape \(3,\)")
       for name in ("svd", "svdvals", "qr", "pinv", "diagonal", "trace")},
    **{f"{name} of a wide matrix": (lambda name=name: getattr(linalg, name)(WIDE), ShapeError,
                                    rf"{name}: expected square matrices \(\.\.\., M, M\), got shape \(2, 3\)")
       for name in ("det", "inv", "slogdet", "cholesky", "eig", "eigh", "eigvals", "eigvalsh")},
    "matrix_power of a wide matrix": (
        lambda: linalg.matrix_power(WIDE, 2), ShapeError, r"matrix_power: expected square .* got shape \(2, 3\)"),
    "matrix_power by a float": (
        lambda: linalg.matrix_power(xp.eye(2), 1.5), TypeError,  # pyright: ignore[reportArgumentType]
        "matrix_power: expected an integer for n, got 1.5"),
    "solve of a wide matrix": (
        lambda: linalg.solve(WIDE, LINE), ShapeError,
        r"solve: expected \(\.\.\., M, M\) and .* got \(2, 3\) and \(3,\)"),
    "solve of another length": (
        lambda: linalg.solve(xp.eye(2), LINE), ShapeError, r"solve: expected .* got \(2, 2\) and \(3,\)"),
    "solve of other batches": (
        lambda: linalg.solve(xp.ones((2, 2, 2)), xp.ones((3, 2, 1))), ShapeError, "solve: .* cannot be broadcast"),
    "cross of two components": (
        lambda: linalg.cross(xp.ones(2), xp.ones(2)), ShapeError, "cross: expected 3 elements along axis -1"),
    "cross along no axis": (
        lambda: linalg.cross(LINE, LINE, axis=1), AxisError, "cross: axis 1 is out of bounds for an array of 1 axes"),
    "cross of a number": (
        lambda: linalg.cross(xp.asarray(1.0), LINE), AxisError,
        "cross: axis -1 is out of bounds for an array of 0 axes"),
    "cross of bool": (
        lambda: linalg.cross(LINE > 0, LINE > 0), DTypeError, "cross: expected a numeric dtype, got bool"),
    "outer of a matrix": (
        lambda: linalg.outer(LINE, WIDE), ShapeError, r"outer: expected two vectors, got shapes \(3,\) and \(2, 3\)"),
    "qr in an unknown mode": (
        lambda: linalg.qr(WIDE, mode="bogus"), ValueError,  # pyright: ignore[reportArgumentType]
        "qr: expected mode \"reduced\", \"complete\", \"r\" or \"raw\", got 'bogus'"),
    "matrix_norm of an unknown order": (
        lambda: linalg.matrix_norm(WIDE, ord=3), ValueError, "matrix_norm: expected ord to be 'fro', .* got 3"),
    "vector_norm of a word": (
        lambda: linalg.vector_norm(WIDE, ord="fro"), ValueError,  # pyright: ignore[reportArgumentType]
        "vector_norm: expected a number for ord, got 'fro'"),
    "vector_norm along no axis": (
        lambda: linalg.vector_norm(WIDE, axis=2), AxisError, "vector_norm: axis 2 is out of bounds"),
    "vector_norm along an axis twice": (
        lambda: linalg.vector_norm(WIDE, axis=(0, -2)), AxisError, "vector_norm: every axis may be named once"),
    "smallest of no elements": (
        lambda: linalg.vector_norm(xp.zeros(0), ord=-np.inf), ShapeError, "ord=-inf is the smallest of some sizes"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# ---------------------------------------------------------------------------------------------- jit, both executors

X, Y = matrices("float64", (2, 3, 3)), matrices("complex128", (3, 3))
EVERY: dict[str, Callable[[xp.Array], Any]] = {
    name: getattr(linalg, name)
    for name in (
        "det diagonal eig eigvals inv matrix_norm matrix_rank matrix_transpose pinv qr slogdet svd svdvals trace "
        "vector_norm cond norm"
    ).split()
} | {
    "cholesky": lambda x: linalg.cholesky(x @ xp.conj(x.mT) + xp.eye(3), upper=True),
    "cross": lambda x: linalg.cross(x, x + 1),
    "eigh": lambda x: linalg.eigh(x + xp.conj(x.mT)),
    "eigvalsh": lambda x: linalg.eigvalsh(x + xp.conj(x.mT)),
    "matmul": lambda x: linalg.matmul(x, x),
    "multi_dot": lambda x: linalg.multi_dot([x[..., 0].reshape((-1,)), x[..., 1].reshape((-1, 1)), xp.ones((1, 2))]),
    "matrix_power": lambda x: linalg.matrix_power(x, -3),
    "outer": lambda x: linalg.outer(x[..., 0, 0:1].reshape((-1,)), x[..., 1].reshape((-1,))),
    "solve": lambda x: linalg.solve(x, x + 1),
    "tensordot": lambda x: linalg.tensordot(x, x, axes=x.ndim),
    "tensorinv": lambda x: linalg.tensorinv((x[0] if x.ndim == 3 else x).reshape((3, 1, 3)), ind=1),
    "tensorsolve": lambda x: linalg.tensorsolve((x[0] if x.ndim == 3 else x).reshape((3, 1, 3)), xp.ones((3, 1))),
    "vecdot": lambda x: linalg.vecdot(x, x),
}  # fmt: skip


def test_the_table_has_every_function() -> None:
    assert set(EVERY) == {name for name in linalg.__all__ if not name.endswith("Result")} - {"lstsq"}  # NumPy's


@pytest.mark.parametrize("x", [X, Y], ids=["real", "complex"])
@pytest.mark.parametrize("f", EVERY.values(), ids=EVERY.keys())
def test_executors_and_jit_agree(f: Callable[[xp.Array], Any], x: Matrices) -> None:
    def around(t: xp.Array) -> Any:
        out = f(t * 2)
        return [part + 1 for part in out] if isinstance(out, tuple) else [out + 1]

    with context(tier="interpret"):
        wanted = [np.asarray(part) for part in around(xp.asarray(x))]
    with context(tier="compile"):
        for got in (around(xp.asarray(x)), xp.jit(around)(xp.asarray(x))):
            for part, want in zip(got, wanted, strict=True):
                near(part, want)
