"""`pad`: NumPy's values for every mode, dtype and width, and derivatives of all but what is counted or sorted away."""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same
from tests.support.derivatives import central_difference

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of no elements

ARRAYS = [
    (np.arange(max(int(np.prod(shape)), 1)) * 5 % 7).astype(dtype)[: int(np.prod(shape))].reshape(shape)
    for dtype in ("int64", "uint8", "float32", "complex128", "bool")
    for shape in ((), (1,), (5,), (0,), (2, 3), (0, 3), (1, 4), (2, 3, 2))
]
MODES = ("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap")
STATISTICS = ("maximum", "mean", "median", "minimum")


def frame(vector: Any, widths: tuple[int, int], axis: int, kwargs: Mapping[str, Any]) -> None:
    vector[: widths[0]] = kwargs.get("padder", 7)
    vector[len(vector) - widths[1] :] = 3


CALLS: list[tuple[Any, MutableMapping[str, Any]]] = [
    *[(width, {"mode": mode}) for mode in MODES for width in (1, (2, 0), 3, ((0, 8),), 0)],
    *[((5, 7), {"mode": mode, "reflect_type": "odd"}) for mode in ("reflect", "symmetric")],
    *[(2, {"mode": mode, "stat_length": n}) for mode in STATISTICS for n in (1, (2, 1), 5)],
    *[(1, {"mode": mode, "stat_length": 0}) for mode in ("maximum", "minimum")],
    ((3, 2), {"mode": "linear_ramp", "end_values": (2, 5)}),
    ((1, 2), {"constant_values": (1, 2)}),
    (((1, 2),), {"constant_values": ((3, 4),)}),
    ({0: (1, 2)}, {}),
    ({-1: 2}, {"mode": "edge"}),
    (1, {"mode": frame}),
    (1, {"mode": frame, "padder": 2}),
    (1, {"mode": "edge", "constant_values": 3}),
    (1, {"mode": "constant", "stat_length": 3}),
    (1, {"mode": "around"}),
    (1, {"anything": 3}),
    (-1, {}),
    (1.5, {}),
    ((1, 2, 3), {}),
]


def _words(argument: object) -> str:
    """The argument as text, the same in every process."""
    return re.sub(r" at 0x\w+", "", str(argument))


@pytest.mark.parametrize(("width", "more"), CALLS, ids=_words)
def test_values_and_errors_are_numpys(width: Any, more: dict[str, Any]) -> None:
    for values in ARRAYS:
        wanted = run(np.pad, values, width, **more)
        for pad in (xp.pad, np.pad):
            same(run(pad, xp.asarray(values), width, **more), wanted, f"{values.shape}, {values.dtype}")


def test_the_values_of_the_empty_mode_are_not_told() -> None:
    out = xp.pad(xp.arange(3), (1, 2), mode="empty")
    assert out.shape == (6,)
    assert out[1:4].tolist() == [0, 1, 2]


X = np.asarray([[0.3, 1.7, 2.5, 0.4], [1.1, -0.5, 3.2, 0.9]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("odd", [False, True])
def test_every_mode_has_a_derivative(mode: str, odd: bool) -> None:
    if odd and mode not in ("reflect", "symmetric"):
        pytest.skip("of reflections")
    more: dict[str, Any] = {"reflect_type": "odd"} if odd else {}
    weights = np.cos(np.arange(8 * 10)).reshape(8, 10)

    def f(x: Any) -> Any:
        return xp.sum(xp.pad(x, ((2, 4), (5, 1)), mode=mode, **more) * xp.asarray(weights))

    wanted = central_difference(f, (X,), 0)
    for derivative in (xp.grad(f), xp.jit(xp.grad(f))):
        np.testing.assert_allclose(np.asarray(derivative(xp.asarray(X))), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_works_on_batches(mode: Any) -> None:
    out = xp.vmap(lambda x: xp.pad(x, (2, 1), mode=mode))(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(out), [np.pad(row, (2, 1), mode=mode) for row in X], rtol=1e-14)


def test_a_function_for_a_mode_runs_in_numpy_and_says_so() -> None:
    with xp.log_host_calls() as calls:
        xp.pad(xp.arange(3), 1, frame)
    assert [call.function for call in calls] == ["numpy.pad"]
