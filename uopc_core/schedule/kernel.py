"""The kernel: a graph over numbered inputs that is computed in one pass, and its call in a plan."""

from __future__ import annotations

from dataclasses import dataclass

from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.lazy import late_property

__all__ = ["Kernel", "KernelCall"]


@dataclass(frozen=True)
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
    def kinds(self) -> tuple[str, ...]:
        """ "buffer" or "scalar", per PARAM."""
        kinds = {node.arg[0]: node.arg[2] for node in walk(self.outputs) if node.op is Ops.PARAM}
        return tuple([kinds[i] for i in range(self.n_params)])


@dataclass(frozen=True)
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
