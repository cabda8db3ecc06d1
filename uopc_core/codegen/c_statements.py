"""Statements of a loop body -> lines of C."""

from __future__ import annotations

from uopc_core.codegen.c_access import AccessWriter
from uopc_core.codegen.c_math import COMPLEX_MATH, is_math, need_scalar_function, render_complex_math
from uopc_core.codegen.c_ops import C_OPS, combine, rounded
from uopc_core.codegen.c_reduce import need_running_sum
from uopc_core.codegen.c_types import C_TYPES
from uopc_core.codegen.helpers import helper
from uopc_core.dtype import dtypes, is_complex, is_float, is_unsigned
from uopc_core.ir.op import SUM_BLOCK, Ops
from uopc_core.loop.index import Var
from uopc_core.loop.loop_ir import (
    Acc,
    Accumulate,
    CheckIndex,
    Compute,
    Holds,
    IndexValue,
    Load,
    LoopNest,
    Random,
    Result,
    Statement,
    Store,
    Update,
)
from uopc_core.loop.lower import writes_in_turn

__all__ = ["StatementWriter"]

_SCATTER_OPS = {"add": Ops.ADD, "mul": Ops.MUL, "max": Ops.MAX, "min": Ops.MIN}


class StatementWriter(AccessWriter):
    """Writes statements where the loops around them are open.

    Attributes:
        accs: the accumulators in force, with how they are kept.
        crossing: the two loops whose values wait for their order, the one along memory last.
    """

    def __init__(self, function: LoopNest, vector: bool) -> None:
        super().__init__(function)
        self.vector = vector
        self.accs: dict[str, tuple[Acc, str]] = {}
        self.crossing: tuple[Var, Var] | None = None
        self.uses_status = False
        self.interleaves = writes_in_turn(function)

    def declare(self, s: Result, expression: str) -> None:
        self.line(f"const {C_TYPES[s.dtype]} {s.name} = {expression};")

    def statement(self, s: Statement) -> None:
        match s:
            case Load():
                self.declare(s, self.load(s))
            case Compute():
                self.declare(s, self.compute(s))
            case IndexValue():
                index = self.index(s.index)
                self.declare(s, index if s.dtype is dtypes.int64 else f"({C_TYPES[s.dtype]})({index})")
            case Random():
                helper(self.need_typed, "squares64")
                self.declare(s, f"squares64({self.index(s.index)}, {self.operand(s.key)})")
            case Holds():
                self.declare(s, self.holds(s.conds))
            case CheckIndex():
                self.wrap(s)
            case Store():
                self.line(f"{self.pointers[s.buffer]}[{self.index(s.index)}] = {self.operand(s.value)};")
            case Update():
                self.update(s)
            case Accumulate():
                self.accumulate(s)

    def compute(self, s: Compute) -> str:
        args = tuple([self.operand(arg) for arg in s.args])
        if is_math(s.op, s.of):
            return f"{need_scalar_function(self.need_typed, s.op, s.of, self.vector)}({', '.join(args)})"
        if is_complex(s.of) and s.op in COMPLEX_MATH:
            return render_complex_math(self.need_typed, s.op, s.of, args[0])
        text = C_OPS[s.op](self.need_typed, args, s.of, s.dtype)
        if s.op is Ops.MUL and is_float(s.of) and self.interleaves:
            return rounded(self.need_typed, text)
        return text

    def wrap(self, s: CheckIndex) -> None:
        helper(self.need_typed, "fail")
        self.uses_status = True
        value, size = self.operand(s.value), self.integer(s.size)
        if s.of is not dtypes.int64:
            value = f"(int64_t){value}"
        guard = self.unknown(s.guard)
        if guard is None:
            self.line(f"const int64_t {s.name} = 0;")
            return
        self.line(f"int64_t {s.name} = {f'{self.condition(guard)} ? {value} : 0' if guard else value};")
        if not is_unsigned(s.of):
            self.line(f"{s.name} += {s.name} < 0 ? {size} : 0;")
        test = f"(uint64_t){s.name} >= (uint64_t){size}"
        if guard:
            test = f"{self.condition(guard)} && {test}"
        failed = f"fail(status, {value}, {s.axis}, {size})"
        self.line(f"if (__builtin_expect({test}, 0)) return {failed};")

    def update(self, s: Update) -> None:
        target = f"{self.pointers[s.buffer]}[{self.index(s.index)}]"
        value = self.operand(s.value)
        if s.mode == "set":
            self.line(f"{target} = {value};")
            return
        c = C_TYPES[s.dtype]
        self.open("")
        self.line(f"{c} *restrict to = &{target};")
        self.line(f"const {c} old = *to;")
        self.line(f"*to = {combine(self.need_typed, _SCATTER_OPS[s.mode], s.dtype, 'old', value)};")
        self.close()

    def accumulate(self, s: Accumulate) -> None:
        acc, how = self.accs[s.acc]
        value = self.operand(s.value)
        if self.crossing is not None:
            outer, inner = (self.loop_names[var] for var in self.crossing)
            self.line(f"{how.format(outer=outer, inner=inner)} = {value};")
        elif how == "scan":
            combined = combine(self.need_typed, acc.op, acc.dtype, acc.name, value)
            self.line(f"{acc.name} = {acc.name}_first ? {value} : ({combined});")
            self.line(f"{acc.name}_first = 0;")
        elif how == "blocks":
            carry = need_running_sum(self.need_typed, acc.dtype)
            self.line(f"{acc.name} = {acc.name}_k ? {acc.name} + {value} : {value};")
            self.line(f"const {C_TYPES[acc.dtype]} {acc.name}_sum = {acc.name}_sums + {acc.name};")
            self.open(f"if (++{acc.name}_k == {SUM_BLOCK})")
            state = f"{acc.name}_inside, {acc.name}_before, {acc.name}_n"
            self.line(f"{acc.name}_sums = {carry}({state}, {acc.name});")
            self.line(f"{acc.name}_k = 0;")
            self.close()
            self.renamed[acc.name] = f"{acc.name}_sum"
        else:
            target = {"tile": f"{acc.name}_[l]", "lane": f"{acc.name}_[lane]"}.get(how, f"{acc.name}_l")
            self.line(f"{target} = {combine(self.need_typed, acc.op, acc.dtype, value, target)};")
