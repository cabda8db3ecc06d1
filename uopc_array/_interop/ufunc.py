"""NEP 13: NumPy's ufuncs on arrays of ours are ours of the same names; other ufuncs run in NumPy, on the values."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._functions.public import ROUTES
from uopc_array._functions.ufunc import HostUfunc
from uopc_core.errors import shortened

__all__ = ["array_ufunc"]

_ARRAYS: Any = (Array, np.ndarray)


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Array.__array_ufunc__` returns; NotImplemented where another class takes part that may know better."""
    outs: tuple[Any, ...] = kwargs.get("out", ())
    if any([_takes_part(x) for x in (*inputs, *outs)]):
        return NotImplemented
    ours = ROUTES.get(ufunc)
    try:
        ours = _hosted(ufunc) if ours is None else ours
        return ours(*inputs, **kwargs) if method == "__call__" else getattr(ours, method)(*inputs, **kwargs)
    except Exception as error:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise shortened(error, name) from error.__cause__


def _takes_part(x: Any) -> bool:
    """Whether `x` knows NumPy's ufuncs, and is none of ours or of NumPy."""
    return hasattr(cast("object", type(x)), "__array_ufunc__") and not isinstance(x, (*_ARRAYS, np.generic))


@cache
def _hosted(ufunc: np.ufunc) -> HostUfunc:
    """A ufunc of another library, such as SciPy."""
    return HostUfunc(ufunc.__name__, ufunc, ufunc.__doc__ or "")
