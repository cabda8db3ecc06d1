"""Products against NumPy: shapes of every kind, dtypes, einsum, and gradients that are products again."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL, NUMERIC, check, values

MATMULS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((2, 0), (0, 4)), ((0, 3), (3, 2)), ((0,), (0,)),
    ((1, 1), (1, 1)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), MATMULS, ids=str)
@pytest.mark.parametrize("dtype", ALL)
def test_matmul_agrees_with_numpy(dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = values(dtype, left), values(dtype, right, seed=1)
    check(xp.matmul(xp.asarray(x), xp.asarray(y)), np.matmul(x, y), ulps=4, atol=_rounding(x, y))
    check(xp.asarray(x) @ xp.asarray(y), np.matmul(x, y), ulps=4, atol=_rounding(x, y))


def _rounding(x: Any, y: Any) -> float:
    return float(np.finfo(x.dtype).eps * 1000) if x.dtype.kind in "fc" and x.size and y.size else 0.0


def test_matmul_promotes() -> None:
    x, y = values("int8", (2, 3)), values("float32", (3, 2))
    check(xp.matmul(xp.asarray(x), xp.asarray(y)), np.matmul(x, y), atol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_infinities_of_a_small_real_times_a_complex_matrix_count_as_in_their_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, k, n = rng.integers(1, 6, 3)
    real, other = rng.standard_normal((m, k)), rng.standard_normal((k, n)) + 1j * rng.standard_normal((k, n))
    real[rng.random((m, k)) < 0.3] = rng.choice([np.inf, -np.inf])
    x, z = xp.asarray(real), xp.asarray(other)
    for f in (xp.matmul, xp.jit(xp.matmul)):
        np.testing.assert_array_equal(np.asarray(f(x, z)), np.asarray(xp.sum(x[:, :, None] * z[None], axis=1)))
        np.testing.assert_array_equal(np.asarray(f(z.T, x.T)), np.asarray(f(x, z)).T)
    assert np.asarray(xp.asarray([[np.inf, np.inf]]) @ xp.asarray([[1 + 1j], [1 + 1j]]))[0, 0] == complex("inf+infj")


def test_matmul_refuses_with_the_shapes_and_a_remedy() -> None:
    message = r"got x1 \(2, 3\) and x2 \(4, 3\) \(3 != 4\); if x2 holds its vectors as rows, pass x2.mT"
    with pytest.raises(ValueError, match=message):
        xp.matmul(xp.zeros((2, 3)), xp.zeros((4, 3)))
    with pytest.raises(ValueError, match="matmul: expected one axis or more"):
        xp.matmul(xp.asarray(1.0), xp.zeros(3))
    with pytest.raises(ValueError, match=r"matmul: shapes \(2,\) and \(3,\) cannot be broadcast"):
        xp.matmul(xp.zeros((2, 1, 1)), xp.zeros((3, 1, 1)))


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (4, 2, 3), (1, 1)], ids=str)
def test_matrix_transpose_agrees_with_numpy(shape: tuple[int, ...]) -> None:
    x = values("complex64", shape)
    check(xp.matrix_transpose(xp.asarray(x)), np.matrix_transpose(x))
    check(xp.asarray(x).mT, x.mT)


TENSORDOTS: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2,), (3,), 0), ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
    ((2, 3), (3, 2), ((0, 1), (1, 0))), ((2, 3, 4), (3,), ((-2,), (-1,))), ((), (), 0), ((2, 0), (0, 3), 1),
    ((3, 4), (4,), (1, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "axes"), TENSORDOTS, ids=str)
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_tensordot_agrees_with_numpy(dtype: str, left: tuple[int, ...], right: tuple[int, ...], axes: Any) -> None:
    x, y = values(dtype, left), values(dtype, right, seed=1)
    wanted = np.tensordot(x, y, axes=axes)
    check(xp.tensordot(xp.asarray(x), xp.asarray(y), axes=axes), wanted.astype(dtype), ulps=4, atol=_rounding(x, y))


def test_tensordot_refuses_wrong_axes() -> None:
    x, y = xp.zeros((2, 3)), xp.zeros((4, 5))
    with pytest.raises(ValueError, match=r"tensordot: paired axes must have equal extents, got x1 \(2, 3\) at \(1,\)"):
        xp.tensordot(x, y, axes=1)
    with pytest.raises(np.exceptions.AxisError, match="tensordot: axes=3 is out of range"):
        xp.tensordot(x, y, axes=3)
    with pytest.raises(ValueError, match="two sequences of equal length"):
        xp.tensordot(x, y, axes=((0, 1), (0,)))
    with pytest.raises(np.exceptions.AxisError, match="every axis may be named once"):
        xp.tensordot(x, x, axes=((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("left", "right", "axis"),
    [
        ((3,), (3,), -1),
        ((2, 3), (3,), -1),
        ((2, 1, 3), (4, 3), -1),
        ((3, 2), (3, 2), -2),
        ((3, 1), (3, 4), 0),
        ((0,), (0,), -1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", NUMERIC)
def test_vecdot_agrees_with_numpy(dtype: str, left: tuple[int, ...], right: tuple[int, ...], axis: int) -> None:
    x, y = values(dtype, left), values(dtype, right, seed=1)
    vecdot: Any = np.vecdot
    wanted = vecdot(x, y, axis=axis)
    check(xp.vecdot(xp.asarray(x), xp.asarray(y), axis=axis), wanted, ulps=4, atol=_rounding(x, y))


def test_vecdot_does_not_broadcast_the_vectors() -> None:
    with pytest.raises(ValueError, match=r"vecdot: the vectors must have one length.*\(3 != 1\)"):
        xp.vecdot(xp.zeros(3), xp.zeros(1))


EINSUMS: list[tuple[Any, ...]] = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)), ("ii->i", (4, 4)), ("ii", (4, 4)),
    ("iij->j", (3, 3, 2)), ("ij->ji", (2, 3)), ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("ij,ij->", (3, 4), (3, 4)), ("i,j->ij", (3,), (4,)), ("ij->", (2, 3)), ("bi,bj->bij", (2, 3), (2, 4)),
    ("i,i->i", (1,), (5,)), ("ijk,k->ij", (2, 3, 4), (4,)), ("a,b,c->", (2,), (3,), (4,)),
    ("ij,kj", (2, 3), (4, 3)), ("iii->i", (3, 3, 3)), ("ij,k->ik", (2, 3), (4,)), ("...i->...", (2, 3)),
    ("ijij->ij", (2, 3, 2, 3)), ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 6)), ("ij,jk->ik", (2, 0), (0, 3)),
    (",->", (), ()),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=str)
@pytest.mark.parametrize("dtype", ["int64", "float64", "complex64"])
def test_einsum_agrees_with_numpy(dtype: str, case: tuple[Any, ...]) -> None:
    subscripts, *shapes = case
    arrays = [values(dtype, shape, seed=i, low=-2, high=2) for i, shape in enumerate(shapes)]
    wanted = np.einsum(subscripts, *arrays)
    atol = 1e-3 if dtype == "complex64" else 1e-10 if dtype == "float64" else 0
    check(xp.einsum(subscripts, *map(xp.asarray, arrays)), wanted, atol=atol)
    check(xp.einsum(subscripts, *map(xp.asarray, arrays), optimize=False), wanted, atol=atol)


def test_einsum_takes_lists_of_axes_and_refuses_two_extents() -> None:
    x, y = values("float64", (2, 3)), values("float64", (3, 4))
    check(xp.einsum(xp.asarray(x), [0, 1], xp.asarray(y), [1, 2], [0, 2]), x @ y, atol=1e-12)
    with pytest.raises(ValueError, match="einsum: letter 'j' has extents 3 and 4"):
        xp.einsum("ij,jk->ik", xp.zeros((2, 3)), xp.zeros((4, 2)))


def test_gradients_of_products_are_products() -> None:
    x, y = values("float64", (3, 4)), values("float64", (4, 2))
    dx = xp.grad(lambda t: xp.sum(xp.matmul(t, xp.asarray(y)) ** 2))(xp.asarray(x))
    check(dx, 2 * (x @ y) @ y.T, atol=1e-10)
    dy = xp.grad(lambda t: xp.sum(xp.einsum("ij,jk->ik", xp.asarray(x), t) ** 2))(xp.asarray(y))
    check(dy, 2 * x.T @ (x @ y), atol=1e-10)
