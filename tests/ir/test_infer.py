"""Type rules: what fits gets its shape and dtype, what does not is refused with what was given."""

from collections.abc import Callable
from typing import Any

import pytest

from uopc_core.dtype import DTYPES, DType, dtypes, is_bool, is_complex, is_float, is_integer
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.ir.calls import close
from uopc_core.ir.infer import INFER
from uopc_core.ir.op import BINARY, COMPARISONS, UNARY, Ops
from uopc_core.ir.uop import UOp

F32, F64, I32, I64, BOOL, C64 = (
    dtypes.float32,
    dtypes.float64,
    dtypes.int32,
    dtypes.int64,
    dtypes.bool,
    dtypes.complex64,
)


def _input(*shape: int, dtype: DType = F32, number: int = 0) -> UOp:
    return UOp.param(number, shape, dtype)


X = _input(2, 3)
SINE = close([X.unary(Ops.SIN)], [X]).region


def test_every_op_has_a_rule():
    assert set(INFER) == set(Ops)


# ----------------------------------------------------------------------------------------------------- elementwise

_KINDS: dict[str, Callable[[DType], bool]] = {"b": is_bool, "i": is_integer, "f": is_float, "c": is_complex}
# the kinds of dtype that an op takes, and what it makes of them where that is not the same
TAKES: dict[Ops, str] = {
    **dict.fromkeys(UNARY | BINARY, "fc"),  # most functions
    **dict.fromkeys((Ops.ERF, Ops.ERFC, Ops.FLOOR, Ops.CEIL, Ops.TRUNC), "f"),
    **dict.fromkeys((Ops.ATAN2, Ops.HYPOT, Ops.COPYSIGN, Ops.NEXTAFTER, Ops.LOGADDEXP, Ops.COMPLEX), "f"),
    **dict.fromkeys((Ops.NEG, Ops.ABS, Ops.ADD, Ops.SUB, Ops.MUL, Ops.POW), "ifc"),
    **dict.fromkeys((Ops.SIGN, Ops.FLOORDIV, Ops.FLOORMOD), "if"),
    **dict.fromkeys((Ops.MAX, Ops.MIN, Ops.CMPLT, Ops.CMPLE), "bif"),
    **dict.fromkeys((Ops.CMPEQ, Ops.CMPNE), "bifc"),
    **dict.fromkeys((Ops.NOT, Ops.AND, Ops.OR, Ops.XOR), "bi"),
    **dict.fromkeys((Ops.SHL, Ops.SHR), "i"),
    **dict.fromkeys((Ops.REAL, Ops.IMAG, Ops.CONJ), "c"),
}
_REAL_OF = {dtypes.complex64: F32, dtypes.complex128: F64}
_COMPLEX_OF = {F32: dtypes.complex64, F64: dtypes.complex128}


def _result_dtype(op: Ops, dtype: DType) -> DType:
    if op in COMPARISONS:
        return BOOL
    if op in (Ops.REAL, Ops.IMAG, Ops.ABS):
        return _REAL_OF.get(dtype, dtype)
    return _COMPLEX_OF[dtype] if op is Ops.COMPLEX else dtype


@pytest.mark.parametrize("op", sorted((UNARY | BINARY) - {Ops.CAST, Ops.BITCAST}), ids=lambda op: op.name)
def test_an_elementwise_op_takes_its_kinds_of_dtype_and_no_others(op: Ops):
    for dtype in DTYPES:
        operands = tuple([_input(2, 3, dtype=dtype, number=i) for i in range(1 if op in UNARY else 2)])
        if any(_KINDS[kind](dtype) for kind in TAKES[op]):
            node = UOp.new(op, operands)
            assert (node.shape, node.dtype) == ((2, 3), _result_dtype(op, dtype))
        else:
            with pytest.raises(DTypeError, match=f"{op.name}: expected .*, got {dtype.name}"):
                UOp.new(op, operands)


@pytest.mark.parametrize("op", sorted(BINARY), ids=lambda op: op.name)
def test_operands_agree_in_dtype_and_shape(op: Ops):
    (dtype,) = [d for d in (I32, F32, C64) if _KINDS[TAKES[op][-1]](d)]
    x = _input(2, 3, dtype=dtype)
    with pytest.raises(DTypeError, match=f"{op.name}: .*, got {dtype.name}, int8"):
        UOp.new(op, (x, _input(2, 3, dtype=dtypes.int8)))
    with pytest.raises(ShapeError, match=rf"{op.name}: .* one shape .*, got \(2, 3\), \(3,\)"):
        UOp.new(op, (x, _input(3, dtype=dtype)))
    with pytest.raises(ShapeError, match=f"{op.name}: expected 2 sources, got 1"):
        UOp.new(op, (x,))


# -------------------------------------------------------------------------------------------------- what is refused


def _reduce(how: Any, n: int, x: UOp = X) -> UOp:
    return UOp.new(Ops.REDUCE, (x,), (how, n))


def _index(*indices: UOp) -> UOp:
    return UOp.new(Ops.INDEX, (X, *indices))


def _scatter(value: UOp, index: UOp, mode: str = "set") -> UOp:
    return UOp.new(Ops.SCATTER, (X, value, index), mode)


ROW = _input(4, dtype=I64, number=1)

SHAPES_REFUSED: dict[str, tuple[Callable[[], UOp], str]] = {
    "param kind": (lambda: UOp.param(0, (), F32, "scalars"), r"PARAM: expected .* got \(0, \(\), 'scalars'\)"),
    "scalar param with axes": (lambda: UOp.param(0, (2,), F32, "scalar"), r"PARAM: .* got \(0, \(2,\), 'scalar'\)"),
    "iota extent": (lambda: UOp.new(Ops.IOTA, (), -1, I64), "IOTA: expected an extent of 0 or more, got -1"),
    "where": (
        lambda: UOp.new(Ops.WHERE, (_input(3, dtype=BOOL), X, X)),
        r"WHERE: .* one shape, got \(3,\), \(2, 3\), \(2, 3\)",
    ),
    "reshape": (
        lambda: X.reshape((4, 2)),
        r"RESHAPE: expected a shape with the same number .*, got \(2, 3\) with \(4, 2\)",
    ),
    "reshape to a negative extent": (lambda: X.reshape((-2, -3)), r"RESHAPE: .* with \(-2, -3\)"),
    "expand an axis of 3": (lambda: X.expand((2, 6)), r"EXPAND: .* only axes of extent 1 grow, got \(2, 3\)"),
    "expand by an axis": (lambda: X.expand((4, 2, 3)), r"EXPAND: .* got \(2, 3\) with \(4, 2, 3\)"),
    "expand to less than nothing": (lambda: _input(1).expand((-1,)), r"EXPAND: .* got \(1,\) with \(-1,\)"),
    "permute twice": (lambda: X.permute((0, 0)), r"PERMUTE: expected every axis once, got \(2, 3\) with \(0, 0\)"),
    "permute too few": (lambda: X.permute((0,)), r"PERMUTE: expected every axis once, got \(2, 3\) with \(0,\)"),
    "shrink past the end": (lambda: X.shrink([(0, 2), (1, 4)]), r"SHRINK: .* got \(2, 3\) with \(\(0, 2\), \(1, 4\)\)"),
    "shrink backwards": (lambda: X.shrink([(0, 2), (2, 1)]), r"SHRINK: expected 0 <= start <= stop <= extent"),
    "shrink too few": (lambda: X.shrink([(0, 1)]), r"SHRINK: .* got \(2, 3\) with \(\(0, 1\),\)"),
    "pad by less than nothing": (lambda: X.pad([(0, 0), (-1, 0)]), r"PAD: .* with \(\(0, 0\), \(-1, 0\)\)"),
    "flip out of range": (lambda: X.flip((2,)), r"FLIP: expected axes in range, each once, got \(2, 3\) with \(2,\)"),
    "flip twice": (lambda: X.flip((1, 1)), r"FLIP: expected axes in range, each once"),
    "concat on another extent": (
        lambda: UOp.new(Ops.CONCAT, (X, _input(3, 3)), 1),
        r"CONCAT: .*, got \(2, 3\), \(3, 3\) with axis 1",
    ),
    "concat past the axes": (lambda: UOp.new(Ops.CONCAT, (X, X), 2), "CONCAT: .* with axis 2"),
    "reduce too many axes": (lambda: _reduce(Ops.ADD, 3), r"REDUCE: .*, got \(2, 3\) with 3"),
    "extreme of nothing": (
        lambda: _reduce(Ops.MAX, 1, _input(2, 0)),
        r"REDUCE: MAX of no elements has no identity, got shape \(2, 0\)",
    ),
    "scan of a scalar": (lambda: _input().scan(Ops.ADD), r"SCAN: expected one axis or more, got \(\)"),
    "index by nothing": (lambda: UOp.new(Ops.INDEX, (X,)), r"INDEX: expected between 1 and 2 index arrays"),
    "index by too many": (lambda: _index(ROW, ROW, ROW), r"INDEX: expected between 1 and 2 index arrays"),
    "indices of two shapes": (
        lambda: _index(ROW, _input(5, dtype=I64)),
        r"INDEX: expected index arrays of one shape, got \(2, 3\), \(4,\), \(5,\)",
    ),
    "scatter mode": (lambda: _scatter(_input(4, 3), ROW, "sub"), "SCATTER: expected a mode of .*, got 'sub'"),
    "scatter value": (lambda: _scatter(_input(4, 2), ROW), r"SCATTER: expected a value of shape \(4, 3\), got"),
    "detach": (lambda: UOp.new(Ops.DETACH, (X,), "now"), "DETACH: expected no argument, got 'now'"),
    "materialize": (lambda: UOp.new(Ops.MATERIALIZE, (X,), 1), "MATERIALIZE: expected no argument, got 1"),
    "variable": (lambda: X.variable(-1), "VARIABLE: expected a number of 0 or more, got -1"),
    "variable by name": (lambda: UOp.new(Ops.VARIABLE, (X,), "x"), "VARIABLE: expected a number .*, got 'x'"),
    "extern": (lambda: UOp.new(Ops.EXTERN, (X,), ("nothing", (), 0)), "EXTERN: no function 'nothing' is registered"),
    "call of too many": (
        lambda: UOp.new(Ops.CALL, (X, X), (SINE, 0)),
        r"CALL: expected 1 sources for Region\(.*, got 2",
    ),
    "call of another shape": (
        lambda: UOp.new(Ops.CALL, (_input(3),), (SINE, 0)),
        r"CALL: expected float32\[2, 3\] as source 0 of Region\(.*, got float32\[3\]",
    ),
    "call of another dtype": (
        lambda: UOp.new(Ops.CALL, (X.cast(F64),), (SINE, 0)),
        r"CALL: expected float32\[2, 3\] as source 0 .*, got float64\[2, 3\]",
    ),
    "output of a call": (lambda: UOp.new(Ops.CALL, (X,), (SINE, 1)), "CALL: expected an output from 0 to 0, got 1"),
}


@pytest.mark.parametrize(("make", "message"), SHAPES_REFUSED.values(), ids=SHAPES_REFUSED.keys())
def test_a_wrong_shape_is_refused_and_shown(make: Callable[[], UOp], message: str):
    with pytest.raises(ShapeError, match=message):
        make()


DTYPES_REFUSED: dict[str, tuple[Callable[[], UOp], str]] = {
    "iota": (lambda: UOp.new(Ops.IOTA, (), 3, F32), "IOTA: expected an integer dtype, got float32"),
    "random key": (
        lambda: UOp.new(Ops.RANDOM, (UOp.const(1, I64),), (3,)),
        r"RANDOM: expected a uint64 key of shape \(\), got int64",
    ),
    "where by a number": (lambda: UOp.new(Ops.WHERE, (X, X, X)), "WHERE: expected a bool condition .*, got float32"),
    "where of two dtypes": (
        lambda: UOp.new(Ops.WHERE, (_input(2, 3, dtype=BOOL), X, X.cast(F64))),
        "WHERE: .* two branches of one dtype, got bool, float32, float64",
    ),
    "cast from complex": (
        lambda: _input(2, dtype=C64).cast(F32),
        "CAST: expected real numbers to convert to float32 .*, got complex64",
    ),
    "bitcast to another size": (
        lambda: X.bitcast(F64),
        "BITCAST: expected a dtype of the size of float64, got float32",
    ),
    "bitcast to bool": (lambda: _input(2, dtype=dtypes.int8).bitcast(BOOL), "BITCAST: .*, got int8"),
    "concat": (
        lambda: UOp.new(Ops.CONCAT, (X, X.cast(F64)), 0),
        "CONCAT: expected one or more sources of one dtype, got float32, float64",
    ),
    "reduce by another op": (lambda: _reduce(Ops.SUB, 1), "REDUCE: expected one of .*, got <Ops.SUB"),
    "reduce bits of floats": (lambda: _reduce(Ops.AND, 1), "REDUCE: expected .* for AND, got float32"),
    "sum of bool": (lambda: _reduce(Ops.ADD, 1, _input(2, dtype=BOOL)), "REDUCE: expected .* for ADD, got bool"),
    "scan by another op": (lambda: X.scan(Ops.OR), "SCAN: expected one of .*, got <Ops.OR"),
    "scan of extremes of complex": (lambda: _input(2, dtype=C64).scan(Ops.MAX), "SCAN: .* for MAX, got complex64"),
    "index by floats": (lambda: _index(X), "INDEX: expected index arrays of one integer dtype, got float32, float32"),
    "indices of two dtypes": (
        lambda: _index(ROW, ROW.cast(I32)),
        "INDEX: expected index arrays of one integer dtype, got float32, int64, int32",
    ),
    "scatter": (
        lambda: _scatter(_input(4, 3, dtype=F64), ROW),
        "SCATTER: expected base and value of one dtype, got float32, float64, int64",
    ),
}


@pytest.mark.parametrize(("make", "message"), DTYPES_REFUSED.values(), ids=DTYPES_REFUSED.keys())
def test_a_wrong_dtype_is_refused_and_shown(make: Callable[[], UOp], message: str):
    with pytest.raises(DTypeError, match=message):
        make()


@pytest.mark.parametrize(
    ("node", "shape", "dtype"),
    [
        (UOp.new(Ops.IOTA, (), 5, I32), (5,), I32),
        (UOp.new(Ops.RANDOM, (UOp.const(1, dtypes.uint64),), (2, 3)), (2, 3), dtypes.uint64),
        (X.cast(I32), (2, 3), I32),
        (_input(2, dtype=C64).cast(BOOL), (2,), BOOL),
        (X.bitcast(I32), (2, 3), I32),
        (X.reshape((3, 2, 1)), (3, 2, 1), F32),
        (_input(1, 3).expand((0, 3)), (0, 3), F32),
        (X.permute((1, 0)), (3, 2), F32),
        (X.shrink([(1, 1), (0, 2)]), (0, 2), F32),
        (X.pad([(1, 2), (0, 4)]), (5, 7), F32),
        (UOp.new(Ops.CONCAT, (X, X, X), 1), (2, 9), F32),
        (_reduce(Ops.MAX, 1), (2,), F32),
        (_reduce(Ops.ADD, 2, _input(4, 0, 2)), (4,), F32),
        (X.scan(Ops.MUL), (2, 3), F32),
        (_index(ROW), (4, 3), F32),
        (_index(ROW, ROW), (4,), F32),
        (_scatter(_input(4, 3), ROW), (2, 3), F32),
    ],
    ids=lambda value: value.op.name if isinstance(value, UOp) else "",
)
def test_types_of_what_fits(node: UOp, shape: tuple[int, ...], dtype: DType):
    assert (node.shape, node.dtype) == (shape, dtype)
