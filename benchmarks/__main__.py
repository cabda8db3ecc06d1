"""``python -m benchmarks [--row NAME]... [--quick]``: measure, print the table, write it as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contest import OURS, Row, Times
from benchmarks.environment import describe, restart_on_one_core

GROUPS = ("fusion", "network", "calls", "small", "first_call")
RESULTS = Path(__file__).parent / "results"


def _rows() -> list[Row]:
    """All rows; imported late, since the libraries read the environment when they load."""
    return [row for group in GROUPS for row in importlib.import_module(f"benchmarks.{group}").ROWS]


def _chosen(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    unknown = [name for name in names if not any(row.name.startswith(name) for row in rows)]
    if unknown:
        raise SystemExit(f"no row {', '.join(unknown)}; there are {', '.join(row.name for row in rows)}")
    return [row for row in rows if not names or any(row.name.startswith(name) for name in names)]


def _readable(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _verdicts(row: Row, times: Mapping[str, Times]) -> list[str]:
    """How our speed stands to every target of the row."""
    out: list[str] = []
    for library, factor in row.targets.items():
        if library in times and OURS in times:
            reached = times[library].best_s / times[OURS].best_s
            out.append(f"{reached:.2f}x {library} (to reach: {factor:g}x) {'ok' if reached >= factor else 'MISSED'}")
    return out


def _print_row(row: Row, times: Mapping[str, Times]) -> None:
    print(f"\n{row.name}: {row.title}")
    ours = times[OURS].best_s
    for library, taken in sorted(times.items(), key=lambda item: item[1].best_s):
        ratio = taken.best_s / ours
        median, best = _readable(taken.median_s), _readable(taken.best_s)
        print(f"  {library:<11} median {median:>8}  best {best:>8}  {ratio:6.2f}x ours")
    for line in [*_verdicts(row, times), *row.notes]:
        print(f"  -> {line}", flush=True)


def _record(row: Row, times: Mapping[str, Times]) -> dict[str, Any]:
    measured = {
        library: {"median_s": t.median_s, "best_s": t.best_s, "n": len(t.samples_s)} for library, t in times.items()
    }
    ratios = {library: t.best_s / times[OURS].best_s for library, t in times.items()}
    return {"title": row.title, "times": measured, "ratios": ratios, "targets": dict(row.targets), "notes": row.notes}


def main(arguments: Sequence[str]) -> None:
    """Measure the chosen rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--row", action="append", default=[], help="name of a row or its beginning; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether everything runs, not how fast")
    options = parser.parse_args(arguments)
    restart_on_one_core(list(arguments))
    machine = describe()
    print("  ".join(f"{name} {value}" for name, value in machine.items()))
    records: dict[str, Any] = {}
    for row in _chosen(_rows(), options.row):
        times = row.times(options.quick)
        _print_row(row, times)
        records[row.name] = _record(row, times)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / time.strftime("%Y%m%d-%H%M%S.json")
    path.write_text(json.dumps({"machine": machine, "quick": options.quick, "rows": records}, indent=2) + "\n")
    print(f"\nwritten to {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
