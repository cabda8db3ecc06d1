"""Graph -> region, and region -> graph: how a sub-graph is closed, called, and put in place again.

What is closed is what depends on the inputs, with the constants in it. Whatever else it takes becomes an argument as
well, below the movement that it is read through, so that what is stored for the call is not larger than it has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from uopc_core.dtype import DType
from uopc_core.ir.op import VIEW_OPS, Ops
from uopc_core.ir.region import MAX_HEIGHT, Line, Region
from uopc_core.ir.uop import TYPED_BY_DTYPE, UOp, walk
from uopc_core.records import record

__all__ = ["Closed", "Passed", "call_region", "close", "in_place", "instance", "key_of_call"]

_CONST, _CALL, _PARAM = Ops.CONST, Ops.CALL, Ops.PARAM
Fields = dict[UOp, tuple[Ops, tuple[UOp, ...]]]


def key_of_call(node: UOp, src: Sequence[UOp]) -> Hashable:
    """Equal for the outputs of one call, of a host function or a region, of which there may be a node each.

    Args:
        src: the sources of `node`, or what stands in their place.
    """
    return node.arg[:-1], tuple(src)


def call_region(region: Region, arguments: tuple[UOp, ...], output: int) -> UOp:
    """One output of a call."""
    return UOp.new(_CALL, arguments, (region, output))


@record(slots=True)
class Passed:
    """A result that is an input."""

    number: int


@record(slots=True)
class Closed:
    """A graph as a function of its inputs: a region, and what to call it with.

    Attributes:
        region: None where nothing depends on the inputs.
        arguments: of the region, in order: the number of an input, or a node that is none.
        results: the number of an output of the region, an input, or a node that does not depend on the inputs.
    """

    region: Region | None
    arguments: tuple[int | UOp, ...]
    results: tuple[int | Passed | UOp, ...]

    def over(self, input_of: Callable[[int], UOp]) -> list[UOp]:
        """The results as nodes: outputs of one call.

        Args:
            input_of: the node for an input, asked for only where it is used.
        """
        src = tuple([x if isinstance(x, UOp) else input_of(x) for x in self.arguments])
        return [self._result(x, src, input_of) for x in self.results]

    def _result(self, result: int | Passed | UOp, src: tuple[UOp, ...], input_of: Callable[[int], UOp]) -> UOp:
        if isinstance(result, UOp):
            return result
        if isinstance(result, Passed):
            return input_of(result.number)
        assert self.region is not None, self
        return call_region(self.region, src, result)


def close(roots: Sequence[UOp], inputs: Sequence[UOp], scalars: bool = False) -> Closed:
    """`roots` as a function of `inputs`, any nodes, below which nothing is looked at.

    Args:
        scalars: inputs that are scalar PARAMs stay of that kind; else all parameters are memory.
    """
    numbers: dict[UOp, int] = {}
    for i, node in enumerate(inputs):
        numbers.setdefault(node, i)
    fields = _fields(roots, numbers)
    made_of = _Closing(fields, numbers)
    inside = [root for root in dict.fromkeys(roots) if root in made_of.inside]
    order, arguments = made_of.lines(inside)
    if any(fields[node][0] is _CALL and node.arg[0].height >= MAX_HEIGHT for node in order):
        return close(_without_highest(roots, numbers), inputs, scalars)
    place = {node: i for i, node in enumerate((*arguments, *order))}
    lines = tuple([_line(node, *fields[node], place) for node in order])
    kinds = [node.arg[2] if scalars and node.op is _PARAM else "buffer" for node in arguments]
    types = tuple([(node.shape, node.dtype) for node in order])
    given = tuple([(node.shape, node.dtype, kind) for node, kind in zip(arguments, kinds, strict=True)])
    region = Region.of(given, lines, tuple([place[root] for root in inside]), types) if inside else None
    outputs = {root: k for k, root in enumerate(inside)}
    results = [outputs.get(root, root if root not in numbers else Passed(numbers[root])) for root in roots]
    return Closed(region, tuple([numbers.get(node, node) for node in arguments]), tuple(results))


def _fields(roots: Sequence[UOp], stop: dict[UOp, int]) -> Fields:
    """Op and sources of every node down to the inputs, each read once: another thread may compute one meanwhile."""
    fields: Fields = {}
    for node in walk(roots, stop):
        src = node.src  # before the op, see `UOp.settle`
        fields[node] = node.op, src
    return fields


class _Closing:
    """Which nodes are inside.

    Attributes:
        inside: those that depend on an input.
        constant: those that are made of constants and counters alone.
    """

    def __init__(self, fields: Fields, numbers: dict[UOp, int]) -> None:
        self.fields = fields
        self.numbers = numbers
        self.inside: set[UOp] = set()
        self.constant: set[UOp] = set()
        for node, (op, src) in fields.items():
            if node in numbers:
                continue
            if any([s in self.inside or s in numbers for s in src]):
                self.inside.add(node)
            elif op in (_CONST, Ops.IOTA) or (src and self.constant.issuperset(src)):
                self.constant.add(node)

    def is_argument(self, node: UOp) -> bool:
        """Whether a node that something inside reads is computed outside."""
        if node in self.numbers:
            return True
        return not (node in self.inside or node in self.constant) and (
            self.fields[node][0] not in VIEW_OPS or node.realized is not None
        )

    def lines(self, roots: Sequence[UOp]) -> tuple[list[UOp], list[UOp]]:
        """The nodes inside, sources first, and the arguments, in the order in which they are met."""
        order: list[UOp] = []
        arguments: dict[UOp, None] = {}
        done: set[UOp] = set()
        stack = [*reversed(roots)]
        while stack:  # not over `walk`: sources are those that have been read
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            if self.is_argument(node):
                arguments[node] = None
            else:
                waiting = [s for s in self.fields[node][1] if s not in done]
                if waiting:
                    stack += reversed(waiting)
                    continue
                order.append(node)
            done.add(node)
            stack.pop()
        return order, list(arguments)


def _line(node: UOp, op: Ops, src: tuple[UOp, ...], place: dict[UOp, int]) -> Line:
    if op is _CONST:
        return op, node, None, ()
    dtype: DType | None = node.dtype if op in TYPED_BY_DTYPE else None
    return op, node.arg, dtype, tuple([place[s] for s in src])


def _without_highest(roots: Sequence[UOp], stop: dict[UOp, int]) -> list[UOp]:
    """`roots` with the calls of regions put in place that are as high as can be."""
    made: dict[UOp, UOp] = {}
    for node in walk(roots, stop):
        if node in stop:
            made[node] = node
            continue
        src = tuple([made[s] for s in node.src])
        if node.op is _CALL and node.arg[0].height >= MAX_HEIGHT:
            made[node] = in_place(node.arg[0], src)[node.arg[1]]
        else:
            made[node] = node.over(src)
    return [made[root] for root in roots]


def in_place(region: Region, arguments: Sequence[UOp]) -> list[UOp]:
    """The outputs of a call as nodes over its arguments."""
    made = list(arguments)
    for op, arg, dtype, src in region.lines:
        made.append(arg if op is _CONST else UOp.new(op, tuple([made[i] for i in src]), arg, dtype))
    return [made[i] for i in region.results]


def instance(region: Region) -> tuple[list[UOp], list[UOp]]:
    """Its parameters, numbered PARAMs, and its outputs over them."""
    params = [UOp.param(i, shape, dtype, kind) for i, (shape, dtype, kind) in enumerate(region.inputs)]
    return params, in_place(region, params)
