"""The inputs of one call of a jitted function: what is found among its arguments, in objects there and around it."""

from __future__ import annotations

import functools
import weakref
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.index import ItemLens
from uopc_array._array.lenses import Lens, PartLens
from uopc_array._array.view import View
from uopc_array._transforms.boxes import AttributesBox, Box, DictBox, ListBox
from uopc_array._transforms.captures import Walk, array_key, is_object, value_key
from uopc_array._transforms.trees import flatten, unflatten
from uopc_core.errors import TraceError
from uopc_core.records import record

__all__ = ["NUMBERS", "Arguments", "Memo", "SharedView", "box_of", "containers_among", "views_among", "with_bases"]

_ARRAYS: tuple[type[Any], ...] = (Array, np.ndarray, np.generic)
NUMBERS = frozenset({int, float, complex})


@record
class _Static:
    """An argument that is part of the structure: a trace is kept for each of its values."""

    value: Any


class Arguments:
    """The arguments of one call, and what the function can reach besides.

    Attributes:
        inputs: the arrays and numbers among all that; those in objects and around the function each once.
        numbers: for each leaf of the arguments, its number among the inputs.
        key: the structure: all that a trace depends on.
        walk: what was found in objects among the arguments.
    """

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        static_numbers: frozenset[int],
        static_names: frozenset[str],
        captured: Walk,
        state: int,
        memo: Memo | None = None,
    ) -> None:
        if static_numbers or static_names:
            wanted = {n % len(args) for n in static_numbers if -len(args) <= n < len(args)}
            args = tuple([_Static(x) if i in wanted else x for i, x in enumerate(args)])
            kwargs = {name: _Static(x) if name in static_names else x for name, x in kwargs.items()}
        self.args = args
        self.kwargs = kwargs
        self.captured = captured
        self.leaves, self.treedef = flatten((args, kwargs))
        self._state = state
        self._memo = memo if memo is not None and memo.is_good(self.leaves, captured) else None
        if not self._fill():
            self._memo = None  # there is another object
            self._fill()
        self.key: Hashable = tuple(self._key)
        if kwargs or self.treedef != _plain_treedef(len(args)):
            self.key = (self.treedef, self.key)

    def _fill(self) -> bool:
        """Find the inputs; False if what is known of the first argument is not enough."""
        key: list[Any] = [self._state]
        self.inputs: list[Any] = list(self.captured.handles)
        self.numbers: list[int | None] = []
        self.walk: Walk | None = None
        self._key = key
        inputs, numbers, leaves = self.inputs, self.numbers, iter(self.leaves)
        if self._memo is not None:
            next(leaves)
            self.walk = self._memo.walk
            key += self._memo.key
            inputs += self._memo.handles
            numbers.append(None)
        for leaf in leaves:
            if type(leaf) is Array and not leaf._weak:
                key.append(None if leaf._is_number else leaf._uop.shape)
                key.append(leaf._uop.dtype)
            elif not self._add(leaf):
                if self._memo is not None and self.walk is not self._memo.walk:
                    return False
                numbers.append(None)
                continue
            numbers.append(len(inputs))
            inputs.append(leaf)
        if self.walk is not None and self.walk.attributes:
            self.walk.look_into_namespaces()
        return True

    def key_with(self, views: Sequence[SharedView]) -> Hashable:
        """The key where inputs share elements."""
        return (self.key, tuple([view.key for view in views])) if views else self.key

    def _add(self, leaf: Any) -> bool:
        """Put a leaf into the key; whether it is an input."""
        if isinstance(leaf, _ARRAYS):
            self._key += array_key(leaf)
        elif type(leaf) in NUMBERS and (type(leaf) is not int or -(2**63) <= leaf < 2**63):
            self._key.append(type(leaf))
        else:
            self._add_structure(leaf.value if isinstance(leaf, _Static) else leaf)
            return False
        return True

    def _add_structure(self, value: Any) -> None:
        if is_object(value) or callable(value):
            if self.walk is None or self._memo is not None:
                self.walk = Walk(self.captured, self._key, self.inputs)
                self.walk.numbers = {id(x): i for i, x in enumerate(self.inputs) if isinstance(x, Array)}
            self.walk.visit(value)
            if not self.numbers:
                self._end_of_first = len(self._key), len(self.inputs)
            return
        try:
            self._key.append(value_key(value))
        except TypeError:
            raise TraceError(
                f"jit: a static argument must be hashable, got {value!r:.60}; pass arrays and numbers as inputs, "
                "in tuples, lists and dicts if you like"
            ) from None

    def boxes(self) -> list[tuple[Box, dict[Hashable, Any]]]:
        """The places that the function can bind anew without their being arguments."""
        return [*self.captured.boxes, *(self.walk.boxes if self.walk is not None else ())]

    def numbers_of_objects(self) -> dict[int, int]:
        """The numbers of the objects older than the trace, by their identity."""
        return {**self.captured.seen, **(self.walk.seen if self.walk is not None else {})}

    def object_at(self, number: int) -> Any:
        """The object of a number; the containers among the arguments have negative ones."""
        if number < 0:
            return containers_among((self.args, self.kwargs))[-1 - number]
        if self._memo is not None and number == self._memo.number:
            return _object_of(self.leaves[0])
        return (self.captured if self.walk is None else self.walk).object_at(number)

    def memo(self) -> Memo | None:
        """What to remember of an object that is the first argument; None where there is none, or it might be kept."""
        if self._memo is not None:
            return self._memo
        walk = self.walk
        value = _object_of(self.leaves[0]) if self.leaves else None
        if walk is None or not walk.is_tree or not walk.kept or walk.kept[0] is not value or walk.attributes:
            return None
        if not isinstance(walk.boxes[0][0] if walk.boxes else None, AttributesBox) or _objects_among(self.leaves) > 1:
            return None
        try:
            owner = weakref.ref(value)
        except TypeError:
            return None
        keys, handles = self._end_of_first
        return Memo(walk, self.captured, owner, self._key[1:keys], self.inputs[len(self.captured.handles) : handles])

    def replaced(self, values: dict[int, Array]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with handles in the place of what is no array of ours, and static values themselves."""
        if not values and not any(isinstance(leaf, _Static) for leaf in self.leaves):
            return self.args, self.kwargs
        leaves: list[Any] = []
        for leaf, number in zip(self.leaves, self.numbers, strict=True):
            inner = leaf.value if isinstance(leaf, _Static) else leaf
            leaves.append(inner if number is None else values.get(number, leaf))
        return unflatten(self.treedef, leaves)


def _object_of(leaf: Any) -> Any:
    return leaf.value if isinstance(leaf, _Static) else leaf


def _objects_among(leaves: Sequence[Any]) -> int:
    return sum(is_object(x) or callable(x) for x in map(_object_of, leaves))


class Memo:
    """What was found in an object that was the first argument, without keeping the object.

    Attributes:
        walk: what was found; the object itself has been taken out.
        number: its number there.
        key: its part of the structure.
        handles: its inputs.
    """

    def __init__(
        self, walk: Walk, captured: Walk, owner: weakref.ref[Any], key: Sequence[Any], handles: Sequence[Any]
    ) -> None:
        self.walk = walk
        self.number = walk.seen[id(owner())]
        self.key = key
        self.handles = handles
        self._captured = captured
        self._owner = owner
        walk.handles = list(handles)
        walk.kept[0] = None

    def is_good(self, leaves: Sequence[Any], captured: Walk) -> bool:
        """Whether it is the same object again, with the same attributes."""
        same = bool(leaves) and self._owner() is _object_of(leaves[0]) and captured is self._captured
        return same and self.walk.is_current()


class SharedView(NamedTuple):
    """An input that shares elements with another one: a view of it, a view of what that is a view of, or the same.

    Attributes:
        number: of the input.
        base: the array that both see, or the number of the input that is the same.
        key: says which part of which array it is.
    """

    number: int
    base: Array | int
    key: Hashable


def with_bases(inputs: Sequence[Any], views: Sequence[SharedView]) -> list[Any]:
    known = {id(x) for x in inputs}
    bases = {id(x.base): x.base for x in views if not isinstance(x.base, int) and id(x.base) not in known}
    return [*inputs, *bases.values()]


def views_among(inputs: Sequence[Any]) -> list[SharedView]:
    """Which inputs share elements with others.

    Raises:
        TraceError: arrays of NumPy do.
    """
    numbers: dict[int, int] = {}
    out: list[SharedView] = []
    for i, x in enumerate(inputs):
        first = numbers.setdefault(id(x), i) if isinstance(x, _ARRAYS) else i
        if first != i:
            out.append(SharedView(i, first, (i, "same", first)))
    _refuse_shared_memory([inputs[i] for i in numbers.values() if isinstance(inputs[i], np.ndarray)])
    aliases = {i: inputs[i]._alias for i in numbers.values() if isinstance(inputs[i], Array)}
    views = {i: alias for i, alias in aliases.items() if isinstance(alias, View)}
    of_base = Counter([id(alias.base) for alias in views.values()])
    for i, alias in views.items():
        base = cast("Array", alias.base)
        if id(base) in numbers or of_base[id(base)] > 1:
            group = numbers.get(id(base), -1 - list(of_base).index(id(base)))
            out.append(SharedView(i, base, (i, group, base._uop.shape, base._uop.dtype, _chain_key(alias.steps()))))
    return out


def _chain_key(lenses: Sequence[Lens]) -> Hashable:
    steps: list[Hashable] = []
    for lens in lenses:
        if isinstance(lens, ItemLens):
            steps.append(repr(lens.key))
        else:
            steps.append(lens.op if isinstance(lens, PartLens) else lens)
    return tuple(steps)


def _refuse_shared_memory(arrays: Sequence[Any]) -> None:
    for i, x in enumerate(arrays):
        if any(np.may_share_memory(x, y) for y in arrays[:i]):
            raise TraceError(
                "jit: arrays of NumPy among the arguments share memory, and the function writes to one of them; "
                "pass copies, or one of them and take the parts inside"
            )


@functools.cache
def _plain_treedef(n: int) -> Any:
    """The structure of `n` positional arguments that are no containers."""
    return flatten(((0,) * n, {}))[1]


def containers_among(arguments: Any) -> list[Any]:
    """The lists, dicts and objects among the arguments that are no leaves, in an order that depends on the structure
    alone.
    """
    out: list[Any] = []
    waiting: list[Any] = [*arguments[1].values(), *arguments[0]]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list | dict):
            out.append(item)
        if isinstance(item, dict):
            waiting += cast("dict[Any, Any]", item).values()
        elif isinstance(item, list | tuple):
            waiting += cast("list[Any]", item)
    return out


def box_of(container: Any) -> Box:
    return DictBox(cast("dict[Any, Any]", container)) if isinstance(container, dict) else ListBox(container)


# ------------------------------------------------------------------------------------------------------------ tracing
