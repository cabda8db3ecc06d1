"""Functions of what is known and small: computed at the line itself, by a NumPy program made once for operands
of these dtypes and shapes, or of these dtypes where it is a function of each element.

A program is the graph of the function on inputs without values, lowered as the interpreter lowers any graph, so its
bits are those of the graph. One that runs again becomes a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from uopc_array._array.at_once import LARGEST, bound, is_large_together, known, of_numpy, quietly, run_quietly
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import as_node
from uopc_array._array.tracing import records
from uopc_core import NumPyProgram, Recent, UOp, program_now

__all__ = ["of_known"]

A = TypeVar("A", bound=Handle)
MAX_PROGRAMS = 4096
_STATIC = frozenset({type(None), bool, int, str, type, *[type(np.dtype(code)) for code in "?bBhHiIlLqQfdFD"]})
_NDARRAY = np.ndarray
_ANY_SHAPE = (3,)  # of operands for which the program of a function of each element is made
_programs: Recent[Any, Any] = Recent(MAX_PROGRAMS)


class _Program:
    """What computes a function: the NumPy program, in whose place a plain function steps at its second run."""

    __slots__ = ("function", "program", "was_run")

    def __init__(self, program: NumPyProgram) -> None:
        self.program = program
        self.function: Callable[..., Any] | None = None
        self.was_run = False

    def value(self, values: list[Any]) -> Any:
        """The value, or None for the longer way to say what is wrong."""
        function = self.function
        try:
            return self._by_program(values) if function is None else run_quietly(function, *values)
        except RuntimeError:  # another thread is in there, if not what this is about
            pass
        except Exception:
            return None
        try:
            return None if function is None else quietly(function, *values)
        except Exception:
            return None

    def _by_program(self, values: list[Any]) -> Any:
        """The value by the program; what it asks for when it is run first is there from then on."""
        if self.was_run:
            self.function = self.program.function()
        self.was_run = True
        return self.program.run(values)[0]


def of_known(
    cls: type[A],
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    is_array: bool,
    is_of_elements: bool = False,
) -> A | None:
    """``native(name, *args)``, a function of nodes and other arguments, where its operands are known and small and its
    result is one node; None where it is for the graph to compute.

    Args:
        cls: the class of the result.
        nodes: which of the arguments it takes as nodes alone; None is of those that may be a number of Python's too.
        is_array: the result is an array of no axes too, no number.
        is_of_elements: it is a function of each element, of operands that are broadcast.
    """
    if not bound():
        return None
    key: list[Any] = [native]
    values: list[Any] = []
    for x in args:
        # `known`, spelled out
        value = x._value if type(x) is cls else None
        if value is None:
            value = known(x) if isinstance(x, Handle) else of_numpy(x)
            if value is None:
                if _is_keyed(x, key, values, is_of_elements):
                    continue
                return of_known(cls, native, name, nodes, args, is_array) if is_of_elements else None
        elif value.size > LARGEST or (x._own_alias is not None and (value := known(x)) is None):
            return None
        values.append(value)
        if is_of_elements:
            key.append(value.dtype.num if value.ndim else ~value.dtype.num)
        else:
            key += (value.dtype.num, value.shape)
    # what a trace makes of nothing stays small as text: a range, a constant
    if (not values and records()) or (is_of_elements and _are_large_together(values)):
        return None
    found = tuple(key)
    program = _programs.get(found)
    if program is None:
        program = _programs.add(found, _program(native, name, nodes, args, values, is_of_elements))
    if not program:
        return None if program is False else of_known(cls, native, name, nodes, args, is_array)
    value = program.value(values)
    return None if value is None else _handle_on(cls, value, is_array)


def _are_large_together(values: Sequence[Any]) -> bool:
    """Whether two operands, if there are two, are broadcast to what is no longer small."""
    if len(values) != 2:
        return False
    a, b = values
    return a.size * b.size > LARGEST and is_large_together(a, b)


def _handle_on(cls: type[A], value: Any, is_array: bool) -> A:
    if type(value) is not _NDARRAY:
        return cls._from_value(np.asarray(value) if is_array else value)
    return cls._from_value(value if is_array or value.ndim else value[()])


def _is_keyed(x: Any, key: list[Any], values: list[Any], is_of_elements: bool = False) -> bool:
    """Add what is to be known of an argument that is no array; whether that can be, one item for each operand where
    `is_of_elements`.
    """
    if type(x) in _STATIC:
        key += (type(x), x)
        return True
    if type(x) is float:
        key += (float, x.hex())
        return True
    if type(x) is complex:
        key += (complex, x.real.hex(), x.imag.hex())
        return True
    if type(x) not in (list, tuple) or is_of_elements:
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
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    values: Sequence[Any],
    is_of_elements: bool,
) -> Any:
    """The program; False where there is none, 0 where there is none for all shapes."""
    shapes = [(_ANY_SHAPE if value.shape else ()) if is_of_elements else value.shape for value in values]
    inputs = [UOp.param(i, shape, value.dtype) for i, (shape, value) in enumerate(zip(shapes, values, strict=True))]
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
        if type(root) is not UOp:
            return False
        program = program_now(root, inputs, LARGEST)
    except Exception:  # the longer way has words for it
        return False
    if program is None:
        return False
    return _Program(program) if not is_of_elements or program.is_of_elements() else 0
