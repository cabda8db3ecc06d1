"""Graphs that the tests of the planner share."""

import numpy as np

from uopc_core.dtype import dtypes
from uopc_core.ir.composite import broadcast_to, reduce_axes, slice_axes
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.buffer import Buffer


def leaf(array: object) -> UOp:
    return UOp.buffer(Buffer.from_numpy(np.asarray(array)))


def random_leaf(*shape: int, dtype: str = "float64", seed: int = 0) -> UOp:
    return leaf(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def softmax(x: UOp) -> UOp:
    e = (x - broadcast_to(reduce_axes(x, Ops.MAX, [1], keepdims=True), x.shape)).unary(Ops.EXP)
    return e / broadcast_to(reduce_axes(e, Ops.ADD, [1], keepdims=True), x.shape)


def layer_norm(x: UOp) -> UOp:
    n = x.shape[1]
    centred = x - broadcast_to(reduce_axes(x, Ops.ADD, [1], keepdims=True) * (1 / n), x.shape)
    variance = reduce_axes(centred * centred, Ops.ADD, [1], keepdims=True) * (1 / n)
    return centred / broadcast_to((variance + 1e-5).unary(Ops.SQRT), x.shape)


def heat_step(u: UOp) -> UOp:
    inner, up, down, left, right = (
        slice_axes(u, [slice(1 + i, u.shape[0] - 1 + i), slice(1 + j, u.shape[1] - 1 + j)])
        for i, j in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]
    )
    new = inner + (up + down + left + right - inner * 4.0) * 0.1
    mask = UOp.const(True, dtypes.bool, inner.shape).pad([(1, 1), (1, 1)])
    return mask.where(new.pad([(1, 1), (1, 1)]), u)
