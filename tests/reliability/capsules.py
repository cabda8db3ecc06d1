"""DLPack capsules as a producer may make them, well or badly: https://dmlc.github.io/dlpack/latest/c_api.html."""

import ctypes
from collections.abc import Sequence
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Producer"]


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


_DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", _DELETER))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", _DELETER),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


_new_capsule: Any = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (c_void_p, c_char_p, c_void_p)
_kept: list[Any] = []  # C reads it when nobody else names it any more


@dataclass
class Producer:
    """Gives capsules over `memory`, with whatever fields it is told to; counts how often each was let go.

    Attributes:
        values: what is in memory.
        strides: None: not given, as is allowed for memory in C order.
        version: None for a capsule without one.
        n_made, n_deleted: capsules made; calls of their deleters.
    """

    values: Any
    shape: Sequence[int] | None = None
    strides: Sequence[int] | None = None
    byte_offset: int = 0
    code: int | None = None
    bits: int | None = None
    lanes: int = 1
    device: tuple[int, int] = (1, 0)
    version: tuple[int, int] | None = None
    flags: int = 0
    same_capsule: bool = False
    null: bool = False
    name: bytes | None = None
    n_made: int = 0
    n_deleted: int = 0
    _capsules: list[Any] = field(default_factory=list)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        if not (self.same_capsule and self._capsules):
            self._capsules.append(self._make())
        return self._capsules[-1]

    def _make(self) -> Any:
        tensor = self._tensor()
        deleter = _DELETER(self._delete)
        if self.version is None:
            managed = _Managed(tensor, None, deleter)
        else:
            managed = _Versioned(*self.version, None, deleter, self.flags, tensor)
        name = self.name or (b"dltensor" if self.version is None else b"dltensor_versioned")
        _kept.append((managed, deleter, name, self.values))
        self.n_made += 1
        return _new_capsule(ctypes.addressof(managed), name, None)

    def _tensor(self) -> _Tensor:
        values = np.asarray(self.values)
        shape = values.shape if self.shape is None else tuple(self.shape)
        codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
        lists = [(c_int64 * max(1, len(items)))(*items) for items in (shape, self.strides or ())]
        _kept.append(lists)
        return _Tensor(
            None if self.null else values.ctypes.data,
            *self.device,
            len(shape),
            codes[values.dtype.kind] if self.code is None else self.code,
            values.dtype.itemsize * 8 if self.bits is None else self.bits,
            self.lanes,
            lists[0],
            None if self.strides is None else lists[1],
            self.byte_offset,
        )

    def _delete(self, _: Any) -> None:
        self.n_deleted += 1
