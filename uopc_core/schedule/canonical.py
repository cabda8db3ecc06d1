"""Bring a graph to its canonical form: real memory -> numbered PARAMs, changing numbers -> run-time scalars, and a key
of what is left.

Two graphs with one key are computed by one plan.
Invariant: the key says all that planning may depend on, and nothing that changes from one step of a loop to the next:
neither which memory is read nor the value of a constant, unless it is a small one that rules look at (0, 1, -2, 0.5,
...). Each use of a changing constant has a slot of its own, so two that happen to be equal now and differ later do not
change the key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from uopc_core.ir.calls import call_region, close, instance, key_of_call
from uopc_core.ir.composite import CONST_FORMS, unbroadcast
from uopc_core.ir.number_text import number_text
from uopc_core.ir.op import ALONG_AXES, CALLS, ELEMENTWISE, FOR_DERIVATIVES, Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import TYPED_BY_DTYPE, Scalar, UOp, walk
from uopc_core.records import record

__all__ = ["WORTH_KEEPING", "Bindings", "Canonical", "Key", "canonicalise", "is_literal", "params_of", "rebuild"]

_BUFFER, _CONST, _PARAM = Ops.BUFFER, Ops.CONST, Ops.PARAM
_BROADCASTS = CONST_FORMS | {Ops.PARAM}
_LITERAL_FLOATS = frozenset({0.5, -0.5, 0.25, float("inf"), float("-inf")})
_MAX_LITERAL = 16
# what a handle of the user's may stand for without having been computed; movement alone costs nothing to redo
WORTH_KEEPING = ELEMENTWISE | ALONG_AXES | CALLS | {Ops.CONCAT}


class Key:
    """What is equal for graphs that one plan serves: entries of all nodes, which are hashed once."""

    __slots__ = ("_entries", "_hash")

    def __init__(self, entries: Hashable) -> None:
        self._entries = entries
        self._hash = hash(entries)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return type(other) is Key and self._hash == other._hash and self._entries == other._entries


class Bindings:
    """What one execution of a plan works on.

    Attributes:
        buffers: memory for the buffer inputs in the order of the plan; an int is the number of an argument, bound at
            the call.
        scalars: values of the run-time scalars; a node is a scalar PARAM, bound at the call.
    """

    __slots__ = ("buffers", "scalars")

    def __init__(self, buffers: tuple[Any, ...], scalars: tuple[Scalar | UOp, ...]) -> None:
        self.buffers = buffers
        self.scalars = scalars


Computed = tuple[UOp, Ops, tuple[UOp, ...]]


class Canonical:
    """A graph in canonical form.

    Attributes:
        key: equal for graphs that one plan serves.
        order: the nodes to compute, sources first, each with its op and its sources as they were (another thread may
            compute a node meanwhile); leaves are not among them.
        outputs: what is to be materialised: the roots first, then whatever else handles stand for.
        n_roots: how many of `outputs` are roots.
        leaves: number of every leaf node, in the order of `bindings.buffers`.
        bindings: the memory and the numbers of this very graph.
        scalar_dtypes: of the numbers in `bindings`.
    """

    __slots__ = ("bindings", "key", "leaves", "n_roots", "order", "outputs", "scalar_dtypes")

    def __init__(
        self,
        key: Key,
        order: list[Computed],
        outputs: list[UOp],
        n_roots: int,
        leaves: dict[UOp, int],
        bindings: Bindings,
        scalar_dtypes: list[Any],
    ) -> None:
        self.key = key
        self.order = order
        self.outputs = outputs
        self.n_roots = n_roots
        self.leaves = leaves
        self.bindings = bindings
        self.scalar_dtypes = scalar_dtypes


def canonicalise(roots: Sequence[UOp], keep_held: bool = True) -> Canonical:
    """Number the graph below `roots` and split it into a key and the bindings.

    Args:
        keep_held: also materialise what a live handle stands for (not while tracing, where handles are the traced
            function's own).
    """
    order: list[Computed] = []
    numbers: dict[UOp, int] = {}
    leaves: dict[UOp, int] = {}
    entries: list[Hashable] = []
    constants: dict[UOp, UOp] = {}
    calls: dict[Hashable, Hashable] = {}
    bound: list[UOp] = []
    held: list[UOp] = []
    stack: list[UOp] = [*reversed(roots)]
    while stack:  # not over `walk`: a node is told, once, by its op and sources as they are now
        node = stack[-1]
        if node in numbers:
            stack.pop()
            continue
        src = node.src  # before the op, see `UOp.settle`
        op = node.op
        number = unbroadcast(node) if op in _BROADCASTS else node
        if op is _BUFFER or (node.realized is not None and number.op is not _CONST):
            leaves[node] = len(leaves)
            entry = (_BUFFER, node.shape, node.dtype)
        elif op is _PARAM and node.arg[2] == "buffer":
            leaves[node] = len(leaves)
            entry = (_PARAM, node.shape, node.dtype)
        elif number.op is _CONST and (number is node or is_literal(number.arg)):
            order.append((node, op, src))  # one number in any shape is one entry, without the nodes that broadcast it
            entry = (_CONST, number_text(number.arg), node.dtype, node.shape)
        else:
            n_stack = len(stack)
            for s in reversed(src):
                if s not in numbers and s not in constants:
                    constant = _changing_constant(s) if s.op in _BROADCASTS else None
                    if constant is None:
                        stack.append(s)
                    else:
                        constants[s] = constant
            if len(stack) > n_stack:
                continue
            order.append((node, op, src))
            if op in CALLS:
                entry = _entry_of_call(order[-1], numbers, constants, bound, calls)
            else:
                entry = _entry(order[-1], numbers, constants, bound)
            if keep_held and node.held and op in WORTH_KEEPING:
                held.append(node)
        stack.pop()
        numbers[node] = len(numbers)
        entries.append(entry)
    outputs = list(dict.fromkeys([*roots, *held]))
    n_roots = len(set(roots))
    key = Key((tuple(entries), tuple([numbers[node] for node in outputs])))
    buffers = tuple([_memory_of(node) for node in leaves])
    scalars = tuple([leaf.arg if leaf.op is _CONST else leaf for leaf in bound])
    scalar_dtypes = [leaf.dtype for leaf in bound]
    return Canonical(key, order, outputs, n_roots, leaves, Bindings(buffers, scalars), scalar_dtypes)


def _memory_of(leaf: UOp) -> Any:
    return leaf.realized if leaf.realized is not None else leaf.arg[0]


def _entry(computed: Computed, numbers: dict[UOp, int], constants: dict[UOp, UOp], bound: list[UOp]) -> Hashable:
    """What the key says of a node; the changing constants that it uses go to `bound`, one more for each use."""
    node, op, src = computed
    sources: list[Hashable] = []
    for s in src:
        number = numbers.get(s)
        if number is None:
            leaf = constants[s]
            bound.append(leaf)
            sources.append((leaf.dtype, s.shape))
        else:
            sources.append(number)
    if op is _PARAM:  # a run-time scalar that is itself an output
        return (op, node.arg[0], node.dtype)
    if op in TYPED_BY_DTYPE:
        return (op, node.arg, node.dtype, *sources)
    if op in FOR_DERIVATIVES:  # which of them is the same to a plan
        return (Ops.DETACH, *sources)
    return (op, node.arg, *sources)


def _entry_of_call(
    computed: Computed,
    numbers: dict[UOp, int],
    constants: dict[UOp, UOp],
    bound: list[UOp],
    calls: dict[Hashable, Hashable],
) -> Hashable:
    """The same of an output of a call, of which all use the same constants; `calls` is told what is said of each."""
    node, op, src = computed
    call = key_of_call(node, src)
    if call not in calls:
        said: Any = _entry(computed, numbers, constants, bound)
        sources = said[2:]
        if op is Ops.CALL:
            lifted = _lifted(node.arg[0])
            bound += lifted.constants
            sources = (lifted.region, *[None if i is None else sources[i] for i in lifted.arguments])
        calls[call] = (len(calls), *sources)
    return (op, node.arg[1:] if op is Ops.CALL else node.arg, calls[call])


def _changing_constant(node: UOp) -> UOp | None:
    """The CONST or scalar PARAM that `node` broadcasts, when its value is to be a run-time scalar."""
    node = unbroadcast(node)
    if node.op is _CONST:
        return None if is_literal(node.arg) else node
    return node if node.op is _PARAM and node.arg[2] == "scalar" else None


def _is_changing(node: UOp) -> bool:
    """Whether this is one number that does not belong to the key, in any shape."""
    node = unbroadcast(node)
    return node.op is _CONST and not is_literal(node.arg)


def _is_constant(node: UOp) -> bool:
    """Whether this is one number that belongs to the key, in any shape."""
    node = unbroadcast(node)
    return node.op is _CONST and is_literal(node.arg)


def is_literal(value: Scalar) -> bool:
    """Whether rules may look at this constant, so that its value belongs to the key."""
    if isinstance(value, complex):
        return is_literal(value.real) and is_literal(value.imag)
    if isinstance(value, float):
        return value in _LITERAL_FLOATS or value != value or (abs(value) <= _MAX_LITERAL and value.is_integer())
    return -_MAX_LITERAL <= value <= _MAX_LITERAL


def rebuild(canonical: Canonical) -> list[UOp]:
    """The outputs over PARAM leaves alone: buffers numbered as in the bindings, then one scalar PARAM per use of a
    changing constant.

    What means something to derivatives only is gone. Only constants are nodes that other graphs hold as well.
    """
    n_buffers = len(canonical.leaves)
    made: dict[UOp, UOp] = {leaf: UOp.param(i, leaf.shape, leaf.dtype) for leaf, i in canonical.leaves.items()}
    dtypes = enumerate(canonical.scalar_dtypes, n_buffers)
    scalars = iter([UOp.param(i, (), dtype, "scalar") for i, dtype in dtypes])
    calls: dict[Hashable, tuple[UOp, ...]] = {}

    def over(src: tuple[UOp, ...]) -> list[UOp]:
        return [made[s] if s in made else _broadcast(next(scalars), s.shape) for s in src]

    for node, op, src in canonical.order:
        if op in _BROADCASTS and _is_constant(node):
            made[node] = node
            continue
        if op in CALLS:
            call = key_of_call(node, src)
            if call not in calls:
                given = over(src)
                calls[call] = _lifted(node.arg[0]).over(given, scalars) if op is Ops.CALL else tuple(given)
            if op is Ops.CALL:
                made[node] = call_region(_lifted(node.arg[0]).region, calls[call], node.arg[1])
            else:
                made[node] = node.apart(op, src) if calls[call] == src else node.over(calls[call], op)
            continue
        sources = over(src)
        if op in FOR_DERIVATIVES:
            made[node] = sources[0]
        elif tuple(sources) == src:  # of constants and counters alone: the user's own node, which may be computed
            made[node] = node.apart(op, src)
        else:
            made[node] = node.over(tuple(sources), op)
    return [made[node] for node in canonical.outputs]


def params_of(canonical: Canonical) -> list[UOp]:
    """The PARAMs of what `rebuild` gives: one per buffer of the bindings, then one per run-time scalar."""
    buffers = [UOp.param(i, leaf.shape, leaf.dtype) for leaf, i in canonical.leaves.items()]
    scalars = [
        UOp.param(i, (), dtype, "scalar") for i, dtype in enumerate(canonical.scalar_dtypes, len(canonical.leaves))
    ]
    return [*buffers, *scalars]


def _broadcast(scalar: UOp, shape: Iterable[int]) -> UOp:
    shape = tuple(shape)
    return scalar.reshape((1,) * len(shape)).expand(shape) if shape else scalar


# ------------------------------------------------------------------------------------------------------------ regions


@record
class _Lifted:
    """A region whose changing constants are arguments: one plan serves all that differ in these alone.

    Attributes:
        region: with a scalar parameter for each use of a changing constant.
        arguments: of a call, by its parameters: the number of an argument of the region that it is made of; None for a
            constant.
        constants: in their order.
    """

    region: Region
    arguments: tuple[int | None, ...]
    constants: tuple[UOp, ...]

    def over(self, given: Sequence[UOp], scalars: Iterator[UOp]) -> tuple[UOp, ...]:
        """The arguments of a call, for those of the region that it is made of."""
        return tuple([next(scalars) if i is None else given[i] for i in self.arguments])


def _lifted(region: Region) -> _Lifted:
    return region.kept("lifted", lambda: _lift(region))


def _lift(region: Region) -> _Lifted:
    inputs, outputs = instance(region)
    n_inputs = len(inputs)
    constants: list[UOp] = []

    def scalar_for(constant: UOp) -> UOp:
        inputs.append(UOp.param(len(inputs), (), constant.dtype, "scalar"))
        constants.append(constant)
        return inputs[-1]

    made: dict[UOp, UOp] = {}
    calls: dict[Hashable, tuple[UOp, ...]] = {}
    for node in walk(outputs):
        if node.op in CONST_FORMS and _is_changing(node):
            continue  # a parameter for each use
        sources = [made[s] if s in made else _broadcast(scalar_for(unbroadcast(s)), s.shape) for s in node.src]
        if node.op is not Ops.CALL:
            made[node] = node.over(tuple(sources))
            continue
        call, inner = key_of_call(node, node.src), _lifted(node.arg[0])
        if call not in calls:
            calls[call] = inner.over(sources, iter([scalar_for(x) for x in inner.constants]))
        made[node] = call_region(inner.region, calls[call], node.arg[1])
    closed = close([made[output] for output in outputs], inputs, scalars=True)
    numbers = [i for i in closed.arguments if isinstance(i, int)]
    assert closed.region is not None, region
    return _Lifted(
        closed.region,
        tuple([i if i < n_inputs else None for i in numbers]),
        tuple([constants[i - n_inputs] for i in numbers if i >= n_inputs]),
    )
