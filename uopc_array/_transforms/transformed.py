"""Functions that transforms return: they look like the function that was given, bind as methods, and pickle."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable
from types import MethodType
from typing import Any

from uopc_core.errors import shortened

__all__ = ["TracedFunction", "Transformed", "check_function"]

UserFunction = Callable[..., Any]


def check_function(name: str, f: Any) -> None:
    """
    Raises:
        TypeError: `f` cannot be called.
    """
    if callable(f):
        return
    shown = f"an array of shape {f.shape}" if hasattr(f, "shape") else f"{f!r:.60} ({type(f).__name__})"
    raise TypeError(f"{name}: expected a function, got {shown}; write {name}(f)(x), not {name}(f(x))")


class TracedFunction:
    """What a transform makes of a function.

    Attributes:
        function: the function that was given.
        options: what else the result depends on.
    """

    def __init__(self, function: UserFunction, options: Hashable) -> None:
        functools.update_wrapper(self, function, updated=())  # attributes of a transformed function are its own
        self.function = function
        self.options = options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """By its name where that names it, as a function; else by what it was made of."""
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        name: str = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else self._made_of()

    def _made_of(self) -> tuple[Any, ...]:
        raise NotImplementedError


class Transformed(TracedFunction):
    """The function that ``transform(f, *options)`` returns; `build` makes what it does."""

    def __init__(self, transform: UserFunction, build: UserFunction, function: UserFunction, *options: Any) -> None:
        check_function(transform.__name__, function)
        super().__init__(function, (transform.__name__, repr(options)))
        self._transform = transform
        self._arguments = options
        try:
            self._call = build(function, *options)
        except Exception as error:
            raise shortened(error) from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._call(*args, **kwargs)
        except Exception as error:
            raise shortened(error, self._transform.__name__) from error.__cause__

    def __repr__(self) -> str:
        return f"{self._transform.__name__}({self.function!r})"

    def _made_of(self) -> tuple[Any, ...]:
        return self._transform, (self.function, *self._arguments)
