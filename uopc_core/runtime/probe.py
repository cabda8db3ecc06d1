"""What compiled code must keep so that its values are NumPy's: a piece of C that shows it, and who looks at the result.

Options that belong to a compiler's name, or a wrapper, may undo what the flags ask for. Also a program, which imports
nothing but the standard library: `python probe.py object` looks at an object in a process of its own, since one that
was made with the wrong options may end the process that loads it.
"""

from __future__ import annotations

import ctypes
import struct
import sys

__all__ = ["GREETING", "NOT_LOADED", "RIGHT", "SOURCE", "SYMBOL", "WRONG", "fault_of", "flushes_subnormals"]

SYMBOL = "uopc_probe"
RIGHT, NOT_LOADED, WRONG = 0, 1, 2  # what the program ends with
GREETING = "uopc_probe"  # the first line of the program's output, which tells that it is one
SOURCE = """
double exp(double) {attribute};
void uopc_probe(double *restrict out, const double *restrict x) {{
    out[0] = x[0] != x[0];
    out[1] = (x[1] + x[2]) - x[2];
    out[2] = x[3] + x[4];
    out[3] = x[5] * x[5] - x[6];
    out[4] = x[7] + 0.0;
    out[5] = x[8] + 0.1;
    out[6] = (float)x[9] / (float)x[10];
    long long most = (long long)x[11] + 1023;
    out[7] = most + 1 > most;
    out[8] = x[12] / x[16];
    out[10] = x[14] / x[16];
    out[9] = x[15] / x[16];
    out[11] = x[13] / x[16];
#pragma omp simd
    for (int i = 0; i < 32; i++) out[12 + i] = exp(x[17 + i]);
}}
"""
_TINY = (4e-310, 1e-310)
_INPUTS = (
    *(float("nan"), 1.0, 1e16, *_TINY, 1.0 + 2.0**-27, 1.0 + 2.0**-26, -0.0, 0.0, 5.0, 3.0, 9223372036854774784.0),
    *(5.0, 7.0, 11.0, 13.0, 3.0),
    *([0.0] * 32),
)
_WANTED = (
    *(1.0, 0.0, 5e-310, 0.0, 0.0, 0.1, 1.6666666269302368, 0.0),
    *(1.6666666666666667, 4.333333333333333, 3.6666666666666665, 2.3333333333333335),
    *([1.0] * 32),
)
_SUBNORMAL = 2
_FAULTS = (
    *("nan is equal to itself", "terms are added in another order", "subnormal numbers are 0"),
    *("a product and a sum are rounded once", "-0.0 + 0.0 is -0.0", "constants have single precision"),
    *("quotients of float32 are not exact", "integers do not wrap around"),
    *(["quotients are products with a reciprocal"] * 4),
    *(["exp(0.0) is not 1"] * 32),
)


def fault_of(address: int, flushes: bool) -> str | None:
    """What the function at `address` computes otherwise than NumPy, in words; None where all is as it should be.

    Args:
        flushes: whether this thread made 0 of subnormal numbers already before the function was loaded.
    """
    out = (ctypes.c_double * len(_WANTED))()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(out, (ctypes.c_double * len(_INPUTS))(*_INPUTS))
    for place, (got, wanted, fault) in enumerate(zip(out, _WANTED, _FAULTS, strict=True)):
        if struct.pack("d", got) != struct.pack("d", wanted) and not (flushes and place == _SUBNORMAL):
            return f"in what it makes, {fault}"
    return None


def flushes_subnormals() -> bool:
    """Whether this thread makes 0 of subnormal numbers."""
    a, b = _TINY
    return a + b == 0.0


def _main(path: str) -> int:
    print(GREETING, flush=True)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        print(f"it makes no object that can be loaded: {error}")
        return NOT_LOADED
    fault = None
    if flushes_subnormals():
        fault = "a process that loads what it makes takes subnormal numbers for 0"
    elif hasattr(library, SYMBOL):  # else another object, which was to be loaded
        fault = fault_of(ctypes.cast(library[SYMBOL], ctypes.c_void_p).value or 0, flushes=False)
    if fault is not None:
        print(fault)
    return RIGHT if fault is None else WRONG


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
