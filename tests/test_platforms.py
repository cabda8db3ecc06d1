"""Systems that lack what Linux has: the package is imported there, and NumPy computes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.platforms import PLATFORMS

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_system_without_what_linux_has_computes(name: str, tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "UOPC_CACHE_DIR": str(tmp_path), "UOPC_TIER": "auto"}
    environment.pop("CC", None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.platforms", name],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "computed\n"), done.stderr
    if not PLATFORMS[name].has_dlopen:
        assert not list(tmp_path.iterdir())  # no folder for kernels where there can be none
