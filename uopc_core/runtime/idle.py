"""How much memory may lie idle for the next arrays, and idle memory that the system may take back by itself.

Idle memory is worth a lot to the next operation and nothing to anybody else, so it must never be missed elsewhere:

- Under a limit on address space an allocation fails at once, in NumPy too, whoever holds the rest: next to nothing
  stays idle there, as in malloc.
- Under a limit on pages (a control group, the machine) the system looks for pages to take before anything fails. Large
  idle blocks are offered to it (MADV_FREE, Linux 4.5): it takes their pages without writing them anywhere, and a block
  that is used again first keeps them.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter

from uopc_core.limits import address_space_limit, usable_memory

__all__ = ["HUGE_PAGE_BYTES", "OFFERED_BYTES", "idle_bound", "offer", "use_huge_pages"]

HUGE_PAGE_BYTES = 2 << 20
OFFERED_BYTES = 8 << 20  # blocks from which a call to the system is nothing beside filling them
_SHARE, _MOST_BYTES = 8, 4 << 30  # of the memory that the process may use
_ADDRESS_SHARE = 64  # of the address space, where that is limited
_SLOW_S = 2e-6 / (1 << 20)  # for a byte: of huge pages a fifth of it is usual, of small ones seven times as much
_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def idle_bound() -> int:
    """Bytes of large blocks that may lie idle."""
    share = usable_memory() // _SHARE
    limit = address_space_limit()
    return min(share, _MOST_BYTES) if limit is None else min(share, limit // _ADDRESS_SHARE)


def use_huge_pages(mapping: mmap.mmap, start: int, n_bytes: int) -> bool:
    """Ask for huge pages in a part of `mapping`; returns whether the system has any."""
    if not _has_huge_pages():
        return False
    with suppress(OSError):
        mapping.madvise(mmap.MADV_HUGEPAGE, start, n_bytes)
        return True
    return False


def offer(mapping: mmap.mmap, start: int, n_bytes: int) -> bool:
    """Let the system take back the huge pages from `start` on, which are idle, until they are written to again.

    Returns:
        Whether to do so again: small pages, which the system may have given instead, cost more than they are worth.
    """
    begin_s = perf_counter()
    try:
        mapping.madvise(mmap.MADV_FREE, start, n_bytes // HUGE_PAGE_BYTES * HUGE_PAGE_BYTES)
    except OSError:
        return False
    return perf_counter() - begin_s < _SLOW_S * n_bytes


@cache
def _has_huge_pages() -> bool:
    if not (hasattr(mmap, "MADV_HUGEPAGE") and hasattr(mmap, "MADV_FREE")):
        return False
    try:
        return "[never]" not in _HUGE_PAGES.read_text(encoding="utf-8")
    except OSError:
        return False
