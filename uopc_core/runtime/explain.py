"""What is still to be computed, as text: the graph, the kernels it becomes and their C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_core.codegen.c_source import Source
from uopc_core.ir.op import Ops
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import UOp
from uopc_core.runtime.rendered import render_plan
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.plan import HostCall, Plan, make_plan

__all__ = ["explain", "explain_nodes"]


def explain(*values: Any) -> str:
    """Graph, kernels and C of what `values` (nodes, or handles that have one as `uop`) still have to compute.

    Example:
        >>> from uopc_core import Tensor, explain
        >>> print(explain(Tensor([1.0, 2.0]) * 3.0).splitlines()[0])
        # graph
    """
    return explain_nodes([x if isinstance(x, UOp) else x.uop for x in values])


def explain_nodes(nodes: Sequence[UOp]) -> str:
    """Graph, kernels and C of what `nodes` still have to compute.

    Nothing is computed. The C is what a compiler would be given, also where there is none.
    """
    waiting = [node for node in nodes if node.realized is None and node.op is not Ops.BUFFER]
    if not waiting:
        return "nothing to compute: the value is in memory\n"
    plan, _ = make_plan(waiting)
    parts = ["# graph\n" + to_uir(waiting)]
    for i, step in enumerate(plan.steps):
        if isinstance(step, KernelCall):
            parts.append(
                f"# step {i}: kernel, slots {list(step.inputs)} -> {list(step.outputs)}\n" + to_uir(step.kernel.outputs)
            )
        else:
            parts.append(f"# step {i}: " + _host_line(step))
    begin = 0
    for step in render_plan(plan):
        end = _end_of(plan, step, begin)
        if isinstance(step, Source):
            fused = f" (steps {begin} to {end - 1} in one)" if end - begin > 1 else ""
            parts.append(f"# C of the kernel that writes slots {list(step.outputs)}{fused}\n" + step.text)
        begin = end
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _end_of(plan: Plan, step: Source | HostCall, begin: int) -> int:
    """Behind the last of the plan's steps that `step`, which carries out those from `begin` on, stands for."""
    if isinstance(step, HostCall):
        return begin + 1
    return 1 + max(
        i
        for i, call in enumerate(plan.steps)
        if isinstance(call, KernelCall) and not set(call.outputs).isdisjoint(step.outputs)
    )


def _host_line(call: HostCall) -> str:
    slots = [operand.slot for operand in call.inputs]
    return f"host call {call.name}{call.params or ''}, slots {slots} -> {[slot for _, slot in call.outputs]}"
