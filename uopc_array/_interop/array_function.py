"""NEP 18: NumPy's other functions on arrays of ours, and ``like=``.

A function of the namespace with NumPy's name and a signature that takes the call stands in for NumPy's; where NumPy's
arguments differ an adapter translates them. What is left runs in NumPy on the values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.namespace import PROTOCOLS, call, find_function
from uopc_array._array.nodes import as_node
from uopc_array._array.numbers import is_sequence
from uopc_array._functions.host import call_host, to_host
from uopc_array._functions.outputs import store
from uopc_array._functions.public import ROUTES
from uopc_core.errors import shortened

__all__ = ["array_function"]

_NO_VALUE = getattr(np, "_NoValue", None)


def array_function(
    function: Callable[..., Any], types: Collection[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What `Array.__array_function__` returns; NotImplemented where another class takes part that may know better."""
    if not all(issubclass(t, Array | np.ndarray) for t in types):
        return NotImplemented
    path = _path(function)
    kwargs = {name: value for name, value in kwargs.items() if value is not _NO_VALUE}
    try:
        public = ROUTES.get(function)
        if public is not None:
            return public(*args, **kwargs)
        out = kwargs.pop("out", None)
        if out is None:
            return _compute(path, function, args, kwargs)
        casting = "unsafe" if path in _UNSAFE else kwargs.pop("casting", "same_kind")
        result = _compute(path, function, args, kwargs)
        return store(path, result, out[0] if isinstance(out, tuple) else out, casting)
    except Exception as error:
        raise shortened(error, function.__name__) from error.__cause__


def _path(function: Callable[..., Any]) -> str:
    """``numpy.linalg.det`` -> ``linalg.det``."""
    module = function.__module__.removeprefix("numpy").removeprefix(".")
    return f"{module}.{function.__name__}" if module else function.__name__


def _compute(path: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if path.startswith("fft.") and "norm" in kwargs and kwargs["norm"] is None:
        del kwargs["norm"]
    adapter = _ADAPTERS.get(path)
    if adapter is not None and (not kwargs or _takes(adapter, args, kwargs)):
        return adapter(*args, **kwargs)
    ours = find_function(path)
    if ours is not None and _takes(ours, args, kwargs):
        return ours(*args, **kwargs)
    return call_host(f"numpy.{path}", function, args, kwargs)


_signature = cache(inspect.signature)


def _takes(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        _signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


# ------------------------------------------------------------------------------------------- NumPy's ways of calling


def _array(x: Any) -> Array:
    return x if isinstance(x, Array) else Array._from_uop(as_node(x))


def _method(name: str) -> Callable[..., Any]:
    """The method of the array of this name, which has NumPy's signature but for what it does not know."""

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(_array(a), name)(*args, **kwargs)

    a, *others = inspect.signature(getattr(Array, name)).parameters.values()
    function.__signature__ = inspect.Signature([a.replace(name="a"), *others])  # pyright: ignore[reportFunctionMemberAccess]
    return function


def _qr(a: Any, mode: str = "reduced") -> Any:
    if mode == "r":
        return find_function("linalg.qr")(_array(a)).R
    if mode in ("reduced", "complete"):
        return find_function("linalg.qr")(_array(a), mode=mode)
    return call_host("numpy.linalg.qr", np.linalg.qr, (a, mode), {})


def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if _array(A).ndim < 2 or tol is not None or hermitian:
        return call_host("numpy.linalg.matrix_rank", np.linalg.matrix_rank, (A, tol, hermitian), {"rtol": rtol})
    return find_function("linalg.matrix_rank")(_array(A), rtol=rtol)


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    axes = (-1, -1, -1) if axis is None and (axisa, axisb, axisc) == (-1, -1, -1) else (axis,) * 3
    extents = [x.shape[axes[0]] for x in (_array(a), _array(b)) if axes[0] is not None and -x.ndim <= axes[0] < x.ndim]
    if extents == [3, 3]:
        return call("cross", _array(a), _array(b), axis=axes[0])
    return call_host("numpy.cross", np.cross, (a, b, axisa, axisb, axisc, axis), {})


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _array(x)
    one_axis = axis is not None and not is_sequence(axis)
    if ord is None or one_axis or x.ndim == 1:
        return find_function("linalg.vector_norm")(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    if axis is None and x.ndim == 2:
        return find_function("linalg.matrix_norm")(x, keepdims=keepdims, ord=ord)
    return call_host("numpy.linalg.norm", np.linalg.norm, (x, ord, axis, keepdims), {})


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if hermitian:
        return call_host("numpy.linalg.svd", np.linalg.svd, (a, full_matrices, compute_uv, True), {})
    if not compute_uv:
        return find_function("linalg.svdvals")(_array(a))
    return find_function("linalg.svd")(_array(a), full_matrices=full_matrices)


def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if rcond is not None and rtol is not None:
        raise ValueError(f"pinv: expected one tolerance, got rcond={rcond!r:.60} and rtol={rtol!r:.60}")
    tolerance = rtol if rcond is None else rcond
    if hermitian:
        return call_host("numpy.linalg.pinv", np.linalg.pinv, (a, tolerance, True), {})
    return find_function("linalg.pinv")(_array(a), rtol=tolerance)


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    _refuse_infinities("lstsq", a)
    return call_host("numpy.linalg.lstsq", np.linalg.lstsq, (a, b, rcond), {})


def _polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    largest, weight = (np.max(np.abs(to_host("numpy.polyfit", v)), initial=0) + 0.0 for v in (x, 1 if w is None else w))
    _refuse_infinities("polyfit", largest, weight, largest ** int(deg) * weight)
    return call_host("numpy.polyfit", np.polyfit, (x, y, deg, rcond, full, w, cov), {})


def _refuse_infinities(name: str, *operands: Any) -> None:
    """LAPACK may not come back from the least squares of an infinite matrix."""
    if any(np.isinf(to_host(f"numpy.{name}", x)).any() for x in operands):
        raise np.linalg.LinAlgError(f"{name}: SVD did not converge in Linear Least Squares, of an infinite matrix")


# these store in `out` whatever its dtype, as NumPy's do
_UNSAFE = frozenset({"trace"})

_ADAPTERS: dict[str, Callable[..., Any]] = {
    "trace": _method("trace"),
    "cross": _cross,
    "linalg.lstsq": _lstsq,
    "linalg.matrix_rank": _matrix_rank,
    "linalg.norm": _norm,
    "linalg.pinv": _pinv,
    "linalg.qr": _qr,
    "linalg.svd": _svd,
    "polyfit": _polyfit,
}

PROTOCOLS["function"] = array_function
