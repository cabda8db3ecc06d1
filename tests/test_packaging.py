"""What is declared and what is uploaded: versions, the sdist, the wheel."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from uopc_array._array.extension import IN_C

ROOT = Path(__file__).parent.parent
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[a-z]+\])?(?:(>=|==)([0-9.]+))?$")


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _floors() -> dict[str, str]:
    """The lowest versions that the package, its examples and its tests declare."""
    project = _project()
    extras = project["optional-dependencies"]
    found = [_REQUIREMENT.match(line) for line in (*project["dependencies"], *extras["demo"], *extras["test"])]
    assert all(found)
    return {match[1]: match[3] for match in found if match is not None and match[2] == ">="}


def _lowest() -> dict[str, tuple[str, str]]:
    """Version and reason by package, as .ci/lowest.txt has them."""
    lines = [line for line in (ROOT / ".ci" / "lowest.txt").read_text().splitlines() if not line.startswith("#")]
    parts = [re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9.]+)(?: # (.+))?", line) for line in lines]
    assert all(parts)
    return {part[1]: (part[2], part[3] or "") for part in parts if part is not None}


def _padded(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    return (*numbers, *[0] * (4 - len(numbers)))


def test_the_lowest_versions_that_are_tested_are_those_that_are_declared() -> None:
    floors, lowest = _floors(), _lowest()
    assert floors.keys() <= lowest.keys()
    for name, version in floors.items():
        # of the oldest series: its first release that can be had
        assert _padded(lowest[name][0])[: version.count(".") + 1] == _padded(version)[: version.count(".") + 1], name
    assert all(reason for name, (_, reason) in lowest.items() if name not in floors)


def test_every_dependency_is_imported() -> None:
    sources = "".join(path.read_text() for name in ("uopc_core", "uopc_array") for path in (ROOT / name).rglob("*.py"))
    for line in _project()["dependencies"]:
        name = re.split(r"[<>=]", line)[0].replace("-", "_")
        assert re.search(rf"(?:import|from) _?{name}|LazyModule\(.{name}", sources), name


# ----------------------------------------------------------------------------------------------------------- the files


def _tracked() -> set[str]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """The names in the sdist and in the wheel of what is tracked here."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in _tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    build = "import sys; from setuptools import build_meta; out = sys.argv[1]; "
    build += "build_meta.build_sdist(out); build_meta.build_wheel(out)"
    command = [sys.executable, "-W", "ignore", "-c", build, str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    with tarfile.open(sdist) as archive:
        in_sdist = {member.name.partition("/")[2] for member in archive if member.isfile()}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    return in_sdist, in_wheel


def test_the_sdist_holds_all_that_is_tracked_so_that_its_tests_run(built: tuple[set[str], set[str]]) -> None:
    made = {name for name in built[0] if ".egg-info/" in name or name in ("PKG-INFO", "setup.cfg")}
    assert built[0] - made == _tracked()


def test_the_wheel_holds_the_packages_and_nothing_else(built: tuple[set[str], set[str]]) -> None:
    packages = {name for name in _tracked() if name.startswith(("uopc_core/", "uopc_array/"))}
    described = {name for name in built[1] if re.match(r"uopc_array-[^/]+\.dist-info/", name)}
    compiled = {name for name in built[1] if re.fullmatch(r"uopc_array/_array/at_once_c\.[^/]*\.(so|pyd)", name)}
    assert len(compiled) == (IN_C is not None)  # as where the tests run
    assert built[1] - described - compiled == packages
    assert {"uopc_core/runtime/runtime.c", "uopc_core/codegen/kernels.h", "uopc_core/py.typed"} <= built[1]
    assert "uopc_array/py.typed" in built[1]


def test_an_editable_install_is_a_path_that_checkers_of_types_follow(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "dist"
    for name in _tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    build = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
    command = [sys.executable, "-W", "ignore", "-c", build, str(out)]
    out.mkdir()
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        installed = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert [name.endswith(".pth") for name in installed] == [True]
        assert Path(archive.read(installed[0]).decode().strip()).resolve() == source.resolve()
