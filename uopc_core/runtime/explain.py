"""What is still to be computed, as text, form by form: the graph, the plan, and what an executor makes of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import UOp
from uopc_core.runtime.executors import current_executor
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
    """Graph and plan of what `nodes` still have to compute, and what the executor in force makes of the plan.

    Nothing is computed. The C is what a compiler would be given, also where there is none; with tier="interpret", which
    evaluates the kernels of the plan as they are, there is none to show.
    """
    waiting = [node for node in nodes if node.realized is None]
    if not waiting:
        return "nothing to compute: the value is in memory\n"
    plan, _ = make_plan(waiting)
    parts = ["# graph\n" + to_uir(waiting), print_plan(plan), *current_executor().text(plan)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
