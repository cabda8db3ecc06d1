"""A call of a kernel -> a function: its buffers numbered, outputs first, and its loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from math import prod

from uopc_core.costs import GRAIN
from uopc_core.dtype import DType, is_complex
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.loop.index import Index
from uopc_core.loop.loop_ir import (
    Block,
    Item,
    Load,
    Loop,
    LoopNest,
    Memory,
    RowReduce,
    Scan,
    Scope,
    Store,
    TileReduce,
    Unless,
    Update,
)
from uopc_core.loop.nest import Nest, build_nest
from uopc_core.loop.rangeify import InputName
from uopc_core.loop.space import BoundKernel, space_of
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.kernelize import cost_of

__all__ = ["Parameters", "accesses", "finish_function", "lower_call", "steps_of", "work_of", "writes_in_turn"]


class Parameters:
    """Numbers the buffers and scalars of the calls of one function."""

    def __init__(self) -> None:
        self.buffers: list[Memory] = []
        self.number: dict[int, int] = {}
        self.scalars: list[tuple[int, DType]] = []

    def buffer(self, slot: int, dtype: DType, size: int, written: bool) -> int:
        if slot not in self.number:
            self.number[slot] = len(self.buffers)
            self.buffers.append(Memory(slot, dtype, written, size))
        return self.number[slot]

    def window(self, slot: int, dtype: DType, size: int, written: bool, offset: int) -> int:
        """A part of the memory of a slot, which may have other parts, and a number as a whole too."""
        self.buffers.append(Memory(slot, dtype, written, size, offset=offset))
        return len(self.buffers) - 1

    def scalar(self, number: int, dtype: DType) -> str:
        if (number, dtype) not in self.scalars:
            self.scalars.append((number, dtype))
        return f"s{self.scalars.index((number, dtype))}"

    def params(self, call: KernelCall) -> dict[int, InputName]:
        """What each PARAM of a call stands for."""
        found: dict[int, InputName] = {}
        for node in call.kernel.params:
            index: int = node.arg[0]
            slot = call.inputs[index]
            if node.arg[2] == "scalar":
                found[index] = self.scalar(slot, node.dtype)
            else:
                found[index] = self.buffer(slot, node.dtype, node.size, False)
        return found


def lower_call(call: KernelCall, needed: AbstractSet[int]) -> LoopNest:
    """The function that computes one kernel. Outputs that nobody needs are not stored."""
    bind = Parameters()
    outputs = list(zip(call.kernel.outputs, call.outputs, strict=True))
    targets = [bind.buffer(slot, out.dtype, out.size, True) if slot in needed else None for out, slot in outputs]
    nest = build_nest(BoundKernel(call.kernel, bind.params(call), tuple(targets)))
    return finish_function(bind, nest, work_of(call.kernel.outputs[0], space_of_root(call)))


def space_of_root(call: KernelCall) -> tuple[int, ...]:
    root = call.kernel.outputs[0]
    if root.op is Ops.SCATTER:
        return (root.size + root.src[1].size,)
    return space_of(call.kernel).full


def work_of(root: UOp, space: Sequence[int]) -> int:
    """What it takes, in additions, roughly."""
    return int(prod(space) * max(1.0, sum(cost_of(node.op) for node in walk((root,)) if node.src)))


def steps_of(root: UOp, space: Sequence[int]) -> int:
    """Scalar operations of whatever kind, roughly."""
    return prod(space) * max(1, sum(1 for node in walk((root,)) if node.src))


def finish_function(bind: Parameters, nest: Nest, work: int) -> LoopNest:
    inner = max(1, work // max(1, nest.extent))
    grain = max(1, GRAIN // inner)
    return LoopNest(
        name=f"{nest.letter}{_loops_text(nest.body)}",
        buffers=tuple(bind.buffers),
        scalars=tuple(bind.scalars),
        body=nest.body,
        extent=nest.extent,
        grain=grain if grain < 64 else -(-grain // 64) * 64,
        work=work,
        inplace=inplace_buffers(bind.buffers, nest),
        parts=nest.parts,
    )


def _loops_text(block: Block) -> str:
    """The extents of the loops, those that may vary as n."""
    for item in block:
        if isinstance(item, Loop):
            extent = item.var.extent
            text = f"_{extent}" if extent <= 16 and not item.parallel else "_n"
            return text + _loops_text(item.body)
        if isinstance(item, Scope | RowReduce | TileReduce | Scan | Unless):
            text = _loops_text(item.body)
            if text:
                return text
    return ""


def inplace_buffers(buffers: Sequence[Memory], nest: Nest) -> tuple[int, ...]:
    """Inputs that may be the same memory as an output: those that are read only at the element which is then written,
    or the base of a scatter.

    Sharing is sound where no byte is written before its last read. For elementwise kernels this holds because

    1. all loads of such an input and all stores, to whichever output, have one and the same index, which tells the
       iterations apart as each element of an output is stored once: no iteration touches the element of another;
    2. elements are of one size, so that the same element is the same bytes, both parts of a complex number included;
    3. in the order of the statements every load stands before every store.

    Who writes the loops may cut them into stages that run over blocks, for 1 makes the order of iterations immaterial,
    as long as of each element the loads stay before the stores.
    """
    if nest.letter == "U":
        used = {item.buffer for item in accesses(_but_copies(nest.body)) if isinstance(item, Load)}
        bases = [item.buffers[1] for item in nest.body if isinstance(item, Unless)]
        return tuple([base for base in bases if base not in used])
    if nest.letter != "E":
        return ()
    found = list(accesses(nest.body))
    first = next((n for n, access in enumerate(found) if not isinstance(access, Load)), len(found))
    indices = {access.index for access in found[first:]}
    kinds = {_size_of(buffers[access.buffer]) for access in found[first:]}
    if len(indices) != 1 or len(kinds) != 1 or any(isinstance(access, Load) for access in found[first:]):
        return ()
    read: dict[int, set[Index]] = {}
    for load in found[:first]:
        read.setdefault(load.buffer, set()).add(load.index)
    whole = [i for i in read if buffers[i].offset is None]
    return tuple([i for i in whole if read[i] == indices and {_size_of(buffers[i])} == kinds])


def _but_copies(body: Block) -> Block:
    return tuple([item for item in body if not isinstance(item, Unless)])


def _size_of(buffer: Memory) -> tuple[int, int]:
    return buffer.size, buffer.dtype.itemsize


def writes_in_turn(function: LoopNest) -> bool:
    """Whether neighbouring elements, or the parts of one, may be computed by different statements."""
    read_at: dict[int, set[Index]] = {}
    for item in accesses(function.body):
        if isinstance(item, Store | Update):
            read_at.setdefault(item.buffer, set()).add(item.index)
    return any(len(indices) > 1 or is_complex(function.buffers[i].dtype) for i, indices in read_at.items())


def accesses(block: Sequence[Item]) -> Iterator[Load | Store | Update]:
    for item in block:
        if isinstance(item, Load | Store | Update):
            yield item
        elif isinstance(item, Loop | Scope | RowReduce | TileReduce | Scan | Unless):
            yield from accesses(item.body)
            if isinstance(item, TileReduce):
                yield from accesses(item.post)
