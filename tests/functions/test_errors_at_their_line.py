"""What NumPy raises on a line is raised on that line; what can only be late names it; tracebacks are short."""

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core.errors import DTypeError, IndexBoundsError, ShapeError

PACKAGES = tuple(
    os.path.join(os.path.dirname(os.path.dirname(inspect.getfile(xp))), name) + os.sep
    for name in ("uopc_array", "uopc_core")
)
MATRICES: dict[str, tuple[Callable[[Any], Any], list[list[float]]]] = {
    "cholesky": (xp.linalg.cholesky, [[1.0, 2.0], [2.0, 1.0]]),
    "inv": (xp.linalg.inv, [[1.0, 2.0], [2.0, 4.0]]),
    "solve": (lambda a: xp.linalg.solve(a, xp.ones(2)), [[1.0, 2.0], [2.0, 4.0]]),
    "matrix_power": (lambda a: xp.linalg.matrix_power(a, -1), [[0.0, 0.0], [0.0, 0.0]]),
    "eigh": (xp.linalg.eigh, [[np.nan, 0.0], [0.0, 1.0]]),
    "np.linalg.inv": (np.linalg.inv, [[1.0, 2.0], [2.0, 4.0]]),
}


def frames_of_ours(error: BaseException) -> int:
    """How many frames of the packages stand above the last line of the caller."""
    n, trace = 0, error.__traceback__
    while trace is not None:
        ours = trace.tb_frame.f_code.co_filename.startswith(PACKAGES)
        n, trace = n + 1 if ours else 0, trace.tb_next
    return n


@pytest.mark.parametrize("name", [name for name in MATRICES if name != "eigh"])
def test_what_lapack_refuses_is_raised_at_the_call(name: str) -> None:
    function, matrix = MATRICES[name]
    a = xp.asarray(matrix) * 1.0
    with pytest.raises(np.linalg.LinAlgError):
        function(a)
    with pytest.raises(np.linalg.LinAlgError):
        xp.grad(lambda a: xp.sum(function(a * 1.0)))(a)
    lazily = xp.jit(lambda a: function(a))
    with pytest.raises(np.linalg.LinAlgError):
        lazily(a)


def test_jitter_is_added_until_a_factor_exists() -> None:
    a, jitter = xp.ones((3, 3)) - 1e-3 * xp.eye(3), 1e-6
    while True:
        try:
            factor = xp.linalg.cholesky(a + jitter * xp.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    assert jitter == pytest.approx(1e-2)
    np.testing.assert_allclose(np.asarray(factor @ factor.T), np.asarray(a + jitter * xp.eye(3)), rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["det", "slogdet", "qr", "svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh", "pinv"]
)
def test_derivatives_pass_through_what_is_computed_at_the_call(name: str) -> None:
    def first(a: Any) -> Any:
        out = getattr(xp.linalg, name)(a)
        return xp.sum(xp.real(out if isinstance(out, xp.Array) else out[-1 if name == "slogdet" else 0]) ** 2)

    a = np.asarray([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 3.0]])
    step = 1e-6
    got = np.asarray(xp.grad(first)(xp.asarray(a)))
    assert np.array_equal(got, np.asarray(xp.jit(xp.grad(first))(xp.asarray(a))))
    if name in ("eigh", "eigvalsh"):  # read the lower triangle: a symmetric step is what a difference can see
        got = got + got.T
    wanted = np.zeros_like(a)
    for i in np.ndindex(a.shape):
        moved = np.zeros_like(a)
        moved[i] += step
        if name in ("eigh", "eigvalsh"):
            moved[i[::-1]] += step
        wanted[i] = (float(first(xp.asarray(a + moved))) - float(first(xp.asarray(a - moved)))) / (2 * step)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


OUT_OF_BOUNDS: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda x, i: x[i],
    "columns": lambda x, i: x[:, i],
    "take": lambda x, i: xp.take(x, i, axis=1),
    "take_along_axis": lambda x, i: xp.take_along_axis(
        x, xp.reshape(i, (1, 2)) + xp.zeros((3, 1), dtype=i.dtype), axis=1
    ),
    "assignment": lambda x, i: x.__setitem__(i, 0.0),
    "in place": lambda x, i: x.__setitem__(i, x[i] + 1),
    "add.at": lambda x, i: np.add.at(x, i, 1.0),
}


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("name", [name for name in OUT_OF_BOUNDS if name != "take_along_axis"])
@pytest.mark.parametrize("bad", [3, 100, -4])
def test_indices_in_memory_are_checked_at_the_call(name: str, dtype: str, bad: int) -> None:
    if bad < 0 and dtype.startswith("u"):
        bad = 7
    x, before = xp.zeros((3, 3)), np.zeros((3, 3))
    index = xp.asarray(np.asarray([0, bad], dtype))
    with pytest.raises(IndexBoundsError, match=f"index {bad} is out of bounds for axis"):
        OUT_OF_BOUNDS[name](x, index)
    assert np.array_equal(np.asarray(x), before)


def test_an_index_error_counts_the_axes_of_the_array() -> None:
    x = xp.zeros((2, 3, 4))
    for axis in range(3):
        key: list[Any] = [slice(None)] * 3
        key[axis] = [9]
        with pytest.raises(IndexError, match=rf"axis {axis} with size {x.shape[axis]}"):
            x[tuple(key)]


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_a_late_error_names_the_line_that_asked(name: str) -> None:
    x, late = xp.zeros((3, 3)), xp.asarray([0, 2]) * 2
    message = "is out of bounds for axis [01] with size 3"
    if name in ("assignment", "in place", "add.at"):
        message += "" if name != "in place" else ".*asked for at .*test_errors_at_their_line.py"
    else:
        message += ".*asked for at .*test_errors_at_their_line.py"

    def everything() -> None:
        result = OUT_OF_BOUNDS[name](x, late)
        np.asarray(x if result is None else result)

    with pytest.raises(IndexBoundsError, match=message):
        everything()


def test_a_late_error_tells_function_and_line() -> None:
    places = xp.asarray([1, 2]) * 3
    picked = xp.asarray([1.0, 2.0])[places]
    with pytest.raises(
        IndexBoundsError,
        match=r"^index [36] is out of bounds .*test_errors_at_their_line.py, line \d+: picked = ",
    ):
        print(picked)


def test_eager_evaluation_raises_where_it_is_written() -> None:
    places = xp.asarray([1, 2]) * 3
    with xp.context(eager=True), pytest.raises(IndexBoundsError):
        places[xp.asarray([0, 1]) * 5]
    with xp.context(eager=True):
        total = xp.exp(places * 1.0) + 1
        assert total._uop.op.name == "BUFFER"
        slope = xp.grad(lambda t: xp.sum(xp.sin(t) * t))(xp.asarray([0.5, 1.5]))
        compiled = xp.jit(lambda t: xp.sum(t * 2))(xp.asarray([0.5, 1.5]))
    np.testing.assert_allclose(np.asarray(slope), np.sin([0.5, 1.5]) + np.asarray([0.5, 1.5]) * np.cos([0.5, 1.5]))
    assert float(compiled) == 4.0
    later = xp.exp(places * 1.0)
    assert later._uop.realized is None
    assert later._uop.op.name != "BUFFER"


X, A = xp.asarray([1.0, 2.0, 3.0]), xp.ones((2, 2))
MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "add": (ShapeError, lambda: X + xp.ones(4)),
    "compare": (ShapeError, lambda: X < xp.ones(4)),
    "in place": (ShapeError, lambda: X.__iadd__(xp.ones((2, 4)))),
    "matmul": (ShapeError, lambda: A @ X),
    "function": (ShapeError, lambda: xp.multiply(X, xp.ones(4))),
    "dtype": (DTypeError, lambda: xp.exp("a")),  # type: ignore[arg-type]
    "axis": (np.exceptions.AxisError, lambda: xp.sum(X, axis=3)),
    "method": (ShapeError, lambda: X.reshape(2, 2)),
    "index": (IndexError, lambda: X[7]),
    "indices": (IndexError, lambda: X[[7]]),
    "assignment": (IndexError, lambda: X.__setitem__(7, 1.0)),
    "concat": (ShapeError, lambda: xp.concat([A, X])),
    "stack": (ShapeError, lambda: xp.stack([A, X])),
    "einsum": (ShapeError, lambda: xp.einsum("ij,jk", A, X)),
    "zeros": (ShapeError, lambda: xp.zeros((-1,))),
    "take": (IndexError, lambda: xp.take(X, xp.asarray([9]))),
    "fft": (ValueError, lambda: xp.fft.fft(X, n=-1)),
    "inv": (np.linalg.LinAlgError, lambda: xp.linalg.inv(A * 0)),
    "cholesky": (np.linalg.LinAlgError, lambda: xp.linalg.cholesky(-A)),
    "solve": (np.linalg.LinAlgError, lambda: xp.linalg.solve(A * 0, A)),
    "svd": (ShapeError, lambda: xp.linalg.svd(X)),
    "broadcast_to": (ShapeError, lambda: xp.broadcast_to(X, (2,))),
    "grad": (TypeError, lambda: xp.grad(lambda t: t)(X)),
    "late": (IndexError, lambda: repr(xp.arange(3)[X > 5][xp.asarray([0]) + 1])),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_tracebacks_end_near_the_line_of_the_user(name: str) -> None:
    kind, mistake = MISTAKES[name]
    with pytest.raises(kind) as caught:
        mistake()
    assert frames_of_ours(caught.value) <= 3
