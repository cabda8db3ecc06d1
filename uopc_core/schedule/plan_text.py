"""A plan as text, and the check of what every plan must satisfy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uopc_core.dtype import SHORT_NAMES, DType, name_of
from uopc_core.errors import VerifyError
from uopc_core.ir.op import CALLS, Ops
from uopc_core.ir.text import literal_text, to_uir
from uopc_core.ir.uop import walk
from uopc_core.ir.verify import verify
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.steps import ExternCall, Plan, PlanStep, RegionCall, ScalarInput, Slot

__all__ = ["print_plan", "step_text", "verify_plan"]


def print_plan(plan: Plan) -> str:
    """The memory of `plan`, its steps in order with the graph of each kernel, and what it gives; after it the plans of
    the regions that it calls.
    """
    names = {inner: f"plan {number}" for number, inner in enumerate(plan.plans)}
    names[plan] = "plan"
    return "\n\n".join([_text_of(inner, names) for inner in plan.plans]) + "\n"


def _text_of(plan: Plan, names: Mapping[Plan, str]) -> str:
    temporaries = {slot for step in plan.steps for slot in step.writes} - {slot for slot, _ in plan.outputs}
    lines = [f"# {names[plan]}"]
    for number, slot in enumerate(plan.slots):
        role = "input" if number < plan.n_inputs else "temporary" if number in temporaries else "output"
        lines.append(f"slot {number}: {SHORT_NAMES[slot.dtype]}{list(slot.shape)} {role}")
    lines += [f"scalar {number}: {SHORT_NAMES[dtype]}" for number, dtype in enumerate(plan.scalar_dtypes)]
    if temporaries:
        lines.append(f"temporaries: {plan.temporary_bytes} bytes at most")
    steps = [step_text(number, step, names) for number, step in enumerate(plan.steps)]
    results = ", ".join(f"slot {slot} as {list(shape)}" for slot, shape in plan.outputs)
    return "\n".join(["\n".join(lines), *steps, f"return {results}"])


def step_text(number: int, step: PlanStep, names: Mapping[Plan, str] | None = None) -> str:
    """One step: what it reads and writes, and the graph of a kernel.

    Args:
        names: of the plans of regions.
    """
    head = f"# step {number}"
    if isinstance(step, KernelCall):
        slots = f"slots {list(step.inputs)} -> {list(step.outputs)}"
        return f"{head}: kernel, {slots}\n{to_uir(step.kernel.outputs)}".rstrip("\n")
    slots = f"slots {list(step.reads)} -> {list(step.writes)}"
    if isinstance(step, ExternCall):
        return f"{head}: host call {step.name}{step.params or ''}, {slots}"
    scalars = [f"scalar {x.number}" if isinstance(x, ScalarInput) else literal_text(x) for x in step.scalars]
    with_scalars = f" with {', '.join(scalars)}" if scalars else ""
    return f"{head}: call of {(names or {}).get(step.plan, 'a region')}, {slots}{with_scalars}"


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
        elif isinstance(step, ExternCall):
            _verify_host_call(plan, step, written, where)
        else:
            _verify_region_call(plan, step, written, where)
        for slot in step.writes:
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
        _expect(node.op not in CALLS, where, "no call inside of a kernel", node)
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


def _verify_region_call(plan: Plan, step: RegionCall, written: set[int], where: str) -> None:
    """What is inside has been verified when it was planned."""
    inner = step.plan
    _expect(len(step.inputs) == inner.n_inputs, where, f"{inner.n_inputs} inputs", step.inputs)
    for slot, given in zip(step.inputs, inner.slots, strict=False):
        _expect(slot in written, where, "inputs that have been written", slot)
        _expect(_fits(plan.slots[slot], given.shape, given.dtype), where, f"memory for {given}", plan.slots[slot])
    _expect(len(step.scalars) == len(inner.scalar_dtypes), where, f"{len(inner.scalar_dtypes)} scalars", step.scalars)
    for x, dtype in zip(step.scalars, inner.scalar_dtypes, strict=True):
        if isinstance(x, ScalarInput):
            _expect(plan.scalar_dtypes[x.number] is dtype, where, f"a scalar of {name_of(dtype)}", x.number)
    for number, slot in step.outputs:
        result, shape = inner.outputs[number]
        _expect(_fits(plan.slots[slot], shape, inner.slots[result].dtype), where, f"memory for {list(shape)}", slot)


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
