"""Run plans: decide who computes (compiled C or NumPy), have kernels compiled, keep the plan of a traced function.

No value depends on who does. So the tier depends on the plan and on how often this process has run it, never on time;
and on what has been compiled on this machine only where a first value would have to wait for a compiler in any case.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from uopc_core.errors import CompileError
from uopc_core.forks import in_forked_child
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.background import in_background, warn_once
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.compiled import CompiledPlan, compile_kernels, kernels_in_use, uncompiled_sources
from uopc_core.runtime.interpreted import loops_of_plan, run_interpreted
from uopc_core.runtime.loops import uncompiled
from uopc_core.runtime.runner import prepare_runtime
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.canonical import Canonical, canonicalise
from uopc_core.schedule.plan import plan_for
from uopc_core.schedule.steps import Plan
from uopc_core.settings import current

__all__ = ["Executable", "prepare_compiler", "require_compiler", "run_canonical", "run_plan"]

BACKGROUND_WORK = 200_000_000  # elements up to which the first run need not wait for the compiler
_START_LINES = 40  # lines of C that a compiler works through in the time that it takes to start
_SOONER = 1.5  # by so much compiled code may be later than what is interpreted, and compiled all the same


def require_compiler() -> None:
    """
    Raises:
        CompileError: tier="compile" was asked for, and there is no compiler.
    """
    if find_toolchain() is None:
        raise CompileError(
            'tier="compile": there is no C compiler; set CC to one, or use tier="auto" to compute with NumPy'
        )


def run_canonical(canonical: Canonical, tier: str) -> list[Buffer]:
    """The outputs of a canonical graph, computed by the plan that serves it."""
    return run_plan(plan_for(canonical), canonical.bindings.buffers, canonical.bindings.scalars, tier)


def run_plan(plan: Plan, buffers: Sequence[Buffer], scalars: Sequence[Any], tier: str) -> list[Buffer]:
    """Run `plan` compiled or interpreted.

    With "auto", the first run of a plan of moderate size is interpreted while its kernels are compiled in the
    background for the next; a plan all of whose kernels have been used before, with other shapes perhaps, is run as
    compiled code at once, and so is one whose kernels are compiled sooner than the loops of the interpreter. Without a
    compiler everything is interpreted, and so is a plan that the compiler failed at.

    Raises:
        CompileError: the compiler failed, with "compile" or while forms are verified.
    """
    if tier == "auto" and _starts_interpreted(plan):
        results = run_interpreted(plan, buffers, scalars)
        in_background(lambda: _compile_if_possible(plan))
        return results
    compiled = plan.prepared.get("compiled")
    if tier == "interpret" or (tier == "auto" and compiled is None and _stays_interpreted(plan)):
        return run_interpreted(plan, buffers, scalars)
    if compiled is None:
        try:
            compiled = plan.prepared.setdefault("compiled", CompiledPlan(plan))
        except CompileError as error:
            if tier == "compile" or current().verify:
                raise
            plan.prepared["refused"] = True
            warn_once(error)
            return run_interpreted(plan, buffers, scalars)
    return compiled.run(buffers, scalars)


def _starts_interpreted(plan: Plan) -> bool:
    first = plan.runs == 0
    plan.runs += 1
    return first and plan.work <= BACKGROUND_WORK and not kernels_in_use(plan) and not _is_compiled_sooner(plan)


def _is_compiled_sooner(plan: Plan) -> bool:
    """Whether the interpreter waits for a compiler about as long as compiled code would, which is needed anyway."""
    loops = uncompiled(loops_of_plan(plan))
    return bool(loops) and _compiler_work(uncompiled_sources(plan)) <= _SOONER * _compiler_work(loops)


def _compiler_work(sources: Sequence[str]) -> int:
    """In lines of C, more or less what it takes."""
    return sum([_START_LINES + source.count("\n") for source in sources])


def _stays_interpreted(plan: Plan) -> bool:
    """Whether there is no compiled code to wait for: no compiler, it has failed, or the process is about to end."""
    return "refused" in plan.prepared or sys.is_finalizing() or find_toolchain() is None


def _compile_if_possible(plan: Plan) -> None:
    if find_toolchain() is not None:
        compile_kernels(plan)
        prepare_runtime()


def prepare_compiler() -> None:
    """Have the compiler looked for, and what runs its kernels compiled, while something else is done.

    Where both are known already, which they are for the whole machine after the first time, nothing happens.
    """
    if current().tier != "interpret" and not _is_prepared:
        _is_prepared.append(True)
        in_background(_find_and_prepare)


def _find_and_prepare() -> None:
    if find_toolchain() is not None:
        prepare_runtime()


_is_prepared: list[bool] = []
in_forked_child(_is_prepared.clear)


class Executable:
    """A traced graph, planned once, compiled where there is a compiler, and run with new arguments each time.

    Args:
        outputs: nodes over PARAMs; the index of a PARAM is the number of its argument.
    """

    __slots__ = ("_buffers", "_places", "_plan", "_scalars")

    def __init__(self, outputs: Sequence[UOp]) -> None:
        # a scalar input that is itself an output becomes memory like the others
        roots = [x.stage("materialize") if x.op is Ops.PARAM and x.arg[2] == "scalar" else x for x in outputs]
        canonical = canonicalise(roots, keep_held=False)
        places = [canonical.outputs.index(root) for root in roots]
        self._places = places if places != list(range(len(canonical.outputs))) else None
        self._plan = plan_for(canonical)
        self._buffers = tuple(canonical.bindings.buffers)
        self._scalars = tuple(canonical.bindings.scalars)

    @property
    def plan(self) -> Plan:
        return self._plan

    def run(self, arguments: Sequence[Any]) -> list[Buffer]:
        """The outputs for these arguments: a Buffer for a buffer PARAM, a Python number for a scalar one."""
        buffers = [arguments[b] if type(b) is int else b for b in self._buffers]
        scalars = [arguments[s.arg[0]] if type(s) is UOp else s for s in self._scalars]
        compiled = self._plan.prepared.get("compiled")
        tier = current().tier
        if compiled is not None and tier != "interpret":
            results = compiled.run(buffers, scalars)
        else:
            results = run_plan(self._plan, buffers, scalars, tier)
        return results if self._places is None else [results[i] for i in self._places]
