"""Loops that are marked for it are vectorised: the compiler is asked. What holds truth values once was not."""

import re
import subprocess

import numpy as np
import pytest

from tests.support.kernel_runs import param, render_one
from uopc_core.dtype import dtypes
from uopc_core.ir.composite import reduce_axes
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.toolchain import find_toolchain

N, ROWS = 3000, 40
FLOATS = (dtypes.float32, dtypes.float64)
SHAPE = (ROWS, N)


def _real(index: int, dtype: np.dtype) -> UOp:
    return param(index, np.zeros(SHAPE, dtype))


def _mask(index: int) -> UOp:
    return param(index, np.zeros(SHAPE, bool))


def _programs(dtype: np.dtype) -> dict[str, list[UOp]]:
    """Truth values from memory, kept while a function is computed, converted, counted, combined, stored."""
    x, y, m, k = _real(0, dtype), _real(1, dtype), _mask(2), _mask(3)
    exp_x, flag = x.unary(Ops.EXP), x < y
    return {
        "mask in memory": [m.where(x * x, y)],
        "two masks": [(m & k).where(x, y)],
        "mask of a comparison": [flag.where(x, y + x)],
        "mask beside a function": [(x < y * x).where(exp_x, x * exp_x)],
        "mask in memory beside a function": [m.where(exp_x, x)],
        "count": [reduce_axes(m.cast(dtype), Ops.ADD, (1,))],
        "count of a comparison": [reduce_axes(x.eq(y).cast(dtype), Ops.ADD, (1,))],
        "converted": [x.eq(y).cast(dtype) * y],
        "converted from memory": [m.cast(dtype) + x],
        "stored": [flag & m],
        "mask and a sum": [reduce_axes(m.where(x, y), Ops.ADD, (1,))],
    }


def _words(command: tuple[str, ...]) -> str:
    return subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout


def _not_vectorised(source: str, flags: tuple[str, ...], command: tuple[str, ...]) -> list[str]:
    """The loops below ``#pragma omp simd`` of which the compiler does not say that it has vectorised them."""
    extra = ("-shared", "-fopt-info-vec-optimized", "-x", "c", "-", "-o", "/dev/null")
    done = subprocess.run([*command, *flags, *extra], input=source, capture_output=True, text=True, check=True)
    vectorised = {int(line) for line in re.findall(r":(\d+):\d+: optimized: loop vectorized", done.stderr)}
    lines = source.splitlines()
    marked = [i + 1 for i, line in enumerate(lines) if line.strip() == "#pragma omp simd"]
    return [lines[i].strip() for i in marked if vectorised.isdisjoint(range(i + 1, _end(lines, i) + 2))]


def _end(lines: list[str], start: int) -> int:
    """Where the loop ends that begins at a line: at its brace, or, without one, at its statement."""
    indent = re.match(" *", lines[start])
    assert indent is not None
    if not lines[start].endswith("{"):
        return start + 1
    return next(i for i in range(start, len(lines)) if lines[i] == indent[0] + "}")


@pytest.mark.parametrize("name", _programs(dtypes.float32))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_loops_with_truth_values_are_vectorised(dtype: np.dtype, name: str) -> None:
    toolchain = find_toolchain()
    if toolchain is None or "Free Software Foundation" not in _words(toolchain.command):
        pytest.skip("asks gcc")
    source = render_one(_programs(dtype)[name])
    missed = _not_vectorised(source.text, tuple(f for f in toolchain.flags if f != "-w"), toolchain.command)
    assert missed == []
