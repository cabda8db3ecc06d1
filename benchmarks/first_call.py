"""Rows of patience: an import, and the first call of a function in a fresh process with nothing cached, on a later day,
and of a new shape.

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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Row, Times, installed
from benchmarks.environment import measuring_environment
from benchmarks.fusion import softmax
from benchmarks.network import example, loss

__all__ = ["ROWS"]

ROOT = Path(__file__).parent.parent
CHAIN = 500
CASES = ("softmax", "mlp", "chain")
ROUNDS = 3
SUBJECT = "first calls"


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


def _in_a_fresh_process(folder: str, *command: str) -> str:
    """The last line that Python prints with these arguments and with what is compiled kept in `folder`.

    Raises:
        RuntimeError: it fails, with what it says.
    """
    kept_by_jax = {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    environment = {**measuring_environment(), **kept_by_jax, "UOPC_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout.splitlines()[-1]


def _days(library: str, case: str, size: int) -> dict[str, float]:
    """What a first process takes that finds an empty folder, and another one after it."""
    command = ("-m", "benchmarks.first_call", library, case, str(size))
    with tempfile.TemporaryDirectory() as folder:
        first, later = [json.loads(_in_a_fresh_process(folder, *command)) for _ in range(2)]
    return {**first, "later_s": later["first_s"]}


def _row(case: str) -> list[Row]:
    """Three rows, first call, first call on a later day and new shape, that share their runs."""
    size = {"softmax": 512, "mlp": 128, "chain": 10_000}[case]
    notes: list[str] = []
    taken: dict[str, list[dict[str, float]]] = {}

    def run(quick: bool) -> None:
        libraries = [OURS, *(["jax"] if installed("jax") is not None else [])]
        for _ in range(1 if quick else ROUNDS):
            for library in libraries:
                taken.setdefault(library, []).append(_days(library, case, size))
        notes[:] = [f"objects compiled for the new shape: {max(int(t['new_objects']) for t in taken[OURS])}"]

    def times(quick: bool, what: str) -> Mapping[str, Times]:
        if not taken:
            run(quick)
        return {library: Times(tuple([t[what] for t in samples])) for library, samples in taken.items()}

    return [
        Row(
            f"{name}-{case}",
            f"first call of {case}, {title}",
            {"jax": 1.0},
            partial(times, what=what),
            said,
            subject=SUBJECT,
        )
        for name, title, what, said in (
            ("first", "nothing cached", "first_s", []),
            ("later", "in a later process", "later_s", []),
            ("shape", "new shape", "new_shape_s", notes),
        )
    ]


def _imports(quick: bool) -> Mapping[str, Times]:
    """Seconds of ``import``, that of NumPy included, in processes of their own."""
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(1 if quick else ROUNDS):
            for library in (OURS, "jax", "numba", "torch"):
                if installed(library) is not None:
                    text = f"import time; t = time.perf_counter(); import {library}; print(time.perf_counter() - t)"
                    taken.setdefault(library, []).append(float(_in_a_fresh_process(folder, "-c", text)))
    return {library: Times(tuple(samples)) for library, samples in taken.items()}


ROWS = (
    Row("import", "the import alone, in a fresh process", {"jax": 1.0}, _imports, subject=SUBJECT),
    *[row for case in CASES for row in _row(case)],
)

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
