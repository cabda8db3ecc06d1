"""What a function takes for an array, as a type: for the stubs, and so for those who check programs that call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, Union

from uopc_array._array.array import Array

__all__ = ["ArrayLike"]


class SupportsArray(Protocol):
    """What NumPy makes an array of."""

    def __array__(self) -> Any: ...


class SupportsDLPack(Protocol):
    """What lends its memory by DLPack."""

    def __dlpack__(self) -> Any: ...


ArrayLike: TypeAlias = Union[Array, SupportsArray, SupportsDLPack, complex, "Sequence[ArrayLike]"]
"""An array of this package, NumPy's or another library's, a number, or sequences of them, nested."""
