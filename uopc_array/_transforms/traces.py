"""The traces of `jit`: how one is made of a function and its arguments, and how it is run.

A trace leaves nothing behind: arrays are as they were when it ends, and so are the boxes. What the function did to them
is part of the trace and is done by each run, the first included.
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

import uopc_core
from uopc_array._array.array import Array
from uopc_array._array.nodes import as_node, cast_node, default_dtype
from uopc_array._array.origins import hand_on_origins, named
from uopc_array._array.realize import NumPyArray, buffer_of_node
from uopc_array._array.tracing import Record, run_user, substitute
from uopc_array._array.view import View
from uopc_array._transforms.boxes import differences, has_grown, put_back
from uopc_array._transforms.captures import holds_traced
from uopc_array._transforms.inputs import NUMBERS, Arguments, SharedView, box_of, containers_among, with_bases
from uopc_array._transforms.integers import IntegerChecks, checks_of
from uopc_array._transforms.results import CallResults, Encoder, Template
from uopc_array._transforms.shadows import close_record, run_traced, shadow
from uopc_core import TRACED, TRACKED, Ops, UOp, fresh_number, walk
from uopc_core.errors import IndexBoundsError, TraceError
from uopc_core.frontend.cells import alias_of, root_of
from uopc_core.frontend.handle import change_all

__all__ = ["Trace", "call_trace", "make_trace"]

_BUFFER = Ops.BUFFER


@dataclass
class Trace:
    """A function's graph for one structure of its arguments.

    Attributes:
        params: the inputs of the graph.
        sources: the numbers of the inputs of a call that they stand for.
        nodes: of all new arrays and new values.
        kinds: see `CallResults`.
        result: what the function returned.
        writes: numbers of inputs that it wrote to, each with that of the node.
        changes: what it bound anew: the number of the box, new contents, and keys that are gone.
        grown: lists and dicts around the function that it put things into, which happens when it is traced and not
            again.
        is_kept: whether the trace is good for another call.
        checks: of the integers of Python among the inputs.
        foreign: whether `nodes` depend on a variable or an input of somebody else, so that they cannot be planned on
            their own.
        is_plain: whether there is nothing to do but to compute the result.
        computed: numbers of the nodes that the plan computes.
        passed: nodes that are inputs as they came, with the number of the input.
        single: whether the result is one new array, and all there is; and whether that is weak.
        is_quick: whether that, made by a plan that is there, of arguments that need no look.
        is_inline: whether the graph is put in place where it is called in another one, rather than called as a unit.
        offered: the state of the function for which a call of this has been prepared for C, or found not to be one.
        called: the nodes as results of one call, each with the numbers of the parameters that it depends on as the
            bits of an int; made where that is asked for.
    """

    params: list[UOp]
    sources: list[int]
    nodes: list[UOp]
    kinds: list[tuple[bool, bool]]
    result: Template
    writes: list[tuple[int, int]]
    changes: list[tuple[int, dict[Any, Template], list[Hashable]]]
    grown: list[Any] = field(default_factory=list[Any])
    is_kept: bool = True
    checks: IntegerChecks | None = None
    foreign: bool = False
    is_plain: bool = False
    single: tuple[bool] | None = None
    is_quick: bool = False
    computed: list[int] = field(default_factory=list[int])
    passed: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    executable: uopc_core.Executable | None = None
    is_inline: bool = True
    called: list[tuple[UOp, int]] | None = None
    offered: Any = None

    def __post_init__(self) -> None:
        own = {node: i for i, node in enumerate(self.params)}
        below = walk(self.nodes)
        foreign = any(node.op is Ops.PARAM and node not in own for node in below)
        self.foreign = foreign or any(node.flags & TRACKED for node in self.nodes)
        self.is_kept = self.is_kept and not self.foreign
        self.computed = [i for i, node in enumerate(self.nodes) if node.flags & TRACED and node not in own]
        self.passed = [(i, self.sources[own[node]]) for i, node in enumerate(self.nodes) if node in own]
        all_inputs = self.sources == list(range(len(self.sources)))
        self.is_plain = not (self.foreign or self.writes or self.changes or self.result.owners) and all_inputs
        if self.is_plain and self.result.is_made and self.computed == [0] and len(self.nodes) == 1:
            is_array, weak = self.kinds[0]
            self.single = None if is_array else (weak,)

    def run(self, inputs: Sequence[Any]) -> Any:
        """The result for inputs that have values, of a trace that is plain."""
        executable = self.executable
        if executable is None:
            executable = self._prepare()
            self.is_quick = self.single is not None and self.checks is None
        if self.checks is not None:
            self.checks.run(inputs)
        try:
            buffers = executable.run([_argument(x) for x in inputs])
        except IndexBoundsError as error:
            raise named(error, self.nodes) from None
        if self.single is not None:
            return Array._from_uop(UOp.buffer(buffers[0]), self.single[0])
        return CallResults(inputs, self._nodes(buffers, inputs), self.kinds, _no_object).fill(self.result)

    def run_one(self, values: Sequence[Any]) -> Any:
        """The result of a trace that is quick, for the memory and numbers that its inputs are."""
        assert self.executable is not None, self.single
        assert self.single is not None, self.nodes
        try:
            buffers = self.executable.run(values)
        except IndexBoundsError as error:
            raise named(error, self.nodes) from None
        return Array._from_uop(UOp.buffer(buffers[0]), self.single[0])

    def values(self, inputs: Sequence[Any]) -> list[UOp]:
        """The nodes for inputs that have values."""
        executable = self.executable or self._prepare()
        if self.checks is not None:
            self.checks.run(inputs)
        try:
            buffers = executable.run([_argument(inputs[i]) for i in self.sources])
        except IndexBoundsError as error:
            raise named(error, self.nodes) from None
        return self._nodes(buffers, inputs)

    def _nodes(self, buffers: Sequence[uopc_core.Buffer], inputs: Sequence[Any]) -> list[UOp]:
        nodes = list(self.nodes)
        for i, buffer in zip(self.computed, buffers, strict=True):
            nodes[i] = UOp.buffer(buffer)
        for i, number in self.passed:
            nodes[i] = as_node(inputs[number])
        return nodes

    def _prepare(self) -> uopc_core.Executable:
        """The plan of what depends on the inputs, made once; the other nodes are computed for good.

        Two threads may both make one; they are alike.
        """
        for i, node in enumerate(self.nodes):
            if not node.flags & TRACED:
                self.nodes[i] = UOp.buffer(buffer_of_node(node))
        numbers = {p.arg[0]: i for i, p in enumerate(self.params)}
        self.executable = uopc_core.Executable([self.nodes[i] for i in self.computed], numbers)
        return self.executable

    def inlined(self, inputs: Sequence[Any]) -> list[UOp]:
        """The nodes over those of the inputs."""
        arguments = [inputs[i] for i in self.sources]
        sources = [cast_node(as_node(x), p.dtype) for x, p in zip(arguments, self.params, strict=True)]
        replacements = dict(zip(self.params, sources, strict=True))
        if self.checks is not None:
            self.checks.hand_on(inputs, replacements)
        return substitute(self.nodes if self.is_inline else self._called(sources), replacements, TRACED)

    def _called(self, sources: Sequence[UOp]) -> list[UOp]:
        """The nodes as results of one call of a region, whose arguments the inputs are; but those that have a value
        where others have none, or belong to no derivative where others do, stay by themselves.
        """
        if self.called is None:
            called = uopc_core.checkpoint(self.nodes, self.params)
            hand_on_origins(self.nodes, set(self.params), called)
            self.called = list(zip(called, _dependences(self.nodes, self.params), strict=True))
        flags = [source.flags for source in sources]
        every = _union(flags)
        return [
            call if _union([f for i, f in enumerate(flags) if bits >> i & 1]) == every else node
            for (call, bits), node in zip(self.called, self.nodes, strict=True)
        ]


def _dependences(nodes: Sequence[UOp], params: Sequence[UOp]) -> list[int]:
    """For each node, which of the parameters it depends on, as bits."""
    bits = {param: 1 << i for i, param in enumerate(params)}
    for node in walk(nodes, set(params)):
        if node not in bits:
            bits[node] = _union([bits[s] for s in node.src])
    return [bits[node] for node in nodes]


def _union(sets: Sequence[int]) -> int:
    """Of sets of bits."""
    out = 0
    for bits in sets:
        out |= bits
    return out


def _no_object(number: int) -> Any:
    raise AssertionError(f"a plain trace has no object {number}")


def _argument(x: Any) -> Any:
    """An input as the runtime takes it: memory, or a Python number."""
    if isinstance(x, Array):
        if x._weak:
            return x.item()
        uop = x._uop
        return uop.realized if uop.op is _BUFFER else x._memory("jit")
    if type(x) in NUMBERS:
        return x
    return cast("Any", x).item() if isinstance(x, np.generic) else buffer_of_node(as_node(x))


def call_trace(trace: Trace, given: Arguments, views: Sequence[SharedView]) -> Any:
    """What the function does, by its trace: the result, after all that it writes to and binds anew has changed."""
    inputs = with_bases(given.inputs, views) if views else given.inputs
    flags = trace.foreign
    for x in inputs:
        if isinstance(x, Array) and x._uop.flags:
            flags = True
    if trace.is_plain and not flags:
        return trace.run(inputs)
    nodes = _run_and_write(trace, inputs, flags)
    call = CallResults(inputs, nodes, trace.kinds, given.object_at)
    if trace.changes:
        boxes = [*[box for box, _ in given.boxes()], *map(box_of, containers_among((given.args, given.kwargs)))]
        filled = [(i, {k: call.fill(t) for k, t in new.items()}, gone) for i, new, gone in trace.changes]
        try:
            _bind_anew(boxes, filled)
        except BaseException:  # Ctrl-C came into the midst of it: all of the changes are made, or none
            _bind_anew(boxes, filled)
            raise
    return call.fill(trace.result)


def _bind_anew(boxes: Sequence[Any], changes: Sequence[tuple[int, dict[Any, Any], Any]]) -> None:
    """Let the boxes of these numbers hold what is new in them, without what is gone; as often as it is called."""
    for i, new, gone in changes:
        boxes[i].change(new, gone)


def _run_and_write(trace: Trace, inputs: Sequence[Any], flags: bool) -> list[UOp]:
    """The nodes for the inputs, after the function has written to some of these: to all at once, from what they were
    before. Where another thread came between, everything is done again.
    """
    ours = [(inputs[number], node) for number, node in trace.writes if isinstance(inputs[number], Array)]
    foreign = {number: node for number, node in trace.writes if isinstance(inputs[number], np.ndarray)}
    for x, _ in ours:
        x._refuse_write("assignment")
    while True:
        given = [Array._array_from_uop(as_node(x)) if i in foreign else x for i, x in enumerate(inputs)]
        before = [x._base()._node_to_change() for x, _ in ours]
        nodes = trace.inlined(given) if flags else trace.values(given)
        changes = [
            (x._base(), base, x._written(base, nodes[node])) for (x, node), base in zip(ours, before, strict=True)
        ]
        if not ours or change_all(changes):
            break
    for number, node in foreign.items():
        _store_changes(inputs[number], buffer_of_node(as_node(given[number])).array, buffer_of_node(nodes[node]).array)
    return nodes


def _store_changes(target: NumPyArray, before: NumPyArray, after: NumPyArray) -> None:
    """Store what differs in an array of NumPy; other threads may be writing to its other elements."""
    if target.size:
        bits = [x.reshape(-1).view(f"u{min(8, x.itemsize)}").reshape(x.size, -1) for x in (before, after)]
        np.copyto(target, after, where=(bits[0] != bits[1]).any(axis=1).reshape(target.shape))


class _Tracing:
    """One run of a function on inputs without values."""

    def __init__(self, function: Callable[..., Any], given: Arguments, views: Sequence[SharedView]) -> None:
        self.function = function
        self.given = given
        self.views = views
        self.inputs = with_bases(given.inputs, views)
        self.record = Record("jit", getattr(function, "__name__", repr(function)))
        self.params: dict[int, UOp] = {}
        self.values: dict[int, Array] = {}  # handles that stand for inputs which are no arrays of ours
        self.grown: list[Any] = []
        self.boxes: list[tuple[Any, dict[Any, Any]]] = []

    def run(self) -> Trace:
        """The trace; all that the function did is undone."""
        return run_traced(self.record, self._run, self._undo)

    def _run(self) -> Trace:
        self._open_inputs()
        args, kwargs = self.given.replaced(self.values)
        containers = containers_among((args, kwargs))
        self.boxes = [*self.given.boxes(), *[(box, box.read()) for box in map(box_of, containers)]]
        dice = _dice(self.given)
        states = [state() for state in dice]
        result = run_user(self.function, args, kwargs, name="jit")
        if [state() for state in dice] != states:
            raise TraceError(
                f"jit: {self.record.function} draws random numbers from a generator of NumPy or Python, which "
                "would be the same at each call; draw them outside and pass them as arguments"
            )
        return self._encoded(result, containers if args is self.given.args else [])

    def _open_inputs(self) -> None:
        derived = {view.number for view in self.views}
        arguments = set(self.given.numbers)
        for i, x in enumerate(self.inputs):
            if i in derived:
                continue
            if not isinstance(x, Array) or id(x) in self.record.shadows:
                self.values[i] = _value_input(x)
                self.params[i] = self.values[i]._uop
                continue
            kind = "scalar" if x._weak else "buffer"
            self.params[i] = param = UOp.param(fresh_number(), x._uop.shape, x._uop.dtype, kind)
            if i not in arguments:
                self.record.around.add(param)
            if x._weak and param.dtype.kind == "i":
                self.record.weak.append(param)
            alias = alias_of(x._cell())
            shadow(self.record, x, param, alias.root_alone() if isinstance(alias, View) else alias)
        for view in self.views:
            if isinstance(view.base, int):
                if view.base in self.values:
                    self.values[view.number] = self.values[view.base]
                continue
            handle = self.inputs[view.number]
            root = root_of(view.base._cell())
            alias = cast("View", handle._alias).over(view.base, root)
            shadow(self.record, handle, alias.on_node(view.base._uop), alias)

    def _undo(self) -> None:
        self.values.clear()
        captured = len(self.given.captured.boxes)
        for i, (box, before) in enumerate(self.boxes):
            if i < captured and has_grown(box, before):
                self.grown.append(box.items)
            else:
                put_back(box, before)

    def _encoded(self, result: Any, containers: Sequence[Any]) -> Trace:
        given = {id(x): i for i, x in enumerate(self.inputs) if isinstance(x, Array)}
        given |= {id(x): i for i, x in self.values.items() if isinstance(self.inputs[i], Array)}
        values = {id(x): i for i, x in self.values.items()}
        owners = self.given.numbers_of_objects() | {id(x): -1 - i for i, x in enumerate(containers)}
        encoder = Encoder(self.record, given, values, owners)
        template = encoder.encode(result)
        changes: list[tuple[int, dict[Any, Template], list[Hashable]]] = []
        kept = True
        for i, (box, before) in enumerate(self.boxes):
            found = differences(box, before)
            if found is None:
                continue
            if i < len(self.given.captured.boxes) and has_grown(box, before):
                kept = kept and not holds_traced(box, set(self.params.values()))
                continue
            changed, gone = found
            changes.append((i, {key: encoder.encode(value, stored=True) for key, value in changed.items()}, gone))
        writes: list[tuple[int, int]] = []
        for i, param in self.params.items():
            node = self.values[i]._uop if i in self.values else self.record.shadows[id(self.inputs[i])]._own_node
            if node is not param:
                writes.append((i, encoder.add_node(node)))
        sources, params = [*self.params], [*self.params.values()]
        trace = Trace(params, sources, encoder.nodes, encoder.kinds, template, writes, changes, is_kept=kept)
        trace.checks = checks_of(self.record, self.params)
        return trace


def make_trace(function: Callable[..., Any], given: Arguments, views: Sequence[SharedView]) -> Trace:
    """Run `function` on inputs without values.

    Args:
        views: inputs that share elements, which the trace is to know.
    Raises:
        TraceError: it needs a value, or does something that no run of the trace could do again.
    """
    tracing = _Tracing(function, given, views)
    try:
        trace = tracing.run()
        faults = close_record(tracing.record, set(tracing.params.values()))
    except BaseException:  # in the midst of closing perhaps
        close_record(tracing.record, set(tracing.params.values()))
        raise
    if faults:
        raise TraceError(
            f"jit: {tracing.record.function} writes to {faults[0]}, which jit cannot see from outside; pass it as an "
            "argument, or keep it in a variable, a list, a dict or an attribute of an object"
        )
    trace.grown = tracing.grown
    return trace


def _value_input(leaf: Any) -> Array:
    """A handle on a fresh input of the kind of `leaf`; Python numbers give a weak one."""
    number = fresh_number()
    if type(leaf) in NUMBERS:
        return Array._from_uop(UOp.param(number, (), default_dtype(leaf), "scalar"), weak=True)
    if isinstance(leaf, Array):
        node = leaf._uop
        return leaf._same_kind(
            UOp.param(number, node.shape, node.dtype, "scalar" if leaf._weak else "buffer"), leaf._weak
        )
    node = as_node(leaf)
    if isinstance(leaf, np.generic):
        return Array._from_uop(UOp.param(number, (), node.dtype, "scalar"))
    return Array._array_from_uop(UOp.param(number, node.shape, node.dtype))


def _dice(given: Arguments) -> list[Callable[[], Any]]:
    """How to read the states of the generators of random numbers that the function can reach."""
    walks = [given.captured, *([given.walk] if given.walk is not None else [])]
    out: list[Callable[[], Any]] = [functools.partial(_state_of, x) for walk in walks for x in walk.generators]
    if any("random" in walk.attributes for walk in walks):
        out.append(lambda: pickle.dumps(np.random.get_state()))
        out += [sys.modules["random"].getstate] if "random" in sys.modules else []
    return out


def _state_of(generator: Any) -> Any:
    bits = getattr(generator, "bit_generator", None)
    if bits is not None:
        return pickle.dumps(bits.state)
    return pickle.dumps(generator.get_state() if hasattr(generator, "get_state") else generator.getstate())
