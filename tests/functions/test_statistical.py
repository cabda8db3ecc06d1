"""Reductions and scans against NumPy over dtypes, shapes, layouts and axes."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL, COMPLEX, FLOATS, INTEGERS, NUMERIC, REAL, SHAPES, check, layouts, values
from uopc_core import context


def axes_of(ndim: int) -> Iterator[Any]:
    """None, each axis from either end, and every set of axes."""
    yield None
    yield from range(-ndim, ndim)
    for n in range(ndim + 1):
        yield from combinations(range(ndim), n)


def tolerance(x: Any) -> float:
    """Of a sum: ``n * eps * sum(abs(x))``."""
    return 0.0 if x.dtype.kind in "biu" else float(x.size * np.finfo(x.dtype).eps * np.abs(x).sum())


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("dtype", ALL)
def test_sum_and_prod_agree_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-2, high=2)):
        for axis in axes_of(theirs.ndim):
            for keepdims in (False, True):
                atol = tolerance(theirs)
                check(
                    xp.sum(ours, axis=axis, keepdims=keepdims), np.sum(theirs, axis=axis, keepdims=keepdims), atol=atol
                )
                wanted = np.prod(theirs, axis=axis, keepdims=keepdims)
                check(xp.prod(ours, axis=axis, keepdims=keepdims), wanted, ulps=64 if theirs.dtype.kind in "fc" else 0)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_small_integers_are_added_in_64_bits(dtype: str) -> None:
    out = xp.sum(xp.full(300, 100, dtype=dtype))
    assert int(out) == 30_000
    assert out.dtype == ("uint64" if dtype.startswith("u") else "int64")


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_keep_their_dtype_unless_another_is_asked_for(dtype: str) -> None:
    assert xp.sum(xp.ones(3, dtype=dtype)).dtype == xp.prod(xp.ones(3, dtype=dtype)).dtype == dtype
    assert xp.sum(xp.ones(3, dtype=dtype), dtype=xp.complex64).dtype == xp.complex64
    check(xp.sum(xp.asarray([1, 2]), dtype=xp.float32), np.float32(3))


@pytest.mark.parametrize("shape", [s for s in SHAPES.values() if 0 not in s], ids=str)
@pytest.mark.parametrize("dtype", ["bool", *REAL])
def test_max_and_min_agree_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape)):
        for axis in axes_of(theirs.ndim):
            check(xp.max(ours, axis=axis), np.max(theirs, axis=axis))
            check(xp.min(ours, axis=axis, keepdims=True), np.min(theirs, axis=axis, keepdims=True))


def test_nan_is_the_extreme() -> None:
    x = np.asarray([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]])
    check(xp.max(xp.asarray(x), axis=1), np.max(x, axis=1))
    check(xp.min(xp.asarray(x), axis=1), np.min(x, axis=1))


def test_an_empty_axis_has_no_extreme_but_an_empty_result_may_be() -> None:
    check(xp.max(xp.zeros((0, 3)), axis=1), np.max(np.zeros((0, 3)), axis=1))
    with pytest.raises(ValueError, match=r"max: no elements have no maximum, got shape \(0, 3\)"):
        xp.max(xp.zeros((0, 3)), axis=0)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("correction", [0, 1, 2.5])
def test_mean_var_and_std_agree_with_numpy(dtype: str, shape: tuple[int, ...], correction: float) -> None:
    for ours, theirs in layouts(values(dtype, shape)):
        for axis in axes_of(theirs.ndim):
            atol = 1e-5 if theirs.real.dtype == "float32" else 1e-13
            check(xp.mean(ours, axis=axis, keepdims=True), _mean(theirs, axis), atol=atol)
            wanted = _var(theirs, axis, correction)
            check(xp.var(ours, axis=axis, correction=correction), wanted, atol=64 * atol)
            check(xp.std(ours, axis=axis, correction=correction), np.sqrt(wanted), atol=64 * atol)


def _mean(x: Any, axis: Any) -> Any:
    n = x.size if axis is None else np.prod([x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,))])
    total = np.sum(x, axis=axis, keepdims=True)
    return (
        (total / n).astype(x.dtype)
        if n
        else np.full(total.shape, complex(np.nan, np.nan) if x.dtype.kind == "c" else np.nan, x.dtype)
    )


def _var(x: Any, axis: Any, correction: float) -> Any:
    n = x.size if axis is None else np.prod([x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,))])
    total = np.sum(np.abs(x - _mean(x, axis)) ** 2, axis=axis)
    return np.asarray(total / (n - correction) if n > correction else np.full(total.shape, np.nan), x.real.dtype)


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_moments_of_integers_are_float64(dtype: str) -> None:
    x = values(dtype, (3, 4))
    check(xp.mean(xp.asarray(x), axis=0), np.mean(x.astype("float64"), axis=0), ulps=4)
    check(xp.var(xp.asarray(x)), np.var(x.astype("float64")), ulps=16)


def test_a_large_mean_costs_the_variance_no_digits() -> None:
    x = (np.arange(9100) % 7).astype(np.float32) * 8 + np.float32(3e6)
    assert abs(float(xp.var(xp.asarray(x))) - 256) < 0.5


@pytest.mark.parametrize("dtype", ["bool", *NUMERIC])
@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (3, 4), (2, 0, 3), (2, 3, 4)], ids=str)
def test_cumulative_functions_agree_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    for ours, theirs in layouts(values(dtype, shape, low=-2, high=2)):
        for axis in [None] * (theirs.ndim == 1) + list(range(-theirs.ndim, theirs.ndim)):
            atol = tolerance(theirs)
            for initial in (False, True):
                wanted = np.cumulative_sum(theirs, axis=axis, include_initial=initial)
                check(xp.cumulative_sum(ours, axis=axis, include_initial=initial), wanted, atol=atol)
                wanted = np.cumulative_prod(theirs, axis=axis, include_initial=initial)
                exact = theirs.dtype.kind not in "fc"
                check(xp.cumulative_prod(ours, axis=axis, include_initial=initial), wanted, ulps=0 if exact else 64)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64", "bool"])
def test_long_axes_beside_one_without_elements(dtype: str, tier: str) -> None:
    """Blocks of an axis are told by its extent, which the number of elements does not give here."""
    for shape in ((128, 0), (0, 129), (1025, 0), (0, 1025), (2, 0, 300), (300, 0, 2)):
        x = np.ones(shape, dtype)
        for axis in range(x.ndim):
            with context(tier=tier):
                ours = xp.asarray(x)
                check(xp.cumulative_sum(ours, axis=axis), np.cumulative_sum(x, axis=axis))
                check(xp.cumulative_prod(ours, axis=axis), np.cumulative_prod(x, axis=axis))
                check(xp.sum(ours, axis=axis), np.sum(x, axis=axis))
                check(xp.prod(ours, axis=axis), np.prod(x, axis=axis))
                check(xp.any(ours, axis=axis), np.any(x, axis=axis))


def test_a_scan_of_several_axes_needs_one_named() -> None:
    with pytest.raises(ValueError, match="cumulative_sum: expected an axis for an array of 2 axes"):
        xp.cumulative_sum(xp.zeros((2, 2)))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "count_nonzero"])
def test_a_wrong_axis_is_named(name: str) -> None:
    with pytest.raises(np.exceptions.AxisError, match=f"{name}: axis 2 is out of bounds for an array of 2 axes"):
        getattr(xp, name)(xp.zeros((2, 2)), axis=2)
    with pytest.raises(np.exceptions.AxisError, match=f"{name}: every axis may be named once"):
        getattr(xp, name)(xp.zeros((2, 2)), axis=(0, -2))


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_complex_numbers_have_no_order(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: expected a real dtype, got complex128"):
        getattr(xp, name)(xp.asarray([1j]))
