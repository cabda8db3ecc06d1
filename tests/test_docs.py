"""What the documentation shows is run: doctests of every module, code of README.md and docs/*.md."""

import doctest
import importlib
import io
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import uopc_array
import uopc_core
from uopc_array._interop.numpy_names import NOTE
from uopc_core.settings import AT_ONCE

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)(?P<path>[^)#]+)(?:#[^)]*)?\)")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def module_names(package: ModuleType) -> Iterator[str]:
    yield package.__name__
    yield from (module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


@pytest.fixture(autouse=True)
def _as_by_default() -> Iterator[None]:
    """Examples come out as they do for those who set nothing."""
    with uopc_core.context(at_once=AT_ONCE):
        yield


def documented_names() -> dict[str, Any]:
    """What an example may use without importing it."""
    return {"np": np, "xp": uopc_array}


def run_doctest(test: doctest.DocTest) -> str:
    """The report of what came out otherwise; empty if all came out as shown."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=report.write)
    return report.getvalue()


def run_block(code: str, name: str, line: int, names: dict[str, Any]) -> None:
    """Run one block of a page; a session with prompts is compared with its output."""
    if not code.lstrip().startswith(">>>"):
        exec(compile("\n" * line + code, name, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, name, name, line)
    test.globs = names  # the parser hands over a copy; later blocks go on where this one ends
    report = io.StringIO()
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.write, clear_globs=False)
    assert not report.getvalue(), report.getvalue()


def run_page(text: str, name: str) -> int:
    """Run the Python of a page from top to bottom, in one namespace; returns the number of blocks."""
    names: dict[str, Any] = {"__name__": "__page__"}
    blocks = [found for found in FENCE.finditer(text) if found["language"] in {"python", "pycon"}]
    for found in blocks:
        run_block(found["code"], name, text[: found.start("code")].count("\n"), names)
    return len(blocks)


def _is_of_numpy(test: doctest.DocTest) -> bool:
    """Whether the text is that of a function which only NumPy has: a module holds those that somebody has asked for."""
    return (test.docstring or "").startswith(NOTE)


@pytest.mark.parametrize("name", [*module_names(uopc_core), *module_names(uopc_array)])
def test_examples_in_docstrings_come_out_as_shown(name: str) -> None:
    module = importlib.import_module(name)
    names = documented_names() | vars(module)
    tests = doctest.DocTestFinder(exclude_empty=True).find(module, globs=names)
    reports = [run_doctest(test) for test in tests if test.examples and not _is_of_numpy(test)]
    assert not any(reports), "\n".join(reports)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_on_pages_runs_as_shown(page: Path) -> None:
    run_page(page.read_text(), str(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    missing = [found["path"] for found in LINK.finditer(page.read_text()) if not (page.parent / found["path"]).exists()]
    assert not missing


def test_the_readme_has_code() -> None:
    assert run_page((ROOT / "README.md").read_text(), "README.md") > 0


def test_a_page_that_shows_a_wrong_result_is_found() -> None:
    run_page("```python\nx = 1\n```\n```pycon\n>>> x + 1\n2\n>>> y = 3\n```\n```python\nassert y == 3\n```\n", "right")
    with pytest.raises(AssertionError, match="Expected:"):
        run_page("```pycon\n>>> 1 + 1\n3\n```\n", "wrong")
    with pytest.raises(ZeroDivisionError):
        run_page("```python\n1 / 0\n```\n", "wrong")


def test_every_page_stands_in_the_index_and_in_the_navigation() -> None:
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    index = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "index.md").read_text()))
    navigation = set(re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert index == pages - {"index.md"}
    assert navigation == pages
