"""The ops that are one ufunc of NumPy's in every dtype, which broadcasts its operands by itself."""

from __future__ import annotations

import numpy as np

from uopc_core.ir.op import Ops

__all__ = ["UFUNCS"]

UFUNCS: dict[Ops, np.ufunc] = {
    Ops.NEG: np.negative,
    Ops.SQRT: np.sqrt,
    Ops.EXP: np.exp,
    Ops.EXP2: np.exp2,
    Ops.LOG: np.log,
    Ops.LOG2: np.log2,
    Ops.LOG10: np.log10,
    Ops.SIN: np.sin,
    Ops.COS: np.cos,
    Ops.TAN: np.tan,
    Ops.ASIN: np.arcsin,
    Ops.ACOS: np.arccos,
    Ops.ATAN: np.arctan,
    Ops.SINH: np.sinh,
    Ops.COSH: np.cosh,
    Ops.TANH: np.tanh,
    Ops.ASINH: np.arcsinh,
    Ops.ACOSH: np.arccosh,
    Ops.ATANH: np.arctanh,
    Ops.FLOOR: np.floor,
    Ops.CEIL: np.ceil,
    Ops.TRUNC: np.trunc,
    Ops.RINT: np.rint,
    Ops.ABS: np.absolute,
    Ops.SIGN: np.sign,
    Ops.NOT: np.invert,
    Ops.CONJ: np.conjugate,
    Ops.ADD: np.add,
    Ops.SUB: np.subtract,
    Ops.MUL: np.multiply,
    Ops.DIV: np.divide,
    Ops.FLOORDIV: np.floor_divide,
    Ops.FLOORMOD: np.remainder,
    Ops.MAX: np.maximum,
    Ops.MIN: np.minimum,
    Ops.ATAN2: np.arctan2,
    Ops.HYPOT: np.hypot,
    Ops.COPYSIGN: np.copysign,
    Ops.NEXTAFTER: np.nextafter,
    Ops.LOGADDEXP: np.logaddexp,
    Ops.CMPLT: np.less,
    Ops.CMPLE: np.less_equal,
    Ops.CMPEQ: np.equal,
    Ops.CMPNE: np.not_equal,
    Ops.AND: np.bitwise_and,
    Ops.OR: np.bitwise_or,
    Ops.XOR: np.bitwise_xor,
    Ops.SHL: np.left_shift,
    Ops.SHR: np.right_shift,
}
