"""The plan: memory, steps in order, results. What a graph becomes before any code is written for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Generic, TypeVar

from uopc_core.dtype import DType
from uopc_core.ir.uop import Scalar, UOp
from uopc_core.lazy import late_property
from uopc_core.records import record
from uopc_core.schedule.kernel import Kernel, KernelCall

__all__ = ["ExternCall", "HostInput", "PerPlan", "Plan", "PlanStep", "RegionCall", "ScalarInput", "Slot"]

T = TypeVar("T")


@record
class Slot:
    """A piece of memory in a plan: an input, a temporary or an output."""

    shape: tuple[int, ...]
    dtype: DType

    @property
    def size_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


@record
class HostInput:
    """An operand of a host call: `view` is a graph of movement ops over PARAM 0, which is `slot`."""

    slot: int
    view: UOp


@record
class ExternCall:
    """One call of a registered host function; `outputs` are pairs of its output number and the slot it goes to."""

    name: str
    params: tuple[Hashable, ...]
    inputs: tuple[HostInput, ...]
    outputs: tuple[tuple[int, int], ...]

    @property
    def reads(self) -> tuple[int, ...]:
        return tuple([operand.slot for operand in self.inputs])

    @property
    def writes(self) -> tuple[int, ...]:
        return tuple([slot for _, slot in self.outputs])


@record
class ScalarInput:
    """The run-time scalar of this number, of the plan that a region is called in."""

    number: int


@record
class RegionCall:
    """One run of the plan of a region, with temporaries that exist in the meantime only.

    Attributes:
        inputs: a slot for each input of `plan`.
        scalars: its scalars: known numbers, or scalars of the plan around.
        outputs: pairs of a number among the outputs of `plan`, and the slot it goes to.
    """

    plan: Plan
    inputs: tuple[int, ...]
    scalars: tuple[Scalar | ScalarInput, ...]
    outputs: tuple[tuple[int, int], ...]

    @property
    def reads(self) -> tuple[int, ...]:
        return self.inputs

    @property
    def writes(self) -> tuple[int, ...]:
        return tuple([slot for _, slot in self.outputs])

    def scalars_of(self, scalars: Sequence[Any]) -> list[Any]:
        """The scalars of `plan`, for those of the plan around."""
        return [scalars[x.number] if isinstance(x, ScalarInput) else x for x in self.scalars]

    @late_property
    def input_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the inputs of `plan`."""
        return tuple([slot.shape for slot in self.plan.slots[: self.plan.n_inputs]])

    @late_property
    def shared(self) -> frozenset[int]:
        """The outputs of `plan` whose memory is an input's or another output's."""
        taken = set(range(self.plan.n_inputs))
        found: list[int] = []
        for number, (slot, _) in enumerate(self.plan.outputs):
            if slot in taken:
                found.append(number)
            taken.add(slot)
        return frozenset(found)


PlanStep = KernelCall | ExternCall | RegionCall


@dataclass(eq=False)
class Plan:
    """What to run to compute some graphs of one structure.

    Attributes:
        slots: all memory; the first `n_inputs` are the buffers of the bindings.
        steps: kernels, host calls and calls of regions in order.
        outputs: a slot and a shape each; the slot of an input where the output is that input.
        work: elements computed, all steps together.
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
        """The kernels in execution order, one entry per call; those of regions are in the plans of these."""
        return tuple([step.kernel for step in self.steps if isinstance(step, KernelCall)])

    @late_property
    def plans(self) -> tuple[Plan, ...]:
        """This plan and those of the regions that it calls, and that these call, each once."""
        found: dict[Plan, None] = {self: None}
        waiting: list[Plan] = [self]
        while waiting:
            called = [step.plan for step in waiting.pop().steps if isinstance(step, RegionCall)]
            waiting += [plan for plan in dict.fromkeys(called) if plan not in found]
            found |= dict.fromkeys(called)
        return tuple(found)

    @late_property
    def temporary_bytes(self) -> int:
        """How much memory the temporaries take that exist at the same time, at most, those of regions included. Kernels
        that run as one function may do with less.
        """
        apart = {*range(self.n_inputs), *[slot for slot, _ in self.outputs]}
        last = {slot: i for i, step in enumerate(self.steps) for slot in (*step.reads, *step.writes)}
        alive = most = 0
        for i, step in enumerate(self.steps):
            alive += sum([self.slots[slot].size_bytes for slot in step.writes if slot not in apart])
            inside = step.plan.temporary_bytes if isinstance(step, RegionCall) else 0
            most = max(most, alive + inside)
            gone = {slot for slot in (*step.reads, *step.writes) if slot not in apart and last[slot] == i}
            alive -= sum([self.slots[slot].size_bytes for slot in gone])
        return most

    @late_property
    def needed(self) -> frozenset[int]:
        """Slots that must exist as memory, whatever kernels are fused: outputs, and what other steps touch."""
        others = [step for step in self.steps if not isinstance(step, KernelCall)]
        touched = {slot for step in others for slot in (*step.reads, *step.writes)}
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
