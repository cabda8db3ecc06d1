"""What this namespace offers: the inspection interface of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from uopc_array._functions.arguments import check_device
from uopc_array._functions.data_types import is_of_kind
from uopc_array._functions.public import function
from uopc_core import DTYPES, DType, dtypes, name_of

__all__ = ["NamespaceInfo"]


class NamespaceInfo:
    """Capabilities, devices and dtypes of `uopc_array`."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on the library: shapes that depend on values work, and any number of axes is allowed.

        Example:
            >>> import uopc_array as xp
            >>> xp.__array_namespace_info__().capabilities()["boolean indexing"]
            True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of new arrays."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All devices."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The dtypes that are taken where none is named.

        Args:
            device: "cpu" or None.
        Returns:
            dtypes under "real floating", "complex floating", "integral" and "indexing".
        """
        check_device("default_dtypes", device)
        return {
            "real floating": dtypes.float64,
            "complex floating": dtypes.complex128,
            "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """All dtypes, or those of a kind, by name.

        Args:
            device: "cpu" or None.
            kind: a kind as `isdtype` takes it, or a tuple of kinds; None for all.
        Returns:
            dtypes by name.
        Raises:
            ValueError: an unknown kind.
        """
        check_device("dtypes", device)
        return {
            name_of(dtype): np.dtype(dtype) for dtype in DTYPES if kind is None or is_of_kind("dtypes", dtype, kind)
        }


_INFO = NamespaceInfo()


@function("__array_namespace_info__()")
def namespace_info(name: str) -> NamespaceInfo:
    """The inspection interface of this namespace.

    Example:
        >>> import uopc_array as xp
        >>> xp.__array_namespace_info__().default_device()
        'cpu'
    """
    return _INFO
