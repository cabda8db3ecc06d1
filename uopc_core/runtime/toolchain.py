"""The machine's own C compiler: which one, with which flags, and what it can do.

Invariant: the flags keep NumPy's bits (no contraction, wrapping integers, no fast-math, no start-up code that flushes
subnormals). The answer is kept in the cache folder, keyed by the compiler's file and the CPU, so that a fresh process
starts no compiler to find it.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import count, takewhile
from math import ceil
from pathlib import Path
from typing import Any

from uopc_core.costs import WORK_OF_A_THREAD
from uopc_core.errors import SettingsError
from uopc_core.forks import in_forked_child
from uopc_core.lazy import LazyModule
from uopc_core.once import once
from uopc_core.records import record
from uopc_core.runtime import probe
from uopc_core.runtime.folder import cache_folder, leave_folder, read_file, replace_file
from uopc_core.runtime.library import Library, can_load
from uopc_core.settings import current

__all__ = ["INPUT", "Toolchain", "find_toolchain", "refusal", "run_compiler", "runtime_source"]

# Options before these in a command are undone: kernels share their process with everything else.
_SAFE = ("-fno-fast-math", "-fno-unsafe-math-optimizations", "-fno-sanitize=all")
# -O3 takes up to four times as long as -O2 on kernels with many loops, and makes none of ours faster: those that matter
# are vectorised by pragma. What is given up, traps, errno and aliasing by type, changes no value.
_FLAGS = (
    *("-std=gnu99", "-O2", *_SAFE),
    *("-ffp-contract=off", "-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing"),
    *("-fopenmp-simd", "-fPIC", "-shared", "-pipe", "-w"),
)
INPUT = ("-x", "c", "-", "-x", "none")  # C from standard input; what follows is told by its name again
_ARCHITECTURES = (("-march=native",), ("-mcpu=native",), ())
# Without start files and library search linking takes 4 ms instead of 14; without padding a kernel takes 2 mappings
# instead of 5.
_LEAN_LINK = ("-nostdlib", "-Wl,-z,noseparate-code,-z,norelro,--build-id=none,--hash-style=gnu")
# The runtime links like any library: thread-local storage and fork handlers need what a lean kernel does without.
_RUNTIME_FLAGS = ("-std=gnu99", "-O2", *_SAFE, "-fPIC", "-shared", "-pthread", "-w")
_SPLIT_STACK = "-fsplit-stack"  # cannot be undone by all compilers, nor found by running the probe


@record(slots=True)
class Toolchain:
    """A compiler that has been seen to work.

    Attributes:
        command: the program and the options that belong to it.
        version: the first line it says about itself.
        flags: what a kernel is compiled with.
        libs: what a kernel is linked with.
        cpu: digest of the CPU's features, since the flags ask for the CPU at hand.
        has_libmvec: functions declared with `__attribute__((simd("notinbranch")))` vectorise.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    libs: tuple[str, ...]
    cpu: str
    has_libmvec: bool

    def key(self, source: str) -> str:
        """Name of the object that `source` compiles to."""
        parts = (source, self.version, self.cpu, *self.command, *self.flags, *self.libs)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def for_runtime(self) -> Toolchain:
        """The same compiler as `runtime.c` is compiled with it."""
        architecture = [flag for flag in self.flags if flag.startswith(("-march=", "-mcpu="))]
        return Toolchain(self.command, self.version, (*_RUNTIME_FLAGS, *architecture), (), self.cpu, False)


MAX_SECONDS = 60  # that a compiler may take
resource = LazyModule("resource")  # Unix has it
_LOG_LINES = 5  # of what a compiler says, in a message
_serial = count()
_running: dict[int, subprocess.Popen[bytes]] = {}
_killed: set[int] = set()  # at the end of the process
_found: dict[str | None, Toolchain | None] = {}
_refused: dict[str | None, str] = {}  # by the setting `cc`: why the first compiler that was tried cannot be used
_blamed: dict[str, str] = {}  # by the setting `cc`: what to say of its options


def find_toolchain() -> Toolchain | None:
    """The compiler in force, or None.

    `$CC` and nothing else where it is set, otherwise the first that works of cc, gcc, clang and ziglang.

    Raises:
        SettingsError: `$CC` is a compiler that works, with options with which it does not.
    """
    cc = current().cc
    if cc not in _found:
        if sys.is_finalizing():  # nothing can be imported then, and nobody starts to look for a compiler
            return None
        once(("compiler", cc), partial(_find_toolchain, cc))
    return _found[cc]


def _find_toolchain(cc: str | None) -> None:
    if cc not in _found:
        _found.setdefault(cc, _search(cc) if can_load() else None)


def run_compiler(command: tuple[str, ...], source: str, folder: str) -> subprocess.CompletedProcess[bytes]:
    """Run `command` with the source text as its input and its temporary files in `folder`, all closed to others.

    It runs in a process group of its own, so Ctrl-C reaches only Python; it and its children are killed when it takes
    longer than `MAX_SECONDS`, when the caller is interrupted, and at the end of the process; where that is killed, by
    the system after `MAX_SECONDS` of computing.
    """
    environment = {**os.environ, "TMPDIR": folder, "LC_ALL": "C"}
    return _run(command, source.encode(), environment)


def _run(
    command: tuple[str, ...], text: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    group: dict[str, Any] = {"process_group": 0, "umask": 0o077} if hasattr(os, "killpg") else {}
    pipe = subprocess.PIPE
    popen: Any = subprocess.Popen
    process: subprocess.Popen[bytes]
    with popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, **group) as process:
        _running[process.pid] = process
        _limit_time_of(process.pid)
        try:
            out, log = process.communicate(text, timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(process)
            said = b"\n".join(process.communicate())
            return subprocess.CompletedProcess(
                command, 1, b"", said + f"\nno answer within {MAX_SECONDS} s: killed".encode()
            )
        except BaseException:
            _kill(process)
            raise
        finally:
            _running.pop(process.pid, None)
        if process.pid in _killed:  # the process ends, and so does this thread of it
            raise SystemExit
        return subprocess.CompletedProcess(command, process.returncode, out, log)


def _limit_time_of(pid: int) -> None:
    """Let the system end a compiler, which would outlive a Python that was killed, when its time is over.

    The programs that a compiler starts inherit the limit.
    """
    limit = ceil(MAX_SECONDS)
    with suppress(ImportError, AttributeError, OSError, ValueError):  # not every system has such limits
        resource.prlimit(pid, resource.RLIMIT_CPU, (limit, limit))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a compiler and the programs that it has started."""
    if process.returncode is None:  # else its number may be another's by now
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def _kill_running() -> None:
    for process in list(_running.values()):
        _killed.add(process.pid)
        _kill(process)


atexit.register(_kill_running)


def _search(cc: str | None) -> Toolchain | None:
    if cc in _blamed:
        raise SettingsError(_blamed[cc])
    found = _first_working(cc) or (_first_working(cc) if leave_folder() else None)
    if found is None and cc is not None:
        _blame_options(cc)
    return found


def _first_working(cc: str | None) -> Toolchain | None:
    folder = cache_folder()
    if folder is None:
        return None
    for command in _candidates(cc):
        found = _examine(command, folder)
        if isinstance(found, Toolchain):
            return found
        _refused.setdefault(cc, found)
    return None


def _blame_options(cc: str) -> None:
    """
    Raises:
        SettingsError: the command works without its options.
    """
    folder = cache_folder()
    for command in _candidates(cc):
        program = tuple(takewhile(lambda word: not word.startswith("-"), command))
        if folder is not None and program != command and isinstance(_examine(program, folder), Toolchain):
            _blamed[cc] = (
                f"CC: expected options with which {program[-1]} makes shared objects that compute as NumPy does, got "
                f"{cc!r}; leave them out, or CC unset. With them, {_refused[cc]}"
            )
            raise SettingsError(_blamed[cc])


def refusal() -> str | None:
    """Why the compiler that was found first is not used, where none is."""
    return _refused.get(current().cc) if find_toolchain() is None else None


def _candidates(cc: str | None) -> Iterator[tuple[str, ...]]:
    """Commands that name an existing program."""
    if cc is not None:
        try:
            words = [tuple(shlex.split(cc))]
        except ValueError as error:
            raise SettingsError(
                f"CC: expected a command with options as a shell reads them, got {cc!r}: {error}"
            ) from None
    else:
        words = [("cc",), ("gcc",), ("clang",), *_zig_commands()]
    for command in words:
        program = shutil.which(command[0]) if command else None
        if program is not None:
            yield (program, *command[1:])


def _zig_commands() -> Iterator[tuple[str, ...]]:
    spec = importlib.util.find_spec("ziglang")
    if spec is not None and spec.origin is not None:
        yield (os.path.join(os.path.dirname(spec.origin), "zig"), "cc")


def _examine(command: tuple[str, ...], folder: str) -> Toolchain | str:
    """The kept answer about `command`, or a new one; in words where it does not work."""
    cpu = _cpu_digest()
    status = os.stat(command[0])
    identity = (probe.SOURCE, *_FLAGS, *_RUNTIME_FLAGS, *_LEAN_LINK, cpu, *command)
    digest = hashlib.sha256("\0".join((*identity, str(status.st_mtime_ns), str(status.st_size))).encode()).hexdigest()
    path = os.path.join(folder, f"toolchain-{digest[:32]}.json")
    kept = _read_answer(path)
    if kept is not None:
        return kept
    found = _probe(command, cpu, folder)
    if isinstance(found, Toolchain):
        with suppress(OSError):
            replace_file(path, json.dumps({"toolchain": asdict(found), "seal": _seal(path, asdict(found))}).encode())
    return found


def _seal(path: str, fields: Mapping[str, Any]) -> str:
    """Over an answer, and over the name of its file, which is a digest of what was asked."""
    text = json.dumps(fields, sort_keys=True)
    return hashlib.sha256(f"{os.path.basename(path)}\0{text}".encode()).hexdigest()


def _read_answer(path: str) -> Toolchain | None:
    """The answer in a file, or None where there is none, or it is not as it was written, or not true any more."""
    try:
        kept = json.loads(read_file(path)[0])
        fields: dict[str, Any] = kept["toolchain"]
        if kept["seal"] != _seal(path, fields):
            return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    lists: dict[str, Any] = {name: tuple(fields[name]) for name in ("command", "flags", "libs")}
    answer = Toolchain(**(fields | lists))
    return answer if all(os.path.exists(lib) for lib in answer.libs if os.path.isabs(lib)) else None


def _probe(command: tuple[str, ...], cpu: str, folder: str) -> Toolchain | str:
    """Compile a small kernel in ever plainer ways until one of them is right; in words what is wrong with the last."""
    version = _first_line(command, "--version")
    if version is None:
        return "it does not tell its version"
    if _SPLIT_STACK in command:
        return f"{_SPLIT_STACK} makes functions that only its own programs can call"
    fault = ""
    for link, libs in (*_lean_libs(command), ((), ("-lm",))):
        for architecture in _ARCHITECTURES:
            toolchain = Toolchain(command, version, (*_FLAGS, *architecture, *link), libs, cpu, False)
            try:
                code = _build_probe(toolchain, folder)
            except _Unfit as unfit:
                fault = str(unfit)
                if unfit.is_final:
                    return fault
            else:
                return replace(toolchain, has_libmvec=b"_ZGV" in code)
    return fault


def _lean_libs(command: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Ways to link straight against glibc's files, with and without its vector functions."""
    libc = _first_line(command, "-print-file-name=libc.so.6") or ""
    files = {"libc.so.6": libc}
    for name in ("libmvec.so.1", "libm.so.6"):
        beside = os.path.join(os.path.dirname(libc), name)
        is_there = os.path.isabs(libc) and os.path.exists(beside)
        files[name] = beside if is_there else _first_line(command, f"-print-file-name={name}") or ""
    plain = (files["libm.so.6"], files["libc.so.6"])
    if all(map(os.path.isabs, plain)):
        if os.path.isabs(files["libmvec.so.1"]):
            yield _LEAN_LINK, (files["libmvec.so.1"], *plain, "-lgcc")
        yield _LEAN_LINK, (*plain, "-lgcc")


class _Unfit(Exception):
    """A compiler whose objects cannot be used; `is_final` says that other flags would change nothing."""

    def __init__(self, reason: str, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


def _build_probe(toolchain: Toolchain, folder: str) -> bytes:
    """The object code of the probe, which compiles, links, loads and computes.

    A command with options is looked at more closely: what it makes in a process of its own, and the runtime as well.

    Raises:
        _Unfit: with the reason.
    """
    attribute = '__attribute__((simd("notinbranch")))' if any("libmvec" in lib for lib in toolchain.libs) else ""
    flushes = probe.flushes_subnormals()
    with _object_of(toolchain, probe.SOURCE.format(attribute=attribute), folder) as path:
        if len(toolchain.command) > 1:
            _examine_apart(path)
            _examine_runtime(toolchain, folder)
        function = Library(path).function(probe.SYMBOL)
        fault = probe.fault_of(function.address, flushes)
        if fault is not None:
            raise _Unfit(fault, is_final=True)
        with open(path, "rb") as file:
            return file.read()


def _examine_runtime(toolchain: Toolchain, folder: str) -> None:
    try:
        with _object_of(toolchain.for_runtime(), runtime_source(), folder) as path:
            _examine_apart(path)
    except _Unfit as unfit:
        raise _Unfit(str(unfit), is_final=True) from None


@contextmanager
def _object_of(toolchain: Toolchain, source: str, folder: str) -> Generator[str]:
    """The object of `source` in a file that is deleted afterwards."""
    target = os.path.join(folder, f".probe-{os.getpid()}-{next(_serial)}.so")
    command = (*toolchain.command, *toolchain.flags, *INPUT, "-o", target, *toolchain.libs)
    try:
        outcome = run_compiler(command, source, folder)
        if outcome.returncode != 0:
            said = outcome.stderr.decode(errors="replace").strip().splitlines()
            raise _Unfit("\n".join(["it makes no shared object", *said[:_LOG_LINES]]))
        yield target
    except OSError as error:
        raise _Unfit(f"it makes no object that can be loaded: {error}") from None
    finally:
        with suppress(OSError):  # there may be none, or a folder
            os.unlink(target)


def _examine_apart(path: str) -> None:
    """Load and run an object in another process.

    Raises:
        _Unfit: it cannot be loaded, computes otherwise than NumPy, or ends the process.
    """
    if getattr(sys, "frozen", False) or not sys.executable:  # a program of which Python is a part: nothing to start
        return
    outcome = _run((sys.executable, "-I", "-S", probe.__file__, path))
    greeting, _, fault = outcome.stdout.decode(errors="replace").strip().partition("\n")
    if greeting == probe.GREETING and outcome.returncode != probe.RIGHT:
        how = f"a process that loads what it makes ends with {outcome.returncode}"
        told = outcome.returncode in (probe.NOT_LOADED, probe.WRONG)
        raise _Unfit(fault if told else how, is_final=outcome.returncode == probe.WRONG)


def runtime_source() -> str:
    """The C of the runtime."""
    text = Path(__file__).with_name("runtime.c").read_text(encoding="utf-8")
    return f"#define WORK_OF_A_THREAD {WORK_OF_A_THREAD}\n{text}"


def _first_line(command: tuple[str, ...], option: str) -> str | None:
    try:
        answer = _run((*command, option))
    except OSError:
        return None
    lines = answer.stdout.decode(errors="replace").splitlines()
    return lines[0].strip() if answer.returncode == 0 and lines else None


def _cpu_digest() -> str:
    """Digest of what the compiler's `native` depends on; equal on machines that can share objects."""
    try:
        with Path("/proc/cpuinfo").open("rb") as file:
            first_cpu = file.read(8192).split(b"\n\n")[0].decode(errors="replace")
    except OSError:
        first_cpu = ""
    wanted = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part", "isa")
    features = [line for line in first_cpu.splitlines() if line.split(":")[0].strip() in wanted]
    described = "\n".join((platform.machine(), platform.processor() if not features else "", *features))
    return hashlib.sha256(described.encode()).hexdigest()[:16]


in_forked_child(_running.clear)
