"""The process that measures: one core, one thread in every library, no variable that picks kernels."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["describe", "one_core_environment", "restart_on_one_core"]

READY = "BENCHMARKS_READY"
# these pin OpenBLAS to kernels of another processor
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "UOPC_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
}
LIBRARIES = ("uopc-array", "numpy", "jax", "numba", "numexpr", "torch")


def one_core_environment() -> dict[str, str]:
    """The environment of a measuring process."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return {**kept, **ONE_THREAD, READY: "1"}


def restart_on_one_core(arguments: list[str]) -> None:
    """Replace this process by one that measures, unless it is one; libraries read these variables when they load."""
    if os.environ.get(READY) == "1":
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    command = [sys.executable, "-m", "benchmarks", *arguments]
    os.execve(sys.executable, command, one_core_environment())


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
