"""The plan: memory, steps in order, results. What a graph becomes before any code is written for it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import prod
from typing import Any

from uopc_core.dtype import DType
from uopc_core.ir.uop import UOp
from uopc_core.lazy import late_property
from uopc_core.schedule.kernel import Kernel, KernelCall

__all__ = ["HostCall", "HostInput", "Plan", "Slot", "Step"]


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
class HostCall:
    """One call of a registered host function; `outputs` are pairs of its output number and the slot it goes to."""

    name: str
    params: tuple[Hashable, ...]
    inputs: tuple[HostInput, ...]
    outputs: tuple[tuple[int, int], ...]


Step = KernelCall | HostCall


@dataclass(eq=False)
class Plan:
    """What to run to compute some graphs of one structure.

    Attributes:
        slots: all memory; the first `n_inputs` are the buffers of the bindings.
        steps: kernels and host calls in order.
        outputs: a slot and a shape each; the slot of an input where the output is that input.
        work: elements computed, all kernels and host calls together.
        runs: executions of this plan in this process.
        prepared: what the executor derived from the plan, kept with it.
    """

    slots: tuple[Slot, ...]
    n_inputs: int
    scalar_dtypes: tuple[DType, ...]
    steps: tuple[Step, ...]
    outputs: tuple[tuple[int, tuple[int, ...]], ...]
    work: int
    runs: int = 0
    prepared: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in execution order, one entry per call."""
        return tuple([step.kernel for step in self.steps if isinstance(step, KernelCall)])

    @late_property
    def needed(self) -> frozenset[int]:
        """Slots that must exist as memory, whatever kernels are fused: outputs, and what host calls touch."""
        host = [step for step in self.steps if isinstance(step, HostCall)]
        touched = {i.slot for call in host for i in call.inputs} | {slot for call in host for _, slot in call.outputs}
        return frozenset(touched | {slot for slot, _ in self.outputs})
