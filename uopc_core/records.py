"""Records: dataclasses that nobody changes once they are made, and that cost little to define and to make.

`dataclasses.dataclass(frozen=True)` compiles six methods for each class, in half a millisecond, and the packages have a
hundred classes: that was a quarter of a first call. A record has its own ``__init__`` alone and shares the others. That
no field is assigned to is for the checker of types to hold; what users get hold of are frozen dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

__all__ = ["record"]

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...


@overload
def record(*, slots: bool = ..., eq: bool = ...) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Any] | None = None, /, *, slots: bool = False, eq: bool = True) -> Any:
    """A class of fields that is compared, hashed and shown by them, in their order. Methods of its own stay.

    Args:
        slots: instances have slots for their fields, and no ``__dict__``.
        eq: instances of equal fields are equal, else each is equal to itself alone.
    """
    return partial(_made, slots=slots, eq=eq) if cls is None else _made(cls, slots, eq)


def _made(cls: type[Any], slots: bool, eq: bool) -> type[Any]:
    own = {*cls.__dict__}
    made = dataclass(repr=False, eq=False, slots=slots)(cls)
    names = [each.name for each in fields(made)]
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def equals(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is made else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    def shown(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    methods = {"__repr__": shown, **({"__eq__": equals, "__hash__": hashed} if eq else {})}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made
