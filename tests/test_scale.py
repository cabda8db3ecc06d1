"""Long graphs, long loops, many shapes, changing numbers: what must not grow does not."""

import gc
import sys

import numpy as np
import pytest

import uopc_array as xp
from uopc_array import grad, jit, value_and_grad
from uopc_core import Buffer, UOp, context, gradient, plan_stats, realize_all
from uopc_core.runtime.cache import stats
from uopc_core.runtime.toolchain import find_toolchain

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="counts compiled kernels; there is no C compiler")


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize(("tier", "length"), [("interpret", 10_000), ("auto", 100_000)])
def test_a_chain_of_100_000_ops_builds_plans_runs_and_differentiates(tier: str, length: int):
    start = np.array([1.0, -2.0, 3.0, 0.5])
    x = y = UOp.buffer(Buffer.from_numpy(start))
    expected, slope = start.copy(), 1.0
    for _ in range(length // 2):
        y = y * 0.9999 + 0.5
    for _ in range(length // 2):
        expected = expected * 0.9999 + 0.5
        slope *= 0.9999
    with context(tier=tier, verify=False):  # verifying interprets every kernel, and every pass, once more
        value, derivative = realize_all([y, *gradient(y, [x])])
    np.testing.assert_array_equal(value.array, expected)
    np.testing.assert_allclose(derivative.array, slope, rtol=1e-9)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the size of the process from /proc")
def test_a_million_iterations_hold_constant_memory():
    x = xp.asarray(np.ones(100))
    sizes: list[int] = []
    for i in range(1_000_000):
        x = x * 0.999 + 1
        if i % 100_000 == 99_999:
            assert abs(float(x[3]) - 1000.0) < 1000.0
            gc.collect()
            sizes.append(resident_bytes())
    assert max(sizes[2:]) - sizes[1] < 30e6, sizes


def test_a_graph_that_nobody_looks_at_stays_shallow():
    x = xp.asarray(np.ones(4))
    for _ in range(5000):
        x = x * 0.999 + 1
    assert x._uop.depth <= 1001


@needs_compiler
def test_50_shapes_of_one_expression_compile_three_kernels_at_most(tmp_path):
    f = jit(lambda x, y: xp.sum(xp.exp(x - xp.max(x, axis=1, keepdims=True)) * y + 0.123, axis=0))
    rng = np.random.default_rng(0)
    with context(tier="compile", cache_dir=tmp_path):
        before = stats().compiled
        for i in range(50):
            x, y = rng.standard_normal((2, 17 + 3 * i, 300 - 5 * i))
            expected = (np.exp(x - x.max(1, keepdims=True)) * y + 0.123).sum(0)
            np.testing.assert_allclose(np.asarray(f(xp.asarray(x), xp.asarray(y))), expected, rtol=1e-12, atol=1e-12)
        assert stats().compiled - before <= 3 + 1  # the C runtime itself is the other one


@needs_compiler
def test_a_changing_learning_rate_compiles_nothing_and_plans_nothing():
    w = xp.asarray(np.linspace(-1, 1, 50))
    step = value_and_grad(lambda w: xp.sum((w * w - 0.3) ** 2))
    update = jit(lambda w, rate: w - rate * grad(lambda w: xp.sum((w * w - 0.3) ** 2))(w))
    counts: list[tuple[int, int]] = []
    with context(tier="compile"):
        for i in range(8):
            rate = 0.01 / (1 + 0.37 * i)
            _, g = step(w)
            w = update(w - rate * g, rate)
            np.asarray(w)
            counts.append((plan_stats()["made"], stats().compiled))
    assert counts[2:] == [counts[2]] * 6


def test_gradient_of_a_long_python_loop():
    def f(x):
        for _ in range(3000):
            x = xp.sin(x) * 1.0001
        return xp.sum(x)

    x = np.linspace(0.1, 1.0, 7)
    value, slope = x.copy(), np.ones(7)
    for _ in range(3000):
        value, slope = np.sin(value) * 1.0001, slope * np.cos(value) * 1.0001
    np.testing.assert_allclose(np.asarray(grad(f)(xp.asarray(x))), slope, rtol=1e-9)
