"""What every op means, in NumPy: the table that the interpreter runs and that compiled C is compared with.

An entry makes, for a node, the function of the values of its sources. The functions are called inside
`np.errstate(all="ignore")`, must not write to what they are given but as `out`, and may return NumPy scalars for shape
(). Where an entry returns a view of its operand, its op is in `VIEWS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from uopc_core.costs import BLOCK_ELEMENTS
from uopc_core.dtype import converted, dtypes, is_complex, is_inexact, name_of
from uopc_core.errors import IndexBoundsError
from uopc_core.interpret.externs import call_extern
from uopc_core.interpret.loops import OWN_OPS, has_own_bits, loop_of
from uopc_core.interpret.numpy_complex import exp2, expm1, log1p, logaddexp, recip, wide
from uopc_core.interpret.reductions import reduction
from uopc_core.interpret.ufuncs import UFUNCS
from uopc_core.ir.op import IDENTITIES, SUM_BLOCK, VIEW_OPS, Ops
from uopc_core.ir.squares import squares64
from uopc_core.ir.uop import UOp

__all__ = ["NUMPY_OPS", "VIEWS", "NumpyFunction", "choose_in_c"]

Array = np.ndarray[Any, Any]
NumpyFunction = Callable[..., Any]
_MOST_NUMBERS = (2**63 - 1) // 8  # of which NumPy knows the size in bytes
# the same, spelled out by number of operands, which tells the type checker what lambdas take
_Function = Callable[[], Any] | Callable[[Any], Any] | Callable[[Any, Any], Any]

# ops that may return a view of their first operand
VIEWS = frozenset(
    {
        *VIEW_OPS,
        *IDENTITIES,
        Ops.REAL,
        Ops.IMAG,
        Ops.BITCAST,
        Ops.INDEX,  # indices of shape () are basic indexing
    }
)

# -------------------------------------------------------------------------------------------------------------- leaves


def _const(node: UOp) -> _Function:
    value = np.array(node.arg, node.dtype)
    return lambda: value


def _memory(node: UOp) -> _Function:
    return lambda: node.realized.array


def _param(node: UOp) -> _Function:
    def missing() -> Any:
        raise ValueError(
            f"evaluate: input {node.arg[0]} ({name_of(node.dtype)} {node.shape}) has no value; give one in env"
        )

    return missing


def _iota(node: UOp) -> _Function:
    # by way of int64: arange refuses bounds that a narrow dtype cannot hold, where a conversion wraps
    n: int = node.arg
    if n > _MOST_NUMBERS:
        raise MemoryError(f"no memory for {n} numbers")
    return lambda: np.arange(n).astype(node.dtype, copy=False)


def _random(node: UOp) -> _Function:
    shape, size = node.shape, node.size

    def evaluate(key: Any) -> Any:
        bits = np.empty(size, np.uint64)
        for start in range(0, size, BLOCK_ELEMENTS):
            stop = min(start + BLOCK_ELEMENTS, size)
            bits[start:stop] = squares64(key, np.arange(start, stop, dtype=np.uint64))
        return bits.reshape(shape)

    return evaluate


# --------------------------------------------------------------------------------------------------------- elementwise


def _map_scalars(function: Callable[[float], float], node: UOp) -> _Function:
    dtype = node.dtype

    def evaluate(x: Any) -> Any:
        # float64 inside, so that float32 is correctly rounded but for rare ties
        values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
        return values.astype(dtype, copy=False).reshape(x.shape)

    return evaluate


def _cast(node: UOp) -> _Function:
    dtype = node.dtype
    return (lambda x: converted(x, dtype)) if dtype is dtypes.uint32 else lambda x: x.astype(dtype)


def _bitcast(node: UOp) -> _Function:
    dtype = node.dtype
    return lambda x: x.view(dtype)


def _pow(node: UOp) -> _Function:
    if is_complex(node.dtype):
        return wide(np.power)(node)
    return {"i": _pow_signed, "f": _pow_float}.get(node.dtype.kind, np.power)


_SMALL_POWERS: dict[int, Callable[[Any], Any]] = {
    -1: np.reciprocal,
    1: lambda x: x,
    2: np.square,
    3: lambda x: x * x * x,
}


def _pow_float(x: Any, y: Any) -> Any:
    """Real power, where rules make products of small ones.

    Where one exponent serves many numbers, NumPy has a root for 0.5, which gives nan of -inf, and -0.0 of -0.0.
    """
    out: Array = np.power(x, y)
    half: Array = np.equal(y, 0.5)
    if half.any():
        out = np.where(half, np.where(np.equal(x, -np.inf), out.dtype.type(np.inf), out + 0), out)
    for exponent, power in _SMALL_POWERS.items():
        same: Array = np.equal(y, exponent)
        if same.any():
            out = np.where(same, power(x), out)
    return out


def _pow_signed(x: Array, y: Array) -> Any:
    """Integer power.

    NumPy raises for negative exponents; a kernel cannot, so they give 1 / x**-y rounded towards zero, and 0 for x = 0.
    """
    negative = y < 0
    if not negative.any():
        return np.power(x, y)
    magnitude: Array = np.where(negative, y & 1, y)  # of an odd or an even power, which is all that 1 and -1 need
    power = np.power(x, magnitude)
    return np.where(negative & (np.absolute(x) != 1), x.dtype.type(0), power)


def _complex(node: UOp) -> _Function:
    dtype = node.dtype

    def evaluate(re: Any, im: Any) -> Any:
        out = np.empty(np.broadcast(re, im).shape, dtype)  # re + 1j * im would make nan of an infinite part
        out.real = re
        out.imag = im
        return out

    return evaluate


_choose: Callable[..., Array] = np.where


def choose_in_c(module: Any) -> None:
    """Have elements chosen, and added up one after the other, by this module, an extension of whoever stands above."""
    global _choose, _cumulate
    module.connect_choose(np.where)
    module.connect_cumulate(_cumulative_sum, SUM_BLOCK)
    _choose, _cumulate = module.choose, module.cumulate


def _where(condition: Any, x: Any, y: Any, out: Array | None = None) -> Array:
    """
    Args:
        out: an operand, to be written over.
    """
    if out is None or out is condition:
        return _choose(condition, x, y)
    if out is x:
        np.copyto(out, y, where=np.logical_not(condition))
    else:
        np.copyto(out, x, where=condition)
    return out


# ------------------------------------------------------------------------------------------------------------ movement


def _reshape(node: UOp) -> _Function:
    shape = node.arg
    return lambda x: x.reshape(shape)


def _expand(node: UOp) -> _Function:
    shape, dtype, before = node.arg, node.dtype, node.src[0].shape
    steps = [dtype.itemsize * math.prod(before[axis + 1 :]) for axis in range(len(before))]
    strides = tuple([step if n == m else 0 for step, n, m in zip(steps, before, shape, strict=True)])

    def expand(x: Any) -> Any:
        # what broadcast_to gives, without its 2 us of Python
        if type(x) is np.ndarray and x.flags.c_contiguous and x.size:
            return np.ndarray(shape, dtype, x, 0, strides)
        return np.broadcast_to(x, shape)

    return expand


def _permute(node: UOp) -> _Function:
    axes = node.arg
    return lambda x: x.transpose(axes)


def _view(parts: tuple[slice, ...]) -> _Function:
    key = (*parts, ...)  # the ellipsis keeps a 0-d view an array
    return lambda x: x[key]


def _shrink(node: UOp) -> _Function:
    return _view(tuple([slice(start, stop) for start, stop in node.arg]))


def _flip(node: UOp) -> _Function:
    return _view(tuple([slice(None, None, -1 if axis in node.arg else 1) for axis in range(node.ndim)]))


def _pad(node: UOp) -> _Function:
    inside = (*[slice(before, before + n) for (before, _), n in zip(node.arg, node.src[0].shape, strict=True)], ...)

    def evaluate(x: Any) -> Any:
        out = np.zeros(node.shape, node.dtype)
        out[inside] = x
        return out

    return evaluate


def _concat(node: UOp) -> _Function:
    axis = node.arg

    def evaluate(*parts: Any) -> Any:
        return np.concatenate(parts, axis)

    return evaluate


# ---------------------------------------------------------------------------------------------------------- along axes


def _reduce(node: UOp) -> _Function:
    how, n = node.arg
    return reduction(how, n, node.dtype)


def _scan(node: UOp) -> _Function:
    if node.arg is Ops.ADD and is_inexact(node.dtype):
        return _cumulate
    accumulate, dtype, last = UFUNCS[node.arg].accumulate, node.dtype, node.ndim - 1
    return lambda x: accumulate(x, last, dtype)


def _cumulative_sum(x: Any) -> Any:
    """Sums within blocks, to which the cumulative sum of the blocks before is added: errors grow with the block."""
    n = x.shape[-1]
    if n <= SUM_BLOCK:
        return np.add.accumulate(x, -1)
    whole = n - n % SUM_BLOCK
    blocks = (*x.shape[:-1], n // SUM_BLOCK, SUM_BLOCK)
    out = np.empty(x.shape, x.dtype)
    inside = out[..., :whole].reshape(blocks)  # a view, as is that of x
    np.add.accumulate(x[..., :whole].reshape(blocks), -1, out=inside)
    before = _cumulative_sum(inside[..., -1])
    inside[..., 1:, :] += before[..., :-1, None]
    rest = out[..., whole:]
    np.add.accumulate(x[..., whole:], -1, out=rest)
    rest += before[..., -1:]
    return out


_cumulate: Callable[[Any], Any] = _cumulative_sum


def _checked(indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """uint64 `indices`, none of which is beyond int64: NumPy would wrap it."""
    for axis, at in enumerate(indices):
        largest = int(np.max(at, initial=0))
        if largest >= 2**63:
            raise IndexError(f"index {largest} is out of bounds for axis {axis}")
    return indices


def _index(node: UOp) -> _Function:
    unsigned = node.src[-1].dtype == np.uint64

    def evaluate(x: Any, *indices: Any) -> Any:
        try:
            return x[_checked(indices)] if unsigned else x[indices]
        except IndexError as error:
            raise IndexBoundsError(str(error)) from None

    return evaluate


_SCATTER_UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter_ufunc(node: UOp) -> Any:
    own = loop_of("elementwise", Ops.MUL, node.dtype) if node.arg == "mul" and is_complex(node.dtype) else None
    return _SCATTER_UFUNCS.get(node.arg) if own is None else own


def _scatter(node: UOp) -> _Function:
    ufunc, unsigned = _scatter_ufunc(node), node.src[-1].dtype == np.uint64

    def evaluate(base: Any, value: Any, *indices: Any, out: Array | None = None) -> Any:
        out = np.array(base) if out is None or out is not base else out
        try:
            if ufunc is None:
                out[_checked(indices) if unsigned else indices] = value  # in order, so of equal indices the last wins
            else:
                ufunc.at(out, _checked(indices) if unsigned else indices, value)
        except IndexError as error:
            raise IndexBoundsError(str(error)) from None
        return out

    return evaluate


# ----------------------------------------------------------------------------------------------------------- structure


def _identity(node: UOp) -> _Function:
    return lambda x: x


def _extern(node: UOp) -> _Function:
    """All outputs, as a tuple: the interpreter calls once for the nodes that share name, parameters and sources."""
    name, params, _ = node.arg

    def evaluate(*sources: Any) -> tuple[Any, ...]:
        return call_extern(name, params, [np.asarray(x) for x in sources])

    return evaluate


def _same(function: _Function) -> Callable[[UOp], NumpyFunction]:
    return lambda node: function


NUMPY_OPS: dict[Ops, Callable[[UOp], NumpyFunction]] = {
    Ops.CONST: _const,
    Ops.BUFFER: _memory,
    Ops.PARAM: _param,
    Ops.IOTA: _iota,
    Ops.RANDOM: _random,
    **{op: _same(ufunc) for op, ufunc in UFUNCS.items()},
    Ops.RECIP: recip,
    Ops.DIV: wide(np.divide),
    **{op: wide(UFUNCS[op]) for op in (Ops.TAN, Ops.TANH, Ops.ATAN, Ops.ATANH)},
    Ops.EXP2: exp2,
    Ops.EXPM1: expm1,
    Ops.LOGADDEXP: logaddexp,
    Ops.LOG1P: log1p,
    Ops.ERF: partial(_map_scalars, math.erf),
    Ops.ERFC: partial(_map_scalars, math.erfc),
    Ops.CAST: _cast,
    Ops.BITCAST: _bitcast,
    Ops.REAL: _same(lambda x: x.real),
    Ops.IMAG: _same(lambda x: x.imag),
    Ops.POW: _pow,
    Ops.COMPLEX: _complex,
    Ops.WHERE: lambda node: _where,
    Ops.RESHAPE: _reshape,
    Ops.EXPAND: _expand,
    Ops.PERMUTE: _permute,
    Ops.SHRINK: _shrink,
    Ops.PAD: _pad,
    Ops.FLIP: _flip,
    Ops.CONCAT: _concat,
    Ops.REDUCE: _reduce,
    Ops.SCAN: _scan,
    Ops.INDEX: _index,
    Ops.SCATTER: _scatter,
    **dict.fromkeys(IDENTITIES, _identity),
    Ops.EXTERN: _extern,
}


def _with_loops(op: Ops, numpy_entry: Callable[[UOp], NumpyFunction]) -> Callable[[UOp], NumpyFunction]:
    """The entry of an op whose bits are our own for some dtypes, and NumPy's where nobody provides a loop."""

    def entry(node: UOp) -> NumpyFunction:
        dtype = node.src[0].dtype
        loop = loop_of("elementwise", op, dtype) if has_own_bits(op, dtype) else None
        return numpy_entry(node) if loop is None else loop

    return entry


NUMPY_OPS.update({op: _with_loops(op, NUMPY_OPS[op]) for op in OWN_OPS})
