"""Operations whose bits neither IEEE 754 nor NumPy promise, and who evaluates them: where there is a compiler, loops of
the C that kernels are made of.

`numpy.sin` has other bits than libmvec, and others again on the next machine or at another stride. A value must not
depend on who computes it, so the layer that compiles provides one loop for each operation and dtype. This layer stands
below it and only asks. Where there is none, everything is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uopc_core.dtype import DType, is_complex, is_float
from uopc_core.ir.op import COMPLEX_FUNCTIONS, MATH_FUNCTIONS, Ops
from uopc_core.settings import current

__all__ = ["OWN_OPS", "Loop", "Provider", "has_own_bits", "loop_of", "provide_loops"]

Loop = Callable[..., Any]  # of NumPy arrays or scalars of one dtype, broadcasting them; made by a ufunc or like one
Provider = Callable[[str, Ops, DType], Loop | None]

_COMPLEX_OPS = COMPLEX_FUNCTIONS | {Ops.ABS, Ops.MUL, Ops.DIV, Ops.RECIP, Ops.POW}
OWN_OPS = MATH_FUNCTIONS | _COMPLEX_OPS


def has_own_bits(op: Ops, dtype: DType) -> bool:
    """Whether `op` on operands of `dtype` is not fixed to the last bit by what it means."""
    if is_complex(dtype):
        return op in _COMPLEX_OPS
    return op in MATH_FUNCTIONS and is_float(dtype)


_providers: list[Provider] = []
_known: dict[tuple[str, Ops, DType, str | None], Loop | None] = {}


def provide_loops(provider: Provider) -> None:
    """Have `provider` asked for loops from now on: ``(kind, op, dtype) -> loop``, None where there is no compiler."""
    _providers.append(provider)


def loop_of(kind: str, op: Ops, dtype: DType) -> Loop | None:
    """The loop for `op` on operands of `dtype`, made at the first call; None where NumPy evaluates it.

    Args:
        kind: "elementwise", or another that the provider knows.
    """
    key = (kind, op, dtype, current().cc)
    if key not in _known:
        _known.setdefault(key, _providers[-1](kind, op, dtype) if _providers else None)
    return _known[key]
