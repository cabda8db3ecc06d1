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
    call: RegionCall, prepared: PreparedPlan, memory: Sequence[Buffer | Array], scalars: Sequence[Any]
) -> list[Buffer]:
    """Memory of its own for each of ``call.outputs``.

    Args:
        prepared: the plan of the region, by the executor that runs the plan around.
        memory: of ``call.inputs``, as many elements as the plan wants, in order.
        scalars: of the plan around.
    Raises:
        IndexBoundsError: a gather or scatter met an index outside its axis.
    """
    buffers = [
        x if type(x) is Buffer and x.shape == shape else _shaped(x, shape)
        for x, shape in zip(memory, call.input_shapes, strict=True)
    ]
    results = prepared.run(buffers, call.scalars_of(scalars) if call.scalars else ())
    shared = call.shared
    return [Buffer.from_numpy(results[i].array) if i in shared else results[i] for i, _ in call.outputs]


def _shaped(x: Buffer | Array, shape: tuple[int, ...]) -> Buffer:
    return Buffer.from_numpy((x.array if isinstance(x, Buffer) else x).reshape(shape), copy=False)
