"""A small product of matrices is one call, with the bits of its steps and of compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_core import UOp, context
from uopc_core.interpret import numpy_interp
from uopc_core.interpret.products import LONGEST_ROW, find_product
from uopc_core.ir.op import Ops
from uopc_core.numerics import products

DTYPES = ["float32", "float64", "complex64", "complex128", "int8", "uint16", "int64"]
FORMS = [((), ()), ((3,), ()), ((2, 1), (3,)), ((1,), (1,))]  # leading axes of both operands


def laid_out(values: Any, layout: str) -> Any:
    """The values in other places of memory."""
    if layout == "columns":
        return np.asfortranarray(values)
    if layout == "apart":
        wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    return values[..., ::-1].copy()[..., ::-1] if layout == "backwards" else values


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype[0] in "iu":
        return rng.integers(-100 if dtype[0] == "i" else 0, 100, shape).astype(dtype)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
    return (x + 1j * rng.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)


@given(
    st.sampled_from(DTYPES),
    st.sampled_from(FORMS),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([1, 2, 7, 8, 17, 40, 130, 600]),
    st.sampled_from([1, 3]),
    st.sampled_from(["rows", "columns", "apart", "backwards"]),
    st.sampled_from(["matmul", "row", "column", "dot", "vecdot", "outer sum"]),
    st.integers(0, 99),
)
def test_products_have_the_bits_of_their_steps(dtype, form, m, k, n, layout, function, seed):
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (*form[0], m, k), dtype), numbers(rng, (*form[1], k, n), dtype)
    made = {
        "matmul": lambda x, y: x @ y,
        "row": lambda x, y: x.reshape(-1, k)[0] @ y,
        "column": lambda x, y: x @ y.reshape(k, -1)[:, 0],
        "dot": lambda x, y: xp.dot(x.reshape(-1, k)[0], y.reshape(k, -1)[:, 0]),
        "vecdot": lambda x, y: xp.vecdot(x, y.mT if n == 1 else y[..., :1].mT),
        "outer sum": lambda x, y: xp.sum(x[..., :, None, :] * y.mT[..., None, :, :], axis=-1),
    }[function]

    def value() -> Any:
        return np.asarray(made(xp.asarray(laid_out(a, layout)), xp.asarray(laid_out(b, layout))))

    with context(at_once=0, tier="interpret"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_interp, "find_product", lambda node: None)
        expected = value()
    for settings in ({"at_once": 1 << 15}, {"at_once": 0, "tier": "interpret"}, {"at_once": 0, "tier": "compile"}):
        for _ in range(3):
            with context(**settings):
                found = value()
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            assert found.tobytes() == expected.tobytes(), settings


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("x", "y"), [((4, 4), (4,)), ((4,), (4, 4)), ((4, 4), (4, 4)), ((4,), (4,)), ((2, 3, 4), (4, 1))]
)
def test_a_small_product_is_one_call_and_moves_its_operands_by_views(x, y, dtype):
    inputs = [UOp.param(0, x, np.dtype(dtype)), UOp.param(1, y, np.dtype(dtype))]
    program = numpy_interp.lower_to_numpy([products.matmul("matmul", *inputs)], inputs)
    assert len(program._steps) <= 2  # the product, and its result in its shape


def test_what_is_long_or_no_sum_of_products_is_left_alone():
    x, y = (UOp.param(i, (LONGEST_ROW + 1,), np.dtype("float64")) for i in range(2))
    short = x.shrink([(0, LONGEST_ROW)]) * y.shrink([(0, LONGEST_ROW)])
    assert find_product(short.reduce(Ops.ADD, 1)) is not None
    assert find_product((x * y).reduce(Ops.ADD, 1)) is None
    assert find_product((x + y).reduce(Ops.ADD, 1)) is None
    assert find_product((x * y).reduce(Ops.MAX, 1)) is None
