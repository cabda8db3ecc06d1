"""Nested containers of arrays (pytrees) as arguments and results of the transforms, and words for a path in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from uopc_core.containers import NAMESPACE, pytrees, same_structure

if TYPE_CHECKING:
    import optree

__all__ = ["TreeDef", "flatten", "flatten_named", "flatten_until", "map_tree", "same_structure", "spread", "unflatten"]

TreeDef: TypeAlias = "optree.PyTreeSpec"


def flatten(tree: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of `tree` in order, and its structure; None is part of the structure."""
    return pytrees.tree_flatten(tree, namespace=NAMESPACE)


def flatten_until(tree: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], TreeDef]:
    """As `flatten`; what `is_leaf` holds for is not looked into."""
    return pytrees.tree_flatten(tree, is_leaf=is_leaf, namespace=NAMESPACE)


def flatten_named(tree: Any, name: str) -> tuple[list[Any], list[str], TreeDef]:
    """As `flatten`, with the path of each leaf in words: ``argument 0['w'][1]``."""
    paths, leaves, treedef = pytrees.tree_flatten_with_path(tree, namespace=NAMESPACE)
    return leaves, [name + "".join(f"[{step!r}]" for step in path) for path in paths], treedef


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    return pytrees.tree_unflatten(treedef, leaves)


def map_tree(function: Callable[[Any], Any], tree: Any) -> Any:
    """`function` of every leaf of `tree`."""
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [function(leaf) for leaf in leaves])


def spread(values: Any, tree: Any) -> list[Any]:
    """One value, or None, per leaf of `tree`; an entry of `values` stands for all leaves below its path.

    Raises:
        ValueError: `values` has another structure.
    """
    filled = pytrees.tree_broadcast_prefix(values, tree, none_is_leaf=True, namespace=NAMESPACE)
    spread_out = pytrees.tree_leaves(filled, none_is_leaf=True, namespace=NAMESPACE)
    leaves = pytrees.tree_leaves(tree, none_is_leaf=True, namespace=NAMESPACE)
    return [value for value, leaf in zip(spread_out, leaves, strict=True) if leaf is not None]


def split(values: Sequence[Any], sizes: Sequence[int]) -> list[Sequence[Any]]:
    """`values` cut into runs of these sizes."""
    out: list[Sequence[Any]] = []
    start = 0
    for size in sizes:
        out.append(values[start : start + size])
        start += size
    return out
