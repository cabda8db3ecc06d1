"""Promotion by NEP 50, against NumPy for every pair of dtypes and every Python scalar."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array import promotion
from uopc_array._array.promotion import promote, promote_to, result_dtype
from uopc_core import UOp

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


@pytest.mark.parametrize("x", DTYPES)
@pytest.mark.parametrize("y", DTYPES)
def test_arrays_promote_as_in_numpy(x, y):
    assert result_dtype(np.dtype(x), np.dtype(y)) == np.result_type(x, y)
    assert (xp.ones(2, dtype=x) * xp.ones(2, dtype=y)).dtype == np.result_type(x, y)


@pytest.mark.parametrize("scalar", [True, 2, 2.5, 1j], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_python_scalars_are_weak(dtype, scalar):
    want = np.result_type(np.ones(1, dtype), scalar)
    assert result_dtype(np.dtype(dtype), scalar) == want
    assert result_dtype(scalar, xp.ones(2, dtype=dtype)) == want


def test_numpy_scalars_are_strong():
    assert (xp.ones(2, dtype=xp.float32) * np.float64(2)).dtype == xp.float64
    assert (np.float64(2) * xp.ones(2, dtype=xp.float32)).dtype == xp.float64


def test_python_scalars_alone_have_their_default_dtypes():
    assert [result_dtype(x) for x in (True, 1, 1.0, 1j, 2**63)] == [
        *(np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128), np.dtype(np.uint64)),
    ]


def test_an_int_that_does_not_fit_overflows():
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        xp.ones(2, dtype=xp.int8) + 300
    with pytest.raises(OverflowError):
        xp.ones(2, dtype=xp.uint8) - (-1)


def test_a_traced_python_scalar_is_weak_too():
    f32 = xp.ones(2, dtype=xp.float32)
    i8 = xp.ones(2, dtype=xp.int8)
    scale = xp.jit(lambda x, s: x * s)
    assert scale(f32, 2.5).dtype == xp.float32
    assert scale(i8, 2).dtype == xp.int8
    assert scale(i8, 2.5).dtype == xp.float64
    assert xp.jit(lambda x, s: x * (s + 1))(f32, 2).dtype == xp.float32


def test_promote_gives_nodes_of_one_dtype_and_shape():
    x, y = promote("add", xp.ones((2, 1)), [1, 2, 3])
    assert x.shape == y.shape == (2, 3)
    assert x.dtype is y.dtype
    assert x.dtype == np.float64
    (z,) = promote_to("add", np.dtype(np.float32), 1)
    assert z.dtype == np.float32


def test_shapes_that_do_not_fit_are_named_with_the_operation():
    with pytest.raises(ValueError, match=r"hypot: shapes \(2, 3\) and \(4,\) cannot be broadcast"):
        promote("hypot", xp.ones((2, 3)), xp.ones(4))


def test_asarray_takes_what_numpy_takes():
    for value in (
        [[1, 2], [3, 4]],
        (1.5, 2),
        np.arange(3, dtype=np.int16),
        np.float32(2),
        3,
        True,
        1j,
        range(3),
        [],
        [[]],
    ):
        ours = xp.asarray(value)
        numpys = np.asarray(value)
        assert ours.dtype == numpys.dtype
        assert ours.shape == numpys.shape
        assert ours.tolist() == numpys.tolist()
    assert xp.asarray(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]
    assert xp.asarray([2**63, 1], dtype=xp.uint64).tolist() == [2**63, 1]


def test_asarray_stacks_arrays_in_the_graph():
    x = xp.asarray([1.0, 2.0])
    stacked = xp.asarray([[x[0], 1], [x[1], x[0] * 3]])
    assert stacked.tolist() == [[1.0, 1.0], [2.0, 3.0]]
    assert xp.grad(lambda x: xp.sum(xp.asarray([x[0] * x[1], x[0]])))(x).tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ("text", TypeError, "expected numbers"),
        ([[1], [1, 2]], ValueError, "equal lengths"),
        ([2**70], OverflowError, "beyond 64 bits"),
        ([None], TypeError, "expected numbers"),
        (np.float16(1), TypeError, "float16"),
    ],
    ids=["text", "ragged", "huge", "none", "half"],
)
def test_asarray_refuses(value, error, text):
    with pytest.raises(error, match=text):
        xp.asarray(value)


ARITHMETIC = "add subtract multiply divide floor_divide remainder pow".split()
BITWISE = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
COMPARING = "less less_equal greater greater_equal equal not_equal".split()
FUNCTIONS = [*ARITHMETIC, *BITWISE, *COMPARING, "maximum", "minimum", "atan2", "copysign", "hypot", "logaddexp"]
FUNCTIONS += ["nextafter", "logical_and", "logical_or", "logical_xor"]
NUMPYS = {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "pow": "power", "atan2": "arctan2"}
SYMBOLS = dict(
    zip(ARITHMETIC + BITWISE + COMPARING, "+ - * / // % ** & | ^ << >> < <= > >= == !=".split(), strict=True)
)
SCALARS = [True, 2, 2.5, 1j]


def numpys_dtype(name: str, x, y):
    """What NumPy's function gives for these operands, None where it refuses them."""
    try:
        with np.errstate(all="ignore"):
            return getattr(np, NUMPYS[name] if name in NUMPYS else name)(x, y).dtype
    except TypeError:
        return None


def ours(function, x, y):
    try:
        return function(x, y).dtype
    except TypeError:
        return None


ORDERED = {"less", "less_equal", "greater", "greater_equal", "maximum", "minimum"}


def agrees(name, got, want, x, y):
    """Whether a dtype is NumPy's; integers become float64 where they have to, complex numbers have no order."""
    kinds = {np.asarray(z).dtype.kind for z in (x, y)}
    if name in ORDERED and "c" in kinds:
        return got is None
    if kinds <= set("biu") and want is not None and want.kind == "f":
        return got == np.float64
    return got == want


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_binary_function_gives_the_dtype_that_numpy_gives(name, dtype):
    function = getattr(xp, name)
    operator = eval(f"lambda x, y: x {SYMBOLS[name]} y") if name in SYMBOLS else function
    for other in [np.ones(2, dtype=d) for d in DTYPES] + SCALARS:
        x = np.ones(2, dtype=dtype)
        mine = xp.asarray(other) if isinstance(other, np.ndarray) else other
        for left, right, ours_left, ours_right in ((x, other, xp.asarray(x), mine), (other, x, mine, xp.asarray(x))):
            want = numpys_dtype(name, left, right)
            got = ours(function, ours_left, ours_right)
            assert agrees(name, got, want, left, right), (left, right, got, want)
            assert ours(operator, ours_left, ours_right) == got, (left, right)


SHAPES = ((3, 4), (4,), (1, 4), (3, 1), (1, 1, 1), (), (2,), (0, 4))
PROMOTIONS = (promotion.promote, promotion.promote_floating, promotion.promote_comparison)


@pytest.mark.parametrize("way", PROMOTIONS, ids=lambda way: way.__name__)
def test_arrays_of_one_dtype_are_promoted_the_short_way_to_the_nodes_of_the_long_one(
    monkeypatch: pytest.MonkeyPatch, way: Callable[..., tuple[UOp, ...]]
) -> None:
    def outcome(x: Any, y: Any) -> Any:
        try:
            return way("f", x, y)
        except Exception as error:
            return type(error), str(error)

    with xp.context(at_once=0):
        arrays = [xp.asarray(np.ones(shape, dtype)) for shape in SHAPES for dtype in ("f4", "f8", "i4", "?", "c16")]
        numbers = (0, -1, True, 2**70, 10**400, 0.5, 0.0, -0.0, float("inf"), 1j)
        pairs: list[Any] = [*itertools.product(arrays, arrays), *itertools.product(arrays, numbers)]
        pairs += [(number, x) for x, number in itertools.product(arrays, numbers)]
        short = [outcome(x, y) for x, y in pairs]
        monkeypatch.setattr(promotion, "_alike", lambda name, operands: None)
        assert [outcome(x, y) for x, y in pairs] == short


def test_a_square_is_the_product_that_the_long_way_makes() -> None:
    with xp.context(at_once=0):
        for dtype in ("f4", "f8", "i4", "u1", "c16"):
            x = xp.asarray(np.ones(3, dtype))
            assert (x**2)._uop is (x**2.0)._uop or dtype in ("i4", "u1")
            assert (x**2)._uop is (x * x)._uop
        assert np.array_equal(np.asarray(xp.asarray([True, False]) ** 2), np.asarray([True, False]) ** 2)
