"""Random numbers: NumPy's generators and streams, with results that are arrays of this package.

The same seed gives the same numbers as in NumPy, and the functions of the module share NumPy's global state.
"""

from typing import Any as _Any

from uopc_array._interop.generators import Generator, RandomState, default_rng
from uopc_array._interop.generators import function_named as _function_named
from uopc_array._interop.generators import public_names as _public_names

__all__ = ["Generator", "RandomState", "default_rng"]


def __getattr__(name: str) -> _Any:
    """NumPy's other names: functions on its global state, bit generators."""
    return _function_named(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_public_names()})
