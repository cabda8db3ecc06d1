"""What loads on first use: the compiler, the derivatives and libraries that few programs need, so that importing either
package costs little more than importing NumPy.

The only place where a module is imported by a name that is a value. What stands in for a module, and what the top of
the core hands on late, is listed where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["LazyModule", "load_name"]


class LazyModule(ModuleType):
    """Stands in for the module `name`, which is imported at the first look at one of its names."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # from now on found without a call of this function
        return value


def load_name(package: str, modules: Mapping[str, str], name: str) -> Any:
    """`name` from the module that `modules` has for it; what a package's own `__getattr__` returns (PEP 562).

    Raises:
        AttributeError: `modules` has none.
    """
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(import_module(modules[name]), name)
