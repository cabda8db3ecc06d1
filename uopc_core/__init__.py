"""Graphs of whole-array operations: built, differentiated, planned, compiled and run. The public names of the layers below."""

from uopc_core import errors
from uopc_core.dtype import (
    DTYPES,
    DType,
    as_dtype,
    dtypes,
    is_bool,
    is_complex,
    is_float,
    is_inexact,
    is_integer,
    is_unsigned,
    real_dtype,
)
from uopc_core.extern.sorting import argsort_last_axis, searchsorted_vector, sort_last_axis
from uopc_core.ir import (
    EXTERNS,
    TRACED,
    TRACKED,
    Extern,
    Ops,
    Scalar,
    TensorType,
    UOp,
    composite,
    register_extern,
    toposort,
)

MAX_DEPTH = 1000

__all__ = [
    "DTYPES",
    "EXTERNS",
    "MAX_DEPTH",
    "TRACED",
    "TRACKED",
    "DType",
    "Extern",
    "Ops",
    "Scalar",
    "TensorType",
    "UOp",
    "argsort_last_axis",
    "as_dtype",
    "composite",
    "dtypes",
    "errors",
    "is_bool",
    "is_complex",
    "is_float",
    "is_inexact",
    "is_integer",
    "is_unsigned",
    "real_dtype",
    "register_extern",
    "searchsorted_vector",
    "sort_last_axis",
    "toposort",
]
