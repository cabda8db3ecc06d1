"""Operations whose bits neither IEEE 754 nor NumPy promise, and who evaluates them: where there is a compiler, loops of
the C that kernels are made of.

`numpy.sin` has other bits than libmvec, and others again on the next machine or at another stride. A value must not
depend on who computes it, so the layer that compiles provides one loop for each operation and dtype. This layer stands
below it and only asks. Where there is none, everything is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from uopc_core.dtype import DType, is_complex, is_float, is_inexact
from uopc_core.ir.op import COMPLEX_FUNCTIONS, MATH_FUNCTIONS, Ops
from uopc_core.ir.uop import UOp
from uopc_core.settings import current

__all__ = [
    "ONE_BY_ONE",
    "OWN_OPS",
    "Loop",
    "LoopKey",
    "Provider",
    "has_own_bits",
    "loop_of",
    "loops_wanted",
    "prepare_loops",
    "provide_loops",
]

Loop = Callable[..., Any]  # of NumPy arrays or scalars of one dtype, broadcasting them; made by a ufunc or like one
# the kind, "elementwise", "reduction", "product", "matmul" or "tiled" (which multiply first) or "argsort"; the op, and
# the dtype of its operands
LoopKey = tuple[str, Ops, DType]
Provider = Callable[[Sequence[LoopKey]], Sequence[Loop | None]]

_COMPLEX_OPS = COMPLEX_FUNCTIONS | {Ops.ABS, Ops.MUL, Ops.DIV, Ops.RECIP, Ops.POW}
OWN_OPS = MATH_FUNCTIONS | _COMPLEX_OPS
ONE_BY_ONE = 8  # real numbers from which NumPy does not add them one after the other, as we do up to 16
_MAY_WANT_ONE = OWN_OPS | {Ops.REDUCE, Ops.SCATTER}


def has_own_bits(op: Ops, dtype: DType) -> bool:
    """Whether `op` on operands of `dtype` is not fixed to the last bit by what it means."""
    if is_complex(dtype):
        return op in _COMPLEX_OPS
    return op in MATH_FUNCTIONS and is_float(dtype)


_providers: list[Provider] = []
_known: dict[tuple[LoopKey, str | None], Loop | None] = {}


def provide_loops(provider: Provider) -> None:
    """Have `provider` asked for loops from now on; for each it gives None where there is no compiler."""
    _providers.append(provider)


def loop_of(kind: str, op: Ops, dtype: DType) -> Loop | None:
    """The loop for `op` on operands of `dtype`, made at the first call; None where NumPy evaluates it.

    Args:
        kind: "elementwise", or another that the provider knows.
    """
    key = (kind, op, dtype)
    cc = current().cc
    if (key, cc) not in _known:
        prepare_loops([key])
    return _known[key, cc]


def prepare_loops(wanted: Iterable[LoopKey]) -> None:
    """Have all of these made that are not there yet, at once, which takes less time than one after the other."""
    cc = current().cc
    missing = [key for key in dict.fromkeys(wanted) if (key, cc) not in _known]
    if missing:
        made = _providers[-1](missing) if _providers else [None] * len(missing)
        _known.update({(key, cc): loop for key, loop in zip(missing, made, strict=True)})


def loops_wanted(nodes: Iterable[UOp]) -> list[LoopKey]:
    """The loops that the evaluation of `nodes` asks for."""
    return [key for node in nodes if node.op in _MAY_WANT_ONE and (key := _wanted_by(node)) is not None]


def _wanted_by(node: UOp) -> LoopKey | None:
    if node.op is Ops.REDUCE:
        how, _ = node.arg
        few = how is Ops.ADD and is_float(node.dtype) and prod(node.src[0].shape[len(node.shape) :]) < ONE_BY_ONE
        return None if few or not is_inexact(node.dtype) else ("reduction", how, node.dtype)
    if node.op is Ops.SCATTER:
        return ("elementwise", Ops.MUL, node.dtype) if node.arg == "mul" and is_complex(node.dtype) else None
    dtype = node.src[0].dtype
    return ("elementwise", node.op, dtype) if has_own_bits(node.op, dtype) else None
