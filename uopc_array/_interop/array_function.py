"""NEP 18: NumPy's other functions on arrays of ours, and ``like=``.

Calls of a function that has a description of ours come to ours; other functions run in NumPy, on the values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._functions.host import call_host
from uopc_array._functions.outputs import only, store
from uopc_array._functions.public import ROUTES
from uopc_core.errors import shortened

__all__ = ["array_function"]

_NO_VALUE = getattr(np, "_NoValue", None)


def array_function(
    function: Callable[..., Any], types: Collection[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What `Array.__array_function__` returns; NotImplemented where another class takes part that may know better."""
    if not all(issubclass(t, Array | np.ndarray) for t in types):
        return NotImplemented
    kwargs = {name: value for name, value in kwargs.items() if value is not _NO_VALUE}
    try:
        public = ROUTES.get(function)
        if public is not None:
            return public(*args, **kwargs)
        path = _path(function)
        out = only(path, kwargs.pop("out", None))
        result = call_host(f"numpy.{path}", function, args, kwargs)
        return result if out is None else store(path, result, out, kwargs.get("casting", "same_kind"))
    except Exception as error:
        raise shortened(error, function.__name__) from error.__cause__


def _path(function: Callable[..., Any]) -> str:
    """``numpy.linalg.det`` -> ``linalg.det``."""
    module = function.__module__.removeprefix("numpy").removeprefix(".")
    return f"{module}.{function.__name__}" if module else function.__name__
