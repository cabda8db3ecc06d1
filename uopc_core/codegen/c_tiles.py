"""Reductions of columns side by side -> C."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.codegen.c_reduce import (
    block_of,
    lanes_of,
    need_lane_order,
    need_push_row,
    need_total_row,
)
from uopc_core.codegen.c_rows import RowWriter
from uopc_core.codegen.c_stages import cut_stages
from uopc_core.codegen.c_types import C_TYPES, literal
from uopc_core.costs import CACHED_BYTES, MAX_UNROLLED, ROWS_AT_A_TIME
from uopc_core.loop.index import Var
from uopc_core.loop.loop_ir import (
    Acc,
    CheckIndex,
    Effect,
    Load,
    Loop,
    Result,
    Statement,
    TileReduce,
)
from uopc_core.loop.nest import tile_room, tile_size
from uopc_core.loop.space import identity_of

__all__ = ["TileWriter"]

_SIMD = "#pragma omp simd"


class TileWriter(RowWriter):
    """Writes reductions of which many run at once, along a kept axis."""

    def tile_reduce(self, item: TileReduce) -> None:
        extent = item.var.extent
        wide = tile_size(extent)
        size, step = tile_room(extent), self.lift(wide)
        if item.parallel:
            self.open("for (int64_t t = begin; t < end; t++)")
        elif extent > wide:
            self.open(f"for (int64_t t = 0; t < {self.lift(-(-extent // wide))}; t++)")
        else:
            self.open("for (int t = 0; t < 1; t++)")
        self.line(f"const int64_t tile = t * {step};")
        if extent <= 16:
            count = str(extent)
        else:
            n = self.integer(extent)
            self.line(f"const int64_t m = {n} - tile < {step} ? {n} - tile : {step};")
            count = "m"
        for acc in item.accs:
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_[{size}];")
            self.accs[acc.name] = (acc, "tile")
        self.tile = (item.var, count, size)
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
        levels = (-(-n // block_of(n))).bit_length()
        for acc in trees:
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_tree[{self.lift(levels)}][{size}];")
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
            self.whole_lane(item, *columns, var, count, f"{start} + t*{lanes}")
            self.close()
            self.open("else")
        self.clear_tile(item.accs, count)
        self.ranges[var] = (start, "block_end")
        self.strides[var] = lanes
        self.block(item.body)
        del self.ranges[var], self.strides[var]
        if columns is not None:
            self.close()

    def whole_lane(
        self, item: TileReduce, columns: Loop, statements: Sequence[Statement], var: Var, count: str, row: str
    ) -> None:
        """The 16 rows of a whole lane, of what the caches hold some at a time: where rows are a multiple of a power of
        two apart, all of them meet in the same few lines of the cache.
        """
        read = [self.function.buffers[s.buffer].size * s.dtype.itemsize for s in statements if isinstance(s, Load)]
        several = ROWS_AT_A_TIME if max(read, default=0) <= CACHED_BYTES else 16
        for first in range(0, 16, several):
            self.line(_SIMD)
            self.open(f"for (int64_t l = 0; l < {count}; l++)")
            column, name = self.name_loop(columns.var), self.name_loop(var)
            self.line(f"const int64_t {column} = tile + l;")
            for acc in item.accs:
                begin = f"{acc.name}_[l]" if first else literal(identity_of(acc.op, acc.dtype), acc.dtype)
                self.line(f"{C_TYPES[acc.dtype]} {acc.name}_l = {begin};")
                self.accs[acc.name] = (acc, "register")
            self.line(f"#pragma GCC unroll {several}")
            self.open(f"for (int t = {first}; t < {first + several}; t++)")
            self.line(f"const int64_t {name} = {row};")
            for s in statements:
                self.statement(s)
            self.close()
            for acc in item.accs:
                self.line(f"{acc.name}_[l] = {acc.name}_l;")
                self.accs[acc.name] = (acc, "tile")
            self.close()
            self.drop_loop(var)
            self.drop_loop(columns.var)


def _elements_of_whole_lane(item: TileReduce) -> tuple[Loop, list[Statement]] | None:
    """The loop along the columns, where the rows of a lane can be combined inside of it, in registers, and what is done
    for an element of it: first what is the same for a whole row.
    """
    outer = item.body[0] if len(item.body) == 1 else None
    inner = outer.body[-1] if isinstance(outer, Loop) and outer.body else None
    if not isinstance(outer, Loop) or not isinstance(inner, Loop) or not inner.simd:
        return None
    body = (*outer.body[:-1], *inner.body)
    statements = [item for item in body if isinstance(item, Result | Effect)]
    if len(statements) < len(body) or len(body) > MAX_UNROLLED or len(cut_stages(statements).stages) > 1:
        return None
    return (
        None
        if any(isinstance(s, CheckIndex) or (isinstance(s, Load) and s.guard) for s in statements)
        else (inner, statements)
    )
