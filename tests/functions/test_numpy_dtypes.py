"""Every ufunc of one and two operands over all dtypes and pairs of them: NumPy's dtype, with the exceptions named here.

Called as NumPy's function on our arrays, as ours, and where there is one as a method.
"""

# pyright: reportArgumentType=false, reportCallIssue=false
# NumPy's stubs do not know that other classes take part (NEP 13 and 18).

import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL

UFUNCS = [name for name in sorted(dir(np)) if isinstance(getattr(np, name), np.ufunc)]
UNARY = [name for name in UFUNCS if getattr(np, name).nin == 1] + [
    *("around round fix angle real imag nan_to_num sinc isneginf isposinf iscomplex isreal".split()),
]
BINARY = [name for name in UFUNCS if getattr(np, name).nin == 2 and getattr(np, name).signature is None]
# what the standard has no order or no value for is refused, and what NumPy refuses may be computed
REFUSED = {"fmax", "fmin", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum"}
COMPUTED = {("positive", "bool"), ("sign", "bool")}
METHODS = {"conj", "conjugate", "round"}


def operand(dtype: str) -> np.ndarray[Any, Any]:
    return np.asarray([1, 2, 3]).astype(dtype)


def wanted(result: np.ndarray[Any, Any], operands: tuple[np.ndarray[Any, Any], ...]) -> np.dtype[Any]:
    """Functions of floats compute integers and bool in float64, where NumPy may take float16 or float32."""
    narrow = result.dtype.kind == "f" and all(x.dtype.kind in "biu" for x in operands)
    return np.dtype("float64") if narrow else result.dtype


def names_of(name: str) -> list[str]:
    """The names of ours of what NumPy calls `name`: NumPy has one ufunc under all of them."""
    return [other for other in dir(np) if getattr(np, other, None) is getattr(np, name)]


def routes(name: str) -> Iterator[Callable[..., Any]]:
    yield getattr(np, name)
    yield from (getattr(xp, ours) for ours in names_of(name))


def results(call: Callable[..., Any], *operands: Any) -> list[np.ndarray[Any, Any]] | None:
    """The results, or None where the operands are refused."""
    try:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # fix, from NumPy 2.5 on
            out = call(*operands)
    except TypeError:
        return None
    return [np.asarray(x) for x in (out if isinstance(out, tuple) else (out,))]


def check(name: str, operands: tuple[np.ndarray[Any, Any], ...]) -> None:
    want = results(getattr(np, name), *operands)
    for route in routes(name):
        got = results(route, *[xp.asarray(x) for x in operands])
        if want is None:
            assert got is None or (name, operands[0].dtype.name) in COMPUTED
            continue
        if got is None:
            assert name in REFUSED
            assert any(x.dtype.kind == "c" for x in operands)
            continue
        for ours, numpys in zip(got, want, strict=True):
            assert ours.dtype == wanted(numpys, operands)
            if name != "spacing" or ours.dtype == numpys.dtype:
                np.testing.assert_allclose(ours, numpys, rtol=2e-3 if numpys.dtype == np.float16 else 1e-6, atol=1e-7)


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_give_numpys_dtypes(name):
    for dtype in ALL:
        check(name, (operand(dtype),))


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_give_numpys_dtypes(name):
    for pair in itertools.product(ALL, ALL):
        check(name, (operand(pair[0]), operand(pair[1])))


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("dtype", ALL)
def test_methods_give_numpys_dtypes(name, dtype):
    want, got = getattr(operand(dtype), name)(), getattr(xp.asarray(operand(dtype)), name)()
    assert got.dtype == wanted(want, (operand(dtype),))
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("number", [True, 2, 2.5, 2j, np.float64(2.5), np.float32(2), np.int8(3), np.True_])
def test_a_number_beside_an_array_gives_numpys_dtype(dtype, number):
    for name in ("add", "multiply", "divide", "equal", "power"):
        want = results(getattr(np, name), operand(dtype), number)
        for call in routes(name):
            got = results(call, xp.asarray(operand(dtype)), number)
            assert (want is None) == (got is None)
            if want is not None and got is not None:
                assert got[0].dtype == wanted(want[0], (operand(dtype), np.asarray(number)))


DECIMALS = [0, 1, 3, -1, -2, -20, 308, 309, 400, -309, -400]


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "bool"])
@pytest.mark.parametrize("decimals", DECIMALS)
def test_rounding_to_decimals_keeps_the_dtype(dtype, decimals):
    x = np.asarray([0, 5, 15, 25, 120, 127]).astype(dtype)
    want = x * 0 if x.dtype.kind in "iu" and decimals < -300 else x.round(decimals)  # there NumPy has 0 * inf
    for got in (xp.around(xp.asarray(x), decimals), np.round(xp.asarray(x), decimals), xp.asarray(x).round(decimals)):
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if np.dtype(dtype).kind in "biu"])
def test_the_reciprocal_of_integers_is_an_integer(dtype):
    x = np.asarray([0, 1, 2, 3, 127]).astype(dtype)
    x = np.concatenate([x, -x]) if np.dtype(dtype).kind == "i" else x
    got = xp.reciprocal(xp.asarray(x))
    np.testing.assert_array_equal(np.asarray(got), np.reciprocal(x))
    assert got.dtype == np.reciprocal(x).dtype


def ends() -> list[Any]:
    numbers = [np.dtype(dtype).type(1) for dtype in ALL]
    return [0, 1.5, 2j, *numbers, *[np.asarray([0, 3]).astype(dtype) for dtype in ALL]]


@pytest.mark.parametrize("start", ends(), ids=repr)
@pytest.mark.parametrize("options", [{}, {"endpoint": False}, {"axis": -1}, {"num": 1}, {"num": 0}], ids=str)
def test_linspace_takes_ends_of_every_dtype(start, options):
    for stop in ends():
        want = np.linspace(start, stop, **{"num": 5} | options)
        ours = [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in (start, stop)]
        calls = [xp.linspace, np.linspace] if any(isinstance(x, xp.Array) for x in ours) else [xp.linspace]
        for call in calls:
            got = call(*ours, **{"num": 5} | options)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def test_linspace_tells_its_step_through_numpy():
    values, step = np.linspace(xp.asarray([0.0, 1.0]), 3.0, 5, False, True)
    want = np.linspace(np.asarray([0.0, 1.0]), 3.0, 5, False, True)
    np.testing.assert_allclose(np.asarray(values), want[0], rtol=1e-15)
    np.testing.assert_array_equal(np.asarray(step), want[1])


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("number", [True, 2, 2.5, 2j, np.float64(2.5), np.int8(3)])
def test_joining_flattened_arrays_with_numbers_gives_numpys_dtype(dtype, number):
    x = operand(dtype)
    for call in ("concatenate((x, k), axis=None)", "append(x, k)", "hstack((x, k))", "stack((x[0], k))"):
        want = eval(f"np.{call}", {"np": np, "x": x, "k": number})
        for ns in (np, xp):
            got = eval(f"ns.{call}", {"ns": ns, "x": xp.asarray(x), "k": number})
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_concatenate_casts_as_it_is_told(casting):
    for given, dtype in itertools.product(ALL, ALL):
        x = operand(given)
        drops_a_part = np.dtype(given).kind == "c" and np.dtype(dtype).kind not in "cb"  # which is never done here
        want = None if drops_a_part else results(partial(np.concatenate, dtype=dtype, casting=casting), (x, x))
        for ns in (np, xp):
            got = results(partial(ns.concatenate, dtype=dtype, casting=casting), (xp.asarray(x),) * 2)
            assert (got is None) == (want is None)
            if want is not None and got is not None:
                assert got[0].dtype == want[0].dtype
                np.testing.assert_array_equal(got[0], want[0])
    with pytest.raises(ValueError, match="concatenate: expected casting"):
        xp.concatenate((xp.ones(2),), casting="any")


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, complex, np.complex128, np.complex64])
def test_constants_keep_the_sign_of_their_zeros(kind):
    """Whatever number is met first: equal ones that differ are not one node."""
    parts = (0.0, -0.0)
    numbers = [kind(complex(a, b)) if "complex" in kind.__name__ else kind(a) for a in parts for b in parts]
    for number in [*numbers, *numbers]:
        dtype = np.complex128 if "complex" in kind.__name__ else np.float64
        got = np.asarray(xp.full((2,), number, dtype=dtype))
        assert got.tobytes() == np.full((2,), number, dtype=dtype).tobytes()
