"""The verifier of loop nests: what every function must satisfy before it is written as C."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.dtype import name_of
from uopc_core.errors import VerifyError
from uopc_core.loop.index import Value, Var, atoms_of
from uopc_core.loop.loop_ir import (
    Accumulate,
    Block,
    Const,
    Load,
    Loop,
    LoopNest,
    LoopOperand,
    RowReduce,
    Scan,
    Scope,
    Statement,
    Store,
    TileReduce,
    Unless,
    Update,
    indices_of,
    operands_of,
    print_block,
    print_function,
)

__all__ = ["verify_function"]


def verify_function(function: LoopNest) -> None:
    """Check that names are given once and before they are used, that every index stands inside of its loops and of
    its buffer, and that nothing is stored in an input.

    Raises:
        VerifyError: the first statement that breaks a rule, with what was expected and the whole nest.
    """
    _Checker(function).block(function.body, frozenset(f"s{i}" for i in range(len(function.scalars))), frozenset(), ())


class _Checker:
    def __init__(self, function: LoopNest) -> None:
        self.function = function

    def block(
        self, block: Block, names: frozenset[str], variables: frozenset[Var], accs: tuple[str, ...]
    ) -> frozenset[str]:
        """The names that are known after `block`, of which `names` are known before it."""
        for item in block:
            match item:
                case Loop():
                    self.expect(item.var.hi >= item.var.lo, item.body, "a loop with a first and a last value", item.var)
                    self.expect(item.var not in variables, item.body, "a variable for each loop", item.var)
                    self.block(item.body, names, variables | {item.var}, accs)
                case Scope() | Unless():
                    self.block(item.body, names, variables, accs)
                case RowReduce():
                    known = tuple([acc.name for acc in item.accs])
                    self.block(item.body, names, variables, (*accs, *known))
                    names = names.union(known)
                case TileReduce():
                    known = tuple([acc.name for acc in item.accs])
                    self.block(item.body, names, variables, (*accs, *known))
                    self.block(item.post, names.union(known), variables, accs)
                case Scan():
                    self.block(item.body, names.union([item.acc.name]), variables, (*accs, item.acc.name))
                case _:
                    names = self.statement(item, names, variables, accs)
        return names

    def statement(
        self, s: Statement, names: frozenset[str], variables: frozenset[Var], accs: Sequence[str]
    ) -> frozenset[str]:
        for operand in operands_of(s):
            self.expect(_is_known(operand, names), (s,), f"one of {sorted(names)} for an operand", operand)
        for index in indices_of(s):
            for atom in atoms_of(index):
                if isinstance(atom, Var):
                    self.expect(atom in variables, (s,), "the variable of a loop around", f"{atom} of {atom.bounds}")
                elif isinstance(atom, Value):
                    self.expect(atom.name in names, (s,), "an index that has been read", atom)
        if isinstance(s, Load | Store | Update):
            self.access(s)
        if isinstance(s, Accumulate):
            self.expect(s.acc in accs, (s,), f"one of {list(accs)} for an accumulator", s.acc)
        if isinstance(s, Store | Update | Accumulate):
            return names
        self.expect(s.name not in names, (s,), "a name for each value", s.name)
        return names | {s.name}

    def access(self, s: Load | Store | Update) -> None:
        """An element outside of the buffer is read or written only where a condition keeps it from happening."""
        self.expect(0 <= s.buffer < len(self.function.buffers), (s,), "the number of a buffer", s.buffer)
        buffer = self.function.buffers[s.buffer]
        if not isinstance(s, Load):
            self.expect(buffer.written, (s,), "an output to store in", buffer)
        self.expect(s.dtype is buffer.dtype, (s,), f"elements of {name_of(buffer.dtype)}", name_of(s.dtype))
        if not (isinstance(s, Load) and s.guard):
            inside = 0 <= s.index.lo and s.index.hi < max(1, buffer.size)
            self.expect(inside, (s,), f"an index from 0 to {buffer.size - 1}", f"{s.index.lo} to {s.index.hi}")

    def expect(self, holds: bool, block: Block, expected: str, got: object) -> None:
        if not holds:
            where = f"{print_block(block)}\n\n{print_function(self.function)}"
            raise VerifyError(f"verify: expected {expected}, got {got}\n    in {where}")


def _is_known(operand: LoopOperand, names: frozenset[str]) -> bool:
    return isinstance(operand, Const) or operand in names
