"""The loop nest: what a kernel becomes before it is C. Frozen, printable, and free of any text of the target language.

A nest is a tree of loops with scalar statements at its leaves, each naming its result once (SSA). Integers stay
concrete here; which of them become run-time parameters is decided when C is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from uopc_core.dtype import DType, name_of
from uopc_core.ir.op import Ops
from uopc_core.ir.text import literal_text
from uopc_core.loop.index import Cond, Index, Var
from uopc_core.records import record

__all__ = [
    "Acc",
    "Accumulate",
    "Block",
    "CheckIndex",
    "Compute",
    "Const",
    "Effect",
    "Holds",
    "IndexValue",
    "Item",
    "Load",
    "Loop",
    "LoopNest",
    "LoopOperand",
    "Memory",
    "Random",
    "Result",
    "RowReduce",
    "Scan",
    "Scope",
    "Statement",
    "Store",
    "TileReduce",
    "Unless",
    "Update",
    "indices_of",
    "map_indices",
    "operands_of",
    "print_block",
    "print_function",
]


@record(slots=True)
class Const:
    """A literal operand."""

    value: Any
    dtype: DType

    def __str__(self) -> str:
        """To compare two by: tells 0.0 from -0.0, nan from -nan, and finds nan equal to itself."""
        return f"{literal_text(self.value)}:{name_of(self.dtype)}"


LoopOperand = str | Const  # the name of a result, or a literal


@record(slots=True)
class Load:
    """An element of a buffer, or 0 where a guard does not hold."""

    name: str
    dtype: DType
    buffer: int
    index: Index
    guard: tuple[Cond, ...]


@record(slots=True)
class Compute:
    """An elementwise op on scalars. `of` is the dtype of its operands."""

    name: str
    dtype: DType
    op: Ops
    args: tuple[LoopOperand, ...]
    of: DType


@record(slots=True)
class IndexValue:
    """The value of an index expression, converted to `dtype`."""

    name: str
    dtype: DType
    index: Index


@record(slots=True)
class Random:
    """Random bits for a position."""

    name: str
    dtype: DType
    key: LoopOperand
    index: Index


@record(slots=True)
class Holds:
    """Whether all conditions hold."""

    name: str
    dtype: DType
    conds: tuple[Cond, ...]


@record(slots=True)
class CheckIndex:
    """An index of the user's, from the end if negative, checked against `size`. 0 where the guard does not hold."""

    name: str
    dtype: DType
    value: LoopOperand
    of: DType
    size: int
    axis: int
    guard: tuple[Cond, ...]


@record(slots=True)
class Store:
    buffer: int
    index: Index
    value: LoopOperand
    dtype: DType


@record(slots=True)
class Update:
    """Combine a value into an element: "set" "add" "mul" "max" "min"."""

    buffer: int
    index: Index
    value: LoopOperand
    mode: str
    dtype: DType


@record(slots=True)
class Accumulate:
    """Combine a value into the accumulator `acc`."""

    acc: str
    value: LoopOperand


Result = Load | Compute | IndexValue | Random | Holds | CheckIndex  # what has a name and a dtype
Effect = Store | Update | Accumulate
Statement = Result | Effect


@record(slots=True)
class Acc:
    """An accumulator: after its reduction, `name` is the result."""

    name: str
    op: Ops
    dtype: DType


@record(slots=True)
class Loop:
    """A loop over all values of `var`.

    Attributes:
        parallel: runs over the caller's part of its range.
        simd: its iterations do not depend on each other.
        tiled: it and the loop inside of it run in blocks.
    """

    var: Var
    body: Block
    parallel: bool = False
    simd: bool = False
    tiled: bool = False


@record(slots=True)
class Scope:
    """Statements whose names are local."""

    body: Block


@record(slots=True)
class RowReduce:
    """Reductions that end in one number each: many accumulators, combined in a fixed tree.

    Attributes:
        extent: of the innermost loop.
        repeats: of the loops around it.
        ordered: the elements come in the order of the reduced axes, and are combined in that order.
        crossed: the loop inside of the innermost one that stands outside of it in that order, since memory is read
            in order along it.
        part: elements of each of the parts that it is cut into, which combine to the same bits; 0 if it is whole.
    """

    accs: tuple[Acc, ...]
    body: Block
    extent: int
    repeats: int
    ordered: bool
    crossed: Var | None = None
    part: int = 0


@record(slots=True)
class TileReduce:
    """Reductions of many columns at once: `body` accumulates into a row along `var`, `post` uses the results.

    Attributes:
        ordered: the loop over all that is reduced, where the order of its elements matters; the first of `body`.
    """

    accs: tuple[Acc, ...]
    var: Var
    body: Block
    post: Block
    ordered: Var | None
    parallel: bool = False


@record(slots=True)
class Scan:
    """A running accumulator: `name` is its value after each Accumulate."""

    acc: Acc
    body: Block


@record(slots=True)
class Unless:
    """Skipped where two buffers are the same memory."""

    buffers: tuple[int, int]
    body: Block


Item = Statement | Loop | Scope | RowReduce | TileReduce | Scan | Unless
Block = tuple[Item, ...]


@record(slots=True)
class Memory:
    """Memory that a function works on: `slot` of the plan; a `row` of scratch exists once per thread.

    Attributes:
        offset: where it begins, of a window of the slot.
    """

    slot: int
    dtype: DType
    written: bool
    size: int
    scratch: bool = False
    offset: int | None = None


@record(slots=True)
class LoopNest:
    """A whole kernel: one C function.

    Attributes:
        scalars: run-time scalars, number in the plan and dtype; their value is the result named ``s{i}``.
        extent: of the parallel loop.
        inplace: buffers that may be the same memory as an output.
        parts: reductions of which the parallel loop gives results of parts. Once all of it has run, the function is
            called for no iteration, and combines them.
    """

    name: str
    buffers: tuple[Memory, ...]
    scalars: tuple[tuple[int, DType], ...]
    body: Block
    extent: int
    grain: int
    work: int
    inplace: tuple[int, ...] = ()
    parts: tuple[Acc, ...] = ()


def operands_of(s: Statement) -> tuple[LoopOperand, ...]:
    """What a statement takes, the names inside its indices not counted."""
    match s:
        case Compute():
            return s.args
        case CheckIndex() | Store() | Update() | Accumulate():
            return (s.value,)
        case Random():
            return (s.key,)
        case Load() | IndexValue() | Holds():
            return ()


def indices_of(s: Statement) -> Sequence[Index]:
    """Every index expression in a statement."""
    match s:
        case Compute() | Accumulate():
            return ()
        case Load():
            return (s.index, *[cond.expr for cond in s.guard]) if s.guard else (s.index,)
        case Store() | IndexValue() | Random() | Update():
            return (s.index,)
        case CheckIndex():
            return [cond.expr for cond in s.guard]
        case Holds():
            return [cond.expr for cond in s.conds]


def map_indices(s: Statement, change: Any) -> Statement:
    """The statement with every index expression replaced."""
    if isinstance(s, Load):
        guard = tuple([Cond(change(cond.expr)) for cond in s.guard])
        return replace(s, index=change(s.index), guard=guard)
    if isinstance(s, IndexValue | Random | Store | Update):
        return replace(s, index=change(s.index))
    if isinstance(s, Holds):
        return replace(s, conds=tuple([Cond(change(cond.expr)) for cond in s.conds]))
    if isinstance(s, CheckIndex):
        return replace(s, guard=tuple([Cond(change(cond.expr)) for cond in s.guard]))
    return s


# ------------------------------------------------------------------------------------------------------------- printing


def _print_statement(s: Statement) -> str:
    match s:
        case Load():
            guard = f" if {' and '.join(map(str, s.guard))}" if s.guard else ""
            return f"{s.name}:{name_of(s.dtype)} = buf{s.buffer}[{s.index}]{guard}"
        case Compute():
            return f"{s.name}:{name_of(s.dtype)} = {s.op.name.lower()}({', '.join(map(str, s.args))})"
        case IndexValue():
            return f"{s.name}:{name_of(s.dtype)} = {s.index}"
        case Random():
            return f"{s.name}:{name_of(s.dtype)} = random({s.key}, {s.index})"
        case Holds():
            return f"{s.name} = {' and '.join(map(str, s.conds))}"
        case CheckIndex():
            return f"{s.name} = wrap({s.value}, size={s.size}, axis={s.axis})"
        case Store():
            return f"buf{s.buffer}[{s.index}] = {s.value}"
        case Update():
            return f"buf{s.buffer}[{s.index}] {s.mode}= {s.value}"
        case Accumulate():
            return f"{s.acc} <- {s.value}"


def _lines(block: Block, depth: int) -> Iterator[str]:
    pad = "    " * depth
    for item in block:
        match item:
            case Loop():
                kind = (
                    ("parallel " if item.parallel else "")
                    + ("simd " if item.simd else "")
                    + ("tiled " if item.tiled else "")
                )
                yield f"{pad}{kind}for {item.var} in {item.var.lo}..{item.var.hi}:"
                yield from _lines(item.body, depth + 1)
            case Scope():
                yield f"{pad}scope:"
                yield from _lines(item.body, depth + 1)
            case RowReduce():
                parts = f" in parts of {item.part}" if item.part else ""
                yield f"{pad}reduce {', '.join(f'{a.name} by {a.op.name.lower()}' for a in item.accs)}{parts}:"
                yield from _lines(item.body, depth + 1)
            case TileReduce():
                accs = ", ".join(f"{a.name} by {a.op.name.lower()}" for a in item.accs)
                yield f"{pad}{'parallel ' if item.parallel else ''}reduce tiles of {item.var} {accs}:"
                yield from _lines(item.body, depth + 1)
                yield f"{pad}then:"
                yield from _lines(item.post, depth + 1)
            case Scan():
                yield f"{pad}scan {item.acc.name} by {item.acc.op.name.lower()}:"
                yield from _lines(item.body, depth + 1)
            case Unless():
                yield f"{pad}unless buf{item.buffers[0]} is buf{item.buffers[1]}:"
                yield from _lines(item.body, depth + 1)
            case _:
                yield pad + _print_statement(item)


def print_block(block: Block) -> str:
    """A nest as text, one statement a line."""
    return "\n".join(_lines(block, 0))


def print_function(function: LoopNest) -> str:
    """A function as text: its memory, then its nest."""
    lines = [f"# loops: {function.name}, parallel over {function.extent}"]
    for number, buffer in enumerate(function.buffers):
        if not buffer.size and buffer.scratch:
            continue  # a row that has become a scalar
        role = "scratch" if buffer.scratch else "output" if buffer.written else "input"
        shared = " (may be an output)" if number in function.inplace else ""
        where = "" if buffer.scratch else f" slot {buffer.slot}"
        where += "" if buffer.offset is None else f" from {buffer.offset} on"
        lines.append(f"buf{number}: {name_of(buffer.dtype)}[{buffer.size}] {role}{where}{shared}")
    lines += [f"s{i}: {name_of(dtype)} scalar {number}" for i, (number, dtype) in enumerate(function.scalars)]
    return "\n".join([*lines, print_block(function.body)])
