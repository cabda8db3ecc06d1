"""Derivatives of what calls a region: calls of the derivatives of the region.

Forward mode calls one with the tangents as further parameters; reverse mode one that has both the computation and its
transpose in it, and gives cotangents of the parameters. A region is closed, so what it computes again is not merged
with what has been computed before: that is what makes a checkpoint of a call. A flow enters with zeros where it is
dead and its mask as a parameter of its own, and leaves likewise (see `flow`); masks that nobody asks for are outputs
that nobody reads, and no plan has those. What is made of a region is kept with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uopc_core.dtype import dtypes
from uopc_core.ir.calls import Closed, close, instance
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import UOp, walk
from uopc_core.records import record
from uopc_core.transform.flow import Active, Flow, Mask

__all__ = ["OF_REGION", "pull_call", "push_call"]

# ops whose derivative is that of their region
OF_REGION = frozenset({Ops.CALL})

Push = Callable[[Sequence[UOp], dict[UOp, Flow]], None]
Pull = Callable[[Sequence[UOp], Sequence[tuple[UOp, Flow]], Sequence[UOp]], list[Flow | None]]
_Pattern = tuple[bool | None, ...]  # of flows: None where there is none, else whether it has a mask


@record
class _Result:
    """A flow that comes out.

    Attributes:
        value: its number among the results.
        mask: the number of its mask among them; None where it has none.
        given: the number of the flow that came in with the very mask.
    """

    value: int
    mask: int | None = None
    given: int | None = None


@record
class _Derivative:
    """The derivative of a region for one pattern of flows: of parameters and flows the flows that come out."""

    closed: Closed
    results: tuple[_Result | None, ...]

    def of(self, sources: Sequence[UOp], flows: Sequence[Flow | None]) -> list[Flow | None]:
        n, m = len(sources), len(flows)

        def given(number: int) -> UOp:
            if number < n:
                return sources[number]
            flow = flows[(number - n) % m]
            assert flow is not None, (number, self)
            return flow.value if number < n + m else _node(flow.active)

        nodes = self.closed.over(given)
        masks: dict[int, Active] = {}
        out: list[Flow | None] = []
        for result in self.results:
            if result is None:
                out.append(None)
                continue
            active: Active = None
            if result.given is not None:
                came = flows[result.given]
                active = None if came is None else came.active
            elif result.mask is not None:
                active = masks.setdefault(result.mask, _mask_of(nodes[result.mask]))
            out.append(Flow(nodes[result.value], active))
        return out


def _node(active: Active) -> UOp:
    assert active is not None, "a flow with a mask"
    return active.node


def _mask_of(node: UOp) -> Mask:
    return Mask(lambda _: node)


def _pattern(flows: Sequence[Flow | None]) -> _Pattern:
    return tuple([None if flow is None else flow.active is not None for flow in flows])


class _Parameters:
    """Parameters of a derivative: those of the region, and for each flow one for its numbers and one for its mask."""

    def __init__(self, params: Sequence[UOp], likes: Sequence[UOp], pattern: _Pattern) -> None:
        n, m = len(params), len(likes)
        numbers = [UOp.param(n + k, x.shape, x.dtype) for k, x in enumerate(likes)]
        places = [UOp.param(n + m + k, x.shape, dtypes.bool) for k, x in enumerate(likes)]
        self.inputs = [*params, *numbers, *places]
        self.flows = [
            None if masked is None else Flow(numbers[k], _mask_of(places[k]) if masked else None)
            for k, masked in enumerate(pattern)
        ]

    def derivative(self, found: Sequence[Flow | None]) -> _Derivative:
        """With the flows `found` as results."""
        given = {id(flow.active): k for k, flow in enumerate(self.flows) if flow is not None and flow.active}
        roots: list[UOp] = []
        places: dict[int, int] = {}
        results: list[_Result | None] = []
        for flow in found:
            if flow is None:
                results.append(None)
                continue
            roots.append(flow.value)
            value, active = len(roots) - 1, flow.active
            if active is not None and id(active) not in given and id(active) not in places:
                places[id(active)] = len(roots)
                roots.append(active.node)
            results.append(_Result(value, places.get(id(active)), given.get(id(active))))
        return _Derivative(close(roots, self.inputs), tuple(results))


def push_call(node: UOp, flows: Sequence[Flow | None], push: Push) -> list[Flow | None]:
    """Tangents of all outputs of the call that `node` is one of, None where an output does not vary.

    Args:
        flows: of the sources.
        push: puts tangents beside those of what varies, in a graph.
    """
    region: Region = node.arg[0]
    pattern = _pattern(flows)

    def make() -> _Derivative:
        params, outputs = instance(region)
        parameters = _Parameters(params, params, pattern)
        known = {p: flow for p, flow in zip(params, parameters.flows, strict=True) if flow is not None}
        push(walk(outputs), known)
        return parameters.derivative([known.get(output) for output in outputs])

    return region.kept(("jvp", pattern), make).of(node.src, flows)


def pull_call(node: UOp, flows: Sequence[Flow | None], varying: tuple[bool, ...], pull: Pull) -> list[Flow | None]:
    """Cotangents of the sources of the call that `node` is an output of, None where nothing arrives.

    Args:
        flows: of all outputs.
        varying: the sources to send something to.
        pull: gives the cotangents of targets in a graph for those of its roots.
    """
    region: Region = node.arg[0]
    pattern = _pattern(flows)

    def make() -> _Derivative:
        params, outputs = instance(region)
        parameters = _Parameters(params, outputs, pattern)
        pairs = zip(outputs, parameters.flows, strict=True)
        seeds = [(output, flow) for output, flow in pairs if flow is not None]
        targets = [p for p, is_asked in zip(params, varying, strict=True) if is_asked]
        found = iter(pull(walk(outputs), seeds, targets))
        return parameters.derivative([next(found) if is_asked else None for is_asked in varying])

    return region.kept(("vjp", pattern, varying), make).of(node.src, flows)
