"""Functions that NumPy's own compute of what is known and small: they give what the graph gives, in memory of its own,
and refuse the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context
from uopc_core.errors import TraceError

CALLS: dict[str, Callable[[Any], Any]] = {
    "nonzero": lambda x: xp.nonzero(x),
    "nonzero, method": lambda x: x.nonzero(),
    "unique": lambda x: xp.unique(x),
    "unique, nan apart": lambda x: xp.unique(x, equal_nan=False),
    "unique, more": lambda x: xp.unique(x, True, True, True),
    "unique, axis": lambda x: xp.unique(x, axis=0),
    "average": lambda x: xp.average(x),
    "average, axis": lambda x: xp.average(x, axis=0),
    "average, keepdims": lambda x: xp.average(x, axis=-1, keepdims=True),
    "average, no axes": lambda x: xp.average(x, axis=()),
    "average, returned": lambda x: xp.average(x, returned=True),
    "average, weights": lambda x: xp.average(x, weights=xp.asarray(np.ones(x.shape))),
    "average, weights of 0": lambda x: xp.average(x, weights=xp.asarray(np.zeros(x.shape))),
    "average, wrong axis": lambda x: xp.average(x, axis=5),
    "argmax": lambda x: xp.argmax(x, axis=-1),
    "pad": lambda x: xp.pad(x, 2),
    "pad, bool": lambda x: xp.pad(x, True),
    "pad, pair": lambda x: xp.pad(x, (1, 2)),
    "pad, pairs": lambda x: xp.pad(x, [(1, 2)] * x.ndim),
    "pad, array": lambda x: xp.pad(x, xp.asarray([1, 0])),
    "pad, by axis": lambda x: xp.pad(x, {0: 1}),
    "pad, negative": lambda x: xp.pad(x, -1),
    "pad, fractions": lambda x: xp.pad(x, 1.5),
    "pad, too many": lambda x: xp.pad(x, [(1, 2)] * 4),
    "pad, value": lambda x: xp.pad(x, 1, constant_values=3),
    "pad, array of values": lambda x: xp.pad(x, 1, constant_values=x.ravel()[:2]),
    "pad, edge": lambda x: xp.pad(x, 1, "edge"),
    "pad, keyword of another": lambda x: xp.pad(x, 1, stat_length=2),
    "pad, unknown keyword": lambda x: xp.pad(x, 1, width=2),
    "pad, unknown mode": lambda x: xp.pad(x, 1, "nothing"),
    "delete": lambda x: xp.delete(x, 0, axis=0),
    "insert": lambda x: xp.insert(x, 0, x.ravel()[0], axis=0),
    "block": lambda x: xp.block([[x, x], [x, x]]),
    "flatnonzero": lambda x: xp.flatnonzero(x),
    "argwhere": lambda x: xp.argwhere(x),
    "ix_": lambda x: xp.ix_(x),
    "sort": lambda x: xp.sort(x),
    "sort, descending": lambda x: xp.sort(x, descending=True),
    "argsort": lambda x: xp.argsort(x),
}


def operands(dtype: str) -> list[Any]:
    draw = np.random.default_rng(ord(dtype[0]))
    drawn = (draw.integers(-3, 4, (4, 6)) * draw.choice([1, 2], (4, 6))).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        drawn.flat[[1, 5, 7, 9]] = np.nan, -0.0, np.inf, 0.0
    x = xp.asarray(drawn)
    return [x, x[1], x[:, 1:3], x.T, x[:0], x[0, :0], x[2, 3], xp.asarray(drawn[0, 0]).reshape(())]


def facts(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return [type(x).__name__, *map(facts, x)]
    return type(x).__name__, x.dtype, x.shape, type(x[()]).__name__, x._is_number, np.asarray(x).tobytes()


def outcome(call: Callable[[Any], Any], x: Any) -> Any:
    try:
        return facts(call(x))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_known_operands_give_what_the_graph_gives(name: str, dtype: str) -> None:
    with context(at_once=1 << 18, tier="auto"):
        given = [[outcome(CALLS[name], x) for _ in range(3)] for x in operands(dtype)]
    with context(at_once=0, tier="interpret"):
        wanted = [[outcome(CALLS[name], x)] * 3 for x in operands(dtype)]
    assert given == wanted


@pytest.mark.parametrize("name", ["unique", "pad", "nonzero", "delete", "ix_", "block", "sort"])
def test_what_is_given_is_nobody_elses(name: str) -> None:
    with context(at_once=1 << 18, tier="auto"):
        for dtype in ("int8", "float64"):
            x = xp.asarray(np.arange(4).astype(dtype))
            results = [CALLS[name](x) for _ in range(3)]
            arrays = [y for result in results for y in (result if isinstance(result, tuple) else [result])]
            before = [np.asarray(y).tolist() for y in arrays]
            for i, y in enumerate(arrays):
                y[...] = 7
                assert [np.asarray(z).tolist() for z in arrays[i + 1 :]] == before[i + 1 :]
            assert np.asarray(x).tolist() == [0, 1, 2, 3]


def test_they_stay_in_a_trace_and_in_a_derivative() -> None:
    x = xp.asarray([1.0, 2.0, 4.0])
    with context(at_once=1 << 18, tier="auto"):
        assert np.asarray(xp.grad(lambda x: xp.sum(xp.pad(x, 1) ** 2))(x)).tolist() == [2.0, 4.0, 8.0]
        np.testing.assert_array_equal(np.asarray(xp.grad(lambda x: xp.average(x))(x)), np.full(3, 1 / 3))
        assert np.asarray(xp.grad(lambda x: xp.sum(xp.unique(x) * 3))(x)).tolist() == [3.0] * 3
        for _ in range(3):
            assert np.asarray(xp.jit(lambda x: xp.pad(x, 1))(x)).tolist() == [0.0, 1.0, 2.0, 4.0, 0.0]
            with pytest.raises(TraceError, match="nonzero"):
                xp.jit(xp.nonzero)(x)


def test_another_class_still_takes_part_in_a_function_of_numpys() -> None:
    class Other:
        def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> str:
            return function.__name__

    x: Any = xp.asarray([1.0, 2.0])
    assert xp.delete(Other(), 0) == "delete"
    assert xp.insert(x, 0, Other()) == "insert"
    assert xp.block([x, Other()]) == "block"
