"""What users do wrong most often: the class is NumPy's, the message names the call, what was given or expected, and
the way out where there is one; the traceback ends near the line.
"""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_errors import same_as_numpys
from tests.functions.test_errors_at_their_line import frames_of_ours
from tests.support.mistakes import MISTAKES, TRANSFORMS

pytestmark = pytest.mark.filterwarnings("ignore")


def names_for(library: Any) -> dict[str, Any]:
    """The names that mistakes are written with, on arrays of `library`."""
    values = {
        "A": np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "S": np.asarray([[2.0, 1.0], [1.0, 3.0]]),
        "x": np.asarray([1.0, 2.0, 3.0]),
        "y": np.asarray([1.0, 2.0, 3.0, 4.0]),
        "I": np.asarray([1, 2, 3]),
        "I8": np.asarray([1, 2], np.int8),
        "Z": np.asarray([1j, 2.0]),
        "B": np.asarray([True, False, True]),
        "E": np.zeros((0,)),
        "D": np.asarray(2.0),
        "sing": np.ones((2, 2)),
    }
    return {"xp": library, "np": np, **{name: library.asarray(x.copy()) for name, x in values.items()}}


def refused(call: str, names: dict[str, Any]) -> Exception:
    try:
        exec(call, names)
    except Exception as error:
        return error
    raise AssertionError(f"{call} was taken")


@pytest.mark.parametrize(("call", "name", "says", "remedy"), MISTAKES, ids=[case[0] for case in MISTAKES])
def test_a_mistake_is_told_in_full(call: str, name: str, says: str, remedy: str) -> None:
    error = refused(call, names_for(xp))
    message = " ".join(str(error).split())
    assert message.startswith((f"{name}: {says}", f"{name}() {says}")), message
    assert remedy in message.partition(says)[2], message
    assert frames_of_ours(error) <= 3
    same_as_numpys(error, call, names_for(np))


def test_half_of_the_messages_name_a_remedy() -> None:
    assert sum([bool(remedy) for *_, remedy in MISTAKES]) > 0.4 * len(MISTAKES)


@pytest.mark.parametrize(("call", "kind", "message"), TRANSFORMS, ids=[case[0] for case in TRANSFORMS])
def test_a_transform_tells_what_is_wrong(call: str, kind: type[Exception], message: str) -> None:
    def square(x: Any) -> Any:
        return xp.sum(x * x)

    def product(x: Any, y: Any) -> Any:
        return xp.sum(x * y)

    error = refused(call, {"xp": xp, "square": square, "product": product, "x": xp.ones(3), "t": xp.ones(2)})
    assert isinstance(error, kind)
    assert message in str(error)
    assert str(error).startswith(call.partition("(")[0].removeprefix("xp."))
    assert frames_of_ours(error) <= 3
