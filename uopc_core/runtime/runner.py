"""Run compiled kernels in order through one foreign call.

The C runtime, which splits them among threads, is compiled once on a machine. Until it is there, what is little work
runs in the thread that asks for it, so that a first value does not wait for it.
Invariant: a Program keeps alive all the C structures and libraries that its call reads, and nothing in it changes from
call to call, so threads may run one Program at the same time.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from uopc_core.costs import THREADLESS_WORK
from uopc_core.dtype import DType, dtypes
from uopc_core.errors import CompileError, IndexBoundsError
from uopc_core.forks import in_forked_child
from uopc_core.once import once
from uopc_core.records import record
from uopc_core.runtime.background import in_background
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import object_with
from uopc_core.runtime.folder import cache_folder
from uopc_core.runtime.library import CFunction, Library, ffi
from uopc_core.runtime.probe import flushes_subnormals
from uopc_core.runtime.toolchain import find_toolchain, runtime_source
from uopc_core.settings import current

__all__ = ["CompiledProgram", "ProgramStep", "prepare_compiler", "prepare_runtime", "prepare_runtime_meanwhile"]

# The layout of the structures of runtime.c, as strings of `struct`; P is a pointer.
_STEP = struct.Struct("@PPPPiiqqqqq")
_PROGRAM = struct.Struct("@Pqq")
_CALL = "int64_t(*)(const void *, const char *, int64_t)"
_LAST_STATUS = "void(*)(int64_t *)"
_KERNEL = "int64_t(*)(const void *, const int64_t *, const void *, int64_t, int64_t, char *, int64_t *)"
_SCALAR_FORMATS = {"b": "q8x", "i": "q8x", "u": "Q8x", "f": "d8x", "c": "dd"}
_SCALAR_BYTES = 16
_OUT_OF_MEMORY = 2
_MOST_WORK = 2**63 - 1
_ENTRIES = ("uopc_call", "uopc_last_status")
_NO_SCRATCH = "no scratch memory for a kernel"
_NO_COMPILER = "there is no C compiler: install one, or name it with CC"


@record(slots=True)
class ProgramStep:
    """One kernel and what it is called with.

    Attributes:
        slots: numbers of the program's buffers, in the order the kernel takes them.
        scalar_slots: numbers of the program's scalars.
        dims: the lifted integers of its source.
        extent: of the loop that may be split among threads, in multiples of `grain`.
        work: element operations in all, which decide whether it is split.
        scratch_bytes: what each thread needs.
        parts_bytes: what all of them share in its place, see `CSource`.
        name: for messages.
    """

    function: CFunction
    slots: tuple[int, ...]
    scalar_slots: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()
    extent: int = 1
    grain: int = 1
    work: int = 0
    scratch_bytes: int = 0
    parts_bytes: int = 0
    name: str = "kernel"


class CompiledProgram:
    """Compiled kernels that run one after another.

    Args:
        n_buffers: how many pointers a call brings; by default as many as the steps name.
        scalar_dtypes: the dtypes of the scalars of a call.
    Raises:
        CompileError: there is no compiler.
    """

    __slots__ = ("_call", "_complex", "_kept", "_n_buffers", "_pack", "_program", "_single", "_steps", "_work")

    def __init__(
        self, steps: Sequence[ProgramStep], scalar_dtypes: Sequence[DType] = (), n_buffers: int | None = None
    ) -> None:
        needed = 1 + max((slot for step in steps for slot in step.slots), default=-1)
        self._n_buffers = n_buffers = needed if n_buffers is None else n_buffers
        self._work = sum([step.work for step in steps])
        self._call: Any = None if self._is_for_one(current().num_threads) else _runtime().call
        self._steps = tuple(steps)
        self._kept: list[Any] = []
        first = self._address(b"".join([self._step_row(step) for step in steps]))
        self._program: Any = self._keep(_PROGRAM.pack(first, len(steps), n_buffers))
        self._single = [self._keep(_PROGRAM.pack(first + i * _STEP.size, 1, n_buffers)) for i in range(len(steps))]
        formats = [_SCALAR_FORMATS[dtype.kind] for dtype in scalar_dtypes]
        self._pack = struct.Struct(f"={n_buffers}Q{n_buffers % 2 * 8}x{''.join(formats)}").pack
        self._complex = tuple(i for i, dtype in enumerate(scalar_dtypes) if dtype.kind == "c")

    def run(self, pointers: Sequence[int], scalars: Sequence[Any] = ()) -> None:
        """Run all steps.

        Args:
            pointers: one address per buffer.
            scalars: one number per scalar dtype.
        Raises:
            IndexBoundsError: a kernel met an index outside its axis.
            MemoryError: a thread found no scratch memory.
        """
        if self._complex:
            scalars = self._with_parts(scalars)
        settings = current()
        arguments = self._pack(*pointers, *scalars)
        call = self._call or self._entry(settings.num_threads)
        if settings.debug:
            self._run_timed(call, pointers, arguments)
        elif call is None:
            for step in self._steps:
                self._run_alone(step, pointers, arguments)
            prepare_runtime_meanwhile()
        elif call(self._program, arguments, settings.num_threads):
            _raise_last_failure()

    def addresses(self) -> tuple[int, int] | None:
        """Of the entry of the runtime, and of what it is to be given, for who calls without this; None as long as there
        is no runtime.
        """
        if self._call is None:
            return None
        entry, program = ffi.cast("uintptr_t", self._call), ffi.cast("uintptr_t", self._program)
        return int(entry), int(program)

    def _is_for_one(self, num_threads: int) -> bool:
        """Whether the steps may run without the runtime, which is not there yet, and as far as anybody knows will be.

        Raises:
            CompileError: there is no compiler, so that it will never be.
        """
        if not _loaded and find_toolchain() is None:
            raise CompileError(_NO_COMPILER)
        return not _loaded and not _has_failed and (num_threads == 1 or self._work <= THREADLESS_WORK)

    def _entry(self, num_threads: int) -> Any:
        """The entry of the runtime, or None as long as this thread can do without it.

        The runtime keeps subnormal numbers where another library has made this thread take them for 0.
        """
        may_go_on = _has_failed or self._is_for_one(num_threads)  # what has begun without it
        if not may_go_on or flushes_subnormals():
            self._call = _runtime().call
        return self._call

    def _run_timed(self, call: Any, pointers: Sequence[int], arguments: bytes) -> None:
        """Run the steps one by one and print the time of each."""
        for step, program in zip(self._steps, self._single, strict=True):
            start_s = perf_counter()
            if call is None:
                self._run_alone(step, pointers, arguments)
                failed = False
            else:
                failed = call(program, arguments, current().num_threads)
            time_us = (perf_counter() - start_s) * 1e6
            print(f"{step.name}: {step.work} operations in {time_us:.1f} us", file=sys.stderr)
            if failed:
                _raise_last_failure()

    def _run_alone(self, step: ProgramStep, pointers: Sequence[int], arguments: bytes) -> None:
        """Run one step as the runtime does with one thread."""
        first = (self._n_buffers + 1) // 2 * _SCALAR_BYTES
        places = [first + slot * _SCALAR_BYTES for slot in step.scalar_slots]
        scalars = ffi.new("char[]", b"".join([arguments[place : place + _SCALAR_BYTES] for place in places]))
        buffers = ffi.new("uintptr_t[]", [pointers[slot] for slot in step.slots])
        try:
            scratch = Buffer.empty((step.scratch_bytes + step.parts_bytes,), dtypes.uint8)
        except MemoryError:
            raise MemoryError(_NO_SCRATCH) from None
        status = ffi.new("int64_t[4]")
        kernel = ffi.cast(_KERNEL, step.function.address)
        dims, memory = ffi.new("int64_t[]", step.dims), ffi.cast("char *", scratch.pointer)
        kernel(buffers, dims, scalars, 0, step.extent, memory, status)
        if not status[0] and step.parts_bytes:
            kernel(buffers, dims, scalars, step.extent, step.extent, memory, status)
        if status[0]:
            _raise_failure(status)

    def _with_parts(self, scalars: Sequence[Any]) -> list[Any]:
        """Complex scalars as two reals each."""
        flat = list(scalars)
        for i in reversed(self._complex):
            flat[i : i + 1] = (flat[i].real, flat[i].imag)
        return flat

    def _step_row(self, step: ProgramStep) -> bytes:
        slots = struct.pack(f"{len(step.slots)}i", *step.slots)
        scalar_slots = struct.pack(f"{len(step.scalar_slots)}i", *step.scalar_slots)
        try:
            dims = struct.pack(f"{len(step.dims)}q", *step.dims)
        except struct.error:
            raise MemoryError(f"{step.name}: no memory has {max(step.dims)} elements") from None
        return _STEP.pack(
            step.function.address,
            *map(self._address, (slots, scalar_slots, dims)),
            len(step.slots),
            len(step.scalar_slots),
            step.extent,
            max(1, step.grain),
            min(step.work, _MOST_WORK),
            step.scratch_bytes,
            step.parts_bytes,
        )

    def _keep(self, content: bytes) -> Any:
        memory = ffi.new("char[]", content)
        self._kept.append(memory)
        return memory

    def _address(self, content: bytes) -> int:
        return int(ffi.cast("uintptr_t", self._keep(content)))


@record(slots=True)
class _Runtime:
    """The two entries of runtime.c."""

    library: Library
    call: Any
    last_status: Any


_loaded: dict[str, _Runtime] = {}


def _runtime() -> _Runtime:
    """The C runtime: one for the process, so that there is one set of worker threads whatever the compiler."""
    return _loaded.get("runtime") or once("runtime", _make_runtime)


def _make_runtime() -> _Runtime:
    if "runtime" not in _loaded:
        library = _load_runtime()
        call, last_status = map(library.function, _ENTRIES)
        entries = ffi.cast(_CALL, call.address), ffi.cast(_LAST_STATUS, last_status.address)
        _loaded.setdefault("runtime", _Runtime(library, *entries))
    return _loaded["runtime"]


def _load_runtime() -> Library:
    found, folder = find_toolchain(), cache_folder()
    if found is None or folder is None:
        raise CompileError(_NO_COMPILER)
    return object_with(_ENTRIES, found.for_runtime(), runtime_source(), folder)


def prepare_compiler() -> None:
    """Have the compiler looked for, and with more than one thread the runtime compiled, while something else is done:
    the first time, loading what plans and writes kernels.

    Where both are known already, which they are for the whole machine after the first time, nothing happens.
    """
    if not _is_prepared:
        _is_prepared.append(True)
        in_background(_find_and_prepare)


def _find_and_prepare() -> None:
    if find_toolchain() is not None and current().num_threads > 1:
        prepare_runtime()


def prepare_runtime() -> None:
    """Have the C runtime compiled, if it is not yet, and loaded.

    Raises:
        CompileError: there is no compiler, or it failed.
    """
    _runtime()


def prepare_runtime_meanwhile() -> None:
    """Have that done by another thread, once. Where it fails, what has begun without it goes on so, and no other."""
    if not _loaded and not _is_asked_for:
        _is_asked_for.append(True)
        in_background(_prepare_or_note)


def _prepare_or_note() -> None:
    try:
        prepare_runtime()
    except CompileError:
        _has_failed.append(True)
        raise


_is_prepared: list[bool] = []
_is_asked_for: list[bool] = []
_has_failed: list[bool] = []
in_forked_child(_is_prepared.clear)
in_forked_child(_is_asked_for.clear)


def _raise_last_failure() -> None:
    status = ffi.new("int64_t[4]")
    _loaded["runtime"].last_status(status)
    _raise_failure(status)


def _raise_failure(status: Any) -> None:
    if status[0] == _OUT_OF_MEMORY:
        raise MemoryError(_NO_SCRATCH)
    raise IndexBoundsError(f"index {status[1]} is out of bounds for axis {status[2]} with size {status[3]}")
