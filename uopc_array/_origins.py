"""Which function of the namespace made a gather: the name for an index out of bounds, which is found when it runs.

The graph does not know the names of functions, so they stand beside it, for as long as the nodes live.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from uopc_core import Buffer, Ops, UOp, realize_all, toposort
from uopc_core.errors import IndexBoundsError, SorterBoundsError

__all__ = ["compute", "gather", "named"]

_NAMES: WeakKeyDictionary[UOp, str] = WeakKeyDictionary()


def gather(name: str, x: UOp, *indices: UOp) -> UOp:
    """``x`` at integer nodes of one shape on its leading axes, for the function `name`."""
    node = UOp.new(Ops.INDEX, (x, *indices))
    _NAMES[node] = name
    return node


def named(error: IndexBoundsError, nodes: Sequence[UOp]) -> IndexBoundsError:
    """`error`, met while `nodes` were computed, with the names of the functions whose index it may be."""
    gathers = [node for node in toposort(nodes) if node.op in (Ops.INDEX, Ops.SCATTER)]
    names = dict.fromkeys(_NAMES.get(node, "index") for node in gathers)
    if not names or list(names) == ["index"]:
        return error
    of_sorter = list(names) == ["searchsorted"]
    return (SorterBoundsError if of_sorter else IndexBoundsError)(f"{' or '.join(names)}: {error}")


def compute(nodes: Sequence[UOp]) -> list[Buffer]:
    """The memory of each node, computed now if it is not there yet.

    Raises:
        IndexBoundsError: an index outside its axis; names the function that gathers.
    """
    try:
        return realize_all(nodes)
    except IndexBoundsError as error:
        raise named(error, nodes) from None
