"""Loop nest -> lines of C."""

from __future__ import annotations

from dataclasses import replace

from uopc_core.codegen.c_order import TURNED_ROWS, turned_columns, turned_loads, written_of_turned
from uopc_core.codegen.c_reduce import (
    SCAN_LEVELS,
)
from uopc_core.codegen.c_stages import is_math_call
from uopc_core.codegen.c_tiles import TileWriter
from uopc_core.codegen.c_types import C_TYPES, element
from uopc_core.codegen.helpers import helper
from uopc_core.costs import STREAMED_BYTES, TILE_SIDES
from uopc_core.dtype import dtypes, is_complex, is_inexact
from uopc_core.ir.op import Ops
from uopc_core.loop.index import Var
from uopc_core.loop.loop_ir import (
    Accumulate,
    Block,
    Item,
    Load,
    Loop,
    LoopNest,
    RowReduce,
    Scan,
    Scope,
    Store,
    TileReduce,
    Unless,
)

__all__ = ["LoopWriter"]

_TILE_ROWS, _TILE_COLUMNS = TILE_SIDES
_BITS = {4: dtypes.uint32, 8: dtypes.uint64}  # what elements of these sizes are moved as


class LoopWriter(TileWriter):
    """Writes the body of one function.

    Attributes:
        turned: loads that have been copied into a tile of their own, and the loops along its rows and columns.
    """

    def __init__(self, function: LoopNest, vector: bool) -> None:
        super().__init__(function, vector)
        self.turned: dict[str, tuple[Var, Var]] = {}

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
            is_cut = self.cut_rows is not None and loop.var == self.cut_rows[0]
            if is_cut and self.cut_rows is not None:
                self.cut_row(*self.cut_rows)
            self.block(loop.body)
            if is_cut and self.cut_rows is not None:
                del self.ranges[self.cut_rows[1]]
            self.close()
            self.drop_loop(loop.var)
        else:
            self.innermost(loop)

    def tiled_loops(self, loop: Loop) -> None:
        """Two loops in blocks, so that of what is read along the outer one each line of the cache is read once."""
        inner = next(item for item in loop.body if isinstance(item, Loop))
        turned = turned_loads(loop, inner)
        sides = [(loop.var, self.bounds(loop), _TILE_ROWS), (inner.var, self.bounds(inner), _TILE_COLUMNS)]
        if turned:
            sides = [(sides[1][0], sides[1][1], turned_columns(inner, turned)), (loop.var, sides[0][1], TURNED_ROWS)]
        written = written_of_turned(loop, inner, turned)
        if written is not None and turned[0].dtype.itemsize in _BITS:
            n_bytes = f"{self.integer(loop.var.extent)} * {self.integer(inner.var.extent)} * {turned[0].dtype.itemsize}"
            self.line(f"const int {turned[0].name}_far = {n_bytes} >= {STREAMED_BYTES};")
        else:
            written = None
        for var, bounds, size in sides:
            lo, hi = bounds
            name = f"tile{len(self.ranges)}"
            self.open(f"for (int64_t {name} = {lo}; {name} < {hi}; {name} += {size})")
            self.line(f"const int64_t {name}_end = {hi} - {name} < {size} ? {hi} : {name} + {size};")
            self.ranges[var] = (name, f"{name}_end")
        for load in turned:
            self.turn(load, loop.var, inner.var, turned_columns(inner, turned))
        plain = replace(loop, tiled=False)
        if turned and not any(is_math_call(s) for s in inner.body):
            var, (name, end), size = sides[0][0], self.ranges[sides[0][0]], sides[0][2]
            self.open(f"if ({end} - {name} == {size})")
            self.ranges[var] = (name, f"{name} + {size}")
            if written is not None:
                self.stream(turned[0], written, loop.var, inner.var, size)
            self.loop(plain)
            if written is not None:
                self.close()
            self.close()
            self.open("else")
            self.ranges[var] = (name, end)
            self.loop(plain)
            self.close()
        else:
            self.loop(plain)
        self.turned.clear()
        for var, _, _ in sides:
            del self.ranges[var]
            self.close()
        if written is not None:
            self.line(f"if ({turned[0].name}_far) {helper(self.need, 'STREAMED')};")

    def stream(self, load: Load, store: Store, outer: Var, inner: Var, columns: int) -> None:
        """Write a tile past the caches where there is much of it and that can be done; opens what is run otherwise."""
        bits = _BITS[load.dtype.itemsize]
        stream, c = helper(self.need_typed, "stream_UINTxACROSS", UINT=bits, ACROSS=columns), C_TYPES[bits]
        i, j = self.name_loop(outer), self.name_loop(inner)
        self.line("int is_written = 0;")
        self.open(f"if ({load.name}_far)")
        self.line(f"const int64_t {i} = {self.ranges[outer][0]}, {j} = {self.ranges[inner][0]};")
        memory, tile = f"({c} *)&{self.pointers[store.buffer]}[{self.index(store.index)}]", f"{load.name}_tile"
        rows, apart = f"{self.ranges[outer][1]} - {i}", self.place(store.index.coef(outer))
        self.line(f"is_written = {stream}({memory}, {apart}, (const {c} (*)[{columns}]){tile}, {rows});")
        self.close()
        self.drop_loop(outer)
        self.drop_loop(inner)
        self.open("if (!is_written)")

    def turn(self, s: Load, outer: Var, inner: Var, columns: int) -> None:
        """Copy a tile of memory that lies along the outer loop, so that it lies along the inner one."""
        self.line(f"{C_TYPES[s.dtype]} {s.name}_tile[{TURNED_ROWS}][{columns}];")
        (first_i, last_i), (first_j, last_j) = self.ranges[outer], self.ranges[inner]
        i, j = self.name_loop(outer), self.name_loop(inner)
        if s.index.coef(outer) == 1 and s.dtype.itemsize in _BITS:
            bits = _BITS[s.dtype.itemsize]
            turn, c = helper(self.need_typed, "turn_UINTxACROSS", UINT=bits, ACROSS=columns), C_TYPES[bits]
            self.open("")
            self.line(f"const int64_t {i} = {first_i}, {j} = {first_j};")
            apart = self.place(s.index.coef(inner))
            tile, memory = f"({c} (*)[{columns}]){s.name}_tile", f"(const {c} *)&{self.load(s)}"
            self.line(f"{turn}({tile}, {memory}, {apart}, {last_i} - {i}, {last_j} - {j});")
            self.close()
        else:
            self.line(f"for (int64_t {j} = {first_j}; {j} < {last_j}; {j}++)")
            place = f"{s.name}_tile[{i} - {first_i}][{j} - {first_j}]"
            self.line(f"    for (int64_t {i} = {first_i}; {i} < {last_i}; {i}++) {place} = {self.load(s)};")
        self.drop_loop(outer)
        self.drop_loop(inner)
        self.turned[s.name] = (outer, inner)

    def load(self, s: Load) -> str:
        if s.name not in self.turned:
            return super().load(s)
        places = [f"[{self.loop_names[var]} - {self.ranges[var][0]}]" for var in self.turned[s.name]]
        return element(f"{s.name}_tile{''.join(places)}", s.dtype)

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
