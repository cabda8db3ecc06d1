"""Indices out of bounds: found where a gather or scatter is made if the indices are known, else when it is computed.

What is found late is told with the function that was called and the line that called it. The graph knows neither, so
they stand beside it, for as long as the nodes live.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from uopc_array._array.tracing import user_line
from uopc_core import TRACED, Buffer, Ops, Region, UOp, dtypes, realize_all, walk
from uopc_core.errors import ChoiceBoundsError, IndexBoundsError, SorterBoundsError, shortened

__all__ = ["compute", "gather", "hand_on_origins", "named", "scatter"]

_SAME_NUMBERS = frozenset({Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.FLIP})
_KINDS = {"choose": ChoiceBoundsError, "searchsorted": SorterBoundsError}  # where NumPy raises ValueError
_GATHERS = frozenset({Ops.INDEX, Ops.SCATTER})
_ORIGINS: WeakKeyDictionary[UOp, tuple[str, str]] = WeakKeyDictionary()  # the function, and the line of its call
_INSIDE: WeakKeyDictionary[Region, dict[tuple[str, str], None]] = WeakKeyDictionary()  # of the gathers in regions


def gather(name: str, x: UOp, *indices: UOp, axes: Sequence[int] = ()) -> UOp:
    """``x`` at integer nodes of one shape on its leading axes, for the function `name`.

    Args:
        axes: what the user calls these axes.
    Raises:
        IndexBoundsError: an index in memory is outside of its axis.
    """
    try:
        known = check_indices(name, x, indices, axes)
    except Exception as error:
        raise shortened(error) from None
    return _noted(name, UOp.new(Ops.INDEX, (x, *indices)), known)


def scatter(name: str, x: UOp, value: UOp, *indices: UOp, mode: str, axes: Sequence[int] = ()) -> UOp:
    """``x`` with `value` put at integer nodes of one shape on its leading axes, or combined with what is there.

    Args:
        mode: of SCATTER.
        axes: what the user calls these axes.
    Raises:
        IndexBoundsError: an index in memory is outside of its axis.
    """
    known = check_indices(name, x, indices, axes)
    return _noted(name, UOp.new(Ops.SCATTER, (x, value, *indices), mode), known)


def _noted(name: str, node: UOp, known: bool) -> UOp:
    """`node`, of which is noted who made it, unless its indices are `known` to be right."""
    if not known and node not in _ORIGINS:
        _ORIGINS[node] = (name, "" if node.flags & TRACED else user_line())
    return node


def check_indices(name: str, x: UOp, indices: Sequence[UOp], axes: Sequence[int] = ()) -> bool:
    """Whether all `indices` into the leading axes of `x` are known.

    Raises:
        IndexBoundsError: one of those that are is out of bounds.
    """
    known = True
    for k, index in enumerate(indices):
        numbers = _numbers_behind(index)
        if numbers is None or index.size == 0:
            known = known and index.size == 0
            continue
        n = x.shape[k]
        low, high = int(numbers.min()), int(numbers.max())
        if low < -n or high >= n:
            kind = _KINDS.get(name, IndexBoundsError)
            found = low if low < -n else high
            axis = axes[k] if axes else k
            raise kind(f"{_prefix([name])}index {found} is out of bounds for axis {axis} with size {n}")
    return known


def _numbers_behind(index: UOp) -> np.ndarray[Any, Any] | None:
    """The numbers of `index`, in another shape or a narrower dtype perhaps, if they are known yet."""
    while (src := index.src) and index.realized is None and (index.op in _SAME_NUMBERS or _widens(index, src[0])):
        index = src[0]
        src = index.src
        if src and index.op is Ops.MIN and index.dtype is dtypes.uint64:  # see composite.as_indices
            index = src[0]
    if index.realized is not None:
        return index.realized.array
    return np.asarray(index.arg) if index.op is Ops.CONST else None


def _widens(node: UOp, of: UOp) -> bool:
    return node.op is Ops.CAST and (np.can_cast(of.dtype, node.dtype) or of.dtype is dtypes.uint64)


def named(error: IndexBoundsError, nodes: Sequence[UOp]) -> IndexBoundsError:
    """`error`, met while `nodes` were computed, with the functions whose index it may be, and the lines that called."""
    order = walk(nodes)
    origins = dict.fromkeys(_ORIGINS[node] for node in order if node.op in _GATHERS and node in _ORIGINS)
    for region in {node.arg[0] for node in order if node.op is Ops.CALL}:
        origins |= _INSIDE.get(region, {})
    names = dict.fromkeys(name for name, _ in origins)
    if not names:
        return error
    lines = [line for line in dict.fromkeys(line for _, line in origins) if line]
    where = f"; asked for at {' or '.join(lines)}" if lines else ""
    kind = _KINDS.get(" or ".join(names), IndexBoundsError)
    return kind(f"{_prefix(list(names))}{error}{where}")


def hand_on_origins(nodes: Sequence[UOp], inputs: Collection[UOp], called: Sequence[UOp]) -> None:
    """Note for the regions that `called` call who made the gathers between `inputs` and `nodes`: those are inside."""
    order = walk(nodes, inputs) if _ORIGINS else []
    origins = dict.fromkeys([_ORIGINS[node] for node in order if node.op in _GATHERS and node in _ORIGINS])
    if origins:
        for region in {node.arg[0] for node in called if node.op is Ops.CALL}:
            _INSIDE[region] = _INSIDE.get(region, {}) | origins


def _prefix(names: Sequence[str]) -> str:
    """What stands before a message: the functions, unless it is the brackets of Python, which say enough."""
    return "" if list(names) == ["index"] else f"{' or '.join(names)}: "


def compute(nodes: Sequence[UOp]) -> list[Buffer]:
    """The memory of each node, computed now if it is not there yet.

    Raises:
        IndexBoundsError: an index outside its axis; names the function that gathers.
    """
    try:
        return realize_all(nodes)
    except IndexBoundsError as error:
        raise named(error, nodes) from None
    except Exception as error:
        raise shortened(error) from None
