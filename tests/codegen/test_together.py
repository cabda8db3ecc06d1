"""Kernels that one run of the compiler makes: all kinds fit into one object, and give what they give alone."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.codegen.test_strictly import KINDS
from tests.support.kernels import needs_compiler
from uopc_core import context
from uopc_core.codegen.c_source import CSource, join_kernels
from uopc_core.recent import Recent
from uopc_core.runtime import cache
from uopc_core.runtime.rendered import render_plan
from uopc_core.runtime.toolchain import find_toolchain, run_compiler
from uopc_core.schedule.plan import clear_plans, make_plan

pytestmark = needs_compiler


def sources(kind: str, dtype: str) -> list[CSource]:
    with context(at_once=0):
        x = xp.asarray(np.ones((3, 40), dtype))
        made = KINDS[kind](x, x * 0.5)
        plan, _ = make_plan([z._uop for z in (made if isinstance(made, tuple) else (made,))])
    return [step for step in render_plan(plan) if isinstance(step, CSource)]


def test_kernels_of_all_kinds_are_one_object(tmp_path: Path) -> None:
    found = {s.text: s for kind in KINDS for dtype in ("float32", "float64") for s in sources(kind, dtype)}
    entries = [source.entry for source in found.values()]
    assert len(set(entries)) == len(entries) > 20
    toolchain = find_toolchain()
    assert toolchain is not None
    alike = {source.declared: [s for s in found.values() if s.declared == source.declared] for source in found.values()}
    assert len(alike[frozenset()]) > 15
    for number, together in enumerate(alike.values()):
        path = tmp_path / f"{number:064x}.so"
        cache.compile_object(toolchain, join_kernels(together), str(path), [source.entry for source in together])


def test_what_one_kernel_says_of_a_function_is_not_so_for_another() -> None:
    """Both call `hypot`: one on vectors, the other on single numbers, whose last bits are others."""
    draw = np.random.default_rng(0)
    x, y = draw.standard_normal((2, 331)).astype(np.float32) * 100

    def both(x: Any, y: Any) -> list[Any]:
        return [xp.hypot(x, y)[1:], xp.sum(xp.abs(x + 1j * y)[2:] * 3), xp.abs(x + 1j * y)[3:]]

    results: list[Any] = []
    for tier in ("compile", "interpret"):
        with context(tier=tier, num_threads=1):
            results.append([np.asarray(row).tobytes() for row in xp.jit(both)(xp.asarray(x), xp.asarray(y))])
    assert results[0] == results[1]


def many(x: Any) -> list[Any]:
    """Results of 2 * MAX_TOGETHER kernels, of which no two have one text."""
    rows: list[Any] = []
    for k in range(2, 2 + cache.MAX_TOGETHER):
        rows += [xp.sum(x[:k] * x[1 : k + 1]), xp.tanh(x[: 1000 - k]) * x[k:]]
    return rows


@pytest.mark.parametrize("threads", [1, 2])
def test_many_kernels_take_few_runs_of_the_compiler(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    monkeypatch.setattr(cache, "cache_folder", lambda: str(tmp_path))
    monkeypatch.setattr(cache, "run_compiler", lambda *given: runs.append(given[1]) or run_compiler(*given))
    monkeypatch.setattr(cache, "_functions", Recent(cache.MAX_LOADED))
    given = np.random.default_rng(threads).standard_normal(1000)
    wanted: list[Any] = []
    for tier in ("compile", "interpret"):
        clear_plans()
        with context(tier=tier, num_threads=threads, verify=False):  # which compiles each kernel by itself
            wanted.append([np.asarray(row).tobytes() for row in xp.jit(many)(xp.asarray(given))])
    assert wanted[0] == wanted[1]
    kernels = [text for text in runs if "uopc_kernel" in text]
    n = sum([text.count("int64_t uopc_kernel_") for text in kernels])
    assert n > threads
    assert len(kernels) == max(threads, ceil(n / cache.MAX_TOGETHER))
    assert len(list(tmp_path.glob("*.so"))) >= n
