"""`numpy.lib.stride_tricks` for arrays of this package."""

from typing import Any

from uopc_array._interop.numpy_names import numpy_dir, numpy_name

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return numpy_name("lib.stride_tricks", name)


def __dir__() -> list[str]:
    return numpy_dir("lib.stride_tricks")
