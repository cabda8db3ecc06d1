"""Run a plan as compiled C: its kernels compiled side by side and joined to programs, host calls in between.

Temporaries live in one arena per run, placed so that those which are never alive together share bytes; a kernel that
reads a dying temporary only at the element it writes takes it over. Outputs are new buffers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uopc_core.codegen.c_source import Source
from uopc_core.dtype import dtypes
from uopc_core.ir.extern import EXTERNS
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import compile_many
from uopc_core.runtime.interpreted import HostInputs
from uopc_core.runtime.rendered import render_plan, slots_of
from uopc_core.runtime.runner import Program, ProgramStep
from uopc_core.runtime.verified import program_step, verify_run
from uopc_core.schedule.memory import Lifetime, place
from uopc_core.schedule.steps import HostCall, Plan
from uopc_core.settings import current

__all__ = ["CompiledPlan", "compile_kernels", "kernels_in_use"]

_MAX_KNOWN = 65_536
_in_use: dict[int, None] = {}  # hashes of the sources of every CompiledPlan so far


@dataclass(frozen=True)
class _Host:
    """A host call between programs, with the slots that it reads and those that it writes."""

    call: HostCall
    operands: HostInputs
    reads: list[int]
    writes: list[int]


class _Memory:
    """Where each slot lives: inputs as they come, then the outputs, then temporaries at offsets in the arena.

    Attributes:
        place: number of a slot among the pointers of a run.
        outputs: slots that get a buffer of their own.
        offsets: of the other slots, by slot.
        arena_bytes: size of the arena.
    """

    def __init__(self, plan: Plan, steps: Sequence[Source | HostCall]) -> None:
        self.outputs = list(dict.fromkeys(slot for slot, _ in plan.outputs if slot >= plan.n_inputs))
        lives = _lifetimes(plan, steps)
        owner = _taken_over(plan, steps, lives)
        temporaries: dict[int, Lifetime] = {}
        for slot, life in lives.items():
            root = _root(owner, slot)
            if root not in self.outputs:
                known = temporaries.get(root, life)
                temporaries[root] = replace(known, born=min(known.born, life.born), dies=max(known.dies, life.dies))
        placed, self.arena_bytes = place(temporaries)
        self.offsets = {slot: placed[root] for slot in lives if (root := _root(owner, slot)) in placed}
        self.borrowed = {slot: root for slot in lives if (root := _root(owner, slot)) != slot and root in self.outputs}
        first_temporary = plan.n_inputs + len(self.outputs)
        self.place = {slot: slot for slot in range(plan.n_inputs)}
        self.place.update({slot: plan.n_inputs + i for i, slot in enumerate(self.outputs)})
        self.place.update({slot: first_temporary + i for i, slot in enumerate(self.offsets)})
        self.place.update({slot: self.place[root] for slot, root in self.borrowed.items()})
        self.n_pointers = first_temporary + len(self.offsets)


def _lifetimes(plan: Plan, steps: Sequence[Source | HostCall]) -> dict[int, Lifetime]:
    """Of every slot that is neither input nor output and still exists after fusion."""
    outputs = {slot for slot, _ in plan.outputs}
    lives: dict[int, Lifetime] = {}
    for i, step in enumerate(steps):
        reads, writes = slots_of(step)
        for slot in (*reads, *writes):
            if slot >= plan.n_inputs and slot not in outputs:
                born = lives[slot].born if slot in lives else i
                lives[slot] = Lifetime(plan.slots[slot].size_bytes, born, i)
    return lives


def _taken_over(plan: Plan, steps: Sequence[Source | HostCall], lives: Mapping[int, Lifetime]) -> dict[int, int]:
    """Temporary -> the slot whose memory it shares, because the kernel that writes that slot reads the temporary last,
    in place.
    """
    owner: dict[int, int] = {}
    for i, step in enumerate(steps):
        if not isinstance(step, Source):
            continue
        free = [slot for slot in step.outputs if slot in lives or slot in {o for o, _ in plan.outputs}]
        for slot in step.inplace:
            if slot not in lives or lives[slot].dies != i:
                continue
            for target in free:
                if plan.slots[target].size_bytes == plan.slots[slot].size_bytes:
                    owner[slot] = target
                    free.remove(target)
                    break
    return owner


def _root(owner: Mapping[int, int], slot: int) -> int:
    while slot in owner:
        slot = owner[slot]
    return slot


def _sources(plan: Plan) -> list[Source]:
    return [step for step in render_plan(plan) if isinstance(step, Source)]


def compile_kernels(plan: Plan) -> list[Any]:
    """Compile the kernels of `plan` and load them, without making anything of them yet."""
    return compile_many([(source.text, source.entry) for source in _sources(plan)])


def kernels_in_use(plan: Plan) -> bool:
    """Whether every kernel of `plan` belongs to a CompiledPlan of this process already."""
    return bool(_in_use) and all(hash(source.text) in _in_use for source in _sources(plan))


class CompiledPlan:
    """A plan with its kernels compiled. Safe to run from several threads at once."""

    def __init__(self, plan: Plan) -> None:
        """Compile `plan`.

        Raises:
            CompileError: the compiler refused a kernel.
        """
        self.plan = plan
        steps, sources = render_plan(plan), _sources(plan)
        functions = compile_kernels(plan)
        if len(_in_use) > _MAX_KNOWN:
            _in_use.clear()
        _in_use.update(dict.fromkeys([hash(source.text) for source in sources]))
        self._memory = _Memory(plan, steps)
        self._segments = self._join(steps, dict(zip(map(id, sources), functions, strict=True)))
        shapes = {slot: shape for slot, shape in reversed(plan.outputs)}
        self._made = [(shapes[slot], plan.slots[slot].dtype) for slot in self._memory.outputs]
        self._offsets = list(self._memory.offsets.values())
        # the usual case, for which a call does nothing but this: one program, every output a new buffer
        self._plain = len(self._segments) == 1 and len(self._made) == len(plan.outputs)
        first = self._segments[0] if self._segments else None
        self._program = first if self._plain and isinstance(first, Program) else None

    def _join(self, steps: Sequence[Source | HostCall], functions: Mapping[int, Any]) -> list[Program | _Host]:
        segments: list[Program | _Host] = []
        waiting: list[ProgramStep] = []
        for step in (*steps, None):
            if isinstance(step, Source):
                waiting.append(program_step(step, functions[id(step)], self._memory.place))
                continue
            if waiting:
                segments.append(Program(waiting, self.plan.scalar_dtypes, self._memory.n_pointers))
                waiting = []
            if step is not None:
                segments.append(_Host(step, HostInputs(step), *slots_of(step)))
        return segments

    def run(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        """The outputs for these inputs.

        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        made = [Buffer.empty(shape, dtype) for shape, dtype in self._made]
        pointers = [buffer.pointer for buffer in buffers]
        pointers += [buffer.pointer for buffer in made]
        arena = None
        if self._offsets:
            arena = Buffer.empty((self._memory.arena_bytes,), dtypes.uint8)
            start = arena.pointer
            pointers += [start + offset for offset in self._offsets]
        if self._program is not None:
            self._program.run(pointers, scalars)
            results = made
        else:
            results = self._run_segments(pointers, scalars, buffers, made, arena)
        if current().verify:
            verify_run(self.plan, buffers, scalars, results)
        return results

    def _run_segments(
        self,
        pointers: Sequence[int],
        scalars: Sequence[Any],
        buffers: Sequence[Buffer],
        made: list[Buffer],
        arena: Buffer | None,
    ) -> list[Buffer]:
        for segment in self._segments:
            if isinstance(segment, Program):
                segment.run(pointers, scalars)
            else:
                self._run_host(segment, buffers, made, arena)
        if self._plain:
            return made
        return [self._result(slot, shape, buffers, made) for slot, shape in self.plan.outputs]

    def _result(self, slot: int, shape: tuple[int, ...], buffers: Sequence[Buffer], made: list[Buffer]) -> Buffer:
        buffer = buffers[slot] if slot < self.plan.n_inputs else made[self._memory.outputs.index(slot)]
        return buffer if buffer.shape == shape else Buffer.from_numpy(buffer.array.reshape(shape), copy=False)

    def _run_host(self, host: _Host, buffers: Sequence[Buffer], made: list[Buffer], arena: Buffer | None) -> None:
        memory = {slot: self._array(slot, buffers, made, arena) for slot in host.reads}
        extern = EXTERNS[host.call.name]
        arrays = host.operands.of(memory)
        targets = [self._array(slot, buffers, made, arena) for slot in host.writes]
        if extern.into is not None:
            extern.into(host.call.params, arrays, targets)
            return
        results = extern.evaluate(host.call.params, *arrays)
        for (number, _), target in zip(host.call.outputs, targets, strict=True):
            target[...] = results[number]

    def _array(
        self, slot: int, buffers: Sequence[Buffer], made: list[Buffer], arena: Buffer | None
    ) -> np.ndarray[Any, Any]:
        """The memory of a slot as NumPy sees it."""
        what = self.plan.slots[slot]
        if slot < self.plan.n_inputs:
            return buffers[slot].array
        if slot in self._memory.offsets:
            assert arena is not None, slot
            return np.ndarray(what.shape, what.dtype, arena.array, self._memory.offsets[slot])
        owner = self._memory.borrowed.get(slot, slot)
        array = made[self._memory.outputs.index(owner)].array
        same = array.shape == what.shape and array.dtype is what.dtype
        return array if same else array.reshape(-1).view(what.dtype).reshape(what.shape)
