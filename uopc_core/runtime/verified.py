"""Run a plan kernel by kernel, unfused, and compare every kernel with the interpreter and the whole with what fused
code gave.

In force with `UOPC_VERIFY=1`: a plan is checked the first times it is run as compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uopc_core.codegen.c_source import CSource, render
from uopc_core.ir.extern import EXTERNS
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import compile_many
from uopc_core.runtime.check import check_kernel, check_same
from uopc_core.runtime.executors import COMPILE
from uopc_core.runtime.interpreted import HostInputs
from uopc_core.runtime.region_calls import run_region
from uopc_core.runtime.runner import CompiledProgram, ProgramStep
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.steps import ExternCall, PerPlan, Plan, RegionCall

__all__ = ["CHECKED_RUNS", "program_step", "verified_runs"]

CHECKED_RUNS = 2

Array = np.ndarray[Any, Any]


def program_step(source: CSource, function: Any, place: Mapping[int, int] | None = None) -> ProgramStep:
    """One call of a rendered kernel, in the slots of its plan, or where `place` says that they are."""
    slots = (*source.outputs, *source.inputs)
    return ProgramStep(
        function=function,
        slots=slots if place is None else tuple([place[slot] for slot in slots]),
        scalar_slots=source.scalars,
        dims=source.dims,
        extent=source.extent,
        grain=source.grain,
        work=source.work,
        scratch_bytes=source.scratch_bytes,
        parts_bytes=source.parts_bytes,
        name=source.entry,
    )


class _VerifiedRuns:
    """The kernels of a plan, each compiled by itself, and the first runs checked by them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        toolchain = find_toolchain()
        has_libmvec = toolchain is not None and toolchain.has_libmvec
        calls = [step for step in plan.steps if isinstance(step, KernelCall)]
        self.sources = [render((call,), frozenset(call.outputs), has_libmvec) for call in calls]
        functions = compile_many([(source.text, source.entry) for source in self.sources])
        self.programs = [
            CompiledProgram([program_step(source, function)], plan.scalar_dtypes, len(plan.slots))
            for source, function in zip(self.sources, functions, strict=True)
        ]
        self.runs = 0

    def check(self, buffers: Sequence[Buffer], scalars: Sequence[Any], results: Sequence[Buffer]) -> None:
        """Check one run of the plan whose `results` came from fused code.

        Raises:
            VerifyError: a kernel and the interpreter differ, or fused and unfused code do.
        """
        if self.runs >= CHECKED_RUNS:
            return
        self.runs += 1
        memory: list[Any] = [*buffers, *[None] * (len(self.plan.slots) - len(buffers))]
        compiled = iter(zip(self.programs, self.sources, strict=True))
        for step in self.plan.steps:
            for slot in step.writes:
                memory[slot] = Buffer.empty(self.plan.slots[slot].shape, self.plan.slots[slot].dtype)
            if isinstance(step, ExternCall):
                _run_host(step, memory)
            elif isinstance(step, RegionCall):  # its own first runs are checked as well
                arrays = [memory[slot].array for slot in step.inputs]
                made = run_region(step, COMPILE.prepared(step.plan), arrays, scalars)
                for slot, buffer in zip(step.writes, made, strict=True):
                    memory[slot] = buffer
            else:
                program, source = next(compiled)
                program.run([0 if buffer is None else buffer.pointer for buffer in memory], scalars)
                values = [
                    memory[number].array if kind == "buffer" else scalars[number]
                    for number, kind in zip(step.inputs, step.kernel.kinds, strict=True)
                ]
                check_kernel(step.kernel, values, [memory[slot].array for slot in step.outputs], source.text)
        for (slot, shape), result in zip(self.plan.outputs, results, strict=True):
            check_same(
                result.array, memory[slot].array.reshape(shape), "fused code against the same kernels run one by one"
            )


verified_runs = PerPlan(_VerifiedRuns)


def _run_host(call: ExternCall, memory: Sequence[Any]) -> None:
    arrays = [None if buffer is None else buffer.array for buffer in memory]
    values = EXTERNS[call.name].evaluate(call.params, *HostInputs(call).of(arrays))
    for number, slot in call.outputs:
        memory[slot].array[...] = values[number]
