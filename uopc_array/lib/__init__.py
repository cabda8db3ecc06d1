"""`numpy.lib` for arrays of this package."""

from typing import Any as _Any

from uopc_array._interop.numpy_names import numpy_dir as _numpy_dir
from uopc_array._interop.numpy_names import numpy_name as _numpy_name
from uopc_array.lib import stride_tricks

__all__ = ["stride_tricks"]


def __getattr__(name: str) -> _Any:
    return _numpy_name("lib", name)


def __dir__() -> list[str]:
    return _numpy_dir("lib")
