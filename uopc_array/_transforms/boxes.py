"""The mutable places of a program: cells of closures, global names, attributes, items of lists and dicts.

A box reads as a dict from key to value. The identity of the values tells whether anything has been bound anew.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from operator import is_
from types import CellType
from typing import Any, Protocol, cast

__all__ = [
    "AttributesBox",
    "Box",
    "CellBox",
    "ClassBox",
    "Contents",
    "DictBox",
    "IgnoredBox",
    "ListBox",
    "NamesBox",
    "SlotsBox",
    "differences",
    "has_grown",
    "put_back",
]

Contents = dict[Hashable, Any]
_NOTHING = object()


class Box(Protocol):
    """What all boxes can do."""

    def read(self) -> Contents:
        """What is in it now."""
        ...

    def is_same(self, before: Contents) -> bool:
        """Whether it holds the very objects of `before`."""
        ...

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        """Bind keys anew, and take keys out; `changed` is all there is of a list."""
        ...


class DictBox:
    """A dict."""

    def __init__(self, items: dict[Any, Any]) -> None:
        self.items = items

    def read(self) -> Contents:
        return dict(self.items)

    def is_same(self, before: Contents) -> bool:
        items = self.items
        return (
            len(items) == len(before)
            and all(map(is_, items.values(), before.values()))
            and all(map(is_, items, before))
        )

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        for key in removed:
            self.items.pop(key, None)
        self.items.update(changed)


class AttributesBox(DictBox):
    """The attributes of an object."""


class IgnoredBox(DictBox):
    """What a function puts things into while it is traced, and nobody looks at any more."""

    def __init__(self) -> None:
        super().__init__({})


class ListBox:
    """A list."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def read(self) -> Contents:
        return dict(enumerate(self.items))

    def is_same(self, before: Contents) -> bool:
        return len(self.items) == len(before) and all(map(is_, self.items, before.values()))

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        self.items[:] = changed.values()


class NamesBox:
    """Some names of a namespace: globals that a function looks at."""

    def __init__(self, space: dict[str, Any], names: Sequence[str]) -> None:
        self.space = space
        self.names = tuple(names)

    def read(self) -> Contents:
        return {name: self.space[name] for name in self.names if name in self.space}

    def is_same(self, before: Contents) -> bool:
        get, old = self.space.get, before.get
        return all([get(name, _NOTHING) is old(name, _NOTHING) for name in self.names])

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        for key in removed:
            self.space.pop(cast("str", key), None)
        self.space.update(changed)


class ClassBox(NamesBox):
    """Some attributes of a class."""

    def __init__(self, cls: type, names: Sequence[str]) -> None:
        super().__init__(cast("dict[str, Any]", cls.__dict__), names)
        self.cls = cls

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        for key in removed:
            delattr(self.cls, cast("str", key))
        for key, value in changed.items():
            setattr(self.cls, key, value)


class SlotsBox:
    """The attributes of an object that has `__slots__`."""

    def __init__(self, owner: object, names: Sequence[str]) -> None:
        self.owner = owner
        self.names = tuple(names)

    def read(self) -> Contents:
        found = {name: getattr(self.owner, name, _NOTHING) for name in self.names}
        return {name: value for name, value in found.items() if value is not _NOTHING}

    def is_same(self, before: Contents) -> bool:
        now = self.read()
        return now.keys() == before.keys() and all(map(is_, now.values(), before.values()))

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        for key in removed:
            object.__delattr__(self.owner, cast("str", key))
        for key, value in changed.items():
            object.__setattr__(self.owner, key, value)


class CellBox:
    """A variable of a closure."""

    def __init__(self, cell: CellType) -> None:
        self.cell = cell

    def read(self) -> Contents:
        try:
            return {"": self.cell.cell_contents}
        except ValueError:
            return {}

    def is_same(self, before: Contents) -> bool:
        try:
            return self.cell.cell_contents is before.get("", _NOTHING)
        except ValueError:
            return not before

    def change(self, changed: Mapping[Any, Any], removed: Collection[Hashable]) -> None:
        if removed:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = changed[""]


def differences(box: Box, before: Contents) -> tuple[Contents, list[Hashable]] | None:
    """What has been bound anew since `before`, and what has gone; None where nothing has."""
    if box.is_same(before):
        return None
    now = box.read()
    if isinstance(box, ListBox):
        return now, []
    changed = {key: value for key, value in now.items() if before.get(key, _NOTHING) is not value}
    return changed, [key for key in before if key not in now]


def has_grown(box: Box, before: Contents) -> bool:
    """Whether a list or a dict has other keys than before."""
    return type(box) in (ListBox, DictBox) and box.read().keys() != before.keys()


def put_back(box: Box, before: Contents) -> None:
    """Let the box hold what it held."""
    found = differences(box, before)
    if found is not None:
        changed, removed = found
        added = [key for key in changed if key not in before]
        if isinstance(box, ListBox):
            box.change(before, [])
        else:
            box.change({key: before[key] for key in (*removed, *changed) if key in before}, added)
