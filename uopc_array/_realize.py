"""From nodes to memory: the one place where the array layer asks for values, and where it refuses to while `jit` is tracing."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core import TRACED, TRACKED, DType, Ops, UOp

__all__ = ["Buffer", "buffer_from_numpy", "buffer_of_node", "read_only_view", "realize_all", "realize_node"]


class Buffer:
    """Memory behind a node, until the runtime brings its own."""

    __slots__ = ("array", "requires_grad")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.requires_grad = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> DType:
        return self.array.dtype


def realize_all(nodes: Sequence[UOp]) -> list[Buffer]:
    """The values of `nodes` in memory, computed together where they are not there yet."""
    evaluate = importlib.import_module("uopc_core.interpret.numpy_interp").evaluate
    todo = [node for node in nodes if node.op is not Ops.BUFFER and node.realized is None]
    for node, value in zip(todo, evaluate(todo), strict=True):
        node.realized = Buffer(np.array(value, node.dtype))
    return [node.arg if node.op is Ops.BUFFER else node.realized for node in nodes]


def buffer_from_numpy(array: np.ndarray[Any, Any], copy: bool = True) -> Buffer:
    """Memory with the values of `array`; the array's own when `copy` is False."""
    return Buffer(np.array(array, copy=True, order="C") if copy else array)


def buffer_of_node(uop: UOp) -> Buffer:
    """The memory that holds the value of `uop`, computed now if it is not there yet."""
    if uop.op is Ops.BUFFER:
        return uop.arg
    return uop.realized if uop.realized is not None else realize_all([uop])[0]


def realize_node(uop: UOp) -> UOp:
    """A node with the value of `uop` in memory: a leaf, or `uop` itself while its history is still needed."""
    if uop.op is Ops.BUFFER or uop.flags & TRACED:
        return uop
    memory = buffer_of_node(uop)
    return uop if uop.flags & TRACKED else UOp.buffer(memory)


def read_only_view(memory: Buffer) -> np.ndarray[Any, Any]:
    """The memory as a NumPy array that cannot be written to; from now on nothing else writes to this memory either."""
    view = memory.array.view()
    view.flags.writeable = False
    return view
