"""Derivatives of what is neither elementwise with a factor nor linear: the tangent of the result as a graph linear in
the tangents.

Reverse mode transposes that graph, so these rules are stated once, too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from uopc_core.dtype import is_complex
from uopc_core.errors import GradientError
from uopc_core.ir.composite import call_extern, iota, ones_like, zeros_like
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.transform.slopes import directions

__all__ = ["LINEARIZATIONS", "MODE_LINEARIZATIONS", "Linearization", "extern_tangents", "linearization_of"]

Tangents = tuple[UOp | None, ...]
Linearization = Callable[[UOp, Tangents], UOp]


def _tangent(node: UOp, tangents: Tangents, k: int) -> UOp:
    tangent = tangents[k]
    return zeros_like(node.src[k]) if tangent is None else tangent


def _choose(node: UOp, tangents: Tangents, first: UOp, tied_or_first: UOp) -> UOp:
    """The tangent of the operand that was chosen; at a tie half of each."""
    x, y = node.src
    weight = x.eq(y).where(UOp.const(0.5, node.dtype, node.shape), 1)
    dx, dy = tangents
    of_x = None if dx is None else tied_or_first.where(dx * weight, 0)
    of_y = None if dy is None else first.where(0, dy * weight)
    if of_x is None or of_y is None:
        return of_y if of_x is None and of_y is not None else zeros_like(node) if of_x is None else of_x
    return of_x + of_y


def _linearize_max(node: UOp, tangents: Tangents) -> UOp:
    x, y = node.src
    return _choose(node, tangents, y < x, y <= x)


def _linearize_min(node: UOp, tangents: Tangents) -> UOp:
    x, y = node.src
    return _choose(node, tangents, x < y, x <= y)


def _linearize_abs(node: UOp, tangents: Tangents) -> UOp:
    """The slope at 0 is 0."""
    (x,), dx = node.src, _tangent(node, tangents, 0)
    if is_complex(x.dtype):
        along, across = directions(x.unary(Ops.REAL), x.unary(Ops.IMAG))
        return along * dx.unary(Ops.REAL) + across * dx.unary(Ops.IMAG)
    return dx * x.unary(Ops.SIGN)


def _spread(reduced: UOp, shape: tuple[int, ...]) -> UOp:
    return reduced.reshape(reduced.shape + (1,) * (len(shape) - reduced.ndim)).expand(shape)


def _anew(node: UOp) -> UOp:
    """`node` for comparison with its operands: computed with them if it is in memory and they are not.

    Who computed it then may have another last digit of a function of the library. Without memory it is `node` itself
    in the plan, where nothing is detached.
    """
    return node.over(tuple([x.detach() for x in node.src]))


def _linearize_reduce_extreme(node: UOp, tangents: Tangents) -> UOp:
    """Split evenly among all elements that attain the extreme."""
    (x,), n = node.src, node.arg[1]
    attained = x.eq(_spread(_anew(node), x.shape))
    share = attained.cast(x.dtype).reduce(Ops.ADD, n).recip()
    kept = attained.where(_tangent(node, tangents, 0), zeros_like(x))
    return kept.reduce(Ops.ADD, n) * share


def _linearize_reduce_mul(node: UOp, tangents: Tangents) -> UOp:
    """Each element times the product of all others, from the left and from the right, so that zeros do no harm."""
    (x,) = node.src
    shape = (*node.shape, prod(x.shape[node.ndim :]))
    flat, dx = x.reshape(shape), _tangent(node, tangents, 0).reshape(shape)
    last = (flat.ndim - 1,)
    left = _shifted(flat.scan(Ops.MUL), 1, 1)
    right = _shifted(flat.flip(last).scan(Ops.MUL), 1, 1).flip(last)
    return (dx * (left * right)).reduce(Ops.ADD, 1)


def _shifted(x: UOp, by: int, fill: int) -> UOp:
    """`x` moved `by` places towards the end of its last axis, `fill` in the places that come free."""
    n = x.shape[-1]
    keep = [(0, size) for size in x.shape[:-1]]
    moved = x.shrink([*keep, (0, max(0, n - by))]).pad([*[(0, 0)] * (x.ndim - 1), (min(by, n), 0)])
    return moved if fill == 0 else (iota(x.shape, x.ndim - 1) < by).where(UOp.const(fill, x.dtype, x.shape), moved)


def _linearize_scan_mul(node: UOp, tangents: Tangents) -> UOp:
    """Products of windows of doubling length, each with its tangent (Hillis & Steele 1986), so that nothing is
    divided.
    """
    (x,), dx = node.src, _tangent(node, tangents, 0)
    by, product = 1, x
    while by < x.shape[-1]:
        before = _shifted(product, by, 1)
        dx = dx * before + product * _shifted(dx, by, 0)
        product = product * before
        by *= 2
    return dx


def _linearize_scan_extreme(node: UOp, tangents: Tangents) -> UOp:
    """The tangent of the first element that attains the extreme so far."""
    axis = node.ndim - 1
    n = node.shape[axis]
    if n < 2:
        return _tangent(node, tangents, 0)
    place = iota(node.shape, axis)
    keep = [(0, size) for size in node.shape[:-1]]
    before = node.shrink([*keep, (0, n - 1)])
    now = node.shrink([*keep, (1, n)])
    same = before.eq(now).pad([*[(0, 0)] * axis, (1, 0)])
    first = same.where(UOp.const(0, place.dtype, node.shape), place).scan(Ops.MAX)
    others = [iota(node.shape, a) for a in range(axis)]
    return UOp.new(Ops.INDEX, (_tangent(node, tangents, 0), *others, first))


def _linearize_scatter_extreme(node: UOp, tangents: Tangents) -> UOp:
    base, value, *indices = node.src
    extreme = _anew(node)
    here = base.eq(extreme)
    there = value.eq(UOp.new(Ops.INDEX, (extreme, *indices)))
    count = UOp.new(Ops.SCATTER, (here.cast(base.dtype), there.cast(base.dtype), *indices), "add")
    dbase = here.where(_tangent(node, tangents, 0), zeros_like(base))
    dvalue = there.where(_tangent(node, tangents, 1), zeros_like(value))
    total = UOp.new(Ops.SCATTER, (dbase, dvalue, *indices), "add")
    return total / count


def _linearize_scatter_mul(node: UOp, tangents: Tangents) -> UOp:
    """Each factor times the product of the others at its place: that of all factors but zeros, divided by itself, or
    0 where another factor is zero. Where two factors or more are zero, the second derivative comes out as 0.
    """
    base, value, *indices = node.src
    dbase, dvalue = _tangent(node, tangents, 0), _tangent(node, tangents, 1)
    nothing = zeros_like(base)
    total = dbase * UOp.new(Ops.SCATTER, (ones_like(base), value, *indices), "mul")
    zero_base, zero_value = base.eq(0), value.eq(0)
    nonzero = zero_value.where(1, value)
    product = UOp.new(Ops.SCATTER, (zero_base.where(1, base), nonzero, *indices), "mul")
    zeros = UOp.new(Ops.SCATTER, (zero_base.cast(base.dtype), zero_value.cast(base.dtype), *indices), "add")
    other_zeros = UOp.new(Ops.INDEX, (zeros, *indices)) - zero_value.cast(base.dtype)
    others = other_zeros.eq(0).where(UOp.new(Ops.INDEX, (product, *indices)) / nonzero, zeros_like(value))
    return total + UOp.new(Ops.SCATTER, (nothing, dvalue * others, *indices), "add")


def extern_tangents(node: UOp, tangents: Tangents) -> tuple[UOp | None, ...]:
    """Tangents of all outputs of the call that `node` is one of.

    Raises:
        GradientError: the function has no derivative.
    """
    name, params, _ = node.arg
    extern = EXTERNS[name]
    if extern.jvp is None:
        raise GradientError(f"{name}: this function has no derivative")
    types = extern.infer(params, [(s.shape, s.dtype) for s in node.src])
    outputs = tuple([call_extern(name, *node.src, params=params, output=k) for k in range(len(types))])
    return extern.jvp(params, outputs, node.src, tangents)


def _linearize_extern(node: UOp, tangents: Tangents) -> UOp:
    number: int = node.arg[2]
    tangent = extern_tangents(node, tangents)[number]
    return zeros_like(node) if tangent is None else tangent


LINEARIZATIONS: dict[Ops, Linearization] = {
    Ops.MAX: _linearize_max,
    Ops.MIN: _linearize_min,
    Ops.ABS: _linearize_abs,
    Ops.EXTERN: _linearize_extern,
}

# REDUCE, SCAN and SCATTER are linear when they add; these are their other ways to combine
MODE_LINEARIZATIONS: dict[tuple[Ops, object], Linearization] = {
    (Ops.REDUCE, Ops.MAX): _linearize_reduce_extreme,
    (Ops.REDUCE, Ops.MIN): _linearize_reduce_extreme,
    (Ops.REDUCE, Ops.MUL): _linearize_reduce_mul,
    (Ops.SCAN, Ops.MUL): _linearize_scan_mul,
    (Ops.SCAN, Ops.MAX): _linearize_scan_extreme,
    (Ops.SCAN, Ops.MIN): _linearize_scan_extreme,
    (Ops.SCATTER, "max"): _linearize_scatter_extreme,
    (Ops.SCATTER, "min"): _linearize_scatter_extreme,
    (Ops.SCATTER, "mul"): _linearize_scatter_mul,
}


def linearization_of(node: UOp) -> Linearization | None:
    rule = LINEARIZATIONS.get(node.op)
    if rule is None:
        rule = MODE_LINEARIZATIONS.get((node.op, node.arg[0] if node.op is Ops.REDUCE else node.arg))
    return rule
