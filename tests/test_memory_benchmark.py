"""The programs and loops of `benchmarks.memory`, small, by counts of bytes; and that the script runs."""

import gc
import re
from _thread import _count as count_threads  # that Python has started
from pathlib import Path

import numpy as np
import pytest

from benchmarks import memory
from benchmarks.contest import OURS
from benchmarks.memory_programs import LOOPS, NUMPY, PROGRAMS
from tests.support.live_memory import leave_out_what_is_there, live_bytes
from tests.support.peak_memory import peak_bytes
from uopc_core import context

N = 1 << 19  # elements of the inputs
BOUND = 1 << 20
HALF = 5 * N  # bytes, a little more than half of what is added to an array: a copy that NumPy does not make is found
# a write to most of an array that is computed with makes a new array, and fuses where kernels are compiled
COPIES = {"heat in place, 30 steps": 1, "argsort": 1}  # indices are sorted by digits from one row to another


@pytest.fixture(autouse=True, scope="module")
def _only_what_is_new() -> None:
    leave_out_what_is_there()


def growth_of(contestant: str, name: str) -> int:
    """How many bytes more a program takes for inputs that are twice as large."""
    call = memory.call_of(contestant, name)
    peaks: list[int] = []
    for n in (N, 2 * N):
        memory.settled(call(*memory.inputs_of(contestant, name, n)))  # modules are loaded
        arrays = memory.inputs_of(contestant, name, n)
        gc.collect()
        peaks.append(peak_bytes(lambda arrays=arrays: memory.settled(call(*arrays))))
    return peaks[1] - peaks[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_takes_no_more_than_numpy_for_larger_inputs(name: str) -> None:
    with context(tier="interpret", verify=False, pending_bytes=BOUND):
        copies = COPIES.get(name, 0)
        if name == "np.add.at" and count_threads():  # of another thread, a worker's, say: then it writes to a copy
            copies += 1
        assert growth_of(OURS, name) <= growth_of(NUMPY, name) + HALF + 8 * N * copies


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_holds_no_more_after_many_steps_than_after_a_few(name: str) -> None:
    loop = LOOPS[name]
    with context(tier="interpret", verify=False, pending_bytes=BOUND):
        state = loop.start(*memory.namespace(OURS), 1 << 14)
        start = live_bytes()
        most = []
        for i in range(60):
            loop.step(state, i)
            if i % 6 == 5:
                most.append(live_bytes() - start)
        assert max(most[5:]) <= max(max(most[:5]), BOUND) + (1 << 18)
        memory.settled(loop.finish(state))


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_has_numpys_values(name: str) -> None:
    found = []
    for contestant in (NUMPY, OURS):
        state = LOOPS[name].start(*memory.namespace(contestant), 1 << 12)
        for i in range(20):
            LOOPS[name].step(state, i)
        values = LOOPS[name].finish(state)
        found.append(np.concatenate([np.ravel(np.asarray(x)) for x in (values if type(values) is list else [values])]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="resident memory is read from Linux's /proc")
def test_the_script_measures_in_processes_of_their_own(capfd: pytest.CaptureFixture[str]) -> None:
    assert memory.main(["--quick", "--row", "sum of bytes", "--row", "running sum"]) == 0
    shown = capfd.readouterr().out
    assert re.search(r"\| sum of bytes \| \d+ \| \d+ \| \d+ \|", shown)
    assert re.search(r"\| running sum \| numpy \|( \d+ \|){5}\n\| running sum \| uopc_array \|( \d+ \|){5}", shown)
    assert "nothing takes more than it may" in shown


def test_a_row_that_is_not_there_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="no row of that name; there are sum of bytes, "):
        memory.main(["--quick", "--row", "no such row"])
