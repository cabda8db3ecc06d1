"""From a graph to a plan: canonical form, simplification, products, kernels; kept in a bounded cache by structural
key.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from uopc_core.collector import without_collection
from uopc_core.ir.calls import instance
from uopc_core.ir.op import CALLS, Ops
from uopc_core.ir.region import Region
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import Scalar, UOp, walk
from uopc_core.ir.verify import verify
from uopc_core.recent import Recent
from uopc_core.rewrite.algebra import simplify
from uopc_core.schedule.calls import fit_calls
from uopc_core.schedule.canonical import Bindings, Canonical, Key, canonicalise, rebuild
from uopc_core.schedule.contraction import lower_contractions
from uopc_core.schedule.invariant import narrow_reductions
from uopc_core.schedule.kernel import Kernel, KernelCall
from uopc_core.schedule.kernelize import (
    Group,
    group_nodes,
    materialised_nodes,
    peel_movement,
    peel_reshape,
    view_over,
)
from uopc_core.schedule.plan_text import print_plan, verify_plan
from uopc_core.schedule.steps import ExternCall, HostInput, Plan, PlanStep, RegionCall, ScalarInput, Slot
from uopc_core.settings import current

__all__ = ["clear_plans", "known_plan", "make_plan", "plan_for", "plan_stats"]

MAX_PLANS = 2048
_DEBUG_GRAPHS = 2  # the setting `debug` from which on graphs are printed

_plans: Recent[Key, Plan] = Recent(MAX_PLANS)  # by structural key
_counts = {"made": 0, "hits": 0}


def plan_stats() -> dict[str, int]:
    """Plans made and plans found again in this process, and plans kept now."""
    return {**_counts, "kept": len(_plans)}


def clear_plans() -> None:
    """Forget every plan; counters go on."""
    _plans.clear()


def make_plan(outputs: Sequence[Any], keep_held: bool = True) -> tuple[Plan, Bindings]:
    """The plan that computes `outputs` from what is in memory, and what to run it on.

    Args:
        outputs: nodes, or handles that have one as `uop`; what other live handles stand for below them is computed as
            well (``keep_held``).
    Returns:
        the plan, new or from the cache, and the buffers and scalars of this very graph.
    """
    canonical = canonicalise([x if isinstance(x, UOp) else x.uop for x in outputs], keep_held)
    return plan_for(canonical), canonical.bindings


def plan_for(canonical: Canonical) -> Plan:
    """The plan of a canonical graph, from the cache where possible."""
    plan = known_plan(canonical.key)
    if plan is not None:
        return plan
    with without_collection():
        plan = _build(canonical)
    _counts["made"] += 1
    return _plans.add(canonical.key, plan)


def known_plan(key: Key) -> Plan | None:
    """The plan of graphs of this key, if it is in the cache."""
    plan = _plans.get(key)
    if plan is not None:
        _counts["hits"] += 1
    return plan


def _build(canonical: Canonical) -> Plan:
    roots = rebuild(canonical)
    order: list[UOp] = []
    present: set[Ops] = set()
    for name, step, ops in _PASSES:
        if ops is None or not ops.isdisjoint(present):
            before, roots = roots, step(roots)
            if not order or roots != before:
                order = walk(roots)
                present = {node.op for node in order}
        _look_at(name, roots)
    stored = materialised_nodes(roots, order)
    groups = group_nodes(stored, order)
    plan = _Builder(canonical, roots, groups).plan()
    settings = current()
    if settings.debug >= _DEBUG_GRAPHS:
        print(print_plan(plan), file=sys.stderr)
    if settings.verify:
        verify_plan(plan)
    return plan


def _look_at(name: str, roots: Sequence[UOp]) -> None:
    """Print and verify what a pass has made, where that is asked for."""
    settings = current()
    if settings.debug >= _DEBUG_GRAPHS:
        print(f"# graph after {name}\n{to_uir(roots)}", file=sys.stderr)
    if settings.verify:
        verify(roots)


def _store_outputs(roots: list[UOp]) -> list[UOp]:
    """An output is memory: a run-time scalar, whatever its shape, is written there first."""
    return [_stored_if_scalar(root) for root in roots]


def _store_scalars(roots: list[UOp]) -> list[UOp]:
    """The same of what host calls read."""
    made: dict[UOp, UOp] = {}
    for node in walk(roots):
        sources = tuple([made[s] for s in node.src])
        if node.op is Ops.EXTERN:
            sources = tuple([_stored_if_scalar(s) for s in sources])
        made[node] = node.over(sources)
    return [made[root] for root in roots]


def _stored_if_scalar(node: UOp) -> UOp:
    core = peel_movement(node)
    return node.materialize() if core.op is Ops.PARAM and core.arg[2] == "scalar" else node


# from the graph that is asked for to the one that is cut into kernels; each with the ops without which it changes
# nothing, None where it has to look for itself
_PASSES: tuple[tuple[str, Callable[[list[UOp]], list[UOp]], frozenset[Ops] | None], ...] = (
    ("simplification", simplify, None),
    ("invariant reductions", narrow_reductions, frozenset({Ops.REDUCE, Ops.SCAN})),
    ("products", lower_contractions, frozenset({Ops.REDUCE})),
    ("calls", fit_calls, frozenset({Ops.CALL})),
    ("outputs in memory", _store_outputs, None),
    ("scalars in memory", _store_scalars, frozenset({Ops.EXTERN})),
)


class _Builder:
    """Numbers slots and writes the steps of one plan."""

    def __init__(self, canonical: Canonical, roots: list[UOp], groups: list[Group]) -> None:
        self.roots = roots
        self.groups = groups
        self.n_inputs = len(canonical.leaves)
        self.scalar_dtypes = tuple(canonical.scalar_dtypes)
        self.slots = [Slot(leaf.shape, leaf.dtype) for leaf in canonical.leaves]
        self.slot_of: dict[UOp, int] = {}
        self.kernels: dict[Kernel, Kernel] = {}  # equal ones are one, with what is found out about it

    def plan(self) -> Plan:
        ends = [peel_reshape(root) for root in self.roots]
        wanted = self._wanted(ends)
        steps: list[PlanStep] = []
        for group in self.groups:
            kept = [root for root in group.roots if root in wanted]
            for root in kept:
                self.slot_of[root] = len(self.slots)
                self.slots.append(Slot(root.shape, root.dtype))
            if kept:
                steps.append(self._step(group, kept))
        outputs = tuple([(self._slot(end), root.shape) for end, root in zip(ends, self.roots, strict=True)])
        work = sum(_work(group) for group in self.groups) + sum(
            step.plan.work for step in steps if isinstance(step, RegionCall)
        )
        return Plan(tuple(self.slots), self.n_inputs, self.scalar_dtypes, tuple(steps), outputs, work)

    def _wanted(self, ends: list[UOp]) -> set[UOp]:
        """Stored nodes that somebody reads outside their own group."""
        wanted = set(ends)
        for group in self.groups:
            wanted.update(group.reads.difference(group.roots))
            for root in group.roots:
                if root.op in CALLS:
                    wanted.update(peel_movement(s) for s in root.src)
        return wanted

    def _slot(self, node: UOp) -> int:
        return node.arg[0] if node.op is Ops.PARAM else self.slot_of[node]

    def _step(self, group: Group, kept: list[UOp]) -> PlanStep:
        if kept[0].op is Ops.EXTERN:
            return self._host_call(kept)
        return self._region_call(kept) if kept[0].op is Ops.CALL else self._kernel_call(group, kept)

    def _host_call(self, roots: list[UOp]) -> ExternCall:
        inputs: list[HostInput] = []
        for source in roots[0].src:
            core = peel_movement(source)
            inputs.append(HostInput(self._slot(core), view_over(UOp.param(0, core.shape, core.dtype), core, source)))
        name, params, _ = roots[0].arg
        return ExternCall(name, params, tuple(inputs), tuple([(root.arg[2], self.slot_of[root]) for root in roots]))

    def _region_call(self, roots: list[UOp]) -> RegionCall:
        region: Region = roots[0].arg[0]
        canonical = _canonical_of(region)
        numbers = [self._slot(source) for source in roots[0].src]
        given: tuple[int, ...] = canonical.bindings.buffers
        inputs = tuple([numbers[i] for i in given])
        scalars = tuple([self._scalar(x, numbers) for x in canonical.bindings.scalars])
        outputs = tuple([(root.arg[1], self.slot_of[root]) for root in roots])
        return RegionCall(plan_for(canonical), inputs, scalars, outputs)

    def _scalar(self, x: Scalar | UOp, numbers: Sequence[int]) -> Scalar | ScalarInput:
        """A number, or a scalar parameter of a region, of whose parameters `numbers` tells the slots or scalars."""
        if not isinstance(x, UOp):
            return x
        index: int = x.arg[0]
        return ScalarInput(numbers[index] - self.n_inputs)

    def _kernel_call(self, group: Group, kept: list[UOp]) -> KernelCall:
        """The group's graph over PARAMs of its own, numbered in the order in which they are met."""
        given = group.reads.difference(group.roots)
        made: dict[UOp, UOp] = {}
        inputs: list[int] = []
        for node in walk(kept, given):
            if node.op is Ops.PARAM or node in given:
                kind = node.arg[2] if node.op is Ops.PARAM else "buffer"
                made[node] = UOp.param(len(inputs), node.shape, node.dtype, kind)
                inputs.append(self._slot(node) - (self.n_inputs if kind == "scalar" else 0))
            else:
                sources = tuple([made[s] for s in node.src])
                made[node] = sources[0] if node.op is Ops.MATERIALIZE else node.over(sources)
        kernel = Kernel(tuple([made[root] for root in kept]), len(inputs))
        kernel = self.kernels.setdefault(kernel, kernel)
        return KernelCall(kernel, tuple(inputs), tuple([self.slot_of[root] for root in kept]))


def _canonical_of(region: Region) -> Canonical:
    """The canonical form of the graph of a region, whose inputs are numbered as its parameters are."""
    return region.kept("canonical", lambda: _canonicalised(region))


def _canonicalised(region: Region) -> Canonical:
    while True:
        canonical = canonicalise(instance(region)[1], keep_held=False)
        if all(type(i) is int for i in canonical.bindings.buffers):  # no thread has computed a constant meanwhile
            return canonical


def _work(group: Group) -> int:
    """What it takes by itself; regions tell what they do."""
    if group.roots[0].op in CALLS:
        return sum(prod(s.shape) for s in group.roots[0].src if group.roots[0].op is Ops.EXTERN)
    return prod(group.full) * max(1, int(group.size))
