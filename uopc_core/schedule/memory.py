"""Place temporaries in one arena so that those which are never alive together share bytes.

Method: best fit over a free list in the order of the steps, neighbours merged as they are freed (Wilson et al. 1995,
"Dynamic storage allocation: a survey and critical review").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uopc_core.records import record

__all__ = ["Lifetime", "place"]

ALIGNMENT = 64


@record
class Lifetime:
    """`size_bytes` of memory, written first in step `born` and read last in step `dies`."""

    size_bytes: int
    born: int
    dies: int


def place(temporaries: Mapping[int, Lifetime]) -> tuple[dict[int, int], int]:
    """Offsets of the temporaries, by their key, and the size of the arena that holds them.

    No two whose lifetimes share a step share a byte. Offsets are multiples of 64.
    """
    offsets: dict[int, int] = {}
    free: list[tuple[int, int]] = []  # (start, stop), by start
    end = 0
    dying: dict[int, list[int]] = {}
    for key, life in temporaries.items():
        dying.setdefault(life.dies, []).append(key)
    by_birth = sorted(temporaries, key=lambda key: (temporaries[key].born, -temporaries[key].size_bytes))
    step = 0
    for key in by_birth:
        life = temporaries[key]
        while step < life.born:
            for gone in dying.get(step, ()):
                free = _released(free, offsets[gone], offsets[gone] + _rounded(temporaries[gone].size_bytes))
            step += 1
        size = _rounded(life.size_bytes)
        spot = _best_fit(free, size)
        if spot is None:
            start = free.pop()[0] if free and free[-1][1] == end else end
            end = start + size
        else:
            start, stop = free.pop(spot)
            if start + size < stop:
                free.insert(spot, (start + size, stop))
        offsets[key] = start
    return offsets, end


def _rounded(size_bytes: int) -> int:
    return -(-max(size_bytes, 1) // ALIGNMENT) * ALIGNMENT


def _best_fit(free: Sequence[tuple[int, int]], size: int) -> int | None:
    fitting = [(stop - start, i) for i, (start, stop) in enumerate(free) if stop - start >= size]
    return min(fitting)[1] if fitting else None


def _released(free: list[tuple[int, int]], start: int, stop: int) -> list[tuple[int, int]]:
    """The free list with another piece, merged with its neighbours."""
    merged: list[tuple[int, int]] = []
    for a, b in sorted([*free, (start, stop)]):
        if merged and merged[-1][1] == a:
            merged[-1] = (merged[-1][0], b)
        else:
            merged.append((a, b))
    return merged
