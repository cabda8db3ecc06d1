"""Nested containers of arrays (pytrees) as arguments and results of the transforms, and words for a place in one."""

from __future__ import annotations

import atexit
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from uopc_core import before_finalizers
from uopc_core.lazy import LazyModule


def _leave_optree() -> None:
    """At the end of the process optree forgets its containers, and soon cannot be called at all."""
    library: Any = optree
    if library is not plain_trees:
        plain_trees.know(library.register_pytree_node.get(namespace=NAMESPACE), namedtuple)
        globals()["optree"] = plain_trees


if TYPE_CHECKING:
    import optree

    from uopc_array._transforms import plain_trees
else:
    # who registers later is called earlier: this comes right before optree's own end
    optree = LazyModule("optree", computes=True, then=lambda: atexit.register(_leave_optree))
    plain_trees = LazyModule("uopc_array._transforms.plain_trees", computes=True)
before_finalizers(_leave_optree)

__all__ = ["TreeDef", "flatten", "flatten_named", "flatten_until", "map_tree", "spread", "unflatten"]

NAMESPACE = "uopc_array"  # in which optree knows classes that users register
TreeDef: TypeAlias = "optree.PyTreeSpec"


def flatten(tree: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of `tree` in order, and its structure; None is part of the structure."""
    return optree.tree_flatten(tree, namespace=NAMESPACE)


def flatten_until(tree: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], TreeDef]:
    """As `flatten`; what `is_leaf` holds for is not looked into."""
    return optree.tree_flatten(tree, is_leaf=is_leaf, namespace=NAMESPACE)


def flatten_named(tree: Any, name: str) -> tuple[list[Any], list[str], TreeDef]:
    """As `flatten`, with the place of each leaf in words: ``argument 0['w'][1]``."""
    paths, leaves, treedef = optree.tree_flatten_with_path(tree, namespace=NAMESPACE)
    return leaves, [name + "".join(f"[{step!r}]" for step in path) for path in paths], treedef


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    return optree.tree_unflatten(treedef, leaves)


def map_tree(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """`function` of every leaf of `tree` and the leaves at the same place in `rest`."""
    return optree.tree_map(function, tree, *rest, namespace=NAMESPACE)


def spread(values: Any, tree: Any) -> list[Any]:
    """One value, or None, per leaf of `tree`; an entry of `values` stands for all leaves below its place.

    Raises:
        ValueError: `values` has another structure.
    """
    filled = optree.tree_broadcast_prefix(values, tree, none_is_leaf=True, namespace=NAMESPACE)
    spread_out = optree.tree_leaves(filled, none_is_leaf=True, namespace=NAMESPACE)
    leaves = optree.tree_leaves(tree, none_is_leaf=True, namespace=NAMESPACE)
    return [value for value, leaf in zip(spread_out, leaves, strict=True) if leaf is not None]


def split(values: Sequence[Any], sizes: Sequence[int]) -> list[Sequence[Any]]:
    """`values` cut into runs of these sizes."""
    out: list[Sequence[Any]] = []
    start = 0
    for size in sizes:
        out.append(values[start : start + size])
        start += size
    return out
