"""Made from the descriptions: python -m uopc_array._functions.stubs"""

from typing import Any
import numpy as np
from uopc_array._functions.arguments import ArrayLike
from uopc_array._functions.arguments import AxisLike
from uopc_array._array.array import Array
from uopc_array._functions.ufunc import BinaryUfunc
from uopc_array._functions.ufunc import HostUfunc
from uopc_array._functions.ufunc import PairUfunc
from uopc_array._functions.ufunc import UnaryUfunc

_Out = Array | np.ndarray[Any, Any] | None
__all__ = ['abs', 'absolute', 'acos', 'acosh', 'add', 'all', 'amax', 'amin', 'angle', 'any', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctan2', 'arctanh', 'argmax', 'argmin', 'around', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'average', 'bitwise_and', 'bitwise_count', 'bitwise_invert', 'bitwise_left_shift', 'bitwise_not', 'bitwise_or', 'bitwise_right_shift', 'bitwise_xor', 'cbrt', 'ceil', 'clip', 'conj', 'conjugate', 'copysign', 'cos', 'cosh', 'count_nonzero', 'cumprod', 'cumsum', 'cumulative_prod', 'cumulative_sum', 'deg2rad', 'degrees', 'diff', 'divide', 'divmod', 'equal', 'exp', 'exp2', 'expm1', 'fabs', 'float_power', 'floor', 'floor_divide', 'fmax', 'fmin', 'fmod', 'frexp', 'gcd', 'gradient', 'greater', 'greater_equal', 'heaviside', 'hypot', 'imag', 'invert', 'isfinite', 'isinf', 'isnan', 'isnat', 'isneginf', 'isposinf', 'lcm', 'ldexp', 'left_shift', 'less', 'less_equal', 'log', 'log10', 'log1p', 'log2', 'logaddexp', 'logaddexp2', 'logical_and', 'logical_not', 'logical_or', 'logical_xor', 'max', 'maximum', 'mean', 'median', 'min', 'minimum', 'mod', 'modf', 'multiply', 'nan_to_num', 'nancumprod', 'nancumsum', 'nanmax', 'nanmean', 'nanmedian', 'nanmin', 'nanprod', 'nanstd', 'nansum', 'nanvar', 'negative', 'nextafter', 'nonzero', 'not_equal', 'percentile', 'positive', 'pow', 'power', 'prod', 'ptp', 'quantile', 'rad2deg', 'radians', 'real', 'reciprocal', 'remainder', 'right_shift', 'rint', 'round', 'searchsorted', 'sign', 'signbit', 'sin', 'sinc', 'sinh', 'spacing', 'sqrt', 'square', 'std', 'subtract', 'sum', 'tan', 'tanh', 'trapezoid', 'true_divide', 'trunc', 'var', 'where']
abs: UnaryUfunc
absolute: UnaryUfunc
acos: UnaryUfunc
acosh: UnaryUfunc
add: BinaryUfunc
def all(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., *, where: ArrayLike = ...) -> Array: ...
def amax(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def amin(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def angle(z: ArrayLike, deg: bool = ...) -> Array: ...
def any(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., *, where: ArrayLike = ...) -> Array: ...
arccos: UnaryUfunc
arccosh: UnaryUfunc
arcsin: UnaryUfunc
arcsinh: UnaryUfunc
arctan: UnaryUfunc
arctan2: BinaryUfunc
arctanh: UnaryUfunc
def argmax(a: ArrayLike, axis: int | None = ..., out: _Out = ..., *, keepdims: bool = ...) -> Array: ...
def argmin(a: ArrayLike, axis: int | None = ..., out: _Out = ..., *, keepdims: bool = ...) -> Array: ...
def around(a: ArrayLike, decimals: int = ..., out: _Out = ...) -> Array: ...
asin: UnaryUfunc
asinh: UnaryUfunc
atan: UnaryUfunc
atan2: BinaryUfunc
atanh: UnaryUfunc
def average(a: ArrayLike, axis: AxisLike = ..., weights: ArrayLike | None = ..., returned: bool = ..., *, keepdims: bool = ...) -> Any: ...
bitwise_and: BinaryUfunc
bitwise_count: HostUfunc
bitwise_invert: UnaryUfunc
bitwise_left_shift: BinaryUfunc
bitwise_not: UnaryUfunc
bitwise_or: BinaryUfunc
bitwise_right_shift: BinaryUfunc
bitwise_xor: BinaryUfunc
cbrt: UnaryUfunc
ceil: UnaryUfunc
def clip(a: ArrayLike, min: ArrayLike | None = ..., max: ArrayLike | None = ..., out: _Out = ..., *, a_min: ArrayLike | None = ..., a_max: ArrayLike | None = ..., where: ArrayLike = ..., casting: str = ..., order: str = ..., dtype: Any = ..., subok: bool = ..., signature: Any = ...) -> Array: ...
conj: UnaryUfunc
conjugate: UnaryUfunc
copysign: BinaryUfunc
cos: UnaryUfunc
cosh: UnaryUfunc
def count_nonzero(a: ArrayLike, axis: AxisLike = ..., *, keepdims: bool = ...) -> Array: ...
def cumprod(a: ArrayLike, axis: int | None = ..., dtype: Any = ..., out: _Out = ...) -> Array: ...
def cumsum(a: ArrayLike, axis: int | None = ..., dtype: Any = ..., out: _Out = ...) -> Array: ...
def cumulative_prod(x: ArrayLike, /, *, axis: int | None = ..., dtype: Any = ..., out: _Out = ..., include_initial: bool = ...) -> Array: ...
def cumulative_sum(x: ArrayLike, /, *, axis: int | None = ..., dtype: Any = ..., out: _Out = ..., include_initial: bool = ...) -> Array: ...
deg2rad: UnaryUfunc
degrees: UnaryUfunc
def diff(a: ArrayLike, n: int = ..., axis: int = ..., prepend: ArrayLike | None = ..., append: ArrayLike | None = ...) -> Array: ...
divide: BinaryUfunc
divmod: PairUfunc
equal: BinaryUfunc
exp: UnaryUfunc
exp2: UnaryUfunc
expm1: UnaryUfunc
fabs: UnaryUfunc
float_power: BinaryUfunc
floor: UnaryUfunc
floor_divide: BinaryUfunc
fmax: BinaryUfunc
fmin: BinaryUfunc
fmod: BinaryUfunc
frexp: HostUfunc
gcd: HostUfunc
def gradient(f: ArrayLike, *varargs: ArrayLike, axis: AxisLike = ..., edge_order: int = ...) -> Any: ...
greater: BinaryUfunc
greater_equal: BinaryUfunc
heaviside: BinaryUfunc
hypot: BinaryUfunc
def imag(val: ArrayLike) -> Array: ...
invert: UnaryUfunc
isfinite: UnaryUfunc
isinf: UnaryUfunc
isnan: UnaryUfunc
isnat: HostUfunc
def isneginf(x: ArrayLike, out: _Out = ...) -> Array: ...
def isposinf(x: ArrayLike, out: _Out = ...) -> Array: ...
lcm: HostUfunc
ldexp: HostUfunc
left_shift: BinaryUfunc
less: BinaryUfunc
less_equal: BinaryUfunc
log: UnaryUfunc
log10: UnaryUfunc
log1p: UnaryUfunc
log2: UnaryUfunc
logaddexp: BinaryUfunc
logaddexp2: BinaryUfunc
logical_and: BinaryUfunc
logical_not: UnaryUfunc
logical_or: BinaryUfunc
logical_xor: BinaryUfunc
def max(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
maximum: BinaryUfunc
def mean(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., keepdims: bool = ..., *, where: ArrayLike = ...) -> Array: ...
def median(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., overwrite_input: bool = ..., keepdims: bool = ...) -> Array: ...
def min(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
minimum: BinaryUfunc
mod: BinaryUfunc
modf: HostUfunc
multiply: BinaryUfunc
def nan_to_num(x: ArrayLike, copy: bool = ..., nan: ArrayLike = ..., posinf: ArrayLike | None = ..., neginf: ArrayLike | None = ...) -> Array: ...
def nancumprod(a: ArrayLike, axis: int | None = ..., dtype: Any = ..., out: _Out = ...) -> Array: ...
def nancumsum(a: ArrayLike, axis: int | None = ..., dtype: Any = ..., out: _Out = ...) -> Array: ...
def nanmax(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def nanmean(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., keepdims: bool = ..., *, where: ArrayLike = ...) -> Array: ...
def nanmedian(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., overwrite_input: bool = ..., keepdims: bool = ...) -> Array: ...
def nanmin(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def nanprod(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def nanstd(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., ddof: ArrayLike = ..., keepdims: bool = ..., *, where: ArrayLike = ..., mean: ArrayLike | None = ..., correction: ArrayLike | None = ...) -> Array: ...
def nansum(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def nanvar(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., ddof: ArrayLike = ..., keepdims: bool = ..., *, where: ArrayLike = ..., mean: ArrayLike | None = ..., correction: ArrayLike | None = ...) -> Array: ...
negative: UnaryUfunc
nextafter: BinaryUfunc
def nonzero(a: ArrayLike) -> tuple[Array, ...]: ...
not_equal: BinaryUfunc
def percentile(a: ArrayLike, q: ArrayLike, axis: AxisLike = ..., out: _Out = ..., overwrite_input: bool = ..., method: str = ..., keepdims: bool = ..., *, weights: Any = ...) -> Array: ...
positive: UnaryUfunc
pow: BinaryUfunc
power: BinaryUfunc
def prod(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
def ptp(a: ArrayLike, axis: AxisLike = ..., out: _Out = ..., keepdims: bool = ...) -> Array: ...
def quantile(a: ArrayLike, q: ArrayLike, axis: AxisLike = ..., out: _Out = ..., overwrite_input: bool = ..., method: str = ..., keepdims: bool = ..., *, weights: Any = ...) -> Array: ...
rad2deg: UnaryUfunc
radians: UnaryUfunc
def real(val: ArrayLike) -> Array: ...
reciprocal: UnaryUfunc
remainder: BinaryUfunc
right_shift: BinaryUfunc
rint: UnaryUfunc
def round(a: ArrayLike, decimals: int = ..., out: _Out = ...) -> Array: ...
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = ..., sorter: ArrayLike | None = ...) -> Array: ...
sign: UnaryUfunc
signbit: UnaryUfunc
sin: UnaryUfunc
def sinc(x: ArrayLike) -> Array: ...
sinh: UnaryUfunc
spacing: HostUfunc
sqrt: UnaryUfunc
square: UnaryUfunc
def std(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., ddof: ArrayLike = ..., keepdims: bool = ..., *, where: ArrayLike = ..., mean: ArrayLike | None = ..., correction: ArrayLike | None = ...) -> Array: ...
subtract: BinaryUfunc
def sum(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., keepdims: bool = ..., initial: ArrayLike | None = ..., where: ArrayLike = ...) -> Array: ...
tan: UnaryUfunc
tanh: UnaryUfunc
def trapezoid(y: ArrayLike, x: ArrayLike | None = ..., dx: ArrayLike = ..., axis: int = ...) -> Array: ...
true_divide: BinaryUfunc
trunc: UnaryUfunc
def var(a: ArrayLike, axis: AxisLike = ..., dtype: Any = ..., out: _Out = ..., ddof: ArrayLike = ..., keepdims: bool = ..., *, where: ArrayLike = ..., mean: ArrayLike | None = ..., correction: ArrayLike | None = ...) -> Array: ...
def where(condition: ArrayLike, x: ArrayLike | None = ..., y: ArrayLike | None = ..., /) -> Any: ...
