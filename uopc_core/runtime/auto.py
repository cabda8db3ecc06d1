"""Run a plan interpreted or compiled, whichever gives the value sooner: the executor of tier "auto".

No value depends on who computes. So the choice depends on the plan, on how often this process has run it and on what
has been compiled on this machine, never on time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from uopc_core.costs import BACKGROUND_WORK, LATER_BY, SOON_WRITTEN, START_LINES
from uopc_core.errors import CompileError
from uopc_core.ir.op import LEAVES, MOVEMENT
from uopc_core.ir.uop import walk
from uopc_core.runtime.background import in_background, warn_once
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.compiled import CompiledPlan, compile_kernels, kernels_in_use, uncompiled_sources
from uopc_core.runtime.executors import COMPILE, INTERPRET, DirectCall, PreparedPlan
from uopc_core.runtime.interpreted import loops_of_plan
from uopc_core.runtime.loops import uncompiled
from uopc_core.runtime.runner import prepare_runtime
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.steps import Plan
from uopc_core.settings import current

__all__ = ["AutoPlan"]

_WITHOUT_LINES = LEAVES | MOVEMENT


class AutoPlan:
    """A plan whose first run is interpreted, where it is of moderate size, while its kernels are compiled in the
    background for the next.

    A plan all of whose kernels have been used or compiled before, with other shapes perhaps, is run as compiled code at
    once, and so is one whose kernels are compiled sooner than the loops of the interpreter. Without a compiler all is
    interpreted, and so is a plan that the compiler failed at.
    """

    __slots__ = ("_compiled", "_is_new", "_is_refused", "_plan")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._compiled: PreparedPlan | None = None
        self._is_new = True
        self._is_refused = False

    def run(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        """The outputs for these inputs.

        Raises:
            CompileError: the compiler failed while forms are verified.
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        compiled = self._compiled
        if compiled is not None:
            return compiled.run(buffers, scalars)
        is_new, self._is_new = self._is_new, False
        if is_new and _starts_interpreted(self._plan):
            results = INTERPRET.prepared(self._plan).run(buffers, scalars)
            in_background(partial(_compile_if_possible, self._plan))
            return results
        return self._settled().run(buffers, scalars)

    def direct(self) -> DirectCall | bool:
        """See `CompiledPlan.direct`."""
        return self._compiled.direct() if isinstance(self._compiled, CompiledPlan) else not self._is_refused

    def _settled(self) -> PreparedPlan:
        """The plan compiled, as long as nothing has failed; else interpreted."""
        self._compiled = COMPILE.prepared.made(self._plan)
        if self._compiled is None and not self._is_refused and _may_compile():
            try:
                self._compiled = COMPILE.prepared(self._plan)
            except CompileError as error:
                if current().verify:
                    raise
                self._is_refused = True
                warn_once(error)
        return self._compiled or INTERPRET.prepared(self._plan)


def _starts_interpreted(plan: Plan) -> bool:
    return plan.work <= BACKGROUND_WORK and not kernels_in_use(plan) and not _is_compiled_sooner(plan)


def _is_compiled_sooner(plan: Plan) -> bool:
    """Whether all of the C has been compiled on this machine, or the interpreter waits for a compiler about as long as
    compiled code would, which is needed anyway.
    """
    if not _may_compile():
        return False
    if _has_at_most(plan, SOON_WRITTEN) and not uncompiled_sources(plan):
        return True
    loops = uncompiled(loops_of_plan(plan))
    most = LATER_BY * _compiler_work(loops)
    return bool(loops) and _has_at_most(plan, most) and _compiler_work(uncompiled_sources(plan)) <= most


def _has_at_most(plan: Plan, lines: float) -> bool:
    """Whether the C of `plan` may have so few lines, to tell without writing it: an operation takes one or more.

    Of the kernels that others use too, or that are one with others in the end, nothing is known yet.
    """
    kernels = {kernel for inner in plan.plans for kernel in inner.kernels}
    return sum([sum(node.op not in _WITHOUT_LINES for node in walk(kernel.outputs)) for kernel in kernels]) <= lines


def _compiler_work(sources: Sequence[str]) -> int:
    """In lines of C, more or less what it takes."""
    return sum([START_LINES + source.count("\n") for source in sources])


def _may_compile() -> bool:
    """Whether there is a compiler to wait for; the end of a process waits for none."""
    return not sys.is_finalizing() and find_toolchain() is not None


def _compile_if_possible(plan: Plan) -> None:
    if find_toolchain() is not None:
        compile_kernels(plan)
        prepare_runtime()
