"""Forward mode: graph -> graph of the directional derivative, from the same tables as reverse mode."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_core.errors import ShapeError
from uopc_core.ir.composite import zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, toposort
from uopc_core.transform.gradient import dependents, passes, product
from uopc_core.transform.linearizations import linearization_of
from uopc_core.transform.partials import PARTIALS, SINGULAR, factors_of
from uopc_core.transform.transposes import is_linear

__all__ = ["jvp"]

# sources that a linear op is not linear in: conditions and indices, as ranges
_FIXED_SOURCES: dict[Ops, range] = {
    Ops.WHERE: range(0, 1),
    Ops.INDEX: range(1, 1 << 30),
    Ops.SCATTER: range(2, 1 << 30),
}


def jvp(roots: Sequence[UOp], targets: Sequence[UOp], tangents: Sequence[UOp]) -> list[UOp]:
    """The Jacobian-vector product: tangents of `roots` for those of `targets`.

    Returns:
        one node per root, of its shape and dtype; zeros where it does not vary with a target. A target that depends
        on another one moves with it, on top of its own tangent.
    Raises:
        ShapeError: a tangent differs in shape or dtype from its target.
        NotImplementedError, GradientError: see `gradient`.
    """
    order = toposort(roots)
    dependent = dependents(order, targets)
    known: dict[UOp, UOp] = {}
    for target, tangent in zip(targets, tangents, strict=True):
        if tangent.shape != target.shape or tangent.dtype is not target.dtype:
            raise ShapeError(f"jvp: expected a tangent like {target}, got {tangent}")
        known[target] = tangent
    for node in order:
        if passes(node, dependent):
            passed = _tangent_of(node, [known.get(s) for s in node.src])
            known[node] = known[node] + passed if node in known else passed
    return [known[root] if root in known else zeros_like(root) for root in roots]


def _tangent_of(node: UOp, tangents: list[UOp | None]) -> UOp:
    if node.op in PARTIALS:
        return _sum_of_products(node, tangents)
    if is_linear(node):
        return _apply_linear(node, tangents)
    rule = linearization_of(node)
    if rule is None:
        raise NotImplementedError(
            f"jvp: no derivative rule for {node.op.name}; differentiation works on pure shape graphs only"
        )
    return rule(node, tuple(tangents))


def _sum_of_products(node: UOp, tangents: list[UOp | None]) -> UOp:
    total: UOp | None = None
    strong = node.op in SINGULAR
    for k, (tangent, factor) in enumerate(zip(tangents, factors_of(node), strict=True)):
        if tangent is not None and factor is not None:
            # in x * dy of a strong product x * y it is x whose zero is strong, as it was in the product
            swap = node.op is Ops.STRONG_MUL and k == 1
            term = node.src[0].binary(Ops.STRONG_MUL, tangent) if swap else product(tangent, factor, strong)
            total = term if total is None else total + term
    return zeros_like(node) if total is None else total


def _apply_linear(node: UOp, tangents: list[UOp | None]) -> UOp:
    """The op itself on the tangents; what is not differentiated (conditions, indices) stays."""
    if (node.op is Ops.ADD and None in tangents) or (node.op is Ops.STAGE and node.arg != "materialize"):
        return next(t for t in tangents if t is not None)
    fixed = _FIXED_SOURCES.get(node.op, range(0))
    sources = [
        s if k in fixed else zeros_like(s) if tangent is None else tangent
        for k, (s, tangent) in enumerate(zip(node.src, tangents, strict=True))
    ]
    return UOp.new(node.op, tuple(sources), node.arg, node.dtype if node.op is Ops.CAST else None)
