"""NumPy's own functions on the values of arrays, for what has no version in the graph.

They end laziness, cannot be differentiated, and cannot be traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from uopc_array._nodes import node_from_numpy
from uopc_array._tracing import trace_error
from uopc_array.array import Array
from uopc_core import DTYPES, TRACED, TRACKED
from uopc_core.errors import GradientError

__all__ = ["call_host", "to_host"]


def call_host(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`function` of NumPy with arrays of ours among its arguments; arrays among its results become ours.

    Raises:
        GradientError: an argument is under differentiation.
        TraceError: an argument has no value yet.
    """
    return _from_host(function(*[to_host(name, x) for x in args], **{k: to_host(name, x) for k, x in kwargs.items()}))


def to_host(name: str, x: Any) -> Any:
    """`x` with every array of ours in it, also inside of tuples, lists and dicts, as a NumPy array of its own."""
    if isinstance(x, Array):
        _refuse_flags(name, x)
        return x.to_numpy()[()] if x._is_number else x.to_numpy()
    if isinstance(x, tuple | list):
        items = [to_host(name, item) for item in cast("tuple[Any, ...]", x)]
        return items if isinstance(x, list) else tuple(items)
    if isinstance(x, dict):
        return {key: to_host(name, value) for key, value in cast("dict[Any, Any]", x).items()}
    return x


def _refuse_flags(name: str, x: Array) -> None:
    if x._uop.flags & TRACED:
        raise trace_error(f"{name}, which runs in NumPy,", x._uop, "call it outside of jit")
    if x._uop.flags & TRACKED:
        raise GradientError(
            f"{name}: it runs in NumPy, so there is no derivative of it; "
            "pass xp.stop_gradient(x) if that is meant to be constant"
        )


def _from_host(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        values = cast("np.ndarray[Any, Any]", x)
        if values.dtype not in DTYPES:
            return values
        node = node_from_numpy(values)
        return Array._from_uop(node) if isinstance(x, np.generic) else Array._array_from_uop(node)
    if isinstance(x, tuple | list):
        items = [_from_host(item) for item in cast("tuple[Any, ...]", x)]
        if isinstance(x, list):
            return items
        kind: Any = type(cast("object", x))
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    return x
