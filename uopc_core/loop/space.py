"""The iteration space of a kernel, and the statements of the kernel at any coordinates of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from uopc_core.dtype import DType, dtypes, is_inexact, is_integer
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.loop.index import Index, Var, flatten, position
from uopc_core.loop.loop_ir import Acc, Accumulate, Const, Statement, Store, Update
from uopc_core.loop.optimise import find_split, live_statements
from uopc_core.loop.rangeify import Coords, InputName, Lowering, wrapped
from uopc_core.records import record
from uopc_core.schedule.kernel import Kernel
from uopc_core.schedule.kernelize import MAX_INLINE_REDUCE, is_inline_reduce

__all__ = [
    "IN_TURN",
    "NO_AXES",
    "Axes",
    "BoundKernel",
    "Lower",
    "Lowered",
    "Space",
    "empty_accesses",
    "identity_of",
    "is_ordered",
    "lower_check",
    "lower_copy",
    "lower_kernel",
    "lower_scan",
    "lower_updates",
    "settle",
    "space_of",
]

IN_TURN = MAX_INLINE_REDUCE  # elements that a reduction combines one after the other, written out or in a loop
_MAX_SPLITS = 12  # each lowers the kernel again; a quotient that is left is computed for each element, and is right


@record(slots=True)
class Space:
    """What a kernel iterates over: `kept` axes, then those that its `reductions` reduce."""

    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    reductions: tuple[UOp, ...]

    @property
    def full(self) -> tuple[int, ...]:
        return self.kept + self.reduced


def space_of(kernel: Kernel) -> Space:
    """The iteration space of a kernel; the last axis of a scan counts as reduced."""
    root = kernel.outputs[0]
    if root.op is Ops.SCAN:
        return Space(root.shape[:-1], root.shape[-1:], ())
    reductions = [node for node in kernel.order if node.op is Ops.REDUCE and not is_inline_reduce(node)]
    if not reductions:
        return Space(root.shape, (), ())
    full, n = reductions[0].src[0].shape, reductions[0].arg[1]
    assert all(r.src[0].shape == full and r.arg[1] == n for r in reductions), "reductions of different spaces"
    return Space(full[: len(full) - n], full[len(full) - n :], tuple(reductions))


def identity_of(op: Ops, dtype: DType) -> Any:
    """What a reduction of no elements gives."""
    if op in (Ops.MAX, Ops.MIN):
        return _extreme(dtype, lowest=op is Ops.MAX)
    if op is Ops.AND:
        return True if dtype is dtypes.bool else -1 if dtype.kind == "i" else 2 ** (8 * dtype.itemsize) - 1
    return dtype.type(1 if op is Ops.MUL else 0).item()


def is_ordered(acc: Acc) -> bool:
    """Whether the order in which elements are combined can be seen; of extremes it is, by the sign of a zero."""
    return is_inexact(acc.dtype)


def _extreme(dtype: DType, lowest: bool) -> Any:
    if dtype is dtypes.bool:
        return not lowest
    if not is_integer(dtype):
        return float("-inf" if lowest else "inf")
    bits = 8 * dtype.itemsize
    low, high = (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return low if lowest else high


# ---------------------------------------------------------------------------------------------------------- coordinates


@record(slots=True)
class Axes:
    """The loops over some axes, and the coordinates that their variables stand for. Axes of extent 1 have no loop."""

    loops: tuple[Var, ...]
    at: Coords

    @staticmethod
    def of(shape: Sequence[int], prefix: str) -> Axes:
        loops = [Var(f"{prefix}{axis}", 0, n) for axis, n in enumerate(shape)]
        return Axes(tuple([var for var in loops if var.extent > 1]), tuple([Index.of(var) for var in loops]))

    def replaced(self, var: Var, by: Sequence[Var], value: Index) -> Axes:
        """With the loops `by` in the place of the one of `var`, whose value is now `value`."""
        position = self.loops.index(var)
        loops = (*self.loops[:position], *by, *self.loops[position + 1 :])
        return Axes(loops, tuple([index.substitute({var: value}) for index in self.at]))

    def split(self, var: Var, inner: int) -> Axes:
        """With two loops in the place of one, the inner one of extent `inner`."""
        outer_var = Var(f"{var.name}o", 0, var.extent // inner)
        inner_var = Var(f"{var.name}i", 0, inner)
        by = [v for v in (outer_var, inner_var) if v.extent > 1]
        return self.replaced(var, by, Index.of(outer_var) * inner + Index.of(inner_var))


NO_AXES = Axes((), ())


@record(slots=True)
class Lowered:
    """Statements of the full space, then those of the kept axes, which take the accumulators."""

    statements: list[Statement]
    post: list[Statement] = field(default_factory=list[Statement])
    accs: tuple[Acc, ...] = ()


Lower = Callable[[Coords, Coords], Lowered]


def settle(lower: Lower, kept: Axes, reduced: Axes) -> tuple[Lowered, Axes, Axes]:
    """Lower, splitting loops until no quotient is left that a split can remove."""
    lowered = lower(kept.at, reduced.at)
    for _ in range(_MAX_SPLITS):
        found = find_split([*lowered.statements, *lowered.post], [*kept.loops, *reduced.loops])
        if found is None:
            break
        if found[0] in kept.loops:
            kept = kept.split(*found)
        else:
            reduced = reduced.split(*found)
        lowered = lower(kept.at, reduced.at)
    return lowered, kept, reduced


# -------------------------------------------------------------------------------------------------------------- kernels


@record(slots=True)
class BoundKernel:
    """A kernel with its memory.

    Attributes:
        params: what each PARAM is.
        targets: the buffer of each output, None for one that nobody reads.
        strides: of the PARAMs that are windows.
        box: the strides of the outputs, where they are a box of their memory.
    """

    kernel: Kernel
    params: Mapping[int, InputName]
    targets: tuple[int | None, ...]
    prefix: str = ""
    strides: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    box: tuple[int, ...] | None = None


def lower_kernel(call: BoundKernel, space: Space) -> Lower:
    """The statements of elementwise outputs and reductions."""

    def lower(kept: Coords, reduced: Coords) -> Lowered:
        low = Lowering(call.params, f"{call.prefix}v", call.strides)
        after = Lowering(call.params, f"{call.prefix}w", call.strides)
        at = (*kept, *reduced)
        accs = _accumulate(space, low, after, at, call.prefix)
        stores: list[tuple[Lowering, Store]] = []
        for out, target in zip(call.kernel.outputs, call.targets, strict=True):
            if target is not None:
                where, coords = (low, at) if out.shape == space.full else (after, kept)
                value = where.value(out, coords)
                index = flatten(coords, out.shape) if call.box is None else position(coords, call.box)
                stores.append((where, Store(target, index, value, out.dtype)))
        for where, store in stores:  # after all that is read: see `lower.inplace_buffers`
            where.statements.append(store)
        return Lowered(live_statements(low.statements), live_statements(after.statements), accs)

    return lower


def _accumulate(space: Space, low: Lowering, after: Lowering, at: Coords, prefix: str) -> tuple[Acc, ...]:
    accs: list[Acc] = []
    for i, node in enumerate(space.reductions):
        op = node.arg[0]
        if 0 in space.reduced:
            after.known[node] = Const(identity_of(op, node.dtype), node.dtype)
            continue
        acc = Acc(f"{prefix}a{i}", op, node.dtype)
        low.statements.append(Accumulate(acc.name, low.value(node.src[0], at)))
        after.known[node] = acc.name
        accs.append(acc)
    return tuple(accs)


def lower_scan(call: BoundKernel) -> Lower:
    """The statements of a scan: accumulate, then store what has been accumulated."""
    node = call.kernel.outputs[0]
    target = call.targets[0]
    assert target is not None, node

    def lower(kept: Coords, reduced: Coords) -> Lowered:
        low = Lowering(call.params, f"{call.prefix}v")
        at = (*kept, *reduced)
        acc = Acc(f"{call.prefix}a0", node.arg, node.dtype)
        low.statements.append(Accumulate(acc.name, low.value(node.src[0], at)))
        low.statements.append(Store(target, flatten(at, node.shape), acc.name, node.dtype))
        return Lowered(live_statements(low.statements), [], (acc,))

    return lower


def empty_accesses(kernel: Kernel) -> Iterator[tuple[tuple[int, ...], tuple[UOp, ...]]]:
    """The gathers and scatters of no elements whose indices have some: the shape they index, and the indices."""
    for node in kernel.order:
        if node.op is Ops.INDEX and node.size == 0 and node.src[1].size:
            yield node.src[0].shape, node.src[1:]
        elif node.op is Ops.SCATTER and node.src[1].size == 0 and node.src[2].size:
            yield node.shape, node.src[2:]


def lower_check(call: BoundKernel, shape: Sequence[int], indices: Sequence[UOp], prefix: str) -> Lower:
    """Checks of indices into `shape`, without reading anything there."""

    def lower(kept: Coords, reduced: Coords) -> Lowered:
        low = Lowering(call.params, prefix)
        for axis, index in enumerate(indices):
            wrapped(low, low.value(index, kept), index, shape[axis], axis, ())
        return Lowered(live_statements(low.statements))

    return lower


def lower_copy(call: BoundKernel) -> Lower:
    """The first half of a scatter: copy its base."""
    base = call.kernel.outputs[0].src[0]
    target = call.targets[0]
    assert target is not None, base

    def lower(kept: Coords, reduced: Coords) -> Lowered:
        low = Lowering(call.params, f"{call.prefix}v")
        value = low.value(base, kept)
        low.statements.append(Store(target, flatten(kept, base.shape), value, base.dtype))
        return Lowered(live_statements(low.statements))

    return lower


def lower_updates(call: BoundKernel) -> Lower:
    """The second half of a scatter: put each value at its index."""
    node = call.kernel.outputs[0]
    value, indices = node.src[1], node.src[2:]
    target = call.targets[0]
    n = len(indices[0].shape)
    assert target is not None, node

    def lower(kept: Coords, reduced: Coords) -> Lowered:
        low = Lowering(call.params, f"{call.prefix}u")
        positions = [
            wrapped(low, low.value(index, kept[:n]), index, node.shape[axis], axis, ())
            for axis, index in enumerate(indices)
        ]
        new = low.value(value, kept)
        position = flatten((*positions, *kept[n:]), node.shape)
        low.statements.append(Update(target, position, new, node.arg, node.dtype))
        return Lowered(live_statements(low.statements))

    return lower
