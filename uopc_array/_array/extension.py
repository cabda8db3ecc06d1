"""The optional module in C (the folder `in_c`), and what stands in its place where it has not been built."""

from __future__ import annotations

import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from uopc_core import choose_in_c, compare_in_c
from uopc_core.frontend.alone import HAS_GLOBAL_LOCK

__all__ = ["IN_C", "Quick", "QuickCall"]

_INTERFACE = 5  # between the module and what calls it; module.c says the same, and both are changed together


class _NoOperators:
    """The first base of arrays where there are no operators in C."""

    __slots__ = ()


class _NoCall:
    """The first base of jitted functions where there is no call in C."""

    __slots__ = ()


def _found() -> Any:
    """The module, or None: it is optional when the package is installed, and counts on the global lock."""
    if not HAS_GLOBAL_LOCK:
        return None
    with suppress(ImportError):
        module = import_module("uopc_array._array.at_once_c")
        if getattr(module, "INTERFACE", None) == _INTERFACE:
            return module
        warnings.warn(
            "uopc_array: its extension was compiled from other sources and is not used, which makes small arrays "
            "slower. Install the package again (pip install --editable . where it is a checkout)",
            RuntimeWarning,
            stacklevel=2,
        )
    return None


IN_C = _found()
if IN_C is not None:
    compare_in_c(IN_C)
    choose_in_c(IN_C)

if TYPE_CHECKING:
    Quick, QuickCall = _NoOperators, _NoCall
else:
    Quick, QuickCall = (_NoOperators, _NoCall) if IN_C is None else (IN_C.Quick, IN_C.QuickCall)
