"""Rows of patience: the first call of a function in a fresh process with nothing cached, and of a new shape.

As a program (``python -m benchmarks.first_call LIBRARY CASE SIZE``) it makes both calls and prints their seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Row, Times, installed
from benchmarks.environment import one_core_environment
from benchmarks.fusion import softmax
from benchmarks.network import example, loss

__all__ = ["ROWS"]

ROOT = Path(__file__).parent.parent
CHAIN = 500
CASES = ("softmax", "mlp", "chain")


def chain(np_like: Any, x: Any) -> Any:
    """500 elementwise operations, of which no two neighbours are alike."""
    for i in range(CHAIN // 5):
        x = np_like.sin(x * (1 + 0.001 * i)) + np_like.sqrt(np_like.abs(x))
    return x


def _function_and_arguments(case: str, np_like: Any, size: int) -> tuple[Callable[..., Any], list[Any], bool]:
    """A function of arrays, NumPy arrays for it, and whether its gradient is what is asked for."""
    rng = np.random.default_rng(0)
    if case == "mlp":
        params, x, labels = example((784, 512, 512, 10), size)
        return (lambda p, a, b: loss(np_like, p, a, b)), [params, x, labels], True
    if case == "softmax":
        return (lambda x: softmax(np_like, x)), [rng.standard_normal((size, 1024), np.float32)], False
    return (lambda x: chain(np_like, x)), [rng.uniform(0.1, 1, size)], False


def _seconds_of_call(library: str, case: str, compiled: Any, size: int) -> float:
    np_like: Any = xp if library == OURS else installed("jax").numpy
    _, arguments, _ = _function_and_arguments(case, np_like, size)
    moved = [[np_like.asarray(p) for p in a] if isinstance(a, list) else np_like.asarray(a) for a in arguments]
    start = time.perf_counter()
    out = compiled(*moved)
    if library != OURS:
        installed("jax").block_until_ready(out)
    return time.perf_counter() - start


def _compiled(library: str, case: str, size: int) -> Any:
    transforms: Any = xp if library == OURS else installed("jax")
    f, _, differentiate = _function_and_arguments(case, xp if library == OURS else transforms.numpy, size)
    return transforms.jit(transforms.value_and_grad(f) if differentiate else f)


def _objects_compiled() -> int:
    folder = os.environ.get("UOPC_CACHE_DIR")
    return len(list(Path(folder).rglob("*.so"))) if folder else 0


def main(library: str, case: str, size: int) -> None:
    """Time the first call and the first call with another shape."""
    compiled = _compiled(library, case, size)
    first_s = _seconds_of_call(library, case, compiled, size)
    objects = _objects_compiled()
    new_shape_s = _seconds_of_call(library, case, compiled, size + 1)
    print(json.dumps({"first_s": first_s, "new_shape_s": new_shape_s, "new_objects": _objects_compiled() - objects}))


def _in_a_fresh_process(library: str, case: str, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**one_core_environment(), "UOPC_CACHE_DIR": folder}
        command = [sys.executable, "-m", "benchmarks.first_call", library, case, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"first call of {case} by {library} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _row(case: str) -> list[Row]:
    """Two rows, first call and new shape, that share their runs."""
    size = {"softmax": 512, "mlp": 128, "chain": 10_000}[case]
    notes: list[str] = []
    taken: dict[str, list[dict[str, float]]] = {}

    def run(quick: bool) -> None:
        libraries = [OURS, *(["jax"] if installed("jax") is not None else [])]
        for _ in range(1 if quick else 5):
            for library in libraries:
                taken.setdefault(library, []).append(_in_a_fresh_process(library, case, size))
        notes[:] = [f"objects compiled for the new shape: {max(int(t['new_objects']) for t in taken[OURS])}"]

    def times(quick: bool, what: str) -> Mapping[str, Times]:
        if not taken:
            run(quick)
        return {library: Times(tuple([t[what] for t in samples])) for library, samples in taken.items()}

    first = Row(f"first-{case}", f"first call of {case}, cold cache", {"jax": 1.0}, lambda q: times(q, "first_s"))
    shape = Row(
        f"shape-{case}", f"first call of {case}, new shape", {"jax": 1.0}, lambda q: times(q, "new_shape_s"), notes
    )
    return [first, shape]


ROWS = tuple([row for case in CASES for row in _row(case)])

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
