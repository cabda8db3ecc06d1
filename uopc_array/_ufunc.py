"""NEP 13: NumPy's ufuncs on arrays of ours, with their methods (`reduce`, `at`, ...) and keywords (`out`, `where`).

A ufunc becomes the function of the namespace that computes the same; one without such a function runs in NumPy on the
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from uopc_array._arguments import normalize_axis
from uopc_array._assignment import scattered
from uopc_array._functions.outputs import store
from uopc_array._functions.reductions import accumulator, reduced_by
from uopc_array._host import call_host, to_host
from uopc_array._indexing import is_basic, parse_key, view_of
from uopc_array._lenses import write_back
from uopc_array._namespace import PROTOCOLS, call, find_function
from uopc_array._nodes import as_node, cast_node, default_dtype, is_scalar, mask_node, node_from_numpy
from uopc_array._operators import check_same_kind
from uopc_array._promotion import check_cast, promote_dtypes, result_dtype
from uopc_array.array import Array
from uopc_core import DType, Ops, UOp, as_dtype, composite, is_complex, is_inexact
from uopc_core.errors import shortened

__all__ = ["array_ufunc", "namespace_name"]

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
_SCANS = {"add": Ops.ADD, "multiply": Ops.MUL, "maximum": Ops.MAX, "minimum": Ops.MIN}
_SCATTERS = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}
_ARRAYS: Any = (Array, np.ndarray)


def namespace_name(name: str) -> str:
    """The standard's name of what NumPy calls `name`."""
    return _NAMES.get(name, name)


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Array.__array_ufunc__` returns; NotImplemented where another class takes part that may know better."""
    outs: tuple[Any, ...] = kwargs.pop("out", ())
    if any([_takes_part(x) for x in (*inputs, *outs)]):
        return NotImplemented
    try:
        if method == "at":
            return _at(ufunc, *inputs)
        where = kwargs.pop("where", True)
        compute = _METHODS[method]
        result = compute(ufunc, inputs, kwargs if where is True or method != "reduce" else {**kwargs, "where": where})
        casting = "unsafe" if method != "__call__" else kwargs.get("casting", "same_kind")
        return _deliver(ufunc, result, outs, casting, where if method != "reduce" else True)
    except Exception as error:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise shortened(error, name) from error.__cause__


def _takes_part(x: Any) -> bool:
    """Whether `x` knows NumPy's ufuncs, and is none of ours or of NumPy."""
    return hasattr(cast("object", type(x)), "__array_ufunc__") and not isinstance(x, (*_ARRAYS, np.generic))


def _masked(where: Any, x: Any) -> Any:
    """`x` where the mask holds, elsewhere zeros."""
    mask = Array._array_from_uop(mask_node("where", where))
    return Array._from_uop(call("where", mask, x, call("zeros_like", x))._uop)


def _deliver(ufunc: np.ufunc, result: Any, outs: tuple[Any, ...], casting: str, where: Any) -> Any:
    """`result` where the mask holds, stored in the given outputs where there are any."""
    results = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
    stored: list[Any] = []
    for x, out in zip(results, outs or (None,) * len(results), strict=True):
        if out is not None:
            stored.append(store(ufunc.__name__, x, out, casting, where))
        else:
            stored.append(x if where is True else _masked(where, x))
    return tuple(stored) if isinstance(result, tuple) else stored[0]


def _call(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if ufunc.__name__ == "divmod":
        return call("floor_divide", *inputs), call("remainder", *inputs)
    function = find_function(namespace_name(ufunc.__name__))
    dtype = kwargs.get("dtype")
    if function is None or not set(kwargs) <= {"dtype", "casting", "order", "subok"}:
        return call_host(ufunc.__name__, ufunc, _wide(ufunc, inputs), kwargs)
    if dtype is not None and not _is_of_result(ufunc, dtype):
        inputs = tuple([_cast_input(ufunc.__name__, x, dtype, kwargs.get("casting", "same_kind")) for x in inputs])
    return function(*inputs)


def _is_of_result(ufunc: np.ufunc, dtype: Any) -> bool:
    """Whether `dtype` is bool because the ufunc asks something of numbers; it says nothing of the inputs then."""
    return as_dtype(dtype).kind == "b" and any(loop in ("b->?", "bb->?") for loop in ufunc.types)


def _cast_input(name: str, x: Any, dtype: Any, casting: Any) -> Any:
    wanted = as_dtype(dtype, name)
    check_cast(name, result_dtype(x, wanted) if is_scalar(x) else as_node(x).dtype, wanted, casting)
    return call("asarray", x, dtype=wanted)


def _wide(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """`inputs` with those integers in float64 that NumPy would compute in a narrower floating dtype."""
    arrays = [as_node(x) for x in inputs]
    loop = ufunc.resolve_dtypes((*[x.dtype for x in arrays], *[None] * ufunc.nout))
    pairs = zip(inputs, arrays, loop, strict=False)
    return tuple([call("astype", x, "float64") if d.kind == "f" and n.dtype.kind in "biu" else x for x, n, d in pairs])


def _reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    axis = kwargs["axis"] if "axis" in kwargs else (*inputs, 0)[1]
    name, known = f"{ufunc.__name__}.reduce", {"axis", "dtype", "keepdims", "initial", "where"}
    if 0 < len(inputs) <= 2 and not any(k not in known and v is not None for k, v in kwargs.items()):
        how = kwargs.get("keepdims", False), kwargs.get("initial"), kwargs.get("where", True)
        result = reduced_by(name, ufunc.__name__, as_node(inputs[0]), axis, kwargs.get("dtype"), *how)
        if isinstance(result, UOp):
            return Array._from_uop(result)
    return call_host(name, ufunc.reduce, inputs, kwargs)


def _accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    op = _SCANS.get(ufunc.__name__)
    if op is None:
        return call_host(f"{ufunc.__name__}.accumulate", ufunc.accumulate, inputs, kwargs)
    node, wanted = as_node(inputs[0]), kwargs.get("dtype")
    if not node.ndim:
        raise TypeError(f"{ufunc.__name__}.accumulate: expected one axis or more, got shape (); use x.reshape(1)")
    axis = kwargs["axis"] if "axis" in kwargs else (*inputs, 0)[1]
    if wanted is not None or op in (Ops.ADD, Ops.MUL):
        node = cast_node(node, accumulator(ufunc.__name__, node.dtype, wanted), ufunc.__name__)
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
    if mode is None or not _rounds_never(name, mode, x.dtype, rest[0]):
        x._update(lambda node: _combined_by_numpy(ufunc, node, key, rest))
        return
    if is_basic(key):  # each place once
        combined = as_node(_call(ufunc, (x[key], rest[0]), {}))
        x[key] = Array._array_from_uop(cast_node(combined, x.dtype, name))
        return
    x._update(lambda node: _scatter_at(ufunc.__name__, mode, node, key, rest[0]))


def _combined_by_numpy(ufunc: np.ufunc, node: UOp, key: Any, rest: tuple[Any, ...]) -> UOp:
    name = f"{ufunc.__name__}.at"
    values = to_host(name, Array._array_from_uop(node))
    cast("Any", ufunc).at(values, to_host(name, key), *[to_host(name, value) for value in rest])
    return node_from_numpy(values, copy=False)


def _rounds_never(name: str, mode: str, dtype: DType, value: Any) -> bool:
    """Whether combining in `dtype` is the same as combining in the promoted dtype and converting each result.

    Raises:
        DTypeError: `value` is complex, and `dtype` is not.
    """
    given = default_dtype(value) if is_scalar(value) else as_node(value).dtype
    if is_complex(given) or is_inexact(dtype):
        check_same_kind(name, given, dtype)
        return True
    promoted = np.result_type(dtype, value) if is_scalar(value) else promote_dtypes(dtype, given)
    return promoted is dtype or (given.kind in "biu" and mode in ("add", "mul"))


def _scatter_at(name: str, mode: str, x: UOp, key: Any, value: Any) -> UOp:
    """`x` with `value` combined into what the index arrays of `key` select, every index by itself."""
    parsed = parse_key(key, x.shape)
    return write_back(
        x,
        lambda node: view_of(node, parsed),
        lambda view: scattered(f"{name}.at", view, parsed, as_node(value), mode),
    )


PROTOCOLS["ufunc"] = array_ufunc
PROTOCOLS["store"] = store
