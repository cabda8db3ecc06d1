"""Disks that are full, or become it, folders that cannot be used, and the files of other people."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.mounts import seeing
from tests.reliability.programs import compute
from tests.reliability.trial import value_of
from uopc_core.runtime.cache import compile_one
from uopc_core.runtime.folder import SUBFOLDER, cache_folder, private_folder
from uopc_core.runtime.toolchain import find_toolchain

pytestmark = pytest.mark.needs_compiler


def compiles(value: dict[str, Any]) -> None:
    """Every value is right, without a word, by compiled code."""
    assert (value["wrong"], value["warnings"]) == ([], [])
    assert value["compiled"] > 0


def folder_of_ones_own(path: Path) -> Path:
    path.mkdir(mode=0o700)
    return path


@pytest.mark.parametrize("kib", [pytest.param(n, marks=[pytest.mark.reliability] * (n != 32)) for n in (4, 16, 32, 64)])
def test_where_the_disk_of_the_cache_is_full_kernels_lie_elsewhere(tmp_path, kib):
    cache = folder_of_ones_own(tmp_path / "cache")
    under = seeing(f"size={kib}k,mode=0700", cache)
    compiles(value_of(compute, env={"UOPC_CACHE_DIR": str(cache)}, under=under))


@pytest.mark.parametrize("kib", [pytest.param(n, marks=[pytest.mark.reliability] * (n != 16)) for n in (4, 16, 32, 64)])
def test_where_every_disk_is_full_numpy_computes(tmp_path, kib):
    cache, temporary = folder_of_ones_own(tmp_path / "cache"), folder_of_ones_own(tmp_path / "tmp")
    under = seeing(f"size={kib}k,mode=0700", cache, temporary)
    environment = {"UOPC_CACHE_DIR": str(cache), "TMPDIR": str(temporary)}
    value = value_of(compute, env=environment, under=under)
    assert value["wrong"] == []
    assert len(value["warnings"]) <= 1


def fill_the_disk(folder: str) -> list[dict[str, Any]]:
    before = compute()
    with open(os.path.join(folder, "full"), "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)) == 4096:
                pass
        except OSError:
            pass
    return [before, compute(), compute_anew()]


def compute_anew() -> dict[str, Any]:
    """With kernels that nothing else has."""
    compile_one(f"int answer(void) {{ return {time.perf_counter_ns() % 10**9}; }}", "answer")
    return compute()


@pytest.mark.reliability
@pytest.mark.parametrize("kib", [1000, 2000])
def test_a_disk_that_fills_up_while_a_program_runs(tmp_path, kib):
    cache = folder_of_ones_own(tmp_path / "cache")
    under = seeing(f"size={kib}k,mode=0700", cache)
    for value in value_of(fill_the_disk, str(cache), env={"UOPC_CACHE_DIR": str(cache)}, under=under):
        compiles(value)


@pytest.mark.parametrize(
    "limits",
    [
        {"FSIZE": 8192},
        *[
            pytest.param({name: bound}, marks=pytest.mark.reliability)
            for name, bounds in {"FSIZE": (0, 1000, 16384, 30000), "NOFILE": (8, 9, 10, 11, 12, 14, 18, 24, 32)}.items()
            for bound in bounds
        ],
    ],
    ids=str,
)
def test_limits_on_files_mean_numpy_at_worst(limits):
    value = value_of(compute, limits=limits)
    assert value["wrong"] == []
    assert len(value["warnings"]) <= 1


# What stands where the folder of the cache should be; each gets its path.
PLACES: dict[str, Callable[[Path], object]] = {
    "cannot be written to": lambda path: path.mkdir(mode=0o500),
    "cannot be entered": lambda path: path.mkdir(mode=0o000),
    "is a file": lambda path: path.write_text("mine"),
    "is a FIFO": os.mkfifo,
    "is a broken link": lambda path: path.symlink_to("nowhere"),
    "is a link to itself": lambda path: path.symlink_to(path),
    "lies in a file": lambda path: path.parent.write_text("mine"),
    "is open to others": lambda path: path.mkdir() or path.chmod(0o777),
    "is open to the group": lambda path: path.mkdir() or path.chmod(0o770),
    "has somebody's folder in it": lambda path: (path / SUBFOLDER / "thesis").mkdir(parents=True),
    "has a file of our folder's name": lambda path: folder_of_ones_own(path).joinpath(SUBFOLDER).write_text("mine"),
    "has our folder unwritable": lambda path: (folder_of_ones_own(path) / SUBFOLDER).mkdir(mode=0o500),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.reliability] * (n != "cannot be written to")) for n in PLACES]
)
def test_a_cache_folder_that_cannot_be_used_is_left_as_it_is(tmp_path, name):
    place = tmp_path / "c" / "sub" if name == "lies in a file" else tmp_path / "c"
    PLACES[name](place)
    before = listing(tmp_path)
    value = value_of(compute, env={"UOPC_CACHE_DIR": str(place)})
    compiles(value)
    assert listing(tmp_path) == before
    for path in (tmp_path / "c", tmp_path / "c" / SUBFOLDER):
        if path.is_dir():
            path.chmod(0o700)


def listing(folder: Path) -> dict[str, tuple[int, int, float]]:
    """Mode, size and time of all there is below a folder."""
    found = {str(folder): folder.lstat()}
    for path, folders, files in os.walk(folder):
        found |= {os.path.join(path, name): os.lstat(os.path.join(path, name)) for name in (*folders, *files)}
    return {path: (status.st_mode, status.st_size, status.st_mtime) for path, status in found.items()}


@pytest.mark.reliability
@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("options", ["ro", "noexec,mode=0700"])
def test_a_disk_that_is_read_only_or_executes_nothing(tmp_path, options, everywhere):
    cache, temporary = folder_of_ones_own(tmp_path / "cache"), folder_of_ones_own(tmp_path / "tmp")
    under = seeing(options, cache, *[temporary] * everywhere)
    value = value_of(compute, env={"UOPC_CACHE_DIR": str(cache), "TMPDIR": str(temporary)}, under=under)
    assert (value["wrong"], value["warnings"]) == ([], [])
    assert value["compiled"] > 0 or everywhere


@pytest.mark.reliability
@pytest.mark.parametrize(
    "environment",
    [
        {"UOPC_CACHE_DIR": "", "HOME": "{tmp}/nonexistent"},
        {"UOPC_CACHE_DIR": "", "HOME": "relative"},
        {"UOPC_CACHE_DIR": "", "HOME": "/proc", "XDG_CACHE_HOME": "/proc/none"},
        {"UOPC_CACHE_DIR": "", "XDG_CACHE_HOME": "relative"},
        {"UOPC_CACHE_DIR": "/proc/none", "TMPDIR": "/nonexistent"},
        {"UOPC_CACHE_DIR": "{tmp}/quote'\"$(touch {tmp}/seen) `;&|* é\n"},
        {"UOPC_CACHE_DIR": "{tmp}/" + "x" * 300},
        {"UOPC_CACHE_DIR": "{tmp}/-rf"},
        {"UOPC_CACHE_DIR": "~/cache"},
        {"UOPC_CACHE_DIR": "~nobody-of-this-name/cache"},
    ],
    ids=str,
)
def test_odd_places_for_the_cache(tmp_path, environment):
    value, litter = value_of(
        compute_and_look_around, env={name: text.replace("{tmp}", str(tmp_path)) for name, text in environment.items()}
    )
    compiles(value)
    assert litter == []
    assert not (tmp_path / "seen").exists()
    assert not (tmp_path / "nonexistent").exists()


def compute_and_look_around() -> tuple[dict[str, Any], list[str]]:
    return compute(), os.listdir()


def compute_under_umask(mask: int) -> dict[str, Any]:
    os.umask(mask)
    return compute()


@pytest.mark.reliability
@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777], ids=oct)
def test_nobody_else_can_write_to_the_cache_whatever_the_mask(tmp_path, mask):
    cache = tmp_path / "a" / "b"
    compiles(value_of(compute_under_umask, mask, env={"UOPC_CACHE_DIR": str(cache)}))
    for path in (tmp_path / "a", *(tmp_path / "a").rglob("*")):
        assert path.is_symlink() or path.lstat().st_mode & 0o022 == 0, path


def compute_while_folders_go() -> list[dict[str, Any]]:
    before = compute()
    folder, private = cache_folder(), private_folder()
    assert folder is not None
    assert private is not None
    shutil.rmtree(os.path.dirname(folder))
    shutil.rmtree(private)
    values = [before, compute(), compute_anew()]
    shutil.rmtree(tempfile.gettempdir())
    return [*values, compute_anew()]


@pytest.mark.reliability
def test_folders_that_are_deleted_while_a_program_runs():
    for value in value_of(compute_while_folders_go):
        compiles(value)


OTHERS = ("thesis.tex", ".bashrc", "model.so", f"{'ab' * 32}.so", f"{'ab' * 32}.c", ".12-3.tmp", "ccAbCdEf.o", "x.json")


def sweep_by_compiling() -> int:
    """Compile something that makes the cache sweep its folder."""
    toolchain = find_toolchain()
    assert toolchain is not None
    texts = (f"int answer(void) {{ return {number}; }}" for number in range(100_000))
    compile_one(next(text for text in texts if toolchain.key(text).endswith("00")), "answer")
    return compute()["compiled"]


@pytest.mark.parametrize("through_a_link", [False, True])
def test_files_of_other_people_stay(tmp_path, tries, through_a_link):
    home = folder_of_ones_own(tmp_path / "home")
    long_ago = time.time() - 10**7
    for folder in (home, home / "project"):
        folder.mkdir(mode=0o700, exist_ok=True)
        for name in OTHERS:
            (folder / name).write_text("mine")
            os.utime(folder / name, (long_ago, long_ago))
    (tmp_path / "link").symlink_to(home)
    place = tmp_path / "link" if through_a_link else home
    assert value_of(sweep_by_compiling, env={"UOPC_CACHE_DIR": str(place)}) > 0
    for folder in (home, home / "project"):
        for name in OTHERS:
            assert (folder / name).read_text() == "mine"
            tries.add(1)
