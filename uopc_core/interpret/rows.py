"""Copies of matrices in rows of memory.

Rows that meet memory at distances of a power of two find all of it in few places of the cache, and each element is
fetched anew; so of such a matrix a few columns are copied at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["in_rows"]

Array = np.ndarray[Any, Any]
_CACHE_BYTES = 1 << 15  # of the first level, on any machine of today
_CONFLICT_BYTES = 1 << 10  # between neighbours in a row, at multiples of which they compete for places in the cache


def in_rows(x: Array) -> Array:
    """`x` in rows of memory: itself, if it is, else a copy."""
    across = abs(x.strides[-1]) if x.ndim else 0
    if x.ndim != 2 or across % _CONFLICT_BYTES or x.nbytes <= _CACHE_BYTES:
        return np.ascontiguousarray(x)
    out = np.empty(x.shape, x.dtype)
    width = max(8, _CACHE_BYTES // max(across, 1))
    for start in range(0, x.shape[1], width):
        out[:, start : start + width] = x[:, start : start + width]
    return out
