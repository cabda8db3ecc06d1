"""How much memory a computation takes at most beyond what there was: NumPy's by tracemalloc, and the pool's.

Counts, not resident pages, so it is the same on every machine. The two peaks are added though they may not coincide.
"""

import tracemalloc
from collections.abc import Callable
from typing import Any

from uopc_core.runtime.pool import _LargePool

__all__ = ["peak_bytes"]


def peak_bytes(function: Callable[[], Any]) -> int:
    """The most bytes of large blocks and of NumPy's arrays that were in use at once while `function` ran."""
    live = most = 0
    take, give = _LargePool.take, _LargePool.give

    def counted_take(self: _LargePool, size_bytes: int) -> Any:
        nonlocal live, most
        live += size_bytes
        most = max(most, live)
        return take(self, size_bytes)

    def counted_give(self: _LargePool, home: Any, block: Any) -> None:
        nonlocal live
        live -= home.size_bytes
        give(self, home, block)

    _LargePool.take, _LargePool.give = counted_take, counted_give
    tracemalloc.start()
    try:
        function()
        return most + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        _LargePool.take, _LargePool.give = take, give
