"""Loop nest -> lines of C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uopc_core.codegen.c_columns import LINE_BYTES, need_append_columns
from uopc_core.codegen.c_math import need_block_function
from uopc_core.codegen.c_ops import combine
from uopc_core.codegen.c_order import is_in_order, is_of_any_order, load_of_columns, row_of_extreme
from uopc_core.codegen.c_reduce import (
    SCAN_LEVELS,
    block_of,
    lanes_of,
    need_append,
    need_clear,
    need_extreme,
    need_flush,
    need_fold,
    need_gather,
    need_lane_order,
    need_push_row,
    need_total,
    need_total_row,
    needs_tree,
)
from uopc_core.codegen.c_stages import Stage, Stages, cut_stages, drop_unused
from uopc_core.codegen.c_statements import StatementWriter
from uopc_core.codegen.c_types import C_TYPES, literal
from uopc_core.dtype import is_complex, is_inexact
from uopc_core.ir.op import Ops
from uopc_core.loop.index import Index, Var
from uopc_core.loop.loop_ir import (
    Acc,
    Accumulate,
    Block,
    Effect,
    Item,
    Load,
    Loop,
    LoopNest,
    Result,
    RowReduce,
    Scan,
    Scope,
    Store,
    TileReduce,
    Unless,
)
from uopc_core.loop.nest import TILE
from uopc_core.loop.optimise import used_names
from uopc_core.loop.space import identity_of

__all__ = ["LoopWriter"]

MAP_BLOCK = 256  # elements that an elementwise loop with calls works on at a time
_TILE_ROWS, _TILE_COLUMNS = 16, 64  # of loops that walk through memory in different directions
_MAX_UNROLLED = 12  # statements that are worth repeating for each row
_TILE_LEVELS = 32  # of the tree of blocks: 2**32 of them take longer than anybody waits
_SIMD = "#pragma omp simd"


class LoopWriter(StatementWriter):
    """Writes the body of one function."""

    def __init__(self, function: LoopNest, vector: bool) -> None:
        super().__init__(function, vector)
        self.lanes: RowReduce | None = None
        self.tile: tuple[Var, str] | None = None
        self.ranges: dict[Var, tuple[str, str]] = {}
        self.strides: dict[Var, int] = {}  # of loops that do not go from one to the next

    # --- blocks ---

    def block(self, block: Block) -> None:
        for item in block:
            self.item(item)

    def item(self, item: Item) -> None:
        match item:
            case Loop():
                self.loop(item)
            case Scope():
                self.open("")
                self.block(item.body)
                self.close()
            case RowReduce():
                self.row_reduce(item)
            case TileReduce():
                self.tile_reduce(item)
            case Scan():
                self.scan(item)
            case Unless():
                a, b = (self.pointers[buffer] for buffer in item.buffers)
                self.open(f"if ((const void *){a} != (const void *){b})")
                self.block(item.body)
                self.close()
            case Accumulate() if self.lanes is not None:  # a reduction of one element
                self.accumulate_one(item)
            case _:
                self.statement(item)

    def loop(self, loop: Loop) -> None:
        crossed = self.lanes.crossed if self.lanes is not None else None
        if self.lanes is not None and any(isinstance(item, Loop) and item.var == crossed for item in loop.body):
            assert crossed is not None
            self.crossed_rows(self.lanes, loop, crossed)
        elif loop.tiled:
            self.tiled_loops(loop)
        elif any(isinstance(item, Loop | Scope | RowReduce | TileReduce | Scan | Unless) for item in loop.body):
            self.open(self.loop_head(loop))
            self.block(loop.body)
            self.close()
            self.drop_loop(loop.var)
        else:
            self.innermost(loop)

    def tiled_loops(self, loop: Loop) -> None:
        """Two loops in blocks, so that what is read along the outer one stays in the cache."""
        inner = next(item for item in loop.body if isinstance(item, Loop))
        for var, bounds, size in (
            (loop.var, self.bounds(loop), _TILE_ROWS),
            (inner.var, self.bounds(inner), _TILE_COLUMNS),
        ):
            lo, hi = bounds
            name = f"tile{len(self.ranges)}"
            self.open(f"for (int64_t {name} = {lo}; {name} < {hi}; {name} += {size})")
            self.line(f"const int64_t {name}_end = {hi} - {name} < {size} ? {hi} : {name} + {size};")
            self.ranges[var] = (name, f"{name}_end")
        self.loop(replace(loop, tiled=False))
        for var in (loop.var, inner.var):
            del self.ranges[var]
            self.close()

    def bounds(self, loop: Loop) -> tuple[str, str]:
        if loop.var in self.ranges:
            return self.ranges[loop.var]
        if self.tile is not None and loop.var == self.tile[0]:
            return "0", self.tile[1]
        lo, hi = self.integer(loop.var.lo) if loop.var.lo else "0", ""
        if not loop.parallel:
            return lo, self.integer(loop.var.hi)
        whole = loop.var.lo == 0 and loop.var.hi == self.function.extent
        if whole:
            return "begin", "end"
        self.need_clip()
        hi = self.integer(loop.var.hi)
        return f"MAX(begin, {lo})", f"MIN(end, {hi})"

    def loop_head(self, loop: Loop) -> str:
        lo, hi = self.bounds(loop)
        return self.head(loop, self.name_loop(loop.var), lo, hi)

    def head(self, loop: Loop, name: str, lo: str, hi: str) -> str:
        step = f"{name} += {self.strides[loop.var]}" if loop.var in self.strides else f"{name}++"
        return f"for (int64_t {name} = {lo}; {name} < {hi}; {step})"

    # --- innermost loops ---

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
        size = block_of(_count(self.lanes)) if self.lanes is not None else MAP_BLOCK
        if in_tile:
            assert self.tile is not None
            name, start, count = self.name_loop(loop.var), "tile", self.tile[1]
            self.open("") if stages.physical else None
        else:
            lo, hi = self.bounds(loop)
            name = self.name_loop(loop.var)
            start, count = f"{name}0", "m"
            self.open(f"for (int64_t {start} = {lo}; {start} < {hi}; {start} += {size})")
            self.line(f"const int64_t m = {hi} - {start} < {size} ? {hi} - {start} : {size};")
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
            self.line(f"const {C_TYPES[stages.dtypes[taken]]} {taken} = {_element(stages.homes[taken])};")
        for s in stage.statements:
            self.statement(s)
        for given in stage.gives:
            self.line(f"{stages.homes[given]}[l] = {given};")
        for fill, operand, _ in stage.fills:
            self.line(f"{stages.homes[fill]}[l] = {self.operand(operand)};")
        self.close()

    # --- reductions ---

    def row_reduce(self, item: RowReduce) -> None:
        outer, self.lanes = self.lanes, item
        n = _count(item)
        lanes = lanes_of(n)
        for acc in item.accs:
            c, first = C_TYPES[acc.dtype], literal(identity_of(acc.op, acc.dtype), acc.dtype)
            if not _has_loop(item.body):
                self.line(f"{c} {acc.name} = {first};")
                continue
            self.line(f"{c} {acc.name}_[{lanes}];")
            self.line(f"{need_clear(self.need_typed, acc, lanes)}({acc.name}_);")
            if _waits(item) or (needs_tree(acc, n) and not row_of_extreme(acc, item)):
                self.line(f"{c} {acc.name}_tree[48];")
                self.line(f"int64_t {acc.name}_blocks = 0;")
            if _waits(item):
                self.line(f"int64_t {acc.name}_at = 0;")
        self.block(item.body)
        for acc in item.accs:
            if _has_loop(item.body):
                self.fold(acc, item)
        self.lanes = outer

    def crossed_rows(self, item: RowReduce, inner: Loop, outer: Var) -> None:
        """Two loops in the order of memory, some columns at a time, which then are appended one after the other: what
        is in memory as it is from there, four lines in a row. Of an extreme the order matters where it is a zero.
        """
        load = load_of_columns(item, inner, outer)
        columns = LINE_BYTES // max(acc.dtype.itemsize for acc in item.accs) * (1 if load is None else 4)
        (acc, *_), lanes = item.accs, lanes_of(_count(item))
        rows = self.lift(inner.var.extent)
        if load is None:
            self.open_panels(outer, columns)
            for acc, source in zip(item.accs, self.fill_columns(item, inner, outer, rows, columns), strict=True):
                append = need_append_columns(self.need_typed, acc, lanes, columns)
                self.line(f"{append}({_state(acc)}, {source}, {columns}, {rows}, last - first);")
            self.close()
            return
        start = self.index(load.index.substitute({inner.var: Index.of(0), outer: Index.of(0)}))
        memory, apart = f"{self.pointers[load.buffer]}[{start}", self.lift(load.index.coef(inner.var))
        if any_order := is_of_any_order(acc, item):
            self.extreme_in_memory(acc, f"&{memory} + row*{apart}]", rows, self.integer(outer.extent))
            self.open(f"if ({acc.name}_any == 0)")
        append = need_append_columns(self.need_typed, acc, lanes, columns)
        self.open_panels(outer, columns)
        self.line(f"{append}({_state(acc)}, &{memory} + first], {apart}, {rows}, last - first);")
        self.close()
        if any_order:
            self.close()

    def extreme_in_memory(self, acc: Acc, row: str, rows: str, wide: str) -> None:
        """The extreme of a matrix in the order of memory."""
        gather, fold = need_gather(self.need_typed, acc, 32), need_fold(self.need_typed, acc, 32)
        c, name = C_TYPES[acc.dtype], f"{acc.name}_any"
        self.line(f"{c} {name}_[32];")
        self.line(f"{need_clear(self.need_typed, acc, 32)}({name}_);")
        self.line(f"for (int64_t row = 0; row < {rows}; row++) {gather}({name}_, {row}, {wide});")
        self.line(f"const {c} {name} = {fold}({name}_);")

    def open_panels(self, outer: Var, columns: int) -> None:
        wide = self.integer(outer.extent)
        self.open(f"for (int64_t first = 0; first < {wide}; first += {columns})")
        self.line(f"const int64_t last = {wide} - first < {columns} ? {wide} : first + {columns};")

    def fill_columns(self, item: RowReduce, inner: Loop, outer: Var, rows: str, columns: int) -> list[str]:
        """Compute the values of some columns, row by row; returns the arrays that hold them."""
        arrays = [f"{acc.name}_columns" for acc in item.accs]
        for acc, array in zip(item.accs, arrays, strict=True):
            self.line(f"{C_TYPES[acc.dtype]} {array}[{columns} * {rows}];")
            self.accs[acc.name] = (acc, f"{array}[{{inner}}*{columns} + {{outer}} - first]")
        self.ranges[outer], self.crossing, self.lanes = ("first", "last"), (outer, inner.var), None
        self.loop(inner)
        self.crossing, self.lanes = None, item
        del self.ranges[outer]
        for acc in item.accs:
            del self.accs[acc.name]
        return arrays

    def gather(self, s: Accumulate, stages: Stages, loop: Loop, start: str) -> None:
        """Accumulate a block, from the array of its values or straight from memory."""
        assert self.lanes is not None, s
        lanes = lanes_of(_count(self.lanes))
        acc = next(acc for acc in self.lanes.accs if acc.name == s.acc)
        load = next((x for x in loop.body if isinstance(x, Load) and x.name == s.value), None)
        if isinstance(s.value, str) and s.value in stages.homes:
            values = stages.homes[s.value]
        elif load is not None:
            values = self.pointer_at(load, loop, start)
        elif _waits(self.lanes):
            values = f"{acc.name}_same"
            self.line(f"{C_TYPES[acc.dtype]} {values}[{block_of(_count(self.lanes))}];")
            self.line(f"for (int64_t l = 0; l < m; l++) {values}[l] = {self.operand(s.value)};")
        else:  # the same for all
            place = f"{acc.name}_[l % {lanes}]"
            value = combine(self.need_typed, acc.op, acc.dtype, self.operand(s.value), place)
            self.line(f"for (int64_t l = 0; l < m; l++) {place} = {value};")
            return
        if _waits(self.lanes):
            append = need_append(self.need_typed, acc, lanes)
            self.line(f"{append}({_state(acc)}, {values}, m);")
        else:
            self.line(f"{need_gather(self.need_typed, acc, lanes)}({acc.name}_, {values}, m);")

    def end_of_block(self, item: RowReduce) -> None:
        n = _count(item)
        for acc in item.accs:
            if needs_tree(acc, n) and not _waits(item) and not row_of_extreme(acc, item):
                flush = need_flush(self.need_typed, acc, lanes_of(n))
                self.line(f"{flush}({acc.name}_tree, {acc.name}_blocks++, {acc.name}_);")

    def fold(self, acc: Acc, item: RowReduce) -> None:
        n = _count(item)
        lanes = lanes_of(n)
        if _waits(item):
            flush = need_flush(self.need_typed, acc, lanes)
            self.line(f"if ({acc.name}_at) {flush}({acc.name}_tree, {acc.name}_blocks++, {acc.name}_);")
        row = row_of_extreme(acc, item) if needs_tree(acc, n) else None
        if row is not None:
            self.fold_extreme(acc, item, *row)
            return
        if _waits(item) or needs_tree(acc, n):
            value = f"{need_total(self.need_typed, acc)}({acc.name}_tree, {acc.name}_blocks)"
            if is_of_any_order(acc, item):
                value = f"{acc.name}_any == 0 ? {value} : {acc.name}_any"
        else:
            value = f"{need_fold(self.need_typed, acc, lanes)}({acc.name}_)"
        self.line(f"const {C_TYPES[acc.dtype]} {acc.name} = {value};")

    def fold_extreme(self, acc: Acc, item: RowReduce, loop: Loop, load: Load) -> None:
        """The extreme of a row of memory, without its blocks."""
        extreme = need_extreme(self.need_typed, acc, lanes_of(_count(item)))
        lo, hi = self.bounds(loop)
        self.name_loop(loop.var)
        row = self.pointer_at(load, loop, lo)
        self.drop_loop(loop.var)
        n = hi if lo == "0" else f"{hi} - {lo}"
        self.line(f"const {C_TYPES[acc.dtype]} {acc.name} = {extreme}({acc.name}_, {row}, {n});")

    def accumulate_one(self, s: Accumulate) -> None:
        assert self.lanes is not None
        acc = next(acc for acc in self.lanes.accs if acc.name == s.acc)
        value = combine(self.need_typed, acc.op, acc.dtype, self.operand(s.value), acc.name)
        self.line(f"{acc.name} = {value};")

    def tile_reduce(self, item: TileReduce) -> None:
        extent = item.var.extent
        size = extent if extent <= 16 else TILE
        if item.parallel:
            self.open("for (int64_t t = begin; t < end; t++)")
        elif extent > TILE:
            self.open(f"for (int64_t t = 0; t < {self.lift(-(-extent // TILE))}; t++)")
        else:
            self.open("for (int t = 0; t < 1; t++)")
        self.line(f"const int64_t tile = t * {TILE};")
        if extent <= 16:
            count = str(extent)
        else:
            n = self.integer(extent)
            self.line(f"const int64_t m = {n} - tile < {TILE} ? {n} - tile : {TILE};")
            count = "m"
        for acc in item.accs:
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_[{size}];")
            self.accs[acc.name] = (acc, "tile")
        self.tile = (item.var, count)
        if item.ordered is None:
            self.clear_tile(item.accs, count)
            self.block(item.body)
        else:
            self.ordered_tile(item, item.ordered, size, count)
        for acc in item.accs:
            self.renamed[acc.name] = f"{acc.name}_[l]"
        self.block(item.post)
        for acc in item.accs:
            del self.renamed[acc.name], self.accs[acc.name]
        self.tile = None
        self.close()

    def clear_tile(self, accs: Sequence[Acc], count: str) -> None:
        for acc in accs:
            first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
            self.line(_SIMD)
            self.line(f"for (int64_t l = 0; l < {count}; l++) {acc.name}_[l] = {first};")

    def ordered_tile(self, item: TileReduce, var: Var, size: int, count: str) -> None:
        """What `row_reduce` does, for a row of columns: one accumulator after the other, in the order of the tree."""
        n = var.extent
        lanes = lanes_of(n)
        trees = [acc for acc in item.accs if n > block_of(n)]
        for acc in item.accs:
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_lanes[{lanes.bit_length()}][{size}];")
        for acc in trees:
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_tree[{_TILE_LEVELS}][{size}];")
        extent = self.integer(n)
        self.line("int64_t blocks = 0;")
        self.open(f"for (int64_t block = 0; block < {extent}; block += {block_of(n)}, blocks++)")
        self.line(f"const int64_t block_end = {extent} - block < {block_of(n)} ? {extent} : block + {block_of(n)};")
        self.open(f"for (int lane = 0; lane < {lanes}; lane++)")
        self.lane_of_tile(item, var, count, lanes)
        for acc in item.accs:
            push = need_push_row(self.need_typed, acc, size)
            self.line(f"{push}({acc.name}_lanes, lane, {acc.name}_, {count});")
        self.close()
        for acc in trees:
            push = need_push_row(self.need_typed, acc, size)
            self.line(f"{push}({acc.name}_tree, blocks, {acc.name}_lanes[{lanes.bit_length() - 1}], {count});")
        self.close()
        for acc in item.accs:
            if acc in trees:
                total = need_total_row(self.need_typed, acc, size)
                self.line(f"{total}({acc.name}_tree, blocks, {acc.name}_, {count});")
            else:
                top = f"{acc.name}_lanes[{lanes.bit_length() - 1}]"
                self.line(f"__builtin_memcpy({acc.name}_, {top}, {count} * sizeof *{acc.name}_);")

    def lane_of_tile(self, item: TileReduce, var: Var, count: str, lanes: int) -> None:
        """What one accumulator of each column gets: 16 rows of a whole block, those there are of the last one."""
        start = f"block + {need_lane_order(self.need, lanes)}[lane]"
        columns = _elements_of_whole_lane(item)
        if columns is not None:
            self.open(f"if (block_end - block == {16 * lanes})")
            self.whole_lane(item, columns, var, count, f"{start} + t*{lanes}")
            self.close()
            self.open("else")
        self.clear_tile(item.accs, count)
        self.ranges[var] = (start, "block_end")
        self.strides[var] = lanes
        self.block(item.body)
        del self.ranges[var], self.strides[var]
        if columns is not None:
            self.close()

    def whole_lane(self, item: TileReduce, columns: Loop, var: Var, count: str, row: str) -> None:
        self.line(_SIMD)
        self.open(f"for (int64_t l = 0; l < {count}; l++)")
        column, name = self.name_loop(columns.var), self.name_loop(var)
        self.line(f"const int64_t {column} = tile + l;")
        for acc in item.accs:
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_l = {literal(identity_of(acc.op, acc.dtype), acc.dtype)};")
            self.accs[acc.name] = (acc, "register")
        self.line("#pragma GCC unroll 16")
        self.open("for (int t = 0; t < 16; t++)")
        self.line(f"const int64_t {name} = {row};")
        for s in columns.body:
            assert isinstance(s, Result | Effect), s
            self.statement(s)
        self.close()
        for acc in item.accs:
            self.line(f"{acc.name}_[l] = {acc.name}_l;")
            self.accs[acc.name] = (acc, "tile")
        self.close()
        self.drop_loop(var)
        self.drop_loop(columns.var)

    def scan(self, item: Scan) -> None:
        acc = item.acc
        c = C_TYPES[acc.dtype]
        in_blocks = acc.op is Ops.ADD and is_inexact(acc.dtype)
        self.line(f"{c} {acc.name} = 0;")
        if in_blocks:
            part = (-0.0).hex()
            nothing = f"__builtin_complex({part}, {part})" if is_complex(acc.dtype) else part
            self.line(
                f"{c} {acc.name}_sums = {nothing}, {acc.name}_inside[{SCAN_LEVELS}], {acc.name}_before[{SCAN_LEVELS}];"
            )
            self.line(f"int64_t {acc.name}_n[{SCAN_LEVELS}] = {{0}}, {acc.name}_k = 0;")
            self.line(f"for (int k = 0; k < {SCAN_LEVELS}; k++) {acc.name}_before[k] = {nothing};")
        else:
            self.line(f"_Bool {acc.name}_first = 1;")
        self.accs[acc.name] = (acc, "blocks" if in_blocks else "scan")
        self.block(item.body)
        self.renamed.pop(acc.name, None)
        del self.accs[acc.name]


def _elements_of_whole_lane(item: TileReduce) -> Loop | None:
    """The loop along the columns, where the rows of a lane can be combined inside of it, in registers."""
    outer = item.body[0] if len(item.body) == 1 else None
    inner = outer.body[0] if isinstance(outer, Loop) and len(outer.body) == 1 else None
    if not isinstance(inner, Loop) or not inner.simd or len(inner.body) > _MAX_UNROLLED:
        return None
    statements = [item for item in inner.body if isinstance(item, Result | Effect)]
    plain = len(statements) == len(inner.body) and len(cut_stages(statements).stages) == 1
    return inner if plain and not any(isinstance(s, Load) and s.guard for s in statements) else None


def _count(item: RowReduce) -> int:
    """How many elements are combined."""
    return item.extent * item.repeats


def _waits(item: RowReduce) -> bool:
    """Whether the rows that elements come in are not whole blocks, though it matters which of them make a block."""
    n = _count(item)
    if not item.ordered or item.repeats == 1:
        return False
    if item.crossed is not None:
        return True
    return item.extent % (lanes_of(n) if n <= block_of(n) else block_of(n)) != 0


def _state(acc: Acc) -> str:
    """What appending elements changes."""
    return f"{acc.name}_tree, &{acc.name}_blocks, {acc.name}_, &{acc.name}_at"


def _element(array: str) -> str:
    return f"({array})[l]" if array.startswith("&") else f"{array}[l]"


def _has_loop(block: Block) -> bool:
    return any(isinstance(item, Loop) for item in block)
