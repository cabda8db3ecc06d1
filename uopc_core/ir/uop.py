"""The node of the graph: an operation, its sources and an argument, interned so that equal graphs are one object.

Interning is hash consing (Ershov 1958; Filliâtre & Conchon 2006, "Type-safe modular hash-consing"): a table of weak
references keyed by the fields. A plain dict of `weakref.ref` subclasses makes a node in less than half the time of a
WeakValueDictionary, and every operation of the user makes one or more.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from itertools import count, islice
from math import prod
from typing import Any

from uopc_core.dtype import DType, as_dtype, name_of
from uopc_core.errors import DTypeError
from uopc_core.ir.infer import INFER, OF_ELEMENTS, Shape
from uopc_core.ir.op import Ops
from uopc_core.ir.scalar import Scalar, as_value_of, bits_of

__all__ = [
    "HIDDEN",
    "TRACED",
    "TRACKED",
    "TYPED_BY_DTYPE",
    "Scalar",
    "UOp",
    "fresh_number",
    "latest_nodes",
    "make_in_c",
    "node_count",
    "walk",
    "when_many",
]

TRACKED = 1  # depends on a differentiable leaf
TRACED = 2  # depends on a PARAM, so it has no value yet
HIDDEN = (
    4  # depends on a differentiable leaf behind something that no derivative passes: a DETACH, or what is not floating
)

_new = object.__new__
_CONST, _BUFFER, _PARAM, _DETACH, _VARIABLE = Ops.CONST, Ops.BUFFER, Ops.PARAM, Ops.DETACH, Ops.VARIABLE
# ops whose dtype does not follow from their sources
TYPED_BY_DTYPE = frozenset({Ops.CONST, Ops.PARAM, Ops.IOTA, Ops.CAST, Ops.BITCAST})


class _Ref(weakref.ref["UOp"]):
    """A weak reference that knows its key, so that its callback can take the entry out."""

    __slots__ = ("key",)
    key: Hashable


_table: dict[Hashable, _Ref] = {}
_many = sys.maxsize  # nodes in the table, above which `_tell` is called
_tell: Callable[[], None] | None = None
# broadcast constants are made over and over by user code: the latest ones are kept alive
_recent_consts: dict[Hashable, UOp] = {}
_MAX_RECENT_CONSTS = 4096
_fresh_numbers = count(1)
_APART = object()  # in the keys of nodes that only plans have


def _forget_in_python(ref: Any) -> None:
    """Called with the _Ref of a node that is gone. Another may stand in its place by now: nothing is called between
    the look and the removal, so no other thread and no handler comes in between.
    """
    key: Hashable = ref.key
    try:
        # None at exit, when modules are taken down
        if _table is not None and _table[key] is ref:  # pyright: ignore[reportUnnecessaryComparison]
            del _table[key]
    except KeyError:  # it has been taken out
        return


_forget: Callable[[Any], None] = _forget_in_python


class UOp:
    """An immutable node. Make one with `UOp.new`, `UOp.const` or an operator; equal nodes are the same object.

    Only what it takes to get at the value changes, once there is memory that holds it.

    Attributes:
        op: the operation.
        src: the nodes it takes.
        arg: what else defines it, by op (see `Ops`).
        dtype: of its elements.
        shape: a tuple of ints.
        flags: TRACKED, TRACED and HIDDEN, from its sources.
        depth: of the graph that was still to be computed when it was made; 0 of what is in memory.
        held: how many handles of the user's stand for it; such a node is materialised rather than computed twice.
        realized: the memory that holds its value: of a BUFFER always, of others once computed (see `settle`).
    """

    __slots__ = ("__weakref__", "arg", "depth", "dtype", "flags", "held", "op", "realized", "shape", "src")

    op: Ops
    src: tuple[UOp, ...]
    arg: Any
    dtype: DType
    shape: Shape
    flags: int
    depth: int
    held: int
    realized: Any

    @staticmethod
    def new(op: Ops, src: tuple[UOp, ...] = (), arg: Any = None, dtype: DType | None = None) -> UOp:
        """The node with these fields. Shape and dtype follow from the type rule of `op`.

        Args:
            dtype: for the ops whose dtype does not follow from their sources, see TYPED_BY_DTYPE.
        Raises:
            ShapeError, DTypeError: the type rule rejects the sources.
        """
        if op is _CONST:
            assert dtype is not None, "CONST needs a dtype"
            return UOp.const(arg, dtype)
        key = (op, src, arg, dtype)
        ref = _table.get(key)
        if ref is not None:
            node = ref()
            if node is not None:
                return node
        return _make(key, op, src, arg, dtype)

    @staticmethod
    def of_type(op: Ops, src: tuple[UOp, ...], arg: Any, shape: Shape, dtype: DType) -> UOp:
        """As `new`, no CONST, for who knows the shape and the dtype already."""
        key = (op, src, arg, dtype if op in TYPED_BY_DTYPE else None)
        ref = _table.get(key)
        if ref is not None:
            node = ref()
            if node is not None:
                return node
        return _make(key, op, src, arg, dtype, shape)

    @staticmethod
    def const(value: Scalar, dtype: DType, shape: Shape = ()) -> UOp:
        """`value` as a node of `dtype`, broadcast to `shape`.

        Raises:
            OverflowError: an int that an integer dtype cannot hold.
        """
        # equal values may differ: 0.0 and -0.0, 1 and True; and nan is equal to itself here
        recent = (type(value), bits_of(value), dtype, shape)
        node = _recent_consts.get(recent)
        if node is not None:
            return node
        value = as_value_of(value, dtype)
        key = (_CONST, bits_of(value), dtype)
        ref = _table.get(key)
        node = ref() if ref is not None else None
        if node is None:
            node = _make(key, _CONST, (), value, dtype)
        if shape:
            node = node._broadcast_const(shape)
        if len(_recent_consts) >= _MAX_RECENT_CONSTS:
            _recent_consts.clear()
        _recent_consts[recent] = node
        return node

    def _broadcast_const(self, shape: Shape) -> UOp:
        ones = (1,) * len(shape)
        column = UOp.new(Ops.RESHAPE, (self,), ones)
        return column if ones == shape else UOp.new(Ops.EXPAND, (column,), shape)

    @staticmethod
    def buffer(memory: Any) -> UOp:
        """The leaf for `memory`, an object with `shape`, `dtype` and `requires_grad`, equal only to itself.

        Written out, since every result makes one: it is its own key in the table.
        """
        ref = _table.get(memory)
        if ref is not None:
            node = ref()
            if node is not None:
                return node
        node = _new(UOp)
        node.op = _BUFFER
        node.src = ()
        node.arg = node.realized = memory
        node.shape = memory.shape
        node.dtype = memory.dtype
        node.held = node.depth = 0
        node.flags = TRACKED if memory.requires_grad else 0
        ref = _Ref(node, _forget)
        ref.key = memory
        return node if _table.setdefault(memory, ref) is ref and len(_table) <= _many else _entered(ref, node)

    @staticmethod
    def param(index: int, shape: Shape, dtype: DType, kind: str = "buffer") -> UOp:
        """Input number `index` of a trace, a plan or a kernel."""
        return UOp.new(_PARAM, (), (index, shape, kind), dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def explicit_dtype(self) -> DType | None:
        """The dtype as `new` takes it: None where it follows from the sources."""
        return self.dtype if self.op in TYPED_BY_DTYPE else None

    def over(self, src: tuple[UOp, ...], op: Ops | None = None) -> UOp:
        """This node on other sources; itself on its own.

        Args:
            op: what the node was, where another thread may have computed it since (see `settle`).
        """
        if src == self.src:
            return self
        op = self.op if op is None else op
        return UOp.new(op, src, self.arg, self.dtype if op in TYPED_BY_DTYPE else None)

    def apart(self, op: Ops, src: tuple[UOp, ...]) -> UOp:
        """This node, of that op and on these sources, as plans have it: none of the user's graphs holds it, so nobody
        computes it (see `settle`), and what a plan was made from stays what it was.
        """
        dtype = self.dtype if op in TYPED_BY_DTYPE else None
        key = (_APART, op, src, self.arg, dtype)
        ref = _table.get(key)
        node = ref() if ref is not None else None
        return _make(key, op, src, self.arg, dtype) if node is None else node

    def settle(self, memory: Any) -> None:
        """Let `memory` hold the value from now on: a leaf for planning, never for differentiation.

        Unless a derivative may pass through it, the node becomes a BUFFER, so that nothing that is built on it keeps
        what it was computed from. It leaves the table: a node with these sources made later is another one.
        Readers in other threads take `src` first and `op` or `realized` after it; then they see either the node that it
        was, or a leaf.
        """
        if self.realized is not None:  # another thread was first
            return
        self.realized = memory
        self.depth = 0
        src = self.src
        if self.flags & (TRACKED | TRACED) or (self.op is not _DETACH and any([s.flags & TRACKED for s in src])):
            return
        key = (self.op, src, self.arg, self.explicit_dtype)
        ref = _table.get(key)
        if ref is not None and ref() is self:
            _forget(ref)
        self.op = _BUFFER
        self.flags = 0
        self.src = ()

    def walk(self) -> list[UOp]:
        """Every node that this one depends on and itself, sources before their consumers."""
        return walk((self,))

    def __repr__(self) -> str:
        arg = "" if self.arg is None else f", arg={self.arg!r}"
        return f"UOp({self.op.name}, {name_of(self.dtype)}{list(self.shape)}{arg}, {len(self.src)} sources)"

    def __reduce__(self) -> Any:
        raise TypeError("UOp: a node is not pickled; write it with to_uir and read it with from_uir")

    # --- movement ---

    def reshape(self, shape: Sequence[int]) -> UOp:
        shape = tuple(shape)
        return self if shape == self.shape else UOp.new(Ops.RESHAPE, (self,), shape)

    def expand(self, shape: Sequence[int]) -> UOp:
        shape = tuple(shape)
        return self if shape == self.shape else UOp.new(Ops.EXPAND, (self,), shape)

    def permute(self, axes: Sequence[int]) -> UOp:
        axes = tuple(axes)
        return self if axes == tuple(range(len(self.shape))) else UOp.new(Ops.PERMUTE, (self,), axes)

    def shrink(self, bounds: Sequence[tuple[int, int]]) -> UOp:
        """Keep ``start <= i < stop`` of every axis."""
        bounds = tuple([(a, b) for a, b in bounds])
        if bounds == tuple([(0, n) for n in self.shape]):
            return self
        return UOp.new(Ops.SHRINK, (self,), bounds)

    def pad(self, widths: Sequence[tuple[int, int]]) -> UOp:
        """Put zeros before and after every axis."""
        widths = tuple([(a, b) for a, b in widths])
        if len(widths) == len(self.shape) and not any([a or b for a, b in widths]):
            return self
        return UOp.new(Ops.PAD, (self,), widths)

    def flip(self, axes: Sequence[int]) -> UOp:
        axes = tuple(sorted(axes))
        return UOp.new(Ops.FLIP, (self,), axes) if axes else self

    def index(self, *indices: UOp | int) -> UOp:
        """``x[i, j, ...]`` on the leading axes: all ints (a slice of the graph), or integer nodes of one shape (a
        gather).
        """
        if any(isinstance(i, UOp) for i in indices):
            return UOp.new(Ops.INDEX, (self, *[i for i in indices if isinstance(i, UOp)]))
        bounds = [
            (i % n, i % n + 1) for i, n in zip(indices, self.shape, strict=False) if isinstance(i, int) and -n <= i < n
        ]
        if len(bounds) != len(indices):
            raise IndexError(f"index: {indices} is out of bounds for shape {self.shape}")
        rest = self.shape[len(bounds) :]
        return self.shrink([*bounds, *[(0, n) for n in rest]]).reshape(rest)

    # --- elementwise and along axes ---

    def cast(self, dtype: Any) -> UOp:
        if dtype is self.dtype:
            return self
        dtype = as_dtype(dtype)
        return self if dtype is self.dtype else UOp.new(Ops.CAST, (self,), None, dtype)

    def bitcast(self, dtype: Any) -> UOp:
        dtype = as_dtype(dtype)
        return self if dtype is self.dtype else UOp.new(Ops.BITCAST, (self,), None, dtype)

    def reduce(self, op: Ops, n: int) -> UOp:
        """Reduce the `n` trailing axes with `op` and drop them."""
        return UOp.new(Ops.REDUCE, (self,), (op, n)) if n else self

    def scan(self, op: Ops) -> UOp:
        """Inclusive scan with `op` along the last axis."""
        return UOp.new(Ops.SCAN, (self,), op)

    # --- identities ---

    def materialize(self) -> UOp:
        """The same, stored when it is computed."""
        return UOp.new(Ops.MATERIALIZE, (self,))

    def detach(self) -> UOp:
        """The same, which no derivative passes."""
        return UOp.new(_DETACH, (self,))

    def variable(self, number: int | None = None) -> UOp:
        """The same, as a variable to differentiate by, of this number or of a fresh one."""
        return UOp.new(_VARIABLE, (self,), fresh_number() if number is None else number)

    # --- elementwise, one to three operands ---

    def where(self, x: UOp | Scalar, y: UOp | Scalar) -> UOp:
        """`x` where this bool node holds, else `y`; at least one of the two is a node."""
        like = x if isinstance(x, UOp) else y
        if not isinstance(like, UOp):
            raise DTypeError("where: expected a node for one of the branches at least, got two Python scalars")
        return UOp.new(Ops.WHERE, (self, like._operand(x), like._operand(y)))

    def recip(self) -> UOp:
        return UOp.new(Ops.RECIP, (self,))

    def unary(self, op: Ops) -> UOp:
        return UOp.new(op, (self,))

    def binary(self, op: Ops, other: UOp | Scalar) -> UOp:
        return UOp.new(op, (self, self._operand(other)))

    def _operand(self, other: UOp | Scalar) -> UOp:
        return other if isinstance(other, UOp) else UOp.const(other, self.dtype, self.shape)

    def __add__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.ADD, (self, self._operand(other)))

    def __radd__(self, other: Scalar) -> UOp:
        return UOp.new(Ops.ADD, (self._operand(other), self))

    def __sub__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.SUB, (self, self._operand(other)))

    def __rsub__(self, other: Scalar) -> UOp:
        return UOp.new(Ops.SUB, (self._operand(other), self))

    def __mul__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.MUL, (self, self._operand(other)))

    def __rmul__(self, other: Scalar) -> UOp:
        return UOp.new(Ops.MUL, (self._operand(other), self))

    def __truediv__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.DIV, (self, self._operand(other)))

    def __rtruediv__(self, other: Scalar) -> UOp:
        return UOp.new(Ops.DIV, (self._operand(other), self))

    def __floordiv__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.FLOORDIV, (self, self._operand(other)))

    def __mod__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.FLOORMOD, (self, self._operand(other)))

    def __pow__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.POW, (self, self._operand(other)))

    def __and__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.AND, (self, self._operand(other)))

    def __or__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.OR, (self, self._operand(other)))

    def __xor__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.XOR, (self, self._operand(other)))

    def __lshift__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.SHL, (self, self._operand(other)))

    def __rshift__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.SHR, (self, self._operand(other)))

    def __neg__(self) -> UOp:
        return UOp.new(Ops.NEG, (self,))

    def __invert__(self) -> UOp:
        return UOp.new(Ops.NOT, (self,))

    def __lt__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.CMPLT, (self, self._operand(other)))

    def __le__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.CMPLE, (self, self._operand(other)))

    def __gt__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.CMPLT, (self._operand(other), self))

    def __ge__(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.CMPLE, (self._operand(other), self))

    def eq(self, other: UOp | Scalar) -> UOp:
        """Elementwise ``==``; the operator itself compares identity, since nodes are interned."""
        return UOp.new(Ops.CMPEQ, (self, self._operand(other)))

    def ne(self, other: UOp | Scalar) -> UOp:
        return UOp.new(Ops.CMPNE, (self, self._operand(other)))


def _make_in_python(
    key: Hashable, op: Ops, src: tuple[UOp, ...], arg: Any, dtype: DType | None, shape: Shape | None = None
) -> UOp:
    """The slow half of interning: infer the type, unless the shape is known, fill the fields, enter the node in the
    table.
    """
    if shape is None or dtype is None:
        shape, dtype = INFER[op](op, src, arg, dtype)
    if op is _BUFFER:
        return UOp.buffer(arg)
    node = _new(UOp)
    node.op = op
    node.src = src
    node.arg = arg
    node.shape = shape
    node.dtype = dtype
    node.realized = None
    node.held = 0
    flags = depth = 0
    for s in src:
        flags |= s.flags
        if s.depth >= depth:
            depth = s.depth + 1
    node.depth = depth
    node.flags = _flags_of(op, arg, dtype, flags)
    ref = _Ref(node, _forget)
    ref.key = key
    return node if _table.setdefault(key, ref) is ref and len(_table) <= _many else _entered(ref, node)


_make: Callable[..., UOp] = _make_in_python


def make_in_c(module: Any, any_argument: object) -> None:
    """See `compare_in_c`, which says more of it."""
    global _make, _forget, _latest
    tables = (_table, _recent_consts, INFER, OF_ELEMENTS, TYPED_BY_DTYPE)
    module.connect_nodes(UOp, _Ref, globals(), *tables, {**Ops.__members__}, any_argument)
    _make, _forget, _latest = module.make_node, module.forget_node, module.latest_nodes
    UOp.new, UOp.of_type = module.new, module.of_type


def _entered(ref: _Ref, node: UOp) -> UOp:
    """`node`, entered in the table as `ref`; or the one that another thread has entered meanwhile."""
    while True:
        entered = _table.setdefault(ref.key, ref)
        if entered is ref:
            if len(_table) > _many:
                _tell_once()
            return node
        other = entered()
        if other is not None:  # another thread was first
            return other
        _forget(entered)


def fresh_number() -> int:
    """A number that no variable of a derivative and no input of a trace has had."""
    return next(_fresh_numbers)


def node_count() -> int:
    """How many nodes live that have not been computed, leaves of arrays included."""
    return len(_table)


def when_many(n: int, tell: Callable[[], None]) -> None:
    """Have `tell` called, once, when a node is made and there are more than `n`."""
    global _many, _tell
    _tell, _many = tell, n


def _tell_once() -> None:
    global _many
    _many = sys.maxsize
    if _tell is not None:
        _tell()


def _flags_of(op: Ops, arg: Any, dtype: DType, flags: int) -> int:
    if op is _VARIABLE:
        return flags | TRACKED
    if op is _PARAM:
        return TRACED
    if flags & TRACKED and (op is _DETACH or dtype.kind not in "fc"):
        return flags & ~TRACKED | HIDDEN
    return flags


def _latest_nodes(n: int) -> list[UOp]:
    try:
        refs = list(islice(reversed(_table.values()), n))
    except RuntimeError:  # without a global lock another thread may make a node meanwhile
        return []
    return [node for ref in refs if (node := ref()) is not None]


_latest: Callable[[int], list[UOp]] = _latest_nodes


def latest_nodes(n: int) -> list[UOp]:
    """The `n` nodes that were made last, as far as they live and have not been computed; the latest first."""
    return _latest(n)


def walk(
    roots: Iterable[UOp],
    stop: Container[UOp] = (),
    flags: int = 0,
    into_memory: bool = True,
    last_first: bool = False,
) -> list[UOp]:
    """Every node that `roots` depend on, each once, sources before their consumers: post-order. Depth is no limit.

    Args:
        stop: nodes below which it does not go; they are in the list themselves.
        flags: of which a node must have one to be in the list; without, nothing is looked for below it either.
        into_memory: whether it goes below nodes whose value is in memory.
        last_first: whether the last of the roots, and of the sources of a node, comes first; else they come in order.
    """
    order: list[UOp] = []
    seen: set[UOp] = set()
    stack: list[UOp | None] = [*roots]
    if not last_first:
        stack.reverse()
    while stack:
        node = stack.pop()
        if node is None:  # above a node whose sources are done
            node = stack.pop()
            assert node is not None
            order.append(node)
        elif node not in seen and (not flags or node.flags & flags):
            seen.add(node)
            src = node.src
            if not src or (stop and node in stop) or not (into_memory or node.realized is None):
                order.append(node)
                continue
            stack.append(node)
            stack.append(None)
            for s in src if last_first else reversed(src):
                if s not in seen:
                    stack.append(s)
    return order
