"""``python -m benchmarks.memory [--row NAME]... [--quick]``: what programs and long loops take, as tables in Markdown.

Each figure comes from a process of its own, in which inputs are in memory and a small call has loaded what is needed.
A program's figure is the highest resident memory of its call above what there was before, its result included; a loop's
are what is resident after some of its steps above what there was before the first. Both are read from Linux's /proc.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.contest import OURS, installed
from benchmarks.environment import describe, measuring_environment
from benchmarks.memory_programs import LOOPS, NUMPY, PROGRAMS
from uopc_core import current

__all__ = ["CONTESTANTS", "call_of", "inputs_of", "main", "measure_loop", "measure_program", "namespace", "settled"]

ROOT = Path(__file__).parent.parent
MIB = 1 << 20
CALLS = 3  # of a program: the first, and those that find what it left
ELEMENTS, QUICK_ELEMENTS = 20_000_000, 100_000  # of a program's inputs, 8 bytes each
LOOP_ELEMENTS, QUICK_LOOP_ELEMENTS = 131_072, 4_096  # of a loop's arrays: 1 MiB each
STEPS, QUICK_STEPS = 5_000, 50
MOMENTS = 5  # at which a loop is looked at
OURS_JIT, JAX, JAX_JIT = f"{OURS}, jit", "jax", "jax, jit"
CONTESTANTS = (NUMPY, OURS, OURS_JIT, JAX, JAX_JIT)


def namespace(contestant: str) -> tuple[Any, Any]:
    """What is like NumPy, and what has `grad`; imported late, since a contestant has its process alone."""
    if contestant == NUMPY:
        return np, None
    if contestant in (OURS, OURS_JIT):
        ours = installed(OURS)
        return ours, ours
    jax = installed("jax")
    return jax.numpy, jax


def settled(result: Any) -> Any:
    """The same with every array in memory."""
    stack: list[Any] = [result]
    while stack:
        x = stack.pop()
        if isinstance(x, (list, tuple)):
            stack += x
        elif hasattr(x, "block_until_ready"):
            x.block_until_ready()
        elif hasattr(x, "to_numpy"):
            x.to_numpy(copy=False)
    return result


def _status_bytes(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}")


def _resident_peak(call: Callable[[], Any]) -> int:
    """The most bytes that were resident during a call, above those before it."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the mark of the highest starts anew
    before = _status_bytes("VmRSS")
    kept = call()
    peak = _status_bytes("VmHWM") - before
    del kept
    return peak


def call_of(contestant: str, name: str) -> Callable[..., Any]:
    """A program as this contestant runs it."""
    program = PROGRAMS[name]
    xp, transforms = namespace(contestant)
    run: Any = program.run
    if contestant == NUMPY and program.by_numpy is not None:
        run = program.by_numpy
    elif contestant in (JAX, JAX_JIT) and program.by_jax is not None:
        run = program.by_jax

    def call(*arrays: Any) -> Any:
        return run(xp, transforms, *arrays)

    return transforms.jit(call) if contestant in (OURS_JIT, JAX_JIT) else call


def inputs_of(contestant: str, name: str, n: int) -> list[Any]:
    """The arrays of a program, in the memory of the library."""
    xp, _ = namespace(contestant)

    def moved(value: Any) -> Any:
        return [*map(moved, cast("list[Any]", value))] if isinstance(value, list) else xp.asarray(value)

    return [*map(moved, PROGRAMS[name].inputs(n))]


def measure_program(contestant: str, name: str, n: int) -> list[int]:
    """The peaks of some calls in a row in this process, in bytes."""
    call = call_of(contestant, name)
    settled(call(*inputs_of(contestant, name, 4096)))
    arrays = inputs_of(contestant, name, n)
    return [_resident_peak(lambda: settled(call(*arrays))) for _ in range(CALLS)]


def measure_loop(contestant: str, name: str, n: int, n_steps: int) -> list[int]:
    """What is resident at some moments of a loop, the first after a tenth of its steps, in bytes."""
    xp, transforms = namespace(contestant)
    loop = LOOPS[name]
    small = loop.start(xp, transforms, 4096)
    for i in range(20):
        loop.step(small, i)
    settled(loop.finish(small))
    del small
    state = loop.start(xp, transforms, n)
    gc.collect()
    before = _status_bytes("VmRSS")
    marks = [n_steps // 10, *[n_steps * k // (MOMENTS - 1) for k in range(1, MOMENTS)]]
    found: list[int] = []
    for i in range(n_steps):
        loop.step(state, i)
        if i + 1 == marks[len(found)]:
            found.append(_status_bytes("VmRSS") - before)
    settled(loop.finish(state))
    return found


def _in_a_process(*arguments: str) -> list[int] | str:
    """What a measuring process found, or the error that ended it."""
    command = [sys.executable, "-m", "benchmarks.memory", "--child", *arguments]
    environment = {**measuring_environment(), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"ended with {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1])


def _takes_part(contestant: str, name: str) -> bool:
    if contestant in (JAX, JAX_JIT) and installed("jax") is None:
        return False
    return PROGRAMS[name].is_pure or contestant not in (OURS_JIT, JAX_JIT)


def _mib(n_bytes: int) -> str:
    return f"{max(0, round(n_bytes / MIB)):,}"


def peak_table(names: Sequence[str], n: int) -> tuple[str, list[str]]:
    """The table of programs, and what is wrong: errors, and more than NumPy's peak and the bound on pending work."""
    shown = [one for one in CONTESTANTS if _takes_part(one, next(iter(PROGRAMS)))]
    lines = [f"| program | {' | '.join(shown)} |", f"|---|{'--:|' * len(shown)}"]
    wrong: list[str] = []
    bound = current().pending_bytes
    for name in names:
        row: list[str] = []
        most = {NUMPY: 0}
        for contestant in shown:
            found = _in_a_process("program", contestant, name, str(n)) if _takes_part(contestant, name) else []
            if isinstance(found, str):
                wrong.append(f"{name}, {contestant}: {found}")
                found = []
            most[contestant] = max(found, default=0)
            row.append(_mib(most[contestant]) if found else "-")
        wrong += [
            f"{name}, {one}: {_mib(most[one])} MiB, more than NumPy's {_mib(most[NUMPY])} and {_mib(bound)}"
            for one in (OURS, OURS_JIT)
            if most[one] > most[NUMPY] + bound
        ]
        lines.append(f"| {name} | {' | '.join(row)} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines), wrong


def steps_table(names: Sequence[str], n: int, n_steps: int) -> tuple[str, list[str]]:
    """The table of loops, and what is wrong: errors, memory that grows from half of the steps to all, or passes the
    bound.
    """
    marks = [n_steps // 10, *[n_steps * k // (MOMENTS - 1) for k in range(1, MOMENTS)]]
    lines = [f"| loop | library | {' | '.join(f'{mark:,}' for mark in marks)} |", f"|---|---|{'--:|' * len(marks)}"]
    wrong: list[str] = []
    bound = current().pending_bytes
    for name in names:
        found: dict[str, list[int]] = {}
        for contestant in (NUMPY, OURS):
            values = _in_a_process("loop", contestant, name, str(n), str(n_steps))
            if isinstance(values, str):
                wrong.append(f"{name}, {contestant}: {values}")
                continue
            found[contestant] = values
            lines.append(f"| {name} | {contestant} | {' | '.join(map(_mib, values))} |")
            print(lines[-1], file=sys.stderr, flush=True)
        if len(found) == 2:
            ours, theirs = found[OURS], found[NUMPY]
            grown = ours[-1] - ours[MOMENTS // 2] - max(0, theirs[-1] - theirs[MOMENTS // 2])
            if grown > 4 * MIB:
                wrong.append(f"{name}: {_mib(grown)} MiB more after {n_steps} steps than after half of them")
            if max(ours) > max(theirs) + bound:
                wrong.append(f"{name}: {_mib(max(ours))} MiB, more than NumPy's and {_mib(bound)}")
    return "\n".join(lines), wrong


def _chosen(names: Sequence[str], asked: Sequence[str]) -> list[str]:
    return [name for name in names if not asked or any(name.startswith(beginning) for beginning in asked)]


def _measure(kind: str, contestant: str, name: str, *sizes: str) -> None:
    measure = measure_program if kind == "program" else measure_loop
    print(json.dumps(measure(contestant, name, *map(int, sizes))))


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables, and say what takes more than it may; the number of these."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("--row", action="append", default=[], help="a program or loop, or its beginning; repeatable")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether everything runs")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        _measure(*options.child)
        return 0
    if not os.access("/proc/self/clear_refs", os.W_OK):
        raise SystemExit("benchmarks.memory reads what is resident from Linux's /proc, and there is none here")
    quick: bool = options.quick
    programs, loops = _chosen(list(PROGRAMS), options.row), _chosen(list(LOOPS), options.row)
    if not programs and not loops:
        raise SystemExit(f"no row of that name; there are {', '.join([*PROGRAMS, *LOOPS])}")
    tables: list[str] = []
    wrong: list[str] = []
    if programs:
        table, found = peak_table(programs, QUICK_ELEMENTS if quick else ELEMENTS)
        tables.append(table)
        wrong += found
    if loops:
        n, n_steps = (QUICK_LOOP_ELEMENTS, QUICK_STEPS) if quick else (LOOP_ELEMENTS, STEPS)
        table, found = steps_table(loops, n, n_steps)
        tables.append(table)
        wrong += found
    print("  ".join(f"{name} {value}" for name, value in describe().items()))
    print("\n" + "\n\n".join(tables))
    print("\n".join(["", *[f"TOO MUCH: {text}" for text in wrong]]) if wrong else "\nnothing takes more than it may")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
