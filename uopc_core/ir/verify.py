"""The verifier: what every graph must satisfy, checked again from scratch."""

from __future__ import annotations

from collections.abc import Iterable

from uopc_core.dtype import name_of
from uopc_core.errors import DTypeError, ShapeError, VerifyError
from uopc_core.ir.arguments import FIELDS, field_values
from uopc_core.ir.calls import close, instance
from uopc_core.ir.infer import INFER
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import HIDDEN, TRACED, TRACKED, UOp, walk

__all__ = ["verify"]


def verify(roots: Iterable[UOp]) -> None:
    """Check the type, the identity, the order, the flags and the depth of every node below `roots`, and of those in the
    regions that are called.

    Raises:
        VerifyError: the first node that breaks an invariant, with what was expected.
    """
    regions: dict[Region, None] = {}
    _verify_graph(roots, regions)
    waiting = [*regions]
    while waiting:
        region = waiting.pop()
        params, outputs = instance(region)
        called: dict[Region, None] = {}
        _verify_graph(outputs, called)
        closed = close(outputs, params, scalars=True)
        if closed.region is not region or closed.arguments != tuple(range(len(params))):
            raise VerifyError(f"verify: expected a region of parameters alone, interned, got {closed} of {region}")
        waiting += [r for r in called if r not in regions]
        regions |= called


def _verify_graph(roots: Iterable[UOp], called: dict[Region, None]) -> None:
    """Check the nodes below `roots`; the regions among their arguments go to `called`."""
    done: set[UOp] = set()
    for node in walk(roots):
        for s in node.src:
            if s not in done:
                raise _fault(node, "no cycles", f"a cycle through {s}")
        done.add(node)
        if node.op is not Ops.BUFFER or node.arg is node.realized:  # else it was another op before it was computed
            _verify_argument(node)
            _verify_type(node)
            _verify_identity(node)
        _verify_flags(node)
        _verify_depth(node)
        _verify_memory(node)
        if node.op is Ops.CALL:
            called[node.arg[0]] = None


def _fault(node: UOp, expected: str, got: object) -> VerifyError:
    sources = "".join(f"\n    source {s}" for s in node.src)
    return VerifyError(f"verify: expected {expected}, got {got}\n    in {node}{sources}")


def _verify_argument(node: UOp) -> None:
    for field, value in zip(FIELDS.get(node.op, ()), field_values(node.op, node.arg), strict=False):
        if not field.accepts(value):
            raise _fault(node, f"for {field.name} {field.wanted}", repr(value))


def _verify_type(node: UOp) -> None:
    try:
        shape, dtype = INFER[node.op](node.op, node.src, node.arg, node.explicit_dtype)
    except (ShapeError, DTypeError) as error:
        raise _fault(node, "a node that its type rule accepts", error) from None
    if (shape, dtype) != (node.shape, node.dtype):
        raise _fault(
            node, f"{name_of(dtype)}{list(shape)} by the type rule", f"{name_of(node.dtype)}{list(node.shape)}"
        )


def _verify_identity(node: UOp) -> None:
    same = UOp.new(node.op, node.src, node.arg, node.explicit_dtype)
    if same is not node and node.apart(node.op, node.src) is not node:
        raise _fault(node, "one node per op, sources and argument", "a second one")


def _verify_flags(node: UOp) -> None:
    from_sources = 0
    for s in node.src:
        from_sources |= s.flags
    if node.op is not Ops.PARAM and (node.flags ^ from_sources) & TRACED:
        raise _fault(node, "TRACED exactly where a source is", f"flags {node.flags}")
    if node.flags & TRACKED and node.dtype.kind not in "fc":
        raise _fault(node, "TRACKED on floating nodes only", f"flags {node.flags}")
    loses = node.op is Ops.DETACH
    if from_sources & TRACKED and node.dtype.kind in "fc" and not node.flags & TRACKED and not loses:
        raise _fault(node, "TRACKED, as a source is", f"flags {node.flags}")
    if from_sources & (TRACKED | HIDDEN) and not node.flags & (TRACKED | HIDDEN):
        raise _fault(node, "TRACKED or HIDDEN where a source is", f"flags {node.flags}")


def _verify_depth(node: UOp) -> None:
    if node.src and node.realized is None:
        # more than the sources say where one of them has come to be in memory since
        least = max([s.depth for s in node.src]) + 1
        if node.depth < least:
            raise _fault(node, f"a depth of {least} or more", node.depth)
    elif node.depth:
        raise _fault(node, "a depth of 0", node.depth)


def _verify_memory(node: UOp) -> None:
    memory = node.realized
    if memory is not None and (memory.shape != node.shape or memory.dtype is not node.dtype):
        raise _fault(node, "memory of the node's own type", f"{name_of(memory.dtype)}{list(memory.shape)}")
