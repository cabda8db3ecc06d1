"""What all tests share: verified kernels, hypothesis profiles, no floating-point warnings from NumPy."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Every kernel that a test makes is run by the interpreter too, and compared. uopc_core reads this when it is imported.
os.environ.setdefault("UOPC_VERIFY", "1")
# Small operands go the way of large ones: graphs, plans and kernels are what most tests are about. Those of
# tests/array/test_at_once.py and of the docs have it otherwise, and `make test-at-once` runs the tests of values so.
os.environ.setdefault("UOPC_AT_ONCE", "0")

from tests.support.guard_pages import guard_every_plan
from tests.support.live_memory import leave_out_what_is_there

# The same examples in every run: a failure in CI is a failure at home. HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,  # a first example may compile a kernel
    max_examples=50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the same reason
)
settings.register_profile("search", settings.get_profile("fixed"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what the tests see")
    parser.addoption("--reliability", action="store_true", help="the long trials of tests/reliability too")
    parser.addoption("--reliability-page", type=Path, help="write their results into this page")
    parser.addoption("--guard-pages", action="store_true", help="run every compiled plan between forbidden pages first")


def pytest_collection_finish() -> None:
    """Forty thousand tests are objects too: whoever collects garbage need not look at them each time."""
    given(st.none())(lambda _: None)()  # hypothesis asks at its first example who holds its generator, of the unfrozen
    leave_out_what_is_there()


@pytest.fixture(autouse=True)
def _quiet_references() -> Iterator[None]:
    """Expected values come from NumPy, which warns about the special values that tests are full of."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(autouse=True)
def _guard_pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.config.getoption("--guard-pages"):
        guard_every_plan(monkeypatch)
