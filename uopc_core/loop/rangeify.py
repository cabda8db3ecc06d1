"""Graph -> scalar statements: movement ops become index arithmetic, other ops statements at given coordinates.

A rule is a generator: it yields ``(node, coordinates, guard)`` to ask for the value of a source and returns an operand.
The driver keeps the suspended rules on a stack of its own, so the depth of a graph is no limit, and remembers what has
been computed at which coordinates. `guard` lists conditions known to hold wherever the value is used: memory is only
read where they do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import product
from math import prod

from uopc_core.dtype import DType, dtypes, is_complex, is_inexact, is_integer
from uopc_core.ir.op import COMPARISONS, ELEMENTWISE, IDENTITIES, Ops
from uopc_core.ir.uop import UOp
from uopc_core.loop.index import ZERO, Cond, Index, Value, flatten, position, unflatten
from uopc_core.loop.loop_ir import (
    CheckIndex,
    Compute,
    Const,
    Holds,
    IndexValue,
    Load,
    LoopOperand,
    Random,
    Statement,
)

__all__ = ["InputName", "Lowering"]

Coords = tuple[Index, ...]
Guard = tuple[Cond, ...]
Request = tuple[UOp, Coords, Guard]
Steps = Generator[Request, LoopOperand, LoopOperand]
_WHOLE: Mapping[int, Sequence[int]] = {}
InputName = int | str  # what a PARAM is: the number of a buffer, or the name of a scalar result


class Lowering:
    """Collects the statements that compute values of a graph.

    Attributes:
        statements: in order; operands before their users.
        known: results that exist already, as the accumulators of reductions do.
    """

    def __init__(
        self, params: Mapping[int, InputName], prefix: str = "v", strides: Mapping[int, Sequence[int]] = _WHOLE
    ) -> None:
        """
        Args:
            strides: of the PARAMs that are windows of larger memory.
        """
        self.params = params
        self.strides = strides
        self.statements: list[Statement] = []
        self.known: dict[UOp, LoopOperand] = {}
        self.memo: dict[Request, LoopOperand] = {}
        self.made: dict[tuple[object, ...], str] = {}
        self.indices: dict[str, Index] = {}
        self.zero_unless: dict[str, Guard] = {}
        self.prefix = prefix
        self.next_name = 0

    def new_name(self) -> str:
        self.next_name += 1
        return f"{self.prefix}{self.next_name - 1}"

    def value(self, node: UOp, at: Coords, guard: Guard = ()) -> LoopOperand:
        """The value of `node` at coordinates `at`."""
        root = (node, at, guard)
        stack: list[tuple[Request, Steps]] = []
        answer = self._start(root, stack)
        while stack:
            request, steps = stack[-1]
            try:
                wanted = steps.send(answer) if answer is not None else next(steps)
            except StopIteration as done:
                answer = self.memo[request] = done.value
                stack.pop()
                continue
            answer = self._start(wanted, stack)
        assert answer is not None, node
        return answer

    def _start(self, request: Request, stack: list[tuple[Request, Steps]]) -> LoopOperand | None:
        """The answer to a request if it is known or immediate; else None, and its rule on the stack."""
        node, at, guard = request
        while node.op in _MOVES:
            at = _MOVES[node.op](node, at)
            node = node.src[0]
        if node in self.known:
            return self.known[node]
        key = (node, at, guard)
        found = self.memo.get(key)
        if found is not None:
            return found
        stack.append((key, _RULES[node.op](self, node, at, guard)))
        return None

    # --- statements ---

    def emit(self, key: tuple[object, ...], make: Callable[[str], Statement]) -> str:
        """The name of a statement, the same for the same key."""
        name = self.made.get(key)
        if name is None:
            name = self.made[key] = self.new_name()
            self.statements.append(make(name))
        return name

    def load(self, buffer: int, node: UOp, index: Index, guard: Guard) -> str:
        name = self.emit(("load", buffer, index, guard), lambda name: Load(name, node.dtype, buffer, index, guard))
        if guard:
            self.zero_unless[name] = guard
        return name

    def holds(self, conds: Guard) -> str:
        return self.emit(("holds", conds), lambda name: Holds(name, dtypes.bool, conds))

    def select(self, cond: LoopOperand, node: UOp, x: LoopOperand, y: LoopOperand) -> LoopOperand:
        if isinstance(cond, Const):
            return x if cond.value else y
        if same_operand(x, y):
            return x
        if node.dtype is dtypes.bool and isinstance(x, Const) and isinstance(y, Const):
            return cond if x.value else self.compute(Ops.NOT, node, (cond,), dtypes.bool)
        return self.compute(Ops.WHERE, node, (cond, x, y), node.dtype)

    def compute(self, op: Ops, node: UOp, args: tuple[LoopOperand, ...], of: DType) -> str:
        dtype = dtypes.bool if op in COMPARISONS else node.dtype
        key = ("compute", op, dtype, of, *[str(a) if isinstance(a, Const) else a for a in args])
        return self.emit(key, lambda name: Compute(name, dtype, op, args, of))


def same_operand(x: LoopOperand, y: LoopOperand) -> bool:
    if isinstance(x, Const) and isinstance(y, Const):
        return str(x) == str(y)
    return x == y


# ------------------------------------------------------------------------------------------------------------- movement


def _move_reshape(node: UOp, at: Coords) -> Coords:
    """Axes are matched in groups of equal product, so that only groups that really change shape need quotients."""
    old, new = node.src[0].shape, node.shape
    if 0 in old:  # no element, so never computed; and extents after a 0 need not match
        return (ZERO,) * len(old)
    out: list[Index] = []
    i = j = 0
    while i < len(old) or j < len(new):
        i0, j0 = i, j
        n, m = 1, 1
        while i < len(old) and old[i] == 1 and i == i0:
            out.append(ZERO)
            i = i0 = i + 1
        while j < len(new) and new[j] == 1 and j == j0:
            j = j0 = j + 1
        if i < len(old) and j < len(new):
            n, m, i, j = old[i], new[j], i + 1, j + 1
        while n != m:
            if n < m:
                n, i = n * old[i], i + 1
            else:
                m, j = m * new[j], j + 1
        out.extend(_regroup(at[j0:j], new[j0:j], old[i0:i]))
    return tuple(out)


def _regroup(at: Sequence[Index], new: Sequence[int], old: Sequence[int]) -> Sequence[Index]:
    if len(at) == len(old) == 1:
        return at
    return unflatten(flatten(at, new), old)


def _move_expand(node: UOp, at: Coords) -> Coords:
    return tuple([ZERO if n == 1 else i for n, i in zip(node.src[0].shape, at, strict=True)])


def _move_permute(node: UOp, at: Coords) -> Coords:
    out = [ZERO] * len(at)
    for axis, i in zip(node.arg, at, strict=True):
        out[axis] = i
    return tuple(out)


def _move_shrink(node: UOp, at: Coords) -> Coords:
    return tuple([i + start for (start, _), i in zip(node.arg, at, strict=True)])


def _move_flip(node: UOp, at: Coords) -> Coords:
    out = list(at)
    for axis in node.arg:
        out[axis] = at[axis] * -1 + (node.shape[axis] - 1)
    return tuple(out)


def _move_nothing(node: UOp, at: Coords) -> Coords:
    return at


_MOVES: dict[Ops, Callable[[UOp, Coords], Coords]] = {
    Ops.RESHAPE: _move_reshape,
    Ops.EXPAND: _move_expand,
    Ops.PERMUTE: _move_permute,
    Ops.SHRINK: _move_shrink,
    Ops.FLIP: _move_flip,
    **dict.fromkeys(IDENTITIES, _move_nothing),
}


# ---------------------------------------------------------------------------------------------------------------- rules


def _immediate(operand: LoopOperand) -> Steps:
    """A rule that asks for nothing: the `yield` makes it a generator, and is never reached."""
    return operand
    yield


def _lower_const(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    return _immediate(Const(node.arg, node.dtype))


def _lower_param(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    source = low.params[node.arg[0]]
    if isinstance(source, str):
        return _immediate(source)
    if node.size == 0:
        return _immediate(Const(node.dtype.type(0).item(), node.dtype))
    strides = low.strides.get(node.arg[0])
    index = flatten(at, node.shape) if strides is None else position(at, strides)
    return _immediate(low.load(source, node, index, guard))


def _lower_iota(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    index = at[0]
    name = low.emit(("index", node.dtype, index), lambda name: IndexValue(name, node.dtype, index))
    limit = 2 ** (8 * node.dtype.itemsize - (node.dtype.kind == "i"))
    if index.lo >= 0 and index.hi < limit:
        low.indices[name] = index
    return _immediate(name)


def _lower_random(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    key = yield node.src[0], (), guard
    index = flatten(at, node.shape)
    return low.emit(("random", str(key), index), lambda name: Random(name, node.dtype, key, index))


def _lower_elementwise(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    args: list[LoopOperand] = []
    for source in node.src:
        args.append((yield source, at, guard))
    if node.op in COMPARISONS:
        answer = _compare_indices(low, node.op, args)
        if answer is not None:
            return answer
    if node.dtype is dtypes.bool and node.op in (Ops.AND, Ops.OR, Ops.NOT):
        folded = _fold_bool(node.op, args)
        if folded is not None:
            return folded
    return low.compute(node.op, node, tuple(args), node.src[0].dtype)


def _compare_indices(low: Lowering, op: Ops, args: list[LoopOperand]) -> LoopOperand | None:
    """A comparison of coordinates with each other or with constants, as a condition on loop variables."""
    sides = [_index_of(low, arg) for arg in args]
    if sides[0] is None or sides[1] is None or not any(isinstance(arg, str) for arg in args):
        return None
    difference = sides[1] - sides[0]
    if op is Ops.CMPLT:
        conds = (Cond(difference + -1),)
    elif op is Ops.CMPLE:
        conds = (Cond(difference),)
    elif op is Ops.CMPEQ:
        conds = (Cond(difference), Cond(difference * -1))
    else:
        return None
    unknown = tuple([cond for cond in conds if cond.truth is None])
    if any(cond.truth is False for cond in conds):
        return Const(False, dtypes.bool)
    return low.holds(unknown) if unknown else Const(True, dtypes.bool)


def _index_of(low: Lowering, arg: LoopOperand) -> Index | None:
    if isinstance(arg, Const):
        return Index((), arg.value) if is_integer(arg.dtype) else None
    return low.indices.get(arg)


def _fold_bool(op: Ops, args: list[LoopOperand]) -> LoopOperand | None:
    if op is Ops.NOT:
        return Const(not args[0].value, dtypes.bool) if isinstance(args[0], Const) else None
    for arg, other in (args, args[::-1]):
        if isinstance(arg, Const):
            return other if arg.value == (op is Ops.AND) else arg
    return None


def _lower_where(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    cond = yield node.src[0], at, guard
    if isinstance(cond, Const):
        return (yield node.src[1 if cond.value else 2], at, guard)
    x = yield node.src[1], at, guard
    y = yield node.src[2], at, guard
    return low.select(cond, node, x, y)


def _lower_pad(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    zero = Const(node.dtype.type(0).item(), node.dtype)
    inner: list[Index] = []
    conds: list[Cond] = []
    for (before, after), n, outer in zip(node.arg, node.src[0].shape, at, strict=True):
        i = outer + -before
        conds += [Cond(i)] if before else []
        conds += [Cond(i * -1 + (n - 1))] if after else []
        inner.append(i)
    if any(cond.truth is False for cond in conds):
        return zero
    unknown = _open(conds, guard)
    x = yield node.src[0], tuple(inner), guard + unknown
    if not unknown or (isinstance(x, str) and set(unknown) <= set(low.zero_unless.get(x, ()))):
        return x
    return x if same_operand(x, zero) else low.select(low.holds(unknown), node, x, zero)


def _open(conds: Sequence[Cond], guard: Guard) -> Guard:
    """The conditions that are neither known nor implied by the guard."""
    return tuple([cond for cond in conds if cond.truth is None and cond not in guard])


def _lower_concat(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    axis: int = node.arg
    start = 0
    parts: list[tuple[Guard, LoopOperand]] = []
    for source in node.src:
        i = at[axis] + -start
        n = source.shape[axis]
        start += n
        lower, upper = Cond(i), Cond(i * -1 + (n - 1))
        if n == 0 or lower.truth is False or upper.truth is False:
            continue
        x = yield source, (*at[:axis], i, *at[axis + 1 :]), guard + _open((lower, upper), guard)
        parts.append((_open((upper,), guard), x))
    if not parts:  # a part of a loop that never runs
        return Const(node.dtype.type(0).item(), node.dtype)
    out = parts[-1][1]
    for below_end, x in reversed(parts[:-1]):
        out = low.select(low.holds(below_end), node, x, out) if below_end else x
    return out


def _lower_small_reduce(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    """A reduction written out: its extents are few."""
    how, n = node.arg
    source = node.src[0]
    extents = source.shape[len(source.shape) - n :]
    assert 0 < prod(extents) <= 64, f"a reduction of {extents} inside of a kernel: {node}"
    # a sum starts from 0, and 0.0 + -0.0 is 0.0; a complex product starts from 1, which times inf is not inf
    starts = (how is Ops.ADD and is_inexact(node.dtype)) or (how is Ops.MUL and is_complex(node.dtype))
    out: LoopOperand | None = Const(node.dtype.type(how is Ops.MUL).item(), node.dtype) if starts else None
    for inner in product(*[range(extent) for extent in extents]):
        x = yield source, (*at, *[Index((), i) for i in inner]), guard
        out = x if out is None else low.compute(how, node, (x, out), node.dtype)
    assert out is not None, node
    return out


def _lower_index(low: Lowering, node: UOp, at: Coords, guard: Guard) -> Steps:
    x, indices = node.src[0], node.src[1:]
    n = len(indices[0].shape)
    picked: list[Index] = []
    for axis, index in enumerate(indices):
        value = yield index, at[:n], guard
        picked.append(wrapped(low, value, index, x.shape[axis], axis, guard))
    return (yield x, (*picked, *at[n:]), guard)


def wrapped(low: Lowering, value: LoopOperand, index: UOp, size: int, axis: int, guard: Guard) -> Index:
    """The checked index `value` along an axis."""
    known = _index_of(low, value)
    if known is not None and known.lo >= -size and known.hi < size and (known.lo >= 0 or known.hi < 0):
        return known + size if known.hi < 0 else known
    name = low.emit(
        ("wrap", str(value), size, axis, guard),
        lambda name: CheckIndex(name, dtypes.int64, value, index.dtype, size, axis, guard),
    )
    return Index.of(Value(name, size))


_RULES: dict[Ops, Callable[[Lowering, UOp, Coords, Guard], Steps]] = {
    Ops.CONST: _lower_const,
    Ops.PARAM: _lower_param,
    Ops.IOTA: _lower_iota,
    Ops.RANDOM: _lower_random,
    **dict.fromkeys(ELEMENTWISE - {Ops.WHERE}, _lower_elementwise),
    Ops.WHERE: _lower_where,
    Ops.PAD: _lower_pad,
    Ops.CONCAT: _lower_concat,
    Ops.REDUCE: _lower_small_reduce,
    Ops.INDEX: _lower_index,
}
