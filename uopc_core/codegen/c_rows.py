"""Reductions of rows -> C: the accumulators of one reduction, and in which order elements come to them."""

from __future__ import annotations

from collections.abc import Container, Sequence

from uopc_core.codegen.c_columns import LINE_BYTES, need_append_columns
from uopc_core.codegen.c_innermost import InnermostWriter, count_of
from uopc_core.codegen.c_ops import combine
from uopc_core.codegen.c_order import (
    Search,
    accumulated_at_once,
    is_in_order,
    is_of_any_order,
    load_of_columns,
    row_of_extreme,
    search_of,
)
from uopc_core.codegen.c_reduce import (
    SHORT,
    block_of,
    lanes_of,
    need_append,
    need_clear,
    need_extreme,
    need_extreme_of_row,
    need_flush,
    need_fold,
    need_gather,
    need_total,
    need_united,
    needs_tree,
)
from uopc_core.codegen.c_stages import Stages
from uopc_core.codegen.c_types import C_TYPES, literal
from uopc_core.codegen.helpers import helper
from uopc_core.costs import MAX_LANE_STATEMENTS
from uopc_core.loop.index import Index, Var
from uopc_core.loop.loop_ir import (
    Acc,
    Accumulate,
    Block,
    Load,
    Loop,
    RowReduce,
    Scan,
    Scope,
    Statement,
    TileReduce,
    Unless,
)
from uopc_core.loop.space import identity_of

__all__ = ["RowWriter"]


class RowWriter(InnermostWriter):
    """Writes reductions that end before the next begins."""

    def row_reduce(self, item: RowReduce) -> None:
        if item.part:
            self.reduce_parts(item)
            return
        search = search_of(item)
        if search is None:
            self.reduce_row(item)
        else:
            self.search(search, item.accs[0])

    def reduce_parts(self, item: RowReduce) -> None:
        """The parts that this call has to do; the call for no part, which comes last, goes on with all of them."""
        outer = next(x for x in item.body if isinstance(x, Loop))
        inner = next((x for x in outer.body if isinstance(x, Loop)), None)
        n, part = self.lift(count_of(item)), self.lift(item.part)
        self.open("for (int64_t part = begin; part < end; part++)")
        self.line(f"const int64_t first = part*{part}, last = {n} - first < {part} ? {n} : first + {part};")
        if inner is None:
            self.ranges[outer.var] = ("first", "last")
        else:
            self.ranges[outer.var] = (f"first/{self.lift(item.extent)}", f"(last - 1)/{self.lift(item.extent)} + 1")
            self.cut_rows = (outer.var, inner.var)
        self.reduce_row(item)
        for acc in item.accs:
            self.line(f"{acc.name}_parts[part] = {acc.name};")
        self.cut_rows = None
        del self.ranges[outer.var]
        self.close()
        n_parts = self.lift(self.function.extent)
        self.line(f"if (begin < {n_parts}) return 0;")
        for acc in item.accs:
            united = need_united(self.need_typed, acc)
            self.line(f"const {C_TYPES[acc.dtype]} {acc.name} = {united}({acc.name}_parts, {n_parts});")

    def cut_row(self, outer: Var, inner: Var) -> None:
        """The bounds of a row that only a part of which may be in the part of all."""
        row, extent = self.loop_names[outer], self.lift(inner.extent)
        self.line(f"const int64_t before = first - {row}*{extent}, after = last - {row}*{extent};")
        self.line(f"const int64_t from = before > 0 ? before : 0, to = after < {extent} ? after : {extent};")
        self.ranges[inner] = ("from", "to")

    def search(self, search: Search, acc: Acc) -> None:
        """The first place where the condition holds: block by block, all of it, until there is one."""
        loop = search.loop
        lo, hi = self.bounds(loop)
        name = self.name_loop(loop.var)
        self.line(f"{C_TYPES[acc.dtype]} {acc.name} = {self.operand(search.otherwise)};")
        self.line(f"int64_t {name}0 = {lo}, {name}_found = -1;")
        self.search_blocks(search, name, hi)
        self.search_rest(search, name, hi)
        self.open(f"if ({name}_found >= 0)")
        self.line(f"const int64_t {name} = {name}_found;")
        self.line(f"{acc.name} = {self.index(search.place.index)};")
        self.close()
        self.drop_loop(loop.var)

    def search_blocks(self, search: Search, name: str, hi: str) -> None:
        """Blocks of 256: a byte tells of four elements, 64 from one to the next."""
        size = min(max(s.dtype.itemsize for s in search.statements), 8)
        self.open(f"for (; {name}_found < 0 && {name}0 + 256 <= {hi}; {name}0 += 256)")
        rows = self.rows_of_memory(search.statements, search.loop, f"{name}0")
        self.line("unsigned char holds[64];")
        self.line("#pragma omp simd")
        self.open("for (int l = 0; l < 64; l++)")
        self.line(f"uint{8 * size}_t some = 0;")
        for k in range(4):
            self.open("")
            self.line(f"const int64_t {name} = {name}0 + l + {64 * k};")
            self.statements_of_row(search.statements, rows, f"l + {64 * k}")
            self.line(f"some |= {search.condition} ? {_truths(search, 1 << k)};")
            self.close()
        self.line("holds[l] = some;")
        self.close()
        self.line(f"const int found = {helper(self.need_typed, 'first_of_256')}(holds);")
        self.line(f"if (found < 256) {name}_found = {name}0 + found;")
        self.close()

    def search_rest(self, search: Search, name: str, hi: str) -> None:
        """Blocks of 64, the last of which may end early."""
        self.open(f"for (; {name}_found < 0 && {name}0 < {hi}; {name}0 += 64)")
        self.line(f"const int m = {hi} - {name}0 < 64 ? {hi} - {name}0 : 64;")
        rows = self.rows_of_memory(search.statements, search.loop, f"{name}0")
        self.line("unsigned char holds[64];")
        self.line("if (m < 64) __builtin_memset(holds, 0, 64);")
        for head, until in (("if (m == 64)", "64"), ("else", "m")):
            self.line(head)
            self.line("#pragma omp simd")
            self.open(f"for (int l = 0; l < {until}; l++)")
            self.line(f"const int64_t {name} = {name}0 + l;")
            self.statements_of_row(search.statements, rows, "l")
            self.line(f"holds[l] = {search.condition} ? {_truths(search, 1)};")
            self.close()
        self.line(f"const int found = {helper(self.need_typed, 'first_of_64')}(holds);")
        self.line(f"if (found < 64) {name}_found = {name}0 + found;")
        self.close()

    def reduce_row(self, item: RowReduce) -> None:
        n = count_of(item)
        row = row_of_extreme(item.accs[0], item) if len(item.accs) == 1 and n >= SHORT else None
        if row is not None and _n_reductions(self.function.body) == 1:  # else the row is near, and a call costs more
            self.extreme_of_row(item.accs[0], *row)
            return
        outer, self.lanes = self.lanes, item
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

    def extreme_of_row(self, acc: Acc, loop: Loop, load: Load) -> None:
        extreme = need_extreme_of_row(self.need_typed, acc)
        row, n = self.row_of(loop, load)
        self.line(f"const {C_TYPES[acc.dtype]} {acc.name} = {extreme}({row}, {n});")

    def row_of(self, loop: Loop, load: Load) -> tuple[str, str]:
        """Where a row begins that a loop reads in order, and how long it is."""
        lo, hi = self.bounds(loop)
        self.name_loop(loop.var)
        row = self.pointer_at(load, loop, lo)
        self.drop_loop(loop.var)
        return row, hi if lo == "0" else f"{hi} - {lo}"

    def innermost(self, loop: Loop) -> None:
        statements = accumulated_at_once(loop) if self.lanes is not None else ()
        if self.lanes is None or not statements or lanes_of(count_of(self.lanes)) == 1 or _waits(self.lanes):
            super().innermost(loop)
        else:
            self.accumulating_loop(loop, self.lanes, statements)

    def accumulating_loop(self, loop: Loop, item: RowReduce, statements: Sequence[Statement]) -> None:
        """Accumulate what is computed where it is computed, so that accumulators stay in registers."""
        lanes = lanes_of(count_of(item))
        size = block_of(count_of(item))
        lo, hi = self.bounds(loop)
        name = self.name_loop(loop.var)
        self.open(f"for (int64_t {name}0 = {lo}; {name}0 < {hi}; {name}0 += {size})")
        self.line(f"const int64_t m = {hi} - {name}0 < {size} ? {hi} - {name}0 : {size};")
        self.fetch_ahead(loop, f"{name}0")
        rows = self.rows_of_memory(statements, loop, f"{name}0")
        for acc in item.accs:
            self.accs[acc.name] = (acc, "lane")
        self.line("int64_t l = 0;")
        self.open(f"for (; l + {lanes} <= m; l += {lanes})")
        self.open_lanes(lanes, max(acc.dtype.itemsize for acc in item.accs), len(statements))
        self.line(f"const int64_t {name} = {name}0 + l + lane;")
        self.statements_of_row(statements, rows, "l + lane")
        self.close()
        self.close()
        self.open("for (int lane = 0; l < m; l++, lane++)")
        self.line(f"const int64_t {name} = {name}0 + l;")
        self.statements_of_row(statements, rows, "l")
        self.line(f"{helper(self.need_typed, 'SCALAR')};")
        self.close()
        for acc in item.accs:
            del self.accs[acc.name]
        self.end_of_block(item)
        self.close()
        self.drop_loop(loop.var)

    def open_lanes(self, lanes: int, size_bytes: int, n_statements: int) -> None:
        """The loop over accumulators: where they are several vectors, a compiler that does not write it out has them in
        memory, from where an addition waits for the one before.
        """
        wide = LINE_BYTES // size_bytes
        copies = lanes // wide
        lo, hi = "0", str(lanes)
        if 1 < copies and copies * n_statements <= MAX_LANE_STATEMENTS:
            self.line(f"#pragma GCC unroll {copies}")
            self.line(f"for (int lane0 = 0; lane0 < {lanes}; lane0 += {wide})")
            lo, hi = "lane0", f"lane0 + {wide}"
        self.line("#pragma omp simd")
        self.open(f"for (int lane = {lo}; lane < {hi}; lane++)")

    def rows_of_memory(self, statements: Sequence[Statement], loop: Loop, start: str) -> set[str]:
        """Pointers to what is read in order, from `start` on: where an index has a factor from memory, compilers
        may not see beside a reduction that it is a row.
        """
        rows = [s for s in statements if isinstance(s, Load) and is_in_order(s, loop)]
        for s in rows:
            self.line(f"const {C_TYPES[s.dtype]} *const {s.name}_row = {self.pointer_at(s, loop, start)};")
        return {s.name for s in rows}

    def statements_of_row(self, statements: Sequence[Statement], rows: Container[str], place: str) -> None:
        for s in statements:
            if isinstance(s, Load) and s.name in rows:
                self.declare(s, f"{s.name}_row[{place}]")
            else:
                self.statement(s)

    def crossed_rows(self, item: RowReduce, inner: Loop, outer: Var) -> None:
        """Two loops in the order of memory, some columns at a time, which then are appended one after the other: what
        is in memory as it is from there, four lines in a row. Of an extreme the order matters where it is a zero.
        """
        load = load_of_columns(item, inner, outer)
        columns = LINE_BYTES // max(acc.dtype.itemsize for acc in item.accs) * (1 if load is None else 4)
        (acc, *_), lanes = item.accs, lanes_of(count_of(item))
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
        lanes = lanes_of(count_of(self.lanes))
        acc = next(acc for acc in self.lanes.accs if acc.name == s.acc)
        load = next((x for x in loop.body if isinstance(x, Load) and x.name == s.value), None)
        if isinstance(s.value, str) and s.value in stages.homes:
            values = stages.homes[s.value]
        elif load is not None:
            values = self.pointer_at(load, loop, start)
        elif _waits(self.lanes):
            values = f"{acc.name}_same"
            self.line(f"{C_TYPES[acc.dtype]} {values}[{block_of(count_of(self.lanes))}];")
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
        n = count_of(item)
        for acc in item.accs:
            if needs_tree(acc, n) and not _waits(item) and not row_of_extreme(acc, item):
                flush = need_flush(self.need_typed, acc, lanes_of(n))
                self.line(f"{flush}({acc.name}_tree, {acc.name}_blocks++, {acc.name}_);")

    def fold(self, acc: Acc, item: RowReduce) -> None:
        n = count_of(item)
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
        extreme = need_extreme(self.need_typed, acc, lanes_of(count_of(item)))
        start, n = self.row_of(loop, load)
        self.line(f"const {C_TYPES[acc.dtype]} {acc.name} = {extreme}({acc.name}_, {start}, {n});")

    def accumulate_one(self, s: Accumulate) -> None:
        assert self.lanes is not None
        acc = next(acc for acc in self.lanes.accs if acc.name == s.acc)
        value = combine(self.need_typed, acc.op, acc.dtype, self.operand(s.value), acc.name)
        self.line(f"{acc.name} = {value};")


def _truths(search: Search, truth: int) -> str:
    """What stands for the two values of the condition."""
    return f"0 : {truth}" if search.negated else f"{truth} : 0"


def _n_reductions(block: Block) -> int:
    """How many reductions to numbers there are in a function, without those that only search."""
    n, waiting = 0, [*block]
    while waiting:
        item = waiting.pop()
        n += isinstance(item, RowReduce) and search_of(item) is None
        if isinstance(item, Loop | Scope | RowReduce | TileReduce | Scan | Unless):
            waiting += item.body
    return n


def _waits(item: RowReduce) -> bool:
    """Whether the rows that elements come in are not whole blocks, though it matters which of them make a block."""
    n = count_of(item)
    if not item.ordered or item.repeats == 1:
        return False
    if item.crossed is not None:
        return True
    return item.extent % (lanes_of(n) if n <= block_of(n) else block_of(n)) != 0


def _state(acc: Acc) -> str:
    """What appending elements changes."""
    return f"{acc.name}_tree, &{acc.name}_blocks, {acc.name}_, &{acc.name}_at"


def _has_loop(block: Block) -> bool:
    return any(isinstance(item, Loop) for item in block)
