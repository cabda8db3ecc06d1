"""What follows from the descriptions: NumPy's signatures, every keyword of NumPy, and one function behind three names.

The calls are drawn from the descriptions: a value for each parameter by its kind.
"""

import copy
import inspect
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support import creation_calls, linear_algebra_calls
from uopc_array._functions.describe import ABSENT, DESCRIPTIONS, Description, Kind, Parameter, path_of
from uopc_array._functions.public import DESCRIBED_METHODS, FUNCTIONS, ROUTES
from uopc_array._functions.stubs import stubs
from uopc_core.errors import GradientError, TraceError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of no elements

NAMES = {path_of(d.folder, name): d for d in DESCRIPTIONS.values() for name in d.names}
NUMPYS = {path: d for path, d in NAMES.items() if d.numpy is not None}
NO_VALUE = getattr(np, "_NoValue", None)
# where the default is not NumPy's: the standard's, or what NumPy has for nothing given
# the standard has min and max there, NumPy other names
OTHER_PLACES = {("clip", "a_min"), ("clip", "a_max")}
OTHER_DEFAULTS: dict[tuple[str, str], str] = {
    **{(name, "correction"): "NumPy's own way to say that it is not given" for name in ("var", "std")},
    **creation_calls.OTHER_DEFAULTS,
    **linear_algebra_calls.OTHER_DEFAULTS,
}


def numpys(path: str) -> Any:
    return attrgetter(path)(np)


def signature_of(function: Any) -> dict[str, inspect.Parameter]:
    """NumPy's parameters, which some of its versions do not tell of what is written in C."""
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:
        return {}


def name_of(path: str) -> str:
    """What a function calls itself in messages."""
    return path.rpartition(".")[2]


def public_path(function: Any) -> str:
    return f"{function.__module__}.{function.__name__}".removeprefix("uopc_array.")


@pytest.mark.parametrize("path", NUMPYS)
def test_numpys_parameters_are_taken_in_their_order(path: str) -> None:
    ours = list(inspect.signature(FUNCTIONS[path]).parameters.values())
    theirs = list(signature_of(numpys(path)).values())
    positional = [p for p in theirs if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = {p.name: p for p in ours}
    for i, p in enumerate(positional):
        assert ours[i].kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD), p
        if p.kind is p.POSITIONAL_OR_KEYWORD and (path, p.name) not in OTHER_PLACES:
            assert ours[i].name == p.name
    for p in theirs:
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            q = by_name[p.name]
            assert q.kind in (q.POSITIONAL_OR_KEYWORD, q.KEYWORD_ONLY)
            if p.default is not NO_VALUE and (path, p.name) not in OTHER_DEFAULTS:
                assert q.default == p.default, p


def test_each_public_function_is_where_pickle_and_help_find_it() -> None:
    for path, function in FUNCTIONS.items():
        assert public_path(function) == path
        assert attrgetter(path)(xp) is function
        assert function.__doc__
        assert ROUTES.get(numpys(path)) if path in NUMPYS else True
    for name, description in DESCRIBED_METHODS.items():
        method = getattr(xp.Array, name)
        assert method.__qualname__ == f"Array.{name}"
        assert method.__doc__ == description.native.__doc__
        taken = list(inspect.signature(method).parameters.values())[1:]
        if DESCRIPTIONS.get(description.path) is description and not description.of_method.startswith("*"):
            whole = list(inspect.signature(FUNCTIONS[description.path]).parameters.values())
            whole = [p for p in whole if p.name != description.array]
            assert [p.replace(kind=p.KEYWORD_ONLY) for p in taken] == [p.replace(kind=p.KEYWORD_ONLY) for p in whole]
        assert {p.name for p in taken} == {p.name for p in description.parameters} - {description.array}


def test_public_modules_have_public_names_only() -> None:
    for module in (xp.linalg, xp.fft, xp.special):
        assert {name for name in vars(module) if not name.startswith("_")} == set(module.__all__)
        assert set(module.__all__) <= set(dir(module))


def test_the_stubs_say_what_the_descriptions_say() -> None:
    for file, text in stubs().items():
        assert file.read_text() == text, f"run python -m uopc_array._functions.stubs: {file.name}"


def test_what_a_description_does_not_say_is_refused() -> None:
    public = FUNCTIONS["sum"]
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'axes'"):
        public(xp.ones(2), axes=0)
    with pytest.raises(TypeError, match=r"sum\(\) missing 1 required positional argument: 'a'"):
        public()


# ---------------------------------------------------------------------------------------------- calls

X = np.asarray([[1.5, 0.0, 3.0], [4.0, 5.0, -6.0]])
# the operands of a function, where it does not take X for each
_OPERANDS: dict[str, tuple[Any, ...]] = {
    "searchsorted": (np.asarray([1.0, 2.0, 4.0]), np.asarray([0.5, 3.0])),
    "where": (X > 1, X, -X),
    "quantile": (X, 0.25),
    "percentile": (X, 30.0),
    "gradient": (X,),
    "clip": (X,),
    "nan_to_num": (np.asarray([[np.nan, np.inf, -np.inf], [1.0, 2.0, 3.0]]),),
    "cumulative_sum": (X[0],),
    "cumulative_prod": (X[0],),
    "append": (X, X),
    "array_split": (X, 2),
    "atleast_1d": (X[0], 2.0),
    "atleast_2d": (X[0], 2.0),
    "atleast_3d": (X[0], X),
    "broadcast_arrays": (X, X[0]),
    "broadcast_shapes": ((2, 1), (3,)),
    "broadcast_to": (X, (2, 2, 3)),
    "choose": (np.asarray([[0, 1, 0], [1, 1, 0]]), [X, -X]),
    "column_stack": ([X, X],),
    "compress": ([True, False], X),
    "concat": ([X, X],),
    "concatenate": ([X, X],),
    "copyto": (X, 1.0),
    "dsplit": (X.reshape(1, 2, 3), [1]),
    "dstack": ([X, X],),
    "expand_dims": (X, 1),
    "fill_diagonal": (X, 1.0),
    "hsplit": (X, 3),
    "hstack": ([X, X],),
    "moveaxis": (X, 0, 1),
    "pad": (X, 1),
    "place": (X, X > 1, [1.0]),
    "put": (X, [1], [2.0]),
    "put_along_axis": (X, np.asarray([[0], [1]]), 1.0, 1),
    "putmask": (X, X > 1, [1.0]),
    "repeat": (X, 2),
    "reshape": (X, (3, 2)),
    "roll": (X, 1),
    "rollaxis": (X, 1),
    "split": (X, [1]),
    "squeeze": (X.reshape(1, 2, 1, 3),),
    "stack": ([X, X],),
    "swapaxes": (X, 0, 1),
    "take": (X, [1, 0]),
    "take_along_axis": (X, np.asarray([[0], [1]])),
    "tile": (X, 2),
    "vsplit": (X, 2),
    "vstack": ([X, X],),
    **creation_calls.OPERANDS,
    **linear_algebra_calls.OPERANDS,
}
# a value for a parameter, by function and name, by name, or by kind
_VALUES: dict[Any, Any] = {
    ("searchsorted", "side"): ["right"],
    ("searchsorted", "sorter"): [np.asarray([0, 1, 2])],
    ("average", "weights"): [np.abs(X) + 1],
    ("diff", "prepend"): [np.ones((2, 1))],
    ("diff", "append"): [0.0],
    ("gradient", "varargs"): [2.0],
    ("trapezoid", "x"): [np.asarray([0.0, 1.0, 3.0])],
    ("cumulative_sum", "axis"): [0],
    ("cumulative_prod", "axis"): [0],
    **{(name, "axis"): [0, -1, None] for name in "argmax argmin cumsum cumprod nancumsum nancumprod".split()},
    **{(name, "axis"): [0, -1] for name in ("diff", "trapezoid")},
    **{(name, "q"): [[0.0, 0.5]] for name in ("quantile", "percentile")},
    **{(name, "weights"): [] for name in ("quantile", "percentile")},  # with another method, below
    **{("clip", name): [1.0] for name in ("min", "max")},
    **{("clip", name): [] for name in ("a_min", "a_max")},  # NumPy wants both
    ("clip", "signature"): ["dd->d"],
    ("clip", "where"): [],  # what NumPy gives elsewhere is in no memory of ours
    **{(name, "axis"): [0, 1, -1, None] for name in "append compress concat concatenate repeat roll take".split()},
    **{(name, "axis"): [0, 1] for name in "array_split split unstack stack".split()},
    **{(name, "axes"): [(1, 0), (-1, -2)] for name in ("transpose", "permute_dims", "rot90")},
    **{(name, "order"): list("CFA") for name in ("reshape", "ravel")},
    **{(name, "mode"): ["wrap", "clip"] for name in ("choose", "put", "take")},
    ("take_along_axis", "axis"): [1, 7],
    ("squeeze", "axis"): [0, 2, (0, 2), 1],
    ("flip", "axis"): [0, -1, (0, 1), None],
    ("size", "axis"): [0, 1, (0, 1)],
    ("pad", "mode"): ["edge", "mean", "reflect"],
    **{("pad", name): [] for name in ("constant_values", "end_values", "stat_length", "reflect_type", "kwargs")},
    **{("diagonal", name): [0, 1] for name in ("axis1", "axis2")},
    ("rot90", "k"): [0, 1, 2, -1],
    ("rollaxis", "start"): [0, 1, 2],
    "k": [1, -1],
    "offset": [1, -1, 9],
    "decimals": [1, -1, 400],
    "deg": [True],
    "copy": [True],
    **{("nan_to_num", name): [7.0] for name in ("nan", "posinf", "neginf")},
    "edge_order": [2],
    "n": [2],
    "dx": [0.5],
    "method": ["lower", "midpoint"],
    "mean": [2.0],
    "initial": [2, -7.5],
    Kind.AXIS: [0, -1, (0, 1), None],
    Kind.DTYPE: ["float32", "complex128", "int64"],
    Kind.WHERE: [np.asarray([True, False, True]), np.asarray([[True], [False]])],
    Kind.NUMBER: [1],
    "casting": ["unsafe"],
    "order": ["C"],
    "subok": [True],
    bool: [True],
    **creation_calls.VALUES,
    **linear_algebra_calls.VALUES,
}


def values_of(d: Description, p: Parameter) -> list[Any]:
    for key in ((d.path, p.name), p.name, p.kind, type(p.default)):
        if key in _VALUES:
            return _VALUES[key]
    raise AssertionError(f"say in _VALUES what {d.path} takes for {p.name}")


def keywords(d: Description, function: Any) -> Iterator[dict[str, Any]]:
    """Nothing, and each keyword of NumPy's function by itself."""
    theirs = signature_of(function)
    yield {}
    for p in d.parameters[sum([q.default is ABSENT for q in d.parameters]) :]:
        if (p.name in theirs or "kwargs" in theirs) and p.kind is not Kind.OUT and not p.star:
            for value in values_of(d, p):
                yield {p.name: value}


def operands(d: Description) -> tuple[Any, ...]:
    """What the function takes first, of its own: some write to it."""
    return copy.deepcopy(_operands(d))


def _operands(d: Description) -> tuple[Any, ...]:
    n = sum([p.default is ABSENT and not p.star for p in d.parameters])
    return _OPERANDS.get(d.path, (X,) * n)


def run(function: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def ours(x: Any) -> Any:
    if isinstance(x, list):
        return [ours(item) for item in x]
    return xp.asarray(x) if isinstance(x, np.ndarray) else x


def same(got: Any, wanted: Any, what: str) -> None:
    if wanted is None:
        assert got is None
    elif isinstance(wanted, Exception):
        kinds = (ValueError, TypeError, IndexError, AttributeError)
        assert isinstance(got, next(kind for kind in kinds if isinstance(wanted, kind))), (what, got, wanted)
    elif isinstance(wanted, np.dtype):
        assert got is wanted, what
    elif isinstance(wanted, np.finfo | np.iinfo):
        facts = ["bits", "max", "min", "dtype", *(["eps", "tiny"] if isinstance(wanted, np.finfo) else [])]
        assert [getattr(got, fact) for fact in facts] == [getattr(wanted, fact) for fact in facts], what
    elif isinstance(wanted, tuple | list):
        assert len(got) == len(wanted)
        for x, y in zip(got, wanted, strict=True):
            same(x, y, what)
    else:
        assert not isinstance(got, Exception), (what, got)
        found, want = np.asarray(got), np.asarray(wanted)
        assert (found.dtype, found.shape) == (want.dtype, want.shape), (what, got, wanted)
        eps = 1e-5 if want.dtype.name in ("float32", "complex64") else 1e-12
        np.testing.assert_allclose(found, want, rtol=eps, atol=eps * 1e-3, err_msg=what)


NOT_COMPARED = {*creation_calls.NO_VALUES, *linear_algebra_calls.OTHER_RESULTS}


def result(path: str, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What the call gives, or 0 where that is memory which nobody wrote to."""
    found = run(function, *args, **kwargs)
    if path in ("empty", "empty_like") and not isinstance(found, Exception):
        found[...] = 0
    return found


@pytest.mark.parametrize("path", [path for path in NUMPYS if path not in NOT_COMPARED])
def test_every_keyword_of_numpy_is_taken_by_function_method_and_numpys_function(path: str) -> None:
    d = NUMPYS[path]
    for more in keywords(d, numpys(path)):
        what = f"{path} {more}"
        args = operands(d)
        wanted = result(path, numpys(path), *args, **more)
        for call, called in ((FUNCTIONS[path], what), (numpys(path), f"np.{what}")):
            given, known = [ours(x) for x in operands(d)], {key: ours(value) for key, value in more.items()}
            same(result(path, call, *given, **known), wanted, called)
            if wanted is None:  # it writes to what it is given first
                same(given[0], args[0], called)
        if DESCRIBED_METHODS.get(path) is d and not any([f"*{key}" in d.of_method for key in more]):
            known = {key: ours(value) for key, value in more.items()}
            same(run(of_array(path), *[ours(x) for x in operands(d)], **known), wanted, f"x.{what}")


@pytest.mark.parametrize("name", creation_calls.METHODS)
def test_every_keyword_of_numpys_method_is_taken_by_one_that_is_no_function(name: str) -> None:
    d, theirs = DESCRIBED_METHODS[name], getattr(np.ndarray, name)
    ours_of = inspect.signature(getattr(xp.Array, name)).parameters.values()
    for p, q in zip(ours_of, signature_of(theirs).values(), strict=False):
        assert (p.name, p.kind, p.default) == (q.name, q.kind, q.default) or q.kind is q.POSITIONAL_ONLY
    for more in keywords(d, theirs):
        args = operands(d)
        given, known = [ours(x) for x in operands(d)], {key: ours(value) for key, value in more.items()}
        wanted = run(theirs, *args, **more)
        same(run(of_array(name), *given, **known), wanted, f"x.{name} {more}")
        if wanted is None:
            same(given[0], args[0], f"x.{name} {more}")


def of_array(name: str) -> Any:
    """The method, called with the parameters of the function in their order."""
    d = DESCRIBED_METHODS[name]
    place = [p.name for p in d.parameters].index(d.array)
    return lambda *args, **more: getattr(args[place], name)(*args[:place], *args[place + 1 :], **more)


@pytest.mark.parametrize("path", [path for path, d in NUMPYS.items() if any(p.kind is Kind.OUT for p in d.parameters)])
def test_out_takes_the_result_of_function_method_and_numpys_function(path: str) -> None:
    d = NUMPYS[path]
    args = operands(d)
    wanted = np.asarray(numpys(path)(*args))
    given = [ours(x) for x in args]
    calls = [FUNCTIONS[path], numpys(path)]
    names = "|".join(d.names)
    if DESCRIBED_METHODS.get(path) is d:
        calls.append(of_array(path))
    for call in calls:
        for out in (xp.zeros(wanted.shape, dtype=wanted.dtype), np.zeros(wanted.shape, wanted.dtype)):
            assert call(*given, out=out) is out
            np.testing.assert_allclose(np.asarray(out), wanted, rtol=1e-12)
        with pytest.raises(TypeError, match=f"({names}): expected an array for out, got list"):
            call(*given, out=[1.0])
        with pytest.raises(ValueError, match=f"({names}): the result of shape .* does not fit out"):
            call(*given, out=xp.zeros((7, 7), dtype=wanted.dtype))


# what only NumPy's own function takes
HOSTED: dict[str, dict[str, Any]] = {
    "quantile": {"method": "lower"},
    "percentile": {"method": "inverted_cdf", "weights": np.abs(X), "axis": 1},
    "var": {"dtype": "int64"},
}


@pytest.mark.parametrize("path", HOSTED)
def test_what_the_native_version_does_not_take_runs_in_numpy_and_says_so(path: str) -> None:
    args, more = operands(NUMPYS[path]), HOSTED[path]
    given, known = [ours(x) for x in args], {key: ours(value) for key, value in more.items()}
    with xp.log_host_calls() as calls:
        same(FUNCTIONS[path](*given, **known), numpys(path)(*args, **more), path)
    assert [call.function for call in calls] == [f"numpy.{path}"]
    with pytest.raises(TraceError, match=f"{path}, which runs in NumPy"):
        xp.jit(lambda x: FUNCTIONS[path](x, *given[1:], **known))(given[0])
    with pytest.raises(GradientError, match=f"{path}: it runs in NumPy"):
        xp.grad(lambda x: xp.sum(FUNCTIONS[path](x, *given[1:], **known)))(given[0])


def test_an_error_names_what_was_called() -> None:
    for path, d in NAMES.items():
        axis = next((p for p in d.parameters if p.name == "axis" and p.default is not ABSENT), None)
        if axis is not None and path not in ("cumulative_sum", "cumulative_prod"):
            calls = [FUNCTIONS[path], *([of_array(path)] if path in DESCRIBED_METHODS else [])]
            for call in calls:
                with pytest.raises(np.exceptions.AxisError, match=f"^{name_of(path)}: axis 7 is out of bounds"):
                    call(*[ours(a) for a in operands(d)], axis=7)
