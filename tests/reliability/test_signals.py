"""Handlers of signals that compute, in the midst of whatever the main thread is at, and Ctrl-C."""

import os
import signal
import textwrap
import time

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.compilers import fake_compiler
from tests.reliability.programs import wrong_values
from tests.reliability.trial import run_trial, started, value_of

SOURCE = np.arange(3000.0)
TOTAL = float(SOURCE.sum())


def compute_lazily(x, i):
    n = 100 + i % 500
    return float(xp.sum(x[:n] * 2.0 + i)), 2 * float(SOURCE[:n].sum()) + n * i


def compute_at_once(x, i):
    return float(xp.sum(xp.asarray([1.0, float(i)]) * 2.0)), 2.0 + 2.0 * i


def trace_anew(x, i):
    f = xp.jit(lambda a, b: xp.sum(a * b + 1.0))
    return float(f(x, float(i))) + float(f(x, float(i))), 2 * (TOTAL * i + 3000)


def differentiate(x, i):
    return float(xp.grad(lambda a: xp.sum(a * a) * i)(x)[7]), 14.0 * i


sum_of_products = xp.jit(lambda a, b: xp.sum(a * b))


def call_again(x, i):
    return float(sum_of_products(x, float(i))), TOTAL * i


WAYS = {
    "lazily": compute_lazily,
    "at once": compute_at_once,
    "by a new function of jit": trace_anew,
    "by a known function of jit": call_again,
    "with derivatives": differentiate,
}


def compute_under_signals(main, handler, seconds):
    """Compute in one way, and at every signal in another: how often each, and what was wrong."""
    x = xp.asarray(SOURCE)
    wrong = []
    counts = {"main": 0, "handler": 0}
    running = []

    def check(who, way):
        found, wanted = WAYS[way](x, counts[who])
        counts[who] += 1
        if abs(found - wanted) > 1e-9 * abs(wanted):
            wrong.append((who, found, wanted))

    def handle(*_):
        if not running:  # a slow machine would never come out of handlers
            running.append(True)
            try:
                check("handler", handler)
            finally:
                running.clear()

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    end = time.monotonic() + seconds
    while time.monotonic() < end or counts["handler"] < 3:
        check("main", main)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return [counts["handler"], wrong]


LONG = pytest.mark.reliability


@pytest.mark.parametrize("handler", ["lazily", *[pytest.param(way, marks=LONG) for way in list(WAYS)[1:]]])
@pytest.mark.parametrize(
    "main", ["by a new function of jit", *[pytest.param(way, marks=LONG) for way in WAYS if "new" not in way]]
)
def test_a_handler_computes_while_the_main_thread_does(tries, main, handler):
    for _ in tries(1, 2):
        n, wrong = value_of(compute_under_signals, main, handler, 0.5)
        assert wrong == []
        tries.add(n)


def write_under_signals(seconds):
    """The main thread and a handler write to different elements of one array, in place and through views."""
    x = xp.zeros((64, 50))
    wanted = np.zeros((64, 50))
    counts = [0]
    running = []

    def handle(*_):
        if not running:  # one handler may interrupt another
            running.append(True)
            k = 2 * (counts[0] % 32)
            counts[0] += 1
            x[k] = xp.full(50, float(counts[0]))
            wanted[k] = counts[0]
            running.clear()

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    end = time.monotonic() + seconds
    i = 0
    while time.monotonic() < end:
        i += 1
        k = 2 * (i % 32) + 1
        row = x[k]
        row[:] = xp.full(50, float(i))
        x[k, 3:5] += 1.0
        wanted[k] = i
        wanted[k, 3:5] += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    return [counts[0], int((np.asarray(x) != wanted).any(axis=1).sum())]


def test_a_handler_writes_to_the_array_that_the_main_thread_writes_to(tries):
    for _ in tries(1, 5):
        n, lost = value_of(write_under_signals, 1)
        assert lost == 0
        tries.add(n)


SAVE = """
import os, signal, sys, time
import numpy as np
import uopc_array as xp

weights = xp.asarray(np.arange(5000.0))
step = xp.jit(lambda w, k: w * 0.5 + xp.sin(w) * k + xp.flip(w))

def save(*_):
    total = float(xp.sum(weights * 2.0))
    print("saved", np.isfinite(total), flush=True)
    os._exit(0)

print("ready", flush=True)
signal.signal(signal.SIGTERM, save)
os.write(1, b"set\\n")
while True:
    weights = step(weights, 0.1) / 2
    xp.jit(lambda w: w + 1.0)(weights)
"""


def test_a_job_that_is_told_to_end_saves_its_state(tries):
    """At any moment from the first call on, loading, planning, tracing and compiling included."""
    for number in tries(3, 12):
        with started(SAVE) as child:
            child.wait_for("set")
            time.sleep(number * 0.1)
            os.kill(child.pid, signal.SIGTERM)
            outcome = child.wait()
        assert outcome.check().stdout.split() == ["ready", "set", "saved", "True"], str(outcome)


JOBS = (
    """
import os, signal, time
import uopc_array
value = 0
for number in range(args[0]):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.read(reader, 4)  # it has said that it is set
        time.sleep(0.5 * number / args[0])
        os.kill(pid, signal.SIGTERM)
        value += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        os.close(reader), os.close(writer)
        continue
    os.dup2(writer, 1)
"""
    + textwrap.indent(SAVE.replace('print("ready", flush=True)', ""), "    ")
).replace('print("saved", np.isfinite(total), flush=True)', "assert np.isfinite(total)")


@pytest.mark.reliability
def test_jobs_that_find_their_kernels_save_their_state_when_they_are_told_to_end(tries):
    n_jobs = 80
    assert value_of(JOBS, n_jobs, seconds=300) == n_jobs
    tries.add(n_jobs)


INTERRUPTED = """
import os, signal, sys, time
import numpy as np
import uopc_array as xp
from tests.reliability.programs import wrong_values

memory = xp.asarray(np.arange(4.0))
before = np.arange(4.0)
model = {"w": xp.ones(3000), "n": 0}

def step(x):
    model["w"] = model["w"] * 1.0 + 0.0 * x
    model["n"] = model["n"] + 0
    return xp.sum(model["w"] * x)

def busy(i):
    n = 50 + i % 400
    x = xp.asarray(np.arange(float(n)))
    f = xp.jit(lambda a: xp.sum(xp.sin(a) * i))
    f(x), f(x)
    xp.grad(lambda a: xp.sum(a * a))(x).tolist()
    xp.jit(step)(xp.ones(3000)).item()
    xp.vmap(lambda a: a * 2.0)(x).tolist()
    float(xp.sum(x[::2] * i))

wrong, interrupts, said, i = [], 0, None, 0
signal.signal(signal.SIGINT, signal.SIG_IGN)
while interrupts < args[0]:
    try:
        while True:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if said != interrupts:
                said = interrupts
                print("after", interrupts, flush=True)
            i += 1
            busy(i)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        interrupts += 1
        if float(xp.sum(model["w"])) != 3000.0 or model["n"] != 0:
            wrong.append("the model")
        wrong += wrong_values()
value = [interrupts, wrong]
"""


def _interrupt(n, whole_group):
    """Interrupt a child `n` times at moments that nobody chose."""
    with started(INTERRUPTED, n, seconds=60 + 3 * n) as child:
        child.wait_for("after 0\n")
        for k in range(n):
            time.sleep(0.01 + 0.0137 * (k * 7 % 23))
            if not child.is_running():
                break
            (os.killpg if whole_group else os.kill)(child.pid, signal.SIGINT)
            while not child.wait_for(f"after {k + 1}\n", within_s=10):
                os.kill(child.pid, signal.SIGINT)  # Python swallows what comes while a finalizer runs
        outcome = child.wait()
    value = outcome.check().value
    assert value[0] == n
    assert value[1] == [], str(outcome)
    return n


def test_after_an_interrupt_of_the_process_everything_is_right(tries):
    for _ in tries(1, 10):
        tries.add(_interrupt(3 if not tries.is_full else 20, False))


@pytest.mark.reliability
def test_after_an_interrupt_of_the_whole_group_everything_is_right(tries):
    for _ in tries(1, 5):
        tries.add(_interrupt(20, True))


@pytest.mark.needs_compiler
def test_an_interrupt_reaches_no_compiler(tmp_path):
    """Nothing is wrong with the kernel, so no later call says so."""
    program = """
import uopc_array as xp
x = xp.ones(2000, dtype=xp.int64)
f = xp.jit(lambda x: xp.sum(x * 3))
f(x)
found = []
print("ready", flush=True)
for _ in range(3):
    try:
        found.append(int(f(x)))
    except KeyboardInterrupt:
        found.append("interrupted")
value = found
"""
    compiler = fake_compiler(tmp_path, kernel='sleep 3; real "$@"')
    with started(program, env={"CC": compiler}) as child:
        child.wait_for("ready")
        time.sleep(0.5)
        os.killpg(child.pid, signal.SIGINT)
        outcome = child.wait().check()
    assert outcome.value == ["interrupted", 6000, 6000]
    assert outcome.stderr == ""


def test_a_finalizer_computes_while_rubbish_is_collected():
    program = """
import gc
import numpy as np
import uopc_array as xp
from tests.reliability.programs import wrong_values

x = xp.asarray(np.arange(3000.0))
done, bad = [0], [0]
class Thing:
    def __init__(self):
        self.me = self
    def __del__(self):
        done[0] += 1
        bad[0] += float(xp.sum(x * 2.0 + done[0] % 7)) != 2 * 4498500.0 + 3000 * (done[0] % 7)
gc.set_threshold(50)
wrong = []
for i in range(30):
    things = [Thing() for _ in range(20)]
    if i % 10 == 0:
        wrong += wrong_values()
    float(xp.sum(xp.jit(lambda a: a * i)(x)))
value = [done[0] > 100, bad[0], wrong]
"""
    assert run_trial(program).check().value == [True, 0, []]


assert wrong_values  # for the programs
