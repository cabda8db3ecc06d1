"""A closed sub-graph: parameters and results, interned up to renaming, so that equal ones are one object.

It holds no nodes but their fields, line by line, and is so beyond the reach of whatever happens to nodes: one that
somebody computes becomes memory (`UOp.settle`), and a region has none. Its leaves are its parameters, constants and
counters. `calls.py` makes regions of graphs and graphs of regions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from math import prod
from typing import Any, TypeVar

from uopc_core.dtype import DType, name_of
from uopc_core.ir.op import Ops
from uopc_core.recent import Recent

__all__ = ["MAX_HEIGHT", "Input", "Line", "Region"]

T = TypeVar("T")
Type = tuple[tuple[int, ...], DType]
Input = tuple[tuple[int, ...], DType, str]  # shape, dtype, and kind as in PARAM
# op, argument, dtype where it does not follow, and the numbers of the sources: parameters first, then lines. That of a
# constant has the node as its argument, which nobody ever computes
Line = tuple[Ops, Any, DType | None, tuple[int, ...]]

MAX_HEIGHT = 24  # regions within regions; transforms, plans and runs go down by recursion
MAX_DERIVED = 64  # things made of a region and kept with it


class _Ref(weakref.ref["Region"]):
    """A weak reference that knows its key, so that its callback can take the entry out."""

    __slots__ = ("key",)
    key: Hashable


_table: dict[Hashable, _Ref] = {}


def _forget(ref: Any) -> None:
    # None at exit, when modules are taken down
    if _table is not None and _table.get(ref.key) is ref:  # pyright: ignore[reportUnnecessaryComparison]
        _table.pop(ref.key, None)


class Region:
    """Parameters and results; immutable. Made by `calls.close`, or by `Region.of` for lines that are in order.

    Attributes:
        inputs: shape, dtype and kind of each parameter. All are used, and numbered in the order in which they are met
            on the way from the first result down, sources before consumers.
        lines: what is computed of them, sources first.
        results: numbers of the outputs, each another line.
        outputs: their types.
        height: 1, or one more than that of the highest region it calls.
        elements: how many are computed, in the regions that it calls too.
        operations: how many that takes.
    """

    __slots__ = ("__weakref__", "_kept", "elements", "height", "inputs", "lines", "operations", "outputs", "results")

    def __init__(
        self, inputs: tuple[Input, ...], lines: tuple[Line, ...], results: tuple[int, ...], types: tuple[Type, ...]
    ) -> None:
        called: list[Region] = [region for region, _ in {(arg[0], src) for op, arg, _, src in lines if op is Ops.CALL}]
        self.inputs = inputs
        self.lines = lines
        self.results = results
        self.outputs = tuple([types[i - len(inputs)] for i in results])
        self.height = 1 + max([region.height for region in called], default=0)
        self.elements = sum([prod(shape) for shape, _ in types]) + sum([region.elements for region in called])
        self.operations = len(lines) + sum([region.operations for region in called])
        self._kept: Recent[Hashable, Any] = Recent(MAX_DERIVED)

    @staticmethod
    def of(
        inputs: tuple[Input, ...], lines: tuple[Line, ...], results: tuple[int, ...], types: tuple[Type, ...]
    ) -> Region:
        """The region of these fields; `types` are those of the lines."""
        key = (inputs, lines, results)
        region: Region | None = None
        while True:
            ref = _table.get(key)
            found = None if ref is None else ref()
            if found is not None:
                return found
            region = region or Region(inputs, lines, results, types)
            new = _Ref(region, _forget)
            new.key = key
            entered = _table.setdefault(key, new)
            if entered is new:
                return region
            if entered() is None:  # going, and its callback has not been called yet
                _forget(entered)

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is made of this region under `key`, kept with it; two threads may both make it, and one is kept."""
        found = self._kept.get(key)
        return self._kept.add(key, make()) if found is None else found

    def __repr__(self) -> str:
        given = ", ".join(f"{name_of(dtype)}{list(shape)}" for shape, dtype, _ in self.inputs)
        made = ", ".join(f"{name_of(dtype)}{list(shape)}" for shape, dtype in self.outputs)
        return f"Region(({given}) -> ({made}), {len(self.lines)} lines)"

    def __reduce__(self) -> Any:
        raise TypeError("Region: not pickled; write it with to_uir and read it with from_uir")
