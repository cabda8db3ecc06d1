"""Random programs of names for numbers, for arrays of no axes and for vectors, on ours and on NumPy's side by side.

Statements bind, augment, store, take views and fill lists and dicts. What every name sees at the end is the same, and
which statements were refused, and so it is under `jit`, `grad` and `vmap`. Programs are affine in their inputs: their
derivatives are differences.
"""

import copy
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.array.test_numbers import kind
from uopc_core import context

NAMES = ("x", "a", "b", "c")
EXTENT = 3
REFUSALS = (TypeError, ValueError, IndexError)

State = dict[str, Any]
Statement = Callable[[Any, State], None]


def augment(rng: random.Random) -> Statement:
    """``target op= operand``, the target a name or an item of the list."""
    name, other, number = rng.choice(NAMES), rng.choice(NAMES), rng.choice([1, 2, 0.5, -3])
    op = rng.choice([operator.iadd, operator.isub, operator.imul, operator.itruediv])
    by_name = op in (operator.iadd, operator.isub) and rng.random() < 0.5
    place = rng.randrange(6) if rng.random() < 0.2 else None

    def run(ns: Any, state: State) -> None:
        operand = state[other] if by_name else number
        if place is None:
            state[name] = op(state[name], operand)
        elif state["list"]:
            state["list"][place % len(state["list"])] = op(state["list"][place % len(state["list"])], operand)

    return run


def bind(rng: random.Random) -> Statement:
    """``target = expression of a name``."""
    name, source, other = (rng.choice(NAMES) for _ in range(3))
    i = rng.randrange(-EXTENT, EXTENT)
    expression: Callable[[Any, Any, Any], Any] = rng.choice(
        [
            *[lambda ns, v, w: v] * 4,
            *[lambda ns, v, w: v[i]] * 3,
            *[lambda ns, v, w: ns.sum(v)] * 2,
            lambda ns, v, w: v + w,
            lambda ns, v, w: -v,
            lambda ns, v, w: v * 0.5,
            lambda ns, v, w: v.mean(),
            lambda ns, v, w: v[i, ...],
            lambda ns, v, w: v[...],
            lambda ns, v, w: v[()],
            lambda ns, v, w: v[i : i + 1 or None].reshape(()),
            lambda ns, v, w: v[i : i + 1 or None].squeeze(),
            lambda ns, v, w: v.reshape(v.shape),
            lambda ns, v, w: v.T,
            lambda ns, v, w: v.real,
            lambda ns, v, w: ns.asarray(v),
            lambda ns, v, w: ns.array(v),
            lambda ns, v, w: ns.where(ns.asarray(True), v, v),
            lambda ns, v, w: v.copy(),
            lambda ns, v, w: copy.copy(v),
            lambda ns, v, w: ns.zeros_like(v) + w,
            lambda ns, v, w: next(iter(v)),
        ]
    )

    def run(ns: Any, state: State) -> None:
        state[name] = expression(ns, state[source], state[other])

    return run


def store(rng: random.Random) -> Statement:
    """An assignment to elements."""
    name, other, number = rng.choice(NAMES), rng.choice(NAMES), rng.choice([7, 0.25])
    key = rng.choice([0, -1, 1, ..., (), (0, ...), slice(1, None)])
    by_name, augmented = rng.random() < 0.5, rng.random() < 0.5

    def run(ns: Any, state: State) -> None:
        value = state[other] if by_name else number
        if augmented:
            state[name][key] += value
        else:
            state[name][key] = value

    return run


def keep(rng: random.Random) -> Statement:
    """Something that a list or a dict remembers."""
    name, key = rng.choice(NAMES), rng.choice("pq")
    kind = rng.choice(["append", "insert", "loop"])

    def run(ns: Any, state: State) -> None:
        if kind == "append":
            state["list"].append(state[name])
        elif kind == "insert":
            state["dict"][key] = state[name]
        else:
            for item in state[name]:
                item += 1
                state["list"].append(item)

    return run


def look_up(rng: random.Random) -> Statement:
    """A name for a key of a dict; this wants a value."""
    name = rng.choice(NAMES)

    def run(ns: Any, state: State) -> None:
        cache = state["cache"]
        state["log"].append(cache.setdefault(state[name], len(cache)))

    return run


class Program:
    """Statements, and what they leave behind."""

    def __init__(self, rng: random.Random, looks_up: bool = False) -> None:
        makers = [augment, augment, bind, bind, store, keep, *([look_up] if looks_up else [])]
        self.statements = [rng.choice(makers)(rng) for _ in range(20)]
        self.log: list[Any] = []

    def __call__(self, ns: Any, x: Any, a: Any, b: Any) -> list[Any]:
        """What the names, the list and the dict hold at the end; `log` has which statements were refused."""
        self.log = []
        state = {"x": x, "a": a, "b": ns.asarray(b), "c": a, "list": [], "dict": {}, "cache": {}, "log": self.log}
        for number, statement in enumerate(self.statements):
            try:
                statement(ns, state)
            except REFUSALS:
                self.log.append(f"refused {number}")
        return [*[state[name] for name in NAMES], *state["list"], *state["dict"].values()]


def inputs(rng: random.Random, dtype: str) -> list[Any]:
    """A vector, a number and an array of no axes of NumPy."""
    values = np.asarray([rng.randrange(-8, 8) for _ in range(EXTENT + 2)], dtype)
    return [values[:EXTENT].copy(), values[EXTENT], np.asarray(values[EXTENT + 1])]


def ours(values: list[Any]) -> list[Any]:
    return [xp.asarray(v) if isinstance(v, np.ndarray) else xp.asarray(v)[()] for v in values]


def check(got: list[Any], wanted: list[Any]) -> None:
    assert kind(got) == kind(wanted)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-12, atol=1e-12, strict=True)


SEEDS = range(100)
FEW = range(12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
@pytest.mark.parametrize("seed", SEEDS)
def test_names_see_what_they_see_in_numpy(seed: int, dtype: str) -> None:
    rng = random.Random(seed)
    program, values = Program(rng, looks_up=True), inputs(rng, dtype)
    given = ours(values)
    got = program(xp, *given)
    log = program.log
    wanted = program(np, *values)
    assert log == program.log
    check([*got, *given], [*wanted, *values])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("seed", FEW)
def test_so_they_do_under_jit(seed: int, tier: str, dtype: str) -> None:
    rng = random.Random(seed)
    program = Program(rng)
    f = xp.jit(lambda *given: program(xp, *given))  # pyright: ignore[reportCallIssue]
    for _ in range(2):
        values = inputs(rng, dtype)
        given = ours(values)
        with context(tier=tier):
            check([*f(*given), *given], [*program(np, *values), *values])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("seed", "compiled"), [*[(seed, False) for seed in SEEDS], *[(seed, True) for seed in FEW]])
def test_so_they_do_under_grad(seed: int, compiled: bool) -> None:
    rng = random.Random(seed)
    program, values = Program(rng, looks_up=not compiled), inputs(rng, "float64")

    def total(ns: Any, results: list[Any]) -> Any:
        return sum((ns.sum(x) * (i + 1) for i, x in enumerate(results)), start=ns.sum(ns.zeros(1)))

    def f(*given: Any) -> Any:
        results = program(xp, *given)
        return total(xp, results), results

    g = xp.grad(f, argnums=(0, 1, 2), has_aux=True)
    gradients, got = (xp.jit(g) if compiled else g)(*ours(values))
    check(got, program(np, *copy.deepcopy(values)))
    for i, gradient in enumerate(gradients):
        assert kind(gradient) == kind(values[i])
        for place in np.ndindex(values[i].shape):
            step = np.zeros(values[i].shape)
            step[place] = 1.0
            moved = [v + step if k == i else v for k, v in enumerate(values)]
            moved[2] = np.asarray(moved[2])
            difference = total(np, program(np, *copy.deepcopy(moved))) - total(np, program(np, *copy.deepcopy(values)))
            np.testing.assert_allclose(np.asarray(gradient)[place], difference, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_so_they_do_under_vmap(seed: int) -> None:
    rng = random.Random(seed)
    program = Program(rng)
    rows = [inputs(rng, "float64") for _ in range(2)]
    batch = [xp.asarray(np.stack(column)) for column in zip(*rows, strict=True)]
    got = xp.vmap(lambda *given: program(xp, *given))(*batch)  # pyright: ignore[reportCallIssue]
    wanted = [program(np, *row) for row in rows]
    for x, parts in zip(got, zip(*wanted, strict=True), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.stack(parts), rtol=1e-12, atol=1e-12, strict=True)
