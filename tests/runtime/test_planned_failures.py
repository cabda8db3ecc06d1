"""A compiler or disk that fails once it has worked: NumPy computes, with one warning; nobody waits at the end."""

import subprocess
import sys
import textwrap
import time
import warnings

import pytest

import uopc_array as xp
from tests.runtime.kernels import ROOT, needs_compiler
from uopc_core.errors import CompileError
from uopc_core.interpret import loops
from uopc_core.runtime import background, cache
from uopc_core.settings import context

pytestmark = needs_compiler


def broken(command, source, folder):
    return subprocess.CompletedProcess(command, 1, b"", b"cc: fatal error: Killed signal terminated program cc1")


@pytest.fixture
def failing(monkeypatch):
    """A compiler that was found to work, and fails from now on, without forms being verified."""
    xp.show_config()
    monkeypatch.setattr(cache, "run_compiler", broken)
    monkeypatch.setattr(background, "_warned", False)
    monkeypatch.setattr(loops, "_known", dict(loops._known))  # what fails to be made now would be NumPy's for good
    with context(verify=False):
        yield


def new_function():
    number = time.perf_counter_ns() % 9973 + 17  # nobody has compiled exactly this
    shape = (number, 3)
    return (
        xp.jit(lambda x: xp.sum(xp.sqrt(x) * 2 + xp.flip(x, axis=0)) + float(number)),
        xp.ones(shape),
        3.0 * number * 3 + number,
    )


def test_a_failing_compiler_means_numpy_and_one_warning(failing):
    def twice() -> None:
        for _ in range(2):
            f, x, wanted = new_function()
            assert [float(f(x)) for _ in range(4)] == [wanted] * 4

    with pytest.warns(
        RuntimeWarning, match=r"(?s)a kernel could not be compiled, so NumPy computes.*command: "
    ) as seen:
        twice()
    assert len(seen) == 1


def test_a_kernel_that_failed_is_not_tried_again(failing, monkeypatch):
    tries = []

    def counted(command, source, folder):
        tries.append(source)
        return broken(command, source, folder)

    monkeypatch.setattr(cache, "run_compiler", counted)
    f, x, _ = new_function()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(x), f(x)
        n = len(tries)
        for _ in range(5):
            float(f(x))
    assert len(tries) == n


@pytest.mark.parametrize("how", [{"tier": "compile"}, {"verify": True}])
def test_a_failing_compiler_is_an_error_where_compiled_code_was_asked_for(failing, how):
    f, x, _ = new_function()
    with context(**how), pytest.raises(CompileError):
        [float(f(x)) for _ in range(3)]


def in_child(code: str, tmp_path, limit_s: float = 60, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "UOPC_CACHE_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def slow_compiler(tmp_path, seconds: int) -> str:
    """One that is quick to say what it is and to compile the probe and the runtime, and slow with kernels."""
    script = tmp_path / "slow-cc"
    script.write_text(
        f"""#!/bin/sh
for word in "$@"; do last="$word"; done
case "$*" in *--version*|*-print-file-name*|*probe*|*pthread*) exec cc "$@";; esac
sleep {seconds}
exec cc "$@"
"""
    )
    script.chmod(0o755)
    return str(script)


def test_the_end_of_the_process_does_not_wait_for_a_compiler(tmp_path):
    code = """
    import uopc_array as xp
    f = xp.jit(lambda x: xp.sum(x * 3))  # of integers, which NumPy adds up by itself
    print(int(f(xp.ones(1000, dtype=xp.int64))))
    """
    began = time.monotonic()
    assert in_child(code, tmp_path, CC=slow_compiler(tmp_path, 50)) == "3000"
    assert time.monotonic() - began < 45


def test_what_outlives_the_main_thread_computes(tmp_path):
    code = """
    import atexit, threading, time
    import uopc_array as xp
    x = xp.ones(3_000_000)
    xp.jit(lambda t: t)(x)  # loads optree, which at exit forgets its containers before whoever came earlier is called
    def work():
        time.sleep(0.3)
        print(float(xp.sum(x * 2)))
        f = xp.jit(lambda x: xp.sum(x * 3))
        print(float(f(x)), float(f(x)))
    def last():
        f = xp.jit(lambda x: xp.sum(x * 5))
        print(float(f(x)), float(f(x)))
    atexit.register(last)
    threading.Thread(target=work).start()
    """
    assert in_child(code, tmp_path).split() == ["6000000.0", "9000000.0", "9000000.0", "15000000.0", "15000000.0"]
