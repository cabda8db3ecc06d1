"""The array: a handle on a lazy graph that behaves as NumPy's `ndarray` does."""

from __future__ import annotations

from math import prod
from typing import Self

from uopc_array._handle import Handle
from uopc_core import DType
from uopc_core.errors import ShapeError

__all__ = ["Array"]


class Array(Handle):
    """An n-dimensional array of one dtype, computed when its values are asked for.

    Made by `uopc_array.asarray` and the other creation functions, never by calling the class.

    Attributes:
        shape: extents, a tuple of int.
        dtype: a `numpy.dtype`.
    """

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]  # mutable, as ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self._uop.shape

    @property
    def dtype(self) -> DType:
        return self._uop.dtype

    @property
    def ndim(self) -> int:
        return len(self._uop.shape)

    @property
    def size(self) -> int:
        return prod(self._uop.shape)

    @property
    def itemsize(self) -> int:
        return self._uop.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def T(self) -> Self:
        """The axes in reverse order."""
        return self._from_uop(self._uop.permute(range(self.ndim)[::-1]))

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        n = self.ndim
        if n < 2:
            raise ShapeError(f"mT: expected two axes or more, got shape {self.shape}")
        return self._from_uop(self._uop.permute([*range(n - 2), n - 1, n - 2]))
