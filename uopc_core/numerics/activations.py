"""What classifiers and networks are made of: activations, softmax, cross entropy, as functions of floating nodes.

The derivatives follow from those of the primitives.
"""

from __future__ import annotations

from math import pi, prod, sqrt
from typing import Literal

from uopc_core.dtype import dtypes, is_float, is_integer, name_of
from uopc_core.errors import DTypeError, ShapeError
from uopc_core.ir import Ops, UOp
from uopc_core.ir.composite import broadcast_to, iota, reduce_axes, unsqueeze

__all__ = ["cross_entropy", "gelu", "log_softmax", "one_hot", "relu", "sigmoid", "softmax"]


def sigmoid(x: UOp) -> UOp:
    """``1 / (1 + exp(-x))`` with negative numbers only under the exponential: it and its derivative do not overflow."""
    positive = x >= 0
    e = positive.where(-x, x).unary(Ops.EXP)
    return positive.where(1.0, e) / (e + 1)


def relu(x: UOp) -> UOp:
    """``where(x > 0, x, 0)``; the slope at 0 is 0."""
    return (x > 0).where(x, 0)


def gelu(x: UOp, approximate: Literal["none", "tanh"]) -> UOp:
    """``x`` times the standard normal distribution function at `x` (Hendrycks & Gimpel 2016, arXiv:1606.08415)."""
    if approximate == "none":
        return x * 0.5 * ((x * sqrt(0.5)).unary(Ops.ERF) + 1)
    if approximate == "tanh":
        return x * 0.5 * (((x + x * x * x * 0.044715) * sqrt(2 / pi)).unary(Ops.TANH) + 1)
    raise ValueError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}")


def _shifted(x: UOp, axis: int) -> UOp:
    """`x` minus its maximum along `axis`. Softmax does not depend on that shift, so it is no path of the derivative."""
    top = reduce_axes(x, Ops.MAX, [axis], True).detach()
    return x - broadcast_to(top, x.shape)


def softmax(x: UOp, axis: int) -> UOp:
    e = _shifted(x, axis).unary(Ops.EXP)
    return e / broadcast_to(reduce_axes(e, Ops.ADD, [axis], True), e.shape)


def log_softmax(x: UOp, axis: int) -> UOp:
    """``log(softmax(x))`` without the overflow and without the logarithm of 0."""
    shifted = _shifted(x, axis)
    log_sum = reduce_axes(shifted.unary(Ops.EXP), Ops.ADD, [axis], True).unary(Ops.LOG)
    return shifted - broadcast_to(log_sum, shifted.shape)


def one_hot(labels: UOp, n_classes: int) -> UOp:
    """The bool mask ``[..., c] = labels[...] == c``."""
    if not is_integer(labels.dtype):
        raise DTypeError(f"one_hot: expected integer labels, got {name_of(labels.dtype)}")
    shape = (*labels.shape, n_classes)
    column = broadcast_to(unsqueeze(labels.cast(dtypes.int64), labels.ndim), shape)
    return iota(shape, labels.ndim).eq(column)


def cross_entropy(logits: UOp, labels: UOp) -> UOp:
    """The mean of ``-log_softmax(logits)[label]``, or for probabilities as labels of ``-sum(labels * log_softmax)``."""
    log_p = log_softmax(logits, logits.ndim - 1)
    if is_float(labels.dtype) and labels.shape == logits.shape:
        picked = labels.cast(log_p.dtype) * log_p
    elif is_integer(labels.dtype) and labels.shape == logits.shape[:-1]:
        picked = one_hot(labels, logits.shape[-1]).where(log_p, 0)
    else:
        raise ShapeError(
            f"cross_entropy: expected integer labels of shape {logits.shape[:-1]} or probabilities of shape "
            f"{logits.shape}, got {name_of(labels.dtype)} {labels.shape}"
        )
    return -picked.reduce(Ops.ADD, picked.ndim) / float(prod(logits.shape[:-1]))
