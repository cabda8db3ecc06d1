"""A table that keeps the values used last: a bounded memory of what was made before.

There is no lock: each step that others could see is one operation of a dict, or one assignment. So it may be used from
threads, in handlers of signals and finalizers, in the midst of its own functions.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Recent"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keys and values, at most `limit`; the half of them that was used last is never dropped.

    Two generations: what is used moves to the young one. When that holds half of the limit, it becomes the old one, and
    the old one is dropped.
    """

    __slots__ = ("_generations", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._generations: tuple[dict[K, V], dict[K, V]] = ({}, {})

    def get(self, key: K) -> V | None:
        """The value of `key`, or None."""
        young, old = self._generations
        value = young.get(key)
        if value is None:
            value = old.get(key)
            if value is not None:
                value = self.add(key, value)
        return value

    def add(self, key: K, value: V) -> V:
        """The value of `key`: this one if there was none."""
        generations = self._generations
        young = generations[0]
        value = young.setdefault(key, value)
        if 2 * len(young) >= self.limit and self._generations is generations:
            self._generations = ({}, young)
        return value

    def replace(self, key: K, value: V) -> None:
        """Another value for `key`."""
        young, old = self._generations
        young[key] = value
        old.pop(key, None)

    def clear(self) -> None:
        self._generations = ({}, {})

    def __len__(self) -> int:
        young, old = self._generations
        return len(young.keys() | old.keys())
