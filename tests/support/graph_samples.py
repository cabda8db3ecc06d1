"""One small graph or more for every op, over numbered inputs: for the tests that must see them all."""

import math
import struct

from uopc_core.dtype import DTYPES, dtypes
from uopc_core.errors import DTypeError
from uopc_core.ir.calls import close
from uopc_core.ir.composite import call_extern
from uopc_core.ir.op import BINARY, UNARY, Ops
from uopc_core.ir.uop import UOp

__all__ = ["SAMPLES"]

F32, F64, I64, U64, BOOL, C64, C128 = (
    dtypes.float32,
    dtypes.float64,
    dtypes.int64,
    dtypes.uint64,
    dtypes.bool,
    dtypes.complex64,
    dtypes.complex128,
)
_OTHER_NAN: float = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]


def _elementwise() -> dict[str, UOp]:
    """Every elementwise op of one or two operands, in every dtype that it takes."""
    made: dict[str, UOp] = {}
    for op in sorted((UNARY | BINARY) - {Ops.CAST, Ops.BITCAST}):
        for dtype in DTYPES:
            operands = tuple([UOp.param(i, (2, 3), dtype) for i in range(2 if op in BINARY else 1)])
            try:
                made[f"{op.name} {dtype.name}"] = UOp.new(op, operands)
            except DTypeError:
                continue
    return made


def _constants() -> dict[str, UOp]:
    values = {
        F64: (0.0, -0.0, 1e300, 5e-324, math.inf, -math.inf, math.nan, -math.nan, _OTHER_NAN, 0.1),
        F32: (0.1, 3.4028234663852886e38, -0.0),
        C128: (complex(-0.0, math.inf), complex(-math.nan, -0.0), 1 - 2j),
        C64: (0.1 + 0.2j,),
        U64: (0, 2**64 - 1),
        I64: (-(2**63), 2**63 - 1),
        dtypes.int8: (-128, 127),
        BOOL: (True, False),
    }
    made = {f"CONST {d.name} {i} {v!r}": UOp.const(v, d) for d, row in values.items() for i, v in enumerate(row)}
    inline = {f"inline {name}": UOp.param(0, (), node.dtype).eq(node) for name, node in made.items()}
    return {**made, **inline, "broadcast constant": UOp.const(2.5, F32, (2, 3))}


def _call(x: UOp, y: UOp) -> UOp:
    """A region of two results that calls another one, with an input that it does not name."""
    (inner,) = close([(x * y).unary(Ops.SIN)], [x]).over([x].__getitem__)
    return close([inner.reduce(Ops.ADD, 1), inner * x + y], [x]).over([x].__getitem__)[1]


def _others() -> dict[str, UOp]:
    x, y = UOp.param(0, (2, 3, 4), F64), UOp.param(1, (2, 3, 4), F64)
    cond, whole = UOp.param(2, (2, 3, 4), BOOL), UOp.param(3, (2, 3, 4), dtypes.int32)
    rows = UOp.param(4, (5,), I64)
    extern = call_extern("qr", UOp.param(5, (3, 3), F64), params=("reduced",), output=1)
    return {
        "PARAM scalar": UOp.param(6, (), F32, "scalar"),
        "IOTA": UOp.new(Ops.IOTA, (), 300, dtypes.int8),
        "IOTA empty": UOp.new(Ops.IOTA, (), 0, I64),
        "RANDOM": UOp.new(Ops.RANDOM, (UOp.const(2**64 - 59, U64),), (2, 3)),
        "CAST": x.cast(F32),
        "CAST of a constant": UOp.new(Ops.CAST, (UOp.const(1.5, F64),), None, dtypes.int32),
        "BITCAST": x.bitcast(U64),
        "WHERE": cond.where(x, y),
        "WHERE of constants": UOp.new(Ops.WHERE, (UOp.const(True, BOOL), UOp.const(1.0, F32), UOp.const(2.0, F32))),
        "RESHAPE": x.reshape((4, 6)),
        "EXPAND": x.reshape((2, 3, 4, 1)).expand((2, 3, 4, 5)),
        "PERMUTE": x.permute((2, 0, 1)),
        "SHRINK": x.shrink([(0, 1), (1, 3), (2, 2)]),
        "PAD": x.pad([(1, 0), (0, 2), (0, 0)]),
        "FLIP": x.flip((0, 2)),
        "CONCAT": UOp.new(Ops.CONCAT, (x, y, x), 1),
        **{f"REDUCE {op.name}": x.reduce(op, 2) for op in (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN)},
        **{f"REDUCE {op.name}": whole.reduce(op, 1) for op in (Ops.AND, Ops.OR)},
        **{f"SCAN {op.name}": x.scan(op) for op in (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN)},
        "INDEX": x.index(*[UOp.const(1, I64, (5,)), rows % 3]),
        **{
            f"SCATTER {mode}": UOp.new(Ops.SCATTER, (x, UOp.param(7, (5, 3, 4), F64), rows % 2), mode)
            for mode in ("set", "add", "mul", "max", "min")
        },
        "MATERIALIZE": x.materialize(),
        "DETACH": x.detach(),
        "VARIABLE": x.variable(7),
        "EXTERN": extern,
        "CALL": _call(x, y),
    }


SAMPLES: dict[str, UOp] = {**_elementwise(), **_constants(), **_others()}
