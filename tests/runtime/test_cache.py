"""Kernels are compiled once, stored whole, and never loaded when damaged."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections import OrderedDict

import pytest

from tests.runtime.kernels import ROOT, answer, needs_compiler, run_python
from uopc_core.errors import CompileError
from uopc_core.runtime import cache, folder
from uopc_core.runtime.cache import CacheStats, compile_many, compile_one, stats, sweep
from uopc_core.settings import context

pytestmark = needs_compiler


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    """An empty folder, and nothing in memory."""
    monkeypatch.setattr(folder, "_known", {})
    monkeypatch.setattr(cache, "_stats", CacheStats())
    forget(monkeypatch)
    with context(cache_dir=tmp_path):
        yield tmp_path


def forget(monkeypatch):
    """Forget what is in memory, as a new process would."""
    monkeypatch.setattr(cache, "_entries", OrderedDict())


def test_a_kernel_is_compiled_once_and_then_found_in_memory():
    assert compile_one(answer(1), "answer") is compile_one(answer(1), "answer")
    assert stats() == CacheStats(compiled=1, memory_hits=1)


def test_another_process_finds_it_on_disk(place):
    code = f"""
from uopc_core.runtime.cache import compile_one, stats
compile_one({answer(1)!r}, "answer")
print(stats().compiled, stats().disk_hits)
"""
    assert run_python(code, UOPC_CACHE_DIR=str(place)) == "1 0"
    assert run_python(code, UOPC_CACHE_DIR=str(place)) == "0 1"


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
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "UOPC_CACHE_DIR": str(place)}
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
    shutil.rmtree(place)
    compile_one(answer(2), "answer")
    assert len(list(place.glob("*.so"))) == 1


def test_the_compiler_and_the_source_are_printed_on_request(capfd):
    with context(debug=4):
        compile_one(answer(5), "answer")
    printed = capfd.readouterr().err
    assert answer(5) in printed
    assert "-ffp-contract=off" in printed


def test_functions_in_memory_are_bounded(monkeypatch):
    monkeypatch.setattr(cache, "MAX_LOADED", 2)
    compile_many([(answer(n), "answer") for n in range(4)])
    assert len(cache._entries) == 2


@pytest.mark.parametrize(("limit", "value"), [("MAX_FILES", 2), ("MAX_BYTES", 250)])
def test_a_sweep_keeps_the_objects_used_last(place, monkeypatch, limit, value):
    monkeypatch.setattr(cache, limit, value)
    for age, name in enumerate(["new.so", "middle.so", "old.so", "older.so"]):
        place.joinpath(name).write_bytes(bytes(100))
        os.utime(place / name, (time.time() - age, time.time() - age))
    sweep(str(place))
    assert sorted(path.name for path in place.glob("*.so")) == ["middle.so", "new.so"]


def test_a_sweep_removes_what_killed_processes_left_behind(place):
    long_ago = time.time() - 100_000
    for name in (".1-2.tmp", "ccXYZ.o", "toolchain-x.json", ".3-4.tmp"):
        place.joinpath(name).write_bytes(b"")
        if name != ".3-4.tmp":
            os.utime(place / name, (long_ago, long_ago))
    sweep(str(place))
    assert sorted(os.listdir(place)) == [".3-4.tmp", "toolchain-x.json"]


def test_a_use_is_noted_once_a_day(place, monkeypatch):
    compile_one(answer(1), "answer")
    (path,) = place.glob("*.so")
    os.utime(path, (time.time() - 100_000, time.time() - 100_000))
    forget(monkeypatch)
    compile_one(answer(1), "answer")
    assert time.time() - path.stat().st_mtime < 1000
