"""A reduction is computed once for places that it does not vary with, with the bits that it has otherwise."""

from collections.abc import Callable, Sequence
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from tests.support.same_bits import alone, assert_same, compute, values_of
from uopc_core import Ops, UOp, dtypes
from uopc_core.schedule.canonical import canonicalise
from uopc_core.schedule.invariant import still_axes
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.kernelize import MAX_INLINE_REDUCE
from uopc_core.schedule.plan import plan_for
from uopc_core.schedule.steps import ExternCall, Plan

DTYPES = (dtypes.float64, dtypes.float32, dtypes.int32)
Shape = tuple[int, ...]


@st.composite
def sums_of_what_is_broadcast(draw: st.DrawFn) -> tuple[UOp, list[Shape]]:
    """A reduction or cumulative sum of an expression over operands that each miss some axes, and their shapes."""
    shape = (draw(st.integers(1, 6)), draw(st.integers(2, 6)), draw(st.sampled_from([2, 17, 40])))
    dtype = draw(st.sampled_from(DTYPES))
    shapes = [tuple([n if draw(st.booleans()) else 1 for n in shape]) for _ in range(draw(st.integers(1, 3)))]
    known = [_moved(draw, UOp.param(i, s, dtype)).expand(shape) for i, s in enumerate(shapes)]
    for _ in range(draw(st.integers(0, 4))):
        x, y = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        made = (x * y, x + y, -x, x.binary(Ops.MAX, y), (x < y).where(x, y), x * UOp.const(3, dtype, shape))
        known.append(_moved(draw, draw(st.sampled_from(made))))
    order = draw(st.permutations(range(3)))
    x = known[-1].permute(order)
    if draw(st.integers(0, 4)) == 0:
        return x.scan(Ops.ADD), shapes
    return x.reduce(draw(st.sampled_from([Ops.ADD, Ops.MAX, Ops.MUL])), draw(st.integers(1, 3))), shapes


def _moved(draw: st.DrawFn, x: UOp) -> UOp:
    """`x` moved by ops that leave its shape as it is."""
    shape, axis = x.shape, draw(st.integers(0, 2))
    n = shape[axis]
    bounds = [(0, m) for m in shape]
    whole = [(0, 0)] * 3
    moves = [
        x,
        x.flip((axis,)),
        x.reshape((1, *shape)).permute((1, 2, 0, 3)).reshape(shape),
        x.shrink([*bounds[:axis], (0, n - 1), *bounds[axis + 1 :]]).pad([*whole[:axis], (1, 0), *whole[axis + 1 :]]),
    ]
    if n > 1:
        halves = [x.shrink([*bounds[:axis], part, *bounds[axis + 1 :]]) for part in ((0, 1), (1, n))]
        moves.append(UOp.new(Ops.CONCAT, tuple(halves), axis))
    return draw(st.sampled_from(moves))


def _plan(outputs: Sequence[UOp]) -> Plan:
    return plan_for(canonicalise(outputs, keep_held=False))


def _repeats(node: UOp) -> bool:
    """Whether a reduction is computed more than once for places that it does not vary with."""
    if node.op is Ops.REDUCE and prod(node.src[0].shape[node.ndim :]) <= MAX_INLINE_REDUCE:
        return False
    return node.op in (Ops.REDUCE, Ops.SCAN) and bool(still_axes(node))


@given(sums_of_what_is_broadcast())
def test_no_kernel_repeats_a_reduction(drawn: tuple[UOp, list[Shape]]) -> None:
    node, _ = drawn
    repeated = [x for kernel in _plan([node]).kernels for out in kernel.outputs for x in out.walk() if _repeats(x)]
    assert not repeated


@given(sums_of_what_is_broadcast(), st.sampled_from(["compile", "interpret"]))
def test_it_has_the_bits_of_the_whole(drawn: tuple[UOp, list[Shape]], tier: str) -> None:
    node, shapes = drawn
    values = [values_of(node.dtype, shape, seed) for seed, shape in enumerate(shapes)]
    assert_same(compute([node], values, tier=tier), alone([node], values), tier, [node])


@pytest.mark.parametrize(
    ("form", "shapes"),
    [
        ("ij,jk->ik", ((48, 56), (56, 40))),
        ("ij,kj->ik", ((48, 56), (40, 56))),
        ("bij,bjk->bik", ((4, 24, 32), (4, 32, 40))),
        ("bhqd,bhkd->bhqk", ((2, 3, 24, 16), (2, 3, 32, 16))),
        ("ij,j->i", ((96, 80), (80,))),
        ("i,ij->j", ((96,), (96, 80))),
        ("i,j->ij", ((96,), (80,))),
        ("ijk,k->ij", ((12, 24, 40), (40,))),
        ("ijk,jl->ilk", ((12, 24, 40), (24, 16))),
    ],
)
@pytest.mark.parametrize("total", [xp.sum, xp.mean, lambda y: xp.sum(y) * 0.37], ids=["sum", "mean", "scaled"])
def test_the_slopes_of_the_sum_of_a_product_are_sums_of_its_operands(
    form: str, shapes: tuple[Shape, Shape], total: Callable[[xp.Array], xp.Array]
) -> None:
    def f(x: xp.Array, y: xp.Array) -> xp.Array:
        return total(xp.einsum(form, x, y))

    with xp.context(at_once=0):
        x, y = [xp.asarray(values_of(dtypes.float64, shape, 0)) for shape in shapes]
        value = f(x, y)
        same, slopes = xp.value_and_grad(f, (0, 1))(x, y)
        alone, both = _plan([value._uop]), _plan([same._uop, *[slope._uop for slope in slopes]])
    assert _multiplications(both) <= _multiplications(alone) + x.size + y.size


def _multiplications(plan: Plan) -> int:
    """How many numbers the kernels and the products of a plan combine."""
    total = 0
    for step in plan.steps:
        if isinstance(step, ExternCall):
            total += prod(plan.slots[step.writes[0]].shape) * step.inputs[0].view.shape[-1]
        elif isinstance(step, KernelCall):
            nodes = {x for out in step.kernel.outputs for x in out.walk()}
            total += sum(x.src[0].size for x in nodes if x.op is Ops.REDUCE)
    return total
