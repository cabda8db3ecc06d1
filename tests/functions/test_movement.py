"""Functions that move elements: NumPy's values, its views and copies, its flags, whatever the layout of the operand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same

Call = Callable[[Any, Any], Any]  # of the namespace and an array

ARRAYS = [
    (np.arange(max(int(np.prod(shape)), 1)) % 7).astype(dtype)[: int(np.prod(shape))].reshape(shape)
    for dtype in ("int64", "float32", "complex128", "bool")
    for shape in ((), (1,), (4,), (0,), (2, 3), (3, 3), (0, 2), (1, 4, 1), (2, 3, 2))
]
INTEGERS = [x for x in ARRAYS if x.dtype == np.int64]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x,
    "columns": lambda x: x.T,
    "backwards": lambda x: x[::-1] if x.ndim else x,
    "a part": lambda x: x[..., 1:] if x.ndim else x,
}
AXES = [None, 0, 1, -1, (0, 1), (0, 0), ()]
CALLS: dict[str, Call] = {
    **{f"ravel {order}": lambda np_, x, o=order: np_.ravel(x, o) for order in ("C", "F", "A", "K", "f", None, "X")},
    **{f"x.ravel {order}": lambda _, x, o=order: x.ravel(o) for order in "CFAK"},
    **{f"x.flatten {order}": lambda _, x, o=order: x.flatten(o) for order in "CFAK"},
    **{
        f"reshape {shape} {order}": lambda np_, x, s=shape, o=order: np_.reshape(x, s, order=o)
        for shape in (-1, (-1, 1), (3, 2), (2, -1), (1, 2, 3, 1), (7,), (-1, -1))
        for order in "CFA"
    },
    "x.reshape in columns": lambda _, x: x.reshape(2, -1, order="F"),
    "x.reshape of nothing": lambda _, x: x.reshape(),
    "x.reshape of floats": lambda _, x: x.reshape(2.0, 3),
    **{f"reshape copy {copy}": lambda np_, x, c=copy: np_.reshape(x, -1, copy=c) for copy in (True, False, None)},
    "reshape F copy": lambda np_, x: np_.reshape(x, -1, order="F", copy=False),
    **{
        f"{name} {axis}": lambda np_, x, n=name, a=axis: getattr(np_, n)(x, axis=a)
        for name in ("squeeze", "flip", "expand_dims", "size")
        for axis in AXES
    },
    **{f"x.squeeze {axis}": lambda _, x, a=axis: x.squeeze(a) for axis in AXES},
    **{f"roll {axis}": lambda np_, x, a=axis: np_.roll(x, 1, a) for axis in (None, 0, -1, (0, 1))},
    **{
        f"repeat {times} {axis}": lambda np_, x, n=times, a=axis: np_.repeat(x, n, a)
        for times in (0, 2, [1, 2])
        for axis in (None, 0, 1)
    },
    **{f"unstack {axis}": lambda np_, x, a=axis: np_.unstack(x, axis=a) for axis in (0, 1, -1)},
    **{
        f"{name} {how} {axis}": lambda np_, x, n=name, h=how, a=axis: getattr(np_, n)(x, h, axis=a)
        for name in ("split", "array_split")
        for how in (1, 2, 3, -1, [1], [2, 1], [-1, 9], [])
        for axis in (0, 1)
    },
    **{f"{name}split": lambda np_, x, n=name: getattr(np_, f"{n}split")(x, 1) for name in "vhd"},
    **{f"concat {axis}": lambda np_, x, a=axis: np_.concat([x, x], axis=a) for axis in (None, 0, 1, 5)},
    **{f"stack {axis}": lambda np_, x, a=axis: np_.stack([x, x], axis=a) for axis in (0, 1, -1, 5)},
    **{f"append {axis}": lambda np_, x, a=axis: np_.append(x, x, axis=a) for axis in (None, 0)},
    **{f"{name}stack": lambda np_, x, n=name: getattr(np_, f"{n}stack")([x, x]) for name in ("v", "h", "d", "column_")},
    "hstack of a dtype": lambda np_, x: np_.hstack([x, x], dtype="complex128"),
    **{f"rot90 {k}": lambda np_, x, k=k: np_.rot90(x, k) for k in (0, 1, 2, 3, -5)},
    **{f"diag {k}": lambda np_, x, k=k: np_.diag(x, k) for k in (0, 1, -1, 9)},
    **{
        f"x.diagonal {axes}": lambda _, x, a=axes: x.diagonal(*a)
        for axes in ((), (1,), (-1, 1, 0), (0, 0, 2), (0, 1, 1), (9,))
    },
    **{
        f"x.transpose {axes}": lambda _, x, a=axes: x.transpose(*a) for axes in ((), (1, 0), ((1, 0),), (2, 0, 1), (0,))
    },
    "transpose ()": lambda np_, x: np_.transpose(x, ()),
    **{f"swapaxes {i}": lambda _, x, i=i: x.swapaxes(i, -1) for i in (0, 1, 2)},
    **{f"moveaxis {i}": lambda np_, x, i=i: np_.moveaxis(x, i, -1) for i in (0, 1, [0, 1])},
    **{f"rollaxis {i}": lambda np_, x, i=i: np_.rollaxis(x, i, 1) for i in (0, 1, -1)},
    **{f"broadcast_to {s}": lambda np_, x, s=s: np_.broadcast_to(x, s) for s in ((2, 3), (5, 2, 3), (1, 4, 1), ())},
    "broadcast_arrays": lambda np_, x: np_.broadcast_arrays(x, np_.zeros((2, 1)))[0],
    "broadcast_arrays of one shape": lambda np_, x: np_.broadcast_arrays(x, x)[0],
    **{f"tile {reps}": lambda np_, x, r=reps: np_.tile(x, r) for reps in (2, (2, 1), (), (0, 2))},
    **{f"atleast_{n}d": lambda np_, x, n=n: getattr(np_, f"atleast_{n}d")(x) for n in (1, 2, 3)},
    **{name: lambda np_, x, n=name: getattr(np_, n)(x) for name in ("fliplr", "flipud", "shape", "ndim")},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", CALLS)
def test_values_and_errors_are_numpys(call: str, layout: str) -> None:
    for values in ARRAYS:
        what = f"{call} of {layout}, {values.shape}, {values.dtype}"
        wanted = run(lambda np_, x: CALLS[call](np_, LAYOUTS[layout](x)), np, values)
        got = run(lambda np_, x: CALLS[call](np_, LAYOUTS[layout](x)), xp, xp.asarray(values))
        same(got, wanted, what)
        for mine, theirs in zip(*([x] if not isinstance(x, list | tuple) else x for x in (got, wanted)), strict=True):
            if isinstance(mine, xp.Array) and values.ndim:
                assert mine._is_number == isinstance(theirs, np.generic), what


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", CALLS)
def test_a_result_shares_memory_where_numpys_does(call: str, layout: str) -> None:
    for values in INTEGERS:
        if values.size < 2:
            continue
        theirs, ours = values.copy(), xp.asarray(values)
        wanted = run(lambda np_, x: CALLS[call](np_, LAYOUTS[layout](x)), np, theirs)
        got = run(lambda np_, x: CALLS[call](np_, LAYOUTS[layout](x)), xp, ours)
        for a, b in zip(*([x] if not isinstance(x, list | tuple) else x for x in (wanted, got)), strict=True):
            if not isinstance(a, np.ndarray) or not a.size:
                continue
            what = f"{call} of {layout}, {values.shape}, {values.dtype}"
            assert np.shares_memory(a, theirs) == xp.shares_memory(b, ours), what
            if not call.startswith("broadcast_arrays"):  # NumPy warns, and writes
                assert a.flags.writeable == b.flags.writeable, what
        theirs[...], ours[...] = 1, 1
        same(got, wanted, f"{call} of {layout}, after a write to the base")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", CALLS)
def test_what_is_written_to_a_view_is_written_to_the_array(call: str, layout: str) -> None:
    for values in INTEGERS:
        theirs, ours = values.copy(), xp.asarray(values)
        wanted = run(lambda np_, x: CALLS[call](np_, LAYOUTS[layout](x)), np, theirs)
        got = run(lambda np_, x: CALLS[call](np_, LAYOUTS[layout](x)), xp, ours)
        if call == "broadcast_arrays":
            continue
        for a, b in zip(*([x] if not isinstance(x, list | tuple) else x for x in (wanted, got)), strict=True):
            if isinstance(a, np.ndarray) and a.ndim:
                what = f"{call} of {layout}, {values.shape}, {values.dtype}"
                same(run(b.__setitem__, 0, 1), run(a.__setitem__, 0, 1), what)
                same(ours, theirs, what)
                same(b, a, what)
