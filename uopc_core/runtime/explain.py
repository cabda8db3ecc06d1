"""What is still to be computed, as text, form by form: the graph, the plan, loops and C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_core.codegen.c_source import Source
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import UOp
from uopc_core.loop.fuse import lower_group
from uopc_core.loop.loop_ir import print_function
from uopc_core.runtime.rendered import Fused, fused_steps, render_plan
from uopc_core.schedule.plan import make_plan
from uopc_core.schedule.plan_text import print_plan

__all__ = ["explain", "explain_nodes"]


def explain(*values: Any) -> str:
    """Graph, plan, loops and C of what `values` (nodes, or handles that have one as `uop`) still have to compute.

    Example:
        >>> from uopc_core import Tensor, explain
        >>> print(explain(Tensor([1.0, 2.0]) * 3.0).splitlines()[0])
        # graph
    """
    return explain_nodes([x if isinstance(x, UOp) else x.uop for x in values])


def explain_nodes(nodes: Sequence[UOp]) -> str:
    """Graph, plan, loops and C of what `nodes` still have to compute.

    Nothing is computed. The C is what a compiler would be given, also where there is none.
    """
    waiting = [node for node in nodes if node.realized is None]
    if not waiting:
        return "nothing to compute: the value is in memory\n"
    plan, _ = make_plan(waiting)
    parts = ["# graph\n" + to_uir(waiting), print_plan(plan)]
    steps = zip(fused_steps(plan), render_plan(plan), strict=True)
    begin = 0
    for fused, source in steps:
        n_steps = len(fused.calls) if isinstance(fused, Fused) else 1
        if isinstance(fused, Fused) and isinstance(source, Source):
            parts.append(print_function(lower_group(fused.calls, fused.needed)))
            note = f" (steps {begin} to {begin + n_steps - 1} in one)" if n_steps > 1 else ""
            parts.append(f"# C of the kernel that writes slots {list(source.outputs)}{note}\n" + source.text)
        begin += n_steps
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
