"""Programs on arrays that a jitted function finds in an object, a dict or a variable instead of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import uopc_array as xp
from tests.fuzz.judge import Failure, Judge, Refusal
from tests.fuzz.program import Outcome, Program
from uopc_core.errors import TraceError

__all__ = ["CALLS", "HOMES", "check_state"]

CALLS = ("first", "other", "other", "first")
Body = Callable[..., tuple[Any, ...]]


class Home:
    """The arrays as attributes, and the program as a method."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.calls = 0

    def bind(self, names: list[str], values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            setattr(self, name, value)

    @xp.jit
    def run(self, names: tuple[str, ...]) -> tuple[Any, ...]:
        self.calls += 1
        return self.body(*[getattr(self, name) for name in names])


def in_object(body: Body, names: list[str]) -> Callable[[list[Any]], Any]:
    """The arrays are attributes."""
    home = Home(body)

    def call(values: list[Any]) -> Any:
        home.bind(names, values)
        return home.run(tuple(names))

    return call


def in_dict(body: Body, names: list[str]) -> Callable[[list[Any]], Any]:
    """The arrays are in a dict, bound anew each time."""
    held: dict[str, Any] = {}
    run: Any = xp.jit(lambda: body(*[held[name] for name in names]))

    def call(values: list[Any]) -> Any:
        held.update(zip(names, values, strict=True))
        return run()

    return call


def in_variable(body: Body, names: list[str]) -> Callable[[list[Any]], Any]:
    """A variable of a closure holds them all."""
    held: tuple[Any, ...] = ()
    run: Any = xp.jit(lambda: body(*held))

    def call(values: list[Any]) -> Any:
        nonlocal held
        held = tuple(values)
        return run()

    return call


HOMES = (in_object, in_dict, in_variable)


def check_state(program: Program, tier: str) -> Failure | None:
    """Four calls, two of them with other arrays: NumPy's results, and what it writes to the arrays."""
    values = {"first": program.arguments, "other": [x.value() for x in program.other_inputs]}
    judges = {name: Judge(program, arguments, late=True) for name, arguments in values.items()}
    if any(judge.expected.error is not None for judge in judges.values()):
        raise Refusal("NumPy raises an error")
    home = HOMES[program.inputs[0].seed % len(HOMES) if program.inputs else 0]
    call = home(program.pure(xp), [x.name for x in program.inputs])
    for number, name in enumerate(CALLS):
        failure = judges[name].fault(_outcome(program, call, values[name]), f"{home.__name__}, call {number + 1}")
        if failure is not None:
            return failure
    return None


def _outcome(program: Program, call: Callable[[list[Any]], Any], arguments: list[Any]) -> Outcome:
    given = program.given(xp, arguments)
    try:
        results = [np.array(x) for x in call(given)]
        after = [np.array(x) for x in given if not isinstance(x, (int, float, np.generic))] if program.writes else []
        return Outcome(results + after)
    except TraceError as error:
        raise Refusal(str(error)) from error
    except Exception as error:
        return Outcome([], error)
