"""Shared objects stay loaded as long as they are used."""

import ctypes
import gc
from pathlib import Path

import pytest

from tests.support.kernels import answer, needs_compiler
from uopc_core.runtime.cache import compile_object
from uopc_core.runtime.library import Library
from uopc_core.runtime.toolchain import find_toolchain

pytestmark = needs_compiler


def compile_at(path: Path, number: int) -> Library:
    found = find_toolchain()
    assert found is not None
    return compile_object(found, answer(number), str(path), ["answer"])


def test_a_function_is_found_and_can_be_called(tmp_path):
    function = compile_at(tmp_path / "é.so", 42).function("answer")
    assert ctypes.CFUNCTYPE(ctypes.c_int)(function.address)() == 42


def test_an_unknown_function_is_an_error(tmp_path):
    with pytest.raises(OSError, match="no function question"):
        compile_at(tmp_path / "a.so", 1).function("question")


def test_what_is_no_object_is_an_error(tmp_path):
    path = tmp_path / "a.so"
    path.write_bytes(b"text")
    with pytest.raises(OSError, match=r"a\.so"):
        Library(str(path))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not list the mappings of a process")
def test_a_library_is_closed_with_its_last_function(tmp_path):
    def is_mapped():
        gc.collect()
        return str(tmp_path) in Path("/proc/self/maps").read_text(encoding="utf-8")

    function = compile_at(tmp_path / "a.so", 3).function("answer")
    assert is_mapped()
    del function
    assert not is_mapped()
