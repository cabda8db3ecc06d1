"""Processes that are killed at any moment, and many that work on one cache side by side."""

import os
import random
import signal
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.compilers import fake_compiler
from tests.reliability.programs import compute, is_right
from tests.reliability.trial import Child, started, value_of
from uopc_core.runtime import cache, toolchain
from uopc_core.runtime.folder import SUBFOLDER, cache_folder

pytestmark = pytest.mark.needs_compiler


def temporary_files(place: Path) -> list[str]:
    """What nobody but its writer should see, and a sweep leaves a day later.

    The end of a process waits for no compiler, which ends with it, perhaps before it has deleted its files.
    """
    a_day_ago = time.time() - 2 * 86_400
    for path in (place / SUBFOLDER).iterdir():
        if path.suffix != ".so" or path.name.startswith("."):
            os.utime(path, (a_day_ago, a_day_ago))
    cache.sweep(str(place / SUBFOLDER))
    return [name for name in os.listdir(place / SUBFOLDER) if name.startswith((".", "cc"))]


def compute_anew(seed: int) -> bool:
    return all([is_right(seed * 1000 + i) for i in range(5)])


def test_a_process_killed_at_any_moment_leaves_a_cache_that_works(tmp_path, tries):
    environment = {"UOPC_CACHE_DIR": str(tmp_path)}
    for number in tries(short=2, full=24):
        with started(compute_anew, number, env=environment) as child:
            time.sleep(random.Random(number).uniform(0.3, 2.5))
            with suppress(ProcessLookupError):  # it was quicker
                os.kill(child.pid, signal.SIGKILL)
            assert child.wait().signal in (signal.SIGKILL, None)
        assert value_of(compute_anew, number, env=environment)


@pytest.mark.reliability
def test_a_session_killed_with_its_compilers_at_any_moment_leaves_a_cache_that_works(tmp_path, tries):
    environment = {"UOPC_CACHE_DIR": str(tmp_path)}
    for number in tries(short=1, full=12):
        with started(compute_anew, number, env=environment) as child:
            time.sleep(random.Random(number).uniform(0.3, 2.5))
            child.kill()
        value = value_of(compute, env=environment)
        assert (value["wrong"], value["warnings"]) == ([], [])


def compute_and_sweep(seed: int) -> bool:
    """Delete all but a few kernels whenever one is compiled, as in a cache that is full."""
    cache.MAX_FILES = 2
    folder = cache_folder()
    assert folder is not None
    for number in range(12):
        assert is_right(seed * 100 + number % 10)
        cache.sweep(folder)
    return True


def side_by_side(n: int, program: Any, arguments: list[int], place: Path) -> list[Any]:
    with ExitStack() as stack:
        children: list[Child] = [
            stack.enter_context(started(program, *arguments, env={"UOPC_CACHE_DIR": str(place)}, seconds=200))
            for _ in range(n)
        ]
        return [child.wait().check().value for child in children]


@pytest.mark.parametrize("exists", [True, pytest.param(False, marks=pytest.mark.reliability)])
def test_processes_side_by_side_on_an_empty_cache(tmp_path, tries, exists):
    for number in tries(short=1, full=5):
        place = tmp_path / f"cache {number}"
        if exists:
            place.mkdir(mode=0o700)
        values = side_by_side(2 if number == 0 else 8, compute, [1], place)
        assert [(value["wrong"], value["warnings"]) for value in values] == [([], [])] * len(values)
        assert temporary_files(place) == []


@pytest.mark.reliability
def test_processes_side_by_side_where_each_sweeps_what_the_others_compile(tmp_path, tries):
    for number in tries(short=1, full=5):
        assert all(side_by_side(6, compute_and_sweep, [number], tmp_path))
        assert temporary_files(tmp_path) == []


def compile_with_a_limit(seconds: int) -> bool:
    toolchain.MAX_SECONDS = seconds
    return is_right(1)


def test_a_compiler_does_not_outlive_a_killed_process_for_long(tmp_path):
    number = tmp_path / "number"
    endless = f'echo $$ > "{number}.new"; mv "{number}.new" "{number}"; while true; do :; done'
    compiler = fake_compiler(tmp_path, kernel=endless)
    with started(compile_with_a_limit, 2, env={"CC": compiler, "UOPC_TIER": "compile"}) as child:
        while not number.exists():
            time.sleep(0.05)
        os.kill(child.pid, signal.SIGKILL)
        pid = int(number.read_text())
        end_s = time.monotonic() + 60
        with suppress(ProcessLookupError):
            while time.monotonic() < end_s:
                os.kill(pid, 0)
                time.sleep(0.1)
            pytest.fail("the compiler is still there")
