"""Python's collector of cycles, kept from looking through a graph over and over while much is made of it.

A pass makes as many objects as its graph has nodes, and nearly all of them stay: each time there are a quarter more of
them, the collector goes through all of the process again, which takes as long as the passes themselves. What planning
leaves behind has no cycles, so nothing is put off but what other threads leave meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

from uopc_core.forks import in_forked_child

__all__ = ["without_collection"]

_under_way: list[None] = []  # an entry for each caller that has stopped the collector


@contextmanager
def without_collection() -> Generator[None]:
    """Let the collector wait. Of several who do, the one that stopped it has it go on; if it is off, it stays off."""
    if not gc.isenabled():
        yield
        return
    _under_way.append(None)
    try:
        gc.disable()
        yield
    finally:
        gc.enable()
        _under_way.pop()


def _go_on() -> None:
    """A child that is forked in the midst of it has no thread that would come to its end."""
    if _under_way:
        _under_way.clear()
        gc.enable()


in_forked_child(_go_on)
