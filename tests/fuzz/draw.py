"""What all subjects draw with: named values, nested expressions, inputs.

NumPy runs along, so that what is drawn is known to be valid: an expression is its text beside NumPy's value of it, a
production puts operands into a template, and statements are run as they are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.program import Input

__all__ = ["COPIED", "FLOATS", "HUGE", "INTEGERS", "SIZES", "Drawer", "Node", "Options", "Production", "Refused"]

FLOATS = ("float64", "float64", "float32")
COMPLEX = ("complex128", "complex64")
INTEGERS = ("int64", "int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
DTYPES = frozenset((*FLOATS, *COMPLEX, *INTEGERS, "bool"))

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4097)
MEDIUM_SIZES = {1: (9, 16, 17, 33, 64, 100, 129), 2: (7, 8, 9, 16, 17, 31, 33, 40, 64), 3: (2, 3, 5, 8, 9, 12, 17)}
HUGE_SIZES = (70_001, 100_003, 131_072, 131_073, 262_144)
SMALL_SIZES = (1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9)
LARGEST = 6000
HUGE = 400_000  # elements of the largest inputs and results of a few programs
LONGEST = 600  # characters of an expression
LARGEST_VALUE = 1e6

# Views of NumPy's that are arrays of their own here, so that a write is not seen in the other (docs/differences.md).
# They are drawn as copies; anything in this table that becomes a view may be taken out.
COPIED = {
    "broadcast_to": "memory of its own",
    "diagonal": "a copy; NumPy's may not be written to",
    "diag": "a copy; NumPy's may not be written to",
    "split": "parts are copies",
    "array_split": "parts are copies",
    "hsplit": "parts are copies",
    "vsplit": "parts are copies",
    "unstack": "parts are copies",
    "real": "the function gives a new array; x.real is a view",
    "imag": "the function gives a new array; x.imag is a view",
    "einsum": "results are never views",
    "ascontiguousarray": "a copy",
    "broadcast_arrays": "copies",
    "meshgrid": "copies",
    "ravel(order": "a copy, where NumPy's is a view of a vector or of a transpose",
    ".view(": "memory of its own",
}


# Views here of what was computed, which always lies in rows; copies in NumPy, whose results lie as operands do.
REORDERED = ("{0}.reshape", "{0}.ravel", "xp.reshape", "xp.ravel")


class Refused(Exception):
    """Nothing valid could be drawn here; the caller draws something else."""


class Node(NamedTuple):
    text: str
    value: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)

    @property
    def kind(self) -> str:
        return np.asarray(self.value).dtype.kind

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.asarray(self.value).dtype

    @property
    def is_name(self) -> bool:
        return self.text.isidentifier()


class Production(NamedTuple):
    """`draw` makes one expression; `smooth` ones have derivatives, `traced` ones need no values to know their shape."""

    name: str
    weight: float
    draw: Callable[[Drawer], Node]
    smooth: bool = False
    traced: bool = True


@dataclass(frozen=True)
class Options:
    """What a mode allows."""

    smooth: bool = False
    traced: bool = False
    special: float = 0.05  # how often an input holds infinities and nan
    errors: float = 0.5  # how often what NumPy refuses is the end of the program
    large: float = 0.2  # how often extents come from the whole list of sizes
    largest: int = LARGEST
    huge: float = 0  # how often a program is about arrays larger than any of `SIZES`


class Drawer:
    """A program as it grows: inputs, live names with NumPy's values, statements."""

    def __init__(self, seed: str, options: Options, productions: Sequence[Production]) -> None:
        self.rng = random.Random(seed)
        self.options = options
        self.productions = [
            p for p in productions if (p.smooth or not options.smooth) and (p.traced or not options.traced)
        ]
        self.inputs: list[Input] = []
        self.env: dict[str, Any] = {}
        self.body: list[str] = []
        self.depth = 0
        self.forced: Production | None = None  # what the next operand is made by
        self.counter = 0
        self.finished = False  # an error ended the program
        self.dtypes = self._draw_dtypes()
        self.shape = self.draw_shape()

    # choices

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def choice(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def integer(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def _draw_dtypes(self) -> tuple[str, ...]:
        """A program has one dtype, or a few."""
        if self.options.smooth:
            return ("float64",)
        kinds = [FLOATS, FLOATS, FLOATS, FLOATS, INTEGERS, INTEGERS, COMPLEX, ("bool",)]
        return tuple([self.choice(*self.choice(*kinds)) for _ in range(self.choice(1, 1, 2, 3))])

    def draw_shape(self) -> tuple[int, ...]:
        ndim = self.choice(1, 1, 1, 2, 2, 2, 3, 4)
        if self.chance(self.options.large):
            shape = [1] * ndim
            for axis in self.rng.sample(range(ndim), ndim):
                room = self.options.largest // int(np.prod(np.maximum(shape, 1)))
                sizes = SIZES + HUGE_SIZES * (len(SIZES) // 5) if room > SIZES[-1] ** 2 // 100 else SIZES
                shape[axis] = self.choice(*[n for n in sizes if n <= room])
            return tuple(shape)
        if ndim < 4 and self.chance(0.35):
            return tuple([self.choice(*MEDIUM_SIZES[ndim]) for _ in range(ndim)])
        return tuple([self.choice(*(SMALL_SIZES if ndim < 4 else (1, 2, 3))) for _ in range(ndim)])

    def axis(self, x: Node) -> int:
        if x.ndim == 0:
            raise Refused
        return self.integer(-x.ndim, x.ndim - 1)

    def axes(self, x: Node) -> str:
        """An axis, some axes, or None, as text."""
        if x.ndim == 0 or self.chance(0.25):
            return "None"
        if x.ndim == 1 or self.chance(0.6):
            return str(self.axis(x))
        chosen = self.rng.sample(range(x.ndim), self.integer(1, x.ndim))
        return str(tuple([a - x.ndim if self.chance(0.3) else a for a in chosen]))

    # inputs and names

    def new_input(self, shape: tuple[int, ...] | None = None, kinds: str = "") -> Node:
        """One more argument, of the shape and kinds of dtypes asked for or of the program's."""
        if len(self.inputs) >= 6:
            raise Refused
        shape = self._varied(self.shape) if shape is None else shape
        if np.prod(shape, dtype=float) > HUGE:
            raise Refused
        dtype = self.choice(*self.dtypes)
        if kinds and np.dtype(dtype).kind not in kinds:
            dtype = {"f": "float64", "c": "complex128", "i": "int64", "u": "uint8", "b": "bool"}[self.choice(*kinds)]
        name = "abcdefgh"[len(self.inputs)]
        made = Input(name, self._style(dtype), dtype, shape, self.integer(0, 99))
        self.inputs.append(made)
        self.env[name] = made.value()
        return Node(name, self.env[name])

    def new_places(self, extent: int, shape: tuple[int, ...]) -> Node:
        """One more argument: indices into an axis of this extent, some counted from its end."""
        if len(self.inputs) >= 6 or extent == 0:
            raise Refused
        name = "abcdefgh"[len(self.inputs)]
        self.inputs.append(Input(name, "places", "int64", shape, self.integer(0, 99), extent=extent))
        self.env[name] = self.inputs[-1].value()
        return Node(name, self.env[name])

    def new_number(self) -> Node:
        """An argument that is a number of Python's or of NumPy's."""
        if len(self.inputs) >= 6:
            raise Refused
        text = self.choice("2", "3", "-1", "300", "0.5", "-1.25", "np.float64(1.5)", "np.float32(0.75)", "np.int64(3)")
        if self.options.smooth:
            text = "1.5"
        name = "abcdefgh"[len(self.inputs)]
        self.inputs.append(Input(name, number=text))
        self.env[name] = self.inputs[-1].value()
        return Node(name, self.env[name])

    def _style(self, dtype: str) -> str:
        kind = np.dtype(dtype).kind
        if kind in "fc" and self.chance(self.options.special):
            return "special" if kind == "f" else "special complex"
        if kind == "f":
            return (
                self.choice("normal", "normal", "positive")
                if self.options.smooth
                else self.choice("normal", "normal", "grid", "positive")
            )
        if kind in "iu" and self.chance(0.1):
            return "wide"
        return {"c": "complex", "i": "integers", "u": "naturals", "b": "bits"}[kind]

    def _varied(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape, most often; or one that broadcasts with it, or another."""
        roll = self.rng.random()
        if roll < 0.6:
            return shape
        if roll < 0.85:
            return tuple([n if self.chance(0.6) else 1 for n in shape])[self.integer(0, len(shape)) :]
        return self.draw_shape()

    def new_name(self) -> str:
        self.counter += 1
        return f"t{self.counter}"

    def names(
        self, kinds: str = "", ndim: tuple[int, int] = (0, 9), where: Callable[[Node], bool] | None = None
    ) -> list[Node]:
        nodes = [Node(name, value) for name, value in self.env.items()]
        return [x for x in nodes if self._fits(x, kinds, ndim) and (where is None or where(x))]

    @staticmethod
    def _fits(x: Node, kinds: str, ndim: tuple[int, int]) -> bool:
        return (not kinds or x.kind in kinds) and ndim[0] <= x.ndim <= ndim[1]

    # expressions

    def operand(
        self, kinds: str = "", ndim: tuple[int, int] = (0, 9), where: Callable[[Node], bool] | None = None
    ) -> Node:
        """A name or a nested expression of these kinds of dtypes and numbers of axes."""
        if self.forced is not None:
            inner, self.forced = self.forced, None
            node = inner.draw(self)
            if self._fits(node, kinds, ndim) and (where is None or where(node)):
                return node
            raise Refused
        if self.depth > 0 and self.chance(0.75):
            for _ in range(3):
                try:
                    node = self.expression()
                except Refused:
                    continue
                if self._fits(node, kinds, ndim) and (where is None or where(node)):
                    return node
        names = self.names(kinds, ndim, where)
        if names:
            return self.choice(*names[-8:])
        made = self.new_input(kinds=kinds)
        if self._fits(made, kinds, ndim) and (where is None or where(made)):
            return made
        raise Refused

    def expression(self) -> Node:
        """One production, whose operands may be productions in turn."""
        self.depth -= 1
        try:
            [production] = self.rng.choices(self.productions, [p.weight for p in self.productions])
            return production.draw(self)
        finally:
            self.depth += 1

    def apply(self, template: str, *operands: Node) -> Node:
        """The template with operands in place of {0}, {1}, ...; refused where NumPy has no value or one of no use."""
        text = template.format(*[x.text for x in operands])
        if len(text) > LONGEST:
            raise Refused
        holes = {f"x{k}": x.value for k, x in enumerate(operands)}
        try:
            value = eval(template.format(*holes), {"np": np, "xp": np, **holes})
        except Exception as error:
            self._end_in_error(f"t0 = {text}\nread(t0)", error)
            raise Refused from error
        self._accept(value, operands)
        shares = any(np.shares_memory(value, x.value) for x in operands)
        if any(name in template for name in COPIED) if shares else template.startswith(REORDERED):
            return Node(f"xp.copy({text})", np.copy(value))
        return Node(text, value)

    def _end_in_error(self, statement: str, error: Exception) -> None:
        """Now and then, what NumPy refuses is the end of the program."""
        if (
            self.body
            and not self.finished
            and isinstance(error, (IndexError, ValueError))
            and self.chance(self.options.errors)
        ):
            self.finished = True
            self.body.append(statement)

    def _accept(self, value: Any, operands: Sequence[Node]) -> None:
        """Raise `Refused` for results that are too large, of no dtype of ours, or that hide what comes after them."""
        if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.name not in DTYPES:
            raise Refused
        if value.size > self.options.largest:
            raise Refused
        if value.dtype.kind not in "fc" or not value.size:
            return
        finite = np.isfinite(value)
        if not finite.all() and all(np.isfinite(x.value).all() for x in operands):
            raise Refused
        if np.abs(np.asarray(value)[finite]).max(initial=0) > LARGEST_VALUE:
            raise Refused

    def number(self, x: Node) -> str:
        """A number of Python's or of NumPy's that goes with `x`."""
        kind = x.kind
        if kind == "b":
            return self.choice("True", "False")
        if kind in "iu":
            return (
                self.choice("0", "1", "2", "3", "5") if self.chance(0.8) else f"np.{x.dtype.name}({self.integer(1, 5)})"
            )
        text = (
            self.choice("0.5", "2", "2.0", "1.5", "3", "0.25", "1")
            if self.chance(0.8)
            else f"np.float32({self.choice(0.5, 1.5)})"
        )
        return self.choice(text, f"-{text}", text)

    def partner(self, x: Node, kinds: str = "") -> Node:
        """What broadcasts with `x`: a number, `x` itself, a name, a nested expression, a new input."""
        roll = self.rng.random()
        if roll < 0.2:
            text = self.number(x)
            return Node(text if not text.startswith("-") else f"({text})", eval(text, {"np": np}))
        if roll < 0.28:
            return x

        def goes(y: Node) -> bool:
            try:
                return int(np.prod(np.broadcast_shapes(x.shape, y.shape))) <= self.options.largest
            except ValueError:
                return False

        try:
            return self.operand(kinds, where=goes)
        except Refused:
            return self.new_input(tuple([n if self.chance(0.7) else 1 for n in x.shape]), kinds)

    def pair(self) -> Node:
        """One production of an operand that another made, each as likely as any."""
        outer, inner = self.choice(*self.productions), self.choice(*self.productions)
        self.forced = inner
        try:
            return outer.draw(self)
        finally:
            self.forced = None

    # statements

    def assign(self, name: str, node: Node) -> None:
        self.body.append(f"{name} = {node.text}")
        self.env[name] = node.value

    def execute(self, statement: str) -> None:
        """Run a statement with NumPy and keep it; refused if it fails or if what it leaves behind is of no use."""
        before = {name: np.copy(value) for name, value in self.env.items() if isinstance(value, np.ndarray)}
        scope = dict(self.env)
        try:
            exec(statement, {"np": np, "xp": np}, scope)
            for name, value in scope.items():
                if name not in self.env or value is not self.env[name]:
                    if isinstance(value, (np.ndarray, np.generic)):
                        self._accept(value, ())
                elif isinstance(value, np.ndarray):
                    self._accept(value, (Node(name, before[name]),))
        except Exception as error:
            for name, value in before.items():
                if self.env[name].flags.writeable:
                    self.env[name][...] = value
            if not isinstance(error, Refused):
                self._end_in_error(statement, error)
            raise Refused from error
        self.env.clear()
        self.env.update(scope)
        self.body.append(statement)
