"""No elementwise op has undefined behaviour in C, whatever its operands: a trap stands wherever there would be some."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.codegen.test_ops import accepted, pairs_of
from tests.support.kernel_runs import param, run
from uopc_core.dtype import DTYPES, DType, dtypes, is_complex, real_dtype
from uopc_core.ir.op import BINARY, UNARY, Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.toolchain import find_toolchain

ROOT = Path(__file__).parents[2]
TRAPS = "-fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error"
_C_OF_A_TRAP = "int f(double x) { return (int)x; } int main(int n, char **v) { return f(n * 1e300) == 7; }"


def run_ops(dtype: DType) -> None:
    """One kernel of all ops on `dtype`, at every pair of special values, or special parts."""
    a, b = pairs_of(dtype)
    if is_complex(dtype):
        real, imag = pairs_of(real_dtype(dtype))
        b = np.empty(real.size, dtype)
        b.real, b.imag = real, imag
        a = np.roll(b, 1)
    x, y = param(0, a), param(1, b)
    outputs = [x.unary(op) for op in sorted(UNARY - {Ops.CAST, Ops.BITCAST}) if accepted(op, dtype)]
    outputs += [UOp.new(op, (x, y)) for op in sorted(BINARY) if accepted(op, dtype, dtype)]
    outputs += [x.cast(to) for to in DTYPES if dtype.kind != "c" or to.kind == "c" or to is dtypes.bool]
    with np.errstate(all="ignore"):
        run(list(dict.fromkeys(out for out in outputs if out is not x)), [a, b])


def _compiler() -> str:
    toolchain = find_toolchain()
    assert toolchain is not None
    return " ".join((*toolchain.command, TRAPS))


def _has_traps(folder: Path) -> bool:
    source = folder / "trap.c"
    source.write_text(_C_OF_A_TRAP)
    made = subprocess.run([*_compiler().split(), str(source), "-o", str(folder / "trap")], check=False)
    return made.returncode == 0 and subprocess.run([folder / "trap"], check=False).returncode < 0


def test_no_op_has_undefined_behaviour(tmp_path: Path) -> None:
    if not _has_traps(tmp_path):
        pytest.skip("the compiler has no traps for undefined behaviour")
    names = [dtype.name for dtype in DTYPES]
    code = (
        "from tests.codegen.test_undefined import run_ops; from uopc_core.dtype import as_dtype\n"
        f"for name in {names}: run_ops(as_dtype(name)); print(name, flush=True)"
    )
    environment = {**os.environ, "CC": _compiler(), "UOPC_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == names, f"undefined behaviour in the ops after {done.stdout.split()}: {done.stderr}"
