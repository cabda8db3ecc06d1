"""``python -m benchmarks.report``: the tables of README.md and the pictures, from the newest results, which it keeps.

Reads what ``python -m benchmarks --all`` has written to `results/`, takes what is not there from the newest file of
`history/`, and writes that file, the part of README.md between the two marks, `ratios.svg` and `growth.svg`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import growth
from benchmarks.cheap_gradient import WANTED
from benchmarks.contest import OURS, installed
from benchmarks.results import best_peer, latest, nearest_limit, readable, save

__all__ = ["chart", "main", "ratios", "tables"]

HERE = Path(__file__).parent
HISTORY = HERE / "history"
BEGIN, END = "<!-- results: written by benchmarks.report -->", "<!-- end of results -->"
KINDS = ("rows", "rows-2", "gradients", "growth")
COLUMNS = ("numpy", "jax", "numba", "numexpr", "torch", "torch compiled")
Result = Mapping[str, Any]


def _best_s(row: Result) -> dict[str, float]:
    return {library: taken["best_s"] for library, taken in row["times"].items()}


def ratios(result: Result) -> dict[str, float]:
    """By row, how many times longer the best peer takes; rows without one are left out."""
    out: dict[str, float] = {}
    for name, row in result["rows"].items():
        best = _best_s(row)
        peer = best_peer(best)
        if peer is not None:
            out[name] = best[peer] / best[OURS]
    return out


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def _cell(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 10 else f"{ratio:.0f}"


def _limit_of(row: Result) -> str:
    """The fraction that is reached of the nearest limit."""
    limit = nearest_limit(row["limits_s"])
    return f"{limit[1] / _best_s(row)[OURS]:.2f} {limit[0]}" if limit else ""


def _table_of_rows(result: Result) -> list[str]:
    of_best = ratios(result)
    there = [c for c in COLUMNS if any(c in row["times"] for row in result["rows"].values())]
    lines = [
        f"| row | what | ours | {' | '.join(there)} | best peer | of a limit |",
        f"|---|---|--:|{'--:|' * len(there)}--:|---|",
    ]
    for name, row in result["rows"].items():
        best = _best_s(row)
        ours = best[OURS]
        cells = [_cell(best[c] / ours) if c in best else "" for c in there]
        mark = f"**{_cell(of_best[name])}**" if name in of_best else ""
        lines.append(
            f"| `{name}` | {row['title']} | {readable(ours)} | {' | '.join(cells)} | {mark} | {_limit_of(row)} |"
        )
    return lines


def _summary(result: Result) -> str:
    values = ratios(result)
    ahead, near = sum(r >= 1 for r in values.values()), sum(0.9 <= r < 1 for r in values.values())
    return (
        f"Of {len(values)} rows {ahead} are ahead of the best peer, {near} within a tenth of it; "
        f"geometric mean of the ratios {geometric_mean(values.values()):.2f}."
    )


def _machine(result: Result) -> str:
    return ", ".join(f"{name} {value}" for name, value in result["machine"].items() if name != "threads")


def _limits(result: Result) -> str:
    said = [
        f"{name} {rate / 1e9:.3g} {'GFLOP/s' if name.startswith(('fma', 'gemm')) else 'GB/s'}"
        for name, rate in result["limits"].items()
    ]
    return f"Limits: {', '.join(said)}."


def _table_of_gradients(result: Result) -> list[str]:
    lines = ["| row | value | value_and_grad | ratio | JAX's ratio |", "|---|--:|--:|--:|--:|"]
    for name, by_library in result["rows"].items():
        value, both = by_library[OURS]["value_s"], by_library[OURS]["value_and_grad_s"]
        theirs = by_library.get("jax")
        jax = f"{theirs['value_and_grad_s'] / theirs['value_s']:.2f}" if theirs else ""
        lines.append(f"| `{name}` | {readable(value)} | {readable(both)} | {both / value:.2f} | {jax} |")
    return lines


def _steps(result: Result) -> list[str]:
    found = [
        f"- {name}, {contestant}: {excess:.2f}x at {n:,} elements"
        for name, by_contestant in result["curves"].items()
        for contestant, seconds in by_contestant.items()
        if contestant != growth.NUMPY
        for n, excess in growth.steps(result["sizes"], seconds)
    ]
    return found or [f"No curve of ours has a step above {growth.STEP}x."]


def tables(results: Mapping[str, Result]) -> str:
    """What stands between the marks."""
    one = results["rows"]
    parts = [
        f"Measured {results['measured']}: {_machine(one)}.",
        _limits(one),
        "Ours is the best time; the others are multiples of it, so that above 1 they are slower.",
        "### One thread",
        f"{_summary(one)} ![ratios](ratios.svg)",
        "\n".join(_table_of_rows(one)),
    ]
    if "rows-2" in results:
        two = results["rows-2"]
        parts += ["### Two threads", _summary(two), "\n".join(_table_of_rows(two))]
    if "gradients" in results:
        gradients = results["gradients"]
        over = [
            name
            for name, row in gradients["rows"].items()
            if row[OURS]["value_and_grad_s"] > WANTED * row[OURS]["value_s"]
        ]
        said = f"Above {WANTED:g} times the value: {', '.join(f'`{name}`' for name in over) or 'none'}."
        parts += ["### Gradients", said, "\n".join(_table_of_gradients(gradients))]
    if "growth" in results:
        parts += ["### Time against size", "![growth](growth.svg)", "\n".join(_steps(results["growth"]))]
    return "\n\n".join(parts) + "\n"


def chart(result: Result, path: Path) -> None:
    """The ratios to the best peer as bars, slowest first, with their geometric mean."""
    values = dict(sorted(ratios(result).items(), key=lambda item: item[1]))
    figure: Any = installed("matplotlib.figure").Figure(figsize=(9, 0.19 * len(values) + 1), layout="constrained")
    axes = figure.subplots()
    places = range(len(values))
    colours = ["#2a7f62" if r >= 1 else "#d9a441" if r >= 0.9 else "#b5493a" for r in values.values()]
    axes.barh(places, [r - 1 for r in values.values()], left=1, color=colours, height=0.75)
    axes.set_xscale("log")
    axes.set_yticks(places, values, fontsize=7, family="monospace")
    axes.set_ylim(-0.6, len(values) - 0.4)
    mean = geometric_mean(values.values())
    axes.axvline(1, color="black", linewidth=0.8)
    axes.axvline(mean, color="#33517a", linestyle="--", linewidth=1, label=f"geometric mean {mean:.2f}")
    axes.set_xlabel("time of the best peer over ours, one thread: to the right of 1 we are faster")
    marks = [
        m for m in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if min(values.values()) / 2 < m < max(values.values()) * 2
    ]
    axes.set_xticks(marks, [f"{m:g}" for m in marks])
    axes.minorticks_off()
    axes.legend(loc="lower right")
    save(figure, path)


def _collected() -> dict[str, Any]:
    """The newest results by kind, those of the newest file of the history where there are no newer ones."""
    kept = sorted(HISTORY.glob("*.json"))
    results: dict[str, Any] = json.loads(kept[-1].read_text()) if kept else {}
    found = {kind: result for kind in KINDS if (result := latest(kind)) is not None}
    return {**results, **found, "measured": time.strftime("%d %B %Y")}


def _written_between_marks(text: str, tables: str) -> str:
    head, _, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise SystemExit(f"README.md: expected the marks {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{tables}\n{END}{tail}"


def main(arguments: Sequence[str] = ()) -> None:
    """Write tables, pictures and history.

    Raises:
        SystemExit: no row has been measured.
    """
    results = _collected()
    if "rows" not in results:
        raise SystemExit("there are no results: measure with python -m benchmarks --all")
    HISTORY.mkdir(exist_ok=True)
    (HISTORY / time.strftime("%Y-%m-%d.json")).write_text(json.dumps(results, indent=1) + "\n")
    readme = HERE / "README.md"
    readme.write_text(_written_between_marks(readme.read_text(), tables(results)))
    chart(results["rows"], HERE / "ratios.svg")
    if "growth" in results:
        growth.draw(results["growth"]["sizes"], results["growth"]["curves"], HERE / "growth.svg")
    print(_summary(results["rows"]))


if __name__ == "__main__":
    main()
