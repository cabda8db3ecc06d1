"""A process whose kernels and runtime are built with sanitizers, and whose idle memory nobody may touch.

A plugin of pytest as well: ``-p tests.reliability.sanitized`` instruments before anything is compiled. The process must
have been started with the sanitizer's libraries in LD_PRELOAD (`environment` has that), and whatever they find ends it.
"""

import ctypes
import subprocess
import weakref
from pathlib import Path
from typing import Any

from uopc_core.runtime import buffer, library, pool, toolchain

__all__ = ["environment", "instrument", "pytest_configure", "why_not"]

_FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g1")
_LEFT_OUT = ("-fno-sanitize=all", "-O2")  # the loops of `omp simd` are vectorised by -O1 too, in two thirds of the time
_RED_ZONE_BYTES = 64
_PROGRAM = "int main(int n, char **v) { int x[2] = {0}; return x[n]; }"


def _libraries() -> list[str]:
    found = toolchain.find_toolchain()
    assert found is not None
    names = ("libasan.so", "libubsan.so")
    answers = [subprocess.run([*found.command, f"-print-file-name={name}"], capture_output=True) for name in names]
    return [answer.stdout.decode().strip() for answer in answers]


def why_not(folder: Path) -> str:
    """Why there is no such process on this machine; empty if there is."""
    found = toolchain.find_toolchain()
    if found is None:
        return "this machine has no C compiler"
    if not all(Path(path).is_absolute() and Path(path).exists() for path in _libraries()):
        return "the compiler has no sanitizers"
    source, program = folder / "program.c", folder / "program"
    source.write_text(_PROGRAM)
    made = subprocess.run([*found.command, *_FLAGS, str(source), "-o", str(program)], capture_output=True)
    works = made.returncode == 0 and subprocess.run([program], capture_output=True).returncode == 0
    return "" if works else "programs of the compiler's sanitizers do not run"


def environment() -> dict[str, str]:
    """What the process is to be started with. Python itself is not instrumented and frees little at its end."""
    return {
        "LD_PRELOAD": " ".join(_libraries()),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:abort_on_error=1",
    }


def instrument() -> None:
    """From now on compile with sanitizers, and let nobody touch memory of the pool that is not in use."""
    assert not toolchain._found, "a compiler is in use already"
    toolchain._FLAGS, toolchain._RUNTIME_FLAGS = map(_sanitized, (toolchain._FLAGS, toolchain._RUNTIME_FLAGS))
    del library.Library.__del__  # reports look through the names of all objects that were ever loaded
    _watch_the_pool(ctypes.CDLL(None))


def _sanitized(flags: tuple[str, ...]) -> tuple[str, ...]:
    return (*[flag for flag in flags if flag not in _LEFT_OUT], "-O1", *_FLAGS)


def pytest_configure(config: Any) -> None:
    del config
    instrument()


def _watch_the_pool(asan: Any) -> None:
    poison, free = asan.__asan_poison_memory_region, asan.__asan_unpoison_memory_region
    poison.argtypes = free.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    allocate = buffer.allocate
    map_pages = pool._map_pages

    def allocate_watched(nbytes: int) -> pool.Block:
        block = allocate(nbytes + _RED_ZONE_BYTES)
        free(block.address, nbytes)
        poison(block.address + nbytes, block.home.size_bytes - nbytes)
        return block

    def map_watched(size_bytes: int) -> Any:
        mapping, address = map_pages(size_bytes)
        weakref.finalize(mapping, free, address, size_bytes)  # for whatever lies there next
        return mapping, address

    def watched(give: Any) -> Any:
        def give_watched(home: Any, block: pool.Block) -> None:
            poison(block.address, home.size_bytes)
            give(home, block)

        return give_watched

    buffer.allocate = allocate_watched
    pool._map_pages = map_watched
    for kind in (pool._SmallClass, pool._LargeClass):
        kind.give = watched(kind.give)
