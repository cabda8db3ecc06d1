"""NumPy that is lazy, fused, compiled and differentiable: the array API standard 2025.12 and more of NumPy."""

# ruff: noqa: F403 (a chapter says in its own __all__ what it exports; listing 300 names twice more would hide the chapters)

import sys as _sys
from types import FunctionType as _FunctionType
from typing import Any as _Any

from numpy import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

from uopc_array import fft, linalg, special
from uopc_array._array.array import Array
from uopc_array._array.protocols import connect as _connect
from uopc_array._functions import namespace as _namespace_of_functions
from uopc_array._functions.constants import e, inf, nan, newaxis, pi
from uopc_array._functions.host import log_host_calls
from uopc_array._functions.namespace import *
from uopc_array._functions.public import ROUTES as _ROUTES
from uopc_array._functions.ufunc import ufunc
from uopc_array._interop.array_function import array_function as _array_function
from uopc_array._interop.numpy_names import numpy_dir as _numpy_dir
from uopc_array._interop.numpy_names import numpy_name as _numpy_name
from uopc_array._interop.ufunc import array_ufunc as _array_ufunc
from uopc_array._transforms.checkpoint import checkpoint
from uopc_array._transforms.explain import explain, show_config
from uopc_array._transforms.grad import grad, jvp, stop_gradient, value_and_grad, vjp
from uopc_array._transforms.jit import jit
from uopc_array._transforms.vmap import hessian, jacfwd, jacrev, vmap
from uopc_core import context
from uopc_core.lazy import LazyModule as _LazyModule

__all__ = [
    "Array",
    "__array_api_version__",
    "__version__",
    "bool",
    "checkpoint",
    "complex64",
    "complex128",
    "context",
    "e",
    "explain",
    "fft",
    "float32",
    "float64",
    "grad",
    "hessian",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "linalg",
    "log_host_calls",
    "nan",
    "newaxis",
    "pi",
    "show_config",
    "special",
    "stop_gradient",
    "ufunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "value_and_grad",
    "vjp",
    "vmap",
]
__all__ += _namespace_of_functions.__all__


__array_api_version__ = "2025.12"
__version__ = "0.1.0"

# what messages, help and pickles name
for _public in (
    *(Array, ufunc, checkpoint, explain, grad, hessian, jacfwd, jacrev, jit, jvp),
    *(log_host_calls, show_config, stop_gradient, value_and_grad, vjp, vmap),
):
    _public.__module__ = __name__

_connect(_sys.modules[__name__], ufunc=_array_ufunc, function=_array_function, routes=_ROUTES)

# NumPy's counterparts load late: they cost as much as the rest of the package, and few programs need them
lib = _LazyModule("uopc_array.lib")
random = _LazyModule("uopc_array.random")
testing = _LazyModule("uopc_array.testing")
__all__ += ["lib", "random", "testing"]


def __getattr__(name: str) -> _Any:
    """NumPy's other names (PEP 562); functions are found at once from then on."""
    found = _numpy_name("", name)
    if type(found) is _FunctionType:
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_numpy_dir("")})
