"""How much memory this process may use: what the machine has, less whatever a job is held to.

A job is held to its limits by control groups (containers, batch systems, systemd) and by `ulimit`. Both may change
while it runs, so what is read of files is at most RECHECK_S old. Works wherever Python does: what a platform does not
have is no limit.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from time import monotonic

from uopc_core.lazy import LazyModule

__all__ = ["address_space_limit", "usable_memory"]

RECHECK_S = 1.0
UNKNOWN_BYTES = 2 << 30  # assumed of a platform that does not say what it has
_MEMBERSHIPS = "/proc/self/cgroup"
_MOUNTS = "/proc/self/mountinfo"
_GROUP_LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")  # version 2 twice, version 1
_OVERCOMMIT, _STRICT_OVERCOMMIT = "/proc/sys/vm/overcommit_memory", "2"

resource = LazyModule("resource")  # Unix has it


class _Checked:
    """What was found last, and when.

    Attributes:
        bytes: of memory that the machine and the control groups give.
        is_strict: the machine promises no more memory than it has, to whatever touches it or not.
    """

    __slots__ = ("at_s", "bytes", "is_strict")

    def __init__(self) -> None:
        self.at_s = -RECHECK_S
        self.bytes = UNKNOWN_BYTES
        self.is_strict = False


_checked = _Checked()


def usable_memory() -> int:
    """Bytes that this process may use in all, its own and those that it uses already included.

    The least of the machine's memory, the limits of its control groups and of all that those lie in, and the limits on
    address space and data. It says nothing about what other processes leave of it.
    """
    _check()
    return min([_checked.bytes, *_resource_limits()])


def address_space_limit() -> int | None:
    """Bytes that may be mapped, touched or not, before the system refuses more; None where nothing limits that.

    Memory that a process keeps for later counts, so that it can make an allocation elsewhere in the process fail.
    """
    _check()
    return min([*_resource_limits(), *([_checked.bytes] if _checked.is_strict else [])], default=None)


def _check() -> None:
    """Look again at what takes reading files; a limit that this process sets itself is seen at once."""
    now_s = monotonic()
    if now_s - _checked.at_s >= RECHECK_S and not sys.is_finalizing():  # there is no `open` any more then
        _checked.at_s = now_s
        _checked.bytes = min([_machine_bytes(), *_group_limits(), sys.maxsize])
        _checked.is_strict = _first_line(_OVERCOMMIT) == _STRICT_OVERCOMMIT


def _resource_limits() -> list[int]:
    limits: list[int] = []
    for name in ("RLIMIT_AS", "RLIMIT_DATA"):
        with suppress(ImportError, AttributeError, OSError, ValueError):
            soft = resource.getrlimit(getattr(resource, name))[0]
            if soft != resource.RLIM_INFINITY:
                limits.append(soft)
    return limits


def _machine_bytes() -> int:
    with suppress(AttributeError, OSError, ValueError):  # no such function, or it does not know the name
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if n_bytes > 0:
            return n_bytes
    return UNKNOWN_BYTES


def _group_limits() -> list[int]:
    """The limits of the control groups of this process and of their parents."""
    folders = _group_folders(tuple(_lines(_MEMBERSHIPS)))
    limits = [_limit_in(f"{folder}/{name}") for folder in folders for name in _GROUP_LIMITS]
    return [limit for limit in limits if limit is not None]


def _limit_in(path: str) -> int | None:
    text = _first_line(path)
    return int(text) if text.isdecimal() else None  # else "max", or no such file


@lru_cache(maxsize=1)
def _group_folders(memberships: tuple[str, ...]) -> list[str]:
    """Where the control groups that limit the memory of this process show their limits, parents included.

    Args:
        memberships: the lines of /proc/self/cgroup.
    """
    mounts = list(_group_mounts(_lines(_MOUNTS)))
    folders: dict[str, None] = {}
    for line in memberships:
        _, controllers, group = line.split(":", 2)
        version = 2 if controllers == "" else 1 if "memory" in controllers.split(",") else 0
        for root, mount in [(root, mount) for kind, root, mount in mounts if kind == version]:
            folders.update(dict.fromkeys(_folders_up(group, root, mount)))
    return list(folders)


def _group_mounts(lines: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    """Version, root and place of each mounted tree of control groups that may limit memory; proc_pid_mountinfo(5)."""
    for line in lines:
        fields, _, kinds = line.partition(" - ")
        kind, *_, options = kinds.split()
        root, mount = fields.split()[3:5]
        if kind == "cgroup2":
            yield 2, root, mount
        elif kind == "cgroup" and "memory" in options.split(","):
            yield 1, root, mount


def _folders_up(group: str, root: str, mount: str) -> Iterator[str]:
    """The folder of `group` in a tree whose group `root` is mounted at `mount`, and those above it."""
    inside = posixpath.relpath(group, root)
    if inside != ".." and not inside.startswith("../"):  # else the group lies outside of what this process can see
        while inside not in ("", "."):
            yield f"{mount}/{inside}"
            inside = posixpath.dirname(inside)
    yield mount


def _first_line(path: str) -> str:
    return next(iter(_lines(path)), "")


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    except (OSError, NameError):  # `open` is gone when the last arrays of a process give their memory back
        return []
