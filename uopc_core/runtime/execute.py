"""Run plans: decide who computes (compiled C or NumPy), find memory, run the steps, hand out the results.

The tier is a pure function of the graph and of how often this process has run it, never of time or of what a cache
holds.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from math import prod
from typing import Any

from uopc_core.errors import CompileError, TraceError
from uopc_core.interpret.numpy_interp import Program, lower_to_numpy
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import TRACED, UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.compiled import CompiledPlan, compile_kernels, kernels_in_use
from uopc_core.runtime.interpreted import run_interpreted
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.canonical import Canonical, canonicalise, params_of, rebuild
from uopc_core.schedule.plan import Plan, plan_for
from uopc_core.settings import current

__all__ = ["MAX_DEPTH", "Executable", "realize_all", "run_plan"]

MAX_DEPTH = 1000  # a handle whose graph is deeper realizes itself
DIRECT_WORK = 100_000  # work up to which a cold graph is evaluated node by node, without a plan
COMPILE_WORK = 4_000_000  # work, over all runs, after which a graph is compiled
BACKGROUND_WORK = 200_000_000  # elements up to which the first run need not wait for the compiler
CALL_WORK = 300  # what a NumPy call counts for besides its elements
TOO_SMALL = 2000  # work up to which NumPy is faster than any call of compiled code
MAX_RECORDS = 8192

_BUFFER = Ops.BUFFER


class _Record:
    """What this process knows of a graph: how often it ran, and its NumPy program while that is how it runs."""

    __slots__ = ("program", "runs")

    def __init__(self) -> None:
        self.runs = 0
        self.program: Program | None = None


class _Records:
    """Records by the key of the graph, the least recently run forgotten first."""

    def __init__(self) -> None:
        self.by_key: OrderedDict[Hashable, _Record] = OrderedDict()
        self.lock = threading.Lock()

    def count(self, key: Hashable) -> _Record:
        with self.lock:
            record = self.by_key.pop(key, None)
            if record is None:
                record = _Record()
                if len(self.by_key) >= MAX_RECORDS:
                    self.by_key.popitem(last=False)
            self.by_key[key] = record
            record.runs += 1
            return record


_records = _Records()


def realize_all(values: Sequence[Any]) -> list[Buffer]:
    """Compute `values`, nodes or handles that have one as `uop`, and what else live handles stand for below them.

    All of it is one plan.

    Each computed node keeps its memory in `realized`; a node that has some, or is a BUFFER, is not computed again.

    Returns:
        the memory of each node, in order.
    Raises:
        TraceError: a node depends on an input of a trace, which has no value yet.
        IndexBoundsError: a gather or scatter met an index outside its axis.
    """
    nodes: list[UOp] = [x if type(x) is UOp else x.uop for x in values]
    waiting = [node for node in nodes if node.realized is None and node.op is not _BUFFER]
    if waiting:
        if any(node.flags & TRACED for node in waiting):
            raise TraceError("a value was asked for while tracing: there are only shapes and dtypes then")
        canonical = canonicalise(waiting)
        computed = dict(zip(canonical.outputs, _run(canonical), strict=True))
        for node, buffer in computed.items():
            if not _is_constant(node):  # those outlive their users, and a kernel has them cheaper than from memory
                node.realized = buffer
        return [node.arg if node.op is _BUFFER else computed.get(node) or node.realized for node in nodes]
    return [node.arg if node.op is _BUFFER else node.realized for node in nodes]


def _is_constant(node: UOp) -> bool:
    """Whether this is one number, in any shape."""
    while node.op is Ops.EXPAND or node.op is Ops.RESHAPE:
        node = node.src[0]
    return node.op is Ops.CONST


def _run(canonical: Canonical) -> list[Buffer]:
    tier = current().tier
    if tier == "compile" and find_toolchain() is None:
        raise CompileError(
            'tier="compile": there is no C compiler; set CC to one, or use tier="auto" to compute with NumPy'
        )
    work = sum([prod(node.shape) + CALL_WORK for node in canonical.order])
    record = _records.count(canonical.key)
    if tier == "auto" and (work <= TOO_SMALL or record.runs * work < COMPILE_WORK):
        tier = "interpret"
    if tier == "interpret" and work <= DIRECT_WORK:
        return _run_directly(canonical, record)
    return run_plan(plan_for(canonical), canonical.bindings.buffers, canonical.bindings.scalars, tier)


def _run_directly(canonical: Canonical, record: _Record) -> list[Buffer]:
    """Evaluate a small graph node by node, without a plan; the program is kept for graphs with the same key."""
    if record.program is None:
        record.program = lower_to_numpy(rebuild(canonical), params_of(canonical))
    bindings = canonical.bindings
    values = record.program.run([*[buffer.array for buffer in bindings.buffers], *bindings.scalars])
    return [Buffer.from_numpy(value, copy=False) for value in values]


def run_plan(plan: Plan, buffers: Sequence[Buffer], scalars: Sequence[Any], tier: str) -> list[Buffer]:
    """Run `plan` compiled or interpreted.

    With "auto", the first run of a plan of moderate size is interpreted while its kernels are compiled in the
    background for the next; a plan all of whose kernels have been used before, with other shapes perhaps, is run as
    compiled code at once. Without a compiler everything is interpreted.
    """
    if tier == "auto" and _starts_interpreted(plan):
        results = run_interpreted(plan, buffers, scalars)
        pending = _compilers.submit(copy_context().run, _compile_if_possible, plan)
        plan.prepared["pending"] = (os.getpid(), pending)
        return results
    if tier == "interpret" or (tier == "auto" and find_toolchain() is None):
        return run_interpreted(plan, buffers, scalars)
    compiled = plan.prepared.get("compiled")
    return (_compile(plan) if compiled is None else compiled).run(buffers, scalars)


def _starts_interpreted(plan: Plan) -> bool:
    first = plan.runs == 0
    plan.runs += 1
    return first and plan.work <= BACKGROUND_WORK and not kernels_in_use(plan)


def _compile_if_possible(plan: Plan) -> None:
    if find_toolchain() is not None:
        compile_kernels(plan)


def _compile(plan: Plan) -> CompiledPlan:
    with _prepare_lock:
        compiled = plan.prepared.get("compiled")
        if compiled is None:
            process, pending = plan.prepared.pop("pending", (0, None))
            if pending is not None and process == os.getpid():  # a fork does not take the compiling thread along
                pending.result()
            compiled = plan.prepared["compiled"] = CompiledPlan(plan)
    return compiled


_prepare_lock = threading.RLock()
_compilers = ThreadPoolExecutor(1, "uopc-compile")  # compile_many starts a compiler per CPU by itself


def _renew_after_fork() -> None:
    global _compilers, _prepare_lock
    _compilers = ThreadPoolExecutor(1, "uopc-compile")
    _prepare_lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_after_fork)


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
