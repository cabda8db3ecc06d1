"""`numpy.testing` for arrays of this package: the assertions compare values."""

from typing import Any as _Any

from uopc_array._interop.numpy_names import numpy_dir as _numpy_dir
from uopc_array._interop.numpy_names import numpy_name as _numpy_name

__all__: list[str] = []


def __getattr__(name: str) -> _Any:
    return _numpy_name("testing", name)


def __dir__() -> list[str]:
    return _numpy_dir("testing")
