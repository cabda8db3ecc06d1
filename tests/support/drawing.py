"""What the comparisons with NumPy draw: arrays over dtypes, shapes and layouts, axes, and options."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.reference import values

__all__ = ["ARRAY_SHAPES", "LAYOUTS", "Draws", "Operand"]

Values = np.ndarray[Any, Any]

ARRAY_SHAPES: tuple[tuple[int, ...], ...] = (
    *((), (1,), (0,), (5,), (2,), (1, 1), (3, 4), (0, 3), (3, 0), (4, 1), (2, 0, 3), (2, 3, 4), (1, 3, 1), (3, 2, 2)),
    (2, 1, 2, 3),
)


def _reversed(ns: Any, x: Values) -> Any:
    return ns.asarray(np.flip(x).copy())[(slice(None, None, -1),) * x.ndim]


def _strided(ns: Any, x: Values) -> Any:
    return ns.asarray(np.repeat(x, 2, axis=-1))[..., ::2] if x.ndim else ns.asarray(x)


def _part(ns: Any, x: Values) -> Any:
    return ns.asarray(np.pad(x, 1))[(slice(1, -1),) * x.ndim] if x.ndim else ns.asarray(x)


def _broadcast(ns: Any, x: Values) -> Any:
    """The first row in place of every row."""
    return ns.broadcast_to(ns.asarray(x[:1].copy()), x.shape) if x.size and x.ndim else ns.asarray(x)


# how the elements of an array lie in memory, in ours (the first argument) and in NumPy's
LAYOUTS: dict[str, Callable[[Any, Values], Any]] = {
    "contiguous": lambda ns, x: ns.asarray(x),
    "reversed": _reversed,
    "strided": _strided,
    "transposed": lambda ns, x: ns.asarray(x.T.copy()).T,
    "part of a larger one": _part,
    "broadcast": _broadcast,
    "not computed yet": lambda ns, x: ns.where(ns.asarray(True), ns.asarray(x), ns.asarray(x)),
}
SAME_VALUES = tuple(name for name in LAYOUTS if name != "broadcast")


class Operand(NamedTuple):
    """The same array twice: ours and NumPy's."""

    ours: xp.Array
    numpys: Values

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numpys.shape

    @property
    def ndim(self) -> int:
        return self.numpys.ndim

    @property
    def dtype(self) -> str:
        return self.numpys.dtype.name


class Draws:
    """Draws for one example."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def one_of(self, *options: Any) -> Any:
        return self._draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def flag(self) -> bool:
        return self._draw(st.booleans())

    def options(self, **choices: Sequence[Any]) -> dict[str, Any]:
        """Keywords, each with one of its values or left out."""
        return {name: self.one_of(*of) for name, of in choices.items() if self.flag()}

    def shape(self, least: int = 0, most: int = 4, full: bool = False) -> tuple[int, ...]:
        """A shape with `least` to `most` axes; with `full`, no extent is 0."""
        return self.one_of(*[s for s in ARRAY_SHAPES if least <= len(s) <= most and not (full and 0 in s)])

    def like(self, x: Values, layouts: Sequence[str] = SAME_VALUES) -> Operand:
        """`x` in some layout: ours and NumPy's."""
        lay_out = LAYOUTS[self.one_of(*layouts)]
        return Operand(lay_out(xp, x), lay_out(np, x))

    def array(
        self,
        dtypes: Sequence[str],
        shape: tuple[int, ...] | None = None,
        low: float = -8,
        high: float = 8,
        **of_shape: Any,
    ) -> Operand:
        """An array of one of the dtypes and of this or some shape."""
        drawn = self.shape(**of_shape) if shape is None else shape
        return self.like(values(self.one_of(*dtypes), drawn, self.integer(0, 99), low, high), tuple(LAYOUTS))

    def compatible(self, x: Operand, low: float = -8, high: float = 8) -> Any:
        """What is computed with `x`: an array of its kind of dtype that broadcasts with it, or a Python number."""
        kind = x.numpys.dtype.kind
        if self.integer(0, 4) == 0:
            number = self.integer(max(int(low) + 1, 0), int(high) - 1)
            return {"b": bool, "f": float, "c": complex}.get(kind, int)(number)
        widths = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8), "c": (8, 16)}
        dtype = np.dtype(f"{kind}{self.one_of(*widths[kind])}").name if kind in widths else x.dtype
        shape = tuple([n if self.flag() else 1 for n in x.shape])
        return self.array([dtype], shape[self.integer(0, x.ndim) :], low, high)

    def axis(self, ndim: int) -> int:
        return self.integer(-ndim, ndim - 1)

    def axes(self, ndim: int) -> int | tuple[int, ...] | None:
        """None, one axis, or several, counted from either end."""
        kind = self.one_of("none", "one", "several") if ndim else "none"
        if kind == "none":
            return None
        if kind == "one":
            return self.axis(ndim)
        chosen = [axis for axis in self._draw(st.permutations(range(ndim))) if self.flag()]
        return tuple([axis - ndim if self.flag() else axis for axis in chosen])

    def order(self, ndim: int) -> tuple[int, ...]:
        """All axes in some order."""
        return tuple([axis - ndim if self.flag() else axis for axis in self._draw(st.permutations(range(ndim)))])

    def reshaped(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Another shape with as many elements."""
        size = prod(shape)
        if size == 0:
            return self.one_of((0,), (0, 3), (2, 0, 1))
        divisor = self.one_of(*[n for n in range(1, size + 1) if size % n == 0])
        return self.one_of((size,), (divisor, size // divisor), (-1, divisor), (divisor, 1, -1), (1, -1))
