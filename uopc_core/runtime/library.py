"""Shared objects in this process: path -> Library -> addresses of its functions.

Where the system has no `dlopen`, as on Windows, no object can be loaded, and all else works.
Invariant: an object stays loaded while a Library or a Function of it lives, and no longer: each takes memory mappings,
of which a process may have 65 530.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from _cffi_backend import FFI  # the part of cffi that reads C types by itself; `cffi.FFI` would load pycparser, 50 ms

from uopc_core.records import record

__all__ = ["CFunction", "Library", "can_load", "ffi"]

ffi: Any = FFI()
_FLAGS: int = getattr(os, "RTLD_NOW", 0) | getattr(os, "RTLD_LOCAL", 0)


def _process_function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the C library of this process, or None where there is none of that name."""
    try:
        function = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    function.restype, function.argtypes = result, arguments
    return function


_dlopen = _process_function("dlopen", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
_dlsym = _process_function("dlsym", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_dlclose = _process_function("dlclose", ctypes.c_int, ctypes.c_void_p)
_dlerror = _process_function("dlerror", ctypes.c_char_p)


def can_load() -> bool:
    """Whether this system loads shared objects in the way that is written for here."""
    return _dlopen is not None


class Library:
    """A loaded shared object; closed with its last reference."""

    __slots__ = ("_handle", "path")

    def __init__(self, path: str) -> None:
        """Load the object at `path`.

        Raises:
            OSError: it is not one, or a symbol it needs is missing.
        """
        self.path = path
        self._handle: int | None = None
        if not can_load():
            raise OSError(f"{path}: this system has no dlopen")
        self._handle = _dlopen(os.fsencode(path), _FLAGS)
        if self._handle is None:
            raise OSError(os.fsdecode(_dlerror() or b"dlopen failed"))

    def function(self, symbol: str) -> CFunction:
        """The function called `symbol`.

        Raises:
            OSError: the object has none.
        """
        address = _dlsym(self._handle, symbol.encode())
        if address is None:
            raise OSError(f"{self.path}: no function {symbol}")
        return CFunction(address, self)

    def __del__(self, is_finalizing: Any = sys.is_finalizing, close: Any = _dlclose) -> None:
        if self._handle is not None and not is_finalizing():
            close(self._handle)


@record(slots=True, eq=False)
class CFunction:
    """The address of a compiled function, and the library that must live as long as the address is used."""

    address: int
    library: Library
