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
