"""Calls of jitted functions that C makes without Python: prepared when a call has run as compiled code, and made for
arguments like those. See `_array/in_c/calls.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import IN_C, LARGEST, bound
from uopc_array._transforms.traces import Trace
from uopc_core import LOCKED_WORK, Buffer, UOp, current

__all__ = ["NOT_YET", "Condition", "prepared_call"]

Condition = tuple[Any, str | None, Any]  # a cell and what it holds, or a namespace, a name and what that is
NOT_YET: Any = object()  # the plan is not compiled, or the settings are others for now
# Temporaries come from the C library, which gives larger blocks back to the system after each call; the pool does not.
_MOST_TEMPORARY_BYTES = 1 << 16
_IN_MEMORY, _NUMBER, _FLOAT, _INT = range(4)


def prepared_call(
    trace: Trace, state: Any, conditions: Sequence[Condition], captured: Sequence[Array], args: Sequence[Any]
) -> Any:
    """What makes calls like that of `trace` with `args`; None where nothing can, or NOT_YET.

    Args:
        state: of the function, to which the trace belongs.
        conditions: what has to hold for that.
        captured: arrays around the function, the inputs before `args`.
    """
    executable, arrays = trace.executable, _arrays_of(trace)
    if IN_C is None or trace.checks is not None or not arrays:
        return None
    settings, most = current(), bound()
    if executable is None or settings.verify or settings.debug or not most:
        return NOT_YET
    direct = executable.direct()
    if isinstance(direct, bool):
        return NOT_YET if direct else None
    if len(direct.outputs) != len(arrays) or max([trace.nodes[i].size for i in arrays]) > min(most, LARGEST):
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
        tuple(arguments),
        tuple([_pointer(x) for x in buffers]),
        direct.outputs,
        trace.single is None,
        direct.offsets,
        direct.arena_bytes,
        tuple([_scalar(x, dtype.kind) for x, dtype in zip(scalars, direct.plan.scalar_dtypes, strict=True)]),
        (direct, tuple(buffers)),
    )


def _arrays_of(trace: Trace) -> list[int]:
    """The numbers of the nodes of the result, if that is one new array, or a tuple of new ones; else nothing."""
    if trace.single is not None:
        return [] if trace.single[0] else [0]
    made = trace.result.made_in_tuple()
    if made != trace.computed or made != list(range(len(trace.nodes))) or (True in map(any, trace.kinds)):
        return []
    return made


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
