"""A few random programs of every kind in every run of the tests, the same each time; and what the fuzzer must not miss.

For other programs than these: `make fuzz N=1000 SEED=12345`, or `python -m tests.fuzz --help`.
"""

import contextlib
import io
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array
from tests.fuzz import workers
from tests.fuzz.campaign import fuzz
from tests.fuzz.draw_program import MODES, draw_program
from tests.fuzz.draw_statements import ELEMENT_LOOPS, FUNCTION_WRITES, MASKED_WRITES, ROW_WRITES
from tests.fuzz.judge import Judge, same_bits
from tests.fuzz.program import LAYOUTS, STYLES, Input, Outcome, Program, quiet, run
from tests.fuzz.workers import fuzz_in_workers
from uopc_core import clear_plans
from uopc_core.loop import lower, nest, space
from uopc_core.loop.loop_ir import Load, Store
from uopc_core.loop.space import Lowered
from uopc_core.runtime.toolchain import find_toolchain

# mode, tier, programs; all together about 15 seconds of one core where nothing is compiled yet
BUDGET = (
    ("values", "interpret", 150),
    ("values", "compile", 6),
    ("auto", "auto", 10),
    ("jit", "interpret", 40),
    ("jit", "compile", 4),
    ("state", "interpret", 30),
    ("vmap", "interpret", 40),
    ("vmap", "compile", 4),
    ("grad", "interpret", 12),
    ("grad", "compile", 1),
    ("threads", "compile", 3),
)


@pytest.mark.parametrize(("mode", "tier", "programs"), BUDGET, ids=lambda part: str(part))
def test_random_programs(mode: str, tier: str, programs: int) -> None:
    result = fuzz(range(programs), mode, tier)
    assert result.programs == programs
    assert not result.failures, "\n".join(result.reports.values())


@pytest.mark.parametrize("mode", MODES)
def test_most_programs_are_checked(mode: str) -> None:
    """Every seed gives a program that reads something, and nearly always of arrays that were computed."""
    programs = [draw_program(seed, mode) for seed in range(30)]
    assert sum("read(" in p.source for p in programs) >= 28
    assert sum(len(p.body) >= 2 for p in programs) >= 26
    assert [draw_program(seed, mode) for seed in range(10)] == programs[:10]


def test_every_kind_of_input_and_subject_is_drawn() -> None:
    """By counting: what a change of weights makes vanish is no longer looked at."""
    programs = [draw_program(seed, mode) for mode in ("values", "jit") for seed in range(300)]
    text = "\n".join([p.source for p in programs])
    inputs = [x for p in programs for x in p.inputs]
    words = (
        "fft.",
        "svd",
        "qr(",
        "eigh(",
        "einsum",
        "solve(",
        "argsort",
        "cumsum",
        "take",
        "[0] = ",
        "for i in",
        "del ",
    )
    assert [word for word in words if word not in text] == []
    assert set(STYLES) - {x.style for x in inputs} <= {"ones", "ramp"}
    assert {x.layout for x in inputs} == set(LAYOUTS)
    assert max(int(np.prod(x.shape)) for x in inputs) > 70_000


@pytest.mark.parametrize("mode", ["values", "jit"])
def test_what_stores_into_an_argument_counts_as_a_write(mode: str) -> None:
    """The arguments of such a program are results, and lie in memory as NumPy's views of them do."""
    stored = 0
    for seed in range(200):
        program = draw_program(seed, mode, ("writes",))
        given = program.given(np, program.arguments)
        with quiet(), contextlib.suppress(Exception):  # some programs end in an error of NumPy's
            program.function(np, lambda _: None, *given)
        pairs = zip(given, program.arguments, strict=True)
        changed = any(not same_bits(np.asarray(x), np.asarray(y)) for x, y in pairs)
        stored += changed
        assert program.writes or not changed, program.source
    assert stored > 50


@pytest.mark.parametrize("form", [*MASKED_WRITES, *FUNCTION_WRITES, *ROW_WRITES, *ELEMENT_LOOPS])
def test_every_form_that_stores_counts_as_a_write(form: str) -> None:
    body = form.format(x="a", n=2, t="t")
    x = Input("a", "grid", shape=(4, 4), seed=3)
    given = x.value()
    Program((x,), (body,)).function(np, lambda _: None, given)
    assert Program((x,), (body,)).writes or same_bits(given, x.value())


def _found(seeds: int, mode: str, only: tuple[str, ...], *words: str, lines: int) -> str:
    """The report of a planted fault: small, naming what is at fault, and a program that runs on its own."""
    result = fuzz(range(seeds), mode, "interpret", only, most=1)
    assert result.failures
    reports = [text for text in result.reports.values() if all(word in text for word in words)]
    assert reports, "\n".join(result.reports.values())
    shortest = min(reports, key=len)
    body = shortest.split("def program")[1].split("\n\n")[0].split("\n")[1:]
    assert len(body) <= lines, shortest
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(shortest, "<report>", "exec"), {})
    return shortest


def test_a_movement_off_by_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    roll = uopc_array.roll
    monkeypatch.setattr(
        uopc_array, "roll", lambda x, shift, axis=None: roll(x, shift, axis=axis) if np.ndim(x) < 2 else x
    )
    _found(150, "values", ("movement",), "xp.roll", lines=2)


def test_a_write_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    flip = uopc_array.flip
    monkeypatch.setattr(uopc_array, "flip", lambda x, axis=None: uopc_array.copy(flip(x, axis=axis)))
    _found(600, "values", ("views", "writes"), "xp.flip", lines=4)


def test_a_function_off_by_a_billionth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uopc_array, "tanh", lambda x: uopc_array.sinh(x) / uopc_array.cosh(x) * (1 + 1e-9))
    _found(100, "values", ("elementwise",), "tanh", lines=2)


def test_a_derivative_off_by_a_thousandth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(x: Any, of: Callable[..., Any] = uopc_array.sin) -> Any:
        return of(x) + 0.001 * (of(x) - uopc_array.stop_gradient(of(x)))

    monkeypatch.setattr(uopc_array, "sin", planted)
    _found(60, "grad", ("elementwise",), "xp.sin", "differences", lines=2)


def test_a_compiled_function_that_keeps_a_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that is a constant of the trace: right at the first call, wrong with other values."""
    monkeypatch.setattr(uopc_array, "jit", lambda f: _remembered(f))
    _found(4, "jit", (), "call 3", lines=2)


def _remembered(f: Callable[..., Any]) -> Callable[..., Any]:
    results: list[Any] = []

    def function(*arguments: Any) -> Any:
        results.append(f(*arguments))
        return results[0]

    return function


def test_a_batch_in_another_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(f: Any, in_axes: Any = 0, of: Callable[..., Any] = uopc_array.vmap) -> Any:
        return lambda *arguments: tuple([uopc_array.flip(x, axis=0) for x in of(f, in_axes=in_axes)(*arguments)])

    monkeypatch.setattr(uopc_array, "vmap", planted)
    _found(4, "vmap", (), "in_axes", lines=2)


def test_bits_that_change_from_run_to_run_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def planted(x: Any, of: Callable[..., Any] = uopc_array.exp) -> Any:
        calls.append(1)
        return of(x) * (1 + len(calls) % 2 * 2.3e-16)

    monkeypatch.setattr(uopc_array, "exp", planted)
    result = fuzz(range(100), "values", "interpret", ("elementwise",), most=1)
    assert any("has other bits than before" in text for text in result.reports.values())


def _stored_at_once(lowered: Lowered) -> Lowered:
    """Each store moved to where its value is made, before what other outputs still read."""

    def moved(statements: list[Any]) -> list[Any]:
        out = [s for s in statements if not isinstance(s, Store)]
        for store in [s for s in statements if isinstance(s, Store)]:
            made = [i for i, s in enumerate(out) if getattr(s, "name", None) == store.value]
            out.insert(made[-1] + 1 if made else len(out), store)
        return out

    return replace(lowered, statements=moved(lowered.statements), post=moved(lowered.post))


def _read_where_written(buffers: Sequence[Any], of: Any) -> tuple[int, ...]:
    """A rule for sharing memory that forgets what is read after another output was written."""
    accesses = list(lower.accesses(of.body))
    places = {access.index for access in accesses if isinstance(access, Store)}
    read = {access.buffer: access.index for access in accesses if isinstance(access, Load)}
    return tuple([i for i, index in read.items() if of.letter == "E" and {index} == places])


@pytest.mark.skipif(find_toolchain() is None, reason="without a compiler no kernel shares memory")
def test_memory_taken_over_too_early_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that writes one output over an input which another output still needs."""
    lower_kernel = space.lower_kernel

    def planted(call: Any, of: Any) -> Callable[..., Lowered]:
        lowering = lower_kernel(call, of)
        return lambda kept, reduced: _stored_at_once(lowering(kept, reduced))

    monkeypatch.setattr(nest, "lower_kernel", planted)
    monkeypatch.setattr(lower, "inplace_buffers", _read_where_written)
    clear_plans()
    result = fuzz(range(10_000, 10_030), "jit", "compile", ("kept",), most=1)
    clear_plans()
    assert result.failures, result.programs


def test_rounding_is_no_failure() -> None:
    """One unit in the last place is allowed where a function rounds, carried through cancellation, and nowhere else."""
    program = Program((Input("a", shape=(50,)),), ("read(xp.exp(a) - 1)", "read(a + 1)"))
    judge = Judge(program, program.arguments)
    off = run(program, np, program.arguments)
    off.results[0] = off.results[0] + 2.0**-53
    assert judge.fault(off, "values") is None
    off.results[0] = off.results[0] + 1e-12
    assert judge.fault(off, "values") is not None
    right = judge.expected.results
    assert judge.fault(Outcome([right[0], np.nextafter(right[1], 9)]), "values") is not None


# What an operation that rounds may be given, and such operations.
GIVEN = (
    *[
        Input("a", number=text)
        for text in ("2", "True", "0.75", "(1+2j)", "np.float64(1.5)", "np.float32(0.75)", "np.int64(3)")
    ],
    *[Input("a", "ramp", dtype, shape) for dtype in ("float64", "float32", "int64") for shape in ((), (3,))],
    *[Input("a", "complex", dtype, shape) for dtype in ("complex128", "complex64") for shape in ((), (3,))],
)
ROUNDED = (
    *[f"xp.{name}(a + 2)" for name in ("sin", "exp", "cbrt", "log1p", "arcsinh")],
    *(
        "xp.hypot(a + 2, 2)",
        "xp.arctan2(3, a + 1)",
        "xp.logaddexp(a, a)",
        "np.exp(a)",
        "xp.exp(a).real",
        "xp.sin(a.sum())",
    ),
    *("(a + 2) ** 1.5", "1.5 ** a", "xp.power(a + 2, 1.5)", "xp.exp(1j * a)", "abs(a * 1j + 1.3)", "a / (1.5 + 2j)"),
    *("xp.exp(xp.sum(xp.argsort(a)) / 7)", "xp.sin([a, 2])", "xp.mean(xp.stack([a, a, a]))", "xp.sin(xp.sum(a))"),
    *("xp.sin(xp.sum(a).reshape((1,)))", "xp.sum(a / (1 + 3 * 3))", "xp.linalg.norm(xp.stack([a, a * 3]))"),
    *("xp.fft.fft(xp.stack([a, a * 3]))", "xp.linalg.svdvals(xp.stack([a + 1, a * 3]).reshape((2, -1)))"),
)


IN_PLACE = (
    "t = a * 1j\nt /= 1.5 + 2j",
    "t = a * 1j\nt *= 1.3 + 1j",
    "t = a + 2\nt **= 1.5",
    "t = xp.sum(a) * 1j\nt /= 7",
    "t = xp.stack([a, a]) * 1j\nt[0] /= 1.5 + 2j\nt[1] *= 1.3 + 1j",
)


@pytest.mark.parametrize("given", GIVEN, ids=lambda x: f"{x.number or x.dtype}{x.shape or ''}")
def test_rounding_reaches_every_kind_of_operand(given: Input) -> None:
    """One unit in the last place is no failure, a thousandth is: of numbers and what is made of them as of arrays."""
    judged = 0
    for text in (*[f"t = {text}" for text in ROUNDED], *IN_PLACE):
        program = Program((given,), (text, "read(t)"))
        judge = Judge(program, program.arguments)
        if judge.expected.error is not None:
            continue
        right = judge.expected.results[0]
        off = right.copy()
        off.real[...] = np.where(right.real == 0, 0, np.nextafter(right.real, np.inf, dtype=right.real.dtype))
        assert judge.fault(Outcome([off]), "values") is None, text
        far = (right * 1.001).astype(right.dtype)
        assert right.dtype == np.float16 or (far == right).all() or judge.fault(Outcome([far]), "values"), text
        judged += 1
    assert judged > len(ROUNDED) // 2


@pytest.mark.parametrize(
    "text",
    [
        "xp.einsum('ij->j', a)",
        "xp.cumsum(a)",
        "xp.sum(a, axis=0)",
        "xp.mean(a, axis=0)",
        "xp.cumulative_sum(a, axis=0)",
    ],
)
def test_sums_one_after_the_other_may_err_as_they_do(text: str) -> None:
    """Equal numbers, of which each addition errs the same way: by half a unit of the sum so far."""
    numbers = Input("a", "ones", "float32", (4097, 2))
    program = Program((numbers,), (f"a = a * np.float32(1 / 3)\nread({text})",))
    judge = Judge(program, program.arguments)
    exact = run(program, np, [program.arguments[0].astype("float64") / 3 * 3])
    exact = [x.astype("float32") for x in exact.results[:1]]
    assert (exact[0] != judge.expected.results[0]).any()
    assert judge.fault(Outcome([*exact, *judge.expected.results[1:]]), "values") is None
    assert judge.fault(Outcome([exact[0] * np.float32(1.01), *judge.expected.results[1:]]), "values") is not None


def test_what_hangs_on_rounding_is_no_failure() -> None:
    """The place of the largest of two equal values that were computed in two ways."""
    program = Program(
        (Input("a", style="ones", shape=(2,)),), ("t = xp.exp(a)", "read(xp.argmax(t))", "read(t > t[0])")
    )
    judge = Judge(program, program.arguments)
    assert judge.fault(Outcome([np.asarray(1), np.asarray([False, True])]), "values") is None


def test_equal_numbers_may_err_alike() -> None:
    """Sorted, those in the middle of them too, and so the sum with what is exact."""
    program = Program((Input("a", style="ones", shape=(1000,)),), ("read(xp.sort(xp.log(a + 2)) + a)",))
    judge = Judge(program, program.arguments)
    right = judge.expected.results[0]
    assert judge.fault(Outcome([np.nextafter(right, 9)]), "values") is None
    assert judge.fault(Outcome([right + 1e-13]), "values") is not None


def test_the_sign_of_a_nan_is_left_open() -> None:
    """Whatever operation made it; that of any other number is not."""
    forms = ("xp.fmod(a, a)", "a / a", "xp.sqrt(-1 - a)", "xp.maximum(xp.fmod(a, a), a)", "divmod(a, a)[1]")
    zeros = Input("a", "ramp", shape=(4,))
    for text in forms:
        program = Program((zeros,), (f"t = {text}", "read(xp.signbit(t[:1]))", "read(xp.copysign(1, t[:1]))"))
        judge = Judge(program, program.arguments)
        assert judge.fault(Outcome([~judge.expected.results[0], -judge.expected.results[1]]), "values") is None, text
    program = Program((zeros,), ("t = xp.fmod(a, 2)", "read(xp.signbit(t))"))
    judge = Judge(program, program.arguments)
    assert judge.fault(Outcome([~judge.expected.results[0]]), "values") is not None


def test_a_number_divided_by_what_may_be_0_is_any_large_number() -> None:
    body = ("t = xp.exp(a) - np.e", "t += 1e-17", "read(a / t)", "read(a / (t + 1))")
    program = Program((Input("a", style="ones", shape=(2,)),), body)
    judge = Judge(program, program.arguments)
    right = judge.expected.results
    assert np.isfinite(right[0]).all()
    assert judge.fault(Outcome([right[0] * np.inf, right[1]]), "values") is None
    assert judge.fault(Outcome([right[0] * np.nan, right[1]]), "values") is not None
    assert judge.fault(Outcome([right[0], right[1] * np.inf]), "values") is not None


@pytest.mark.parametrize("mode", ["values", "jit"])
def test_errors_of_rounding_end_no_program(mode: str) -> None:
    """A program that cannot be run with them would pass whatever comes out."""
    for seed in range(80):
        program = draw_program(seed, mode)
        judge = Judge(program, program.arguments)
        noisy = judge.noisy_run(seed)
        assert type(noisy.error) is type(judge.expected.error), program.source
        assert len(noisy.results) == len(judge.expected.results), program.source


def test_workers_share_the_seeds() -> None:
    result = fuzz_in_workers(range(7), "values", "interpret", (), workers=2)
    assert (result.programs, result.failures) == (7, 0)


def test_a_process_that_has_no_processor_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "HANGS", 1.0)
    monkeypatch.setattr(workers, "waited_for_a_processor", lambda _: time.monotonic())
    worker = workers._Worker([0], workers._Task("values", "interpret", (), 1, False))
    try:
        assert worker.hear() is None
        monkeypatch.setattr(workers, "waited_for_a_processor", lambda _: -9.0)
        assert worker.hear() == "hangs"
    finally:
        worker.process.kill()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not say what a process has started")
def test_the_family_of_a_process_is_what_it_has_started() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        assert len(workers.family(process.pid)) == 2
        assert all(workers.waited_for_a_processor(pid) >= 0 for pid in workers.family(process.pid))
        process.stdin.write(b"\n")
