"""What the machine itself can do: STREAM's triad, reading alone, products and sums in registers, products of OpenBLAS.

The C below is compiled by the compiler that compiles the kernels, for the same processor, and runs in the process that
measures, on as many threads. The triad is McCalpin's (https://www.cs.virginia.edu/stream/): ``a[i] = b[i] + s * c[i]``,
24 bytes an element, with plain and with streaming stores. It runs over as many bytes as the row moves, so that a row
that fits into a cache is compared with that cache. A row that hardly writes is compared with the sum of a run of memory
in eight vectors, which is what reading takes.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from uopc_core import current
from uopc_core.runtime.toolchain import INPUT, find_toolchain, run_compiler

__all__ = ["describe_limits", "fma_peak", "gemm_rate", "gemv_rate", "read_rate", "triad_rates"]

BYTES_PER_ELEMENT = 24  # of the triad: two read, one written
ENOUGH_BYTES = 64 << 20  # for a call
SAMPLE_S, MIN_CALLS = 0.05, 5  # that a limit is tried for
FMA_STEPS = 200_000
CHAINS = 12  # products that do not wait for each other
MATRIX = 1024

SOURCE = r"""
#include <stddef.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
#define CHAINS 12

void triad(double *restrict a, const double *restrict b, const double *restrict c, ptrdiff_t n, ptrdiff_t times) {
    for (; times > 0; times--) {
        for (ptrdiff_t i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
        __asm__ volatile("" : : "r"(a) : "memory");
    }
}

int triad_streaming(
    double *restrict a, const double *restrict b, const double *restrict c, ptrdiff_t n, ptrdiff_t times
) {
#if defined(__SSE2__)
    const __m128d s = _mm_set1_pd(3.0);
    for (; times > 0; times--) {
        for (ptrdiff_t i = 0; i + 2 <= n; i += 2)
            _mm_stream_pd(a + i, _mm_add_pd(_mm_loadu_pd(b + i), _mm_mul_pd(s, _mm_loadu_pd(c + i))));
        _mm_sfence();
    }
    return 1;
#else
    return 0;
#endif
}

void read_all(const double *restrict a, double *restrict out, ptrdiff_t n, ptrdiff_t times) {
    typedef double vec __attribute__((vector_size(BYTES), aligned(8)));
    enum { wide = BYTES / sizeof(double), step = 8 * wide };
    for (; times > 0; times--) {
        vec sums[8] = {{0}};
        for (ptrdiff_t i = 0; i + step <= n; i += step) {
            _Pragma("GCC unroll 8")
            for (int k = 0; k < 8; k++) sums[k] += *(const vec *)(a + i + k * wide);
        }
        for (int k = 1; k < 8; k++) sums[0] += sums[k];
        *out = sums[0][0];
        __asm__ volatile("" : : "r"(out) : "memory");
    }
}

#define FMA(NAME, TYPE)                                                                  \
    int NAME(TYPE *out, ptrdiff_t n) {                                                   \
        typedef TYPE vec __attribute__((vector_size(BYTES)));                            \
        vec x[CHAINS] = {{0}}, p = {0}, q = {0};                                         \
        p += (TYPE)0.999; q += (TYPE)1e-3;                                               \
        for (int k = 0; k < CHAINS; k++) x[k] += (TYPE)k; /* else they are one chain */  \
        for (ptrdiff_t i = 0; i < n; i++) {                                              \
            _Pragma("GCC unroll 12")                                                     \
            for (int k = 0; k < CHAINS; k++) x[k] = x[k] * p + q;                        \
        }                                                                                \
        for (int k = 1; k < CHAINS; k++) x[0] += x[k];                                   \
        *out = x[0][0];                                                                  \
        return (int)(BYTES / sizeof(TYPE));                                              \
    }
FMA(fma_f32, float)
FMA(fma_f64, double)
"""


@functools.cache
def _library() -> Any:
    """The compiled limits.

    Raises:
        RuntimeError: there is no C compiler, or it fails.
    """
    toolchain = find_toolchain()
    if toolchain is None:
        raise RuntimeError("limits: no C compiler was found, and without one there are no kernels to compare with them")
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "limits.so")
        command = (*toolchain.command, *toolchain.flags, "-ffp-contract=fast", *INPUT, "-o", target, *toolchain.libs)
        outcome = run_compiler(command, SOURCE, folder)
        if outcome.returncode:
            raise RuntimeError(f"limits: {' '.join(command)}\n{outcome.stderr.decode(errors='replace')}")
        return ctypes.CDLL(target)


def _best_s(run: Callable[[], Any]) -> float:
    """Seconds of the best call of those that fill `SAMPLE_S`, of a few at least, after one that is not counted."""
    run()
    best, end, n_calls = float("inf"), time.perf_counter() + SAMPLE_S, 0
    while n_calls < MIN_CALLS or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
        n_calls += 1
    return best


def _side_by_side(calls: list[Callable[[], Any]]) -> Callable[[], None]:
    """All calls at once, each in a thread of its own; a foreign call lets the others go on."""

    def run() -> None:
        threads = [threading.Thread(target=call) for call in calls[1:]]
        for thread in threads:
            thread.start()
        calls[0]()
        for thread in threads:
            thread.join()

    return run


def _addresses(*arrays: Any) -> list[Any]:
    return [ctypes.c_void_p(x.ctypes.data) for x in arrays]


def _sizes(*sizes: int) -> list[Any]:
    return [ctypes.c_ssize_t(n) for n in sizes]


@functools.cache
def triad_rates(size_bytes: int) -> dict[str, float]:
    """Bytes a second of the triad over so many bytes, with plain and with streaming stores where there are such."""
    n = max(size_bytes // BYTES_PER_ELEMENT, 64) // 2 * 2
    a, b, c = np.zeros(n), np.ones(n), np.ones(n)
    bounds = [n * i // current().num_threads // 2 * 2 for i in range(current().num_threads)] + [n]
    times = ENOUGH_BYTES // size_bytes + 1  # in one call, so that threads do not wait for their beginning
    rates: dict[str, float] = {}
    for name, f in (("plain", _library().triad), ("streaming", _library().triad_streaming)):
        if name == "streaming" and not f(*_addresses(a, b, c), *_sizes(0, 0)):
            continue
        calls = [
            functools.partial(f, *_addresses(a[low:], b[low:], c[low:]), *_sizes(high - low, times))
            for low, high in itertools.pairwise(bounds)
        ]
        rates[name] = times * n * BYTES_PER_ELEMENT / _best_s(_side_by_side(calls))
    return rates


@functools.cache
def read_rate(size_bytes: int) -> float:
    """Bytes a second of reading so many bytes once, from one end to the other."""
    n = max(size_bytes // np.dtype(np.float64).itemsize, 4096)
    x, n_threads = np.ones(n), current().num_threads
    bounds = [n * i // n_threads for i in range(n_threads)] + [n]
    times = ENOUGH_BYTES // x.nbytes + 1  # in one call, as of the triad
    outs = [np.zeros(1) for _ in range(n_threads)]
    calls = [
        functools.partial(_library().read_all, *_addresses(x[low:], out), *_sizes(high - low, times))
        for out, (low, high) in zip(outs, itertools.pairwise(bounds), strict=True)
    ]
    return times * x.nbytes / _best_s(_side_by_side(calls))


@functools.cache
def fma_peak(dtype: str) -> float:
    """Operations a second (a product and a sum are two) in registers."""
    f = {"float32": _library().fma_f32, "float64": _library().fma_f64}[dtype]
    n_threads = current().num_threads
    outs = [np.zeros(1, dtype) for _ in range(n_threads)]
    calls = [functools.partial(f, *_addresses(out), ctypes.c_ssize_t(FMA_STEPS)) for out in outs]
    lanes = f(*_addresses(outs[0]), ctypes.c_ssize_t(1))
    return 2 * lanes * CHAINS * FMA_STEPS * n_threads / _best_s(_side_by_side(calls))


@functools.cache
def gemm_rate(dtype: str) -> float:
    """Operations a second of NumPy's OpenBLAS in a large product of matrices."""
    x = np.ones((MATRIX, MATRIX), dtype)
    out = np.empty_like(x)
    return 2 * MATRIX**3 / _best_s(lambda: np.matmul(x, x, out=out))


@functools.cache
def gemv_rate(dtype: str, rows: int, columns: int) -> float:
    """Bytes a second of NumPy's OpenBLAS in a product of a matrix of that size with a vector."""
    matrix, x, out = np.ones((rows, columns), dtype), np.ones(columns, dtype), np.empty(rows, dtype)
    return matrix.nbytes / _best_s(lambda: np.matmul(matrix, x, out=out))


def describe_limits() -> dict[str, float]:
    """The limits of large data, for the JSON file: bytes and operations a second."""
    triad = {f"triad, {name} stores": rate for name, rate in triad_rates(240_000_000).items()}
    peaks = {f"fma {dtype}": fma_peak(dtype) for dtype in ("float32", "float64")}
    blas = {f"gemm {dtype}": gemm_rate(dtype) for dtype in ("float32", "float64")}
    reading = {"reading": read_rate(240_000_000)}
    return {**triad, **reading, **peaks, **blas, "gemv float64": gemv_rate("float64", 4096, 4096)}
