"""Derivatives of the decompositions and solvers: against central differences, forward against reverse, second order.

Eigenvectors and singular vectors are free in sign or phase, so what is differentiated does not depend on it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import uopc_array as xp
from tests.support.derivatives import (
    Function,
    check_batching,
    check_first_order,
    check_forward_against_reverse,
    check_second_order,
)
from uopc_core.errors import GradientError

linalg = xp.linalg


def general(*shape: int, seed: int = 0, dtype: str = "float64") -> Any:
    """Matrices whose singular values are apart: random, with a growing diagonal."""
    random = np.random.default_rng([seed, *shape])
    x = random.normal(size=shape) * 0.4
    if dtype == "complex128":
        x = x + 0.4j * random.normal(size=shape)
    return x + np.eye(shape[-2], shape[-1]) * np.arange(1, shape[-1] + 1) if len(shape) > 1 else x


SQUARE, BATCH, WIDE, TALL = general(3, 3), general(2, 3, 3), general(2, 4), general(4, 2)
WIDE_BATCH, TALL_BATCH = general(2, 2, 3), general(2, 3, 2)
VECTOR, RIGHT = general(3), general(3, 2, seed=1)
SINGULAR = np.asarray([[1.0, 2.0, 3.0], [2.0, -1.0, 0.5], [3.0, 1.0, 3.5]])
RANK_ONE = np.outer([1.0, -2.0, 0.5], [2.0, 1.0, 1.0])
Z, Z_BATCH, Z_WIDE, Z_TALL = (general(*shape, dtype="complex128") for shape in ((3, 3), (2, 3, 3), (2, 3), (3, 2)))
Z_RIGHT = general(3, 2, seed=1, dtype="complex128")


def adjoint(x: xp.Array) -> xp.Array:
    return xp.conj(xp.matrix_transpose(x))


def positive(x: xp.Array) -> xp.Array:
    """A positive-definite matrix made of any."""
    return x @ adjoint(x) + xp.eye(x.shape[-1])


def hermitian(x: xp.Array) -> xp.Array:
    return x + adjoint(x)


def of_eigh(x: xp.Array) -> xp.Array:
    """The matrix sine, by eigenvectors."""
    values, vectors = linalg.eigh(hermitian(x))
    return (vectors * xp.expand_dims(xp.sin(values), -2)) @ adjoint(vectors)


def of_svd(x: xp.Array) -> xp.Array:
    u, s, vh = linalg.svd(x, full_matrices=False)
    return (u * xp.expand_dims(s**3, -2)) @ vh


def of_eig(x: xp.Array) -> xp.Array:
    """The matrix sine, by eigenvectors that are not orthogonal."""
    values, vectors = linalg.eig(x)
    return (vectors * xp.expand_dims(xp.sin(values), -2)) @ linalg.inv(vectors)


def of_complete_qr(x: xp.Array) -> xp.Array:
    q, r = linalg.qr(x, mode="complete")
    return q @ (r * r)


def of_slogdet(x: xp.Array) -> xp.Array:
    sign, logarithm = linalg.slogdet(x)
    return sign * logarithm


class Case(NamedTuple):
    f: Function
    arrays: tuple[Any, ...]


ANY_MATRIX: dict[str, Function] = {
    "svdvals": linalg.svdvals,
    "svd": of_svd,
    "size of U": lambda x: xp.abs(linalg.svd(x, full_matrices=False).U) ** 2,
    "size of Vh": lambda x: xp.abs(linalg.svd(x, full_matrices=False).Vh) ** 2,
    "Q": lambda x: linalg.qr(x).Q,
    "R": lambda x: linalg.qr(x).R,
    "Q R": lambda x: linalg.qr(x).Q @ (linalg.qr(x).R ** 2),
    "pinv": linalg.pinv,
    "matrix_norm": linalg.matrix_norm,
    "matrix_norm nuc": lambda x: linalg.matrix_norm(x, ord="nuc"),
    "matrix_norm 2": lambda x: linalg.matrix_norm(x, ord=2),
    "matrix_norm -2": lambda x: linalg.matrix_norm(x, ord=-2, keepdims=True),
    "matrix_norm 1": lambda x: linalg.matrix_norm(x, ord=1),
    "matrix_norm -inf": lambda x: linalg.matrix_norm(x, ord=-np.inf),
    "vector_norm": lambda x: linalg.vector_norm(x, axis=-1),
    "vector_norm 1": lambda x: linalg.vector_norm(x, axis=0, ord=1),
    "vector_norm 3": lambda x: linalg.vector_norm(x, ord=3, keepdims=True),
    "vector_norm inf": lambda x: linalg.vector_norm(x, axis=(-2, -1), ord=np.inf),
    "vector_norm -1": lambda x: linalg.vector_norm(x, axis=-1, ord=-1),
    "norm": linalg.norm,
    "norm 1": lambda x: linalg.norm(x, 1, axis=(-1, -2)),
    "norm of columns": lambda x: linalg.norm(x, 3, axis=-2, keepdims=True),
    "cond": linalg.cond,
    "cond -2": lambda x: linalg.cond(x, -2),
    "R alone": lambda x: linalg.qr(x, mode="r"),
    "svd without vectors": lambda x: linalg.svd(x, compute_uv=False),
    "trace": lambda x: linalg.trace(x, offset=-1),
    "diagonal": lambda x: linalg.diagonal(x, offset=1),
    "matrix_transpose": linalg.matrix_transpose,
}  # fmt: skip
SQUARE_MATRIX: dict[str, Function] = {
    "det": linalg.det,
    "inv": linalg.inv,
    "slogdet": of_slogdet,
    "cholesky": lambda x: linalg.cholesky(positive(x)),
    "cholesky upper": lambda x: linalg.cholesky(positive(x), upper=True),
    "eigvalsh": lambda x: linalg.eigvalsh(hermitian(x)),
    "eigh": of_eigh,
    "size of eigh's vectors": lambda x: xp.abs(linalg.eigh(hermitian(x)).eigenvectors) ** 2,
    "eigvals": linalg.eigvals,
    "eig": of_eig,
    "size of eig's vectors": lambda x: xp.abs(linalg.eig(x).eigenvectors) ** 2,
    "matrix_power": lambda x: linalg.matrix_power(x, 3),
    "matrix_power negative": lambda x: linalg.matrix_power(x, -2),
    "complete QR": of_complete_qr,
    "eigvalsh of the upper triangle": lambda x: linalg.eigvalsh(hermitian(x), UPLO="U"),
    "full SVD": lambda x: linalg.svd(x).U @ linalg.svd(x).Vh,
}  # fmt: skip

REAL: dict[str, Case] = {
    **{f"{name} {which}": Case(f, (x,)) for which, x in (
        ("square", SQUARE), ("wide", WIDE), ("tall", TALL), ("wide batch", WIDE_BATCH), ("tall batch", TALL_BATCH)
    ) for name, f in ANY_MATRIX.items()},
    **{f"{name} {which}": Case(f, (x,)) for which, x in (("one", SQUARE), ("batch", BATCH)) for name, f in
       SQUARE_MATRIX.items()},
    "complete QR wide": Case(of_complete_qr, (WIDE,)),
    "solve": Case(linalg.solve, (SQUARE, RIGHT)),
    "solve vector": Case(linalg.solve, (SQUARE, VECTOR)),
    "solve vector for a batch": Case(linalg.solve, (BATCH, VECTOR)),
    "solve a batch": Case(linalg.solve, (BATCH[:, None], np.stack([RIGHT, -RIGHT]))),
    "solve one matrix for a batch": Case(linalg.solve, (SQUARE, np.stack([RIGHT, RIGHT * 2]))),
    "det singular": Case(linalg.det, (SINGULAR,)),
    "det of rank one": Case(linalg.det, (RANK_ONE,)),
    "det of zeros": Case(linalg.det, (np.zeros((2, 2)),)),
    "det of zeros 3": Case(linalg.det, (np.zeros((3, 3)),)),
    "det some singular": Case(linalg.det, (np.stack([SINGULAR, SQUARE, RANK_ONE]),)),
    "pinv of lower rank": Case(lambda x, y: linalg.pinv(x @ y, rtol=1e-8), (SQUARE[:, :2], WIDE)),
    "pinv of rank one": Case(lambda x, y: linalg.pinv(x @ y, rtol=1e-8), (SQUARE[:, :1], WIDE[:1])),
    **{f"matrix_norm {ord} one": Case(lambda x, ord=ord: linalg.matrix_norm(x, ord=ord), (SQUARE,))
       for ord in (-1, np.inf, -2)},
    **{f"vector_norm {ord} one": Case(lambda x, ord=ord: linalg.vector_norm(x, ord=ord, axis=-2), (SQUARE,))
       for ord in (0.5, 0, 2.5, -2, -np.inf)},
    **{f"matrix_power {n}": Case(lambda x, n=n: linalg.matrix_power(x, n) * x, (SQUARE,)) for n in (-1, 0, 1, 7)},
    "cross": Case(linalg.cross, (BATCH[0], VECTOR)),
    "cross broadcast": Case(linalg.cross, (BATCH[:, :1], SQUARE)),
    "cross axis -2": Case(lambda x, y: linalg.cross(x, y, axis=-2), (BATCH, SQUARE)),
    "trace of a batch": Case(lambda x: linalg.trace(x * x, offset=9), (BATCH,)),
    "cross axis 0": Case(lambda x, y: linalg.cross(x, y, axis=0), (SQUARE, general(3, 3, seed=2))),
    "outer": Case(linalg.outer, (VECTOR, RIGHT[:, 0])),
    "tensordot": Case(linalg.tensordot, (SQUARE, BATCH[1])),
    "vecdot": Case(linalg.vecdot, (SQUARE, VECTOR)),
    "matmul": Case(linalg.matmul, (BATCH, RIGHT)),
    "multi_dot": Case(lambda *x: linalg.multi_dot(x), (VECTOR, SQUARE, RIGHT, RIGHT.T)),
    "tensorsolve": Case(linalg.tensorsolve, (general(6, 6).reshape(2, 3, 6), general(2, 3))),
    "tensorinv": Case(lambda x: linalg.tensorinv(x, ind=1), (general(4, 4).reshape(4, 2, 2),)),
}  # fmt: skip

COMPLEX: dict[str, Case] = {
    **{f"{name} {which}": Case(f, (z,)) for which, z in (("square", Z), ("wide", Z_WIDE), ("tall", Z_TALL))
       for name, f in ANY_MATRIX.items()},
    **{f"{name} {which}": Case(f, (z,)) for which, z in (("one", Z), ("batch", Z_BATCH)) for name, f in
       SQUARE_MATRIX.items()},
    "solve": Case(linalg.solve, (Z, Z_RIGHT)),
    "solve a batch": Case(linalg.solve, (Z_BATCH, Z_RIGHT)),
    "solve real for complex": Case(linalg.solve, (SQUARE, Z_RIGHT)),
    "solve complex for real": Case(linalg.solve, (Z, VECTOR)),
    "pinv of lower rank": Case(lambda x, y: linalg.pinv(x @ y, rtol=1e-8), (Z[:, :2], Z_WIDE)),
    "det singular": Case(linalg.det, (SINGULAR * (1 + 2j),)),
    "det of rank one": Case(linalg.det, (np.outer([1.0, 2j, 0.5], [2 - 1j, 1.0, 1j]),)),
    "cross": Case(linalg.cross, (Z, Z_RIGHT[:, 0])),
    "outer": Case(linalg.outer, (Z[0], Z_RIGHT[:, 0])),
    "vecdot": Case(linalg.vecdot, (Z, Z_RIGHT[:, 0])),
}  # fmt: skip
BOTH = {**REAL, **{f"complex {name}": case for name, case in COMPLEX.items()}}


def table(cases: dict[str, Case]) -> Callable[[Any], Any]:
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


@table(BOTH)
def test_a_derivative_agrees_with_central_differences(case: Case) -> None:
    check_first_order(case.f, *case.arrays)


@table(BOTH)
def test_forward_and_reverse_agree(case: Case) -> None:
    check_forward_against_reverse(case.f, *case.arrays)


@table(REAL)
def test_a_second_derivative_agrees_with_central_differences(case: Case) -> None:
    check_second_order(case.f, *case.arrays)


@table(REAL)
def test_a_batched_function_agrees_with_a_loop(case: Case) -> None:
    check_batching(case.f, *case.arrays)


SAME_FOR_ANY_BASIS: dict[str, tuple[Function, Any, Any]] = {
    "squares of eigvalsh": (lambda x: xp.sum(linalg.eigvalsh(x) ** 2), np.eye(3), 2 * np.eye(3)),
    "squares of eigh": (lambda x: xp.sum(linalg.eigh(x).eigenvalues ** 2), np.eye(3), 2 * np.eye(3)),
    "squares of svdvals": (lambda x: xp.sum(linalg.svdvals(x) ** 2), np.eye(3), 2 * np.eye(3)),
    "matrix_norm nuc": (lambda x: linalg.matrix_norm(x, ord="nuc"), np.eye(3), np.eye(3)),
    "matrix_norm fro of zeros": (linalg.matrix_norm, np.zeros((2, 2)), np.zeros((2, 2))),
    "vector_norm of zeros": (linalg.vector_norm, np.zeros(3), np.zeros(3)),
    "det": (linalg.det, np.asarray([[2.0, -1.0], [-4.0, 2.0]]), np.asarray([[2.0, 4.0], [1.0, 2.0]])),
    "squares of wide QR": (
        lambda x: xp.sum((linalg.qr(x).Q @ linalg.qr(x).R) ** 2),
        np.asarray([[1.0, 2.0, 3.0], [-1.0, 0.5, 4.0]]),
        np.asarray([[2.0, 4.0, 6.0], [-2.0, 1.0, 8.0]]),
    ),
    "squares of eigvals": (
        lambda x: xp.real(xp.sum(linalg.eigvals(x) ** 2)), np.eye(3), 2 * np.eye(3)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wanted"), SAME_FOR_ANY_BASIS.values(), ids=SAME_FOR_ANY_BASIS.keys())
def test_what_does_not_depend_on_the_basis_is_differentiated_where_values_repeat(
    f: Function, x: Any, wanted: Any
) -> None:
    np.testing.assert_allclose(np.asarray(xp.grad(f)(xp.asarray(x))), wanted, rtol=1e-9, atol=1e-9)


def turned(values: list[float]) -> Any:
    """A matrix with these eigenvalues: repeated ones are no longer equal to the last digit."""
    q = np.linalg.qr(general(len(values), len(values)))[0]
    return q * values @ q.T


DIAGONAL, TURNED = np.diag([2.0, 2.0, 1.0]), turned([2.0, 2.0, 1.0])
OF_A_BASIS: dict[str, Function] = {
    "function by eigh": of_eigh,
    "function by svd": of_svd,
    "function by eig": lambda x: xp.real(of_eig(x)),
    "polar factor": lambda x: linalg.svd(x).U @ linalg.svd(x).Vh,
    "vectors": lambda x: linalg.eigh(x).eigenvectors,
    "second derivative of values": xp.grad(lambda x: xp.sum(linalg.eigvalsh(x) ** 2)),
}


@pytest.mark.parametrize("x", [DIAGONAL, TURNED], ids=["equal", "equal but for rounding"])
@pytest.mark.parametrize("f", OF_A_BASIS.values(), ids=OF_A_BASIS.keys())
def test_a_turn_within_a_space_of_equal_values_is_not_known(f: Function, x: Any) -> None:
    for got in (
        xp.grad(lambda x: xp.sum(f(x) * xp.asarray(SQUARE)))(xp.asarray(x)),
        xp.jvp(f, (xp.asarray(x),), (xp.asarray(SQUARE),))[1],
    ):
        assert not np.isfinite(np.asarray(got)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_rounding_makes_no_slope_of_a_turn_that_is_not_known(n: int, dtype: str) -> None:
    """Whatever the matrix that has two equal values was made of, and for second derivatives as for first ones."""
    rng = np.random.default_rng([n, 5])
    for trial in range(12):
        values = rng.integers(1, 4, n).astype(float)
        values[:2] = values[0] if trial % 2 else 3.0
        left, right = (np.linalg.qr(general(n, n, seed=2 * trial + k, dtype=dtype))[0] for k in range(2))
        weights = xp.asarray(rng.normal(size=(n, n)))
        for f, x in (
            (of_eigh, (left * values) @ left.conj().T),
            (OF_A_BASIS["polar factor"], (left * values) @ right),
            (lambda x: xp.jvp(linalg.svdvals, (x,), (weights + x,))[1], (left * values) @ right),
        ):
            given = xp.asarray(x.astype(dtype))
            loss = lambda t, f=f: xp.sum(xp.real(f(t)) ** 2 * weights[: f(t).shape[-1]])  # noqa: E731
            assert np.isnan(np.asarray(xp.grad(loss)(given))).any()
            assert np.isnan(np.asarray(xp.jvp(f, (given,), (xp.ones_like(given) * weights,))[1])).any()


@pytest.mark.parametrize("f", [hermitian, linalg.inv, linalg.pinv, linalg.matrix_norm])
def test_what_asks_for_no_turn_is_differentiated_where_values_repeat(f: Function) -> None:
    check_first_order(f, DIAGONAL)
    check_forward_against_reverse(f, DIAGONAL)


@pytest.mark.parametrize("x", [np.diag([1.0, 2.0, 2.0]), turned([1.0, 2.0, 2.0])], ids=["diagonal", "turned"])
def test_a_vector_beside_a_space_of_equal_values_is_differentiated(x: Any) -> None:
    """`eigh` sorts upwards, the singular values go downwards: the lone one is first and last."""
    for f in (
        lambda x: linalg.eigh(hermitian(x)).eigenvectors[:, 0] ** 2,
        lambda x: linalg.svd(x).U[:, 2] * linalg.svd(x).Vh[2, 1],
        lambda x: linalg.eigh(hermitian(x)).eigenvectors[:, :1] @ linalg.eigh(hermitian(x)).eigenvectors[:, :1].T,
    ):
        check_first_order(f, x)
        check_forward_against_reverse(f, x)


def defective(n: int, turn: int) -> Any:
    """A matrix with a Jordan block of order `n`; triangular, or turned, so that rounding parts the eigenvalues."""
    x = np.eye(n + 1) * 2 + np.eye(n + 1, k=1)
    x[n - 1, n] = 0
    x[n, n] = 5
    q = np.linalg.qr(general(n + 1, n + 1, seed=turn))[0] if turn else np.eye(n + 1)
    return q @ x @ q.T


@pytest.mark.parametrize("turn", range(6))
@pytest.mark.parametrize("n", [2, 3, 4])
def test_eigenvalues_of_a_defective_matrix_have_their_slopes_or_nan(n: int, turn: int) -> None:
    """The sum of their powers has a gradient, ``k * (A.T)**(k - 1)``, but each moves without bound."""
    x = defective(n, turn)
    for k in (2, 3):
        f = lambda a, k=k: xp.real(xp.sum(linalg.eigvals(a) ** k))  # noqa: E731
        got, wanted = np.asarray(xp.grad(f)(xp.asarray(x))), k * np.linalg.matrix_power(x.T, k - 1)
        along = xp.jvp(f, (xp.asarray(x),), (xp.asarray(SQUARE[0, 0] + x),))[1]
        assert np.isnan(got).any() or np.allclose(got, wanted, rtol=1e-2, atol=1e-2 * np.abs(wanted).max())
        assert np.isnan(got).any() == np.isnan(float(along))
        second = np.asarray(xp.grad(lambda a, f=f: xp.sum(xp.grad(f)(a) * x))(xp.asarray(x)))
        exact = np.asarray(xp.grad(lambda a, k=k: xp.sum(k * linalg.matrix_power(a.T, k - 1) * x))(xp.asarray(x)))
        assert np.isnan(second).any() or np.allclose(second, exact, rtol=0.1, atol=0.1 * np.abs(exact).max())


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("x", [np.zeros((2, 2)), np.ones((2, 2)), SINGULAR * 0 + 1, np.diag([1.0, 0.0])], ids=repr)
def test_slogdet_of_a_singular_matrix_has_the_slope_nan(x: Any, dtype: str) -> None:
    """In both modes and in second derivatives, and not where a selection leaves the matrix out."""
    a, w = xp.asarray(x.astype(dtype)), xp.asarray(general(*x.shape, dtype=dtype).astype(dtype))
    f = lambda a: linalg.slogdet(a).logabsdet  # noqa: E731
    assert np.isnan(np.asarray(xp.grad(f)(a))).all()
    assert np.isnan(float(xp.jvp(f, (a,), (w,))[1]))
    assert np.isnan(np.asarray(xp.grad(lambda a: xp.jvp(f, (a,), (w,))[1])(a))).any()

    def chosen(a: Any) -> Any:
        sign, size = linalg.slogdet(xp.stack([a, a + w]))
        return xp.sum(xp.where(sign != 0, size, 0.0))

    alone = xp.grad(lambda a: f(a + w))(a)
    np.testing.assert_allclose(np.asarray(xp.grad(chosen)(a)), np.asarray(alone), rtol=1e-5)


OF_LOWER_RANK = {
    "equal columns": np.ones((3, 2)),
    "zero column": np.asarray([[1.0, 0.0, 2.0], [3.0, 0.0, 1.0], [1.0, 0.0, 1.0]]),
    "sum of the others": np.column_stack([TALL[:, 0], TALL[:, 1], TALL[:, 0] + TALL[:, 1]]),
    "all zero": np.zeros((2, 2)),
}


@pytest.mark.parametrize("part", ["Q", "R"])
@pytest.mark.parametrize("x", OF_LOWER_RANK.values(), ids=OF_LOWER_RANK.keys())
def test_qr_of_a_matrix_of_lower_rank_has_no_derivative(x: Any, part: str) -> None:
    """Rounding makes a small number of the 0 on the diagonal, from which a slope like any other would come."""
    f = lambda x: getattr(linalg.qr(x), part)  # noqa: E731
    w = general(*np.shape(f(x)), seed=5)
    assert np.isnan(np.asarray(xp.grad(lambda x: xp.sum(f(x) * xp.asarray(w)))(xp.asarray(x)))).any()
    assert np.isnan(np.asarray(xp.jvp(f, (xp.asarray(x),), (xp.ones(x.shape),))[1])).any()


def test_qr_of_columns_of_any_length_has_one() -> None:
    x = general(4, 3, seed=6) * np.asarray([1.0, 1e-150, 1e150])
    batch = np.stack([x, np.ones((4, 3))])
    for part in ("Q", "R"):
        slopes = np.asarray(xp.grad(lambda x: xp.sum(getattr(linalg.qr(x), part)))(xp.asarray(batch)))
        assert np.isfinite(slopes[0]).all()
        assert np.isnan(slopes[1]).any()


def test_svd_of_a_matrix_of_lower_rank() -> None:
    """One singular value of 0 leaves the bases of a square matrix known; two do not."""
    f = lambda x: linalg.svd(x).U @ linalg.svd(x).Vh  # noqa: E731
    check_forward_against_reverse(f, np.diag([2.0, 1.0, 0.0]))
    assert np.isnan(np.asarray(xp.grad(lambda x: xp.sum(f(x) * xp.asarray(SQUARE)))(xp.asarray(RANK_ONE)))).all()


@pytest.mark.parametrize("x", [SQUARE, np.eye(3), 2 * np.eye(2)], ids=["any", "identity", "twice the identity"])
def test_the_third_derivative_of_a_determinant(x: Any) -> None:
    """That of ``det(x + t w)`` by t is that of a polynomial."""
    w = general(*x.shape, seed=3)
    along = xp.grad(xp.grad(xp.grad(lambda t: linalg.det(xp.asarray(x) + t * xp.asarray(w)))))
    polynomial = np.polynomial.Polynomial.fit(np.arange(5.0), [np.linalg.det(x + t * w) for t in range(5)], 4)
    np.testing.assert_allclose(float(along(xp.asarray(0.5))), polynomial.deriv(3)(0.5), rtol=1e-7, atol=1e-9)


ARBITRARY: dict[str, tuple[Function, Any, str]] = {
    "U": (lambda x: linalg.svd(x).U, TALL, "svd: with full_matrices=True .* pass full_matrices=False"),
    "Vh": (lambda x: linalg.svd(x).Vh, WIDE, "svd: with full_matrices=True .* pass full_matrices=False"),
    "Q": (lambda x: linalg.qr(x, mode="complete").Q, TALL, 'qr: with mode="complete" .* pass mode="reduced"'),
}


@pytest.mark.parametrize(("f", "x", "message"), ARBITRARY.values(), ids=ARBITRARY.keys())
def test_an_arbitrary_basis_has_no_derivative(f: Function, x: Any, message: str) -> None:
    with pytest.raises(GradientError, match=message):
        xp.grad(lambda x: xp.sum(f(x)))(xp.asarray(x))
    with pytest.raises(GradientError, match=message):
        np.asarray(xp.jvp(f, (xp.asarray(x),), (xp.asarray(x),))[1])


BESIDE: dict[str, tuple[Function, Any]] = {
    "S wide": (lambda x: linalg.svd(x).S, WIDE),
    "S tall": (lambda x: linalg.svd(x).S, TALL),
    "R tall": (lambda x: linalg.qr(x, mode="complete").R, TALL),
}


@pytest.mark.parametrize(("f", "x"), BESIDE.values(), ids=BESIDE.keys())
def test_what_stands_beside_an_arbitrary_basis_has_a_derivative(f: Function, x: Any) -> None:
    check_first_order(f, x)
    check_forward_against_reverse(f, x)
    check_second_order(f, x)


def test_the_gradient_of_a_triangle_read_alone_is_spread_over_both() -> None:
    """`cholesky` and `eigh` read the lower triangle of a matrix that is Hermitian; their gradient is Hermitian too."""
    x = xp.asarray(SQUARE @ SQUARE.T)
    for f in (linalg.cholesky, linalg.eigvalsh):
        got = np.asarray(xp.grad(lambda t, f=f: xp.sum(f(t) ** 3))(x))
        np.testing.assert_allclose(got, got.T, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", ["inv", "det", "pinv", "svdvals", "eigvals"])
def test_gradients_keep_single_precision(name: str, dtype: str) -> None:
    x = xp.asarray(SQUARE.astype(dtype))
    got = xp.grad(lambda t: xp.sum(xp.real(getattr(linalg, name)(t))))(x)
    wanted = xp.grad(lambda t: xp.sum(xp.real(getattr(linalg, name)(t))))(xp.astype(x, xp.result_type(x, xp.float64)))
    assert got.dtype == x.dtype
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-3, atol=1e-3)
