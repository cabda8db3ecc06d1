"""The lazy tensor: an operation adds nodes to the graph, asking for a value computes what is missing.

float32 by default, in the manner of PyTorch. Every method is a few nodes; nothing is computed before a value is needed.
"""

from __future__ import annotations

import functools
import itertools
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, ClassVar, Literal, cast

import numpy as np

from uopc_core import tensor_dtypes
from uopc_core.dtype import dtypes, is_bool, is_integer, name_of
from uopc_core.errors import DTypeError, GradientError
from uopc_core.ir import Ops, Scalar, UOp, walk
from uopc_core.ir.composite import broadcast_shapes, broadcast_to, concat, iota, reduce_axes, stack, unsqueeze
from uopc_core.numerics import activations, elementwise, indexing, products, random, statistics
from uopc_core.numerics.axes import axes_from_front, axis_from_front, filled_shape
from uopc_core.tensor_handle import (
    TensorHandle,
    branches,
    check_labels,
    index_item,
    node_of,
    operands,
    positions_of_mask,
    required_node,
)
from uopc_core.transform.gradient import gradient

__all__ = ["Tensor", "TensorLike"]


class Tensor(TensorHandle):
    """An array whose value is computed when it is asked for.

    Args:
        data: numbers, nested lists of numbers, a NumPy array, another Tensor or a node. Python numbers become float32,
            int32 (int64 where they do not fit), bool or complex64; what has a dtype keeps it. Memory is copied.
        requires_grad: whether `backward` may ask for the gradient of a loss with respect to this Tensor.
    Raises:
        GradientError: `requires_grad` of a Tensor that is not floating.
    Example:
        >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
        >>> (x * x).sum().backward([x])
        >>> x.grad.numpy()
        array([2., 4., 6.], dtype=float32)

    Attributes:
        uop: the node this handle stands for.
        grad: the accumulated gradient of `backward`, or None.
    """

    __slots__ = ("_losses", "grad")

    __array_ufunc__ = None  # NumPy's operators leave a mixed expression to this class
    _draws: ClassVar[Iterator[int]] = itertools.count()
    _seed: ClassVar[int] = 0

    grad: Tensor | None
    _losses: tuple[weakref.ref[Tensor], ...]  # of a gradient: what it is the gradient of

    def __getattr__(self, name: str) -> Any:
        if name in _EMPTY_SLOTS:  # that most Tensors never fill
            return _EMPTY_SLOTS[name]
        return super().__getattr__(name)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a Tensor without axes")
        return iter([self[i] for i in range(self.shape[0])])

    # --- gradients ---

    def backward(self, params: Tensor | Iterable[Tensor]) -> None:
        """Add the gradients of this loss to the `.grad` of each of `params`; nothing is computed yet.

        Raises:
            GradientError: this Tensor is not one real floating number, or one of `params` is no variable of its graph.
        """
        if self.size != 1 or self.dtype.kind != "f":
            raise GradientError(f"backward: expected one real floating number, got {name_of(self.dtype)} {self.shape}")
        targets = [params] if isinstance(params, Tensor) else list(params)
        _check_targets(self._node, targets)
        gradients = gradient(self._node, [p._node for p in targets])
        for param, node in zip(targets, gradients, strict=True):
            param._accumulate(node, self)

    def _accumulate(self, node: UOp, loss: Tensor) -> None:
        before = self.grad
        losses = (weakref.ref(loss),) if before is None else (*before._losses, weakref.ref(loss))
        self.grad = Tensor._from_uop(node if before is None else before._node + node)
        self.grad._losses = losses

    def losses(self) -> list[Tensor]:
        """Of a gradient: the losses it comes from that are still alive, for a step to compute along with it."""
        return [loss for ref in self._losses if (loss := ref()) is not None]

    def zero_grad(self) -> None:
        """Forget the accumulated gradient."""
        self.grad = None

    def detach(self) -> Tensor:
        """The same value, through which no gradient passes."""
        return Tensor._from_uop(self._node.detach())

    def cast(self, dtype: Any) -> Tensor:
        return Tensor._from_uop(self._node.cast(dtype))

    # --- arithmetic ---

    def _binary(self, other: Any, make: Callable[[UOp, UOp], UOp], swap: bool = False) -> Tensor:
        pair = operands(self._node, other)
        if pair is None:
            return NotImplemented
        x, y = pair
        return Tensor._from_uop(make(y, x) if swap else make(x, y))

    def __add__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__add__)

    def __radd__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__add__, True)

    def __sub__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__sub__)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__sub__, True)

    def __mul__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__mul__)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__mul__, True)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return self._binary(other, _div)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return self._binary(other, _div, True)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__floordiv__)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__floordiv__, True)

    def __mod__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__mod__)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__mod__, True)

    def __pow__(self, other: TensorLike) -> Tensor:
        if isinstance(other, int | float) and not isinstance(other, bool):
            x = self._node.cast(tensor_dtypes.dtype_beside_scalar(self.dtype, other))
            return Tensor._from_uop(elementwise.power_by(x, other, UOp.const(other, x.dtype, x.shape)))
        return self._binary(other, elementwise.power)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return self._binary(other, elementwise.power, True)

    def __and__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__and__)

    def __or__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__or__)

    def __xor__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__xor__)

    def __invert__(self) -> Tensor:
        return Tensor._from_uop(~self._node)

    def __neg__(self) -> Tensor:
        return Tensor._from_uop(-self._node)

    def __abs__(self) -> Tensor:
        return self.abs()

    def __lt__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__lt__)

    def __le__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__le__)

    def __gt__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__gt__)

    def __ge__(self, other: TensorLike) -> Tensor:
        return self._binary(other, UOp.__ge__)

    def __eq__(self, other: TensorLike) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride] (elementwise)
        return self._binary(other, UOp.eq)

    def __ne__(self, other: TensorLike) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride] (elementwise)
        return self._binary(other, UOp.ne)

    __hash__ = object.__hash__

    def __matmul__(self, other: Tensor) -> Tensor:
        return self._product(other, False)

    def __rmatmul__(self, other: Any) -> Tensor:
        return self._product(other, True)

    def _product(self, other: Any, swap: bool) -> Tensor:
        right = node_of(other)
        if right is None:
            return NotImplemented
        dtype = tensor_dtypes.promote(self.dtype, right.dtype)
        x, y = self._node.cast(dtype), right.cast(dtype)
        return Tensor._from_uop(products.matmul("matmul", *((y, x) if swap else (x, y))))

    # --- elementwise functions; integers become float32 where the result is not whole ---

    def _inexact(self, op: Ops) -> Tensor:
        return Tensor._from_uop(tensor_dtypes.as_inexact(self._node).unary(op))

    def exp(self) -> Tensor:
        return self._inexact(Ops.EXP)

    def log(self) -> Tensor:
        return self._inexact(Ops.LOG)

    def sin(self) -> Tensor:
        return self._inexact(Ops.SIN)

    def cos(self) -> Tensor:
        return self._inexact(Ops.COS)

    def tanh(self) -> Tensor:
        return self._inexact(Ops.TANH)

    def sqrt(self) -> Tensor:
        return self._inexact(Ops.SQRT)

    def reciprocal(self) -> Tensor:
        return self._inexact(Ops.RECIP)

    def square(self) -> Tensor:
        return Tensor._from_uop(self._node * self._node)

    def abs(self) -> Tensor:
        """The absolute value; the slope at 0 is 0."""
        return Tensor._from_uop(elementwise.absolute(self._node))

    def sigmoid(self) -> Tensor:
        return Tensor._from_uop(activations.sigmoid(tensor_dtypes.as_inexact(self._node)))

    def relu(self) -> Tensor:
        """``where(x > 0, x, 0)``; the slope at 0 is 0."""
        return Tensor._from_uop(activations.relu(self._node))

    def gelu(self, approximate: Literal["none", "tanh"] = "none") -> Tensor:
        """``x * Phi(x)``, by the error function or by its approximation with tanh."""
        return Tensor._from_uop(activations.gelu(tensor_dtypes.as_inexact(self._node), approximate))

    def maximum(self, other: TensorLike) -> Tensor:
        """The larger of two; where they are equal each gets half the gradient."""
        return self._binary(other, lambda x, y: x.binary(Ops.MAX, y))

    def minimum(self, other: TensorLike) -> Tensor:
        """The smaller of two; where they are equal each gets half the gradient."""
        return self._binary(other, lambda x, y: x.binary(Ops.MIN, y))

    def where(self, x: TensorLike, y: TensorLike) -> Tensor:
        """`x` where this bool Tensor holds, else `y`."""
        if not is_bool(self.dtype):
            raise DTypeError(f"where: expected a bool condition, got {name_of(self.dtype)}; compare it with something")
        a, b = branches(x, y)
        shape = broadcast_shapes(self.shape, a.shape)
        return Tensor._from_uop(broadcast_to(self._node, shape).where(broadcast_to(a, shape), broadcast_to(b, shape)))

    # --- along axes ---

    def _axes(self, name: str, axis: Axis) -> tuple[int, ...]:
        if axis is None:
            return tuple(range(self.ndim))
        return axes_from_front(name, (axis,) if isinstance(axis, int) else axis, self.ndim)

    def sum(self, axis: Axis = None, keepdim: bool = False) -> Tensor:
        """The sum over `axis` (all axes for None); integers and bool add up in 64 bits."""
        x = self._node.cast(tensor_dtypes.summed_dtype(self.dtype))
        return Tensor._from_uop(reduce_axes(x, Ops.ADD, self._axes("sum", axis), keepdim))

    def max(self, axis: Axis = None, keepdim: bool = False) -> Tensor:
        """The largest element; equal ones share the gradient evenly."""
        return Tensor._from_uop(reduce_axes(self._node, Ops.MAX, self._axes("max", axis), keepdim))

    def min(self, axis: Axis = None, keepdim: bool = False) -> Tensor:
        """The smallest element; equal ones share the gradient evenly."""
        return Tensor._from_uop(reduce_axes(self._node, Ops.MIN, self._axes("min", axis), keepdim))

    def mean(self, axis: Axis = None, keepdim: bool = False) -> Tensor:
        x = tensor_dtypes.as_inexact(self._node)
        return Tensor._from_uop(statistics.mean_of(x, None, self._axes("mean", axis), keepdim))

    def var(self, axis: Axis = None, keepdim: bool = False, correction: float = 1) -> Tensor:
        """The variance with the divisor ``n - correction``."""
        x, axes = tensor_dtypes.as_inexact(self._node), self._axes("var", axis)
        center = broadcast_to(statistics.mean_of(x, None, axes, True), x.shape)
        squares = statistics.squares_around(x, center, None, axes, keepdim)
        return Tensor._from_uop(squares / max(prod([self.shape[i] for i in axes]) - correction, 0.0))

    def softmax(self, axis: int = -1) -> Tensor:
        return Tensor._from_uop(
            activations.softmax(tensor_dtypes.as_inexact(self._node), axis_from_front("softmax", axis, self.ndim))
        )

    def log_softmax(self, axis: int = -1) -> Tensor:
        return Tensor._from_uop(
            activations.log_softmax(
                tensor_dtypes.as_inexact(self._node), axis_from_front("log_softmax", axis, self.ndim)
            )
        )

    def cross_entropy(self, labels: TensorLike) -> Tensor:
        """The mean cross entropy of these logits (..., C) and integer `labels` (...) or probabilities (..., C).

        Raises:
            IndexError: a label that is in memory already is not below C.
        """
        node = required_node(labels)
        if is_integer(node.dtype) and self.ndim:
            check_labels(node, self.shape[-1])
        return Tensor._from_uop(activations.cross_entropy(tensor_dtypes.as_inexact(self._node), node))

    def one_hot(self, n_classes: int) -> Tensor:
        """float32 of shape (..., n_classes) with a 1 at the index that each integer names.

        Raises:
            IndexError: a label that is in memory already is not below `n_classes`.
        """
        check_labels(self._node, n_classes)
        return Tensor._from_uop(activations.one_hot(self._node, n_classes).cast(dtypes.float32))

    # --- movement ---

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """The elements in order in another shape; one extent may be -1."""
        return Tensor._from_uop(self._node.reshape(filled_shape("reshape", self.shape, _integers(shape))))

    def permute(self, *axes: int | Sequence[int]) -> Tensor:
        return Tensor._from_uop(self._node.permute(self._axes("permute", _integers(axes))))

    def transpose(self, axis0: int = -2, axis1: int = -1) -> Tensor:
        """Two axes exchanged."""
        i, j = [axis_from_front("transpose", axis, self.ndim) for axis in (axis0, axis1)]
        order = list(range(self.ndim))
        order[i], order[j] = j, i
        return Tensor._from_uop(self._node.permute(order))

    @property
    def T(self) -> Tensor:
        """All axes in reverse order."""
        return Tensor._from_uop(self._node.permute(range(self.ndim)[::-1]))

    def expand(self, *shape: int | Sequence[int]) -> Tensor:
        """Axes of extent 1 grown and leading axes added to give `shape`; -1 leaves an axis as it is."""
        wanted = _integers(shape)
        added = len(wanted) - self.ndim
        filled = [self.shape[i - added] if n == -1 and i >= added else n for i, n in enumerate(wanted)]
        return Tensor._from_uop(broadcast_to(self._node, tuple(filled)))

    def shrink(self, bounds: Sequence[tuple[int, int] | None]) -> Tensor:
        """``start <= i < stop`` of every axis; None keeps an axis whole."""
        pairs = [(0, n) if b is None else b for b, n in zip(bounds, self.shape, strict=True)]
        return Tensor._from_uop(self._node.shrink(pairs))

    def pad(self, widths: Sequence[tuple[int, int] | None]) -> Tensor:
        """Zeros ``(before, after)`` every axis; None leaves an axis as it is."""
        return Tensor._from_uop(self._node.pad([w or (0, 0) for w in widths]))

    def flip(self, *axes: int | Sequence[int]) -> Tensor:
        return Tensor._from_uop(self._node.flip(self._axes("flip", _integers(axes) or None)))

    def unsqueeze(self, axis: int) -> Tensor:
        """An axis of extent 1 put at `axis` of the result."""
        return Tensor._from_uop(unsqueeze(self._node, axis_from_front("unsqueeze", axis, self.ndim + 1)))

    def stack_with(self, *others: Tensor, axis: int = 0) -> Tensor:
        """This Tensor and `others` along a new axis."""
        return Tensor.stack([self, *others], axis=axis)

    def __getitem__(self, key: Any) -> Tensor:
        items = [index_item(k) for k in cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))]
        return Tensor._from_uop(indexing.read(self._node, items, positions_of_mask))

    # --- construction ---

    @staticmethod
    def cat(*tensors: Tensor | Sequence[Tensor], axis: int = 0) -> Tensor:
        """Tensors joined along an existing axis."""
        nodes = _common_dtype(_tensors(tensors))
        return Tensor._from_uop(concat(nodes, axis_from_front("cat", axis, nodes[0].ndim)))

    @staticmethod
    def stack(*tensors: Tensor | Sequence[Tensor], axis: int = 0) -> Tensor:
        """Tensors of one shape joined along a new axis."""
        nodes = _common_dtype(_tensors(tensors))
        return Tensor._from_uop(stack(nodes, axis_from_front("stack", axis, nodes[0].ndim + 1)))

    @staticmethod
    def manual_seed(seed: int) -> None:
        """Start the sequence of random numbers over; the seed is 0 when a process begins."""
        Tensor._seed = seed
        Tensor._draws = itertools.count()

    @staticmethod
    def randn(*shape: int | Sequence[int], requires_grad: bool = False) -> Tensor:
        """float32 from the standard normal distribution."""
        key = random.squares_key(Tensor._seed, next(Tensor._draws))
        return Tensor(random.normal(key, _integers(shape)), requires_grad)

    @staticmethod
    def rand(*shape: int | Sequence[int], requires_grad: bool = False) -> Tensor:
        """float32 uniform in [0, 1)."""
        key = random.squares_key(Tensor._seed, next(Tensor._draws))
        return Tensor(random.uniform(key, _integers(shape)), requires_grad)

    @staticmethod
    def arange(start: float, stop: float | None = None, step: float = 1) -> Tensor:
        """``start, start + step, ...`` below `stop`; int32, or float32 when a bound is floating."""
        first, last = (0, start) if stop is None else (start, stop)
        whole = all(isinstance(v, int) for v in (first, last, step))
        n = max(0, int(-((first - last) // step)))
        row = iota((n,), 0, dtypes.int32)
        return Tensor._from_uop((row if whole else row.cast(dtypes.float32)) * step + first)


Axis = int | Sequence[int] | None
_EMPTY_SLOTS: dict[str, Any] = {"grad": None, "_losses": ()}
TensorLike = Tensor | Scalar | np.ndarray[Any, Any] | Sequence[Any]

# --------------------------------------------------------------------------------------------------------- arguments


def _div(x: UOp, y: UOp) -> UOp:
    return tensor_dtypes.as_inexact(x) / tensor_dtypes.as_inexact(y)


def _integers(values: Sequence[int | Sequence[int]]) -> tuple[int, ...]:
    """Integers given one by one or as one sequence."""
    if len(values) == 1 and isinstance(values[0], Sequence):
        return tuple(values[0])
    return tuple([operator.index(cast("int", v)) for v in values])


def _tensors(values: Sequence[Tensor | Sequence[Tensor]]) -> list[Tensor]:
    return [t for v in values for t in ([v] if isinstance(v, Tensor) else v)]


def _common_dtype(tensors: Sequence[Tensor]) -> list[UOp]:
    dtype = functools.reduce(tensor_dtypes.promote, [t.dtype for t in tensors])
    return [t.uop.cast(dtype) for t in tensors]


def _check_targets(root: UOp, targets: Sequence[Tensor]) -> None:
    """Refuse a Tensor whose history may be gone: without `requires_grad` it must still be in the graph."""
    unmarked = [i for i, t in enumerate(targets) if not t.requires_grad]
    if not unmarked:
        return
    nodes = set(walk([root]))
    for i in unmarked:
        if targets[i].uop not in nodes:
            raise GradientError(
                f"backward: the loss was not computed from Tensor number {i}, or that history was not kept; "
                "make it with Tensor(data, requires_grad=True)"
            )
