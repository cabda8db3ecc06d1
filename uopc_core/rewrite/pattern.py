"""Patterns over nodes, written as the expressions that they match, and the rules made of them.

    x, y = variable("x"), variable("y")
    Rule("mul-one", x * 1, lambda x: x, where=is_real)
    Rule("neg-neg", node(Ops.NEG, node(Ops.NEG, x)), lambda x: x)

A variable matches any node, and the same node wherever it occurs; a number matches a constant of that value, broadcast
or not; operands of a commutative op match in either order. What variables matched is passed to a rule's functions by
name; the node itself is `out`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from inspect import signature

from uopc_core.dtype import DType
from uopc_core.ir.composite import const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import Scalar, UOp
from uopc_core.records import record

__all__ = [
    "COMMUTATIVE",
    "Captures",
    "Literal",
    "Node",
    "Pattern",
    "Rule",
    "Variable",
    "constant",
    "node",
    "variable",
]

Captures = dict[str, UOp]
# spelled out by number of arguments, which tells the type checker what the lambdas of the tables take
Build = Callable[[UOp], UOp | None] | Callable[[UOp, UOp], UOp | None] | Callable[[UOp, UOp, UOp], UOp | None]
Condition = Callable[[UOp], bool] | Callable[[UOp, UOp], bool]

COMMUTATIVE = frozenset(
    {Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN, Ops.AND, Ops.OR, Ops.XOR, Ops.CMPEQ, Ops.CMPNE, Ops.HYPOT, Ops.LOGADDEXP}
)


class Pattern:
    """What a node may look like; operators build patterns of the ops that the same operators of `UOp` build."""

    def match(self, x: UOp, captures: Captures) -> bool:
        """Whether `x` looks like this; enters what variables matched in `captures`, also before a mismatch is found."""
        raise NotImplementedError(type(self).__name__)

    def may_be(self, x: UOp) -> bool:
        """Whether the op of `x`, and whether it is a constant, leave a match possible."""
        raise NotImplementedError(type(self).__name__)

    def __add__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.ADD, self, other)

    def __sub__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.SUB, self, other)

    def __rsub__(self, other: Scalar) -> Node:
        return node(Ops.SUB, other, self)

    def __mul__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.MUL, self, other)

    def __truediv__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.DIV, self, other)

    def __floordiv__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.FLOORDIV, self, other)

    def __mod__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.FLOORMOD, self, other)

    def __pow__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.POW, self, other)

    def __and__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.AND, self, other)

    def __or__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.OR, self, other)

    def __xor__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.XOR, self, other)

    def __lshift__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.SHL, self, other)

    def __rshift__(self, other: Pattern | Scalar) -> Node:
        return node(Ops.SHR, self, other)

    def __neg__(self) -> Node:
        return node(Ops.NEG, self)

    def __invert__(self) -> Node:
        return node(Ops.NOT, self)


@record
class Variable(Pattern):
    """Any node; with `of_constants` only a constant."""

    name: str
    of_constants: bool = False

    def match(self, x: UOp, captures: Captures) -> bool:
        if self.of_constants and const_of(x) is None:
            return False
        return captures.setdefault(self.name, x) is x

    def may_be(self, x: UOp) -> bool:
        return not self.of_constants or const_of(x) is not None


@record
class Literal(Pattern):
    """A constant of this value; 0.0 and -0.0 differ."""

    value: Scalar

    def match(self, x: UOp, captures: Captures) -> bool:
        value = const_of(x)
        if value is None or value != self.value:
            return False
        return value != 0 or _signs_of_zero(value) == _signs_of_zero(self.value)

    def may_be(self, x: UOp) -> bool:
        return const_of(x) is not None


def _signs_of_zero(value: Scalar) -> tuple[float, float]:
    z = complex(value)
    return math.copysign(1, z.real), math.copysign(1, z.imag)


@record
class Node(Pattern):
    """A node of this op whose sources match. What a commutative node inside another matched first is not tried anew."""

    op: Ops
    src: tuple[Pattern, ...]

    def match(self, x: UOp, captures: Captures) -> bool:
        if x.op is not self.op or len(x.src) != len(self.src):
            return False
        if self.op not in COMMUTATIVE:
            return _match_all(self.src, x.src, captures)
        before = captures.copy()
        for sources in (x.src, x.src[::-1]):
            if _match_all(self.src, sources, captures):
                return True
            captures.clear()
            captures.update(before)
        return False

    def may_be(self, x: UOp) -> bool:
        return x.op is self.op

    def admits(self, x: UOp) -> bool:
        """Whether the sources of `x`, each for itself, leave a match possible."""
        if len(x.src) != len(self.src):
            return False
        orders = (x.src, x.src[::-1]) if self.op in COMMUTATIVE else (x.src,)
        return any(all(p.may_be(s) for p, s in zip(self.src, sources, strict=True)) for sources in orders)


def _match_all(patterns: Sequence[Pattern], sources: Sequence[UOp], captures: Captures) -> bool:
    for pattern, s in zip(patterns, sources, strict=True):  # a loop, since `all` of a generator is two calls more
        if not pattern.match(s, captures):
            return False
    return True


def variable(name: str) -> Variable:
    return Variable(name)


def constant(name: str) -> Variable:
    """A variable that stands for constants only."""
    return Variable(name, of_constants=True)


def node(op: Ops, *sources: Pattern | Scalar) -> Node:
    return Node(op, tuple([s if isinstance(s, Pattern) else Literal(s) for s in sources]))


def _any_dtype(dtype: DType) -> bool:
    return True


class Rule:
    """A named rewrite that keeps every bit.

    Attributes:
        pattern: what it applies to.
        build: the replacement, from what was matched; None leaves the node as it is.
        where: the dtypes of the first source for which it is exact.
        when: a further condition, from what was matched.
        of: the ops that the first source may have; None admits all.
        examples: graphs to which the rule applies, for its test, over a function that makes a leaf of a shape; needed
            where the pattern alone does not say (the arguments of movement ops).
    """

    __slots__ = (
        "_build_names",
        "_when_names",
        "build",
        "examples",
        "name",
        "of",
        "pattern",
        "when",
        "where",
    )

    def __init__(
        self,
        name: str,
        pattern: Node,
        build: Build,
        where: Callable[[DType], bool] = _any_dtype,
        when: Condition | None = None,
        examples: Callable[[Callable[..., UOp]], Sequence[UOp]] | None = None,
        of: Container[Ops] | None = None,
    ) -> None:
        self.name = name
        self.pattern = pattern
        self.build = build
        self.where = where
        self.when = when
        self.of = of
        self.examples = examples
        self._build_names = tuple(signature(build).parameters)
        self._when_names = tuple(signature(when).parameters) if when is not None else ()

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"

    def admits(self, x: UOp) -> bool:
        """Whether the op and dtype of `x`, the ops of its sources and which are constants leave the rule possible."""
        first = x.src[0]
        if (
            x.op is not self.pattern.op
            or not self.where(first.dtype)
            or (self.of is not None and first.op not in self.of)
        ):
            return False
        return self.pattern.admits(x)

    def apply(self, x: UOp) -> UOp | None:
        """The replacement of a node `x` that is admitted, or None where the rule does not apply."""
        captures: Captures = {}
        if not self.pattern.match(x, captures):
            return None
        captures["out"] = x
        if self.when is not None and not self.when(*[captures[name] for name in self._when_names]):
            return None
        return self.build(*[captures[name] for name in self._build_names])
