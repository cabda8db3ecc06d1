"""Run a plan as compiled C: its kernels compiled side by side and joined to programs, with host calls and the plans of
regions in between.

Temporaries of kernels live in one arena per run, and outputs are new buffers; see `placement.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uopc_core.codegen.c_source import CSource, join_kernels
from uopc_core.dtype import dtypes
from uopc_core.errors import CompileError
from uopc_core.interpret.externs import call_extern
from uopc_core.ir.extern import EXTERNS
from uopc_core.records import record
from uopc_core.runtime.buffer import Buffer, with_room
from uopc_core.runtime.cache import compile_ahead, compile_many, is_compiled
from uopc_core.runtime.executors import COMPILE, DirectCall, PreparedPlan
from uopc_core.runtime.interpreted import HostInputs
from uopc_core.runtime.placement import Placement
from uopc_core.runtime.region_calls import run_region
from uopc_core.runtime.rendered import Between, render_plan
from uopc_core.runtime.runner import (
    CompiledProgram,
    ProgramStep,
    prepare_runtime_meanwhile,
)
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.runtime.verified import program_step, verified_runs
from uopc_core.schedule.steps import ExternCall, Plan, RegionCall
from uopc_core.settings import current

__all__ = ["CompiledPlan", "compile_kernels", "kernels_in_use", "uncompiled_sources"]

Array = np.ndarray[Any, Any]

_MAX_KNOWN = 65_536
_in_use: dict[int, None] = {}  # hashes of the sources of every CompiledPlan so far


class _Host:
    """A host call between programs.

    Attributes:
        operands: of each the slot, and what makes of the memory there the view that is meant.
        into: the function that writes where it is told, None where there is none.
    """

    __slots__ = ("call", "into", "operands")

    def __init__(self, call: ExternCall) -> None:
        self.call = call
        self.operands = HostInputs(call).operands
        self.into = EXTERNS[call.name].into


@record
class _Inner:
    """A call of a region between programs, with its plan compiled."""

    call: RegionCall
    prepared: PreparedPlan


Segment = CompiledProgram | _Host | _Inner


def _sources(plan: Plan) -> list[CSource]:
    """Those of the regions that `plan` calls included, each once."""
    steps = [step for inner in plan.plans for step in render_plan(inner)]
    return [step for step in steps if isinstance(step, CSource)]


def compile_kernels(plan: Plan) -> list[Any]:
    """Compile the kernels of `plan` and load them, without making anything of them yet."""
    sources = _sources(plan)
    different = [*{source.text: source for source in sources}.values()]
    named = [(source.text, source.entry) for source in different]
    compile_ahead(named, lambda chosen: join_kernels([different[i] for i in chosen]), lambda i: different[i].declared)
    return compile_many([(source.text, source.entry) for source in sources])


def uncompiled_sources(plan: Plan) -> list[str]:
    """The C that this machine has not compiled yet, of all that a run of `plan` waits for."""
    return list(dict.fromkeys([s.text for s in _sources(plan) if not is_compiled(s.text, s.entry)]))


def kernels_in_use(plan: Plan) -> bool:
    """Whether every kernel of `plan` belongs to a CompiledPlan of this process already."""
    return bool(_in_use) and all(hash(source.text) in _in_use for source in _sources(plan))


class CompiledPlan:
    """A plan with its kernels compiled. Safe to run from several threads at once."""

    def __init__(self, plan: Plan) -> None:
        """Compile `plan`.

        Raises:
            CompileError: there is no compiler, or it refused a kernel.
        """
        if find_toolchain() is None:
            raise CompileError(
                'tier="compile": there is no C compiler; set CC to one, or use tier="auto" to compute with NumPy'
            )
        self.plan = plan
        steps, sources = render_plan(plan), _sources(plan)
        if current().num_threads > 1:
            prepare_runtime_meanwhile()
        functions = compile_kernels(plan)
        if len(_in_use) > _MAX_KNOWN:
            _in_use.clear()
        _in_use.update(dict.fromkeys([hash(source.text) for source in sources]))
        self._placement = Placement(plan, steps)
        self._segments = self._join(steps, dict(zip(map(id, sources), functions, strict=True)))
        shapes = {slot: shape for slot, shape in reversed(plan.outputs)}
        made = [(shapes[slot], plan.slots[slot]) for slot in self._placement.outputs]
        self._made = [(shape, slot.dtype, slot.size_bytes) for shape, slot in made]
        self._offsets = list(self._placement.starts)
        # the usual case, for which a call does nothing but this: one program, every output a new buffer
        first = self._segments[0][0] if len(self._segments) == 1 and len(self._made) == len(plan.outputs) else None
        self._program = first if isinstance(first, CompiledProgram) else None

    def _join(
        self, steps: Sequence[CSource | Between], functions: Mapping[int, Any]
    ) -> list[tuple[Segment, Sequence[int]]]:
        """Programs and other steps in order, each with the memory that nobody needs after it."""
        segments: list[tuple[Segment, Sequence[int]]] = []
        waiting: list[ProgramStep] = []
        dying: list[int] = []
        for number, step in enumerate((*steps, None)):
            gone = self._placement.dying.get(number, ())
            if isinstance(step, CSource):
                waiting.append(program_step(step, functions[id(step)], self._placement.place))
                dying += gone
                continue
            if waiting:
                segments.append((CompiledProgram(waiting, self.plan.scalar_dtypes, self._placement.n_pointers), dying))
                waiting, dying = [], []
            if isinstance(step, ExternCall):
                segments.append((_Host(step), gone))
            elif step is not None:
                segments.append((_Inner(step, COMPILE.prepared(step.plan)), gone))
        return segments

    def run(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        """The outputs for these inputs.

        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        if self._program is None:
            results = self._run_segments(buffers, scalars)
        else:
            results: list[Buffer] = []
            pointers: list[int] = []
            for buffer in buffers:  # loops, since a comprehension is a call
                pointers.append(buffer.pointer)
            for shape, dtype, nbytes in self._made:
                buffer = Buffer.empty(shape, dtype, nbytes)
                results.append(buffer)
                pointers.append(buffer.pointer)
            if self._offsets:
                arena = Buffer.empty((self._placement.arena_bytes,), dtypes.uint8)
                start = arena.pointer
                pointers += [start + offset for offset in self._offsets]
            self._program.run(pointers, scalars)
        if current().verify:
            verified_runs(self.plan).check(buffers, scalars, results)
        return results

    def direct(self) -> DirectCall | bool:
        """What a run does, for who calls without this; False where that is more than one call, True where it is not
        there yet.
        """
        addresses = self._program is not None and self._program.addresses()
        if not addresses:
            return addresses is None
        outputs = tuple([(shape, dtype) for shape, dtype, _ in self._made])
        arena_bytes = self._placement.arena_bytes if self._offsets else 0
        return DirectCall(*addresses, outputs, tuple(self._offsets), arena_bytes, self.plan, self)

    def _run_segments(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        run = _Run(self.plan, self._placement, buffers)
        for segment, dying in self._segments:
            if isinstance(segment, _Host):
                run.call(segment)
            elif isinstance(segment, _Inner):
                run.call_region(segment, scalars)
            else:
                segment.run(run.pointers, scalars)
            for root in dying:
                del run.made[root]
        return [run.result(slot, shape) for slot, shape in self.plan.outputs]


class _Run:
    """The memory of one run with host calls or regions in it.

    Attributes:
        made: by root, the outputs and what libraries and regions have made so far.
        pointers: to everything; 0 for what is not made yet.
    """

    __slots__ = ("arena", "buffers", "made", "placement", "pointers", "slots")

    def __init__(self, plan: Plan, placement: Placement, buffers: Sequence[Buffer]) -> None:
        self.slots = slots = plan.slots
        self.placement = placement
        self.buffers = buffers
        self.made: dict[int, Buffer] = {}
        self.pointers = [buffer.pointer for buffer in buffers]
        self.pointers += [0] * (placement.n_pointers - len(buffers))
        if placement.offsets:
            self.arena = Buffer.empty((placement.arena_bytes,), dtypes.uint8)
            for slot, offset in placement.offsets.items():
                self.pointers[placement.place[slot]] = self.arena.pointer + offset
        for slot in placement.made_first:
            self._keep(slot, Buffer.empty(slots[slot].shape, slots[slot].dtype))

    def call(self, host: _Host) -> None:
        """Call a library; what it makes by itself becomes the memory of its slot."""
        operands: list[Array] = []
        for slot, views in host.operands:  # loops, since a comprehension is a call
            operand = self._array(slot)
            for view in views:
                operand = view(operand)
            operands.append(operand)
        if host.into is not None:
            outputs: list[Array] = []
            for slot in host.call.writes:
                outputs.append(self._array(slot))
            host.into(host.call.params, operands, outputs)
            return
        results = with_room(call_extern, host.call.name, host.call.params, operands)
        for number, slot in host.call.outputs:
            what = self.slots[slot]
            result = np.ascontiguousarray(results[number], what.dtype).reshape(what.shape)
            self._keep(self.placement.root[slot], Buffer.from_numpy(result, copy=False))

    def call_region(self, inner: _Inner, scalars: Sequence[Any]) -> None:
        """Run a region; its results are the memory of their slots."""
        memory = [self._memory(slot) for slot in inner.call.inputs]
        results = run_region(inner.call, inner.prepared, memory, scalars)
        for slot, buffer in zip(inner.call.writes, results, strict=True):
            self._keep(self.placement.root[slot], buffer)

    def result(self, slot: int, shape: tuple[int, ...]) -> Buffer:
        """An output, in one of the shapes that it has."""
        buffer = self.made.get(slot)
        if buffer is None:
            buffer = self.buffers[slot]
        if buffer.shape == shape and buffer.dtype is self.slots[slot].dtype:
            return buffer
        return Buffer.from_numpy(self._array(slot).reshape(shape), copy=False)

    def _memory(self, slot: int) -> Buffer | Array:
        """The memory of a slot: a buffer where it is one of its own."""
        if slot < len(self.buffers):
            return self.buffers[slot]
        buffer = self.made.get(self.placement.root[slot])
        if buffer is not None and buffer.dtype is self.slots[slot].dtype and buffer.shape == self.slots[slot].shape:
            return buffer
        return self._array(slot)

    def _keep(self, root: int, buffer: Buffer) -> None:
        self.made[root] = buffer
        self.pointers[self.placement.place[root]] = buffer.pointer

    def _array(self, slot: int) -> Array:
        """The memory of a slot as NumPy sees it."""
        if slot < len(self.buffers):
            return self.buffers[slot].array
        what = self.slots[slot]
        if slot in self.placement.offsets:
            return np.ndarray(what.shape, what.dtype, self.arena.array, self.placement.offsets[slot])
        buffer = self.made[self.placement.root[slot]]
        if buffer.shape == what.shape and buffer.dtype is what.dtype:
            return buffer.array
        return buffer.array.reshape(-1).view(what.dtype).reshape(what.shape)
