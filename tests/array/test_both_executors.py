"""What NumPy and C could each answer in their own way, and both executors answer alike: conversions out of range,
complex numbers at the edges, indices out of bounds where there are no elements.
"""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context
from uopc_core.runtime.toolchain import find_toolchain

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="there is no C compiler")

TIERS = ("interpret", "compile")
OUT_OF_RANGE = [0.0, -1.5, 300.0, -300.0, 128.0, 255.5, 256.0, 70000.0, -70000.0, 1e10, -1e10, -4.3e26, 1e30]
OUT_OF_RANGE += [sign * 2.0**k + off for k in (31, 32, 33, 40, 62, 63, 64) for sign in (1, -1) for off in (0, -0.5, 7)]
OUT_OF_RANGE += [np.inf, -np.inf, np.nan]
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_float_out_of_range_has_one_integer(dtype, target):
    """Whoever converts it, wherever it stands among however many."""
    x = np.array(OUT_OF_RANGE, dtype)
    to = getattr(xp, target)
    answers = []
    for tier in TIERS:
        with context(tier=tier):
            alone = [int(xp.astype(xp.asarray(x[k : k + 1]), to)[0]) for k in range(0, len(x), 5)]
            assert alone == [int(xp.astype(xp.asarray(value), to)) for value in x[::5]]
            for n in (1, 2, 7, 16, 33, 3 * len(x)):
                many = np.resize(x, len(x) * n)
                whole = np.asarray(xp.astype(xp.asarray(many), to))
                np.testing.assert_array_equal(whole, np.resize(whole[: len(x)], len(many)))
                strided = np.asarray(xp.astype(xp.asarray(many)[::-3], to))
                np.testing.assert_array_equal(strided, whole[::-3])
            np.testing.assert_array_equal(whole[: len(x) : 5], np.array(alone, target))
            stored = xp.zeros(len(many), dtype=to)
            stored[...] = xp.asarray(many)
            np.testing.assert_array_equal(np.asarray(stored), whole)
            np.testing.assert_array_equal(np.asarray(xp.asarray(many, dtype=to)), whole)
            answers.append(whole[: len(x)])
    np.testing.assert_array_equal(answers[0], answers[1])


PARTS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, -1e-300]
COMPLEX = np.array([complex(a, b) for a in PARTS for b in PARTS])
UNARY = (
    "square negative abs conj reciprocal sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh "
    "tanh asinh acosh atanh sign round angle isnan isfinite isinf"
).split()
FORMULAS = {
    **{name: lambda z, name=name: getattr(xp, name)(z) for name in UNARY},
    "z * z": lambda z: z * z,
    "z ** 2": lambda z: z**2,
    "z ** 3": lambda z: z**3,
    "z ** 0.5": lambda z: z**0.5,
    "z * conj": lambda z: z * xp.conj(z),
    "z / z": lambda z: z / z,
    "z * 2": lambda z: z * 2.0,
    "z * 2j": lambda z: z * 2j,
    "z * z + z": lambda z: z * z + z,
    "z * z * z": lambda z: z * z * z,
    "prod": lambda z: xp.prod(xp.stack([z, z, z]), axis=0),
}
OPERATORS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "equal": lambda a, b: a == b,
    "not equal": lambda a, b: a != b,
    "multiply, add": lambda a, b: a * b + a,
    "difference of products": lambda a, b: a * b - b * b,
    "by a real": lambda a, b: a * xp.real(b),
}


def _bits(value: Any):
    x: Any = np.asarray(value)
    parts = [x.real, x.imag] if x.dtype.kind == "c" else [x]
    return [np.where(np.isnan(part), np.nan, part).tobytes() for part in parts]


def _assert_same_bits(function: Any, *arrays: Any):
    answers = []
    for tier in TIERS:
        with context(tier=tier):
            given: list[Any] = [xp.asarray(x) for x in arrays]
            answers += [_bits(function(*given)), _bits(xp.jit(function)(*given))]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", list(FORMULAS))
def test_a_complex_number_at_the_edges(name, dtype):
    _assert_same_bits(FORMULAS[name], COMPLEX.astype(dtype))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", list(OPERATORS))
def test_two_complex_numbers_at_the_edges(name, dtype):
    a, b = np.meshgrid(COMPLEX.astype(dtype), COMPLEX.astype(dtype))
    _assert_same_bits(OPERATORS[name], a.ravel(), b.ravel())


NO_ELEMENTS = {
    "take": lambda x, i: xp.take(x, i, axis=0),
    "rows": lambda x, i: x[i],
    "middle": lambda x, i: x[:, i],
    "of a part": lambda x, i: xp.take(x[1:], i, axis=0) * 2,
    "two axes": lambda x, i: x[i[:, None], i],
    "summed": lambda x, i: xp.sum(x[i], axis=-1),
    "summed to one": lambda x, i: xp.sum(x[i]),
    "scanned": lambda x, i: xp.cumulative_sum(x[i], axis=2),
    "beside others": lambda x, i: xp.concat([x[i], xp.ones((i.shape[0], 3, 2))], axis=2),
    "softmax": lambda x, i: xp.exp(xp.concat([x[i], xp.ones((2, 3, 2))], axis=2)) / xp.sum(xp.ones((2, 3, 2))),
    "of what is gathered": lambda x, i: x[i][xp.asarray([0, 1])],
}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", list(NO_ELEMENTS))
@pytest.mark.parametrize("jitted", [False, True])
def test_an_index_out_of_bounds_where_there_are_no_elements(name, tier, jitted):
    x = xp.ones((3, 3, 0))
    function: Any = xp.jit(NO_ELEMENTS[name]) if jitted else NO_ELEMENTS[name]
    with context(tier=tier):
        inside = np.asarray(function(x, xp.asarray([1, -2])))
        assert inside.shape == np.asarray(NO_ELEMENTS[name](x, xp.asarray([0, 0]))).shape
        for index in ([1, 3], [-4, 0]):
            with pytest.raises(IndexError, match="out of bounds"):
                np.asarray(function(x, xp.asarray(index)))
