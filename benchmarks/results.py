"""Files of results, and what is said of one: best peers and readable times."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.contest import OURS, installed

__all__ = ["RESULTS", "best_peer", "latest", "nearest_limit", "readable", "save", "write_result"]

RESULTS = Path(__file__).parent / "results"


def readable(seconds: float) -> str:
    """A time with three digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def best_peer(best_s: Mapping[str, float]) -> str | None:
    """The fastest of the other libraries, if there is one."""
    others = [library for library in best_s if library != OURS]
    return min(others, key=lambda library: best_s[library]) if others else None


def nearest_limit(limits_s: Mapping[str, float]) -> tuple[str, float] | None:
    """Of what a row must do, that which takes the machine longest: a name and seconds. Of the triad the faster one."""
    triads = {name: seconds for name, seconds in limits_s.items() if name.startswith("triad")}
    bounds = {name: seconds for name, seconds in limits_s.items() if name not in triads}
    if triads:
        name = min(triads, key=lambda name: triads[name])
        bounds[name] = triads[name]
    return max(bounds.items(), key=lambda item: item[1]) if bounds else None


def save(figure: Any, path: Path) -> None:
    """Write a picture: small, with text as text, and the same for the same numbers."""
    settings = {"svg.fonttype": "none", "svg.hashsalt": "benchmarks", "path.simplify": True}
    with installed("matplotlib").rc_context(settings):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def write_result(kind: str, result: Mapping[str, Any]) -> Path:
    """Write `result` to a file with the time and `kind` in its name."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}-{kind}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(f"\nwritten to {path}")
    return path


def latest(kind: str) -> dict[str, Any] | None:
    """The newest result of that kind that is not a quick one, or None."""
    for path in sorted(RESULTS.glob(f"*-{kind}.json"), reverse=True):
        result = json.loads(path.read_text())
        if not result["quick"]:
            return result
    return None
