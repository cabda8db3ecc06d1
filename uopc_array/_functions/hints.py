"""Parameters that change no value here, such as how NumPy is to lay out memory: they are checked and left aside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uopc_array._functions.arguments import check_device
from uopc_array._functions.describe import Description, Parameter

__all__ = ["check_hint"]


def check_hint(description: Description, name: str, p: Parameter, value: Any) -> None:
    """
    Raises:
        ValueError, TypeError: `value` is none that the parameter `p` of the function `name` has in NumPy.
    """
    if p.name == "order":
        _check_order(name, value, "CF" if description.parameters[0].name in _EXTENTS else "CFAK")
    elif p.name in _CHECKS:
        _CHECKS[p.name](name, value)


def _check_order(name: str, order: Any, known: str) -> None:
    if order is None:
        return
    if not isinstance(order, str):
        raise TypeError(f"{name}: expected a string for order, got {order!r:.60}")
    if len(order) != 1 or order.upper() not in known:
        *first, last = [f'"{letter}"' for letter in known]
        raise ValueError(f"{name}: expected order {', '.join(first)} or {last}, got {order!r}")


def _check_like(name: str, like: Any) -> None:
    if not hasattr(like, "__array_function__"):
        raise TypeError(f"{name}: expected an array for like, got {type(like).__name__}")


_EXTENTS = ("shape", "N")  # what begins with them has no array to keep the order of
_CHECKS: dict[str, Callable[[str, Any], None]] = {"device": check_device, "like": _check_like}
