"""A row as a description: one function of a namespace and arrays for all libraries that read like NumPy, or others.

`row_of` makes of it a contest of NumPy, this package, JAX, Numba, numexpr and PyTorch, eager and compiled, whichever
are installed and named; `value_of` the function whose gradient `benchmarks.cheap_gradient` asks for.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import uopc_array as xp
from benchmarks.contest import OURS, Contest, Row, Times, installed, measure
from benchmarks.limits import fma_peak, gemm_rate, gemv_rate, read_rate, triad_rates
from uopc_core import current

__all__ = ["Program", "erf", "in_memory", "inputs_of", "row_of", "rows_of", "value_of"]

HARDLY_WRITES = 1 / 8  # of what is read: such a row is not compared with the triad, a third of which is written

Array = Any
Inputs = Callable[[np.random.Generator, bool], Sequence[Array]]
Runs = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Program:
    """One computation.

    Attributes:
        inputs: NumPy arrays by a generator; small ones where the second argument asks for them.
        f: computes with a namespace and its arrays. Several results are a tuple.
        numpy, ours, jax: the same, for a library in which one writes it otherwise.
        numba: loops over NumPy arrays, which Numba compiles.
        numexpr: an expression of `x0`, `x1` and so on.
        torch: computes with the module and tensors.
        without: libraries that are left out.
        eager: which of us, JAX and PyTorch are not given what compiles a function.
        moves: the row names the triad over as many bytes as its inputs and results have, or where the results are
            hardly any, what reading the inputs once takes.
        operations: products and sums by the inputs; the row names the peak in registers and OpenBLAS.
        value: of what `benchmarks.cheap_gradient` asks the gradient, where `f` is not that.
        slopes: which arguments the result, or its sum, is differentiated by.
        compared: what of a result is compared, where that is not all of it.
        to_reach: by how much we are to be ahead of which library.
    """

    name: str
    title: str
    inputs: Inputs
    f: Callable[..., Any]
    rtol: float
    numpy: Callable[..., Any] | None = None
    ours: Callable[..., Any] | None = None
    jax: Callable[..., Any] | None = None
    numba: Callable[..., Any] | None = None
    numexpr: str = ""
    torch: Callable[..., Any] | None = None
    without: Sequence[str] = ()
    eager: Sequence[str] = ()
    moves: bool = False
    operations: Callable[..., float] | None = None
    value: Callable[..., Any] | None = None
    slopes: Sequence[int] = ()
    compared: Callable[[Any], Any] | None = None
    rounds: int = 15
    to_reach: Mapping[str, float] = field(default_factory=lambda: {"best": 1.0})


@functools.cache
def _special(np_like: Any) -> Any:
    """Where each library has the functions that NumPy lacks."""
    places = {np: "scipy.special", xp: "uopc_array.special"}
    return importlib.import_module(places.get(np_like, "jax.scipy.special"))


def erf(np_like: Any, x: Array) -> Array:
    return _special(np_like).erf(x)


def in_memory(result: Any) -> Any:
    """Have our lazy arrays computed, without copying them; what `jit` returns is computed."""
    for x in result if isinstance(result, tuple) else (result,):
        x.to_numpy(copy=False)
    return result


def inputs_of(program: Program, quick: bool) -> list[Array]:
    return list(program.inputs(np.random.default_rng(0), quick))


def _run_by_us(program: Program, arrays: Sequence[Array]) -> Callable[[], Any]:
    moved = [xp.asarray(x) for x in arrays]
    f = functools.partial(program.ours or program.f, xp)
    if OURS in program.eager:
        return lambda: in_memory(f(*moved))
    compiled = xp.jit(f)
    return lambda: compiled(*moved)


def _run_by_jax(program: Program, arrays: Sequence[Array]) -> Callable[[], Any]:
    jax = installed("jax")
    moved = [jax.numpy.asarray(x) for x in arrays]
    f = functools.partial(program.jax or program.f, jax.numpy)
    if "jax" not in program.eager:
        f = jax.jit(f)
    if isinstance(f(*moved), tuple):
        return lambda: jax.block_until_ready(f(*moved))
    return lambda: f(*moved).block_until_ready()


def _run_by_numba(loops: Callable[..., Any], arrays: Sequence[Array]) -> Callable[[], Any]:
    compiled = installed("numba").njit(loops, parallel=current().num_threads > 1)
    return lambda: compiled(*arrays)


def _run_by_numexpr(expression: str, arrays: Sequence[Array]) -> Callable[[], Any]:
    numexpr, names = installed("numexpr"), {f"x{i}": x for i, x in enumerate(arrays)}
    return lambda: numexpr.evaluate(expression, names)


def _runs_by_torch(program: Program, arrays: Sequence[Array]) -> Runs:
    torch = installed("torch")
    moved = [torch.from_numpy(x) for x in arrays]
    f = functools.partial(program.torch or program.f, torch)
    runs: Runs = {"torch": lambda: f(*moved)}
    if "torch" not in program.eager:
        torch.compiler.reset()  # after 8 rows it compiles no more
        compiled = torch.compile(f)
        runs["torch compiled"] = lambda: compiled(*moved)
    return runs


def _runs(program: Program, arrays: Sequence[Array]) -> Runs:
    runs: Runs = {}
    if "numpy" not in program.without:
        by_numpy = program.numpy or program.f
        runs["numpy"] = lambda: by_numpy(np, *arrays)
    runs[OURS] = _run_by_us(program, arrays)
    if "jax" not in program.without and installed("jax") is not None:
        runs["jax"] = _run_by_jax(program, arrays)
    if program.numba is not None and installed("numba") is not None:
        runs["numba"] = _run_by_numba(program.numba, arrays)
    if program.numexpr and installed("numexpr") is not None:
        runs["numexpr"] = _run_by_numexpr(program.numexpr, arrays)
    if program.torch is not None and installed("torch") is not None:
        runs |= _runs_by_torch(program, arrays)
    return runs


def _size_bytes(arrays: Any) -> int:
    return sum(np.asarray(x).nbytes for x in (arrays if isinstance(arrays, (list, tuple)) else [arrays]))


def _limits(program: Program, arrays: Sequence[Array], result: Any) -> dict[str, float]:
    """Seconds that the machine itself takes, by the name of the limit."""
    limits: dict[str, float] = {}
    if program.moves:
        read, written = _size_bytes(arrays), _size_bytes(result)
        if written < read * HARDLY_WRITES:
            limits["reading"] = read / read_rate(read)
        else:
            moved = read + written
            limits |= {f"triad, {name} stores": moved / rate for name, rate in triad_rates(moved).items()}
    if program.operations is not None:
        dtype = str(arrays[-1].dtype)
        matrices = [x for x in arrays if x.ndim == 2]
        operations = program.operations(*arrays)
        limits["fma"] = operations / fma_peak(dtype)
        if any(x.ndim == 1 for x in arrays) and matrices:
            limits["gemv"] = matrices[0].nbytes / gemv_rate(dtype, *matrices[0].shape)
        else:
            limits["gemm"] = operations / gemm_rate(dtype)
    return limits


def _times(program: Program, limits: dict[str, float], quick: bool) -> Mapping[str, Times]:
    arrays = inputs_of(program, quick)
    runs = _runs(program, arrays)
    limits.clear()
    limits.update(_limits(program, arrays, next(iter(runs.values()))()))
    return measure(Contest(runs, program.rtol, program.rounds, program.compared))


def row_of(program: Program, subject: str) -> Row:
    """The row of a program under its subject."""
    limits: dict[str, float] = {}
    return Row(
        program.name,
        program.title,
        program.to_reach,
        lambda quick: _times(program, limits, quick),
        limits=limits,
        subject=subject,
    )


def rows_of(subject: str, programs: Sequence[Program]) -> tuple[Row, ...]:
    return tuple([row_of(program, subject) for program in programs])


def value_of(program: Program, np_like: Any) -> Callable[..., Any]:
    """The function of which `benchmarks.cheap_gradient` asks the gradient: the sum of the result, or of its first."""
    f = program.value or (program.ours if np_like is xp else program.jax) or program.f

    def total(*arrays: Array) -> Array:
        out = f(np_like, *arrays)
        return np_like.sum(out[0] if isinstance(out, tuple) else out)

    return total
