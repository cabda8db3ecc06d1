"""`jit`: run a function once on inputs without values, keep the plan of the graph that it builds, and run the plan from
then on.

A trace is kept per structure: containers, shapes, dtypes, the types of Python numbers (which are inputs themselves),
and the values of everything else. What the function can reach besides its arguments (`_captures`) is part of that: its
arrays are inputs, and what it binds anew or writes to is written back at each call. Where an input is under
differentiation or under another trace, the kept graph is put into the graph of the input instead.
No lock is held while the function runs: two threads may trace it at once, and one of the traces is kept.
"""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np

import uopc_core
from uopc_array._array.array import Array
from uopc_array._array.extension import IN_C, QuickCall
from uopc_array._array.numbers import integers
from uopc_array._array.tracing import StateNeededError
from uopc_array._transforms.boxes import CellBox, NamesBox
from uopc_array._transforms.captures import Walk
from uopc_array._transforms.inputs import Arguments, Memo, SharedView, views_among
from uopc_array._transforms.prepared import NOT_YET, Condition, prepared_call, structure_of
from uopc_array._transforms.traces import Trace, call_trace, make_trace
from uopc_array._transforms.transformed import TracedFunction, check_function
from uopc_core import SETTINGS, Buffer, Ops
from uopc_core.errors import TraceError, shortened

__all__ = ["JittedFunction", "jit"]

_BUFFER = Ops.BUFFER
_NDARRAY = np.ndarray
MAX_TRACES = 256  # kept per function
MAX_PREPARED = 4  # calls for C kept per function, which are tried one after the other
_numbers = itertools.count(1)  # of states, none given twice: another thread may hold one that has been forgotten


class _State:
    """What a jitted function could reach when somebody last looked.

    Attributes:
        walk: all that was found.
        handles: the arrays.
        key: stands for that in the key of a trace; 0 if there is nothing.
        cells: variables of closures, and what they held.
        others: whether there is more that may have changed.
    """

    __slots__ = ("cells", "handles", "key", "others", "walk")

    def __init__(self, walk: Walk, key: int) -> None:
        self.walk = walk
        self.key = key
        self.handles = walk.handles
        known = [(box.cell, before[""]) for box, before in walk.boxes if isinstance(box, CellBox) and before]
        self.cells = tuple(known)
        self.others = len(known) < len(walk.boxes) + len(walk.arrays)

    def conditions(self) -> list[Condition] | None:
        """What `is_current` asks for, where that is of variables alone, of closures and modules."""
        found: list[Condition] = [(cell, None, value) for cell, value in self.cells]
        for box, before in self.walk.boxes:
            if type(cast("object", box)) is NamesBox:
                names = cast("NamesBox", box)
                if before.keys() != set(names.names):
                    return None
                found += [(names.space, name, before[name]) for name in names.names]
            elif not (isinstance(box, CellBox) and before):
                return None
        return None if self.walk.arrays else found

    def is_current(self) -> bool:
        """Whether all is as it was."""
        try:
            for cell, value in self.cells:
                if cell.cell_contents is not value:
                    return False
        except ValueError:  # an empty cell
            return False
        return not self.others or self.walk.is_current()


P = ParamSpec("P")
R = TypeVar("R")


class _Jitted(TracedFunction, Generic[P, R]):
    """What `jit` returns, with calls in Python."""

    __slots__ = ("_prepared", "_state")
    _prepared: tuple[Any, ...]  # calls for C, see `prepared`; each looks whether `_state` is the one that it is of
    _state: _State | None

    def __init__(
        self, f: Callable[P, R], static_argnums: Sequence[int], static_argnames: Sequence[str], inline: bool = True
    ) -> None:
        check_function("jit", f)
        super().__init__(f, ("jit", tuple(static_argnums), tuple(static_argnames), inline))
        self._inline = inline
        self._static_argnums = frozenset(static_argnums)
        self._static_argnames = frozenset(static_argnames)
        self._forget()

    def _forget(self) -> None:
        self._traces: OrderedDict[Hashable, Trace] = OrderedDict()
        self._keys: dict[Hashable, int] = {}
        self._classes: dict[type, None] = {}
        self._ignored: dict[int, Any] = {}
        self._by_value = False
        self._state = None
        self._memo: Memo | None = None
        self._prepared = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        state = self._state
        if state is None or (state.key and not state.is_current()):
            state = self._look()
        if not kwargs and not self._static_argnums:
            values: list[Any] = []
            key = _plain_key(args, state.key, values)
            if key is not None:
                trace = self._traces.get(key)
                if trace is not None and trace.is_plain:
                    captured = state.handles
                    if trace.offered is not state:
                        self._prepare(trace, state, args, None)
                    if not captured:
                        return trace.run_one(values) if trace.is_quick and len(values) == len(args) else trace.run(args)
                    if not any([x._uop.flags for x in captured]):
                        return trace.run([*captured, *args])
        try:
            return self._call_in_full(state, args, kwargs)
        except Exception as error:
            raise shortened(error) from error.__cause__

    def _prepare(self, trace: Trace, state: _State, args: Sequence[Any], structure: Any) -> None:
        """Have calls like this made by C from now on, where they can be; see `prepared_call`."""
        conditions = state.conditions()
        prepared = None
        if conditions is not None:
            prepared = prepared_call(trace, state, conditions, state.handles, args, structure)
        if prepared is NOT_YET:
            return
        trace.offered = state
        if prepared is not None:
            self._prepared = (prepared, *self._prepared[: MAX_PREPARED - 1])

    def _prepare_in_full(self, trace: Trace, state: _State, given: Arguments) -> None:
        """The same for arguments in containers, by name, or of which some are part of the structure."""
        is_static = self._static_argnums or self._static_argnames or given.walk is not None
        structure = None if is_static else structure_of(given)
        if structure is None:
            trace.offered = state
        else:
            self._prepare(trace, state, given.inputs[len(state.handles) :], structure)

    def _call_in_full(self, state: _State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return self._call(state, args, kwargs)
        except StateNeededError as error:
            if state.walk.by_value:
                raise TraceError(str(error)) from None
        self._by_value = True
        self._memo = None
        return self._call(self._look(), args, kwargs)

    def __repr__(self) -> str:
        return f"jit({self.function!r})"

    def _made_of(self) -> tuple[Any, ...]:
        return JittedFunction, (
            self.function,
            tuple(self._static_argnums),
            tuple(self._static_argnames),
            self._inline,
        )

    def _look(self) -> _State:
        """Look at what the function can reach, anew."""
        walk = Walk()
        walk.ignored = self._ignored
        walk.by_value = self._by_value
        walk.visit(self.function)
        for cls in list(self._classes):
            walk.visit(cls)
        walk.look_into_namespaces()
        key = 0
        if walk.boxes or walk.arrays:
            parts = tuple(walk.key)
            if len(self._keys) > MAX_TRACES:
                self._traces.clear()
                self._keys.clear()
            key = self._keys.setdefault(parts, next(_numbers))
        self._prepared = ()
        self._state = state = _State(walk, key)
        return state

    def _call(self, state: _State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with any arguments: containers, objects, static values, arrays under differentiation."""
        static = self._static_argnums, self._static_argnames
        given = Arguments(args, kwargs, *static, state.walk, state.key, self._memo)
        if given.walk is not None and not given.walk.classes.keys() <= state.walk.classes.keys():
            self._classes |= given.walk.classes  # their methods may lead to more
            state = self._look()
            given = Arguments(args, kwargs, *static, state.walk, state.key)
        views: list[SharedView] = []
        trace = self._trace(given, views)
        if trace.writes:
            views = views_among(given.inputs)
            if views:
                trace = self._trace(given, views)
        if trace.is_plain and trace.offered is not state and IN_C is not None:
            self._prepare_in_full(trace, state, given)
        result = call_trace(trace, given, views)
        if given.walk is not None and not trace.changes:
            self._memo = given.memo()
        return result

    def _trace(self, given: Arguments, views: list[SharedView]) -> Trace:
        """The trace for such arguments, made if there is none."""
        trace = self._traces.get(given.key_with(views))
        if trace is None:
            uopc_core.warm_up()
            trace = make_trace(self.function, given, views)
            trace.is_inline = self._inline
            key = given.key_with(views)
            if trace.grown:
                key = self._ignore(trace, given, views)
            if trace.is_kept:
                self._traces[key] = trace
            if len(self._traces) > MAX_TRACES:
                self._drop_oldest()
        return trace

    def _ignore(self, trace: Trace, given: Arguments, views: list[SharedView]) -> Hashable:
        """Look no more into what the function puts things into; the key of the trace after that."""
        self._ignored |= {id(items): items for items in trace.grown}
        state = self._look()
        again = Arguments(given.args, given.kwargs, frozenset(), frozenset(), state.walk, state.key)
        trace.is_kept = trace.is_kept and len(again.inputs) == len(given.inputs)
        return again.key_with(views)

    def _drop_oldest(self) -> None:
        try:
            self._traces.popitem(last=False)
        except KeyError:  # another thread was faster
            return


class JittedFunction(QuickCall, _Jitted[P, R]):
    """What `jit` returns."""

    __slots__ = ()


if IN_C is not None:
    IN_C.connect_calls(JittedFunction, cast("Any", _Jitted).__call__, Buffer, Ops.BUFFER, Ops.CONST, SETTINGS)


def _names(given: Any) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if isinstance(names, Iterable):
        found = tuple(cast("Iterable[Any]", names))
        if all(isinstance(name, str) for name in found):
            return found
    raise TypeError(f"jit: expected a name or a sequence of names for static_argnames, got {given!r:.60}")


def _plain_key(args: tuple[Any, ...], state: int, values: list[Any]) -> Hashable | None:
    """The structure of arguments that are arrays with values, NumPy's too, and Python numbers only; None for others.

    Args:
        state: stands for what the function can reach besides.
        values: gets those of the arguments that are in memory already, or numbers.
    """
    key: list[Any] = [state]
    for x in args:
        if type(x) is Array:
            alias = x._own_alias
            uop = x._own_node if alias is None else x._uop  # what `_uop` does, without a call
            if uop.flags or x._weak:
                return None
            shape = uop.shape
            key.append(shape if shape or alias is not None else None)  # of a number None
            key.append(uop.dtype)
            if uop.op is _BUFFER:
                values.append(uop.realized)
        elif type(x) is float or (type(x) is int and -(2**63) <= x < 2**63) or type(x) is complex:
            key.append(type(x))
            values.append(x)
        elif type(x) is _NDARRAY:
            key.append(x.shape)
            key.append(x.dtype)
        else:
            return None
    return tuple(key)


@overload
def jit(
    f: Callable[P, R],
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    inline: bool = True,
) -> JittedFunction[P, R]: ...
@overload
def jit(
    f: None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    inline: bool = True,
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
def jit(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    inline: bool = True,
) -> Any:
    """The function `f`, traced once for each structure of its arguments and compiled.

    Arrays and Python numbers are inputs; strings, bools, None and other hashable values are part of the structure, and
    so is what `static_argnums` and `static_argnames` name. Arrays that `f` finds around it, in variables and in the
    attributes of objects, are inputs as well, with their values at the call; what `f` writes to and binds anew there
    happens at each call. Prints happen when it is traced. It works inside and outside of `grad` and of another `jit`.

    Args:
        f: takes and returns arrays, numbers, and nested containers of them.
        static_argnums: arguments by position whose values are fixed in a trace, such as an axis or a number of steps.
        static_argnames: the same by name.
        inline: where `f` is called inside of another trace or a derivative, its graph is put in place there, and fused
            with what is around it. With False it is called as a unit: planned and compiled once, however often that
            is. A derivative in reverse mode computes it again then, as of what is checkpointed.
    Returns:
        a function of the same arguments and results; without `f`, the decorator that makes it.
    Raises:
        TypeError: `f` is no function, or `inline` neither True nor False.
        TraceError: (a TypeError, when called) `f` asks for a value, as in ``if x > 0`` or ``float(x)``; the message
            names the line. Or it does what no later call could do again, such as drawing random numbers.
    Example:
        >>> jit(lambda x, y: x * y + 1)(3.0, 2.0)
        Array(7., dtype=float64)
    """
    if f is not None:
        check_function("jit", f)
    numbers = integers("jit", "static_argnums", static_argnums)
    names = _names(static_argnames)
    if type(inline) is not bool:
        raise TypeError(f"jit: expected True or False for inline, got {inline!r:.60}")
    if f is None:
        return functools.partial(JittedFunction, static_argnums=numbers, static_argnames=names, inline=inline)
    return JittedFunction(f, numbers, names, inline)
