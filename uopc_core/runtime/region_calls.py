"""Run the plan of a region as a step of the plan around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.executors import PreparedPlan
from uopc_core.schedule.steps import RegionCall

__all__ = ["run_region"]

Array = np.ndarray[Any, Any]


def run_region(
    call: RegionCall, prepared: PreparedPlan, arrays: Sequence[Array], scalars: Sequence[Any]
) -> list[Buffer]:
    """Memory of its own for each of ``call.outputs``.

    Args:
        prepared: the plan of the region, by the executor that runs the plan around.
        arrays: of ``call.inputs``, as many elements as the plan wants, in order.
        scalars: of the plan around.
    Raises:
        IndexBoundsError: a gather or scatter met an index outside its axis.
    """
    shapes = [slot.shape for slot in call.plan.slots[: call.plan.n_inputs]]
    buffers = [Buffer.from_numpy(x.reshape(shape), copy=False) for x, shape in zip(arrays, shapes, strict=True)]
    results = prepared.run(buffers, call.scalars_of(scalars))
    return [Buffer.from_numpy(results[i].array) if i in call.shared else results[i] for i, _ in call.outputs]
