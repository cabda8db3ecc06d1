"""Which compiler is used, what is known about it, and that it is asked only once."""

import json
import os
import stat
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from tests.support.kernels import needs_compiler, run_python
from uopc_core.runtime import folder, toolchain
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.settings import context


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Nothing known about compilers and folders, and an empty folder."""
    monkeypatch.setattr(toolchain, "_found", {})
    monkeypatch.setattr(folder, "_known", {})
    with context(cache_dir=tmp_path):
        yield tmp_path


@pytest.mark.parametrize("cc", ["/nonexistent", "no-such-compiler-anywhere -O1", "false", "true", "''"])
def test_a_compiler_that_does_not_work_means_no_compiler(fresh, cc):
    with context(cc=cc):
        assert find_toolchain() is None


def test_cc_in_the_environment_is_not_replaced_by_another_compiler():
    code = "from uopc_core.runtime.toolchain import find_toolchain; print(find_toolchain())"
    assert run_python(code, CC="/nonexistent") == "None"


@needs_compiler
def test_options_in_cc_belong_to_the_command(fresh):
    found = find_toolchain()
    assert found is not None
    with context(cc=f"{found.command[0]} -DOPTION"):
        with_option = find_toolchain()
    assert with_option is not None
    assert with_option.command == (found.command[0], "-DOPTION")


@needs_compiler
def test_the_flags_keep_the_bits_of_numpy():
    found = find_toolchain()
    assert found is not None
    assert {"-ffp-contract=off", "-fwrapv", "-fno-math-errno", "-fopenmp-simd"} <= set(found.flags)
    assert found.flags.index("-fno-fast-math") < found.flags.index("-fno-math-errno")  # which it would undo
    unsafe = ("ffast-math", "unsafe-math", "finite-math", "associative-math", "no-signed-zeros", "Ofast")
    asked = [flag for flag in found.flags if flag not in ("-fno-fast-math", "-fno-unsafe-math-optimizations")]
    assert not [flag for flag in asked if any(word in flag for word in unsafe)]


@needs_compiler
def test_a_fresh_process_starts_no_compiler_to_know_it(fresh, monkeypatch):
    found = find_toolchain()
    monkeypatch.setattr(toolchain, "_found", {})

    def refuse(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert find_toolchain() == found


@needs_compiler
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"command": []}', '"x"', "null", "[" * 3000])
def test_a_damaged_answer_is_asked_for_again(fresh, monkeypatch, damage):
    found = find_toolchain()
    (path,) = (fresh / folder.SUBFOLDER).glob("toolchain-*.json")
    path.write_text(damage)
    monkeypatch.setattr(toolchain, "_found", {})
    assert find_toolchain() == found
    assert path.read_text() != damage


OTHER_TYPES: dict[str, Any] = {
    "command": [["/nonexistent/cc"], [1], "cc", None, 7],
    "version": [7, None, ["x"]],
    "flags": [["-O2"], [], 7, [None], {}],
    "libs": [["/nonexistent/lib.so"], 7, [7], None],
    "cpu": [7, None, "other"],
    "has_libmvec": ["yes", 1, None],
}


@needs_compiler
@pytest.mark.parametrize("name", OTHER_TYPES)
def test_an_answer_of_other_types_or_about_another_compiler_is_asked_for_again(fresh, monkeypatch, name):
    found = find_toolchain()
    (path,) = (fresh / folder.SUBFOLDER).glob("toolchain-*.json")
    whole = json.loads(path.read_text())
    for value in OTHER_TYPES[name]:
        path.write_text(json.dumps({**whole, "toolchain": {**whole["toolchain"], name: value}}))
        monkeypatch.setattr(toolchain, "_found", {})
        assert find_toolchain() == found
        assert json.loads(path.read_text()) == whole


@needs_compiler
@pytest.mark.parametrize("taken", ["folder", "pipe", "writable by all"])
def test_something_else_of_the_name_of_an_answer_is_left_alone_or_replaced(fresh, monkeypatch, taken):
    found = find_toolchain()
    (path,) = (fresh / folder.SUBFOLDER).glob("toolchain-*.json")
    if taken == "writable by all":
        path.chmod(0o666)
    else:
        path.unlink()
        path.mkdir() if taken == "folder" else os.mkfifo(path)
    monkeypatch.setattr(toolchain, "_found", {})
    assert find_toolchain() == found
    assert path.is_dir() == (taken == "folder")
    assert path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o600


@needs_compiler
def test_a_folder_where_nothing_can_be_executed_is_left(fresh, monkeypatch):
    library = toolchain.Library

    def refuse_there(path):
        if path.startswith(str(fresh)):
            raise OSError("failed to map segment from shared object")
        return library(path)

    monkeypatch.setattr(toolchain, "Library", refuse_there)
    assert find_toolchain() is not None
    assert folder.cache_folder() == folder.private_folder()


@needs_compiler
def test_the_key_of_an_object_depends_on_all_that_shapes_it():
    found = find_toolchain()
    assert found is not None
    others = [
        replace(found, version="other"),
        replace(found, cpu="other"),
        replace(found, flags=(*found.flags, "-DX")),
        replace(found, libs=()),
        replace(found, command=("other",)),
    ]
    keys = {one.key("int x;") for one in (found, *others)} | {found.key("int y;")}
    assert len(keys) == len(others) + 2
