"""How linear ops move the mask of a flow: backward with cotangents, forward with tangents.

Selections (WHERE SHRINK PAD CONCAT INDEX SCATTER) narrow it or put dead places beside it, sums are alive where one
summand is, and everything else moves it as it moves the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uopc_core.dtype import dtypes
from uopc_core.ir.composite import zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.transform.flow import Active, Boxes, Flow, Mask, both, either, everywhere, moved, of_two, padded
from uopc_core.transform.transposes import TRANSPOSES, Transpose, last_writes, written

__all__ = ["BACKWARD", "FORWARD", "anywhere", "linear_backward", "linear_forward"]

# ------------------------------------------------------------------------------------------------------------- backward

BackwardRule = Callable[[UOp, Active], Sequence[Active]]
# ops whose transpose sums: what is dead must be 0 before
_SUMMING_BACKWARD = frozenset({Ops.EXPAND, Ops.SCAN, Ops.INDEX})


def _transposed(node: UOp, active: Active) -> Sequence[Active]:
    """As the numbers move: the rule of the table, on bool."""
    if active is None:
        return (None,) * len(node.src)
    rule = TRANSPOSES[node.op]
    return [_part(node, active, rule, k) for k in range(len(node.src))]


def _part(node: UOp, active: Mask, rule: Transpose, number: int) -> Active:
    return moved(active, lambda alive: _given(rule(node, alive)[number]))


def _given(x: UOp | None) -> UOp:
    assert x is not None, "every source gets a part"
    return x


def _summed_over_grown_axes(node: UOp, active: Active) -> Sequence[Active]:
    old = node.src[0].shape
    grown = [axis for axis, (n, m) in enumerate(zip(old, node.shape, strict=True)) if n != m]
    return (moved(active, lambda alive: _any_along(alive, grown).reshape(old)),)


def _any_along(alive: UOp, axes: Sequence[int]) -> UOp:
    """Whether any along `axes` holds; these are gone. Axes along which nothing varies are not gone through."""
    rest = [axis for axis in range(alive.ndim) if axis not in axes]
    shape = [alive.shape[axis] for axis in rest]
    source = alive.src[0] if alive.op is Ops.EXPAND and 0 not in alive.shape else alive
    varying = [axis for axis in axes if source is alive or source.shape[axis] != 1]
    constant = [axis for axis in axes if axis not in varying]
    found = source.permute([*rest, *constant, *varying]).reduce(Ops.OR, len(varying))
    return found.reshape([source.shape[axis] for axis in rest]).expand(shape)


def _back_where(node: UOp, active: Active) -> Sequence[Active]:
    condition = node.src[0]
    return None, both(active, condition), both(active, condition, holds=False)


def _back_shrink(node: UOp, active: Active) -> Sequence[Active]:
    rule = TRANSPOSES[Ops.SHRINK]
    kept = Boxes(node.src[0].shape, (node.arg,))
    return (padded(active, node.shape, lambda alive: _given(rule(node, alive)[0]), kept),)


def _back_scan(node: UOp, active: Active) -> Sequence[Active]:
    last = (node.ndim - 1,)
    return (moved(active, lambda alive: _running(alive.flip(last)).flip(last)),)


def _running(alive: UOp) -> UOp:
    return alive.scan(Ops.MAX)


def _back_index(node: UOp, active: Active) -> Sequence[Active]:
    x, *indices = node.src
    dead = UOp.const(False, dtypes.bool, x.shape)
    picked = padded(active, node.shape, lambda alive: _scattered(dead, alive, indices))
    return picked, *[None] * len(indices)


def _scattered(base: UOp, alive: UOp, indices: Sequence[UOp]) -> UOp:
    """`base`, and where one of several values that arrive is alive."""
    return UOp.new(Ops.SCATTER, (base, alive, *indices), "max")


def _back_scatter(node: UOp, active: Active) -> Sequence[Active]:
    base, value, *indices = node.src
    none: list[Active] = [None] * len(indices)
    picked = moved(active, lambda alive: UOp.new(Ops.INDEX, (alive, *indices)))
    if node.arg == "add":
        return active, picked, *none
    return (
        both(active, written(base, indices, value), holds=False),
        both(picked, last_writes(base, indices, value)),
        *none,
    )


def _same(node: UOp, active: Active) -> Sequence[Active]:
    return (active,) * len(node.src)


BACKWARD: dict[Ops, BackwardRule] = {
    **dict.fromkeys((Ops.ADD, Ops.SUB, Ops.NEG, Ops.CAST, Ops.MATERIALIZE, Ops.VARIABLE), _same),
    **dict.fromkeys((Ops.REAL, Ops.IMAG, Ops.CONJ, Ops.COMPLEX), _same),
    **dict.fromkeys((Ops.RESHAPE, Ops.PERMUTE, Ops.PAD, Ops.FLIP, Ops.CONCAT, Ops.REDUCE), _transposed),
    Ops.EXPAND: _summed_over_grown_axes,
    Ops.WHERE: _back_where,
    Ops.SHRINK: _back_shrink,
    Ops.SCAN: _back_scan,
    Ops.INDEX: _back_index,
    Ops.SCATTER: _back_scatter,
}


def linear_backward(node: UOp, flow: Flow) -> list[Flow | None]:
    """What the cotangent of a linear node is for each source, None where nothing passes."""
    ct = flow.value if node.op in _SUMMING_BACKWARD else flow.raw
    # the transpose of a selection puts zeros beside what it picked, but for WHERE: that is left to the mask
    clean = (flow.clean or node.op in _SUMMING_BACKWARD) and node.op is not Ops.WHERE
    parts = TRANSPOSES[node.op](node, ct)
    masks = BACKWARD[node.op](node, flow.active)
    return [None if part is None else Flow(part, mask, clean) for part, mask in zip(parts, masks, strict=True)]


# -------------------------------------------------------------------------------------------------------------- forward

Flows = Sequence[Flow | None]
# ops that sum
_SUMMING_FORWARD = frozenset({Ops.REDUCE, Ops.SCAN, Ops.SCATTER})
ForwardRule = Callable[[UOp, Flows], Active]


def _alive(node: UOp, flow: Flow | None) -> Mask:
    """The mask of a source, dead for one that no variable reaches."""
    if flow is None or flow.active is None:
        return everywhere(node.shape, alive=flow is not None)
    return flow.active


def _masks(node: UOp, flows: Flows) -> list[Mask]:
    return [_alive(s, flow) for s, flow in zip(node.src, flows, strict=True)]


def _one_of(node: UOp, flows: Flows) -> Active:
    """Alive where one of the operands is."""
    living = [flow.active for flow in flows if flow is not None]
    out = living[0]
    for active in living[1:]:
        out = either(out, active)
    return out


def _as_numbers_move(node: UOp, flows: Flows) -> Active:
    return moved(_one_of(node, flows), lambda alive: node.over((alive, *node.src[1:])))


def _forward_where(node: UOp, flows: Flows) -> Active:
    (condition, *_), (_, chosen, other) = node.src, flows
    if chosen is None or other is None:
        return both(_one_of(node, flows), condition, holds=chosen is not None)
    if chosen.active is other.active:
        return chosen.active
    return of_two(condition.where, *_masks(node, flows)[1:])


def _forward_pad(node: UOp, flows: Flows) -> Active:
    return Mask(lambda alive: alive[0].pad(node.arg), *_masks(node, flows))


def _forward_concat(node: UOp, flows: Flows) -> Active:
    if all(flow is not None and flow.active is None for flow in flows):
        return None
    return Mask(lambda alive: node.over(tuple(alive)), *_masks(node, flows))


def _forward_reduce(node: UOp, flows: Flows) -> Active:
    summed = range(node.ndim, node.src[0].ndim)
    return moved(_one_of(node, flows), lambda alive: _any_along(alive, summed))


def _forward_scan(node: UOp, flows: Flows) -> Active:
    return moved(_one_of(node, flows), _running)


def _forward_scatter(node: UOp, flows: Flows) -> Active:
    base, value = flows[:2]
    if base is not None and base.active is None and (node.arg == "add" or (value is not None and value.active is None)):
        return None
    indices = node.src[2:]
    if node.arg == "add":
        return of_two(lambda a, b: _scattered(a, b, indices), *_masks(node, flows)[:2])
    return of_two(lambda a, b: UOp.new(Ops.SCATTER, (a, b, *indices), "set"), *_masks(node, flows)[:2])


FORWARD: dict[Ops, ForwardRule] = {
    **dict.fromkeys((Ops.ADD, Ops.SUB, Ops.NEG, Ops.CAST, Ops.MATERIALIZE, Ops.VARIABLE), _one_of),
    **dict.fromkeys((Ops.REAL, Ops.IMAG, Ops.CONJ, Ops.COMPLEX), _one_of),
    **dict.fromkeys((Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.SHRINK, Ops.FLIP, Ops.INDEX), _as_numbers_move),
    Ops.WHERE: _forward_where,
    Ops.PAD: _forward_pad,
    Ops.CONCAT: _forward_concat,
    Ops.REDUCE: _forward_reduce,
    Ops.SCAN: _forward_scan,
    Ops.SCATTER: _forward_scatter,
}

# sources that a linear op is not linear in: conditions and indices, as ranges
_FIXED_SOURCES: dict[Ops, range] = {
    Ops.WHERE: range(0, 1),
    Ops.INDEX: range(1, 1 << 30),
    Ops.SCATTER: range(2, 1 << 30),
}


def linear_forward(node: UOp, flows: Flows) -> Flow:
    """The op itself on the tangents; what is not differentiated (conditions, indices) stays."""
    living = [flow for flow in flows if flow is not None]
    active = FORWARD[node.op](node, flows)
    if (node.op is Ops.ADD and len(living) == 1) or node.op is Ops.VARIABLE:
        return living[0]
    if node.op is Ops.WHERE and len(living) == 1:  # the selection itself is left to the mask
        return Flow(living[0].raw, active, clean=False)
    # numbers of several places come together only where all of them are right
    apart = len({flow.active for flow in living}) > 1 or node.op in _SUMMING_FORWARD
    fixed = _FIXED_SOURCES.get(node.op, range(0))
    sources = [
        s if k in fixed else zeros_like(s) if flow is None else flow.value if apart else flow.raw
        for k, (s, flow) in enumerate(zip(node.src, flows, strict=True))
    ]
    return Flow(node.over(tuple(sources)), active, clean=apart or active is None or all(flow.clean for flow in living))


def anywhere(flows: Sequence[Flow], shape: tuple[int, ...], core: int | None) -> Active:
    """The mask of a function of `flows` that is not looked into: alive if anything of them is, in the same element of
    the batch before the `core` trailing axes.
    """
    if any(flow.active is None for flow in flows):
        return None
    n = len(shape) if core is None else core
    batch = shape[: len(shape) - n]
    masks = [flow.active for flow in flows if flow.active is not None]
    return Mask(lambda alive: _any(alive, len(batch)).reshape((*batch, *[1] * n)).expand(shape), *masks)


def _any(alive: Sequence[UOp], n_batch: int) -> UOp:
    found = [node.reduce(Ops.OR, node.ndim - n_batch) for node in alive]
    out = found[0]
    for node in found[1:]:
        out = out | node
    return out
