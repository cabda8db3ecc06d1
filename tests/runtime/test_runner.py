"""Programs: what kernels are called with, how the work is split, and which failure is reported."""

import threading

import numpy as np
import pytest

from tests.support.kernels import HEADER, SCALE, needs_compiler, run_python
from uopc_core.dtype import dtypes
from uopc_core.errors import CompileError, IndexBoundsError
from uopc_core.runtime import runner
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import compile_one
from uopc_core.runtime.runner import CompiledProgram, ProgramStep
from uopc_core.settings import context

pytestmark = needs_compiler

# out[i] = the first iteration of the part that i was computed in
PARTS = HEADER + "KERNEL { for (int64_t i = begin; i < end; i++) ((int64_t *)bufs[0])[i] = begin; return 0; }"
# out[...] = the scalars as int64, uint64, double, two doubles
SCALARS = (
    HEADER
    + """
KERNEL {
    ((int64_t *)bufs[0])[0] = scalars[0].i; ((int64_t *)bufs[0])[1] = scalars[1].i;
    ((uint64_t *)bufs[1])[0] = scalars[2].u;
    for (int i = 0; i < 3; i++) ((double *)bufs[2])[i] = i ? scalars[4].c[i - 1] : scalars[3].f;
    return 0;
}
"""
)
# Fails at every index outside [0, dims[0]).
CHECKED = (
    HEADER
    + """
KERNEL {
    const int64_t *index = bufs[0];
    for (int64_t i = begin; i < end; i++)
        if (index[i] < 0 || index[i] >= dims[0]) {
            status[0] = 1; status[1] = index[i]; status[2] = 2; status[3] = dims[0];
            return 1;
        }
    return 0;
}
"""
)
# Fills its scratch, then notes whether it was aligned and kept what was written.
SCRATCH = (
    HEADER
    + """
KERNEL {
    for (int64_t i = begin; i < end; i++) {
        int fine = (uint64_t)scratch % 64 == 0;
        for (int64_t k = 0; k < dims[0]; k++) scratch[k] = (char)i;
        for (int64_t k = 0; k < dims[0]; k++) fine &= scratch[k] == (char)i;
        ((char *)bufs[0])[i] = fine;
    }
    return 0;
}
"""
)
BIG = 1 << 40  # work that is always worth splitting


def step(source, slots, **more):
    return ProgramStep(compile_one(source, "kernel"), slots, **more)


def pointers(*buffers):
    return [buffer.pointer for buffer in buffers]


def buffer_of(values, dtype=None):
    return Buffer.from_numpy(np.asarray(values, dtype))


def test_a_step_gets_its_buffers_scalars_and_dims():
    x, y, z = buffer_of([1.0, 2.0]), buffer_of([0.0, 0.0]), buffer_of([0.0, 0.0])
    steps = [
        step(SCALE, (2, 0), scalar_slots=(1,), dims=(5,), extent=2),
        step(SCALE, (1, 2), scalar_slots=(0,), dims=(0,), extent=2),
    ]
    CompiledProgram(steps, [dtypes.float64, dtypes.float32]).run(pointers(x, y, z), [10.0, 3.0])
    assert z.array.tolist() == [8.0, 11.0]
    assert y.array.tolist() == [80.0, 110.0]


def test_scalars_of_every_kind():
    out = buffer_of([0, 0], np.int64), buffer_of([0], np.uint64), buffer_of([0.0] * 3)
    kinds = [dtypes.int8, dtypes.bool, dtypes.uint64, dtypes.float32, dtypes.complex64]
    for n_buffers in (3, 4):
        program = CompiledProgram([step(SCALARS, (0, 1, 2), scalar_slots=(0, 1, 2, 3, 4))], kinds, n_buffers)
        program.run([*pointers(*out), 0][:n_buffers], [-5, True, 2**64 - 1, -0.0, 1.5 - 2.5j])
        assert out[0].array.tolist() == [-5, 1]
        assert out[1].array.tolist() == [2**64 - 1]
        assert [str(x) for x in out[2].array.tolist()] == ["-0.0", "1.5", "-2.5"]


def test_a_step_may_have_many_buffers_and_scalars():
    n = 300
    source = HEADER + "KERNEL { for (int k = 0; k < 300; k++) *(double *)bufs[k] = scalars[299 - k].f; return 0; }"
    buffers = [buffer_of(0.0) for _ in range(n)]
    order = tuple(reversed(range(n)))
    program = CompiledProgram([step(source, order, scalar_slots=order)], [dtypes.float64] * n)
    program.run(pointers(*buffers), [float(i) for i in range(n)])
    assert [float(b.array) for b in buffers] == [float(n - 1 - i) for i in range(n)]


def test_a_program_without_steps_does_nothing():
    CompiledProgram([]).run([])


@pytest.mark.parametrize("num_threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("extent", "grain"), [(1, 1), (2, 1), (7, 1), (100, 16), (1000, 64), (5, 8), (4096, 1)])
def test_parts_are_multiples_of_the_grain_and_cover_everything(extent, grain, num_threads):
    out = buffer_of([-1] * extent, np.int64)
    program = CompiledProgram([step(PARTS, (0,), extent=extent, grain=grain, work=BIG)])
    with context(num_threads=num_threads):
        for _ in range(5):
            out.array[...] = -1
            program.run(pointers(out))
            begins = np.unique(out.array)
            assert begins[0] == 0
            assert (begins % grain == 0).all()
            assert len(begins) <= min(num_threads, max(1, extent // grain))
            assert (np.diff(out.array) >= 0).all()


def test_little_work_is_not_split():
    out = buffer_of([-1] * 1000, np.int64)
    with context(num_threads=4):
        CompiledProgram([step(PARTS, (0,), extent=1000, work=1000)]).run(pointers(out))
    assert (out.array == 0).all()


@pytest.mark.parametrize("num_threads", [1, 4])
def test_scratch_is_aligned_and_belongs_to_one_thread(num_threads):
    out = buffer_of([0] * 64, np.int8)
    with context(num_threads=num_threads):
        for n_bytes in (1, 100, 5000):
            program = CompiledProgram(
                [step(SCRATCH, (0,), dims=(n_bytes,), extent=64, work=BIG, scratch_bytes=n_bytes)]
            )
            for _ in range(20):
                out.array[...] = 0
                program.run(pointers(out))
                assert out.array.all()


def test_scratch_that_the_system_does_not_have_is_a_memory_error():
    out = buffer_of([0], np.int8)
    program = CompiledProgram([step(SCRATCH, (0,), dims=(0,), scratch_bytes=1 << 60)])
    with pytest.raises(MemoryError):
        program.run(pointers(out))


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_the_failure_of_the_lowest_iteration_is_reported(num_threads):
    index = np.zeros(1000, np.int64)
    index[[413, 500, 730, 999]] = [9, -3, 8, 7]
    wrong, right = buffer_of(index), buffer_of(np.zeros(1000, np.int64))
    program = CompiledProgram([step(CHECKED, (0,), dims=(6,), extent=1000, work=BIG)])
    with context(num_threads=num_threads):
        for _ in range(10):
            with pytest.raises(IndexBoundsError, match=r"^index 9 is out of bounds for axis 2 with size 6$"):
                program.run(pointers(wrong))
    program.run(pointers(right))


def test_steps_after_a_failure_do_not_run():
    x, out = buffer_of([7], np.int64), buffer_of([-1], np.int64)
    with pytest.raises(IndexBoundsError, match="index 7 "):
        CompiledProgram([step(CHECKED, (0,), dims=(6,)), step(PARTS, (1,))]).run(pointers(x, out))
    assert out.array.tolist() == [-1]


def test_eight_threads_run_programs_at_the_same_time():
    source = compile_one(SCALE, "kernel")
    failures = []

    def work(number):
        n = 5000 + number
        x, out = buffer_of(np.arange(n, dtype=np.float64)), Buffer.empty((n,), dtypes.float64)
        program = CompiledProgram([ProgramStep(source, (0, 1), (0,), (number,), n, 8, BIG)], [dtypes.float64])
        bad = CompiledProgram([step(CHECKED, (0,), dims=(6,), extent=2, work=BIG)])
        wrong = buffer_of([0, 100 + number], np.int64)
        for i in range(100):
            program.run(pointers(out, x), [float(i)])
            if not np.array_equal(out.array, x.array * i + number):
                failures.append(("value", number, i))
            try:
                bad.run(pointers(wrong))
                failures.append(("no error", number, i))
            except IndexBoundsError as error:
                if f"index {100 + number} " not in str(error):
                    failures.append((str(error), number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_work_after_a_fork_in_parent_and_child():
    code = f"""
import os, threading, numpy as np
from uopc_core.dtype import dtypes
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.cache import compile_one
from uopc_core.runtime.runner import CompiledProgram, ProgramStep
from uopc_core.settings import context
step = ProgramStep(compile_one({SCALE!r}, "kernel"), (0, 1), (0,), (1,), 100_000, 64, 1 << 40)
program = CompiledProgram([step], [dtypes.float64])
x = Buffer.from_numpy(np.arange(100_000.0))

def check(times):
    out = Buffer.empty(x.shape, x.dtype)
    with context(num_threads=3):
        for i in range(times):
            program.run([out.pointer, x.pointer], [float(i)])
            assert np.array_equal(out.array, x.array * i + 1)

check(20)
busy = threading.Thread(target=check, args=(300,))
busy.start()
children = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        check(20)
        os._exit(0)
    children.append(child)
check(20)
busy.join()
print([os.waitpid(child, 0)[1] for child in children])
"""
    assert run_python(code) == "[0, 0, 0, 0, 0]"


def test_subnormal_numbers_are_kept_by_every_thread():
    tiny = np.full(1000, 5e-324)
    x, out = buffer_of(tiny), buffer_of(np.zeros(1000))
    with context(num_threads=4):
        CompiledProgram(
            [step(SCALE, (1, 0), scalar_slots=(0,), dims=(0,), extent=1000, work=BIG)], [dtypes.float64]
        ).run(pointers(x, out), [3.0])
    assert (out.array == 3 * 5e-324).all()


def test_a_program_keeps_its_kernels_loaded():
    program = CompiledProgram([ProgramStep(compile_one(PARTS + "/* only here */", "kernel"), (0,), extent=3)])
    for n in range(3):
        compile_one(f"int other{n};" + PARTS, "kernel")
    out = buffer_of([-1] * 3, np.int64)
    program.run(pointers(out))
    assert out.array.tolist() == [0, 0, 0]


def test_steps_and_times_are_printed_on_request(capfd):
    out = buffer_of([-1], np.int64)
    with context(debug=1):
        CompiledProgram([step(PARTS, (0,), work=12, name="first"), step(PARTS, (0,), name="second")]).run(pointers(out))
    printed = capfd.readouterr().err
    assert "first: 12 operations in " in printed
    assert printed.index("first: ") < printed.index("second: ")


def test_without_a_compiler_there_are_no_programs(monkeypatch):
    monkeypatch.setattr(runner, "_loaded", {})
    with context(cc="/nonexistent"), pytest.raises(CompileError, match="no C compiler"):
        CompiledProgram([])


_never_closed = []  # threads of a runtime outlive the test


@pytest.fixture
def without_runtime(monkeypatch):
    """As in a process on a machine that has not compiled the runtime yet; says how often it was asked for."""
    asked = []
    loaded = {}
    _never_closed.append(loaded)
    monkeypatch.setattr(runner, "_loaded", loaded)
    monkeypatch.setattr(runner, "_is_asked_for", [])
    monkeypatch.setattr(runner, "in_background", asked.append)
    return asked


@pytest.mark.parametrize(
    "check",
    [
        test_a_step_gets_its_buffers_scalars_and_dims,
        test_scalars_of_every_kind,
        test_a_step_may_have_many_buffers_and_scalars,
        test_a_program_without_steps_does_nothing,
        test_little_work_is_not_split,
        test_scratch_that_the_system_does_not_have_is_a_memory_error,
        test_steps_after_a_failure_do_not_run,
    ],
)
def test_little_work_does_not_wait_for_the_runtime(check, without_runtime):
    check()
    assert "runtime" not in runner._loaded
    assert len(without_runtime) <= 1


def test_one_thread_does_not_wait_for_the_runtime(without_runtime):
    with context(num_threads=1):
        test_scratch_is_aligned_and_belongs_to_one_thread(1)
        test_parts_are_multiples_of_the_grain_and_cover_everything(100, 16, 1)
    assert "runtime" not in runner._loaded
    assert len(without_runtime) == 1


def test_much_work_of_several_threads_waits_for_the_runtime(without_runtime):
    test_parts_are_multiples_of_the_grain_and_cover_everything(100, 16, 3)
    assert "runtime" in runner._loaded


def test_a_program_takes_to_the_runtime_when_it_is_there(without_runtime):
    out = buffer_of([-1] * 3, np.int64)
    program = CompiledProgram([step(PARTS, (0,), extent=3)])
    for _ in range(2):
        program.run(pointers(out))
    assert program._call is None
    runner.prepare_runtime()
    program.run(pointers(out))
    assert program._call is not None
    assert out.array.tolist() == [0, 0, 0]


def test_where_subnormal_numbers_are_flushed_the_runtime_is_waited_for(without_runtime, monkeypatch):
    monkeypatch.setattr(runner, "flushes_subnormals", lambda: True)
    out = buffer_of([-1] * 3, np.int64)
    CompiledProgram([step(PARTS, (0,), extent=3)]).run(pointers(out))
    assert "runtime" in runner._loaded
