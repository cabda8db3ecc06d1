"""Fit regions to their calls: graph -> the same graph, with calls of regions that compute what is read and no more.

Constants among the arguments go inside, where rules see them, and so does movement, so that an argument is memory as it
lies; run-time scalars stay scalars. Results that nobody reads are gone, with the parameters that only they took. What
only moves an argument is done outside.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from uopc_core.ir.calls import Closed, close, in_place, key_of_call
from uopc_core.ir.composite import const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import UOp, walk
from uopc_core.records import record
from uopc_core.schedule.kernelize import peel_movement, view_over

__all__ = ["fit_calls"]


def fit_calls(roots: list[UOp]) -> list[UOp]:
    """`roots` with each call of a region fitted to its arguments and to what is read of it."""
    order = walk(roots)
    read: dict[Hashable, set[int]] = {}
    for node in order:
        if node.op is Ops.CALL:
            read.setdefault(key_of_call(node, node.src), set()).add(node.arg[1])
    if not read:
        return roots
    made: dict[UOp, UOp] = {}
    fitted: dict[Hashable, dict[int, UOp]] = {}
    for node in order:
        src = tuple([made[s] for s in node.src])
        if node.op is not Ops.CALL:
            made[node] = node.over(src)
            continue
        key = key_of_call(node, node.src)
        if key not in fitted:
            numbers = tuple(sorted(read[key]))
            fitted[key] = dict(zip(numbers, _fitted(node.arg[0], src, numbers), strict=True))
        made[node] = fitted[key][node.arg[1]]
    return [made[root] for root in roots]


def _fitted(region: Region, arguments: Sequence[UOp], numbers: tuple[int, ...]) -> list[UOp]:
    """The outputs of these numbers of a call with these arguments."""
    cores: dict[UOp, int] = {}
    views: list[UOp] = []
    for x in arguments:
        core = peel_movement(x)
        if core.op is Ops.IOTA or const_of(x) is not None:
            views.append(x)
            continue
        number = cores.setdefault(core, len(cores))
        kind = core.arg[2] if core.op is Ops.PARAM else "buffer"
        views.append(view_over(UOp.param(number, core.shape, core.dtype, kind), core, x))
    given = tuple(views)
    fit = region.kept(("fitted", given, numbers), lambda: _Fitted.of(region, given, numbers))
    return fit.over(list(cores))


@record
class _Fitted:
    """A region for arguments of one form.

    Attributes:
        closed: what it computes of the cores of the arguments.
        views: the results, as movement over those of `closed`; each over PARAM 0.
        ends: which of the results of `closed` each is a view of.
    """

    closed: Closed
    views: tuple[UOp, ...]
    ends: tuple[int, ...]

    @staticmethod
    def of(region: Region, views: Sequence[UOp], numbers: Sequence[int]) -> _Fitted:
        outputs = in_place(region, views)
        roots = [outputs[k] for k in numbers]
        params = {node: None for x in views for node in walk([x]) if node.op is Ops.PARAM}
        inputs = sorted(params, key=lambda node: node.arg[0])
        # what is a mere view of an argument is none of the region's
        ends = [core if (core := peel_movement(root)) in params else root for root in roots]
        over = [view_over(UOp.param(0, end.shape, end.dtype), end, root) for end, root in zip(ends, roots, strict=True)]
        different = list(dict.fromkeys(ends))
        return _Fitted(close(different, inputs, scalars=True), tuple(over), tuple([different.index(x) for x in ends]))

    def over(self, cores: Sequence[UOp]) -> list[UOp]:
        made = self.closed.over(cores.__getitem__)
        return [_moved(view, made[end]) for view, end in zip(self.views, self.ends, strict=True)]


def _moved(view: UOp, x: UOp) -> UOp:
    """`x` moved as `view` moves its PARAM."""
    return view_over(x, peel_movement(view), view)
