"""What every function of the standard refuses: the class is NumPy's, the message names the function and what was given.

A case is a line of Python, run with NumPy for `xp` as well, where that has the same function.
"""

import inspect
import re
import warnings
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_errors_at_their_line import frames_of_ours
from tests.functions.test_inspection import FUNCTIONS
from tests.support.errors import (
    ASSIGNMENTS,
    AT_THE_CALL,
    AXES,
    DTYPES,
    KINDS,
    NO_CHECK,
    NOT_ARRAYS,
    OPERATORS,
    WHEN_COMPUTED,
    arguments_of,
)
from tests.support.numpy_version import NUMPY
from uopc_core import context
from uopc_core.errors import GradientError, TraceError

_NUMPYS_OWN = (np.exceptions.AxisError, np.linalg.LinAlgError)
NAMES = [name for name, _ in FUNCTIONS]


def environment(library: Any) -> dict[str, Any]:
    """The names that cases are written with, as arrays of `library`."""
    values = {
        "S": np.asarray([[2.0, 1.0], [1.0, 3.0]]),
        "V": np.asarray([1.0, 2.0, 3.0]),
        "I": np.asarray([[2, 1], [1, 3]]),
        "I0": np.asarray([[0, 1], [1, 0]]),
        "I8": np.asarray([1, 2], dtype=np.int8),
        "B": np.asarray([[True, False], [False, True]]),
        "C": np.arange(24.0).reshape(2, 3, 4),
        "Z": np.asarray([[1j, 2], [3, 4j]]),
        "E": np.zeros((0,)),
        "D": np.asarray(1.0),
        "F": np.ones((2, 3)),
        "singular": np.ones((2, 2)),
        "I9": np.asarray([0, 1, 9]),
    }
    return {"xp": library, "np": np, **{name: library.asarray(x.copy()) for name, x in values.items()}}


def numpys_class(call: str, names: dict[str, Any]) -> type[BaseException] | None:
    """The public class of what NumPy raises, None if it raises nothing (or not yet what it raises today)."""
    if NUMPY < (2, 4) and "__dlpack__(dl_device=" in call:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            exec(call, names)
    except Exception as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins" or c in _NUMPYS_OWN)
    return None


def check(call: str, kind: type[Exception], name: str, words: str) -> Exception:
    """What `call` raises, an error of this kind whose message begins with the name that the user called."""
    with pytest.raises(kind) as info:
        exec(call, environment(xp))
    message = str(info.value)
    assert re.match(rf"{re.escape(name)}(:|\(\) )", message), message
    assert re.search(words, message), message
    assert frames_of_ours(info.value) <= 3
    return info.value


def same_class(call: str, error: Exception) -> None:
    same_as_numpys(error, call, environment(np))


def same_as_numpys(error: Exception, call: str, names: dict[str, Any]) -> None:
    theirs = numpys_class(call, names)
    assert theirs is None or isinstance(error, theirs), (call, type(error), theirs)


_GPU = "device='gpu'"


def short(name: str) -> str:
    return name.rpartition(".")[2]


# ---------------------------------------------------------------------------------------------- every function


@pytest.mark.parametrize("name", NAMES)
def test_a_call_without_arguments_names_the_function(name: str) -> None:
    function = attrgetter(name)(xp)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty and p.kind < 2]
    if needed:
        check(f"xp.{name}()", TypeError, short(name), rf"missing .*'{needed[0].name}'")
    with pytest.raises(TypeError, match=rf"{short(name)}\(\) got an unexpected keyword argument 'nonsense'"):
        function(*[None] * len(needed), nonsense=1)


@pytest.mark.parametrize(
    ("name", "place"), [(n, i) for n in NAMES for i, x in enumerate(arguments_of(n)) if x in "SIBV"]
)
def test_an_argument_that_is_no_array_is_refused_by_name(name: str, place: int) -> None:
    for value, kind, words in NOT_ARRAYS:
        arguments = arguments_of(name)
        arguments[place] = value
        if (name, value) not in NO_CHECK:
            check(f"xp.{name}({', '.join(arguments)})", kind, short(name), words)


@pytest.mark.parametrize(("name", "kinds"), [(n, k) for k, names in KINDS.items() for n in names.split()])
def test_a_dtype_of_another_kind_is_refused_by_name(name: str, kinds: str) -> None:
    for kind, dtype in {"Z": "complex128", "S": "float64", "B": "bool"}.items():
        if kind in kinds:
            arguments = [kind if x in "SIBV" else x for x in arguments_of(name)]
            check(
                f"xp.{name}({', '.join(arguments)})", TypeError, short(name), f"expected .*got.* {dtype}|complex|bool"
            )


@pytest.mark.parametrize("name", [n for n, p in FUNCTIONS if "device=" in p])
def test_another_device_is_refused_by_name(name: str) -> None:
    call = f"xp.{name}({', '.join([*arguments_of(name), _GPU])})"
    same_class(call, check(call, ValueError, short(name), "expected device .*got 'gpu'"))


@pytest.mark.parametrize("name", [n for n, p in FUNCTIONS if "dtype=" in p])
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_unknown_dtype_is_refused_by_name(name: str, dtype: str) -> None:
    check(
        f"xp.{name}({', '.join([*arguments_of(name), f'dtype={dtype}'])})", TypeError, short(name), "expected a dtype"
    )


@pytest.mark.parametrize(("name", "kind"), AXES.items())
def test_a_wrong_axis_is_refused_by_name(name: str, kind: str) -> None:
    arguments = [x for x in arguments_of(name) if not x.startswith("axis")]
    key = "axes" if kind == "axes" else "axis"
    wrong = [("99", ValueError, "axis 99 is out of bounds"), ("-99", IndexError, "axis -99 is out of bounds")]
    wrong += [
        ("1.0", TypeError, r"expected an integer for ax.*1\.0"),
        ("'0'", TypeError, "expected an integer for ax.*'0'"),
    ]
    if kind in ("many", "axes"):
        wrong.append(("(0, 0)", ValueError, r"every axis may be named once, got axis=\(0, 0\)"))
    elif kind == "one":
        wrong.append(("(0, 0)", TypeError, r"expected an integer for axis, got \(0, 0\)"))
    wrong += [("True", TypeError, "expected an integer for ax")]
    for axis, error, words in wrong:
        check(f"xp.{name}({', '.join([*arguments, f'{key}={axis}'])})", error, short(name), words)


def test_every_function_with_an_axis_is_in_the_table() -> None:
    with_axis = {n for n, p in FUNCTIONS if re.search(r"\*.*\bax[ie]s=|/, .*\bax[ie]s=", p) and "tensordot" not in n}
    assert set(AXES) == with_axis


@pytest.mark.parametrize("axis", ["np.int64(0)", "np.asarray(0)", "xp.asarray(0)"])
@pytest.mark.parametrize("name", AXES)
def test_what_counts_as_an_integer_is_an_axis(name: str, axis: str) -> None:
    arguments = [x for x in arguments_of(name) if not x.startswith("axis")]
    key = "axes" if AXES[name] == "axes" else "axis"
    eval(f"xp.{name}({', '.join([*arguments, f'{key}={axis}'])})", environment(xp))


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "full"])
@pytest.mark.parametrize(
    "shape", ["2", "np.int64(2)", "(np.int64(2),)", "[2]", "xp.asarray(2)", "np.asarray([2])", "xp.asarray([2])"]
)
def test_a_shape_is_an_integer_or_a_sequence_of_them(name: str, shape: str) -> None:
    more = ", 1.0" if name == "full" else ""
    assert eval(f"xp.{name}({shape}{more}).shape", environment(xp)) == (2,)
    assert xp.reshape(xp.zeros((1, 2)), eval(shape, environment(xp))).shape == (2,)


# ---------------------------------------------------------------------------------------------- case by case


@pytest.mark.parametrize(("call", "error", "words"), AT_THE_CALL, ids=[case[0] for case in AT_THE_CALL])
def test_a_wrong_argument_is_refused_at_the_call(call: str, error: type[Exception], words: str) -> None:
    name = re.match(r"xp\.([\w.]+)", call)
    assert name
    same_class(call, check(call, error, short(name[1]), words))


def test_every_function_of_the_standard_has_a_case() -> None:
    calls = " ".join([case[0] for case in AT_THE_CALL])
    by_kind = " ".join(KINDS.values()).split()
    tested = {n for n in NAMES if f"xp.{n}(" in calls or n in by_kind or n in AXES or arguments_of(n)}
    assert tested == set(NAMES)


@pytest.mark.parametrize(("call", "name", "error", "words"), OPERATORS, ids=[case[0] for case in OPERATORS])
def test_an_operator_or_method_refuses(call: str, name: str, error: type[Exception], words: str) -> None:
    same_class(call, check(call, error, name, words))


@pytest.mark.parametrize(("call", "error", "words"), ASSIGNMENTS, ids=[case[0] for case in ASSIGNMENTS])
def test_an_index_or_assignment_refuses(call: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as info:
        exec(call, environment(xp))
    assert frames_of_ours(info.value) <= 3
    same_class(call, info.value)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize(("call", "error", "words"), WHEN_COMPUTED, ids=[case[0] for case in WHEN_COMPUTED])
def test_what_depends_on_values_is_refused_where_they_are_known_or_else_when_they_are_computed(
    call: str, error: type[Exception], words: str, tier: Any
) -> None:
    with context(tier=tier), pytest.raises(error, match=words) as info:
        np.asarray(eval(call, environment(xp)))
    assert frames_of_ours(info.value) <= 3
    same_class(call, info.value)


# ---------------------------------------------------------------------------------------------- transforms

TRACED: dict[str, Any] = {
    "nonzero": lambda x: xp.nonzero(x),
    "unique_all": lambda x: xp.unique_all(x),
    "unique_counts": lambda x: xp.unique_counts(x),
    "unique_inverse": lambda x: xp.unique_inverse(x),
    "unique_values": lambda x: xp.unique_values(x),
    "repeat: repeats": lambda x: xp.repeat(x, xp.astype(x, xp.int64)),
    "indexing with a bool mask": lambda x: x[x > 0],
    "bool": lambda x: 1 if x[0] > 0 else 0,
    "float": lambda x: float(x[0]),
    "index": lambda x: range(3)[xp.astype(x[0], xp.int64)],
}


@pytest.mark.parametrize(("name", "function"), TRACED.items(), ids=TRACED)
def test_a_value_that_jit_does_not_have_is_asked_for_by_name(name: str, function: Any) -> None:
    with pytest.raises(TraceError, match=rf"{name} needs a value, and inside jit an array of shape"):
        xp.jit(function)(xp.ones(3))  # pyright: ignore[reportArgumentType]  # a function of `Any` in the table


def test_an_index_out_of_bounds_inside_jit_names_the_function() -> None:
    pick = xp.jit(lambda x, i: xp.take(x, i) * 2.0)
    for _ in range(3):  # by NumPy first, then compiled
        with pytest.raises(IndexError, match="take: index 7 is out of bounds for axis 0 with size 3"):
            pick(xp.ones(3), xp.asarray([7]))


TRANSFORMS: dict[str, tuple[Any, type[Exception], str]] = {
    "grad of text": (lambda: xp.grad(xp.sum)("text"), GradientError, "grad: argument 0 must be .* got str"),  # pyright: ignore[reportArgumentType]
    "grad by integers": (lambda: xp.grad(xp.sum)(xp.asarray([1])), GradientError, "grad: argument 0 .* got int64"),
    "grad of an array": (lambda: xp.grad(lambda x: x)(xp.ones(2)), GradientError, r"grad: .* got shape \(2,\)"),
    "grad by no argument": (lambda: xp.grad(xp.sum, argnums=3)(1.0), GradientError, "grad: argument 3 was asked for"),
    "value_and_grad": (lambda: xp.value_and_grad(lambda x: "a")(1.0), GradientError, "value_and_grad: .* got str"),
    "vjp of another shape": (lambda: xp.vjp(lambda x: x, xp.ones(2))[1](xp.ones(3)), ValueError, r"vjp: .*\(3,\)"),
    "jvp of another shape": (lambda: xp.jvp(lambda x: x, (xp.ones(2),), (xp.ones(3),)), ValueError, r"jvp: .*\(2,\)"),
    "vmap over no axis": (lambda: xp.vmap(lambda x: x)(xp.asarray(1.0)), IndexError, "vmap: axis 0 is out of bounds"),
    "vmap of two extents": (lambda: xp.vmap(xp.add)(xp.ones(2), xp.ones(3)), ValueError, "vmap: .* got 3 and 2"),
    "vmap of in_axes": (lambda: xp.vmap(xp.add, in_axes=(0,))(xp.ones(2), xp.ones(2)), ValueError, "got 1 for 2"),
    "vmap over nothing": (lambda: xp.vmap(xp.sin, in_axes=None)(xp.ones(2)), ValueError,
        "vmap: .* got 1 with in_axes=None"),
    "static and not hashable": (
        lambda: xp.jit(lambda x, n: x, static_argnums=1)(1.0, xp.ones(2)), TypeError, "jit: a static argument"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_transform_refuses(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as info:
        call()
    assert frames_of_ours(info.value) <= 3
