"""Reverse mode: graph -> graph of the gradient.

Consumers are walked before producers; every node that depends on a target sends what its cotangent is for each of its
sources. No number is computed, and what comes out is an ordinary graph that can be planned, compiled and
differentiated again. Targets are told apart by identity, so derivatives of derivatives cannot confuse their variables.
Method: Griewank & Walther (2008), "Evaluating Derivatives", chapter 3; strong zeros as in Moses & Churavy (2020).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from uopc_core.dtype import is_inexact
from uopc_core.errors import ShapeError
from uopc_core.ir.composite import ones_like, zeros_like
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, toposort
from uopc_core.transform.linearizations import extern_tangents, linearization_of
from uopc_core.transform.partials import ONE, PARTIALS, SINGULAR, factors_of
from uopc_core.transform.transposes import MASKING, TRANSPOSES, is_linear
from uopc_core.transform.zero_derivative import ZERO_DERIVATIVE

__all__ = ["dependents", "gradient", "passes", "product", "pull_back"]

_placeholder_numbers = itertools.count()


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
    return _pull(toposort(roots), zip(roots, cotangents, strict=True), targets, masked=False)


def _pull(order: Sequence[UOp], seeds: Iterable[tuple[UOp, UOp]], targets: Sequence[UOp], masked: bool) -> list[UOp]:
    walk = _Walk(order, targets)
    for root, ct in seeds:
        walk.add(root, ct, masked)
    for node in reversed(order):
        if passes(node, walk.dependent):
            walk.visit(node)
    found = [walk.cotangents.get(target) for target in targets]
    return [zeros_like(t) if ct is None else ct for t, ct in zip(targets, found, strict=True)]


def dependents(order: Sequence[UOp], targets: Sequence[UOp]) -> set[UOp]:
    """The nodes of `order` that vary with a target. Integers and bool do not, and nothing passes a detached stage."""
    found: set[UOp] = set(targets)
    for node in order:
        if passes(node, found):
            found.add(node)
    return found


def passes(node: UOp, dependent: set[UOp]) -> bool:
    """Whether `node` varies with a source that is `dependent`."""
    if node.op in ZERO_DERIVATIVE or not is_inexact(node.dtype) or (node.op is Ops.STAGE and node.arg == "detach"):
        return False
    return not dependent.isdisjoint(node.src)


class _Walk:
    """Cotangents so far, and which of them are masked: zero by selection, so that they must stay zero whatever the
    factor.
    """

    def __init__(self, order: Sequence[UOp], targets: Sequence[UOp]) -> None:
        self.targets = frozenset(targets)
        self.dependent = dependents(order, targets)
        self.cotangents: dict[UOp, UOp] = {}
        self.masked: set[UOp] = set()
        # the outputs of one host call are transposed together, when the first of them in the order is reached
        self.calls: dict[tuple[object, ...], list[UOp]] = {}
        for node in order:
            if node.op is Ops.EXTERN and node in self.dependent:
                self.calls.setdefault((node.arg[0], node.arg[1], node.src), []).append(node)

    def add(self, node: UOp, ct: UOp | None, masked: bool) -> None:
        if ct is None or node not in self.dependent:
            return
        if node.op is Ops.EXPAND and node not in self.targets and _is_outer_product(ct):
            # Each is summed on its own, as the product of matrices that it may be; their sum would be none.
            self.add(node.src[0], TRANSPOSES[Ops.EXPAND](node, ct)[0], masked)
            return
        known = self.cotangents.get(node)
        self.cotangents[node] = ct if known is None else known + ct
        if masked:
            self.masked.add(node)

    def visit(self, node: UOp) -> None:
        """Send the cotangent of `node` to its sources."""
        if node.op is Ops.EXTERN:
            self.visit_call(node)
            return
        ct = self.cotangents.get(node)
        if ct is None:
            return
        masked = node in self.masked
        if node.op is Ops.STRONG_MUL:
            self.send_strong_product(node, ct)
        elif node.op in PARTIALS:
            self.send_factors(node, ct, masked)
        elif is_linear(node):
            below = masked or node.op in MASKING
            for s, passed in zip(node.src, TRANSPOSES[node.op](node, ct), strict=True):
                self.add(s, passed, below)
        else:
            self.send_linearized(node, ct, masked)

    def send_factors(self, node: UOp, ct: UOp, masked: bool) -> None:
        strong = masked or node.op in SINGULAR
        for s, factor in zip(node.src, factors_of(node), strict=True):
            if factor is not None and s in self.dependent:
                self.add(s, product(ct, factor, strong), masked)

    def send_strong_product(self, node: UOp, ct: UOp) -> None:
        """As the two factors of MUL say, but the zeros of `x` stay strong: where `x` is 0, `y` has no say, be the
        cotangent infinite.
        """
        x, y = node.src
        self.add(x, product(ct, y, strong=True), masked=True)
        # the transpose of a broadcast sums, and the product may be one of matrices, which knows no strong zeros
        by_y = x.binary(Ops.STRONG_MUL, ct) if y.op is Ops.EXPAND else _doubly_strong(x, ct)
        self.add(y, by_y, masked=True)

    def send_linearized(self, node: UOp, ct: UOp, masked: bool) -> None:
        rule = linearization_of(node)
        if rule is None:
            raise NotImplementedError(
                f"gradient: no derivative rule for {node.op.name}; differentiation works on pure shape graphs only"
            )
        places = [_placeholder(s) if s in self.dependent else None for s in node.src]
        self.send_back(node, places, [(rule(node, tuple(places)), ct)], masked)

    def visit_call(self, node: UOp) -> None:
        members = self.calls[(node.arg[0], node.arg[1], node.src)]
        if node is not members[0]:
            return
        cts: dict[int, UOp] = {m.arg[2]: self.cotangents[m] for m in members if m in self.cotangents}
        if not cts:
            return
        extern = EXTERNS[node.arg[0]]
        varying = [k for k, s in enumerate(node.src) if s in self.dependent]
        if extern.transpose is not None and extern.linear.issuperset(varying):
            types = extern.infer(node.arg[1], [(s.shape, s.dtype) for s in node.src])
            row = tuple([cts.get(k) for k in range(len(types))])
            for k in varying:
                self.add(node.src[k], extern.transpose(node.arg[1], node.src, row, k), masked=True)
        else:
            places = [_placeholder(s) if s in self.dependent else None for s in node.src]
            tangents = extern_tangents(node, tuple(places))
            seeds = [(tangent, cts[k]) for k, tangent in enumerate(tangents) if tangent is not None and k in cts]
            self.send_back(node, places, seeds, not self.masked.isdisjoint(members))

    def send_back(
        self, node: UOp, places: Sequence[UOp | None], seeds: Sequence[tuple[UOp, UOp]], masked: bool
    ) -> None:
        """Transpose the tangents of `seeds`, which are linear in the placeholders `places`, with their cotangents, and
        send what comes out to the sources.
        """
        asked = [place for place in places if place is not None]
        order = _order_above([tangent for tangent, _ in seeds], {node, *node.src})
        passed = iter(_pull(order, seeds, asked, masked))
        for s, place in zip(node.src, places, strict=True):
            if place is not None:
                self.add(s, next(passed), masked=True)


def _order_above(roots: Iterable[UOp], known: set[UOp]) -> list[UOp]:
    """As `toposort`, without what lies below a `known` node: a rule costs what it adds, not all that came before."""
    order: list[UOp] = []
    seen = set(known)
    stack = [(root, False) for root in roots]
    while stack:
        node, sources_done = stack.pop()
        if sources_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend([(s, False) for s in node.src])
    return order


def _placeholder(x: UOp) -> UOp:
    """A tangent to be transposed away again."""
    return x.stage(("variable", ("tangent", next(_placeholder_numbers))))


def _is_outer_product(ct: UOp) -> bool:
    return ct.op in (Ops.MUL, Ops.STRONG_MUL) and all(s.op is Ops.EXPAND for s in ct.src)


def _doubly_strong(x: UOp, y: UOp) -> UOp:
    """``x * y``, and 0 where either is 0. A selection between two strong products, so that it has right derivatives."""
    return y.eq(0).where(y.binary(Ops.STRONG_MUL, x), x.binary(Ops.STRONG_MUL, y))


def product(ct: UOp, factor: UOp | float, strong: bool) -> UOp:
    """``ct * factor``; a strong one is 0 wherever `ct` is."""
    if not isinstance(factor, UOp):
        return ct if factor == ONE else ct * factor
    return UOp.new(Ops.STRONG_MUL if strong else Ops.MUL, (ct, factor))
