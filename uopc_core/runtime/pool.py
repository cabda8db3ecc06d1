"""Memory for buffers: 64-byte aligned blocks in size classes, kept warm when they are given back.

Small blocks are cut from shared pages; each large one has pages of its own, huge ones where the system has them. Fresh
pages cost more than the arithmetic done on them: the first touch of 40 MB takes 24 ms.
Invariant: `give` may run at any moment on any thread, since the collector calls it, and inside any other function of
this module. So it appends to a list, which is atomic, and tidies up only if the lock is free.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from uopc_core.runtime.library import ffi

__all__ = ["Block", "PoolStats", "allocate", "pool_stats", "trim"]

ALIGNMENT = 64
LARGE_BYTES = 256 << 10  # from here on a block has pages of its own
HUGE_PAGE_BYTES = 2 << 20
MAX_IDLE_BYTES = min(4 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)
_SHARED_BYTES = 1 << 20  # pages that small blocks are cut from
_IDLE_SMALL_BYTES = 32 << 20  # idle in one class before its pages are looked through for some to give back
_TABLE_BYTES = 4096
# Blocks a multiple of 4096 bytes apart share cache sets: reading seven and writing one took 114 us instead of 42.
_STAGGER_BYTES = 5 * ALIGNMENT
_STAGGERS = 16


class Block:
    """A piece of memory that goes back to its home with `block.home.give(block)`.

    Attributes:
        address: of its first byte, a multiple of 64.
        pages: the mapping it lies in.
        offset: of its first byte in `pages`.
        released: when it was given back, as a serial number.
    """

    __slots__ = ("address", "home", "offset", "pages", "released")

    def __init__(self, address: int, pages: mmap.mmap, offset: int, home: _SmallClass | _LargeClass) -> None:
        self.address = address
        self.pages = pages
        self.offset = offset
        self.home = home
        self.released = 0


class _SmallClass:
    """Blocks of one size below LARGE_BYTES."""

    __slots__ = ("_address", "_cursor", "_cut", "_pages", "_stride", "idle", "lock", "max_idle", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.idle: list[Block] = []
        self.max_idle = _IDLE_SMALL_BYTES // size_bytes
        self.lock = threading.RLock()
        self._stride = size_bytes + (_STAGGER_BYTES if size_bytes >= _TABLE_BYTES else 0)
        self._pages: mmap.mmap | None = None  # what is being cut
        self._address = self._cursor = 0
        self._cut: dict[int, int] = {}  # by the id of the pages: blocks cut from them

    def take(self) -> Block:
        try:
            return self.idle.pop()
        except IndexError:
            return self._cut_block()

    def give(self, block: Block) -> None:
        idle = self.idle
        idle.append(block)
        if len(idle) > self.max_idle and self.lock.acquire(blocking=False):
            try:
                self.trim()
                self.max_idle = max(self.max_idle, 2 * len(self.idle))  # the rest shares pages with blocks in use
            finally:
                self.lock.release()

    def _cut_block(self) -> Block:
        with self.lock:
            if self._pages is None or self._cursor + self.size_bytes > _SHARED_BYTES:
                pages, self._address = _map_pages(_SHARED_BYTES)
                self._pages, self._cursor = pages, 0
            pages, offset = self._pages, self._cursor
            self._cursor += self._stride
            self._cut[id(pages)] = self._cut.get(id(pages), 0) + 1
            return Block(self._address + offset, pages, offset, self)

    def trim(self) -> int:
        """Give pages without a block in use back to the system; returns their bytes."""
        with self.lock:
            mine: list[Block] = []
            while self.idle:
                mine.append(self.take())  # others may take at the same time
            n_idle: dict[int, int] = {}
            for block in mine:
                n_idle[id(block.pages)] = n_idle.get(id(block.pages), 0) + 1
            unused = {pages for pages, n in n_idle.items() if n == self._cut[pages]}
            for pages in unused:
                del self._cut[pages]
            if id(self._pages) in unused:
                self._pages = None
            self.idle.extend([block for block in mine if id(block.pages) not in unused])
            return len(unused) * _SHARED_BYTES


class _LargeClass:
    """Blocks of one size from LARGE_BYTES on."""

    __slots__ = ("idle", "pool", "size_bytes")

    def __init__(self, size_bytes: int, pool: _LargePool) -> None:
        self.size_bytes = size_bytes
        self.idle: deque[Block] = deque()  # the one released last at the right
        self.pool = pool

    def give(self, block: Block) -> None:
        self.pool.give(block)


class _LargePool:
    """The large blocks of all classes, bounded together: those idle for longest are given back to the system."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.classes: dict[int, _LargeClass] = {}
        self.returned: deque[Block] = deque()  # given back, not yet sorted in
        self.idle_bytes = 0
        self.reused = 0
        self.serial = 0
        self.made = 0

    def take(self, size_bytes: int) -> Block:
        with self.lock:
            self.sort_in()
            home = self.classes.get(size_bytes)
            if home is None:
                home = self.classes[size_bytes] = _LargeClass(size_bytes, self)
            if home.idle:
                self.idle_bytes -= size_bytes
                self.reused += 1
                return home.idle.pop()
            self.made += 1
            stagger = self.made % _STAGGERS * _STAGGER_BYTES
        return _new_large_block(home, stagger)

    def give(self, block: Block) -> None:
        self.returned.append(block)
        if self.lock.acquire(blocking=False):
            try:
                self.sort_in()
                self.shrink(MAX_IDLE_BYTES)
            finally:
                self.lock.release()

    def sort_in(self) -> None:
        while self.returned:
            block = self.returned.popleft()
            self.serial += 1
            block.released = self.serial
            block.home.idle.append(block)
            self.idle_bytes += block.home.size_bytes

    def shrink(self, max_bytes: int) -> None:
        while self.idle_bytes > max_bytes:
            oldest = min([home for home in self.classes.values() if home.idle], key=lambda home: home.idle[0].released)
            self.idle_bytes -= oldest.size_bytes
            oldest.idle.popleft()


def _size_class(nbytes: int) -> int:
    """The size of the blocks that serve `nbytes`: four sizes to each doubling."""
    step = max(ALIGNMENT, 1 << max(0, (nbytes - 1).bit_length() - 3))
    return max(ALIGNMENT, -(-nbytes // step) * step)


_large = _LargePool()
_small: dict[int, _SmallClass] = {}
_size = ALIGNMENT
while _size < LARGE_BYTES:
    _small[_size] = _SmallClass(_size)
    _size = _size_class(_size + 1)
_TABLE = [_small[_size_class(_n)] for _n in range(0, _TABLE_BYTES + 1, ALIGNMENT)]


def allocate(nbytes: int) -> Block:
    """A block of at least `nbytes`, its contents undefined.

    Raises:
        MemoryError: the system has no such piece of memory.
    """
    if nbytes <= _TABLE_BYTES:
        return _TABLE[(nbytes + (ALIGNMENT - 1)) >> 6].take()
    size_bytes = _size_class(nbytes)
    if size_bytes < LARGE_BYTES:
        return _small[size_bytes].take()
    return _large.take(size_bytes)


class PoolStats(NamedTuple):
    """What lies idle, and how often a large block was used again."""

    idle_bytes: int
    idle_large_bytes: int
    reused: int


def pool_stats() -> PoolStats:
    """The state of the pool now."""
    with _large.lock:
        _large.sort_in()
        small_bytes = sum(len(home.idle) * home.size_bytes for home in _small.values())
        return PoolStats(small_bytes + _large.idle_bytes, _large.idle_bytes, _large.reused)


def trim() -> int:
    """Give idle memory back to the system; returns the number of bytes."""
    with _large.lock:
        _large.sort_in()
        large_bytes = _large.idle_bytes
        _large.shrink(0)
    return large_bytes + sum(home.trim() for home in _small.values())


def _map_pages(size_bytes: int) -> tuple[mmap.mmap, int]:
    """New zeroed pages and their address; private, so that a forked child has its own."""
    try:
        pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, ValueError):
        if not trim():
            raise MemoryError(f"no {size_bytes} bytes of memory") from None
        return _map_pages(size_bytes)
    return pages, int(ffi.cast("uintptr_t", ffi.from_buffer(pages)))


def _new_large_block(home: _LargeClass, stagger: int) -> Block:
    """A block that begins `stagger` bytes after the start of a page, a huge one where it spans one."""
    page_bytes = HUGE_PAGE_BYTES if home.size_bytes >= HUGE_PAGE_BYTES else mmap.PAGESIZE
    n_bytes = home.size_bytes + _STAGGERS * _STAGGER_BYTES
    pages, address = _map_pages(n_bytes + page_bytes)
    offset = -address % page_bytes
    if page_bytes == HUGE_PAGE_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without huge pages
            pages.madvise(mmap.MADV_HUGEPAGE, offset, n_bytes)
    return Block(address + offset + stagger, pages, offset + stagger, home)


def _after_fork() -> None:
    _large.lock = threading.RLock()
    for home in _small.values():
        home.lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
