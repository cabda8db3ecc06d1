"""Arrays of other libraries: recognised by array_api_compat, taken over by DLPack where they lie in memory of the CPU
and have values, and refused with the library's own word for that where not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from uopc_core.errors import DTypeError, GradientError, TraceError, shortened
from uopc_core.lazy import LazyModule

__all__ = ["is_operand", "numbers_of"]

array_api_compat: Any = LazyModule("array_api_compat")
NumPyArray = np.ndarray[Any, Any]

_HOST_DEVICES = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost: memory that the CPU reads
# What to write to have values in memory of the CPU.
_REMEDIES = {
    "torch": "x.detach().cpu(), in a dtype of NumPy's",
    "jax": "jax.device_get(x), in a dtype of NumPy's",
    "cupy": "x.get()",
    "dask": "x.compute()",
    "ndonnx": "x.unwrap_numpy(), of an array that has values",
    "sparse": "x.todense()",
    "dpnp": "dpnp.asnumpy(x)",
}
_TEXT = (str, bytes, bytearray)


def _library_of(x: object) -> str | None:
    """The library whose array `x` is, other than NumPy and this one; None where it is none."""
    known: dict[str, Callable[[object], bool]] = {
        "torch": array_api_compat.is_torch_array,
        "jax": array_api_compat.is_jax_array,
        "cupy": array_api_compat.is_cupy_array,
        "dask": array_api_compat.is_dask_array,
        "ndonnx": array_api_compat.is_ndonnx_array,
        "sparse": array_api_compat.is_pydata_sparse_array,
    }
    for name, is_one in known.items():
        if is_one(x):
            return name
    return str(type(x).__module__).partition(".")[0] if array_api_compat.is_array_api_obj(x) else None


def is_operand(x: Any, ours: type) -> bool:
    """Whether an operator takes `x` for an array, as NumPy's would: an array of another library, an object with
    ``__array__`` or DLPack, a sequence; not what knows NumPy's ufuncs itself, and may know better.

    Raises:
        TypeError: an array of dask, which does not know that `ours` can be its chunks.
    """
    if isinstance(x, _TEXT) or x is None:
        return False
    kind = cast("object", type(x))
    library = _library_of(x)
    if library == "dask":
        _refuse_unless_chunk(ours)
    if hasattr(kind, "__array_ufunc__") and library != "cupy":
        return False
    if library is not None or hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
        return True
    return isinstance(x, Sequence | memoryview)


def _refuse_unless_chunk(ours: type) -> None:
    chunk_types: Any = sys.modules.get("dask.array.chunk_types")
    if chunk_types is None or not chunk_types.is_valid_chunk_type(ours):
        raise TypeError(
            f"an operator got an array of dask and one of uopc_array; pass {_REMEDIES['dask']}, or have dask take both "
            "by dask.array.chunk_types.register_chunk_type(uopc_array.Array)"
        )


def _values_of(name: str, x: Any, library: str) -> NumPyArray:
    """The values of an array of `library`: its memory, where that can be read.

    Args:
        name: the operation as the user called it.
    Raises:
        TraceError: it is traced, and has no values.
        GradientError: it is under differentiation by its library, which would be lost.
        TypeError: it lies on another device, or cannot be exported.
    """
    _refuse_tracked(name, x, library)
    try:
        if not hasattr(x, "__dlpack__"):
            return np.asarray(x)
        device = x.__dlpack_device__()
        if device[0] in _HOST_DEVICES:
            return cast("NumPyArray", np.from_dlpack(x))
        why = f"it lies on another device, {getattr(x, 'device', device)}"
    except Exception as error:
        why = str(shortened(error)).partition("\n")[0] or type(error).__name__
    remedy = _REMEDIES.get(library, "a copy of it in memory of the CPU, as a NumPy array")
    raise TypeError(f"{name}: an array of {library} cannot be taken over: {why}; pass {remedy}")


def _refuse_tracked(name: str, x: Any, library: str) -> None:
    tracer = getattr(getattr(sys.modules.get("jax"), "core", None), "Tracer", None)
    if library == "jax" and isinstance(tracer, type) and isinstance(x, tracer):
        raise TraceError(
            f"{name}: an array that jax is tracing (in jax.jit, jax.grad or jax.vmap) has no value; compute outside of "
            "the traced function, or call this from it with jax.pure_callback"
        )
    if library == "torch" and getattr(x, "requires_grad", False):
        raise GradientError(
            f"{name}: a tensor of torch that requires a gradient would lose it here; pass x.detach() if it is meant to "
            "be constant"
        )


def numbers_of(name: str, x: Any) -> NumPyArray:
    """The values of an object that knows one of the exchange protocols, or of a sequence that is no list.

    Raises:
        DTypeError: they are no numbers.
    """
    library = _library_of(x)
    if library is not None:
        return _values_of(name, x, library)
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    array = np.asarray(x)
    if array.dtype.kind not in "biufc":
        raise DTypeError(
            f"{name}: expected numbers, an array or nested sequences of them, got {x!r:.60} ({type(x).__name__})"
        )
    return array
