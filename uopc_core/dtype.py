"""The dtypes of the graph: NumPy's own `dtype` instances, with their short names in text.

Invariant: native byte order only, so two equal dtypes are the same object and compare by identity.
"""

from typing import Any, Final, cast

import numpy as np

from uopc_core.errors import DTypeError

__all__ = [
    "DTYPES",
    "DTYPE_OF_SHORT_NAME",
    "SHORT_NAMES",
    "DType",
    "as_dtype",
    "converted",
    "dtypes",
    "is_bool",
    "is_complex",
    "is_float",
    "is_inexact",
    "is_integer",
    "is_unsigned",
    "name_of",
    "real_dtype",
]

DType = np.dtype[Any]


class dtypes:
    """Namespace of the thirteen dtypes; `dtypes.float32` is `numpy.dtype("float32")`."""

    bool: Final[DType] = np.dtype(np.bool_)
    int8: Final[DType] = np.dtype(np.int8)
    int16: Final[DType] = np.dtype(np.int16)
    int32: Final[DType] = np.dtype(np.int32)
    int64: Final[DType] = np.dtype(np.int64)
    uint8: Final[DType] = np.dtype(np.uint8)
    uint16: Final[DType] = np.dtype(np.uint16)
    uint32: Final[DType] = np.dtype(np.uint32)
    uint64: Final[DType] = np.dtype(np.uint64)
    float32: Final[DType] = np.dtype(np.float32)
    float64: Final[DType] = np.dtype(np.float64)
    complex64: Final[DType] = np.dtype(np.complex64)
    complex128: Final[DType] = np.dtype(np.complex128)


SHORT_NAMES: dict[DType, str] = {
    dtypes.bool: "bool",
    dtypes.int8: "i8",
    dtypes.int16: "i16",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.uint8: "u8",
    dtypes.uint16: "u16",
    dtypes.uint32: "u32",
    dtypes.uint64: "u64",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
    dtypes.complex64: "c64",
    dtypes.complex128: "c128",
}
DTYPE_OF_SHORT_NAME: dict[str, DType] = {name: dtype for dtype, name in SHORT_NAMES.items()}
DTYPES: tuple[DType, ...] = tuple(SHORT_NAMES)
_CANONICAL: dict[DType, DType] = {dtype: dtype for dtype in DTYPES}
_NAMES: dict[DType, str] = {dtype: dtype.name for dtype in DTYPES}


def name_of(dtype: DType) -> str:
    """What NumPy calls it. `dtype.name` itself imports at each call, which at the end of Python nobody can."""
    return _NAMES.get(dtype) or dtype.name


def as_dtype(value: Any, name: str = "dtype") -> DType:
    """The dtype that `value` (a dtype, a scalar type, a name) stands for.

    Args:
        name: the operation as the user called it, for the message.
    Raises:
        DTypeError: it is none of the thirteen.
    """
    try:
        if isinstance(value, np.dtype | type) or not hasattr(value, "shape"):
            return _CANONICAL[np.dtype(cast("Any", value))]
    except (KeyError, TypeError, ValueError):
        pass
    names = " ".join(name_of(dtype) for dtype in DTYPES)
    raise DTypeError(f"{name}: expected a dtype, one of {names}, got {_words_for(value)}")


def _words_for(value: Any) -> str:
    """`value` in a message; of an array, which has a dtype but is none, only its type."""
    if isinstance(value, np.dtype):
        return f"{value.name}; convert it before, as in np.asarray(x, np.float64)"
    if isinstance(value, type):
        return value.__name__
    return f"an array of {value.dtype}; pass its dtype" if hasattr(value, "dtype") else repr(value)


def converted(values: Any, dtype: DType) -> Any:
    """``values.astype(dtype)``, where what a float out of range becomes does not depend on its place.

    NumPy converts to uint32 in two ways, by vectors and one by one.
    """
    if dtype is dtypes.uint32 and values.dtype.kind in "fc":
        values = values.astype(np.int64)
    return values.astype(dtype)


def is_bool(dtype: DType) -> bool:
    return dtype.kind == "b"


def is_integer(dtype: DType) -> bool:
    """Signed or unsigned, not bool."""
    return dtype.kind in "iu"


def is_unsigned(dtype: DType) -> bool:
    return dtype.kind == "u"


def is_float(dtype: DType) -> bool:
    """Real floating."""
    return dtype.kind == "f"


def is_complex(dtype: DType) -> bool:
    return dtype.kind == "c"


def is_inexact(dtype: DType) -> bool:
    """Real or complex floating: what a derivative exists for."""
    return dtype.kind in "fc"


def real_dtype(dtype: DType) -> DType:
    """The dtype of the parts of a complex dtype; any other dtype is returned as it is."""
    if dtype is dtypes.complex128:
        return dtypes.float64
    if dtype is dtypes.complex64:
        return dtypes.float32
    return dtype
