"""Real memory with a dtype and a shape, shared with NumPy without copies.

Invariant: the memory is free for others when the Buffer and every array exported from it are gone, and not before.
"""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np

from uopc_core.dtype import DType, as_dtype, dtypes, name_of
from uopc_core.runtime.library import ffi
from uopc_core.runtime.pool import Block, PoolStats, allocate, pool_stats, trim, with_room

__all__ = ["Buffer", "PoolStats", "pool_stats", "trim", "with_room"]

_Array = np.ndarray[Any, Any]
_BYTE = np.dtype(np.uint8)
_ADDRESS = ffi.typeof("uintptr_t")


class _Lease(np.ndarray[Any, Any]):
    """The bytes of a block that was exported to NumPy: every view keeps it alive, and with it goes the block."""

    __slots__ = ("block",)

    block: Block

    def __del__(self) -> None:
        block = getattr(self, "block", None)  # NumPy makes temporary views of its own
        if block is not None:
            block.release()


class Buffer:
    """Memory of `shape` and `dtype` in C order, 64-byte aligned unless it came from elsewhere.

    Equal only to itself, so that it can key a node of the graph.

    Attributes:
        pointer: the address of the first element.
        requires_grad: a leaf that derivatives are taken of.
    """

    __slots__ = ("__weakref__", "_array", "_block", "dtype", "nbytes", "pointer", "requires_grad", "shape")

    def __init__(
        self, shape: tuple[int, ...], dtype: DType, nbytes: int, pointer: int, block: Block | None, array: _Array | None
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.nbytes = nbytes
        self.pointer = pointer
        self.requires_grad = False
        self._block = block
        self._array = array

    @classmethod
    def empty(cls, shape: tuple[int, ...], dtype: DType, nbytes: int | None = None) -> Buffer:
        """Memory with undefined contents.

        Args:
            nbytes: how many that are, for who knows.
        Raises:
            MemoryError: there is not that much.
        """
        if nbytes is None:
            nbytes = prod(shape) * dtype.itemsize
        try:
            block = allocate(nbytes)
        except MemoryError:
            raise MemoryError(f"no memory for an array of shape {shape} and dtype {dtype}: {nbytes} bytes") from None
        return cls(shape, dtype, nbytes, block.address, block, None)

    @classmethod
    def from_numpy(cls, array: _Array, copy: bool = True) -> Buffer:
        """The values of `array`, any strides and byte order.

        Args:
            copy: False shares the memory instead, and keeps `array` alive.
        Raises:
            DTypeError: no dtype of the graph.
            ValueError: `copy` is False and the memory is not in C order, not aligned or in another byte order.
        """
        if copy:
            buffer = cls.empty(array.shape, as_dtype(array.dtype.newbyteorder("=")))
            if buffer.dtype is dtypes.bool:  # a byte of NumPy's may be any, one of C's `_Bool` only 0 or 1
                np.not_equal(array.view(_BYTE), 0, out=buffer.array)
            else:
                buffer.array[...] = array
            return buffer
        if not (array.dtype.isnative and (array.flags.carray or _is_shareable(array.flags))):
            raise ValueError("copy=False: only memory in C order, aligned and in native byte order can be shared")
        plain = array if type(array) is np.ndarray else array.view(np.ndarray)
        pointer = int(ffi.cast(_ADDRESS, ffi.from_buffer(plain)))
        return cls(array.shape, as_dtype(array.dtype), array.nbytes, pointer, None, plain)

    @property
    def array(self) -> _Array:
        """The memory as a NumPy array, the same one from the first look on."""
        return self._array if self._array is not None else self._export()

    def readonly(self) -> _Array:
        """The memory as an array that cannot be made writeable."""
        return np.asarray(memoryview(cast(Any, self.array)).toreadonly())

    def _export(self) -> _Array:
        """Make the array. Two threads may each make one; each holds the block until its last view is gone."""
        block = self._block
        assert block is not None, self
        lease = _Lease((self.nbytes,), _BYTE, block.mapping, block.offset)
        block.holders.append(None)
        lease.block = block
        self._array = array = np.ndarray(self.shape, self.dtype, lease)
        return array

    def __del__(self) -> None:
        try:
            block = self._block
            if block is not None:
                if self._array is None:
                    block.home.give(block)
                else:
                    block.release()
        except AttributeError:  # interrupted before it was anything
            pass

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes

    def __repr__(self) -> str:
        return f"Buffer({name_of(self.dtype)}, {self.shape}, at {self.pointer:#x})"


def _is_shareable(flags: Any) -> bool:
    return flags.c_contiguous and flags.aligned
