"""What a small graph is asked before it is computed without a plan: whether it may hold a product of the library's."""

import itertools

import numpy as np
import pytest

from tests.support.graphs import leaf
from uopc_core.ir.composite import matmul
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.rewrite.algebra import simplify
from uopc_core.schedule.contraction import lower_contractions
from uopc_core.schedule.library_work import may_be_contraction

SIDES = (1, 2, 3, 8, 64, 128, 16384)


def has_product(root: UOp) -> bool:
    return any(node.op is Ops.EXTERN for node in walk(lower_contractions(simplify([root]))))


def may_have_one(root: UOp) -> bool:
    return any(may_be_contraction(node.op, node.arg, node.src) for node in walk([root]))


@pytest.mark.parametrize("batch", [1, 3])
def test_every_product_of_the_library_is_asked_about(batch: int) -> None:
    found = 0
    for m, n, k in itertools.product(SIDES, SIDES, SIDES):
        if m * n * k * batch > 1 << 21:
            continue
        root = matmul(leaf(np.zeros((batch, m, k))), leaf(np.zeros((batch, k, n))))
        if has_product(root):
            assert may_have_one(root), (m, n, k)
            found += 1
    assert found > 20


@pytest.mark.parametrize("shape", [(1 << 14,), (3, 1 << 14), (128, 128), (1, 200, 200)])
def test_sums_of_squares_to_few_numbers_are_none(shape: tuple[int, ...]) -> None:
    x = leaf(np.zeros(shape))
    for n_reduced in range(1, len(shape) + 1):
        root = (x * (x - 0.5)).reduce(Ops.ADD, n_reduced)
        if root.size < 4:
            assert not has_product(root)
            assert not may_have_one(root)
