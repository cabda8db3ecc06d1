"""Products of what is in memory are computed at their line, with the bits that a plan has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_array._array import products
from uopc_array._array.at_once import LARGEST
from uopc_array._array.extension import IN_C
from uopc_core import Ops, context
from uopc_core.errors import ShapeError
from uopc_core.schedule.library_work import LIBRARY_WORK, is_for_library

DTYPES = ["float32", "float64", "complex64", "complex128"]
LAYOUTS = ["rows", "columns", "every other", "backwards", "part"]
HOLDERS = ["known", "memory", "view of memory", "NumPy"]


@pytest.fixture(autouse=True)
def _bound() -> Iterator[None]:
    with context(at_once=LARGEST, tier="auto"):
        yield


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, special: bool = False) -> Any:
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
    x = (x + 1j * rng.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)
    if special and x.size:
        places = rng.random(shape) < 0.02
        x[places] = rng.choice(np.array([np.inf, -np.inf, np.nan, -0.0, 1e-310]), int(places.sum()))
    return x


def laid_out(x: Any, layout: str) -> Any:
    """The values in other places of memory."""
    match layout:
        case "columns":
            return np.asfortranarray(x)
        case "every other":
            return np.repeat(x, 2, -1)[..., ::2]
        case "backwards":
            return x[..., ::-1].copy()[..., ::-1]
        case "part":
            wide = np.zeros([n + 3 for n in x.shape], x.dtype)
            part = wide[tuple([slice(1, n + 1) for n in x.shape])]
            part[...] = x
            return part
    return x


def held(x: Any, layout: str, holder: str) -> Any:
    """An array of ours with these values; of a part of memory it is a view."""
    if holder == "NumPy":
        return laid_out(x, layout)
    match layout:
        case "columns":
            made = xp.asarray(x.T.copy()).T
        case "every other":
            made = xp.asarray(np.repeat(x, 2, -1))[..., ::2]
        case "backwards":
            made = xp.asarray(x[..., ::-1].copy())[..., ::-1]
        case "part":
            wide = laid_out(x, "part").base
            made = xp.asarray(wide)[tuple([slice(1, n + 1) for n in x.shape])]
        case _:
            made = xp.asarray(x)
    if holder == "memory":
        made = made + 0
    if holder != "known":
        made.to_numpy(copy=False)
    return made


def same(x: Any, y: Any) -> bool:
    """Bit for bit, but that any nan is as good as any other."""
    x, y = np.asarray(x), np.asarray(y)
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return False
    parts = [(x.real, y.real), (x.imag, y.imag)] if x.dtype.kind == "c" else [(x, y)]
    return all(
        np.where(np.isnan(a), np.nan, a).tobytes() == np.where(np.isnan(b), np.nan, b).tobytes() for a, b in parts
    )


# the axes that the operands have, and the function
FORMS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "matrices": ("mk kn", lambda x, y: x @ y),
    "row": ("k kn", lambda x, y: x @ y),
    "column": ("mk k", lambda x, y: x @ y),
    "vectors": ("k k", lambda x, y: x @ y),
    "matmul": ("mk kn", xp.matmul),
    "dot": ("k kn", xp.dot),
    "dot, method": ("k k", lambda x, y: xp.asarray(x).dot(y)),
    "linalg": ("mk kn", xp.linalg.matmul),
    "inner": ("k k", xp.inner),
    "vdot": ("k k", xp.vdot),
    "vecdot": ("k k", xp.vecdot),
    "matvec": ("mk k", xp.matvec),
    "vecmat": ("k kn", xp.vecmat),
}


@given(
    st.sampled_from(DTYPES),
    st.sampled_from(sorted(FORMS)),
    st.sampled_from([0, 1, 2, 3, 9, 33, 70, 300]),
    st.sampled_from([0, 1, 2, 7, 16, 17, 64, 127, 128, 130, 700]),
    st.sampled_from([1, 2, 5, 8, 31, 64, 300]),
    st.tuples(st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS)),
    st.tuples(st.sampled_from(HOLDERS), st.sampled_from(HOLDERS)),
    st.booleans(),
    st.integers(0, 99),
)
def test_products_have_the_bits_of_a_plan(dtype, form, m, k, n, layouts, holders, special, seed):
    rng = np.random.default_rng(seed)
    axes, function = FORMS[form]
    extents = {"m": m, "k": k, "n": n}
    a, b = (numbers(rng, tuple([extents[axis] for axis in names]), dtype, special) for names in axes.split())
    if holders == ("NumPy", "NumPy"):
        holders = ("known", "NumPy")
    with context(at_once=0, tier="compile" if seed % 2 else "interpret"):
        wanted = np.asarray(function(xp.asarray(a), xp.asarray(b)))
    x, y = (held(values, *how) for values, how in zip((a, b), zip(layouts, holders, strict=True), strict=True))
    found = function(x, y)
    assert same(found, wanted)
    assert same(function(x, y), wanted), "and again"


@given(st.sampled_from(DTYPES), st.sampled_from(LAYOUTS), st.sampled_from([(40, 50, 60), (1, 200, 190), (200, 190, 1)]))
def test_where_operands_lie_and_who_multiplies_makes_no_difference(dtype, layout, shape):
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b = numbers(rng, (m, k), dtype), numbers(rng, (k, n), dtype)
    wanted = np.asarray(xp.asarray(a) @ xp.asarray(b))
    compiled = xp.jit(lambda x, y: x @ y)
    for holder in ("known", "view of memory"):
        x, y = held(a, layout, holder), held(b, layout, holder)
        assert same(x @ y, wanted)
        assert same(compiled(x, y), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(60, 40), (128, 1000), (300, 150), (500, 20)])
def test_a_matrix_times_its_own_transpose(dtype, layout, shape):
    a = numbers(np.random.default_rng(0), shape, dtype)
    with context(at_once=0, tier="compile"):
        x = held(a, "rows", "memory")
        wanted = np.asarray(x @ x.T)
    for holder in ("known", "memory", "view of memory"):
        for settings in ({}, {"at_once": 0, "tier": "interpret"}, {"at_once": 0, "tier": "compile"}):
            with context(**settings):
                x = held(a, layout, holder)
                assert same(x @ x.T, wanted), (holder, settings)


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((40, 40), (40,)), ((300,), (300, 300)), ((300, 200), (200, 300))])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("holder", ["known", "memory", "view of memory"])
def test_what_is_in_memory_is_multiplied_at_the_line(shapes, layout, holder):
    rng = np.random.default_rng(0)
    x, y = (held(numbers(rng, shape, "float64"), layout, holder) for shape in shapes)
    z = x @ y
    assert z._value is not None or z._own_node.op is Ops.BUFFER


@pytest.mark.parametrize("n", [4, 40, 300])
@pytest.mark.parametrize("holder", ["known", "memory", "view of memory"])
def test_a_product_has_memory_of_its_own(n, holder):
    rng = np.random.default_rng(0)
    a = numbers(rng, (n, n), "float64")
    x = held(a, "rows", holder)
    v = x[0]
    square, row, both = x @ x, v @ x, v @ v
    wanted = [np.asarray(z).copy() for z in (square, row, both)]
    x[...] = 5.0
    x[0, 0] = 7.0
    assert [same(z, w) for z, w in zip((square, row, both), wanted, strict=True)] == [True] * 3
    square[0, 0] = 1.0
    row *= 2
    assert float(x[0, 0]) == 7.0
    assert same(x[1], np.full(n, 5.0))
    assert same(x @ x, np.asarray(xp.asarray(np.asarray(x)) @ xp.asarray(np.asarray(x))))


@pytest.mark.skipif(IN_C is None, reason="the operators in C have not been built in this environment")
@pytest.mark.parametrize("holder", ["known", "NumPy"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        *[((k,), (k,)) for k in (0, 1, 5)],
        *[((3, k), (k,)) for k in (0, 1, 5)],
        *[((k,), (k, 2)) for k in (0, 1, 5)],
        *[((3, k), (k, 2)) for k in (0, 1, 5)],
        ((1, 2), (2, 1)),
    ],
)
def test_small_products_are_made_in_c(a, b, dtype, layout, holder):
    rng = np.random.default_rng(0)
    x, y = held(numbers(rng, a, dtype), layout, holder), held(numbers(rng, b, dtype), layout, "known")
    expected = [x @ y, y.T @ x.T]  # from here on it is known what multiplies this dtype

    frames: list[str] = []
    sys.setprofile(lambda frame, event, _: frames.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = [x @ y, y.T @ x.T, xp.matmul(x, y), xp.dot(x, y)]
    finally:
        sys.setprofile(None)
    assert not {"__matmul__", "__rmatmul__", "product_at_once"} & set(frames)
    for z, other in zip(found, [*expected, expected[0], expected[0]], strict=True):
        assert z.shape == other.shape
        assert np.asarray(z).tobytes() == np.asarray(other).tobytes()


def test_views_are_read_as_they_are_now():
    x = held(np.ones((300, 300)), "rows", "memory")
    wide, row = x[1:], x[1]
    x[1, 0] = 3.0
    assert float((wide @ x[0])[0]) == float(row @ x[0]) == 302.0
    x[...] = 2.0
    assert float((wide @ x[0])[0]) == float(row @ x[0]) == 1200.0


@pytest.mark.parametrize("n", [5, 300])
def test_transforms_multiply_in_their_graph(n):
    rng = np.random.default_rng(0)
    a, v = numbers(rng, (n, n), "float64"), numbers(rng, (n,), "float64")
    x = held(a, "rows", "memory")
    np.testing.assert_allclose(np.asarray(xp.grad(lambda t: xp.sum(x @ t))(xp.asarray(v))), a.sum(0), rtol=1e-9)
    np.testing.assert_allclose(np.asarray(xp.grad(lambda t: (t @ x) @ t)(xp.asarray(v))), (a + a.T) @ v, rtol=1e-9)
    compiled = xp.jit(lambda t: x @ t)
    first = np.asarray(compiled(xp.asarray(v)))
    x[...] = 0.0
    assert same(compiled(xp.asarray(v)), np.zeros(n)), "what is captured is read at each call"
    np.testing.assert_allclose(first, a @ v, rtol=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones((3, 4)), np.ones(3)),
        (np.ones(()), np.ones(3)),
        (np.ones((2, 3)), np.ones((2, 3))),
    ],
    ids=str,
)
def test_what_cannot_be_multiplied_is_said_as_ever(x, y):
    with pytest.raises(ShapeError, match="matmul"):
        xp.asarray(x) @ xp.asarray(y)


@pytest.mark.parametrize(
    ("a", "b"),
    [("float32", "float64"), ("int64", "int64"), ("bool", "bool"), ("float64", "complex128"), ("int8", "float32")],
)
def test_other_dtypes_are_the_graphs(a, b):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-5, 5, (30, 30)).astype(dtype) for dtype in (a, b))
    found = xp.asarray(x) @ xp.asarray(y)
    assert found.dtype == (x @ y).dtype
    np.testing.assert_allclose(np.asarray(found), x @ y, rtol=1e-5)


def test_nothing_is_said_of_overflow():
    huge = xp.asarray(np.full((300, 300), 1e300))
    for x, y in ((huge, huge), (huge[0], huge), (huge[0], huge[1]), (huge[0, :3], huge[1, :3])):
        assert np.isinf(np.asarray(x @ y)).all()


@pytest.mark.parametrize(("m", "n", "k"), [(1, 2000, 2000), (40, 40, 40), (7, 9, 700)])
def test_the_library_is_chosen_by_shapes(m, n, k):
    assert is_for_library(m, n, k) == (min(m, n) > 1 and m * n * k >= LIBRARY_WORK and m * n >= 64)


def test_what_threads_share_is_left_to_kernels(monkeypatch):
    monkeypatch.setattr(products, "ALONE_WORK", 50_000)
    rng = np.random.default_rng(0)
    x, v = (held(numbers(rng, shape, "float64"), "rows", "memory") for shape in ((300, 300), (300,)))
    found: list[Any] = []
    for threads in (1, 2):
        with context(num_threads=threads):
            z = x @ v
            assert (z._value is not None) is (threads == 1)
            found.append(np.asarray(z))
    assert same(*found)
