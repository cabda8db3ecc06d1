"""The mathematical functions: each is called on a block of elements, through one function that is the same everywhere.

A vector function of libmvec and the scalar one of libm differ in the last places, and so may two vector widths. So that
the result for an element depends on nothing but its operands, every call goes through `f_v`, which works in full blocks
of 16 and pads the last.
"""

from __future__ import annotations

from uopc_core.codegen.c_types import C_TYPES, WIDE
from uopc_core.codegen.helpers import Need, helper
from uopc_core.dtype import DType, dtypes, is_complex, is_float
from uopc_core.ir.op import Ops
from uopc_core.records import record

__all__ = [
    "COMPLEX_MATH",
    "OWN_MATH",
    "REAL_MATH",
    "is_math",
    "need_block_function",
    "need_scalar_function",
    "render_complex_math",
]


_VECTOR, _SIMD = '__attribute__((simd("notinbranch")))', "#pragma omp simd"


@record(slots=True)
class MathFunction:
    """A function of libm; `vector`: libmvec's form of it was found to be within 4 ulp, special values right."""

    name: str
    arity: int = 1
    vector: bool = True


# Errors found over 1.6 million values each, all binades and special values included, against long double: at most
# 4 ulp.
REAL_MATH: dict[Ops, MathFunction] = {
    Ops.EXP: MathFunction("exp"),
    Ops.EXP2: MathFunction("exp2"),
    Ops.EXPM1: MathFunction("expm1"),
    Ops.LOG: MathFunction("log"),
    Ops.LOG2: MathFunction("log2"),
    Ops.LOG10: MathFunction("log10"),
    Ops.LOG1P: MathFunction("log1p"),
    Ops.SIN: MathFunction("sin"),
    Ops.COS: MathFunction("cos"),
    Ops.TAN: MathFunction("tan"),
    Ops.ASIN: MathFunction("asin"),
    Ops.ACOS: MathFunction("acos"),
    Ops.ATAN: MathFunction("atan"),
    Ops.SINH: MathFunction("sinh"),
    Ops.COSH: MathFunction("cosh"),
    Ops.TANH: MathFunction("tanh"),
    Ops.ASINH: MathFunction("asinh"),
    Ops.ACOSH: MathFunction("acosh"),
    Ops.ATANH: MathFunction("atanh"),
    Ops.ERF: MathFunction("erf"),
    Ops.ERFC: MathFunction("erfc"),
    Ops.POW: MathFunction("pow", 2),
    Ops.ATAN2: MathFunction("atan2", 2),
    Ops.HYPOT: MathFunction("hypot", 2),
    Ops.LOGADDEXP: MathFunction("logaddexp", 2),
}

_REAL_COMPOSED: dict[Ops, str] = {Ops.LOGADDEXP: "logaddexpF"}  # what libm has no function for
# functions of `functions.h`, which every compiler makes vectors of, in place of libm's
_OWN: dict[Ops, str] = {Ops.LOG: "np_logF", Ops.TANH: "np_tanhF", Ops.POW: "powerF"}
OWN_MATH: dict[tuple[Ops, DType], str] = {
    **{(op, dtype): name for op, name in _OWN.items() for dtype in (dtypes.float32, dtypes.float64)},
    (Ops.ERF, dtypes.float32): "np_erfF",
}


def is_math(op: Ops, dtype: DType) -> bool:
    """Whether this is a call on real arrays."""
    return op in REAL_MATH and is_float(dtype)


def need_block_function(need: Need, op: Ops, dtype: DType, vector: bool) -> str:
    """Define ``f_v(y, x, n)``, or ``f_v(y, a, b, n)``: f of n elements, where y may be an operand. Returns its name."""
    return _on_elements(need, op, dtype, vector, "v")


def need_scalar_function(need: Need, op: Ops, dtype: DType, vector: bool) -> str:
    """Define ``f_1(x)``, f of one element, by the same function. Returns its name."""
    return _on_elements(need, op, dtype, vector, "1")


def _on_elements(need: Need, op: Ops, dtype: DType, vector: bool, how: str) -> str:
    function = REAL_MATH[op]
    marks = {"VECTOR": _VECTOR, "SIMD": _SIMD} if vector and function.vector else {}
    name = OWN_MATH.get((op, dtype), f"{function.name}F")
    if (op, dtype) in OWN_MATH:
        marks["SIMD"] = _SIMD
    elif op in _REAL_COMPOSED:
        helper(need, _REAL_COMPOSED[op], FLOAT=dtype, **marks)
    operands = "NAME" if function.arity == 1 else "NAME2"
    return helper(need, f"{operands}_{how}", FLOAT=dtype, **{operands: name}, **marks)


# -------------------------------------------------------------------------------------------------------------- complex

_COMPOSED = frozenset({Ops.EXP2, Ops.EXPM1, Ops.LOG2, Ops.LOG10, Ops.LOG1P})  # what libm has no function for
# the library's own lose up to 5 places in the type of the operand
_WIDE = frozenset({Ops.TAN, Ops.TANH, Ops.ATAN, Ops.ATANH})
COMPLEX_MATH: dict[Ops, str] = {
    Ops.SQRT: "csqrt",
    Ops.EXP: "cexp",
    Ops.LOG: "clog",
    Ops.SIN: "csin",
    Ops.COS: "ccos",
    Ops.TAN: "ctan",
    Ops.ASIN: "casin",
    Ops.ACOS: "cacos",
    Ops.ATAN: "catan",
    Ops.SINH: "csinh",
    Ops.COSH: "ccosh",
    Ops.TANH: "ctanh",
    Ops.ASINH: "casinh",
    Ops.ACOSH: "cacosh",
    Ops.ATANH: "catanh",
    **{op: f"c{REAL_MATH[op].name}" for op in _COMPOSED},
}


def render_complex_math(need: Need, op: Ops, dtype: DType, x: str) -> str:
    """A function of one complex number."""
    assert is_complex(dtype), dtype
    name = COMPLEX_MATH[op]
    if op in _COMPOSED:
        return f"{helper(need, f'np_{name}F', COMPLEX=dtype)}({x})"
    if op in _WIDE:
        wide = helper(need, "CWIDE", COMPLEX=dtype, CWIDE=name + WIDE[dtype][1])
        return f"({C_TYPES[dtype]}){wide}({x})"
    name += "f" if dtype is dtypes.complex64 else ""
    return f"{helper(need, 'CNAME', COMPLEX=dtype, CNAME=name)}({x})"
