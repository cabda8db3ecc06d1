"""Calls of jitted functions that C makes: the bits and kinds of those that Python makes, for whatever is given, and
none where anything is not as it was.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_array._array.extension import IN_C
from uopc_core import context
from uopc_core.errors import TraceError
from uopc_core.runtime.runner import prepare_runtime

pytestmark = pytest.mark.skipif(IN_C is None, reason="calls in C have not been built in this environment")
DTYPES = ["bool", "int8", "int32", "int64", "uint16", "uint64", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    prepare_runtime()  # which has calls of its own until that is there
    with context(at_once=1 << 15, tier="auto", verify=False):
        yield


def prepared(f: Any, *args: Any) -> Any:
    """`f`, jitted, after a call with `args` that can be made by C from now on."""
    jitted = xp.jit(f)
    for _ in range(4):  # interpreted, compiled, prepared
        jitted(*args)
    assert len(jitted._prepared) == 1
    return jitted


def frames(call: Callable[[], Any]) -> int:
    """How many functions of Python a call goes through."""
    n = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal n
        n += event == "call"

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return n - 1  # the lambda


def facts(x: Any) -> Any:
    """All that can be seen of a result."""
    if isinstance(x, dict):
        return type(x), {key: facts(item) for key, item in x.items()}  # in the order of the call that was traced
    if isinstance(x, tuple | list):
        return type(x), [facts(item) for item in x]
    if not isinstance(x, xp.Array):
        return type(x), x
    return x._is_number, x._is_writable, x.dtype, x.shape, np.asarray(x).tobytes()


def in_python(f: Any, *args: Any) -> Any:
    """What `f`, jitted anew, gives the second time, all by Python: compiled code as well."""
    jitted = xp.jit(f)
    with context(tier="compile"):
        jitted(*args)
        return jitted(*args)


def values_of(dtype: str, shape: tuple[int, ...]) -> Any:
    values = np.random.default_rng(len(shape)).integers(0, 5, shape)
    return (values + 0.25 if np.dtype(dtype).kind in "fc" else values).astype(dtype)


ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "known": lambda v: xp.asarray(v),
    "in memory": lambda v: in_memory(xp.asarray(v)),
    "pending": lambda v: in_memory(xp.asarray(v))[...] if v.ndim else xp.asarray(v),
    "turned": lambda v: xp.asarray(np.ascontiguousarray(v.T)).T,
    "part": lambda v: xp.asarray(np.stack([v, v]))[1],
    "strided": lambda v: xp.asarray(np.stack([v, v], axis=-1))[..., 0],
    "number": lambda v: xp.asarray(v.reshape(-1)[0])[()],
    "no axes": lambda v: xp.asarray(v.reshape(-1)[0]),
    "NumPy's": lambda v: v.copy(),
    "NumPy's, read-only": lambda v: np.broadcast_to(v, v.shape),
    "NumPy's, turned": lambda v: np.ascontiguousarray(v.T).T,
    "NumPy's, swapped": lambda v: v.astype(v.dtype.newbyteorder(">")),
    "number of a node": lambda v: in_memory(xp.asarray(v.reshape(-1)[0])[()]),
}


def in_memory(x: Any) -> Any:
    x._uop
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_arguments_of_every_kind_give_what_python_gives(kind: str, dtype: str) -> None:
    values = values_of(dtype, (3, 4))
    make = ARGUMENTS[kind]
    for f in (lambda x: x + x, lambda x: xp.sum(x), lambda x: (x * x, xp.max(x.real), x[..., None] == x[..., None])):
        jitted = xp.jit(f)
        for _ in range(4):
            jitted(make(values))
        for theirs, make_other in ARGUMENTS.items():
            for other in (values, values[:2], values.real.astype("float32"), values[0]):
                x = make_other(other)
                assert facts(jitted(x)) == facts(in_python(f, x)), theirs


@pytest.mark.parametrize("kind", ["known", "in memory", "number", "no axes", "number of a node", "NumPy's"])
def test_the_usual_arguments_go_through_no_python(kind: str) -> None:
    x, y = ARGUMENTS[kind](values_of("float64", (3, 4))), xp.asarray([1.0, 2.0, 3.0, 4.0])
    for f, args in [
        (lambda x, y: xp.sin(x) * y, (x, y)),
        (lambda x, a: (x + a, xp.sum(x) * a), (x, 2.5)),
        (lambda x, n: x * n, (x, 3)),
        (xp.value_and_grad(lambda y, x: xp.sum(y * y * xp.sum(x))), (y, x)),
    ]:
        jitted = prepared(f, *args)
        if kind != "no axes":  # of a node by now
            assert frames(lambda: jitted(*args)) == 0
        assert facts(jitted(*args)) == facts(in_python(f, *args))


@given(st.data())
def test_random_calls_one_after_the_other(data: st.DataObject) -> None:
    """Arguments change as they like; what comes is what a function gives that is called with nothing else."""

    def f(x: Any, y: Any, a: Any) -> Any:
        return xp.sum(x * y, axis=0) * a - y, x

    def g(x: Any, y: Any, a: Any) -> Any:
        return (x + y * a, xp.sum(x), x > a)

    body = data.draw(st.sampled_from([f, g]))
    jitted = xp.jit(body)
    shapes = st.sampled_from([(3,), (2, 3), (0, 3), (1, 3)])
    numbers = st.sampled_from([2.0, 3, -1, 0.5, 2**62, float("nan")])
    for _ in range(data.draw(st.integers(2, 8))):
        x = xp.asarray(values_of(data.draw(st.sampled_from(["float64", "int64"])), data.draw(shapes)))
        y = xp.asarray(values_of("float64", data.draw(shapes)[-1:]))
        args = x, y, data.draw(numbers)
        for _ in range(data.draw(st.integers(1, 3))):
            assert facts(jitted(*args)) == facts(in_python(body, *args))


def doubled(tree: Any) -> Any:
    """The same containers, with twice the numbers."""
    if isinstance(tree, dict):
        return {key: doubled(item) for key, item in tree.items()}
    if isinstance(tree, list | tuple):
        items = [doubled(item) for item in tree]
        return items if type(tree) is list else tuple(items)
    return tree if tree is None or isinstance(tree, bool | str) else tree * 2.0


def deep(x: Any, levels: int) -> Any:
    return [deep(x, levels - 1)] if levels else x


class Pair(NamedTuple):
    x: Any
    y: Any


class OwnDict(dict[Any, Any]):
    pass


TREES: dict[str, Callable[[Any, Any], Any]] = {
    "dict": lambda x, y: {"b": x, "a": y},
    "dict in another order": lambda x, y: {"a": y, "b": x},
    "dict of other names": lambda x, y: {"b": x, "c": y},
    "dict of numbers": lambda x, y: {2: x, 1: y},
    "dict of bools": lambda x, y: {2: x, True: y},
    "dict of fewer": lambda x, y: {"b": x},
    "dict of more": lambda x, y: {"b": x, "a": y, "c": x},
    "dict of another": lambda x, y: {"b": {"a": y}, "a": x},
    "list": lambda x, y: [x, y],
    "tuple": lambda x, y: (x, y),
    "list of lists": lambda x, y: [[x], [], [y, x]],
    "nested": lambda x, y: [(x, {"w": y, "n": None}), ({}, "mode"), {"flag": True, "at": 0.5}],
    "nested, with another flag": lambda x, y: [(x, {"w": y, "n": None}), ({}, "mode"), {"flag": False, "at": 0.5}],
    "nested, with another text": lambda x, y: [(x, {"w": y, "n": None}), ({}, "Mode"), {"flag": True, "at": 0.5}],
    "nested, with 1 for True": lambda x, y: [(x, {"w": y, "n": None}), ({}, "mode"), {"flag": 1, "at": 0.5}],
    "nested, of arrays": lambda x, y: [(x, {"w": y, "n": None}), ({}, "mode"), {"flag": True}],
    "named": lambda x, y: Pair(x, y),
    "ordered": lambda x, y: OrderedDict(b=x, a=y),
    "with defaults": lambda x, y: defaultdict(list, b=x, a=y),
    "deep": lambda x, y: [deep(x, 20), y],
    "of 80": lambda x, y: [x, y] * 40,
}
LEAVES: list[tuple[Any, Any]] = [
    (xp.asarray([1.0, 2.0]), xp.asarray([[3.0]])),
    (xp.asarray([1.0, 2.0, 3.0]), xp.asarray([[3.0]])),
    (xp.asarray([1.0, 2.0]), 2.5),
    (np.array([1.0, 2.0]), xp.asarray([1, 2])),
]


def with_number(tree: Any, at: Any = 1.0) -> Any:
    return doubled(tree), at * 2.0


@cache
def expected_of(name: str, i: int) -> Any:
    return facts(in_python(with_number, TREES[name](*LEAVES[i])))


@pytest.mark.parametrize("first", ["dict", "list of lists", "nested", "nested, of arrays", "of 80"])
def test_containers_give_what_python_gives(first: str) -> None:
    jitted = xp.jit(with_number)
    for _ in range(4):
        jitted(TREES[first](*LEAVES[0]))
    for name, make in TREES.items():
        for i, leaves in enumerate(LEAVES):
            for _ in range(2):
                assert facts(jitted(make(*leaves))) == expected_of(name, i), name
    with pytest.raises(TraceError, match="hashable"):
        jitted(OwnDict(TREES["dict"](*LEAVES[0])))


@pytest.mark.parametrize("name", ["dict", "dict of numbers", "list", "tuple", "list of lists", "nested, of arrays"])
def test_containers_go_through_no_python(name: str) -> None:
    x, y = LEAVES[0]
    tree = TREES[name](x, y)
    jitted = prepared(doubled, tree)
    assert frames(lambda: jitted(tree)) == 0
    named = xp.jit(lambda *, tree, rate: (doubled(tree), rate * 2))
    for _ in range(4):
        named(tree=tree, rate=x)
    assert frames(lambda: named(rate=x, tree=tree)) == 0
    assert frames(lambda: named(rate=y, tree=tree)) > 0
    assert facts(named(tree=tree, rate=x)) == facts((doubled(tree), x * 2))


def test_a_container_that_changes_is_read_as_it_is() -> None:
    x, y = LEAVES[0]
    tree = {"layers": [x, x]}
    jitted = prepared(doubled, tree)
    tree["layers"].append(y)
    assert facts(jitted(tree)) == facts(doubled(tree))
    tree["layers"][:] = [x]
    assert facts(jitted(tree)) == facts(doubled(tree))
    assert np.asarray(xp.grad(lambda x: xp.sum(jitted({"layers": [x, x]})["layers"][0]))(x)).tolist() == [2.0, 2.0]


def test_results_are_nobody_elses() -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    jitted = prepared(lambda x: x + 0.5, x)
    first = jitted(x)
    second = jitted(x)
    first[0] = 100.0
    x[1] = 50.0
    assert np.asarray(second).tolist() == [1.5, 2.5, 3.5]
    assert np.asarray(jitted(x)).tolist() == [1.5, 50.5, 3.5]
    assert np.asarray(first).tolist() == [100.0, 2.5, 3.5]


def test_results_do_not_share_the_memory_of_arrays_of_numpys() -> None:
    x = np.arange(3.0)
    jitted = prepared(lambda x: x + 0.5, x)
    result = jitted(x)
    x[0] = 100.0
    assert np.asarray(result).tolist() == [0.5, 1.5, 2.5]
    assert np.asarray(jitted(x)).tolist() == [100.5, 1.5, 2.5]


def test_bytes_of_bool_that_are_neither_0_nor_1() -> None:
    odd = np.array([0, 1, 2, 255], np.uint8).view(bool)
    jitted = prepared(lambda x: (~x, xp.sum(x)), xp.asarray([True, False, True, True]))
    truth, total = jitted(odd)
    assert np.asarray(truth).view(np.uint8).tolist() == [1, 0, 0, 0]
    assert int(total) == 3


def test_writes_to_arguments_are_seen_by_the_next_call() -> None:
    base = xp.asarray(np.arange(12.0).reshape(4, 3))
    row = base[1]
    jitted = prepared(lambda x: xp.sum(x), row)
    assert float(jitted(row)) == 12.0
    base[1, 0] = 10.0
    assert float(jitted(row)) == 19.0
    base._uop  # from here on the base has a node, and the view follows that
    base[1, 1] = 0.0
    assert float(jitted(row)) == 15.0


def test_variables_of_closures_are_looked_at() -> None:
    scale = 2.0

    def f(x: Any) -> Any:
        return x * scale

    x = xp.asarray([1.0, 2.0])
    jitted = prepared(f, x)
    assert np.asarray(jitted(x)).tolist() == [2.0, 4.0]
    scale = 3.0
    assert np.asarray(jitted(x)).tolist() == [3.0, 6.0]
    for _ in range(3):
        jitted(x)
    scale = xp.asarray([5.0, 6.0])
    assert np.asarray(jitted(x)).tolist() == [5.0, 12.0]


WEIGHTS = xp.asarray([1.0, 2.0])
FACTOR = 3.0


def test_names_of_modules_and_arrays_around_a_function_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    offset = xp.asarray([10.0, 20.0])

    def f(x: Any) -> Any:
        return x * WEIGHTS * FACTOR + offset

    here = sys.modules[__name__]
    x = xp.asarray([1.0, 1.0])
    jitted = prepared(f, x)
    assert frames(lambda: jitted(x)) == 0
    assert np.asarray(jitted(x)).tolist() == [13.0, 26.0]
    offset[0] = 11.0
    assert np.asarray(jitted(x)).tolist() == [14.0, 26.0]
    monkeypatch.setattr(here, "FACTOR", 4.0)
    assert np.asarray(jitted(x)).tolist() == [15.0, 28.0]
    monkeypatch.setattr(here, "WEIGHTS", xp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    assert np.asarray(jitted(x)).tolist() == [[15.0, 28.0], [23.0, 36.0]]
    for _ in range(3):
        jitted(x)
    assert frames(lambda: jitted(x)) == 0
    monkeypatch.setattr(here, "FACTOR", xp.asarray(2.0))
    offset = xp.asarray([0.0, 0.0])
    assert np.asarray(jitted(x)).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert np.asarray(xp.grad(lambda x: xp.sum(jitted(x)))(x)).tolist() == [8.0, 12.0]
    monkeypatch.delattr(here, "FACTOR")
    with pytest.raises(NameError):
        jitted(x)


def test_a_derivative_of_what_stands_around_a_function() -> None:
    weights = xp.asarray([1.0, 2.0])

    def f(x: Any) -> Any:
        return xp.sum(x * weights * weights)

    x = xp.asarray([3.0, 4.0])
    jitted = prepared(f, x)

    def g(w: Any) -> Any:
        nonlocal weights
        before, weights = weights, w
        try:
            return jitted(x)
        finally:
            weights = before

    assert np.asarray(xp.grad(g)(weights)).tolist() == [6.0, 16.0]
    assert float(jitted(x)) == 19.0


def test_settings_are_looked_at(capfd: pytest.CaptureFixture[str]) -> None:
    x = xp.asarray([1.0, 2.0])
    jitted = prepared(lambda x: x + 1, x)
    with context(debug=1):
        jitted(x)
    assert "operations in" in capfd.readouterr().err
    with context(at_once=0):
        assert jitted(x)._value is None
    with context(tier="interpret"):
        assert frames(lambda: jitted(x)) > 0
    assert frames(lambda: jitted(x)) == 0


def test_derivatives_and_traces_see_the_graph() -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    jitted = prepared(lambda x: xp.sum(x * x), x)
    assert np.asarray(xp.grad(jitted)(x)).tolist() == [2.0, 4.0, 6.0]
    assert np.asarray(xp.jit(lambda y: jitted(y) * y)(x)).tolist() == [14.0, 28.0, 42.0]
    assert np.asarray(xp.vmap(jitted)(x[:, None])).tolist() == [1.0, 4.0, 9.0]
    primal, tangent = xp.jvp(jitted, (x,), (x,))
    assert (float(primal), float(tangent)) == (14.0, 28.0)
    assert float(jitted(x)) == 14.0


def test_indices_out_of_bounds_are_errors() -> None:
    table = xp.asarray([1.0, 2.0, 3.0])
    jitted = prepared(lambda t, i: t[i], table, xp.asarray([0, 1]))
    with pytest.raises(IndexError, match="out of bounds"):
        jitted(table, xp.asarray([0, 7]))
    assert np.asarray(jitted(table, xp.asarray([2, -3]))).tolist() == [3.0, 1.0]


def test_integers_of_any_size_and_other_objects() -> None:
    x = xp.asarray([1, 2, 3])
    jitted = prepared(lambda x, n: x + n, x, 3)
    assert np.asarray(jitted(x, -(2**63) + 3)).tolist() == [n - 2**63 + 3 for n in (1, 2, 3)]
    with pytest.raises(OverflowError):
        jitted(x, 2**63)
    for other in (True, 1.5, None, "a", [1], np.int64(2), np.arange(3)):
        try:
            expected = facts(in_python(lambda x, n: x + n, x, other))
        except Exception as error:
            with pytest.raises(type(error)):
                jitted(x, other)
        else:
            assert facts(jitted(x, other)) == expected
    with pytest.raises(TypeError):
        jitted(x)
    with pytest.raises(TypeError):
        jitted(x, 3, 4)
    assert np.asarray(jitted(x, n=4)).tolist() == [5, 6, 7]


def test_shapes_take_turns() -> None:
    jitted = xp.jit(lambda x: x * 2)
    arrays = [xp.asarray(np.arange(float(n))) for n in range(7)]
    for _ in range(4):
        for n, x in enumerate(arrays):
            assert np.asarray(jitted(x)).tolist() == [2.0 * i for i in range(n)]
    assert 1 <= len(jitted._prepared) <= 4


def test_temporaries_and_long_programs() -> None:
    def f(x: Any) -> Any:
        for _ in range(5):
            x = xp.tanh(x @ x) / xp.sum(x, axis=0) + xp.cumsum(x, axis=1)
        return x

    x = xp.asarray(np.random.default_rng(0).random((6, 6)))
    jitted = xp.jit(f)
    for _ in range(4):
        result = jitted(x)
    assert facts(result) == facts(in_python(f, x))


def test_large_temporaries_are_the_pools() -> None:
    def f(x: Any) -> Any:
        y = xp.cumsum(x)
        return xp.sum(xp.cumsum(y[::-1]) * y)

    small, large = xp.asarray(np.ones(100)), xp.asarray(np.ones(300_000))
    jitted = prepared(f, small)
    for _ in range(4):
        result = jitted(large)
    assert len(jitted._prepared) == 1
    assert facts(result) == facts(in_python(f, large))


def test_temporaries_of_calls_are_kept_apart_and_aligned() -> None:
    def f(x: Any) -> Any:
        y = xp.cumsum(x)
        return xp.cumsum(y[::-1]) * y

    for n in (100, 3_000, 20_000, 120_000):
        x = xp.asarray(np.random.default_rng(n).random(n))
        with context(at_once=1 << 18):
            jitted = prepared(f, x)
            results = [jitted(x) for _ in range(4)]
        expected = facts(in_python(f, x))
        for result in results:
            assert facts(result) == expected


@pytest.mark.parametrize("n", [30_000, 260_000])
def test_large_results_live_side_by_side(n: int) -> None:
    x = xp.asarray(np.arange(float(n)))
    with context(at_once=1 << 18):
        jitted = prepared(lambda x, a: (x + a, x * a), x, 1.0)
        results = [jitted(x, float(a)) for a in range(20)]
    for a, (added, multiplied) in enumerate(results):
        np.testing.assert_array_equal(np.asarray(added), np.arange(float(n)) + a)
        np.testing.assert_array_equal(np.asarray(multiplied), np.arange(float(n)) * a)


def test_counts_of_references_stay() -> None:
    x, n = xp.asarray([1.0, 2.0, 3.0]), xp.asarray(2.0)[()]
    jitted = prepared(lambda x, n, a: (x * n + a, xp.sum(x)), x, n, 2.0)
    table = prepared(lambda t, i: t[i], x, xp.asarray([0, 1]))
    tree = {"w": x, "layers": [(x, n), (n, None)], "mode": "mean"}
    doubles = prepared(doubled, tree)
    outside = xp.asarray([0, 9])
    held = [x, n, tree, "mean", doubles._prepared[0], jitted._prepared[0], jitted, x._uop, xp.Array, x.shape]

    def calls() -> None:
        for _ in range(100):
            jitted(x, n, 2.0)
            doubles(tree)
            doubles({**tree, "layers": [(x, n), (x, None)]})  # refused after some leaves
            with pytest.raises(IndexError):
                table(x, outside)

    calls()
    gc.collect()
    before, blocks = [sys.getrefcount(item) for item in held], sys.getallocatedblocks()
    calls()
    gc.collect()
    assert [sys.getrefcount(item) for item in held] == before
    assert sys.getallocatedblocks() - blocks < 50


def test_functions_go_with_what_was_prepared() -> None:
    def f(x: Any) -> Any:
        return x + 0.5

    jitted, seen = prepared(f, xp.asarray([1.0])), ref(f)
    del jitted, f
    gc.collect()
    assert seen() is None


def test_threads_call_one_function() -> None:
    arrays = [xp.asarray(np.full(50, float(i))) for i in range(8)]
    jitted = prepared(lambda x, a: (x * a, xp.sum(x)), arrays[0], 1.0)
    wrong: list[int] = []
    end = time.monotonic() + 0.5

    def work(i: int) -> None:
        while time.monotonic() < end:
            product, total = jitted(arrays[i], 2.0)
            if np.asarray(product).tolist() != [2.0 * i] * 50 or float(total) != 50.0 * i:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
