"""NEP 13: NumPy's ufuncs on arrays of ours, with their methods (`reduce`, `at`, ...) and keywords (`out`, `where`).

A ufunc becomes the function of the namespace that computes the same; one without such a function runs in NumPy on the
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from uopc_array._arguments import normalize_axis
from uopc_array._assignment import value_node
from uopc_array._host import call_host, to_host
from uopc_array._indexing import advanced_orders, parse_key, view_of
from uopc_array._namespace import PROTOCOLS, call, find_function
from uopc_array._nodes import as_node, is_scalar, node_from_numpy, to_operand
from uopc_array._operators import check_same_kind
from uopc_array._origins import gather
from uopc_array.array import Array
from uopc_core import Ops, UOp, as_dtype, composite
from uopc_core.errors import ShapeError

__all__ = ["array_ufunc", "namespace_name", "store"]

# where the standard's name is not NumPy's
_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_SCANS = {"add": Ops.ADD, "multiply": Ops.MUL, "maximum": Ops.MAX, "minimum": Ops.MIN}
_SCATTERS = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}
_ARRAYS: Any = (Array, np.ndarray)
_FAMILIAR = (Array, np.ndarray, np.generic, int, float, complex, list, tuple)


def namespace_name(name: str) -> str:
    """The standard's name of what NumPy calls `name`."""
    return _NAMES.get(name, name)


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Array.__array_ufunc__` returns; NotImplemented where another class takes part that may know better."""
    outs: tuple[Any, ...] = kwargs.pop("out", ())
    if not all(isinstance(x, _FAMILIAR) for x in (*inputs, *[out for out in outs if out is not None])):
        return NotImplemented
    if method == "at":
        return _at(ufunc, *inputs)
    where = kwargs.pop("where", True)
    compute = _METHODS[method]
    result = compute(ufunc, inputs, kwargs if where is True or method != "reduce" else {**kwargs, "where": where})
    if where is not True and method != "reduce":
        result = _select(where, result, outs)
    return _deliver(ufunc, result, outs)


def _select(where: Any, result: Any, outs: tuple[Any, ...]) -> Any:
    """`result` where the mask holds, elsewhere what the output held before (zeros where there is none)."""
    before = outs[0] if outs else call("zeros_like", result)
    return Array._from_uop(call("where", call("asarray", where), result, call("asarray", before))._uop)


def _deliver(ufunc: np.ufunc, result: Any, outs: tuple[Any, ...]) -> Any:
    """`result`, stored in the given outputs where there are any."""
    if not outs:
        return result
    results = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
    stored = [x if out is None else store(ufunc.__name__, x, out) for x, out in zip(results, outs, strict=True)]
    return tuple(stored) if isinstance(result, tuple) else stored[0]


def store(name: str, x: Any, out: Any) -> Any:
    """`x` in `out`, an array of ours or of NumPy of that shape and of a dtype of the same kind; returns `out`."""
    if not isinstance(out, _ARRAYS):
        raise TypeError(f"{name}: expected an array for out, got {type(out).__name__}")
    if isinstance(out, Array):
        out._refuse_number(f"{name}: out")
    node = as_node(x)
    check_same_kind(name, node.dtype, as_dtype(out.dtype))
    if isinstance(out, Array):
        if node.shape != out.shape:
            raise ShapeError(f"{name}: the result of shape {node.shape} does not fit out of shape {out.shape}")
        out._write(node.cast(out.dtype))
    else:
        np.copyto(out, to_host(name, call("asarray", x)), casting="same_kind")
    return out


def _call(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if ufunc.__name__ == "divmod":
        return call("floor_divide", *inputs), call("remainder", *inputs)
    function = find_function(namespace_name(ufunc.__name__))
    dtype = kwargs.get("dtype")
    if function is None or not set(kwargs) <= {"dtype", "casting", "order", "subok"}:
        return call_host(ufunc.__name__, ufunc, _wide(ufunc, inputs), kwargs)
    if dtype is not None:
        inputs = tuple([call("asarray", x, dtype=dtype) for x in inputs])
    return function(*inputs)


def _wide(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """`inputs` with those integers in float64 that NumPy would compute in a narrower floating dtype."""
    arrays = [as_node(x) for x in inputs]
    loop = ufunc.resolve_dtypes((*[x.dtype for x in arrays], *[None] * ufunc.nout))
    pairs = zip(inputs, arrays, loop, strict=False)
    return tuple([call("astype", x, "float64") if d.kind == "f" and n.dtype.kind in "biu" else x for x, n, d in pairs])


def _reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    axis = kwargs["axis"] if "axis" in kwargs else (*inputs, 0)[1]
    operand = inputs[0]
    name = _REDUCTIONS.get(ufunc.__name__)
    known = {"axis", "dtype", "keepdims"}
    if name is None or any(k not in known and v is not None for k, v in kwargs.items()) or len(inputs) > 2:
        return call_host(f"{ufunc.__name__}.reduce", ufunc.reduce, inputs, kwargs)
    return find_function(name)(
        call("asarray", operand, dtype=kwargs.get("dtype")), axis=axis, keepdims=kwargs.get("keepdims", False)
    )


def _accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    op = _SCANS.get(ufunc.__name__)
    if op is None:
        return call_host(f"{ufunc.__name__}.accumulate", ufunc.accumulate, inputs, kwargs)
    axis = kwargs["axis"] if "axis" in kwargs else (*inputs, 0)[1]
    node = as_node(inputs[0], None if kwargs.get("dtype") is None else as_dtype(kwargs["dtype"]))
    if node.dtype.kind == "b" and op in (Ops.ADD, Ops.MUL):
        node = node.cast(np.int64)
    return Array._from_uop(composite.scan_axis(node, op, normalize_axis(ufunc.__name__, axis, node.ndim)))


def _outer(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, y = as_node(inputs[0]), as_node(inputs[1])
    column = Array._from_uop(x.reshape(x.shape + (1,) * y.ndim))
    return _call(ufunc, (column, Array._from_uop(y)), kwargs)


def _reduceat(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return call_host(f"{ufunc.__name__}.reduceat", ufunc.reduceat, inputs, kwargs)


_METHODS: dict[str, Callable[[np.ufunc, tuple[Any, ...], dict[str, Any]], Any]] = {
    "__call__": _call,
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "reduceat": _reduceat,
}


def _at(ufunc: np.ufunc, x: Any, key: Any, *rest: Any) -> None:
    """``ufunc.at(x, key, value)``: unbuffered, so that an index given twice counts twice."""
    name = f"{ufunc.__name__}.at"
    if not isinstance(x, Array):
        cast("Any", ufunc).at(x, to_host(name, key), *[to_host(name, value) for value in rest])
        return
    mode = _SCATTERS.get(ufunc.__name__)
    if mode is None:
        values = to_host(name, x)
        cast("Any", ufunc).at(values, to_host(name, key), *[to_host(name, value) for value in rest])
        x._write(node_from_numpy(values))
        return
    x._write(_scatter_at(ufunc.__name__, mode, x._uop, key, rest[0]))


def _scatter_at(name: str, mode: str, x: UOp, key: Any, value: Any) -> UOp:
    """`x` with `value` combined into what `key` selects, every index by itself."""
    operand = to_operand(value)
    check_same_kind(name, x.dtype if is_scalar(operand) else as_node(operand).dtype, x.dtype)
    flat = composite.iota((x.size,), 0).reshape(x.shape)
    parsed = parse_key(key, x.shape)
    picked = view_of(flat, parsed)
    if parsed.arrays:
        order, back = advanced_orders(parsed)
        picked = gather(f"{name}.at", picked.permute(order), *parsed.arrays, axes=order).permute(back)
    places = picked.reshape((picked.size,))
    values = value_node(operand, x.dtype, picked.shape).reshape((picked.size,))
    return UOp.new(Ops.SCATTER, (x.reshape((x.size,)), values, places), mode).reshape(x.shape)


PROTOCOLS["ufunc"] = array_ufunc
PROTOCOLS["store"] = store
