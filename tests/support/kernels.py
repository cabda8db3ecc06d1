"""Small kernels in C, and what tests need to run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from uopc_core.runtime.toolchain import find_toolchain

ROOT = Path(__file__).parents[2]

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="this machine has no C compiler")

HEADER = """
typedef long long int64_t; typedef unsigned long long uint64_t;
typedef union { int64_t i; uint64_t u; double f; double c[2]; } uopc_scalar;
#define KERNEL int64_t kernel(void *const *bufs, const int64_t *dims, const uopc_scalar *scalars, int64_t begin, \\
                              int64_t end, char *scratch, int64_t *status)
"""

# out = x * scalar + dim
SCALE = (
    HEADER
    + """
KERNEL {
    double *restrict out = bufs[0]; const double *restrict x = bufs[1];
    for (int64_t i = begin; i < end; i++) out[i] = x[i] * scalars[0].f + (double)dims[0];
    return 0;
}
"""
)


def answer(number: int) -> str:
    """The text of a function of its own for every number."""
    return f"int answer(void) {{ return {number}; }}"


def run_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    everything = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=everything, capture_output=True, text=True, check=True, timeout=300
    ).stdout.strip()
