"""One case of the comparisons with NumPy: what to draw, what to call, how near the results are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

import uopc_array as xp
from tests.support.drawing import Draws

__all__ = ["Arguments", "Comparison", "both", "given", "listed", "one"]

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Call = Callable[..., Any]


def given(*args: Any, **kwargs: Any) -> Arguments:
    return args, kwargs


@dataclass(frozen=True)
class Comparison:
    """What to call with which arguments, and how near the two results are.

    Attributes:
        draw: makes the arguments; operands in them become ours for the one call and NumPy's for the other.
        ours: by default the function of the name under which this stands in the table.
        numpy: by default NumPy's function of that name.
        ulps: tolerance in units of the last place of each element.
        eps: tolerance in units of the rounding of 1.
    """

    draw: Callable[[Draws], Arguments]
    ours: Call | None = None
    numpy: Call | None = None
    ulps: float = 0
    eps: float = 0

    def calls(self, name: str) -> tuple[Call, Call]:
        """Our function and NumPy's."""
        path = name.split()[0]
        return self.ours or attrgetter(path)(xp), self.numpy or attrgetter(path)(np)


def both(draw: Callable[[Draws], Arguments], call: Callable[..., Any], **tolerance: float) -> Comparison:
    """The same Python code, which takes a namespace, on either side."""
    return Comparison(draw, lambda *a, **k: call(xp, *a, **k), lambda *a, **k: call(np, *a, **k), **tolerance)


def listed(names: str, draw: Callable[[Draws], Arguments], **more: Any) -> dict[str, Comparison]:
    return {name: Comparison(draw, **more) for name in names.split()}


def one(dtypes: Sequence[str], low: float = -8, high: float = 8, **of_shape: Any) -> Callable[[Draws], Arguments]:
    return lambda d: given(d.array(dtypes, low=low, high=high, **of_shape))
