"""C text of every elementwise op: an expression over operands that are names or literals, so no precedence is at stake.

What is more than an operator is a small function, added to the source once by `need`. Each gives NumPy's bits, the
corners included: division by zero, INT_MIN // -1, shifts past the width, conversions out of range; none has undefined
behaviour.
"""

from __future__ import annotations

from collections.abc import Callable

from uopc_core.codegen.c_types import C_TYPES, SUFFIXES, WIDE
from uopc_core.dtype import DType, dtypes, is_complex, is_float, is_integer, is_unsigned, real_dtype
from uopc_core.ir.op import Ops

__all__ = ["C_OPS", "Need", "combine", "rounded"]

_WIDTH = 120
Need = Callable[[str, str], None]  # a name and the text that defines it
Render = Callable[[Need, tuple[str, ...], DType, DType], str]  # operands, dtype of operands, dtype of the result


# gcc 12 and later make one rounding of a product and the sum or difference it goes to, -ffp-contract=off or not, where
# neighbouring lanes alternate between the two, as the parts of complex numbers do.
_ROUNDED = """#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
#define ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define ROUNDED(x) (x)
#endif"""


def rounded(need: Need, product: str) -> str:
    """A product that stays one, whatever it is added to."""
    need("ROUNDED", _ROUNDED)
    return f"ROUNDED({product})"


def _infix(symbol: str) -> Render:
    return lambda need, args, of, out: f"{args[0]} {symbol} {args[1]}"


def _define(need: Need, name: str, result: str, params: str, body: str) -> str:
    head = f"static inline {result} {name}({params}) {{"
    line = f"{head} {body} }}"
    need(name, line if len(line) <= _WIDTH else f"{head}\n{_laid_out(body)}\n}}")
    return name


def _laid_out(body: str) -> str:
    """A body that is written in one line, in a line for each statement."""
    lines: list[str] = []
    depth, parentheses, start = 1, 0, 0
    for end, c in enumerate(body, 1):
        parentheses += (c == "(") - (c == ")")
        if parentheses or c not in ";{}":
            continue
        depth -= c == "}"
        lines.append("    " * depth + body[start:end].strip())
        depth += c == "{"
        start = end
    return "\n".join(lines)


def _binary_function(need: Need, name: str, dtype: DType, body: str) -> str:
    c = C_TYPES[dtype]
    return _define(need, f"{name}_{SUFFIXES[dtype]}", c, f"{c} a, {c} b", body)


def _unary_function(need: Need, name: str, of: DType, out: DType, body: str) -> str:
    return _define(need, f"{name}_{SUFFIXES[of]}", C_TYPES[out], f"{C_TYPES[of]} x", body)


def _builtin(name: str) -> Render:
    def render(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
        return f"__builtin_{name}{'f' if of is dtypes.float32 else ''}({', '.join(args)})"

    return render


# ---------------------------------------------------------------------------------------------------------- one operand


def _neg(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"-{args[0]}"


def _recip(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    one = "1.0f" if real_dtype(of) is dtypes.float32 else "1.0"
    return _div(need, (f"__builtin_complex({one}, {one} - {one})" if is_complex(of) else one, args[0]), of, out)


def _rint(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if not is_complex(of):
        return _builtin("rint")(need, args, of, out)
    f = "f" if of is dtypes.complex64 else ""
    return f"__builtin_complex(__builtin_rint{f}(__real__ {args[0]}), __builtin_rint{f}(__imag__ {args[0]}))"


def _abs(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    x = args[0]
    if is_float(of):
        return _builtin("fabs")(need, args, of, out)
    if is_complex(of):
        f = "f" if of is dtypes.complex64 else ""
        return f"__builtin_hypot{f}(__real__ {x}, __imag__ {x})"
    return x if is_unsigned(of) else f"{x} < 0 ? -{x} : {x}"


def _sign(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    x = args[0]
    return f"{x} > 0 ? 1 : {x} < 0 ? -1 : {x} == 0 ? 0 : {x}"


def _not(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"!{args[0]}" if of is dtypes.bool else f"~{args[0]}"


def _cast(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    x = args[0]
    if out is dtypes.bool:
        return f"{x} != 0"
    if is_float(of) and is_integer(out):
        return f"{_float_to_integer(need, of, out)}({x})"
    return f"({C_TYPES[out]}){x}"


def _float_to_integer(need: Need, of: DType, out: DType) -> str:
    """What the x86 instructions give: the lowest integer of the width converted to, where the value is not in range."""
    if out is dtypes.uint64:
        signed = _float_to_integer(need, of, dtypes.int64)
        big = "0x1p63f" if of is dtypes.float32 else "0x1p63"
        body = f"return x >= {big} ? (uint64_t){signed}(x - {big}) ^ 0x8000000000000000ULL : (uint64_t){signed}(x);"
        return _unary_function(need, "u64", of, out, body)
    bits = 64 if out in (dtypes.int64, dtypes.uint32) else 32
    f = "f" if of is dtypes.float32 else ""
    # float64 has values between INT32_MIN - 1 and INT32_MIN, which are truncated
    low = f"x > -0x1.00000002p{bits - 1}" if bits == 32 and not f else f"x >= -0x1p{bits - 1}{f}"
    lowest = f"(-__INT{bits}_MAX__ - 1)"
    body = f"return {low} && x < 0x1p{bits - 1}{f} ? (int{bits}_t)x : {lowest};"
    name = _unary_function(need, f"i{bits}", of, dtypes.int64 if bits == 64 else dtypes.int32, body)
    return f"({C_TYPES[out]}){name}" if out.itemsize * 8 != bits else name


def _bitcast(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if of is out:
        return args[0]
    body = f"union {{ {C_TYPES[of]} a; {C_TYPES[out]} b; }} u = {{ x }}; return u.b;"
    return f"{_unary_function(need, f'bits_{SUFFIXES[out]}', of, out, body)}({args[0]})"


# --------------------------------------------------------------------------------------------------------- two operands


def _add(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"{args[0]} | {args[1]}" if of is dtypes.bool else f"{args[0]} + {args[1]}"


def _mul(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    a, b = args
    if of is dtypes.bool:
        return f"{a} & {b}"
    if not is_complex(of):
        return f"{a} * {b}"
    part = C_TYPES[real_dtype(of)]
    body = (
        f"const {part} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b; "
        f"return __builtin_complex({rounded(need, 'ar * br')} - {rounded(need, 'ai * bi')}, "
        f"{rounded(need, 'ar * bi')} + {rounded(need, 'ai * br')});"
    )
    return f"{_binary_function(need, 'mul', of, body)}({a}, {b})"


def _div(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if not is_complex(of):
        return f"{args[0]} / {args[1]}"
    return f"{_binary_function(need, 'div', of, _quotient(need, of))}({args[0]}, {args[1]})"


def _quotient(need: Need, of: DType) -> str:
    """Smith (1962), "Algorithm 116: complex division", as NumPy has it, with more digits and a wider range."""
    w, suffix = WIDE[of]
    ar_q, ai_q = rounded(need, "ar * q"), rounded(need, "ai * q")
    return (
        f"const {w} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b; "
        f"const {w} r = __builtin_fabs{suffix}(br), i = __builtin_fabs{suffix}(bi); "
        "if (r >= i) { if (r == 0 && i == 0) return __builtin_complex(ar / r, ai / r); "
        f"const {w} q = bi / br, s = 1 / (br + bi * q); "
        f"return __builtin_complex((ar + {ai_q}) * s, (ai - {ar_q}) * s); }} "
        f"const {w} q = br / bi, s = 1 / (bi + br * q); "
        f"return __builtin_complex(({ar_q} + ai) * s, ({ai_q} - ar) * s);"
    )


def _fmod(need: Need, of: DType) -> str:
    name = "fmodf" if of is dtypes.float32 else "fmod"
    need(name, f"{C_TYPES[of]} {name}({C_TYPES[of]}, {C_TYPES[of]});")
    return name


def _floordiv(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if is_unsigned(of):
        body = "return b ? a / b : 0;"
    elif is_integer(of):
        body = "if (b == 0) return 0; if (b == -1) return -a; return a / b - ((a % b != 0) & ((a < 0) != (b < 0)));"
    else:
        f = "f" if of is dtypes.float32 else ""
        t = C_TYPES[of]
        body = (
            f"if (b == 0) return a / b; const {t} m = {_fmod(need, of)}(a, b); {t} d = (a - m) / b; "
            "if (m != 0 && (b < 0) != (m < 0)) d -= 1; "
            f"if (d == 0) return __builtin_copysign{f}(0, a / b); "
            f"const {t} w = __builtin_floor{f}(d); return d - w > ({t})0.5 ? w + 1 : w;"
        )
    return f"{_binary_function(need, 'floordiv', of, body)}({args[0]}, {args[1]})"


def _floormod(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    t = C_TYPES[of]
    if is_unsigned(of):
        body = "return b ? a % b : 0;"
    elif is_integer(of):
        body = f"if (b == 0 || b == -1) return 0; const {t} m = a % b; return m != 0 && (m < 0) != (b < 0) ? m + b : m;"
    else:
        f = "f" if of is dtypes.float32 else ""
        body = (
            f"const {t} m = {_fmod(need, of)}(a, b); if (b == 0) return m; "
            f"if (m == 0) return __builtin_copysign{f}(0, b); return (b < 0) != (m < 0) ? m + b : m;"
        )
    return f"{_binary_function(need, 'floormod', of, body)}({args[0]}, {args[1]})"


def _extremum(symbol: str, on_bool: str) -> Render:
    def render(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
        a, b = args
        if of is dtypes.bool:
            return f"{a} {on_bool} {b}"
        pick = f"{a} {symbol} {b} ? {a} : {b}"  # the one machine instruction, which gives b if either is nan
        return f"{a} != {a} ? {a} : ({pick})" if is_float(of) else pick

    return render


def _pow(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    t = C_TYPES[of]
    if is_complex(of):
        return f"{_complex_pow(need, of)}({args[0]}, {args[1]})"
    assert is_integer(of), of
    negative = "" if is_unsigned(of) else "if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0; "
    body = f"{negative}{t} r = 1; while (b) {{ if (b & 1) r = r * a; a = a * a; b >>= 1; }} return r;"
    return f"{_binary_function(need, 'pow', of, body)}({args[0]}, {args[1]})"


def _complex_pow(need: Need, of: DType) -> str:
    """NumPy's, with more digits: a power has the relative error of its base many times, or that of its logarithm."""
    w, suffix = WIDE[of]
    c = f"{w} _Complex"
    need(f"cpow{suffix}", f"{c} cpow{suffix}({c}, {c});")
    product = (
        f"const {w} ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b; "
        "return __builtin_complex(ar * br - ai * bi, ar * bi + ai * br);"
    )
    mul = _define(need, f"mul_wide{suffix}", c, f"{c} a, {c} b", product)
    one, nan = f"__builtin_complex(({w})1, ({w})0)", f'({w})__builtin_nan("")'
    body = (
        f"const {w} br = __real__ b, bi = __imag__ b; {c} r = {one}; if (br == 0 && bi == 0) return r; "
        f"if (a == 0) return br > 0 ? 0 : __builtin_complex({nan}, {nan}); "
        f"if (bi != 0 || !(br > -100 && br < 100) || br != (int)br) return cpow{suffix}(a, b); "
        f"if (br == 1) return a; {c} x = a; if (br == 2 || br == 3) r = {mul}(x, x); "
        f"if (br == 2) return r; if (br == 3) return {mul}(r, x); "
        "int k = br < 0 ? -(int)br : (int)br; "
        f"for (;;) {{ if (k & 1) r = {mul}(r, x); k >>= 1; if (!k) break; x = {mul}(x, x); }} "
        f"if (br > 0) return r; const {c} n = {one}; return {_wide_quotient(need, of)}(n, r);"
    )
    return _binary_function(need, "pow", of, body)


def _wide_quotient(need: Need, of: DType) -> str:
    w, suffix = WIDE[of]
    c = f"{w} _Complex"
    return _define(need, f"div_wide{suffix}", c, f"{c} a, {c} b", _quotient(need, of))


def _nextafter(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    name = "nextafterf" if of is dtypes.float32 else "nextafter"
    need(name, f"{C_TYPES[of]} {name}({C_TYPES[of]}, {C_TYPES[of]});")
    return f"{name}({args[0]}, {args[1]})"


def _shift_left(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    bits = 8 * of.itemsize
    body = f"return (uint64_t)b < {bits} ? a << b : 0;"
    return f"{_binary_function(need, 'shl', of, body)}({args[0]}, {args[1]})"


def _shift_right(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    bits = 8 * of.itemsize
    past = "0" if is_unsigned(of) else "a < 0 ? -1 : 0"
    body = f"return (uint64_t)b < {bits} ? a >> b : {past};"
    return f"{_binary_function(need, 'shr', of, body)}({args[0]}, {args[1]})"


def _complex(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"__builtin_complex(({C_TYPES[of]}){args[0]}, ({C_TYPES[of]}){args[1]})"


def _where(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"{args[0]} ? {args[1]} : {args[2]}"


C_OPS: dict[Ops, Render] = {
    Ops.NEG: _neg,
    Ops.RECIP: _recip,
    Ops.SQRT: _builtin("sqrt"),
    Ops.FLOOR: _builtin("floor"),
    Ops.CEIL: _builtin("ceil"),
    Ops.TRUNC: _builtin("trunc"),
    Ops.RINT: _rint,
    Ops.ABS: _abs,
    Ops.SIGN: _sign,
    Ops.NOT: _not,
    Ops.CAST: _cast,
    Ops.BITCAST: _bitcast,
    Ops.REAL: lambda need, args, of, out: f"__real__ {args[0]}",
    Ops.IMAG: lambda need, args, of, out: f"__imag__ {args[0]}",
    Ops.CONJ: lambda need, args, of, out: f"~{args[0]}",
    Ops.ADD: _add,
    Ops.SUB: _infix("-"),
    Ops.MUL: _mul,
    Ops.DIV: _div,
    Ops.FLOORDIV: _floordiv,
    Ops.FLOORMOD: _floormod,
    Ops.MAX: _extremum(">", "|"),
    Ops.MIN: _extremum("<", "&"),
    Ops.POW: _pow,
    Ops.COPYSIGN: _builtin("copysign"),
    Ops.NEXTAFTER: _nextafter,
    Ops.CMPLT: _infix("<"),
    Ops.CMPLE: _infix("<="),
    Ops.CMPEQ: _infix("=="),
    Ops.CMPNE: _infix("!="),
    Ops.AND: _infix("&"),
    Ops.OR: _infix("|"),
    Ops.XOR: _infix("^"),
    Ops.SHL: _shift_left,
    Ops.SHR: _shift_right,
    Ops.COMPLEX: _complex,
    Ops.WHERE: _where,
}


def combine(need: Need, op: Ops, dtype: DType, a: str, b: str) -> str:
    """The expression that reduces two values of `dtype` to one; on bool, sum and product are or and and."""
    return C_OPS[op](need, (a, b), dtype, dtype)
