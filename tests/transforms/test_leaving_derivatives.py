"""A value that depends on the variable of a running derivative leaves the graph by an error, never silently."""

import copy
import io
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats

import uopc_array as xp
from uopc_core.errors import GradientError

P = xp.asarray([1.0, 2.0, 3.0])


def filled(p: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = p[i] ** 2
    return np.sum(out) + p[0]


def filled_at_once(p: Any) -> Any:
    out = np.zeros(3)
    out[:] = p
    return np.sum(out) + p[0]


def stored_in_a_file(p: Any) -> Any:
    np.save(file := io.BytesIO(), p)
    file.seek(0)
    return xp.sum(xp.asarray(np.load(file))) + p[0]


# ways out, as functions of a vector that return a number
EXITS: dict[str, Callable[[Any], Any]] = {
    "float": lambda p: float(p[0]) * p[0],
    "complex": lambda p: xp.real(complex(p[0]) * p[0]),
    "np.float64": lambda p: np.float64(p[0]) * p[0],
    "math.exp": lambda p: p[0] * math.exp(p[0]),
    "math.hypot": lambda p: p[0] * math.hypot(p[0], p[1]),
    "round to digits": lambda p: round(p[0], 3) * p[0],
    "item": lambda p: p[0].item() * p[0],
    "item at": lambda p: p.item(0) * p[0],
    "tolist": lambda p: xp.sum(xp.asarray(p.tolist())) + p[0],
    "to_numpy": lambda p: xp.sum(xp.asarray(p.to_numpy())) + p[0],
    "to_numpy(copy=False)": lambda p: xp.sum(xp.asarray(p.to_numpy(copy=False))) + p[0],
    "np.asarray": lambda p: xp.sum(xp.asarray(np.asarray(p))) + p[0],
    "np.array": lambda p: xp.sum(xp.asarray(np.array(p))) + p[0],
    "np.array of elements": lambda p: np.array([p[0], p[1], p[2]]) @ p,
    "np.array of sums": lambda p: xp.sum(xp.asarray(np.array([p[0] * 2, p[1]]))) + p[0],
    "np.fromiter": lambda p: xp.sum(xp.asarray(np.fromiter(p, float))) + p[0],
    "np.from_dlpack": lambda p: xp.sum(xp.asarray(np.from_dlpack(p))) + p[0],
    "tobytes": lambda p: xp.sum(xp.asarray(np.frombuffer(p.tobytes()))) + p[0],
    "memoryview": lambda p: xp.sum(xp.asarray(np.asarray(memoryview(p.to_numpy())))) + p[0],
    "pickle": lambda p: xp.sum(pickle.loads(pickle.dumps(p))) + p[0],
    "a file": stored_in_a_file,
    "a buffer, element by element": filled,
    "a buffer, at once": filled_at_once,
    "np.full": lambda p: np.sum(np.full(3, p[0])) + p[1],
    "np.r_": lambda p: np.sum(np.r_[p, 1.0] ** 2) + p[0],
    "np.c_": lambda p: np.sum(np.c_[p, p] ** 2) + p[0],
    "np.vectorize": lambda p: xp.sum(xp.asarray(np.vectorize(lambda t: t * t)(p))) + p[0],
    "np.random": lambda p: xp.asarray(np.random.default_rng(0).normal(loc=p[0])) + p[0],
    "np.fill": lambda p: xp.sum(xp.asarray(np.zeros(3).__iadd__(np.asarray(p)))) + p[0],
    "scipy.linalg.solve": lambda p: xp.sum(xp.asarray(scipy.linalg.solve(np.eye(3), p))) + p[0],
    "scipy.linalg.expm": lambda p: xp.sum(xp.asarray(scipy.linalg.expm(p[:, None] * p))) + p[0],
    "scipy.ndimage.gaussian_filter": lambda p: xp.sum(xp.asarray(scipy.ndimage.gaussian_filter(p, 1.0))) + p[0],
    "scipy.signal.fftconvolve": lambda p: xp.sum(xp.asarray(scipy.signal.fftconvolve(p, np.ones(2)))) + p[0],
    "scipy.special.erf": lambda p: xp.sum(xp.asarray(scipy.special.erf(p))) + p[0],
    "scipy.special.softmax": lambda p: xp.asarray(scipy.special.softmax(p))[0] + p[0],
    "scipy.stats.norm.logpdf": lambda p: xp.sum(xp.asarray(scipy.stats.norm.logpdf(p))) + p[0],
    "scipy.integrate.simpson": lambda p: xp.asarray(scipy.integrate.simpson(p)) + p[0],
    "scipy.interpolate.interp1d": lambda p: xp.asarray(scipy.interpolate.interp1d(np.arange(3.0), p)(1.5)) + p[0],
}
MODES: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "grad": lambda f: xp.grad(f)(P),
    "value_and_grad": lambda f: xp.value_and_grad(f)(P),
    "vjp": lambda f: xp.vjp(f, P),
    "jvp": lambda f: xp.jvp(f, (P,), (xp.ones(3),)),
    "grad of grad": lambda f: xp.grad(lambda p: xp.sum(xp.grad(f)(p) ** 2))(P),
    "jacfwd": lambda f: xp.jacfwd(f)(P),
    "checkpoint": lambda f: xp.grad(xp.checkpoint(f))(P),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EXITS)
def test_a_value_that_leaves_a_derivative_is_an_error_that_names_the_remedy(name: str, mode: str) -> None:
    with pytest.raises((GradientError, TypeError), match=r"stop_gradient|static_argnums|inside jit") as caught:
        MODES[mode](EXITS[name])
    if mode != "jacfwd":  # which traces, and says so
        assert isinstance(caught.value, GradientError)


FREE: dict[str, Callable[[Any], Any]] = {
    "bool": lambda p: p[0] * (2.0 if p[0] > 0.5 else 3.0),
    "int": lambda p: p[0] * int(p[1]),
    "index": lambda p: p[0] * [5.0, 6.0, 7.0][xp.argmax(p)],
    "round": lambda p: p[0] * round(p[1]),
    "comparison of a value": lambda p: p[0] * sum(1.0 for t in p if t > 1.5),
    "in": lambda p: p[0] * (2.0 in p),
    "repr, str, format": lambda p: p[0] * len(f"{p!r}{p}{p[0]:.3f}"),
    "print": lambda p: (print(p, file=io.StringIO()), p[0] * 2.0)[1],
    "shapes": lambda p: p[0] * len(p) * p.shape[0] * p.size,
    "what does not depend on it": lambda p: p[0] * float(P[1]) * np.asarray(P)[2],
    "stop_gradient": lambda p: p[0] * float(xp.stop_gradient(p[1])) * np.asarray(xp.stop_gradient(p))[2],
    "integers of it": lambda p: p[0] * float(xp.argmax(p)) * np.asarray(xp.astype(p, xp.int64))[2],
    "copies": lambda p: xp.sum(copy.deepcopy(p) * copy.copy(p)),
    "zeros_like": lambda p: xp.sum(np.zeros_like(p) + p),
}


@pytest.mark.parametrize("name", FREE)
def test_control_flow_and_printing_are_free(name: str) -> None:
    function = FREE[name]
    factor = float(function(P)) / float(P[0])
    wanted = {"copies": [2.0, 4.0, 6.0], "zeros_like": [1.0, 1.0, 1.0]}.get(name, [factor, 0.0, 0.0])
    np.testing.assert_allclose(np.asarray(xp.grad(function)(P)), wanted, rtol=1e-6, atol=1e-6)
    tangent = xp.jvp(function, (P,), (xp.asarray([1.0, 10.0, 100.0]),))[1]
    np.testing.assert_allclose(float(tangent), np.dot(wanted, [1.0, 10.0, 100.0]), rtol=1e-6)


def test_values_may_be_looked_at_when_the_derivative_is_done() -> None:
    seen: list[Any] = []

    def loss(p: Any) -> Any:
        total = xp.sum(p**2)
        seen.append(total)
        return total

    gradient = xp.grad(loss)(P)
    assert float(seen[0]) == 14.0
    assert np.asarray(gradient).tolist() == [2.0, 4.0, 6.0]


def test_an_error_tells_operation_remedy_and_line() -> None:
    with pytest.raises(GradientError) as caught:
        xp.grad(lambda x: x * math.exp(x))(1.0)
    text = str(caught.value)
    assert text.startswith("float: the value depends on what is differentiated by")
    assert "xp.stop_gradient(x)" in text
    assert "test_leaving_derivatives.py" in text
    with pytest.raises(GradientError, match=r"fill xp.zeros\(n\) instead of np.zeros\(n\)"):
        xp.grad(filled_at_once)(P)


def test_the_remedies_differentiate() -> None:
    def buffer(p: Any) -> Any:
        out = xp.zeros(3)
        for i in range(3):
            out[i] = p[i] ** 2
        return xp.sum(out) + p[0]

    assert np.asarray(xp.grad(buffer)(P)).tolist() == [3.0, 4.0, 6.0]
    assert np.asarray(xp.grad(lambda p: xp.stack([p[0], p[1], p[2]]) @ p)(P)).tolist() == [2.0, 4.0, 6.0]
    assert np.asarray(xp.grad(lambda p: xp.sum(xp.full(3, p[0])) + p[1])(P)).tolist() == [3.0, 1.0, 0.0]
    assert np.asarray(xp.grad(lambda p: xp.sum(xp.concat([p, xp.ones(1)]) ** 2))(P)).tolist() == [2.0, 4.0, 6.0]
