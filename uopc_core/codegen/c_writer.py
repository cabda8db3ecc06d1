"""Lines of C with what they need: typedefs, helper functions, and the integers lifted out of the text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from uopc_core.codegen.c_types import C_TYPES, TYPEDEFS, literal
from uopc_core.codegen.helpers import helper
from uopc_core.loop.index import Atom, Cond, Div, Index, Mod, Value, Var
from uopc_core.loop.loop_ir import Const, LoopOperand

__all__ = ["MARKED", "Writer"]

MAX_LITERAL = 16
MARKED = re.compile("\1([^\2]*)\2")  # an integer that is a parameter, or may become one
_NAMES = "ijkpqruwxyz"


class Writer:
    """The text of one function in the making.

    Attributes:
        lines: with marks around parameters, and around small numbers that tell a place, see `MARKED`.
        dims: the lifted integers; ``n[k]`` in the text is ``dims[k]``. Every occurrence has a place of its own, since
            integers that are equal for one shape differ for another.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.dims: list[int] = []
        self.prelude: dict[str, str] = {}
        self.loop_names: dict[Var, str] = {}
        self.renamed: dict[str, str] = {}

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text if not text.startswith("#") else text)

    def open(self, text: str) -> None:
        self.line(f"{text} {{" if text else "{")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.line("}")

    def need(self, name: str, text: str) -> None:
        """Have `text`, which defines `name`, in the source once. Its types come before it."""
        self.prelude.setdefault(name, text)

    def need_types(self, text: str) -> None:
        """Have the types that `text` mentions."""
        for c in C_TYPES.values():
            if c in TYPEDEFS and c in text:
                self.need(c, TYPEDEFS[c])

    def need_typed(self, name: str, text: str) -> None:
        """`need`, with the types that the text mentions before it."""
        self.need_types(text)
        self.need(name, text)

    def lift(self, value: int) -> str:
        """An integer that is always a run-time parameter."""
        self.dims.append(value)
        return f"\1n[{len(self.dims) - 1}]\2"

    def integer(self, value: int) -> str:
        """An integer in the text where it is small, else a run-time parameter."""
        if -MAX_LITERAL <= value <= MAX_LITERAL:
            return str(value) if value >= 0 else f"({value})"
        return self.lift(value)

    def place(self, value: int) -> str:
        """An integer that says where in memory, or from where to where: `integer`, marked also where it is small."""
        text = self.integer(value)
        return text if text.startswith("\1") else f"\1{text}\2"

    # --- loops ---

    def name_loop(self, var: Var) -> str:
        """A fresh name for the variable of a loop; free again after `drop_loop`."""
        used = set(self.loop_names.values())
        name = next((c for c in _NAMES if c not in used), f"i{len(used)}")
        self.loop_names[var] = name
        return name

    def drop_loop(self, var: Var) -> None:
        del self.loop_names[var]

    # --- expressions ---

    def operand(self, x: LoopOperand) -> str:
        if isinstance(x, Const):
            return literal(x.value, x.dtype)
        return self.renamed.get(x, x)

    def index(self, expr: Index) -> str:
        """An integer expression, without parentheses around it."""
        text = ""
        for atom, coef in self._terms(expr):
            size = self.integer(abs(coef))
            term = self._atom(atom) if size == "1" else f"{self._atom(atom)}*{size}"
            text += (" - " if coef < 0 else " + ") + term
        if expr.const or not text:
            text += (" - " if expr.const < 0 else " + ") + self.place(abs(expr.const))
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def _terms(self, expr: Index) -> Sequence[tuple[Atom, int]]:
        """Outer loops first, positive terms before negative ones."""
        order = {var: i for i, var in enumerate(self.loop_names)}
        return sorted(expr.terms, key=lambda t: (t[1] < 0, order.get(t[0], -1) if isinstance(t[0], Var) else -1))

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Var():
                return self.loop_names[atom]
            case Value():
                return self.operand(atom.name)
            case Div():
                return self._division(atom.expr, atom.by, "/", "floordiv_index")
            case Mod():
                return self._division(atom.expr, atom.by, "%", "floormod_index")

    def _division(self, expr: Index, by: int, symbol: str, name: str) -> str:
        if expr.lo >= 0:
            text = self.index(expr)
            return f"({f'({text})' if ' ' in text else text} {symbol} {self.integer(by)})"
        return f"{helper(self.need, name)}({self.index(expr)}, {self.integer(by)})"

    def condition(self, conds: Sequence[Cond]) -> str:
        return " && ".join(self._cond(cond) for cond in conds)

    def _cond(self, cond: Cond) -> str:
        expr = cond.expr
        threshold = cond.threshold()
        if threshold is not None:
            var, first = threshold
            return f"{self.loop_names[var]} {'>=' if expr.coef(var) > 0 else '<'} {self.place(first)}"
        return f"{self.index(expr)} >= 0"
