"""The process that measures: one core a thread, as many threads in every library, no variable that picks kernels."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["describe", "measuring_environment", "restart", "threads_in_use"]

READY = "BENCHMARKS_READY"
# these pin OpenBLAS to kernels of another processor
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "UOPC_NUM_THREADS"),
)
JAX = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}
# OpenBLAS's threads stay awake for 2^28 cycles after a call, on cores that the next library would have to share
CALM = {"OPENBLAS_THREAD_TIMEOUT": "20"}
LIBRARIES = ("uopc-array", "numpy", "scipy", "jax", "numba", "numexpr", "torch")


def measuring_environment(n_threads: int = 1) -> dict[str, str]:
    """The environment of a measuring process."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return {**CALM, **kept, **dict.fromkeys(THREADS, str(n_threads)), **JAX, READY: str(n_threads)}


def threads_in_use() -> int:
    """How many threads every library has in this process."""
    return int(os.environ.get(READY, "1"))


def restart(module: str, arguments: list[str], n_threads: int = 1) -> None:
    """Replace this process by one that measures, unless it is one; libraries read these variables when they load."""
    if os.environ.get(READY) == str(n_threads):
        return
    if hasattr(os, "sched_setaffinity"):  # JAX and PyTorch have as many threads as there are cores
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < n_threads:
            raise SystemExit(f"{n_threads} threads were asked for, and this process may use {len(cores)} cores")
        os.sched_setaffinity(0, set(cores[-n_threads:]))
    command = [sys.executable, "-m", module, *arguments]
    os.execve(sys.executable, command, measuring_environment(n_threads))


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def describe() -> dict[str, Any]:
    """Machine and versions, for the JSON file."""
    versions: dict[str, str] = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"processor": _processor(), "system": platform.platform(), "python": platform.python_version(), **versions}
