"""Which trials run, how often, and what came out of them."""

from collections.abc import Iterator

import pytest

from tests.reliability.report import Report
from uopc_core.runtime.toolchain import find_toolchain


class Tries:
    """Counts how often a test tried its fault. Only a try that came to its end survived."""

    def __init__(self, is_full: bool) -> None:
        self.tried = self.survived = 0
        self.is_full = is_full

    def __call__(self, short: int, full: int) -> Iterator[int]:
        """The numbers of the tries, from 0; what the body raises ends them, and is the one that did not survive."""
        for number in range(full if self.is_full else short):
            self.tried += 1
            yield number
            self.survived += 1

    def add(self, number: int) -> None:
        """So many more were tried and survived, as a child says that repeats by itself."""
        self.tried += number
        self.survived += number


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> Iterator[Tries]:
    counted = Tries(bool(request.config.getoption("--reliability")))
    yield counted
    request.node.user_properties.append(("tries", (counted.tried, counted.survived)))


@pytest.fixture(autouse=True)
def _needs_compiler(request: pytest.FixtureRequest) -> None:
    """Asked for at the test and not at import, since children import the modules of tests too."""
    if request.node.get_closest_marker("needs_compiler") is not None and find_toolchain() is None:
        pytest.skip("this machine has no C compiler")


def pytest_configure(config: pytest.Config) -> None:
    page = config.getoption("--reliability-page")
    if page is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(page))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--reliability"):
        long = [item for item in items if item.get_closest_marker("reliability") is not None]
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)
