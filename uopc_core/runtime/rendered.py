"""A plan's kernels as C: fused where they share their outer loops, in order, between the plan's other steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from uopc_core.codegen.c_source import MANY_TEXTS, CSource, Renderer, with_fewer_texts
from uopc_core.codegen.c_tiled import Matrices, render_tiled_product
from uopc_core.collector import without_collection
from uopc_core.loop.fuse import fuse_rows, lower_group, needed_outside
from uopc_core.loop.loop_ir import print_function
from uopc_core.loop.windows import Windowed, lower_windowed, over_windows, written_base
from uopc_core.records import record
from uopc_core.runtime.interpreted import HostInputs, product_in_tiles
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.steps import ExternCall, PerPlan, Plan, RegionCall

__all__ = ["Between", "Fused", "fused_steps", "loops_and_c", "render_plan", "slots_of"]


Between = ExternCall | RegionCall  # steps that are no kernels
_LARGE_BYTES = 1 << 24  # of a slot, of which a copy is made to see how parts of it lie


@PerPlan
def render_plan(plan: Plan) -> list[CSource | Between]:
    """The C of every kernel of `plan`, and its other steps, in order; the same list each time."""
    toolchain = find_toolchain()
    renderer = Renderer(toolchain is not None and toolchain.has_libmvec)
    with without_collection():
        steps = fused_steps(plan)
        kernels = [step for step in steps if isinstance(step, Fused)]
        sources = [renderer.render(step.calls, step.needed, step.windowed) for step in kernels]
        rendered = iter(with_fewer_texts(sources))
        return [next(rendered) if isinstance(step, Fused) else _tiled_product(step, plan) or step for step in steps]


def _tiled_product(step: Between, plan: Plan) -> CSource | None:
    """The C of a product of small matrices, where strides say how they lie in their slots."""
    sizes = product_in_tiles(step) if isinstance(step, ExternCall) and find_toolchain() is not None else None
    if sizes is None or not isinstance(step, ExternCall):
        return None
    slots = {slot: plan.slots[slot] for slot in step.reads}
    if max(slot.size_bytes for slot in slots.values()) > _LARGE_BYTES:
        return None
    memory = {number: np.empty(slot.shape, slot.dtype) for number, slot in slots.items()}
    views = HostInputs(step).of(memory)
    arrays = [memory[slot] for slot in step.reads]
    if not all([np.may_share_memory(view, array) for view, array in zip(views, arrays, strict=True)]):
        return None
    x, y = (_matrices(*given) for given in zip(step.reads, views, arrays, strict=True))
    left = step.inputs[0].view
    count = left.shape[0] if left.ndim > 2 else 1
    return render_tiled_product(left.dtype, step.writes[0], x, y, (count, *sizes))


def _matrices(slot: int, view: Any, memory: Any) -> Matrices:
    start = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return Matrices(slot, start, view.strides if view.ndim > 2 else (0, *view.strides))


@record
class Fused:
    """Kernels that run as one function, and the slots among those that they write which somebody else reads.

    Attributes:
        windowed: the same over windows of memory, where it is one kernel that runs so.
    """

    calls: tuple[KernelCall, ...]
    needed: frozenset[int]
    windowed: Windowed | None = None


def fused_steps(plan: Plan) -> list[Fused | Between]:
    """The steps of `plan`, kernels that share their outer loops together."""
    readers = Counter(slot for step in plan.steps if isinstance(step, KernelCall) for slot in set(step.reads))
    steps: list[Fused | Between] = []
    run: list[KernelCall] = []
    for step in (*plan.steps, None):
        if isinstance(step, KernelCall):
            run.append(step)
            continue
        for group in fuse_rows(run, needed_outside(run, plan.needed, readers)):
            steps.append(Fused(group, needed_outside(group, plan.needed, readers)))
        run = []
        if step is not None:
            steps.append(step)
    return _over_windows(plan, steps)


def _over_windows(plan: Plan, steps: list[Fused | Between]) -> list[Fused | Between]:
    """`steps`, of which those run over windows that write a box in place, and those of which there are many alike."""
    single = [number for number, step in enumerate(steps) if isinstance(step, Fused) and len(step.calls) == 1]
    last = _last_readers(steps)
    kept = {slot for slot, _ in plan.outputs}
    found: dict[int, Windowed] = {}
    for number in single:
        step = steps[number]
        assert isinstance(step, Fused), step
        (call,) = step.calls
        base = written_base(call)
        in_place = base is not None and base >= plan.n_inputs and base not in kept and last[base] == number
        if in_place or len(single) >= MANY_TEXTS:
            windowed = over_windows(call, step.needed, in_place)
            if windowed is not None:
                found[number] = windowed
    n_alike = Counter([windowed.form for windowed in found.values()])
    for number, windowed in found.items():
        if windowed.form.box is not None or n_alike[windowed.form] >= MANY_TEXTS:
            step = steps[number]
            assert isinstance(step, Fused), step
            steps[number] = replace(step, windowed=windowed)
    return steps


def _last_readers(steps: Sequence[Fused | Between]) -> dict[int, int]:
    """The number of the last step that reads a slot."""
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        reads = [slot for call in step.calls for slot in call.reads] if isinstance(step, Fused) else step.reads
        last.update(dict.fromkeys(reads, number))
    return last


def slots_of(step: CSource | Between) -> tuple[list[int], list[int]]:
    """The slots that a step reads and those that it writes."""
    if isinstance(step, CSource):
        return list(step.inputs), list(step.outputs)
    return list(step.reads), list(step.writes)


def loops_and_c(plan: Plan) -> list[str]:
    """Of every function that is compiled for `plan`, its loops, and the C that a compiler is or would be given; then
    the same for each plan of a region.
    """
    parts = [_loops_and_c(inner) for inner in plan.plans]
    heads = [[f"# functions of plan {number}"] if own else [] for number, own in enumerate(parts)]
    return [*parts[0], *[text for head, own in zip(heads[1:], parts[1:], strict=True) for text in (*head, *own)]]


def _loops_and_c(plan: Plan) -> list[str]:
    parts: list[str] = []
    begin = 0
    for fused, source in zip(fused_steps(plan), render_plan(plan), strict=True):
        n_steps = len(fused.calls) if isinstance(fused, Fused) else 1
        if isinstance(fused, Fused) and isinstance(source, CSource):
            windowed = None if fused.windowed is None else lower_windowed(fused.windowed)
            parts.append(print_function(windowed or lower_group(fused.calls, fused.needed)))
            note = f" (steps {begin} to {begin + n_steps - 1} in one)" if n_steps > 1 else ""
            parts.append(f"# C of the kernel that writes slots {list(source.outputs)}{note}\n" + source.text)
        elif isinstance(source, CSource):
            parts.append(f"# C of the product that writes slot {source.outputs[0]}\n" + source.text)
        begin += n_steps
    return parts
