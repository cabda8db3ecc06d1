"""Loop nest -> lines of C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from uopc_core.codegen.c_math import (
    COMPLEX_MATH,
    is_math,
    need_block_function,
    need_scalar_function,
    render_complex_math,
)
from uopc_core.codegen.c_ops import C_OPS, combine, rounded
from uopc_core.codegen.c_reduce import block_of, lanes_of, need_carry, need_fold, need_gather, needs_tree
from uopc_core.codegen.c_stages import Stages, cut_stages, drop_unused
from uopc_core.codegen.c_types import C_TYPES, TYPEDEFS, literal
from uopc_core.codegen.c_writer import Writer
from uopc_core.dtype import dtypes, is_complex, is_float, is_unsigned
from uopc_core.ir.op import Ops
from uopc_core.loop.index import Index, Value, Var, atoms_of
from uopc_core.loop.loop_ir import (
    Acc,
    Accumulate,
    Block,
    Compute,
    Effect,
    Function,
    Holds,
    Item,
    Load,
    Loop,
    Place,
    Random,
    Result,
    RowReduce,
    Scan,
    Scope,
    Statement,
    Store,
    TileReduce,
    Unless,
    Update,
    Wrap,
)
from uopc_core.loop.lower import writes_in_turn
from uopc_core.loop.nest import TILE
from uopc_core.loop.optimise import used_names
from uopc_core.loop.space import identity_of

__all__ = ["LoopWriter"]

MAP_BLOCK = 256  # elements that an elementwise loop with calls works on at a time
_TILE_ROWS, _TILE_COLUMNS = 16, 64  # of loops that walk through memory in different directions
_SIMD = "#pragma omp simd"
_SCATTER_OPS = {"add": Ops.ADD, "mul": Ops.MUL, "max": Ops.MAX, "min": Ops.MIN}
_FAIL = (
    "/* an index out of bounds: what the error tells */\n"
    "static __attribute__((noinline, cold)) int64_t "
    "fail(int64_t *status, int64_t index, int64_t axis, int64_t size) {\n"
    "    status[0] = 1, status[1] = index, status[2] = axis, status[3] = size;\n    return 1;\n}"
)
# Widynski (2020), "Squares: a fast counter-based RNG", five rounds
_RANDOM = (
    "static inline uint64_t squares64(uint64_t i, uint64_t key) {\n"
    "    const uint64_t y = i * key, z = y + key;\n"
    "    uint64_t x = y * y + y;\n"
    "    x = x >> 32 | x << 32, x = x * x + z;\n"
    "    x = x >> 32 | x << 32, x = x * x + y;\n"
    "    x = x >> 32 | x << 32;\n"
    "    const uint64_t t = x * x + z;\n"
    "    x = t >> 32 | t << 32;\n"
    "    return t ^ (x * x + y) >> 32;\n}"
)


class LoopWriter(Writer):
    """Writes the body of one function."""

    def __init__(self, function: Function, vector: bool) -> None:
        super().__init__()
        self.function = function
        self.vector = vector
        self.accs: dict[str, tuple[Acc, str]] = {}  # in force here, with how: "tile" or "scan"
        self.lanes: RowReduce | None = None
        self.tile: tuple[Var, str] | None = None
        self.uses_status = False
        self.ranges: dict[Var, tuple[str, str]] = {}
        self.pointers = _pointer_names(function)
        self.interleaves = writes_in_turn(function)

    def pointer(self, buffer: int) -> str:
        return self.pointers[buffer]

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
                a, b = (self.pointer(buffer) for buffer in item.buffers)
                self.open(f"if ((const void *){a} != (const void *){b})")
                self.block(item.body)
                self.close()
            case Accumulate() if self.lanes is not None:  # a reduction of one element
                self.accumulate_one(item)
            case _:
                self.statement(item)

    def loop(self, loop: Loop) -> None:
        if loop.tiled:
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
        self.need("clip", "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))")
        hi = self.integer(loop.var.hi)
        return f"MAX(begin, {lo})", f"MIN(end, {hi})"

    def loop_head(self, loop: Loop) -> str:
        lo, hi = self.bounds(loop)
        name = self.name_loop(loop.var)
        return f"for (int64_t {name} = {lo}; {name} < {hi}; {name}++)"

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
        head = self.loop_head(loop)
        if loop.simd:
            self.line(_SIMD)
        self.open(head)
        for s in stages.stages[0].statements:
            self.statement(s)
        self.close()
        self.drop_loop(loop.var)

    def blocked_loop(self, loop: Loop, stages: Stages, gathered: Sequence[Accumulate]) -> None:
        """The loop in blocks, each stage running over a whole block."""
        in_tile = self.tile is not None and loop.var == self.tile[0]
        size = block_of(self.lanes) if self.lanes is not None else MAP_BLOCK
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
        if loop.simd:
            self.line(_SIMD)
        self.open(f"for (int64_t l = 0; l < {count}; l++)")
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
        lanes = lanes_of(item)
        for acc in item.accs:
            c, first = C_TYPES[acc.dtype], literal(identity_of(acc.op, acc.dtype), acc.dtype)
            if not _has_loop(item.body):
                self.line(f"{c} {acc.name} = {first};")
                continue
            self.line(f"{c} {acc.name}_[{lanes}];")
            self.line(_SIMD)
            self.line(f"for (int l = 0; l < {lanes}; l++) {acc.name}_[l] = {first};")
            if needs_tree(acc, item):
                self.line(f"{c} {acc.name}_tree[48][{lanes}];")
                self.line(f"int64_t {acc.name}_blocks = 0;")
        if item.repeats > 1 and any(needs_tree(acc, item) for acc in item.accs):
            self.line(f"int64_t {_rows_of(item)} = 0;")
        self.block(item.body)
        for acc in item.accs:
            if _has_loop(item.body):
                self.fold(acc, item)
        self.lanes = outer

    def gather(self, s: Accumulate, stages: Stages, loop: Loop, start: str) -> None:
        """Accumulate a block, from the array of its values or straight from memory."""
        assert self.lanes is not None, s
        lanes = lanes_of(self.lanes)
        acc = next(acc for acc in self.lanes.accs if acc.name == s.acc)
        load = next((x for x in loop.body if isinstance(x, Load) and x.name == s.value), None)
        if isinstance(s.value, str) and s.value in stages.homes:
            values = stages.homes[s.value]
        elif load is not None:
            values = self.pointer_at(load, loop, start)
        else:  # the same for all
            place = f"{acc.name}_[l % {lanes}]"
            value = combine(self.need_typed, acc.op, acc.dtype, place, self.operand(s.value))
            self.line(f"for (int64_t l = 0; l < m; l++) {place} = {value};")
            return
        self.line(f"{need_gather(self.need_typed, acc, lanes)}({acc.name}_, {values}, m);")

    def end_of_block(self, item: RowReduce) -> None:
        accs = [acc for acc in item.accs if needs_tree(acc, item)]
        if not accs:
            return
        if item.repeats > 1:
            every = max(1, block_of(item) // item.extent)
            rows = _rows_of(item)
            self.open(f"if (++{rows} >= {self.lift(every)})")
            self.line(f"{rows} = 0;")
        for acc in accs:
            carry = need_carry(self.need_typed, acc.dtype, lanes_of(item))
            self.line(f"{carry}({acc.name}_tree, {acc.name}_blocks++, {acc.name}_, 0);")
        if item.repeats > 1:
            self.close()

    def fold(self, acc: Acc, item: RowReduce) -> None:
        c = C_TYPES[acc.dtype]
        fold = need_fold(self.need_typed, acc, lanes_of(item))
        if needs_tree(acc, item):
            carry = need_carry(self.need_typed, acc.dtype, lanes_of(item))
            self.line(f"{carry}({acc.name}_tree, {acc.name}_blocks, {acc.name}_, 1);")
        self.line(f"const {c} {acc.name} = {fold}({acc.name}_);")

    def accumulate_one(self, s: Accumulate) -> None:
        assert self.lanes is not None
        acc = next(acc for acc in self.lanes.accs if acc.name == s.acc)
        value = combine(self.need_typed, acc.op, acc.dtype, acc.name, self.operand(s.value))
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
            first = literal(identity_of(acc.op, acc.dtype), acc.dtype)
            self.line(f"{C_TYPES[acc.dtype]} {acc.name}_[{size}];")
            self.line(_SIMD)
            self.line(f"for (int64_t l = 0; l < {count}; l++) {acc.name}_[l] = {first};")
            self.accs[acc.name] = (acc, "tile")
        self.tile = (item.var, count)
        self.block(item.body)
        for acc in item.accs:
            self.renamed[acc.name] = f"{acc.name}_[l]"
        self.block(item.post)
        for acc in item.accs:
            del self.renamed[acc.name], self.accs[acc.name]
        self.tile = None
        self.close()

    def scan(self, item: Scan) -> None:
        c = C_TYPES[item.acc.dtype]
        self.line(f"{c} {item.acc.name} = 0;")
        self.line(f"_Bool {item.acc.name}_first = 1;")
        self.accs[item.acc.name] = (item.acc, "scan")
        self.block(item.body)
        del self.accs[item.acc.name]

    # --- statements ---

    def need_types(self, text: str) -> None:
        """Have the types that `text` mentions."""
        for c in C_TYPES.values():
            if c in TYPEDEFS and c in text:
                self.need(c, TYPEDEFS[c])

    def need_typed(self, name: str, text: str) -> None:
        """`need`, with the types that the text mentions before it."""
        self.need_types(text)
        self.need(name, text)

    def declare(self, s: Result, expression: str) -> None:
        self.line(f"const {C_TYPES[s.dtype]} {s.name} = {expression};")

    def statement(self, s: Statement) -> None:
        match s:
            case Load():
                text = f"{self.pointer(s.buffer)}[{self.index(s.index)}]"
                self.declare(s, f"{self.condition(s.guard)} ? {text} : 0" if s.guard else text)
            case Compute():
                self.declare(s, self.compute(s))
            case Place():
                index = self.index(s.index)
                self.declare(s, index if s.dtype is dtypes.int64 else f"({C_TYPES[s.dtype]})({index})")
            case Random():
                self.need_typed("squares64", _RANDOM)
                self.declare(s, f"squares64({self.index(s.index)}, {self.operand(s.key)})")
            case Holds():
                self.declare(s, self.condition(s.conds))
            case Wrap():
                self.wrap(s)
            case Store():
                self.line(f"{self.pointer(s.buffer)}[{self.index(s.index)}] = {self.operand(s.value)};")
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

    def wrap(self, s: Wrap) -> None:
        self.need_typed("fail", _FAIL)
        self.uses_status = True
        value, size = self.operand(s.value), self.integer(s.size)
        if s.of is not dtypes.int64:
            value = f"(int64_t){value}"
        self.line(f"int64_t {s.name} = {f'{self.condition(s.guard)} ? {value} : 0' if s.guard else value};")
        if not is_unsigned(s.of):
            self.line(f"{s.name} += {s.name} < 0 ? {size} : 0;")
        test = f"(uint64_t){s.name} >= (uint64_t){size}"
        if s.guard:
            test = f"{self.condition(s.guard)} && {test}"
        failed = f"fail(status, {value}, {s.axis}, {size})"
        self.line(f"if (__builtin_expect({test}, 0)) return {failed};")

    def update(self, s: Update) -> None:
        place = f"{self.pointer(s.buffer)}[{self.index(s.index)}]"
        value = self.operand(s.value)
        if s.mode == "set":
            self.line(f"{place} = {value};")
            return
        c = C_TYPES[s.dtype]
        self.open("")
        self.line(f"{c} *restrict place = &{place};")
        self.line(f"const {c} old = *place;")
        self.line(f"*place = {combine(self.need_typed, _SCATTER_OPS[s.mode], s.dtype, 'old', value)};")
        self.close()

    def accumulate(self, s: Accumulate) -> None:
        acc, how = self.accs[s.acc]
        value = self.operand(s.value)
        if how == "tile":
            place = f"{acc.name}_[l]"
            self.line(f"{place} = {combine(self.need_typed, acc.op, acc.dtype, place, value)};")
            return
        combined = combine(self.need_typed, acc.op, acc.dtype, acc.name, value)
        self.line(f"{acc.name} = {acc.name}_first ? {value} : ({combined});")
        self.line(f"{acc.name}_first = 0;")


def _element(array: str) -> str:
    return f"({array})[l]" if array.startswith("&") else f"{array}[l]"


def _pointer_names(function: Function) -> list[str]:
    counts = {"row": 0, "out": 0, "in": 0}
    names: list[str] = []
    for buffer in function.buffers:
        kind = "row" if buffer.scratch else "out" if buffer.written else "in"
        names.append(f"{kind}{counts[kind]}")
        counts[kind] += not buffer.scratch or buffer.size > 0
    return names


def is_in_order(access: Load | Store, loop: Loop) -> bool:
    """Whether the elements that an access meets along a loop are one run of memory, which begins where it begins."""
    if access.index.coef(loop.var) != 1 or (isinstance(access, Load) and access.guard):
        return False
    inside = {s.name for s in loop.body if isinstance(s, Result)}
    rest = access.index - Index.of(loop.var)
    return not any(atom == loop.var or (isinstance(atom, Value) and atom.name in inside) for atom in atoms_of(rest))


def _rows_of(item: RowReduce) -> str:
    """The name of what counts the rows of a block: several reductions may stand in one scope."""
    return f"{item.accs[0].name}_rows"


def _has_loop(block: Block) -> bool:
    return any(isinstance(item, Loop) for item in block)
