"""Functions of what is known and small: computed at the line itself, by a NumPy program made once for operands
of these dtypes and shapes.

A program is the graph of the function on inputs without values, lowered as the interpreter lowers any graph, so its
bits are those of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from uopc_array._array.at_once import LARGEST, bound, known, of_numpy
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import as_node
from uopc_array._array.tracing import records
from uopc_core import Recent, UOp, program_now

__all__ = ["of_known"]

A = TypeVar("A", bound=Handle)
MAX_PROGRAMS = 4096
_STATIC = frozenset({type(None), bool, int, str, type, *[type(np.dtype(code)) for code in "?bBhHiIlLqQfdFD"]})
_programs: Recent[Any, Any] = Recent(MAX_PROGRAMS)


def of_known(
    cls: type[A],
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    is_array: bool,
) -> A | None:
    """``native(name, *args)``, a function of nodes and other arguments, where its operands are known and small and its
    result is one node; None where it is for the graph to compute.

    Args:
        cls: the class of the result.
        nodes: which of the arguments it takes as nodes alone; None is of those that may be a number of Python's too.
        is_array: the result is an array of no axes too, no number.
    """
    if not bound():
        return None
    key: list[Any] = [native]
    values: list[Any] = []
    for x in args:
        if isinstance(x, Handle):
            value = known(x)
            if value is None:
                return None
            values.append(value)
            key += (value.dtype.num, value.shape)
        elif type(x) in _STATIC:
            key += (type(x), x)
        elif (value := of_numpy(x)) is not None:
            values.append(value)
            key += (value.dtype.num, value.shape)
        elif not _is_keyed(x, key, values):
            return None
    if not values and records():  # what a trace makes stays small as text: a range, a constant
        return None
    found = tuple(key)
    program = _programs.get(found)
    if program is None:
        program = _programs.add(found, _program(native, name, nodes, args, values))
    if not program:
        return None
    try:
        value = program.run(values)[0]
    except Exception:  # the longer way has words for it
        return None
    return cls._from_value(value if is_array or value.ndim else value[()])


def _is_keyed(x: Any, key: list[Any], values: list[Any]) -> bool:
    """Add what is to be known of an argument of the less common kinds; whether that can be."""
    if type(x) is float:
        key += (float, x.hex())
        return True
    if type(x) not in (list, tuple):
        return False
    if all([type(item) is int for item in x]):
        key += (type(x), tuple(x))
        return True
    several: list[Any] = [known(item) if isinstance(item, Handle) else None for item in x]
    if any([value is None for value in several]):
        return False
    values += several
    key += (list, *[(value.dtype.num, value.shape) for value in several])
    return True


def _program(
    native: Callable[..., Any], name: str, nodes: Sequence[bool | None], args: Sequence[Any], values: Sequence[Any]
) -> Any:
    """The program, or False where there is none."""
    inputs = [UOp.param(i, value.shape, value.dtype) for i, value in enumerate(values)]
    rest = iter(inputs)
    given: list[Any] = []
    for x, is_node in zip(args, nodes, strict=True):
        if isinstance(x, Handle) or of_numpy(x) is not None:
            if is_node is False:
                return False
            given.append(next(rest))
        elif type(x) in (list, tuple) and x and isinstance(x[0], Handle):
            if is_node is False:
                return False
            given.append([next(rest) for _ in x])
        else:
            given.append(as_node(x, name=name) if is_node and x is not None else x)
    try:
        root = native(name, *given)
        if type(root) is not UOp or root.dtype.kind == "c":
            return False
        return program_now(root, inputs, LARGEST) or False
    except Exception:  # the longer way has words for it
        return False
