"""Kernels are compiled once, stored whole, and never loaded when damaged."""

import os
import shutil
import stat
import subprocess
import sys
import threading
import time

import pytest

from tests.support.kernels import ROOT, answer, needs_compiler, run_python
from uopc_core.errors import CompileError
from uopc_core.recent import Recent
from uopc_core.runtime import cache, folder
from uopc_core.runtime.cache import CacheStats, compile_many, compile_one, stats, sweep
from uopc_core.runtime.folder import MARKER, SUBFOLDER, cache_folder
from uopc_core.runtime.library import ffi
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.settings import context

pytestmark = needs_compiler


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    """The package's own part of an empty folder, and nothing in memory."""
    monkeypatch.setattr(folder, "_known", {})
    monkeypatch.setattr(cache, "_counts", dict.fromkeys(cache._counts, 0))
    forget(monkeypatch)
    with context(cache_dir=tmp_path):
        yield tmp_path / SUBFOLDER


CODE_OF_ANOTHER = """
from uopc_core.runtime.cache import compile_one, stats
compile_one({!r}, "answer")
print(stats().compiled, stats().disk_hits)
"""


def call(function):
    """What a function without arguments gives."""
    return ffi.cast("int(*)(void)", function.address)()


def forget(monkeypatch):
    """Forget what is in memory, as a new process would."""
    monkeypatch.setattr(cache, "_functions", Recent(cache.MAX_LOADED))


def test_a_kernel_is_compiled_once_and_then_found_in_memory():
    assert compile_one(answer(1), "answer") is compile_one(answer(1), "answer")
    assert stats() == CacheStats(compiled=1, memory_hits=1)


def test_another_process_finds_it_on_disk(place):
    code = CODE_OF_ANOTHER.format(answer(1))
    assert run_python(code, UOPC_CACHE_DIR=str(place.parent)) == "1 0"
    assert run_python(code, UOPC_CACHE_DIR=str(place.parent)) == "0 1"


@pytest.mark.parametrize("damage", ["empty", "truncated", "no checksum", "one bit", "foreign"])
def test_a_damaged_object_is_compiled_again(place, monkeypatch, damage):
    compile_one(answer(1), "answer")
    (path,) = place.glob("*.so")
    whole = path.read_bytes()
    damaged = {
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "no checksum": whole[: -cache._TRAILER_BYTES],
        "one bit": whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
        "foreign": b"#!/bin/sh\n",
    }[damage]
    forget(monkeypatch)
    path.unlink()  # a new file, since the old one may still be mapped
    path.write_bytes(damaged)
    compile_one(answer(1), "answer")
    assert stats() == CacheStats(compiled=2)
    assert path.read_bytes()[: -cache._TRAILER_BYTES] == whole[: -cache._TRAILER_BYTES]


@pytest.mark.parametrize("taken", ["folder", "full folder", "pipe", "writable by all"])
def test_a_name_that_something_else_has_is_neither_read_nor_waited_for(place, monkeypatch, taken):
    compile_one(answer(61), "answer")
    (path,) = place.glob("*.so")
    if taken == "writable by all":
        path.chmod(0o777)
    else:
        path.unlink()
        os.mkfifo(path) if taken == "pipe" else path.mkdir()
    if taken == "full folder":
        (path / "thesis.tex").write_text("x")
    forget(monkeypatch)
    assert call(compile_one(answer(61), "answer")) == 61
    assert path.is_dir() == ("folder" in taken)  # which is left alone
    assert path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o700
    assert not list(place.glob(".*.tmp"))


def test_an_object_of_another_user_is_compiled_again(place, monkeypatch):
    compile_one(answer(1), "answer")
    forget(monkeypatch)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    compile_one(answer(1), "answer")
    assert stats() == CacheStats(compiled=2)


def test_functions_come_in_the_order_of_their_sources():
    numbers = [3, 1, 2, 1, 3]
    functions = compile_many([(answer(n), "answer") for n in numbers])
    assert [functions.index(f) for f in functions] == [0, 1, 2, 1, 0]
    assert stats() == CacheStats(compiled=3, memory_hits=2)


def test_eight_threads_compile_a_kernel_once(place):
    found = []
    barrier = threading.Barrier(8)

    def ask():
        barrier.wait()
        with context(cache_dir=place):
            found.append(compile_one(answer(7), "answer"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(function) for function in found}) == 1
    assert stats() == CacheStats(compiled=1, memory_hits=7)


def test_processes_that_race_leave_whole_objects(place):
    code = """
from uopc_core.runtime.cache import compile_many
compile_many([(f"int answer(void) {{ return {n}; }}", "answer") for n in range(4)])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "UOPC_CACHE_DIR": str(place.parent)}
    racers = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(2)]
    assert [racer.wait(300) for racer in racers] == [0, 0]
    assert len(list(place.glob("*.so"))) == 4
    compile_many([(answer(n), "answer") for n in range(4)])
    assert stats() == CacheStats(disk_hits=4)
    assert not [name for name in os.listdir(place) if name.startswith(".")]


def test_an_error_shows_the_lines_the_complaint_and_the_saved_source(place):
    source = "\n".join(["int before;"] * 10 + ["int wrong = ;"] + ["int after;"] * 10)
    with pytest.raises(CompileError) as caught:
        compile_one(source, "answer")
    message = str(caught.value)
    assert "   11 | int wrong = ;" in message
    assert "error: expected expression" in message
    assert "    1 |" not in message
    (saved,) = place.glob("*.c")
    assert saved.read_text() == source
    assert str(saved) in message
    assert str(saved.with_suffix(".log")) in message


def test_an_error_is_not_remembered(monkeypatch):
    run_compiler = cache.run_compiler

    def fail(command, source, where):
        return run_compiler(command, "wrong", where)

    with monkeypatch.context() as patch:
        patch.setattr(cache, "run_compiler", fail)
        with pytest.raises(CompileError):
            compile_one(answer(1), "answer")
    compile_one(answer(1), "answer")
    assert stats() == CacheStats(compiled=1)


def test_one_error_among_many_is_raised():
    with pytest.raises(CompileError, match="wrong"):
        compile_many([(answer(1), "answer"), ("wrong", "answer"), (answer(2), "answer")])


def test_without_a_compiler_the_error_says_so():
    with context(cc="/nonexistent"), pytest.raises(CompileError, match="no C compiler"):
        compile_one(answer(1), "answer")


def test_a_folder_that_was_deleted_is_made_again(place):
    compile_one(answer(1), "answer")
    shutil.rmtree(place.parent)
    compile_one(answer(2), "answer")
    assert len(list(place.glob("*.so"))) == 1
    assert run_python(CODE_OF_ANOTHER.format(answer(2)), UOPC_CACHE_DIR=str(place.parent)) == "0 1"


def test_the_compiler_and_the_source_are_printed_on_request(capfd):
    with context(debug=4):
        compile_one(answer(5), "answer")
    printed = capfd.readouterr().err
    assert answer(5) in printed
    assert "-ffp-contract=off" in printed


def test_functions_in_memory_are_bounded(monkeypatch):
    monkeypatch.setattr(cache, "_functions", Recent(2))
    compile_many([(answer(n), "answer") for n in range(4)])
    assert len(cache._functions) <= 2


@pytest.mark.parametrize(("limit", "value"), [("MAX_FILES", 2), ("MAX_BYTES", 250)])
def test_a_sweep_keeps_the_objects_used_last(place, monkeypatch, limit, value):
    monkeypatch.setattr(cache, limit, value)
    cache_folder()
    for age, digit in enumerate("0123"):
        path = place / f"{digit * 64}.so"
        path.write_bytes(bytes(100))
        os.utime(path, (time.time() - age, time.time() - age))
    sweep(str(place))
    assert sorted(path.name[0] for path in place.glob("*.so")) == ["0", "1"]


def test_a_sweep_removes_what_killed_processes_left_behind_and_nothing_else(place):
    long_ago = time.time() - 100_000
    cache_folder()
    gone = [".1-2.tmp", "ccXYZabc.o", "ccXYZabc.cdtor.c", ".probe-77-3.so", f"{'a' * 64}.c", f"{'a' * 64}.log"]
    kept = ["toolchain-x.json", ".3-4.tmp", "thesis.tex", ".bashrc", "model.so", "data.csv", "core.tmp", "cc.o"]
    for name in (*gone, *kept):
        place.joinpath(name).write_bytes(b"")
        if name != ".3-4.tmp":
            os.utime(place / name, (long_ago, long_ago))
    sweep(str(place))
    assert sorted(os.listdir(place)) == sorted([*kept, MARKER])


def test_a_sweep_stays_in_the_folder_of_the_package(place, monkeypatch):
    """Whatever the setting names may hold the user's own files."""
    long_ago = time.time() - 400_000
    names = ["thesis.tex", "data.csv", ".bashrc", "model.pt", f"{'b' * 64}.so", ".1-2.tmp"]
    for name in names:
        place.parent.joinpath(name).write_text("x")
        os.utime(place.parent / name, (long_ago, long_ago))
    monkeypatch.setattr(cache, "MAX_FILES", 1)
    cache_folder()
    old = place / f"{'c' * 64}.so"
    old.write_bytes(b"")
    os.utime(old, (long_ago, long_ago))
    source = next(s for s in (f"int answer(void) {{ return {i}; }}" for i in range(9999)) if _sweeps(s))
    compile_one(source, "answer")
    assert not old.exists()  # it did sweep
    assert sorted(os.listdir(place.parent)) == sorted([*names, SUBFOLDER])


def _sweeps(source):
    toolchain = find_toolchain()
    assert toolchain is not None
    return toolchain.key(source).endswith("00")


def test_an_object_under_the_name_of_another_is_compiled_again(place, monkeypatch):
    compile_one(answer(1), "answer")
    (one,) = place.glob("*.so")
    compile_one(answer(2), "answer")
    (two,) = [path for path in place.glob("*.so") if path != one]
    two.unlink()  # the memory of a loaded object is its file
    two.write_bytes(one.read_bytes())
    forget(monkeypatch)
    assert call(compile_one(answer(2), "answer")) == 2


def test_a_use_is_noted_once_a_day(place, monkeypatch):
    compile_one(answer(1), "answer")
    (path,) = place.glob("*.so")
    os.utime(path, (time.time() - 100_000, time.time() - 100_000))
    forget(monkeypatch)
    compile_one(answer(1), "answer")
    assert time.time() - path.stat().st_mtime < 1000
