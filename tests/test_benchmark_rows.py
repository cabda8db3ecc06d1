"""The rows of the benchmarks compute what NumPy computes, small; and what is made of results. No time is looked at."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from benchmarks import cheap_gradient, growth, limits, report, results
from benchmarks.__main__ import GROUPS, LARGE, rows
from benchmarks.contest import OURS
from benchmarks.program import Program, inputs_of, value_of
from uopc_core.runtime.toolchain import find_toolchain

PROGRAMS = {
    program.name: program
    for group in LARGE
    for program in getattr(importlib.import_module(f"benchmarks.{group}"), "PROGRAMS", ())
}
needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="needs a compiler")


def _arrays(result: Any) -> list[Any]:
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_row_computes_what_numpy_computes(program: Program) -> None:
    arrays = inputs_of(program, quick=True)
    compared = program.compared or (lambda x: x)
    f = program.ours or program.f
    with xp.context(tier="interpret"):
        mine = _arrays(compared(f(xp, *[xp.asarray(x) for x in arrays])))
    if "numpy" not in program.without:
        for x, wanted in zip(mine, _arrays(compared((program.numpy or program.f)(np, *arrays))), strict=True):
            assert (x.shape, x.dtype.kind) == (wanted.shape, wanted.dtype.kind)
            np.testing.assert_allclose(x, wanted, rtol=0, atol=program.rtol * max(float(np.abs(wanted).max()), 1e-30))


@pytest.mark.parametrize("program", [p for p in PROGRAMS.values() if p.slopes], ids=lambda p: p.name)
def test_a_row_with_a_gradient_has_one_for_each_argument(program: Program) -> None:
    arrays = [xp.asarray(x) for x in inputs_of(program, quick=True)]
    with xp.context(tier="interpret"):
        value, slopes = xp.value_and_grad(value_of(program, xp), tuple(program.slopes))(*arrays)
        assert np.isfinite(value)
    assert [slope.shape for slope in slopes] == [arrays[i].shape for i in program.slopes]


def test_rows_have_names_of_their_own_and_a_subject() -> None:
    all_rows = rows()
    assert len({row.name for row in all_rows}) == len(all_rows)
    assert all(row.subject for row in all_rows)
    assert set(LARGE) < set(GROUPS)
    assert {row.name for row in rows(2)} < {row.name for row in all_rows}
    assert {p.name for p in cheap_gradient.programs()} <= {row.name for row in all_rows}


@needs_compiler
def test_limits_of_the_machine_are_measured() -> None:
    assert min(limits.triad_rates(24_000).values()) > 0
    assert limits.fma_peak("float32") > 0
    assert limits.gemv_rate("float64", 64, 32) > 0


def test_the_nearest_limit_is_the_longest_of_what_must_be_done() -> None:
    times = {"triad, plain stores": 3.0, "triad, streaming stores": 2.0, "fma": 1.0}
    assert results.nearest_limit(times) == ("triad, streaming stores", 2.0)
    assert results.nearest_limit({**times, "fma": 2.5}) == ("fma", 2.5)
    assert results.nearest_limit({}) is None


def test_a_bend_is_no_step_and_a_jump_is_one() -> None:
    ns = growth.sizes(100_000)
    assert ns[0] == 1
    assert ns[-1] == 100_000
    bend = [1e-6 + n * 1e-9 for n in ns]
    assert growth.steps(ns, bend) == []
    jump = [t * (2 if n >= 1000 else 1) for n, t in zip(ns, bend, strict=True)]
    (found,) = growth.steps(ns, jump)
    assert found[0] == 1000
    assert 1.5 < found[1] < 2.2
    hill = [t * (3 if n < 1000 else 1) for n, t in zip(ns, bend, strict=True)]
    assert [n for n, _ in growth.steps(ns, hill)] == [1000]


@pytest.mark.parametrize("name", growth.FUNCTIONS)
def test_curves_are_of_functions_that_agree(name: str) -> None:
    x, y = np.random.default_rng(0).uniform(0.5, 1, (2, 50))
    f = growth.FUNCTIONS[name]
    np.testing.assert_allclose(f(xp, xp.asarray(x), xp.asarray(y)), f(np, x, y), rtol=1e-12)


def _result(**times: float) -> dict[str, Any]:
    taken = {name: {"best_s": t, "median_s": t, "n": 3} for name, t in times.items()}
    return {"title": "a title", "subject": "s", "times": taken, "limits_s": {"fma": 0.5}, "targets": {}, "notes": []}


RESULTS: dict[str, Any] = {
    "measured": "today",
    "rows": {
        "machine": {"processor": "P"},
        "limits": {"fma float32": 2e9, "triad, plain stores": 1e10},
        "quick": False,
        "rows": {
            "ahead": _result(uopc_array=1.0, numpy=8.0, jax=4.0),
            "behind": _result(uopc_array=1.0, numpy=0.25),
            "alone": _result(uopc_array=1.0),
        },
    },
    "gradients": {
        "quick": False,
        "rows": {
            "cheap": {OURS: {"value_s": 1.0, "value_and_grad_s": 2.0}},
            "dear": {OURS: {"value_s": 1.0, "value_and_grad_s": 4.0}},
        },
    },
    "growth": {
        "quick": False,
        "sizes": [1, 10, 100],
        "curves": {"f": {growth.NUMPY: [1, 1, 9], growth.EAGER: [1, 9, 9], growth.JITTED: [1, 1, 1]}},
    },
}


def test_ratios_are_to_the_best_peer() -> None:
    found = report.ratios(RESULTS["rows"])
    assert found == {"ahead": 4.0, "behind": 0.25}
    assert math.isclose(report.geometric_mean(found.values()), 1.0)


def test_tables_say_what_was_measured() -> None:
    text = report.tables(RESULTS)
    assert "| `ahead` | a title | 1 s | 8 | 4 | **4** | 0.50 fma |" in text
    assert "| `alone` | a title | 1 s |  |  |  | 0.50 fma |" in text
    assert "Of 2 rows 1 are ahead of the best peer, 0 within a tenth of it; geometric mean of the ratios 1.00." in text
    assert "Above 3 times the value: `dear`." in text
    assert "- f, uopc_array: 9.00x at 10 elements" in text
    assert "triad, plain stores 10 GB/s" in text


def test_the_page_is_written_between_its_marks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(report, "HERE", tmp_path)
    monkeypatch.setattr(report, "HISTORY", tmp_path / "history")
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    page = tmp_path / "README.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    with pytest.raises(SystemExit, match="there are no results"):
        report.main()
    for kind in ("rows", "gradients"):
        results.write_result(kind, RESULTS[kind])
    results.write_result("rows-2", {**RESULTS["rows"], "quick": True})
    report.main()
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "`ahead`" in text
    assert "Two threads" not in text
    assert (tmp_path / "ratios.svg").read_text().rstrip().endswith("</svg>")
    (kept,) = (tmp_path / "history").iterdir()
    assert set(json.loads(kept.read_text())) == {"rows", "gradients", "measured"}


def test_the_page_has_its_marks() -> None:
    page = (Path(report.__file__).parent / "README.md").read_text()
    assert page.count(report.BEGIN) == page.count(report.END) == 1
