"""The Squares generator of random bits, in five rounds: Widynski (2020), "Squares: a fast counter-based RNG".

Arithmetic of uint64 that wraps, spelled once for whatever has it: nodes and NumPy's arrays. In C it is `squares64` of
`codegen/kernels.h`, held equal by the tests of op RANDOM.
"""

from typing import Any

__all__ = ["squares64"]


def squares64(key: Any, counter: Any) -> Any:
    """The random bits at each `counter`; one of the two operands at least is an array or a node."""
    y = counter * key
    z = y + key
    x = _swapped_halves(y * y + y)
    x = _swapped_halves(x * x + z)
    x = _swapped_halves(x * x + y)
    t = x * x + z
    x = _swapped_halves(t)
    return t ^ ((x * x + y) >> 32)


def _swapped_halves(x: Any) -> Any:
    return (x >> 32) | (x << 32)
