"""A compiler or disk that fails once it has worked: NumPy computes, with one warning; nobody waits at the end."""

import subprocess
import time
import warnings

import pytest

import uopc_array as xp
from tests.support.kernels import needs_compiler
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
