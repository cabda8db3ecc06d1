"""Large elementwise expressions, and reductions of them, evaluated a block of elements at a time.

NumPy makes an array of every intermediate result: eight bytes an element to count what is True. In blocks they take a
few MB, which stay in the cache. Which nodes are evaluated together depends on the graph alone, and no value depends on
the blocks: elements are independent, integers exact, and floating-point numbers are combined as in `Runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from uopc_core.costs import BLOCK_ELEMENTS, BLOCKWISE_ELEMENTS
from uopc_core.dtype import DType, is_complex, is_inexact
from uopc_core.interpret.numpy_ops import NUMPY_OPS
from uopc_core.interpret.reductions import Runs, can_be_cut, pieces, reduction
from uopc_core.ir.op import ELEMENTWISE, VIEW_OPS, Ops
from uopc_core.ir.uop import UOp
from uopc_core.records import record

__all__ = ["BlockGroup", "find_groups"]

Array = np.ndarray[Any, Any]
Index = tuple[slice, ...]

BLOCK = BLOCK_ELEMENTS
_ACROSS = 512  # elements of each row in a block, where those of a column are closer to each other in memory
_PLAIN = frozenset({Ops.CAST, Ops.BITCAST, Ops.REAL, Ops.IMAG, Ops.WHERE, Ops.COMPLEX})  # one call of NumPy, no ufunc
_VIEWS = VIEW_OPS - {Ops.RESHAPE}  # what a row of all elements is a copy of


@record
class BlockGroup:
    """Nodes that are evaluated together: an expression, or a reduction of one whose axes may be permuted first.

    Attributes:
        root: the node whose value comes out.
        nodes: `root` and those that nothing outside of the group reads, sources first.
        leaves: what the elementwise ones among them read, or what is reduced if there are none.
    """

    root: UOp
    nodes: tuple[UOp, ...]
    leaves: tuple[UOp, ...]

    @property
    def inside(self) -> list[UOp]:
        """The elementwise nodes."""
        return [node for node in self.nodes if node.op in ELEMENTWISE]

    @property
    def operands(self) -> tuple[UOp, ...]:
        """The leaves that have values; counters are made a block at a time."""
        return tuple([leaf for leaf in self.leaves if _counter(leaf) is None])

    def function(self) -> Callable[..., Any]:
        """The function of the values of `operands`."""
        return _Reduction(self) if self.root.op is Ops.REDUCE else _Elements(self)


# -------------------------------------------------------------------------------------------------------- which nodes


def find_groups(order: Sequence[UOp], closed: Iterable[UOp], apart: Container[UOp] = ()) -> dict[UOp, BlockGroup]:
    """The groups among the nodes of `order`, sources first, by their roots.

    Args:
        closed: nodes whose values are asked for.
        apart: nodes that are evaluated in another way.
    """
    if not any(node.op in ELEMENTWISE and prod(node.shape) >= BLOCKWISE_ELEMENTS for node in order):
        return {}
    readers: dict[UOp, list[UOp]] = {}
    for node in order:
        for s in node.src:
            readers.setdefault(s, []).append(node)
    closed = set(closed)
    root_of: dict[UOp, UOp] = {}
    members: dict[UOp, list[UOp]] = {}
    for node in reversed(order):
        if node.realized is not None or node in apart:
            continue
        roots = {root_of.get(reader) for reader in readers.get(node, ())}
        root = roots.pop() if len(roots) == 1 and node not in closed else None
        if root is None or not _joins(node, readers[node], root):
            root = node if _may_be_root(node) else None
        if root is not None:
            root_of[node] = root
            members.setdefault(root, []).append(node)
    groups = [_group(root, tuple(nodes[::-1])) for root, nodes in members.items()]
    return {group.root: group for group in groups if _is_worth_it(group)}


def _may_be_root(node: UOp) -> bool:
    if node.op is not Ops.REDUCE:
        return node.op in ELEMENTWISE and prod(node.shape) >= BLOCKWISE_ELEMENTS
    how, n = node.arg
    # a product of complex numbers that begins with 1 is not the same as one that goes on
    return n > 0 and prod(node.src[0].shape) >= BLOCKWISE_ELEMENTS and not (how is Ops.MUL and is_complex(node.dtype))


def _joins(node: UOp, readers: Sequence[UOp], root: UOp) -> bool:
    """Whether `node` is evaluated with the group of `root`, in which all its readers are."""
    if node.op is Ops.PERMUTE:
        return root.op is Ops.REDUCE and all(reader is root for reader in readers)
    return node.op in ELEMENTWISE


def _group(root: UOp, nodes: tuple[UOp, ...]) -> BlockGroup:
    known = {*nodes}
    read = [s for node in nodes if node.op in ELEMENTWISE for s in node.src if s not in known]
    return BlockGroup(root, nodes, tuple(dict.fromkeys(read or [_reduced(root)])))


def _reduced(root: UOp) -> UOp:
    """What a reduction reduces, before the permutation of its axes."""
    source = root.src[0]
    return source.src[0] if source.op is Ops.PERMUTE else source


def _is_worth_it(group: BlockGroup) -> bool:
    root = group.root
    if root.op is not Ops.REDUCE:
        return len(group.inside) > 1 or (root.op not in _PLAIN and not isinstance(NUMPY_OPS[root.op](root), np.ufunc))
    return bool(group.inside) or (root.arg[1] > 1 and is_inexact(root.dtype) and root.src[0].op in _VIEWS)


@record
class _Counter:
    """The numbers from 0 along an axis, or down to 0 from `last`, made where they are asked for."""

    axis: int
    dtype: DType
    last: int | None

    def at(self, index: Index) -> Array:
        part: Any = index[self.axis]
        alone: Any = tuple([slice(None) if axis == self.axis else None for axis in range(len(index))])
        first, end = int(part.start), int(part.stop)
        counted: Array = (
            np.arange(first, end) if self.last is None else np.arange(self.last - first, self.last - end, -1)
        )
        return counted.astype(self.dtype, copy=False)[alone]


def _counter(leaf: UOp) -> _Counter | None:
    """`leaf` as a counter, if it is one in any shape, in whichever direction."""
    node, axis = leaf, leaf.ndim - 1
    turned: list[int] = []
    while node.op is Ops.EXPAND or node.op is Ops.FLIP:
        turned += node.arg if node.op is Ops.FLIP else ()
        node = node.src[0]
    if node.op is Ops.RESHAPE:
        long = [k for k, n in enumerate(node.shape) if n != 1]
        if len(long) != 1:
            return None
        axis, node = long[0], node.src[0]
    is_down = turned.count(axis) % 2 == 1
    while node.op is Ops.FLIP:
        is_down, node = not is_down, node.src[0]
    if node.op is not Ops.IOTA or node.realized is not None:
        return None
    return _Counter(axis, leaf.dtype, leaf.shape[axis] - 1 if is_down else None)


# ------------------------------------------------------------------------------------------------------------- values


class _Expression:
    """Elementwise NumPy calls on numbered values, of which the first are the leaves."""

    def __init__(self, group: BlockGroup) -> None:
        number = {leaf: i for i, leaf in enumerate(group.leaves)}
        self.counters = {i: found for i, leaf in enumerate(group.leaves) if (found := _counter(leaf)) is not None}
        self.steps: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
        for node in group.inside:
            number[node] = len(number)
            self.steps.append((NUMPY_OPS[node.op](node), tuple([number[s] for s in node.src])))
        last = {i: k for k, (_, src) in enumerate(self.steps) for i in src}
        self.dead = [[i for i in {*src} if last[i] == k] for k, (_, src) in enumerate(self.steps)]
        self.n_leaves = len(group.leaves)

    def bind(self, operands: Sequence[Any], shape: tuple[int, ...], axes: tuple[int, ...] | None) -> list[Any]:
        """The leaves as arrays of `shape`, permuted by `axes`; one number stays one, and a counter its axis."""
        values = iter(operands)
        bound: list[Any] = []
        for i in range(self.n_leaves):
            if i in self.counters:
                counter = self.counters[i]
                bound.append(counter if axes is None else replace(counter, axis=axes.index(counter.axis)))
                continue
            value = np.broadcast_to(next(values), shape)
            if axes is not None:
                value = value.transpose(axes)
            bound.append(value[(0,) * value.ndim] if not any(value.strides) else value)
        return bound

    def of(self, bound: Sequence[Any], index: Index) -> Any:
        """The value at `index`."""
        values = self._values(bound, index, len(self.steps))
        return values[-1]

    def into(self, out: Array, bound: Sequence[Any], index: Index) -> None:
        """Write the value at `index` to `out`."""
        function, src = self.steps[-1]
        values = self._values(bound, index, len(self.steps) - 1)
        if isinstance(function, np.ufunc):
            function(*[values[i] for i in src], out=out)
        else:
            out[...] = function(*[values[i] for i in src])

    def _values(self, bound: Sequence[Any], index: Index, n_steps: int) -> list[Any]:
        """The leaves at `index`, and the results of the first `n_steps` as far as others read them."""
        values = [_part(x, index) for x in bound]
        for (function, src), dead in zip(self.steps[:n_steps], self.dead, strict=False):
            out = function(*[values[i] for i in src])
            for i in dead:
                values[i] = None
            values.append(out)
        return values


def _part(x: Any, index: Index) -> Any:
    if isinstance(x, _Counter):
        return x.at(index)
    return x[index] if type(x) is np.ndarray else x


class _Elements:
    """The value of an elementwise root."""

    def __init__(self, group: BlockGroup) -> None:
        self.expression = _Expression(group)
        self.shape, self.dtype = group.root.shape, group.root.dtype

    def __call__(self, *operands: Any, out: Array | None = None) -> Array:
        """
        Args:
            out: where it goes; may be an operand, of which an element is read only to make the same one of the result.
        """
        bound = self.expression.bind(operands, self.shape, None)
        out = np.empty(self.shape, self.dtype) if out is None else out
        for index in pieces(self.shape, BLOCK):
            self.expression.into(out[index], bound, index)
        return out


class _Reduction:
    """The value of a reduction of an expression.

    Rows of at most BLOCK elements are reduced whole, longer ones in runs.
    """

    def __init__(self, group: BlockGroup) -> None:
        root = group.root
        self.expression = _Expression(group)
        self.how, n = root.arg
        source = root.src[0]
        self.axes = source.arg if source.op is Ops.PERMUTE else None
        self.before = _reduced(root).shape
        self.kept, self.reduced = source.shape[: source.ndim - n], source.shape[source.ndim - n :]
        self.dtype = root.dtype
        self.reduce = reduction(self.how, n, self.dtype)

    def __call__(self, *operands: Any) -> Array:
        bound = self.expression.bind(operands, self.before, self.axes)
        out = np.empty(self.kept, self.dtype)
        length = prod(self.reduced)
        across = can_be_cut(self.how, self.dtype, _ACROSS) and self._lies_in_columns(bound)
        most = min(length, _ACROSS if across else BLOCK)
        for kept in pieces(self.kept, BLOCK // max(most, 1)):
            out[kept] = self._rows(bound, kept, most)
        return out

    def _rows(self, bound: Sequence[Any], kept: Index, most: int) -> Any:
        """The results at `kept`, of at most `most` elements of each row at once."""
        parts = pieces(self.reduced, most)
        if prod(self.reduced) <= most:
            return self.reduce(self._at(bound, kept, next(parts)))
        runs = Runs(self.how, self.dtype, most)
        for reduced in parts:
            value = self._at(bound, kept, reduced)
            runs.push(value.reshape((*value.shape[: len(kept)], -1)))
        return runs.total()

    def _at(self, bound: Sequence[Any], kept: Index, reduced: Index) -> Any:
        index = (*kept, *reduced)
        return np.broadcast_to(self.expression.of(bound, index), [part.stop - part.start for part in index])

    def _lies_in_columns(self, bound: Sequence[Any]) -> bool:
        """Whether neighbours along a kept axis are closer in memory than those along a reduced one."""
        n = len(self.kept)
        for x in bound:
            if type(x) is np.ndarray and all(x.strides):
                strides = [abs(s) if m > 1 else 1 << 62 for s, m in zip(x.strides, x.shape, strict=True)]
                return min(strides[:n], default=1 << 62) < min(strides[n:])
        return False
