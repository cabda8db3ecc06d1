"""These tests run what they render; where there is no compiler they are skipped."""

import pytest

from uopc_core.runtime.toolchain import find_toolchain


def pytest_runtest_setup() -> None:
    if find_toolchain() is None:
        pytest.skip("this machine has no C compiler")
