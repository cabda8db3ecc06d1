"""Index arithmetic on concrete integers: sums of coefficient times atom, with the range of every value known.

An atom is the variable of a loop, a quotient or remainder that could not be resolved, or a checked value read from
memory. All simplification happens when an expression is made: `div` and `mod` are floor division and its remainder by a
positive constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd

from uopc_core.records import record

__all__ = [
    "ZERO",
    "Atom",
    "Cond",
    "Div",
    "Index",
    "Mod",
    "Value",
    "Var",
    "atoms_of",
    "flatten",
    "position",
    "strides_of",
    "unflatten",
]


@record(slots=True)
class Var:
    """The variable of a loop over ``lo <= v < hi``."""

    name: str
    lo: int
    hi: int

    @property
    def extent(self) -> int:
        return self.hi - self.lo

    @property
    def bounds(self) -> tuple[int, int]:
        return self.lo, max(self.lo, self.hi - 1)

    def __str__(self) -> str:
        return self.name


@record(slots=True)
class Value:
    """An index that was read from memory and checked: ``0 <= name < size``."""

    name: str
    size: int

    @property
    def bounds(self) -> tuple[int, int]:
        return 0, max(0, self.size - 1)

    def __str__(self) -> str:
        return self.name


@record(slots=True)
class Div:
    """``floor(expr / by)``."""

    expr: Index
    by: int

    @property
    def bounds(self) -> tuple[int, int]:
        return self.expr.lo // self.by, self.expr.hi // self.by

    def __str__(self) -> str:
        return f"({self.expr})//{self.by}"


@record(slots=True)
class Mod:
    """``expr - by * floor(expr / by)``."""

    expr: Index
    by: int

    @property
    def bounds(self) -> tuple[int, int]:
        return 0, self.by - 1

    def __str__(self) -> str:
        return f"({self.expr})%{self.by}"


Atom = Var | Value | Div | Mod
Terms = dict[Atom, int]


class Index:
    """An immutable integer expression ``const + sum(coef * atom)`` in canonical form; equal expressions compare equal.

    Attributes:
        terms: pairs of an atom and its coefficient, never 0, in a fixed order.
        lo, hi: its smallest and largest value, both included.
        is_of_loops: whether its atoms are variables of loops alone.
    """

    __slots__ = ("_hash", "const", "hi", "is_of_loops", "lo", "terms")

    terms: tuple[tuple[Atom, int], ...]
    const: int
    lo: int
    hi: int

    def __init__(self, terms: tuple[tuple[Atom, int], ...], const: int) -> None:
        lo = hi = const
        self.is_of_loops = True
        for atom, coef in terms:
            low, high = atom.bounds
            if coef > 0:
                lo += coef * low
                hi += coef * high
            else:
                lo += coef * high
                hi += coef * low
            if type(atom) is not Var:
                self.is_of_loops = False
        self.terms, self.const, self.lo, self.hi = terms, const, lo, hi
        self._hash = hash((terms, const))

    @staticmethod
    def of(value: Atom | int) -> Index:
        if isinstance(value, int):
            return Index((), value)
        if isinstance(value, Var) and value.extent <= 1:
            return Index((), value.lo)
        return Index(((value, 1),), 0)

    @property
    def is_const(self) -> bool:
        return not self.terms

    def coef(self, atom: Atom) -> int:
        for other, coef in self.terms:
            if other == atom:
                return coef
        return 0

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Index)
            and self._hash == other._hash
            and self.const == other.const
            and self.terms == other.terms
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        parts = [str(atom) if coef == 1 else f"{coef}*{atom}" for atom, coef in self.terms]
        if self.const or not parts:
            parts.append(str(self.const))
        return " + ".join(parts)

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return self if other == 0 else Index(self.terms, self.const + other)
        if not other.terms:
            return self + other.const
        if not self.terms:
            return other + self.const
        terms = dict(self.terms)
        for atom, coef in other.terms:
            terms[atom] = terms.get(atom, 0) + coef
        return _make(terms, self.const + other.const)

    def __sub__(self, other: Index | int) -> Index:
        return self + (other * -1 if isinstance(other, Index) else -other)

    def __mul__(self, factor: int) -> Index:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Index(tuple([(atom, coef * factor) for atom, coef in self.terms]), self.const * factor)

    def div(self, by: int) -> Index:
        """Floor division by a positive constant."""
        if by == 1:
            return self
        if self.lo // by == self.hi // by:
            return Index((), self.lo // by)
        whole = {atom: coef // by for atom, coef in self.terms if coef % by == 0}
        rest = Index(tuple([(atom, coef) for atom, coef in self.terms if coef % by]), self.const % by)
        quotient = _make(whole, self.const // by)
        if rest.lo // by == rest.hi // by:
            return quotient + rest.lo // by
        factored = _factor(rest, by)
        if factored is None:
            return quotient + Index(((Div(rest, by), 1),), 0)
        big, _, g = factored
        return quotient + big.div(by // g)

    def mod(self, by: int) -> Index:
        """The remainder of `div`, in ``0 .. by - 1``."""
        if by == 1:
            return ZERO
        if self.lo // by == self.hi // by:
            return self + -(self.lo // by) * by
        rest = Index(tuple([(atom, coef) for atom, coef in self.terms if coef % by]), self.const % by)
        if rest.lo // by == rest.hi // by:
            return rest + -(rest.lo // by) * by
        factored = _factor(rest, by)
        if factored is None:
            return Index(((Mod(rest, by), 1),), 0)
        big, small, g = factored
        return big.mod(by // g) * g + small

    def substitute(self, values: Mapping[Var, Index]) -> Index:
        """The expression with variables replaced, simplified anew."""
        out = Index((), self.const)
        for atom, coef in self.terms:
            if isinstance(atom, Var):
                out = out + values.get(atom, Index(((atom, 1),), 0)) * coef
            elif isinstance(atom, Div):
                out = out + atom.expr.substitute(values).div(atom.by) * coef
            elif isinstance(atom, Mod):
                out = out + atom.expr.substitute(values).mod(atom.by) * coef
            else:
                out = out + Index(((atom, coef),), 0)
        return out


ZERO = Index((), 0)


def _factor(expr: Index, by: int) -> tuple[Index, Index, int] | None:
    """``expr = g * big + small`` with ``0 <= small < g`` and g > 1 a divisor of `by`, the largest that works."""
    candidates = sorted({gcd(by, coef) for _, coef in expr.terms} - {1}, reverse=True)
    for g in candidates:
        small = Index(tuple([(atom, coef) for atom, coef in expr.terms if coef % g]), expr.const % g)
        if small.lo >= 0 and small.hi < g:
            big = Index(tuple([(atom, coef // g) for atom, coef in expr.terms if coef % g == 0]), expr.const // g)
            return big, small, g
    return None


def _make(terms: Terms, const: int) -> Index:
    if any(isinstance(atom, Mod) for atom in terms):
        const = _recombine(terms, const)
    kept = [(atom, coef) for atom, coef in terms.items() if coef]
    if len(kept) > 1:
        kept.sort(key=lambda term: str(term[0]))
    return Index(tuple(kept), const)


def _recombine(terms: Terms, const: int) -> int:
    """``(x // c) * c + x % c`` is x."""
    again = True
    while again:
        again = False
        for atom, coef in list(terms.items()):
            if not isinstance(atom, Mod) or not coef:
                continue
            quotient = atom.expr.div(atom.by)
            pair = quotient.terms[0] if len(quotient.terms) == 1 and not quotient.const else None
            if pair is None or pair[1] != 1 or terms.get(pair[0], 0) != coef * atom.by:
                continue
            del terms[atom], terms[pair[0]]
            for inner, inner_coef in atom.expr.terms:
                terms[inner] = terms.get(inner, 0) + inner_coef * coef
            const += atom.expr.const * coef
            again = True
            break
    return const


def atoms_of(expr: Index) -> Iterator[Atom]:
    """Every atom in `expr`, those inside quotients and remainders included."""
    stack = [expr]
    while stack:
        for atom, _ in stack.pop().terms:
            yield atom
            if isinstance(atom, Div | Mod):
                stack.append(atom.expr)


def strides_of(shape: Sequence[int]) -> list[int]:
    """Row-major strides, in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def flatten(indices: Iterable[Index], shape: Sequence[int]) -> Index:
    """The row-major position of an element."""
    return position(indices, strides_of(shape))


def position(indices: Iterable[Index], strides: Iterable[int]) -> Index:
    """The position of an element in memory that has these strides."""
    out = ZERO
    for index, stride in zip(indices, strides, strict=True):
        out = out + index * stride
    return out


def unflatten(flat: Index, shape: Sequence[int]) -> tuple[Index, ...]:
    """The coordinates of a row-major position that is inside `shape`."""
    out: list[Index] = []
    for extent in reversed(shape[1:]):
        out.append(flat.mod(extent) if extent > 1 else ZERO)
        flat = flat.div(extent) if extent > 1 else flat
    return (flat, *reversed(out)) if shape else ()


@record(slots=True)
class Cond:
    """``expr >= 0``."""

    expr: Index

    @property
    def truth(self) -> bool | None:
        """Whether it holds everywhere or nowhere; None if that depends."""
        if self.expr.lo >= 0:
            return True
        return False if self.expr.hi < 0 else None

    def threshold(self) -> tuple[Var, int] | None:
        """For a condition on one variable alone: the variable, and the first of its values where the truth changes."""
        if len(self.expr.terms) != 1 or not isinstance(self.expr.terms[0][0], Var):
            return None
        var, coef = self.expr.terms[0]
        assert isinstance(var, Var)
        # coef * v + const >= 0: from ceil(-const / coef) on, or up to floor(const / -coef)
        first = -(self.expr.const // coef) if coef > 0 else self.expr.const // -coef + 1
        return var, first

    def __str__(self) -> str:
        return f"{self.expr} >= 0"
