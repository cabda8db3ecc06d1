"""The `linalg` extension of the standard, and `numpy.linalg`; `linalg.pyi`, made from the descriptions, lists it.

Matrices stand in the last two axes; all axes before them are batches.
"""

from typing import Any as _Any

from uopc_array._functions.decompositions import EighResult, EigResult, QRResult, SVDResult
from uopc_array._functions.methods import functions_in as _functions_in
from uopc_array._functions.solving import SlogdetResult
from uopc_array._interop.numpy_names import numpy_dir as _numpy_dir
from uopc_array._interop.numpy_names import numpy_name as _numpy_name

_RESULTS = (EigResult, EighResult, QRResult, SVDResult, SlogdetResult)

globals().update(_functions_in("linalg"))
__all__ = [*[result.__name__ for result in _RESULTS], *_functions_in("linalg")]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> _Any:
    """NumPy's other names (PEP 562)."""
    return _numpy_name("linalg", name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_numpy_dir("linalg")})
