"""The end of the process, at which some may still want to compute.

Functions of `atexit` and threads that outlive the main one find all as it was. Finalizers of what lives until then run
when nothing can be imported any more, so what arrays are computed with is loaded before. That takes as long as
importing the package did, so it is done only where a class that the package and the standard library do not know has a
`__del__`.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from uopc_core.lazy import load_what_computes

__all__ = ["before_finalizers", "when_main_ends"]

_OURS = ("numpy", "uopc_array", "uopc_core")
_METHODS = ("sum", "prod", "min", "max", "any", "all", "mean")  # of NumPy's arrays, which import at their first call
_callbacks: list[Callable[[], object]] = []


def before_finalizers(callback: Callable[[], object]) -> None:
    """Have `callback` called at the end of the process, if there may be finalizers that compute."""
    _callbacks.append(callback)


def when_main_ends(callback: Callable[[], object]) -> None:
    """Have `callback` called when the main thread has ended: before other threads are waited for, where Python can."""
    register: Callable[..., object] = getattr(threading, "_register_atexit", atexit.register)
    try:
        register(callback)
    except RuntimeError:  # it has
        callback()


def _prepare() -> None:
    if not _has_finalizers():
        return
    load_what_computes()
    for method in _METHODS:
        getattr(np.ones(1), method)()
    str(np.ones(1))
    for callback in _callbacks:
        callback()


def _has_finalizers() -> bool:
    known = {*sys.stdlib_module_names, *_OURS} - {"__main__"}
    seen: set[type] = set()
    waiting: list[type] = [object]
    while waiting:
        cls = waiting.pop()
        finalizer: Any = vars(cls).get("__del__")
        if isinstance(finalizer, FunctionType) and finalizer.__module__.partition(".")[0] not in known:
            return True
        below = [sub for sub in type.__subclasses__(cls) if sub not in seen]
        seen.update(below)
        waiting += below
    return False


atexit.register(_prepare)
