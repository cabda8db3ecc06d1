"""Run a plan as compiled C: kernels rendered, compiled side by side and joined to programs; host calls in between.

Temporaries live in one arena per run, placed so that those which are never alive together share bytes; outputs are new
buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uopc_core.codegen.c_source import Source, render
from uopc_core.dtype import dtypes
from uopc_core.ir.extern import EXTERNS
from uopc_core.loop.fuse import fuse_rows
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import compile_many
from uopc_core.runtime.interpreted import HostInputs
from uopc_core.runtime.runner import Program, ProgramStep
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.runtime.verified import program_step, verify_run
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.memory import Lifetime, place
from uopc_core.schedule.plan import HostCall, Plan
from uopc_core.settings import current

__all__ = ["CompiledPlan", "render_plan"]


def render_plan(plan: Plan) -> list[Source | HostCall]:
    """The C of every kernel of `plan`, kernels that share their outer loops fused, and its host calls, in order."""
    toolchain = find_toolchain()
    has_libmvec = toolchain is not None and toolchain.has_libmvec
    steps: list[Source | HostCall] = []
    run: list[KernelCall] = []
    for step in (*plan.steps, None):
        if isinstance(step, KernelCall):
            run.append(step)
            continue
        for group in fuse_rows(run, plan.needed | _read_outside(plan, run)):
            steps.append(render(group, plan.needed | _read_outside(plan, group), has_libmvec))
        run = []
        if step is not None:
            steps.append(step)
    return steps


def _inputs_of(call: KernelCall) -> set[int]:
    kinds = call.kernel.kinds
    return {slot for slot, kind in zip(call.inputs, kinds, strict=True) if kind == "buffer"}


def _read_outside(plan: Plan, group: Sequence[KernelCall]) -> set[int]:
    """Slots that kernels outside `group` read."""
    inside = set(map(id, group))
    return {
        slot
        for step in plan.steps
        if isinstance(step, KernelCall) and id(step) not in inside
        for slot in _inputs_of(step)
    }


@dataclass(frozen=True)
class _Segment:
    """Either compiled kernels that run in one foreign call, or one host call."""

    program: Program | None
    call: HostCall | None
    operands: HostInputs | None
    touched: tuple[int, ...]


class CompiledPlan:
    """A plan with its kernels compiled. Safe to run from several threads at once."""

    def __init__(self, plan: Plan) -> None:
        """Compile `plan`.

        Raises:
            CompileError: the compiler refused a kernel.
        """
        self.plan = plan
        self.steps = render_plan(plan)
        sources = [step for step in self.steps if isinstance(step, Source)]
        self._functions = compile_many([(source.text, source.entry) for source in sources])
        self._segments = self._join(dict(zip(map(id, sources), self._functions, strict=True)))
        self._outputs = [slot for slot, _ in plan.outputs if slot >= plan.n_inputs]
        self._offsets, self._arena_bytes = place(self._lifetimes())
        self._temporaries = [(slot, self._offsets[slot]) for slot in self._offsets]
        self._n_slots = len(plan.slots)
        self._plain = all(slot >= plan.n_inputs for slot, _ in plan.outputs) and len(set(self._outputs)) == len(
            plan.outputs
        )

    def _join(self, functions: dict[int, Any]) -> list[_Segment]:
        segments: list[_Segment] = []
        waiting: list[ProgramStep] = []

        def flush() -> None:
            if waiting:
                segments.append(_Segment(Program(list(waiting), self.plan.scalar_dtypes, len(self.plan.slots)), None, None, ()))
                waiting.clear()

        for step in self.steps:
            if isinstance(step, Source):
                waiting.append(program_step(step, functions[id(step)]))
            else:
                flush()
                touched = {operand.slot for operand in step.inputs} | {slot for _, slot in step.outputs}
                segments.append(_Segment(None, step, HostInputs(step), tuple(touched)))
        flush()
        return segments

    def _lifetimes(self) -> dict[int, Lifetime]:
        """Of every slot that is neither input nor output and still exists after fusion."""
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for i, step in enumerate(self.steps):
            if isinstance(step, Source):
                slots = [*step.outputs, *step.inputs]
            else:
                slots = [*[operand.slot for operand in step.inputs], *[slot for _, slot in step.outputs]]
            for slot in slots:
                first.setdefault(slot, i)
                last[slot] = i
        outputs = {slot for slot, _ in self.plan.outputs}
        return {
            slot: Lifetime(self.plan.slots[slot].size_bytes, first[slot], last[slot])
            for slot in first
            if slot >= self.plan.n_inputs and slot not in outputs
        }

    def run(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        """The outputs for these inputs.

        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        pointers = [0] * self._n_slots
        for slot, buffer in enumerate(buffers):
            pointers[slot] = buffer.pointer
        made: dict[int, Buffer] = {}
        for slot, shape in self.plan.outputs:
            if slot >= self.plan.n_inputs and slot not in made:
                made[slot] = Buffer.empty(shape, self.plan.slots[slot].dtype)
                pointers[slot] = made[slot].pointer
        arena = Buffer.empty((self._arena_bytes,), dtypes.uint8) if self._arena_bytes else None
        if arena is not None:
            for slot, offset in self._temporaries:
                pointers[slot] = arena.pointer + offset
        for segment in self._segments:
            if segment.program is not None:
                segment.program.run(pointers, scalars)
            else:
                self._run_host(segment, buffers, made, arena)
        if self._plain:
            results = list(made.values())
        else:
            results = [self._result(slot, shape, buffers, made) for slot, shape in self.plan.outputs]
        if current().verify:
            verify_run(self.plan, buffers, scalars, results)
        return results

    def _result(self, slot: int, shape: tuple[int, ...], buffers: Sequence[Buffer], made: dict[int, Buffer]) -> Buffer:
        buffer = buffers[slot] if slot < self.plan.n_inputs else made[slot]
        return buffer if buffer.shape == shape else Buffer.from_numpy(buffer.array.reshape(shape), copy=False)

    def _run_host(
        self, segment: _Segment, buffers: Sequence[Buffer], made: dict[int, Buffer], arena: Buffer | None
    ) -> None:
        call, operands = segment.call, segment.operands
        assert call is not None and operands is not None  # noqa: PT018  # a segment is one or the other
        memory = {slot: self._array(slot, buffers, made, arena) for slot in segment.touched}
        extern = EXTERNS[call.name]
        arrays = operands.of(memory)
        targets = [memory[slot] for _, slot in call.outputs]
        if extern.into is not None:
            extern.into(call.params, arrays, targets)
            return
        results = extern.evaluate(call.params, *arrays)
        for (number, _), target in zip(call.outputs, targets, strict=True):
            target[...] = results[number]

    def _array(
        self, slot: int, buffers: Sequence[Buffer], made: dict[int, Buffer], arena: Buffer | None
    ) -> np.ndarray[Any, Any]:
        what = self.plan.slots[slot]
        if slot < self.plan.n_inputs:
            return buffers[slot].array
        if slot in made:
            return made[slot].array.reshape(what.shape)
        assert arena is not None, slot
        return np.ndarray(what.shape, what.dtype, arena.array, self._offsets[slot])
