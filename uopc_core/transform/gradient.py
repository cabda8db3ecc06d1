"""Reverse mode: graph -> graph of the gradient.

Consumers are walked before producers; every node that depends on a target sends what its cotangent is for each of its
sources. No number is computed, and what comes out is an ordinary graph that can be planned, compiled and
differentiated again. Targets are told apart by identity, so derivatives of derivatives cannot confuse their variables.
Method: Griewank & Walther (2008), "Evaluating Derivatives", chapter 3; what a selection did not take counts nothing
(see `flow`), as the strong zeros of Moses & Churavy (2020).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from uopc_core.dtype import is_inexact
from uopc_core.errors import ShapeError
from uopc_core.ir.calls import key_of_call
from uopc_core.ir.composite import const_of, ones_like, zeros_like
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.op import CALLS, Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.transform.flow import Flow, flow_of, join, times
from uopc_core.transform.lengths import POWERS, power_of_length
from uopc_core.transform.linearizations import extern_tangents, linearization_of
from uopc_core.transform.masks import anywhere, linear_backward
from uopc_core.transform.partials import PARTIALS, factors_of
from uopc_core.transform.regions import OF_REGION, pull_call
from uopc_core.transform.transposes import is_linear, sum_of_part
from uopc_core.transform.zero_derivative import ZERO_DERIVATIVE

__all__ = ["dependents", "gradient", "passes", "placeholder", "pull_back"]


def gradient(root: UOp, targets: Sequence[UOp], seed: UOp | None = None) -> list[UOp]:
    """The graphs of d(root)/d(target), for a root that is summed where it has axes.

    Args:
        root: real or complex floating, any shape.
        targets: nodes anywhere in the graph; interior ones are passed through to others.
        seed: cotangent of the root, of its shape and dtype; None is ones.
    Returns:
        one node per target, of its shape and dtype; zeros where the root does not depend on it.
    Raises:
        NotImplementedError: an op without a rule; differentiation works on pure shape graphs.
        GradientError: a function without a derivative.
    """
    return pull_back([root], [ones_like(root) if seed is None else seed], targets)


def pull_back(roots: Sequence[UOp], cotangents: Sequence[UOp], targets: Sequence[UOp]) -> list[UOp]:
    """The vector-Jacobian product: cotangents of `targets` for those of `roots`.

    Raises:
        ShapeError: a cotangent differs in shape or dtype from its root.
        NotImplementedError, GradientError: see `gradient`.
    """
    for root, ct in zip(roots, cotangents, strict=True):
        if ct.shape != root.shape or ct.dtype is not root.dtype:
            raise ShapeError(f"gradient: expected a cotangent like {root}, got {ct}")
    seeds = [(root, flow_of(ct)) for root, ct in zip(roots, cotangents, strict=True)]
    found = _pull(walk(roots), seeds, targets)
    return [zeros_like(t) if flow is None else flow.value for t, flow in zip(targets, found, strict=True)]


def _pull(order: Sequence[UOp], seeds: Iterable[tuple[UOp, Flow]], targets: Sequence[UOp]) -> list[Flow | None]:
    found = _Cotangents(order, targets)
    for root, flow in seeds:
        if const_of(flow.raw) != 0:
            found.add(root, flow)
    for node in reversed(order):
        if passes(node, found.dependent):
            found.visit(node)
    return [found.flows.get(target) for target in targets]


def dependents(order: Sequence[UOp], targets: Sequence[UOp]) -> set[UOp]:
    """The nodes of `order` that vary with a target. Integers and bool do not, and nothing passes what is detached."""
    found: set[UOp] = set(targets)
    for node in order:
        if passes(node, found):
            found.add(node)
    return found


def passes(node: UOp, dependent: set[UOp]) -> bool:
    """Whether `node` varies with a source that is `dependent`."""
    if node.op in ZERO_DERIVATIVE or not is_inexact(node.dtype):
        return False
    return not dependent.isdisjoint(node.src)


class _Cotangents:
    """What has arrived at each node so far."""

    def __init__(self, order: Sequence[UOp], targets: Sequence[UOp]) -> None:
        self.targets = frozenset(targets)
        self.dependent = dependents(order, targets)
        self.flows: dict[UOp, Flow] = {}
        # the outputs of one call are transposed together, when the first of them in the order is reached
        self.calls: dict[Hashable, list[UOp]] = {}
        for node in order:
            if node.op in CALLS and node in self.dependent:
                self.calls.setdefault(key_of_call(node, node.src), []).append(node)

    def add(self, node: UOp, flow: Flow | None) -> None:
        if flow is None or node not in self.dependent:
            return
        if node.op is Ops.EXPAND and node not in self.targets and _is_outer_product(flow.raw):
            # Each is summed on its own, as the product of matrices that it may be; their sum would be none.
            self.add(node.src[0], linear_backward(node, flow)[0])
            return
        known = self.flows.get(node)
        self.flows[node] = flow if known is None else join(known, flow)

    def visit(self, node: UOp) -> None:
        """Send the cotangent of `node` to its sources."""
        if node.op in CALLS:
            self.visit_call(node)
            return
        flow = self.flows.get(node)
        if flow is None:
            return
        power = power_of_length(node, self.targets) if node.op in POWERS else None
        if power is not None:
            places = [placeholder(s) if s in self.dependent else None for s in power.sources]
            self.send_back(power.sources, places, [(power.rule(tuple(places)), flow)])
        elif node.op in PARTIALS:
            for s, factor in zip(node.src, factors_of(node), strict=True):
                if factor is None or s not in self.dependent:
                    continue
                if node.op is Ops.DIV and s is not node.src[0] and self.is_broadcast(s):
                    self.add(s.src[0], _to_divisor(node, flow))
                else:
                    self.add(s, times(flow, factor))
        elif is_linear(node):
            alone = node.op is Ops.CONCAT and sum(s in self.dependent for s in node.src) == 1
            for s, passed in zip(node.src, linear_backward(node, flow), strict=True):
                if alone and passed is not None and s in self.dependent:
                    passed.raw = sum_of_part(passed.raw)
                self.add(s, passed)
        else:
            self.send_linearized(node, flow)

    def is_broadcast(self, node: UOp) -> bool:
        """Whether what arrives at `node` may go to its source at once."""
        return node.op is Ops.EXPAND and node.size > 0 and node not in self.targets

    def send_linearized(self, node: UOp, flow: Flow) -> None:
        rule = linearization_of(node)
        if rule is None:
            raise NotImplementedError(
                f"gradient: no derivative rule for {node.op.name}; differentiation works on pure shape graphs only"
            )
        places = [placeholder(s) if s in self.dependent else None for s in node.src]
        self.send_back(node.src, places, [(rule(node, tuple(places)), flow)])

    def visit_call(self, node: UOp) -> None:
        members = self.calls[key_of_call(node, node.src)]
        if node is not members[0]:
            return
        flows: dict[int, Flow] = {m.arg[-1]: self.flows[m] for m in members if m in self.flows}
        if not flows:
            return
        if node.op in OF_REGION:
            varying = tuple([s in self.dependent for s in node.src])
            outputs = [flows.get(k) for k in range(len(node.arg[0].outputs))]
            for s, passed in zip(node.src, pull_call(node, outputs, varying, _pull), strict=True):
                self.add(s, passed)
        else:
            self.visit_host_call(node, flows)

    def visit_host_call(self, node: UOp, flows: dict[int, Flow]) -> None:
        extern = EXTERNS[node.arg[0]]
        varying = [k for k, s in enumerate(node.src) if s in self.dependent]
        if extern.transpose is not None and extern.linear.issuperset(varying):
            types = extern.infer(node.arg[1], [(s.shape, s.dtype) for s in node.src])
            row = tuple([flows[k].value if k in flows else None for k in range(len(types))])
            for k in varying:
                ct = extern.transpose(node.arg[1], node.src, row, k)
                self.add(node.src[k], Flow(ct, anywhere([*flows.values()], ct.shape, extern.core), clean=False))
        else:
            places = [placeholder(s) if s in self.dependent else None for s in node.src]
            tangents = extern_tangents(node, tuple(places))
            seeds = [(tangent, flows[k]) for k, tangent in enumerate(tangents) if tangent is not None and k in flows]
            self.send_back(node.src, places, seeds)

    def send_back(
        self, sources: Sequence[UOp], places: Sequence[UOp | None], seeds: Sequence[tuple[UOp, Flow]]
    ) -> None:
        """Transpose the tangents of `seeds`, which are linear in the placeholders `places`, with their cotangents, and
        send what comes out to `sources`.
        """
        asked = [place for place in places if place is not None]
        # a rule costs what it adds, not what came before; the order is that in which cotangents are added up
        order = walk([tangent for tangent, _ in seeds], set(sources), last_first=True)
        passed = iter(_pull(order, seeds, asked))
        for s, place in zip(sources, places, strict=True):
            if place is not None:
                self.add(s, next(passed))


def placeholder(x: UOp) -> UOp:
    """A tangent to be transposed or replaced again."""
    return x.variable()


def _to_divisor(node: UOp, flow: Flow) -> Flow:
    """What the quotient `node` sends to the source of its broadcast divisor: summed before it is divided, once for all
    elements that have the divisor in common.
    """
    divisor = node.src[1]
    summed, *_ = linear_backward(divisor, times(flow, -node))
    assert summed is not None, divisor
    return Flow(summed.raw / divisor.src[0], summed.active, summed.active is None)


def _is_outer_product(ct: UOp) -> bool:
    return ct.op is Ops.MUL and all(s.op is Ops.EXPAND for s in ct.src)
