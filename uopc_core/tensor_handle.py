"""What a Tensor is made of and hands out, and what it takes for an operand.

A node with a differentiable leaf upstream keeps its history, any other lets go of it once it is computed
(`UOp.settle`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, cast

import numpy as np

from uopc_core import tensor_dtypes
from uopc_core.dtype import is_bool, is_inexact, is_integer, name_of
from uopc_core.errors import GradientError, IndexBoundsError, ShapeError
from uopc_core.frontend.handle import LazyHandle
from uopc_core.ir import TRACKED, UOp
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.execute import realize_all

__all__ = [
    "SCALARS",
    "TensorHandle",
    "branches",
    "check_labels",
    "index_item",
    "node_of",
    "operands",
    "positions_of_mask",
    "required_node",
]

SCALARS = (bool, int, float, complex)
_SHOWN_ELEMENTS = 1000


class TensorHandle(LazyHandle):
    """A node of the graph in the user's hands; see `Tensor` for the arguments."""

    __slots__ = ()

    def __new__(cls, data: Any, requires_grad: bool = False) -> Self:
        node = data._node if isinstance(data, TensorHandle) else data
        if not isinstance(node, UOp):
            node = _leaf(node)
        return cls._from_uop(_differentiable_leaf(node) if requires_grad else node)

    def __copy__(self) -> Self:
        return self._from_uop(self._node)

    def __deepcopy__(self, memo: Any) -> Self:
        """A leaf with the same value in memory of its own, a variable where this is one."""
        return type(self)(self.numpy(), self.requires_grad)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.numpy(), self.requires_grad)

    @property
    def uop(self) -> UOp:
        """The node that this handle stands for."""
        return self._node

    @uop.setter
    def uop(self, node: UOp) -> None:
        self._replace(None, node)

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient can reach this Tensor: it is a differentiable leaf or was computed from one."""
        return bool(self._node.flags & TRACKED)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a Tensor without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        memory = self._node.realized
        grad = ", requires_grad=True" if self.requires_grad else ""
        if memory is None or self.size > _SHOWN_ELEMENTS:
            return f"Tensor(shape={self.shape}, dtype={name_of(self.dtype)}{grad})"
        text = np.array2string(memory.array, separator=", ", prefix="Tensor(")
        return f"Tensor({text}, dtype={name_of(self.dtype)}{grad})"

    # --- values ---

    @staticmethod
    def realize_all(tensors: Iterable[TensorHandle]) -> None:
        """Compute all `tensors` in one plan."""
        realize_all([t._node for t in tensors])

    def realize(self) -> Self:
        """Compute the value, if it is not there yet, and return self."""
        self._memory("realize")
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        """The value as a fresh NumPy array."""
        return np.array(self._memory("numpy").array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("Tensor: its memory is not handed out without a copy")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def item(self) -> Any:
        """The one element as a Python number.

        Raises:
            ShapeError: there is not exactly one.
        """
        if self.size != 1:
            raise ShapeError(f"item: expected one element, got shape {self.shape}")
        return self.numpy().item()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def replace_memory(self, memory: Buffer, requires_grad: bool) -> None:
        """Stand for other memory from now on, as after the step of an optimizer; graphs made before keep the old."""
        fresh = Buffer.from_numpy(memory.array, copy=False)
        fresh.requires_grad = requires_grad
        self.uop = UOp.buffer(fresh)


# ------------------------------------------------------------------------------------------------------------- operands


def _differentiable_leaf(node: UOp) -> UOp:
    """A leaf with the value of `node` that gradients are taken with respect to."""
    if not is_inexact(node.dtype):
        raise GradientError(f"requires_grad: expected a floating Tensor, got {name_of(node.dtype)}")
    fresh = Buffer.from_numpy(realize_all([node])[0].array, copy=False)
    fresh.requires_grad = True
    return UOp.buffer(fresh)


def _leaf(data: Any) -> UOp:
    """Memory of its own with the values of `data`."""
    return UOp.buffer(Buffer.from_numpy(tensor_dtypes.as_array(data), copy=True))


def node_of(value: Any) -> UOp | None:
    if isinstance(value, TensorHandle):
        return value._node
    if isinstance(value, (np.ndarray, np.generic, list, tuple, *SCALARS)):
        return _leaf(value)
    return None


def required_node(value: Any) -> UOp:
    node = node_of(value)
    if node is None:
        raise TypeError(f"expected a Tensor, a number, a list or a NumPy array, got {type(value).__name__}")
    return node


def operands(x: UOp, other: Any) -> tuple[UOp, UOp] | None:
    """`x` and `other` in their common shape and dtype; None when `other` is nothing that a Tensor computes with."""
    scalar = cast("Any", other).item() if isinstance(other, np.generic) else other
    if isinstance(scalar, SCALARS):
        dtype = tensor_dtypes.dtype_beside_scalar(x.dtype, scalar)
        return x.cast(dtype), UOp.const(scalar, dtype, x.shape)
    node = node_of(other)
    if node is None:
        return None
    x, y = tensor_dtypes.broadcast_all(x, node)
    return x, y


def branches(x: Any, y: Any) -> tuple[UOp, UOp]:
    """The two branches of `where` in their common shape and dtype."""
    if isinstance(x, SCALARS) and not isinstance(y, SCALARS):
        second, first = branches(y, x)
        return first, second
    pair = operands(required_node(x), y)
    if pair is None:
        raise TypeError(f"where: expected a Tensor, a number, a list or a NumPy array, got {type(y).__name__}")
    return pair


def index_item(k: Any) -> Any:
    """One item of an index as `indexing.parse` takes it."""
    if k is None or k is Ellipsis or isinstance(k, slice):
        return cast("Any", k)
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        return int(cast("Any", k))
    node = node_of(k) if not isinstance(k, SCALARS) else None
    if node is None or not (is_integer(node.dtype) or is_bool(node.dtype)):
        kind = type(k).__name__ if node is None else f"{name_of(node.dtype)} Tensor"
        raise IndexError(f"only integers, slices, ..., None and integer or bool Tensors are indices, got {kind}")
    return node


def positions_of_mask(mask: UOp) -> list[UOp]:
    """The indices at which `mask` holds, which is computed."""
    return [_leaf(indices) for indices in np.nonzero(np.atleast_1d(realize_all([mask])[0].array))]


def check_labels(labels: UOp, n_classes: int) -> None:
    """Find a wrong label where it costs nothing: in labels that are in memory already."""
    memory = labels.realized
    if memory is None or not labels.size or not is_integer(labels.dtype):
        return
    for label in (memory.array.min(), memory.array.max()):
        if not 0 <= label < n_classes:
            raise IndexBoundsError(f"label {label} is out of bounds for {n_classes} classes")
