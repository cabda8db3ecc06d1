"""Calls of every public function, method and function of NumPy, each with one argument replaced by something wrong."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import uopc_array as xp
from tests.functions.test_comparisons import OTHER, public_functions
from tests.functions.test_numpy_functions import CASES
from tests.support.errors import arguments_of

__all__ = ["RIGHT", "WRONG", "Call", "methods", "numpys", "with_one_wrong"]

# a function and arguments that it takes
Right = tuple[Any, tuple[Any, ...], dict[str, Any]]
# the same with its name
Call = tuple[str, Any, tuple[Any, ...], dict[str, Any]]

# what stands in the place of each argument in turn
WRONG: dict[str, Any] = {
    "None": None,
    "text": "text",
    "an object": object(),
    "a fraction": 1.5,
    "a negative number": -77,
    "a large number": 99,
    "a tuple twice": (0, 0),
    "a function": len,
    "ragged": [[1], [1, 2]],
    "a complex number": 2j,
    "shape (7,)": xp.ones(7),
    "shape (5, 7)": xp.ones((5, 7)),
    "shape ()": xp.asarray(2.5),
    "empty": xp.zeros((0,)),
    "complex": xp.asarray([1j, 2.0, 3.0]),
    "bool": xp.asarray([True, False, True]),
    "strings of NumPy": np.asarray(["a", "b"]),
}
_VALUES: dict[str, Any] = {
    "S": np.asarray([[2.0, 1.0], [1.0, 3.0]]),
    "V": np.asarray([1.0, 2.0, 3.0]),
    "I": np.asarray([[2, 1], [1, 3]]),
    "I0": np.asarray([[0, 1], [1, 0]]),
    "B": np.asarray([[True, False], [False, True]]),
}


def _ours(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return xp.asarray(x)
    return tuple([_ours(item) for item in x]) if isinstance(x, tuple) else x


def _found(library: Any, path: str) -> Any:
    for name in path.split("."):
        library = getattr(library, name, None)
    return library


def _right_calls() -> dict[str, Right]:
    """Each public function with arguments that it takes."""
    calls: dict[str, tuple[Any, ...]] = {}
    environment = {"xp": xp, **{key: _ours(value) for key, value in _VALUES.items()}}
    for name in public_functions():
        if name not in OTHER:
            calls[name] = eval(f"_call({', '.join(arguments_of(name))})", {"_call": _call, **environment})
    calls |= {name: _call(*[_ours(x) for x in args]) for name, args, kwargs in CASES if not kwargs}
    calls["einsum"] = _call("ij,jk", xp.ones((2, 2)), xp.ones((2, 2)))
    return {name: (_found(xp, name), *arguments) for name, arguments in calls.items()}


def _call(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return args, kwargs


RIGHT = _right_calls()


def with_one_wrong(name: str, right: Right) -> Iterator[Call]:
    """The call with each of its arguments in turn replaced by each of `WRONG`."""
    function, args, kwargs = right
    for wrong in WRONG.values():
        for i in range(len(args)):
            yield name, function, (*args[:i], wrong, *args[i + 1 :]), kwargs
        for key in kwargs:
            yield name, function, args, {**kwargs, key: wrong}


def numpys() -> dict[str, Right]:
    """NumPy's functions of the same names, on arrays of ours."""
    named = {name: _found(np, name) for name in RIGHT}
    return {name: (f, *RIGHT[name][1:]) for name, f in named.items() if f is not None}


_METHODS: dict[str, tuple[Any, ...]] = {
    **{name: (0,) for name in "sum prod max min mean std var any all argmax argmin argsort sort cumsum ptp".split()},
    "astype": ("float32",),
    "reshape": (4,),
    "transpose": (1, 0),
    "swapaxes": (0, 1),
    "ravel": ("C",),
    "flatten": ("C",),
    "squeeze": (0,),
    "diagonal": (0, 0, 1),
    "repeat": (2, 0),
    "cumprod": (0,),
    "trace": (0, 0, 1),
    "round": (2,),
    "clip": (0.0, 1.0),
    "take": ([0, 1], 0),
    "dot": (xp.ones((2, 2)),),
    "searchsorted": (0.5,),
    "fill": (1.0,),
    "put": ([0], [1.0]),
    "view": ("int64",),
    "item": (0,),
    "to_device": ("cpu",),
}


def methods() -> dict[str, Right]:
    """Methods of an array, with arguments that they take."""
    matrix, vector = xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([0.0, 1.0, 2.0])
    return {
        name: (getattr(vector if name == "searchsorted" else matrix, name), args, {}) for name, args in _METHODS.items()
    }
