"""Values that are kept while what they were computed with dies: no kernel may write to memory that it still reads."""

import itertools
from typing import Any

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


# what dies: each is memory of its own, made by a kernel or a host call
PRODUCTS = {
    "dot": lambda np, x, a: np.vecdot(x, x),
    "dot of slices": lambda np, x, a: np.vecdot(x[:-1], x[1:]),
    "row by column": lambda np, x, a: np.matmul(x[None, :], x[:, None])[0, 0],
    "matrix by vector": lambda np, x, a: np.matmul(a, x),
    "vector by matrix": lambda np, x, a: np.matmul(x, a),
    "matrix by matrix": lambda np, x, a: np.matmul(a, a),
    "sum": lambda np, x, a: np.sum(a),
    "sums": lambda np, x, a: np.sum(a, axis=0),
    "scan": lambda np, x, a: np.cumulative_sum(x),
    "sorted": lambda np, x, a: np.sort(x),
    "gathered": lambda np, x, a: np.take(x, np.argsort(x)),
    "solution": lambda np, x, a: np.linalg.solve(a + 9 * np.eye(len(x)), x),
}
SECOND = {
    "element": lambda np, x, a: x[0] * 3,
    "constant": lambda np, x, a: np.asarray(2.0) * 3,
    "another dot": lambda np, x, a: np.vecdot(x, a[0]),
    "row": lambda np, x, a: a[0] + 1,
    "diagonal": lambda np, x, a: np.linalg.diagonal(a) - 0.5,
    "comparison": lambda np, x, a: x > 0.25,
}
FORMS = {
    "sum, second": lambda np, p, q: (p + q, q),
    "second, sum": lambda np, p, q: (q, p + q),
    "difference, product": lambda np, p, q: (p - q, np.multiply(p, q)),
    "three": lambda np, p, q: (np.exp(-p * p) + q, q, p * 0.5),
    "complex": lambda np, p, q: (p * (1 + 2j) + q, np.exp(q * 1j)),
    "chosen": lambda np, p, q: (np.where(q > 0, p, q), q * 1, p >= q),
    "powers": lambda np, p, q: (p * p * q, p * p, q * q),
}


def _program(namespace, names, x, a):
    product, second, form = names
    return FORMS[form](namespace, PRODUCTS[product](namespace, x, a), SECOND[second](namespace, x, a))


def _assert_same(got, want):
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-9, atol=1e-9)


_combinations = st.tuples(*[st.sampled_from(list(names)) for names in (PRODUCTS, SECOND, FORMS)])


@settings(max_examples=120)
@given(_combinations, st.sampled_from([2, 3, 33]), st.sampled_from([np.float64, np.complex128]))
def test_what_is_kept_and_what_dies(names, n, dtype):
    random = np.random.default_rng(n)
    x: Any = random.standard_normal(n).astype(dtype)
    a: Any = random.standard_normal((n, n)).astype(dtype)
    if dtype is np.complex128 and {"comparison", "chosen", "sorted", "gathered"} & set(names):
        dtype, x, a = np.float64, x.real, a.real  # these have no order of complex numbers
    want = _program(np, names, x, a)
    with context(tier="compile"):
        for order in (1, -1):
            results = _program(xp, names, xp.asarray(x), xp.asarray(a))
            _assert_same([np.asarray(result) for result in results[::order]], want[::order])
        f = xp.jit(lambda x, a: _program(xp, names, x, a))
        for _ in range(2):
            _assert_same(f(xp.asarray(x), xp.asarray(a)), want)


@settings(max_examples=60)
@given(st.data())
def test_chains_of_kept_values(data):
    """Some results are kept, the others die when the kernel that reads them last has run."""
    n = data.draw(st.sampled_from([1, 2, 5, 300]))
    operations = data.draw(
        st.lists(
            st.tuples(st.sampled_from(list(_STEPS)), st.integers(0, 99), st.integers(0, 99)), min_size=2, max_size=8
        )
    )
    kept = data.draw(st.lists(st.integers(0, 99), min_size=2, max_size=4))
    start = np.random.default_rng(n).uniform(0.5, 1.5, n)
    want = _chain(np, start, operations, kept)
    with context(tier="compile"):
        for order in (1, -1):
            _assert_same(_chain(xp, xp.asarray(start), operations, kept)[::order], want[::order])
        f = xp.jit(lambda x: _chain(xp, x, operations, kept))
        for _ in range(2):
            _assert_same(f(xp.asarray(start)), want)


_STEPS = {
    "add": lambda np, x, y: x + y,
    "multiply": lambda np, x, y: x * y * 0.5,
    "exp": lambda np, x, y: np.exp(-x * x) + y,
    "dot": lambda np, x, y: x / (1 + np.vecdot(x, y)),
    "flip": lambda np, x, y: np.flip(x) - y,
    "roll": lambda np, x, y: np.roll(x, 1) * y,
    "scan": lambda np, x, y: np.cumulative_sum(x) / (1 + y * y),
    "sort": lambda np, x, y: np.sort(x) + 0 * y,
    "first": lambda np, x, y: x[0] * np.ones_like(y),
}


def _chain(namespace, x, operations, kept):
    values = [x]
    for name, i, j in operations:
        values.append(_STEPS[name](namespace, values[i % len(values)], values[j % len(values)]))
    return tuple([values[k % len(values)] for k in kept])


SCALAR_FUNCTIONS = {
    "sin(x)*x": lambda np, x: np.sin(x) * x,
    "exp(-x*x)": lambda np, x: np.exp(-x * x),
    "1/(1+x*x)": lambda np, x: 1 / (1 + x * x),
    "tanh": lambda np, x: np.tanh(x),
    "log": lambda np, x: np.log(1 + x * x),
    "sqrt": lambda np, x: np.sqrt(1 + x * x),
    "pow": lambda np, x: (1 + x) ** 2.5,
}


@pytest.mark.parametrize(("name", "order"), [*itertools.product(SCALAR_FUNCTIONS, (4, 5, 6))])
def test_high_derivatives_of_scalar_functions_stay_what_they_are(name, order):
    formula = SCALAR_FUNCTIONS[name]

    def function(x):
        return formula(xp, x)

    for _ in range(order):
        function = xp.grad(function)
    x = xp.asarray(0.7)
    with context(tier="interpret"):
        want = float(function(x))
    with context(tier="compile"):
        f = xp.jit(function)
        np.testing.assert_allclose([float(f(x)) for _ in range(3)], want, rtol=1e-9)
        several = xp.jit(lambda x: (function(x), function(x) * 2, x * 1))
        for _ in range(2):
            np.testing.assert_allclose(np.asarray(several(x), dtype=float), [want, 2 * want, 0.7], rtol=1e-9)
