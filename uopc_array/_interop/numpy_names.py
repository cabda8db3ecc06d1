"""Every public name of NumPy that the namespace has no version of: NumPy's own, on the values of arrays.

A function that NumPy dispatches (NEP 18) gets arrays of ours as they are, so that all that ``np.f(x)`` does for them
holds for ``xp.f(x)`` too; other functions get their values. Arrays among the results become ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._functions.host import call_host
from uopc_array._interop import numpy_objects
from uopc_array._interop.array_function import array_function
from uopc_core.errors import shortened

__all__ = ["NOTE", "host_function", "numpy_dir", "numpy_name"]

# NumPy's modules whose functions take arrays; others (exceptions, dtypes, typing, ...) are handed on as they are
_SERIES = ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial")
_MODULES = frozenset({"char", "emath", "ma", "polynomial", "rec", "strings", *[f"polynomial.{x}" for x in _SERIES]})
# they look at what they are given, and at no value of it
_AS_THEY_ARE = frozenset({"iterable", "issubdtype", "printoptions"})
_SEQUENCES = tuple, list
_PLAIN = frozenset({Array, np.ndarray, type(None), bool, int, float, complex, str, slice, type})
NOTE = (
    "Runs NumPy's own function on the values of arrays: what it gives is computed at once, has no derivative and no "
    "place under `jit`; arrays among the results are arrays of this package. What follows is NumPy's text.\n\n"
)


def numpy_name(module: str, name: str) -> Any:
    """What stands for ``numpy.<module>.<name>``.

    Args:
        module: the path below ``numpy``, empty for the main namespace.
    Raises:
        AttributeError: NumPy has no such public name.
    """
    path = f"{module}.{name}" if module else name
    if path in numpy_objects.OBJECTS:
        return numpy_objects.OBJECTS[path]
    return _found(path)


@functools.cache
def _found(path: str) -> Any:
    owner, name = _owner(path)
    if name.startswith("_"):
        raise AttributeError(f"module 'uopc_array' has no attribute {path!r}", name=name)
    try:
        value = getattr(owner, name)
    except AttributeError as error:
        raise AttributeError(
            f"module 'uopc_array' has no attribute {path!r}, and NumPy {np.__version__} has none: {error}", name=name
        ) from None
    if isinstance(value, ModuleType):
        return HostModule(path, value) if path in _MODULES else value
    if isinstance(value, type) or not callable(value) or name in _AS_THEY_ARE:
        return value
    return host_function(path, value)


def _owner(path: str) -> tuple[ModuleType, str]:
    """NumPy's module that a dotted path ends in, and its last name."""
    *modules, name = path.split(".")
    owner: Any = np
    for module in modules:
        owner = getattr(owner, module)
    return owner, name


def host_function(path: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``numpy.<path>`` for arrays of ours, with NumPy's signature and text, and for a ufunc its methods."""
    full = f"numpy.{path}"
    is_ufunc = isinstance(function, np.ufunc)
    dispatches = hasattr(function, "_implementation") or is_ufunc

    def host(*args: Any, **kwargs: Any) -> Any:
        try:
            if dispatches and not is_ufunc and _is_plain_call(args, kwargs):
                return array_function(function, (), args, kwargs)
            if dispatches and _holds_arrays((args, kwargs)):
                return function(*args, **kwargs)
            return call_host(full, function, args, kwargs)
        except Exception as error:
            raise shortened(error) from error.__cause__

    functools.update_wrapper(host, function, [a for a in functools.WRAPPER_ASSIGNMENTS if hasattr(function, a)])
    host.__module__, host.__qualname__ = "uopc_array", path  # where pickle finds it
    host.__doc__ = NOTE + (function.__doc__ or "")
    if isinstance(function, np.ufunc):
        for method in ("reduce", "accumulate", "outer", "reduceat", "at"):
            setattr(host, method, host_function(f"{path}.{method}", getattr(function, method)))
        for fact in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
            setattr(host, fact, getattr(function, fact))
    return host


def _holds_arrays(x: Any) -> bool:
    """Whether there is an array of ours in it, also inside of tuples, lists and dicts."""
    stack = [x]
    while stack:
        item = stack.pop()
        if isinstance(item, Array):
            return True
        if isinstance(item, _SEQUENCES):
            stack.extend(cast("tuple[Any, ...]", item))
        elif isinstance(item, dict):
            stack.extend(cast("dict[Any, Any]", item).values())
    return False


def _is_plain_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an array of ours is among the operands, and no class but ours may have a say in the call: what NumPy's
    dispatch would find out, with more around it.
    """
    return (
        (Array in map(type, args) or any([type(x) in _SEQUENCES for x in args]))
        and _are_plain(args)
        and (not kwargs or _are_plain(kwargs.values()))
        and (Array in map(type, args) or _holds_arrays(args))
    )


def _are_plain(items: Iterable[Any]) -> bool:
    for x in items:
        if type(x) not in _PLAIN and not (type(x) in _SEQUENCES and _are_plain(x)):
            return False
    return True


class HostModule(ModuleType):
    """A module of NumPy whose functions take and give arrays of ours."""

    def __init__(self, path: str, module: ModuleType) -> None:
        super().__init__(f"uopc_array.{path}", NOTE + (module.__doc__ or ""))
        self._path = path
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        return numpy_name(self._path, name)

    def __dir__(self) -> list[str]:
        return numpy_dir(self._path)


def numpy_dir(module: str) -> list[str]:
    """The public names of ``numpy.<module>``."""
    owner: Any = np
    for part in module.split(".") if module else ():
        owner = getattr(owner, part)
    return [name for name in dir(owner) if not name.startswith("_")]
