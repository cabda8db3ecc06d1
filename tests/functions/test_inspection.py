"""The names and signatures of the standard 2025.12, as data, and what the namespace says of itself."""

import inspect
import math
from operator import attrgetter
from typing import Any

import array_api_compat
import numpy as np
import pytest

import uopc_array as xp
from tests.support.errors import arguments_of
from tests.support.reference import ALL, BOOL, COMPLEX, FLOATS, INTEGERS, NUMERIC, SIGNED, UNSIGNED, check

# parameters, then the functions that have them; what follows a * is passed by keyword
SIGNATURES: dict[str, str] = {
    "start, /, stop=None, step=1, *, dtype=None, device=None": "arange",
    "obj, /, *, dtype=None, device=None, copy=None": "asarray",
    "shape, *, dtype=None, device=None": "empty ones zeros",
    "x, /, *, dtype=None, device=None": "empty_like ones_like zeros_like",
    "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None": "eye",
    "x, /, *, device=None, copy=None": "from_dlpack",
    "shape, fill_value, *, dtype=None, device=None": "full",
    "x, /, fill_value, *, dtype=None, device=None": "full_like",
    "start, stop, /, num, *, dtype=None, device=None, endpoint=True": "linspace",
    "*arrays, indexing='xy'": "meshgrid",
    "x, /, *, k=0": "tril triu",
    "x, dtype, /, *, copy=True, device=None": "astype",
    "from_, to, /": "can_cast",
    "type, /": "finfo iinfo",
    "dtype, kind": "isdtype",
    "*arrays_and_dtypes": "result_type",
    "x, /": (
        "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite "
        "isinf isnan log log1p log2 log10 logical_not matrix_transpose negative nonzero positive real "
        "reciprocal round sign signbit sin sinh sqrt square tan tanh trunc unique_all unique_counts "
        "unique_inverse unique_values linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh "
        "linalg.inv linalg.matrix_transpose linalg.slogdet linalg.svdvals"
    ),
    "x1, x2, /": (
        "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide "
        "equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or "
        "logical_xor matmul maximum minimum multiply nextafter not_equal pow remainder subtract linalg.matmul "
        "linalg.outer linalg.solve"
    ),
    "x, /, min=None, max=None": "clip",
    "x, indices, /, *, axis=None": "take",
    "x, indices, /, *, axis=-1": "take_along_axis",
    "x1, x2, /, *, axes=2": "tensordot linalg.tensordot",
    "x1, x2, /, *, axis=-1": "vecdot linalg.cross linalg.vecdot",
    "*arrays": "broadcast_arrays",
    "*shapes": "broadcast_shapes",
    "x, /, shape": "broadcast_to",
    "arrays, /, *, axis=0": "concat stack",
    "x, /, axis": "expand_dims squeeze",
    "x, /, *, axis=None": "flip",
    "x, source, destination, /": "moveaxis",
    "x, /, axes": "permute_dims",
    "x, repeats, /, *, axis=None": "repeat",
    "x, /, shape, *, copy=None": "reshape",
    "x, /, shift, *, axis=None": "roll",
    "x, repetitions, /": "tile",
    "x, /, *, axis=0": "unstack",
    "x, /, *, axis=None, keepdims=False": "all any argmax argmin count_nonzero max mean min",
    "x1, x2, /, *, side='left', sorter=None": "searchsorted",
    "condition, x1, x2, /": "where",
    "x1, x2, /, *, invert=False": "isin",
    "x, /, *, axis=-1, descending=False, stable=True": "argsort sort",
    "x, /, *, axis=None, dtype=None, include_initial=False": "cumulative_prod cumulative_sum",
    "x, /, *, axis=None, dtype=None, keepdims=False": "prod sum",
    "x, /, *, axis=None, correction=0.0, keepdims=False": "std var",
    "x, /, *, axis=-1, n=1, prepend=None, append=None": "diff",
    "x, /, *, upper=False": "linalg.cholesky",
    "x, /, *, offset=0": "linalg.diagonal",
    "x, /, *, keepdims=False, ord='fro'": "linalg.matrix_norm",
    "x, n, /": "linalg.matrix_power",
    "x, /, *, rtol=None": "linalg.matrix_rank linalg.pinv",
    "x, /, *, mode='reduced'": "linalg.qr",
    "x, /, *, full_matrices=True": "linalg.svd",
    "x, /, *, offset=0, dtype=None": "linalg.trace",
    "x, /, *, axis=None, keepdims=False, ord=2": "linalg.vector_norm",
    "x, /, *, n=None, axis=-1, norm='backward'": "fft.fft fft.hfft fft.ifft fft.ihfft fft.irfft fft.rfft",
    "x, /, *, s=None, axes=None, norm='backward'": "fft.fftn fft.ifftn fft.irfftn fft.rfftn",
    "n, /, *, d=1.0, dtype=None, device=None": "fft.fftfreq fft.rfftfreq",
    "x, /, *, axes=None": "fft.fftshift fft.ifftshift",
}
# where NumPy's other name of it has the default, or what NumPy has for "not given" means the default of the standard
OTHER_DEFAULTS = {
    *((name, "correction") for name in ("std", "var")),
    *((name, "stable") for name in ("sort", "argsort")),
    ("vecdot", "axis"),
    *((f"fft.{name}", "norm") for name in "fft fftn hfft ifft ifftn ihfft irfft irfftn rfft rfftn".split()),
}
FUNCTIONS = [(name, parameters) for parameters, names in SIGNATURES.items() for name in names.split()]

METHODS = (
    "__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__ __float__ "
    "__floordiv__ __ge__ __getitem__ __gt__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ "
    "__index__ __int__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__ __le__ __lshift__ __lt__ "
    "__matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rfloordiv__ __rlshift__ "
    "__rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __setitem__ "
    "__sub__ __truediv__ __xor__ to_device"
).split()
BINARY_OPERATORS = (
    "add and eq floordiv ge gt le lshift lt matmul mod mul ne or pow rshift sub truediv xor radd rand rfloordiv "
    "rlshift rmatmul rmod rmul ror rpow rrshift rsub rtruediv rxor"
).split()
ATTRIBUTES = ["T", "device", "dtype", "mT", "ndim", "shape", "size"]


def parameters_of(text: str) -> list[inspect.Parameter]:
    names: dict[str, object] = {}
    exec(f"def function({text}): ...", names)
    return list(inspect.signature(names["function"]).parameters.values())  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "parameters"), FUNCTIONS)
def test_a_function_takes_what_the_standard_says(name: str, parameters: str) -> None:
    ours = inspect.signature(attrgetter(name)(xp)).parameters
    in_order = list(ours.values())
    wanted = parameters_of(parameters)
    for place, parameter in enumerate(wanted):
        if parameter.kind is parameter.VAR_POSITIONAL:
            assert in_order[place].kind is parameter.VAR_POSITIONAL
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            assert in_order[place].kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        else:
            assert ours[parameter.name].kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            assert in_order[place].name == parameter.name
        if parameter.default is not parameter.empty and (name, parameter.name) not in OTHER_DEFAULTS:
            found = in_order[place] if parameter.kind is parameter.POSITIONAL_ONLY else ours[parameter.name]
            assert found.default == parameter.default
    names = {parameter.name for parameter in wanted}
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    n_positional = sum([parameter.kind in by_place for parameter in wanted])
    added = [p for p in in_order[n_positional:] if p.name not in names]
    assert all(p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in added)


@pytest.mark.parametrize(("name", "parameter"), sorted(OTHER_DEFAULTS))
def test_what_is_not_given_means_what_the_standard_says(name: str, parameter: str) -> None:
    (wanted,) = [p for path, text in FUNCTIONS if path == name for p in parameters_of(text) if p.name == parameter]
    x = xp.asarray([[3.0, 1.0, 2.0], [1.0, 1.0, 0.5]])
    operands = (x, x) if name == "vecdot" else (x,)
    f = attrgetter(name)(xp)
    check(f(*operands), np.asarray(f(*operands, **{parameter: wanted.default})))


def test_every_public_name_exists_and_is_listed_once() -> None:
    assert len(set(xp.__all__)) == len(xp.__all__)
    assert all(hasattr(xp, name) for name in xp.__all__)


@pytest.mark.parametrize("name", METHODS + ATTRIBUTES)
def test_an_array_has_the_methods_and_attributes_of_the_standard(name: str) -> None:
    assert hasattr(xp.Array, name)


def test_constants_are_python_floats() -> None:
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(xp.nan)


@pytest.mark.parametrize("name", ALL)
def test_dtypes_are_those_of_numpy(name: str) -> None:
    assert getattr(xp, name) is np.dtype(name).type
    assert xp.zeros(1, dtype=getattr(xp, name)).dtype is np.dtype(name)


def test_the_namespace_describes_itself() -> None:
    info = xp.__array_namespace_info__()
    assert xp.__array_api_version__ == "2025.12"
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() == "cpu"
    assert info.devices() == ("cpu",)
    defaults = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
    assert info.default_dtypes(device="cpu") == {kind: np.dtype(name) for kind, name in defaults.items()}


KINDS = {
    None: ALL,
    "bool": BOOL,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": NUMERIC,
    ("bool", "integral"): BOOL + INTEGERS,
}


@pytest.mark.parametrize(("kind", "names"), KINDS.items(), ids=str)
def test_dtypes_are_listed_by_kind(kind: str | tuple[str, ...] | None, names: list[str]) -> None:
    assert xp.__array_namespace_info__().dtypes(kind=kind) == {name: np.dtype(name) for name in names}


def test_an_unknown_kind_or_device_is_refused() -> None:
    with pytest.raises(ValueError, match="dtypes: expected a dtype or one of"):
        xp.__array_namespace_info__().dtypes(kind="floating")
    with pytest.raises(ValueError, match='dtypes: expected device "cpu" or None'):
        xp.__array_namespace_info__().dtypes(device="gpu")


def test_array_api_compat_knows_the_namespace() -> None:
    x = xp.ones(3)
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x) is xp
    size: Any = array_api_compat.size
    assert size(x) == 3


UNARY = "__abs__ __bool__ __complex__ __dlpack_device__ __float__ __index__ __int__ __invert__ __neg__ __pos__".split()
METHOD_SIGNATURES = {
    **dict.fromkeys(UNARY, "self, /"),
    **{name: "self, other, /" for name in METHODS if name.strip("_").removeprefix("i") in BINARY_OPERATORS},
    "__array_namespace__": "self, /, *, api_version=None",
    "__dlpack__": "self, /, *, stream=None, max_version=None, dl_device=None, copy=None",
    "__getitem__": "self, key, /",
    "__setitem__": "self, key, value, /",
    "to_device": "self, device, /, *, stream=None",
}


def test_every_method_of_the_standard_has_its_signature_in_the_table() -> None:
    assert set(METHOD_SIGNATURES) == set(METHODS)


@pytest.mark.parametrize(("name", "parameters"), METHOD_SIGNATURES.items())
def test_a_method_takes_what_the_standard_says(name: str, parameters: str) -> None:
    ours = list(inspect.signature(getattr(xp.Array, name)).parameters.values())
    wanted = parameters_of(parameters)
    assert all([given.default is None for given in ours[len(wanted) :]])  # the modulus of `pow`, which Python knows
    for parameter, given in zip(wanted, ours[: len(wanted)], strict=True):
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert (given.name, given.default, given.kind) == (parameter.name, parameter.default, parameter.kind)
        else:
            assert given.kind in (given.POSITIONAL_ONLY, given.POSITIONAL_OR_KEYWORD)
            assert given.default is given.empty


def test_attributes_have_the_types_of_the_standard() -> None:
    x = xp.ones((2, 3), dtype=xp.float32)
    assert (type(x.dtype), x.dtype) == (type(np.dtype(np.float32)), np.dtype(np.float32))
    assert (x.device, x.ndim, x.size, x.shape) == ("cpu", 2, 6, (2, 3))
    assert [type(n) for n in (x.ndim, x.size, x.shape, *x.shape)] == [int, int, tuple, int, int]
    assert [type(y) for y in (x.T, x.mT)] == [xp.Array, xp.Array]
    assert x.to_device(x.device) is x


# fields of the results, in order
FIELDS: dict[str, str] = {
    "linalg.eig": "eigenvalues eigenvectors",
    "linalg.eigh": "eigenvalues eigenvectors",
    "linalg.qr": "Q R",
    "linalg.slogdet": "sign logabsdet",
    "linalg.svd": "U S Vh",
    "unique_all": "values indices inverse_indices counts",
    "unique_counts": "values counts",
    "unique_inverse": "values inverse_indices",
}
# what other functions return than an array
RESULTS: dict[str, type] = {
    **dict.fromkeys("meshgrid broadcast_arrays broadcast_shapes unstack nonzero".split(), tuple),
    **dict.fromkeys("can_cast isdtype".split(), bool),
    "result_type": np.dtype,
    "finfo": object,
    "iinfo": object,
}


@pytest.mark.parametrize("name", [name for name, _ in FUNCTIONS])
def test_a_function_returns_what_the_standard_says(name: str) -> None:
    matrix = xp.asarray([[2.0, 1.0], [1.0, 3.0]])
    names = {"xp": xp, "S": matrix, "V": xp.asarray([1.0, 2.0, 3.0]), "I": xp.asarray([[2, 1], [1, 3]])}
    names |= {"B": matrix > 1, "I0": xp.asarray([[0, 1], [1, 0]])}
    out = eval(f"xp.{name}({', '.join(arguments_of(name))})", names)
    if name in FIELDS:
        assert isinstance(out, tuple)
        assert getattr(out, "_fields", None) == tuple(FIELDS[name].split())
        assert all(isinstance(x, xp.Array) for x in out)
        return
    assert isinstance(out, RESULTS.get(name, xp.Array))
    if isinstance(out, tuple) and name != "broadcast_shapes":
        assert all(isinstance(x, xp.Array) for x in out)


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_limits_of_floats_are_python_numbers(name: str) -> None:
    info, theirs = xp.finfo(np.dtype(name)), np.finfo(name)
    ours = [info.bits, info.eps, info.max, info.min, info.smallest_normal]
    assert [type(x) for x in ours] == [int, float, float, float, float]
    assert ours == [theirs.bits, theirs.eps, theirs.max, theirs.min, theirs.smallest_normal]
    assert info.dtype == theirs.dtype


@pytest.mark.parametrize("name", INTEGERS)
def test_limits_of_integers_are_python_numbers(name: str) -> None:
    info, theirs = xp.iinfo(np.dtype(name)), np.iinfo(name)
    assert [type(x) for x in (info.bits, info.max, info.min)] == [int, int, int]
    assert (info.bits, info.max, info.min, info.dtype) == (theirs.bits, theirs.max, theirs.min, theirs.dtype)
