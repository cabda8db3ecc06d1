"""A plan as text, and the check of what every plan must satisfy."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.dtype import SHORT_NAMES, DType, name_of
from uopc_core.errors import VerifyError
from uopc_core.ir.op import Ops
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import walk
from uopc_core.ir.verify import verify
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.steps import ExternCall, Plan, PlanStep, Slot

__all__ = ["print_plan", "step_text", "verify_plan"]


def print_plan(plan: Plan) -> str:
    """The memory of `plan`, its steps in order with the graph of each kernel, and what it gives."""
    temporaries = {slot for step in plan.steps for slot in _written(step)} - {slot for slot, _ in plan.outputs}
    lines = ["# plan"]
    for number, slot in enumerate(plan.slots):
        role = "input" if number < plan.n_inputs else "temporary" if number in temporaries else "output"
        lines.append(f"slot {number}: {SHORT_NAMES[slot.dtype]}{list(slot.shape)} {role}")
    lines += [f"scalar {number}: {SHORT_NAMES[dtype]}" for number, dtype in enumerate(plan.scalar_dtypes)]
    steps = [step_text(number, step) for number, step in enumerate(plan.steps)]
    results = ", ".join(f"slot {slot} as {list(shape)}" for slot, shape in plan.outputs)
    return "\n".join(["\n".join(lines), *steps, f"return {results}"]) + "\n"


def step_text(number: int, step: PlanStep) -> str:
    """One step: what it reads and writes, and the graph of a kernel."""
    if isinstance(step, KernelCall):
        slots = f"slots {list(step.inputs)} -> {list(step.outputs)}"
        return f"# step {number}: kernel, {slots}\n{to_uir(step.kernel.outputs)}".rstrip("\n")
    slots = f"slots {[operand.slot for operand in step.inputs]} -> {_written(step)}"
    return f"# step {number}: host call {step.name}{step.params or ''}, {slots}"


def _written(step: PlanStep) -> list[int]:
    return list(step.outputs) if isinstance(step, KernelCall) else [slot for _, slot in step.outputs]


# ----------------------------------------------------------------------------------------------------- verification


def verify_plan(plan: Plan) -> None:
    """Check that memory is written once and before it is read, and that each step fits the memory that it names.

    Raises:
        VerifyError: the first step that breaks a rule, with what was expected.
    """
    written = set(range(plan.n_inputs))
    for number, step in enumerate(plan.steps):
        where = step_text(number, step)
        if isinstance(step, KernelCall):
            _verify_kernel(plan, step, written, where)
        else:
            _verify_host_call(plan, step, written, where)
        for slot in _written(step):
            _expect(plan.n_inputs <= slot < len(plan.slots), where, "a slot of the plan's own for a result", slot)
            _expect(slot not in written, where, "each slot to be written once", slot)
            written.add(slot)
    for slot, shape in plan.outputs:
        _expect(slot in written, "return", "results that have been written", slot)
        _expect(_size(shape) == _size(plan.slots[slot].shape), "return", f"{_size(shape)} elements", plan.slots[slot])
    _expect(len(written) == len(plan.slots), "return", "every slot to be written", sorted(written))


def _verify_kernel(plan: Plan, step: KernelCall, written: set[int], where: str) -> None:
    kernel = step.kernel
    verify(kernel.outputs)
    _expect(len(step.inputs) == kernel.n_params, where, f"{kernel.n_params} inputs", step.inputs)
    _expect(len(step.outputs) == len(kernel.outputs), where, f"{len(kernel.outputs)} outputs", step.outputs)
    for node in walk(kernel.outputs):
        _expect(not node.src or node.op is not Ops.EXTERN, where, "no library function inside of a kernel", node)
        if node.op is not Ops.PARAM:
            continue
        index: int = node.arg[0]
        number = step.inputs[index]
        if node.arg[2] == "scalar":
            _expect(plan.scalar_dtypes[number] is node.dtype, where, f"a scalar of {name_of(node.dtype)}", number)
            continue
        _expect(number in written, where, "inputs that have been written", number)
        _expect(_fits(plan.slots[number], node.shape, node.dtype), where, f"memory for {node}", plan.slots[number])
    for slot, node in zip(step.outputs, kernel.outputs, strict=True):
        _expect(_fits(plan.slots[slot], node.shape, node.dtype), where, f"memory for {node}", plan.slots[slot])


def _verify_host_call(plan: Plan, step: ExternCall, written: set[int], where: str) -> None:
    for operand in step.inputs:
        _expect(operand.slot in written, where, "inputs that have been written", operand.slot)
        (leaf,) = [node for node in operand.view.walk() if node.op is Ops.PARAM]
        _expect(_fits(plan.slots[operand.slot], leaf.shape, leaf.dtype), where, f"memory for {leaf}", operand.slot)


def _fits(slot: Slot, shape: Sequence[int], dtype: DType) -> bool:
    return _size(slot.shape) == _size(shape) and slot.dtype is dtype


def _size(shape: Sequence[int]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _expect(holds: bool, where: str, expected: str, got: object) -> None:
    if not holds:
        raise VerifyError(f"verify: expected {expected}, got {got}\n    in {where}")
