"""Compilers that fail, hang, lie or are taken away, and odd ways to name one."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.compilers import FAILURES, QUESTIONS, fake_compiler, real_compiler
from tests.reliability.programs import compute, computes_by_numpy, wrong_values
from tests.reliability.trial import run_trial, value_of
from uopc_core.runtime import toolchain

pytestmark = pytest.mark.needs_compiler

RUNTIME_S = 40  # after which a compiler has failed at the runtime, in the background


def long(values: Any, keep: str) -> list[Any]:
    """All of them as parameters, those but one for `make test-reliability`."""
    return [pytest.param(value, marks=[pytest.mark.reliability] if value != keep else []) for value in values]


def compute_impatiently(seconds: float, until_warned_s: float) -> dict[str, Any]:
    toolchain.MAX_SECONDS = seconds
    return compute(until_warned_s=until_warned_s)


def compute_again_after(path: str, content: str) -> list[Any]:
    """Compute, change a file, compute more: what the process finds before and after."""
    before = compute()
    Path(path).write_text(content)
    return [before, compute()]


@pytest.mark.parametrize("how", long(FAILURES, "is killed"))
def test_a_compiler_that_fails_at_kernels_means_numpy_and_one_warning(tmp_path, how):
    computes_by_numpy(run_trial(compute, env={"CC": fake_compiler(tmp_path, kernel=FAILURES[how])}))


@pytest.mark.parametrize("how", long(FAILURES, "leaves the function out"))
def test_a_compiler_that_fails_at_the_runtime_means_numpy_and_one_warning(tmp_path, how):
    """What has begun before the runtime has failed goes on without it, and what is new after that is NumPy's."""
    computes_by_numpy(run_trial(compute, 2, RUNTIME_S, env={"CC": fake_compiler(tmp_path, runtime=FAILURES[how])}))


@pytest.mark.reliability
@pytest.mark.parametrize("how", FAILURES)
def test_a_compiler_that_fails_at_its_examination_means_numpy(tmp_path, how):
    computes_by_numpy(run_trial(compute, env={"CC": fake_compiler(tmp_path, probe=FAILURES[how])}), n_warnings=0)


@pytest.mark.parametrize("how", long(QUESTIONS, "answers rubbish"))
def test_a_compiler_that_answers_oddly_is_used_or_left(tmp_path, how):
    value = value_of(compute, env={"CC": fake_compiler(tmp_path, question=QUESTIONS[how])})
    assert (value["wrong"], value["warnings"]) == ([], [])


@pytest.mark.parametrize("how", long(FAILURES, "breaks down"))
def test_a_failing_compiler_is_an_error_where_compiled_code_was_asked_for(tmp_path, how):
    compiler = fake_compiler(tmp_path, kernel=FAILURES[how])
    wrong = value_of(wrong_values, env={"CC": compiler, "UOPC_TIER": "compile"})
    assert wrong
    assert all(": CompileError: " in text for text in wrong)


@pytest.mark.parametrize("part", long(("kernel", "probe", "question", "runtime"), "kernel"))
def test_a_compiler_that_hangs_is_killed_with_its_children(tmp_path, part):
    compiler = fake_compiler(tmp_path, **{part: "sleep 1000 & sleep 1000"})
    is_told = part in {"kernel", "runtime"}
    outcome = run_trial(compute_impatiently, 1, RUNTIME_S if is_told else 0, env={"CC": compiler})
    computes_by_numpy(outcome, n_warnings=int(is_told))


@pytest.mark.parametrize("flood", ["head -c 20000000 /dev/zero >&2", "yes warning | head -c 20000000"])
@pytest.mark.reliability
def test_a_compiler_that_floods_its_log_and_works_is_used(tmp_path, flood):
    value = value_of(compute, env={"CC": fake_compiler(tmp_path, kernel=f'{flood}; real "$@"')})
    assert (value["wrong"], value["warnings"]) == ([], [])
    assert value["compiled"] > 0


@pytest.mark.parametrize("how", long(FAILURES, "leaves the function out"))
def test_a_compiler_that_is_repaired_is_used_by_the_next_process(tmp_path, how):
    (tmp_path / "cache").mkdir(mode=0o700)
    compiler = fake_compiler(tmp_path, kernel=FAILURES[how])
    environment = {"CC": compiler, "UOPC_CACHE_DIR": str(tmp_path / "cache")}
    computes_by_numpy(run_trial(compute, env=environment))
    assert fake_compiler(tmp_path) == compiler
    value = value_of(compute, env=environment)
    assert (value["wrong"], value["warnings"]) == ([], [])
    assert value["compiled"] > 0


@pytest.mark.parametrize("content", long(("#!/bin/sh\nexit 1\n", "", "#!/nonexistent\n"), "#!/nonexistent\n"))
def test_a_compiler_that_breaks_while_a_program_runs_means_numpy(tmp_path, content):
    compiler = fake_compiler(tmp_path)
    before, after = value_of(compute_again_after, compiler, content, env={"CC": compiler})
    assert (before["wrong"], before["warnings"], after["wrong"]) == ([], [], [])
    assert len(after["warnings"]) <= 1


@pytest.mark.reliability
def test_a_compiler_that_is_gone_at_the_next_start_means_numpy(tmp_path):
    (tmp_path / "cache").mkdir(mode=0o700)
    compiler = fake_compiler(tmp_path)
    environment = {"CC": compiler, "UOPC_CACHE_DIR": str(tmp_path / "cache")}
    assert value_of(compute, env=environment)["compiled"] > 0
    Path(compiler).unlink()
    value = value_of(compute, env=environment)
    assert (value["wrong"], value["warnings"], value["compiled"]) == ([], [], 0)


# Ways to name a compiler, and whether kernels are compiled; None: as the compiler at hand likes.
# Options that cannot be undone are in REFUSED.
NAMES: dict[str, bool | None] = {
    "{cc}": True,
    "{cc} -O3": True,
    "{cc} -Ofast -ffast-math -funsafe-math-optimizations": True,
    "{cc} -ffinite-math-only": True,
    "{cc} -freciprocal-math -fassociative-math -fno-signed-zeros": True,
    "{cc} -mrecip=all": None,
    "{cc} -frounding-math": True,
    "{cc} -ftrapv": True,
    "{cc} -Wall -Wextra -Werror": True,
    "{cc} -fopenmp": True,
    "{cc} -g3 -pg": None,
    "{cc} --coverage": None,
    "{cc} -fsanitize=address": None,
    "{cc} -fsanitize=thread": None,
    "{cc} -fsanitize=undefined": None,
    "{cc} -fstack-protector-all": None,
    "{cc} -flto": None,
    "{cc} -march=armv8-a": True,
    "{cc} -std=c89 -pedantic-errors": True,
    "{cc} -funsigned-char": True,
    "{cc} -fshort-enums -fpack-struct": None,
    "{cc} -ffreestanding": True,
    "  {cc}   -O1  ": True,
    "env FIRST=1 {cc}": True,
    "'{cc}'": True,
    "{python}": False,
    "true": False,
    "false": False,
    "echo": False,
    "cat": False,
    "yes": False,
    "/": False,
    "/etc/passwd": False,
    "-O2": False,
    "''": False,
    "no-such-compiler": False,
}


@pytest.mark.parametrize("name", long(NAMES, "{cc} -Ofast -ffast-math -funsafe-math-optimizations"))
def test_whatever_names_the_compiler_values_are_right(name):
    command = name.format(cc=real_compiler(), python=sys.executable)
    value = value_of(compute_special, env={"CC": command})
    assert (value["wrong"], value["special"]) == ([], True)
    if NAMES[name] is not None:
        assert (value["compiled"] > 0) == NAMES[name]
    if NAMES[name] is False:
        assert value["warnings"] == []


REFUSED = (
    *("-static", "-m32", "-c", "-E", "-fsyntax-only", "-fvisibility=hidden", "-nostdinc", "-no-such-option"),
    "-include /nonexistent.h",
)


@pytest.mark.parametrize("option", long(REFUSED, "-static"))
def test_an_option_that_cannot_be_undone_is_a_settings_error(option):
    assert value_of(name_refused, env={"CC": f"{real_compiler()} {option}"}) == "SettingsError"


@pytest.mark.parametrize("name", ["gcc 'x", 'gcc "', "gcc \\"])
def test_a_command_that_no_shell_reads_is_a_settings_error(name):
    assert value_of(name_refused, env={"CC": name}) == "SettingsError"


@pytest.mark.reliability
@pytest.mark.parametrize(
    "environment",
    [
        {"PATH": ""},
        {"PATH": "/nonexistent"},
        {"PATH": "relative:"},
        {"CFLAGS": "-ffast-math", "CPPFLAGS": "-Dfor=while", "LDFLAGS": "-static", "CPATH": "/nonexistent"},
        {"GCC_EXEC_PREFIX": "/nonexistent"},
        {"LIBRARY_PATH": "/nonexistent", "COMPILER_PATH": "/nonexistent", "LD_LIBRARY_PATH": "/nonexistent"},
        {"LANG": "ja_JP.UTF-8", "LC_ALL": "de_DE"},
        {"DEPENDENCIES_OUTPUT": "/nonexistent/d"},
        {"CCACHE_DIR": "/nonexistent"},
    ],
    ids=lambda environment: " ".join(environment),
)
def test_values_are_right_in_odd_environments(environment):
    value = value_of(compute_special, env=environment)
    assert (value["wrong"], value["special"]) == ([], True)


def compute_special() -> dict[str, Any]:
    """With what fast-math, flushed subnormals and trapping integers would lose."""
    nan, tiny, whole = xp.full(999, np.nan), xp.full(999, 5e-310), xp.full(999, 2**62)
    special = xp.jit(
        lambda nan, tiny, whole: xp.all(
            xp.isnan(nan) & (tiny * 3 > tiny) & ((nan + 1e16) - 1e16 != 1) & (whole * 2 < 0)
        )
    )
    return {"special": [bool(special(nan, tiny, whole)) for _ in range(3)] == [True] * 3} | compute()


def name_refused() -> str:
    try:
        xp.asarray(np.ones(10**6)).sum().item()
    except Exception as error:
        return type(error).__name__
    return "nothing"
