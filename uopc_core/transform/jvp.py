"""Forward mode: graph -> graph of the directional derivative, from the same tables as reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence

from uopc_core.errors import ShapeError
from uopc_core.ir.calls import key_of_call
from uopc_core.ir.composite import const_of, zeros_like
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.transform.flow import Flow, flow_of, join, times
from uopc_core.transform.gradient import dependents, passes, placeholder
from uopc_core.transform.lengths import POWERS, power_of_length
from uopc_core.transform.linearizations import linearization_of
from uopc_core.transform.masks import anywhere, linear_forward
from uopc_core.transform.partials import PARTIALS, factors_of
from uopc_core.transform.regions import OF_REGION, push_call
from uopc_core.transform.transposes import is_linear

__all__ = ["jvp"]


def jvp(roots: Sequence[UOp], targets: Sequence[UOp], tangents: Sequence[UOp]) -> list[UOp]:
    """The Jacobian-vector product: tangents of `roots` for those of `targets`.

    Returns:
        one node per root, of its shape and dtype; zeros where it does not vary with a target. A target that depends
        on another one moves with it, on top of its own tangent.
    Raises:
        ShapeError: a tangent differs in shape or dtype from its target.
        NotImplementedError, GradientError: see `gradient`.
    """
    known: dict[UOp, Flow] = {}
    for target, tangent in zip(targets, tangents, strict=True):
        if tangent.shape != target.shape or tangent.dtype is not target.dtype:
            raise ShapeError(f"jvp: expected a tangent like {target}, got {tangent}")
        if const_of(tangent) != 0:
            known[target] = flow_of(tangent)
    _push(walk(roots), known)
    return [known[root].value if root in known else zeros_like(root) for root in roots]


def _push(order: Sequence[UOp], known: dict[UOp, Flow]) -> None:
    """Put the tangents of what varies with the nodes in `known` beside theirs."""
    targets = frozenset(known)
    dependent = dependents(order, [*known])
    calls: dict[Hashable, list[Flow | None]] = {}
    for node in order:
        if node.op in OF_REGION and passes(node, dependent):
            key = key_of_call(node, node.src)
            if key not in calls:
                calls[key] = push_call(node, [known.get(s) for s in node.src], _push)
            number: int = node.arg[-1]
            pushed = calls[key][number]
            if pushed is not None:
                known[node] = join(known[node], pushed) if node in known else pushed
        elif passes(node, dependent):
            power = power_of_length(node, targets) if node.op in POWERS else None
            if power is None:
                passed = _tangent_of(node, [known.get(s) for s in node.src])
            else:
                passed = _through(power.rule, node, power.sources, [known.get(s) for s in power.sources])
            known[node] = join(known[node], passed) if node in known else passed


def _tangent_of(node: UOp, flows: Sequence[Flow | None]) -> Flow:
    if node.op in PARTIALS:
        return _sum_of_products(node, flows)
    if is_linear(node):
        return linear_forward(node, flows)
    rule = linearization_of(node)
    if rule is None:
        raise NotImplementedError(
            f"jvp: no derivative rule for {node.op.name}; differentiation works on pure shape graphs only"
        )
    if node.op is Ops.EXTERN and EXTERNS[node.arg[0]].linear.issuperset(_varying(flows)):
        tangent = rule(node, tuple([None if flow is None else flow.value for flow in flows]))
        living = [flow for flow in flows if flow is not None]
        return Flow(tangent, anywhere(living, node.shape, EXTERNS[node.arg[0]].core), clean=False)
    return _through(functools.partial(rule, node), node, node.src, flows)


def _varying(flows: Sequence[Flow | None]) -> list[int]:
    return [k for k, flow in enumerate(flows) if flow is not None]


def _through(
    rule: Callable[[tuple[UOp | None, ...]], UOp], node: UOp, sources: Sequence[UOp], flows: Sequence[Flow | None]
) -> Flow:
    """The tangents of `sources` through a rule for `node` that is linear in them: what it selects narrows the mask."""
    places = [None if flow is None else placeholder(s) for s, flow in zip(sources, flows, strict=True)]
    tangent = rule(tuple(places))
    inside = {place: flow for place, flow in zip(places, flows, strict=True) if place is not None and flow is not None}
    _push(walk([tangent], set(sources)), inside)
    return inside.get(tangent) or Flow(zeros_like(node))


def _sum_of_products(node: UOp, flows: Sequence[Flow | None]) -> Flow:
    total: Flow | None = None
    for flow, factor in zip(flows, factors_of(node), strict=True):
        if flow is not None and factor is not None:
            term = times(flow, factor)
            total = term if total is None else join(total, term)
    return Flow(zeros_like(node)) if total is None else total
