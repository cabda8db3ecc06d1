"""The operators in C do what those in Python do, for everything that may stand beside an operator, and lose nothing."""

from __future__ import annotations

import gc
import operator
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

import uopc_array as xp
from tests.support import operator_outcomes
from tests.support.operator_outcomes import BINARY, IN_PLACE, KEYS, OTHERS, UNARY, operands, outcome
from uopc_array._array.extension import IN_C
from uopc_core import context

ROOT = Path(__file__).parent.parent.parent
FEW = 2048  # doubles that the extension computes with itself, in memory of the C library as NumPy has it
needs_c = pytest.mark.skipif(IN_C is None, reason="the operators in C have not been built in this environment")


N_CALLS = 50
store: Any = operator.setitem  # which has types that arrays do not fit


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    with context(at_once=1 << 15, tier="auto"):
        yield


def outcomes_in(*options: str) -> subprocess.Popen[str]:
    """A process that prints what every operator gives."""
    command = [sys.executable, "-W", "ignore", "-m", operator_outcomes.__name__, *options]
    environment = {**os.environ, "UOPC_AT_ONCE": "32768", "UOPC_VERIFY": "0"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@needs_c
def test_operators_give_the_same_in_c_and_in_python() -> None:
    processes = outcomes_in(), outcomes_in("--without-c")
    texts: list[str] = []
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        texts.append(out)
    lines = [text.splitlines() for text in texts]
    assert len(lines[0]) > 50_000
    if lines[0] != lines[1]:
        pytest.fail("\n".join(islice(unified_diff(lines[1], lines[0], "in Python", "in C", n=0, lineterm=""), 20)))


NUMBERS: list[Any] = [
    *map(np.float64, (0.0, -0.0, 1.5, -2.0, 1e308, 5e-324, np.inf, -np.inf, np.nan, -np.nan, 2.0**53 + 2)),
    *map(np.int64, (0, 1, -1, 3, 62, 63, 64, -64, 2**53 + 1, 2**63 - 1, -(2**63))),
]
OF_NUMBERS: list[Any] = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.and_, operator.or_, operator.xor),
    *(operator.lshift, operator.rshift, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
]


@pytest.mark.parametrize("f", OF_NUMBERS, ids=[f.__name__ for f in OF_NUMBERS])
def test_operators_on_numbers_give_what_numpy_gives(f: Any) -> None:
    def result(x: Any, y: Any) -> str:
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(f(x, y))
        except (TypeError, OverflowError, ValueError):
            return "an error"
        return f"{value.dtype} {value.tobytes().hex()}"

    for x in NUMBERS:
        ours = xp.asarray([x])[0]
        for y in NUMBERS:
            if f in (operator.lshift, operator.rshift) and not 0 <= y < 64:
                continue
            for given in (y, y.item()):
                assert result(ours, given) == result(x, given), (x, given)
                assert result(given, ours) == result(given, x), (given, x)
            assert result(ours, xp.asarray([y])[0]) == result(x, y), (x, y)


@pytest.mark.parametrize("dtype", ["float64", "int64", "int32", "bool", "complex128"])
def test_elements_are_read_where_they_lie(dtype: str) -> None:
    values = np.arange(24).reshape(4, 6).astype(dtype)
    x = xp.asarray(values)
    views: list[Any] = [lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2], lambda x: x[1:3, -2:], lambda x: x[:0]]
    for view in views:
        theirs, ours = view(values), view(x)
        rows, columns = theirs.shape
        for i in range(-rows - 1, rows + 1):
            for j in range(-columns - 1, columns + 1):
                if -rows <= i < rows and -columns <= j < columns:
                    assert ours[i, j]._is_number
                    assert ours[i, j].item() == theirs[i, j].item() == ours[i][j].item()
                else:
                    with pytest.raises(IndexError, match="out of"):
                        ours[i, j]
        with pytest.raises(IndexError):
            ours[0, 0, 0]
        with pytest.raises(IndexError):
            ours[2**70, 0]


OTHER_SOURCES = """
import sys, types, warnings
sys.modules["uopc_array._array.at_once_c"] = types.ModuleType("at_once_c")  # as it was when it was compiled
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import uopc_array as xp
print(*[warning.message for warning in said if "compiled from other sources" in str(warning.message)])
print(xp.asarray([1.0, 2.0]) + 1)
"""


def test_an_extension_of_other_sources_is_told_of_and_not_used() -> None:
    done = subprocess.run([sys.executable, "-c", OTHER_SOURCES], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said, value = done.stdout.splitlines()
    assert "Install the package again" in said
    assert value == "[2. 3.]"


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Lines of every kind, those that raise too, with what they work on made before."""
    for name, make in operands():
        x = make()
        if x._value is None or x.size > 10 or name not in ("float64 vector", "float64 number", "view of a view"):
            continue
        for i, f in enumerate(UNARY):
            yield f"unary {i} {name}", lambda f=f, x=x: f(x)
        for i, f in enumerate(BINARY):
            yield f"binary {i} {name}", lambda f=f, x=x: f(x, x)
        for i, f in enumerate(IN_PLACE):
            yield f"in place {i} {name}", lambda f=f, x=x: f(x, 1)
        for i, key in enumerate(KEYS):
            yield f"item {i} {name}", lambda key=key, x=x: x[key]
            yield f"store {i} {name}", lambda key=key, x=x: store(x, key, 1)
    vector = xp.asarray([1.0, 2.0, 3.0])
    for i, other in enumerate(OTHERS):
        yield f"other {i}", lambda other=other: vector + other
        yield f"reflected {i}", lambda other=other: other * vector
        yield f"stored {i}", lambda other=other: store(vector, slice(None), other)


@needs_c
def test_nothing_is_lost_however_often_a_line_runs() -> None:
    """Of what is made, and of what is held meanwhile, nothing is left, where an error is raised either: one object a
    line would be seen. The least of some rounds counts, since tables of programs grow now and then.
    """
    lines = list(calls())
    kept: list[int] = []
    while len(kept) < 8 and (not kept or kept[-1] >= N_CALLS):
        gc.collect()
        before = sys.getallocatedblocks()
        for _, call in lines:
            for _ in range(N_CALLS):
                outcome(call)
        gc.collect()
        kept.append(sys.getallocatedblocks() - before)
    assert min(kept) < N_CALLS, kept


@needs_c
def test_counts_of_references_are_as_before() -> None:
    """Objects that outlive a line: operands, their values, None, True, keys."""
    x, y = xp.asarray(np.arange(6.0).reshape(2, 3)), xp.asarray([1.0, 2.0, 3.0])
    view, number, index = x[0], y[1], xp.asarray(1)
    key = (slice(None), 1)
    held: list[Any] = [x, y, view, number, index, key, x._value, y._value, number._value, xp.Array]
    lines: list[Callable[[], Any]] = [
        *(lambda: x + y, lambda: 2.0 * x, lambda: x < y, lambda: -x, lambda: x[key], lambda: x[0], lambda: y[1]),
        *(lambda: y[index], lambda: y[index:], lambda: x[index, 1], lambda: view[1:], lambda: view + view),
        *(lambda: float(number), lambda: bool(number), lambda: y.__iadd__(number), lambda: x.T, lambda: len(x)),
        *(lambda: xp.sum(x, axis=0), lambda: xp.exp(number), lambda: xp.concat([y, y]), lambda: x.reshape((3, 2))),
        *(lambda: store(x, key, number), lambda: store(y, index, 2.0), lambda: x @ y),
        *(lambda: outcome(lambda: x + xp.asarray([1.0, 2.0])), lambda: outcome(lambda: x[5]), lambda: x != None),  # noqa: E711
    ]
    for line in lines * 4:
        line()
    gc.collect()
    before = [sys.getrefcount(item) for item in held]
    for line in lines * 50:
        line()
    gc.collect()
    assert [sys.getrefcount(item) for item in held] == before


@needs_c
def test_memory_of_every_size_is_whole() -> None:
    """Arrays of sizes around every bound live side by side, some are made larger or smaller, and none sees another."""
    random = np.random.default_rng(0)
    alive: list[tuple[Any, Any]] = []
    for i in range(3000):
        n = int(random.choice([0, 1, 100, 127, 128, 8191, 8192, 8193, 16384, 20000, 32768]))
        x = xp.asarray(np.full(n, i + 1.0)) % 4096.0  # by NumPy at every size
        assert x._value is not None
        assert n <= FEW or get_handler_name(x._value) == "uopc_array"
        if i % 5 == 0:  # as methods of NumPy's do that give an array another size
            n = int(random.choice([0, 1, 200, 8192, 30000, 300_000]))
            x._value.resize(n, refcheck=False)
            x._value.fill(i + 1.0)
        alive.append((x, i + 1.0))
        if len(alive) > 40:
            old, number = alive.pop(int(random.integers(40)))
            assert (np.asarray(old) == number).all()
    assert all([(np.asarray(x) == number).all() for x, number in alive])


@needs_c
def test_arrays_that_are_not_whole_are_errors_and_no_crash() -> None:
    """Objects of the classes that nobody has filled."""
    assert IN_C is not None
    blank = object.__new__(xp.Array)
    with pytest.raises(TypeError):
        type("Alone", (IN_C.Quick,), {})()
    for f in (*BINARY, *IN_PLACE):
        for other in (1, xp.asarray([1.0]), blank):
            assert isinstance(outcome(lambda: f(blank, other)), str)
            assert isinstance(outcome(lambda: f(other, blank)), str)
    for g in (*UNARY, lambda x: x[0], lambda x: store(x, 0, 1), lambda x: x[x]):
        assert isinstance(outcome(lambda: g(blank)), str)
    known = xp.asarray([1.0, 2.0])
    for call in (
        lambda: known[blank],
        lambda: store(known, blank, 1),
        lambda: store(known, 0, blank),
    ):
        assert "Error" in outcome(call)
    assert np.asarray(known).tolist() == [1.0, 2.0]


@needs_c
@pytest.mark.parametrize("name", ["at_once", "of_one_at_once", "of_known", "view_at_once", "view_of_known"])
@pytest.mark.parametrize("n", range(9))
def test_functions_in_c_take_any_arguments_without_a_crash(name: str, n: int) -> None:
    for args in ([1] * n, [xp.asarray([1.0])] * n, [None] * n, [xp.Array, *[(xp.asarray([1.0]),)] * (n - 1)][:n]):
        assert isinstance(outcome(lambda: getattr(IN_C, name)(*args)), str)
    with pytest.raises(TypeError):
        IN_C.connect()
    with pytest.raises(TypeError):
        IN_C.connect_function(1)


@needs_c
def test_classes_made_of_arrays_have_operators_of_their_own() -> None:
    class Loud(xp.Array):
        __slots__ = ()

        def __radd__(self, other: Any) -> Any:
            return "reflected"

        def __getitem__(self, key: Any) -> Any:
            return "item", super().__getitem__(key)

    x = xp.asarray([1.0, 2.0])
    loud = Loud._from_value(np.array([3.0, 4.0]))
    assert x + loud == "reflected"
    assert loud[0][0] == "item"
    assert float(loud[0][1]) == 3.0
    assert np.asarray(loud + x).tolist() == [4.0, 6.0]
