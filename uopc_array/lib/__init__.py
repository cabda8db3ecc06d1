"""`numpy.lib` for arrays of this package."""

from typing import Any

from uopc_array._interop.numpy_names import numpy_dir, numpy_name
from uopc_array.lib import stride_tricks

__all__ = ["stride_tricks"]


def __getattr__(name: str) -> Any:
    return numpy_name("lib", name)


def __dir__() -> list[str]:
    return numpy_dir("lib")
