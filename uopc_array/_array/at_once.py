"""Small and known: NumPy computes at the line itself, and no node is made.

A handle whose value is known and small holds that as NumPy has it, in `_value`, and gets a node when somebody looks at
one: a derivative, a trace, a large operand, a function that has no way here. Nobody else holds the value then, so that
an assignment writes into it, and a view is a view of NumPy's, which is current as long as its base holds the value that
it is a part of.
Only what has the same bits as the graph goes this way: functions of which NumPy's are exact. The others have a program
(see `programs`).
A large array in memory holds its value too, from when a small part of it is read or written: that part is known and
small. What is done with the whole of it is the graph's.

Three bounds say what is small. To record a statement, recognise it and call its kernel costs some 20 us, whatever the
size; NumPy passes over memory once an operation, which takes some 10 us for 32,768 elements in the cache, where a fused
kernel passes once for all of them. So up to ALWAYS_AT_ONCE elements functions are computed at once, and operators up to
UNCHAINED. Between that and LARGEST one operation is, and a statement of few; longer ones are graphs from the second
time on, as the operators in C find out (`in_c/chains.h`). What has got a node stays the graph's. No value depends on
it. Without C there is ALWAYS_AT_ONCE alone.

The operators of the commonest operands are in C once more (the folder `in_c`), for Python's frames cost several times
what NumPy's calls do. Where that has not been built, the functions here do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import Context
from math import prod
from typing import Any, TypeVar, cast

import numpy as np

from uopc_array._array.extension import IN_C
from uopc_array._array.handle import MOST_LENSES, Handle
from uopc_array._array.index import ItemLens, is_plain_key
from uopc_array._array.lenses import BitsLens, DiagonalLens, Lens, MoveLens, PartLens, SpreadLens
from uopc_array._array.realize import buffer_from_numpy, view_in_memory
from uopc_array._array.tracing import records
from uopc_array._array.view import View
from uopc_core import (
    ALWAYS_AT_ONCE,
    AT_ONCE,
    DTYPES,
    EXECUTORS,
    SPARED,
    SPARED_BY_PART,
    UNCHAINED,
    DType,
    Ops,
    UOp,
    converted,
    current,
    value_now,
)
from uopc_core.errors import IndexBoundsError
from uopc_core.frontend import bounds
from uopc_core.frontend.alone import HAS_GLOBAL_LOCK
from uopc_core.frontend.cells import Root, root_of, take_value, writing

__all__ = [
    "ALIGNED_BYTES",
    "LARGEST",
    "REAL_SCALARS",
    "SMALL",
    "assigned_at_once",
    "at_once",
    "bound",
    "connect_operators",
    "converted_at_once",
    "copied_at_once",
    "handle_on",
    "handle_on_new",
    "holds_value_to_read",
    "holds_value_to_write",
    "in_place_at_once",
    "is_large_together",
    "item_at_once",
    "known",
    "of_numpy",
    "of_one_at_once",
    "quietly",
    "quietly_apart",
    "run_quietly",
    "taken_at_once",
    "view_at_once",
]

A = TypeVar("A", bound=Handle)
_new = object.__new__
_NDARRAY = np.ndarray
_BUFFER, _CONST = Ops.BUFFER, Ops.CONST
_IN_MEMORY = frozenset({_BUFFER, _CONST, Ops.SHRINK, Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP})  # or may be
_DTYPES = {dtype.char: dtype for dtype in DTYPES}
_NUMBERS = frozenset({int, float})
_SCALARS = frozenset([dtype.type for dtype in _DTYPES.values()])
REAL_SCALARS = frozenset([dtype.type for dtype in _DTYPES.values() if dtype.kind != "c"])
_STORED = frozenset({int, float, bool})
_VIEWS = frozenset({MoveLens, PartLens, BitsLens, SpreadLens, DiagonalLens})  # steps that strides describe

SMALL = ALWAYS_AT_ONCE  # elements up to which nothing but the settings is asked
# elements up to which NumPy writes under the lock of the interpreter: other threads see all of that or nothing
_UNDER_LOCK = 500
ALIGNED_BYTES = 1 << 14  # from which it pays that an array begins with a line of the cache, as kernels like it

# in which NumPy says nothing of overflow, of division by zero and of what is no number
_QUIET = Context()
_QUIET.run(np.seterr, all="ignore")
_run: Callable[..., Any] = _QUIET.run
run_quietly = _run  # RuntimeError where another thread is in there, see `quietly`


LARGEST = SMALL if IN_C is None else AT_ONCE  # elements of what is held as a value, whatever the settings say


def connect_operators(cls: type[Handle], methods: Mapping[str, Any], direct: Mapping[str, tuple[Ops, str]]) -> None:
    """Let the operators in C know the class of arrays, whose first base is `Quick`, what is computed in Python, and
    which operators of nodes are just an op.
    """
    if IN_C is not None:
        IN_C.connect_records(dict(direct), vars(bounds), _IN_MEMORY)
        sizes = LARGEST, SMALL, UNCHAINED, SPARED, SPARED_BY_PART, _UNDER_LOCK, MOST_LENSES
        IN_C.connect(cls, Root, Part, dict(methods), _QUIET, _VIEWS, *sizes, writing)


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, where NumPy does not warn."""
    try:
        return _run(function, *args)
    except RuntimeError:  # another thread is in there, or what this one has interrupted
        return _QUIET.copy().run(function, *args)


def quietly_apart(function: Callable[..., Any], *args: Any) -> Any:
    """The same, in a context that no other thread waits for, of what takes long."""
    return _QUIET.copy().run(function, *args)


def bound() -> int:
    """Elements up to which an array may be held as a value here."""
    settings = current()
    most = settings.at_once if HAS_GLOBAL_LOCK and EXECUTORS[settings.tier].numpy_work else 0
    return most if most <= LARGEST else LARGEST


class Part(View):
    """What a view knows whose value is part of the known value of its base.

    Attributes:
        base, is_writable: as of a view.
        memory: the value of the base; while that is the value of the base, the view is current.
        keys: the steps from there, lenses or the keys of indices.
    """

    __slots__ = ("keys",)
    version = None  # pyright: ignore[reportAssignmentType]  # its node is never to be used

    def __init__(self, base: Handle, memory: Any, keys: tuple[Any, ...], is_writable: bool) -> None:
        self.base = base
        self.memory = memory
        self.keys = keys
        self.is_writable = is_writable

    @property
    def shape(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.memory.shape

    @property
    def lenses(self) -> tuple[Lens, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return tuple([key if type(key) in _VIEWS else ItemLens(key) for key in self.keys])

    @property
    def root(self) -> Root:  # pyright: ignore[reportIncompatibleVariableOverride]
        return root_of(self.base)

    def is_stale(self) -> bool:
        return True


def known(x: Handle) -> Any:
    """The value of a handle, to be read only: where it is known and small, and what is computed of it at once has the
    bits that the graph has; else None.
    """
    value = x._value
    if value is not None:
        alias = x._own_alias
        is_current = alias is None or alias.memory is None or alias.memory is alias.base._value
        return value if is_current and value.size <= LARGEST else None
    if x._own_node.op not in _IN_MEMORY or x._is_shadowed:
        return None
    node = x._uop
    if node.flags or x._weak or node.size > bound():
        return None
    if node.op is _BUFFER:
        return node.realized.array
    if node.op is _CONST:
        return node.dtype.type(node.arg) if not node.shape and x._alias is None else None
    return view_in_memory(node)


def of_numpy(y: Any) -> Any:
    """An operand of NumPy's, a scalar or a small array of numbers, as it is; else None."""
    if type(y) is _NDARRAY:
        dtype = y.dtype
        return y if _DTYPES.get(dtype.char) is dtype and dtype.kind != "b" and y.size <= bound() else None
    return y if type(y) in _SCALARS else None


def at_once(function: Callable[[Any, Any], Any], x: A, y: Any, is_reflected: bool = False, kinds: str = "") -> A | None:
    """``function(x, y)``, an operator, if both are known and small; None where it is for the graph to compute.

    Args:
        is_reflected: it is ``function(y, x)``.
        kinds: of dtypes of which NumPy's bits are those of the graph; "" is all of them.
    """
    # `known`, spelled out
    a = x._value
    if a is None:
        a = known(x)
    elif (alias := x._own_alias) is not None and alias.memory is not None and alias.memory is not alias.base._value:
        return None
    if a is None:
        return None
    if type(y) in _NUMBERS:
        b = y if a.size <= LARGEST else None
    elif type(y) is type(x):
        b = y._value
        if b is None:
            b = known(y)
        elif (alias := y._own_alias) is not None and alias.memory is not None and alias.memory is not alias.base._value:
            return None
        if b is None or (a.size * b.size > LARGEST and is_large_together(a, b)):
            return None
    else:
        b = _complex_before(a, y, is_reflected) if type(y) is complex else of_numpy(y)
        if b is not None and is_large_together(a, b):
            return None
    if b is None or (kinds and not (a.dtype.kind in kinds and (type(b) is int or _kind_of(b) in kinds))):
        return None
    try:
        value = _run(function, b, a) if is_reflected else _run(function, a, b)
    except Exception:  # the longer way has words for it
        return None
    handle = _new(type(x))
    handle._value = value
    handle._alias = None
    handle._weak = False
    return handle


def _complex_before(a: Any, y: complex, is_reflected: bool) -> Any:
    """`y`, or NumPy's where it would take the value on its right, a float64, for a float of Python's."""
    return np.complex128(y) if is_reflected and type(a) is np.float64 else y


def _kind_of(b: Any) -> str:
    """The kind of the dtype of an operand, a number of Python's or a value of NumPy's."""
    return "f" if type(b) is float else "c" if type(b) is complex else b.dtype.kind


def is_large_together(a: Any, b: Any) -> bool:
    """Whether two values are broadcast to what is no longer small."""
    if type(b) is complex or a.shape == b.shape:
        return a.size > LARGEST
    try:
        return np.broadcast(a, b).size > LARGEST
    except ValueError:  # the longer way has words for it
        return True


def of_one_at_once(function: Callable[[Any], Any], x: A, kinds: str = "") -> A | None:
    """``function(x)``, if `x` is known and small; else None. See `at_once` for `kinds`."""
    a = known(x)
    if a is None or (kinds and a.dtype.kind not in kinds):
        return None
    try:
        return type(x)._from_value(_run(function, a))
    except Exception:  # the longer way has words for it
        return None


def handle_on(cls: type[A], node: UOp, is_array: bool) -> A:
    """A new handle on a node: on its value, where the node is a few operations away from what is known and small.

    Args:
        is_array: of no axes too, no number.
    """
    if not node.flags and node.realized is None and node.size <= SMALL and not records():
        most = min(bound(), SMALL)
        try:
            value = value_now(node, most) if most else None
        except IndexBoundsError:  # who asks for the value is told where this comes from
            value = None
        if value is not None:
            return cls._from_value(value if is_array or value.ndim else value[()])
    return cls._array_from_uop(node) if is_array else cls._from_uop(node)


def handle_on_new(cls: type[A], node: UOp) -> A:
    """A new array on a node that nobody else has: on its memory, where that is small."""
    if node.op is _BUFFER and node.size <= bound() and not records():
        return cls._from_value(node.realized.array)
    return handle_on(cls, node, True)


def copied_at_once(cls: type[A], values: Any) -> A | None:
    """A new array with the values of an array of NumPy's, where that is small and of a dtype of ours; else None."""
    dtype = values.dtype
    if _DTYPES.get(dtype.char) is not dtype or values.size > bound() or records():
        return None
    if values.nbytes >= ALIGNED_BYTES:
        return cls._from_value(buffer_from_numpy(values).array)
    if dtype.char == "?":  # a byte of NumPy's may be any
        truths = np.not_equal(values.view(np.uint8), 0)
        return cls._from_value(truths if isinstance(values, np.generic) else np.asarray(truths))
    return cls._from_value(values.copy())


def taken_at_once(cls: type[A], values: Any) -> A | None:
    """A new array on an array of NumPy's that nobody else has, where that is small; else None."""
    if values.nbytes >= ALIGNED_BYTES or not bound() or records():
        return None
    return cls._from_value(values)


def converted_at_once(x: A, dtype: DType | None = None) -> A | None:
    """A new array or number with the values of `x`, in `dtype` if that is given; None where it is for the graph."""
    values = known(x)
    if values is None or x._value is None or (dtype is not None and values.dtype.kind == "c" != dtype.kind):
        return None
    if dtype is None or dtype is values.dtype:
        return type(x)._from_value(values.copy())
    value = quietly(converted, np.asarray(values), dtype)
    return type(x)._from_value(value if type(values) is _NDARRAY else value[()])


def in_place_at_once(function: Callable[[Any, Any], Any], x: A, y: Any, kinds: str = "") -> A | None:
    """``x op= y`` if both are known and small: written to the array; of a number another number. Else None. See
    `at_once` for `kinds`.
    """
    a = _value_to_change(x)
    if type(a) is not _NDARRAY:
        return None if a is None else at_once(function, x, y, False, kinds)
    if a.size > LARGEST:
        return None
    alias = x._own_alias
    if alias is not None and not _may_write(alias):
        return None
    if type(y) is type(x):
        b = known(y)
        if b is None:
            return None
    elif type(y) in _NUMBERS:
        b = y
    else:
        b = y if type(y) is complex else of_numpy(y)
        if b is None:
            return None
    if kinds and a.dtype.kind not in kinds:
        return None
    writer = _Writer() if a.size > _UNDER_LOCK else None
    try:
        # one step, up to the operation, so that what has got a node meanwhile is not written to
        if x._value is not a or not (alias is None or alias.memory is None or alias.memory is alias.base._value):
            return None
        _run(function, a, b)
    except Exception:  # nothing has been written, and the longer way has words for it
        return None
    finally:
        if writer is not None:
            writer.end()
    return x


class _Writer:
    """One who writes to a known value so that NumPy lets other threads run meanwhile, from now on."""

    __slots__ = ()

    def __init__(self) -> None:
        writing.append(self)

    def end(self) -> None:
        with suppress(ValueError):  # this is a forked child
            writing.remove(self)


def _may_write(alias: Any) -> bool:
    """Whether what has this alias may be written to, and is current if it is a view."""
    return alias.is_writable and (alias.memory is None or alias.memory is alias.base._value)


def holds_value_to_read(x: Handle, key: Any) -> bool:
    """Whether an array in memory holds its value from now on, since `key`, as for `item_at_once`, selects a small part
    of it, and nobody else sees the memory.
    """
    if not is_plain_key(key):
        key = _in_ints(key)
        if not is_plain_key(key):
            key = _indices(key)
            if key is None:
                return False
    if type(key) is _NDARRAY:
        n = key.size * _row_size(x._own_node.shape)
    else:
        try:
            n = x._own_node.realized.array[key].size
        except Exception:  # the longer way has words for it, if another thread has no other node there meanwhile
            return False
    if n > SMALL or n > bound() or not _may_hold_value(x):
        return False
    take_value(x)
    return x._value is not None


def _row_size(shape: tuple[int, ...]) -> int:
    """Elements behind each index of the first axis."""
    return prod(shape[1:])


def holds_value_to_write(x: Handle, key: Any, value: Any) -> bool:
    """Whether an array in memory holds its value from now on, since what is assigned to `key`, of basic items, is known
    and small, and nobody else sees the memory.
    """
    if type(value) not in _STORED and (known(value) if type(value) is type(x) else of_numpy(value)) is None:
        return False
    if not bound() or not _may_hold_value(x) or not (is_plain_key(key) or is_plain_key(_in_ints(key))):
        return False
    take_value(x)
    return x._value is not None


def _value_to_change(x: Handle) -> Any:
    """The value that a handle holds; a small array in memory holds its value from now on, if nobody else sees that."""
    # nothing here may hold the node
    if (
        x._value is None
        and x._own_node.op is _BUFFER
        and x._own_node.size <= min(SMALL, bound())
        and _may_hold_value(x)
    ):
        take_value(x)
    return x._value


def _may_hold_value(x: Handle) -> bool:
    """Whether `x`, on a leaf of memory, is of no view, trace or derivative."""
    alias = x._own_alias
    return (
        (alias is None or not (alias.is_claim or alias.is_view or alias.is_shared))
        and not (x._is_shadowed or x._own_node.flags or x._weak or records())
        and len(x._own_node.shape) > 0
    )


def item_at_once(x: A, key: Any) -> A | None:
    """``x[key]``, if `x` is known and small, and `key` of basic items or one known array of integers or bool."""
    value = x._value
    alias = x._own_alias
    if type(value) is not _NDARRAY or (
        alias is not None and alias.memory is not None and alias.memory is not alias.base._value
    ):
        return None
    if type(key) is not int and not is_plain_key(key):
        key = _in_ints(key)
        if type(key) is not int and not is_plain_key(key):
            return _picked_at_once(x, value, key)
    try:
        item = value[key]
    except Exception:  # the longer way has words for it
        return None
    if type(item) is not _NDARRAY:
        alias = None
    elif alias is None:
        alias = _new(Part)
        alias.base, alias.memory, alias.keys, alias.is_writable = x, value, (key,), True
    elif alias.memory is None:
        alias = Part(x, value, (key,), alias.is_writable)
    elif len(alias.keys) < MOST_LENSES - 1:
        alias = Part(alias.base, alias.memory, (*alias.keys, key), alias.is_writable)
    else:
        return None
    handle = _new(type(x))
    handle._value = item
    handle._alias = alias
    handle._weak = False
    return handle


def _picked_at_once(x: A, value: Any, key: Any) -> A | None:
    """``x[key]``, whose value is `value`, if `key` is one known array of integers or bool; else None."""
    indices = _indices(key)
    if indices is None or not value.ndim:
        return None
    if indices.dtype.kind != "b" and indices.size * _row_size(value.shape) > LARGEST:
        return None
    try:
        return type(x)._from_value(value[indices])
    except Exception:  # the longer way has words for it
        return None


def _indices(key: Any) -> Any:
    """`key` as an array of NumPy's, where it is a known one of integers or bool; else None."""
    indices = known(key) if isinstance(key, Handle) else of_numpy(key)
    return indices if type(indices) is _NDARRAY and indices.dtype.kind in "biu" else None


def _in_ints(key: Any) -> Any:
    """`key` with ints of Python's for those that are known, numbers of ours or of NumPy's; what else there is stays."""
    if type(key) is tuple:
        return tuple([_in_ints(item) for item in cast("tuple[Any, ...]", key)])
    if type(key) is slice:
        return slice(_in_ints(key.start), _in_ints(key.stop), _in_ints(key.step))
    value = known(key) if isinstance(key, Handle) else key
    return int(cast("Any", value)) if isinstance(value, np.integer) else key


def view_at_once(x: A, lens: Lens) -> A | None:
    """What a step gives of `x`, if `x` is known and small and lies in memory as it would in the graph; else None."""
    value = x._value
    alias = x._own_alias
    if type(value) is not _NDARRAY or type(lens) not in _VIEWS:
        return None
    if alias is None or alias.memory is None:
        base, memory, keys = x, value, (lens,)
    elif alias.memory is alias.base._value:
        base, memory, keys = alias.base, alias.memory, (*alias.keys, lens)
    else:
        return None
    if len(keys) >= MOST_LENSES or value.size > LARGEST or not memory.flags.c_contiguous:
        return None
    try:
        item = lens.on_array(value)
    except ValueError:  # there is no such view
        return type(x)._from_value(value.reshape(lens.arg)) if type(lens) is MoveLens else None
    if item.size > LARGEST:
        return None
    handle = _new(type(x))
    handle._value = item
    handle._alias = Part(base, memory, keys, lens.is_writable and (alias is None or alias.is_writable))
    handle._weak = False
    return handle


def _is_stored(given: Any, dtype: Any) -> bool:
    """Whether NumPy converts values that are stored in an array of `dtype` as the graph does, and lets them."""
    return given is dtype or (dtype.kind == "f" and given.kind != "c") or dtype.kind == "c"


def assigned_at_once(x: Handle, key: Any, value: Any) -> bool:
    """``x[key] = value``, if both are known and small and the key is as for `item_at_once`; whether it is done."""
    target = x._value
    alias = x._own_alias
    if type(target) is not _NDARRAY or (alias is not None and not _may_write(alias)):
        return False
    if type(value) is type(x):
        value = known(value)
        if value is None or not _is_stored(value.dtype, target.dtype):
            return False
    elif type(value) not in _STORED and not (type(value) is complex and target.dtype.kind == "c"):
        value = of_numpy(value)
        if value is None or not _is_stored(value.dtype, target.dtype):
            return False
    if type(key) is not int and not is_plain_key(key):
        key = _in_ints(key)
        if type(key) is not int and not is_plain_key(key):
            key = _indices(key)
            if key is None:
                return False
    writer = _Writer() if target.size > _UNDER_LOCK and not (type(key) is int and target.ndim == 1) else None
    try:
        # one step, so that what has got a node meanwhile is not written to
        if x._value is target and (alias is None or alias.memory is None or alias.memory is alias.base._value):
            target[key] = value
            return True
    except Exception:  # nothing has been written, and the longer way has words for it
        pass
    finally:
        if writer is not None:
            writer.end()
    return False


if IN_C is not None:
    IN_C.connect_function("bound", bound)
    IN_C.connect_function("at_once", at_once)
    IN_C.connect_function("of_one_at_once", of_one_at_once)
    IN_C.connect_function("view_at_once", view_at_once)
    IN_C.connect_function("handle_on", handle_on)
    handle_on = IN_C.handle_on
    at_once, of_one_at_once, view_at_once = IN_C.at_once, IN_C.of_one_at_once, IN_C.view_at_once
