"""The package as its own arrays see it: methods look their function up here by name, when they are called.

A method such as `x.sum()` is the function `uopc_array.sum`, which stands in a module that imports the class; by the
time a method is called the package is complete, so the look-up needs no import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from uopc_core.errors import shortened

__all__ = ["PROTOCOLS", "call", "call_as", "find_function", "namespace"]

# how arrays take part in NumPy's functions, entered here by the modules that import the class: "ufunc", "function",
# "store", which puts a result in the array that `out=` names, "reduction" and "moment", with a mask and a first value
PROTOCOLS: dict[str, Callable[..., Any]] = {}

_PACKAGE: ModuleType = sys.modules[__name__.partition(".")[0]]  # not complete yet


def namespace() -> ModuleType:
    """The module that `x.__array_namespace__()` returns."""
    return _PACKAGE


def find_function(path: str) -> Any:
    """The public function of this dotted name (`sum`, `linalg.det`) that is no function of NumPy's, or None."""
    found: Any = namespace()
    for name in path.split("."):
        found = vars(found).get(name) if isinstance(found, ModuleType) else None
    return found


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call the public function `name`."""
    try:
        return getattr(_PACKAGE, name)(*args, **kwargs)
    except Exception as error:
        raise shortened(error) from error.__cause__


def call_as(own: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Call the public function `name` for what the user called by its `own` name, which errors have."""
    try:
        return getattr(_PACKAGE, name)(*args, **kwargs)
    except Exception as error:
        raise shortened(error, own) from error.__cause__
