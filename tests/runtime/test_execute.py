"""Executables: outputs in the order and number that were asked for."""

import os
import weakref

import numpy as np
import pytest

from uopc_core import Executable, Ops, UOp, context, dtypes, realize_all
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.toolchain import find_toolchain


def test_an_output_may_be_asked_for_twice_and_an_input_may_be_one():
    x, s = UOp.param(0, (3,), dtypes.float64), UOp.param(1, (), dtypes.float64, "scalar")
    y = x * 2.0
    executable = Executable([y, x, y, s, (x + s.reshape((1,)).expand((3,))).reduce(Ops.ADD, 1)])
    results = executable.run([Buffer.from_numpy(np.array([1.0, 2.0, 3.0])), 0.3])
    assert [r.array.tolist() for r in results[:4]] == [[2.0, 4.0, 6.0], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.3]
    np.testing.assert_allclose(results[4].array, 6.9)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
@pytest.mark.parametrize("indexes", [(17, 4, 901, 0), (3, 2, 1, 0), (1, 0, 2, 3)])
def test_arguments_come_in_the_order_that_is_told_whatever_the_indexes_of_their_inputs(order, indexes):
    x, y = (UOp.param(indexes[i], (3,), dtypes.float64) for i in (0, 1))
    s, t = (UOp.param(indexes[i], (), dtypes.float64, "scalar") for i in (2, 3))
    wide = [z.reshape((1,)).expand((3,)) for z in (s, t)]
    outputs = [t, x * wide[0] + y * wide[1], y, y - wide[1] * wide[0]]
    a, b = np.array([1.0, 2.0, 3.0]), np.array([4.0, -5.0, 6.0])
    given = [Buffer.from_numpy(a), Buffer.from_numpy(b), 1.25, 2.5]
    expected = [2.5, a * 1.25 + b * 2.5, b, b - 2.5 * 1.25]
    executable = Executable(outputs, {indexes[which]: number for number, which in enumerate(order)})
    for _ in range(2):
        for found, wanted in zip(executable.run([given[i] for i in order]), expected, strict=True):
            np.testing.assert_array_equal(found.array, wanted)


def test_the_memory_of_a_constant_goes_with_its_last_user():
    ones = UOp.const(1.0, dtypes.float64, (1234,))
    memory = realize_all([ones])[0]
    np.testing.assert_array_equal(memory.array, np.ones(1234))
    gone = weakref.ref(memory)
    del memory
    assert gone() is None
    assert ones.realized is None


@pytest.mark.skipif(not hasattr(os, "fork") or find_toolchain() is None, reason="forks while a compiler is at work")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of forking with threads
def test_a_child_process_does_not_wait_for_the_parents_compiler(tmp_path):
    x, y = UOp.param(0, (5,), dtypes.float64), np.linspace(0, 1, 5)
    executable = Executable([x.unary(Ops.EXP) * 1.2345 + x.unary(Ops.SIN)])
    with context(cache_dir=tmp_path, tier="auto"):
        executable.run([Buffer.from_numpy(y)])  # interpreted; the kernel is being compiled
        child = os.fork()
        if child == 0:
            executable.run([Buffer.from_numpy(y)])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        np.testing.assert_allclose(executable.run([Buffer.from_numpy(y)])[0].array, np.exp(y) * 1.2345 + np.sin(y))


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_an_output_that_is_just_a_number(tier):
    if tier == "compile" and find_toolchain() is None:
        pytest.skip("no C compiler")
    negative_zero, number = UOp.const(-0.0, dtypes.float64), UOp.const(0.125, dtypes.float64)
    x = UOp.buffer(Buffer.from_numpy(np.arange(3.0)))
    with context(tier=tier):
        first, second, third = realize_all([negative_zero + number, x * 0.25, number.reshape((1, 1)) * 1.0])
    assert (first.array.item(), first.shape) == (0.125, ())
    np.testing.assert_array_equal(second.array, [0.0, 0.25, 0.5])
    np.testing.assert_array_equal(third.array, [[0.125]])
