"""Compiled kernels: C text -> Function, compiled at most once on this machine.

Invariants: an object is compiled once per key however many threads ask; what lies in the folder appears whole under its
name, and is loaded only with the right seal at its end, which covers its code and the source and flags that it was made
of. Nothing is deleted that does not have a name which this module makes. A compile error is only remembered for those
who can do without the kernel.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from time import time

from uopc_core.errors import CompileError
from uopc_core.once import Task, do_side_by_side, task_for
from uopc_core.recent import Recent
from uopc_core.runtime.folder import (
    cache_folder,
    has_room,
    make_again,
    private_folder,
    read_file,
    replace_file,
    temporary_name,
)
from uopc_core.runtime.library import CFunction, Library
from uopc_core.runtime.toolchain import INPUT, Toolchain, find_toolchain, run_compiler
from uopc_core.settings import current

__all__ = [
    "CacheStats",
    "compile_ahead",
    "compile_many",
    "compile_object",
    "compile_one",
    "has_object",
    "is_compiled",
    "object_with",
    "stats",
    "sweep",
]

MAX_FILES = 20_000
MAX_BYTES = 512 << 20
MAX_LOADED = 4096  # functions that stay loaded without anyone using them
# functions of one object, of which each keeps a copy: to start a compiler takes 30 ms, a short kernel 10
MAX_TOGETHER = 24
_DAY_S = 86_400
_MAGIC = b"uopc-object-2"
# what is written here: objects, sources and logs of refused kernels, what has no name yet, the probe's object, and what
# compilers write
_OWN_NAMES = re.compile(
    r"[0-9a-f]{64}\.(so|c|log)|\.\d+-\d+\.tmp|\.probe-\d+-\d+\.so|cc[A-Za-z0-9]{6}\.(s|o|c|ld|le|res|lto\.o|cdtor\.[co])"
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

_functions: Recent[_Key, CFunction] = Recent(MAX_LOADED)
_counts = {"compiled": 0, "disk_hits": 0, "memory_hits": 0}


def stats() -> CacheStats:
    """Counts since the process began."""
    return CacheStats(**_counts)


def compile_one(source: str, symbol: str) -> CFunction:
    """The function `symbol` of the C text `source`.

    Raises:
        CompileError: there is no compiler, or it refused the source.
    """
    return compile_many([(source, symbol)])[0]


def compile_many(sources: Sequence[tuple[str, str]]) -> list[CFunction]:
    """The functions of pairs (C text, symbol). What has to be compiled is compiled side by side, one compiler a CPU.

    Raises:
        CompileError: there is no compiler, or it refused a source.
    """
    toolchain = find_toolchain()
    folder = cache_folder()
    if toolchain is None or folder is None:
        raise CompileError("there is no C compiler: install one, or name it with CC")
    keys = [(toolchain, source, symbol) for source, symbol in sources]
    functions = {key: _functions.get(key) for key in keys}
    n_new = 0
    for key in [key for key, function in functions.items() if function is None]:
        functions[key] = _from_folder(key, folder)
        n_new += functions[key] is not None
    missing = [key for key, function in functions.items() if function is None]
    work = [partial(_compile, key, folder) for key in missing]
    tasks = [task_for(("kernel", key), compile_it) for key, compile_it in zip(missing, work, strict=True)]
    n_new += sum([task.function is own for task, own in zip(tasks, work, strict=True)])
    functions.update(zip(missing, do_side_by_side(tasks, current().num_threads), strict=True))
    _counts["memory_hits"] += len(keys) - n_new
    return [function for key in keys if (function := functions[key]) is not None]


def is_compiled(source: str, symbol: str) -> bool:
    """Whether this function need not be compiled any more."""
    toolchain, folder = find_toolchain(), cache_folder()
    if toolchain is None or folder is None:
        return False
    return _functions.get((toolchain, source, symbol)) is not None or has_object(toolchain, source, folder)


def has_object(toolchain: Toolchain, source: str, folder: str) -> bool:
    """Whether there is an object of `source` in `folder`, whole or not."""
    return os.path.exists(_object_path(toolchain, source, folder))


def compile_ahead(
    sources: Sequence[tuple[str, str]],
    join: Callable[[Sequence[int]], str],
    kind: Callable[[int], Hashable] = lambda _: None,
) -> None:
    """Compile what is missing of pairs (C text, symbol), of which no two share a symbol, in few runs of the compiler:
    as many as there are CPUs, or as it takes for no object to have too many functions.

    What cannot be is left to whoever asks for it by itself.

    Args:
        join: the C text that has the functions of the sources with these numbers.
        kind: of the source with this number; only those of one kind are compiled together.
    """
    toolchain, folder = find_toolchain(), cache_folder()
    if toolchain is None or folder is None:
        return
    missing = [i for i, (source, symbol) in enumerate(sources) if not is_compiled(source, symbol)]
    tasks: list[Task] = []
    for share in _shares(sources, missing, kind):
        keys = tuple([(toolchain, *sources[i]) for i in share])
        tasks.append(task_for(("kernels", keys), partial(_compile_together, keys, join(share), folder)))
    do_side_by_side(tasks, current().num_threads)


def _shares(
    sources: Sequence[tuple[str, str]], missing: Sequence[int], kind: Callable[[int], Hashable]
) -> list[list[int]]:
    """The missing ones in lists, as many as there are CPUs or more; none where each would be alone in its list."""
    n = current().num_threads
    if len(missing) <= n:
        return []
    alike: dict[Hashable, list[int]] = {}
    for i in missing:
        alike.setdefault(kind(i), []).append(i)
    shares: list[list[int]] = []
    for numbers in alike.values():
        n_lists = max(n * len(numbers) // len(missing), ceil(len(numbers) / MAX_TOGETHER))
        shares += _dealt_out({i: len(sources[i][0]) for i in numbers}, min(n_lists, len(numbers)))
    return shares


def _dealt_out(sizes: Mapping[int, int], n: int) -> list[list[int]]:
    """The numbers in `n` lists of about the same size, the largest dealt out first."""
    lists: list[list[int]] = [[] for _ in range(n)]
    for i in sorted(sizes, key=lambda i: -sizes[i]):
        min(lists, key=lambda numbers: sum([sizes[k] for k in numbers])).append(i)
    return lists


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
        content, status = read_file(path)
        code, trailer = content[:-_TRAILER_BYTES], content[-_TRAILER_BYTES:]
        if trailer != _trailer(path, code):
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
    target = temporary_name(os.path.dirname(path))
    try:
        _compile_to(target, toolchain, source, path)
        with Path(target).open("r+b") as file:
            file.write(_trailer(path, file.read()))
        library = _library_with(target, symbols)
        with suppress(OSError):  # a folder has its name, say; this process has it
            os.replace(target, path)
        if path.endswith("00.so"):  # one key of 256
            sweep(os.path.dirname(path))
        return library
    except (OSError, RuntimeError) as error:  # RuntimeError: no process can be started while Python ends
        if isinstance(error, CompileError):
            raise
        raise CompileError(f"a compiled kernel cannot be stored or loaded: {error}") from error
    finally:
        _delete(target)


def _compile_to(target: str, toolchain: Toolchain, source: str, path: str) -> None:
    """
    Args:
        path: where the object is to be in the end; source and log are left beside it if the compiler refuses.
    Raises:
        CompileError: it does.
        OSError, RuntimeError: there can be no folder or no process.
    """
    folder = os.path.dirname(path)
    command = (*toolchain.command, *toolchain.flags, *INPUT, "-o", target, *toolchain.libs)
    make_again(folder)
    if current().debug >= _DEBUG_SOURCE:
        print(source, " ".join(command), sep="\n", file=sys.stderr)
    outcome = run_compiler(command, source, folder)
    if outcome.returncode != 0:
        raise _refusal(command, source, outcome.stderr.decode(errors="replace"), path)


def _compile_together(keys: Sequence[_Key], source: str, folder: str) -> None:
    """Compile `source`, which has the functions of all `keys`, and keep the object as that of each."""
    toolchain = keys[0][0]
    paths = [_object_path(toolchain, text, folder) for _, text, _ in keys]
    target = temporary_name(folder)
    try:
        _compile_to(target, toolchain, source, paths[0])
        code = Path(target).read_bytes()
        for key, path in zip(keys, paths, strict=True):
            replace_file(path, code + _trailer(path, code))
            library = _load_object(path, [key[2]])
            if library is not None:
                _counts["compiled"] += 1
                _functions.add(key, library.function(key[2]))
    except (OSError, RuntimeError):  # told to whoever asks for one of them, if it is refused then too
        return
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


def _from_folder(key: _Key, folder: str) -> CFunction | None:
    """The function, if somebody has compiled it before."""
    toolchain, source, symbol = key
    library = _load_object(_object_path(toolchain, source, folder), [symbol])
    if library is None:
        return None
    _counts["disk_hits"] += 1
    return _functions.add(key, library.function(symbol))


def _compile(key: _Key, folder: str) -> CFunction:
    """The function, compiled unless another process, or a thread that was waited for in vain, was faster."""
    found = _functions.get(key) or _from_folder(key, folder)
    if found is not None:
        return found
    toolchain, source, symbol = key
    library = _compile_somewhere(toolchain, source, _object_path(toolchain, source, folder), [symbol])
    _counts["compiled"] += 1
    return _functions.add(key, library.function(symbol))


def _compile_somewhere(toolchain: Toolchain, source: str, path: str, symbols: Sequence[str]) -> Library:
    """The object of `source` at `path`, or in the private folder where that is full, or a folder has the name."""
    try:
        return compile_object(toolchain, source, path, symbols)
    except CompileError:
        private, folder = private_folder(), os.path.dirname(path)
        if private is None or private == folder or (has_room(folder) and not os.path.isdir(path)):
            raise
        return compile_object(toolchain, source, _object_path(toolchain, source, private), symbols)


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
