"""NumPy evaluation of any graph: the truth that kernels are compared with, and the executor of small and cold ones.

`lower_to_numpy` turns a graph into a flat list of NumPy calls once; `NumPyProgram.run` costs little more than they do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from uopc_core.costs import BLOCKWISE_ELEMENTS
from uopc_core.interpret.blockwise import BlockGroup, find_groups
from uopc_core.interpret.loops import LoopKey, loops_wanted, prepare_loops
from uopc_core.interpret.numpy_ops import NUMPY_OPS, NumpyFunction
from uopc_core.interpret.products import SmallProduct, find_product
from uopc_core.interpret.rules import Array, call_of, hand_out, viewed
from uopc_core.interpret.strided import Write, find_writes, strided_slice
from uopc_core.ir.calls import instance, key_of_call
from uopc_core.ir.op import CALLS, ELEMENTWISE, Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import UOp, walk

__all__ = ["NUMPY_OPS", "Array", "NumPyProgram", "evaluate", "loops_to_prepare", "lower_to_numpy"]

# (function, src, out, dead): slots[out] = function(*slots[src]), after which nobody needs the slots `dead`
NumPyStep = tuple[NumpyFunction, tuple[int, ...], int, tuple[int, ...]]

_KEPT_BYTES = 4096  # of what is the same at each call, up to which it is copied rather than computed
_FOREIGN = -1  # owner of memory that a program must not hand out
_CONST, _RESHAPE = Ops.CONST, Ops.RESHAPE
_WRITE_OVER = frozenset({Ops.WHERE, Ops.SCATTER})  # ops whose function takes `out`, besides ufuncs


class NumPyProgram:
    """A graph as NumPy calls on numbered slots, of which the first hold the inputs."""

    __slots__ = ("_memories", "_of_elements", "_roots", "_scalars", "_slots", "_steps", "n_inputs")

    def __init__(
        self,
        inputs: Sequence[UOp],
        slots: list[Any],
        memories: list[tuple[int, Any]],
        steps: list[NumPyStep],
        roots: list[tuple[int, UOp, bool]],
        of_elements: Collection[NumpyFunction] = (),
    ) -> None:
        self.n_inputs = len(inputs)
        self._scalars = [(slot, node.dtype) for slot, node in enumerate(inputs) if not node.shape]
        self._slots = slots
        self._memories = memories
        self._steps = steps
        self._roots = roots
        self._of_elements = of_elements

    def run(self, values: Sequence[Any] = ()) -> list[Array]:
        """The values of the roots, for `values` of the inputs: arrays, or scalars where the shape is ().

        A list of values is emptied, so that what is given away goes when nobody needs it.

        Returns:
            One array per root: C-contiguous, of exactly its shape and dtype, sharing memory with nothing else.
        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        assert len(values) == self.n_inputs, (len(values), self.n_inputs)
        slots = self._slots.copy()
        slots[: self.n_inputs] = values
        if isinstance(values, list):
            values.clear()
        for slot, dtype in self._scalars:
            if type(slots[slot]) is not np.ndarray:
                slots[slot] = np.array(slots[slot], dtype)
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
        return [hand_out(slots[slot], root, aliased) for slot, root, aliased in self._roots]

    @property
    def n_calls(self) -> int:
        """How many calls of NumPy's it is, those that give views included."""
        return len(self._steps)

    def is_of_elements(self) -> bool:
        """Whether the one root is a function of elements of all inputs, whatever their shapes, if the graph is."""
        if len(self._roots) != 1 or self._memories:
            return False
        read = {slot for _, src, _, _ in self._steps for slot in src}
        made = {out for _, _, out, _ in self._steps}
        constants = [self._slots[slot] for slot in read - made if slot >= self.n_inputs]
        return (
            bool(self._steps)
            and read.issuperset(range(self.n_inputs))
            and all([function in self._of_elements for function, _, _, _ in self._steps])
            and not any([x.shape for x in constants])
        )

    def function(self) -> Callable[..., Any] | None:
        """The value of the one root, or a tuple of those of all, as a plain function of the values of inputs, for many
        runs; None where there is more to it than calls.

        It is called where NumPy does not warn, and has been run before; where the shape of an input is (), it may be
        given a scalar, and may give one.
        """
        if self._memories:
            return None
        is_one = len(self._roots) == 1
        slot, root, _ = self._roots[0]
        if is_one and not self.n_inputs and root.size * root.dtype.itemsize <= _KEPT_BYTES:
            return self.run()[0].copy
        if is_one and len(self._steps) == 1:
            function, src, out, _ = self._steps[0]
            if isinstance(function, np.ufunc) and out == slot and src == tuple(range(self.n_inputs)):
                return function
        space: dict[str, Any] = {"hand_out": hand_out, "array": np.asarray}
        space |= {f"root{i}": root for i, (_, root, _) in enumerate(self._roots)}
        space |= {f"f{i}": function for i, (function, _, _, _) in enumerate(self._steps)}
        space |= {f"v{i}": value for i, value in enumerate(self._slots) if i >= self.n_inputs and value is not None}
        inputs = [f"v{i}" for i in range(self.n_inputs)]
        lines = [f"v{i} = array(v{i})" for i, _ in self._scalars if not self._is_for_ufuncs(i)]
        lines += [
            f"v{out} = f{i}({', '.join([f'v{s}' for s in src])})" for i, (_, src, out, _) in enumerate(self._steps)
        ]
        results = [f"hand_out(v{slot}, root{i}, {is_shared})" for i, (slot, _, is_shared) in enumerate(self._roots)]
        lines.append(f"return {results[0]}" if is_one else f"return ({', '.join(results)})")
        exec(compile(f"def function({', '.join(inputs)}):\n    " + "\n    ".join(lines), "<program>", "exec"), space)
        return space["function"]

    def _is_for_ufuncs(self, slot: int) -> bool:
        """Whether only ufuncs take the value of a slot, which may be a scalar then."""
        return all([isinstance(function, np.ufunc) for function, src, _, _ in self._steps if slot in src])


def _reshape_to(shape: tuple[int, ...]) -> NumpyFunction:
    def reshape(x: Any) -> Any:
        return x.reshape(shape)

    return reshape


class _Lowering:
    """The state of one `lower_to_numpy`: the slot of each node, and who owns the memory behind each slot."""

    def __init__(self, inputs: Sequence[UOp], given: Iterable[UOp]) -> None:
        self.slot_of: dict[UOp, int] = {node: slot for slot, node in enumerate(inputs)}
        given = set(given)
        self.owner: list[int] = [slot if node in given else _FOREIGN for slot, node in enumerate(inputs)]
        self.slots: list[Any] = [None] * len(inputs)
        self.memories: list[tuple[int, Any]] = []
        self.steps: list[tuple[NumpyFunction, tuple[int, ...], int]] = []
        self.calls: dict[Any, int] = {}
        self.whole: dict[int, tuple[int, tuple[int, ...]]] = {}  # of slots with a reshaped value, whose, and its shape
        self.of_elements: set[NumpyFunction] = set()  # the functions of elementwise nodes
        self.large: dict[int, UOp] = {}  # slots of elementwise nodes that may be written over a dying operand

    def new_slot(self, owner: int | None = None, value: Any = None) -> int:
        slot = len(self.slots)
        self.slots.append(value)
        self.owner.append(slot if owner is None else owner)
        return slot

    def add(self, node: UOp) -> None:
        op = node.op
        if node.realized is not None:
            slot = self.new_slot(_FOREIGN)
            self.memories.append((slot, node.realized))
        elif op is _CONST:
            slot = self.new_slot(_FOREIGN, np.array(node.arg, node.dtype))
        elif op in CALLS:
            slot = self.add_call(node)
        elif op is _RESHAPE and self.slot_of[node.src[0]] in self.whole:
            slot = self.reshaped(*self.whole[self.slot_of[node.src[0]]], node.shape)
        elif (part := strided_slice(node)) is not None and part.source in self.slot_of:
            source = self.slot_of[part.source]
            slot = self.new_slot(self.owner[source])
            self.steps.append((part.of, (source,), slot))
        else:
            function, sources = call_of(node, op, node.src, self.slot_of)
            src = tuple([self.slot_of[s] for s in sources])
            lender = viewed(op, sources)
            slot = self.new_slot(None if lender is None else self.owner[self.slot_of[lender]])
            self.steps.append((function, src, slot))
            if op in ELEMENTWISE:
                self.of_elements.add(function)
            if prod(node.shape) >= BLOCKWISE_ELEMENTS and (isinstance(function, np.ufunc) or op in _WRITE_OVER):
                self.large[slot] = node
        self.slot_of[node] = slot

    def reshaped(self, slot: int, before: tuple[int, ...], shape: tuple[int, ...]) -> int:
        """A slot for the value of another, of shape `before`, in another shape."""
        if shape == before:
            return slot
        out = self.new_slot(self.owner[slot])
        self.whole[out] = (slot, before)
        self.steps.append((_reshape_to(shape), (slot,), out))
        return out

    def add_product(self, node: UOp, product: SmallProduct) -> bool:
        """One step for a product of small matrices; whether it can be, since the operands have slots."""
        function = product.function()
        if function is None or any(x not in self.slot_of for x in product.operands):
            return False
        slot = self.new_slot()
        self.steps.append((function, tuple([self.slot_of[x] for x in product.operands]), slot))
        self.slot_of[node] = self.reshaped(slot, product.shape, node.shape)
        return True

    def add_group(self, group: BlockGroup) -> None:
        """One step for nodes that are evaluated together."""
        slot = self.slot_of[group.root] = self.new_slot()
        if group.root.op is not Ops.REDUCE:
            self.large[slot] = group.root
        self.steps.append((group.function(), tuple([self.slot_of[x] for x in group.operands]), slot))

    def add_write(self, node: UOp, write: Write) -> None:
        """One step for a write to a part of an array."""
        slot = self.slot_of[node] = self.new_slot()
        self.large[slot] = node
        self.steps.append((write.function, (self.slot_of[write.value], self.slot_of[write.base]), slot))

    def add_call(self, node: UOp) -> int:
        """A step for all outputs of a call, and one for this of them."""
        key = key_of_call(node, node.src)
        if key not in self.calls:
            self.calls[key] = self.new_slot()
            function, sources = call_of(node, node.op, node.src)
            self.steps.append((function, tuple([self.slot_of[s] for s in sources]), self.calls[key]))
        slot = self.new_slot()
        self.steps.append((itemgetter(node.arg[-1]), (self.calls[key],), slot))
        return slot

    def finish(self, kept: Iterable[int]) -> list[NumPyStep]:
        """The steps that something reads, each with the slots that it is the last to read; `kept` never die."""
        steps: list[NumPyStep] = []
        alive = set(kept)
        sharing = Counter([self.owner[i] for i in alive])
        for function, src, out in reversed(self.steps):
            if out not in alive:
                continue
            alive.remove(out)
            sharing[self.owner[out]] -= 1
            dead = [i for i in dict.fromkeys(src) if i not in alive]
            alive.update(dead)
            sharing.update([self.owner[i] for i in dead])
            if out in self.large:
                own = [k for k, i in enumerate(src) if i in dead and sharing[self.owner[i]] == 1]
                function = _over_one_of([k for k in own if self.owner[src[k]] != _FOREIGN], function, self.large[out])
            steps.append((function, src, out, tuple(dead)))
        steps.reverse()
        return [step for step in steps if not self.fold(step)]

    def fold(self, step: NumPyStep) -> bool:
        """Run a movement of a constant now: it is a view, which costs no memory to keep."""
        function, src, out, _ = step
        if self.owner[out] != _FOREIGN or any(self.slots[i] is None for i in src):
            return False
        self.slots[out] = function(*[self.slots[i] for i in src])
        return True


def _over_one_of(positions: Sequence[int], function: NumpyFunction, node: UOp) -> NumpyFunction:
    """`function`, with its result in the memory of the first operand among `positions` that has the form of `node`."""
    if not positions:
        return function
    shape, dtype = node.shape, node.dtype

    def evaluate(*operands: Any) -> Any:
        for position in positions:
            x = operands[position]
            if _is_whole(x) and x.shape == shape and x.dtype == dtype:
                return function(*operands, out=x)
        return function(*operands)

    return evaluate


def _is_whole(x: Any) -> bool:
    """Whether this is all of an array that may be written to, in the order of its elements."""
    if type(x) is not np.ndarray or not (x.flags.c_contiguous and x.flags.writeable):
        return False
    return x.base is None or getattr(x.base, "nbytes", 0) == x.nbytes


def loops_to_prepare(order: Sequence[UOp]) -> list[LoopKey]:
    """The loops that these nodes are evaluated with."""
    return _loops_of(order, _products(order))


def _products(order: Sequence[UOp]) -> dict[UOp, SmallProduct]:
    return {node: product for node in order if (product := find_product(node)) is not None}


def _loops_of(order: Sequence[UOp], products: Mapping[UOp, SmallProduct]) -> list[LoopKey]:
    wanted = loops_wanted([node for node in order if node.realized is None and node not in products])
    return [*wanted, *[product.loop for product in products.values() if product.loop is not None]]


def lower_to_numpy(roots: Sequence[UOp], inputs: Sequence[UOp] = (), given: Iterable[UOp] = ()) -> NumPyProgram:
    """The program that computes `roots` of the values of `inputs` (PARAMs, or any nodes).

    What is in memory already is read from there when the program runs.

    Args:
        given: inputs whose arrays the program may write to and hand out, since nobody else has their memory.
    """
    low = _Lowering(inputs, given)
    order = [node for node in walk(roots, low.slot_of, into_memory=False) if node not in low.slot_of]
    products = _products(order)
    prepare_loops(_loops_of(order, products))
    writes = find_writes([node for node in order if prod(node.shape) >= BLOCKWISE_ELEMENTS])
    groups = find_groups(order, [*roots, *inputs], writes)
    inside = {node for group in groups.values() for node in group.nodes}
    for node in order:
        if node in groups:
            low.add_group(groups[node])
        elif node in writes:
            low.add_write(node, writes[node])
        elif node not in inside and not (node in products and low.add_product(node, products[node])):
            low.add(node)
    results: list[tuple[int, UOp, bool]] = []
    taken = {_FOREIGN}
    for root in roots:
        slot = low.slot_of[root]
        results.append((slot, root, low.owner[slot] in taken))
        taken.add(low.owner[slot])
    steps = low.finish([slot for slot, _, _ in results])
    return NumPyProgram(inputs, low.slots, low.memories, steps, results, low.of_elements)


def evaluate(roots: Sequence[UOp], env: Mapping[UOp, Any] | None = None) -> list[Array]:
    """The values of `roots`; `env` gives those of PARAMs, or of any nodes. For many runs keep a `NumPyProgram`.

    Returns:
        One array per root: C-contiguous, of exactly its shape and dtype, sharing memory with nothing else.
    Raises:
        IndexBoundsError: a gather or scatter met an index outside its axis.
        ValueError: a PARAM has no value, or one of another shape.
    """
    if not env:
        return lower_to_numpy(roots).run()
    values = [np.asarray(value, node.dtype) for node, value in env.items()]
    for node, value in zip(env, values, strict=True):
        if value.shape != node.shape:
            raise ValueError(f"evaluate: expected a value of shape {node.shape} for {node}, got {value.shape}")
    return lower_to_numpy(roots, tuple(env)).run(values)


def _call(node: UOp) -> NumpyFunction:
    """All outputs of a region, as a list; within regions it goes down by recursion (see `MAX_HEIGHT`)."""
    region: Region = node.arg[0]
    program = region.kept("NumPy", lambda: _lowered(region))
    return lambda *operands: program.run(operands)


def _lowered(region: Region) -> NumPyProgram:
    params, outputs = instance(region)
    return lower_to_numpy(outputs, params)


NUMPY_OPS[Ops.CALL] = _call
