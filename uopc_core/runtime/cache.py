"""Compiled kernels: C text -> Function, compiled at most once on this machine.

Invariants: an object is compiled once per key however many threads ask; what lies in the folder appears whole under its
name, and is loaded only with the right seal at its end, which covers its code and the source and flags that it was made
of. Nothing is deleted that does not have a name which this module makes. A compile error is only remembered for those
who can do without the kernel.
"""

from __future__ import annotations

import contextvars
import hashlib
import itertools
import os
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import time

from uopc_core.errors import CompileError
from uopc_core.forks import in_forked_child
from uopc_core.runtime.folder import cache_folder, has_room, is_ours, make_again, private_folder, replace_file
from uopc_core.runtime.library import Function, Library
from uopc_core.runtime.toolchain import INPUT, Toolchain, find_toolchain, run_compiler
from uopc_core.settings import current

__all__ = [
    "CacheStats",
    "compile_many",
    "compile_object",
    "compile_one",
    "object_with",
    "stats",
    "sweep",
]

MAX_FILES = 20_000
MAX_BYTES = 512 << 20
MAX_LOADED = 4096  # functions that stay loaded without anyone using them
_DAY_S = 86_400
_MAGIC = b"uopc-object-2"
# what is written here: objects, sources and logs of refused kernels, temporary files of this module, of `replace_file`,
# of the probe and of compilers
_OWN_NAMES = re.compile(
    r"[0-9a-f]{64}\.(so|c|log)|\.\d+-\d+\.tmp|\.[a-z0-9_]{8}\.tmp|\.probe-\d+\.so|cc[A-Za-z0-9]{6}\.(s|o|c|ld|le|res|lto\.o)"
)
_TRAILER_BYTES = len(_MAGIC) + 32
_COMPLAINT = re.compile(r"<stdin>:(\d+):")  # about a line of the source
_SHOWN_LINES = 4  # of the source, before and after the first error
_LOG_LINES = 20
_DEBUG_SOURCE = 4  # the setting `debug` from which on C and command are printed


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What became of the kernels that this process asked for."""

    compiled: int = 0
    disk_hits: int = 0
    memory_hits: int = 0


_Key = tuple[Toolchain, str, str]  # the source and the symbol


class _Entry:
    """The place of one function; whoever holds the lock may fill it."""

    __slots__ = ("function", "lock")

    def __init__(self) -> None:
        self.function: Function | None = None
        self.lock = threading.Lock()


_lock = threading.RLock()  # reentrant, since a collection inside may run anything
_entries: OrderedDict[_Key, _Entry] = OrderedDict()
_stats = CacheStats()
_serial = itertools.count()


def stats() -> CacheStats:
    """Counts since the process began."""
    return _stats


def compile_one(source: str, symbol: str) -> Function:
    """The function `symbol` of the C text `source`.

    Raises:
        CompileError: there is no compiler, or it refused the source.
    """
    return compile_many([(source, symbol)])[0]


def compile_many(sources: Sequence[tuple[str, str]]) -> list[Function]:
    """The functions of pairs (C text, symbol). What has to be compiled is compiled side by side, one compiler a CPU.

    Raises:
        CompileError: there is no compiler, or it refused a source.
    """
    toolchain = find_toolchain()
    folder = cache_folder()
    if toolchain is None or folder is None:
        raise CompileError("there is no C compiler: install one, or name it with CC")
    keys = [(toolchain, source, symbol) for source, symbol in sources]
    entries = [_entry(key) for key in keys]
    missing = [pair for pair in zip(keys, entries, strict=True) if not _fill(*pair, folder, compiling=False)]
    _fill_side_by_side(missing, folder)
    return [entry.function for entry in entries if entry.function is not None]


def object_with(symbols: Sequence[str], toolchain: Toolchain, source: str, folder: str) -> Library:
    """The object of `source`, which has these functions: from `folder`, or else from the compiler.

    Raises:
        CompileError: the compiler failed.
    """
    path = _object_path(toolchain, source, folder)
    return _load_object(path, symbols) or _compile_somewhere(toolchain, source, path, symbols)


def _object_path(toolchain: Toolchain, source: str, folder: str) -> str:
    """Where the object of `source` lies once it is compiled."""
    return os.path.join(folder, f"{toolchain.key(source)}.so")


def _load_object(path: str, symbols: Sequence[str]) -> Library | None:
    """The object at `path` if it is there, ours, whole, and has these functions."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read()
        code, trailer = content[:-_TRAILER_BYTES], content[-_TRAILER_BYTES:]
        if not is_ours(status) or trailer != _trailer(path, code):
            return None
        if status.st_mtime < time() - _DAY_S:
            os.utime(path)  # the day of the last use, for `sweep`
        return _library_with(path, symbols)
    except OSError:
        return None


def _library_with(path: str, symbols: Sequence[str]) -> Library:
    """
    Raises:
        OSError: it cannot be loaded, or lacks a function.
    """
    library = Library(path)
    for symbol in symbols:
        library.function(symbol)
    return library


def compile_object(toolchain: Toolchain, source: str, path: str, symbols: Sequence[str]) -> Library:
    """Compile under a temporary name, seal with a checksum, load, see that these functions are there, rename to `path`.

    Raises:
        CompileError: the compiler refused the source, or what it made cannot be stored or loaded.
    """
    folder = os.path.dirname(path)
    target = os.path.join(folder, f".{os.getpid()}-{next(_serial)}.tmp")
    command = (*toolchain.command, *toolchain.flags, *INPUT, "-o", target, *toolchain.libs)
    try:
        make_again(folder)
        if current().debug >= _DEBUG_SOURCE:
            print(source, " ".join(command), sep="\n", file=sys.stderr)
        outcome = run_compiler(command, source, folder)
        if outcome.returncode != 0:
            raise _refusal(command, source, outcome.stderr.decode(errors="replace"), path)
        with open(target, "r+b") as file:
            file.write(_trailer(path, file.read()))
        library = _library_with(target, symbols)
        os.replace(target, path)
        if path.endswith("00.so"):  # one key of 256
            sweep(folder)
        return library
    except (OSError, RuntimeError) as error:  # RuntimeError: no process can be started while Python ends
        if isinstance(error, CompileError):
            raise
        raise CompileError(f"a compiled kernel cannot be stored or loaded: {error}") from error
    finally:
        _delete(target)


def sweep(folder: str) -> None:
    """Delete the objects unused for longest until the folder keeps its bounds, and what killed processes left."""
    files: list[tuple[float, int, str]] = []
    for entry in os.scandir(folder):
        if not _OWN_NAMES.fullmatch(entry.name):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if entry.name.endswith(".so") and not entry.name.startswith("."):
            files.append((status.st_mtime, status.st_size, entry.path))
        elif status.st_mtime < time() - _DAY_S:
            _delete(entry.path)
    total_bytes = 0
    for i, (_, size_bytes, path) in enumerate(sorted(files, reverse=True)):
        total_bytes += size_bytes
        if i >= MAX_FILES or total_bytes > MAX_BYTES:
            _delete(path)


def _entry(key: _Key) -> _Entry:
    with _lock:
        entry = _entries.setdefault(key, _Entry())
        _entries.move_to_end(key)
        if len(_entries) > MAX_LOADED:
            _entries.popitem(last=False)
        return entry


def _count(what: str) -> None:
    global _stats
    with _lock:
        _stats = replace(_stats, **{what: getattr(_stats, what) + 1})


def _fill(key: _Key, entry: _Entry, folder: str, *, compiling: bool) -> bool:
    """Give the entry its function: from memory, from the folder, or, if allowed, from the compiler."""
    toolchain, source, symbol = key
    with entry.lock:
        if entry.function is not None:
            _count("memory_hits")
            return True
        path = _object_path(toolchain, source, folder)
        library = _load_object(path, [symbol])
        found = library is not None
        if library is None:
            if not compiling:
                return False
            library = _compile_somewhere(toolchain, source, path, [symbol])
        entry.function = library.function(symbol)
        _count("disk_hits" if found else "compiled")
        return True


def _compile_somewhere(toolchain: Toolchain, source: str, path: str, symbols: Sequence[str]) -> Library:
    """The object of `source` at `path`, or in the private folder where that one is full or cannot be written to."""
    try:
        return compile_object(toolchain, source, path, symbols)
    except CompileError:
        private, folder = private_folder(), os.path.dirname(path)
        if private is None or private == folder or has_room(folder):
            raise
        return compile_object(toolchain, source, _object_path(toolchain, source, private), symbols)


def _fill_side_by_side(missing: Sequence[tuple[_Key, _Entry]], folder: str) -> None:
    """Compile in as many threads as we have CPUs, this one among them; each waits for its compiler."""
    queue = iter(missing)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for key, entry in queue:
                _fill(key, entry, folder, compiling=True)
        except BaseException as failure:  # raised below, in the caller's thread
            failures.append(failure)

    helpers: list[threading.Thread] = []
    for _ in range(min(len(missing), current().num_threads) - 1):
        helper = threading.Thread(target=contextvars.copy_context().run, args=(work,))
        try:
            helper.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end
            break
        helpers.append(helper)
    work()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]


def _trailer(path: str, code: bytes) -> bytes:
    """The seal: of the code, and of the name, which is a digest of source, compiler and flags."""
    return _MAGIC + hashlib.sha256(os.path.basename(path).encode() + code).digest()


def _delete(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _refusal(command: tuple[str, ...], source: str, log: str, path: str) -> CompileError:
    """The error with the lines about the first complaint; source and log are kept beside the object that failed."""
    saved = os.path.splitext(path)[0]
    with suppress(OSError):  # the disk may be what is wrong
        replace_file(f"{saved}.c", source.encode())
        replace_file(f"{saved}.log", log.encode())
    found = _COMPLAINT.search(log)
    first = int(found.group(1)) - 1 if found is not None else 0
    numbered = [f"{i + 1:5d} | {line}" for i, line in enumerate(source.splitlines())]
    shown = numbered[max(0, first - _SHOWN_LINES) : first + _SHOWN_LINES + 1]
    complaints = log.splitlines()[:_LOG_LINES]
    return CompileError(
        "\n".join(("the C compiler refused a kernel", *complaints, "in", *shown))
        + f"\nsource: {saved}.c\nlog: {saved}.log\ncommand: {' '.join(command)}"
    )


def _after_fork() -> None:
    """A child has none of its parent's threads, so nobody would ever unlock or fill what they were at."""
    global _lock
    _lock = threading.RLock()
    for key, entry in list(_entries.items()):
        if entry.function is None:
            del _entries[key]
        else:
            entry.lock = threading.Lock()


in_forked_child(_after_fork)
