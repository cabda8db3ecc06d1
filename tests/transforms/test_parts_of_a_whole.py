"""Parts that make up a whole leave nothing out: their derivatives need no mask. And of a product only that part is
computed which a derivative is asked for.
"""

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_core import UOp, walk
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.plan import plan_for
from uopc_core.schedule.steps import ExternCall
from uopc_core.transform.flow import Boxes, Mask, either

SHAPE = (4, 5)


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, int], ...]:
    ends = [sorted((draw(st.integers(0, n)), draw(st.integers(0, n)))) for n in SHAPE]
    return tuple([(a, b) for a, b in ends])


def _places(box: tuple[tuple[int, int], ...]) -> np.ndarray[Any, Any]:
    out = np.zeros(SHAPE, bool)
    out[tuple(slice(a, b) for a, b in box)] = True
    return out


@given(st.lists(boxes(), min_size=2, max_size=8))
def test_a_union_of_boxes_is_where_one_of_them_is(drawn: list[tuple[tuple[int, int], ...]]) -> None:
    wanted = np.any([_places(box) for box in drawn], axis=0)
    masks = [Mask(lambda _: UOp.const(True, np.dtype(bool), SHAPE), boxes=Boxes(SHAPE, (box,))) for box in drawn]
    total = masks[0]
    for mask in masks[1:]:
        total = either(total, mask)
        if total is None:
            assert wanted.all()
            return
    assert total.boxes is not None
    np.testing.assert_array_equal(np.any([_places(box) for box in total.boxes.boxes], axis=0), wanted)


@st.composite
def cuts(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Parts of 48 columns that make up all of them, in any order, some of which overlap."""
    ends = sorted({0, 48, *draw(st.lists(st.integers(1, 47), max_size=5))})
    parts = [(a, min(48, b + draw(st.integers(0, 2)))) for a, b in pairwise(ends)]
    return draw(st.permutations(parts))


@given(cuts())
def test_the_parts_of_a_product_are_differentiated_without_a_mask(parts: list[tuple[int, int]]) -> None:
    def loss(x: xp.Array, weights: xp.Array) -> xp.Array:
        y = x @ weights
        return sum([xp.sum(xp.sin(y[:, a:b]) * (k + 1.5)) for k, (a, b) in enumerate(parts)], xp.asarray(0.0))

    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((20, 30)), rng.standard_normal((30, 48))
    with xp.context(at_once=0):
        found = xp.grad(loss, (0, 1))(xp.asarray(x), xp.asarray(weights))
        assert not [node for node in walk([slope._uop for slope in found]) if node.dtype.kind == "b"]
    slope = np.zeros((20, 48))
    for k, (a, b) in enumerate(parts):
        slope[:, a:b] += np.cos(x @ weights)[:, a:b] * (k + 1.5)
    np.testing.assert_allclose(found[0], slope @ weights.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1], x.T @ slope, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_of_what_is_concatenated_the_product_is_for_what_is_asked_for(axis: int, number: int) -> None:
    rng = np.random.default_rng(1)
    parts = [rng.standard_normal((40, n) if axis else (n, 40)) for n in (24, 40, 32)]
    weights = rng.standard_normal((96, 56) if axis else (40, 56))

    def loss(*parts: xp.Array) -> xp.Array:
        return xp.sum(xp.sin(xp.concatenate(parts, axis) @ xp.asarray(weights)))

    with xp.context(at_once=0):
        slope = xp.grad(loss, number)(*map(xp.asarray, parts))
        plan = plan_for(canonicalise([slope._uop], keep_held=False))
    sizes = [prod(plan.slots[s.writes[0]].shape) for s in plan.steps if isinstance(s, ExternCall)]
    assert min(sizes) == parts[number].size
    wanted = np.cos(np.concatenate(parts, axis) @ weights) @ weights.T
    places = np.split(wanted, np.cumsum([p.shape[axis] for p in parts])[:-1], axis)
    np.testing.assert_allclose(slope, places[number], rtol=1e-12, atol=1e-12)
