"""Functions of what is known and small: computed at the line itself, by a NumPy program made once for operands
of these dtypes and shapes, or of these dtypes where it is a function of each element.

A program is the graph of the function on inputs without values, lowered as the interpreter lowers any graph, so its
bits are those of the graph. One that runs again becomes a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from uopc_array._array.at_once import (
    LARGEST,
    SMALL,
    bound,
    is_large_together,
    known,
    of_numpy,
    quietly,
    run_quietly,
    view_at_once,
)
from uopc_array._array.extension import IN_C
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import as_node
from uopc_array._array.realize import buffer_from_numpy
from uopc_array._array.tracing import records
from uopc_core import CALLS_AT_ONCE, NumPyProgram, Recent, UOp, program_now, value_now

__all__ = ["of_known", "several_of_known", "view_of_known"]

A = TypeVar("A", bound=Handle)
MAX_PROGRAMS = 4096
_STATIC = frozenset({type(None), bool, int, str, type, *[type(np.dtype(code)) for code in "?bBhHiIlLqQfdFD"]})
_WEAK: dict[type, Any] = {float: np.float64, complex: np.complex128}
_NDARRAY = np.ndarray
_NOT_SMALL = 1 << 16  # what is added in keys to the number of a dtype, for other programs
_ANY_SHAPE = (3,)  # of operands for which the program of a function of each element is made
_programs: Recent[Any, Any] = Recent(MAX_PROGRAMS)
_functions: dict[Any, Callable[..., Any]] = {}  # what programs have become, for `of_known` in C
_lenses_for_c: dict[Any, Any] = {}
_SEEN: Any = object()  # in the place of a program for what has come once
_lenses: Recent[Any, Any] = Recent(MAX_PROGRAMS)


class _Program:
    """What computes a function: the NumPy program, in whose place a plain function steps at its second run."""

    __slots__ = ("function", "has_several", "program", "was_run")

    def __init__(self, program: NumPyProgram, has_several: bool = False) -> None:
        self.program = program
        self.has_several = has_several
        self.function: Callable[..., Any] | None = None
        self.was_run = False

    def value(self, values: list[Any]) -> Any:
        """The value, or None for the longer way to say what is wrong."""
        function = self.function
        try:
            if function is None:
                return self._by_program(values)
            try:
                return run_quietly(function, *values)
            except RuntimeError:  # another thread is in there, if not what this is about
                return quietly(function, *values)
        except Exception:  # the longer way has words for it
            return None

    def _by_program(self, values: list[Any]) -> Any:
        """The value by the program; what it asks for when it is run first is there from then on."""
        if self.was_run:
            self.function = self.program.function()
        self.was_run = True
        results = self.program.run(values)
        return results if self.has_several else results[0]


def of_known(
    cls: type[A],
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    is_array: bool,
    is_of_elements: bool = False,
    numbers_count: bool = False,
) -> A | None:
    """``native(name, *args)``, a function of nodes and other arguments, where its operands are known and small and its
    result is one node; None where it is for the graph to compute.

    Args:
        cls: the class of the result.
        nodes: which of the arguments it takes as nodes alone; None is of those that may be a number of Python's too.
        is_array: the result is an array of no axes too, no number.
        is_of_elements: it is a function of each element, of operands that are broadcast and may all be numbers.
        numbers_count: what it does depends on numbers of Python's among the operands.
    """
    if not bound():
        return None
    values: list[Any] = []
    key = _key(cls, native, args, values, is_of_elements, not numbers_count)
    if key is None:
        return None
    if not values:
        if not _makes_values():  # what a trace makes of nothing stays small as text: a range, a constant
            return None
        is_of_elements = False
    elif is_of_elements and _are_large_together(values):
        return None
    program = _programs.get(key)
    if program is None:
        return _first(cls, native, name, nodes, args, key, is_array)
    if program is _SEEN:
        program = _made(cls, native, name, nodes, args, values, is_of_elements, numbers_count)
        _programs.replace(key, program)
    if not program:
        return None if program is False else of_known(cls, native, name, nodes, args, is_array)
    value = program.value(values)
    if value is None:
        return None
    if program.function is not None:
        _note_for_c(_functions, key, program.function)
    return _handle_on(cls, value, is_array)


def several_of_known(
    cls: type[A],
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    is_array: bool,
    several: Callable[[list[A]], Any],
) -> Any:
    """As `of_known`, of a function that may give several nodes, in a sequence.

    Args:
        several: makes of the arrays what the user gets.
    """
    if not bound():
        return None
    values: list[Any] = []
    key = _key(cls, native, args, values, False, True)
    if key is None or not values:
        return None
    program = _programs.get(key)
    if program is None:
        _programs.add(key, _SEEN)
        return None
    if program is _SEEN:
        program = _made(cls, native, name, nodes, args, values, False, False, True)
        _programs.replace(key, program)
    value = program.value(values) if program else None
    if value is None:
        return None
    if not program.has_several:
        return _handle_on(cls, value, is_array)
    items = cast("Sequence[Any]", value) if isinstance(value, (tuple, list)) else [value]  # a plain function's only one
    return several([_handle_on(cls, item, is_array) for item in items])


def _note_for_c(table: dict[Any, Any], key: Any, value: Any) -> None:
    if len(table) >= MAX_PROGRAMS:
        table.clear()
    table[key] = value


def _makes_values() -> bool:
    """Whether what is made of nothing is a known value here, and no node."""
    return bool(bound()) and not records()


def _key(
    cls: type[Handle],
    native: Callable[..., Any],
    args: Sequence[Any],
    values: list[Any],
    is_of_elements: bool,
    is_weak: bool,
) -> tuple[Any, ...] | None:
    """What tells the programs of `native` apart, with the values of known operands added to `values`; None where there
    is one that is not known, or no such key.
    """
    key: list[Any] = [native]
    for x in args:
        value = x._value if type(x) is cls else None
        if value is None or x._own_alias is not None:
            value = known(x) if isinstance(x, Handle) else of_numpy(x)
            if value is None:
                if isinstance(x, Handle) or not _is_keyed(x, key, values, is_of_elements, is_weak):
                    return None
                continue
        elif value.size > LARGEST:
            return None
        values.append(value)
        if is_of_elements:
            number = value.dtype.num if value.size <= SMALL else value.dtype.num + _NOT_SMALL
            key.append(number if value.ndim else ~number)
        else:
            key += (value.dtype.num, value.shape)
    return tuple(key)


def _first(
    cls: type[A],
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    key: Any,
    is_array: bool,
) -> A | None:
    """The result of a function where no program is there yet: what comes once would not pay for one."""
    _programs.add(key, _SEEN)
    try:
        root = native(name, *_given(name, nodes, args, _leaf))
        value = value_now(root, LARGEST) if type(root) is UOp else None
    except Exception:  # the longer way has words for it
        return None
    return None if value is None else _handle_on(cls, value, is_array)


def _leaf(value: Any, x: Any) -> UOp:
    """A node with a value that nobody writes to as long as the node is there."""
    if type(value) is not _NDARRAY:
        return UOp.const(value.item(), value.dtype)
    return UOp.buffer(buffer_from_numpy(value, copy=not value.flags.carray))


def view_of_known(x: A, native: Callable[..., Any], name: str, args: Sequence[Any], is_turn: bool = False) -> A | None:
    """What the steps ``native(name, x, *args)`` give of `x`, if that is known and small; None where it is for the graph
    to say.

    Args:
        is_turn: the steps depend on the number of axes alone.
    """
    value = x._value
    if type(value) is not _NDARRAY:
        return None
    key: list[Any] = [native, value.ndim] if is_turn else [native, value.dtype.num, value.shape]
    for arg in args:
        if not _is_keyed(arg, key, None):
            return None
    found = tuple(key)
    lens = _lenses.get(found)
    if lens is None:
        try:
            lens = native(name, x._frame(), *args)
        except Exception:  # the longer way has words for it
            return None
        _lenses.add(found, lens)
        _note_for_c(_lenses_for_c, found, lens)
    return view_at_once(x, lens)


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


def _is_keyed(
    x: Any, key: list[Any], values: list[Any] | None, is_of_elements: bool = False, is_weak: bool = False
) -> bool:
    """Add what is to be known of an argument that is no array of ours that is known; whether that can be.

    Args:
        is_of_elements: each is an operand of its own.
        is_weak: then numbers of Python's are operands like others.
    """
    if type(x) in _STATIC:
        key += (type(x), x)
        return True
    if is_of_elements and is_weak and values is not None and type(x) in _WEAK:
        key.append(type(x))
        values.append(_WEAK[type(x)](x))
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
    if values is None:
        return False
    key += (list, len(x))
    for item in x:
        value = known(item) if isinstance(item, Handle) else of_numpy(item)
        if value is not None:
            values.append(value)
            key += (value.dtype.num, value.shape)
        elif type(item) in (list, tuple) or not _is_keyed(item, key, None):
            return False
    return True


def _made(
    cls: type[Handle],
    native: Callable[..., Any],
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    values: Sequence[Any],
    is_of_elements: bool,
    numbers_count: bool,
    may_be_several: bool = False,
) -> Any:
    """The program; False where there is none, 0 where there is none for all shapes."""
    inputs: list[UOp] = []

    def added(value: Any, x: Any) -> Any:
        shape = (_ANY_SHAPE if value.shape else ()) if is_of_elements else value.shape
        node = UOp.param(len(inputs), shape, value.dtype)
        inputs.append(node)
        return cls._from_uop(node, True) if type(x) in _WEAK else node

    try:
        root = native(name, *_given(name, nodes, args, added, is_of_elements and not numbers_count))
        has_several = may_be_several and type(root) in (tuple, list)
        roots = list(cast("Sequence[Any]", root)) if has_several else [root]
        if not all([type(node) is UOp for node in roots]):
            return False
        program = program_now(roots, inputs, LARGEST)
    except Exception:  # the longer way has words for it
        return False
    if program is None:
        return False
    assert len(inputs) == len(values), (native, name)
    if program.n_calls > CALLS_AT_ONCE and max([value.size for value in values], default=0) > SMALL:
        return False  # a kernel passes over memory once
    return _Program(program, has_several) if not is_of_elements or program.is_of_elements() else 0


def _given(
    name: str,
    nodes: Sequence[bool | None],
    args: Sequence[Any],
    operand: Callable[[Any, Any], Any],
    has_weak: bool = False,
) -> Iterator[Any]:
    """The arguments of the function.

    Args:
        operand: makes of a known value and the argument that has it what the function is to be given.
        has_weak: numbers of Python's are operands too, whose dtype gives way to that of others.
    Raises:
        TypeError: an array is given for what takes none.
    """
    for x, is_node in zip(args, nodes, strict=True):
        items = cast("Sequence[Any]", x) if type(x) in (list, tuple) else ()
        if has_weak and type(x) in _WEAK:
            value = _WEAK[type(x)](x)
        else:
            value = known(x) if isinstance(x, Handle) else of_numpy(x)
        is_list = any([isinstance(item, Handle) or of_numpy(item) is not None for item in items])
        if (value is not None or is_list) and is_node is False:
            raise TypeError(name)
        if value is not None:
            yield operand(value, x)
        elif is_list:
            yield [_given_item(name, item, is_node, operand) for item in items]
        else:
            yield as_node(x, name=name) if is_node and x is not None else x


def _given_item(name: str, x: Any, is_node: bool | None, operand: Callable[[Any, Any], Any]) -> Any:
    value = known(x) if isinstance(x, Handle) else of_numpy(x)
    if value is not None:
        return operand(value, x)
    return as_node(x, name=name) if is_node else x


if IN_C is not None:
    IN_C.connect_function("of_known", of_known, _functions)
    IN_C.connect_function("view_of_known", view_of_known, _lenses_for_c)
    IN_C.connect_function("makes_values", _makes_values)
    of_known, view_of_known = IN_C.of_known, IN_C.view_of_known
