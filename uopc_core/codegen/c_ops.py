"""C text of every elementwise op: an expression over operands that are names or literals, so no precedence is at stake.

What is more than an operator is a function of `kernels.h`. Each gives NumPy's bits, the corners included.
"""

from __future__ import annotations

from collections.abc import Callable

from uopc_core.codegen.c_types import C_TYPES, WIDE, literal
from uopc_core.codegen.helpers import Need, helper
from uopc_core.dtype import DType, dtypes, is_complex, is_float, is_integer, is_unsigned, real_dtype
from uopc_core.ir.op import Ops

__all__ = ["C_OPS", "combine", "rounded"]

Render = Callable[[Need, tuple[str, ...], DType, DType], str]  # operands, dtype of operands, dtype of the result


def rounded(need: Need, product: str) -> str:
    """A product that stays one, whatever it is added to."""
    return f"{helper(need, 'ROUNDED')}({product})"


def _infix(symbol: str) -> Render:
    return lambda need, args, of, out: f"{args[0]} {symbol} {args[1]}"


def _called(name: str) -> Render:
    """A call of the function of `kernels.h` that has `name`, an underscore and the kind of its operands."""

    def render(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
        kind = _kind(of)
        return f"{helper(need, f'{name}_{kind}', **{kind: of})}({', '.join(args)})"

    return render


def _kind(dtype: DType) -> str:
    if is_unsigned(dtype):
        return "UINT"
    return "INT" if is_integer(dtype) else "FLOAT" if is_float(dtype) else "COMPLEX"


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
    if of is dtypes.bool and is_float(out):  # gcc 12 vectorises no loop that converts a truth value
        return f"{x} ? {literal(1.0, out)} : {literal(0.0, out)}"
    return f"({C_TYPES[out]}){x}"


def _float_to_integer(need: Need, of: DType, out: DType) -> str:
    if out is dtypes.uint64:
        return helper(need, "u64_FLOAT", FLOAT=of)
    if out in (dtypes.int64, dtypes.uint32):
        name, given = helper(need, "i64_FLOAT", FLOAT=of), dtypes.int64
    else:
        name, given = helper(need, "i32_f32" if of is dtypes.float32 else "i32_f64"), dtypes.int32
    return name if out is given else f"({C_TYPES[out]}){name}"


def _bitcast(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return args[0] if of is out else f"{helper(need, 'bits_R_T', T=of, R=out)}({args[0]})"


# --------------------------------------------------------------------------------------------------------- two operands


def _add(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"{args[0]} | {args[1]}" if of is dtypes.bool else f"{args[0]} + {args[1]}"


def _mul(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if of is dtypes.bool:
        return f"{args[0]} & {args[1]}"
    return _called("mul")(need, args, of, out) if is_complex(of) else f"{args[0]} * {args[1]}"


def _div(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if not is_complex(of):
        return f"{args[0]} / {args[1]}"
    return f"{helper(need, 'div_QUOTIENT', COMPLEX=of, QUOTIENT=of)}({args[0]}, {args[1]})"


def _pow(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    if not is_complex(of):
        return _called("pow")(need, args, of, out)
    name = helper(need, "pow_COMPLEX", COMPLEX=of, QUOTIENT=f"wide{WIDE[of][1]}")
    return f"{name}({args[0]}, {args[1]})"


def _extremum(symbol: str, on_bool: str) -> Render:
    def render(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
        a, b = args
        if of is dtypes.bool:
            return f"{a} {on_bool} {b}"
        pick = f"{a} {symbol} {b} ? {a} : {b}"  # the one machine instruction, which gives b if either is nan
        return f"{a} != {a} ? {a} : ({pick})" if is_float(of) else pick

    return render


def _nextafter(need: Need, args: tuple[str, ...], of: DType, out: DType) -> str:
    return f"{helper(need, 'nextafterF', FLOAT=of)}({args[0]}, {args[1]})"


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
    Ops.FLOORDIV: _called("floordiv"),
    Ops.FLOORMOD: _called("floormod"),
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
    Ops.SHL: _called("shl"),
    Ops.SHR: _called("shr"),
    Ops.COMPLEX: _complex,
    Ops.WHERE: _where,
}


def combine(need: Need, op: Ops, dtype: DType, a: str, b: str) -> str:
    """The expression that reduces two values of `dtype` to one; on bool, sum and product are or and and."""
    return C_OPS[op](need, (a, b), dtype, dtype)
