"""File systems that only a trial sees: small, read-only, or where nothing can be executed. No rights are needed."""

import shlex
import subprocess
from pathlib import Path

import pytest

__all__ = ["seeing"]


def seeing(options: str, *folders: Path) -> list[str]:
    """A command that runs another one, which finds new, empty file systems of memory with `options` at `folders`.

    The test is skipped where the system lets nobody mount anything.
    """
    mounts = " && ".join(f"mount -t tmpfs -o {options} tmpfs {shlex.quote(str(folder))}" for folder in folders)
    under = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh"]
    try:
        subprocess.run([*under, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system lets nobody mount a file system of their own")
    return under
