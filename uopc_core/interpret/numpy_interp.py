"""NumPy evaluation of any graph: the truth that kernels are compared with, and the executor of small and cold ones.

`lower_to_numpy` turns a graph into a flat list of NumPy calls once; `Program.run` then costs little more than the calls themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from uopc_core.interpret.numpy_ops import NUMPY_OPS, UFUNCS, VIEWS, NumpyFunction
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp

__all__ = ["NUMPY_OPS", "Program", "evaluate", "lower_to_numpy"]

Array = np.ndarray[Any, Any]

_FOREIGN = -1  # owner of memory that a program must not hand out
_FOLDED = frozenset({Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE})  # of a constant: a view made once, when lowering
_BROADCASTS = frozenset({*UFUNCS, Ops.STRONG_MUL, Ops.WHERE, Ops.COMPLEX})


class _Step(NamedTuple):
    """``slots[out] = function(*slots[src])``; afterwards nobody needs the slots `dead`."""

    function: NumpyFunction
    src: tuple[int, ...]
    out: int
    dead: tuple[int, ...]


class Program:
    """A graph as NumPy calls on numbered slots.

    Attributes:
        inputs: the nodes whose values `run` takes, in its order.
    """

    __slots__ = ("_aliased", "_memories", "_roots", "_slots", "_steps", "inputs")

    def __init__(
        self,
        inputs: tuple[UOp, ...],
        slots: list[Any],
        memories: list[tuple[int, Any]],
        steps: list[_Step],
        roots: list[tuple[UOp, int]],
        aliased: list[bool],
    ) -> None:
        self.inputs = inputs
        self._slots = slots
        self._memories = memories
        self._steps = steps
        self._roots = roots
        self._aliased = aliased

    def run(self, values: Sequence[Any] = ()) -> list[Array]:
        """The values of the roots, for `values` (arrays or scalars) of the inputs.

        Returns:
            One array per root: C-contiguous, of exactly its shape and dtype, sharing memory with nothing else.
        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        slots = self._slots.copy()
        for number, (node, value) in enumerate(zip(self.inputs, values, strict=True)):
            slots[number] = value if type(value) is np.ndarray else np.array(value, node.dtype)
            assert slots[number].shape == node.shape and slots[number].dtype is node.dtype, (node, value)  # noqa: PT018
        for slot, memory in self._memories:
            slots[slot] = memory.array
        with np.errstate(all="ignore"):
            for function, src, out, dead in self._steps:
                n = len(src)
                if n == 2:
                    slots[out] = function(slots[src[0]], slots[src[1]])
                elif n == 1:
                    slots[out] = function(slots[src[0]])
                else:
                    slots[out] = function(*[slots[i] for i in src])
                for i in dead:
                    slots[i] = None
        return [_hand_out(slots[i], node, alias) for (node, i), alias in zip(self._roots, self._aliased, strict=True)]


def _hand_out(value: Any, node: UOp, aliased: bool) -> Array:
    if type(value) is not np.ndarray:
        return np.array(value, node.dtype)
    if aliased or not value.flags.c_contiguous or (value.base is not None and value.base.nbytes != value.nbytes):
        return np.array(value, order="C")
    return value


class _Lowering:
    """The state of one `lower_to_numpy`: which slot each node has, and who owns the memory behind it."""

    def __init__(self, inputs: tuple[UOp, ...]) -> None:
        self.slot_of: dict[UOp, int] = {node: slot for slot, node in enumerate(inputs)}
        self.owner: list[int] = [_FOREIGN] * len(inputs)
        self.slots: list[Any] = [None] * len(inputs)
        self.memories: list[tuple[int, Any]] = []
        self.steps: list[tuple[NumpyFunction, tuple[int, ...], int]] = []
        self.extern_calls: dict[Any, int] = {}

    def new_slot(self, owner: int | None = None, value: Any = None) -> int:
        slot = len(self.slots)
        self.slots.append(value)
        self.owner.append(slot if owner is None else owner)
        return slot

    def order(self, roots: Sequence[UOp]) -> list[UOp]:
        """The nodes that have no slot yet, sources before consumers; below a node with a value nothing is visited."""
        order: list[UOp] = []
        seen = set(self.slot_of)
        stack = [*reversed(roots)]
        while stack:
            node = stack[-1]
            if node in seen:
                stack.pop()
                continue
            waiting = [] if node.realized is not None else [s for s in node.src if s not in seen]
            if waiting:
                stack += reversed(waiting)
                continue
            stack.pop()
            seen.add(node)
            order.append(node)
        return order

    def add(self, node: UOp) -> None:
        op = node.op
        if node.realized is not None or op is Ops.BUFFER:
            slot = self.new_slot(_FOREIGN)
            self.memories.append((slot, node.arg if op is Ops.BUFFER else node.realized))
        elif op is Ops.CONST:
            slot = self.new_slot(_FOREIGN, np.array(node.arg, node.dtype))
        elif op is Ops.EXTERN:
            slot = self.add_extern(node)
        else:
            slot = self.add_step(node)
        self.slot_of[node] = slot

    def add_step(self, node: UOp) -> int:
        op = node.op
        function = NUMPY_OPS[op](node)
        src = tuple([self.slot_of[s] for s in (_unexpanded(node, self.slot_of) if op in _BROADCASTS else node.src)])
        if op in _FOLDED and self.slots[src[0]] is not None:
            return self.new_slot(_FOREIGN, function(self.slots[src[0]]))
        slot = self.new_slot(self.owner[src[0]] if op in VIEWS else None)
        self.steps.append((function, src, slot))
        return slot

    def add_extern(self, node: UOp) -> int:
        name, params, number = node.arg
        key = (name, params, node.src)
        if key not in self.extern_calls:
            self.extern_calls[key] = self.new_slot()
            src = tuple([self.slot_of[s] for s in node.src])
            self.steps.append((NUMPY_OPS[Ops.EXTERN](node), src, self.extern_calls[key]))
        slot = self.new_slot()
        self.steps.append((lambda outputs: outputs[number], (self.extern_calls[key],), slot))
        return slot

    def steps_with_deaths(self, kept: set[int]) -> list[_Step]:
        """The steps that something reads, each with the slots that it is the last to read; `kept` never die."""
        steps: list[_Step] = []
        alive = set(kept)
        for function, src, out in reversed(self.steps):
            if out not in alive:
                continue
            dead = tuple([i for i in dict.fromkeys(src) if i not in alive])
            alive.update(dead)
            steps.append(_Step(function, src, out, dead))
        steps.reverse()
        return steps


def _unexpanded(node: UOp, slot_of: Mapping[UOp, int]) -> tuple[UOp, ...]:
    """The sources of an elementwise node with EXPANDs left to NumPy's broadcasting, where that still gives the shape."""
    src = node.src
    if not any(s.op is Ops.EXPAND for s in src):
        return src
    plain = tuple([s.src[0] if s.op is Ops.EXPAND and s.src[0] in slot_of else s for s in src])
    return plain if any(s.shape == node.shape for s in plain) else src


def lower_to_numpy(roots: Sequence[UOp], inputs: Sequence[UOp] = ()) -> Program:
    """The program that computes `roots`, given the values of `inputs` (PARAMs, or any nodes).

    BUFFER leaves and realized nodes are read from their memory when the program runs.
    """
    low = _Lowering(tuple(inputs))
    for node in low.order(roots):
        low.add(node)
    root_slots = [low.slot_of[root] for root in roots]
    aliased: list[bool] = []
    given: set[int] = {_FOREIGN}
    for slot in root_slots:
        aliased.append(low.owner[slot] in given)
        given.add(low.owner[slot])
    steps = low.steps_with_deaths(set(root_slots))
    return Program(tuple(inputs), low.slots, low.memories, steps, list(zip(roots, root_slots, strict=True)), aliased)


def evaluate(roots: Sequence[UOp], env: Mapping[UOp, Any] | None = None) -> list[Array]:
    """The values of `roots`; `env` gives those of PARAMs, or of any nodes. Built for one run: keep the `Program` where there are many.

    Returns:
        One array per root: C-contiguous, of exactly its shape and dtype, sharing memory with nothing else.
    Raises:
        IndexBoundsError: a gather or scatter met an index outside its axis.
        ValueError: a PARAM has no value.
    """
    if not env:
        return lower_to_numpy(roots).run()
    return lower_to_numpy(roots, tuple(env)).run(tuple(env.values()))
