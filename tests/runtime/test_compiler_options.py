"""Options that come with the compiler's name: undone where they can be, refused where they cannot, and told."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import uopc_array as xp
from tests.support.kernels import needs_compiler, run_python
from uopc_core.errors import SettingsError
from uopc_core.runtime import folder, probe, toolchain
from uopc_core.runtime.summary import toolchain_summary
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.settings import context

pytestmark = needs_compiler

IS_X86 = platform.machine() in ("x86_64", "AMD64")
ON_X86 = pytest.mark.skipif(not IS_X86, reason="options of x86")
IS_GCC_ON_X86 = IS_X86 and "gcc" in os.path.realpath(shutil.which("cc") or "")
FOREIGN = "-march=armv8-a" if IS_X86 else "-march=nehalem"


def _bare() -> str:
    found = find_toolchain()
    assert found is not None
    return found.command[0]


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """Nothing known about compilers and folders, and an empty folder."""
    for known in ("_found", "_refused", "_blamed"):
        monkeypatch.setattr(toolchain, known, {})
    monkeypatch.setattr(folder, "_known", {})
    with context(cache_dir=tmp_path):
        yield tmp_path


# What cannot be undone, and what the message says of it.
REFUSED: dict[str, Any] = {
    "-c": "it makes no object that can be loaded",
    "-fsyntax-only": "it makes no object that can be loaded",
    "-static": "it makes no shared object",
    "-nostdinc": "it makes no shared object",
    "-include /nonexistent.h": "nonexistent.h",
    "-no-such-option": "no-such-option",
    "-fsplit-stack": "makes functions that only its own programs can call",
    "-fsingle-precision-constant": "constants have single precision",
    "-mfpmath=387": pytest.param("terms are added in another order", marks=ON_X86),
    "-m32": pytest.param("it makes no", marks=ON_X86),
}
CASES = [
    pytest.param(option, says.values[0], marks=says.marks, id=option)
    if isinstance(says, type(pytest.param()))
    else pytest.param(option, says, id=option)
    for option, says in REFUSED.items()
]


@pytest.mark.parametrize(("option", "says"), CASES)
def test_an_option_that_cannot_be_undone_is_a_settings_error(fresh, option, says):
    cc = f"{_bare()} {option}"
    with context(cc=cc):
        for _ in range(2):  # the second time without asking the compiler
            with pytest.raises(SettingsError) as caught:
                find_toolchain()
            message = str(caught.value)
            assert message.startswith("CC: expected options with which ")
            assert f"got {cc!r}; leave them out, or CC unset. With them, " in message
            assert says in message


def test_a_refused_option_is_told_where_values_are_asked_for(fresh):
    with context(cc=f"{_bare()} -static"), pytest.raises(SettingsError, match="CC: expected options"):
        float(xp.sum(xp.exp(xp.ones(100_000) * 2)))


UNDONE = (
    *("-ffast-math", "-Ofast -funsafe-math-optimizations -ffinite-math-only", "-fno-signed-zeros -fassociative-math"),
    *("-fsanitize=address", "-fsanitize=undefined,thread", "-ftrapv", FOREIGN, "-O0 -g", "-Wall -Werror"),
)
_CHILD = """
import json, sys
import numpy as np
import uopc_array as xp
from uopc_core import clear_plans
from uopc_core.runtime.cache import stats
from uopc_core.settings import context
said = {}
for cc in json.loads(sys.stdin.read()):
    clear_plans()
    with context(cc=cc, tier="compile"):
        nan, tiny, whole = xp.full(999, np.nan), xp.full(999, 5e-310), xp.full(999, 2**62)
        right = xp.isnan(nan) & (tiny * 3 > tiny) & ((nan + 1e16) - 1e16 != 1) & (whole * 2 < 0)
        before = stats().compiled
        said[cc] = [bool(xp.all(right)), stats().compiled > before, float(np.float64(5e-310) * 0.5) != 0.0]
print(json.dumps(said))
"""


def test_options_that_can_be_undone_change_no_value_and_nothing_in_the_process(tmp_path):
    commands = [f"{_bare()} {options}" for options in UNDONE]
    environment = {**os.environ, "UOPC_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(commands),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert json.loads(done.stdout) == {cc: [True, True, True] for cc in commands}


def test_the_command_may_be_several_words_before_its_options(fresh):
    with context(cc=f"env FIRST=1 {_bare()} -O1"):
        found = find_toolchain()
    assert found is not None
    assert found.command[1:] == ("FIRST=1", _bare(), "-O1")
    with context(cc=f"env FIRST=1 {_bare()} -static"), pytest.raises(SettingsError, match="got 'env FIRST=1 "):
        find_toolchain()


def test_why_a_compiler_was_refused_is_in_the_summary(fresh):
    with context(cc="cat"):
        assert find_toolchain() is None
        assert "the first that was tried was refused: " in toolchain_summary()["C compiler"]


# ------------------------------------------------------------------------------------------------------------ the probe

RIGHT = ("-O2", "-ffp-contract=off", "-fwrapv")
LAWS: dict[str, Any] = {
    "nan is equal to itself": ("-ffinite-math-only",),
    "terms are added in another order": ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
    "quotients are products with a reciprocal": ("-freciprocal-math", "-fno-trapping-math"),
    "constants have single precision": ("-fsingle-precision-constant",),
    "-0.0 + 0.0 is -0.0": ("-fno-signed-zeros",),
    "integers do not wrap around": ("-fno-wrapv",),
    "takes subnormal numbers for 0": ("-ffast-math",),  # while linking
    "a product and a sum are rounded once": ("-march=haswell", "-ffp-contract=fast"),
}


def _has_fma() -> bool:
    cpus = Path("/proc/cpuinfo")
    return cpus.exists() and " fma " in cpus.read_text()


@pytest.mark.parametrize("fault", LAWS)
@pytest.mark.skipif(not IS_GCC_ON_X86, reason="options of gcc on x86")
def test_the_probe_finds_what_an_option_breaks(tmp_path, fault):
    if "haswell" in str(LAWS[fault]) and not _has_fma():
        pytest.skip("this CPU has no fma")
    assert _fault(tmp_path, *LAWS[fault]).endswith(fault)


def test_the_probe_finds_nothing_wrong_with_a_right_object(tmp_path):
    assert _fault(tmp_path) == ""


def _fault(place: Path, *options: str) -> str:
    """What `probe.py` says, run as a program, about an object that was made with these options."""
    target = place / "probe.so"
    command = [_bare(), *RIGHT, *options, "-fPIC", "-shared", "-x", "c", "-", "-o", str(target), "-lm"]
    subprocess.run(command, input=probe.SOURCE.format(attribute=""), text=True, check=True)
    look = [sys.executable, "-I", "-S", probe.__file__, target]
    done = subprocess.run(look, capture_output=True, text=True, check=False)
    greeting, _, fault = done.stdout.strip().partition("\n")
    assert (greeting, done.returncode) == (probe.GREETING, probe.WRONG if fault else probe.RIGHT)
    return fault


def test_an_object_that_ends_the_process_is_found_out_in_another(tmp_path):
    target = tmp_path / "deadly.so"
    source = "__attribute__((constructor)) static void die(void) { __builtin_trap(); }"
    command = [_bare(), "-fPIC", "-shared", "-x", "c", "-", "-o", str(target)]
    subprocess.run(command, input=source, text=True, check=True)
    with pytest.raises(toolchain._Unfit, match=r"a process that loads what it makes ends with -[45]$"):
        toolchain._examine_apart(str(target))


def test_where_no_python_can_be_started_the_object_is_looked_at_here(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", "")
    toolchain._examine_apart(str(tmp_path / "nothing.so"))


# ------------------------------------------------------------------------------ machines without libmvec, without glibc

SYSTEMS = {
    "no libmvec": (
        'case "$*" in *print-file-name=libmvec*) echo libmvec.so.1; exit 0;;'
        ' *print-file-name=*) name=${1##*=}; mkdir -p "$0.lib"; ln -sf "$(COMPILER "$@")" "$0.lib/$name";'
        ' echo "$0.lib/$name"; exit 0;; esac'
    ),
    "no glibc": 'case "$*" in *print-file-name=*) echo "${1##*=}"; exit 0;; *" /"*.so.*) exit 1;; esac',
    "another linker": 'case "$*" in *-Wl,*|*print-file-name=*|*-march=native*) exit 1;; esac',
}
_SAME_BITS = """
import numpy as np
import uopc_array as xp
from uopc_core.runtime.cache import stats
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.settings import context
found = find_toolchain()
x = np.random.default_rng(3).uniform(0.1, 0.9, 5000)
for name in ("exp", "log", "sin", "cos", "tan", "tanh", "atan", "expm1", "log1p", "cosh", "asin"):
    function, jitted = getattr(xp, name), xp.jit(lambda v, name=name: getattr(xp, name)(v) * 2.0 + 1.0)
    bits = {np.asarray(jitted(xp.asarray(x))).tobytes() for _ in range(3)}
    with context(tier="interpret"):
        bits.add(np.asarray(function(xp.asarray(x)) * 2.0 + 1.0).tobytes())
    pieces = [function(xp.asarray(x[k : k + 50])) * 2.0 + 1.0 for k in range(0, 5000, 50)]  # computed at once
    bits.add(b"".join([np.asarray(piece).tobytes() for piece in pieces]))
    assert len(bits) == 1, name
print(found.has_libmvec, stats().compiled > 10)
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_without_a_vector_library_there_is_still_one_implementation(system, tmp_path):
    compiler = tmp_path / "cc"
    here = SYSTEMS[system].replace("COMPILER", _bare())
    compiler.write_text(f'#!/bin/sh\n{here}\nexec {_bare()} "$@"\n')
    compiler.chmod(0o755)
    assert run_python(_SAME_BITS, CC=str(compiler), UOPC_CACHE_DIR=str(tmp_path), UOPC_TIER="auto") == "False True"
