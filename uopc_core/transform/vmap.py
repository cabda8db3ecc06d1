"""Batching: graph -> graph of the same function for many values of some leaves at once.

Every node that depends on a batched leaf gets the batch axis as its first; all others stay as they are and are
broadcast where the two meet. Nothing is computed element by element but host functions without a batching rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from uopc_core.dtype import dtypes
from uopc_core.errors import ShapeError
from uopc_core.ir.calls import Closed, close, instance
from uopc_core.ir.composite import broadcast_to, const_of, iota, stack
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.op import ELEMENTWISE, IDENTITIES, LEAVES, Ops
from uopc_core.ir.region import Region
from uopc_core.ir.squares import squares64
from uopc_core.ir.uop import TRACED, UOp, walk
from uopc_core.records import record

__all__ = ["BATCHING", "Batching", "Operands", "batch"]


@record
class Operands:
    """The sources of a node after batching.

    Attributes:
        nodes: one for each source.
        batched: which of them have the batch axis.
        size: its extent.
    """

    nodes: tuple[UOp, ...]
    batched: tuple[bool, ...]
    size: int

    def full(self) -> tuple[UOp, ...]:
        """All sources with the batch axis, those without it repeated along it."""
        return tuple([x if b else _repeated(x, self.size) for x, b in zip(self.nodes, self.batched, strict=True)])


Batching = Callable[[UOp, Operands], UOp]


def batch(roots: Sequence[UOp], replacements: Mapping[UOp, UOp]) -> list[UOp]:
    """`roots` as functions of leaves that have many values.

    Args:
        replacements: for each batched leaf, or inner node, a node of its dtype and with a further leading axis, of one
            extent for all. They must not depend on the leaves that they replace.
    Returns:
        one node per root, with the leading axis; a root that does not depend on a batched leaf is repeated along it.
    Raises:
        ShapeError: a replacement has another shape or dtype, or the extents differ.
    """
    size = _batch_size(replacements)
    made = dict(replacements)
    # what depends on a traced leaf is traced
    mask = TRACED if all(leaf.flags & TRACED for leaf in replacements) else 0
    for node in walk(roots, made, mask):
        if node not in made and not made.keys().isdisjoint(node.src):
            nodes = tuple([made.get(s, s) for s in node.src])
            made[node] = BATCHING[node.op](node, Operands(nodes, tuple([s in made for s in node.src]), size))
    return [made[root] if root in made else _repeated(root, size) for root in roots]


def _batch_size(replacements: Mapping[UOp, UOp]) -> int:
    sizes: set[int] = set()
    for leaf, node in replacements.items():
        if node.dtype is not leaf.dtype or node.shape[1:] != leaf.shape or node.ndim != leaf.ndim + 1:
            raise ShapeError(f"vmap: expected {leaf} with a leading axis, got {node}")
        sizes.add(node.shape[0])
    if len(sizes) != 1:
        raise ShapeError(f"vmap: expected one extent of the batched axes, got {sorted(sizes)}")
    return sizes.pop()


def _repeated(x: UOp, size: int) -> UOp:
    """`x` with a leading axis along which it does not vary; a constant stays one that rules recognise."""
    number = const_of(x)
    shape = (size, *x.shape)
    return broadcast_to(x, shape) if number is None else UOp.const(number, x.dtype, shape)


# ----------------------------------------------------------------------------------------------------------- the rules


def _batch_leaf(node: UOp, given: Operands) -> UOp:
    return _repeated(node, given.size)


def _batch_same(node: UOp, given: Operands) -> UOp:
    """Ops that do not mind a further leading axis."""
    return node.over(given.full())


def _with_argument(argument: Callable[[UOp, int], object]) -> Batching:
    return lambda node, given: UOp.new(node.op, given.full(), argument(node, given.size))


def _batch_random(node: UOp, given: Operands) -> UOp:
    """The generator spelled out, as one operation has one key."""
    shape = (given.size, *node.shape)
    key = given.nodes[0].reshape((given.size, *[1] * node.ndim)).expand(shape)
    count = iota((prod(node.shape),), 0, dtypes.uint64).reshape((1, *node.shape)).expand(shape)
    return squares64(key, count)


def _batch_number(given: Operands, indices: tuple[UOp, ...]) -> tuple[UOp, ...]:
    """`indices`, all batched, after the index of the batch axis itself."""
    dtype = indices[0].dtype
    if dtype.itemsize < 8 and given.size > 127:
        dtype = dtypes.int64
    return iota(indices[0].shape, 0, dtype), *[i.cast(dtype) for i in indices]


def _behind(x: UOp, n: int) -> UOp:
    """`x` with its batch axis moved behind the `n` axes that follow it."""
    return x.permute([*range(1, n + 1), 0, *range(n + 1, x.ndim)])


def _to_front(x: UOp, n: int) -> UOp:
    """The inverse of `_behind`."""
    return x.permute([n, *range(n), *range(n + 1, x.ndim)])


def _batch_index(node: UOp, given: Operands) -> UOp:
    x, *indices = given.nodes
    if not any(given.batched[1:]):  # one gather of longer rows
        moved = _behind(x, len(indices))
        return _to_front(node.over((moved, *indices)), indices[0].ndim)
    indices = given.full()[1:]
    return node.over((x, *(_batch_number(given, indices) if given.batched[0] else indices)))


def _batch_scatter(node: UOp, given: Operands) -> UOp:
    base, value, *indices = given.full()
    if any(given.batched[2:]):
        return node.over((base, value, *_batch_number(given, tuple(indices))))
    indices = given.nodes[2:]
    moved = _behind(base, len(indices)), _behind(value, indices[0].ndim)
    return _to_front(node.over((*moved, *indices)), len(indices))


def _batch_extern(node: UOp, given: Operands) -> UOp:
    name, params, _ = node.arg
    number: int = node.arg[2]
    rule = EXTERNS[name].batch
    if rule is not None:
        return rule(params, given.nodes, given.batched)[number]
    if not given.size:
        return UOp.const(0, node.dtype, (0, *node.shape))
    calls = [
        node.over(tuple([x.index(k) if b else x for x, b in zip(given.nodes, given.batched, strict=True)]))
        for k in range(given.size)
    ]
    return stack(calls)


def _batch_call(node: UOp, given: Operands) -> UOp:
    """A call of the region with the batch axis on those parameters that have it here."""
    region: Region = node.arg[0]
    number: int = node.arg[1]
    closed = region.kept(("batch", given.batched, given.size), lambda: _batched(region, given.batched, given.size))
    return closed.over(given.nodes.__getitem__)[number]


def _batched(region: Region, batched: tuple[bool, ...], size: int) -> Closed:
    params, outputs = instance(region)
    full = [
        UOp.param(i, (size, *p.shape), p.dtype) if b else p
        for i, (p, b) in enumerate(zip(params, batched, strict=True))
    ]
    replacements = {p: x for p, x, b in zip(params, full, batched, strict=True) if b}
    return close(batch(outputs, replacements), full)


# sources with the batch axis leading -> the node with the batch axis leading
BATCHING: dict[Ops, Batching] = {
    **dict.fromkeys(LEAVES, _batch_leaf),
    **dict.fromkeys(ELEMENTWISE, _batch_same),
    Ops.RANDOM: _batch_random,
    Ops.RESHAPE: _with_argument(lambda node, size: (size, *node.arg)),
    Ops.EXPAND: _with_argument(lambda node, size: (size, *node.arg)),
    Ops.PERMUTE: _with_argument(lambda node, size: (0, *[axis + 1 for axis in node.arg])),
    Ops.SHRINK: _with_argument(lambda node, size: ((0, size), *node.arg)),
    Ops.PAD: _with_argument(lambda node, size: ((0, 0), *node.arg)),
    Ops.FLIP: _with_argument(lambda node, size: tuple([axis + 1 for axis in node.arg])),
    Ops.CONCAT: _with_argument(lambda node, size: node.arg + 1),
    Ops.REDUCE: _batch_same,  # trailing axes
    Ops.SCAN: _batch_same,  # the last axis
    Ops.INDEX: _batch_index,
    Ops.SCATTER: _batch_scatter,
    **dict.fromkeys(IDENTITIES, _batch_same),
    Ops.EXTERN: _batch_extern,
    Ops.CALL: _batch_call,
}
