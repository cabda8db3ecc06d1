"""What a machine that has never run this compiles before a first value is there, counted: times are no matter here."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernels import ROOT, needs_compiler

pytestmark = needs_compiler

COUNTING = """
import json, sys, threading
import numpy as np
import uopc_array as xp
from uopc_core.runtime import cache, toolchain

runs = []
run_compiler = toolchain.run_compiler
def counted(command, source, folder):
    kind = next(name for name, word in KINDS.items() if word in source)
    runs.append(kind)
    return run_compiler(command, source, folder)
KINDS = {"probe": "uopc_probe", "runtime": "uopc_last_status", "kernel": "uopc_kernel", "loops": "char **args"}
cache.run_compiler = toolchain.run_compiler = counted
def report(value):
    before = [kind for kind in runs if kind not in ("probe", "runtime")]
    digest = np.asarray(value).tobytes().hex()
    print(json.dumps({"before": before, "value": digest, "all": runs}))
"""


def run(code: str, folder: Path, threads: int = 1) -> dict[str, Any]:
    """What a fresh process says."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTING + textwrap.dedent(code)],
        env={
            **os.environ,
            **{"PYTHONPATH": str(ROOT), "UOPC_CACHE_DIR": str(folder), "UOPC_NUM_THREADS": str(threads)},
            **{"UOPC_TIER": "auto", "UOPC_VERIFY": "0"},
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


SOFTMAX = """
def softmax(x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)
x = np.random.default_rng(0).standard_normal((64, 128)).astype(np.float32)
"""
NETWORK = """
rng = np.random.default_rng(0)
sizes = [(30, 40), (40,), (40, 20), (20,), (20, 10), (10,)]
params = [xp.asarray(rng.standard_normal(size).astype(np.float32)) for size in sizes]
x, labels = xp.asarray(rng.standard_normal((16, 30)).astype(np.float32)), xp.asarray(np.eye(10, dtype=np.float32)[:1])
def loss(params, x):
    for i in (0, 2):
        x = xp.maximum(x @ params[i] + params[i + 1], 0)
    logits = x @ params[4] + params[5]
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    return -xp.mean(labels * (shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_few_kernels_are_compiled_at_once(tmp_path: Path, threads: int) -> None:
    """One kernel instead of the loops of three functions."""
    said = run(SOFTMAX + "report(xp.jit(softmax)(xp.asarray(x)))", tmp_path, threads)
    assert said["before"] == ["kernel"]
    assert sorted(set(said["all"]) - {"runtime"}) == ["kernel", "probe"]


def test_a_first_value_does_not_wait_for_the_runtime(tmp_path: Path) -> None:
    """With one thread it is begun after the value, where a second call will want it."""
    said = run(SOFTMAX + "report(xp.jit(softmax)(xp.asarray(x)))", tmp_path, 1)
    assert said["all"][:2] == ["probe", "kernel"]


@pytest.mark.parametrize("threads", [1, 2])
def test_many_kernels_let_the_interpreter_begin(tmp_path: Path, threads: int) -> None:
    """Its loops, of four functions, come from as many runs of the compiler as there are threads."""
    said = run(NETWORK + "value, slopes = xp.jit(xp.value_and_grad(loss))(params, x)\nreport(value)", tmp_path, threads)
    assert said["before"].count("loops") == threads
    assert said["all"].count("probe") == 1


def test_loops_that_are_there_are_used_whatever_the_kernels(tmp_path: Path) -> None:
    """Then nothing has to be compiled before the first value."""
    eager = run(SOFTMAX + "report(softmax(xp.asarray(x)))", tmp_path)
    assert eager["before"].count("loops") == len(eager["before"]) <= 3
    later = run(SOFTMAX + "report(xp.jit(softmax)(xp.asarray(x)))", tmp_path)
    assert "loops" not in later["all"]
    assert later["value"] == eager["value"]


def test_who_computed_first_makes_no_difference(tmp_path: Path) -> None:
    compiled = run(SOFTMAX + "report(xp.jit(softmax)(xp.asarray(x)))", tmp_path / "compiled")
    interpreted = run(SOFTMAX + "report(softmax(xp.asarray(x)))", tmp_path / "interpreted")
    assert compiled["before"] == ["kernel"]
    assert "kernel" not in interpreted["all"]
    assert compiled["value"] == interpreted["value"]


def test_a_sum_of_few_numbers_compiles_nothing(tmp_path: Path) -> None:
    said = run("report(xp.sum(xp.asarray([1.0, 2.0, 3.0])) + xp.mean(xp.asarray([0.1, 0.2])))", tmp_path)
    assert said["all"] == []


def test_loops_compiled_together_are_found_one_by_one(tmp_path: Path) -> None:
    first = run("x = xp.linspace(0, 1, 50_000)\nreport(xp.sum(xp.exp(x) * xp.sin(x)) + xp.max(x))", tmp_path)
    assert 1 <= first["all"].count("loops") <= 3
    again = run("x = xp.linspace(0, 1, 50)\nreport([float(f(x)[0]) for f in (xp.exp, xp.sin)])", tmp_path)
    assert again["all"] == []
