"""Memory for buffers: 64-byte aligned blocks in size classes, kept warm when they are given back.

Small blocks are cut from shared pages; each large one has pages of its own, huge ones where the system has them. Fresh
pages cost more than the arithmetic done on them: the first touch of 40 MB takes 24 ms. What lies idle is bounded (see
`idle.py`), and a large block that nobody has asked for in IDLE_S goes back to the system. There is no thread for that:
it happens when a large block is taken or given back, so what a program leaves when it turns to other things stays
within the bound, and offered to the system.
Invariant: any function here may run at any moment, also in the middle of another: the collector gives blocks back, and
handlers of signals compute. So there is no lock. Each step that others could see is one operation of a list, a deque,
a dict or an iterator; and a mapping lives as long as any block in it, so that nothing forgotten is ever a danger.
"""

from __future__ import annotations

import mmap
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from operator import length_hint
from time import monotonic
from typing import Any, NamedTuple

from uopc_core.runtime.idle import HUGE_PAGE_BYTES, OFFERED_BYTES, idle_bound, offer, use_huge_pages
from uopc_core.runtime.library import ffi

__all__ = ["Block", "PoolStats", "allocate", "pool_stats", "trim", "with_room"]

ALIGNMENT = 64
LARGE_BYTES = 256 << 10  # from here on a block has pages of its own
IDLE_S = 10.0  # after which an idle block is given back; new pages for it cost a hundredth of that at most
LOOK_S, LOOK_BYTES = 1.0, 256 << 20  # time, and bytes given back, after which the bound is looked at again
_SHARED_BYTES = 1 << 20  # pages that small blocks are cut from
_IDLE_SMALL_BYTES = 32 << 20  # idle in one class, or this share of the bound, before its pages are looked through
_IDLE_SMALL_SHARE = 8
_TABLE_BYTES = 4096  # up to here a table has the class of a size: most arrays are small, and are made in a microsecond
_DEAR_BYTES = 16 << 20  # from here on blocks fit closer, since what one is too large by is real memory
_KEPT_SHARE = 8  # of the bound: a block up to that waits for the next one before it is offered to the system
# Blocks a multiple of 4096 bytes apart share cache sets: reading seven and writing one took 114 us instead of 42.
_STAGGER_BYTES = 5 * ALIGNMENT
_STAGGERS = 16
# where processes do not fork there is neither the flag nor anybody to share pages with
_PRIVATE: dict[str, int] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class Block:
    """A piece of memory that goes back to its home with `release`, once by each of its holders.

    Attributes:
        address: of its first byte, a multiple of 64.
        mapping: what it lies in, unmapped with the last object that names it.
        offset: of its first byte in `mapping`.
        pages: what it was cut from, if it shares a mapping with others.
        holders: one entry for each holder besides the first. Taking one out is atomic, so exactly one finds none.
        released_s: when it was given back.
        is_offered: whether the system may have its pages while it is idle.
        is_kept: whether it does not have them yet.
    """

    __slots__ = ("address", "holders", "home", "is_kept", "is_offered", "mapping", "offset", "pages", "released_s")

    def __init__(
        self,
        address: int,
        mapping: mmap.mmap,
        offset: int,
        home: _SmallClass | _LargeClass,
        pages: _Pages | None = None,
    ) -> None:
        self.address = address
        self.mapping = mapping
        self.offset = offset
        self.home = home
        self.pages = pages
        self.holders: list[None] = []
        self.released_s = 0.0
        self.is_offered = self.is_kept = False

    def release(self) -> None:
        """One holder lets go; the last one gives the block back."""
        if self.holders:
            try:
                self.holders.pop()
                return
            except IndexError:  # another holder was faster
                pass
        self.home.give(self)


class _Pages:
    """A mapping that blocks are cut from: whoever takes the next offset has it alone."""

    __slots__ = ("address", "mapping", "n_blocks", "offsets")

    def __init__(self, size_bytes: int, stride: int) -> None:
        self.mapping, self.address = _map_pages(_SHARED_BYTES)
        places = range(0, _SHARED_BYTES - size_bytes + 1, stride)
        self.n_blocks = len(places)
        self.offsets = iter(places)

    def n_cut(self) -> int:
        return self.n_blocks - length_hint(self.offsets)


class _SmallClass:
    """Blocks of one size below LARGE_BYTES."""

    __slots__ = ("_pages", "_stride", "idle", "max_idle", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.idle: list[Block] = []
        self.max_idle = 0  # blocks; not known yet
        self._stride = size_bytes + (_STAGGER_BYTES if size_bytes >= _TABLE_BYTES else 0)
        self._pages: _Pages | None = None  # what is being cut

    def take(self) -> Block:
        try:
            return self.idle.pop()
        except IndexError:
            return self._cut_block()

    def give(self, block: Block) -> None:
        idle = self.idle
        idle.append(block)
        if len(idle) > self.max_idle:
            self._tidy()

    def _tidy(self) -> None:
        self.max_idle = min(_IDLE_SMALL_BYTES, idle_bound() // _IDLE_SMALL_SHARE) // self.size_bytes
        if len(self.idle) > self.max_idle:
            self.trim()
            self.max_idle = max(self.max_idle, 2 * len(self.idle))  # the rest shares pages with blocks in use

    def _cut_block(self) -> Block:
        while True:
            pages = self._pages
            offset = None if pages is None else next(pages.offsets, None)
            if pages is not None and offset is not None:
                return Block(pages.address + offset, pages.mapping, offset, self, pages)
            self._pages = _Pages(self.size_bytes, self._stride)

    def trim(self) -> int:
        """Give pages without a block in use back to the system; returns their bytes."""
        mine: list[Block] = []
        with suppress(IndexError):  # others may take at the same time
            while self.idle:
                mine.append(self.idle.pop())
        n_idle = Counter([block.pages for block in mine])
        unused = {pages for pages, n in n_idle.items() if pages is not None and n == pages.n_cut()}
        if self._pages in unused:
            self._pages = None
        self.idle.extend([block for block in mine if block.pages not in unused])
        return len(unused) * _SHARED_BYTES


class _LargeClass:
    """Blocks of one size from LARGE_BYTES on."""

    __slots__ = ("idle", "pool", "size_bytes")

    def __init__(self, size_bytes: int, pool: _LargePool) -> None:
        self.size_bytes = size_bytes
        self.idle: deque[Block] = deque()  # the one released last at the right
        self.pool = pool

    def give(self, block: Block) -> None:
        self.pool.give(self, block)

    def offer_latest(self) -> None:
        """Let the system have the pages of the block that was given back last, unless it is in use again."""
        try:
            block = self.idle.pop()  # nobody else can take it meanwhile
        except IndexError:
            return
        if block.is_kept:
            _offer(block, self.size_bytes)
        self.idle.append(block)


class _LargePool:
    """The large blocks of all classes, bounded together: those idle for longest are given back to the system.

    `idle_bytes` is counted along; `shrink` counts anew, in case somebody was interrupted between two steps.
    What is idle is offered to the system, but for the block that was given back last: a loop takes it again at once,
    and asking for it back costs a hundredth of filling it.
    """

    def __init__(self) -> None:
        self.classes: dict[int, _LargeClass] = {}
        self.idle_bytes = 0
        self.reused = 0
        self.made = 0
        self._latest: _LargeClass | None = None  # of the block given back last, which may not have been offered yet
        self._bound_bytes = 0
        self._look_s = 0.0  # when the bound is looked at again, or earlier
        self._look_bytes = 0  # when so many more bytes have been given back

    def take(self, size_bytes: int) -> Block:
        home = self.classes.get(size_bytes)
        if home is None:
            home = self.classes.setdefault(size_bytes, _LargeClass(size_bytes, self))
        try:
            block = home.idle.pop()
        except IndexError:
            self.made += 1
            block = _new_large_block(home, self.made % _STAGGERS * _STAGGER_BYTES)
        else:
            self.idle_bytes -= size_bytes
            self.reused += 1
        now_s = monotonic()
        if now_s > self._look_s:
            self._tidy(now_s)
        return block

    def give(self, home: _LargeClass, block: Block) -> None:
        if block.is_offered:
            block.is_kept = home.size_bytes <= self._bound_bytes // _KEPT_SHARE
            latest, self._latest = self._latest, home
            if latest is not None:
                latest.offer_latest()
            if not block.is_kept:
                _offer(block, home.size_bytes)
        now_s = block.released_s = monotonic()
        home.idle.append(block)
        self.idle_bytes += home.size_bytes
        self._look_bytes -= home.size_bytes
        if self.idle_bytes > self._bound_bytes or self._look_bytes < 0 or now_s > self._look_s:
            self._tidy(now_s)

    def _tidy(self, now_s: float) -> None:
        """Keep to the bound as it is now, and let go of what has been idle for long."""
        self._look_s, self._look_bytes = now_s + LOOK_S, LOOK_BYTES
        self._bound_bytes = idle_bound()
        self.shrink(self._bound_bytes, now_s - IDLE_S)

    def shrink(self, max_bytes: int, until_s: float = 0.0) -> int:
        """Give the blocks idle for longest back until `max_bytes` are left, none of them from before `until_s`.

        Returns:
            The number of bytes.
        """
        homes = list(self.classes.values())
        self.idle_bytes = sum([len(home.idle) * home.size_bytes for home in homes])
        given_bytes = 0
        while True:
            try:
                oldest = min([home for home in homes if home.idle], key=lambda home: home.idle[0].released_s)
                if self.idle_bytes <= max_bytes and oldest.idle[0].released_s >= until_s:
                    break
                oldest.idle.popleft()
            except (IndexError, ValueError):  # nothing is left, or others took it
                break
            self.idle_bytes -= oldest.size_bytes
            given_bytes += oldest.size_bytes
        return given_bytes


def _offer(block: Block, size_bytes: int) -> None:
    """Let the system have the pages of a block that nobody else can take."""
    stagger = block.address % HUGE_PAGE_BYTES
    block.is_offered = offer(block.mapping, block.offset - stagger, size_bytes)
    block.is_kept = False


def _size_class(nbytes: int) -> int:
    """The size of the blocks that serve `nbytes`: four sizes to each doubling, sixteen where address space is dear."""
    step = max(ALIGNMENT, 1 << max(0, (nbytes - 1).bit_length() - (3 if nbytes <= _DEAR_BYTES else 5)))
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
    small_bytes = sum(len(home.idle) * home.size_bytes for home in _small.values())
    return PoolStats(small_bytes + _large.idle_bytes, _large.idle_bytes, _large.reused)


def trim() -> int:
    """Give idle memory back to the system; returns the number of bytes."""
    return _large.shrink(0) + sum(home.trim() for home in _small.values())


def with_room(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, a second time where memory was missing and some lay idle here.

    For functions of NumPy's, which cannot ask for it; they must have no effect until they return.
    """
    try:
        return function(*arguments)
    except MemoryError:
        if not trim():
            raise
    return function(*arguments)


def _map_pages(size_bytes: int) -> tuple[mmap.mmap, int]:
    """New zeroed pages and their address; private, so that a forked child has its own."""
    try:
        pages = mmap.mmap(-1, size_bytes, **_PRIVATE)
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
    block = Block(address + offset + stagger, pages, offset + stagger, home)
    if page_bytes == HUGE_PAGE_BYTES:
        in_huge_pages = use_huge_pages(pages, offset, n_bytes)
        block.is_offered = in_huge_pages and home.size_bytes >= OFFERED_BYTES
    return block
