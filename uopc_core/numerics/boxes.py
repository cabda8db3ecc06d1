"""The keys that most programs read and write by: leading ints in bounds and slices of step 1, which select a box.

What a key selects of a shape is found once and kept, since loops index alike over and over.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from uopc_core.dtype import dtypes
from uopc_core.ir import Ops, UOp
from uopc_core.ir.op import VIEW_OPS
from uopc_core.recent import Recent

__all__ = ["Box", "box_of"]

Bounds = tuple[tuple[int, int], ...]
_PAD, _SHRINK, _WHERE = Ops.PAD, Ops.SHRINK, Ops.WHERE
_INT = object()  # before an int in a flat key, which a slice has no place for


class Box:
    """A box of arrays of one shape.

    Attributes:
        kept: the shape of what is read.
        size: number of its elements.
        is_part: whether that is not all there are.
    """

    __slots__ = ("_bounds", "_inner", "_inside", "_widths", "is_part", "kept", "size")

    def __init__(self, shape: tuple[int, ...], bounds: Bounds, kept: tuple[int, ...]) -> None:
        self._bounds = bounds
        self._inner = tuple([stop - start for start, stop in bounds])
        self._widths = tuple([(start, n - stop) for (start, stop), n in zip(bounds, shape, strict=True)])
        self._inside: UOp | None = None
        self.kept = kept
        self.is_part = any([start > 0 or stop < n for (start, stop), n in zip(bounds, shape, strict=True)])
        self.size = 1
        for n in kept:
            self.size *= n

    def read(self, x: UOp) -> UOp:
        """What lies in the box, a node of `x`."""
        if self.is_part:
            x = UOp.of_type(_SHRINK, (x,), self._bounds, self._inner, x.dtype)
        return x if x.shape == self.kept else x.reshape(self.kept)

    def write(self, x: UOp, value: UOp) -> UOp:
        """`x` with `value`, of what is read the shape and the dtype, in the box."""
        if not self.is_part:
            return value.reshape(x.shape)
        if value.op in VIEW_OPS and value is self.read(x):
            return x
        placed = value if value.shape == self._inner else value.reshape(self._inner)
        padded = UOp.of_type(_PAD, (placed,), self._widths, x.shape, x.dtype)
        return UOp.of_type(_WHERE, (self._where(), padded, x), None, x.shape, x.dtype)

    def _where(self) -> UOp:
        """True in the box, False around it."""
        if self._inside is None:
            self._inside = UOp.const(True, dtypes.bool, self._inner).pad(self._widths)
        return self._inside


_boxes: Recent[Hashable, Box] = Recent(4096)


def box_of(shape: tuple[int, ...], key: Any) -> Box | None:
    """What `key` selects of an array of `shape`; None where it has anything but leading ints in bounds and slices of
    step 1.
    """
    flat: list[Any] = [shape]
    for item in cast("tuple[Any, ...]", key) if type(key) is tuple else (key,):
        if type(item) is slice:
            start, stop, step = item.start, item.stop, item.step
            if (
                (start is not None and type(start) is not int)
                or (stop is not None and type(stop) is not int)
                or (step is not None and (type(step) is not int or step != 1))
            ):
                return None
            flat += (start, stop)
        elif type(item) is int:
            flat += (_INT, item)
        else:
            return None
    known = _boxes.get(tuple(flat))
    return _made(shape, flat) if known is None else known


def _made(shape: tuple[int, ...], flat: list[Any]) -> Box | None:
    """The box of a flat key, kept from now on."""
    items = list(zip(flat[1::2], flat[2::2], strict=True))
    if len(items) > len(shape):
        return None
    bounds: list[tuple[int, int]] = []
    kept: list[int] = []
    for (start, stop), n in zip(items, shape, strict=False):
        if start is _INT:
            if not -n <= stop < n:
                return None
            bounds.append((stop % n, stop % n + 1))
        else:
            first, last, _ = slice(start, stop).indices(n)
            bounds.append((first, max(first, last)))
            kept.append(max(first, last) - first)
    rest = shape[len(items) :]
    box = Box(shape, (*bounds, *[(0, n) for n in rest]), (*kept, *rest))
    return _boxes.add(tuple(flat), box)
