"""Creation functions against NumPy, and what `asarray` makes of everything."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.reference import ALL, FLOATS, NUMERIC, REAL, SHAPES, check, layouts, values
from uopc_core import context


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [*SHAPES.values(), 3], ids=[*SHAPES.keys(), "an int"])
def test_constants_agree_with_numpy(shape: Any, dtype: str) -> None:
    check(xp.zeros(shape, dtype=dtype), np.zeros(shape, dtype))
    check(xp.ones(shape, dtype=dtype), np.ones(shape, dtype))
    check(xp.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
    check(xp.full_like(xp.zeros(shape, dtype=dtype), 1), np.full(shape, 1, dtype))
    check(xp.zeros_like(xp.ones(shape, dtype=dtype)), np.zeros(shape, dtype))
    check(xp.ones_like(xp.ones(shape, dtype=dtype)), np.ones(shape, dtype))
    assert xp.empty(shape, dtype=dtype).dtype == xp.empty_like(xp.zeros(shape, dtype=dtype)).dtype == dtype


def test_defaults_are_float64_and_the_dtype_of_the_value() -> None:
    assert xp.zeros(2).dtype == xp.ones(2).dtype == xp.empty(2).dtype == xp.eye(2).dtype == xp.float64
    for value, dtype in ((True, "bool"), (1, "int64"), (1.0, "float64"), (1j, "complex128")):
        assert xp.full(2, value).dtype == dtype
        assert xp.asarray(value).dtype == dtype


def test_a_fill_value_may_be_an_array_that_broadcasts() -> None:
    check(xp.full((2, 3), xp.asarray(1.5)), np.full((2, 3), 1.5))
    check(xp.full((2, 3), xp.asarray([1, 2, 3])), np.full((2, 3), [1, 2, 3]))
    with pytest.raises(ValueError, match=r"full: shapes \(2,\) and \(3,\) cannot be broadcast"):
        xp.full(3, xp.zeros(2))


def test_a_shape_may_be_a_list() -> None:
    assert xp.zeros([2, 3]).shape == xp.full([2, 3], 1).shape == (2, 3)


ARANGES: list[tuple[Any, ...]] = [
    (5,), (0,), (-3,), (2, 7), (7, 2), (1, 10, 3), (10, 1, -3), (0, 1, 0.1), (0.5, 3), (1.0, -1.0, -0.25), (3, 3),
    (0, 10, 2.5), (2**40, 2**40 + 3), (-(2**63), -(2**63) + 4), (2.5,),
]  # fmt: skip


@pytest.mark.parametrize("args", ARANGES, ids=str)
def test_arange_agrees_with_numpy(args: tuple[Any, ...]) -> None:
    check(xp.arange(*args), np.arange(*args))


@pytest.mark.parametrize("dtype", REAL)
def test_arange_has_the_dtype_asked_for(dtype: str) -> None:
    check(xp.arange(1, 10, 2, dtype=dtype), np.arange(1, 10, 2, dtype=dtype))


def test_arange_reaches_the_ends_of_its_dtype() -> None:
    check(xp.arange(-128, 127, 51, dtype=xp.int8), np.asarray([-128, -77, -26, 25, 76], "int8"))
    check(xp.arange(255, 0, -85, dtype=xp.uint8), np.asarray([255, 170, 85], "uint8"))
    check(xp.arange(2**64 - 1, 2**64 - 4, -1, dtype=xp.uint64), np.asarray([2**64 - 1, 2**64 - 2, 2**64 - 3], "uint64"))


def test_arange_refuses_what_it_cannot_make() -> None:
    with pytest.raises(ValueError, match="arange: expected a step other than 0"):
        xp.arange(0, 3, 0)
    with pytest.raises(OverflowError, match="299 out of bounds for uint8"):
        xp.arange(300, dtype=xp.uint8)
    with pytest.raises(TypeError, match="arange: expected two numbers at most for bool"):
        xp.arange(3, dtype=xp.bool)


@given(
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
    st.integers(0, 30),
    st.booleans(),
)
def test_linspace_agrees_with_numpy(start: float, stop: float, num: int, endpoint: bool) -> None:
    check(xp.linspace(start, stop, num, endpoint=endpoint), np.linspace(start, stop, num, endpoint=endpoint))


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128", "int64"])
def test_linspace_has_the_dtype_asked_for(dtype: str) -> None:
    check(xp.linspace(0, 5, 6, dtype=dtype), np.linspace(0, 5, 6, dtype=dtype))
    check(xp.linspace(1j, 5, 7), np.linspace(1j, 5, 7), ulps=4)


def test_linspace_keeps_a_gap_below_the_least_number() -> None:
    check(xp.linspace(0.0, 5e-324, 3), np.linspace(0.0, 5e-324, 3))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex128"])
@pytest.mark.parametrize("k", [-5, -1, 0, 2, 10**30])
def test_eye_and_triangles_agree_with_numpy(k: int, dtype: str) -> None:
    near = max(min(k, 9), -9)
    check(xp.eye(3, 4, k=k, dtype=dtype), np.eye(3, 4, k=near, dtype=dtype))
    for shape in ((3, 4), (2, 3, 2), (0, 3)):
        for ours, theirs in layouts(values(dtype, shape)):
            check(xp.tril(ours, k=k), np.tril(theirs, k=near))
            check(xp.triu(ours, k=k), np.triu(theirs, k=near))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_meshgrid_agrees_with_numpy(n: int, indexing: Any) -> None:
    vectors = [values("float64", (size,)) for size in (2, 3, 4)[:n]]
    ours = xp.meshgrid(*map(xp.asarray, vectors), indexing=indexing)
    assert isinstance(ours, tuple)
    for x, y in zip(ours, np.meshgrid(*vectors, indexing=indexing), strict=True):
        check(x, y)


# ------------------------------------------------------------------------------------------------------------- asarray

OBJECTS: dict[str, Any] = {
    "bool": True, "int": 3, "float": 2.5, "complex": 1j, "big int": 2**63, "list": [1, 2.5],
    "nested": [[1, 2], [3, 4]], "empty": [], "tuple": (1, 2), "bools": [True, False], "mixed": [True, 2],
    "range": range(3), "numpy scalar": np.float32(1.5), "numpy int": np.int8(3),
    "matrix of numpy": np.arange(6.0).reshape(2, 3), "memoryview": memoryview(b"ab"),
}  # fmt: skip


@pytest.mark.parametrize("value", OBJECTS.values(), ids=OBJECTS.keys())
def test_asarray_agrees_with_numpy(value: Any) -> None:
    check(xp.asarray(value), np.asarray(value))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_asarray_converts(dtype: str) -> None:
    check(xp.asarray([1, 2, 3], dtype=dtype), np.asarray([1, 2, 3], dtype))
    check(xp.asarray(xp.asarray([1, 2]), dtype=dtype), np.asarray([1, 2], dtype))


def test_a_sequence_of_arrays_is_stacked_and_differentiable() -> None:
    x = xp.asarray(2.0)
    check(xp.asarray([x, 1, [3.0][0]]), np.asarray([2.0, 1.0, 3.0]))
    check(xp.asarray([[x, x], [x, 0]]), np.asarray([[2.0, 2.0], [2.0, 0.0]]))
    check(xp.grad(lambda t: xp.sum(xp.asarray([t, t * t, 1.0])))(x), np.asarray(5.0))


def test_what_comes_from_numpy_is_copied_unless_the_caller_says_not() -> None:
    memory = np.zeros(3)
    copied, shared = xp.asarray(memory), xp.asarray(memory, copy=False)
    memory[0] = 1.0
    assert float(copied[0]) == 0.0
    assert float(shared[0]) == 1.0
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(memory, dtype=xp.float32, copy=False)
    for dtype in (xp.float32, xp.float64):
        with pytest.raises(ValueError, match="copy=False cannot convert int64"):
            xp.asarray(xp.asarray([1, 2]), dtype=dtype, copy=False)


@pytest.mark.parametrize("tier", ["compile", "interpret"])
def test_any_byte_but_0_of_a_boolean_from_numpy_is_true(tier: str) -> None:
    foreign = np.asarray([2, 1, 0, 255], dtype=np.uint8).view(np.bool_)
    with context(tier=tier):
        x = xp.from_dlpack(foreign) & xp.asarray(foreign)
        check(xp.astype(x, xp.int64), [1, 1, 0, 1])
        check(~x, [False, False, True, False])
        assert int(xp.count_nonzero(x)) == 3
    with pytest.raises(ValueError, match="copy=False: only memory that holds True as 1 can be shared"):
        xp.asarray(foreign, copy=False)


def test_copy_makes_an_array_of_its_own() -> None:
    x = xp.asarray([1.0, 2.0])
    same, other = xp.asarray(x), xp.asarray(x, copy=True)
    assert same is x
    other[0] = 9.0
    check(x, [1.0, 2.0])


def test_asarray_refuses_what_is_no_array() -> None:
    with pytest.raises(ValueError, match="asarray: expected nested sequences of equal lengths"):
        xp.asarray([[1], [1, 2]])
    with pytest.raises(TypeError, match="asarray: expected numbers"):
        xp.asarray("text")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="complex"):
        xp.asarray(1j, dtype=xp.float64)
    with pytest.raises(ValueError, match='asarray: expected device "cpu" or None'):
        xp.asarray(1, device="gpu")


@pytest.mark.parametrize("dtype", ALL)
def test_dlpack_goes_both_ways(dtype: str) -> None:
    x = values(dtype, (2, 3))
    check(xp.from_dlpack(x), x)
    check(xp.from_dlpack(xp.asarray(x)), x)
    np.testing.assert_array_equal(np.from_dlpack(xp.asarray(x)), x)
