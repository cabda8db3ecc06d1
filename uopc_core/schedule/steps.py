"""The plan: memory, steps in order, results. What a graph becomes before any code is written for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from math import prod
from typing import Any, Generic, TypeVar

from uopc_core.dtype import DType
from uopc_core.ir.uop import UOp
from uopc_core.lazy import late_property
from uopc_core.schedule.kernel import Kernel, KernelCall

__all__ = ["ExternCall", "HostInput", "PerPlan", "Plan", "PlanStep", "Slot"]

T = TypeVar("T")


@dataclass(frozen=True)
class Slot:
    """A piece of memory in a plan: an input, a temporary or an output."""

    shape: tuple[int, ...]
    dtype: DType

    @property
    def size_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class HostInput:
    """An operand of a host call: `view` is a graph of movement ops over PARAM 0, which is `slot`."""

    slot: int
    view: UOp


@dataclass(frozen=True)
class ExternCall:
    """One call of a registered host function; `outputs` are pairs of its output number and the slot it goes to."""

    name: str
    params: tuple[Hashable, ...]
    inputs: tuple[HostInput, ...]
    outputs: tuple[tuple[int, int], ...]


PlanStep = KernelCall | ExternCall


@dataclass(eq=False)
class Plan:
    """What to run to compute some graphs of one structure.

    Attributes:
        slots: all memory; the first `n_inputs` are the buffers of the bindings.
        steps: kernels and host calls in order.
        outputs: a slot and a shape each; the slot of an input where the output is that input.
        work: elements computed, all kernels and host calls together.
        kept: what `PerPlan` slots hold.
    """

    slots: tuple[Slot, ...]
    n_inputs: int
    scalar_dtypes: tuple[DType, ...]
    steps: tuple[PlanStep, ...]
    outputs: tuple[tuple[int, tuple[int, ...]], ...]
    work: int
    kept: dict[PerPlan[Any], Any] = field(default_factory=dict["PerPlan[Any]", Any])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in execution order, one entry per call."""
        return tuple([step.kernel for step in self.steps if isinstance(step, KernelCall)])

    @late_property
    def needed(self) -> frozenset[int]:
        """Slots that must exist as memory, whatever kernels are fused: outputs, and what host calls touch."""
        host = [step for step in self.steps if isinstance(step, ExternCall)]
        touched = {i.slot for call in host for i in call.inputs} | {slot for call in host for _, slot in call.outputs}
        return frozenset(touched | {slot for slot, _ in self.outputs})


class PerPlan(Generic[T]):
    """A slot in every plan for what `make` makes of it: made at the first call, kept with the plan.

    Two threads may both make it; one of the two is kept.
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[Plan], T]) -> None:
        self._make = make

    def __call__(self, plan: Plan) -> T:
        kept = self.made(plan)
        return plan.kept.setdefault(self, self._make(plan)) if kept is None else kept

    def made(self, plan: Plan) -> T | None:
        """What is kept with `plan`; None if nothing has been made yet."""
        return plan.kept.get(self)
