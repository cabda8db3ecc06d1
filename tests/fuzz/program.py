"""A program: inputs, and statements as source text that run with NumPy or with this package in the place of `xp`.

Text is the form that is kept, so what is checked, shrunk and printed is one and the same; values follow from it alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["LAYOUTS", "STYLES", "Input", "Outcome", "Program", "quiet", "run"]

# How the elements of an input are made; `r` is a generator of NumPy's, `shape` and `dtype` are put in as literals.
STYLES = {
    "normal": "{r}.standard_normal({shape}).astype('{dtype}')",
    "grid": "({r}.integers(-8, 9, {shape}) / 4).astype('{dtype}')",
    "positive": "{r}.uniform(0.5, 2, {shape}).astype('{dtype}')",
    "special": "{r}.choice([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan], {shape}).astype('{dtype}')",
    "complex": "{r}.standard_normal({pairs}).view('complex128')[..., 0].astype('{dtype}')",
    "special complex": "{r}.choice([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan], {pairs})"
    ".view('complex128')[..., 0].astype('{dtype}')",
    "integers": "{r}.integers(-9, 10, {shape}).astype('{dtype}')",
    "naturals": "{r}.integers(0, 20, {shape}).astype('{dtype}')",
    "wide": "{r}.integers(np.iinfo('{dtype}').min, np.iinfo('{dtype}').max, {shape}, dtype='{dtype}', endpoint=True)",
    "places": "{r}.integers(-{extent}, {extent}, {shape})",
    "bits": "{r}.integers(0, 2, {shape}).astype('{dtype}')",
    "ones": "np.ones({shape}, '{dtype}')",
    "ramp": "np.arange({size}).reshape({shape}).astype('{dtype}')",
}

# How an input lies in memory, which is its own; "shared" is not copied by this package.
LAYOUTS = {
    "rows": "{0}.copy()",
    "shared": "{0}.copy()",
    "columns": "np.asfortranarray({0}.copy())",
    "strided": "np.repeat({0}, 2, axis=-1)[..., ::2]",
    "backwards": "np.flip(np.flip({0}).copy())",
}

# Text that may store into an array: assignments to a part or in place (`in_place` where they err, see `rounding`),
# methods, functions that write to an argument.
WRITE = re.compile(
    r"\] *[-+*/]?= |[-+*/]= |\bout=|\bcopy=False|\.at\("
    r"|(?<!\bxp)\.(fill|sort|put)\(|\b(in_place|copyto|put|put_along_axis|putmask|place|fill_diagonal)\("
)


@dataclass(frozen=True)
class Input:
    """An argument of a program; a number stands as its literal in `number`."""

    name: str
    style: str = "normal"
    dtype: str = "float64"
    shape: tuple[int, ...] = ()
    seed: int = 0
    number: str = ""
    extent: int = 0  # of the axis that "places" point into
    layout: str = "rows"

    def other(self, k: int) -> Input:
        """The same with other values, finite ones if `k` is not 0."""
        if k == 0:
            return self
        style = {"special": "normal", "special complex": "complex"}.get(self.style, self.style)
        number = f"{self.number} + {k}" if self.number else ""
        return replace(self, seed=self.seed + 1000 * k, style=style, number=number)

    @property
    def source(self) -> str:
        if self.number:
            return self.number
        return STYLES[self.style].format(
            r=f"np.random.default_rng({self.seed})",
            shape=self.shape,
            pairs=(*self.shape, 2),
            size=int(np.prod(self.shape)),
            dtype=self.dtype,
            extent=self.extent,
        )

    def value(self) -> Any:
        value = eval(self.source, {"np": np})
        return value if self.number else np.asarray(value)

    def given(self, xp: Any, value: Any) -> Any:
        """An array of `xp` with this value, in memory of its own; a number is itself."""
        if not isinstance(value, np.ndarray):
            return value
        made = eval(LAYOUTS[self.layout if value.ndim else "rows"].format("x"), {"np": np, "x": value})
        return xp.asarray(made, copy=False) if self.layout == "shared" else xp.asarray(made)

    def text_of_given(self, xp: str, value: str) -> str:
        """The text of what `given` does."""
        if self.number:
            return value
        value = value if value.isidentifier() else f"({value})"
        copy = ", copy=False" if self.layout == "shared" else ""
        return f"{xp}.asarray({LAYOUTS[self.layout if self.shape else 'rows'].format(value)}{copy})"


@dataclass(frozen=True)
class Program:
    """`body` is statements, one string each; `read(x)` among them hands out a result."""

    inputs: tuple[Input, ...]
    body: tuple[str, ...]

    @cached_property
    def source(self) -> str:
        lines = [line for statement in self.body for line in statement.split("\n")] or ["pass"]
        names = "".join([f", {x.name}" for x in self.inputs])
        return f"def program(xp, read{names}):\n" + "\n".join([f"    {line}" for line in lines]) + "\n"

    @cached_property
    def function(self) -> Callable[..., None]:
        scope: dict[str, Any] = {"np": np}
        exec(compile(self.source, "<program>", "exec"), scope)
        return scope["program"]

    @property
    def writes(self) -> bool:
        """Some statement may store into an array; judged by its text."""
        return any(WRITE.search(statement) for statement in self.body)

    @cached_property
    def arguments(self) -> list[Any]:
        return [x.value() for x in self.inputs]

    @property
    def other_inputs(self) -> tuple[Input, ...]:
        """Inputs of the same dtypes and shapes with other values."""
        return tuple([x.other(1) for x in self.inputs])

    def given(self, xp: Any, arguments: Sequence[Any]) -> list[Any]:
        """Arrays of `xp` in memory of their own for `arguments`, laid out as the inputs say."""
        return [x.given(xp, value) for x, value in zip(self.inputs, arguments, strict=True)]

    def pure(self, xp: Any) -> Callable[..., tuple[Any, ...]]:
        """The program as a function from its arguments to what it reads."""

        def function(*arguments: Any) -> tuple[Any, ...]:
            results: list[Any] = []
            self.function(xp, results.append, *arguments)
            return tuple(results)

        return function


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of NumPy, which programs are full of."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass
class Outcome:
    """What was read, in order, and the error that ended it, if one did."""

    results: list[Any] = field(default_factory=list)
    error: Exception | None = None


def run(program: Program, xp: Any, arguments: Sequence[Any], late: bool = False) -> Outcome:
    """One run; whatever is read is computed there and then, and copied.

    With `late` that is done when all has run, as with a function's results. Where something is written, the arguments
    are read in the end as well.
    """
    outcome = Outcome()
    given = program.given(xp, arguments)
    try:
        program.function(xp, lambda x: outcome.results.append(x if late else np.array(x)), *given)
        outcome.results = [np.array(x) for x in outcome.results]
        if program.writes:
            outcome.results += [np.array(x) for x in given if not isinstance(x, (int, float, np.generic))]
    except Exception as error:
        outcome.error = error
    return outcome
