"""What knows only the array API standard works on our arrays: array-api-compat, array-api-extra, code like theirs."""

from typing import Any

import array_api_compat
import array_api_extra
import numpy as np
import pytest

import uopc_array as xp

compat: Any = array_api_compat  # whose annotations ask for more than the standard does
xpx: Any = array_api_extra

VALUES = [3.0, 1.0, 2.0, 1.0]
MATRIX = [[0.0, 1.0, 2.0], [4.0, 3.0, 5.0]]


def test_array_namespace_is_ours():
    x = xp.asarray(VALUES)
    assert compat.array_namespace(x) is xp
    assert compat.array_namespace(x, xp.asarray(MATRIX), 1.0) is xp
    assert compat.is_array_api_obj(x)
    assert compat.size(x) == 4
    assert compat.to_device(x, compat.device(x)).device == x.device


def test_array_api_compat_takes_the_array_for_no_library_it_knows():
    x = xp.asarray(VALUES)
    of_arrays = [name for name in dir(compat) if name.startswith("is_") and name.endswith("_array")]
    of_namespaces = [name for name in dir(compat) if name.startswith("is_") and name.endswith("_namespace")]
    assert [name for name in of_arrays if getattr(compat, name)(x)] == ["is_writeable_array"]
    assert [name for name in of_namespaces if getattr(compat, name)(xp)] == []


def test_code_without_isinstance():
    def standardize(x):
        ns = x.__array_namespace__()
        centred = x - ns.mean(x, axis=0, keepdims=True)
        deviation = ns.std(x, axis=0, keepdims=True)
        return ns.where(deviation == 0, ns.zeros_like(centred), centred / deviation)

    x = np.array([[1.0, 2.0, 7.0], [3.0, 2.0, 5.0], [8.0, 2.0, 0.0]])
    result = standardize(xp.asarray(x))
    assert result.__array_namespace__(api_version="2025.12") is xp
    np.testing.assert_allclose(np.asarray(result), standardize(x))


@pytest.mark.parametrize(("name", "symbol"), [("add", "+"), ("subtract", "-"), ("multiply", "*"), ("divide", "/")])
def test_at_arithmetic(name, symbol):
    x = np.array(VALUES)
    want = x.copy()
    want[1:3] = eval(f"want[1:3] {symbol} 4.0")
    ours = xp.asarray(x)
    result = getattr(xpx.at(ours)[1:3], name)(4.0, copy=True)
    np.testing.assert_array_equal(np.asarray(result), want)
    np.testing.assert_array_equal(np.asarray(ours), x)


def test_at_set_min_max_power():
    x = xp.asarray(VALUES)
    assert xpx.at(x)[1].set(9.0, copy=True).tolist() == [3.0, 9.0, 2.0, 1.0]
    assert xpx.at(x)[x > 1].set(0.0, copy=True).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert xpx.at(x, 0).min(0.5, copy=True).tolist() == [0.5, 1.0, 2.0, 1.0]
    assert xpx.at(x)[...].max(2.0, copy=True).tolist() == [3.0, 2.0, 2.0, 2.0]
    assert xpx.at(x)[::2].power(2.0, copy=True).tolist() == [9.0, 1.0, 4.0, 1.0]
    assert xpx.at(x)[1].set(5.0, copy=False) is x
    assert x.tolist() == [3.0, 5.0, 2.0, 1.0]


# A function of array-api-extra on our arrays, and the same of NumPy.
CASES = {
    "angle": (lambda x, m: xpx.angle(xp.exp(1j * x)), lambda x, m: np.angle(np.exp(1j * x))),
    "argpartition": (lambda x, m: xp.take(x, xpx.argpartition(x, 1)), lambda x, m: np.sort(x)),
    "apply_where": (
        lambda x, m: xpx.apply_where(x > 1, (x, 2 * x), lambda a, b: a / b, lambda a, b: a - b),
        lambda x, m: np.where(x > 1, 0.5, -x),
    ),
    "cov": (lambda x, m: xpx.cov(m), lambda x, m: np.cov(m)),
    "create_diagonal": (lambda x, m: xpx.create_diagonal(x, offset=1), lambda x, m: np.diag(x, 1)),
    "deg2rad": (lambda x, m: xpx.deg2rad(x), lambda x, m: np.deg2rad(x)),
    "isclose": (lambda x, m: xpx.isclose(x, x + 1e-9), lambda x, m: np.isclose(x, x + 1e-9)),
    "isclose of nan": (
        lambda x, m: xpx.isclose(x / x * xp.nan, x * xp.nan, equal_nan=True),
        lambda x, m: np.ones(4, bool),
    ),
    "isin": (lambda x, m: xpx.isin(x, xp.asarray([1.0, 2.0])), lambda x, m: np.isin(x, [1.0, 2.0])),
    "kron": (lambda x, m: xpx.kron(m, m), lambda x, m: np.kron(m, m)),
    "nan_to_num": (lambda x, m: xpx.nan_to_num(xp.log(m - 1)), lambda x, m: np.nan_to_num(np.log(m - 1))),
    "nanmean": (lambda x, m: xpx.nanmean(xp.sqrt(m - 1)), lambda x, m: np.nanmean(np.sqrt(m - 1))),
    "nansum": (lambda x, m: xpx.nansum(xp.sqrt(m - 1)), lambda x, m: np.nansum(np.sqrt(m - 1))),
    "nunique": (lambda x, m: xpx.nunique(x), lambda x, m: np.array(3)),
    "one_hot": (lambda x, m: xpx.one_hot(xp.asarray([0, 2, 1]), 3), lambda x, m: np.eye(3)[[0, 2, 1]]),
    "pad": (
        lambda x, m: xpx.pad(m, ((1, 0), (0, 2)), constant_values=7.0),
        lambda x, m: np.pad(m, ((1, 0), (0, 2)), constant_values=7.0),
    ),
    "searchsorted": (
        lambda x, m: xpx.searchsorted(xp.asarray([1.0, 2.0, 3.0]), x),
        lambda x, m: np.searchsorted([1.0, 2.0, 3.0], x),
    ),
    "setdiff1d": (lambda x, m: xpx.setdiff1d(x, xp.asarray([1.0])), lambda x, m: np.setdiff1d(x, [1.0])),
    "sinc": (lambda x, m: xpx.sinc(x / 2), lambda x, m: np.sinc(x / 2)),
    "union1d": (lambda x, m: xpx.union1d(x, xp.asarray([7.0])), lambda x, m: np.union1d(x, [7.0])),
    "argpartition of an axis": (
        lambda x, m: xp.sort(xp.take_along_axis(m, xpx.argpartition(m, 1, axis=1), axis=1), axis=1),
        lambda x, m: np.sort(m, axis=1),
    ),
    "diag_indices": (lambda x, m: m[xpx.diag_indices(2, xp=xp)], lambda x, m: m[np.diag_indices(2)]),
    "nanmax": (lambda x, m: xpx.nanmax(xp.sqrt(m - 1)), lambda x, m: np.nanmax(np.sqrt(m - 1))),
    "nanmin": (lambda x, m: xpx.nanmin(xp.sqrt(m - 1)), lambda x, m: np.nanmin(np.sqrt(m - 1))),
    "partition": (lambda x, m: xp.sort(xpx.partition(x, 2)), lambda x, m: np.sort(x)),
    "rad2deg": (lambda x, m: xpx.rad2deg(x), lambda x, m: np.rad2deg(x)),
    "triu_indices": (lambda x, m: m[xpx.triu_indices(2, xp=xp)], lambda x, m: m[np.triu_indices(2)]),
    "lazy_apply": (lambda x, m: xpx.lazy_apply(lambda a: a * 2, x), lambda x, m: x * 2),
    "lazy_apply of NumPy": (lambda x, m: xpx.lazy_apply(np.sort, x, as_numpy=True), lambda x, m: np.sort(x)),
}


@pytest.mark.parametrize("name", CASES)
def test_array_api_extra(name):
    ours, reference = CASES[name]
    x, m = np.array(VALUES), np.array(MATRIX)
    result = ours(xp.asarray(x), xp.asarray(m))
    assert compat.array_namespace(result) is xp
    np.testing.assert_allclose(np.asarray(result), reference(x, m), rtol=1e-12, atol=1e-12)


def test_array_api_extra_shapes_and_indices():
    x = xp.asarray(1.0)
    assert xpx.atleast_nd(x, ndim=3).shape == (1, 1, 1)
    assert xpx.default_dtype(xp) == xp.float64
    rows, columns = xpx.tril_indices(3, xp=xp)
    want = np.tril_indices(3)
    np.testing.assert_array_equal(np.asarray(rows), want[0])
    np.testing.assert_array_equal(np.asarray(columns), want[1])
    found = xpx.unravel_index(xp.asarray([3, 5]), (2, 3))
    assert [index.tolist() for index in found] == [[1, 1], [0, 2]]


def test_array_api_extra_is_differentiable():
    gradient = xp.grad(lambda x: xp.sum(xpx.at(x * 1.0)[1:3].multiply(x[0]) + xpx.sinc(x / 2)))(xp.asarray(VALUES))
    x = np.array(VALUES)
    slope = np.cos(np.pi * x / 2) / x - np.sinc(x / 2) / x
    want = slope + np.array([1.0, x[0], x[0], 1.0]) + np.array([x[1] + x[2], 0.0, 0.0, 0.0])
    np.testing.assert_allclose(np.asarray(gradient), want, rtol=1e-12)
