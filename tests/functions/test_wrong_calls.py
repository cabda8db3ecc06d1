"""Whatever is wrong with an argument, the message begins with the name of the function that was called, and the
traceback ends near the line that called it.
"""

import inspect
import operator
import re
import traceback
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_errors_at_their_line import frames_of_ours
from tests.support.wrong_calls import RIGHT, WRONG, Call, methods, numpys, with_one_wrong
from uopc_core.errors import AxisError, shortened

pytestmark = pytest.mark.filterwarnings("ignore")


def raised(call: Call) -> Exception | None:
    try:
        call[1](*call[2], **call[3])
    except Exception as error:
        return error
    return None


def check(name: str, error: Exception) -> None:
    message = str(error)
    assert re.match(rf"{re.escape(name)}(: |\(\) | needs a value)", message), message
    assert frames_of_ours(error) <= 3, "".join(traceback.format_tb(error.__traceback__))


@pytest.mark.parametrize("name", RIGHT)
def test_a_wrong_argument_of_a_function_is_refused_in_its_name(name: str) -> None:
    for call in with_one_wrong(name, RIGHT[name]):
        error = raised(call)
        if error is not None:
            check(name.rpartition(".")[2], error)


METHODS = methods()


@pytest.mark.parametrize("name", METHODS)
def test_a_wrong_argument_of_a_method_is_refused_in_its_name(name: str) -> None:
    refused = [error for call in with_one_wrong(name, METHODS[name]) if (error := raised(call)) is not None]
    assert refused
    for error in refused:
        check(name, error)


NUMPYS = numpys()


def _came_to_us(error: Exception) -> bool:
    """NumPy calls us for most arguments, and finds some mistakes itself."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(frame.name in ("__array_function__", "__array_ufunc__") for frame in frames)


@pytest.mark.parametrize("name", NUMPYS)
def test_a_wrong_argument_of_a_function_of_numpys_is_refused_in_its_name(name: str) -> None:
    for call in with_one_wrong(name, NUMPYS[name]):
        if any(isinstance(x, xp.Array) for x in call[2]):
            error = raised(call)
            if error is not None and _came_to_us(error):
                check(call[1].__name__, error)


def test_the_tables_hold_wrong_calls() -> None:
    """Most calls of the tables are wrong: the tests above have something to see."""
    refused = [raised(call) is not None for name in RIGHT for call in with_one_wrong(name, RIGHT[name])]
    assert sum(refused) > 4000
    assert len(WRONG) * len(RIGHT) < len(refused)


# -------------------------------------------------------------------------------------------------- what it rests on


class Broken(Exception):
    """An error of the user's."""


def broken(*_: Any, **__: Any) -> Any:
    raise Broken("in my function: x")


class Foreign:
    """An object of the user's whose conversion fails."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return broken()


CALLBACKS: dict[str, Callable[[], Any]] = {
    "apply_along_axis": lambda: np.apply_along_axis(broken, 0, xp.ones((2, 2))),
    "piecewise": lambda: np.piecewise(xp.ones(3), [np.asarray([True, False, True])], [broken, 0.0]),
    "grad": lambda: xp.grad(broken)(1.0),
    "vjp": lambda: xp.vjp(broken, 1.0),
    "jvp": lambda: xp.jvp(broken, (1.0,), (1.0,)),
    "jit": lambda: xp.jit(broken)(1.0),
    "checkpoint": lambda: xp.checkpoint(broken)(1.0),
    "checkpoint in grad": lambda: xp.grad(xp.checkpoint(broken))(1.0),
    "vmap": lambda: xp.vmap(broken)(xp.ones(2)),
    "jacrev": lambda: xp.jacrev(broken)(1.0),
    "jacfwd": lambda: xp.jacfwd(broken)(1.0),
    "__array__ in a function": lambda: xp.exp(Foreign()),  # type: ignore[arg-type]
    "__array__ in an alias": lambda: xp.dot(Foreign(), xp.ones(2)),
    "__array__ in an operator": lambda: operator.add(xp.ones(2), [Foreign()]),
    "__array__ in NumPy": lambda: np.concatenate([xp.ones(2), Foreign()]),  # type: ignore[list-item]
}


@pytest.mark.parametrize("name", CALLBACKS)
def test_errors_of_the_users_own_functions_are_left_as_they_are(name: str) -> None:
    with pytest.raises(Broken, match=r"^in my function: x$") as caught:
        CALLBACKS[name]()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "broken"


def test_a_cause_that_the_user_gave_is_kept() -> None:
    def chained(*_: Any) -> Any:
        try:
            broken()
        except Broken as error:
            raise KeyError("mine") from error

    with pytest.raises(KeyError) as caught:
        np.apply_along_axis(chained, 0, xp.ones((2, 2)))
    assert isinstance(caught.value.__cause__, Broken)


def test_names_are_put_in_place_of_names() -> None:
    for text, wanted in {
        "concat: no": "vstack: no",
        "concat() missing": "vstack() missing",
        "linalg.x: no": "vstack: no",
        "repeat: repeats needs a value": "vstack: repeats needs a value",
        "bool needs a value, and": "vstack: bool needs a value, and",
        "index 9 is out": "vstack: index 9 is out",
    }.items():
        assert str(shortened(ValueError(text), "vstack")) == wanted
    assert str(shortened(AxisError("x: no"), "y")) == "y: no"
    assert str(shortened(np.exceptions.AxisError(5, 2), "y")).startswith("y: axis 5 is out of bounds")
    assert shortened(OSError(2, "x: no"), "y").args == (2, "x: no")


def test_the_message_of_a_call_that_does_not_fit_has_the_name_that_was_called() -> None:
    for name in ("dot", "concatenate", "linalg.qr", "grad", "vjp", "jvp"):
        with pytest.raises(TypeError, match=rf"^{name.rpartition('.')[2]}\(\) missing \d required positional"):
            attrgetter(name)(xp)()
    assert list(inspect.signature(xp.dot).parameters) == ["a", "b", "out"]
