"""Plans run with every piece of their memory between pages that nobody may touch.

One element too far kills the process. ``pytest --guard-pages`` has every plan that is compiled run like that, once,
before it runs as always.
"""

from weakref import WeakKeyDictionary

import numpy as np

from tests.support.kernel_runs import execute
from uopc_core.codegen.c_source import CSource
from uopc_core.ir.extern import EXTERNS
from uopc_core.runtime.compiled import CompiledPlan
from uopc_core.runtime.interpreted import HostInputs
from uopc_core.runtime.rendered import render_plan

_kernels_run = WeakKeyDictionary()  # between pages, by plan

__all__ = ["guard_every_plan", "run_between_pages"]


def run_between_pages(plan, buffers, scalars):
    """The number of kernels of `plan` that ran between guard pages; an index out of bounds ends the run."""
    memory = {slot: buffer.array for slot, buffer in enumerate(buffers)}
    n_kernels = 0
    for step in render_plan(plan):
        if not isinstance(step, CSource):
            _run_host(step, plan, memory)
            continue
        for slot in step.outputs:
            memory[slot] = np.zeros(plan.slots[slot].shape, plan.slots[slot].dtype)
        n_kernels += 1
        if execute(step, memory, scalars) is not None:
            break
    return n_kernels


def _run_host(call, plan, memory):
    values = EXTERNS[call.name].evaluate(call.params, *HostInputs(call).of(memory))
    for number, slot in call.outputs:
        memory[slot] = np.array(values[number], plan.slots[slot].dtype, order="C")


def guard_every_plan(monkeypatch):
    """Until `monkeypatch` is undone, run each plan between guard pages before its first run as compiled code."""
    as_always = CompiledPlan.run

    def run(self, buffers, scalars):
        if not _kernels_run.get(self):
            _kernels_run[self] = run_between_pages(self.plan, buffers, scalars)
        return as_always(self, buffers, scalars)

    monkeypatch.setattr(CompiledPlan, "run", run)
