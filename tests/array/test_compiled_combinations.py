"""What the loops of a kernel are made of, in every combination: how elements are found, what is done to them, what they
are reduced to. Each is compiled as one kernel where it can be, and gives what the interpreter gives.
"""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import uopc_array as xp
from tests.support.guard_pages import guard_every_plan
from uopc_core import context
from uopc_core.runtime.toolchain import find_toolchain

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True, scope="module")
def _between_guard_pages():
    with pytest.MonkeyPatch.context() as monkeypatch:
        guard_every_plan(monkeypatch)
        yield


# x: an array of two axes; i: an index of its shape, along either axis
MOVEMENTS = {
    "as it is": lambda x, i: x,
    "transposed": lambda x, i: x.T,
    "part": lambda x, i: x[:, 1:],
    "every other": lambda x, i: x[::2, ::2],
    "flipped": lambda x, i: x[::-1, ::-1],
    "padded": lambda x, i: xp.pad(x, ((1, 2), (0, 3))),
    "tril": lambda x, i: xp.tril(x),
    "triu": lambda x, i: xp.triu(x, k=1),
    "concatenated": lambda x, i: xp.concat([x, x[:, :1], x], axis=1),
    "stacked": lambda x, i: xp.stack([x, x], axis=1),
    "rolled": lambda x, i: xp.roll(x, 1, axis=1),
    "rolled both": lambda x, i: xp.roll(x, (1, -2), axis=(0, 1)),
    "tiled": lambda x, i: xp.tile(x, (2, 1)),
    "repeated": lambda x, i: xp.repeat(x, 2, axis=1),
    "by a row": lambda x, i: x * xp.arange(x.shape[1]),
    "by a column": lambda x, i: x + xp.arange(x.shape[0])[:, None],
    "plus transposed": lambda x, i: x[: min(x.shape), : min(x.shape)] + x[: min(x.shape), : min(x.shape)].T,
    "outer": lambda x, i: x[:, 0][:, None] - x[0, :],
    "windows": lambda x, i: xp.stack([x[:, k : k + x.shape[1] - 1] for k in (0, 1)], axis=2),
    "flat": lambda x, i: xp.reshape(x[:, : x.shape[1] - 1], (-1,))[x.shape[0] > 1 :],
    "along 0": lambda x, i: xp.take_along_axis(x, i % x.shape[0], axis=0),
    "along 1": lambda x, i: xp.take_along_axis(x, i % x.shape[1], axis=1),
    "along 1 of one": lambda x, i: xp.take_along_axis(x, i[:, :1] % x.shape[1], axis=1),
    "rows": lambda x, i: x[i[:, 0] % x.shape[0]],
    "columns": lambda x, i: x[:, i[0] % x.shape[1]],
    "elements": lambda x, i: x[i[:, :1] % x.shape[0], i % x.shape[1]],
    "columns of columns": lambda x, i: xp.take(x[::-1], i[0] % x.shape[1], axis=1),
    "padded gather": lambda x, i: xp.pad(xp.take_along_axis(x, i % x.shape[0], axis=0), ((1, 1), (1, 1))),
    "gather of padded": lambda x, i: xp.take_along_axis(xp.pad(x, ((1, 1), (1, 1)))[1:-1, 2:], i % x.shape[0], 0),
}
FUNCTIONS = {
    "nothing": lambda x: x,
    "double": lambda x: x * 2,
    "exp": lambda x: xp.exp(x / 4),
    "sin cos": lambda x: xp.sin(x) + xp.cos(x / 2),
    "power": lambda x: xp.pow(xp.abs(x) + 0.5, 1.5),
    "compare": lambda x: xp.where(xp.abs(x) > 1, x, 0),
    "square minus": lambda x: x * x - x,
}
REDUCTIONS = {
    "none": lambda x: x,
    "sum": lambda x: xp.sum(x),
    "sum 0": lambda x: xp.sum(x, axis=0),
    "sum -1": lambda x: xp.sum(x, axis=-1),
    "mean": lambda x: xp.mean(x),
    "std": lambda x: xp.std(x),
    "var -1": lambda x: xp.var(x, axis=-1, keepdims=True),
    "deviations": lambda x: xp.sum((x - xp.mean(x)) ** 2) / xp.sum(xp.abs(x)),
    "scores": lambda x: (x - xp.mean(x)) / (1 + xp.std(x)),
    "scores of rows": lambda x: (x - xp.mean(x, axis=-1, keepdims=True)) / (1 + xp.std(x, axis=-1, keepdims=True)),
    "two": lambda x: xp.sum(x * x) + xp.sum(x, axis=0),
    "prod": lambda x: xp.prod(x / 3, axis=-1),
    "scan": lambda x: xp.cumulative_sum(x, axis=x.ndim - 1),
}
ORDERED = {  # not for complex numbers
    "max": lambda x: xp.max(x),
    "max 0": lambda x: xp.max(x, axis=0),
    "argmax -1": lambda x: xp.argmax(x, axis=-1),
    "softmax": lambda x: (
        xp.exp(x - xp.max(x, axis=-1, keepdims=True)) / xp.sum(xp.exp(x - xp.max(x)), axis=-1)[..., None]
    ),
    "range": lambda x: xp.max(x) - xp.min(x) + xp.sum(x),
    "normalised": lambda x: (x - xp.min(x)) / (1 + xp.max(x) - xp.min(x)),
}
SHAPES = [(1, 2), (2, 2), (3, 5), (7, 5), (8, 9), (40, 33), (100, 100), (3, 700), (700, 3)]


@settings(max_examples=200)
@given(
    st.sampled_from(list(MOVEMENTS)),
    st.sampled_from(list(FUNCTIONS)),
    st.sampled_from([*REDUCTIONS, *ORDERED]),
    st.sampled_from(["float64", "float64", "float32", "complex128", "int32", "uint8"]),
    st.sampled_from(SHAPES),
)
def test_movement_function_reduction(movement, function, reduction, dtype, shape):
    if dtype == "complex128" and reduction in ORDERED:
        dtype = "float64"
    random = np.random.default_rng(len(movement) + shape[0])
    x = (random.standard_normal(shape) * 3).astype(dtype)
    i = random.integers(0, 1000, shape)

    def program(x, i):
        return (REDUCTIONS | ORDERED)[reduction](FUNCTIONS[function](MOVEMENTS[movement](x, i)))

    with context(tier="interpret"):
        want = np.asarray(program(xp.asarray(x), xp.asarray(i)))
    with context(tier="compile", verify=False):  # the tolerance that fits is the one below
        got = np.asarray(xp.jit(program)(xp.asarray(x), xp.asarray(i)))
    assert got.dtype == want.dtype
    exact = want.dtype.kind in "iub" or (function in ("nothing", "double") and reduction == "none")
    size = 1 + np.max(np.abs(want), initial=0, where=np.isfinite(want))
    epsilon = 0.0 if exact else 4e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(got, want, rtol=epsilon, atol=epsilon * size)
