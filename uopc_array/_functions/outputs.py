"""`out`: a result put into an array that is there already, of ours or of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from uopc_array._host import to_host
from uopc_array._nodes import as_node, cast_node
from uopc_array._operators import check_same_kind
from uopc_array._promotion import check_cast
from uopc_array.array import Array
from uopc_core import as_dtype
from uopc_core.errors import ShapeError

__all__ = ["store"]

_ARRAYS: Any = (Array, np.ndarray)


def store(name: str, x: Any, out: Any, casting: Any = "same_kind") -> Any:
    """`x` in `out`, an array of ours or of NumPy of that shape and of a dtype that `casting` allows; returns `out`."""
    if not isinstance(out, _ARRAYS):
        raise TypeError(f"{name}: expected an array for out, got {type(out).__name__}")
    if isinstance(out, Array):
        out._refuse_number(f"{name}: out")
    node = as_node(x)
    wanted = as_dtype(out.dtype)
    if casting == "same_kind":
        check_same_kind(name, node.dtype, wanted)
    else:
        check_cast(name, node.dtype, wanted, casting)
    if isinstance(out, Array):
        if node.shape != out.shape:
            raise ShapeError(f"{name}: the result of shape {node.shape} does not fit out of shape {out.shape}")
        out._write(cast_node(node, wanted, name))
    else:
        np.copyto(out, to_host(name, Array._array_from_uop(node)), casting=casting)
    return out
