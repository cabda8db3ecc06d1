"""The kernel: a graph over numbered inputs that is computed in one pass, and its call in a plan."""

from __future__ import annotations

from collections.abc import Container, Sequence

from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.lazy import late_property
from uopc_core.records import record

__all__ = ["Alike", "Kernel", "KernelCall", "alike"]


@record
class Kernel:
    """What one kernel computes.

    Attributes:
        outputs: graphs whose leaves are PARAM (numbered within the kernel), CONST, IOTA and RANDOM, all over one
            iteration space: elementwise over one shape, or reductions of one space with what follows elementwise on
                their own result, or a single SCAN or SCATTER.
        n_params: inputs, buffers and scalars counted together; PARAM number i is the i-th input of a call.
    """

    outputs: tuple[UOp, ...]
    n_params: int

    @late_property
    def order(self) -> tuple[UOp, ...]:
        """All nodes, sources first."""
        return tuple(walk(self.outputs))

    @late_property
    def params(self) -> tuple[UOp, ...]:
        """The PARAMs, in the order in which they are met."""
        return tuple([node for node in self.order if node.op is Ops.PARAM])

    @late_property
    def kinds(self) -> tuple[str, ...]:
        """ "buffer" or "scalar", per PARAM."""
        kinds = {node.arg[0]: node.arg[2] for node in self.params}
        return tuple([kinds[i] for i in range(self.n_params)])


@record
class KernelCall:
    """A kernel with the plan's slots for its inputs and outputs.

    Attributes:
        inputs: one per PARAM; the slot of a buffer, or the number of a run-time scalar where the PARAM is a scalar.
        outputs: one slot per output of the kernel.
    """

    kernel: Kernel
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @late_property
    def reads(self) -> tuple[int, ...]:
        """The slots among the inputs: the numbers of scalars are no slots."""
        return tuple([slot for slot, kind in zip(self.inputs, self.kernel.kinds, strict=True) if kind == "buffer"])

    @property
    def writes(self) -> tuple[int, ...]:
        return self.outputs


@record
class Alike:
    """What calls have in common with all that differ from them in the numbers of slots and scalars alone.

    Attributes:
        calls: with slots and scalars numbered in the order in which they are met.
        needed: those of these slots that somebody reads besides the calls.
    """

    calls: tuple[KernelCall, ...]
    needed: frozenset[int]


def alike(calls: Sequence[KernelCall], needed: Container[int]) -> tuple[Alike, list[int], list[int]]:
    """The form of `calls`, with their slots and their scalars in the order of its numbers.

    Args:
        needed: slots that somebody reads besides these calls.
    """
    slots: dict[int, int] = {}
    scalars: dict[int, int] = {}
    renumbered = tuple([_renumbered(call, slots, scalars) for call in calls])
    kept = frozenset([number for slot, number in slots.items() if slot in needed])
    return Alike(renumbered, kept), list(slots), list(scalars)


def _renumbered(call: KernelCall, slots: dict[int, int], scalars: dict[int, int]) -> KernelCall:
    outputs = tuple([slots.setdefault(slot, len(slots)) for slot in call.outputs])
    inputs: list[int] = []
    for number, kind in zip(call.inputs, call.kernel.kinds, strict=True):
        numbers = scalars if kind == "scalar" else slots
        inputs.append(numbers.setdefault(number, len(numbers)))
    return KernelCall(call.kernel, tuple(inputs), outputs)
