"""Compositions of the primitive ops that several layers need: constants, broadcasting, reductions over any axes,
strided slices, parts of matrices, products; and calls of host functions.

Each is a plain function from nodes to a node; nothing here is known to the planner, which recognises what these
compose to.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache

from uopc_core.dtype import DType, dtypes, is_complex
from uopc_core.errors import ShapeError
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import Scalar, UOp

__all__ = [
    "CONST_FORMS",
    "adjoint",
    "as_indices",
    "axes_apart_from_ones",
    "broadcast",
    "broadcast_shapes",
    "broadcast_to",
    "call_extern",
    "concat",
    "conj",
    "const_of",
    "diagonal",
    "identity",
    "imag",
    "iota",
    "matmul",
    "move_axes_last",
    "on_diagonal",
    "ones_like",
    "pad_to",
    "real",
    "reduce_axes",
    "roll",
    "scan_axis",
    "slice_axes",
    "squeeze",
    "stack",
    "sum_to",
    "swap",
    "unbroadcast",
    "unsqueeze",
    "zeros_like",
]

_CONST, _EXPAND, _RESHAPE = Ops.CONST, Ops.EXPAND, Ops.RESHAPE
CONST_FORMS = frozenset({Ops.CONST, Ops.RESHAPE, Ops.EXPAND})  # ops of which one number in any shape is made
_LAST_PLACE = 2**63 - 1


def zeros_like(x: UOp) -> UOp:
    return UOp.const(0, x.dtype, x.shape)


def ones_like(x: UOp) -> UOp:
    return UOp.const(1, x.dtype, x.shape)


def iota(shape: Sequence[int], axis: int, dtype: DType = dtypes.int64) -> UOp:
    """The coordinate along `axis`, broadcast to `shape`."""
    if 0 in shape:  # the coordinates on one axis may be many where the shape holds nothing
        return UOp.const(0, dtype, tuple(shape))
    n = shape[axis]
    row = UOp.new(Ops.IOTA, (), n, dtype)
    return row.reshape([n if i == axis else 1 for i in range(len(shape))]).expand(shape)


def unbroadcast(x: UOp) -> UOp:
    """What `x` repeats in another shape, or `x` itself. Of one constant, in whatever shape, that is the CONST."""
    src = x.src  # before the op, see `UOp.settle`
    while src and ((op := x.op) is _EXPAND or op is _RESHAPE):
        x = src[0]
        src = x.src
    return x


def axes_apart_from_ones(old: tuple[int, ...], new: tuple[int, ...]) -> list[int | None] | None:
    """For each axis of `new` its axis in `old`, when the two differ only by axes of extent 1."""
    wide = [axis for axis, n in enumerate(old) if n != 1]
    if [old[axis] for axis in wide] != [n for n in new if n != 1]:
        return None
    left = iter(wide)
    return [None if n == 1 else next(left) for n in new]


def on_diagonal(shape: tuple[int, ...], offset: int = 0) -> UOp:
    """Where the matrices of `shape` have their diagonal, bool; `offset` above it, or below where it is negative."""
    row, column = iota(shape, len(shape) - 2), iota(shape, len(shape) - 1)
    return column.eq(row + offset if offset else row)


def identity(shape: tuple[int, ...], dtype: DType, offset: int = 0) -> UOp:
    """Matrices of `shape` with ones on a diagonal and zeros elsewhere."""
    return on_diagonal(shape, offset).cast(dtype)


def const_of(x: UOp) -> Scalar | None:
    """The number that `x` is a constant of, in whatever shape; None where it is none."""
    x = unbroadcast(x)
    return x.arg if x.op is _CONST else None


def as_indices(node: UOp) -> UOp:
    """Integers as int64 indices; those above its range, which no axis has, as the last in it rather than wrapped."""
    return (node.binary(Ops.MIN, _LAST_PLACE) if node.dtype is dtypes.uint64 else node).cast(dtypes.int64)


@lru_cache(4096)
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape by NumPy's rule.

    Raises:
        ShapeError: two extents of an axis differ and neither is 1.
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    ndim = max(map(len, shapes), default=0)
    out = [1] * ndim
    for shape in shapes:
        for axis, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and out[axis] not in (1, n):
                raise ShapeError(f"shapes {' and '.join(map(str, shapes))} cannot be broadcast together")
            if n != 1:
                out[axis] = n
    return tuple(out)


def broadcast_to(x: UOp, shape: tuple[int, ...]) -> UOp:
    """`x` with leading axes added and axes of extent 1 grown, to `shape`."""
    if x.shape == shape:
        return x
    added = len(shape) - len(x.shape)
    if added < 0:
        raise ShapeError(f"shape {x.shape} cannot be broadcast to {shape}")
    for n, m in zip(x.shape, shape[added:], strict=True):
        if n != 1 and n != m:
            raise ShapeError(f"shape {x.shape} cannot be broadcast to {shape}")
    if min(shape, default=0) < 0:
        raise ShapeError(f"shape {x.shape} cannot be broadcast to {shape}")
    if added:
        column = (1,) * added + x.shape
        x = UOp.of_type(_RESHAPE, (x,), column, column, x.dtype)
    return x if x.shape == shape else UOp.of_type(_EXPAND, (x,), shape, shape, x.dtype)


def broadcast(*operands: UOp) -> tuple[UOp, ...]:
    """All operands in their common shape."""
    shape = broadcast_shapes(*[x.shape for x in operands])
    return tuple([broadcast_to(x, shape) for x in operands])


def unsqueeze(x: UOp, axis: int) -> UOp:
    """Put an axis of extent 1 before `axis` (``0 <= axis <= ndim``)."""
    return x.reshape((*x.shape[:axis], 1, *x.shape[axis:]))


def squeeze(x: UOp, axes: Iterable[int]) -> UOp:
    """Drop `axes`, all of extent 1."""
    gone = set(axes)
    return x.reshape([n for axis, n in enumerate(x.shape) if axis not in gone])


def move_axes_last(x: UOp, axes: Sequence[int]) -> UOp:
    """`axes` in their order at the end, the others before them in theirs."""
    return x.permute([*[axis for axis in range(x.ndim) if axis not in axes], *axes])


def reduce_axes(x: UOp, op: Ops, axes: Sequence[int], keepdims: bool = False) -> UOp:
    """Reduce `axes` (not negative, each once) with `op`."""
    n = len(axes)
    ndim = len(x.shape)
    are_last = n == ndim or (n == 1 and axes[0] == ndim - 1)
    out = (x if are_last else move_axes_last(x, sorted(axes))).reduce(op, n)
    if keepdims:
        return out.reshape([1 if axis in axes else n for axis, n in enumerate(x.shape)])
    return out


def scan_axis(x: UOp, op: Ops, axis: int, reverse: bool = False) -> UOp:
    """Inclusive scan along `axis`, from its end when `reverse`."""
    order = [*[i for i in range(x.ndim) if i != axis], axis]
    moved = x.permute(order)
    last = (x.ndim - 1,)
    out = moved.flip(last).scan(op).flip(last) if reverse else moved.scan(op)
    return out.permute([order.index(i) for i in range(x.ndim)])


def sum_to(x: UOp, shape: tuple[int, ...]) -> UOp:
    """Sum over what broadcasting from `shape` to the shape of `x` has grown: its transpose."""
    if x.shape == shape:
        return x
    added = x.ndim - len(shape)
    grown = [axis for axis in range(x.ndim) if axis < added or (shape[axis - added] == 1 and x.shape[axis] != 1)]
    return reduce_axes(x, Ops.ADD, grown).reshape(shape)


def pad_to(x: UOp, starts: Sequence[int], shape: Sequence[int]) -> UOp:
    """Zeros of `shape` with `x` placed at `starts`: the transpose of a shrink."""
    return x.pad([(start, n - start - m) for start, n, m in zip(starts, shape, x.shape, strict=True)])


def slice_axes(x: UOp, slices: Sequence[slice]) -> UOp:
    """``x[slices]`` with one slice an axis, any step but 0, bounds as Python's.

    A step s is composed: the part that is read is padded to a multiple of s, folded to (n, s), and column 0 is kept.
    """
    ranges = [range(*s.indices(n)) for s, n in zip(slices, x.shape, strict=True)]
    bounds = [(min(r[0], r[-1]), max(r[0], r[-1]) + 1) if len(r) else (0, 0) for r in ranges]
    out = x.shrink(bounds).flip([axis for axis, r in enumerate(ranges) if r.step < 0 and len(r) > 1])
    steps = [abs(r.step) if len(r) > 1 else 1 for r in ranges]
    if all(step == 1 for step in steps):
        return out
    out = out.pad([(0, len(r) * step - n) for r, step, n in zip(ranges, steps, out.shape, strict=True)])
    folded = out.reshape([m for r, step in zip(ranges, steps, strict=True) for m in (len(r), step)])
    kept = folded.shrink([b for r in ranges for b in ((0, len(r)), (0, 1))])
    return kept.reshape([len(r) for r in ranges])


def diagonal(x: UOp, offset: int = 0) -> UOp:
    """The diagonals of the matrices in the last two axes, as movement alone: (..., M, N) -> (..., K).

    Cut to K x K, an element of the diagonal follows every K + 1 elements: rows of that length have it in column 0.
    """
    *batch, m, n = x.shape
    top, left = max(-offset, 0), max(offset, 0)
    k = max(min(m - top, n - left), 0)
    whole = [(0, b) for b in batch]
    if k == 0:
        return x.shrink([*whole, (0, 0), (0, 0)]).reshape((*batch, 0))
    square = x.shrink([*whole, (top, top + k), (left, left + k)]).reshape((*batch, k * k))
    rows = square.pad([*[(0, 0) for _ in batch], (0, k)]).reshape((*batch, k, k + 1))
    return rows.shrink([*whole, (0, k), (0, 1)]).reshape((*batch, k))


def roll(x: UOp, shift: int, axis: int) -> UOp:
    """`x` moved along an axis by `shift` towards larger indices; what leaves at one end enters at the other."""
    n = x.shape[axis]
    cut = -shift % n if n else 0
    if cut == 0:
        return x
    whole = [(0, m) for m in x.shape]
    head = x.shrink([*whole[:axis], (0, cut), *whole[axis + 1 :]])
    tail = x.shrink([*whole[:axis], (cut, n), *whole[axis + 1 :]])
    return concat([tail, head], axis)


def swap(x: UOp) -> UOp:
    """The matrices in the last two axes transposed."""
    n = x.ndim
    return x.permute([*range(n - 2), n - 1, n - 2])


def adjoint(x: UOp) -> UOp:
    """The matrices in the last two axes conjugated and transposed."""
    return conj(swap(x))


def real(x: UOp) -> UOp:
    """The real part, of real numbers these."""
    return x.unary(Ops.REAL) if is_complex(x.dtype) else x


def imag(x: UOp) -> UOp:
    """The imaginary part, of real numbers 0."""
    return x.unary(Ops.IMAG) if is_complex(x.dtype) else zeros_like(x)


def conj(x: UOp) -> UOp:
    """The complex conjugate, of real numbers these."""
    return x.unary(Ops.CONJ) if is_complex(x.dtype) else x


def concat(parts: Sequence[UOp], axis: int) -> UOp:
    """`parts` joined along an existing axis."""
    return parts[0] if len(parts) == 1 else UOp.new(Ops.CONCAT, tuple(parts), axis)


def stack(parts: Sequence[UOp], axis: int = 0) -> UOp:
    """`parts` joined along a new axis."""
    return concat([unsqueeze(part, axis) for part in parts], axis)


def matmul(x: UOp, y: UOp) -> UOp:
    """``x @ y`` for (..., M, K) and (..., K, N), batch axes broadcast, as expand, multiply and reduce.

    The planner recognises the product, however it was spelled, and never builds the M x N x K array.
    """
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-2]:
        raise ShapeError(f"matmul: expected (..., M, K) and (..., K, N), got {x.shape} and {y.shape}")
    (m, k), n = x.shape[-2:], y.shape[-1]
    if x.ndim == y.ndim == 2:  # the same nodes, sooner
        left, right = x.reshape((m, 1, k)), y.permute((1, 0)).reshape((1, n, k))
        return (left.expand((m, n, k)) * right.expand((m, n, k))).reduce(Ops.ADD, 1)
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    left = broadcast_to(unsqueeze(x, x.ndim - 1), (*batch, m, n, k))
    right = broadcast_to(unsqueeze(swap(y), y.ndim - 2), (*batch, m, n, k))
    return (left * right).reduce(Ops.ADD, 1)


def call_extern(name: str, *sources: UOp, params: tuple[Hashable, ...] = (), output: int = 0) -> UOp:
    """Output number `output` of the registered function `name` of a host library."""
    return UOp.new(Ops.EXTERN, sources, (name, params, output))
