"""The runtime under sanitizers and many threads; kernels that may touch only the memory of their own arrays."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fuzz.campaign import fuzz
from tests.reliability import sanitized
from tests.reliability.trial import ROOT, Outcome, run_trial
from uopc_core.runtime.toolchain import find_toolchain

pytestmark = pytest.mark.needs_compiler

SOURCE = Path(__file__).with_name("runtime_stress.c")
# how the runtime is built, and how often each thread forks meanwhile: the locks of sanitizers do not survive a fork
BUILDS = {
    "as it is": ((), 40),
    "with the sanitizer of threads": (("-fsanitize=thread",), 0),
    "with those of addresses and of undefined behaviour": (
        ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        0,
    ),
}


def build(flags: Sequence[str], program: Path) -> bool:
    toolchain = find_toolchain()
    assert toolchain is not None
    command = (*toolchain.command, "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", *flags, "-pthread")
    folder = ROOT / "uopc_core" / "runtime"
    done = subprocess.run([*command, "-I", folder, SOURCE, "-o", program], capture_output=True, text=True)
    assert done.returncode == 0 or flags, done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("how", BUILDS)
def test_the_runtime_under_many_threads(tmp_path, tries, how):
    flags, n_forks = BUILDS[how]
    program = tmp_path / "stress"
    if not build(flags, program):
        pytest.skip("the compiler does not have this sanitizer")
    n_rounds = 2000 if tries.is_full else 50
    options = {"TSAN_OPTIONS": "halt_on_error=1", "UBSAN_OPTIONS": "print_stacktrace=1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [program, "8", str(n_rounds), str(n_forks)], env=options, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, f"{8 * n_rounds} programs, 0 wrong\n"), done.stdout + done.stderr
    tries.add(8 * n_rounds)


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """Of a process with instrumented kernels; what one has compiled the next ones find."""
    reason = sanitized.why_not(tmp_path_factory.mktemp("sanitizer"))
    if reason:
        pytest.skip(reason)
    cache = tmp_path_factory.mktemp("cache")
    cache.chmod(0o700)
    return {**sanitized.environment(), "UOPC_CACHE_DIR": str(cache)}


BEYOND = """
from tests.reliability.sanitized import instrument
instrument()
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import compile_one
from uopc_core.runtime.library import ffi
from uopc_core.dtype import dtypes
n = args[0]
function = compile_one("void store(double *x, long i) { x[i] = 1.0; }", "store")
store = ffi.cast("void(*)(double *, long)", function.address)
memory = Buffer.empty((n,), dtypes.float64)
pointer = ffi.cast("double *", memory.pointer)
store(pointer, n - 1)
print("inside", flush=True)
if args[1] == "freed":
    del memory
store(pointer, n if args[1] == "beyond" else 0)
print("not seen")
"""


@pytest.mark.reliability
@pytest.mark.parametrize("how", ["beyond", "freed"])
@pytest.mark.parametrize("n", [3, 1000, 100_000])
def test_what_touches_foreign_memory_is_found(environment, n, how):
    outcome = run_trial(BEYOND, n, how, env=environment, seconds=200)
    assert outcome.stdout == "inside\n"
    assert "AddressSanitizer: use-after-poison" in outcome.stderr


def run_tests(*arguments: str, environment: dict[str, str]) -> Outcome:
    text = "import os, pytest\nos.chdir(args[0])\nvalue = int(pytest.main(args[1:]))"
    options = ("-q", "-p", "tests.reliability.sanitized", "-p", "no:cacheprovider", "-p", "no:xdist")
    return run_trial(text, str(ROOT), *options, *arguments, env=environment, seconds=800)


TESTS = {
    "tests/test_every_op.py": "",
    "tests/test_figures.py": "",
    "tests/codegen/test_movement.py": "",
    "tests/codegen/test_along_axes.py": "not int16 or shape2",
    "tests/runtime/test_execute.py": "",
    # the kernels of other dtypes are those of float64 and complex64 with other names
    "tests/runtime/test_reduction_order.py": "not float32 and not complex128 and not (complex64 and depends)",
}


@pytest.mark.reliability
@pytest.mark.parametrize("path", TESTS)
def test_kernels_of_the_tests_touch_only_their_own_memory(environment, tries, path):
    outcome = run_tests(path, "-k", TESTS[path], environment=environment).check()
    assert outcome.value == 0, str(outcome)
    passed = re.search(r"(\d+) passed", outcome.stdout)
    assert passed is not None, str(outcome)
    tries.add(int(passed.group(1)))


def fuzz_sanitized(mode: str, n: int) -> list[str]:
    sanitized.instrument()
    return list(fuzz(range(1000, 1000 + n), mode, "compile").reports.values())


@pytest.mark.reliability
@pytest.mark.parametrize(("mode", "n"), [("values", 16), ("jit", 8), ("grad", 4), ("vmap", 8), ("threads", 4)])
def test_kernels_of_random_programs_touch_only_their_own_memory(environment, tries, mode, n):
    outcome = run_trial(fuzz_sanitized, mode, n, env=environment, seconds=800).check()
    assert outcome.value == []
    tries.add(n)
