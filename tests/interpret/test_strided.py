"""Strided slices and writes to parts: the same values as by the ops they are composed of, without the memory."""

import itertools
import random

import numpy as np
import pytest

from tests.support.peak_memory import peak_bytes
from uopc_core.dtype import dtypes
from uopc_core.interpret import numpy_interp
from uopc_core.interpret.numpy_interp import lower_to_numpy
from uopc_core.interpret.strided import find_writes, strided_slice
from uopc_core.ir.composite import slice_axes
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

SLICES = [slice(*parts) for parts in itertools.product((None, 1, 3), (None, -1, 9), (1, 2, 3, 5, -1, -2, -7, 40))]


def array(shape):
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


@pytest.mark.parametrize("first", SLICES, ids=str)
def test_slices_are_those_of_numpy_and_views(first):
    for n, second in ((12, slice(None)), (13, slice(1, None, 3)), (10, slice(None, None, -2)), (11, slice(4, 5))):
        values = array((n, 7))
        x = UOp.param(0, values.shape, dtypes.float64)
        node = slice_axes(x, [first, second])
        assert lower_to_numpy([node + 0.0], [x]).run([values])[0].tolist() == values[first, second].tolist()
        if node.size > 1 and any(part.op is Ops.PAD for part in node.walk()):
            assert any(strided_slice(part) is not None for part in node.walk())


def written(x, make_view, make_value):
    """`x` with a value in the place of a view, as assignments in the graph have it."""
    view = make_view(x)
    steps = []
    node = view
    while node is not x:
        steps.append(node)
        (node,) = node.src
    value, flags = make_value(view), UOp.const(True, dtypes.bool, view.shape)
    return back(steps, flags).where(back(steps, value), x)


def back(steps, value):
    for step in steps:
        source = step.src[0].shape
        if step.op is Ops.SHRINK:
            value = value.pad([(a, n - b) for (a, b), n in zip(step.arg, source, strict=True)])
        elif step.op is Ops.PAD:
            value = value.shrink([(a, a + n) for (a, _), n in zip(step.arg, source, strict=True)])
        elif step.op is Ops.PERMUTE:
            value = value.permute([step.arg.index(axis) for axis in range(len(step.arg))])
        else:
            value = value.flip(step.arg) if step.op is Ops.FLIP else value.reshape(source)
    return value


def random_view(draw, shape):
    """Steps of movement from an array of `shape` to a part of it, and the same for NumPy."""
    steps = []
    for _ in range(draw.randint(1, 4)):
        kind = draw.choice(["slice", "slice", "turn", "mirror", "item"])
        if kind == "turn":
            steps.append((lambda x: x.permute(range(x.ndim)[::-1]), lambda x: x.T))
        elif kind == "mirror":
            steps.append((lambda x: x.flip((x.ndim - 1,)), lambda x: x[..., ::-1]))
        elif kind == "item":
            steps.append((lambda x: slice_axes(x, [slice(0, 1)] + [slice(None)] * (x.ndim - 1)), lambda x: x[0:1]))
        else:
            part = draw.choice(SLICES)
            steps.append(
                (
                    lambda x, part=part: slice_axes(x, [*[slice(None)] * (x.ndim - 1), part]),
                    lambda x, part=part: x[..., part],
                )
            )
    return steps


def through(steps, k, x):
    for step in steps:
        x = step[k](x)
    return x


@pytest.mark.parametrize("seed", range(200))
def test_writes_are_those_of_numpy(seed, monkeypatch):
    monkeypatch.setattr(numpy_interp, "BLOCKWISE_ELEMENTS", 1)
    draw = random.Random(seed)
    values = array(draw.choice([(24,), (12, 13), (5, 6, 4)]))
    steps = random_view(draw, values.shape)
    x = UOp.param(0, values.shape, dtypes.float64)
    node = written(x, lambda x: through(steps, 0, x), lambda view: view * 100.0)
    want = values.copy()
    through(steps, 1, want)[...] *= 100.0
    for given in ((), (x,)):  # a copy, or the array itself
        got = lower_to_numpy([node], [x], given).run([values.copy()])[0]
        assert got.tolist() == want.tolist()


N = 1 << 20
PARTS = {
    "a slice": lambda x: slice_axes(x, [slice(1, -1)]),
    "every second": lambda x: slice_axes(x, [slice(1, None, 2)]),
    "every third from the end": lambda x: slice_axes(x, [slice(None, None, -3)]),
    "columns": lambda x: slice_axes(x.reshape((1024, N // 1024)), [slice(None), slice(3, 700, 2)]),
}


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_write_takes_its_value_and_a_copy_at_most(part, is_given):
    x = UOp.param(0, (N,), dtypes.uint8)
    node = written(x, part, lambda view: view + 1)
    assert find_writes([node])
    program = lower_to_numpy([node], [x], [x] if is_given else [])
    values = np.ones(N, np.uint8)
    program.run([values.copy()])
    most = N * (1 if is_given else 2) + (1 << 19)
    assert peak_bytes(lambda: program.run([values])) <= most
