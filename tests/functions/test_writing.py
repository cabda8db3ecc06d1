"""Functions that write to an array: NumPy's values and errors; into views, read-only arrays, NumPy's arrays; traced."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same

ARRAYS = [
    (np.arange(max(int(np.prod(shape)), 1)) * 5 % 7).astype(dtype)[: int(np.prod(shape))].reshape(shape)
    for dtype in ("int64", "uint8", "float32", "complex128", "bool")
    for shape in ((), (1,), (5,), (0,), (2, 3), (3, 3), (4, 2), (2, 2, 2))
]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x,
    "columns": lambda x: x.T,
    "a part": lambda x: x[..., 1:] if x.ndim else x,
    "backwards": lambda x: x[::-1] if x.ndim else x,
}
VALUES: list[Any] = [1, [1, 2], [], 2.5, [[3, 4]], [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]]
Write = Callable[[Any, Any], Any]  # of the namespace and the array
CALLS: dict[str, Write] = {
    **{
        f"put {ind} {v} {mode}": lambda np_, x, i=ind, v=v, m=mode: np_.put(x, i, v, mode=m)
        for ind, v in (([0], [1]), ([0, 1, 0], [5, 6]), ([9], [1]), (-1, 3), ([], [1]), ([0], []), ([True], [2]))
        for mode in ("raise", "wrap", "clip")
    },
    **{f"x.put {mode}": lambda _, x, m=mode: x.put([3, -1], [1, 0], mode=m) for mode in ("raise", "wrap", "clip")},
    "put in no mode": lambda np_, x: np_.put(x, [0], 1, mode="round"),
    **{
        f"{name} {v}": lambda np_, x, n=name, v=v: getattr(np_, n)(x, x == x, v)
        for name in ("place", "putmask")
        for v in VALUES
    },
    **{
        f"{name} where some are {v}": lambda np_, x, n=name, v=v: getattr(np_, n)(x, x != 0, v)
        for name in ("place", "putmask")
        for v in VALUES
    },
    "place by a mask of another shape": lambda np_, x: np_.place(x, np.ones(x.size, bool), [4, 5]),
    "place by a short mask": lambda np_, x: np_.place(x, [True, False, True], [4]),
    "putmask by a short mask": lambda np_, x: np_.putmask(x, [True, False, True], [4]),
    **{f"fill_diagonal {v}": lambda np_, x, v=v: np_.fill_diagonal(x, v) for v in VALUES},
    "fill_diagonal wrapped": lambda np_, x: np_.fill_diagonal(x, [1, 0], wrap=True),
    **{
        f"put_along_axis {axis} {places}": lambda np_, x, p=places, a=axis: np_.put_along_axis(
            x, np_.asarray(p), 3, axis=a
        )
        for places in ([[0], [0]], [[0]], [0], [[9]], [[-1, 0]])
        for axis in (0, 1, 3)
    },
    **{f"copyto {v}": lambda np_, x, v=v: np_.copyto(x, v) for v in VALUES},
    **{
        f"copyto by {rule}": lambda np_, x, r=rule: np_.copyto(x, np_.asarray(2.5), casting=r)
        for rule in ("same_kind", "unsafe", "safe", "no", "round")
    },
    "copyto where": lambda np_, x: np_.copyto(x, 0, where=x != 1),
    "copyto of numbers of Python": lambda np_, x: np_.copyto(x, 3),
    "fill": lambda _, x: x.fill(1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", CALLS)
def test_values_and_errors_are_numpys(call: str, layout: str) -> None:
    for values in ARRAYS:
        what = f"{call} of {layout}, {values.shape}, {values.dtype}"
        theirs, ours, numpys = values.copy(), xp.asarray(values), xp.asarray(values)
        wanted = run(CALLS[call], np, LAYOUTS[layout](theirs))
        same(run(CALLS[call], xp, LAYOUTS[layout](ours)), wanted, what)
        same(ours, values if isinstance(wanted, Exception) else theirs, what)  # NumPy may have begun
        if not call.startswith("put_along_axis"):  # NumPy's own takes no array of ours for indices
            run(CALLS[call], np, LAYOUTS[layout](numpys))
            same(numpys, ours, f"np.{what}")


WRITERS: dict[str, Write] = {
    "assignment": lambda _, x: x.__setitem__(0, 1.0),
    "assignment of all": lambda _, x: x.__setitem__(..., 1.0),
    "+=": lambda _, x: x.__iadd__(1.0),
    "fill": lambda _, x: x.fill(1.0),
    "sort": lambda _, x: x.sort(),
    "out": lambda np_, x: np_.add(x, 1.0, out=x),
    "reduction": lambda np_, x: np_.sum(np_.ones((3, 4)), axis=1, out=x),
    "put": lambda np_, x: np_.put(x, [0], 1.0),
    "x.put": lambda _, x: x.put([0], 1.0),
    "place": lambda np_, x: np_.place(x, x == x, [1.0]),
    "putmask": lambda np_, x: np_.putmask(x, x == x, [1.0]),
    "put_along_axis": lambda np_, x: np_.put_along_axis(x, np.asarray([0]), 1.0, 0),
    "copyto": lambda np_, x: np_.copyto(x, 1.0),
    "byteswap": lambda _, x: x.byteswap(inplace=True),
    "setfield": lambda _, x: x.setfield(1, "int32", 4),
    "real": lambda _, x: setattr(x, "real", 1.0),
    "flat": lambda _, x: setattr(x, "flat", 1.0),
}


def read_only(x: Any) -> Any:
    x.setflags(write=False)
    return x


READ_ONLY: dict[str, Callable[[Any], Any]] = {
    "an array": lambda np_: read_only(np_.ones(3)),
    "a view": lambda np_: read_only(np_.ones((2, 3))[1]),
    "a view of what may not be changed": lambda np_: read_only(np_.ones((2, 3)))[1],
    "a diagonal": lambda np_: np_.ones((3, 3)).diagonal(),
    "a part of a diagonal": lambda np_: np_.ones((4, 4)).diagonal()[1:],
    "of a spread array": lambda np_: np_.broadcast_to(np_.asarray(1.0), (3,)),
    "a row of a spread array": lambda np_: np_.broadcast_to(np_.ones(3), (2, 3))[0],
}


@pytest.mark.parametrize("kind", READ_ONLY)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_read_only_is_written_to_by_nobody(writer: str, kind: str) -> None:
    theirs = READ_ONLY[kind](np)
    with pytest.raises(ValueError, match="read-only"):
        WRITERS[writer](np, theirs)
    x = READ_ONLY[kind](xp)
    assert not x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        WRITERS[writer](xp, x)
    np.testing.assert_array_equal(np.asarray(x), np.ones(3))


def test_views_and_their_bases_may_be_changed_as_in_numpy() -> None:
    def told(np_: Any) -> list[Any]:
        x = np_.zeros((3, 3))
        before = x[1]
        x.setflags(write=False)
        after = x[2]
        out = [y.flags.writeable for y in (x, before, after)]
        before[0] = 5.0
        out += [run(after.setflags, write=True), x.tolist()]
        x.setflags(write=True)
        after.setflags(write=True)
        after[0] = 6.0
        diagonal = x.diagonal()
        diagonal.setflags(write=True)
        diagonal[1] = 7.0
        return [*out, x.tolist(), after.flags.writeable, run(x.setflags, uic=True), x.setflags(align=True)]

    for got, wanted in zip(told(xp), told(np), strict=True):
        assert got == wanted or (isinstance(got, ValueError) and isinstance(wanted, ValueError)), (got, wanted)
    with pytest.raises(ValueError, match="several of its elements are one"):
        xp.broadcast_to(xp.ones(3), (2, 3)).setflags(write=True)
    with pytest.raises(ValueError, match="setflags: a number cannot be changed"):
        xp.sum(xp.ones(3)).setflags(write=True)


def test_what_writes_to_an_array_of_numpy_writes_to_its_memory() -> None:
    values = np.zeros((2, 2))
    xp.copyto(values, xp.ones(2))
    xp.put(values, [0], xp.asarray([5.0]))
    xp.fill_diagonal(values, xp.asarray(7.0), wrap=False)
    xp.putmask(values, xp.asarray(values) == 1, xp.asarray([2.0, 3.0]))
    xp.place(values, values == 3.0, [4.0])
    xp.put_along_axis(values, np.asarray([[1], [0]]), 9.0, axis=1)
    assert values.tolist() == [[7.0, 9.0], [9.0, 7.0]]


TRACED: dict[str, Callable[[Any, Any, Any], None]] = {
    "copyto": lambda np_, y, x: np_.copyto(y, x[:3] * 2),
    "copyto where": lambda np_, y, x: np_.copyto(y, x[:3], where=y > 1),
    "put": lambda np_, y, x: np_.put(y, [1, -1], x[3:] * x[:2]),
    "place": lambda np_, y, x: np_.place(y, y > 0.5, x[:2]),
    "putmask": lambda np_, y, x: np_.putmask(y, y > 0.5, x[:2] * 3),
    "put_along_axis": lambda np_, y, x: np_.put_along_axis(y, np.asarray([2, 0]), x[3:], axis=0),
    "fill_diagonal": lambda np_, y, x: np_.fill_diagonal(y.reshape(1, 3), x[4]),
}


@pytest.mark.parametrize("name", TRACED)
def test_writers_compose_with_the_transforms(name: str) -> None:
    def f(x: Any) -> Any:
        y = x[:3] * 1.0
        TRACED[name](xp, y, x)
        return xp.sum(y * xp.asarray([1.0, 2.0, 3.0]))

    x = np.asarray([0.3, 1.7, 2.5, 0.4, 1.2])
    y = x[:3] * 1.0
    TRACED[name](np, y, x)
    for compute in (f, xp.jit(f)):
        np.testing.assert_allclose(float(compute(xp.asarray(x))), np.sum(y * [1.0, 2.0, 3.0]), rtol=1e-14)
    step = 1e-6
    wanted = [float(f(xp.asarray(x + step * e)) - f(xp.asarray(x - step * e))) / (2 * step) for e in np.eye(5)]
    for derivative in (xp.grad(f), xp.jit(xp.grad(f))):
        np.testing.assert_allclose(np.asarray(derivative(xp.asarray(x))), wanted, rtol=1e-8, atol=1e-8)
    batch = np.stack([x, x[::-1].copy()])
    np.testing.assert_allclose(
        np.asarray(xp.vmap(f)(xp.asarray(batch))), [float(f(xp.asarray(row))) for row in batch], rtol=1e-14
    )


def test_without_an_axis_values_are_put_into_the_row_of_all_elements() -> None:
    x, values = xp.zeros((2, 3)), np.zeros((2, 3))
    xp.put_along_axis(x, xp.asarray([4, 0]), xp.asarray([1.0, 2.0]), axis=None)
    np.put_along_axis(values, np.asarray([4, 0]), np.asarray([1.0, 2.0]), axis=None)
    assert x.tolist() == values.tolist()
