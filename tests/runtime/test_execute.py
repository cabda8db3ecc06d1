"""Executables: outputs in the order and number that were asked for."""

import numpy as np

from uopc_core import Executable, Ops, UOp, dtypes
from uopc_core.runtime.buffer import Buffer


def test_an_output_may_be_asked_for_twice_and_an_input_may_be_one():
    x, s = UOp.param(0, (3,), dtypes.float64), UOp.param(1, (), dtypes.float64, "scalar")
    y = x * 2.0
    executable = Executable([y, x, y, s, (x + s.reshape((1,)).expand((3,))).reduce(Ops.ADD, 1)])
    results = executable.run([Buffer.from_numpy(np.array([1.0, 2.0, 3.0])), 0.3])
    assert [r.array.tolist() for r in results[:4]] == [[2.0, 4.0, 6.0], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.3]
    np.testing.assert_allclose(results[4].array, 6.9)
