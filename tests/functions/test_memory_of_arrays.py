"""Methods that tell of bytes, or change the shape, the size and the flags of an array in place."""

import gc
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same
from uopc_core.errors import TraceError

ARRAYS = [
    (np.arange(max(int(np.prod(shape)), 1)) * 5 % 7).astype(dtype)[: int(np.prod(shape))].reshape(shape)
    for dtype in ("int64", "float32", "complex128", "bool", "uint16")
    for shape in ((), (1,), (6,), (0,), (2, 3))
]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x,
    "columns": lambda x: x.T,
    "a part": lambda x: x[..., 1:] if x.ndim else x,
}
SHAPES: list[Any] = [(2, 3), (-1,), 6, (3, -1), (7,), (1, 1, -1), (-1, -1), None, 2.5, ()]
CALLS: dict[str, Callable[[Any], Any]] = {
    "byteswap": lambda x: x.byteswap(),
    "byteswap in place": lambda x: x.byteswap(inplace=True),
    **{
        f"getfield {dtype} {offset}": lambda x, d=dtype, o=offset: x.getfield(d, o)
        for dtype, offset in (("uint8", 0), ("uint8", 1), ("int32", 4), ("float64", 8), ("float32", 0), ("uint8", -1))
    },
    **{
        f"setfield {dtype} {offset}": lambda x, d=dtype, o=offset: x.setfield(1, d, o)
        for dtype, offset in (("uint8", 0), ("uint8", 1), ("int32", 4), ("float64", 8), ("uint8", 16), ("uint8", -1))
    },
    **{f"shape {shape}": lambda x, s=shape: setattr(x, "shape", s) for shape in SHAPES},
    **{
        f"resize {shape}": lambda x, s=shape: x.resize(s, refcheck=False)
        for shape in ((2, 3), (4,), 9, (), (0,), (-1,), None)
    },
    "resize by numbers": lambda x: x.resize(2, 2, refcheck=False),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", CALLS)
def test_values_and_errors_are_numpys(call: str, layout: str) -> None:
    if call.startswith("resize") and layout == "columns":
        pytest.skip("NumPy takes the elements as they lie")
    for values in ARRAYS:
        what = f"{call} of {layout}, {values.shape}, {values.dtype}"
        theirs, ours = values.copy(), xp.asarray(values)
        x, y = LAYOUTS[layout](theirs), LAYOUTS[layout](ours)
        wanted, got = run(CALLS[call], x), run(CALLS[call], y)
        same(got, wanted, what)
        if not isinstance(wanted, Exception):
            same(y, x, what)
            same(ours, theirs, what)


def test_a_view_follows_an_array_that_has_taken_another_shape() -> None:
    def told(np_: Any) -> list[Any]:
        x = np_.arange(6)
        row, part = x[:], x[2:5]
        x.shape = (2, 3)
        out = [x.tolist(), row.tolist(), part.tolist()]
        x[0, 2] = 10
        part[1] = 20
        row[0] = 30
        column = x[:, 1]
        x.shape = (3, 2)
        column[0] = 40
        out += [x.tolist(), row.tolist(), part.tolist(), column.tolist(), row.shape]
        row.shape = (1, 6)
        row += 1
        return [*out, x.tolist(), row.tolist(), part.tolist(), column.tolist(), x.shape, row.shape]

    assert told(xp) == told(np)


def test_the_derivative_passes_through_an_array_that_takes_another_shape() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        part = y[1:3]
        y.shape = (2, 2)
        y[0] *= 3.0
        return xp.sum(y[:, 0] * x[1]) + xp.sum(part**2)

    x = np.asarray([0.5, 1.5, 2.5, 3.5])
    step = 1e-6
    wanted = [float(f(xp.asarray(x + step * e)) - f(xp.asarray(x - step * e))) / (2 * step) for e in np.eye(4)]
    for derivative in (xp.grad(f), xp.jit(xp.grad(f))):
        np.testing.assert_allclose(np.asarray(derivative(xp.asarray(x))), wanted, rtol=1e-8)
    assert float(xp.jit(f)(xp.asarray(x))) == pytest.approx(float(f(xp.asarray(x))), rel=1e-14)


def state_of(values: Any) -> Any:
    """What NumPy's pickle of an array holds of it."""
    return values.__reduce__()[2]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: setattr(x, "shape", (3, 2)),
    "resize": lambda x: x.resize(3),
    "setflags": lambda x: x.setflags(write=False),
    "__setstate__": lambda x: x.__setstate__(state_of(np.ones(3))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_inside_a_trace_an_older_array_keeps_its_shape_and_flags(name: str) -> None:
    x = xp.ones((2, 3))
    change = CHANGES[name]

    def f(x: Any) -> Any:
        change(x)
        return xp.sum(x)

    with pytest.raises(TraceError, match=f"{name}: inside a traced function an array from outside of it keeps"):
        xp.jit(f)(x)
    assert (x.shape, x.flags.writeable) == ((2, 3), True)

    def g(x: Any) -> Any:
        y = x + 1.0
        change(y)
        return y

    np.testing.assert_array_equal(np.asarray(xp.jit(g)(x)), np.asarray(g(x)))


def test_a_number_keeps_its_shape() -> None:
    total = xp.sum(xp.ones(3))
    with pytest.raises(AttributeError, match="shape: the shape of a number cannot be changed"):
        total.shape = (1,)
    for change in (lambda: total.resize(3), lambda: total.setfield(1, "int8"), lambda: total.byteswap(inplace=True)):
        with pytest.raises(TypeError, match=r"a number \(float64\) cannot be changed in place"):
            change()
    assert float(total) == 3.0


def test_an_array_with_views_keeps_its_size() -> None:
    x = xp.arange(6)
    view = x[1:]
    with pytest.raises(ValueError, match="resize: an array of which there are views cannot change its size"):
        x.resize(9)
    with pytest.raises(ValueError, match="resize: a view cannot change its size"):
        view.resize(2)
    del view
    gc.collect()
    x.resize(2, 2)
    assert x.tolist() == [[0, 1], [2, 3]]


def test_what_jit_has_compiled_does_not_write_to_a_read_only_array() -> None:
    @xp.jit
    def f(x: Any) -> Any:
        x[0] = 5.0
        return xp.sum(x)

    x = xp.ones(3)
    assert float(f(x)) == 7.0
    for y in (xp.ones(3), xp.ones((2, 3))[1]):
        y.setflags(write=False)
        with pytest.raises(ValueError, match="assignment: the destination is read-only"):
            f(y)
        assert y.tolist() == [1.0, 1.0, 1.0]


def test_values_go_to_files_and_come_back(tmp_path: Path) -> None:
    values = np.asarray([[1.5, 2.5], [3.5, -0.0]])
    x = xp.asarray(values)
    for name, more in (("bytes", {}), ("text", {"sep": ",", "format": "%.3f"})):
        x.tofile(tmp_path / name, **more)
        values.tofile(tmp_path / "numpys", **more)
        assert (tmp_path / name).read_bytes() == (tmp_path / "numpys").read_bytes()
    x.dump(tmp_path / "pickled")
    with open(tmp_path / "pickled", "rb") as file:
        same(pickle.load(file), values, "dump to a path")
    stream = io.BytesIO()
    x.dump(stream)
    same(pickle.loads(stream.getvalue()), values, "dump to a stream")
    same(pickle.loads(x.dumps()), values, "dumps")
    with pytest.raises(TraceError, match="pickle"):
        xp.jit(lambda x: x.dumps())(x)


def test_an_array_takes_the_state_that_numpys_pickle_has() -> None:
    for values in ARRAYS:
        x = xp.zeros(3)
        x.__setstate__(state_of(values))
        same(x, values, "__setstate__")
    x = xp.zeros(3)
    view = x[1:]
    with pytest.raises(ValueError, match="__setstate__: an array of which there are views"):
        x.__setstate__(state_of(np.ones(2)))
    assert view.tolist() == [0.0, 0.0]


def test_parts_of_complex_numbers_are_views() -> None:
    x = xp.asarray([1 + 2j, 3 + 4j])
    x.getfield("float64", 8)[0] = 9.0
    assert x.tolist() == [1 + 9j, 3 + 4j]


def test_the_class_takes_parameters_for_annotations() -> None:
    array: Any = xp.Array
    assert array[tuple[int], np.dtype[np.float64]].__args__ == (tuple[int], np.dtype[np.float64])
    assert array[int].__origin__ is xp.Array
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match="Array: expected one parameter or two"):
            array[wrong]
