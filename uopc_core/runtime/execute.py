"""Ask for values: small and cold graphs are evaluated by NumPy right here, all others get a plan,
which an executor runs (`executors.py`).

Who computes is a pure function of the graph and of how often this process has run it, never of time or of what a cache
holds. The planner and the compiler are loaded when the first graph needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from uopc_core.costs import CALL_WORK, DIRECT_WORK, TOO_SMALL
from uopc_core.errors import TraceError
from uopc_core.interpret.immediate import evaluate_now
from uopc_core.interpret.loops import provide_loops
from uopc_core.interpret.numpy_interp import Array, NumPyProgram, lower_to_numpy
from uopc_core.ir.composite import CONST_FORMS, const_of
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import TRACED, TRACKED, UOp
from uopc_core.lazy import LazyModule
from uopc_core.recent import Recent
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.executors import INTERPRET, Executor, current_executor
from uopc_core.schedule.canonical import WORTH_KEEPING, Canonical, Key, canonicalise, params_of, rebuild
from uopc_core.schedule.library_work import may_be_contraction
from uopc_core.schedule.shared import held_above, read_elsewhere
from uopc_core.schedule.structure import Recognised, keep_structure, recognise

if TYPE_CHECKING:
    from uopc_core.runtime import loops
    from uopc_core.schedule import plan as planner
else:
    loops = LazyModule("uopc_core.runtime.loops", computes=True)
    planner = LazyModule("uopc_core.schedule.plan", computes=True)

__all__ = ["MAX_DEPTH", "program_now", "realize_all", "value_now"]

_CALL = Ops.CALL
MAX_DEPTH = 1000  # a handle whose graph is deeper realizes itself
MAX_STEPS_NOW = 16  # from memory to a value that is computed at the line itself
MAX_NODES_NOW = 64  # that such a value may need
MAX_RECORDS = 8192
MAX_ALONG = 64  # handles that are computed in one plan with those that were asked for
MAX_LOOKED_AT = 1 << 16  # nodes, for handles that wait for the same temporaries


class _Record:
    """What this process knows of a graph: its work, how often it ran, its NumPy program while that is how it runs.

    Attributes:
        key: of the graph, the one object that all tables have, which they find without comparing.
        kept_at: the run from which on its structure is kept; see `structure`.
        is_direct: it may be evaluated node by node; not so where only a plan tells sums from products of matrices.
    """

    __slots__ = ("is_direct", "kept_at", "key", "program", "runs", "work")

    def __init__(self, canonical: Canonical) -> None:
        self.key = canonical.key
        self.runs = 0
        self.kept_at = 2
        self.work = sum(
            [
                prod(node.shape) + CALL_WORK if op is not _CALL else _work_of_call(node)
                for node, op, _ in canonical.order
            ]
        )
        self.is_direct = self.work <= DIRECT_WORK and not any(
            may_be_contraction(op, node.arg, src) for node, op, src in canonical.order
        )
        self.program: NumPyProgram | None = None


def _work_of_call(node: UOp) -> int:
    """Elements, and what NumPy's calls take besides, in a region: the part for one output."""
    region: Region = node.arg[0]
    return (region.elements + region.operations * CALL_WORK) // len(region.outputs)


_records: Recent[Key, _Record] = Recent(MAX_RECORDS)  # by the key of the graph
provide_loops(lambda keys: loops.loops_for(keys))


def realize_all(values: Sequence[Any]) -> list[Buffer]:
    """Compute `values`, nodes or handles that have one as `uop`, and what else live handles stand for below them.

    All of it is one plan.

    Each computed node keeps its memory (see `UOp.settle`) and is not computed again.

    Returns:
        the memory of each node, in order.
    Raises:
        TraceError: a node depends on an input of a trace, which has no value yet.
        IndexBoundsError: a gather or scatter met an index outside its axis.
    """
    nodes: list[UOp] = [x if type(x) is UOp else x.uop for x in values]
    waiting = [node for node in nodes if node.realized is None]
    if waiting:
        waiting = [*dict.fromkeys(waiting)]
        if any([node.flags & TRACED for node in waiting]):
            raise TraceError("a value was asked for while tracing: there are only shapes and dtypes then")
        computed = _compute(waiting)
        _settle(computed)
        return [node.realized or computed[node] for node in nodes]
    return [node.realized for node in nodes]


def value_now(node: UOp, most: int) -> Array | None:
    """The value of a node of no trace and no derivative that is a few operations away from memory and numbers, where no
    array on the way has more than `most` elements: C-contiguous, sharing memory with nothing. Else None, as where the
    value of a handle is on the way, which is to be computed once, or where only a plan knows who computes.

    Raises:
        IndexBoundsError: a gather or scatter met an index outside its axis.
    """
    return evaluate_now([node])[0] if not node.flags & (TRACKED | TRACED) and _is_for_now(node, most) else None


def program_now(roots: Sequence[UOp], inputs: Sequence[UOp], most: int) -> NumPyProgram | None:
    """As `value_now`, for any values of `inputs`, PARAMs: what computes the values of `roots` of them."""
    return lower_to_numpy(roots, inputs) if all([_is_for_now(root, most) for root in roots]) else None


def _is_for_now(node: UOp, most: int) -> bool:
    if node.depth > MAX_STEPS_NOW:
        return False
    seen = {node}
    stack = [node]
    while stack:
        x = stack.pop()
        src = x.src  # before the op, see `UOp.settle`
        if x.size > most or len(seen) > MAX_NODES_NOW or (x.held and x is not node and x.op in WORTH_KEEPING):
            return False
        if x.realized is None:
            if may_be_contraction(x.op, x.arg, src):
                return False
            stack += [s for s in src if s not in seen]
            seen.update(src)
    return True


def _settle(computed: Mapping[UOp, Buffer]) -> None:
    for node, buffer in computed.items():
        if const_of(node) is None:  # those outlive their users, and a kernel has them cheaper than from memory
            node.settle(buffer)


def _compute(waiting: Sequence[UOp]) -> dict[UOp, Buffer]:
    """The memory of `waiting` and of whatever else was computed for a handle's sake."""
    executor = current_executor()
    known = _known_with_others(waiting)
    results = None if known is None else _run_again(known, executor)
    if results is not None:
        return results
    if executor.numpy_work:
        outputs = _outputs_if_tiny(waiting)
        if outputs is not None:
            return {
                node: Buffer.from_numpy(value, copy=False)
                for node, value in zip(outputs, evaluate_now(outputs), strict=True)
            }
    try:
        *steps, canonical = _with_others(waiting, executor)
        results = _run(canonical, executor)
        _keep_if_repeated((*steps, canonical), executor)
    except Exception:  # of what is computed along it is told to whoever asks for that
        canonical = canonicalise(waiting)
        results = _run(canonical, executor)
    return dict(zip(canonical.outputs, results, strict=True))


def _known_with_others(waiting: Sequence[UOp]) -> Recognised | None:
    """As the last of `_with_others`, of known structures; None where one of the steps to it is not known."""
    roots = [*waiting]
    looked_at: set[UOp] = set()
    while True:
        known = recognise(roots)
        if known is None or looked_at.issuperset(known.shared):  # who reads these is there already
            return known
        looked_at.update(known.shared)
        found = held_above(known.shared, {*known.nodes}, MAX_LOOKED_AT)
        if not found:
            return known
        if len(found) > MAX_ALONG:
            return None
        roots += found


def _with_others(waiting: Sequence[UOp], executor: Executor) -> list[Canonical]:
    """`waiting` with the handles' nodes that would compute again what is computed for it, the last item; before it the
    steps to there.

    Where these are many, the oldest are computed first, some at a time: so a plan is no larger for a longer loop.
    """
    roots = [*waiting]
    steps: list[Canonical] = []
    while True:
        canonical = canonicalise(roots)
        steps.append(canonical)
        shared = _read_elsewhere(canonical)
        found = held_above(shared, {node for node, _, _ in canonical.order}, MAX_LOOKED_AT) if shared else ()
        if not found:
            return steps
        if len(found) <= MAX_ALONG:
            roots += found
            continue
        steps.clear()
        first = canonicalise(found[:MAX_ALONG])
        first = canonicalise([*found[:MAX_ALONG], *_read_elsewhere(first)])
        _settle(dict(zip(first.outputs, _run(first, executor), strict=True)))


def _read_elsewhere(canonical: Canonical) -> list[UOp]:
    if not canonical.order:
        return []
    nodes, _, sources = zip(*canonical.order, strict=True)
    return read_elsewhere(nodes, sources, canonical.outputs)


def _outputs_if_tiny(waiting: Sequence[UOp]) -> list[UOp] | None:
    """What to compute for `waiting`, handles' nodes below it included; None if that is more than TOO_SMALL, or if other
    handles are to be computed along.

    Such a graph never compiles, however often it runs, so nobody needs to know it again.
    """
    outputs = dict.fromkeys(waiting)
    seen: dict[UOp, tuple[UOp, ...]] = {}
    if _is_tiny(outputs, seen) and (len(seen) == 1 or not read_elsewhere([*seen], seen.values(), outputs)):
        return [*outputs]
    return None


def _is_tiny(outputs: dict[UOp, None], seen: dict[UOp, tuple[UOp, ...]]) -> bool:
    """Whether what `outputs` need is no more than TOO_SMALL; adds handles' nodes to them, and all of it to `seen`."""
    stack = [*outputs]
    work = 0
    while stack:
        node = stack.pop()
        src = node.src  # before the op, see `UOp.settle`
        op = node.op
        if node in seen or node.realized is not None:
            continue
        seen[node] = src
        if op in CONST_FORMS and const_of(node) is not None and node not in outputs:
            continue
        work += prod(node.shape) + CALL_WORK if op is not _CALL else _work_of_call(node)
        if work > TOO_SMALL:
            return False
        if node.held and op in WORTH_KEEPING:
            outputs[node] = None
        stack.extend(src)
    return True


def _run_again(known: Recognised, executor: Executor) -> dict[UOp, Buffer] | None:
    """The memory of the outputs of a graph whose plan has been run before; None where it is to go the long way."""
    record = _records.get(known.key)
    if record is None or (record.runs + 1) * record.work < executor.numpy_work:
        return None
    plan = planner.known_plan(known.key)
    if plan is None:
        return None
    record.runs += 1
    bindings = known.bindings
    try:
        results = executor.prepared(plan).run(bindings.buffers, bindings.scalars)
    except Exception:  # which the long way tells to whom it concerns
        return None
    return dict(zip(known.outputs, results, strict=True))


def _keep_if_repeated(steps: Sequence[Canonical], executor: Executor) -> None:
    """Have graphs like these, of which the last has been run, recognised where that has a plan."""
    record = _records.get(steps[-1].key)
    if record is not None and record.runs >= record.kept_at and record.runs * record.work >= executor.numpy_work:
        record.kept_at = 2 * record.runs  # seldom, where graphs of one key differ in what a structure has besides
        for canonical in steps:
            keep_structure(canonical)


def _run(canonical: Canonical, executor: Executor) -> list[Buffer]:
    record = _records.get(canonical.key) or _records.add(canonical.key, _Record(canonical))
    canonical.key = record.key
    record.runs += 1
    if record.runs * record.work < executor.numpy_work:
        if record.is_direct:
            return _run_directly(canonical, record)
        executor = INTERPRET
    bindings = canonical.bindings
    return executor.prepared(planner.plan_for(canonical)).run(bindings.buffers, bindings.scalars)


def _run_directly(canonical: Canonical, record: _Record) -> list[Buffer]:
    """Evaluate a small graph node by node, without a plan; the program is kept for graphs with the same key."""
    if record.program is None:
        record.program = lower_to_numpy(rebuild(canonical), params_of(canonical))
    bindings = canonical.bindings
    values = record.program.run([*[buffer.array for buffer in bindings.buffers], *bindings.scalars])
    return [Buffer.from_numpy(value, copy=False) for value in values]
