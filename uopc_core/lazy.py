"""What is made on first use. The compiler, the derivatives and libraries that few programs need are loaded then, so
that importing either package costs little more than importing NumPy.

The only place where a module is imported by a name that is a value. What stands in for a module, and what the top of
the core hands on late, is listed where it is used. A module is there as a whole or not at all, also for a handler of
signals that needs it while it is being imported (see `once`). What finalizers may need when Python ends, and can import
nothing any more, is loaded before (see `endings`).
"""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

from uopc_core.once import once

__all__ = ["LazyModule", "compute_with", "late_property", "load_name", "load_what_computes"]

T = TypeVar("T")

_TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)
_PATIENCE_S = 10.0  # for a process that may open few files
_POLL_S = 0.01
_loaded: dict[str, ModuleType] = {}  # those that somebody asked for here; at the end `sys.modules` is empty
_computing: dict[str, Callable[[], object] | None] = {}  # modules that arrays are computed with, and what follows


class LazyModule(ModuleType):
    """Stands in for the module `name`, which is imported at the first look at one of its names.

    Args:
        computes: arrays are computed with it.
        then: called once it is imported.
    """

    def __init__(self, name: str, *, computes: bool = False, then: Callable[[], object] | None = None) -> None:
        super().__init__(name)
        if computes:
            _computing[name] = then

    def __getattr__(self, name: str) -> Any:
        value = getattr(_load(self.__name__), name)
        return self.__dict__.setdefault(name, value)  # from now on found without a call of this function


def load_name(package: str, modules: Mapping[str, str], name: str) -> Any:
    """`name` from the module that `modules` has for it; what a package's own `__getattr__` returns (PEP 562).

    Raises:
        AttributeError: `modules` has none.
    """
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(_load(modules[name]), name)


def compute_with(*names: str) -> None:
    """Say that arrays are computed with these modules too."""
    _computing.update(dict.fromkeys(names))


def load_what_computes() -> None:
    """Load all that arrays are computed with."""
    for name in _computing:
        _load(name)


def _load(name: str) -> ModuleType:
    module = _loaded.get(name)
    if module is None:
        module = sys.modules.get(name)
        if module is None or getattr(module.__spec__, "_initializing", False):  # as `import` itself looks
            return once(("module", name), partial(_import, name), is_short=True)
        _enter(name, module)
    return module


def _import(name: str) -> ModuleType:
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            module = import_module(name)
        except OSError as error:
            if error.errno not in _TOO_MANY_FILES or time.monotonic() > end:
                raise
            time.sleep(_POLL_S)  # compilers that work in the background give some back
        else:
            _enter(name, module)
            return module


def _enter(name: str, module: ModuleType) -> None:
    then = None if name in _loaded else _computing.get(name)
    _loaded[name] = module
    if then is not None:
        then()


class late_property(Generic[T]):
    """A property computed at the first look and kept.

    Unlike `functools.cached_property` of Python 3.11 it holds no lock while it computes: two threads may both do so,
    and one of the values is kept.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type) -> T:
        if instance is None:
            return cast("T", self)
        return instance.__dict__.setdefault(self.function.__name__, self.function(instance))
