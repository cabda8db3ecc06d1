"""Between what is always computed at once and what never is: one operation is, a statement of many is recorded from the
second time on, and no bit depends on it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array.at_once import LARGEST, SMALL
from uopc_array._array.extension import IN_C
from uopc_core import SPARED, SPARED_BY_PART, UNCHAINED, context

N = 40_000  # of middle size
pytestmark = pytest.mark.skipif(IN_C is None, reason="without the extension nothing is of middle size")


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    with context(at_once=LARGEST, tier="auto"):
        yield


def is_known(x: Any) -> bool:
    return x._value is not None


def array(n: int = N, seed: int = 0, is_in_graph: bool = False) -> Any:
    x = xp.asarray(np.random.default_rng(seed).random(n))
    if is_in_graph:
        assert x._uop.realized is not None
    return x


def line(text: str) -> Callable[..., Any]:
    """A function of one line that nothing is remembered of: it has a name of its own."""
    number = next(_numbers)
    space: dict[str, Any] = {"xp": xp}
    exec(compile(f"def statement_{number}(a, b):\n    return {text}", f"<line {number}>", "exec"), space)
    return space[f"statement_{number}"]


_numbers = iter(range(1_000_000))


@pytest.mark.parametrize("is_in_graph", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        *("a + b", "2 * a", "a - 1.5", "-a", "abs(a)", "a < b", "a[1:-1] * b[2:]", "xp.sqrt(a)", "xp.maximum(a, b)"),
        *("xp.where(a > 0.5, a, b)", "xp.sum(a)", "xp.exp(a)", "xp.sum(a.reshape(200, 200), axis=1)"),
    ],
)
def test_one_operation_is_computed_at_once_whatever_was_done_before(text: str, is_in_graph: bool):
    a, b = array(is_in_graph=is_in_graph), array(seed=1, is_in_graph=is_in_graph)
    f = line(text)
    with context(at_once=0):
        wanted = np.asarray(f(array(), array(seed=1)))
    for _ in range(3):
        result = f(a, b)
        assert is_known(result)
    assert np.asarray(result).tobytes() == wanted.tobytes()


CHAINS = [
    *("(((a + b) * a - b) * 0.5 + a) * b", "-(-(-(-(-(-a)))))", "(a + b) * (a - b) + (a + 1) * (b - 2)"),
    *("2 - (1 - (3 - (4 - (5 - (6 - a)))))", "((((a + b) + b) + b) + b) + b > 0.5", "a * b - b * a + a * 2 - b * 3"),
]


@pytest.mark.parametrize("is_in_graph", [False, True])
@pytest.mark.parametrize("text", CHAINS)
def test_a_long_chain_is_recorded_from_the_second_time_on(text: str, is_in_graph: bool):
    a, b = array(is_in_graph=is_in_graph), array(seed=1, is_in_graph=is_in_graph)
    f = line(text)
    first, second = f(a, b), f(a, b)
    assert is_known(first)
    assert not is_known(second)
    with context(at_once=0):
        wanted = np.asarray(f(array(), array(seed=1))).tobytes()
    assert np.asarray(first).tobytes() == np.asarray(second).tobytes() == wanted


@pytest.mark.parametrize("operators", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("n", [UNCHAINED, UNCHAINED + 1, SMALL, 50_000, 100_000, 200_000, LARGEST])
def test_how_long_a_chain_has_to_be_depends_on_what_a_kernel_spares(n: int, operators: int):
    f = line(f"a{' + b' * operators}")
    a, b = array(n), array(n, 1)
    assert is_known(f(a, b))
    assert is_known(f(a, b)) is (n <= UNCHAINED or (operators - 1) * n < SPARED)


@pytest.mark.parametrize("parts", [1, 2, 3, 6])
@pytest.mark.parametrize("n", [UNCHAINED + 1, SMALL, 50_000, 100_000, 200_000])
def test_parts_have_a_chain_to_be_longer(n: int, parts: int):
    f = line(f"(a[1:]{' + a[1:]' * (parts - 1)}){' * 2.0' * 4}")
    a = array(n + 1)
    assert is_known(f(a, None))
    assert is_known(f(a, None)) is ((parts + 2) * n < SPARED + parts * SPARED_BY_PART)


def test_what_has_a_name_is_not_of_a_chain():
    f = line("[a := a + b, b := a * b, a := a - b, b := b * a, a := b + a, a := a * 3][-1]")
    for _ in range(3):
        assert is_known(f(array(), array(seed=1)))


def test_what_is_reached_through_functions_is_not_of_a_chain():
    a, b = array(), array(seed=1)
    for _ in range(3):
        result = a
        for _ in range(10):
            result = operator.add(result, b)
        assert is_known(result)


def test_lines_are_apart():
    f, g = line("(((a + b) * a - b) * 0.5 + a) * b"), line("a + b")
    a, b = array(), array(seed=1)
    f(a, b), f(a, b)
    assert a._value is None
    assert is_known(g(a, b))  # although the operands have nodes now
    assert not is_known(f(a, b))


def test_a_chain_that_meets_what_is_recorded_is_recorded_too():
    with context(at_once=0):
        pending = array() + 1
    f = line("(a + 1) * b")
    a, b = array(), array()
    assert not is_known(f(a, pending))
    assert is_known(a)
    assert not is_known(f(b, pending))
    assert not is_known(b)


def bits(x: Any) -> bytes:
    """Those of the values, of which any nan is as good as another."""
    values = np.asarray(x)
    return np.where(np.isnan(values), np.nan, values).tobytes()


OPERATIONS = ["+", "-", "*", "/", "<", "=="]
FUNCTIONS = ["xp.sqrt", "xp.sin", "xp.sum", "xp.floor", "-", "abs"]
PARTS = ["a", "b", "a[::-1]", "b[::-1]", "c", "2.5", "3"]


def expression(draw: Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(PARTS)
    if draw.random() < 0.2:
        return f"{draw.choice(FUNCTIONS)}({expression(draw, depth - 1)} + a)"
    return f"({expression(draw, depth - 1)} {draw.choice(OPERATIONS)} {expression(draw, draw.randrange(depth))} + b)"


def statement(draw: Random) -> str:
    """A line that makes, or changes, one of the arrays; all have one shape."""
    name = draw.choice("abc")
    value = f"({expression(draw, draw.choice([1, 1, 2, 4, 5]))}) % 2.0 + a * 0"
    return (
        draw.choice(
            [
                f"{name} = {value}",
                f"{name}[:] = {value}",
                f"{name}[2:-2] = ({value})[4:]",
                f"{name} {draw.choice('+-*')}= {value}",
                f"{name}[1:] {draw.choice('+-*')}= ({value})[:-1]",
                f"{name} *= 0.5",
                f"{name}[::2] -= {draw.choice(PARTS)}[1]"
                if draw.random() < 0.5
                else f"{name}[{draw.randrange(9)}] = 0.5",
                f"view = {name}[3:]; view[1:] = ({value})[4:]" if draw.random() < 0.5 else f"{name} = {name}.copy()",
            ]
        )
        .replace("2.5[1]", "2.5")
        .replace("3[1]", "3")
    )


@pytest.mark.parametrize("seed", range(25))
def test_programs_have_the_bits_of_the_graph(seed: int):
    draw = Random(seed)
    n = draw.choice([UNCHAINED, UNCHAINED + 1, SMALL, 40_000, 131_073])
    body = "\n        ".join([statement(draw) for _ in range(draw.randint(3, 8))])
    text = f"def program(a, b, c):\n    for _ in range(3):\n        {body}\n    return a, b, c"
    space: dict[str, Any] = {"xp": xp}
    exec(compile(text, f"<program {next(_numbers)}>", "exec"), space)

    def outcome(at_once: int) -> list[bytes]:
        with context(at_once=at_once):
            a, b, c = array(n), array(n, 1), array(n, 2)
            return [bits(x) for x in space["program"](a, b, c)]

    wanted = outcome(0)
    for _ in range(2):
        assert outcome(LARGEST) == wanted, text
