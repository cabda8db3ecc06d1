"""Ops that pass no derivative, each with the reason."""

from uopc_core.ir.op import COMPARISONS, Ops

__all__ = ["ZERO_DERIVATIVE"]

_LEAF = "a leaf: it depends on nothing"
_BITS = "integers and bool have no derivative"
_STEPS = "piecewise constant"

ZERO_DERIVATIVE: dict[Ops, str] = {
    **dict.fromkeys((Ops.CONST, Ops.BUFFER, Ops.PARAM, Ops.IOTA, Ops.RANDOM), _LEAF),
    **dict.fromkeys((Ops.NOT, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR), _BITS),
    **dict.fromkeys((Ops.FLOOR, Ops.CEIL, Ops.TRUNC, Ops.RINT, Ops.SIGN, Ops.FLOORDIV, *COMPARISONS), _STEPS),
    Ops.DETACH: "what it is for",
    Ops.BITCAST: "bits are not numbers",
}
