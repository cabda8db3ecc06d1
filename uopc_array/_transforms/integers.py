"""Python's integers as inputs of a trace: what they are outside of it, an int is checked for when the trace is run.

A graph computes with 64 bits; Python does not. So what a function does with its integers alone, and where it puts them
into arrays, is done again with Python's own before each run: an overflow, a division by zero, a number that does not
fit the dtype of an array are errors as they are without `jit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from uopc_array._array.handle import Handle
from uopc_array._array.nodes import const_node
from uopc_array._array.tracing import Record, current_record, substitute
from uopc_core import TRACED, DType, Ops, UOp

__all__ = ["IntegerChecks", "checks_of"]

Cast = tuple[UOp, DType, str]
_FIRST, _LAST = -(2**63), 2**63 - 1


def _power(x: int, y: int) -> int:
    if y < 0:
        raise ValueError(
            "pow: integers to negative integer powers are not allowed inside jit; pass a float, or mark the argument "
            "static (static_argnums)"
        )
    return x**y if -2 < x < 2 or y < 64 else _LAST + 1


def _shifted(x: int, y: int) -> int:
    return x << y if y < 64 or not x else _LAST + 1


def _larger(x: int, y: int) -> int:
    return max(x, y)


def _smaller(x: int, y: int) -> int:
    return min(x, y)


_FUNCTIONS: dict[Ops, Callable[..., int]] = {
    Ops.NEG: int.__neg__,
    Ops.ABS: int.__abs__,
    Ops.NOT: int.__invert__,
    Ops.ADD: int.__add__,
    Ops.SUB: int.__sub__,
    Ops.MUL: int.__mul__,
    Ops.FLOORDIV: int.__floordiv__,
    Ops.FLOORMOD: int.__mod__,
    Ops.POW: _power,
    Ops.AND: int.__and__,
    Ops.OR: int.__or__,
    Ops.XOR: int.__xor__,
    Ops.SHL: _shifted,
    Ops.SHR: int.__rshift__,
    Ops.MAX: _larger,
    Ops.MIN: _smaller,
}


class IntegerChecks:
    """What is computed before a run.

    Attributes:
        inputs: numbers of the inputs of a call that are Python's integers.
    """

    def __init__(self, inputs: Sequence[int], weak: Sequence[UOp], casts: Sequence[Cast], known: Sequence[UOp]) -> None:
        self.inputs = inputs
        self._weak = list(weak)
        self._casts = list(casts)
        order = [node for kind in (_is_param, _is_const, _is_step) for node in known if kind(node)]
        number = {node: i for i, node in enumerate(order)}
        self._constants = [int(node.arg) for node in order if _is_const(node)]
        self._steps = [
            (_FUNCTIONS[node.op], [number[s] for s in node.src], node.op.name.lower())
            for node in order
            if _is_step(node)
        ]
        self._checked = {number[node] for node in weak}
        self._placed = [(number[node], dtype, name) for node, dtype, name in casts]

    def run(self, arguments: Sequence[Any]) -> None:
        """
        Args:
            arguments: the inputs of a call.
        Raises:
            OverflowError, ZeroDivisionError, ValueError: as outside of a trace.
        """
        values = [int(arguments[i]) for i in self.inputs]
        values += self._constants
        for function, sources, name in self._steps:
            value = function(*[values[i] for i in sources])
            if not _FIRST <= value <= _LAST and len(values) in self._checked:
                raise OverflowError(
                    f"{name}: the Python int {value} does not fit int64, in which jit computes; pass a float, or mark "
                    "the argument static (static_argnums)"
                )
            values.append(value)
        for number, dtype, name in self._placed:
            const_node(name, values[number], dtype)

    def hand_on(self, inputs: Sequence[Any], replacements: Mapping[UOp, UOp]) -> None:
        """Check now, or where the integers have no values yet have the trace around check.

        Args:
            replacements: of the inputs of this trace by nodes of the one around.
        """
        record = current_record()
        if not any(isinstance(inputs[i], Handle) and inputs[i]._uop.flags & TRACED for i in self.inputs):
            self.run(inputs)
        elif record is not None:
            nodes = substitute([*self._weak, *[node for node, _, _ in self._casts]], replacements, TRACED)
            record.weak += nodes[: len(self._weak)]
            rest = nodes[len(self._weak) :]
            record.casts += [(node, dtype, name) for node, (_, dtype, name) in zip(rest, self._casts, strict=True)]


def _is_param(node: UOp) -> bool:
    return node.op is Ops.PARAM


def _is_const(node: UOp) -> bool:
    return node.op is Ops.CONST


def _is_step(node: UOp) -> bool:
    return node.op in _FUNCTIONS


def checks_of(record: Record, params: Mapping[int, UOp]) -> IntegerChecks | None:
    """What has to be checked at each run of a trace; None if there is nothing.

    Args:
        params: its inputs by their numbers.
    """
    integers = {node: i for i, node in params.items() if node in set(record.weak)}
    known = dict.fromkeys(integers)
    weak = [node for node in dict.fromkeys(record.weak) if node.op in _FUNCTIONS and _find(node, known)]
    casts = [item for item in dict.fromkeys(record.casts) if _find(item[0], known)]
    if not weak and not casts:
        return None
    return IntegerChecks([*integers.values()], weak, casts, list(known))


def _find(root: UOp, known: dict[UOp, None]) -> bool:
    """Whether `root` is computed from integers in `known` alone; puts what it is computed from there, in order."""
    waiting = [root]
    while waiting:
        node = waiting[-1]
        if node in known:
            waiting.pop()
        elif node.op is Ops.CONST and node.dtype.kind in "biu":
            known[waiting.pop()] = None
        elif node.op in _FUNCTIONS and node.dtype.kind == "i" and not node.shape:
            missing = [s for s in node.src if s not in known]
            waiting += missing
            if not missing:
                known[waiting.pop()] = None
        else:
            return False
    return True
