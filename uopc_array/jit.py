"""`jit`: run a function once on inputs without values, keep the plan of the graph that it builds, and run the plan from
then on.

A trace is kept per structure: containers, shapes, dtypes, the types of Python numbers (which are inputs themselves),
and the values of everything else. Where an argument is under differentiation or under another trace, the kept graph is
put into the graph of the argument instead.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, overload

import numpy as np

import uopc_core
from uopc_array._nodes import as_node, cast_node, default_dtype
from uopc_array._numbers import integers
from uopc_array._origins import named
from uopc_array._realize import buffer_of_node
from uopc_array._tracing import fresh_number, substitute
from uopc_array._trees import TreeDef, flatten, unflatten
from uopc_array.array import Array
from uopc_core import TRACED, TRACKED, Ops, UOp, toposort
from uopc_core.errors import IndexBoundsError, TraceError

__all__ = ["JittedFunction", "jit"]

MAX_TRACES = 256  # kept per function
_BUFFER = Ops.BUFFER
_tracing = threading.RLock()  # one for all functions: they call each other
_NUMBERS = frozenset({int, float, complex})
_TYPES = {"i": int, "u": int, "f": float, "c": complex}  # of traced Python numbers, by the kind of their dtype


@dataclass(frozen=True)
class _Static:
    """An argument that is part of the structure: a trace is kept for each of its values."""

    value: Hashable


@dataclass
class _Trace:
    """A function's graph for one structure of its arguments.

    Attributes:
        params: the inputs, in the order of the leaves that are not static.
        outputs: the nodes that the function returned, and after them the new values of arguments that it assigned to.
        leaves: what it returned, flattened; an Array stands for the next of `outputs`.
        assigned: numbers of the inputs that it assigned to.
        computed: numbers of the outputs that the plan computes.
        passed: outputs that are inputs as they came, with the number of the input.
        single: the one array that it returned, where that is all there is.
        foreign: whether `outputs` depend on a variable or an input of somebody else, so that they cannot be planned on
            their own.
    """

    params: list[UOp]
    outputs: list[UOp]
    leaves: list[Any]
    treedef: TreeDef
    assigned: list[int]
    foreign: bool
    single: Array | None = None
    computed: list[int] = field(default_factory=list[int])
    passed: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    executable: uopc_core.Executable | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class JittedFunction:
    """What `jit` returns."""

    def __init__(self, f: Callable[..., Any], static_argnums: Sequence[int], static_argnames: Sequence[str]) -> None:
        self._f = f
        self._static_argnums = frozenset(static_argnums)
        self._static_argnames = frozenset(static_argnames)
        self._traces: OrderedDict[Hashable, _Trace] = OrderedDict()
        functools.update_wrapper(self, f, updated=())  # the attributes of a jitted `f` are its own

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and not self._static_argnums:
            key = _plain_key(args)
            if key is not None:
                trace = self._traces.get(key)
                if trace is None:
                    trace = self._trace(key, args, kwargs)
                if not trace.foreign:
                    return _run(trace, args)
        return self._call(args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, _Static(instance))

    def __repr__(self) -> str:
        return f"jit({self._f!r})"

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with any arguments: containers, static values, arrays under differentiation."""
        args, kwargs = self._mark_static(args, kwargs)
        leaves, treedef = flatten((args, kwargs))
        inputs = [leaf for leaf in leaves if _is_input(leaf)]
        key: tuple[Hashable, ...] = tuple([part for leaf in leaves for part in _signature(leaf)])
        if kwargs or treedef != _plain_treedef(len(args)):
            key = (treedef, key)
        flags = 0
        for leaf in inputs:
            flags |= leaf._uop.flags if isinstance(leaf, Array) else 0
        trace = self._traces.get(key)
        if trace is None:
            trace = self._trace(key, args, kwargs)
        return _inline(trace, inputs) if flags or trace.foreign else _run(trace, inputs)

    def _mark_static(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args = tuple([_Static(x) if i in self._static_argnums else x for i, x in enumerate(args)])
        return args, {name: _Static(x) if name in self._static_argnames else x for name, x in kwargs.items()}

    def _trace(self, key: Hashable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Trace:
        with _tracing:
            trace = self._traces.get(key)
            if trace is None:
                trace = _make_trace(self._f, args, kwargs)
                if not (trace.foreign and _reads_foreign_input(trace)):
                    self._traces[key] = trace
                if len(self._traces) > MAX_TRACES:
                    self._traces.popitem(last=False)
            return trace


def _plain_key(args: tuple[Any, ...]) -> Hashable | None:
    """The structure of arguments that are arrays with values and Python numbers only; None for any others."""
    key: list[Any] = []
    for x in args:
        if type(x) is Array:
            uop = x._uop
            if uop.flags or x._weak:
                return None
            shape = uop.shape
            key.append(shape if shape or x._alias is not None else None)  # of a number None
            key.append(uop.dtype)
        elif type(x) is float or (type(x) is int and -(2**63) <= x < 2**63) or type(x) is complex:
            key.append(type(x))
        else:
            return None
    return tuple(key)


@functools.cache
def _plain_treedef(n: int) -> TreeDef:
    """The structure of `n` positional arguments that are no containers."""
    return flatten(((0,) * n, {}))[1]


def _is_input(leaf: Any) -> bool:
    if type(leaf) is int:
        return -(2**63) <= leaf < 2**63
    return isinstance(leaf, Array | np.ndarray | np.generic) or type(leaf) in _NUMBERS


def _signature(leaf: Any) -> tuple[Hashable, ...]:
    """What of a leaf a trace depends on, as in `_plain_key`.

    Raises:
        TraceError: a static leaf that is not hashable.
    """
    if isinstance(leaf, Array):
        if leaf._weak:
            return (_TYPES[leaf._uop.dtype.kind],)
        return (None if leaf._is_number else leaf._uop.shape, leaf._uop.dtype)
    if isinstance(leaf, np.ndarray | np.generic):
        like = cast("Array", leaf)
        return (("scalar", like.dtype),) if isinstance(leaf, np.generic) else (like.shape, like.dtype)
    kind = cast("type[object]", type(leaf))
    if _is_input(leaf):
        return (kind,)
    value = leaf.value if isinstance(leaf, _Static) else leaf
    try:
        hash(value)
    except TypeError:
        raise TraceError(
            f"jit: a static argument must be hashable, got {value!r:.60}; pass arrays and numbers as inputs, "
            "in tuples, lists and dicts if you like"
        ) from None
    return ((kind, cast("type[object]", type(value)), value),)


# ------------------------------------------------------------------------------------------------------------ tracing


def _make_trace(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Trace:
    leaves, treedef = flatten((args, kwargs))
    handles = [_input(leaf) for leaf in leaves if _is_input(leaf)]
    params = [handle._uop for handle in handles]
    rest = iter(handles)
    replaced = [next(rest) if _is_input(leaf) else leaf.value if isinstance(leaf, _Static) else leaf for leaf in leaves]
    args, kwargs = unflatten(treedef, replaced)
    out_leaves, out_tree = flatten(f(*args, **kwargs))
    assigned = [i for i, handle in enumerate(handles) if handle._uop is not params[i]]
    outputs = [leaf._uop for leaf in out_leaves if isinstance(leaf, Array)] + [handles[i]._uop for i in assigned]
    trace = _Trace(params, outputs, out_leaves, out_tree, assigned, foreign=False)
    trace.foreign = any(node.flags & TRACKED for node in outputs) or _reads_foreign_input(trace)
    trace.computed = [i for i, node in enumerate(outputs) if node.flags & TRACED and node not in params]
    trace.passed = [(i, params.index(node)) for i, node in enumerate(outputs) if node in params]
    if out_tree.is_leaf() and len(outputs) == len(trace.computed) == 1 and _is_plain(out_leaves[0]):
        trace.single = out_leaves[0]
    return trace


def _input(leaf: Any) -> Array:
    """A handle on a fresh input of the kind of `leaf`; Python numbers give a weak one."""
    number = fresh_number()
    if type(leaf) in _NUMBERS:
        return Array._from_uop(UOp.param(number, (), default_dtype(leaf), "scalar"), weak=True)
    if isinstance(leaf, np.generic):
        return Array._from_uop(UOp.param(number, (), as_node(leaf).dtype, "scalar"))
    node = as_node(leaf)
    if not isinstance(leaf, Array):
        return Array._array_from_uop(UOp.param(number, node.shape, node.dtype))
    param = UOp.param(number, node.shape, node.dtype, "scalar" if leaf._weak else "buffer")
    return leaf._same_kind(param, leaf._weak)


def _is_plain(x: Array) -> bool:
    """Whether `x` is what a new handle is: an array of one axis or more, or a number."""
    return x.ndim > 0 or x._is_number


def _reads_foreign_input(trace: _Trace) -> bool:
    """Whether the outputs depend on an input of a trace around this one."""
    own = set(trace.params)
    return any(node.op is Ops.PARAM and node not in own for node in toposort(trace.outputs))


# -------------------------------------------------------------------------------------------------------------- calls


def _run(trace: _Trace, inputs: Sequence[Any]) -> Any:
    """Run the plan of `trace` on inputs that have values."""
    executable = trace.executable
    if executable is None:
        executable = _prepare(trace)
    try:
        buffers = executable.run([_argument(x) for x in inputs])
    except IndexBoundsError as error:
        raise named(error, trace.outputs) from None
    if trace.single is not None:
        return Array._from_uop(UOp.buffer(buffers[0]), trace.single._weak)
    nodes = list(trace.outputs)
    for i, buffer in zip(trace.computed, buffers, strict=True):
        nodes[i] = UOp.buffer(buffer)
    for i, number in trace.passed:
        nodes[i] = as_node(inputs[number])
    return _results(trace, nodes, inputs)


def _prepare(trace: _Trace) -> uopc_core.Executable:
    """The plan of what depends on the inputs, made once; the other outputs are computed for good."""
    with trace.lock:
        if trace.executable is None:
            numbered = [UOp.param(i, p.shape, p.dtype, p.arg[2]) for i, p in enumerate(trace.params)]
            wanted = [trace.outputs[i] for i in trace.computed]
            renamed = substitute(wanted, dict(zip(trace.params, numbered, strict=True)), TRACED)
            for i, node in enumerate(trace.outputs):
                if not node.flags & TRACED:
                    trace.outputs[i] = UOp.buffer(buffer_of_node(node))
            trace.executable = uopc_core.Executable(renamed)
        return trace.executable


def _argument(x: Any) -> Any:
    """An input as the runtime takes it: memory, or a Python number."""
    if isinstance(x, Array):
        if x._weak:
            return x.item()
        uop = x._uop
        return uop.arg if uop.op is _BUFFER else x._memory("jit")
    if type(x) in _NUMBERS:
        return x
    return cast("Any", x).item() if isinstance(x, np.generic) else buffer_of_node(as_node(x))


def _inline(trace: _Trace, inputs: Sequence[Any]) -> Any:
    """Put the graph of `trace` over the nodes of the inputs."""
    sources = [cast_node(as_node(x), p.dtype) for x, p in zip(inputs, trace.params, strict=True)]
    nodes = substitute(trace.outputs, dict(zip(trace.params, sources, strict=True)), TRACED)
    return _results(trace, nodes, inputs)


def _results(trace: _Trace, nodes: Sequence[UOp], inputs: Sequence[Any]) -> Any:
    """What the function returned, on `nodes`; arguments that it assigned to get their new values."""
    rest = iter(nodes)
    leaves = [leaf._same_kind(next(rest), leaf._weak) if isinstance(leaf, Array) else leaf for leaf in trace.leaves]
    for i, node in zip(trace.assigned, rest, strict=True):
        _assign(inputs[i], node)
    return unflatten(trace.treedef, leaves)


def _assign(x: Any, node: UOp) -> None:
    if isinstance(x, Array):
        x._write(node)
    elif isinstance(x, np.ndarray):
        x[...] = buffer_of_node(node).array


@overload
def jit(
    f: Callable[..., Any], *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> JittedFunction: ...
@overload
def jit(
    f: None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Callable[[Callable[..., Any]], JittedFunction]: ...
def jit(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """The function `f`, traced once for each structure of its arguments and compiled.

    Arrays and Python numbers are inputs; strings, bools, None and other hashable values are part of the structure, and
    so is what `static_argnums` and `static_argnames` name. Arrays that `f` takes from around it are read when it is
    traced. Prints and other effects in Python happen then, too. It works inside and outside of `grad` and of another
    `jit`.

    Args:
        f: takes and returns arrays, numbers, and nested containers of them.
        static_argnums: arguments by position whose values are fixed in a trace, such as an axis or a number of steps.
        static_argnames: the same by name.
    Returns:
        a function of the same arguments and results; without `f`, the decorator that makes it.
    Raises:
        TraceError: (a TypeError, when called) `f` asks for a value, as in ``if x > 0`` or ``float(x)``; the message
            names the line.
    Example:
        >>> jit(lambda x, y: x * y + 1)(3.0, 2.0)
        Array(7., dtype=float64)
    """
    numbers = integers("jit", "static_argnums", static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    if f is None:
        return functools.partial(JittedFunction, static_argnums=numbers, static_argnames=names)
    return JittedFunction(f, numbers, names)
