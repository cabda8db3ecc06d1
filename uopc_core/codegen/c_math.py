"""The mathematical functions: each is called on a block of elements, through one function that is the same everywhere.

A vector function of libmvec and the scalar one of libm differ in the last places, and so may two vector widths. So that
the result for an element depends on nothing but its operands, every call goes through `f_v`, which works in full blocks
of 16 and pads the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from uopc_core.codegen.c_ops import Need
from uopc_core.codegen.c_types import C_TYPES, WIDE
from uopc_core.dtype import DType, dtypes, is_complex, is_float, real_dtype
from uopc_core.ir.op import Ops

__all__ = ["COMPLEX_MATH", "REAL_MATH", "is_math", "need_block_function", "need_scalar_function", "render_complex_math"]


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function of libm; `vector`: libmvec's form of it was found to be within 4 ulp, special values right."""

    name: str
    arity: int = 1
    vector: bool = True


# Errors found over 1.6 million values each, all binades and special values included, against long double: at most
# 3.9 ulp (logf).
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
    Ops.POW: MathFunction("power", 2),
    Ops.ATAN2: MathFunction("atan2", 2),
    Ops.HYPOT: MathFunction("hypot", 2),
    Ops.LOGADDEXP: MathFunction("logaddexp", 2),
}

# what libm has no function for, of functions that it has
_LOGADDEXP = (  # in float64 for float32 too: near the root, where the two terms cancel, that is what leaves digits
    "static inline {t} logaddexp{f}({t} a, {t} b) {{\n"
    "    const double d = (double)a - b, m = a > b ? a : b;\n"
    "    const double far = m + log1p(exp(-__builtin_fabs(d)));\n"
    "    return ({t})(a == b ? a + 0x1.62e42fefa39efp-1 : d != d ? d : far);\n"
    "}}"
)
# small powers are products, whether the exponent is known beforehand or comes from memory
_POWER = (
    "static inline {t} power{f}({t} a, {t} b) {{\n"
    "    const {t} p = pow{f}(a, b), square = a * a;\n"
    "    return b == 2 ? square : b == 3 ? square * a : b == 1 ? a : b == -1 ? 1 / a : p;\n"
    "}}"
)
_REAL_COMPOSED: dict[Ops, tuple[str, tuple[MathFunction, ...]]] = {
    Ops.LOGADDEXP: (_LOGADDEXP, (REAL_MATH[Ops.EXP], REAL_MATH[Ops.LOG1P])),
    Ops.POW: (_POWER, (MathFunction("pow", 2),)),
}


def is_math(op: Ops, dtype: DType) -> bool:
    """Whether this is a call on real arrays."""
    return op in REAL_MATH and is_float(dtype)


def need_block_function(need: Need, op: Ops, dtype: DType, vector: bool) -> str:
    """Define ``f_v(y, x, n)``, or ``f_v(y, a, b, n)``: f of n elements, where y may be an operand. Returns its name."""
    function = REAL_MATH[op]
    t, f = C_TYPES[dtype], "f" if dtype is dtypes.float32 else ""
    name = function.name + f
    composed, parts = _REAL_COMPOSED.get(op, ("", (function,)))
    for part in parts:
        _declare(need, part, *(("double", "") if op is Ops.LOGADDEXP else (t, f)), vector)
    if composed:
        need(name, composed.format(t=t, f=f))
    names = ("x",) if function.arity == 1 else ("a", "b")
    need(f"{name}_v", _block_function(name, t, names, "#pragma omp simd\n" if vector and function.vector else ""))
    return f"{name}_v"


def _declare(need: Need, function: MathFunction, t: str, f: str, vector: bool) -> None:
    name = function.name + f
    attribute = '__attribute__((simd("notinbranch"))) ' if vector and function.vector else ""
    need(name, f"{attribute}{t} {name}({', '.join([t] * function.arity)});")


def _block_function(name: str, t: str, names: tuple[str, ...], pragma: str) -> str:
    pointers = ", ".join(f"const {t} *{x}" for x in names)
    elements = ", ".join(f"{x}[i]" for x in names)
    shifted = ", ".join(f"{x} + i" for x in names)
    padded = ", ".join(f"{x}16[16] = {{0}}" for x in names)
    filled = "\n".join(f"    __builtin_memcpy({x}16, {x} + i, (n - i) * sizeof({t}));" for x in names)
    whole = ", ".join(f"{x}16" for x in names)
    return (
        f"static void {name}_16({t} *y, {pointers}) {{\n"
        f"{pragma}    for (int i = 0; i < 16; i++) y[i] = {name}({elements});\n}}\n"
        f"static __attribute__((noinline)) void {name}_v({t} *y, {pointers}, int64_t n) {{\n"
        "    int64_t i = 0;\n"
        f"    for (; i + 16 <= n; i += 16) {name}_16(y + i, {shifted});\n"
        "    if (i == n) return;\n"
        f"    {t} {padded}, y16[16];\n"
        f"{filled}\n"
        f"    {name}_16(y16, {whole});\n"
        f"    __builtin_memcpy(y + i, y16, (n - i) * sizeof({t}));\n}}"
    )


def need_scalar_function(need: Need, op: Ops, dtype: DType, vector: bool) -> str:
    """Define ``f_1(x)``, f of one element. Returns its name."""
    block = need_block_function(need, op, dtype, vector)
    name = f"{block[:-2]}_1"
    t = C_TYPES[dtype]
    if REAL_MATH[op].arity == 1:
        need(name, f"static inline {t} {name}({t} x) {{ {block}(&x, &x, 1); return x; }}")
    else:
        need(name, f"static inline {t} {name}({t} a, {t} b) {{ {block}(&a, &a, &b, 1); return a; }}")
    return name


# -------------------------------------------------------------------------------------------------------------- complex

# What libm has no function for. Real functions are called as builtins, which never vectorise whatever else a kernel
# calls: elements of complex arrays are computed one by one.
_COMPOSED: dict[Ops, str] = {
    Ops.EXP2: "const {w} k = ({w})0x1.62e42fefa39ef35793c7673007e5fp-1L; "
    "return cexp{wf}(__builtin_complex(__real__ x * k, __imag__ x * k));",
    Ops.LOG2: "const {c} l = clog{f}(x); const {t} k = ({t})0x1.71547652b82fep0; "
    "return __builtin_complex(__real__ l * k, __imag__ l * k);",
    Ops.LOG10: "const {c} l = clog{f}(x); const {t} k = ({t})0x1.bcb7b1526e50ep-2; "
    "return __builtin_complex(__real__ l * k, __imag__ l * k);",
    # where the terms of the real part cancel, the digits come from the wider type
    Ops.EXPM1: "const {w} a = __real__ x, b = __imag__ x, s = __builtin_sin{wf}(b / 2); if (a > 40) return cexp{f}(x); "
    "return __builtin_complex(__builtin_expm1{wf}(a) * __builtin_cos{wf}(b) - 2 * s * s, "
    "__builtin_exp{wf}(a) * __builtin_sin{wf}(b));",
    # |1 + x|**2 - 1 = 2 * a + a * a + b * b with what each sum and product has rounded away (Ogita, Rump & Oishi, 2005)
    Ops.LOG1P: "const double a = __real__ x, b = __imag__ x, p = a * a, q = b * b, t = 2 * a + q, s = t + p; "
    "const double u = t - 2 * a, v = s - t, r = 1 + a; "
    "const double rest = ((2 * a - (t - u)) + (q - u)) + ((t - (s - v)) + (p - v)) "
    "+ (__builtin_fma(a, a, -p) + __builtin_fma(b, b, -q)); "
    "if (!(__builtin_fabs(a) < 4 && __builtin_fabs(b) < 4 && s > -0.5)) return clog(__builtin_complex(r, b)); "
    "return __builtin_complex(__builtin_log1p(s + rest) / 2, __builtin_atan2(b, r));",
}
_COMPLEX_USED_BY_COMPOSED: dict[Ops, str] = {
    Ops.EXP2: "cexp{wf}",
    Ops.EXPM1: "cexp{f}",
    Ops.LOG2: "clog{f}",
    Ops.LOG10: "clog{f}",
    Ops.LOG1P: "clog",
}
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
    c, t, f = C_TYPES[dtype], C_TYPES[real_dtype(dtype)], "f" if dtype is dtypes.complex64 else ""
    w, wf = WIDE[dtype]
    if op in _WIDE:
        name = COMPLEX_MATH[op] + wf
        need(name, _prototype(name))
        return f"({c}){name}({x})"
    name = COMPLEX_MATH[op] + f
    if op not in _COMPOSED:
        need(name, _prototype(name))
        return f"{name}({x})"
    used = _COMPLEX_USED_BY_COMPOSED[op].format(f=f, wf=wf)
    need(used, _prototype(used))
    body = _COMPOSED[op].format(c=c, t=t, f=f, w=w, wf=wf)
    need(f"np_{name}", f"static inline {c} np_{name}({c} x) {{ {body} }}")
    return f"np_{name}({x})"


def _prototype(name: str) -> str:
    c = {"f": "float", "l": "long double"}.get(name[-1], "double")
    return f"{c} _Complex {name}({c} _Complex);"
