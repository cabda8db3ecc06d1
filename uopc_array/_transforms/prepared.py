"""Calls of jitted functions that C makes without Python: prepared when a call has run as compiled code, and made for
arguments like those. See `_array/in_c/calls.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import bound
from uopc_array._array.extension import IN_C
from uopc_array._transforms.inputs import Arguments
from uopc_array._transforms.results import Constant, Made
from uopc_array._transforms.traces import Trace
from uopc_array._transforms.trees import unflatten
from uopc_core import LOCKED_WORK, Buffer, UOp, current

__all__ = ["NOT_YET", "Condition", "prepared_call", "structure_of"]

Condition = tuple[Any, str | None, Any]  # a cell and what it holds, or a namespace, a name and what that is
Form = tuple[Any, ...]  # see `_array/in_c/containers.h`
Structure = tuple[Form | None, Form | None, int]  # of the arguments, of those by name, and how many leaves there are
NOT_YET: Any = object()  # the plan is not compiled, or the settings are others for now
_MOST_TEMPORARY_BYTES = (1 << 21) - 64  # what is larger C does not keep for the next call, see `in_c/memory.h`
_MOST_ARGUMENTS = 64  # and results, of which C has room for so many
_IN_MEMORY, _NUMBER, _FLOAT, _INT = range(4)
_LEAF, _DICT, _LIST, _TUPLE, _CONSTANT = range(5)
_KEYS = frozenset({str, int})
_CONSTANTS = frozenset({type(None), bool, str, int, float, complex})


def prepared_call(
    trace: Trace,
    state: Any,
    conditions: Sequence[Condition],
    captured: Sequence[Array],
    args: Sequence[Any],
    structure: Structure | None = None,
) -> Any:
    """What makes calls like that of `trace` with `args`; None where nothing can, or NOT_YET.

    Args:
        state: of the function, to which the trace belongs.
        conditions: what has to hold for that.
        captured: arrays around the function, the inputs before `args`.
        args: the arguments, or their leaves.
        structure: of the arguments, see `structure_of`; None: each is a leaf.
    """
    executable = trace.executable
    if IN_C is None or trace.checks is not None or len(captured) + len(args) > _MOST_ARGUMENTS:
        return None
    form = _form_of_result(trace)
    if form is None:
        return None
    is_single = form == (_LEAF, 0)
    settings, most = current(), bound()
    if executable is None or settings.verify or settings.debug or not most:
        return NOT_YET
    direct = executable.direct()
    if isinstance(direct, bool):
        return NOT_YET if direct else None
    if len(direct.outputs) != len(trace.nodes) or max([node.size for node in trace.nodes]) > most:
        return None
    if direct.arena_bytes > _MOST_TEMPORARY_BYTES:
        return None
    arguments = [_argument(x) for x in (*captured, *args)]
    buffers, scalars = executable.inputs
    if None in arguments or any([dtype.kind == "c" for dtype in direct.plan.scalar_dtypes]):
        return None
    return IN_C.prepare_call(
        settings,
        state,
        tuple(conditions),
        tuple(captured),
        direct.entry,
        direct.program,
        settings.num_threads,
        direct.plan.work <= LOCKED_WORK,
        structure,
        tuple(arguments),
        tuple([_pointer(x) for x in buffers]),
        direct.outputs,
        None if is_single else form,
        direct.offsets,
        direct.arena_bytes,
        tuple([_scalar(x, dtype.kind) for x, dtype in zip(scalars, direct.plan.scalar_dtypes, strict=True)]),
        (direct, tuple(buffers)),
    )


def structure_of(given: Arguments) -> Structure | None:
    """What C is to compare the arguments of a call with; None where there is more among them than arrays and numbers
    in dicts, lists and tuples, and strings, bools and None.
    """
    marks: list[Any] = []
    n = 0
    for leaf, number in zip(given.leaves, given.numbers, strict=True):
        marks.append(_Mark(n) if number is not None else leaf)
        n += number is not None
    args, kwargs = unflatten(given.treedef, marks)
    forms = _form(args), _form(kwargs) if kwargs else None
    return None if forms[0] is None or (kwargs and forms[1] is None) else (*forms, n)


def _form_of_result(trace: Trace) -> Form | None:
    """How the result is made of new arrays, all there are; None where it is otherwise."""
    numbers = list(range(len(trace.nodes)))
    if not numbers or trace.computed != numbers or True in map(any, trace.kinds):
        return None
    parts, treedef = trace.result.parts, trace.result.treedef
    marks = [_Mark(part.number) if isinstance(part, Made) else part for part in parts]
    if {mark.number for mark in marks if isinstance(mark, _Mark)} != set(numbers):
        return None
    return _form(unflatten(treedef, [part.value if isinstance(part, Constant) else part for part in marks]))


class _Mark:
    """In the place of a leaf, its number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _form(x: Any) -> Form | None:
    """A container, with marks in the places of leaves, as `containers.h` reads it."""
    if type(x) is _Mark:
        return _LEAF, x.number
    if type(x) is dict:
        named = cast("dict[Any, Any]", x)
        if not _KEYS.issuperset(map(type, named)):
            return None
        forms = [_form(item) for item in named.values()]
        return None if None in forms else (_DICT, tuple(named), tuple(forms))
    if type(x) in (list, tuple):
        items = cast("Sequence[Any]", x)
        forms = [_form(item) for item in items]
        return None if None in forms else (_LIST if type(items) is list else _TUPLE, tuple(forms))
    return (_CONSTANT, x) if type(x) in _CONSTANTS else None


def _argument(x: Any) -> tuple[int, tuple[int, ...], Any] | None:
    """The kind, shape and dtype of an argument."""
    if type(x) is Array:
        node = x._uop
        return (_NUMBER if x._is_number else _IN_MEMORY), node.shape, node.dtype
    if isinstance(x, np.ndarray):
        array = cast("np.ndarray[Any, Any]", x)
        return _IN_MEMORY, array.shape, array.dtype
    return (_FLOAT, (), None) if type(x) is float else (_INT, (), None) if type(x) is int else None


def _pointer(x: Any) -> tuple[int, int]:
    return (-1, x.pointer) if isinstance(x, Buffer) else (x, 0)


def _scalar(x: Any, kind: str) -> tuple[str, int, Any]:
    return (kind, x.arg[0], None) if type(x) is UOp else (kind, -1, x)
