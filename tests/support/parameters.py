"""What every parameter of every public function is: an operand, a number, part of the structure, or no number."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

import uopc_array as xp

__all__ = [
    "COMPARED",
    "DIFFERENTIABLE",
    "READ",
    "STRUCTURAL",
    "SWITCHES",
    "Parameter",
    "bound",
    "kind_of",
    "parameters",
]

Key = tuple[str, str]

X = np.asarray([[0.3, 1.7, 2.5], [1.1, 0.4, 3.2], [2.2, 0.9, 0.6]])
V = np.asarray([0.3, 1.7, 2.5, 0.4])
NAN = np.asarray([[np.nan, 1.7, np.inf], [1.1, -np.inf, np.nan]])

# no numbers of their own: arrays or what `asarray` takes, text, dtypes, switches, functions
_OPERANDS = frozenset(
    "x x1 x2 y z a b v f m a1 a2 ar arr ary array arrays arrays_and_dtypes object tup values indices condition sorter "
    "weights prepend append operands varargs other v val value args kwargs where a_min a_max xi prototype element "
    "test_elements A arys choices dst ind mask src vals".split()
)
_SWITCHES = frozenset(
    "keepdims invert descending returned stable include_initial deg endpoint equal_nan full_matrices upper retstep "
    "sparse return_index return_inverse return_counts inplace refcheck wrap".split()
)
_NO_NUMBERS = frozenset(
    "casting dtype device copy method overwrite_input mode order indexing side kind "
    "like requirements int_type ndmax sorted assume_unique optimize subscripts norm out signature stream subok from_ "
    "to shapes real imag f primals tangents has_aux static_argnames overrides fid file format sep reflect_type write "
    "align uic inline".split()
)
# axes and such of functions, which a trace is made for; numbers of arguments of the transforms come before any trace
_OF_TRANSFORMS = frozenset("argnums static_argnums in_axes out_axes".split())
_INTEGERS = frozenset(
    "axis axes axis1 axis2 k n s N M num decimals shape repeats shift source destination offset ndmin "
    "kth indices_or_sections edge_order pad_width reps stat_length new_shape".split()
)
_BY_NAME = {
    "structural": _INTEGERS,
    "switch": _SWITCHES,
    "operand": _OPERANDS,
    "other": _NO_NUMBERS | _OF_TRANSFORMS,
}
_NOT_LIKE_THEIR_NAME: dict[Key, str] = {
    ("rollaxis", "start"): "structural",
    ("where", "x1"): "operand",
    **{(name, what): "other" for name in ("matmul", "matvec", "vecmat") for what in ("axes", "axis", "keepdims")},
    ("vecdot", "axes"): "other",  # see test_vector_ufuncs
    ("linalg.tensorinv", "ind"): "structural",
    **{(path, "rcond"): "other" for path in ("linalg.lstsq", "polyfit")},  # of NumPy's own functions
    **{("polyfit", name): "other" for name in ("deg", "full", "cov")},
    ("linalg.cond", "p"): "other",
    ("einsum_path", "einsum_call"): "other",
    **{(f"linalg.{name}", "UPLO"): "other" for name in ("eigh", "eigvalsh")},
    **{("cross", name): "structural" for name in ("axisa", "axisb", "axisc")},
    ("cross", "axis"): "other",  # all three
    **{(f"linalg.{name}", "hermitian"): "other" for name in ("matrix_rank", "pinv", "svd")},
    ("linalg.svd", "compute_uv"): "switch",
    ("linalg.matrix_rank", "A"): "operand",
    ("polyfit", "w"): "operand",
    ("Array.resize", "new_shape"): "other",  # see test_memory_of_arrays
    ("Array.resize", "refcheck"): "other",
}

_SPREADS = "var std nanvar nanstd Array.var Array.std".split()

DIFFERENTIABLE: dict[Key, Any] = {
    ("pad", "constant_values"): 0.7,
    ("pad", "end_values"): 0.7,
    ("linalg.vector_norm", "ord"): 2.5,
    ("linalg.norm", "ord"): 2.5,
    ("linspace", "start"): 0.4,
    ("linspace", "stop"): 1.9,
    ("fft.fftfreq", "d"): 0.3,
    ("fft.rfftfreq", "d"): 0.3,
    ("nan_to_num", "nan"): 0.7,
    ("nan_to_num", "posinf"): 3.1,
    ("nan_to_num", "neginf"): -3.1,
    ("trapezoid", "dx"): 0.25,
    ("quantile", "q"): 0.37,
    ("percentile", "q"): 37.0,
    ("clip", "min"): 0.8,
    ("clip", "max"): 1.9,
    ("full", "fill_value"): 0.7,
    ("full_like", "fill_value"): 0.7,
    ("linalg.pinv", "rtol"): 1e-3,
    ("linalg.pinv", "rcond"): 1e-3,
    **{(name, "initial"): 0.7 for name in "sum prod nansum nanprod Array.sum Array.prod".split()},
    **{(name, "initial"): 5.0 for name in "max amax nanmax Array.max".split()},
    **{(name, "initial"): 0.1 for name in "min amin nanmin Array.min".split()},
    **{(name, what): 0.5 for name in _SPREADS for what in ("ddof", "correction")},
    **{(name, "mean"): 0.7 for name in _SPREADS},
    ("Array.clip", "min"): 0.8,
    ("Array.clip", "max"): 1.9,
}
# numbers that only decide what is True or how much is counted: of such results there is no derivative to lose
COMPARED: dict[Key, Any] = {
    ("isclose", "rtol"): 0.2,
    ("isclose", "atol"): 0.2,
    ("allclose", "rtol"): 0.2,
    ("allclose", "atol"): 0.2,
    ("linalg.matrix_rank", "rtol"): 0.3,
    ("linalg.matrix_rank", "tol"): 0.7,
}
# real numbers that the structure of the result depends on
READ: dict[Key, Any] = {
    ("arange", "start"): 0.5,
    ("arange", "stop"): 3.5,
    ("arange", "step"): 0.5,
    ("linalg.matrix_norm", "ord"): 1.0,
}

_BASE: dict[str, dict[str, Any]] = {
    "arange": {"start": 0.0, "stop": 4.0, "step": 1.0},
    "array_split": {"indices_or_sections": 2},
    "average": {"weights": None},
    "clip": {"min": 0.5, "max": 2.0},
    "compress": {"condition": np.asarray([1, 0, 1])},
    "Array.compress": {"condition": np.asarray([1, 0, 1])},
    "concat": {"arrays": [X, X]},
    "concatenate": {"arrays": [X, X]},
    "cross": {"a": X, "b": X, "axisa": 1, "axisb": 1, "axisc": 1, "axis": None},
    "dsplit": {"ary": X.reshape(1, 1, 9), "indices_or_sections": 3},
    "fft.fftfreq": {"n": 5},
    "fill_diagonal": {"val": 1.0},
    "Array.getfield": {"dtype": "float64", "offset": 0},
    "Array.setfield": {"val": 1.0, "dtype": "float64", "offset": 0},
    "fft.rfftfreq": {"n": 5},
    "full": {"shape": 3, "fill_value": 1.0},
    "full_like": {"fill_value": 1.0},
    "gradient": {"f": X, "varargs": (), "edge_order": 2},
    "diff": {"prepend": None, "append": None},
    "percentile": {"q": 37.0},
    "quantile": {"q": 0.37},
    "hsplit": {"indices_or_sections": 3},
    "isclose": {"a": X, "b": X * 1.2},
    "allclose": {"a": X, "b": X * 1.2},
    "linalg.cholesky": {"a": X @ X.T + np.eye(3)},
    "linalg.matrix_rank": {"A": X},
    "linalg.tensorsolve": {"b": X[0], "axes": (0,)},
    "linalg.tensorinv": {"ind": 1},
    "linalg.cross": {"x1": X, "x2": X},
    "linalg.matrix_norm": {"ord": 1},
    "linalg.matrix_power": {"n": 2},
    "linspace": {"start": 0.0, "stop": 2.0, "num": 5, "axis": 0},
    "moveaxis": {"source": 0, "destination": 1},
    "nan_to_num": {"x": NAN, "posinf": 2.0, "neginf": -2.0},
    "nanvar": {"a": np.where(np.isinf(NAN), 0.4, NAN)[:, :2]},
    "pad": {"kwargs": {}},
    "put_along_axis": {"indices": np.asarray([[0], [2], [1]]), "values": 1.0},
    "Array.resize": {"new_shape": (9,)},
    "searchsorted": {"a": V},
    "permute_dims": {"axes": (1, 0)},
    "rollaxis": {"axis": 1, "start": 0},
    "rot90": {"k": 1, "axes": (1, 0)},
    "reshape": {"shape": 9},
    "Array.reshape": {"shape": (9,)},
    "split": {"indices_or_sections": 3},
    "squeeze": {"a": X.reshape(3, 1, 3)},
    "Array.squeeze": {"x": X.reshape(3, 1, 3)},
    "stack": {"arrays": [X, X]},
    "take": {"indices": np.asarray([0, 2])},
    "take_along_axis": {"indices": np.asarray([[0, 2, 1]] * 3)},
    "Array.take": {"indices": np.asarray([0, 2])},
    "tensordot": {"axes": 1},
    "linalg.tensordot": {"axes": 1},
    "transpose": {"axes": (1, 0)},
    "Array.transpose": {"axes": (1, 0)},
    "vsplit": {"indices_or_sections": 3},
    "broadcast_to": {"array": V, "shape": (2, 4)},
    **{f"fft.{name}": {"n": 4} for name in "fft hfft ifft ihfft irfft rfft".split()},
    **{f"fft.{name}": {"s": (4, 4), "axes": (1, 0)} for name in "fftn ifftn irfftn rfftn".split()},
    **{f"fft.{name}": {"s": (4, 4), "axes": (1, 0)} for name in "fft2 ifft2 irfft2 rfft2".split()},
    **{f"{name}": {"x1": X, "x2": X} for name in ("vecdot", "linalg.vecdot")},
    "vecdot": {"x1": X, "x2": X, "axes": getattr(np, "_NoValue", None)},
}
# what goes with one parameter
_WITH: dict[Key, dict[str, Any]] = {
    ("pad", "end_values"): {"mode": "linear_ramp"},
    ("pad", "stat_length"): {"mode": "mean", "stat_length": 2},
}
# of the parameters that stand in no `_BASE`
_VALUES: dict[str, Any] = {
    "axis": 1, "axis1": 1, "axis2": 0, "axes": 1, "k": 1, "n": 2, "N": 3, "M": 3, "kth": 1,
    "decimals": 1, "offset": 1, "shape": 3, "repeats": 2, "reps": 2, "new_shape": 9, "shift": 1,
    "ndmin": 3, "pad_width": 1,
    "edge_order": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One parameter of one public function.

    Attributes:
        function: its path below `uopc_array`; methods below `Array`.
    """

    function: str
    name: str
    annotation: str

    def __str__(self) -> str:
        return f"{self.function}({self.name})"

    @property
    def key(self) -> Key:
        return self.function, self.name


def _public() -> Iterator[tuple[str, Callable[..., Any]]]:
    for prefix, space in (("", xp), ("linalg.", xp.linalg), ("fft.", xp.fft)):
        for name in space.__all__:
            value = getattr(space, name)
            if callable(value) and not isinstance(value, type):
                yield prefix + name, value
    for name in dir(xp.Array):
        value = getattr(xp.Array, name)
        if callable(value) and not name.startswith("_"):
            yield f"Array.{name}", value


def parameters() -> list[Parameter]:
    """Every parameter of everything public that is called."""
    return [
        Parameter(path, p.name, str(p.annotation))
        for path, function in _public()
        for p in inspect.signature(function).parameters.values()
        if p.name != "self"
    ]


def kind_of(p: Parameter) -> str | None:
    """What a parameter is; None where this table does not say."""
    if p.key in _NOT_LIKE_THEIR_NAME:
        return _NOT_LIKE_THEIR_NAME[p.key]
    for kind, table in (("differentiable", DIFFERENTIABLE), ("compared", COMPARED), ("read", READ)):
        if p.key in table:
            return kind
    return next((kind for kind, names in _BY_NAME.items() if p.name in names), None)


STRUCTURAL = [p for p in parameters() if kind_of(p) == "structural"]
SWITCHES = [p for p in parameters() if kind_of(p) == "switch"]


def bound(p: Parameter, dtype: str = "float64") -> tuple[Callable[[Any], Any], Any]:
    """The function as one of this parameter alone, and a value for it."""
    function = attrgetter(p.function)(xp)
    signature = inspect.signature(function)
    arguments = {name: _argument(p.function, q, dtype) for name, q in signature.parameters.items()}
    arguments |= _WITH.get(p.key, {})

    def call(value: Any) -> Any:
        given = signature.bind_partial()
        named = arguments | {p.name: value}
        given.arguments = {n: named[n] for n in signature.parameters if named[n] is not inspect.Parameter.empty}
        out = function(*given.args, **given.kwargs)
        return next(iter(given.arguments.values())) if out is None else out

    table = DIFFERENTIABLE | COMPARED | READ
    return call, table[p.key] if p.key in table else arguments[p.name]


def _argument(function: str, p: inspect.Parameter, dtype: str) -> Any:
    """What is given for a parameter: its value in the tables, a matrix for an operand that has no default."""
    base = _BASE.get(function, {})
    name = "x" if p.name == "self" else p.name
    value = base[name] if name in base else _VALUES.get(name, p.default) if name in _INTEGERS else p.default
    if value is inspect.Parameter.empty and (name in _OPERANDS or p.name == "self"):
        value = X
    if isinstance(value, np.ndarray):
        return xp.asarray(value if value.dtype.kind == "i" else value.astype(dtype))
    if isinstance(value, list):
        return [xp.asarray(item.astype(dtype)) for item in value]
    return value
