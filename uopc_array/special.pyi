"""Made from the descriptions: python -m uopc_array._functions.stubs"""

from typing import Any
import numpy as np
from uopc_array._functions.array_like import ArrayLike
from uopc_array._array.array import Array

_Out = Array | np.ndarray[Any, Any] | None
__all__ = ['erf', 'erfc']
def erf(x: ArrayLike, out: _Out = ...) -> Array: ...
def erfc(x: ArrayLike, out: _Out = ...) -> Array: ...
