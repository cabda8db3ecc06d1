"""What a traced function returns and stores, as templates that are filled in at each call.

A result is made of the inputs themselves, of views of them, of new arrays, of objects older than the trace, and of
constants; the templates say which, and hold no array of the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uopc_array._array.array import Array
from uopc_array._array.lenses import Lens
from uopc_array._array.tracing import Record
from uopc_array._array.view import View
from uopc_array._transforms.captures import Walk
from uopc_array._transforms.trees import TreeDef, flatten_until, unflatten
from uopc_core import UOp
from uopc_core.errors import TraceError
from uopc_core.records import record

__all__ = ["CallResults", "Constant", "Encoder", "Made", "Template"]


@record
class _Given:
    """An input as it is."""

    number: int


@record
class Made:
    """A new array or number on the node of this number."""

    number: int


@record
class _ViewOf:
    """A view of another array."""

    base: _Given | Made
    lenses: tuple[Lens, ...]


@record
class _Owner:
    """A list, a dict or an object that is older than the trace."""

    number: int


@record
class Constant:
    value: Any


_ITERATOR: type[Any] = Iterator
_Part = _Given | Made | _ViewOf | _Owner | Constant


@record
class Template:
    """A nested container of parts."""

    parts: tuple[_Part, ...]
    treedef: TreeDef

    @property
    def owners(self) -> bool:
        """Whether an object older than the trace is among the parts."""
        return any(isinstance(part, _Owner) for part in self.parts)

    @property
    def is_made(self) -> bool:
        """Whether it is one new array and no container."""
        return self.treedef.is_leaf() and isinstance(self.parts[0], Made)


@dataclass
class CallResults:
    """What a call fills templates with.

    Attributes:
        inputs: as the caller gave them.
        nodes: of the new arrays.
        kinds: of these, whether each is an array (of no axes) rather than a number, and whether it is weak.
        owners: the object of a number.
    """

    inputs: Sequence[Any]
    nodes: Sequence[UOp]
    kinds: Sequence[tuple[bool, bool]]
    owners: Callable[[int], Any]
    made: dict[int, Array] = field(default_factory=dict[int, Array])

    def fill(self, template: Template) -> Any:
        return unflatten(template.treedef, [self._part(part) for part in template.parts])

    def _part(self, part: _Part) -> Any:
        if isinstance(part, Made):
            return self._array(part.number)
        if isinstance(part, _Given):
            return self.inputs[part.number]
        if isinstance(part, _ViewOf):
            view = self._part(part.base)
            for lens in part.lenses:
                node = view._uop
                view = view._view(node, lens.on_node(node), lens)
            return view
        return self.owners(part.number) if isinstance(part, _Owner) else part.value

    def _array(self, number: int) -> Array:
        found = self.made.get(number)
        if found is None:
            is_array, weak = self.kinds[number]
            node = self.nodes[number]
            found = self.made[number] = Array._array_from_uop(node) if is_array else Array._from_uop(node, weak)
        return found


class Encoder:
    """Makes templates of the values of one trace.

    Args:
        given: numbers of the inputs that are handles, by their identity.
        values: numbers of the inputs that the trace made handles for, by the identity of these.
        owners: numbers of the objects older than the trace, by their identity.
    """

    def __init__(
        self, record: Record, given: Mapping[int, int], values: Mapping[int, int], owners: Mapping[int, int]
    ) -> None:
        self._record = record
        self._given = given
        self._values = values
        self._owners = owners
        self._numbers: dict[int, int] = {}
        self._handles: list[Array] = []
        self.nodes: list[UOp] = []
        self.kinds: list[tuple[bool, bool]] = []

    def encode(self, value: Any, stored: bool = False) -> Template:
        """The template for `value`.

        Args:
            stored: it goes back to where it came from, so that inputs which are no arrays of ours stay what they are.
        Raises:
            TraceError: it holds an array of the trace where none is looked for.
        """
        leaves, treedef = flatten_until(value, lambda x: id(x) in self._owners)
        for leaf in leaves:
            if isinstance(leaf, Array) and not isinstance(leaf._alias, View):
                self._number_of(leaf)
        return Template(tuple([self._encode(leaf, stored) for leaf in leaves]), treedef)

    def add(self, handle: Array) -> int:
        """The number of the present node of `handle` among `nodes`."""
        number = self._numbers.get(id(handle))
        if number is None:
            number = self._numbers[id(handle)] = len(self.nodes)
            self._handles.append(handle)
            self.nodes.append(handle._uop)
            self.kinds.append((handle._alias is not None and not handle.shape, handle._weak))
        return number

    def add_node(self, node: UOp) -> int:
        """The number of the node of something that is written to."""
        self.nodes.append(node)
        self.kinds.append((False, False))
        return len(self.nodes) - 1

    def _number_of(self, handle: Array) -> None:
        if id(handle) not in self._given:
            self.add(handle)

    def _encode(self, leaf: Any, stored: bool) -> _Part:
        if id(leaf) in self._owners:
            return _Owner(self._owners[id(leaf)])
        if not isinstance(leaf, Array):
            return self._constant(leaf)
        if stored and id(leaf) in self._values:
            return _Given(self._values[id(leaf)])
        known = self._known(leaf)
        if known is not None:
            return known
        alias = leaf._alias
        base = self._known(alias.base) if isinstance(alias, View) else None
        if base is None or not isinstance(alias, View):
            return Made(self.add(leaf))
        return _ViewOf(base, alias.steps())

    def _known(self, handle: Any) -> _Given | Made | None:
        if id(handle) in self._given:
            return _Given(self._given[id(handle)])
        number = self._numbers.get(id(handle))
        return None if number is None else Made(number)

    def _constant(self, leaf: Any) -> Constant:
        if isinstance(leaf, _ITERATOR):
            raise TraceError(
                f"jit: {self._record.function} returns or stores an iterator ({_name_of(leaf)}), which would hold "
                "what was computed when it was traced; return a list or a tuple"
            )
        walk = Walk()
        walk.visit(leaf)
        made = {id(handle) for item in self._record.created if (handle := item()) is not None}
        if any(id(handle) in made or id(handle) in self._record.shadows for handle in walk.handles):
            raise TraceError(
                f"jit: {self._record.function} returns or stores {_name_of(leaf)}, which holds arrays where jit "
                "does not look for them; return the arrays themselves, in tuples, lists, dicts or a registered pytree"
            )
        return Constant(leaf)


def _name_of(value: object) -> str:
    return type(value).__name__
