"""``python -m benchmarks.cheap_gradient [--row NAME]... [--quick]``: what value_and_grad takes, in values.

A gradient by reverse mode takes a small multiple of the value (Baur and Strassen, 1983): at most `WANTED` is asked for
here. Each row that has a gradient is made a number by a sum; both are jitted, and take turns.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import uopc_array as xp
from benchmarks import network
from benchmarks.contest import OURS, Contest, Times, installed, measure
from benchmarks.environment import describe, restart
from benchmarks.program import Program, inputs_of, value_of
from benchmarks.results import readable, write_result

__all__ = ["main", "programs", "times_of"]

GROUPS = ("fusion", "elementwise", "reductions", "movement", "products", "models")
WANTED = 3.0
VALUE, SLOPES = "value", "value_and_grad"


def _network() -> Program:
    """The row `mlp`, whose parameters are a list, as a program."""

    def inputs(_: Any, quick: bool) -> list[Any]:
        params, x, labels = network.example((64, 32, 32, 10) if quick else network.SIZES, network.BATCH)
        return [*params, x, labels]

    def loss(np_like: Any, *arrays: Any) -> Any:
        return network.loss(np_like, list(arrays[:-2]), *arrays[-2:])

    return Program("mlp", network.ROWS[0].title, inputs, loss, rtol=1e-4, slopes=tuple(range(6)))


def programs() -> list[Program]:
    """All rows that have a gradient."""
    described = [p for group in GROUPS for p in importlib.import_module(f"benchmarks.{group}").PROGRAMS]
    return [p for p in [*described, _network()] if p.slopes]


def _call(library: Any, wait: Callable[[Any], Any], f: Callable[..., Any], arrays: Sequence[Any]) -> Callable[[], Any]:
    compiled = library.jit(f)
    return lambda: wait(compiled(*arrays))


def times_of(program: Program, quick: bool) -> dict[str, dict[str, Times]]:
    """Times of the value and of value_and_grad by library, in turns."""
    arrays = inputs_of(program, quick)
    libraries: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {OURS: (xp, xp, lambda out: out)}
    if "jax" not in program.without and (jax := installed("jax")) is not None:
        libraries["jax"] = (jax, jax.numpy, jax.block_until_ready)
    times: dict[str, dict[str, Times]] = {}
    for name, (library, np_like, wait) in libraries.items():
        value = value_of(program, np_like)
        moved = [np_like.asarray(x) for x in arrays]
        both = _call(library, wait, library.value_and_grad(value, tuple(program.slopes)), moved)
        runs = {VALUE: _call(library, wait, value, moved), SLOPES: both}
        times[name] = measure(Contest(runs, program.rtol * 10, program.rounds, compared=_value))
    return times


def _value(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


def main(arguments: Sequence[str]) -> None:
    """Measure the chosen rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cheap_gradient", description=__doc__)
    parser.add_argument("--row", action="append", default=[], help="name of a row or its beginning; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether everything runs, not how fast")
    options = parser.parse_args(arguments)
    restart("benchmarks.cheap_gradient", list(arguments))
    started, records = time.time(), dict[str, Any]()
    for program in programs():
        if options.row and not any(program.name.startswith(name) for name in options.row):
            continue
        times = times_of(program, options.quick)
        best = {name: (t[VALUE].best_s, t[SLOPES].best_s) for name, t in times.items()}
        said = [f"{name} {readable(v)}, {readable(s)}, {s / v:.2f}x" for name, (v, s) in best.items()]
        value_s, both_s = best[OURS]
        print(f"{program.name:<16} {'; '.join(said)}{'' if both_s <= WANTED * value_s else '  MISSED'}", flush=True)
        records[program.name] = {name: {"value_s": v, "value_and_grad_s": s} for name, (v, s) in best.items()}
    seconds = round(time.time() - started)
    write_result("gradients", {"machine": describe(), "quick": options.quick, "seconds": seconds, "rows": records})


if __name__ == "__main__":
    main(sys.argv[1:])
