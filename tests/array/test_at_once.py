"""What is known and small is computed at its line, with the bits of the graph, and is seen wherever it is shared."""

from __future__ import annotations

import gc
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_array._array import programs
from uopc_array._array.at_once import LARGEST
from uopc_core import context

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
DTYPES += ["complex64", "complex128"]
NUMBERS = [
    0,
    1,
    -1,
    3,
    300,
    2**40,
    2**70,
    0.5,
    -0.0,
    2.0,
    float("nan"),
    float("inf"),
    1e300,
    True,
    1j,
    complex(-0.0, float("inf")),
]
OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]
IN_PLACE = [
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod),
    *(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift, operator.ipow),
]
UNARY = [operator.neg, operator.pos, operator.abs, operator.invert]


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    with context(at_once=1 << 15, tier="auto"):
        yield


def special_values(dtype: str) -> Any:
    if dtype == "bool":
        return np.array([True, False, True])
    if dtype.startswith("complex"):
        parts = special_values("float32" if dtype == "complex64" else "float64")
        return (parts + 1j * parts[::-1].astype(parts.dtype)).astype(dtype)
    if dtype.startswith("float"):
        return np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-40, 3e38, 7.0, -7.0], dtype)
    info = np.iinfo(dtype)
    return np.array([0, 1, 2, 7, info.max, info.min, info.max - 1, 8, 63]).astype(dtype)


def is_known(x: Any) -> bool:
    """Whether the value is there, and no node."""
    return x._value is not None


def outcome(f: Callable[[], Any]) -> Any:
    """Dtype, shape and bytes of what `f` gives, and whether it is a number; or what it raises."""
    try:
        x = f()
    except Exception as error:
        return type(error), str(error)
    return x.dtype, x.shape, np.asarray(x).tobytes(), getattr(x, "_is_number", None)


def both_ways(f: Callable[[], Any]) -> None:
    with context(at_once=0):
        expected = outcome(f)
    assert outcome(f) == expected


@pytest.mark.parametrize("function", OPERATORS + IN_PLACE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_have_the_bits_and_the_errors_of_the_graph(function: Any, dtype: str) -> None:
    for other in DTYPES:
        a, b = np.meshgrid(special_values(dtype), special_values(other))
        both_ways(lambda a=a, b=b: function(xp.asarray(a), xp.asarray(b)))
        for b in special_values(other):
            both_ways(lambda b=b: function(xp.asarray(special_values(dtype)), xp.asarray(b)[()]))
            both_ways(lambda b=b: function(xp.asarray(b)[()], xp.asarray(special_values(dtype))))
    for number in NUMBERS:
        both_ways(lambda number=number: function(xp.asarray(special_values(dtype)), number))
        both_ways(lambda number=number: function(xp.asarray(special_values(dtype))[1], number))
        if function in OPERATORS:
            both_ways(lambda number=number: function(number, xp.asarray(special_values(dtype))))
            both_ways(lambda number=number: function(number, xp.asarray(special_values(dtype))[1]))


@pytest.mark.parametrize("function", OPERATORS + IN_PLACE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_take_what_is_numpys(function: Any, dtype: str) -> None:
    first = DTYPES.index(dtype) + IN_PLACE.count(function)
    for other in [DTYPES[(first + i) % len(DTYPES)] for i in (0, 3, 6)]:
        a, b = np.meshgrid(special_values(dtype), special_values(other))
        both_ways(lambda a=a, b=b: function(xp.asarray(a), b))
        for b in special_values(other)[::3]:
            both_ways(lambda b=b: function(xp.asarray(special_values(dtype)), b))
            both_ways(lambda b=b: function(xp.asarray(special_values(dtype))[1], b))
            if function in OPERATORS:
                both_ways(lambda b=b: function(b, xp.asarray(special_values(dtype))))


def test_operands_of_numpy_are_computed_at_once() -> None:
    x = xp.arange(6.0)
    for y in (np.float64(2), np.int32(2), np.ones(6), np.ones((4, 1), "float32")):
        assert is_known(x * y)
        assert is_known(np.multiply(y, x))
        assert is_known(xp.hypot(x, y))
    assert is_known(np.float64(2) * x)
    axis: Any = np.int64(0)
    assert xp.sum(x, axis=axis) == 15.0


KEYS: list[Callable[[Callable[[int], Any]], Any]] = [
    *(lambda n: n(2), lambda n: n(-1), lambda n: slice(n(1), n(3)), lambda n: slice(None, n(-1), n(2))),
    *(lambda n: (n(1), n(2)), lambda n: (n(1), slice(n(0), n(2))), lambda n: (..., n(1)), lambda n: (None, n(1))),
    lambda n: [n(0), n(2)],
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", ["int64", "uint8", "int16", "bool", "float64"])
def test_keys_may_hold_integers_of_ours_and_of_numpys(key: Callable[[Callable[[int], Any]], Any], kind: str) -> None:
    for number in (lambda n: np.dtype(kind).type(n), lambda n: xp.asarray(n).astype(kind)[()]):
        if kind in ("uint8", "bool"):
            number = lambda n, number=number: number(abs(n))  # noqa: E731

        def read(number: Any = number) -> Any:
            return xp.asarray(A.copy())[key(number)]

        def write(number: Any = number) -> Any:
            x = xp.asarray(A.copy())
            x[key(number)] = number(1)
            return x

        both_ways(read)
        both_ways(write)


@pytest.mark.parametrize(
    "key",
    [
        *(lambda n: n(7), lambda n: (n(0), n(-5)), lambda n: (n(0), n(0), n(0)), lambda n: slice(n(0), n(3), n(0))),
        lambda n: xp.stack([n(1), n(3)]),
    ],
)
def test_known_places_that_are_not_there_are_found_at_the_line(key: Callable[[Callable[[int], Any]], Any]) -> None:
    x = xp.asarray(A.copy())
    for number in (np.int64, lambda n: xp.asarray(n)[()]):
        with pytest.raises((IndexError, ValueError), match=r"out of bounds|too many|zero"):
            x[key(number)]
        with pytest.raises((IndexError, ValueError), match=r"out of bounds|too many|zero"):
            x[key(number)] = 1.0
    np.testing.assert_array_equal(np.asarray(x), A)


@pytest.mark.parametrize("places", [np.array([0, 2, -1]), np.array([[1], [0]], "uint8"), np.array([True, False, True])])
def test_places_may_be_numpys(places: Any) -> None:
    def write() -> Any:
        x = xp.asarray(A.copy())
        x[places] = np.float32(0.5)
        x[places] += np.arange(4)
        return x

    both_ways(lambda: xp.asarray(A)[places])
    both_ways(write)


def test_a_view_keeps_the_integers_that_its_key_had() -> None:
    x, n = xp.arange(9.0), xp.asarray([2, 5])
    view = x[n[0] : n[1]]
    n[0] = 0
    x[2] = 50.0
    assert view.tolist() == [50.0, 3.0, 4.0]


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_one_operand_too(function: Any, dtype: str) -> None:
    both_ways(lambda: function(xp.asarray(special_values(dtype))))
    both_ways(lambda: function(xp.asarray(special_values(dtype))[0]))


@pytest.mark.parametrize("name", sorted(n for n in dir(xp) if isinstance(getattr(xp, n), type(xp.add).__mro__[-2])))
def test_ufuncs_have_the_bits_and_the_errors_of_the_graph(name: str) -> None:
    function = getattr(xp, name)
    if function.signature is not None:
        return
    for dtype in DTYPES:
        a, b = np.meshgrid(special_values(dtype), special_values(dtype))
        operands = (a, b)[: function.nin]

        def called(operands: Any = operands) -> Any:
            out = function(*[xp.asarray(x) for x in operands])
            return xp.stack([xp.astype(x, "complex128") for x in out]) if isinstance(out, tuple) else out

        both_ways(called)


@pytest.mark.parametrize("name", sorted(n for n in dir(xp) if isinstance(getattr(xp, n), type(xp.add).__mro__[-2])))
def test_ufuncs_take_numbers_of_pythons(name: str) -> None:
    function = getattr(xp, name)
    if function.signature is not None or function.nout != 1:
        return
    if function.nin == 1:
        for number in NUMBERS:
            both_ways(lambda number=number: function(number))
        return
    for dtype in DTYPES[len(name) % 3 :: 3]:
        for number in NUMBERS:
            for _ in range(3):  # by the graph, by a program that is made, and by what that becomes
                both_ways(lambda number=number, dtype=dtype: function(xp.asarray(special_values(dtype)), number))
                both_ways(lambda number=number, dtype=dtype: function(number, xp.asarray(special_values(dtype))[1]))


A, B = np.arange(12.0).reshape(3, 4), np.linspace(-1, 2, 12).reshape(3, 4)
STATEMENTS = [
    *(
        "r = x + y",
        "r = x * 2 - y / 3",
        "r = -x",
        "x += y",
        "x -= 1.5",
        "x[1] = 7",
        "x[0, 1] = y[2, 3]",
        "x[:, 1] = 0.5",
    ),
    *("x[1:] = x[:-1]", "x[::-1] = x", "x[x > 5] = 0.0", "v = x[1]; v += 1", "v = x.T; v[0] = y[:, 1]; r = v * 2"),
    *("v = x[1:, ::2]; w = v[0]; w[...] = 9.0", "v = x.reshape(4, 3); v[0] *= 2", "r = x[1, 2]; r += 1"),
    *("x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3", "r = xp.sum(x); x[0] = 100.0", "v = x[2]; x = x + 1; v[0] = 50"),
    *("r = xp.exp(x); x[0] = -1.0", "v = x[0]; r = xp.sum(v); v[1] = 8.0; r = r + v", "r = x @ y.T; x *= 0"),
    *(
        "v = x[:2]; r = xp.sin(xp.concatenate([v, y])); v[:] = 0",
        "r = x[[0, 2]]; r[0] = 1",
        "r = xp.where(x > 3, x, y)",
    ),
    *("v = x[1]; big = xp.zeros((200, 200)) + v[0]; v[0] = 3; r = v", "r = x.copy(); x[0] = 5", "r = x > y; x[r] = 1"),
    *(
        "v = x[1]; x.shape = (4, 3); v[0] = 77",
        "v = x.flat; v[3] = -3.0",
        "i = xp.asarray([2, 0]); x[i] = y[i]; r = x[i]",
    ),
]


STATEMENTS += [
    *("v = x.ravel(); v[1] = 5", "v = x[:, ::2].reshape(-1); v[0] = 3", "v = x[::2].ravel(); v[0] = 4; r = v + 1"),
    *(
        "v = xp.flip(x, 1); v[0] = 8",
        "v = xp.flip(x); r = v[1:]; r[0, 0] = -2",
        "v = xp.expand_dims(x, 1); v[0] = y[1]",
    ),
    *("v = x.real; v[2] = 6", "v = x.view(); v[1, 1] = 2.5", "r = xp.broadcast_to(x[1], (3, 4)); x[1] = 0; r = r * 2"),
    *(
        "r = xp.diagonal(x); x[1, 1] = 13",
        "r = xp.diag(x[0])",
        "x.fill(2)",
        "v = x.flat; v[2:5] = 1",
        "r = xp.asarray([x[0, 0], 1])",
    ),
    *(
        "r = xp.einsum('ij,ij->j', x, y)",
        "r = xp.asarray([[q, 1.0] for q in x[0]])",
        "r = x @ x.T @ x",
        "r = xp.dot(x[0], y[1])",
    ),
    *("r = xp.concatenate([x, [[1.0, 2, 3, 4]]])", "r = xp.stack([x[0], y[1]])", "r = xp.asarray(x.mean(axis=0))"),
]


def is_shared(x: Any, view: Any) -> bool:
    """Whether what is written to the one is seen in the other."""
    before = view.tolist()
    x[...] = 55.0
    return view.tolist() != before


@pytest.mark.parametrize(
    "view",
    [
        *(
            lambda x: x.T,
            lambda x: x.reshape(4, 3),
            lambda x: x.ravel(),
            lambda x: x[::2].ravel(),
            lambda x: x.T.ravel(),
        ),
        *(lambda x: x.T.reshape(12), lambda x: x[:, ::2].reshape(6), lambda x: x[1].reshape(2, 2), lambda x: x.real),
        *(
            lambda x: x.view("int64"),
            lambda x: x.swapaxes(0, 1)[1:],
            lambda x: x.diagonal(),
            lambda x: x[:, None].squeeze(),
        ),
        *(lambda x: x[1:, ::-1].T[None], lambda x: x.transpose().reshape(2, 6), lambda x: x.flatten()),
    ],
)
def test_small_views_share_memory_where_those_of_numpy_do(view: Callable[[Any], Any]) -> None:
    x, expected = xp.asarray(A), A.copy()
    found, theirs = view(x), view(expected)
    assert is_known(found)
    assert found.flags.writeable == theirs.flags.writeable
    np.testing.assert_array_equal(found, theirs)
    assert is_shared(x, found) == is_shared(expected, theirs)


def test_small_views_that_may_not_be_written_to_are_not() -> None:
    x = xp.asarray(A)
    for view in (xp.broadcast_to(x[0], (2, 4)), x.diagonal(), xp.broadcast_to(x[0], (2, 4))[1], x.diagonal()[1:]):
        assert is_known(view)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            view += 1.0


def test_what_comes_with_ever_new_numbers_makes_no_program() -> None:
    x = xp.asarray(A)
    before = len(programs._programs)
    for k in range(50):
        assert xp.maximum(x, k / 7).shape == (3, 4)
        assert (x % (k + 0.5)).shape == (3, 4)
    assert len(programs._programs) <= before + 2


@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6))
def test_what_shares_memory_with_numpy_shares_it_here(statements: list[str]) -> None:
    worlds = []
    for module, make in ((np, np.array), (xp, xp.asarray)):
        names: dict[str, Any] = {"xp": module, "x": make(A), "y": make(B), "r": make(A), "v": make(B), "w": 0.0}
        for statement in statements:
            names["x"] = names["x"].reshape(3, 4)
            exec(statement, names)
        worlds.append({name: np.array(names[name]) for name in "xyrv"})
    expected, found = worlds
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-13, atol=1e-13)


def test_a_view_is_current_when_its_base_gets_a_node() -> None:
    x = xp.asarray(np.arange(6.0))
    view = x[1:4]
    assert is_known(x)
    assert is_known(view)
    large = xp.zeros(100_000) + x[0]  # a graph
    x[2] = 20.0
    assert view.tolist() == [1.0, 20.0, 3.0]
    pending = xp.sum(large) + xp.sum(xp.zeros(100_000) * xp.sum(x))
    x._uop  # somebody looks at the node
    assert not is_known(x)
    view[0] = 10.0
    x[3] = 30.0
    assert view.tolist() == [10.0, 20.0, 30.0]
    assert x.tolist() == [0.0, 10.0, 20.0, 30.0, 4.0, 5.0]
    assert float(pending) == 0.0


def test_what_is_recorded_does_not_see_later_writes() -> None:
    x = xp.asarray(np.arange(3.0))
    pending = xp.zeros((100_000, 1)) + x
    x[0] = 5.0
    assert pending[7].tolist() == [0.0, 1.0, 2.0]
    assert x.tolist() == [5.0, 1.0, 2.0]


def test_derivatives_and_traces_see_what_is_known() -> None:
    x, weight = xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0])
    assert is_known(weight)
    np.testing.assert_array_equal(xp.grad(lambda x: xp.sum(x * weight))(x), [3.0, 4.0])
    state = xp.asarray([1.0, 1.0])

    @xp.jit
    def step(x: Any) -> Any:
        state[:] = state * 2
        return x + state

    assert step(x).tolist() == [3.0, 4.0]
    assert step(x).tolist() == [5.0, 6.0]
    assert state.tolist() == [4.0, 4.0]
    np.testing.assert_array_equal(xp.vmap(lambda x: x * weight)(xp.stack([x, x])), [[3.0, 8.0], [3.0, 8.0]])


def test_numpy_does_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    with np.errstate(all="warn"):
        x = xp.asarray([0.0, 1.0, 1e308])
        assert [is_known(y) for y in (x / 0.0, x * 1e308, xp.sqrt(-x), xp.exp(x))] == [True] * 4
        x /= 0.0
    assert not recwarn.list


def test_a_result_that_is_large_has_a_node() -> None:
    column = xp.zeros((1000, 1))
    assert is_known(column)
    table = column + xp.zeros(1000)
    assert not is_known(table)


def test_what_is_kept_of_a_view_of_a_view_stays_short() -> None:
    x = xp.asarray(np.arange(200.0))
    view = x
    for _ in range(60):
        view = view[1:]
    view[0] = -1.0
    assert x[60].item() == -1.0
    assert view.shape == (140,)


def test_an_array_that_is_seen_keeps_its_size() -> None:
    x = xp.asarray(np.arange(6.0))
    view = x[1:]
    with pytest.raises(ValueError, match="views"):
        x.resize(9)
    del view
    gc.collect()
    x.resize(2)
    assert x.tolist() == [0.0, 1.0]


def test_threads_that_write_different_rows_lose_nothing() -> None:
    x = xp.zeros((8, 50))
    assert is_known(x)

    def fill(row: int) -> None:
        view = x[row]
        for i in range(50):
            view[i] = row + 1.0
            x[row, i] = view[i] * 2
            if i == 25 and row == 3:
                x._uop  # in the midst of it, the array gets a node

    threads = [threading.Thread(target=fill, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.asarray(x), np.repeat(np.arange(1.0, 9)[:, None] * 2, 50, 1))


@pytest.mark.parametrize(
    "grow",
    [
        lambda x: x[:, None] - x[None, :],
        lambda x: x[:, None] < x,
        lambda x: 2 ** (x[:, None] * 1.5 + x),
        lambda x: xp.add(x[:, None], x),
        lambda x: xp.hypot(x[:, None], x),
        lambda x: xp.where(x[:, None] > 0, x, 1.0),
        lambda x: xp.broadcast_to(x, (1000, 600)) + 1,
        lambda x: xp.tile(x, 600),
        lambda x: xp.repeat(x, 600),
        lambda x: xp.concat([x] * 600),
        lambda x: xp.linalg.outer(x, x),
        lambda x: xp.add.outer(x, x),
        lambda x: x[xp.zeros((600, 600), dtype=xp.int64)],
        lambda x: xp.ones((600, 600))[xp.zeros(600, dtype=xp.int64)],
        lambda x: xp.take(x, xp.zeros((600, 600), dtype=xp.int64)),
        lambda x: xp.pad(x, 150_000),
    ],
)
def test_what_is_small_and_gives_what_is_large_waits(grow: Callable[[Any], Any]):
    result = grow(xp.arange(600.0))
    assert result.size > LARGEST
    assert not is_known(result)
    assert result._uop.realized is None


@pytest.mark.parametrize("dtype", DTYPES[:-2])
@pytest.mark.parametrize("how", ["argmax", "argmin"])
def test_places_of_extremes_are_found_at_the_line(how: str, dtype: str):
    rng = np.random.default_rng(4)
    for shape in ((1,), (7,), (3, 5), (2, 3, 4)):
        values = rng.integers(0, 3, shape).astype(dtype)
        if dtype.startswith("float"):
            values[rng.random(shape) < 0.2] = np.nan
        for axis in (None, *range(-len(shape), len(shape))):
            for keepdims in (False, True):
                wanted = getattr(np, how)(values, axis, keepdims=keepdims)
                got = getattr(xp, how)(xp.asarray(values), axis, keepdims=keepdims)
                assert is_known(got)
                assert got.dtype == np.int64
                with context(at_once=0):
                    graphs = getattr(xp, how)(xp.asarray(values), axis, keepdims=keepdims)
                for result in (got, graphs):
                    np.testing.assert_array_equal(np.asarray(result), wanted, strict=True)
    for wrong in (lambda: xp.argmax(xp.asarray(3.0), 0), lambda: xp.argmin(xp.zeros((2, 0)), 1)):
        with pytest.raises((ValueError, IndexError), match="arg"):
            wrong()


SEQUENCES: dict[str, Callable[[Any, Any], Any]] = {
    "arrays": lambda x, y: [x, y],
    "numbers": lambda x, y: [x[0], y[1], x[2]],
    "nested": lambda x, y: [[x[0], 2], (y[1], 0.5)],
    "arrays in arrays": lambda x, y: [[x, y], [y, x]],
    "with numbers of Python's": lambda x, y: [x[0], 1, 2.5],
    "with bools": lambda x, y: [x[1], True],
    "with complex ones": lambda x, y: [x[1], 1j],
    "with integers of any size": lambda x, y: [x[1], 2**63],
    "with larger ones": lambda x, y: [x[1], 2**64],
    "with NumPy's": lambda x, y: [x, np.arange(3.0), np.float32(2) * np.ones(3, "float32")],
    "with NumPy's numbers": lambda x, y: [x[0], np.int8(3)],
    "with NumPy's bools": lambda x, y: [x, np.array([True, False, True])],
    "of other shapes": lambda x, y: [x, y[:2]],
    "of other depths": lambda x, y: [x, y[0]],
    "with nothing": lambda x, y: [x[:0], y[:0]],
    "with None": lambda x, y: [x[0], None],
    "with text": lambda x, y: [x[0], "a"],
    "of no axes": lambda x, y: [xp.asarray(x[0]), y[0]],
}


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float32", "float64", "complex64"])
def test_sequences_of_arrays_are_stacked_at_once(name: str, dtype: str) -> None:
    for other in ("int64", "uint64", "float32", "float64", dtype):
        x, y = special_values(dtype)[:3], special_values(other)[-3:]
        for f in (xp.asarray, xp.array, lambda items: xp.asarray(items, dtype="float64")):
            both_ways(lambda f=f, x=x, y=y: f(SEQUENCES[name](xp.asarray(x), xp.asarray(y))))
    one = xp.asarray([1.0, 2.0, 3.0])
    if name in ("arrays", "nested", "with complex ones"):
        stacked = xp.asarray(SEQUENCES[name](one, one))
        assert is_known(stacked)
        one[0] = 7.0  # which the copy does not see
        assert np.asarray(stacked).ravel()[0] == (2.0 if name == "with complex ones" else 1.0)


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("target", ["int64", "float64"])
def test_results_are_stored_at_once(dtype: str, target: str) -> None:
    values, start = special_values(dtype)[:3], np.zeros((2, 3), target)

    def stored(f: Callable[[Any, Any], Any], part: Callable[[Any], Any]) -> Any:
        base = xp.asarray(start)
        f(part(base), xp.asarray(values))
        return base

    def part_that_is_read_only(x: Any) -> Any:
        return xp.broadcast_to(x[0], (2, 3))[0]

    for part in (lambda x: x[0], lambda x: x, lambda x: x.T[::-1], lambda x: x[1:, :2], part_that_is_read_only):
        both_ways(lambda part=part: stored(lambda out, x: xp.add(x, x, out=out), part))
        both_ways(lambda part=part: stored(lambda out, x: xp.multiply(x, 2, out=out, casting="unsafe"), part))
        both_ways(lambda part=part: stored(lambda out, x: xp.copyto(out, x), part))
        both_ways(lambda part=part: stored(lambda out, x: xp.copyto(out, x, casting="unsafe"), part))
        both_ways(lambda part=part: stored(lambda out, x: xp.copyto(out, x, casting="as it comes"), part))
    base = xp.asarray(start)
    view = base[0]
    x = xp.asarray(np.ones(3, target))
    assert xp.add(x, x, out=view) is view
    xp.copyto(base[1], x)
    assert is_known(base)
    assert np.asarray(base).tolist() == [[2, 2, 2], [1, 1, 1]]


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_and", "hypot"])
def test_reductions_of_ufuncs_are_those_of_the_graph(name: str) -> None:
    for dtype in ("bool", "int64", "float32", "float64", "complex128"):
        x = np.stack([special_values(dtype)[:3], special_values(dtype)[-3:]])
        for options in ({}, {"axis": 1}, {"axis": None}, {"keepdims": True}, {"initial": 2}, {"dtype": "float64"}):
            for _ in range(3):
                both_ways(lambda x=x, options=options: getattr(xp, name).reduce(xp.asarray(x), **options))


def test_what_numpy_computes_leaves_values_where_they_are() -> None:
    x = xp.asarray([1, 2, 1])
    counts = xp.bincount(x)
    assert is_known(x)
    assert is_known(counts)
    assert np.asarray(counts).tolist() == [0, 2, 1]
    values = x.to_numpy()
    values[0] = 9
    assert is_known(x)
    assert np.asarray(x).tolist() == [1, 2, 1]
    both_ways(lambda: xp.interp(xp.asarray(0.5)[()], xp.asarray([0.0, 1.0]), xp.asarray([0.0, 10.0])))
    both_ways(lambda: xp.bincount(xp.asarray([1, 2, 1])[::-1]))


OUTER: list[Any] = [
    (lambda x: x[:, 1], lambda x: x[1]),
    (lambda x: x[1], lambda x: x[:2, ::2]),
    (lambda x: x[:2, ::2].T, lambda x: x[1]),
    (lambda x: x[1, 1], lambda x: x[1]),
    (lambda x: x[1], lambda x: x[1, 1]),
]


@pytest.mark.parametrize("n", [3, 60])
@pytest.mark.parametrize(("left", "right"), OUTER)
def test_outer_of_what_is_known_is_known(left: Any, right: Any, n: int) -> None:
    values = np.arange(n * n * 1.0).reshape(n, n)
    x = xp.asarray(values)
    for theirs, ours in [(np.add, xp.add), (np.multiply, np.multiply), (np.arctan2, xp.arctan2)]:
        wanted: Any = theirs.outer(left(values), right(values))
        for _ in range(3):
            result: Any = ours.outer(left(x), right(x))
            assert is_known(result)
            assert result.shape == wanted.shape
            np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-15)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_parts_of_every_size_are_flipped_the_same_way(axis: Any) -> None:
    values = np.arange(60.0).reshape(6, 10)
    x = xp.asarray(values)
    for i in range(7):
        for j in range(11):
            for part in (lambda x, i=i, j=j: x[:i, :j], lambda x, i=i, j=j: x[i:, j:].T):
                both_ways(lambda part=part: xp.flip(part(xp.asarray(values)), axis))
                assert np.asarray(xp.flip(part(x), axis)).tolist() == np.flip(part(values), axis).tolist()
    with pytest.raises(ValueError, match="axis"):
        xp.flip(x[0], 1)
    assert np.asarray(xp.flip(x[0], 0)).tolist() == values[0, ::-1].tolist()
