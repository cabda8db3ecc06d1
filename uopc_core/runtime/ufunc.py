"""NumPy ufuncs made at run time of compiled loops, by the table of functions that NumPy publishes for extensions.

Extensions read that table by place, so places stay while NumPy's major version does (NEP 53). Where the table is not
the known one, `ForeignLoop` calls the same loops through cffi, with the same values.

Invariant: a ufunc is never freed, nor is anything that NumPy keeps a pointer to: its loop, types, name and text. So a
fixed set of them is made, never one for each graph.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from uopc_core.dtype import DType
from uopc_core.runtime.library import CFunction, ffi

__all__ = ["ForeignLoop", "as_ufunc"]

Array = np.ndarray[Any, Any]

_FROM_FUNC_AND_DATA_AND_SIGNATURE = 31  # place in the table; without a signature it makes a plain ufunc
_NO_IDENTITY = -1
_LOOP = "void(*)(char **, const int64_t *, const int64_t *, void *)"
_never_freed: list[Any] = []
# PYFUNCTYPE keeps the lock of Python's interpreter, which what is called here needs
_GET_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_MAKE = ctypes.PYFUNCTYPE(
    ctypes.py_object,
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),  # loops, their data, their types
    *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),  # loops, inputs, outputs, identity
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p),  # name, text, unused, signature
)


def as_ufunc(name: str, loop: CFunction, dtypes: Sequence[DType], signature: str) -> Any:
    """The function on arrays that runs `loop`: a ufunc, or a `ForeignLoop` where NumPy's table is not the known one.

    Args:
        loop: of NumPy's type ``void(char **args, const int64_t *dims, const int64_t *steps, void *unused)``.
        dtypes: of the operands and of the results; arrays of other dtypes are cast where that is safe.
        signature: as of a generalized ufunc, ``"(n)->()"``; ``"(),()->()"`` is a plain one.
    """
    make = _maker()
    if make is None:
        return ForeignLoop(loop, dtypes, signature)
    n_in = len(_cores(signature)[0])
    loops = (ctypes.c_void_p * 1)(loop.address)
    data = (ctypes.c_void_p * 1)(None)
    types = ctypes.create_string_buffer(bytes([dtype.num for dtype in dtypes]))
    called, text = ctypes.create_string_buffer(name.encode()), ctypes.create_string_buffer(b"")
    plain = not any(chain(*_cores(signature)))
    made = make(
        *map(ctypes.addressof, (loops, data, types)),
        *(1, n_in, len(dtypes) - n_in, _NO_IDENTITY),
        *(ctypes.addressof(called), ctypes.addressof(text), 0, None if plain else signature.encode()),
    )
    _never_freed.append((loop, loops, data, types, called, text, made))
    return made


def _maker() -> Any:
    """NumPy's function that makes ufuncs, or None where the table does not begin as it should."""
    capsule = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    capsule = getattr(capsule, "_UFUNC_API", None)
    if capsule is None or not np.__version__.startswith("2."):
        return None
    get_pointer = _GET_POINTER(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = ctypes.cast(get_pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    return _MAKE(table[_FROM_FUNC_AND_DATA_AND_SIGNATURE]) if table[0] == id(np.ufunc) else None


def _cores(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The names of the core dimensions of each operand, and of each result."""
    before, after = (
        [tuple(filter(None, part.strip("()").split(","))) for part in side.replace(" ", "").split("),")]
        for side in signature.split("->")
    )
    return before, after


def _lacking(x: Array, core: Sequence[str]) -> list[str]:
    """The core dimensions that an operand lacks, where it may: of those whose names end in a question mark."""
    return [name for name in core if name.endswith("?")][: max(len(core) - x.ndim, 0)]


class ForeignLoop:
    """A loop called through cffi on contiguous copies of its operands; core dimensions are their last axes."""

    __slots__ = ("_cores_in", "_cores_out", "_dtypes", "_function", "_loop")

    def __init__(self, function: CFunction, dtypes: Sequence[DType], signature: str) -> None:
        self._function = function
        self._loop = ffi.cast(_LOOP, function.address)
        self._dtypes = tuple(dtypes)
        self._cores_in, self._cores_out = _cores(signature)

    def __call__(self, *operands: Any) -> Any:
        """The result, an array, or a tuple where there are several; of no axes a scalar. What comes after the operands
        takes the result.
        """
        n_in = len(self._cores_in)
        given = [np.asarray(x, dtype) for x, dtype in zip(operands[:n_in], self._dtypes, strict=False)]
        lacking = {name for x, core in zip(given, self._cores_in, strict=True) for name in _lacking(x, core)}
        given = [
            np.expand_dims(x, [i - len(core) for i, name in enumerate(core) if name in _lacking(x, core)])
            for x, core in zip(given, self._cores_in, strict=True)
        ]
        outer = np.broadcast_shapes(
            *[x.shape[: x.ndim - len(core)] for x, core in zip(given, self._cores_in, strict=True)]
        )
        sizes: dict[str, int] = {}
        for x, core in zip(given, self._cores_in, strict=True):
            sizes.update(zip(core, x.shape[x.ndim - len(core) :], strict=True))
        cores = [tuple([sizes[name] for name in core]) for core in (*self._cores_in, *self._cores_out)]
        arrays = [np.ascontiguousarray(np.broadcast_to(x, outer + core)) for x, core in zip(given, cores, strict=False)]
        made = [
            np.empty(outer + core, dtype)
            for core, dtype in zip(cores[len(given) :], self._dtypes[len(given) :], strict=True)
        ]
        self._call([*arrays, *made], cores, [int(np.prod(outer, dtype=np.int64)), *sizes.values()])
        results: list[Any] = []
        for x, core in zip(made, self._cores_out, strict=True):
            left = x.squeeze(tuple([i - len(core) for i, name in enumerate(core) if name in lacking]))
            results.append(left if left.ndim else left[()])
        for x, out in zip(results, operands[n_in:], strict=False):
            out[...] = x
        return results[0] if len(results) == 1 else tuple(results)

    def _call(self, arrays: Sequence[Array], cores: Sequence[tuple[int, ...]], dims: Sequence[int]) -> None:
        steps = [int(np.prod(core, dtype=np.int64)) * x.itemsize for x, core in zip(arrays, cores, strict=True)]
        for x, core in zip(arrays, cores, strict=True):
            steps += x.strides[x.ndim - len(core) :]
        self._loop(
            ffi.new("char *[]", [ffi.cast("char *", x.ctypes.data) for x in arrays]),
            ffi.new("int64_t[]", list(dims)),
            ffi.new("int64_t[]", steps),
            ffi.NULL,
        )

    def at(self, target: Array, places: tuple[Any, ...], values: Any) -> None:
        """``target[places] = self(target[places], values)``, one place after another; as the method of ufuncs."""
        where = np.broadcast_arrays(*places)
        values = np.broadcast_to(values, target[places].shape)
        for number in np.ndindex(where[0].shape):
            place = tuple([int(x[number]) for x in where])
            target[place] = self(target[place], values[number])
