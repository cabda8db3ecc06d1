"""Recognise products: REDUCE(ADD) over a MUL whose operands each miss some axes -> EXTERN "matmul" on views of the
operands.

It does not matter how the product was spelled (matmul, einsum, tensordot, or what differentiation made of them): each
operand of the MUL is followed through its movement ops to the node it is a view of, which tells the axes it varies
along. Axes of both operands that are kept are batch, those of one operand M or N, those of both that are reduced K.
The M x N x K array is never built. A WHERE around the MUL that gives 0 elsewhere, as derivatives of a selection have
it, is a product, too: one operand is stored with marks, by which `extern.product` knows what must count nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from uopc_core.dtype import is_complex, is_inexact
from uopc_core.ir.composite import axes_apart_from_ones, call_extern, const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.schedule.kernelize import MAX_INLINE_REDUCE
from uopc_core.schedule.library_work import is_for_library

__all__ = ["lower_contractions"]

_LIBRARY_KINDS = "iufc"
_SIDES = ("left", "right")
_OTHER_SIDE = {"left": "right", "right": "left"}
# marked operands, by what they are without marks and by the masks, laid out as that is
_Marks = dict[tuple[UOp, frozenset[UOp]], UOp]
_View = tuple[UOp, list[int | None]]  # a node, and for each axis of what is a view of it the axis it runs along


def lower_contractions(outputs: list[UOp]) -> list[UOp]:
    """`outputs` with every large product given to the library."""
    made: dict[UOp, UOp] = {}
    marks: _Marks = {}
    for node in walk(outputs):
        sources = tuple([made[s] for s in node.src])
        if node.op is Ops.REDUCE:
            made[node] = _lower_reduce(node, sources[0], marks)
        else:
            made[node] = node.over(sources)
    roots = [made[node] for node in outputs]
    return _sum_what_is_marked(roots, marks) if marks else roots


def _sum_what_is_marked(roots: list[UOp], marks: _Marks) -> list[UOp]:
    """The graph with sums over what a selection takes, in the form that products have stored: a mark adds nothing, and
    a sum begins with 0, so no bit is another.
    """
    instead = {node: found for node in walk(roots) if (found := _sum_of_marked(node, marks)) is not None}
    made: dict[UOp, UOp] = {}
    stack = [*roots]
    while stack and instead:  # not over `walk`: what stands in place of a node has other sources
        node = stack[-1]
        target = instead.get(node, node)
        waiting = [s for s in target.src if s not in made]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        made[node] = target.over(tuple([made[s] for s in target.src]))
    return [made.get(root, root) for root in roots]


def _sum_of_marked(node: UOp, marks: _Marks) -> UOp | None:
    """A sum over a selection as one over the operand of a product that is the same but for its marks."""
    if node.op is not Ops.REDUCE or node.arg[0] is not Ops.ADD or not is_inexact(node.dtype):
        return None
    source, n = node.src[0], node.arg[1]
    numbers, axes, masks = _factors(source)
    if not masks or sorted(axes, key=str) != sorted(range(numbers.ndim), key=str) or source.ndim != numbers.ndim:
        return None
    if prod(source.shape[node.ndim :]) <= MAX_INLINE_REDUCE:
        return None  # such a sum is written out where it is used, and begins with its first element
    own = [axes.index(axis) for axis in range(numbers.ndim)]
    marked = marks.get((numbers, frozenset([_laid_out(mask, own, source.shape) for mask in masks])))
    return None if marked is None else marked.permute([a for a in axes if a is not None]).reduce(Ops.ADD, n)


def _lower_reduce(node: UOp, source: UOp, marks: _Marks) -> UOp:
    how, n = node.arg
    if how is Ops.ADD and node.dtype.kind in _LIBRARY_KINDS:
        factors, axes, masks = _factors(source)
        if factors.op is Ops.MUL:
            x, y = (_through(_axes_of(operand), axes) for operand in factors.src)
            operands, sides, outside = _marked((x, y), masks, source.shape, node.ndim, marks)
            product = _contract(*operands, source.shape, n, sides)
            if product is not None:
                return _selected(product, outside, source.shape)
    return source.reduce(how, n)


def _factors(source: UOp) -> tuple[UOp, list[int | None], list[_View]]:
    """The node `source` is a view of, below the selections around it, its axes, and where these hold."""
    node, axes = _axes_of(source)
    masks: list[_View] = []
    while node.op is Ops.WHERE:
        condition, x, y = node.src
        if const_of(y) != 0 and const_of(x) != 0:
            break
        holds = const_of(y) == 0
        masks += _conditions(condition, holds, axes)
        chosen = x if holds else y
        node, axes = _through(_axes_of(chosen), axes)
    return node, axes, masks


def _conditions(condition: UOp, holds: bool, axes: list[int | None]) -> list[_View]:
    """What must hold, each on its own, for `condition` to be as it should."""
    found: list[_View] = []
    parts = [(condition, axes)]
    while parts:
        part, outer = parts.pop()
        node, own = _through(_axes_of(part), outer)
        if node.op is Ops.AND and holds:
            parts += [(s, own) for s in node.src]
        else:
            found.append((node if holds else ~node, own))
    return found


def _marked(
    operands: tuple[_View, _View], masks: list[_View], shape: tuple[int, ...], n_kept: int, marks: _Marks
) -> tuple[tuple[_View, _View], tuple[str, ...], list[_View]]:
    """The operands with the masks put into them, which of them, as `_SIDES`, and the masks that are for the result.

    An operand that varies along the axes of a mask takes it, the one that takes others where both do; of what is kept
    alone the result does; and else the operand that grows the least.
    """
    given: tuple[list[_View], list[_View], list[_View]] = ([], [], [])
    for_either: list[_View] = []
    for mask in masks:
        wanted = _axes_in(mask, shape)
        grown = [wanted - _axes_in(operand, shape) for operand in operands]
        cost = [prod(shape[axis] for axis in more) for more in grown]
        if all(grown) and max(wanted) < n_kept:
            given[2].append(mask)
        elif cost[0] == cost[1]:
            for_either.append(mask)
        else:
            given[0 if cost[0] < cost[1] else 1].append(mask)
    given[0 if given[0] and not given[1] else 1].extend(for_either)
    x, y = (_with_marks(operand, own, shape, marks) for operand, own in zip(operands, given[:2], strict=True))
    return (x, y), tuple([side for side, own in zip(_SIDES, given[:2], strict=True) if own]), given[2]


def _with_marks(operand: _View, masks: list[_View], shape: tuple[int, ...], marks: _Marks) -> _View:
    """`operand` with -0.0 where a mask does not hold, and no other: in no finite sum does it make a difference, and it
    can be told. `marks` is told of it.
    """
    if not masks:
        return operand
    in_masks = {axis for mask in masks for axis in _axes_in(mask, shape)}
    is_own = in_masks <= _axes_in(operand, shape)
    if is_own:  # in its own order of axes, so that other products can share it
        numbers, axes = operand
        order = [axes.index(a) if a in axes else None for a in range(numbers.ndim)]
    else:
        order = [axis if axis in in_masks | _axes_in(operand, shape) else None for axis in range(len(shape))]
        numbers, axes = _laid_out(operand, order, shape), order
    laid_out = [_laid_out(mask, order, shape) for mask in masks]
    alive = laid_out[0]
    for mask in laid_out[1:]:
        alive = alive & mask
    dead = complex(-0.0, -0.0) if is_complex(numbers.dtype) else -0.0
    marked = alive.where(numbers + 0.0 if is_inexact(numbers.dtype) else numbers, dead)
    if is_own:
        marks[numbers, frozenset(laid_out)] = marked
    return marked, axes


def _selected(product: UOp, masks: list[_View], shape: tuple[int, ...]) -> UOp:
    for mask in masks:
        product = _laid_out(mask, range(product.ndim), shape).where(product, 0)
    return product


def _axes_in(view: _View, shape: tuple[int, ...]) -> set[int]:
    """The axes that a view varies along."""
    return {axis for axis, a in enumerate(view[1]) if a is not None and shape[axis] != 1}


def _laid_out(view: _View, order: Sequence[int | None], shape: tuple[int, ...]) -> UOp:
    """The node of a view with its axes in `order`, which are axes of what is reduced, broadcast along the others."""
    node, axes = view
    there = _axes_in(view, shape)
    kept = [axes[axis] for axis in order if axis is not None and axis in there]
    wanted = [a for a in kept if a is not None]
    rest = [a for a in range(node.ndim) if a not in wanted]
    ones = [shape[axis] if axis is not None and axis in there else 1 for axis in order]
    full = [1 if axis is None else shape[axis] for axis in order]
    return node.permute([*rest, *wanted]).reshape(ones).expand(full)


def _through(operand: _View, axes: list[int | None]) -> _View:
    """The axes of an operand of the product, seen from the node that is reduced."""
    node, inner = operand
    return node, [None if a is None else inner[a] for a in axes]


def _axes_of(operand: UOp) -> _View:
    """The node `operand` is a view of, and for each axis of `operand` the axis of that node it runs along, or None."""
    axes: list[int | None] = list(range(operand.ndim))
    node = operand
    while True:
        if node.op is Ops.PERMUTE:
            axes = [None if a is None else node.arg[a] for a in axes]
        elif node.op is Ops.EXPAND:
            old = node.src[0].shape
            axes = [None if a is None or old[a] != node.shape[a] or old[a] == 1 else a for a in axes]
        elif node.op is Ops.RESHAPE:
            moved = axes_apart_from_ones(node.src[0].shape, node.shape)
            if moved is None:
                return node, axes
            axes = [None if a is None else moved[a] for a in axes]
        else:
            return node, axes
        node = node.src[0]


def _contract(x: _View, y: _View, shape: tuple[int, ...], n_reduced: int, marked: tuple[str, ...]) -> UOp | None:
    """``(x * y).reduce(ADD, n_reduced)`` as a library product, or None when it is not one, or too small."""
    n_kept = len(shape) - n_reduced
    (a, a_axes), (b, b_axes) = x, y
    wide = [axis for axis in range(len(shape)) if shape[axis] != 1]
    in_a = [axis for axis in wide if a_axes[axis] is not None]
    in_b = [axis for axis in wide if b_axes[axis] is not None]
    both = set(in_a) & set(in_b)
    summed = [axis for axis in both if axis >= n_kept]
    only_a = [axis for axis in in_a if axis not in both and axis < n_kept]
    only_b = [axis for axis in in_b if axis not in both and axis < n_kept]
    covered = set(in_a) | set(in_b)
    if not summed or any(axis >= n_kept and axis not in both for axis in wide) or 0 in shape:
        return None
    batch = sorted(both - set(summed))
    m, n, k = (prod(shape[axis] for axis in group) for group in (only_a, only_b, summed))
    if not is_for_library(m, n, k):
        return None
    if only_b[0] < only_a[0]:  # the order of the result decides which operand is the left one
        a, b, a_axes, b_axes, only_a, only_b, m, n = b, a, b_axes, a_axes, only_b, only_a, n, m
        marked = tuple([side for side in _SIDES if _OTHER_SIDE[side] in marked])
    summed.sort(key=lambda axis: a_axes[axis] or 0)
    left = _as_matrix(a, a_axes, [batch, only_a, summed], shape)
    right = _as_matrix(b, b_axes, [batch, summed, only_b], shape)
    product = call_extern("matmul", left, right, params=marked)
    return _in_order(product, [*batch, *only_a, *only_b], [axis for axis in range(n_kept)], shape, covered)


def _as_matrix(node: UOp, axes: Sequence[int | None], groups: list[list[int]], shape: tuple[int, ...]) -> UOp:
    """`node` as (batch,) rows, columns; a stack of matrices only where there are batch axes."""
    wanted = [a for group in groups for axis in group if (a := axes[axis]) is not None]
    unused = [axis for axis in range(node.ndim) if axis not in wanted]
    assert all(node.shape[axis] == 1 for axis in unused), (node, axes)
    sizes = [prod(shape[axis] for axis in group) for group in groups]
    return node.permute([*unused, *wanted]).reshape(sizes if groups[0] else sizes[1:])


def _in_order(product: UOp, have: list[int], kept: list[int], shape: tuple[int, ...], covered: set[int]) -> UOp:
    """The product with its axes in the order of the reduction's result, axes that neither operand has put back."""
    apart = product.reshape([shape[axis] for axis in have])
    wide_kept = [axis for axis in kept if axis in have]
    ordered = apart.permute([have.index(axis) for axis in wide_kept])
    ones = ordered.reshape([shape[axis] if axis in covered else 1 for axis in kept])
    return ones.expand([shape[axis] for axis in kept])
