"""The end of the process: functions of `atexit`, finalizers, threads that go on, and compilers that nobody needs."""

import pytest

from tests.reliability.compilers import fake_compiler
from tests.reliability.trial import run_trial

# Every way of computing that differs in what it loads, and what comes of it.
COMPUTE = """
import sys

import numpy as np

n = np.arange(30_000.0)
total = float(n.sum())
ones = np.ones((300, 300))

def message_of(function):
    try:
        function()
    except ValueError as error:
        return str(error)
    except TypeError as error:
        return str(error)

def compute():
    x = xp.asarray(n)
    f = xp.jit(lambda a: xp.sum(a * 3.0))
    g = xp.jit(lambda a, b: {"sum": a + b[0], "rest": (a, b)})
    y = xp.zeros(70_000)
    y[7] = 5.0
    found = {
        "small": (xp.sum(xp.asarray([1.0, 2.0])), 3.0),
        "lazy": (xp.sum(x * 2.0 + 1.0), 2 * total + 30_000),
        "function": (xp.sin(x)[1], 0.8414709848078965),
        "large": (xp.sqrt(xp.ones(5_000_000) * 4.0)[-1], 2.0),
        "product": ((xp.asarray(ones) @ xp.asarray(ones))[0, 0], 300.0),
        "jit": (f(x) + f(x), 6 * total),
        "jit of trees": (g(2.0, [3.0, x])["sum"], 5.0),
        "grad": (xp.grad(lambda a: xp.sum(a * a))(x)[5], 10.0),
        "grad of trees": (xp.grad(lambda p: p["a"] * p["b"][0])({"b": [4.0], "a": 2.0})["a"], 4.0),
        "vmap": (xp.vmap(lambda a: a * 2.0)(x)[4], 8.0),
        "einsum": (xp.einsum("ij,jk->ik", xp.ones((3, 4)), xp.ones((4, 5)))[0, 0], 4.0),
        "inverse": (xp.linalg.inv(xp.eye(3) * 2)[1, 1], 0.5),
        "in place": (xp.sum(y), 5.0),
        "sorted": (xp.sort(-x)[0], -29_999.0),
        "fft": (xp.abs(xp.fft.fft(x))[0], total),
        "real fft": (xp.fft.irfft(xp.fft.rfft(xp.asarray([1.0, 2.0, 4.0, 8.0])))[2], 4.0),
        "repr": (repr(xp.asarray([1.5, 2.5])) == "Array([1.5, 2.5], dtype=float64)", 1),
        "repr of what waits": (repr(x * 2)[:21] == "Array([0.0000e+00, 2.", 1),
        "str": (str(xp.arange(3)) == "[0 1 2]", 1),
        "format": (f"{xp.sum(xp.ones(3)):.2f}" == "3.00", 1),
        "an error of shapes": ("(3,) and (4,)" in message_of(lambda: xp.ones(3) + xp.ones(4)), 1),
        "an error of dtypes": ("float64" in message_of(lambda: xp.ones(3) << 1), 1),
    }
    wrong = [name for name, (value, wanted) in found.items() if abs(float(value) - wanted) > 1e-9 * abs(wanted)]
    sys.stdout.write(" ".join(["wrong:", *wrong]) + "\\n")  # at once: several threads may say so
    sys.stdout.flush()
"""
IMPORT = "import uopc_array as xp\n"
WHEN = {
    "atexit, registered first": ("import atexit\natexit.register(lambda: compute())\n" + IMPORT + COMPUTE, ""),
    "atexit, registered last": (IMPORT + COMPUTE, "import atexit\natexit.register(compute)"),
    "weakref.finalize": (
        IMPORT + COMPUTE,
        "import weakref\nclass Thing: pass\nthing = Thing()\nweakref.finalize(thing, compute)",
    ),
    "a finalizer": (IMPORT + COMPUTE, "class Thing:\n    def __del__(self): compute()\nthing = Thing()"),
    "a finalizer in a cycle": (
        IMPORT + COMPUTE,
        "class Thing:\n    def __del__(self): compute()\nthing = Thing()\nthing.same = thing",
    ),
    "a thread that outlives the main one": (
        IMPORT + COMPUTE,
        """
import threading, time
def work():
    threading.main_thread().join()
    compute()
threading.Thread(target=work).start()
""",
    ),
}


def _each(shorts):
    """Every time, new and again; those that are not among `shorts` for `make test-reliability`."""
    cases = []
    for when in WHEN:
        for how, before in {"for the first time": "", "again": "compute()\n"}.items():
            marks = [] if (when, how) in shorts else [pytest.mark.reliability]
            cases.append(pytest.param(when, before, marks=marks, id=f"{when}, {how}"))
    return cases


@pytest.mark.parametrize(
    ("when", "before"), _each({("a finalizer", "for the first time"), ("atexit, registered first", "again")})
)
def test_what_runs_at_the_end_of_a_process_computes(when, before):
    start, end = WHEN[when]
    outcome = run_trial(start + before + end).check()
    assert outcome.stdout.split() == ["wrong:"] * (1 + bool(before)), str(outcome)
    assert outcome.stderr == ""


DAEMONS = """
import os, sys, threading, time
from typing import Any, NamedTuple
import numpy as np
import uopc_array as xp

class Pair(NamedTuple):
    first: Any
    second: Any

n = np.arange(3000.0)
total = float(n.sum())
f = xp.jit(lambda a, b: {"sum": xp.sum(a * 3.0 + b[0]), "rest": Pair(a, b)})
g = xp.grad(lambda p: xp.sum(p["a"] * p["b"][0].first))
v = xp.vmap(lambda a, b: {"x": a + b, "y": [a]})

def work(rounds=10**9):
    x = xp.asarray(n)
    y = xp.zeros(70_000)
    for i in range(rounds):
        y[i % 70_000] = 5.0
        found = [
            (xp.sum(x * 2.0 + i), 2 * total + 3000 * i),
            (xp.cumulative_sum(x)[-1], total),
            (xp.max(y[7:]), 5.0 if i >= 7 else 0.0),
            (f(x, [float(i)])["sum"], 3 * total + 3000 * i),
            (g({"b": [Pair(x, 2.0)], "a": x})["a"][5], 5.0),
            (v(x, x)["x"][6], 12.0),
        ]
        if not all([abs(float(value) - wanted) <= 1e-9 * abs(wanted) for value, wanted in found]):
            print("wrong", found, flush=True)

work(args[0])
value = []
for number in range(args[1]):
    pid = os.fork()
    if pid == 0:
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(args[2] * number / args[1])
        sys.exit()
    value.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.parametrize(("rounds", "longest_s"), [(0, 0.6), (9, 0.2)], ids=["for the first time", "again"])
def test_daemon_threads_that_compute_end_with_the_process(tries, rounds, longest_s):
    """Wherever they are: loading modules, tracing, in the C++ that takes arguments apart. Apart from BLAS."""
    n_ends = 100 if tries.is_full else 3
    quiet = ("-W", "ignore::DeprecationWarning")  # of a fork beside threads, which Python 3.12 warns of
    outcome = run_trial(DAEMONS, rounds, n_ends, longest_s, seconds=600, flags=quiet).check()
    assert outcome.value == [0] * n_ends
    assert (outcome.stdout, outcome.stderr) == ("", "")
    tries.add(n_ends)


MANY = """
import uopc_array as xp

x = xp.ones(2000, dtype=xp.int64)  # integers, which NumPy computes with by itself

def different(i):
    def f(x):
        for k in range(9):
            x = x * 3 if i >> k & 1 else abs(x) + 2
        return xp.cumulative_sum(x)
    return xp.jit(f)

for i in range(args[0]):
    f = different(i)
    f(x)
    if args[1] and i % 50 == 49:
        f(x)  # waits for one
value = i
"""


@pytest.mark.needs_compiler
@pytest.mark.parametrize("how_many", [1, pytest.param(400, marks=pytest.mark.reliability)])
def test_nobody_waits_at_the_end_for_a_compiler(tmp_path, how_many):
    """It takes longer than the trial may take; nothing of it is left."""
    compiler = fake_compiler(tmp_path, kernel='sleep 1000; real "$@"')
    outcome = run_trial(MANY, how_many, False, env={"CC": compiler}, seconds=100).check()
    assert outcome.left_behind == ()
    assert outcome.stderr == ""


@pytest.mark.needs_compiler
@pytest.mark.reliability
def test_compilers_that_are_at_work_at_the_end_leave_nothing(tries):
    for number in tries(1, 20):
        outcome = run_trial(MANY, 5 + number, number % 2 == 0).check()
        assert outcome.left_behind == ()
        assert outcome.stderr == ""


@pytest.mark.needs_compiler
def test_what_is_computed_while_the_process_ends_does_not_tell_of_compilers_that_were_stopped(tmp_path):
    """A kernel was being compiled for the next call, which comes when compilers have been stopped."""
    program = """
import atexit
atexit.register(lambda: print(int(f(x)), flush=True))
import uopc_array as xp
x = xp.ones(2000, dtype=xp.int64)
f = xp.jit(lambda x: xp.sum(x * 3))
f(x)
import time; time.sleep(0.5)  # the compiler is at it
"""
    compiler = fake_compiler(tmp_path, kernel='sleep 2; real "$@"')
    outcome = run_trial(program, env={"CC": compiler}).check()
    assert (outcome.stdout, outcome.stderr) == ("6000\n", "")


ENDS = {"sys.exit(3)": 3, "os._exit(3)": 3, "raise SystemError": 1, "os.kill(os.getpid(), 15)": -15}


@pytest.mark.needs_compiler
@pytest.mark.reliability
@pytest.mark.parametrize("end", ENDS)
def test_no_end_waits_for_a_compiler(tmp_path, end):
    compiler = fake_compiler(tmp_path, kernel="sleep 1000")
    outcome = run_trial(f"{MANY}\nimport os\n{end}", 3, False, env={"CC": compiler})
    assert (outcome.returncode, outcome.timed_out) == (ENDS[end], False)
    if not end.startswith("os."):  # which leaves Python no time to stop anything
        assert outcome.left_behind == ()
