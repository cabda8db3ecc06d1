"""Run a plan on NumPy: every kernel evaluated by the interpreter, host calls as they are, regions likewise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from uopc_core.interpret.externs import call_extern
from uopc_core.interpret.loops import LoopKey, prepare_loops
from uopc_core.interpret.numpy_interp import NUMPY_OPS, NumPyProgram, loops_to_prepare, lower_to_numpy
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.runtime.buffer import Buffer, with_room
from uopc_core.runtime.executors import INTERPRET
from uopc_core.runtime.region_calls import run_region
from uopc_core.schedule.kernel import Kernel, KernelCall
from uopc_core.schedule.library_work import is_tiled
from uopc_core.schedule.steps import ExternCall, Plan, PlanStep, RegionCall

__all__ = ["HostInputs", "InterpretedPlan", "evaluate_kernel", "loops_of_plan", "product_in_tiles"]

Array = np.ndarray[Any, Any]


def evaluate_kernel(kernel: Kernel, values: Sequence[Any]) -> list[Array]:
    """The outputs of `kernel` on NumPy, for arrays and numbers in the order of its PARAMs."""
    params = kernel.params
    return lower_to_numpy(kernel.outputs, params).run([values[p.arg[0]] for p in params])


class HostInputs:
    """The operands of one host call as views of the memory in its slots (copies where no strides give the view)."""

    def __init__(self, call: ExternCall) -> None:
        self.operands = [(operand.slot, _view_functions(operand.view)) for operand in call.inputs]

    def of(self, memory: Any) -> list[Array]:
        arrays: list[Array] = []
        for slot, functions in self.operands:
            array = memory[slot]
            for function in functions:
                array = function(array)
            arrays.append(array)
        return arrays


def _view_functions(view: UOp) -> list[Any]:
    return [NUMPY_OPS[node.op](node) for node in walk([view]) if node.op is not Ops.PARAM]


class InterpretedPlan:
    """The steps of a plan as NumPy programs, with what is dead after each. Safe to run from several threads at once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        prepare_loops(loops_of_plan(plan))
        last_use: dict[int, int] = {}
        for i, step in enumerate(plan.steps):
            last_use.update(dict.fromkeys(step.reads, i))
        kept = {slot for slot, _ in plan.outputs} | set(range(plan.n_inputs))
        self.dead: list[list[int]] = [[] for _ in plan.steps]
        for slot, i in last_use.items():
            if slot not in kept:
                self.dead[i].append(slot)
        programs: dict[tuple[Kernel, tuple[UOp, ...]], NumPyProgram] = {}
        self.steps = [self._prepare(step, dead, programs) for step, dead in zip(plan.steps, self.dead, strict=True)]

    def _prepare(
        self, step: PlanStep, dead: Sequence[int], programs: dict[tuple[Kernel, tuple[UOp, ...]], NumPyProgram]
    ) -> tuple[Any, ...]:
        """
        Args:
            programs: of kernels, with the inputs that they may write over; of those that repeat there is one.
        """
        if isinstance(step, ExternCall):
            return step, HostInputs(step)
        if isinstance(step, RegionCall):
            return step, INTERPRET.prepared(step.plan)
        params = step.kernel.params
        once = [slot for slot in dead if step.reads.count(slot) == 1]
        given = tuple([p for p in params if p.arg[2] == "buffer" and step.inputs[p.arg[0]] in once])
        key = step.kernel, given
        if key not in programs:
            programs[key] = lower_to_numpy(step.kernel.outputs, params, given)
        return step, programs[key], params

    def run(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        """The outputs for these inputs.

        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        results: list[Buffer] = []
        for (slot, shape), value in zip(self.plan.outputs, with_room(self._evaluate, buffers, scalars), strict=True):
            own = slot < self.plan.n_inputs and buffers[slot].shape == shape
            results.append(buffers[slot] if own else Buffer.from_numpy(value, copy=False))
        return results

    def _evaluate(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Array]:
        memory: list[Any] = [None] * len(self.plan.slots)
        memory[: len(buffers)] = [buffer.array for buffer in buffers]
        for (step, *how), dead in zip(self.steps, self.dead, strict=True):
            if isinstance(step, ExternCall):
                results = call_extern(step.name, step.params, how[0].of(memory))
                for number, slot in step.outputs:
                    memory[slot] = np.ascontiguousarray(results[number]).reshape(self.plan.slots[slot].shape)
                results = ()
                _forget(memory, dead)
                continue
            if isinstance(step, RegionCall):
                buffers = run_region(step, how[0], [memory[slot] for slot in step.inputs], scalars)
                for slot, buffer in zip(step.writes, buffers, strict=True):
                    memory[slot] = buffer.array
                _forget(memory, dead)
                continue
            program, params = how
            values = [_value(step, p, memory, scalars) for p in params]
            _forget(memory, dead)
            for slot, value in zip(step.outputs, program.run(values), strict=True):
                memory[slot] = value
        return [memory[slot].reshape(shape) for slot, shape in self.plan.outputs]


def loops_of_plan(plan: Plan) -> list[LoopKey]:
    """The loops that `plan` is interpreted with, those of regions included."""
    kernels = dict.fromkeys([kernel for inner in plan.plans for kernel in inner.kernels])
    calls = [step for inner in plan.plans for step in inner.steps if isinstance(step, ExternCall)]
    dtypes = dict.fromkeys([call.inputs[0].view.dtype for call in calls if product_in_tiles(call)])
    products: list[LoopKey] = [("tiled", Ops.ADD, dtype) for dtype in dtypes]
    return [*loops_to_prepare(walk([root for kernel in kernels for root in kernel.outputs])), *products]


def product_in_tiles(call: ExternCall) -> tuple[int, int, int] | None:
    """The sizes m, k and n of a product of (m, k) and (k, n) that is made in tiles; None of all else."""
    if call.name != "matmul" or call.params:
        return None
    x, y = (operand.view for operand in call.inputs)
    m, k, n = x.shape[-2], x.shape[-1], y.shape[-1]
    return (m, k, n) if is_tiled(x.dtype, m, k, n) else None


def _forget(memory: list[Any], slots: Iterable[int]) -> None:
    for slot in slots:
        memory[slot] = None


def _value(step: KernelCall, param: UOp, memory: Sequence[Any], scalars: Sequence[Any]) -> Any:
    place: int = param.arg[0]
    number = step.inputs[place]
    return memory[number] if param.arg[2] == "buffer" else scalars[number]
