"""What a condition keeps from being read is not read by any machine code, at any level of optimisation.

All of it runs between pages without access (see run.py).
"""

from dataclasses import replace

import numpy as np
import pytest

from tests.support.kernel_runs import check, param
from uopc_core.ir.composite import concat, reduce_axes
from uopc_core.ir.op import Ops
from uopc_core.runtime import cache
from uopc_core.runtime.toolchain import find_toolchain


def rolled(x, k):
    n = x.shape[-1]
    before = [(0, m) for m in x.shape[:-1]]
    return concat([x.shrink([*before, (n - k, n)]), x.shrink([*before, (0, n - k)])], x.ndim - 1)


def padded(x, k):
    return x.pad([*[(0, 0)] * (x.ndim - 1), (k, k)])


def joined(x, k):
    return concat([x, x.shrink([*[(0, m) for m in x.shape[:-1]], (0, k)])], x.ndim - 1)


def padded_all(x, k):
    return x.pad([(k, k)] * x.ndim)


def skewed(x, k):
    """Rows of one element more, in the width of the old ones: a condition on two variables."""
    wide = x.pad([*[(0, 0)] * (x.ndim - 1), (0, 1)])
    return wide.reshape((wide.size,)).shrink([(0, x.size)]).reshape(x.shape)


MOVEMENTS = {"roll": rolled, "pad": padded, "join": joined, "pad all": padded_all, "skew": skewed}
USES = {
    "map": lambda x: x * 2.0,
    "sum": lambda x: x.reduce(Ops.ADD, x.ndim),
    "scan": lambda x: x.scan(Ops.MAX),
    "rows": lambda x: (x * x).reduce(Ops.ADD, 1),
    "columns": lambda x: reduce_axes(x, Ops.MAX, [0]),
    "exp": lambda x: x.unary(Ops.EXP).reduce(Ops.MAX, 1),
}


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
@pytest.mark.parametrize("name", list(MOVEMENTS))
def test_short_loops(name, level, monkeypatch):
    toolchain = find_toolchain()
    assert toolchain is not None
    other = replace(toolchain, flags=(*toolchain.flags, level))
    monkeypatch.setattr(cache, "find_toolchain", lambda: other)
    for n, k, dtype in ((2, 1, "float64"), (4, 2, "float64"), (6, 2, "float32")):
        for use, function in USES.items():
            shape = (n,) if use in ("map", "sum", "scan") else (3, n)
            x = np.random.default_rng(n).integers(-9, 9, shape).astype(dtype)  # whose sums are exact
            check([function(MOVEMENTS[name](param(0, x), k))], [x], max_ulps=8 if use == "exp" else 0)
