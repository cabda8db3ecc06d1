"""Type rules: operation, sources, argument -> shape and dtype, or an error that shows what was given.

`INFER` has one rule per op. A rule sees only the types of its sources, never their values.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from uopc_core.dtype import DTYPES, DType, dtypes, is_bool, is_complex, is_float, is_integer, name_of, real_dtype
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.op import (
    BINARY,
    COMPARISONS,
    COMPLEX_FUNCTIONS,
    REDUCIBLE,
    SCANNABLE,
    SCATTER_MODES,
    UNARY,
    Ops,
)

if TYPE_CHECKING:
    from uopc_core.ir.uop import UOp

__all__ = ["INFER", "OF_ELEMENTS", "Rule", "Shape"]

Shape = tuple[int, ...]
Sources = tuple["UOp", ...]
Rule = Callable[[Ops, Sources, Any, "DType | None"], tuple[Shape, DType]]


def _fail_dtype(op: Ops, src: Sources, wanted: str) -> DTypeError:
    given = ", ".join(name_of(s.dtype) for s in src)
    return DTypeError(f"{op.name}: expected {wanted}, got {given}")


def _fail_shape(op: Ops, src: Sources, wanted: str, arg: Any = None) -> ShapeError:
    given = ", ".join(str(s.shape) for s in src)
    return ShapeError(f"{op.name}: expected {wanted}, got {given}" + (f" with {arg}" if arg is not None else ""))


def _need(op: Ops, src: Sources, n: int) -> None:
    if len(src) != n:
        raise ShapeError(f"{op.name}: expected {n} sources, got {len(src)}")


def _need_at_least(op: Ops, src: Sources, n: int) -> None:
    if len(src) < n:
        raise ShapeError(f"{op.name}: expected {n} sources and indices, got {len(src)}")


# ----------------------------------------------------------------------------------------------------------------
# leaves


def _infer_const(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 0)
    assert dtype is not None, "CONST needs a dtype"
    return (), dtype


def _infer_buffer(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 0)
    return arg.shape, arg.dtype


def _infer_param(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 0)
    assert dtype is not None, "PARAM needs a dtype"
    if arg[2] not in ("buffer", "scalar") or (arg[2] == "scalar" and arg[1] != ()):
        raise ShapeError(f'PARAM: expected (index, shape, "buffer") or (index, (), "scalar"), got {arg}')
    return arg[1], dtype


def _infer_iota(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 0)
    if dtype is None or not is_integer(dtype):
        raise DTypeError(f"IOTA: expected an integer dtype, got {dtype}")
    if arg < 0:
        raise ShapeError(f"IOTA: expected an extent of 0 or more, got {arg}")
    return (arg,), dtype


def _infer_random(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if src[0].dtype is not dtypes.uint64 or src[0].shape != ():
        raise DTypeError(f"RANDOM: expected a uint64 key of shape (), got {name_of(src[0].dtype)} {src[0].shape}")
    return arg, dtypes.uint64


# -----------------------------------------------------------------------------------------------------------
# elementwise

_ALL = frozenset(DTYPES)
_NUMERIC = frozenset(d for d in DTYPES if not is_bool(d))
_REAL = frozenset(d for d in _NUMERIC if not is_complex(d))
_REAL_OR_BOOL = _REAL | {dtypes.bool}
_FLOAT = frozenset(d for d in DTYPES if is_float(d))
_COMPLEX = frozenset(d for d in DTYPES if is_complex(d))
_INEXACT = _FLOAT | _COMPLEX
_INTEGER = frozenset(d for d in DTYPES if is_integer(d))
_INTEGER_OR_BOOL = _INTEGER | {dtypes.bool}

# what an op takes; the result has the same dtype unless the op is in _RESULT
_TAKES: dict[Ops, tuple[frozenset[DType], str]] = {
    Ops.NEG: (_NUMERIC, "numbers"),
    Ops.RECIP: (_INEXACT, "real or complex floating"),
    **dict.fromkeys(COMPLEX_FUNCTIONS, (_INEXACT, "real or complex floating")),
    Ops.ERF: (_FLOAT, "real floating"),
    Ops.ERFC: (_FLOAT, "real floating"),
    **dict.fromkeys((Ops.FLOOR, Ops.CEIL, Ops.TRUNC), (_FLOAT, "real floating")),
    Ops.RINT: (_INEXACT, "real or complex floating"),
    Ops.ABS: (_NUMERIC, "numbers"),
    Ops.SIGN: (_REAL, "real numbers"),
    Ops.NOT: (_INTEGER_OR_BOOL, "integers or bool"),
    **dict.fromkeys((Ops.REAL, Ops.IMAG, Ops.CONJ), (_COMPLEX, "complex")),
    **dict.fromkeys((Ops.ADD, Ops.SUB, Ops.MUL), (_NUMERIC, "two operands of one numeric dtype")),
    Ops.DIV: (_INEXACT, "two operands of one floating dtype"),
    **dict.fromkeys((Ops.FLOORDIV, Ops.FLOORMOD), (_REAL, "two operands of one real dtype")),
    **dict.fromkeys((Ops.MAX, Ops.MIN), (_REAL_OR_BOOL, "two operands of one real dtype, or bool")),
    Ops.POW: (_NUMERIC, "two operands of one numeric dtype"),
    **dict.fromkeys(
        (Ops.ATAN2, Ops.HYPOT, Ops.COPYSIGN, Ops.NEXTAFTER, Ops.LOGADDEXP),
        (_FLOAT, "two operands of one real floating dtype"),
    ),
    **dict.fromkeys((Ops.CMPLT, Ops.CMPLE), (_REAL_OR_BOOL, "two operands of one real dtype, or bool")),
    **dict.fromkeys((Ops.CMPEQ, Ops.CMPNE), (_ALL, "two operands of one dtype")),
    **dict.fromkeys((Ops.AND, Ops.OR, Ops.XOR), (_INTEGER_OR_BOOL, "two operands of one integer dtype, or bool")),
    **dict.fromkeys((Ops.SHL, Ops.SHR), (_INTEGER, "two operands of one integer dtype")),
    Ops.COMPLEX: (_FLOAT, "two operands of one real floating dtype"),
}
_TO_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
_TO_BOOL = dict.fromkeys(DTYPES, dtypes.bool)
_TO_REAL = {d: real_dtype(d) for d in DTYPES}
_RESULT: dict[Ops, dict[DType, DType]] = {
    Ops.ABS: _TO_REAL,
    Ops.REAL: _TO_REAL,
    Ops.IMAG: _TO_REAL,
    Ops.COMPLEX: _TO_COMPLEX,
    **dict.fromkeys(COMPARISONS, _TO_BOOL),
}
# ops of one or two sources of one type: how many, and the dtype of the result by that of the sources
OF_ELEMENTS: dict[Ops, tuple[int, dict[DType, DType]]] = {
    op: (1 if op in UNARY else 2, {dtype: _RESULT.get(op, {}).get(dtype, dtype) for dtype in accepted})
    for op, (accepted, _) in _TAKES.items()
}


def _infer_unary(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    given = src[0].dtype
    accepted, wanted = _TAKES[op]
    if given not in accepted:
        raise _fail_dtype(op, src, wanted)
    return src[0].shape, _RESULT[op][given] if op in _RESULT else given


def _infer_binary(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 2)
    x, y = src
    given = x.dtype
    accepted, wanted = _TAKES[op]
    if given is not y.dtype or given not in accepted:
        raise _fail_dtype(op, src, wanted)
    if x.shape != y.shape:
        raise _fail_shape(op, src, "two operands of one shape (broadcasting is written out with RESHAPE and EXPAND)")
    return x.shape, _RESULT[op][given] if op in _RESULT else given


def _infer_cast(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    assert dtype is not None, "CAST needs a dtype"
    if is_complex(src[0].dtype) and not (is_complex(dtype) or is_bool(dtype)):
        raise _fail_dtype(op, src, f"real numbers to convert to {name_of(dtype)} (take REAL or IMAG first)")
    return src[0].shape, dtype


def _infer_bitcast(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if dtype is None or dtype.itemsize != src[0].dtype.itemsize or is_bool(dtype) != is_bool(src[0].dtype):
        raise _fail_dtype(op, src, f"a dtype of the size of {dtype}")
    return src[0].shape, dtype


def _infer_where(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 3)
    cond, x, y = src
    if cond.dtype is not dtypes.bool or x.dtype is not y.dtype:
        raise _fail_dtype(op, src, "a bool condition and two branches of one dtype")
    if not cond.shape == x.shape == y.shape:
        raise _fail_shape(op, src, "condition and branches of one shape")
    return x.shape, x.dtype


# --------------------------------------------------------------------------------------------------------------
# movement


def _infer_reshape(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if prod(arg) != prod(src[0].shape) or min(arg, default=0) < 0:
        raise _fail_shape(op, src, "a shape with the same number of elements", arg)
    return arg, src[0].dtype


def _infer_expand(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    shape = src[0].shape
    if len(arg) == len(shape):
        for n, m in zip(arg, shape, strict=True):
            if n != m and (m != 1 or n < 0):
                break
        else:
            return arg, src[0].dtype
    raise _fail_shape(op, src, "a shape of as many axes, in which only axes of extent 1 grow", arg)


def _infer_permute(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    shape = src[0].shape
    if sorted(arg) != list(range(len(shape))):
        raise _fail_shape(op, src, "every axis once", arg)
    return tuple([shape[int(axis)] for axis in arg]), src[0].dtype


def _infer_shrink(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    shape = src[0].shape
    if len(arg) == len(shape):
        for (a, b), n in zip(arg, shape, strict=True):
            if not 0 <= a <= b <= n:
                break
        else:
            return tuple([b - a for a, b in arg]), src[0].dtype
    raise _fail_shape(op, src, "0 <= start <= stop <= extent for every axis", arg)


def _infer_pad(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    shape = src[0].shape
    if len(arg) != len(shape) or any([a < 0 or b < 0 for a, b in arg]):
        raise _fail_shape(op, src, "a pair of widths of 0 or more for every axis", arg)
    return tuple([a + n + b for (a, b), n in zip(arg, shape, strict=True)]), src[0].dtype


def _infer_flip(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if len(set(arg)) != len(arg) or any(not 0 <= axis < len(src[0].shape) for axis in arg):
        raise _fail_shape(op, src, "axes in range, each once", arg)
    return src[0].shape, src[0].dtype


def _infer_concat(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    if not src or any(s.dtype is not src[0].dtype for s in src):
        raise _fail_dtype(op, src, "one or more sources of one dtype")
    axis: int = arg
    first = src[0].shape
    rest = [(*s.shape[:axis], *s.shape[axis + 1 :]) for s in src]
    if not 0 <= axis < len(first) or any(len(s.shape) != len(first) for s in src) or any(r != rest[0] for r in rest):
        raise _fail_shape(op, src, "sources that agree on every axis but the one that is joined", f"axis {axis}")
    return (*first[:axis], sum(s.shape[axis] for s in src), *first[axis + 1 :]), src[0].dtype


# ------------------------------------------------------------------------------------------------------------ along
# axes


def _infer_reduce(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    how, n = arg
    shape = src[0].shape
    if how not in REDUCIBLE:
        raise DTypeError(f"REDUCE: expected one of {sorted(o.name for o in REDUCIBLE)}, got {how!r}")
    if src[0].dtype not in _TAKES[how][0]:
        raise _fail_dtype(op, src, f"{_TAKES[how][1]} for {how.name}")
    if not 0 <= n <= len(shape):
        raise _fail_shape(op, src, "no more axes to reduce than there are", n)
    if how in (Ops.MAX, Ops.MIN) and 0 in shape[len(shape) - n :]:
        raise ShapeError(
            f"REDUCE: {how.name} of no elements has no identity, got shape {shape} with the last {n} axes reduced"
        )
    return shape[: len(shape) - n], src[0].dtype


def _infer_scan(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if arg not in SCANNABLE:
        raise DTypeError(f"SCAN: expected one of {sorted(o.name for o in SCANNABLE)}, got {arg!r}")
    if src[0].dtype not in _TAKES[arg][0]:
        raise _fail_dtype(op, src, f"{_TAKES[arg][1]} for {arg.name}")
    if not src[0].shape:
        raise _fail_shape(op, src, "one axis or more")
    return src[0].shape, src[0].dtype


def _check_indices(op: Ops, src: Sources, indices: Sources, ndim: int) -> Shape:
    if not indices or len(indices) > ndim:
        raise _fail_shape(op, src, f"between 1 and {ndim} index arrays")
    for i in indices:
        if not is_integer(i.dtype) or i.dtype is not indices[0].dtype:
            raise _fail_dtype(op, src, "index arrays of one integer dtype")
        if i.shape != indices[0].shape:
            raise _fail_shape(op, src, "index arrays of one shape")
    return indices[0].shape


def _infer_index(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need_at_least(op, src, 1)
    x, indices = src[0], src[1:]
    return _check_indices(op, src, indices, len(x.shape)) + x.shape[len(indices) :], x.dtype


def _infer_scatter(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need_at_least(op, src, 2)
    base, value, indices = src[0], src[1], src[2:]
    if arg not in SCATTER_MODES:
        raise ShapeError(f"SCATTER: expected a mode of {SCATTER_MODES}, got {arg!r}")
    if base.dtype is not value.dtype:
        raise _fail_dtype(op, src, "base and value of one dtype")
    wanted = _check_indices(op, src, indices, len(base.shape)) + base.shape[len(indices) :]
    if value.shape != wanted:
        raise _fail_shape(op, src, f"a value of shape {wanted}")
    return base.shape, base.dtype


# -------------------------------------------------------------------------------------------------------------
# structure


def _infer_identity(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if arg is not None:
        raise ShapeError(f"{op.name}: expected no argument, got {arg!r}")
    return src[0].shape, src[0].dtype


def _infer_variable(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    _need(op, src, 1)
    if type(arg) is not int or arg < 0:
        raise ShapeError(f"VARIABLE: expected a number of 0 or more, got {arg!r}")
    return src[0].shape, src[0].dtype


def _infer_extern(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    name, params, number = arg
    extern = EXTERNS.get(name)
    if extern is None:
        raise ShapeError(f"EXTERN: no function {name!r} is registered; known are {sorted(EXTERNS)}")
    if not extern.params.accepts(params):
        raise ShapeError(f"{name}: expected params {extern.params.wanted}, got {params!r}")
    if len(src) != extern.n_sources:
        raise ShapeError(f"{name}: expected {extern.n_sources} sources, got {len(src)}")
    outputs: tuple[tuple[Shape, DType], ...] = extern.infer(params, [(s.shape, s.dtype) for s in src])
    if not 0 <= number < len(outputs):
        raise ShapeError(f"{name}: expected an output from 0 to {len(outputs) - 1}, got {number}")
    return outputs[int(number)]


def _infer_call(op: Ops, src: Sources, arg: Any, dtype: DType | None) -> tuple[Shape, DType]:
    region, number = arg
    wanted = tuple([(shape, dtype) for shape, dtype, _ in region.inputs])
    if len(src) != len(wanted):
        raise ShapeError(f"CALL: expected {len(wanted)} sources for {region}, got {len(src)}")
    for k, (s, (shape, of)) in enumerate(zip(src, wanted, strict=True)):
        if s.shape != shape or s.dtype is not of:
            given = f"{name_of(s.dtype)}{list(s.shape)}"
            raise ShapeError(f"CALL: expected {name_of(of)}{list(shape)} as source {k} of {region}, got {given}")
    if not 0 <= number < len(region.outputs):
        raise ShapeError(f"CALL: expected an output from 0 to {len(region.outputs) - 1}, got {number}")
    return region.outputs[int(number)]


INFER: dict[Ops, Rule] = {
    Ops.CONST: _infer_const,
    Ops.BUFFER: _infer_buffer,
    Ops.PARAM: _infer_param,
    Ops.IOTA: _infer_iota,
    Ops.RANDOM: _infer_random,
    **dict.fromkeys(UNARY, _infer_unary),
    Ops.CAST: _infer_cast,
    Ops.BITCAST: _infer_bitcast,
    **dict.fromkeys(BINARY, _infer_binary),
    Ops.WHERE: _infer_where,
    Ops.RESHAPE: _infer_reshape,
    Ops.EXPAND: _infer_expand,
    Ops.PERMUTE: _infer_permute,
    Ops.SHRINK: _infer_shrink,
    Ops.PAD: _infer_pad,
    Ops.FLIP: _infer_flip,
    Ops.CONCAT: _infer_concat,
    Ops.REDUCE: _infer_reduce,
    Ops.SCAN: _infer_scan,
    Ops.INDEX: _infer_index,
    Ops.SCATTER: _infer_scatter,
    Ops.MATERIALIZE: _infer_identity,
    Ops.DETACH: _infer_identity,
    Ops.VARIABLE: _infer_variable,
    Ops.EXTERN: _infer_extern,
    Ops.CALL: _infer_call,
}
