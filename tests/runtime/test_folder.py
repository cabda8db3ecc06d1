"""The folder of the compiled kernels is one that nobody else can write to."""

import os
import stat

import pytest

from tests.support.kernels import run_python
from uopc_core.runtime import folder
from uopc_core.runtime.folder import MARKER, SUBFOLDER, cache_folder, leave_folder, private_folder, replace_file
from uopc_core.settings import context


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(folder, "_known", {})


def test_the_folder_is_made_with_mode_0700(tmp_path):
    with context(cache_dir=tmp_path / "a" / "b"):
        assert cache_folder() == str(tmp_path / "a" / "b" / SUBFOLDER)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b" / SUBFOLDER).stat().st_mode) == 0o700
    assert (
        (tmp_path / "a" / "b" / SUBFOLDER / MARKER)
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )


@pytest.mark.parametrize("there", ["a link", "a folder of somebody else's", "a folder with another marker"])
def test_what_the_package_did_not_make_is_not_used(tmp_path, there):
    own = tmp_path / "cache" / SUBFOLDER
    (tmp_path / "cache").mkdir(mode=0o700)
    if there == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        own.symlink_to(tmp_path / "elsewhere")
    else:
        own.mkdir(mode=0o700)
        (own / ("thesis.tex" if "somebody" in there else MARKER)).write_text("mine")
    with context(cache_dir=tmp_path / "cache"):
        assert cache_folder() == private_folder()


def test_a_folder_reached_by_a_link_gets_a_part_of_its_own(tmp_path):
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with context(cache_dir=tmp_path / "link"):
        assert cache_folder() == str(tmp_path / "link" / SUBFOLDER)
    assert os.listdir(tmp_path / "home") == [SUBFOLDER]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, mode):
    tmp_path.chmod(mode)
    with context(cache_dir=tmp_path):
        assert cache_folder() == private_folder()


def test_a_folder_of_another_user_is_not_used(tmp_path, monkeypatch):
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with context(cache_dir=tmp_path):
        assert cache_folder() == private_folder()


def test_a_file_in_the_place_of_the_folder_is_not_used(tmp_path):
    tmp_path.joinpath("file").write_text("")
    with context(cache_dir=tmp_path / "file"):
        assert cache_folder() == private_folder()


def test_the_private_folder_has_mode_0700_and_goes_with_the_process():
    code = """
import os, stat
from uopc_core.runtime.folder import private_folder
print(private_folder(), oct(stat.S_IMODE(os.stat(private_folder()).st_mode)))
"""
    path, mode = run_python(code).rsplit(" ", 1)
    assert mode == "0o700"
    assert not os.path.exists(path)


def test_without_a_place_for_temporary_files_there_is_no_folder(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError

    monkeypatch.setattr(folder, "_private", [])
    monkeypatch.setattr(folder.tempfile, "mkdtemp", refuse)
    tmp_path.chmod(0o777)
    with context(cache_dir=tmp_path):
        assert cache_folder() is None


def test_xdg_cache_home_must_be_absolute(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    with context(cache_dir=None):
        assert cache_folder() == str(tmp_path / ".cache" / "uopc_array" / SUBFOLDER)


def test_a_folder_is_left_once(tmp_path):
    with context(cache_dir=tmp_path):
        cache_folder()
        assert leave_folder()
        assert cache_folder() == private_folder()
        assert not leave_folder()


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "x"
    replace_file(str(path), b"one")
    replace_file(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]
