"""The plan of a traced function, run with new arguments at each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uopc_core.collector import without_collection
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.executors import EXECUTORS, DirectCall, Executor, PreparedPlan
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.plan import plan_for
from uopc_core.schedule.steps import Plan
from uopc_core.settings import current

__all__ = ["Executable"]


class Executable:
    """A traced graph: planned once, prepared once by each executor that runs it, run with new arguments each time.

    Args:
        outputs: nodes over PARAMs.
        numbers: of the arguments, by the index of the PARAM; without, the index is the number.
    """

    __slots__ = ("_as_given", "_buffers", "_fixed", "_places", "_plan", "_prepared", "_scalars")

    def __init__(self, outputs: Sequence[UOp], numbers: Mapping[int, int] | None = None) -> None:
        # a scalar input that is itself an output becomes memory like the others
        roots = [x.materialize() if x.op is Ops.PARAM and x.arg[2] == "scalar" else x for x in outputs]
        with without_collection():
            canonical = canonicalise(roots, keep_held=False)
            self._plan = plan_for(canonical)
        places = [canonical.outputs.index(root) for root in roots]
        self._places = places if places != list(range(len(canonical.outputs))) else None
        self._prepared: dict[Executor, PreparedPlan] = {}
        self._buffers = tuple(canonical.bindings.buffers)
        self._scalars = tuple(canonical.bindings.scalars)
        if numbers is not None:
            self._buffers = tuple([numbers[b] if type(b) is int else b for b in self._buffers])
            self._scalars = tuple([_numbered(s, numbers) for s in self._scalars])
        self._fixed = not any(type(s) is UOp for s in self._scalars)
        in_order = self._fixed and self._buffers == tuple(range(len(self._buffers)))
        self._as_given = len(self._buffers) if in_order else -1  # arguments that are the buffers, the usual case

    @property
    def plan(self) -> Plan:
        return self._plan

    def run(self, arguments: Sequence[Any]) -> list[Buffer]:
        """The outputs for these arguments: a Buffer for a buffer PARAM, a Python number for a scalar one."""
        buffers = arguments
        if len(arguments) != self._as_given:
            buffers = [arguments[b] if type(b) is int else b for b in self._buffers]
        scalars = self._scalars
        if not self._fixed:
            scalars = [arguments[s.arg[0]] if type(s) is UOp else s for s in scalars]
        executor = EXECUTORS[current().tier]
        prepared = self._prepared.get(executor)
        if prepared is None:
            prepared = self._prepared[executor] = executor.prepared(self._plan)
        results = prepared.run(buffers, scalars)
        return results if self._places is None else [results[i] for i in self._places]

    def direct(self) -> DirectCall | bool:
        """What a run does under the settings in force, for who calls without this; False where that cannot be told,
        True where it can later.
        """
        prepared = self._prepared.get(EXECUTORS[current().tier])
        if prepared is None:
            return True
        direct = getattr(prepared, "direct", None)  # which executors need not have
        return direct() if direct is not None and self._places is None else False

    @property
    def inputs(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The buffers and the scalars of a run: numbers of arguments and Buffers, PARAMs and numbers."""
        return self._buffers, self._scalars


def _numbered(scalar: Any, numbers: Mapping[int, int]) -> Any:
    """A number as it is, a scalar PARAM as that of its argument."""
    return UOp.param(numbers[scalar.arg[0]], (), scalar.dtype, "scalar") if type(scalar) is UOp else scalar
