"""Text of arrays, as NumPy prints them; a traced array shows its type, since it has no values."""

from __future__ import annotations

import numpy as np

from uopc_core import TRACED, UOp, name_of

__all__ = ["describe", "format_array"]


def describe(uop: UOp) -> str:
    """The type of a node in words: ``Array(shape=(2, 3), dtype=float64, traced)``."""
    return f"Array(shape={uop.shape}, dtype={name_of(uop.dtype)}{', traced' if uop.flags & TRACED else ''})"


def format_array(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    """``Array([1., 2.], dtype=float64)``, lines aligned under the first bracket; no elements show their shape."""
    text = np.array2string(values, separator=", ", prefix="Array(")
    shape = f", shape={values.shape}" if values.size == 0 and values.shape != (0,) else ""
    return f"Array({text}{shape}, dtype={name_of(values.dtype)})"
