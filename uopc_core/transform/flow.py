"""What flows along the edges of a derivative: a tangent or a cotangent, and where it is alive.

A derivative is the sum over all paths from the result to a variable of the products of the factors on the way. An edge
that a selection did not take (a branch of `where`, an element that was cut away or not picked) kills the paths that
lead over it: they count nothing, be a factor on them infinite or nan. All other paths multiply by value. So a flow
carries, beside the numbers, a mask of the places that a living path reaches. The mask is applied late and once, where
numbers are summed; it is built only if it is asked for, and programs without a selection have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from uopc_core.dtype import dtypes
from uopc_core.ir.composite import const_of, zeros_like
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = [
    "Active",
    "Boxes",
    "Flow",
    "Mask",
    "both",
    "either",
    "everywhere",
    "flow_of",
    "join",
    "moved",
    "of_two",
    "padded",
    "times",
]


Box = tuple[tuple[int, int], ...]  # bounds along each axis
_MAX_BOXES = (
    32  # that are compared with each other, since the time grows with the square: parts that an array is cut into
)


class Boxes(NamedTuple):
    """Boxes in an array of `shape`."""

    shape: tuple[int, ...]
    boxes: tuple[Box, ...]


class Mask:
    """A bool graph that is built when `node` is asked for, iteratively, from those of `parents`.

    Attributes:
        split: for a mask narrowed by a condition: the condition, what was narrowed, and whether the condition holds.
        boxes: all places where it is alive, if that is known.
    """

    __slots__ = ("boxes", "built", "make", "parents", "split")

    def __init__(
        self,
        make: Callable[[list[UOp]], UOp],
        *parents: Mask,
        split: tuple[UOp, Active, bool] | None = None,
        boxes: Boxes | None = None,
    ) -> None:
        self.make = make
        self.parents = parents
        self.split = split
        self.boxes = boxes
        self.built: UOp | None = None

    @property
    def node(self) -> UOp:
        stack: list[Mask] = [self]
        while stack:
            mask = stack[-1]
            waiting = [p for p in mask.parents if p.built is None] if mask.built is None else []
            if waiting:
                stack.extend(waiting)
                continue
            if mask.built is None:
                mask.built = mask.make([p.built for p in mask.parents if p.built is not None])
                mask.parents = ()
            stack.pop()
        assert self.built is not None
        return self.built


Active = Mask | None  # None: alive everywhere


class Flow:
    """A tangent or cotangent.

    Attributes:
        raw: its numbers; anything at all where it is dead, unless it is `clean`.
        active: where it is alive.
        clean: `raw` is 0 where it is dead.
    """

    __slots__ = ("active", "clean", "raw")

    def __init__(self, raw: UOp, active: Active = None, clean: bool = True) -> None:
        self.raw = raw
        self.active = active
        self.clean = clean

    @property
    def value(self) -> UOp:
        """The numbers, 0 where it is dead."""
        if self.active is None or self.clean:
            return self.raw
        return self.active.node.where(self.raw, zeros_like(self.raw))


def flow_of(x: UOp) -> Flow:
    """`x` as a seed. Zeros that it selects itself are those of a selection."""
    if x.op is Ops.WHERE:
        condition, chosen, other = x.src
        if const_of(other) == 0:
            return Flow(chosen, both(None, condition), clean=False)
        if const_of(chosen) == 0:
            return Flow(other, both(None, condition, holds=False), clean=False)
    return Flow(x)


def times(flow: Flow, factor: UOp | float) -> Flow:
    """The flow past a factor."""
    if not isinstance(factor, UOp):
        return flow if factor == 1.0 else Flow(flow.raw * factor, flow.active, flow.clean)
    raw = UOp.new(Ops.MUL, (flow.raw, factor))
    if flow.active is None:
        return Flow(raw)
    number = const_of(factor)
    return Flow(raw, flow.active, flow.clean and isinstance(number, float | int) and math.isfinite(number))


def join(x: Flow, y: Flow) -> Flow:
    """The sum of two flows; alive where one of them is."""
    if x.active is y.active:
        return Flow(x.raw + y.raw, x.active, x.clean and y.clean)
    return Flow(x.value + y.value, either(x.active, y.active))


def both(active: Active, condition: UOp, holds: bool = True) -> Mask:
    """Alive, and the condition holds (does not, respectively)."""
    split = condition, active, holds
    if active is None:
        return Mask(lambda _: condition if holds else ~condition, split=split)
    return Mask(lambda alive: alive[0] & (condition if holds else ~condition), active, split=split)


def either(x: Active, y: Active) -> Active:
    if x is None or y is None:
        return None
    if x is y:
        return x
    if x.split is not None and y.split is not None:
        (condition, whole, holds), (other, other_whole, other_holds) = x.split, y.split
        if condition is other and whole is other_whole and holds is not other_holds:  # the halves of a selection
            return whole
    if x.boxes is not None and y.boxes is not None:
        boxes = _united(x.boxes, y.boxes)
        if boxes is not None and boxes.boxes == (tuple([(0, n) for n in boxes.shape]),):
            return None  # the parts of a whole
        return Mask(lambda alive: alive[0] | alive[1], x, y, boxes=boxes)
    return of_two(lambda a, b: a | b, x, y)


def _united(x: Boxes, y: Boxes) -> Boxes | None:
    """The same places in boxes, of which no two could be one; None where it would take long."""
    done: list[Box] = [*x.boxes]
    waiting = [*y.boxes]
    while waiting:
        box = waiting.pop()
        for other in done:
            both = _as_one(box, other)
            if both is not None:
                done.remove(other)
                waiting.append(both)
                break
        else:
            done.append(box)
        if len(done) > _MAX_BOXES:
            return None
    return Boxes(x.shape, tuple(done))


def _as_one(x: Box, y: Box) -> Box | None:
    """The box of the places of two, which differ along one axis alone, and meet there."""
    apart = [axis for axis in range(len(x)) if x[axis] != y[axis]]
    if len(apart) > 1:
        return None
    if not apart:
        return x
    ((a, b), (c, d)) = x[apart[0]], y[apart[0]]
    if max(a, c) > min(b, d):
        return None
    return (*x[: apart[0]], (min(a, c), max(b, d)), *x[apart[0] + 1 :])


def moved(active: Active, move: Callable[[UOp], UOp]) -> Active:
    """The mask moved as the numbers are."""
    return None if active is None else Mask(lambda alive: move(alive[0]), active)


def of_two(make: Callable[[UOp, UOp], UOp], x: Mask, y: Mask) -> Mask:
    return Mask(lambda alive: make(*alive), x, y)


def padded(active: Active, shape: tuple[int, ...], move: Callable[[UOp], UOp], boxes: Boxes | None = None) -> Mask:
    """The mask of numbers of `shape`, moved to where there are places that nothing came to: outside of `boxes`."""
    if active is None:
        return Mask(lambda alive: move(alive[0]), everywhere(shape), boxes=boxes)
    return Mask(lambda alive: move(alive[0]), active)


def everywhere(shape: tuple[int, ...], alive: bool = True) -> Mask:
    return Mask(lambda _: UOp.const(alive, dtypes.bool, shape))
