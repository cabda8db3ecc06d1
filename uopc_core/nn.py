"""Layers and optimizers on `Tensor`: a layer is an object with Tensors for attributes, a model any tree of them.

A step of an optimizer computes loss, gradients, its own state and the new parameters in one plan. Numbers that change
from step to step (learning rate, bias correction) are Python floats, which the planner turns into inputs of the plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from math import prod, sqrt
from typing import Any, cast

import numpy as np

from uopc_core.containers import NAMESPACE, pytrees
from uopc_core.errors import ShapeError
from uopc_core.ir import Ops, UOp
from uopc_core.runtime.execute import realize_all
from uopc_core.tensor import Tensor, TensorLike

__all__ = ["SGD", "AdamW", "Embedding", "LayerNorm", "Linear", "Optimizer", "parameters", "zero_grad"]

# --------------------------------------------------------------------------------------------------------------- layers


class Linear:
    """``x @ weight.T + bias``, both drawn uniformly from +-1/sqrt(n_in) (LeCun et al. 1998, "Efficient BackProp").

    Args:
        n_in: extent of the last axis of the input.
        n_out: extent of the last axis of the output.
        bias: whether there is one.
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(self, n_in: int, n_out: int, bias: bool = True) -> None:
        bound = 1 / sqrt(n_in) if n_in else 0.0
        self.weight = _parameter((Tensor.rand(n_out, n_in) * 2 - 1) * bound)
        self.bias = _parameter((Tensor.rand(n_out) * 2 - 1) * bound) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        out = x @ self.weight.T
        return out if self.bias is None else out + self.bias


class Embedding:
    """A row of `weight` for every integer; a row that is read several times gets the sum of the gradients.

    Args:
        n_rows: how many rows there are to look up.
        n_features: extent of the last axis of the output.
    """

    weight: Tensor

    def __init__(self, n_rows: int, n_features: int) -> None:
        self.weight = Tensor.randn(n_rows, n_features, requires_grad=True)

    def __call__(self, rows: TensorLike) -> Tensor:
        return self.weight[rows]


class LayerNorm:
    """Mean 0 and variance 1 over the last axes, then scaled and shifted (Ba, Kiros & Hinton 2016, arXiv:1607.06450).

    Args:
        shape: extents of the axes that are normalized.
        eps: added to the variance.
        affine: whether there is a scale and a shift to learn.
    """

    weight: Tensor | None
    bias: Tensor | None

    def __init__(self, shape: int | Sequence[int], eps: float = 1e-5, affine: bool = True) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.eps = eps
        self.weight = Tensor(np.ones(self.shape, np.float32), requires_grad=True) if affine else None
        self.bias = Tensor(np.zeros(self.shape, np.float32), requires_grad=True) if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        if x.shape[x.ndim - len(self.shape) :] != self.shape or x.ndim < len(self.shape):
            raise ShapeError(f"LayerNorm: expected the last axes to be {self.shape}, got {x.shape}")
        axes = range(-len(self.shape), 0)
        distance = x - x.mean(axes, keepdim=True)
        # the mean of squares by hand, since Tensor.var would compute the distances again
        spread = (distance.square().sum(axes, keepdim=True) / float(prod(self.shape)) + self.eps).sqrt()
        out = distance / spread
        if self.weight is None or self.bias is None:
            return out
        return out * self.weight + self.bias


def _parameter(value: Tensor) -> Tensor:
    return Tensor(value, requires_grad=True)


# ----------------------------------------------------------------------------------------------------------- parameters


def parameters(tree: Any) -> list[Tensor]:
    """The Tensors of `tree` that require gradients, each once, in order.

    Args:
        tree: Tensors in lists, tuples, dicts and other nodes that optree knows, and in the attributes of objects.
    """
    found: dict[int, Tensor] = {}
    seen: set[int] = set()
    for tensor in _tensors_of(tree, seen):
        if tensor.requires_grad:
            found[id(tensor)] = tensor
    return list(found.values())


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _tensors_of(tree: Any, seen: set[int]) -> Iterator[Tensor]:
    for leaf in pytrees.tree_leaves(tree, is_leaf=_is_tensor, namespace=NAMESPACE):
        if isinstance(leaf, Tensor):
            yield leaf
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, type) and id(leaf) not in seen:
            seen.add(id(leaf))
            for value in cast("dict[str, Any]", vars(leaf)).values():
                yield from _tensors_of(value, seen)


def zero_grad(tree: Any) -> None:
    """Forget the gradients of all parameters of `tree`."""
    for parameter in parameters(tree):
        parameter.zero_grad()


# ----------------------------------------------------------------------------------------------------------- optimizers


class Optimizer(ABC):
    """What the optimizers share: the parameters, the state of each, and the step that computes everything in one plan.

    Args:
        tree: what `parameters` finds them in.
        lr: the learning rate; assign to `lr` to change it, at no cost.
    """

    def __init__(self, tree: Any, lr: float) -> None:
        self.params = parameters(tree)
        self.lr = lr
        self._state: list[list[UOp]] = [[] for _ in self.params]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.params:
            parameter.zero_grad()

    def step(self, *also: Tensor) -> None:
        """Move every parameter that has a gradient; losses, gradients and `also` are computed in the same plan.

        Args:
            also: what is to be read after the step and was made of the parameters before it: predictions, norms.
        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> optimizer, loss = SGD(w, lr=0.5), (w * 3).sum()
            >>> loss.backward(w)
            >>> size = w.grad.square().sum().sqrt()
            >>> optimizer.step(size)
            >>> size.item(), w.item()
            (3.0, -0.5)
        """
        moved = [(i, p, g) for i, p in enumerate(self.params) if (g := p.grad) is not None]
        values: list[UOp] = []
        states: list[Sequence[UOp]] = []
        for i, parameter, grad in moved:
            value, slope = parameter.uop.detach(), grad.uop.detach()
            new_value, new_state = self._move(value, slope, self._state[i])
            values.append(new_value)
            states.append(new_state)
        grads = [grad for _, _, grad in moved]
        flat = [node for state in states for node in state]
        memory = realize_all([*values, *flat, *[g.uop for g in grads], *_losses_of(grads), *[t.uop for t in also]])
        for (_, parameter, _), buffer in zip(moved, memory, strict=False):
            parameter.replace_memory(buffer, requires_grad=True)
        kept = iter(memory[len(values) :])
        for (i, _, _), state in zip(moved, states, strict=True):
            self._state[i] = [UOp.buffer(next(kept)) for _ in state]
        for grad, buffer in zip(grads, kept, strict=False):
            grad.replace_memory(buffer, requires_grad=False)  # the parameters that it was taken at are gone

    @abstractmethod
    def _move(self, value: UOp, slope: UOp, state: Sequence[UOp]) -> tuple[UOp, Sequence[UOp]]:
        """Value, gradient and state of one parameter -> its new value and its new state."""


def _losses_of(grads: Iterable[Tensor]) -> list[UOp]:
    return list(dict.fromkeys([loss.uop for grad in grads for loss in grad.losses()]))


class SGD(Optimizer):
    """Gradient descent; with momentum m the step is along ``v = m v + gradient`` (Polyak 1964).

    Args:
        tree: what `parameters` finds the parameters in.
        lr: the learning rate.
        momentum: m; 0 for none.
    """

    def __init__(self, tree: Any, lr: float = 1e-2, momentum: float = 0.0) -> None:
        super().__init__(tree, lr)
        self.momentum = momentum

    def _move(self, value: UOp, slope: UOp, state: Sequence[UOp]) -> tuple[UOp, Sequence[UOp]]:
        if not self.momentum:
            return value - slope * self.lr, ()
        velocity = state[0] * self.momentum + slope if state else slope
        return value - velocity * self.lr, (velocity,)


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019, arXiv:1711.05101).

    Args:
        tree: what `parameters` finds the parameters in.
        lr: the learning rate.
        betas: decay of the running mean of the gradient and of its square.
        eps: added to the root of the mean square.
        weight_decay: share of a parameter that is taken off, times `lr`.
    """

    def __init__(
        self,
        tree: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(tree, lr)
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.n_steps = 0

    def step(self, *also: Tensor) -> None:
        """Move every parameter that has a gradient; as `Optimizer.step`."""
        self.n_steps += 1
        super().step(*also)

    def _move(self, value: UOp, slope: UOp, state: Sequence[UOp]) -> tuple[UOp, Sequence[UOp]]:
        beta1, beta2 = self.betas
        mean, square = slope * (1 - beta1), slope * slope * (1 - beta2)
        if state:
            mean, square = state[0] * beta1 + mean, state[1] * beta2 + square
        # both bias corrections are in the numbers, none in the arrays:
        # (mean / c1) / (sqrt(square / c2) + eps) = (mean * sqrt(c2) / c1) / (sqrt(square) + eps * sqrt(c2))
        correction = sqrt(1 - beta2**self.n_steps)
        rate = self.lr * correction / (1 - beta1**self.n_steps)
        direction = mean / (square.unary(Ops.SQRT) + self.eps * correction)
        return value * (1 - self.lr * self.weight_decay) - direction * rate, (mean, square)
