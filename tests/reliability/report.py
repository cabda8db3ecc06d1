"""The table of docs/reliability.md: what came out of the trials, counted, between two marks of the page."""

import platform
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uopc_core.runtime.toolchain import find_toolchain

__all__ = ["BEGIN", "END", "Report", "Row", "render"]

BEGIN, END = "<!-- trials: begin -->", "<!-- trials: end -->"


@dataclass
class Row:
    """One test: a fault, in as many kinds as the test has parameters."""

    kinds: int = 0
    tries: int = 0
    survived: int = 0
    skipped: set[str] = field(default_factory=set)


class Report:
    """A plugin that gathers the outcome of every trial and writes the page at the end."""

    def __init__(self, page: Path) -> None:
        self._page = page
        self._failed: set[str] = set()
        self._rows: dict[tuple[str, int, str], Row] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = self._rows.setdefault(_place(report), Row())
        if report.failed:
            self._failed.add(report.nodeid)
        if report.skipped:
            row.skipped.add(_reason(report))
        elif report.when == "call":
            row.kinds += 1
        elif report.when == "teardown" and not row.skipped:
            counted: dict[str, Any] = dict(report.user_properties)
            tries, survived = counted.get("tries", (0, 0))
            whole = 0 if report.nodeid in self._failed else 1  # a test that counts nothing is one try
            row.tries += tries or 1
            row.survived += survived if tries else whole

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        option = session.config.option
        if option.reliability and not option.keyword and not option.markexpr:
            text = self._page.read_text(encoding="utf-8")
            table = f"{BEGIN}\n{_machine()}\n\n{render(self._rows)}{END}"
            self._page.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: table, text, flags=re.DOTALL), encoding="utf-8")


def render(rows: dict[tuple[str, int, str], Row]) -> str:
    """Markdown: one table for each module of trials, one row for each test, in the order of the sources."""
    lines: list[str] = []
    last = ""
    for (path, _, name), row in sorted(rows.items()):
        if path != last:
            lines += [
                f"### {_sentence(Path(path).stem)}",
                "",
                "| trial | kinds | tries | survived |",
                "|---|--:|--:|--:|",
            ]
            last = path
        outcome = f"{row.survived:,}" if row.survived == row.tries else f"**{row.survived:,}**"
        if row.skipped and not row.kinds:
            outcome = f"skipped: {', '.join(sorted(row.skipped))}"
        lines.append(f"| {_sentence(name)} | {row.kinds} | {row.tries:,} | {outcome} |")
    return "\n".join(lines).replace("\n###", "\n\n###") + "\n"


def _place(report: pytest.TestReport) -> tuple[str, int, str]:
    path, line, name = report.location
    return path, line or 0, name.partition("[")[0]


def _reason(report: pytest.TestReport) -> str:
    found = report.longrepr
    return found[2].removeprefix("Skipped: ") if isinstance(found, tuple) else str(found)


def _sentence(name: str) -> str:
    words = name.removeprefix("test_").replace("_", " ")
    return words[:1].upper() + words[1:]


def _machine() -> str:
    toolchain = find_toolchain()
    compiler = "no C compiler" if toolchain is None else toolchain.version
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    where = f"{platform.system()} {platform.machine()}, {python}, NumPy {np.__version__}, {compiler}"
    return where + (f", at {commit.stdout.strip()}" if commit.returncode == 0 else "") + "."
