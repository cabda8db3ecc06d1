"""The `fft` extension of the standard, and `numpy.fft`; `fft.pyi`, made from the descriptions, lists it.

`norm` says where the factor 1/n goes: "backward" to the inverse transform, "forward" to the forward one, "ortho" half
to each.
"""

from typing import Any as _Any

from uopc_array._functions.methods import functions_in as _functions_in
from uopc_array._interop.numpy_names import numpy_dir as _numpy_dir
from uopc_array._interop.numpy_names import numpy_name as _numpy_name

globals().update(_functions_in("fft"))
__all__ = list(_functions_in("fft"))  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> _Any:
    """NumPy's other names (PEP 562)."""
    return _numpy_name("fft", name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_numpy_dir("fft")})
