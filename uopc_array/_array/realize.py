"""From nodes to memory: the one place where the array layer asks for values."""

from __future__ import annotations

from typing import Any

import numpy as np

from uopc_array._array.origins import compute
from uopc_array._array.tracing import trace_error
from uopc_core import TRACED, Buffer, Ops, UOp, composite, walk

__all__ = [
    "NumPyArray",
    "buffer_from_numpy",
    "buffer_of_node",
    "pending_bytes",
    "read_only_view",
    "values_in_memory",
    "view_in_memory",
]

NumPyArray = np.ndarray[Any, Any]
_VIEWS = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP, Ops.SHRINK})


def buffer_from_numpy(array: NumPyArray, copy: bool = True) -> Buffer:
    """Memory with the values of `array`; the array's own when `copy` is False.

    Raises:
        ValueError: the memory cannot be shared; of booleans, only bytes 0 and 1 can.
    """
    if not copy and array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError("copy=False: only memory that holds True as 1 can be shared; this has bytes above 1")
    return Buffer.from_numpy(array, copy)


def buffer_of_node(uop: UOp, what: str = "this function") -> Buffer:
    """The memory that holds the value of `uop`, computed now if it is not there yet.

    Args:
        what: the operation that needs the value, for the message.
    Raises:
        TraceError: inside `jit`, where there is no value yet.
    """
    if uop.realized is not None:
        return uop.realized
    if uop.flags & TRACED:
        raise trace_error(what, uop)
    return compute([uop])[0]


def values_in_memory(uop: UOp) -> NumPyArray | None:
    """The values of `uop` where they are there already, or are one constant; None where they had to be computed."""
    if uop.realized is not None:
        return uop.realized.array
    number = composite.const_of(uop)
    return None if number is None else np.full(uop.shape, number, uop.dtype)


def view_in_memory(uop: UOp) -> NumPyArray | None:
    """The values of `uop` where they are there already, to be read only: slices and transposes as NumPy has them."""
    steps: list[UOp] = []
    while uop.realized is None and uop.op in _VIEWS:
        steps.append(uop)
        uop = uop.src[0]
    if uop.realized is None:
        return None
    array = uop.realized.array
    for step in reversed(steps):
        if step.op is Ops.RESHAPE:
            try:
                array = np.reshape(array, step.arg, copy=False)
            except ValueError:
                return None
        elif step.op is Ops.PERMUTE:
            array = array.transpose(step.arg)
        elif step.op is Ops.FLIP:
            array = np.flip(array, step.arg)
        else:
            array = array[tuple([slice(start, stop) for start, stop in step.arg])]
    return array


def pending_bytes(uop: UOp) -> int:
    """Bytes of the memory that is kept for the sake of `uop` until it is computed; none for a view of some."""
    while uop.realized is None and uop.op in _VIEWS:
        uop = uop.src[0]
    if uop.realized is not None:
        return 0
    memories = {node.realized for node in walk([uop], into_memory=False)}
    return sum([memory.nbytes for memory in memories if memory is not None])


def read_only_view(memory: Buffer) -> NumPyArray:
    """The memory as a NumPy array that cannot be written to; from now on nothing else writes to this memory either."""
    return memory.readonly()
