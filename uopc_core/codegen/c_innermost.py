"""Loops without loops inside -> C: one loop, or blocks in stages where calls or accumulators want them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from uopc_core.codegen.c_math import need_block_function
from uopc_core.codegen.c_order import is_in_order
from uopc_core.codegen.c_reduce import (
    block_of,
)
from uopc_core.codegen.c_stages import Stage, Stages, cut_stages, drop_unused
from uopc_core.codegen.c_statements import StatementWriter
from uopc_core.codegen.c_types import C_TYPES, element
from uopc_core.codegen.helpers import helper
from uopc_core.costs import AHEAD_BYTES, FAR_BYTES, MAP_BLOCK, WIDE_ROW_BYTES
from uopc_core.loop.index import Var
from uopc_core.loop.loop_ir import (
    Accumulate,
    Block,
    Effect,
    Load,
    Loop,
    LoopNest,
    Result,
    RowReduce,
    Store,
)
from uopc_core.loop.optimise import used_names

__all__ = ["MAP_BLOCK", "InnermostWriter", "count_of"]

_SIMD = "#pragma omp simd"


class InnermostWriter(StatementWriter, ABC):
    """Writes loops whose bodies are statements."""

    def __init__(self, function: LoopNest, vector: bool) -> None:
        super().__init__(function, vector)
        self.lanes: RowReduce | None = None
        self.tile: tuple[Var, str, int] | None = None  # of columns: the variable, how many, and at most
        self.ranges: dict[Var, tuple[str, str]] = {}
        self.cut_rows: tuple[Var, Var] | None = None  # two loops of which a part of the elements is run
        self.strides: dict[Var, int] = {}  # of loops that do not go from one to the next
        self.fetched: set[int] = set()  # buffers of which blocks are fetched before they are read

    @abstractmethod
    def block(self, block: Block) -> None:
        """Write items one after the other."""

    @abstractmethod
    def loop(self, loop: Loop) -> None:
        """Write a loop with what is inside."""

    @abstractmethod
    def gather(self, s: Accumulate, stages: Stages, loop: Loop, start: str) -> None:
        """Accumulate what a block of an innermost loop has computed."""

    @abstractmethod
    def end_of_block(self, item: RowReduce) -> None:
        """Hand on what a block has accumulated."""

    def bounds(self, loop: Loop) -> tuple[str, str]:
        if loop.var in self.ranges:
            return self.ranges[loop.var]
        if self.tile is not None and loop.var == self.tile[0]:
            return "0", self.tile[1]
        lo, hi = self.place(loop.var.lo) if loop.var.lo else "0", ""
        if not loop.parallel:
            return lo, self.place(loop.var.hi)
        whole = loop.var.lo == 0 and loop.var.hi == self.function.extent
        if whole:
            return "begin", "end"
        self.need_clip()
        hi = self.place(loop.var.hi)
        return f"MAX(begin, {lo})", f"MIN(end, {hi})"

    def loop_head(self, loop: Loop) -> str:
        lo, hi = self.bounds(loop)
        return self.head(loop, self.name_loop(loop.var), lo, hi)

    def head(self, loop: Loop, name: str, lo: str, hi: str) -> str:
        step = f"{name} += {self.strides[loop.var]}" if loop.var in self.strides else f"{name}++"
        return f"for (int64_t {name} = {lo}; {name} < {hi}; {step})"

    def innermost(self, loop: Loop) -> None:
        """A loop without loops inside: one C loop, or blocks where calls or accumulators want them."""
        statements = [item for item in loop.body if isinstance(item, Result | Effect)]
        if self.lanes is None:
            stages = cut_stages(statements)
            if len(stages.stages) == 1:
                self.plain_loop(loop, stages)
            else:
                self.blocked_loop(loop, stages, [])
            return
        gathered = [s for s in statements if isinstance(s, Accumulate)]
        in_memory = {s.name for s in statements if isinstance(s, Load) and is_in_order(s, loop)}
        wanted = [s.value for s in gathered if s.value not in in_memory]
        rest = [s for s in statements if not isinstance(s, Accumulate)]
        self.blocked_loop(loop, cut_stages(rest, wanted), gathered)

    def plain_loop(self, loop: Loop, stages: Stages) -> None:
        if self.tile is not None and loop.var == self.tile[0]:
            self.blocked_loop(loop, stages, [])
            return
        lo, hi = self.bounds(loop) if loop.parallel or loop.var in self.ranges else ("", "")
        name = self.name_loop(loop.var)
        statements = stages.stages[0].statements
        for piece in [loop.var] if loop.var in self.strides else self.pieces(statements, loop):
            first, last = self.piece_bounds(loop, piece, lo, hi)
            if loop.simd:
                self.line(_SIMD)
            self.open(self.head(loop, name, first, last))
            for s in statements:
                self.statement(s)
            self.close()
        self.drop_loop(loop.var)

    def blocked_loop(self, loop: Loop, stages: Stages, gathered: Sequence[Accumulate]) -> None:
        """The loop in blocks, each stage running over a whole block."""
        in_tile = self.tile is not None and loop.var == self.tile[0]
        size = block_of(count_of(self.lanes)) if self.lanes is not None else MAP_BLOCK
        if in_tile:
            assert self.tile is not None
            name, start = self.name_loop(loop.var), "tile"
            count, size = self.tile[1:]
            self.open("") if stages.physical else None
        else:
            lo, hi = self.bounds(loop)
            name = self.name_loop(loop.var)
            start, count = f"{name}0", "m"
            self.open(f"for (int64_t {start} = {lo}; {start} < {hi}; {start} += {size})")
            self.line(f"const int64_t m = {hi} - {start} < {size} ? {hi} - {start} : {size};")
            self.fetch_ahead(loop, start)
        if len(stages.stages) > 1:
            self.load_directly(loop, stages, start)
            self.store_directly(loop, stages, start)
        for home, dtype in stages.physical.items():
            if home in stages.homes.values():
                self.line(f"{C_TYPES[dtype]} {home}[{size}];")
        for number, stage in enumerate(stages.stages):
            if stage.statements or stage.gives or stage.fills:
                self.stage_loop(loop, stages, number, name, start, count)
            for call in stage.calls:
                function = need_block_function(self.need_typed, call.statement.op, call.statement.of, self.vector)
                arrays = ", ".join(stages.homes[x] for x in (call.result, *call.arrays))
                self.line(f"{function}({arrays}, {count});")
        for s in gathered:
            self.gather(s, stages, loop, start)
        if not in_tile:
            if self.lanes is not None:
                self.end_of_block(self.lanes)
            self.close()
        elif stages.physical:
            self.close()
        self.drop_loop(loop.var)

    def fetch_ahead(self, loop: Loop, start: str) -> None:
        """Have blocks of long rows fetched before their turn, where a vector is read beside all of them: from one that
        the first level of the cache does not hold, the machine sees less of how it goes on with the rows.
        """
        loads = [s for s in loop.body if isinstance(s, Load) and is_in_order(s, loop)] if self.lanes is not None else []
        beside = [s for s in loads if s.index.is_of_loops and len(s.index.terms) == 1]
        for load in [s for s in loads if s not in beside and s.buffer not in self.fetched] if beside else []:
            self.fetched.add(load.buffer)
            memory = self.function.buffers[load.buffer]
            is_wide = max(loop.var.extent * s.dtype.itemsize for s in beside) > WIDE_ROW_BYTES
            is_far = self.lift(int(is_wide and memory.size * load.dtype.itemsize > FAR_BYTES))
            ahead = helper(self.need_typed, "ahead_T", T=load.dtype, AHEAD_BYTES=AHEAD_BYTES)
            self.line(f"if ({is_far}) {ahead}({self.pointer_at(load, loop, start)}, m);")

    def load_directly(self, loop: Loop, stages: Stages, start: str) -> None:
        """Let calls read operands that are in memory as they are from there."""
        for stage in stages.stages:
            for load in [s for s in stage.statements if isinstance(s, Load) and s.name in stage.gives]:
                if is_in_order(load, loop):
                    stages.homes[load.name] = self.pointer_at(load, loop, start)
                    stage.gives.remove(load.name)
            drop_unused(stage)

    def store_directly(self, loop: Loop, stages: Stages, start: str) -> None:
        """Let the results of calls that are stored as they are be written there at once."""
        results = {call.result for stage in stages.stages for call in stage.calls}
        last = stages.stages[-1]
        if self.function.inplace and (len(last.statements) > 1 or len(stages.stages[-2].calls) > 1):
            return  # an input that may be the same memory is still to be read
        for s in list(last.statements):
            if not isinstance(s, Store) or s.value not in results or not is_in_order(s, loop):
                continue
            name = str(s.value)
            if stages.dtypes[name] is s.dtype and "[" not in stages.homes[name]:
                stages.homes[name] = self.pointer_at(s, loop, start)
                last.statements.remove(s)
        used = {name for s in last.statements for name in used_names(s)} | set(last.gives)
        last.takes[:] = [name for name in last.takes if name in used]

    def pointer_at(self, access: Load | Store, loop: Loop, start: str) -> str:
        """The address of the element that an access meets first in a block."""
        variable = self.loop_names[loop.var]
        self.loop_names[loop.var] = start
        text = f"&{self.pointers[access.buffer]}[{self.index(access.index)}]"
        self.loop_names[loop.var] = variable
        return text

    def stage_loop(self, loop: Loop, stages: Stages, number: int, name: str, start: str, count: str) -> None:
        stage = stages.stages[number]
        for piece in self.pieces(stage.statements, loop):
            first, last = self.piece_bounds(loop, piece, "0", count, start)
            self.stage_piece(stages, stage, name, start, (first, last), loop.simd)

    def stage_piece(
        self, stages: Stages, stage: Stage, name: str, start: str, bounds: tuple[str, str], simd: bool
    ) -> None:
        first, last = bounds
        if simd:
            self.line(_SIMD)
        self.open(f"for (int64_t l = {first}; l < {last}; l++)")
        self.line(f"const int64_t {name} = {start} + l;")
        for taken in stage.takes:
            dtype = stages.dtypes[taken]
            self.line(f"const {C_TYPES[dtype]} {taken} = {element(_element(stages.homes[taken]), dtype)};")
        for s in stage.statements:
            self.statement(s)
        for given in stage.gives:
            self.line(f"{stages.homes[given]}[l] = {given};")
        for fill, operand, _ in stage.fills:
            self.line(f"{stages.homes[fill]}[l] = {self.operand(operand)};")
        self.close()


def count_of(item: RowReduce) -> int:
    """How many elements are combined."""
    return item.extent * item.repeats


def _element(array: str) -> str:
    return f"({array})[l]" if array.startswith("&") else f"{array}[l]"
