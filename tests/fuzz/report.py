"""A failure as a program of a few lines that runs on its own."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.check_functions import BATCH, CALLS, mapped_axes
from tests.fuzz.check_state import CALLS as STATE_CALLS
from tests.fuzz.judge import Failure
from tests.fuzz.program import Input, Program

__all__ = ["report"]

RESULTS = """
def results(*arguments):
    read = []
    program(uopc_array, read.append, *arguments)
    return tuple(read)
"""


def _ours(x: Input) -> str:
    return x.text_of_given("uopc_array", x.name)


def _sources(program: Program) -> list[str]:
    return [f"{x.name} = {x.source}" for x in program.inputs]


def _given(program: Program) -> str:
    return ", ".join([_ours(x) for x in program.inputs])


def _numpys(program: Program) -> str:
    return ", ".join(["np", "print", *[x.text_of_given("np", x.name) for x in program.inputs]])


def _values(program: Program) -> tuple[list[str], list[str]]:
    call = ", ".join(["uopc_array", "print", *[_ours(x) for x in program.inputs]])
    return [*_sources(program), f"program({_numpys(program)})"], [f"program({call})"]


def _auto(program: Program) -> tuple[list[str], list[str]]:
    before, [call] = _values(program)
    return before, ["for _ in range(5):", f"    {call}"]


def _threads(program: Program) -> tuple[list[str], list[str]]:
    before, [call] = _values(program)
    return before, ["for n in (1, 2, 3):", "    with uopc_core.context(num_threads=n):", f"        {call}"]


def _jit(program: Program) -> tuple[list[str], list[str]]:
    lines = ["f = uopc_array.jit(results)"]
    for name in CALLS:
        inputs = program.inputs if name == "first" else program.other_inputs
        arguments = [x.text_of_given("uopc_array", x.source) for x in inputs]
        lines.append(f"print(f({', '.join(arguments)}))")
    return [*_sources(program), f"program({_numpys(program)})"], lines


def _state(program: Program) -> tuple[list[str], list[str]]:
    lines = ["held = ()", "f = uopc_array.jit(lambda: results(*held))"]
    for name in STATE_CALLS:
        inputs = program.inputs if name == "first" else program.other_inputs
        arguments = [x.text_of_given("uopc_array", x.source) for x in inputs]
        lines += [f"held = ({', '.join([*arguments, ''])})", "print(f(), held)"]
    return [*_sources(program), f"program({_numpys(program)})"], lines


def _vmap(program: Program) -> tuple[list[str], list[str]]:
    axes = mapped_axes(program)
    lines: list[str] = []
    for x, axis in zip(program.inputs, axes, strict=True):
        parts = ", ".join([x.other(k).source for k in range(BATCH)])
        lines.append(f"{x.name} = {x.source}" if axis is None else f"{x.name} = np.stack([{parts}], axis={axis})")
    return lines, [f"print(uopc_array.vmap(results, in_axes={axes})({_given(program)}))"]


def _grad(program: Program) -> tuple[list[str], list[str]]:
    total = "total = lambda *x: sum([uopc_array.sum(y) for y in results(*x)])"
    return [*_sources(program), total], [f"print(uopc_array.grad(total)({_given(program)}))"]


CALLERS: dict[str, Callable[[Program], tuple[list[str], list[str]]]] = {
    "values": _values,
    "auto": _auto,
    "jit": _jit,
    "state": _state,
    "vmap": _vmap,
    "grad": _grad,
    "threads": _threads,
}


def report(program: Program, failure: Failure, mode: str, tier: str, seed: int) -> str:
    """What went wrong, and the text that shows it."""
    before, inside = CALLERS[mode](program)
    lines = [
        f"# --mode {mode} --tier {tier} --seed {seed}",
        *[f"# {line}" for line in failure.message.split("\n")],
        "import numpy as np\nimport uopc_array\nimport uopc_core\n",
        program.source + (RESULTS if mode in ("jit", "state", "vmap", "grad") else ""),
        *before,
        f"with uopc_core.context(tier='{'auto' if mode == 'auto' else tier}'):",
        *[f"    {line}" for line in inside],
    ]
    return "\n".join(lines) + "\n"
