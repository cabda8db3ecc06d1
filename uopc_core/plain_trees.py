"""What is asked of optree, in Python: for the end of the process, where optree cannot be called.

The functions have the names and the parameters that they have in optree, and the containers are those that it knew,
registered classes included. Structures that it made before are understood, without a call of its that lets other
threads run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

__all__ = [
    "PyTreeSpec",
    "know",
    "structure_of",
    "tree_broadcast_prefix",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_unflatten",
]

_IsLeaf = Callable[[Any], bool] | None
_Path = tuple[Any, ...]

_known: dict[Any, Any] = {}  # of optree: class -> entry with `flatten_func` and `unflatten_func`
_NAMED_TUPLE: Any = object()  # stands in the table for all classes of named tuples


def know(entries: Mapping[Any, Any], named_tuple: Any) -> None:
    """Take over what optree knows, and under which key it has the classes of named tuples."""
    _known.update(entries)
    _known[_NAMED_TUPLE] = entries[named_tuple]


class PyTreeSpec:
    """The structure of a tree: a leaf, or a container of one class with structures in it.

    Attributes:
        cls: of the container; None of a leaf.
        metadata: what its class needs to be made of other parts.
        keys: of a dict, in its own order.
        children: the structures in it.
        num_leaves: of all.
    """

    __slots__ = ("children", "cls", "keys", "metadata", "num_leaves")

    def __init__(self, cls: Any, metadata: Any, keys: list[Any] | None, children: tuple[PyTreeSpec, ...]) -> None:
        self.cls = cls
        self.metadata = metadata
        self.keys = keys
        self.children = children
        self.num_leaves = 1 if cls is None else sum([child.num_leaves for child in children])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PyTreeSpec)
            and self.cls is other.cls
            and self.metadata == other.metadata
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.cls, self.children))

    def __repr__(self) -> str:
        return f"PyTreeSpec({tree_unflatten(self, [_Star()] * self.num_leaves)!r})"

    def is_leaf(self) -> bool:
        return self.cls is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        waiting = iter(leaves)
        try:
            made = self._made(waiting)
        except StopIteration:
            raise ValueError(f"Too few leaves for PyTreeSpec; expected: {self.num_leaves}.") from None
        if next(waiting, _NAMED_TUPLE) is not _NAMED_TUPLE:
            raise ValueError(f"Too many leaves for PyTreeSpec; expected: {self.num_leaves}.")
        return made

    def _made(self, leaves: Any) -> Any:
        if self.cls is None:
            return next(leaves)
        parts = [child._made(leaves) for child in self.children]
        made = _entry_of(self.cls).unflatten_func(self.metadata, parts)
        if self.keys is not None:
            for key in self.keys:  # in the order that it had
                made[key] = made.pop(key)
        return made


class _Star:
    def __repr__(self) -> str:
        return "*"


_LEAF = PyTreeSpec(None, None, None, ())


def tree_flatten(
    tree: Any, is_leaf: _IsLeaf = None, *, none_is_leaf: bool = False, namespace: str = ""
) -> tuple[list[Any], PyTreeSpec]:
    found: list[tuple[_Path, Any]] = []
    spec = _walk(tree, (), found, is_leaf, none_is_leaf)
    return [leaf for _, leaf in found], spec


def tree_flatten_with_path(tree: Any, *, namespace: str = "") -> tuple[list[_Path], list[Any], PyTreeSpec]:
    found: list[tuple[_Path, Any]] = []
    spec = _walk(tree, (), found, None, False)
    return [path for path, _ in found], [leaf for _, leaf in found], spec


def tree_leaves(tree: Any, is_leaf: _IsLeaf = None, *, none_is_leaf: bool = False, namespace: str = "") -> list[Any]:
    return tree_flatten(tree, is_leaf, none_is_leaf=none_is_leaf)[0]


def tree_unflatten(treespec: Any, leaves: Iterable[Any]) -> Any:
    return structure_of(treespec).unflatten(leaves)


def structure_of(treespec: Any) -> PyTreeSpec:
    """`treespec` itself, or the same structure as optree has it."""
    if isinstance(treespec, PyTreeSpec):
        return treespec
    if treespec.is_leaf():
        return _LEAF
    _, _, metadata, _, _, _, _, order = treespec.__getstate__()[0][-1]  # of the outermost container
    children = tuple([structure_of(child) for child in treespec.children()])
    return PyTreeSpec(treespec.type, metadata, None if order is None else list(order), children)


def tree_broadcast_prefix(prefix: Any, tree: Any, *, none_is_leaf: bool = False, namespace: str = "") -> Any:
    values, spec = tree_flatten(prefix, none_is_leaf=none_is_leaf)
    below = [tree_flatten(part, none_is_leaf=none_is_leaf) for part in _up_to(spec, tree, none_is_leaf)]
    filled = [inner.unflatten([value] * len(leaves)) for value, (leaves, inner) in zip(values, below, strict=True)]
    return spec.unflatten(filled)


def _walk(tree: Any, path: _Path, found: list[tuple[_Path, Any]], is_leaf: _IsLeaf, none_is_leaf: bool) -> PyTreeSpec:
    """The structure of `tree`; its leaves go to `found`."""
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree, none_is_leaf)
    if parts is None:
        found.append((path, tree))
        return _LEAF
    metadata, steps, children = parts
    specs = [
        _walk(child, (*path, step), found, is_leaf, none_is_leaf) for step, child in zip(steps, children, strict=True)
    ]
    keys = list(cast("dict[Any, Any]", tree)) if type(tree) in (dict, defaultdict) else None
    return PyTreeSpec(type(tree), metadata, keys, tuple(specs))


def _up_to(spec: PyTreeSpec, tree: Any, none_is_leaf: bool) -> list[Any]:
    """What stands in `tree` at the leaves of `spec`.

    Raises:
        ValueError: it has another structure above them.
    """
    if spec.cls is None:
        return [tree]
    parts = _parts(tree, none_is_leaf) if type(tree) is spec.cls else None
    if parts is None or len(parts[2]) != len(spec.children) or parts[0] != spec.metadata:
        raise ValueError(f"expected a {spec.cls.__name__} of {len(spec.children)} entries, got {tree!r:.60}")
    return [
        leaf for child, part in zip(spec.children, parts[2], strict=True) for leaf in _up_to(child, part, none_is_leaf)
    ]


def _parts(tree: Any, none_is_leaf: bool) -> tuple[Any, _Path, _Path] | None:
    """What `tree` is made of: metadata, a step to each child, children; None of a leaf."""
    entry = None if tree is None and none_is_leaf else _entry_of(type(tree))
    if entry is None:
        return None
    children, metadata, *entries = entry.flatten_func(tree)
    children = tuple(children)
    steps = tuple(entries[0]) if entries and entries[0] is not None else tuple(range(len(children)))
    return metadata, steps, children


def _entry_of(cls: Any) -> Any:
    entry = _known.get(cls)
    is_named = entry is None and issubclass(cls, tuple) and hasattr(cast("Any", cls), "_fields")
    return _known[_NAMED_TUPLE] if is_named else entry
