"""Operators on arrays that stand for nodes: what the extension records is what Python records, node for node."""

import itertools
import operator
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array.extension import IN_C
from uopc_array._array.operators import DIRECT, Operators
from uopc_core import AT_ONCE, DTYPES, Buffer, UOp, dtypes

pytestmark = pytest.mark.skipif(IN_C is None, reason="the extension is optional")
NUMBERS = (2, 0, -1, True, 2**70, 0.5, 0.0, -0.0, float("nan"), float("inf"), 1 + 2j)
REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def on_node(shape: tuple[int, ...], dtype: Any, kind: str) -> xp.Array:
    leaf = UOp.buffer(Buffer.empty(shape, dtype))
    match kind:
        case "variable":
            return xp.Array._from_uop(leaf.variable() if dtype.kind in "fc" else leaf)
        case "array of no axes":
            return xp.Array._array_from_uop(leaf)
        case "view":
            return xp.Array._from_uop(leaf)[...] if shape else xp.Array._from_uop(leaf)
        case "weak":
            return xp.Array._from_uop(leaf, True)
        case _:
            return xp.Array._from_uop(leaf)


def outcome(function: Any, *operands: Any) -> Any:
    try:
        result = function(*operands)
    except Exception as error:
        return type(error), str(error)
    if not isinstance(result, xp.Array):
        return result
    assert type(result) is xp.Array
    return result._uop, result._weak, type(result._alias), result._value


def by_python(name: str, x: Any, y: Any) -> Any:
    """What the methods of Python make of it, asked as Python asks them."""
    method = vars(Operators)[f"__{name}__"]
    if isinstance(x, xp.Array):
        return method(x, y)
    return vars(Operators)[f"__{REFLECTED.get(name, 'r' + name)}__"](y, x)


def agree(name: str, x: Any, y: Any, keep: list[Any]) -> bool:
    """Whether it has a result; that of C is the one of Python."""
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
    wanted = outcome(by_python, name, x, y)
    assert outcome(function, x, y) == wanted, (name, x, y)
    keep.append(wanted)
    return not isinstance(wanted[0], type)


@pytest.mark.parametrize("name", [name for name in DIRECT if name != "neg"])
def test_operators_record_what_python_records(name: str):
    keep: list[Any] = []
    n = 0
    for dtype, other in itertools.product(DTYPES, (dtypes.float64, dtypes.int64)):
        x = on_node((3, 4), dtype, "")
        for shape, kind in itertools.product(
            ((3, 4), (3, 1), (2, 4), (4,), ()), ("", "variable", "view", "array of no axes", "weak")
        ):
            n += agree(name, x, on_node(shape, other, kind), keep)
            n += agree(name, on_node(shape, dtype, kind), x, keep)
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        for kind in ("", "variable", "view"):
            x = on_node((3, 4), dtype, kind)
            n += agree(name, x, number, keep) + agree(name, number, x, keep)
    assert n > 40


def of_value(shape: tuple[int, ...], dtype: Any, kind: str) -> xp.Array:
    """An array that holds a known value: no node yet."""
    with xp.context(at_once=AT_ONCE, tier="auto"):
        x = xp.asarray(np.ones(shape, dtype))
        x = x[...] if kind == "view" else x[()] if kind == "number" else x
    assert x._value is not None
    return x


def pending(shape: tuple[int, ...], dtype: Any) -> xp.Array:
    """An array that is still to be computed."""
    x = on_node(shape, dtypes.float64 if dtype.kind == "b" else dtype, "")._uop
    return xp.Array._from_uop(x.cast(dtype) if dtype.kind == "b" else x * x)


@pytest.mark.parametrize("name", [name for name in DIRECT if name != "neg"])
def test_known_values_beside_what_is_recorded_become_the_nodes_that_python_makes_of_them(name: str):
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
    keep: list[Any] = []
    n = 0
    for dtype, other in itertools.product(DTYPES, (dtypes.float64, dtypes.int64, dtypes.bool)):
        for shape, kind in itertools.product(((3, 4), (3, 1), (2, 4), (4,), ()), ("", "view", "number")):
            for is_left in (True, False):
                y = pending((3, 4), other)
                x = of_value(shape, dtype, kind if kind != "number" or not shape else "")
                operands = (x, y) if is_left else (y, x)
                given = outcome(function, *operands)
                assert outcome(by_python, name, *operands) == given, (name, x, y)
                keep.append(given)
                n += not isinstance(given[0], type)
    assert n > 40


def test_minus_and_squares_record_what_python_records():
    for dtype, kind in itertools.product(DTYPES, ("", "variable", "view", "weak")):
        x = on_node((3, 4), dtype, kind)
        assert outcome(operator.neg, x) == outcome(vars(Operators)["__neg__"], x)
        assert outcome(operator.pow, x, 2) == outcome(vars(Operators)["__pow__"], x, 2)


def test_what_is_recorded_in_a_trace_is_noted_and_what_grows_too_deep_is_computed():
    step = xp.jit(lambda x: (x * 2.0 + x) < x)
    x = xp.asarray([1.0, -2.0])
    for _ in range(3):
        assert step(x).tolist() == [False, True]
    with xp.context(at_once=0):
        y = xp.zeros(3) + 0.5
        node = y._uop
        assert node.held == 1
        z = y - y * 1.0
        assert (node.held, z._uop.held, (z**2)._uop.held) == (1, 1, 0)
        y = y - 0.5
        assert node.held == 0
        for _ in range(3000):
            y = y + 1.0
        assert y._uop.depth <= 1001
        assert y.tolist() == [3000.0] * 3
    with xp.context(at_once=0, eager=True):
        assert (xp.ones(3) * xp.ones(3) + 1.0)._uop.realized is not None
