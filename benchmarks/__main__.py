"""``python -m benchmarks [--row NAME]... [--threads N] [--quick]``: measure, print the rows, write them as JSON.

``python -m benchmarks --all`` measures what `benchmarks.report` writes: all rows with one thread and with two,
gradients beside values, and time against size.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contest import OURS, Row, Times
from benchmarks.environment import describe, restart
from benchmarks.limits import describe_limits
from benchmarks.results import best_peer, nearest_limit, readable, write_result

__all__ = ["main", "measure_rows", "rows"]

# with several threads only what a thread can take part in
LARGE = ("fusion", "elementwise", "reductions", "movement", "products", "models", "network")
GROUPS = (*LARGE, "calls", "small", "first_call")
AT_LIMIT = 0.95  # of a limit, and the row need not be ahead of anybody
BEST = "best"  # as a target: of all other libraries


def rows(n_threads: int = 1) -> list[Row]:
    """All rows; imported late, since the libraries read the environment when they load."""
    groups = GROUPS if n_threads == 1 else LARGE
    return [row for group in groups for row in importlib.import_module(f"benchmarks.{group}").ROWS]


def _chosen(all_rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    unknown = [name for name in names if not any(row.name.startswith(name) for row in all_rows)]
    if unknown:
        raise SystemExit(f"no row {', '.join(unknown)}; there are {', '.join(row.name for row in all_rows)}")
    return [row for row in all_rows if not names or any(row.name.startswith(name) for name in names)]


def _verdicts(row: Row, best_s: Mapping[str, float]) -> list[str]:
    """How our speed stands to every target of the row, and to what the machine can do."""
    ours = best_s[OURS]
    limit = nearest_limit(row.limits)
    is_at_limit = limit is not None and ours * AT_LIMIT <= limit[1]
    out: list[str] = []
    for wanted, factor in row.targets.items():
        library = best_peer(best_s) if wanted == BEST else wanted
        if library is not None and library in best_s:
            reached = best_s[library] / ours
            verdict = "ok" if reached >= factor else "ok, at the limit" if is_at_limit else "MISSED"
            out.append(f"{reached:.2f}x {library} (to reach: {factor:g}x) {verdict}")
    return out + [f"{limit_s / ours:.2f} of the limit: {name}" for name, limit_s in row.limits.items()]


def _print_row(row: Row, times: Mapping[str, Times]) -> None:
    print(f"\n{row.name}: {row.title}")
    ours = times[OURS].best_s
    for library, taken in sorted(times.items(), key=lambda item: item[1].best_s):
        ratio = taken.best_s / ours
        median, best = readable(taken.median_s), readable(taken.best_s)
        print(f"  {library:<14} median {median:>8}  best {best:>8}  {ratio:6.2f}x ours")
    for line in [*_verdicts(row, {library: t.best_s for library, t in times.items()}), *row.notes]:
        print(f"  -> {line}", flush=True)


def _record(row: Row, times: Mapping[str, Times]) -> dict[str, Any]:
    measured = {
        library: {"median_s": t.median_s, "best_s": t.best_s, "n": len(t.samples_s)} for library, t in times.items()
    }
    return {
        "title": row.title,
        "subject": row.subject,
        "times": measured,
        "limits_s": dict(row.limits),
        "targets": dict(row.targets),
        "notes": row.notes,
    }


def measure_rows(names: Sequence[str], n_threads: int, quick: bool) -> Path:
    """Measure the chosen rows; a row that fails is told of at the end, when the others are written.

    Raises:
        SystemExit: a row is not known, or failed.
    """
    machine: dict[str, Any] = {**describe(), "threads": n_threads}
    print("  ".join(f"{name} {value}" for name, value in machine.items()))
    started = time.time()
    records: dict[str, Any] = {}
    failed: list[str] = []
    for row in _chosen(rows(n_threads), names):
        try:
            times = row.times(quick)
        except Exception as error:
            failed.append(f"{row.name}: {type(error).__name__}: {error}")
            print(f"\n{failed[-1]}", flush=True)
            continue
        _print_row(row, times)
        records[row.name] = _record(row, times)
    result = {
        "machine": machine,
        "limits": describe_limits(),
        "quick": quick,
        "seconds": round(time.time() - started),
        "rows": records,
    }
    path = write_result("rows" if n_threads == 1 else f"rows-{n_threads}", result)
    if failed:
        raise SystemExit("\n".join([f"{len(failed)} rows failed", *failed]))
    return path


def _measure_all(quick: bool) -> None:
    """Each part in a process of its own, so that one that fails leaves the others."""
    more = ["--quick"] if quick else []
    parts = (
        ["benchmarks", *more],
        ["benchmarks", "--threads", "2", *more],
        ["benchmarks.cheap_gradient", *more],
        ["benchmarks.growth", *more],
    )
    failed = [part for part in parts if subprocess.run([sys.executable, "-m", *part], check=False).returncode]
    if failed:
        raise SystemExit("\n".join(["failed:", *[" ".join(part) for part in failed]]))


def main(arguments: Sequence[str]) -> None:
    """Measure the chosen rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--row", action="append", default=[], help="name of a row or its beginning; may be repeated")
    parser.add_argument(
        "--threads", type=int, default=1, help="of every library; the rows of large data only, from 2 on"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: whether everything runs, not how fast")
    parser.add_argument("--all", action="store_true", help="all that the page shows, part by part")
    options = parser.parse_args(arguments)
    if options.all:
        _measure_all(options.quick)
        return
    restart("benchmarks", list(arguments), options.threads)
    measure_rows(options.row, options.threads, options.quick)


if __name__ == "__main__":
    main(sys.argv[1:])
